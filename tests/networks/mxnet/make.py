#!/usr/bin/env python3
"""Makes the symbols of this folder, and what MXNet says of their shapes.

pip install mxnet==1.9.1 gluoncv==0.10.5.post0 numpy==1.23.5 (Python 3.11); python3 tests/networks/mxnet/make.py [NAME...]

NAME-symbol.json.zst is a symbol as MXNet writes it; no network has parameters here, for a symbol does without. Those in whole
numbers are as GluonCV publishes them. *-old: the same symbol as MXNet wrote it before version 0.9.
"""
import json
import os
import subprocess
import sys

import mxnet as mx
from gluoncv import model_zoo

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes


def zoo(name, **options):
    """A network of GluonCV, without its parameters."""
    def make(*data):
        options.update({'pretrained_base': False} if any(s in name for s in WITH_BASE) else {})
        return model_zoo.get_model(name, pretrained=False, **options)(*data)
    return make


WITH_BASE = ('ssd', 'yolo', 'rcnn', 'fcn', 'deeplab', 'psp', 'icnet', 'danet', 'pose', 'kinetics', 'center_net', 'hrnet_w18_small_v1_c')


def unet(data):
    """Segmentation, with transposed convolutions and joined features; the channels come last."""
    conv = lambda x, n, stride=1: mx.sym.relu(mx.sym.BatchNorm(mx.sym.Convolution(
        x, kernel=(3, 3), stride=(stride, stride), pad=(1, 1), num_filter=n, no_bias=True), fix_gamma=False))
    a = conv(data, 16)
    b = conv(a, 32, 2)
    x = mx.sym.Deconvolution(conv(b, 64, 2), kernel=(2, 2), stride=(2, 2), num_filter=32)
    x = conv(mx.sym.Concat(mx.sym.Crop(x, b), b, dim=1), 32)
    x = mx.sym.UpSampling(x, scale=2, sample_type='nearest')
    x = conv(mx.sym.concat(x, mx.sym.slice_like(a, x, axes=(2, 3)), dim=1), 16)
    return mx.sym.SoftmaxActivation(mx.sym.Convolution(x, kernel=(1, 1), num_filter=5), mode='channel')


def channels_last(data):
    """Convolutions and pools of images whose channels come last, of MXNet's mobile networks on tensor cores."""
    conv = lambda x, n, k, **more: mx.sym.Activation(mx.sym.BatchNorm(mx.sym.Convolution(
        x, kernel=(k, k), pad=(k // 2, k // 2), num_filter=n, layout='NHWC', no_bias=True, **more), axis=3), act_type='relu')
    x = conv(data, 32, 3, stride=(2, 2))
    x = mx.sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type='max', pooling_convention='full', layout='NHWC')
    x = conv(conv(x, 32, 3, num_group=32), 64, 1)
    x = mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type='avg', layout='NHWC')
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=10), name='softmax')


def encoder(words):
    """A transformer of GluonNLP's kind: attention by its own operators, which take all heads at once."""
    steps, width, heads = 16, 64, 4
    x = mx.sym.Embedding(words, input_dim=1000, output_dim=width)
    place = mx.sym.var('place', shape=(1, steps, width), init=mx.init.Normal())
    x = mx.sym.swapaxes(mx.sym.broadcast_add(x, place), dim1=0, dim2=1)
    for _ in range(2):
        qkv = mx.sym.FullyConnected(x, num_hidden=3 * width, flatten=False)
        weights = mx.sym.softmax(mx.sym.contrib.interleaved_matmul_selfatt_qk(qkv, heads=heads))
        y = mx.sym.contrib.interleaved_matmul_selfatt_valatt(qkv, mx.sym.Dropout(weights, p=0.1), heads=heads)
        x = mx.sym.LayerNorm(x + mx.sym.FullyConnected(y, num_hidden=width, flatten=False))
        y = mx.sym.LeakyReLU(mx.sym.FullyConnected(x, num_hidden=128, flatten=False), act_type='gelu')
        x = mx.sym.LayerNorm(x + mx.sym.FullyConnected(y, num_hidden=width, flatten=False))
    return mx.sym.FullyConnected(mx.sym.mean(x, axis=0), num_hidden=10)


