"""Networks of Keras, of six families, with random weights; and what TensorFlow says of their shapes.

pip install tensorflow-cpu==2.21.0
"""
import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np
import tensorflow as tf

import shapes

layers = tf.keras.layers


def block(x, filters, stride=1):
    x = layers.Conv2D(filters, 3, strides=stride, padding='same', use_bias=False)(x)
    return layers.ReLU()(layers.BatchNormalization()(x))


def unet():
    """Segmentation: down, up by transposed convolutions, joined."""
    x = image = layers.Input((64, 64, 3))
    a = block(x, 16)
    b = block(a, 32, 2)
    c = block(b, 64, 2)
    x = layers.Conv2DTranspose(32, 2, strides=2)(c)
    x = block(layers.Concatenate()([x, b]), 32)
    x = layers.UpSampling2D(2, interpolation='bilinear')(x)
    x = block(layers.Concatenate()([x, a]), 16)
    return tf.keras.Model(image, layers.Conv2D(5, 1, activation='softmax')(x))


def detector():
    """One-stage detection: features of several sizes, heads that share their weights."""
    x = image = layers.Input((128, 128, 3))
    features = []
    for filters in (16, 32, 64, 64):
        x = block(layers.SeparableConv2D(filters, 3, padding='same')(x), filters, 2)
        features.append(x)
    head = [layers.Conv2D(64, 3, padding='same', activation='swish'), layers.Conv2D(9 * 8, 3, padding='same')]
    out, top = [], None
    for x in reversed(features[1:]):
        x = layers.Conv2D(48, 1)(x)
        if top is not None:
            if top.shape[1] != x.shape[1]:
                top = layers.UpSampling2D(2)(top)
            x = layers.Add()([x, top])
        top = x
        out.append(layers.Reshape((-1, 8))(head[1](head[0](x))))
    return tf.keras.Model(image, layers.Activation('sigmoid')(layers.Concatenate(axis=1)(out)))


