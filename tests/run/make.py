"""Makes the models of tests/run.t, and what onnxruntime answers: NAME.onnx, and NAME.npz with inputs and outputs. What onnxruntime
does not know is answered by ONNX's reference.

Wants numpy, onnx and onnxruntime. Its results are kept in the tree, so that the tests need none of them:
    python tests/run/make.py tests/run [NAME...]
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(7)


class Model:
    def __init__(self, name, opset=13, by_reference=False):
        self.name, self.opset, self.by_reference = name, opset, by_reference
        self.nodes, self.weights, self.inputs, self.outputs, self.feed = [], [], [], [], {}
        self.wanted = {}
        self.count = 0

    def input(self, name, array, dims=None):
        kind = TensorProto.INT64 if array.dtype == np.int64 else TensorProto.FLOAT
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims or array.shape))
        self.feed[name] = array
        return name

    def const(self, array):
        self.count += 1
        name = f"c{self.count}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, *shape, low=-1.0, high=1.0):
        return self.const(rng.uniform(low, high, shape).astype(np.float32))

    def add(self, op, *inputs, n=1, out=None, **attributes):
        self.count += 1
        names = [out or f"v{self.count}"] if n == 1 else [f"v{self.count}_{i}" for i in range(n)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"{op.lower()}{self.count}", **attributes))
        return names[0] if n == 1 else names

    def output(self, *names, want=None):
        """want: the answer by ONNX's definition, where onnxruntime has another one for NaN."""
        for name in names:
            out = f"out{len(self.outputs)}"
            if want is not None:
                self.wanted[out] = np.asarray(want, np.float32)
            self.nodes.append(helper.make_node("Identity", [name], [out], name=f"end{len(self.outputs)}"))
            self.outputs.append(out)

    def save(self, folder):
        outs = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in self.outputs]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outs, self.weights)
        sets = [helper.make_opsetid("", self.opset)]
        if any(node.domain for node in self.nodes):
            sets.append(helper.make_opsetid("com.microsoft", 1))
        model = helper.make_model(graph, opset_imports=sets, ir_version=10 if len(sets) > 1 else 8)
        path = os.path.join(folder, self.name + ".onnx")
        if self.name == "external":
            onnx.save(model, path, save_as_external_data=True, location="external.bin", size_threshold=64)
        else:
            onnx.save(model, path)
        if self.by_reference:
            session = ReferenceEvaluator(model)
        else:
            options = ort.SessionOptions()
            options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")  # single precision
            session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        answers = session.run(self.outputs, self.feed)
        np.savez(os.path.join(folder, self.name + ".npz"), **self.feed, **{**dict(zip(self.outputs, answers)), **self.wanted})


def image(m, *shape, **k):
    return m.input("image", rng.uniform(-1, 1, shape).astype(np.float32), **k)


