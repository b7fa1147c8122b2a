"""Blocks that move elements, and constants of all kinds."""
import numpy as np
from onnx import TensorProto, helper

from blocks import away_from_zero, tame
from graph import Refused

F = np.float32


def transpose(g, pool):
    x = pool.get(lambda a: a.ndim >= 2)
    return g.add("Transpose", x, perm=[int(i) for i in g.rng.permutation(g[x].ndim)])


def factors(r, n, rank):
    dims = [1] * rank
    p = 2
    while n > 1:
        while n % p:
            p += 1
        dims[int(r.integers(rank))] *= p
        n //= p
    return dims


def reshape(g, pool):
    r, x = g.rng, pool.get()
    a = g[x]
    kind = r.integers(5)
    if kind == 0:
        return g.add("Flatten", x, axis=int(r.integers(0, a.ndim + 1)))
    if kind == 1 and a.ndim < 5:
        at = int(r.integers(-a.ndim - 1, a.ndim + 1))
        return g.add("Unsqueeze", x, g.ints(at)) if g.opset >= 13 else g.add("Unsqueeze", x, axes=[at % (a.ndim + 1)])
    if kind == 2 and 1 in a.shape and a.ndim > 1:
        at = a.shape.index(1)
        return g.add("Squeeze", x, g.ints(at)) if g.opset >= 13 else g.add("Squeeze", x, axes=[at])
    dims = factors(r, a.size, int(r.integers(1, 5)))
    if r.random() < 0.3:
        dims[int(r.integers(len(dims)))] = -1
    return g.add("Reshape", x, g.ints(*dims))


def cut_out(g, x, at=None):
    r, a = g.rng, g[x]
    axis = int(r.integers(a.ndim)) if at is None else at
    d = a.shape[axis]
    first = int(r.integers(d))
    end = int(r.integers(first + 1, d + 1))
    if r.random() < 0.2 and end == d:
        end = 2 ** 31
    step = int(r.choice([1, 1, 2, 3]))
    if r.random() < 0.15:
        return g.add("Slice", x, g.ints(end - 1 if end <= d else d - 1), g.ints(first - 1 if first else -d - 1), g.ints(axis), g.ints(-step))
    return g.add("Slice", x, g.ints(first), g.ints(end), g.ints(axis if r.random() < 0.5 else axis - a.ndim), g.ints(step))


def slice_(g, pool):
    return cut_out(g, pool.get(lambda a: a.size > 1))


def split(g, pool):
    r, x = g.rng, pool.get(lambda a: max(a.shape) > 1)
    axis = int(r.choice([i for i, d in enumerate(g[x].shape) if d > 1]))
    d = g[x].shape[axis]
    first = int(r.integers(1, d))
    sizes = [first, d - first]
    if d - first > 1 and r.random() < 0.5:
        sizes[1:] = [1, d - first - 1]
    if g.opset >= 13:
        return tuple(g.add("Split", x, g.ints(*sizes), n=len(sizes), axis=axis))
    return tuple(g.add("Split", x, n=len(sizes), axis=axis, split=sizes))


def concat(g, pool):
    """Parts that are read elsewhere, parts of the same, a part twice, constants."""
    r, x = g.rng, pool.get()
    a = g[x]
    axis = int(r.integers(a.ndim))

    def fits(b):
        return b.ndim == a.ndim and all(i == axis or s == t for i, (s, t) in enumerate(zip(a.shape, b.shape)))

    parts = [x]
    for _ in range(int(r.integers(1, 4))):
        kind = r.integers(5)
        if kind == 0:
            dims = list(a.shape)
            dims[axis] = int(r.integers(1, 4))
            parts.append(g.floats(*dims))
        elif kind == 1:
            parts.append(cut_out(g, x, axis))
        elif kind == 2:
            parts.append(g.add(str(r.choice(["Relu", "Sigmoid", "Neg"])), x))
        else:
            parts.append(pool.get(fits))
    parts = [parts[i] for i in r.permutation(len(parts))]
    return g.add("Concat", *parts, axis=axis if r.random() < 0.5 else axis - a.ndim)


def pad(g, pool):
    r, x = g.rng, pool.get()
    a = g[x]
    mode = str(r.choice(["constant", "constant", "constant", "reflect", "edge"]))
    pads = [int(r.integers(0, 3)) if r.random() < 0.5 else 0 for _ in range(2 * a.ndim)]
    if mode == "reflect":
        pads = [min(p, a.shape[i % a.ndim] - 1) for i, p in enumerate(pads)]
    value = [g.number(r.choice([0, 0, 0.5, -3]))] if mode == "constant" and r.random() < 0.7 else []
    return g.add("Pad", x, g.ints(*pads), *value, mode=mode)


