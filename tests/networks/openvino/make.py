#!/usr/bin/env python3
"""Makes the networks of this folder, and what OpenVINO says of their shapes.

pip install openvino torch torchvision; python3 tests/networks/openvino/make.py [NAME...]

NAME.xml.zst is the network that OpenVINO's converter makes of PyTorch's, without the weights, which are in a file of their own.
NAME-open.tar.zst has both files, and NAME.shapes, of a network whose batch (of `encoder`, also the number of words) is open.
"""
import math
import os
import re
import subprocess
import sys
import tempfile

import openvino
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes
import torch_networks

torch.backends.mha.set_fastpath_enabled(False)  # one operator for a whole layer


def sizes(port):
    return list(port.get_partial_shape().to_shape()) if port.get_partial_shape().is_static else None


def convolution(op):
    """A filter is O I K..., with the groups first in a GroupConvolution; of a transposed one I O K..."""
    kind = op.get_type_name()
    x, w, out = sizes(op.input(0)), sizes(op.input(1)), sizes(op.output(0))
    groups = w.pop(0) if kind.startswith('Group') else 1
    if 'Backprop' in kind:
        return shapes.transposed(x[0], groups, x[1], x[2:], out[1], w[2:])
    return shapes.conv(x[0], groups, x[1], x[2:], out[1], out[2:], w[2:])


def product(op):
    a, b, out = sizes(op.input(0)), sizes(op.input(1)), sizes(op.output(0))
    at = op.get_attributes()
    k = a[-2] if at['transpose_a'] else a[-1]
    n = b[-2] if at['transpose_b'] else b[-1]
    m = a[-1] if at['transpose_a'] else a[-2] if len(a) > 1 else 1
    rows = 1
    for s in out[:-1]:
        rows *= s
    # One matrix on the right takes all rows of the left at once.
    return shapes.matmul(1, rows, k, n) if all(s == 1 for s in b[:-2]) else shapes.matmul(rows // m, m, k, n)


def einsum(op):
    """Letters of both sides and the result are a batch, those of both sides alone are summed over."""
    a, b, out = op.get_attributes()['equation'].replace('->', ',').split(',')
    size = dict(zip(a + b, sizes(op.input(0)) + sizes(op.input(1))))
    of = lambda letters: math.prod(size[c] for c in letters)
    return shapes.matmul(of(set(a) & set(b) & set(out)), of(set(a) - set(b)), of((set(a) & set(b)) - set(out)), of(set(b) - set(a)))


def attention(op):
    q, k, v = (sizes(op.input(i)) for i in range(3))
    batch = 1
    for s in q[:-2]:
        batch *= s
    return [shapes.matmul(batch, q[-2], q[-1], k[-2]), shapes.matmul(batch, q[-2], k[-2], v[-1])]


def recurrent(op):
    """The products of the inputs, and in each step those of the state, for each direction."""
    lengths = {'LSTMSequence': 3, 'GRUSequence': 2, 'RNNSequence': 2}[op.get_type_name()]
    x, w, r = sizes(op.input(0)), sizes(op.input(lengths + 1)), sizes(op.input(lengths + 2))
    one = [shapes.matmul(1, x[0] * x[1], x[2], w[1])] + [shapes.matmul(1, x[0], r[2], r[1])] * x[1]
    return one * w[0]


def lines(model):
    for op in model.get_ordered_ops():
        kind = op.get_type_name()
        if kind.endswith(('Convolution', 'ConvolutionBackpropData')):
            yield convolution(op)
        elif kind == 'Einsum':
            yield einsum(op)
        elif kind == 'MatMul':
            yield product(op)
        elif kind == 'ScaledDotProductAttention':
            yield from attention(op)
        elif kind in ('LSTMSequence', 'GRUSequence', 'RNNSequence'):
            yield from recurrent(op)


def save(model, folder, name, half=True):
    """NAME.xml without versions and paths, and NAME.bin with nothing but small constants."""
    openvino.save_model(model, f'{folder}/{name}.xml', compress_to_fp16=half)
    with open(f'{folder}/{name}.xml') as file:
        text = file.read()
    text = text[:text.rindex('<rt_info>')] + '</net>\n'
    with open(f'{folder}/{name}.xml', 'w') as file:
        file.write(text)
    with open(f'{folder}/{name}.bin', 'r+b') as file:
        for offset, size in re.findall(r'offset="(\d+)" size="(\d+)"', text):
            if int(size) > 4096:
                file.seek(int(offset))
                file.write(bytes(int(size)))


def write(model, name, half=True):
    with tempfile.TemporaryDirectory() as folder:
        save(model, folder, name, half)
        subprocess.run(['zstd', '-19', '-q', '-f', f'{folder}/{name}.xml', '-o', f'{HERE}/{name}.xml.zst'], check=True)
    shapes.write(f'{HERE}/{name}.shapes', lines(model))


def write_open(model, name, told):
    """Sizes that are open: an archive of all files, for constants are needed then. told: the same with sizes."""
    with tempfile.TemporaryDirectory() as folder:
        save(model, folder, name)
        shapes.write(f'{folder}/{name}.shapes', lines(told))
        subprocess.run(['tar', '-C', folder, '--sort=name', '--owner=0', '--group=0', '--mtime=@0', '-I', 'zstd -19', '-cf',
                        f'{HERE}/{name}.tar.zst', '.'], check=True)


def convert(name, open_dimensions=()):
    network, inputs = torch_networks.make(name)
    form = [openvino.PartialShape([-1 if i in open_dimensions else s for i, s in enumerate(x.shape)]) for x in inputs]
    try:
        return openvino.convert_model(network, example_input=inputs, input=form)
    except Exception:  # what cannot be traced
        if open_dimensions:
            raise
        model = openvino.convert_model(torch.export.export(network, inputs))
        model.reshape(dict(enumerate(form)))
        return model


def main():
    for name in sys.argv[1:] or torch_networks.NETWORKS:
        model = convert(name)
        write(model, name, half=name != 'resnet50')
        if name in ('mobilenet_v2', 'detector', 'encoder'):
            write_open(convert(name, (0, 1) if name == 'encoder' else (0,)), name + '-open', model)
        print(name, flush=True)


sys.exit(main())
