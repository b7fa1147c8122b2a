#!/usr/bin/env python3
"""Makes the ONNX models of this folder that onnxruntime's tools wrote, and what onnxruntime says of their shapes.

pip install torch torchvision transformers onnx onnxruntime==1.32; python3 tests/networks/onnx/make_onnxruntime.py [--to FOLDER] [NAME...]

NAME-extended and NAME-all are what onnxruntime's optimizer saves at these levels (all: of the machine that it ran on), NAME-fused
what its optimizer of transformers saves, NAME-qdq, NAME-qoperator and NAME-dynamic what its quantization does, NAME-f16 is in half
precision, and NAME-open leaves the batch and the last dimension of each input open. A NAME that ends in .onnx is the file of a model, which is recorded as it is. Other networks are
those of ../torch_networks.py, as PyTorch exports them. onnxruntime runs each model once, and tells the shape of
every value.
"""
import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes
import torch_networks

LARGEST = 64  # elements that stay: shapes are computed from them
LEVELS = {
    'extended': onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    'all': onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
VARIANTS = {
    'resnet18': ('extended', 'all', 'qdq', 'qoperator', 'dynamic', 'f16'),
    'mobilenet_v2': ('extended', 'all', 'qdq', 'qoperator'),
    'squeezenet1_1': ('all',),
    'densenet121': ('extended',),
    'efficientnet_b0': ('extended',),
    'shufflenet_v2_x1_0': ('all',),
    'unet': ('extended', 'all'),
    'deeplabv3_mobilenet_v3_large': ('extended',),
    'encoder': ('extended', 'all', 'dynamic', 'qdq', 'f16', 'open'),
    'speech': ('extended',),
    'recurrent': ('extended', 'dynamic'),
    'vit_b_16': ('extended', 'fused'),
    'bert': ('extended', 'fused', 'dynamic', 'open'),
    't5': ('open',),
    'segformer': ('open', 'all'),
    'wav2vec2': ('open',),
    'conformer': ('open', 'extended'),
    'gpt2': ('extended',),
}
PROGRAMS = ('gpt2',)  # that the tracing exporter does not write
KINDS = {'bert': 'bert', 'vit_b_16': 'vit'}


def exported(name, path):
    network, inputs = torch_networks.make(name)
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(network, inputs, path, opset_version=18, dynamo=name in PROGRAMS)


def exported_open(name, path):
    """With open dimensions; the options that give them their sizes."""
    network, inputs = torch_networks.make(name)
    axes = {f'x{k}': {0: 'batch', i.dim() - 1: f'length{k}'} for k, i in enumerate(inputs)}
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(network, inputs, path, opset_version=17, dynamo=False, input_names=list(axes), dynamic_axes=axes)
    return ' '.join(f'--dim length{k}={i.shape[-1]}' for k, i in enumerate(inputs))


def plain():
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return options


def random_inputs(session):
    rng = np.random.default_rng(1)
    kinds = {'tensor(float)': np.float32, 'tensor(float16)': np.float16, 'tensor(int64)': np.int64, 'tensor(int32)': np.int32, 'tensor(bool)': bool}
    feeds = {}
    for i in session.get_inputs():
        kind = kinds[i.type]
        shape = [size if isinstance(size, int) else 1 for size in i.shape]
        values = rng.random(shape) if np.issubdtype(kind, np.floating) else np.ones(shape)
        feeds[i.name] = values.astype(kind)
    return feeds


class Calibration:
    """Some inputs for static quantization."""

    def __init__(self, path):
        session = onnxruntime.InferenceSession(path, plain())
        self.left = [random_inputs(session)]

    def get_next(self):
        return self.left.pop() if self.left else None


def made(variant, name, path, to):
    """The model `to` of the model `path`; the options that it needs."""
    from onnxruntime import quantization
    if variant == 'open':
        return exported_open(name, to)
    if variant in LEVELS:
        options = plain()
        options.graph_optimization_level = LEVELS[variant]
        options.optimized_model_filepath = to
        onnxruntime.InferenceSession(path, options)
    elif variant == 'fused':
        from onnxruntime.transformers import optimizer
        model = optimizer.optimize_model(path, model_type=KINDS[name])
        model.save_model_to_file(to)
    elif variant == 'f16':
        from onnxruntime.transformers import float16
        onnx.save(float16.convert_float_to_float16(onnx.load(path)), to)
    elif variant == 'dynamic':
        quantization.quantize_dynamic(path, to)
    else:
        form = quantization.QuantFormat.QDQ if variant == 'qdq' else quantization.QuantFormat.QOperator
        if variant == 'qoperator':
            quantization.shape_inference.quant_pre_process(path, f'{path}.known')
            path = f'{path}.known'
        quantization.quantize_static(path, to, Calibration(path), quant_format=form)
    return ''


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField('g'):
                yield from graphs(attribute.g)


def told_shapes(model):
    """The shape of each value, by a run that puts out all of them."""
    all_out = onnx.ModelProto()
    all_out.CopyFrom(model)
    have = {o.name for o in all_out.graph.output}
    names = [o for n in all_out.graph.node for o in n.output if o and o not in have]
    all_out.graph.output.extend(onnx.helper.make_empty_tensor_value_info(n) for n in names)
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(all_out, f'{folder}/all.onnx')
        session = onnxruntime.InferenceSession(f'{folder}/all.onnx', plain())
    feeds = random_inputs(session)
    outputs = [o.name for o in session.get_outputs()]
    shape = {n: list(np.shape(v)) for n, v in zip(outputs, session.run(outputs, feeds))}
    shape.update({n: list(v.shape) for n, v in feeds.items()})
    shape.update({t.name: list(t.dims) for t in model.graph.initializer})
    return shape


def matmul(a, b, out):
    """As tl-extract counts: one matrix on the right takes all rows at once."""
    if np.prod(b[:-2]) == 1:
        return shapes.matmul(1, np.prod(a[:-1]), a[-1], b[-1])
    return shapes.matmul(np.prod(out[:-2]), a[-2], a[-1], b[-1])


def heads(batch, count, rows, columns, size):
    """The two products of attention."""
    yield shapes.matmul(batch * count, rows, size, columns)
    yield shapes.matmul(batch * count, rows, columns, size)


def turned(s, by):
    return [*s[:-2], s[-1], s[-2]] if by else s


def rows_behind(s, by):
    return [*s[1:-1], s[0], s[-1]] if by else s


def recurrent(x, w, r):
    """The product of the inputs once, that of the state once a step, in each direction."""
    for _ in range(w[0]):
        yield shapes.matmul(1, x[0] * x[1], x[2], w[1])
        for _ in range(x[0]):
            yield shapes.matmul(1, x[1], r[2], r[1])


WHOLE = {onnx.TensorProto.INT8: 's8', onnx.TensorProto.UINT8: 'u8', onnx.TensorProto.INT32: 's32'}
OPERANDS = {'QLinearConv': (0, 3, 7), 'QLinearMatMul': (0, 3, 7), 'QGemm': (0, 3, 8)}  # the last: zero point of the result


class Types:
    """Types of what a quantized node reads and of what becomes of its sums, by the nodes around it."""

    def __init__(self, graph):
        self.constant = {t.name: t.data_type for t in graph.initializer}
        self.by = {o: n for n in graph.node for o in n.output}
        self.readers = {}
        for node in graph.node:
            for i in node.input:
                self.readers.setdefault(i, []).append(node)

    def of(self, name):
        if name in self.constant:
            return WHOLE[self.constant[name]]
        node = self.by[name]
        if node.op_type == 'DynamicQuantizeLinear':
            return 'u8'
        if node.op_type == 'DequantizeLinear':
            return self.of(node.input[0])
        if node.op_type == 'QuantizeLinear':
            return self.of(node.input[2])
        if node.op_type in OPERANDS:
            return self.of(node.input[OPERANDS[node.op_type][2]])
        return self.of(node.input[0])  # moved

    def result(self, node):
        if node.op_type in OPERANDS:
            return self.of(node.input[OPERANDS[node.op_type][2]])
        name = node.output[0]
        while len(self.readers.get(name, [])) == 1 and self.readers[name][0].op_type in ('Relu', 'Clip', 'Identity'):
            name = self.readers[name][0].output[0]
        after = self.readers.get(name, [])
        return self.of(after[0].output[0]) if len(after) == 1 and after[0].op_type == 'QuantizeLinear' else 'f32'

    def line(self, node):
        a, b, _ = OPERANDS.get(node.op_type, (0, 1, 0))
        three = self.of(node.input[a]), self.of(node.input[b]), self.result(node)
        return three[0] if len(set(three)) == 1 else ':'.join(three)


def lines_of(node, shape):
    """The lines of one node."""
    attribute = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    s = [shape.get(i) for i in node.input]
    out = shape.get(node.output[0]) if node.output else None
    kind = node.op_type
    if kind in ('Conv', 'FusedConv', 'ConvInteger', 'QLinearConv'):
        data, w = s[0], s[3 if kind == 'QLinearConv' else 1]
        yield shapes.conv(data[0], attribute.get('group', 1), data[1], data[2:], w[0], out[2:], w[2:])
    elif kind == 'ConvTranspose':
        yield shapes.transposed(s[0][0], attribute.get('group', 1), s[0][1], s[0][2:], out[1], s[1][2:])
    elif kind in ('MatMul', 'MatMulInteger', 'FusedMatMul', 'MatMulIntegerToFloat', 'DynamicQuantizeMatMul'):
        a, b = (rows_behind(s[i], attribute.get(f'transBatch{c}')) for i, c in enumerate('AB'))
        yield matmul(turned(a, attribute.get('transA')), turned(b, attribute.get('transB')), out)
    elif kind == 'QLinearMatMul':
        yield matmul(s[0], s[3], out)
    elif kind in ('Gemm', 'FusedGemm', 'QGemm'):
        a, b = s[0], s[3 if kind == 'QGemm' else 1]
        yield matmul(turned(a, attribute.get('transA')), turned(b, attribute.get('transB')), out)
    elif kind in ('Attention', 'QAttention'):
        n = attribute['num_heads']
        yield matmul(s[0], s[1], None)
        yield from heads(s[0][0], n, s[0][1], s[0][1], s[1][1] // 3 // n)
    elif kind == 'MultiHeadAttention':
        n = attribute['num_heads']
        yield from heads(s[0][0], n, s[0][1], s[1][1], s[0][2] // n)
    elif kind in ('LSTM', 'GRU', 'RNN', 'DynamicQuantizeLSTM'):
        w, r = (s[1], s[2]) if kind != 'DynamicQuantizeLSTM' else (turned(s[1], 1), turned(s[2], 1))
        yield from recurrent(s[0], w, r)


def lines(model):
    shape = told_shapes(model)
    by = {o: n for n in model.graph.node for o in n.output}
    types = Types(model.graph)
    half = any(t.data_type == onnx.TensorProto.FLOAT16 for t in model.graph.initializer)
    for node in model.graph.node:
        if 'Conv' in node.op_type and node.input[0] in by and by[node.input[0]].op_type == 'Pad':
            shape[node.input[0]] = shape[by[node.input[0]].input[0]]  # the padding is the convolution's
        quantized = node.op_type in ('ConvInteger', 'QLinearConv', 'MatMulInteger', 'QLinearMatMul', 'QGemm',
                                     'MatMulIntegerToFloat', 'QAttention')
        quantized |= any(i in by and by[i].op_type == 'DequantizeLinear' for i in node.input[:2])
        for number, line in enumerate(lines_of(node, shape)):
            if node.op_type in ('DynamicQuantizeLSTM', 'DynamicQuantizeMatMul'):
                yield f'u8:{types.of(node.input[1])}:f32 {line}'
            elif quantized and not (node.op_type == 'QAttention' and number):  # the products of heads are of reals
                yield f'{types.line(node)} {line}'
            else:
                yield ('f16 ' if half else '') + line


def strip(model):
    for graph in graphs(model.graph):
        for tensor in graph.initializer:
            leave_out(tensor)
        for node in graph.node:
            node.ClearField('doc_string')
            node.ClearField('metadata_props')
            for attribute in node.attribute:
                if attribute.HasField('t'):
                    leave_out(attribute.t)
    return model


def leave_out(tensor):
    """The elements of a weight."""
    if np.prod(tensor.dims) <= LARGEST or tensor.data_type == onnx.TensorProto.STRING:
        return
    for field in ('raw_data', 'float_data', 'int32_data', 'int64_data', 'double_data', 'uint64_data', 'external_data'):
        tensor.ClearField(field)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key='location', value='weights')


def save(model, to, name, told=None, options=''):
    """told: the model that tells the shapes, if it is another one."""
    shapes.write(f'{to}/{name}.shapes', list(lines(told or model)), options)
    subprocess.run(['zstd', '-19', '-q', '-f', '-o', f'{to}/{name}.onnx.zst'], input=strip(model).SerializeToString(),
                   check=True)
    print(name, os.path.getsize(f'{to}/{name}.onnx.zst'), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--to', default=HERE)
    parser.add_argument('name', nargs='*', default=list(VARIANTS))
    given = parser.parse_args()
    failed = 0
    for path in [n for n in given.name if n.endswith('.onnx')]:
        save(onnx.load(path), given.to, os.path.basename(path).removesuffix('.onnx'))
    for name in [n for n in given.name if not n.endswith('.onnx')]:
        with tempfile.TemporaryDirectory() as folder:
            exported(name, f'{folder}/model.onnx')
            for variant in VARIANTS[name]:
                try:
                    options = made(variant, name, f'{folder}/model.onnx', f'{folder}/{variant}.onnx')
                    told = onnx.load(f'{folder}/model.onnx') if variant == 'open' else None
                    save(onnx.load(f'{folder}/{variant}.onnx'), given.to, f'{name}-{variant}', told, options)
                except Exception as e:  # one that a tool cannot make does not stop the others
                    print(name, variant, 'FAILED:', str(e).strip().splitlines()[:1], flush=True)
                    failed = 1
    return failed


sys.exit(main())