def conv(m, x, cin, cout, k=1, bias=True, **attributes):
    group = attributes.get("group", 1)
    w = m.floats(cout, cin // group, k, k, low=-0.5, high=0.5)
    return m.add("Conv", x, w, *([m.floats(cout)] if bias else []), kernel_shape=[k, k], **attributes)


def norm(m, x, c):
    return m.add("BatchNormalization", x, m.floats(c, low=0.5, high=1.5), m.floats(c), m.floats(c),
                 m.floats(c, low=0.5, high=1.5), epsilon=1e-3)


def cnn():
    """Residuals, normalizations on both sides, concatenations within others, all kinds of pools."""
    m = Model("cnn")
    x = image(m, 2, 3, 23, 21, dims=["N", 3, 23, 21])
    x = m.add("Relu", norm(m, conv(m, x, 3, 19, 3, strides=[2, 2], pads=[1, 1, 1, 1], bias=False), 19))
    x = m.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = m.add("Relu", conv(m, x, 19, 24, 3, pads=[1, 1, 1, 1]))
    y = conv(m, y, 24, 19)
    x = m.add("Relu", m.add("Add", y, x))
    parts = [x]
    channels = 19
    for _ in range(3):
        t = m.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
        t = m.add("Relu", norm(m, t, channels))
        parts.append(conv(m, t, channels, 8, 3, pads=[1, 1, 1, 1]))
        channels += 8
    x = m.add("Concat", *parts, axis=1)
    a = m.add("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    b = m.add("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    pads = m.const(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64))
    c = m.add("AveragePool", m.add("Pad", x, pads), kernel_shape=[3, 3])
    x = m.add("Concat", a, b, c, conv(m, x, channels, 6), axis=1)
    x = m.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    flat = m.add("Flatten", x, axis=1)
    y = m.add("GlobalAveragePool", x)
    z = m.add("Gemm", m.add("Flatten", y), m.floats(10, channels * 3 + 6), m.floats(10), transB=1)
    m.output(x, flat, m.add("Softmax", z, axis=1), m.add("GlobalMaxPool", x))
    return m


def mobile():
    """Depthwise and grouped convolutions, gates, a one-dimensional convolution."""
    m = Model("mobile")
    x = image(m, 1, 6, 12, 14)
    x = m.add("HardSwish", conv(m, x, 6, 20), ) if m.opset >= 14 else conv(m, x, 6, 20)
    x = m.add("Clip", conv(m, x, 20, 20, 3, group=20, pads=[1, 1, 1, 1]), m.const(np.float32(0)), m.const(np.float32(6)))
    x = conv(m, x, 20, 24, 3, group=4, pads=[1, 1, 1, 1], strides=[2, 2])
    s = m.add("GlobalAveragePool", x)
    s = m.add("Sigmoid", conv(m, m.add("Relu", conv(m, s, 24, 6)), 6, 24))
    x = m.add("Mul", x, s)
    y = conv(m, x, 24, 24)
    y = m.add("Mul", y, m.add("Sigmoid", y))
    x = m.add("Mul", y, x)
    t = m.add("Reshape", x, m.const(np.array([1, 24, -1], np.int64)))
    t = m.add("Conv", t, m.floats(7, 24, 3), m.floats(7), kernel_shape=[3], pads=[1, 1])
    m.output(x, t)
    return m


def attention():
    """Embeddings, layer normalization in nodes, heads, a mask, products of computed matrices."""
    m = Model("attention")
    ids = m.input("ids", rng.integers(0, 30, (1, 9)))
    mask = m.input("mask", np.array([[1, 1, 1, 1, 1, 1, 1, 0, 0]]))
    x = m.add("Gather", m.floats(30, 16), ids)
    x = m.add("Add", x, m.floats(1, 9, 16))

    def layer_norm(x):
        mean = m.add("ReduceMean", x, axes=[-1])
        d = m.add("Sub", x, mean)
        v = m.add("ReduceMean", m.add("Pow", d, m.const(np.float32(2))), axes=[-1])
        d = m.add("Div", d, m.add("Sqrt", m.add("Add", v, m.const(np.float32(1e-5)))))
        return m.add("Add", m.add("Mul", d, m.floats(16)), m.floats(16))

    x = layer_norm(x)
    shape = m.const(np.array([1, 9, 2, 8], np.int64))

    def heads(x, perm):
        x = m.add("Add", m.add("MatMul", x, m.floats(16, 16)), m.floats(16))
        return m.add("Transpose", m.add("Reshape", x, shape), perm=perm)

    q, k, v = heads(x, [0, 2, 1, 3]), heads(x, [0, 2, 3, 1]), heads(x, [0, 2, 1, 3])
    a = m.add("Div", m.add("MatMul", q, k), m.const(np.float32(8 ** 0.5)))
    far = m.add("Cast", m.add("Unsqueeze", mask, m.const(np.array([1, 2], np.int64))), to=TensorProto.FLOAT)
    far = m.add("Mul", m.add("Sub", m.const(np.float32(1)), far), m.const(np.float32(-10000)))
    a = m.add("Softmax", m.add("Add", a, far), axis=-1)
    y = m.add("Transpose", m.add("MatMul", a, v), perm=[0, 2, 1, 3])
    y = m.add("Reshape", y, m.const(np.array([1, 9, 16], np.int64)))
    x = layer_norm(m.add("Add", m.add("Add", m.add("MatMul", y, m.floats(16, 16)), m.floats(16)), x))
    y = m.add("Add", m.add("MatMul", x, m.floats(16, 40)), m.floats(40))
    e = m.add("Erf", m.add("Div", y, m.const(np.float32(2 ** 0.5))))
    y = m.add("Mul", m.add("Mul", y, m.add("Add", e, m.const(np.float32(1)))), m.const(np.float32(0.5)))
    first = m.add("Gather", y, m.const(np.array(0, np.int64)), axis=1)
    pooled = m.add("Tanh", m.add("Gemm", first, m.floats(5, 40), m.floats(5), transB=1))
    m.output(x, pooled)
    return m


def pointwise():
    """Element-wise operators with broadcasting, alone and in chains, over odd sizes."""
    m = Model("pointwise", 20)
    x = image(m, 2, 5, 7, 9)
    row = m.input("row", rng.uniform(0.5, 2, (9,)).astype(np.float32))
    column = m.input("column", rng.uniform(0.5, 2, (5, 1, 1)).astype(np.float32))
    for op in ("Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs", "Erf", "HardSwish", "HardSigmoid", "LeakyRelu", "Gelu"):
        m.output(m.add(op, x))
    m.output(m.add("Gelu", x, approximate="tanh"))
    y = m.add("Mul", m.add("Add", x, row), column)
    m.output(y, m.add("Sqrt", m.add("Mul", y, y)), m.add("Reciprocal", row), m.add("Sub", column, row))
    m.output(m.add("Max", x, row, m.const(np.float32(0.7))), m.add("Min", x, column), m.add("Sum", x, x, row))
    m.output(m.add("Pow", x, m.const(np.float32(3))), m.add("Pow", row, m.const(np.float32(-0.5))))
    m.output(m.add("Div", x, m.add("Add", m.add("Abs", x), column)))
    m.output(m.add("Clip", x, m.const(np.float32(-0.3)), m.const(np.float32(0.4))))
    m.output(m.add("Gelu", m.add("Sigmoid", m.add("Tanh", m.add("Mul", x, x)))))
    return m


def moves():
    """What only moves elements."""
    m = Model("moves")
    x = image(m, 2, 6, 5, 8)
    t = m.add("Transpose", x, perm=[0, 2, 3, 1])
    m.output(t, m.add("Reshape", t, m.const(np.array([10, 48], np.int64))))
    m.output(m.add("Transpose", m.add("Reshape", x, m.const(np.array([2, 2, 3, 40], np.int64))), perm=[0, 2, 1, 3]))

    def ints(*v):
        return m.const(np.array(v, np.int64))

    s = m.add("Slice", x, ints(1, 0), ints(5, 8), ints(1, 3), ints(2, 3))
    m.output(s, m.add("Concat", s, s, axis=2))
    a, b = m.add("Split", x, ints(2, 4), n=2, axis=1)
    m.output(m.add("Concat", b, a, m.add("Relu", x), axis=1))
    m.output(m.add("Pad", x, ints(0, 1, 2, 0, 1, 0, 0, 3), m.const(np.float32(0.5))))
    m.output(m.add("Expand", m.add("Slice", x, ints(0), ints(1), ints(2)), ints(2, 6, 5, 8)))
    m.output(m.add("Squeeze", m.add("Slice", x, ints(1), ints(2), ints(0)), ints(0)))
    m.output(m.add("Unsqueeze", x, ints(0, 3)), m.add("Gather", x, ints(3), axis=1))
    m.output(m.add("Gather", x, ints(3, 0, -1), axis=1), m.add("Gather", x, m.const(np.array(2, np.int64)), axis=3))
    return m


def rows():
    """Reductions, softmax and layer normalization along all kinds of axes; products in all forms."""
    m = Model("rows", 17)
    x = image(m, 2, 6, 5, 37)
    for op in ("ReduceMean", "ReduceMax", "ReduceMin"):
        m.output(m.add(op, x, axes=[3]), m.add(op, x, axes=[1], keepdims=0), m.add(op, x, axes=[0, 2]))
    m.output(m.add("ReduceSum", x, m.const(np.array([2, 3], np.int64))), m.add("ReduceSum", x))
    m.output(m.add("Softmax", x), m.add("Softmax", x, axis=1))
    m.output(m.add("LayerNormalization", x, m.floats(37), m.floats(37)))
    m.output(m.add("LayerNormalization", x, m.floats(5, 37), axis=2))
    flat = m.add("Reshape", x, m.const(np.array([12, 185], np.int64)))
    m.output(m.add("Gemm", flat, m.floats(185, 7), m.floats(7), alpha=0.5, beta=2.0))
    m.output(m.add("Gemm", flat, m.floats(12, 9), m.floats(185, 9), transA=1))
    m.output(m.add("MatMul", x, m.floats(37, 4)), m.add("MatMul", x, m.add("Transpose", x, perm=[0, 1, 3, 2])))
    m.output(m.add("MatMul", flat, m.floats(185)))
    first = m.const(np.array([2], np.int64))
    part = m.add("Slice", m.floats(100), first, m.const(np.array([9], np.int64)))  # a bias within a larger constant
    m.output(m.add("Gemm", flat, m.floats(185, 7), part))
    return m


def transposed():
    """Transposed convolutions in all the ways that they are computed, with what is taken into them."""
    m = Model("transposed", 13)
    x = image(m, 2, 8, 5, 6)

    def up(source, c, out, *kernel, group=1, bias=True, **attributes):
        weights = m.floats(c, out // group, *kernel, low=-0.4, high=0.4)
        return m.add("ConvTranspose", source, weights, *([m.floats(out)] if bias else []), group=group, **attributes)

    def norm(source, c):
        return m.add("BatchNormalization", source, m.floats(c, low=0.5, high=1.5), m.floats(c), m.floats(c), m.floats(c, low=0.5, high=1.5))

    # Windows side by side; cut off; with rows that none reaches.
    m.output(m.add("Relu", norm(up(x, 8, 6, 2, 2, strides=[2, 2]), 6)))
    m.output(m.add("LeakyRelu", up(x, 8, 5, 3, 2, strides=[3, 2], pads=[1, 0, 2, 1]), alpha=0.2))
    m.output(m.add("Tanh", up(x, 8, 3, 2, 2, bias=False, strides=[2, 2], output_padding=[1, 1])))
    # Phases: exact, with edges that are cut off, with taps of zero, in groups, one for each channel.
    m.output(m.add("Sigmoid", up(x, 8, 4, 4, 2, strides=[2, 1], pads=[2, 0, 2, 1])))
    y = m.add("Relu", norm(up(x, 8, 16, 4, 4, strides=[2, 2], pads=[1, 1, 1, 1]), 16))
    m.output(m.add("Relu", up(y, 16, 3, 4, 4, strides=[2, 2], pads=[1, 1, 1, 1])))
    m.output(m.add("Mul", up(x, 8, 7, 3, 3, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]), m.floats(7, 1, 1)))
    m.output(m.add("Relu", norm(up(x, 8, 12, 4, 4, group=4, strides=[2, 2]), 12)))
    m.output(m.add("Relu", up(x, 8, 8, 4, 4, group=8, strides=[2, 2], pads=[1, 1, 1, 1])))
    # What is added for each element, before and behind the phases are moved.
    flat = up(x, 8, 8, 3, 3, pads=[1, 1, 1, 1])
    m.output(m.add("Relu", m.add("Add", flat, x)))
    m.output(m.add("Relu", m.add("Add", up(flat, 8, 6, 2, 2, strides=[2, 2]), up(x, 8, 6, 4, 4, strides=[2, 2], pads=[1, 1, 1, 1]))))
    # Into a concatenation, where each is made: whole phases, cut ones, sums.
    parts = [up(x, 8, 3, 2, 2, strides=[2, 2]), up(x, 8, 4, 4, 4, strides=[2, 2], pads=[1, 1, 1, 1]),
             up(x, 8, 2, 2, 2, strides=[2, 2], dilations=[2, 2], pads=[1, 1, 0, 0])]
    m.output(conv(m, m.add("Concat", *parts, axis=1), 9, 4))
    # Sums of columns: dilated, of few taps, of windows that padding cuts off.
    m.output(m.add("Relu", up(x, 8, 5, 3, 2, strides=[2, 2], dilations=[2, 3])))
    m.output(m.add("Relu", up(x, 8, 5, 1, 1, strides=[3, 2], output_padding=[1, 1])))
    m.output(up(x, 8, 3, 3, 3, bias=False, strides=[1, 1], pads=[3, 3, 3, 3]))
    # Weights that are computed.
    m.output(m.add("ConvTranspose", x, m.add("Mul", m.floats(8, 3, 2, 2), m.add("ReduceMax", x, axes=[0, 1, 2, 3], keepdims=0)), strides=[2, 2]))
    # One dimension, and three.
    line = m.input("line", rng.standard_normal((2, 6, 7)).astype(np.float32))
    m.output(m.add("Relu", up(line, 6, 5, 4, strides=[4])), m.add("Relu", up(line, 6, 4, 8, strides=[4], pads=[2, 2])), up(line, 6, 4, 5, dilations=[2], strides=[2]))
    box = m.input("box", rng.standard_normal((1, 4, 3, 2, 4)).astype(np.float32))
    m.output(m.add("Relu", up(box, 4, 3, 2, 2, 2, strides=[2, 2, 2])), up(box, 4, 2, 3, 3, 3, strides=[2, 1, 2], pads=[1] * 6))
    return m


def images():
    """Images of other sizes, transposed convolutions, normalization of instances and groups."""
    m = Model("images", 21)
    x = image(m, 2, 8, 7, 9)
    none = ""

    def resized(scale_h, scale_w, **attributes):
        return m.add("Resize", x, none, m.const(np.array([1, 1, scale_h, scale_w], np.float32)), **attributes)

    for mode in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
        m.output(resized(2, 3 if mode == "align_corners" else 1.5, mode="linear", coordinate_transformation_mode=mode))
        m.output(resized(0.6, 3, mode="nearest", coordinate_transformation_mode=mode))
    for mode in ("round_prefer_ceil", "floor", "ceil"):
        m.output(resized(1.7, 2, mode="nearest", nearest_mode=mode))
    sizes = m.const(np.array([2, 8, 13, 5], np.int64))
    m.output(m.add("Relu", m.add("Resize", x, none, none, sizes, mode="linear")))
    sizes = m.const(np.array([10, 10], np.int64))
    m.output(m.add("Resize", x, none, none, sizes, mode="nearest", axes=[2, 3]))
    m.output(m.add("ConvTranspose", x, m.floats(8, 5, 2, 2), m.floats(5), kernel_shape=[2, 2], strides=[2, 2]))
    m.output(m.add("ConvTranspose", x, m.floats(8, 5, 3, 4), strides=[2, 3], pads=[1, 2, 0, 1], output_padding=[1, 0]))
    m.output(m.add("ConvTranspose", x, m.floats(8, 3, 3, 3), m.floats(6), group=2, dilations=[2, 1]))
    for pad in ("SAME_UPPER", "SAME_LOWER"):
        m.output(m.add("ConvTranspose", x, m.floats(8, 3, 3, 3), strides=[2, 2], auto_pad=pad))
    m.output(m.add("ConvTranspose", conv(m, x, 8, 6), m.floats(6, 3, 3, 3), strides=[2, 2], output_shape=[14, 17]))
    m.output(m.add("InstanceNormalization", x, m.floats(8), m.floats(8), epsilon=1e-3))
    m.output(m.add("GroupNormalization", conv(m, x, 8, 12), m.floats(12), m.floats(12), num_groups=4))
    m.output(m.add("DepthToSpace", x, blocksize=2), m.add("DepthToSpace", x, blocksize=2, mode="CRD"))
    pads = m.const(np.array([0, 0, 1, 0, 0, 0, 0, 1], np.int64))
    m.output(m.add("SpaceToDepth", m.add("Pad", x, pads), blocksize=2))
    m.output(m.add("Tile", x, m.const(np.array([1, 2, 3, 1], np.int64))))
    m.output(m.add("PRelu", x, m.floats(8, 1, 1)), m.add("Elu", x, alpha=0.7), m.add("Selu", x), m.add("Celu", x, alpha=2.0))
    # A Pad that is the padding of a pool, and that something else reads, too.
    pads = m.const(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64))
    y = m.add("Pad", m.add("Relu", x), pads)
    m.output(m.add("AveragePool", y, kernel_shape=[3, 3]), m.add("Neg", y))
    y = m.add("Pad", m.add("Relu", x), pads)
    m.output(m.add("AveragePool", y, kernel_shape=[3, 3]), m.add("AveragePool", y, kernel_shape=[2, 2], strides=[2, 2]))
    # A constant part, before and behind one that is computed.
    for parts in ([m.floats(2, 1, 7, 9), m.add("Relu", x)], [m.add("Abs", x), m.floats(2, 1, 7, 9)]):
        m.output(m.add("Neg", m.add("Concat", *parts, axis=1)))
    return m


