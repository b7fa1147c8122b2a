#!/usr/bin/env python3
"""Makes the models of this folder, and what TensorFlow says of their shapes.

pip install tensorflow-cpu==2.21.0; python3 tests/networks/tflite/make.py

NAME.tflite.zst is the model with all elements of large buffers 0, so that it takes little room. NAME.shapes
(../shapes.py) is what TensorFlow Lite's own interpreter tells of the tensors.
"""
import os
import subprocess
import sys

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes
import tf_networks

layers = tf.keras.layers


def small(batch=1):
    """Convolution, depthwise, residual, concatenation, transposed, dense; relu6, hard-swish, sigmoid gate."""
    x = image = layers.Input((32, 24, 3), batch_size=batch)
    x = layers.Conv2D(16, 3, strides=2, padding='same', use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = y = layers.ReLU(6.0)(x)
    x = layers.DepthwiseConv2D(3, padding='same')(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation('relu')(x)
    x = layers.Conv2D(16, 1)(x)
    x = layers.Add()([x, y])
    z = layers.Conv2D(8, 5, padding='valid', dilation_rate=2, groups=2)(layers.ZeroPadding2D(4)(x))
    x = layers.Concatenate()([x, z, layers.MaxPooling2D(3, strides=1, padding='same')(x)])
    x = layers.Conv2D(24, (3, 1), padding='same')(x)
    g = layers.GlobalAveragePooling2D(keepdims=True)(x)
    g = layers.Conv2D(24, 1, activation='sigmoid')(g)
    x = layers.Multiply()([x, g])
    x = layers.Conv2DTranspose(4, 2, strides=2)(x)
    x = layers.AveragePooling2D(2)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(40, activation='relu')(x)
    x = layers.Dense(10, activation='softmax')(x)
    return tf.keras.Model(image, x)


def attention():
    """A block of a transformer over 12 words of 32 numbers."""
    x = words = layers.Input((12, 32), batch_size=1)
    x = layers.Add()([x, layers.MultiHeadAttention(4, 8)(x, x)])
    x = layers.LayerNormalization()(x)
    h = layers.Dense(64, activation='gelu')(x)
    x = layers.Add()([x, layers.Dense(32)(h)])
    return tf.keras.Model(words, layers.LayerNormalization()(x))


def calibration(shape):
    def samples():
        rng = np.random.default_rng(1)
        for _ in range(4):
            yield [rng.random(shape, dtype=np.float32)]
    return samples


def convert(model, **options):
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    for name, value in options.items():
        setattr(converter, name, value)
    return converter.convert()


TYPES = {np.float32: 'f32', np.float16: 'f16', np.int8: 's8', np.uint8: 'u8', np.int32: 's32'}


def types(*tensors):
    """The element types of source, weights and output, as records have them, with a space; none: f32."""
    names = [TYPES[t['dtype']] for t in tensors]
    name = names[0] if len(set(names)) == 1 else ':'.join(names)
    return '' if name == 'f32' else name + ' '


def line(op, data, weights, out):
    """An operator of the interpreter, from the shapes of its tensors."""
    if op in ('CONV_2D', 'DEPTHWISE_CONV_2D'):
        groups = data[3] if op == 'DEPTHWISE_CONV_2D' else data[3] // weights[3]
        return shapes.conv(data[0], groups, data[3], data[1:3], out[3], out[1:3], weights[1:3])
    if op == 'FULLY_CONNECTED':
        return shapes.matmul(1, np.prod(data) // weights[1], weights[1], weights[0])
    if op == 'BATCH_MATMUL':
        batch = np.prod(out[:-2])
        return shapes.matmul(batch, out[-2], np.prod(data) // batch // out[-2], out[-1])
    return shapes.transposed(data[0], 1, data[3], data[1:3], out[3], weights[1:3])


def operators(data):
    """The operators that multiply and add, with shapes from the interpreter."""
    interpreter = tf.lite.Interpreter(model_content=data)
    interpreter.allocate_tensors()
    tensor = {t['index']: t for t in interpreter.get_tensor_details()}
    for op in interpreter._get_ops_details():
        if op['op_name'] not in ('CONV_2D', 'DEPTHWISE_CONV_2D', 'FULLY_CONNECTED', 'BATCH_MATMUL', 'TRANSPOSE_CONV'):
            continue
        inputs = list(op['inputs'])
        if op['op_name'] == 'TRANSPOSE_CONV':
            inputs = [inputs[2], inputs[1]]
        which = [tensor[i] for i in (inputs[0], inputs[1], op['outputs'][0])]
        yield types(*which) + line(op['op_name'], *(t['shape'] for t in which))


def write(name, data, told=None, folded=()):
    """told: the model that tells the shapes, if it is another one; folded: the lines that the converter left out of it."""
    from tensorflow.lite.python import schema_py_generated as schema
    shapes.write(f'{HERE}/{name}.shapes', [*operators(told or data), *folded])
    model = schema.Model.GetRootAsModel(data, 0)
    data = bytearray(data)
    for i in range(model.BuffersLength()):
        buffer = model.Buffers(i)
        if buffer.DataLength() > 256:
            o = buffer._tab.Offset(4)
            at = buffer._tab.Vector(o)
            data[at:at + buffer.DataLength()] = bytes(buffer.DataLength())
    path = f'{HERE}/{name}.tflite'
    with open(path, 'wb') as out:
        out.write(data)
    subprocess.run(['zstd', '-q', '-19', '--rm', '-f', path], check=True)


def main():
    tf.keras.utils.set_random_seed(1)
    write('small', convert(small()))
    write('small-open', convert(small(None)))
    write('small-f16', convert(small(), optimizations=[tf.lite.Optimize.DEFAULT],
                               target_spec=target(tf.float16)))
    write('small-dynamic', convert(small(), optimizations=[tf.lite.Optimize.DEFAULT]))
    write('small-int8', convert(small(), optimizations=[tf.lite.Optimize.DEFAULT],
                                representative_dataset=calibration((1, 32, 24, 3))))
    write('attention', convert(attention()))
    net = tf.keras.applications.MobileNetV2(weights=None)
    net.layers[-1].bias.assign(np.linspace(-1, 1, 1000))  # the converter leaves out one of zeros
    write('mobilenet_v2', convert(net))
    # Of a loop, the interpreter tells one turn alone; the same network without loops tells them all, but for the products of
    # the state of zeros that each of the three begins with.
    write('recurrent', convert(tf_networks.recurrent(batch=1)), convert(tf_networks.recurrent(unroll=True, batch=1)),
          [shapes.matmul(1, 1, 32, 128), shapes.matmul(1, 1, 32, 128), shapes.matmul(1, 1, 24, 72)])


def target(kind):
    spec = tf.lite.TargetSpec()
    spec.supported_types = [kind]
    return spec


sys.exit(main())
