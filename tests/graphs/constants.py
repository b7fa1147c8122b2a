"""Graphs of constants in all forms that a file may have, as Graph-like cases for record.py: (name, model, inputs, outputs)."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from graph import info, session

INTS = (T.INT8, T.UINT8, T.INT16, T.UINT16, T.INT32, T.INT64, T.UINT32, T.UINT64, T.BOOL)
REALS = (T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16)
# Below and above what is kept for shapes: 64 floats, 4,096 integers; and what halves of 100 have less bytes than 64 floats.
SIZES = ((3,), (100,), (65, 65))


def tensor(r, name, kind, dims, raw):
    """Raw data, or one of the typed lists."""
    if kind == T.BFLOAT16:
        bits = (np.round(r.uniform(-2, 2, dims) * 4) / 4).astype(np.float32).view(np.uint32) >> 16
        if raw:
            return T(data_type=kind, dims=dims, name=name, raw_data=bits.astype(np.uint16).tobytes())
        return T(data_type=kind, dims=dims, name=name, int32_data=bits.flatten().tolist())
    if kind in REALS:
        array = np.round(r.uniform(-2, 2, dims) * 4) / 4
    else:
        array = r.integers(-100 if kind in (T.INT8, T.INT16, T.INT32, T.INT64) else 0, 2 if kind == T.BOOL else 100, dims)
    array = array.astype(helper.tensor_dtype_to_np_dtype(kind))
    return numpy_helper.from_array(array, name) if raw else helper.make_tensor(name, kind, dims, array.flatten().tolist())


class Case:
    def __init__(self, name):
        self.name, self.nodes, self.constants, self.outputs, self.functions = name, [], [], [], []
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def out(self, node_or_op, *inputs, **attributes):
        name = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node(node_or_op, list(inputs), [name], name=f"n{len(self.nodes)}", **attributes))
        self.outputs.append(name)

    def node(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=f"n{len(self.nodes)}", **attributes))
        return name

    def case(self):
        graph = helper.make_graph(self.nodes, self.name, [info("x", self.x)],
                                  [helper.make_tensor_value_info(o, T.FLOAT, None) for o in self.outputs], self.constants)
        opsets = [helper.make_opsetid("", 13)] + ([helper.make_opsetid("own", 1)] if self.functions else [])
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=self.functions)
        feed = {"x": self.x}
        return self.name, model, feed, dict(zip(self.outputs, session(model).run(self.outputs, feed)))


def said():
    """What --random-weights leaves alone: integers, and what nodes say."""
    r, c = np.random.default_rng(11), Case("constants_said")
    for i, (kind, dims) in enumerate((k, d) for k in INTS for d in SIZES):
        if kind == T.BOOL or i % 2:  # else the archive would grow
            c.constants.append(tensor(r, f"c{i}", kind, dims, i % 4 < 2))
            c.out("Cast", f"c{i}", to=T.FLOAT)
    for i, (kind, dims) in enumerate((k, d) for k in (T.BOOL, T.INT64) + REALS[:3] for d in SIZES[1:]):
        c.out("Cast", c.node("Constant", value=tensor(r, "", kind, dims, i % 2)), to=T.FLOAT)
    c.out("Constant", value_floats=[float(i % 5) for i in range(5000)])
    c.out("Cast", c.node("Constant", value_ints=[i % 7 for i in range(5000)]), to=T.FLOAT)
    c.out("Constant", value_float=0.5)
    c.constants += [numpy_helper.from_array(np.array(s), n) for n, s in (("long", [65, 65]), ("short", [2, 3]))]
    for shape in "long", "short":
        c.out("ConstantOfShape", shape, value=helper.make_tensor("", T.FLOAT, [1], [0.75]))
        for kind, x in (T.INT64, -3), (T.BOOL, 1), (T.FLOAT16, 1.5):
            c.out("Cast", c.node("ConstantOfShape", shape, value=helper.make_tensor("", kind, [1], [x])), to=T.FLOAT)
    c.out("ConstantOfShape", "long")
    c.out("Cast", c.node("Shape", "x"), to=T.FLOAT)
    # A number that shape inference does not know, and an operator that reads a mask of many elements.
    nan = c.node("Constant", value_float=float("nan"))
    c.out("Cast", c.node("Equal", nan, nan), to=T.FLOAT)
    mask = c.node("Constant", value=tensor(r, "", T.BOOL, (1024, 2, 3), 1))
    c.out("Where", mask, "x", c.node("Constant", value_float=-1.0))
    return c.case()


def weights():
    """Floats of all types as initializers: outputs themselves, and factors of products."""
    r, c = np.random.default_rng(12), Case("constants_weights")
    for i, (kind, dims) in enumerate((k, d) for k in REALS for d in SIZES):
        c.constants.append(tensor(r, f"c{i}", kind, dims, i % 2))
        c.out("Identity" if kind == T.FLOAT else "Cast", f"c{i}", **({} if kind == T.FLOAT else {"to": T.FLOAT}))
    for i, kind in enumerate(REALS):
        c.constants.append(tensor(r, f"w{i}", kind, (3, 40), i % 2))
        c.out("MatMul", "x", f"w{i}" if kind == T.FLOAT else c.node("Cast", f"w{i}", to=T.FLOAT))
    # One that is an output, and read by two products and an element-wise node.
    c.constants.append(tensor(r, "both", T.FLOAT, (3, 40), 1))
    c.nodes.append(helper.make_node("MatMul", ["x", "both"], ["y_both"], name="both_product"))
    c.nodes.append(helper.make_node("Neg", ["both"], ["neg_both"], name="both_neg"))
    c.out("MatMul", "x", "neg_both")
    c.outputs += ["y_both", "both"]
    return c.case()


def function():
    """Two calls share the constant of the function."""
    r, c = np.random.default_rng(13), Case("constants_of_function")
    for op, attributes in ("Weigh", {"value": tensor(r, "", T.FLOAT, (3, 40), 1)}), ("Halves", {"value": tensor(r, "", T.FLOAT16, (3, 70), 0)}):
        body = [helper.make_node("Constant", [], ["w"], **attributes), helper.make_node("Cast", ["w"], ["f"], to=T.FLOAT),
                helper.make_node("MatMul", ["a", "f"], ["b"])]
        c.functions.append(helper.make_function("own", op, ["a"], ["b"], body, [helper.make_opsetid("", 13)]))
        c.out(op, "x", domain="own")
        c.out(op, c.node("Neg", "x"), domain="own")
    return c.case()


NUMBERS = {np.int64: ([5, -5, 7, -7, 0, 3, -8, 100], [3, 3, -3, -3, 2, 2, 5, 7]), np.int32: ([5, -5, 7, -7, 2 ** 30, 3, -8, 100], [3, 3, -3, -3, 4, 2, 5, 7]),
           np.int8: ([5, -5, 127, -128, 0, 3, -8, 100], [3, 3, -3, -3, 2, 2, 5, 7]), np.uint8: ([5, 200, 7, 255, 0, 3, 8, 100], [3, 100, 3, 255, 2, 2, 5, 7]),
           np.float32: ([5.5, -5.5, 0.25, -0.75, 0, 3, -8, 60000], [3, 3, -3, -3, 2, 2, 5, 7]), bool: ([1, 0, 1, 1, 0, 0, 1, 0], [1, 1, 0, 1, 0, 1, 1, 0])}
FOLDED = [(op, 2, {}) for op in "Add Sub Mul Div Max Min Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor".split()] + \
    [("Mod", 2, {"fmod": 0}), ("Mod", 2, {"fmod": 1}), ("CumSum", 1, {})] + \
    [(op, 1, {}) for op in "Neg Abs Not Sign Relu Floor Ceil Round Identity".split()] + \
    [(op, 1, {"keepdims": 0}) for op in "ReduceMax ReduceMin ReduceMean".split()] + \
    [("Cast", 1, {"to": to}) for to in (T.INT64, T.INT32, T.UINT8, T.INT8, T.UINT16, T.BOOL, T.FLOAT, T.FLOAT16, T.BFLOAT16)]


def folded():
    """What is computed of constants alone, as shapes are: integers wrap around, floats are rounded."""
    c = Case("constants_folded")
    c.constants.append(numpy_helper.from_array(np.array(0), "axis"))
    for kind, operands in NUMBERS.items():
        c.constants += [numpy_helper.from_array(np.array(v, kind), f"{n}_{np.dtype(kind)}") for n, v in zip("ab", operands)]
    for op, count, attributes in FOLDED:
        for kind in NUMBERS:
            inputs = [f"{n}_{np.dtype(kind)}" for n in "ab"[:count]] + (["axis"] if op == "CumSum" else [])
            before = len(c.nodes), len(c.outputs)
            c.out("Cast", c.node(op, *inputs, **attributes), to=T.FLOAT)
            try:  # types that the operator does not take
                c.case()
            except Exception:
                del c.nodes[before[0]:], c.outputs[before[1]:]
    return c.case()


def cases():
    return [said(), weights(), function(), folded()]