def scalars():
    """Comparisons, logic, choices, rounding; indices of the largest; norms."""
    m = Model("scalars", 20)
    x = image(m, 2, 5, 7, 9)
    row = m.input("row", rng.uniform(0.5, 2, (9,)).astype(np.float32))
    float32 = TensorProto.FLOAT

    def said(truth):
        m.output(m.add("Cast", truth, to=float32))
        return truth

    more, less = said(m.add("Greater", m.add("Mul", x, row), m.const(np.float32(0.3)))), said(m.add("Less", x, row))
    said(m.add("GreaterOrEqual", x, x)), said(m.add("LessOrEqual", row, x))
    said(m.add("And", more, less)), said(m.add("Or", more, less)), said(m.add("Xor", more, less)), said(m.add("Not", more))
    whole = m.add("Round", m.add("Mul", x, m.const(np.float32(4))))
    said(m.add("Equal", whole, m.const(np.float32(2))))
    said(m.add("Cast", whole, to=TensorProto.BOOL))
    m.output(whole, m.add("Cast", m.add("Cast", m.add("Mul", x, m.const(np.float32(9))), to=TensorProto.INT64), to=float32))
    m.output(m.add("Where", more, x, row), m.add("Exp", m.add("Where", m.add("Not", less), m.const(np.float32(-np.inf)), x)))
    for op in ("Floor", "Ceil", "Sign", "Sin", "Cos", "Softplus", "Softsign", "Mish"):
        m.output(m.add(op, m.add("Mul", x, m.const(np.float32(3)))))
    m.output(m.add("ThresholdedRelu", x, alpha=0.25), m.add("Log", row), m.add("Pow", row, x), m.add("Pow", row, m.const(np.float32(1.7))))
    m.output(m.add("Mod", x, row, fmod=1))
    m.output(m.add("Cast", m.add("Mod", m.add("Cast", whole, to=TensorProto.INT64), m.const(np.array(3, np.int64))), to=float32))
    for op in ("ArgMax", "ArgMin"):
        m.output(m.add("Cast", m.add(op, x, axis=1), to=float32), m.add("Cast", m.add(op, x, axis=-1, keepdims=0), to=float32))
    m.output(m.add("Cast", m.add("ArgMax", whole, axis=2, select_last_index=1), to=float32))
    m.output(m.add("ReduceL2", x, m.const(np.array([1], np.int64))), m.add("ReduceSumSquare", x, m.const(np.array([2, 3], np.int64))))
    t = m.add("Transpose", x, perm=[0, 2, 3, 1])
    m.output(m.add("Log", m.add("Abs", t)), m.add("Where", m.add("Greater", t, m.const(np.float32(0))), t, m.add("Neg", t)))
    return m


def external():
    """Weights in a file beside the model."""
    m = Model("external")
    x = image(m, 1, 4, 9, 9)
    x = m.add("Relu", conv(m, x, 4, 16, 3, pads=[1, 1, 1, 1]))
    m.output(m.add("Gemm", m.add("Flatten", m.add("GlobalMaxPool", x)), m.floats(16, 20), m.floats(20)))
    return m