def gather(g, pool):
    r, x = g.rng, pool.get()
    axis = int(r.integers(g[x].ndim))
    d = g[x].shape[axis]
    index = r.integers(-d, d, [(), (3,), (2, 2)][int(r.integers(3))])
    return g.add("Gather", x, g.const(np.asarray(index, np.int64)), axis=axis)


def expand(g, pool):
    r, x = g.rng, pool.get(lambda a: a.size < 500)
    a = g[x]
    if r.random() < 0.5:
        return g.add("Tile", x, g.ints(*[int(r.integers(1, 4)) for _ in a.shape]))
    dims = [int(r.integers(1, 4)) if d == 1 else d for d in a.shape]
    return g.add("Expand", x, g.ints(*([2] if r.random() < 0.3 and a.ndim < 4 else []), *dims))


def image(g, pool):
    r, x = g.rng, pool.get(lambda a: a.ndim == 4)
    n, c, h, w = g[x].shape
    kind = r.integers(4)
    if kind == 0:
        b = 2 if c % 4 == 0 else 1
        return g.add("DepthToSpace", x, blocksize=b, mode=str(r.choice(["DCR", "CRD"])))
    if kind == 1:
        return g.add("SpaceToDepth", x, blocksize=2 if h % 2 == 0 and w % 2 == 0 else 1)
    if kind == 2:
        k, out = int(r.integers(1, 4)), int(r.integers(1, 7))
        return g.add("ConvTranspose", tame(g, x), g.floats(c, out, k, k), kernel_shape=[k, k], strides=[int(v) for v in r.integers(1, 3, 2)])
    mode = str(r.choice(["nearest", "linear"]))
    how = str(r.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]))
    more = {"nearest_mode": str(r.choice(["floor", "round_prefer_floor", "ceil"]))} if mode == "nearest" else {}
    if r.random() < 0.5:
        return g.add("Resize", x, "", g.const(np.array([1, 1, 2, float(r.choice([1, 2, 1.5]))], F)), mode=mode,
                     coordinate_transformation_mode=how, **more)
    return g.add("Resize", x, "", "", g.ints(n, c, int(r.integers(1, 2 * h + 1)), int(r.integers(1, 2 * w + 1))), mode=mode,
                 coordinate_transformation_mode=how, **more)


def stored(g, array, kind):
    """A constant in another type of the file, as an initializer or by a node, with raw data or in lists."""
    r = g.rng
    name = g.const(np.zeros(1, F))
    if r.random() < 0.5 or kind == TensorProto.BFLOAT16:
        if kind == TensorProto.BFLOAT16:
            array = array.astype(F)
            bits = (array.view(np.uint32) >> 16).astype(np.uint16)
        else:
            array = array.astype(helper.tensor_dtype_to_np_dtype(kind))
        raw = bits.tobytes() if kind == TensorProto.BFLOAT16 else array.tobytes()
        tensor = TensorProto(data_type=kind, dims=array.shape, name=name, raw_data=raw)
    else:
        array = array.astype(helper.tensor_dtype_to_np_dtype(kind))
        tensor = helper.make_tensor(name, kind, array.shape, array.flatten().tolist())
    if r.random() < 0.5:
        g.constants[name], g.value[name] = tensor, array
        return name
    return g.add("Constant", value=tensor)


def constant(g, pool):
    """Mul or Add with a constant that is no plain initializer; a mask that is too large to be kept."""
    r, x = g.rng, pool.get()
    shape = g[x].shape
    kind = r.integers(4)
    some = [TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32,
            TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT16]
    if kind == 0:
        fill = helper.make_tensor("value", TensorProto.FLOAT, [1], [float(r.uniform(-1, 1))])
        c = g.add("ConstantOfShape", g.ints(*shape), value=fill)
    elif kind == 1 and len(shape) >= 2:
        k, n = shape[-1], int(r.integers(2, 20))
        w = g.add("Cast", stored(g, r.uniform(-1, 1, (k, n)), int(r.choice(some[:3]))), to=TensorProto.FLOAT)
        return g.add("MatMul", tame(g, x), w)
    elif kind == 2:
        mask = stored(g, r.random(shape) < 0.5, TensorProto.BOOL)
        return g.add("Where", mask, x, g.number(0))
    else:
        c = g.add("Cast", stored(g, r.integers(0, 2, shape) if r.random() < 0.5 else r.uniform(-2, 2, shape) // 0.25 / 4, int(r.choice(some))),
                  to=TensorProto.FLOAT)
    return g.add(str(r.choice(["Add", "Mul"])), x, c)


def divide_by_sum(g, pool):
    x = away_from_zero(g, tame(g, pool.get()))
    axis = int(g.rng.integers(g[x].ndim))
    if g.opset < 13:
        raise Refused("axes")
    return g.add("Div", x, g.add("ReduceSum", x, g.ints(axis), keepdims=1))