def decoder(data, memory):
    """Attention to another sequence: by operators of its own, then by reshaping with codes."""
    q = mx.sym.FullyConnected(data, num_hidden=64, flatten=False)
    kv = mx.sym.FullyConnected(memory, num_hidden=128, flatten=False)
    weights = mx.sym.softmax(mx.sym.contrib.interleaved_matmul_encdec_qk(q, kv, heads=4))
    y = mx.sym.contrib.interleaved_matmul_encdec_valatt(kv, weights, heads=4)
    heads = lambda x: mx.sym.reshape(mx.sym.transpose(mx.sym.reshape(x, shape=(0, 0, -4, 4, -1)), axes=(1, 2, 0, 3)), shape=(-3, 0, 0))
    k, v = mx.sym.split(kv, num_outputs=2, axis=2)
    weights = mx.sym.softmax(mx.sym.batch_dot(heads(y), heads(k), transpose_b=True) / 4.0)
    y = mx.sym.reshape(mx.sym.batch_dot(weights, heads(v)), shape=(-4, 4, 1, -2))
    return mx.sym.dot(mx.sym.reshape(y, shape=(-1, 0), reverse=True), mx.sym.var('head', shape=(16, 3), init=mx.init.Zero()))


def speech(data):
    """Convolutions over time, then recurrent networks; MXNet tells nothing of their products."""
    x = mx.sym.Convolution(mx.sym.transpose(data, axes=(0, 2, 1)), kernel=(5,), pad=(2,), stride=(2,), num_filter=32)
    x = mx.sym.transpose(mx.sym.Activation(x, act_type='relu'), axes=(2, 0, 1))
    state = mx.sym.zeros((4, 1, 24))
    x = mx.sym.RNN(x, state=state, state_cell=state, state_size=24, num_layers=2, bidirectional=True, mode='lstm')
    x = mx.sym.RNN(x, state=mx.sym.zeros((1, 1, 16)), state_size=16, num_layers=1, mode='gru')
    return mx.sym.FullyConnected(x, num_hidden=29, flatten=False)


def cells(words):
    """Recurrent networks of MXNet's first interface, a node for each step: GRU upon LSTM."""
    x = mx.sym.Embedding(words, input_dim=50, output_dim=8)
    layers = mx.rnn.SequentialRNNCell()
    layers.add(mx.rnn.LSTMCell(16, prefix='lstm_'))
    layers.add(mx.rnn.GRUCell(16, prefix='gru_'))
    x, _ = layers.unroll(5, inputs=x, merge_outputs=True)
    return mx.sym.FullyConnected(x, num_hidden=4)


# For each layer and direction, the product of the inputs for all 25 steps at once, and that of the state for each step.
SPEECH = [*2 * [shapes.matmul(1, 25, 32, 96)], *2 * [shapes.matmul(1, 25, 48, 96)], *100 * [shapes.matmul(1, 1, 24, 96)],
          shapes.matmul(1, 25, 48, 48), *25 * [shapes.matmul(1, 1, 16, 48)]]