def scatters():
    """Rows that are replaced, by indices that are known and by ones that are not."""
    m = Model("scatters", 16)
    x = image(m, 4, 5, 6)
    index = m.input("index", np.array([[[0, 1], [3, -1]], [[-4, 2], [2, 0]]]))
    m.output(m.add("ScatterND", x, index, m.floats(2, 2, 6)))
    m.output(m.add("ScatterND", x, m.const(np.array([[1], [-1], [1]])), m.floats(3, 5, 6)))
    m.output(m.add("ScatterND", m.floats(3, 2), m.const(np.array([[2, 1]])), m.floats(1)))
    return m


def columns():
    """Products whose columns are split into heads before a bias is added, and activations written out, as TensorFlow has them."""
    m = Model("columns")
    x = m.input("x", rng.uniform(-1, 1, (2, 3, 16)).astype(np.float32))
    rows = m.add("Reshape", x, m.const(np.array([6, 16], np.int64)))
    heads = m.add("Reshape", m.add("MatMul", rows, m.floats(16, 20)), m.const(np.array([2, 3, 4, 5], np.int64)))
    m.output(m.add("Relu", m.add("Add", heads, m.floats(4, 5))))
    y = m.add("Reshape", m.add("MatMul", rows, m.floats(16, 16)), m.const(np.array([2, 3, 16], np.int64)))
    y = m.add("Add", m.add("Add", y, m.floats(16)), x)
    half = m.add("Mul", m.const(np.float32(0.5)), y)
    e = m.add("Erf", m.add("Mul", m.add("Neg", y), m.const(np.float32(0.5 ** 0.5))))
    m.output(m.add("Mul", half, m.add("Sub", m.const(np.float32(1)), e)))

    def product():
        return m.add("Add", m.add("MatMul", rows, m.floats(16, 24, low=-2, high=2)), m.floats(24))

    y = product()
    m.output(m.add("Mul", y, m.add("Sigmoid", m.add("Mul", y, m.const(np.float32(1))))))
    y = product()
    part = m.add("Clip", m.add("Add", y, m.const(np.float32(3))), m.const(np.float32(0)), m.const(np.float32(6)))
    m.output(m.add("Mul", y, m.add("Div", part, m.const(np.float32(6)))))
    y = product()
    e = m.add("Add", m.add("Erf", m.add("Div", y, m.const(np.float32(2 ** 0.5)))), m.const(np.float32(1)))
    m.output(m.add("Mul", m.add("Mul", y, m.const(np.float32(0.5))), e))

    # A residual before the dimensions come back, a factor that raises the rank, and a Gemm that adds a whole matrix.
    y = m.add("Add", m.add("MatMul", rows, m.floats(16, 16)), rows)
    m.output(m.add("Add", m.add("Reshape", y, m.const(np.array([2, 3, 16], np.int64))), m.floats(16)), y)
    y = product()
    m.output(m.add("Mul", y, m.add("Sigmoid", m.add("Mul", y, m.const(np.ones((1, 1, 1), np.float32))))))
    m.output(m.add("Add", m.add("Gemm", rows, m.floats(16, 24), m.floats(6, 24)), m.floats(24)))
    return m


def numbers():
    """NaN, infinities, and where the exponential ends: element by element, in rows, in windows."""
    m = Model("numbers", 20)
    a = rng.uniform(-6, 6, (3, 70)).astype(np.float32)
    a[0, 3], a[1, 5], a[1, 69], a[2, 7], a[2, 8] = np.nan, np.inf, np.nan, -np.inf, np.inf
    a[0, 40:46] = 88.5, -95, 89, -120, 0, 1e-20
    b = a[:, ::-1].copy()
    x, y = m.input("x", a), m.input("y", b)
    for op in ("Relu", "Exp", "Abs", "Neg", "Sigmoid", "Tanh", "Erf", "HardSwish", "Sqrt", "Elu", "Selu", "LeakyRelu", "HardSigmoid",
               "Celu", "Gelu"):
        m.output(m.add(op, x))
    m.output(m.add("Sign", x), want=np.sign(a))
    m.output(m.add("Gelu", x, approximate="tanh"), m.add("Clip", x, m.const(np.float32(-1)), m.const(np.float32(2))))
    half = m.const(np.float32(0.5))
    for op, of in (("Max", np.maximum), ("Min", np.minimum)):
        m.output(m.add(op, x, y), want=of(a, b))
        m.output(m.add(op, x, half), want=of(a, np.float32(0.5)))
        m.output(m.add(op, half, m.add("Add", x, y)), want=of(np.float32(0.5), a + b))
    for op, of in (("ReduceMax", np.max), ("ReduceMin", np.min), ("ReduceSum", np.sum), ("ReduceMean", np.mean)):
        for axis in (0, 1):
            m.output(m.add(op, x, m.const(np.array([axis])), keepdims=0), want=of(a, axis=axis))
    rows = rng.uniform(-1, 1, (5, 37)).astype(np.float32)
    rows[0], rows[1, :20], rows[2, 4], rows[3, 36] = -np.inf, -np.inf, np.nan, np.inf
    m.output(m.add("Softmax", m.input("rows", rows)), m.add("Log", m.add("Softmax", "rows")))
    pixels = rng.uniform(-1, 1, (1, 19, 9, 9)).astype(np.float32)
    pixels[0, 2, 3, 3], pixels[0, 4], pixels[0, 5, 1, 1], pixels[0, 18, 8, 8] = np.nan, -np.inf, np.inf, np.nan
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (3, 3), (2, 3))[:, :, ::2, ::2]
    m.output(m.add("MaxPool", m.input("pixels", pixels), kernel_shape=[3, 3], strides=[2, 2]), want=windows.max((4, 5)))
    m.output(m.add("GlobalMaxPool", "pixels"), want=pixels.max((2, 3), keepdims=True))
    return m


def integers():
    """Divisions, means and powers that are cut off, and what does not fit and wraps around."""
    m = Model("integers", 18)
    a = np.array([[7, -7, 300, -300, 5, 40000], [-1, 130, 255, 256, 98, 65535]], np.int64)
    b = np.array([[2, 2, 7, 7, -3, 3], [3, -4, 16, 25, 49, 2]], np.int64)
    x, y = m.input("x", a), m.input("y", b)

    def output(value, want):
        m.output(m.add("Cast", value, to=TensorProto.FLOAT), want=want)

    output(m.add("Div", x, y), np.trunc(a / b))
    output(m.add("Mod", x, y), np.mod(a, b))
    output(m.add("Mod", x, y, fmod=1), np.fmod(a, b))
    output(m.add("ReduceMean", x, m.const(np.array([1]))), np.trunc(a.sum(1, keepdims=True) / 6))
    output(m.add("Pow", y, m.const(np.int64(3))), b ** 3)
    f = m.add("Div", m.add("Cast", x, to=TensorProto.FLOAT), m.const(np.float32(3)))
    for to, kind in ((TensorProto.UINT8, np.uint8), (TensorProto.INT8, np.int8), (TensorProto.UINT16, np.uint16),
                     (TensorProto.INT16, np.int16), (TensorProto.INT32, np.int32)):
        output(m.add("Cast", x, to=to), a.astype(kind))
        output(m.add("Cast", f, to=to), np.trunc(a.astype(np.float32) / np.float32(3)).astype(np.int64).astype(kind))
    for to, kind in ((TensorProto.UINT8, np.uint8), (TensorProto.INT8, np.int8)):
        p, q = m.add("Cast", x, to=to), m.add("Cast", y, to=to)
        for op, of in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)):
            output(m.add(op, p, q), of(a.astype(kind), b.astype(kind)))
    # Constants, which are computed when shapes are inferred.
    c, d = m.const(a), m.const(b)
    for value, want in ((m.add("Cast", c, to=TensorProto.UINT8), a.astype(np.uint8)), (m.add("Mod", c, d, fmod=1), np.fmod(a, b)),
                        (m.add("Mod", c, d), np.mod(a, b)), (m.add("Div", c, d), np.trunc(a / b)),
                        (m.add("Add", *(m.add("Cast", v, to=TensorProto.INT8) for v in (c, d))), a.astype(np.int8) + b.astype(np.int8))):
        m.output(m.add("Add", m.add("Cast", value, to=TensorProto.FLOAT), m.add("Mul", f, m.const(np.float32(0)))), want=want)
    output(m.add("Cast", f, to=TensorProto.BOOL), a.astype(np.float32) / 3 != 0)
    output(m.add("Cast", m.add("Mul", f, m.const(np.float32(1e-3))), to=TensorProto.FLOAT16),
           (a.astype(np.float32) / np.float32(3) * np.float32(1e-3)).astype(np.float16))
    return m


