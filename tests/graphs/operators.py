"""One operator, or one and what reads it: forms, types and attributes that networks have seldom, and integers by their rules."""
import numpy as np
from onnx import TensorProto, helper

from graph import Graph, Refused

F = np.float32
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint32", "uint64"]
OPSETS = (11, 13, 17, 18, 20, 21, 22)


def shape(r, least=1, most=4):
    return [int(r.choice([1, 2, 3, 4, 5, 7, 8])) for _ in range(int(r.integers(least, most + 1)))]


def floats(g, dims, scale=64):
    """With ties, and apart from 0 and the halves."""
    return g.input(((g.rng.integers(-128, 128, dims) + 0.5) / scale).astype(F))


def integers(g, dims, kind=None, small=False):
    kind = np.dtype(kind or str(g.rng.choice(INTEGERS)))
    info = np.iinfo(kind)
    low, high = max(info.min, -9 if small else -2000), min(info.max, 9 if small else 2000)
    return g.input(g.rng.integers(low, high, dims, endpoint=True).astype(kind))


def numbers(g, dims):
    return floats(g, dims) if g.rng.random() < 0.5 else integers(g, dims)


def like(g, x, dims=None, **k):
    """More of the type of x."""
    return floats(g, dims or g[x].shape) if g[x].dtype == F else integers(g, dims or g[x].shape, g[x].dtype, **k)


def not_zero(g, x):
    g.value[x] = np.where(g[x] == 0, np.ones_like(g[x]), g[x])
    return x


def broadcast(r, dims):
    """A shape that repeats to this one."""
    some = [d if r.random() < 0.6 else 1 for d in dims]
    return some[int(r.integers(len(some))) if r.random() < 0.4 else 0:]


def axis_of(g, x):
    rank = g[x].ndim
    return int(g.rng.integers(-rank, rank))


def indices(g, dims, most):
    return g.const(g.rng.integers(-most, most, dims).astype(np.int64))


# ---- element by element ----

def arithmetic(g):
    r, dims = g.rng, shape(g.rng)
    kind = str(r.choice(["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Pow", "Equal", "Less", "GreaterOrEqual", "Mean", "Sum"]))
    x = numbers(g, dims)
    y = like(g, x, broadcast(r, dims), small=kind == "Mul")
    if kind in ("Div", "Mod"):
        y = not_zero(g, y)
    if kind == "Pow":
        x = integers(g, dims, str(r.choice(["int32", "int64"])), small=True) if r.random() < 0.5 else g.add("Abs", floats(g, dims))
        y = g.const(np.array(r.choice([0, 1, 2, 3]), str(r.choice(["float32", "int64", "int32"]))))
    if r.random() < 0.3 and kind in ("Max", "Min", "Mean", "Sum"):
        return g.add(kind, x, y, like(g, x))
    more = {"fmod": 1} if kind == "Mod" and (g[x].dtype == F or r.random() < 0.3) else {}
    return g.add(kind, x, y, **more)