IMAGE = (1, 3, 224, 224)
NETWORKS = {
    'alexnet': (zoo('alexnet'), IMAGE),
    'vgg16_bn': (zoo('vgg16_bn'), IMAGE),
    'resnet50_v1': (zoo('resnet50_v1'), IMAGE),
    'resnet18_v1b': (zoo('resnet18_v1b'), IMAGE),
    'resnet18_v2': (zoo('resnet18_v2'), IMAGE),
    'resnest14': (zoo('resnest14'), IMAGE),
    'se_resnext50_32x4d': (zoo('se_resnext50_32x4d'), IMAGE),
    'densenet121': (zoo('densenet121'), IMAGE),
    'squeezenet1.1': (zoo('squeezenet1.1'), IMAGE),
    'googlenet': (zoo('googlenet'), IMAGE),
    'inceptionv3': (zoo('inceptionv3'), (1, 3, 299, 299)),
    'xception': (zoo('xception'), (1, 3, 299, 299)),
    'nasnet_4_1056': (zoo('nasnet_4_1056'), IMAGE),
    'mobilenet1.0': (zoo('mobilenet1.0'), IMAGE),
    'mobilenetv2_1.0': (zoo('mobilenetv2_1.0'), IMAGE),
    'mobilenetv3_small': (zoo('mobilenetv3_small'), IMAGE),
    'hrnet_w18_small_v1': (zoo('hrnet_w18_small_v1_c'), IMAGE),
    'channels_last': (channels_last, (2, 64, 64, 3)),
    'ssd_300_vgg16': (zoo('ssd_300_vgg16_atrous_voc'), (1, 3, 300, 300)),
    'ssd_512_resnet50': (zoo('ssd_512_resnet50_v1_voc'), (1, 3, 512, 512)),
    'yolo3_mobilenet1.0': (zoo('yolo3_mobilenet1.0_coco'), (1, 3, 416, 416)),
    'faster_rcnn': (zoo('faster_rcnn_resnet50_v1b_voc'), (1, 3, 600, 800)),
    'mask_rcnn_fpn': (zoo('mask_rcnn_fpn_resnet50_v1b_coco'), (1, 3, 800, 1024)),
    'center_net_dcnv2': (zoo('center_net_resnet18_v1b_dcnv2_voc'), (1, 3, 512, 512)),
    'simple_pose': (zoo('simple_pose_resnet18_v1b'), (1, 3, 256, 192)),
    'unet': (unet, (1, 3, 66, 66)),
    'fcn_resnet50': (zoo('fcn_resnet50_voc'), (1, 3, 480, 480)),
    'deeplab_resnet50': (zoo('deeplab_resnet50_ade'), (1, 3, 480, 480)),
    'psp_resnet50': (zoo('psp_resnet50_ade'), (1, 3, 480, 480)),
    'danet_resnet50': (zoo('danet_resnet50_citys'), (1, 3, 480, 480)),
    'fastscnn': (zoo('fastscnn_citys'), (1, 3, 1024, 1024)),
    'c3d': (zoo('c3d_kinetics400'), (1, 3, 16, 112, 112)),
    'r2plus1d_resnet18': (zoo('r2plus1d_resnet18_kinetics400'), (1, 3, 16, 112, 112)),
    'i3d_nl5_resnet50': (zoo('i3d_nl5_resnet50_v1_kinetics400'), (1, 3, 32, 224, 224)),
    'slowfast': (zoo('slowfast_4x16_resnet50_kinetics400'), (1, 3, 36, 224, 224)),
    'encoder': (encoder, (1, 16)),
    'decoder': (decoder, (16, 1, 64), (12, 1, 64)),
    'speech': (speech, (1, 50, 40)),
    'cells': (cells, (2, 5)),
    'mobilenet1.0_int8': (zoo('mobilenet1.0_int8'), IMAGE),
    'resnet50_v1_int8': (zoo('resnet50_v1_int8'), IMAGE),
}
INPUTS = {'encoder': ['words'], 'cells': ['words'], 'decoder': ['data', 'memory']}


def flat(x):
    """All symbols in what a network returns."""
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, (list, tuple)):
        return [s for part in x for s in flat(part)]
    return [] if x is None else [x]


def attributes(node):
    return node.get('attrs', {})


def numbers(text):
    return [int(s) for s in text.strip('()[] ').split(',') if s.strip()]


def known(symbol, inputs):
    """The nodes, and shapes and types of all values by (node, result)."""
    inside = symbol.get_internals()
    shape = inside.infer_shape(**inputs)[1]
    kind = inside.infer_type(**{name: 'float32' for name in inputs})[1]
    graph = json.loads(inside.tojson())
    return graph['nodes'], {tuple(head[:2]): (s, t.__name__) for head, s, t in zip(graph['heads'], shape, kind)}


SHORT = {'int8': 's8', 'uint8': 'u8', 'float32': 'f32', 'int32': 's32'}


def image(node, data, filters, out):
    """A convolution's line: sizes without the layout."""
    a = attributes(node)
    last = a.get('layout', 'NC').endswith('C') and len(a.get('layout', '')) > 2
    space, channel = (slice(1, -1), -1) if last else (slice(2, None), 1)
    return shapes.conv(data[0], int(a.get('num_group', 1)), data[channel], data[space], out[channel], out[space], numbers(a['kernel']))