def ints(m, *v):
    return m.const(np.array(v, np.int64))


def whole(m, *values):
    """Outputs that are no floats."""
    for v in values:
        m.output(m.add("Cast", v, to=TensorProto.FLOAT))


def pools():
    """Pools of one and three dimensions, the places of maxima, norms; convolutions that are no workload."""
    m = Model("pools", 18)
    line = m.input("line", rng.uniform(-1, 1, (2, 5, 13)).astype(np.float32))
    x = m.input("x", rng.uniform(-1, 1, (1, 4, 7, 6)).astype(np.float32))
    box = m.input("box", rng.uniform(-1, 1, (1, 3, 5, 6, 7)).astype(np.float32))
    w = m.input("w", rng.uniform(-1, 1, (6, 2, 3, 2)).astype(np.float32))
    m.output(m.add("MaxPool", line, kernel_shape=[3], strides=[2], pads=[1, 1]), m.add("GlobalAveragePool", line))
    m.output(m.add("AveragePool", line, kernel_shape=[4], strides=[3], pads=[2, 1], count_include_pad=1))
    m.output(m.add("Relu", m.add("AveragePool", m.add("Abs", line), kernel_shape=[3], auto_pad="SAME_UPPER")))
    m.output(m.add("MaxPool", box, kernel_shape=[2, 3, 2], strides=[2, 1, 2], dilations=[1, 2, 1], ceil_mode=1))
    m.output(m.add("AveragePool", box, kernel_shape=[3, 2, 3], pads=[1, 0, 1, 1, 1, 0]), m.add("GlobalMaxPool", box))
    for order in (0, 1):
        y, place = m.add("MaxPool", x, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0], storage_order=order, n=2)
        m.output(y)
        whole(m, place)
    m.output(m.add("LpPool", x, kernel_shape=[2, 3], p=3), m.add("GlobalLpPool", x, p=1), m.add("LpPool", line, kernel_shape=[2]))
    m.output(m.add("Relu", m.add("Conv", x, w, m.floats(6), group=2, strides=[2, 1], pads=[1, 0, 0, 1])))
    m.output(m.add("Conv", box, m.floats(4, 3, 2, 3, 3), m.floats(4), pads=[1, 0, 1, 0, 1, 1], dilations=[1, 1, 2]))
    m.output(m.add("Conv", x, m.floats(3, 4, 1, 1), pads=[1, 1, 3, 2]), m.add("Conv", x, m.floats(3, 4, 2, 2), pads=[5, 0, 4, 6]))
    m.output(m.add("ConvTranspose", line, m.floats(5, 4, 3), m.floats(4), strides=[2], pads=[1, 0], output_padding=[1]))
    m.output(m.add("ConvTranspose", box, m.floats(3, 2, 2, 3, 2), strides=[2, 1, 2]))
    return m