def bits(g):
    r, dims = g.rng, shape(g.rng)
    kind = str(r.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift", "And", "Or", "Xor", "Not"]))
    if kind in ("And", "Or", "Xor", "Not"):
        x = g.input(r.random(dims) < 0.5)
        return g.add(kind, x, *([] if kind == "Not" else [g.input(r.random(broadcast(r, dims)) < 0.5)]))
    x = integers(g, dims, str(r.choice(["uint8", "int8", "uint16", "int16"])))
    if kind == "BitShift":
        x = integers(g, dims, "uint8")
        return g.add(kind, x, g.input(r.integers(0, 8, dims).astype(g[x].dtype)), direction=str(r.choice(["LEFT", "RIGHT"])))
    return g.add(kind, x, *([] if kind == "BitwiseNot" else [like(g, x)]))


def cast(g):
    r = g.rng
    to = str(r.choice(INTEGERS + ["float32", "bool", "float16"]))
    x = numbers(g, shape(r))
    if g[x].dtype == F and to.startswith("u"):  # of negative numbers nobody says what they become
        x = g.add("Abs", x)
    y = g.add("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))
    return g.add("Cast", y, to=TensorProto.FLOAT) if to == "float16" else y


def one_argument(g):
    r, dims = g.rng, shape(g.rng)
    kind = str(r.choice(["Abs", "Neg", "Sign", "Relu", "Floor", "Ceil", "Round", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh",
                         "Sinh", "Tan", "Hardmax", "Shrink", "IsNaN", "IsInf", "Softmax", "LogSoftmax", "Clip", "Elu", "Celu",
                         "ThresholdedRelu", "Swish", "Identity", "Sqrt", "Erf"]))
    if kind in ("Abs", "Neg", "Sign", "Relu", "Clip", "Identity"):
        x = integers(g, dims) if r.random() < 0.6 else floats(g, dims)
        if kind != "Clip":
            return g.add(kind, x)
        bounds = [np.asarray(v, g[x].dtype) for v in sorted(int(v) for v in r.integers(0, 90, 2))]
        return g.add(kind, x, *[g.const(b) if r.random() < 0.8 else "" for b in bounds])
    x = floats(g, dims, 129 if kind in ("Acos", "Asin", "Atanh") else 32)
    if kind == "Sqrt":
        x = g.add("Abs", x)
    if kind == "Acosh":
        x = g.add("Add", g.add("Abs", x), g.number(1.25))
    if kind in ("Hardmax", "Softmax", "LogSoftmax"):
        return g.add(kind, x, axis=axis_of(g, x))
    if kind == "Shrink":
        return g.add(kind, x, lambd=float(r.uniform(0, 2)), bias=float(r.uniform(0, 1)))
    if kind in ("Elu", "Celu", "ThresholdedRelu", "Swish"):
        return g.add(kind, x, alpha=float(r.uniform(0.1, 2)))
    return g.add(kind, x)


def where(g):
    dims = shape(g.rng)
    x = numbers(g, dims)
    return g.add("Where", g.input(g.rng.random(broadcast(g.rng, dims)) < 0.5), x, like(g, x, broadcast(g.rng, dims)))


def quantize(g):
    r, dims = g.rng, shape(g.rng, 2)
    kind = np.dtype(str(r.choice(["uint8", "int8"])))
    axis = int(r.integers(len(dims)))
    n = [dims[axis]] if r.random() < 0.6 else []
    scale, zero = g.const(r.uniform(0.02, 0.2, n).astype(F)), g.const(r.integers(0, 20, n).astype(kind))
    more = {"axis": axis} if n else {}
    if r.random() < 0.5:
        return g.add("DequantizeLinear", integers(g, dims, kind), scale, zero, **more)
    return g.add("QuantizeLinear", floats(g, dims), scale, zero, **more)


# ---- along axes ----

def reduce(g):
    r = g.rng
    kind = "Reduce" + str(r.choice(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]))
    whole = kind[6:] in ("Sum", "Mean", "Max", "Min", "L1", "SumSquare") and r.random() < 0.5
    x = integers(g, shape(r), str(r.choice(["int32", "int64", "int8", "uint8"])), small=True) if whole else floats(g, shape(r))
    if kind == "ReduceLogSum":
        x = g.add("Abs", x)
    rank = g[x].ndim
    axes = [int(i) - (rank if r.random() < 0.3 else 0) for i in r.choice(rank, int(r.integers(0, rank + 1)), replace=False)]
    keep = int(r.integers(2))
    if g.opset >= 18 or (g.opset >= 13 and kind == "ReduceSum"):
        more = {"noop_with_empty_axes": 1} if r.random() < 0.2 else {}
        return g.add(kind, x, *([g.ints(*axes)] if axes or r.random() < 0.5 else []), keepdims=keep, **more)
    return g.add(kind, x, keepdims=keep, **({"axes": axes} if axes else {}))


def extreme(g):
    x = numbers(g, shape(g.rng))
    return g.add(str(g.rng.choice(["ArgMax", "ArgMin"])), x, axis=axis_of(g, x), keepdims=int(g.rng.integers(2)),
                 **({"select_last_index": int(g.rng.integers(2))} if g.opset >= 12 else {}))


def top(g):
    x = numbers(g, shape(g.rng))
    axis = axis_of(g, x)
    return g.add("TopK", x, g.ints(int(g.rng.integers(1, g[x].shape[axis] + 1))), n=2, axis=axis, largest=int(g.rng.integers(2)))


def cumulate(g):
    r = g.rng
    x = floats(g, shape(r)) if r.random() < 0.5 else integers(g, shape(r), str(r.choice(["int32", "int64"])))
    return g.add("CumSum", x, g.const(np.array(axis_of(g, x), str(r.choice(["int32", "int64"])))), exclusive=int(r.integers(2)),
                 reverse=int(r.integers(2)))


def normalize(g):
    r = g.rng
    kind = str(r.choice(["LRN", "LpNormalization", "MeanVarianceNormalization", "InstanceNormalization", "GroupNormalization",
                         "LayerNormalization", "BatchNormalization", "RMSNormalization"]))
    x = floats(g, shape(r, 3, 5))
    dims, c = g[x].shape, g[x].shape[1]
    if kind == "LRN":
        return g.add(kind, x, size=int(r.choice([1, 2, 3, 5])), alpha=float(r.uniform(1e-4, 1)), beta=float(r.uniform(0.3, 1)), bias=float(r.uniform(0.5, 2)))
    if kind == "LpNormalization":
        return g.add(kind, x, axis=axis_of(g, x), p=int(r.integers(1, 3)))
    if kind == "MeanVarianceNormalization":
        axes = sorted(int(i) for i in r.choice(len(dims), int(r.integers(1, len(dims) + 1)), replace=False))
        if np.prod([dims[i] for i in axes]) < 4:
            raise Refused("a variance of rounding alone")
        return g.add(kind, x, axes=axes)
    parameters = lambda *n: (g.floats(*n, low=0.5, high=1.5), g.floats(*n))  # noqa: E731
    if kind == "BatchNormalization":
        return g.add(kind, x, *parameters(c), g.floats(c), g.floats(c, low=0.5, high=1.5), epsilon=float(r.choice([1e-5, 1e-2])))
    if kind == "GroupNormalization":
        groups = int(r.choice([n for n in range(1, c + 1) if c % n == 0]))
        return g.add(kind, x, *parameters(c if g.opset >= 21 else groups), num_groups=groups, epsilon=1e-2)
    if kind == "InstanceNormalization":
        return g.add(kind, x, *parameters(c), epsilon=1e-2)
    axis = int(r.integers(-len(dims), len(dims)))
    inner = dims[axis:] if axis else dims
    if kind == "RMSNormalization":
        return g.add(kind, x, g.floats(*inner, low=0.5, high=1.5), axis=axis, epsilon=1e-2)
    outs = g.add(kind, x, *parameters(*inner), n=int(r.choice([1, 3])), axis=axis, epsilon=1e-2)
    return outs


# ---- elements picked, put and moved ----

def pick(g):
    r = g.rng
    kind = str(r.choice(["Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "OneHot", "Compress"]))
    x = numbers(g, shape(r, 2))
    dims = list(g[x].shape)
    axis = int(r.integers(len(dims)))
    if kind == "Gather":
        return g.add(kind, x, indices(g, shape(r, 0, 2), dims[axis]), axis=axis)
    if kind == "Compress":
        return g.add(kind, x, g.const(r.random(dims[axis]) < 0.6), axis=axis)
    if kind == "OneHot":
        depth = int(r.integers(2, 9))
        return g.add(kind, g.input(r.integers(-depth, depth, shape(r, 1, 3)).astype(np.int64)), g.ints(depth), like(g, x, [2]), axis=int(r.choice([-1, 0, 1])))
    if kind == "GatherElements":
        some = [d if i == axis else int(r.integers(1, d + 1)) for i, d in enumerate(dims)]
        return g.add(kind, x, indices(g, some, dims[axis]), axis=axis)
    if kind == "ScatterElements":
        some = [int(r.integers(1, d + 1)) for d in dims]
        how = str(r.choice(["none", "add", "mul", "max", "min"])) if g.opset >= 18 else "none"
        order = np.argsort(r.random([dims[axis] if i == axis else d for i, d in enumerate(some)]), axis=axis)
        at = np.take(order, np.arange(some[axis]), axis=axis)  # no place twice
        return g.add(kind, x, g.const(at.astype(np.int64)), like(g, x, some, small=True), axis=axis, **({"reduction": how} if how != "none" else {}))
    depth = int(r.integers(1, len(dims) + 1))
    many = int(r.integers(1, 4))
    at = np.stack([r.integers(0, d, many) for d in dims[:depth]], -1).astype(np.int64)
    if kind == "GatherND":
        return g.add(kind, x, g.const(at))
    at = np.unique(at, axis=0)
    how = str(r.choice(["none", "add", "mul"])) if g.opset >= 18 else "none"
    return g.add(kind, x, g.const(at), like(g, x, [len(at), *dims[depth:]], small=True), **({"reduction": how} if how != "none" else {}))


def move(g):
    r = g.rng
    kind = str(r.choice(["Transpose", "Tile", "Expand", "Slice", "Split", "Concat", "Pad", "Pad", "CenterCropPad", "ReverseSequence", "Trilu", "EyeLike",
                         "DepthToSpace", "SpaceToDepth", "Squeeze", "Flatten", "Reshape"]))
    x = numbers(g, shape(r, 2))
    dims = list(g[x].shape)
    rank, axis = len(dims), int(r.integers(len(dims)))
    if kind == "Transpose":
        return g.add(kind, x, perm=[int(i) for i in r.permutation(rank)])
    if kind == "Tile":
        return g.add(kind, x, g.ints(*r.integers(1, 4, rank)))
    if kind == "Expand":
        x = like(g, x, broadcast(r, dims))
        return g.add(kind, x, g.ints(*dims))
    if kind == "Slice":
        axes = [int(i) for i in r.choice(rank, int(r.integers(1, rank + 1)), replace=False)]
        ends = lambda: g.ints(*[int(r.integers(-dims[i] - 2, dims[i] + 3)) for i in axes])  # noqa: E731
        return g.add(kind, x, ends(), ends(), g.ints(*axes), g.ints(*[int(r.choice([1, 1, 2, -1, -2])) for _ in axes]))
    if kind == "Split" and g.opset >= 18:
        return tuple(g.add(kind, x, n=min(2, dims[axis]), axis=axis, num_outputs=min(2, dims[axis]))) if dims[axis] > 1 else x
    if kind == "Concat":
        return g.add(kind, x, like(g, x), x, axis=axis - rank)
    if kind == "Pad":
        mode = str(r.choice(["constant", "reflect", "edge", "wrap"] if g.opset >= 19 else ["constant", "reflect", "edge"]))
        axes = sorted(int(i) for i in r.choice(rank, int(r.integers(1, rank + 1)), replace=False)) if g.opset >= 18 and r.random() < 0.5 else range(rank)
        pads = [int(r.integers(-1 if dims[i] > 2 else 0, max(1, min(3, dims[i])))) for i in [*axes, *axes]]
        value = [g.const(np.asarray(7, g[x].dtype))] if mode == "constant" and r.random() < 0.5 else [""]
        return g.add(kind, x, g.ints(*pads), *(value + [g.ints(*axes)] if len(axes) < rank else value if value != [""] else []), mode=mode)
    if kind == "CenterCropPad":
        axes = sorted(int(i) for i in r.choice(rank, int(r.integers(1, rank + 1)), replace=False))
        return g.add(kind, x, g.ints(*r.integers(1, 9, len(axes))), axes=axes)
    if kind == "ReverseSequence":
        time = int(r.integers(2))
        return g.add(kind, x, g.const(r.integers(1, dims[time] + 1, dims[1 - time]).astype(np.int64)), time_axis=time, batch_axis=1 - time)
    if kind == "Trilu":
        return g.add(kind, x, *([g.const(np.int64(r.integers(-3, 4)))] if r.random() < 0.7 else []), upper=int(r.integers(2)))
    if kind == "EyeLike":
        return g.add(kind, like(g, x, dims[:2]), k=int(r.integers(-2, 3)))
    if kind == "DepthToSpace":
        b = int(r.integers(1, 3))
        return g.add(kind, like(g, x, [dims[0], b * b * int(r.integers(1, 4)), *shape(r, 2, 2)]), blocksize=b, mode=str(r.choice(["DCR", "CRD"])))
    if kind == "SpaceToDepth":
        b = int(r.integers(1, 3))
        return g.add(kind, floats(g, [dims[0], dims[1], b * int(r.integers(1, 4)), b * int(r.integers(1, 4))]), blocksize=b)
    if kind == "Squeeze":
        x = like(g, x, [*dims[:axis], 1, *dims[axis:]])
        return g.add(kind, x, g.ints(axis)) if g.opset >= 13 else g.add(kind, x, axes=[axis])
    if kind == "Flatten":
        return g.add(kind, x, axis=int(r.integers(-rank, rank + 1)))
    return g.add("Reshape", x, g.ints(*([0, -1] if r.random() < 0.5 else [-1, dims[-1]])))


# ---- windows, images, products ----

def window(g):
    r = g.rng
    space = int(r.choice([1, 2, 2, 3]))
    kind = str(r.choice(["MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool", "ConvTranspose"]))
    x = floats(g, [int(r.integers(1, 3)), int(r.integers(1, 6)), *[int(r.integers(3, 10)) for _ in range(space)]])
    if kind.startswith("Global"):
        return g.add(kind, x, **({"p": int(r.integers(1, 4))} if kind == "GlobalLpPool" else {}))
    k = [int(v) for v in r.integers(1, 4, space)]
    more = {"kernel_shape": k, "strides": [int(v) for v in r.integers(1, 4, space)]}
    how = r.integers(3)
    if how == 0:
        more["auto_pad"] = str(r.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    elif how == 1:
        more["pads"] = [int(r.integers(0, v)) for v in k + k]
    if kind == "ConvTranspose":
        group = int(r.choice([1, 1, 2]))
        c, each = g[x].shape[1] * group, int(r.integers(1, 5))
        x = floats(g, [1, c, *g[x].shape[2:]])
        if r.random() < 0.3:
            more["output_padding"] = [int(r.integers(0, s)) for s in more["strides"]]
        if r.random() < 0.3:
            more["dilations"] = [int(v) for v in r.integers(1, 3, space)]
        return g.add(kind, x, g.floats(c, each, *k, low=-0.5, high=0.5), *([g.floats(each * group)] if r.random() < 0.5 else []), group=group, **more)
    if r.random() < 0.4 and how:
        more["ceil_mode"] = 1
    if (kind == "MaxPool" or (kind == "AveragePool" and g.opset >= 19)) and how:  # onnxruntime knows none with SAME, and none of LpPool
        more["dilations"] = [int(v) for v in r.choice([1, 1, 2], space)]
    if kind == "AveragePool":
        more["count_include_pad"] = int(r.integers(2))
    if kind == "LpPool":
        more["p"] = int(r.integers(1, 4))
    if kind == "MaxPool" and r.random() < 0.2:
        return g.add(kind, x, n=2, **more)
    return g.add(kind, x, **more)


def resize(g):
    r = g.rng
    space = int(r.choice([1, 2, 2, 3]))
    x = floats(g, [1, int(r.integers(1, 4)), *[int(r.integers(2, 8)) for _ in range(space)]])
    dims = g[x].shape
    mode = str(r.choice(["nearest", "linear", "cubic"]))
    more = {"mode": mode, "coordinate_transformation_mode": str(r.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]))}
    if mode == "nearest":
        more["nearest_mode"] = str(r.choice(["floor", "round_prefer_floor", "round_prefer_ceil", "ceil"]))
    if mode == "cubic":
        more["cubic_coeff_a"] = float(r.choice([-0.5, -0.75]))
        more["exclude_outside"] = int(r.integers(2))
    if g.opset >= 18 and mode != "nearest" and r.random() < 0.3:
        more["antialias"] = 1
    if r.random() < 0.5:
        return g.add("Resize", x, "", g.const(np.array([1, 1, *r.choice([0.5, 1, 1.5, 2, 3], space)], F)), **more)
    return g.add("Resize", x, "", "", g.ints(*dims[:2], *r.integers(1, 12, space)), **more)


def product(g):
    r = g.rng
    kind = r.integers(3)
    if kind == 0:
        m, k, n = shape(r, 3, 3)
        batch = shape(r, 0, 2)
        left, right = [*broadcast(r, batch + [1])[:-1], m, k], [*batch, k, n]
        if r.random() < 0.2:
            left = [k]
        return g.add("MatMul", floats(g, left), floats(g, right) if r.random() < 0.5 else g.floats(*right))
    if kind == 1:
        equation, size = str(r.choice(["ij,jk->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "ij->ji", "ii->i", "ij,ij->", "bij->b", "i,j->ij", "bij,kj->bik",
                                       "...ij,...jk->...ik", "ij,kj", "bijc,bkjc->bik"])), {}
        size = {letter: int(r.integers(1, 7)) for letter in "bhijkdc"}
        sides = equation.split("->")[0].split(",")
        return g.add("Einsum", *[floats(g, [size[c] for c in s.replace("...", "b")]) for s in sides], equation=equation)
    m, k, n = shape(r, 3, 3)
    ta, tb = int(r.integers(2)), int(r.integers(2))
    c = [floats(g, [n]), floats(g, [m, 1]), floats(g, [m, n]), floats(g, [1])][int(r.integers(4))]
    return g.add("Gemm", floats(g, [k, m] if ta else [m, k]), floats(g, [n, k] if tb else [k, n]), *([c] if r.random() < 0.7 else []), transA=ta,
                 transB=tb, alpha=float(r.choice([1, 0.5])), beta=float(r.choice([1, 2])))


def sample(g):
    r = g.rng
    flat = r.random() < 0.7 or g.opset < 20
    modes = ["linear", "nearest", "cubic"] if flat else ["linear", "nearest"]
    mode = modes[int(r.integers(len(modes)))]
    if g.opset < 20:
        mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    x, n = floats(g, [int(r.integers(1, 3)), int(r.integers(1, 4)), *[int(v) for v in r.integers(1, 7, 3 - flat)]]), 3 - int(flat)
    places = g.input(r.uniform(-2, 2, [g[x].shape[0], *[int(v) for v in r.integers(1, 6, n)], n]).astype(F))
    return g.add("GridSample", x, places, mode=mode, padding_mode=str(r.choice(["zeros", "border", "reflection"])), align_corners=int(r.integers(2)))


# ---- sizes that follow from data ----

def late(g, *numbers):
    """Integers that nobody knows before the graph runs."""
    return g.add("Cast", g.input(np.array(numbers, F)), to=TensorProto.INT64)


def sized(g):
    r = g.rng
    kind = str(r.choice(["NonZero", "Unique", "Compress", "TopK", "Range", "Slice", "Reshape", "Expand", "Tile"]))
    x = floats(g, shape(r, 2, 3), 8) if r.random() < 0.7 else integers(g, shape(r, 2, 3), str(r.choice(["int32", "int64"])), small=True)
    dims = list(g[x].shape)
    axis = int(r.integers(len(dims)))
    if kind == "NonZero":
        g.value[x] = np.where(r.random(dims) < 0.5, g[x], np.zeros_like(g[x]))
        rows = g.add("Transpose", g.add(kind, x), perm=[1, 0])
        return [g.add("GatherND", x, rows), rows]
    if kind == "Unique":
        return g.add(kind, x, n=4, sorted=int(r.integers(2)), **({"axis": axis} if r.random() < 0.6 else {}))
    if kind == "Compress":
        keep = g.add("Greater", floats(g, [dims[axis]]), g.number(-0.5))
        return g.add(kind, x, keep, axis=axis)
    if kind == "TopK":
        return g.add(kind, x, late(g, int(r.integers(1, dims[axis] + 1))), n=2, axis=axis)
    if kind == "Range":
        ends = [g.add("Squeeze", late(g, int(v))) for v in (r.integers(-9, 1), r.integers(2, 9))]
        return g.add(kind, *ends, g.const(np.int64(r.integers(1, 4))))
    if kind == "Slice":
        first = int(r.integers(0, dims[axis]))
        return g.add(kind, x, late(g, first), late(g, int(r.integers(first + 1, dims[axis] + 3))), g.ints(axis))
    if kind == "Reshape":
        return g.add(kind, x, g.add("Concat", late(g, dims[0]), g.ints(-1), axis=0))
    if kind == "Expand":
        return g.add(kind, like(g, x, broadcast(r, dims)), late(g, *dims))
    return g.add(kind, x, late(g, *r.integers(1, 4, len(dims))))


def boxes(g):
    r = g.rng
    batch, classes, many = (int(v) for v in r.integers(1, [3, 4, 20]))
    corner = np.round(r.random([batch, many, 2]) * 64) / 8
    if r.random() < 0.5:
        at = g.input(np.concatenate([corner, corner + np.round(r.random([batch, many, 2]) * 32) / 8 + 0.125], 2).astype(F))
        scores = g.input(r.permutation(batch * classes * many).reshape(batch, classes, many).astype(F) / F(batch * classes * many))
        limits = [g.ints(int(r.integers(1, many + 1))), g.floats(1, low=0.0), g.floats(1, low=0.0, high=0.5)]
        chosen = g.add("NonMaxSuppression", at, scores, *limits[:int(r.integers(1, 4))], center_point_box=int(r.integers(2)))
        return [g.add("GatherND", scores, chosen), chosen]
    x = floats(g, [batch, classes, *shape(r, 2, 2)])
    at = np.concatenate([corner[0] - 1, corner[0] + np.round(r.random([many, 2]) * 32) / 8], 1)
    image = r.integers(0, batch, many)
    if r.random() < 0.2:
        rois = g.input(np.concatenate([image[:, None], at], 1).astype(F))
        return g.add("MaxRoiPool", x, rois, pooled_shape=[int(v) for v in r.integers(1, 4, 2)])
    how = {"coordinate_transformation_mode": str(r.choice(["half_pixel", "output_half_pixel"]))} if g.opset >= 16 else {}
    return g.add("RoiAlign", x, g.input(at.astype(F)), g.input(image.astype(np.int64)), mode=str(r.choice(["avg", "max"])), output_height=int(r.integers(1, 4)),
                 output_width=int(r.integers(1, 4)), sampling_ratio=int(r.integers(0, 3)), spatial_scale=float(r.choice([0.5, 1.0])), **how)


RECURRENT = {"LSTM": (4, 3), "GRU": (3, 2), "RNN": (1, 1)}  # gates and functions


def recurrent(g):
    r = g.rng
    kind, direction = str(r.choice(list(RECURRENT))), str(r.choice(["forward", "reverse", "bidirectional"]))
    (gates, functions), sides, hidden = RECURRENT[kind], 1 + (direction == "bidirectional"), int(r.choice([1, 3, 8, 16, 17]))
    steps, batch, size = shape(r, 3, 3)
    some = lambda *dims: g.floats(*dims) if r.random() < 0.7 else floats(g, dims)  # noqa: E731
    inputs = [floats(g, [steps, batch, size]), some(sides, gates * hidden, size), some(sides, gates * hidden, hidden)]
    more = [lambda: some(sides, 2 * gates * hidden), lambda: g.input(r.integers(0, steps + 1, batch).astype(np.int32)), lambda: some(sides, batch, hidden)]
    if kind == "LSTM":
        more += [lambda: some(sides, batch, hidden), lambda: some(sides, 3 * hidden)]
    inputs += [make() if r.random() < 0.5 else "" for make in more]
    at = {"clip": 0.5} if r.random() < 0.3 else {}
    if r.random() < 0.3:
        at["activations"] = [str(f) for f in r.choice(["Relu", "Tanh", "Sigmoid", "HardSigmoid", "Softsign", "Elu"], functions * sides)]
    if kind == "LSTM":
        at["input_forget"] = int(r.random() < 0.2)
    if kind == "GRU":
        at["linear_before_reset"] = int(r.integers(2))
    return g.add(kind, *inputs, n=3 if kind == "LSTM" else 2, hidden_size=hidden, direction=direction, **at)


FAMILIES = [(arithmetic, 4), (bits, 2), (cast, 2), (one_argument, 4), (where, 1), (quantize, 1), (reduce, 4), (extreme, 1), (top, 1), (cumulate, 1),
            (normalize, 3), (pick, 3), (move, 5), (window, 4), (resize, 2), (product, 2), (recurrent, 1), (sample, 1), (sized, 2), (boxes, 1)]
TRIES = 20


def goes_on(g, y):
    """What reads a result may be taken into its step, or work in its place."""
    r = g.rng
    if g[y].dtype != F:
        return g.add("Cast", y, to=TensorProto.FLOAT)
    kind = r.integers(4)
    if kind == 0:
        return g.add("Add", y, floats(g, g[y].shape))
    if kind == 1:
        return g.add("Sigmoid", y)
    if kind == 2 and g[y].ndim >= 2:
        return g.add("Transpose", y, perm=[int(i) for i in r.permutation(g[y].ndim)])
    return g.add("Mul", y, g.add("Relu", y))


def random_operator(seed):
    r = np.random.default_rng([seed, 3])
    weights = np.array([w for _, w in FAMILIES], float)
    for _ in range(TRIES):
        g = Graph(r, int(r.choice(OPSETS)))
        try:
            made = FAMILIES[int(r.choice(len(FAMILIES), p=weights / weights.sum()))][0](g)
            g.outputs = list(made) if isinstance(made, (tuple, list)) else [made]
            if r.random() < 0.5:
                g.outputs.append(goes_on(g, g.outputs[0]))
        except Refused:
            if not g.outputs:
                continue
        if all(o not in g.inputs for o in g.outputs):
            return g
    return None
