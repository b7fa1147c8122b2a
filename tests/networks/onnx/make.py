#!/usr/bin/env python3
"""Makes the ONNX models of this folder, and what PyTorch says of their shapes.

pip install torch torchvision transformers onnx onnxscript; python3 tests/networks/onnx/make.py [--to FOLDER] [--name NAME...]

NAME is a network of torch_networks.py, which both exporters of PyTorch write: NAME.onnx.zst is from the one that traces
(TorchScript), NAME-dynamo.onnx.zst from the one that exports the program. Weights are named as external data, and the file
that has them is left out; so are the lines of Python that nodes came from.
"""
import argparse
import contextlib
import gc
import io
import os
import subprocess
import sys
import tempfile

import onnx
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes
import torch_networks
import torch_shapes

# The opset that each exporter writes of a network; None: of those that are not named.
TRACED = {'resnet50': 11, 'vit_b_16': 14, 'mobilenet_v2': 9, 'densenet121': 12, 'googlenet': 13, 'swin_t': 16, 'encoder': 15, None: 17}
PROGRAM = {'resnet18': 19, 'vit_b_16': 21, 'encoder': 22, 'decoder': 23, 'mobilenet_v2': 20, None: 18}
# What an exporter of PyTorch 2.15 refuses: aten::diff, which the tracing one does not know; a reshape behind attention.
REFUSED = {('gpt2', 'traced'), ('llama', 'traced'), ('whisper', 'traced'), ('t5', 'dynamo'), ('conformer', 'dynamo')}
# Files of 40 to 60 KB, for the tracer writes all parts of an attention's mask out; the other exporter's stay.
LONG = {('swin3d_t', 'traced'), ('swin_v2_t', 'traced')}
LARGEST = 64  # elements that stay: shapes are computed from them
# Products of constants, which the exporter computed: how many.
FOLDED = {'swin_v2_t-dynamo': ('matmul 225x2:2x512', 12), 'stacked-dynamo': ('matmul 1x24:24x96', 1)}
OPEN = ('unet', 'encoder', 'recurrent')  # also with an open batch


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [*attribute.graphs, *([attribute.g] if attribute.HasField('g') else [])]:
                yield from graphs(inner)


def leave_out(tensor):
    """The elements of a weight."""
    elements = 1
    for size in tensor.dims:
        elements *= size
    if elements <= LARGEST or tensor.data_type == onnx.TensorProto.STRING:
        return
    for field in ('raw_data', 'float_data', 'int32_data', 'int64_data', 'double_data', 'uint64_data', 'external_data'):
        tensor.ClearField(field)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key='location', value='weights')


def strip(model):
    for graph in graphs(model.graph):
        for tensor in graph.initializer:
            leave_out(tensor)
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField('t'):
                    leave_out(attribute.t)
        for part in (*graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
            part.ClearField('doc_string')
            part.ClearField('metadata_props')
    for function in model.functions:
        for node in function.node:
            node.ClearField('doc_string')
            node.ClearField('metadata_props')
    model.graph.ClearField('metadata_props')
    return model


def exported(network, inputs, **options):
    """The model that torch.onnx.export() writes, without its weights."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        file = f'{folder}/model.onnx'
        torch.onnx.export(network, inputs, file, **options)
        return strip(onnx.load(file, load_external_data=False))


def save(model, to, name, lines):
    line, count = FOLDED.get(name, ('', 0))
    for _ in range(count):
        lines[lines.index(line)] = '# folded ' + line
    subprocess.run(['zstd', '-19', '-q', '-f', '-o', f'{to}/{name}.onnx.zst'], input=model.SerializeToString(), check=True)
    shapes.write(f'{to}/{name}.shapes', lines)
    print(name, os.path.getsize(f'{to}/{name}.onnx.zst'), flush=True)


def of_either(kind, name):
    if kind == 'traced':
        return '', {'dynamo': False, 'opset_version': TRACED.get(name, TRACED[None])}
    return '-dynamo', {'dynamo': True, 'opset_version': PROGRAM.get(name, PROGRAM[None]), 'verbose': False}


def make(to, name, kind):
    network, inputs = torch_networks.make(name)
    suffix, options = of_either(kind, name)
    save(exported(network, inputs, **options), to, name + suffix, torch_shapes.of(network, *inputs))
    if name in OPEN:
        two = tuple(torch.cat([i, i]) for i in inputs)
        if kind == 'traced':
            options |= {'input_names': ['x'], 'dynamic_axes': {'x': {0: 'batch'}}}
        else:
            options |= {'dynamic_shapes': ({0: torch.export.Dim('batch')},)}
        save(exported(network, two, **options), to, name + suffix + '-batch', torch_shapes.of(network, *inputs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--to', default=HERE)
    parser.add_argument('--kind', choices=('traced', 'dynamo'), nargs='*', default=('traced', 'dynamo'))
    parser.add_argument('--name', nargs='*', default=list(torch_networks.NETWORKS))
    given = parser.parse_args()
    for name in given.name:
        for kind in given.kind:
            if (name, kind) not in REFUSED | LONG:
                make(given.to, name, kind)
            gc.collect()


sys.exit(main())
