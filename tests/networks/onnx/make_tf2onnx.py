#!/usr/bin/env python3
"""Writes Keras networks as tf2onnx does, for make_onnxruntime.py to record.

pip install tensorflow-cpu==2.21.0 tf2onnx==1.17; python3 tests/networks/onnx/make_tf2onnx.py FOLDER
python3 tests/networks/onnx/make_onnxruntime.py FOLDER/*.onnx
"""
import os
import sys

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import tensorflow as tf
import tf2onnx

layers = tf.keras.layers


def attention():
    """A block of a transformer over 12 words of 32 numbers."""
    x = words = layers.Input((12, 32))
    x = layers.Add()([x, layers.MultiHeadAttention(4, 8)(x, x)])
    x = layers.LayerNormalization()(x)
    return tf.keras.Model(words, layers.Dense(64, activation='relu')(x))


NETWORKS = {
    'mobilenet_v2': (13, lambda: tf.keras.applications.MobileNetV2(weights=None)),
    'efficientnet_b0': (17, lambda: tf.keras.applications.EfficientNetB0(weights=None)),
    'attention': (15, attention),
}


def main():
    tf.keras.utils.set_random_seed(1)
    for name, (opset, make) in NETWORKS.items():
        network = make()
        image = network.inputs[0]
        spec = [tf.TensorSpec((None, *image.shape[1:]), image.dtype, name='x')]
        tf2onnx.convert.from_function(tf.function(lambda x: network(x), input_signature=spec), input_signature=spec, opset=opset,
                                      output_path=f'{sys.argv[1]}/{name}-tf2onnx.onnx')


main()