def transformer():
    """Words in, classes out: embeddings and two layers of attention."""
    words = layers.Input((12,), dtype='int32')
    x = layers.Embedding(1000, 64)(words)
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(4, 16)(y, y)])
        y = layers.Dense(128, activation='gelu')(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(64)(y)])
    return tf.keras.Model(words, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def video():
    x = clip = layers.Input((8, 32, 32, 3))
    for filters, stride in ((16, 1), (32, 2), (64, 2)):
        x = layers.Conv3D(filters, 3, strides=stride, padding='same', use_bias=False)(x)
        x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.Conv3D(64, (3, 1, 1), padding='same', activation='relu')(x)
    return tf.keras.Model(clip, layers.Dense(10)(layers.GlobalAveragePooling3D()(x)))


def speech():
    """Convolutions over time, then attention, then classes for each moment."""
    x = sound = layers.Input((100, 80))
    x = layers.Conv1D(96, 3, padding='same', activation='relu')(x)
    x = layers.Conv1D(96, 3, strides=2, padding='same', activation='relu')(x)
    x = layers.SeparableConv1D(96, 5, padding='same')(x)
    x = layers.LayerNormalization()(layers.Add()([x, layers.MultiHeadAttention(4, 24)(x, x)]))
    return tf.keras.Model(sound, layers.Dense(29, activation='softmax')(x))


def recurrent(unroll=False, batch=None):
    """An LSTM in both directions, then a GRU: loops, of which TensorFlow tells no counts. Unrolled, all of its steps are in the graph."""
    x = sound = layers.Input((40, 16), batch_size=batch)
    x = layers.Bidirectional(layers.LSTM(32, return_sequences=True, unroll=unroll))(x)
    x = layers.GRU(24, unroll=unroll)(x)
    return tf.keras.Model(sound, layers.Dense(10)(x))


application = lambda name, side=224: lambda: getattr(tf.keras.applications, name)(weights=None, input_shape=(side, side, 3))

NETWORKS = {
    'mobilenet_v2': application('MobileNetV2'),
    'mobilenet_v3_small': application('MobileNetV3Small'),
    'efficientnet_b0': application('EfficientNetB0'),
    'resnet50': application('ResNet50'),
    'densenet121': application('DenseNet121'),
    'xception': application('Xception', 299),
    'inception_v3': application('InceptionV3', 299),
    'vgg16': application('VGG16'),
    'unet': unet,
    'detector': detector,
    'transformer': transformer,
    'video': video,
    'speech': speech,
    'convnext_tiny': application('ConvNeXtTiny'),
    'recurrent': recurrent,
}
# The network whose graph tells the shapes instead.
TOLD_BY = {'recurrent': lambda: recurrent(unroll=True)}


def frozen(model):
    """The graph of one call with a batch of 1, variables made constants."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    inputs = [tf.TensorSpec([1, *i.shape[1:]], i.dtype) for i in model.inputs]
    call = tf.function(lambda *x: model(x if len(x) > 1 else x[0], training=False))
    return convert_variables_to_constants_v2(call.get_concrete_function(*inputs), lower_control_flow=False)


def before_padding(op):
    """The data of a convolution; zeros around it count as the convolution's padding."""
    data = op.inputs[0]
    return data.op.inputs[0] if data.op.type in ('Pad', 'PadV2') else data


def shapes_of(function, tensors):
    """By running the graph, for some sizes are computed."""
    run = function.prune(function.inputs, tensors)
    zeros = [tf.zeros(i.shape, i.dtype) for i in function.inputs if i.dtype != tf.resource]
    return {t.name: [int(s) for s in v.shape] for t, v in zip(tensors, run(*zeros))}


KINDS = ('Conv2D', 'DepthwiseConv2dNative', 'Conv3D', 'MatMul', 'BatchMatMulV2', 'Einsum', 'Conv2DBackpropInput')
CALLS = ('PartitionedCall', 'StatefulPartitionedCall')


def lines(function):
    """The operators of a frozen graph that multiply and add, with the shapes that they have."""
    ops = [op for op in function.graph.get_operations() if op.type in KINDS + CALLS]
    tensors = {t.name: t for op in ops for t in [*op.inputs, *op.outputs, *([] if op.type in CALLS else [before_padding(op)])]}
    shape = shapes_of(function, list(tensors.values()))
    for op in ops:
        if op.type in CALLS:
            yield from called(function, op, [shape[i.name] for i in op.inputs])
        else:
            yield line(op, shape[before_padding(op).name], [shape[i.name] for i in op.inputs], shape[op.outputs[0].name])


def called(function, op, got):
    """The same of a function that is called with these shapes: grouped convolutions are in some."""
    from tensorflow.python.framework.function_def_to_graph import function_def_to_graph
    name = op.get_attr('f').name
    defined = getattr(function.graph.as_graph_def(), 'library').function
    body = next(f for f in defined if f.signature.name == name)
    for op in function_def_to_graph(body, input_shapes=[tf.TensorShape(s) for s in got]).get_operations():
        if op.type in KINDS:
            yield line(op, list(before_padding(op).shape), [list(i.shape) for i in op.inputs], list(op.outputs[0].shape))


def line(op, data, got, out):
    if op.type in ('Conv2D', 'DepthwiseConv2dNative', 'Conv3D'):
        last = not op.get_attr('data_format').startswith(b'NC')
        space = slice(1, -1) if last else slice(2, None)
        ic, oc = (data[-1], out[-1]) if last else (data[1], out[1])
        groups = ic if op.type.startswith('Depth') else ic // got[1][-2]
        return shapes.conv(data[0], groups, ic, data[space], oc, out[space], got[1][:-2])
    if op.type in ('MatMul', 'BatchMatMulV2'):
        transposed = op.get_attr('transpose_a' if op.type == 'MatMul' else 'adj_x')
        m, k = got[0][:-3:-1] if transposed else got[0][-2:]
        return shapes.matmul(int(np.prod(got[0][:-2])), m, k, out[-1])
    if op.type == 'Einsum':
        return einsum(op.get_attr('equation').decode(), got[0], got[1])
    return shapes.transposed(got[2][0], 1, got[2][-1], got[2][1:-1], out[-1], got[1][:-2])


def einsum(equation, a, b):
    """A product of two: letters in both and the result are its batch, in both alone are summed over."""
    operands, result = equation.split('->')
    left, right = operands.split(',')
    size = dict(zip(left + right, [*a, *b]))
    of = lambda letters: int(np.prod([size[c] for c in letters]))
    batch = [c for c in left if c in right and c in result]
    m, n = ([c for c in x if c not in batch and c in result] for x in (left, right))
    k = [c for c in left if c in right and c not in result]
    return shapes.matmul(of(batch), of(m), of(k), of(n))
