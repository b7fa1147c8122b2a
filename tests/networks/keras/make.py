#!/usr/bin/env python3
"""Makes the models of this folder, and what TensorFlow says of their shapes.

pip install tensorflow-cpu==2.21.0 tf_keras==2.21.0; python3 tests/networks/keras/make.py [NAME...]
TF_USE_LEGACY_KERAS=1 python3 tests/networks/keras/make.py mobilenet_v2 transformer unet recurrent nested

NAME.keras is an archive of Keras 3 without its weights. NAME-keras2.h5 is a file of Keras 2, likewise.
"""
import json
import os
import sys
import zipfile

import h5py

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes
import tf_networks
import tensorflow as tf


def recurrent():
    """Convolutions over time, then recurrent networks in one direction and in both: of these TensorFlow tells nothing."""
    layers = tf.keras.layers
    x = sound = layers.Input((50, 40))
    x = layers.Conv1D(32, 5, padding='causal', activation='relu')(x)
    x = layers.Bidirectional(layers.LSTM(24, return_sequences=True))(x)
    x = layers.GRU(16)(x)
    return tf.keras.Model(sound, layers.Dense(8)(x))


# Products of the inputs for all steps at once, and of the state for each step; causal padding is the convolution's own.
RECURRENT = [shapes.conv(1, 1, 40, [50], 32, [50], [5]), *2 * [shapes.matmul(1, 50, 32, 96)], *100 * [shapes.matmul(1, 1, 24, 96)],
             shapes.matmul(1, 50, 48, 48), *50 * [shapes.matmul(1, 1, 16, 48)], shapes.matmul(1, 1, 16, 8)]


def nested():
    """A model within a model, which is called twice."""
    layers = tf.keras.layers
    inner = tf.keras.Sequential([layers.Input((16, 16, 8)), layers.Conv2D(8, 3, padding='same'), layers.BatchNormalization(),
                                 layers.Activation('relu')])
    x = image = layers.Input((16, 16, 8))
    x = inner(layers.MaxPooling2D(1)(inner(x)))
    return tf.keras.Model(image, tf.keras.Sequential([layers.Flatten(), layers.Dense(4)])(x))


def write_keras3(name, model):
    with zipfile.ZipFile(f'{HERE}/{name}.keras', 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for member, text in (('metadata.json', '{"keras_version": "3.15.1"}'), ('config.json', model.to_json())):
            info = zipfile.ZipInfo(member, (2026, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)


def write_keras2(name, model):
    """The attribute as model.save() writes it, of a text of fixed length, and a group as of the weights."""
    config = json.loads(model.to_json())
    text = json.dumps({k: config[k] for k in ('class_name', 'config')})
    with h5py.File(f'{HERE}/{name}.h5', 'w', libver='earliest') as file:
        file.attrs['keras_version'] = config['keras_version']
        file.attrs.create('model_config', text.encode(), dtype=f'S{len(text)}') if len(text) < 60000 else \
            file.attrs.__setitem__('model_config', text)
        file.create_group('model_weights')


def main():
    is_old = os.environ.get('TF_USE_LEGACY_KERAS') == '1'
    networks = {**tf_networks.NETWORKS, 'recurrent': recurrent, 'nested': nested}
    for name in sys.argv[1:] or networks:
        tf.keras.utils.set_random_seed(1)
        model = networks[name]()
        function = None if name == 'recurrent' else tf_networks.frozen(model)
        name += '-keras2' if is_old else ''
        (write_keras2 if is_old else write_keras3)(name, model)
        shapes.write(f'{HERE}/{name}.shapes', tf_networks.lines(function) if function else RECURRENT)
        print(name, flush=True)


sys.exit(main())
