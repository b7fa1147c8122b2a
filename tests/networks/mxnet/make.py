#!/usr/bin/env python3
"""Makes the symbol files of this folder, and the shapes of what they describe.

python3 tests/networks/mxnet/make.py

MXNet itself was not run: the files are written here, in the form that its symbol.tojson() writes, and sizes are those of the
definition of its operators: floor((in + 2 pad - kernel) / stride) + 1.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes


class Symbol:
    """A network as it grows: nodes of the file, and what is computed."""

    def __init__(self, channels, side):
        self.nodes, self.lines = [], []
        self.input = self.add('null', 'data')
        self.data = (self.input, channels, side)

    def add(self, op, name, inputs=(), **attrs):
        node = {'op': op, 'name': name, 'inputs': [[i, 0, 0] for i in inputs]}
        if attrs:
            node['attrs'] = {k: str(v) for k, v in attrs.items()}
        self.nodes.append(node)
        return len(self.nodes) - 1

    def conv(self, x, filters, kernel, stride=1, pad=0, groups=1, bias=False):
        at, channels, side = x
        name = f'conv{len(self.nodes)}'
        # As Gluon writes it: 0 is a size that follows from the data.
        weight = self.add('null', f'{name}_weight', __shape__=(filters, 0, kernel, kernel))
        inputs = [at, weight] + ([self.add('null', f'{name}_bias')] if bias else [])
        out = (side + 2 * pad - kernel) // stride + 1
        at = self.add('Convolution', name, inputs, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad), num_filter=filters,
                      num_group=groups, no_bias=not bias)
        self.lines.append(shapes.conv(1, groups, channels, [side, side], filters, [out, out], [kernel, kernel]))
        return at, filters, out

    def norm(self, x, act='relu'):
        at, channels, side = x
        name = f'bn{len(self.nodes)}'
        at = self.add('BatchNorm', name, [at, *(self.add('null', f'{name}_{p}') for p in ('gamma', 'beta', 'moving_mean', 'moving_var'))],
                      eps=1e-05, fix_gamma=False)
        return (self.add('Activation', f'{name}_act', [at], act_type=act) if act else at), channels, side

    def dense(self, at, k, units):
        name = f'fc{len(self.nodes)}'
        inputs = [at, self.add('null', f'{name}_weight'), self.add('null', f'{name}_bias')]
        self.lines.append(shapes.matmul(1, 1, k, units))
        return self.add('FullyConnected', name, inputs, num_hidden=units)

    def write(self, name):
        args = [i for i, n in enumerate(self.nodes) if n['op'] == 'null']
        with open(f'{HERE}/{name}-symbol.json', 'w') as out:
            json.dump({'nodes': self.nodes, 'arg_nodes': args, 'node_row_ptr': list(range(len(self.nodes) + 1)),
                       'heads': [[len(self.nodes) - 1, 0, 0]], 'attrs': {'mxnet_version': ['int', 10901]}}, out, indent=1)


def resnet18():
    """The first version, as Gluon's model zoo has it."""
    s = Symbol(3, 224)
    x = s.norm(s.conv(s.data, 64, 7, 2, 3))
    x = s.add('Pooling', 'pool0', [x[0]], kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='max'), 64, 56
    for filters in (64, 128, 256, 512):
        for block in range(2):
            stride = 2 if block == 0 and filters > 64 else 1
            y = s.norm(s.conv(s.norm(s.conv(x, filters, 3, stride, 1)), filters, 3, 1, 1), None)
            side = s.norm(s.conv(x, filters, 1, stride), None) if stride == 2 else x
            at = s.add('elemwise_add', f'plus{len(s.nodes)}', [y[0], side[0]])
            x = s.add('Activation', f'relu{len(s.nodes)}', [at], act_type='relu'), filters, y[2]
    at = s.add('Pooling', 'pool1', [x[0]], kernel=(1, 1), global_pool=True, pool_type='avg')
    s.dense(s.add('Flatten', 'flatten0', [at]), 512, 1000)
    return s, 224


def mobilenet():
    """The first MobileNet, a quarter as wide: depthwise convolutions, a softmax with its label."""
    s = Symbol(3, 128)
    x = s.norm(s.conv(s.data, 8, 3, 2, 1))
    for filters, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1)):
        x = s.norm(s.conv(s.norm(s.conv(x, x[1], 3, stride, 1, groups=x[1])), filters, 1))
    at = s.add('Pooling', 'pool', [x[0]], kernel=(4, 4), pool_type='avg', pooling_convention='full')
    at = s.dense(at, 256, 10)
    s.add('SoftmaxOutput', 'softmax', [at, s.add('null', 'softmax_label')])
    return s, 128


for name, make in (('resnet18', resnet18), ('mobilenet', mobilenet)):
    symbol, side = make()
    symbol.write(name)
    os.rename(f'{HERE}/{name}-symbol.json', f'{HERE}/{name}.symbol.json')
    shapes.write(f'{HERE}/{name}.shapes', symbol.lines, f'--shape data:1,3,{side},{side}')