def copies():
    """Copies between orders: squares transposed in registers, rows interleaved, and what is left of both at the edges."""
    m = Model("copies", 17)
    data = rng.uniform(-1, 1, (1, 24, 9, 12)).astype(np.float32)
    x = m.input("x", data)
    pool = m.input("pool", rng.uniform(-1, 1, 4000).astype(np.float32))

    def cut(*dims):
        return m.add("Reshape", m.add("Slice", pool, ints(m, 0), ints(m, int(np.prod(dims)))), ints(m, *dims))

    shapes = (2, 19), (3, 33), (3, 4), (4, 3), (5, 16), (7, 49), (8, 20), (16, 16), (17, 3), (33, 17), (49, 7), (2, 3), (64, 2), (21, 8), (20, 4), (3, 8)
    for dims in shapes:
        m.output(m.add("Transpose", cut(*dims), perm=[1, 0]))
    for dims, perm in (((2, 3, 17, 5), (0, 2, 3, 1)), ((3, 2, 4, 19), (1, 3, 0, 2)), ((2, 5, 16, 3), (3, 0, 2, 1)), ((5, 4, 3, 7, 2), (4, 1, 3, 0, 2))):
        m.output(m.add("Transpose", cut(*dims), perm=list(perm)))
    for groups in 2, 3, 4, 8:  # ShuffleNet's
        y = conv(m, x, 24, 24)
        y = m.add("Reshape", y, ints(m, 1, groups, 24 // groups, 9, 12))
        y = m.add("Reshape", m.add("Transpose", y, perm=[0, 2, 1, 3, 4]), ints(m, 1, 24, 9, 12))
        a, b = m.add("Split", y, ints(m, 12, 12), n=2, axis=1)
        m.output(m.add("Concat", a, conv(m, b, 12, 5), axis=1))
    y = conv(m, x, 24, 24)
    m.output(m.add("Reshape", y, ints(m, 12, 2, 108)), m.add("Reshape", y, ints(m, 24, 27, 4)), m.add("Reshape", y, ints(m, 1, 8, 3, 9, 3, 4)))
    m.output(m.add("Reshape", y, ints(m, 2, 6, 18, 12)), m.add("Reshape", y, ints(m, 1, 2592)))
    t = m.add("Transpose", y, perm=[0, 2, 3, 1])
    a, b = m.add("Split", t, ints(m, 3, 6), n=2, axis=1)
    t = m.add("Concat", b, a, axis=1)  # Swin's
    m.output(t, m.add("Concat", m.add("Slice", t, ints(m, 1), ints(m, 9), ints(m, 2), ints(m, 2)), m.add("Slice", t, ints(m, 0), ints(m, 8), ints(m, 2), ints(m, 2)), axis=3))
    for channels in 5, 20, 24:
        y = conv(m, x, 24, channels)
        m.output(m.add("MaxPool", y, kernel_shape=[3, 3], strides=[2, 1], pads=[1, 1, 1, 1]))
        m.output(m.add("AveragePool", y, kernel_shape=[2, 3], strides=[1, 2], pads=[0, 1, 1, 1]))
    return m


def products():
    """Batches that are broadcast on either side, what Gemm adds, sums of products by letters."""
    m = Model("products", 17)
    a = m.input("a", rng.uniform(-1, 1, (3, 4)).astype(np.float32))
    b = m.input("b", rng.uniform(-1, 1, (2, 4, 5)).astype(np.float32))
    c = m.input("c", rng.uniform(-1, 1, (2, 1, 3, 4)).astype(np.float32))
    row = m.input("row", rng.uniform(-1, 1, (5,)).astype(np.float32))
    m.output(m.add("MatMul", a, b), m.add("MatMul", c, b), m.add("Relu", m.add("MatMul", a, m.floats(2, 4, 5))))
    m.output(m.add("MatMul", m.floats(4), b), m.add("MatMul", c, m.floats(3, 4, 2)), m.add("MatMul", b, row))
    w = m.floats(4, 5)
    column = m.add("ReduceSum", a, ints(m, 1))
    m.output(m.add("Gemm", a, w, m.add("Relu", row)), m.add("Relu", m.add("Gemm", a, w, column, beta=0.5, alpha=2.0)))
    m.output(m.add("Gemm", a, w, m.const(np.float32(3))), m.add("Gemm", a, w, m.add("Mul", column, m.add("Abs", row)), beta=2.0))
    m.output(m.add("Gemm", a, a, m.add("MatMul", a, m.floats(4, 3)), transB=1, alpha=0.5, beta=3.0))
    for equation, sides in (("ij,kj->ki", (a, m.floats(6, 4))), ("bij,jk->bki", (b, m.floats(5, 3))), ("ij,bjk->bik", (a, b)),
                            ("...ij,...jk->...ik", (c, m.add("Unsqueeze", b, ints(m, 1)))), ("bij->bj", (b,)), ("ij,ij->", (a, a)), ("ij,bjk,k->bi", (a, b, row))):
        m.output(m.add("Einsum", *sides, equation=equation))
    m.output(m.add("Relu", m.add("Einsum", m.floats(5, 4), b, equation="kj,bji->bik")))
    wide = [m.add("Cast", v, to=TensorProto.DOUBLE) for v in (c, b)]
    whole(m, m.add("MatMul", *wide), m.add("MatMul", m.add("Cast", a, to=TensorProto.DOUBLE), m.const(np.arange(4.0))))
    return m


def picks():
    """Elements that are picked, gathered, scattered, sorted, turned round; tensors of a few numbers."""
    m = Model("picks", 18)
    x = image(m, 2, 3, 4, 5)
    for mode in ("reflect", "edge"):
        m.output(m.add("Pad", x, ints(m, 1, 0, 2, 3, 0, 1, 1, 2), mode=mode))
    m.output(m.add("Pad", x, ints(m, -1, 2, 1, -2), m.const(np.float32(0.5)), ints(m, 3, -2)))
    m.output(m.add("Neg", m.add("Pad", m.add("Abs", x), ints(m, 2, 1, 1, 0), "", ints(m, 2, 3), mode="edge")))
    m.output(m.add("Slice", x, ints(m, -1, 9), ints(m, -9, 0), ints(m, 3, 2), ints(m, -2, -1)))
    m.output(m.add("Slice", m.add("Transpose", x, perm=[0, 2, 3, 1]), ints(m, 2), ints(m, -9), ints(m, 3), ints(m, -1)))
    m.output(m.add("Trilu", x, m.const(np.array(1))), m.add("Trilu", x, m.const(np.array(-1)), upper=0), m.add("Trilu", x, upper=0))
    at = m.input("at", np.array([[[[4, -1, 0, 2, 3]]], [[[1, 1, -5, 0, 4]]]]))
    m.output(m.add("GatherElements", x, at, axis=3))
    m.output(m.add("GatherElements", x, m.const(np.array([[[[1, 2, 0, 0, -1]]]])), axis=1))
    for how in ("none", "add", "mul", "max", "min"):
        m.output(m.add("ScatterElements", x, m.const(np.array([[[[1, 2, 0, 0, -1], [1, 0, 2, 1, 1]]]])), m.floats(1, 1, 2, 5), axis=1,
                       reduction=how))
        if how != "none":
            m.output(m.add("ScatterND", x, m.const(np.array([[0, 1], [1, -1], [0, 1]])), m.floats(3, 4, 5), reduction=how))
    m.output(m.add("GatherND", x, m.const(np.array([[0, 1, -1], [1, 0, 2]]))))
    m.output(m.add("GatherND", x, m.const(np.array([[[0, 1]], [[2, -1]]])), batch_dims=1))
    for axis, largest in ((-1, 1), (1, 0)):
        y, place = m.add("TopK", x, ints(m, 3), axis=axis, largest=largest, n=2)
        m.output(y)
        whole(m, place)
    m.output(m.add("OneHot", m.const(np.array([[0, 3], [-1, 5]])), ints(m, 4), m.const(np.array([-1, 2], np.float32)), axis=1))
    m.output(m.add("EyeLike", m.add("Reshape", x, ints(m, 8, 15)), k=-2, dtype=1))
    m.output(m.add("Range", m.const(np.float32(1)), m.const(np.float32(3)), m.const(np.float32(0.4))))
    m.output(m.add("ReverseSequence", m.add("Reshape", x, ints(m, 4, 3, 10)), ints(m, 4, 1, 2), time_axis=0, batch_axis=1))
    m.output(m.add("CumSum", x, ints(m, 2)), m.add("CumSum", x, ints(m, -1), exclusive=1, reverse=1))
    m.output(m.add("CenterCropPad", x, ints(m, 7, 2), axes=[2, 3]))
    return m


def lines():
    """Functions of rows, second outputs, losses."""
    m = Model("lines", 18)
    x = image(m, 2, 7, 3, 5)
    for axis in (1, 3):
        m.output(m.add("LogSoftmax", x, axis=axis), m.add("Hardmax", x, axis=axis), m.add("LpNormalization", x, axis=axis, p=2 - axis // 3))
    m.output(m.add("LRN", x, size=3), m.add("LRN", x, size=5, alpha=0.5, beta=0.5, bias=2.0), m.add("MeanVarianceNormalization", x))
    for op in ("ReduceL1", "ReduceProd", "ReduceLogSumExp"):
        m.output(m.add(op, x, ints(m, 1)), m.add(op, x, ints(m, 0, -1), keepdims=0), m.add(op, x))
    m.output(m.add("ReduceLogSum", m.add("Exp", x), ints(m, 2)))
    m.output(*m.add("LayerNormalization", x, m.floats(3, 5), m.floats(3, 5), axis=2, n=3))
    y, mask = m.add("Dropout", x, n=2)
    m.output(m.add("Neg", y))
    whole(m, mask)
    labels = m.const(rng.integers(0, 7, (2, 3, 5)))
    for reduction in ("none", "sum", "mean"):
        m.output(m.add("SoftmaxCrossEntropyLoss", x, labels, m.floats(7, low=0.5), reduction=reduction, ignore_index=3))
    m.output(*m.add("SoftmaxCrossEntropyLoss", x, labels, n=2))
    m.output(m.add("NegativeLogLikelihoodLoss", m.add("LogSoftmax", x, axis=1), labels, reduction="sum"))
    return m


def functions():
    """Functions of one element and two, bits of small integers, quantization, statistics that are computed."""
    m = Model("functions", 21)
    x = image(m, 2, 4, 3, 5)
    row = m.input("row", rng.uniform(0.5, 2, (4,)).astype(np.float32))
    for op in ("Acos", "Asin", "Atan", "Asinh", "Atanh", "Cosh", "Sinh", "Tan"):
        m.output(m.add(op, x))
    m.output(m.add("Acosh", m.add("Exp", m.add("Abs", x))), m.add("Shrink", x, lambd=0.3, bias=0.1), m.add("Mean", x, m.floats(5), x))
    endless = m.add("Div", m.add("Sign", m.add("Round", m.add("Mul", x, m.const(np.float32(2))))), m.const(np.float32(0)))
    for attributes in ({}, {"detect_negative": 0}, {"detect_positive": 0}):
        whole(m, m.add("IsInf", endless, **attributes))
    m.output(m.add("Clip", x, m.add("ReduceMean", x, keepdims=0), m.add("ReduceMax", row, keepdims=0)))
    m.output(m.add("BatchNormalization", x, row, row, m.add("Neg", row), m.add("Exp", row)))
    a = m.add("Cast", m.add("Mul", m.add("Abs", x), m.const(np.float32(200))), to=TensorProto.UINT8)
    b = m.const(np.array([1, 7, 0, 2, 5], np.uint8))
    whole(m, m.add("BitwiseAnd", a, b), m.add("BitwiseOr", a, b), m.add("BitwiseXor", a, b), m.add("BitwiseNot", a))
    whole(m, m.add("BitShift", a, b, direction="LEFT"), m.add("BitShift", a, b, direction="RIGHT"))
    for axis, zero in ((1, m.const(np.array([3, 0, 250, 128], np.uint8))), (2, m.const(np.array([0, -3, 120], np.int8)))):
        scale = m.floats(4 if axis == 1 else 3, low=0.004, high=0.02)
        q = m.add("QuantizeLinear", x, scale, zero, axis=axis)
        whole(m, q)
        m.output(m.add("DequantizeLinear", q, scale, zero, axis=axis))
    m.output(m.add("DequantizeLinear", m.add("QuantizeLinear", x, m.const(np.float32(0.01))), m.const(np.float32(0.01))))
    return m


def resizes():
    """Resize of one and three dimensions, by cubics, with antialiasing, of a part of the image."""
    m = Model("resizes", 19)
    line = m.input("line", rng.uniform(-1, 1, (1, 3, 9)).astype(np.float32))
    x = m.input("x", rng.uniform(-1, 1, (1, 2, 7, 6)).astype(np.float32))
    box = m.input("box", rng.uniform(-1, 1, (1, 2, 3, 4, 5)).astype(np.float32))

    def scaled(x, *scales, **attributes):
        m.output(m.add("Resize", x, "", m.const(np.array(scales, np.float32)), **attributes))

    scaled(line, 1, 1, 2.3, mode="linear")
    scaled(line, 1, 1, 0.6, mode="nearest", nearest_mode="floor")
    scaled(box, 1, 1, 2, 1.5, 0.8, mode="linear")
    scaled(box, 1, 1, 2, 1, 3, mode="nearest")
    for mode in ("half_pixel", "asymmetric", "align_corners"):
        scaled(x, 1, 1, 2, 3, mode="cubic", coordinate_transformation_mode=mode)
    scaled(x, 1, 1, 0.7, 1.6, mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1)
    scaled(x, 1, 1, 0.5, 0.4, mode="linear", antialias=1)
    scaled(x, 1, 1, 0.5, 0.4, mode="cubic", antialias=1)
    roi = m.const(np.array([0.2, -0.3, 0.9, 1.1], np.float32))
    m.output(m.add("Resize", x, roi, "", ints(m, 4, 5), axes=[2, 3], mode="linear", extrapolation_value=7.0,
                   coordinate_transformation_mode="tf_crop_and_resize"))
    return m


def given():
    """Inputs that shapes follow from."""
    m = Model("given", 18)
    x = image(m, 2, 3, 4, 5)
    axes = m.input("axes", np.array([1, -1]))
    shape = m.input("shape", np.array([4, -1]))
    sizes = m.input("sizes", np.array([2, 9]))
    limit = m.input("limit", np.array(0.5, np.float32))
    m.output(m.add("ReduceSum", x, axes), m.add("Reshape", x, shape), m.add("Unsqueeze", x, axes))
    m.output(m.add("Expand", m.add("ReduceMax", x, axes), m.add("Concat", ints(m, 2, 3), m.add("Mul", sizes, ints(m, 2, 1)), axis=0)))
    m.output(m.add("Clip", x, m.add("Neg", limit), limit))
    return m


def heads():
    """Attention as one operator: heads that share keys, masks, a past, a window; root mean squares and gates."""
    m = Model("heads", 24, by_reference=True)
    x = m.input("x", rng.uniform(-1, 1, (2, 3, 16)).astype(np.float32))
    kv = m.input("kv", rng.uniform(-1, 1, (2, 5, 8)).astype(np.float32))
    past = m.input("past", rng.uniform(-1, 1, (2, 2, 4, 4)).astype(np.float32))
    seen = m.add("Greater", m.floats(3, 9), m.const(np.float32(-0.3)))
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    norm = m.add("RMSNormalization", x, m.floats(16), epsilon=1e-3)
    m.output(norm, m.add("Attention", norm, kv, kv, **heads), m.add("Attention", x, kv, kv, is_causal=1, scale=0.7, **heads))
    m.output(m.add("Attention", x, kv, kv, m.floats(2, 1, 3, 5), softcap=1.5, **heads))
    m.output(*m.add("Attention", x, kv, kv, seen, past, past, n=4, qk_matmul_output_mode=3, **heads))
    m.output(*m.add("Attention", x, kv, kv, "", past, past, is_causal=1, n=3, **heads))
    m.output(m.add("Attention", past, past, past, m.const(np.zeros((4, 4), bool))))
    m.output(m.add("Swish", x, alpha=1.3))
    return m


def quantized():
    """Products in 8 bits, between DequantizeLinear and QuantizeLinear and by operators of their own."""
    m = Model("quantized", 13)
    x = m.input("x", rng.uniform(-1, 1, (2, 6, 9, 7)).astype(np.float32))
    rows = m.input("rows", rng.uniform(-1, 1, (2, 5, 12)).astype(np.float32))

    def number(scale, zero, kind=np.uint8):
        return m.const(np.float32(scale)), m.const(np.array(zero, kind))

    def around(v, *units):  # a real that a number of 8 bits is
        return m.add("DequantizeLinear", m.add("QuantizeLinear", v, *units), *units)

    def weights(*shape, axis=None, zero=None):
        w = m.const(rng.integers(-127, 128, shape).astype(np.int8))
        if axis is None:
            return m.add("DequantizeLinear", w, m.const(np.float32(0.0117)), *([] if zero is None else [m.const(np.int8(zero))]))
        return m.add("DequantizeLinear", w, m.floats(shape[axis], low=0.003, high=0.012), axis=axis)

    first, second = number(0.00811, 117), number(0.0613, 131)
    v = around(x, *first)
    v = around(m.add("Conv", v, weights(8, 6, 3, 3, axis=0), m.floats(8), pads=[1, 1, 1, 1]), *second)
    m.output(v)
    third = number(0.0411, 0)
    v = around(m.add("Relu", m.add("Conv", v, weights(8, 1, 3, 3), m.floats(8), group=8, pads=[1, 0, 1, 2], strides=[2, 1])), *third)
    m.output(v)
    m.output(m.add("Conv", m.add("Pad", v, ints(m, 0, 0, 1, 1, 0, 0, 0, 1)), weights(5, 8, 2, 2, zero=3)))  # weights with a zero point
    bounds = m.const(np.float32(0)), m.const(np.float32(2))
    m.output(around(m.add("Clip", m.add("Conv", v, weights(12, 8, 1, 1)), *bounds), *number(0.0391, -9, np.int8)))
    left = number(0.00753, -3, np.int8)
    r = around(rows, *left)
    m.output(around(m.add("Add", m.add("MatMul", r, weights(12, 10, axis=1)), m.floats(10)), *number(0.0217, 5, np.int8)))
    flat = around(m.add("Reshape", rows, ints(m, 10, 12)), *left)
    units = rng.uniform(0.003, 0.012, 7).astype(np.float32)
    w = m.add("DequantizeLinear", m.const(rng.integers(-127, 128, (7, 12)).astype(np.int8)), m.const(units), axis=0)
    bias = m.add("DequantizeLinear", m.const(rng.integers(-900, 900, 7).astype(np.int32)), m.const(units * np.float32(0.00753 * 0.5)), axis=0)
    m.output(m.add("Tanh", m.add("Gemm", flat, w, bias, transB=1, alpha=0.5)))
    q = m.add("QuantizeLinear", x, *first)
    w = m.const(rng.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8))
    sums = m.const(rng.integers(-900, 900, 8).astype(np.int32))
    per = m.floats(8, low=0.004, high=0.01), m.const(np.zeros(8, np.int8))
    c = m.add("QLinearConv", q, *first, w, *per, *second, sums, group=2, pads=[1, 1, 1, 1], dilations=[1, 2])
    m.output(m.add("DequantizeLinear", c, *second))
    out = number(0.0233, 7, np.int8)
    p = m.add("QLinearMatMul", m.add("QuantizeLinear", rows, *left), *left, m.const(rng.integers(-127, 128, (12, 9)).astype(np.int8)),
              *number(0.0071, 0, np.int8), *out)
    m.output(m.add("DequantizeLinear", p, *out))
    return m


def packed_product(m, a, k, n, block, bits=4, zeros=None, bias=False, **more):
    groups = -(-k // block)
    packed = m.const(rng.integers(0, 256, (n, groups, block * bits // 8)).astype(np.uint8))
    zero = ""
    if zeros == "packed":
        zero = m.const(rng.integers(0, 256, (n, -(-groups * bits // 8))).astype(np.uint8))
    elif zeros == "real":
        zero = m.floats(n, groups, low=0, high=15)
    rest = [zero, "", m.floats(n)] if bias else [zero]
    return m.add("MatMulNBits", a, packed, m.floats(n, groups, low=-0.1, high=0.1), *rest, domain="com.microsoft", K=k, N=n, bits=bits,
                 block_size=block, **more)


def groups():
    """Products by weights of few bits, whose groups have scales and zero points: MatMulNBits, and DequantizeLinear by blocks."""
    m = Model("groups", 21)
    x = m.input("x", rng.uniform(-1, 1, (2, 3, 72)).astype(np.float32))
    even = m.input("even", rng.uniform(-1, 1, (5, 64)).astype(np.float32))

    def bits(*args, **more):
        return packed_product(m, *args, **more)

    m.output(bits(x, 72, 33, 16), bits(x, 72, 8, 32, zeros="packed", bias=True), bits(x, 72, 5, 128, bits=8, zeros="packed"))
    m.output(bits(x, 72, 7, 32, zeros="real"), m.add("Relu", bits(even, 64, 19, 16, zeros="packed", accuracy_level=1)))
    m.output(bits(even, 64, 16, 64, bits=8, bias=True), bits(even, 64, 40, 32, bias=True), bits(even, 64, 6, 16, bits=2, zeros="packed"))

    def halves(kind, *shape):
        low = -8 if kind == TensorProto.INT4 else 0
        at = rng.integers(low, low + 16, shape)
        m.count += 1
        m.weights.append(helper.make_tensor(f"c{m.count}", kind, shape, at.reshape(-1)))
        return f"c{m.count}"

    def blocks(kind, zero, axis, *shape):
        scales = [-(-d // 16) if i == axis else d for i, d in enumerate(shape)]
        units = [m.floats(*scales, low=-0.1, high=0.1), *([halves(kind, *scales)] if zero else [])]
        return m.add("DequantizeLinear", halves(kind, *shape), *units, axis=axis, block_size=16)

    m.output(m.add("MatMul", x, blocks(TensorProto.INT4, True, 0, 72, 9)), m.add("MatMul", even, blocks(TensorProto.UINT4, True, 0, 64, 21)))
    m.output(m.add("Gemm", even, blocks(TensorProto.UINT4, False, 1, 7, 64), transB=1))
    m.output(m.add("Add", even, blocks(TensorProto.INT4, True, 1, 5, 64)))
    bytes_ = m.const(rng.integers(-128, 128, (64, 3)).astype(np.int8))
    m.output(m.add("MatMul", even, m.add("DequantizeLinear", bytes_, m.floats(2, 3, high=0.1), axis=0, block_size=32)))
    m.output(m.add("MatMul", even, m.add("DequantizeLinear", halves(TensorProto.INT4, 64, 9), m.floats(9, high=0.1), axis=1)))
    return m


def packed():
    """Products by weights that stay packed, of one row and of four, with what is fused into them. Three do not fit, and are of floats."""
    m = Model("packed", 21)
    one = m.input("one", rng.uniform(-1, 1, (1, 96)).astype(np.float32))
    four = m.input("four", rng.uniform(-1, 1, (2, 2, 160)).astype(np.float32))
    narrow = m.input("narrow", rng.uniform(-1, 1, (3, 48)).astype(np.float32))

    def bits(*args, **more):
        return packed_product(m, *args, **more)

    for a, k in (one, 96), (four, 160):
        for width in 4, 8:
            for zeros in None, "packed":
                m.output(bits(a, k, 37, 32, bits=width, zeros=zeros, bias=zeros is None))
    x = bits(one, 96, 35, 16, zeros="packed", bias=True)
    m.output(m.add("Relu", m.add("Add", x, bits(one, 96, 35, 32))))
    m.output(m.add("Sigmoid", m.add("Add", m.add("Mul", bits(four, 160, 9, 32, bits=8, zeros="packed"), m.floats(9)), m.floats(9))))
    m.output(m.add("Mul", bits(four, 160, 24, 32, zeros="packed"), m.add("Sigmoid", bits(four, 160, 24, 32, bits=8))))
    m.output(bits(narrow, 48, 17, 64), bits(narrow, 48, 17, 128, zeros="packed", bits=8, bias=True))
    m.output(bits(narrow, 48, 17, 32), bits(one, 96, 5, 32, zeros="real"), bits(one, 96, 11, 16, bits=2))
    return m


def recurrent():
    """Networks that go through a sequence, in both directions, with all that their operators may be given."""
    m = Model("recurrent", 14)
    x = m.input("x", rng.uniform(-1, 1, (6, 3, 5)).astype(np.float32))
    state = m.input("state", rng.uniform(-1, 1, (2, 3, 7)).astype(np.float32))
    lengths = m.const(np.array([6, 2, 4], np.int32))

    def weights(gates, directions=1, hidden=7):
        return m.floats(directions, gates * hidden, 5), m.floats(directions, gates * hidden, hidden)

    m.output(*m.add("LSTM", x, *weights(4, 2), m.floats(2, 56), lengths, state, m.floats(2, 3, 7), m.floats(2, 21), hidden_size=7,
                    direction="bidirectional", clip=0.6, n=3))
    y, last = m.add("LSTM", x, *weights(4), hidden_size=7, direction="reverse", input_forget=1, n=2)
    m.output(m.add("Relu", m.add("Squeeze", y, ints(m, 1))), last)
    w, r = weights(4)
    m.output(*m.add("LSTM", x, m.add("Tanh", w), r, m.floats(1, 56), "", "", m.floats(1, 3, 7), hidden_size=7, n=3,
                    activations=["HardSigmoid", "Softsign", "LeakyRelu"], activation_alpha=[0.3, 0.2], activation_beta=[0.4]))
    for linear in (0, 1):
        y, last = m.add("GRU", x, *weights(3, 2), m.floats(2, 42), lengths if linear else "", state, hidden_size=7, direction="bidirectional",
                        linear_before_reset=linear, n=2)
        m.output(m.add("Reshape", m.add("Transpose", y, perm=[0, 2, 1, 3]), ints(m, 6, 3, 14)), last)
        m.output(m.add("GRU", x, *weights(3, hidden=16), hidden_size=16, linear_before_reset=linear))
    m.output(*m.add("RNN", x, *weights(1, 2), m.floats(2, 14), "", state, hidden_size=7, direction="bidirectional",
                    activations=["ScaledTanh", "Affine"], activation_alpha=[0.9, 0.5], activation_beta=[0.7, 0.1], n=2))
    m.output(m.add("RNN", x, *weights(1), hidden_size=7, activations=["Relu"]))
    return m


def samples():
    """Images sampled at places, inside and outside of them."""
    m = Model("samples", 20)
    x = m.input("x", rng.uniform(-1, 1, (2, 3, 5, 4)).astype(np.float32))
    places = m.input("places", rng.uniform(-1.6, 1.6, (2, 3, 6, 2)).astype(np.float32))
    box = m.input("box", rng.uniform(-1, 1, (1, 2, 3, 4, 5)).astype(np.float32))
    there = m.input("there", rng.uniform(-1.6, 1.6, (1, 2, 3, 2, 3)).astype(np.float32))
    for padding in ("zeros", "border", "reflection"):
        for aligned in (0, 1):
            for mode in ("linear", "nearest", "cubic"):
                m.output(m.add("GridSample", x, places, mode=mode, padding_mode=padding, align_corners=aligned))
            m.output(m.add("GridSample", box, there, mode="nearest" if aligned else "linear", padding_mode=padding))
    m.output(m.add("Relu", m.add("GridSample", x, m.add("Tanh", places))))
    return m


for make in (cnn, mobile, attention, pointwise, moves, rows, images, scalars, external, scatters, columns, numbers, integers):
    model = make()
    if make.__name__ in sys.argv[2:] or len(sys.argv) == 2:
        model.save(sys.argv[1])
for seed, make in enumerate((pools, products, picks, lines, functions, resizes, given, heads, quantized, transposed, copies, groups, packed, recurrent, samples)):
    rng = np.random.default_rng(seed)
    if make.__name__ in sys.argv[2:] or len(sys.argv) == 2:
        make().save(sys.argv[1])