def line(node, shape, out):
    """Of one node; shape: those of its inputs."""
    op, a = node['op'], attributes(node)
    flag = lambda key: a.get(key, 'False') in ('True', '1')
    if op == 'Convolution':
        return image(node, shape[0], shape[1], out)
    if op == 'Deconvolution':
        return shapes.transposed(shape[0][0], out[1] // shape[1][1], shape[0][1], shape[0][2:], out[1], shape[1][2:])
    if 'DeformableConvolution' in op:
        return shapes.deformable(shape[0][0], int(a.get('num_group', 1)), shape[0][1], out[1], out[2:], numbers(a['kernel']))
    if op == 'FullyConnected':
        rows = 1
        for s in out[:-1]:
            rows *= s
        return shapes.matmul(1, rows, shape[1][1], out[-1])
    if op == 'batch_dot':
        k = shape[0][1 if flag('transpose_a') else 2]
        return shapes.matmul(out[0], out[1], k, out[2])
    if op == 'dot':
        rows = 1
        for s in shape[0][:-1]:
            rows *= s
        return shapes.matmul(1, rows, shape[0][-1], out[-1])
    if op.startswith('_contrib_interleaved_matmul'):
        heads, parts = int(a['heads']), 3 if 'selfatt' in op else 2
        if op.endswith('_qk'):
            return shapes.matmul(out[0], out[1], shape[0][2] // heads // (3 if 'selfatt' in op else 1), out[2])
        return shapes.matmul(shape[1][0], shape[1][1], shape[1][2], shape[0][2] // heads // parts)
    return None


def before_padding(nodes, ref):
    """The data of a convolution; zeros around it count as the convolution's padding."""
    node = nodes[ref[0]]
    is_zeros = node['op'].lower() == 'pad' and attributes(node).get('mode') == 'constant' and \
        float(attributes(node).get('constant_value', 0)) == 0
    return node['inputs'][0] if is_zeros else ref


def lines(symbol, inputs):
    nodes, found = known(symbol, inputs)
    for i, node in enumerate(nodes):
        got = [found[k, r] for k, r, *_ in node['inputs']]
        if node['op'] == 'Convolution':
            got[0] = found[tuple(before_padding(nodes, node['inputs'][0])[:2])]
        if node['op'].startswith('_sg_'):
            inner = next(n for n in node['subgraphs'][0]['nodes'] if n['op'] == 'Convolution')
            types = [SHORT[got[0][1]], 's8', SHORT[found[i, 0][1]]]
            prefix = types[0] if len(set(types)) == 1 else ':'.join(types)
            yield prefix + ' ' + image(inner, got[0][0], None, found[i, 0][0])
            continue
        text = line(node, [g[0] for g in got], found[i, 0][0])
        if text:
            yield text


def old(text):
    """A symbol as MXNet wrote it before version 0.9: attributes of operators are in "param", others in "attr"."""
    symbol = json.loads(text)
    for node in symbol['nodes']:
        a = node.pop('attrs', {})
        node['param'] = {k: v for k, v in a.items() if not k.startswith('__')} if node['op'] != 'null' else {}
        if node['op'] == 'Convolution':
            node['param'] = {k: v.replace(' ', '') for k, v in node['param'].items() if k != 'layout'}
        node['inputs'] = [i[:2] for i in node['inputs']]
        node['inputs'] = node['inputs'][:3] if node['op'] == 'BatchNorm' else node['inputs']
        node['backward_source_id'] = -1
    for key in ('node_row_ptr', 'attrs'):
        symbol.pop(key, None)
    symbol['heads'] = [h[:2] for h in symbol['heads']]
    return json.dumps(symbol, indent=2)


def write(name, text, rows, inputs):
    options = ' '.join(f'--shape {k}:' + ','.join(map(str, v)) for k, v in inputs.items())
    shapes.write(f'{HERE}/{name}-symbol.shapes', rows, options)
    subprocess.run(['zstd', '-q19f', '-o', f'{HERE}/{name}-symbol.json.zst'], input=text.encode(), check=True)
    print(name, len(rows), flush=True)


def main():
    for name in sys.argv[1:] or NETWORKS:
        make, *sizes = NETWORKS[name]
        inputs = dict(zip(INPUTS.get(name, ['data']), sizes))
        with mx.name.NameManager():
            symbol = mx.sym.Group(flat(make(*map(mx.sym.var, inputs))))
        rows = list(lines(symbol, inputs)) + (SPEECH if name == 'speech' else [])
        write(name, symbol.tojson(), rows, inputs)
        if name == 'resnet50_v1':
            write(name + '-old', old(symbol.tojson()), rows, inputs)


sys.exit(main())
