#!/usr/bin/env python3
"""Makes the models of this folder, and what TensorFlow says of their shapes.

pip install tensorflow-cpu==2.21.0 tf_keras==2.21.0; python3 tests/networks/keras/make.py [NAME...]
TF_USE_LEGACY_KERAS=1 python3 tests/networks/keras/make.py mobilenet_v2 transformer unet recurrent nested seq2seq masked \
    frames mobilenet_v3_small

NAME.keras is an archive of Keras 3 without its weights. NAME-keras2.h5 is a file of Keras 2, likewise; NAME-keras2.h5.zst is one that
is compressed.
"""
import json
import os
import subprocess
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


def seq2seq():
    """An encoder whose states start a decoder: of these loops TensorFlow tells nothing, either."""
    layers = tf.keras.layers
    sound, words = layers.Input((10, 12)), layers.Input((7, 6))
    x = layers.Bidirectional(layers.GRU(8, return_sequences=True), merge_mode='ave')(sound)
    _, hidden, cell = layers.LSTM(16, return_state=True)(x)
    x = layers.LSTM(16, return_sequences=True)(words, initial_state=[hidden, cell])
    return tf.keras.Model([sound, words], layers.Dense(20, activation='softmax')(x))


SEQ2SEQ = [*2 * [shapes.matmul(1, 10, 12, 24)], *20 * [shapes.matmul(1, 1, 8, 24)],
           shapes.matmul(1, 10, 8, 64), *10 * [shapes.matmul(1, 1, 16, 64)],
           shapes.matmul(1, 7, 6, 64), *7 * [shapes.matmul(1, 1, 16, 64)], shapes.matmul(1, 7, 16, 20)]


def masked():
    """Attention under a mask, whose scores are read, too; and a number minus a tensor."""
    layers = tf.keras.layers
    words, mask = layers.Input((12,), dtype='int32'), layers.Input((12, 12), dtype='bool')
    x = layers.Embedding(1000, 64)(words)
    y, scores = layers.MultiHeadAttention(4, 16)(query=x, value=1.0 - x, attention_mask=mask, return_attention_scores=True)
    x = layers.Dense(32)(layers.LeakyReLU()(layers.Add()([x, y])))
    return tf.keras.Model([words, mask], [layers.Dense(10)(x), layers.Dense(5)(layers.Flatten()(scores))])


def frames():
    """A convolution for each picture of several, and layers that no other network here has. Of Keras 2 alone: there TimeDistributed
    calls its layer once, with all steps, as tl-extract counts it; Keras 3 calls it for one step after the other."""
    layers = tf.keras.layers
    x = clip = layers.Input((5, 32, 32, 3))
    x = layers.TimeDistributed(layers.Conv2D(8, 3, strides=2, activation='leaky_relu'))(x)
    x = layers.TimeDistributed(layers.Resizing(12, 10))(x)
    x = layers.TimeDistributed(layers.Conv2D(16, 3, padding='same'))(x)
    x = layers.TimeDistributed(layers.GlobalAveragePooling2D())(layers.PReLU()(x))
    x = layers.RepeatVector(4)(layers.Flatten()(x))
    return tf.keras.Model(clip, layers.Dense(6)(layers.Attention()([x, x])))


def write_keras3(name, model):
    with zipfile.ZipFile(f'{HERE}/{name}.keras', 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for member, text in (('metadata.json', '{"keras_version": "3.15.1"}'), ('config.json', model.to_json())):
            info = zipfile.ZipInfo(member, (2026, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)


PLAIN = ('mobilenet_v2', 'transformer', 'unet', 'recurrent', 'nested')  # files of Keras 2 that are not compressed


def write_keras2(name, model):
    """The attribute as model.save() writes it, of a text of fixed length, and a group as of the weights."""
    config = json.loads(model.to_json())
    text = json.dumps({k: config[k] for k in ('class_name', 'config')})
    path = f'{HERE}/{name}.h5'
    with h5py.File(path, 'w', libver='earliest') as file:
        file.attrs['keras_version'] = config['keras_version']
        file.attrs.create('model_config', text.encode(), dtype=f'S{len(text)}') if len(text) < 60000 else \
            file.attrs.__setitem__('model_config', text)
        file.create_group('model_weights')
    if name.removesuffix('-keras2') not in PLAIN:
        subprocess.run(['zstd', '-19', '-q', '-f', '--rm', path, '-o', path + '.zst'], check=True)


def main():
    is_old = os.environ.get('TF_USE_LEGACY_KERAS') == '1'
    networks = {**tf_networks.NETWORKS, 'recurrent': recurrent, 'nested': nested, 'seq2seq': seq2seq, 'masked': masked}
    if is_old:
        networks['frames'] = frames
    loops = {'recurrent': RECURRENT, 'seq2seq': SEQ2SEQ}
    for name in sys.argv[1:] or networks:
        tf.keras.utils.set_random_seed(1)
        model = networks[name]()
        lines = loops[name] if name in loops else tf_networks.lines(tf_networks.frozen(model))
        name += '-keras2' if is_old else ''
        (write_keras2 if is_old else write_keras3)(name, model)
        shapes.write(f'{HERE}/{name}.shapes', lines)
        print(name, flush=True)


sys.exit(main())
