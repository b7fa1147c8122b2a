"""What random graphs are made of. Each block reads values of a graph and adds nodes; its result is a value, or several."""
import numpy as np
from onnx import TensorProto

from graph import Refused

F = np.float32


class Pool:
    """The values of a graph that blocks may read: floats that are no constants."""

    def __init__(self, g):
        self.g, self.rng, self.names = g, g.rng, []

    def put(self, *names):
        self.names += [n for n in names if self.g[n].dtype == F and self.g[n].ndim > 0]

    def get(self, fits=lambda a: True):
        names = [n for n in self.names if fits(self.g[n])]
        if not names:
            raise Refused("no value fits")
        late = names[-4:]
        return str(self.rng.choice(late if self.rng.random() < 0.7 else names))


def tame(g, x, most=8.0):
    """x, or what is small."""
    top = float(np.abs(g[x]).max())
    return x if top <= most else g.add("Mul", x, g.number(most / 2 / top))


def away_from_zero(g, x):
    return g.add("Add", g.add("Abs", x), g.number(g.rng.uniform(0.5, 1.5)))


def activation(g, x, smooth=False):
    r, x = g.rng, tame(g, x)
    some = ["Sigmoid", "Tanh", "Erf", "Softsign", "Softplus", "HardSwish", "Mish", "Gelu"]
    kind = r.choice(some if smooth else some + ["Relu", "LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "Clip", "PRelu"])
    if kind == "Gelu":
        if g.opset >= 20 and r.random() < 0.5:
            return g.add("Gelu", x, approximate=str(r.choice(["none", "tanh"])))
        half = g.add("Mul", x, g.number(0.5))
        inner = g.add("Erf", g.add("Div", x, g.number(2 ** 0.5)))
        return g.add("Mul", half, g.add("Add", inner, g.number(1)))
    if kind in ("LeakyRelu", "Elu", "Celu"):
        return g.add(kind, x, alpha=float(r.uniform(0.05, 1.5)))
    if kind == "Selu":
        return g.add(kind, x, gamma=float(r.uniform(0.8, 1.2)))
    if kind == "Clip":
        return g.add(kind, x, g.number(-0.5) if r.random() < 0.8 else "", g.number(r.uniform(0.2, 6)))
    if kind == "PRelu":
        shape = [d if r.random() < 0.5 else 1 for d in g[x].shape]
        return g.add(kind, x, g.floats(*shape, low=0, high=0.5))
    if kind == "HardSigmoid" and r.random() < 0.5:
        return g.add(kind, x, alpha=float(r.uniform(0.1, 0.5)), beta=float(r.uniform(0.2, 0.8)))
    return g.add(kind, x)


def unary(g, pool):
    r, x = g.rng, pool.get()
    kind = r.choice(["Neg", "Abs", "Exp", "Sqrt", "Reciprocal", "Log", "Sin", "Cos", "Pow", "Identity", "Dropout", "Act", "Act", "Act"])
    if kind == "Act":
        return activation(g, x)
    if kind in ("Exp", "Sin", "Cos"):
        return g.add(kind, tame(g, x, 3.0))
    if kind in ("Sqrt", "Reciprocal", "Log"):
        return g.add(kind, away_from_zero(g, x))
    if kind == "Pow":
        power = r.choice([2, 3, 0.5, -1, -0.5, 1, 1.7])
        return g.add(kind, away_from_zero(g, tame(g, x, 4.0)), g.number(power))
    return g.add(kind, x)


def broadcast_constant(g, shape, **k):
    """Of a shape that can be repeated to this one: a number, a row, channels, one of all elements, with fewer dimensions."""
    r = g.rng
    kind = r.integers(5)
    if kind == 0:
        return g.floats(**k) if r.random() < 0.5 else g.floats(1, **k)
    dims = [d if kind == 1 or r.random() < 0.5 else 1 for d in shape]
    if kind == 2:
        dims = [d if i == 1 else 1 for i, d in enumerate(shape)]
    if kind == 3:
        dims = dims[int(r.integers(len(dims))):]
    return g.floats(*dims, **k)


def can_meet(a, b):
    return all(x == y or 1 in (x, y) for x, y in zip(a[::-1], b[::-1]))


def second(g, pool, x, **k):
    """An operand that goes with x."""
    r, shape = g.rng, g[x].shape
    if r.random() < 0.35:
        return broadcast_constant(g, shape, **k)
    return pool.get(lambda a: can_meet(a.shape, shape))


def binary(g, pool):
    r, x = g.rng, pool.get()
    y = second(g, pool, x)
    kind = r.choice(["Add", "Add", "Sub", "Mul", "Mul", "Div", "Max", "Min", "Pow"])
    if kind == "Div":
        y = away_from_zero(g, y)
    if kind == "Mul":
        x, y = tame(g, x, 20.0), tame(g, y, 20.0)
    if kind == "Pow":
        x, y = away_from_zero(g, tame(g, x, 4.0)), tame(g, y, 2.0)
    if r.random() < 0.3 and kind != "Div" and kind != "Pow":
        x, y = y, x
    if kind in ("Max", "Min") and r.random() < 0.3:
        return g.add(kind, x, y, second(g, pool, x))
    return g.add(kind, x, y)


def residual(g, pool):
    """x + f(x), in both orders."""
    x = pool.get()
    y = activation(g, x)
    if g.rng.random() < 0.5 and g[x].ndim == 4:
        y = conv(g, pool, y, keeps=True)
    pair = (x, y) if g.rng.random() < 0.5 else (y, x)
    return g.add(str(g.rng.choice(["Add", "Mul", "Sub"])), *pair)


def gated(g, pool):
    r, x = g.rng, tame(g, pool.get(), 20.0)
    s = activation(g, x, smooth=True)
    kind = r.integers(4)
    if kind == 0:
        return g.add("Mul", x, s)
    if kind == 1:
        return g.add("Add", g.add("Mul", x, s), s)
    if kind == 2:
        return g.add("Mul", activation(g, x), s)
    return g.add("Add", g.add("Mul", s, x), g.add("Mul", g.add("Sub", g.number(1), s), second(g, pool, x)))


def turned_on_itself(g, pool):
    """a + a^T, a - a[first], a * a.sum(): an operand in several shapes."""
    r = g.rng
    kind = r.integers(3)
    if kind == 0:
        x = pool.get(lambda a: a.ndim >= 2 and a.shape[-1] == a.shape[-2])
        perm = list(range(g[x].ndim))
        perm[-1], perm[-2] = perm[-2], perm[-1]
        y = g.add("Transpose", x, perm=perm)
    elif kind == 1:
        x = pool.get()
        axis = int(r.integers(g[x].ndim))
        y = g.add("Slice", x, g.ints(0), g.ints(1), g.ints(axis))
    else:
        x = tame(g, pool.get())
        y = g.add("ReduceMean", x, keepdims=1)
    pair = (x, y) if r.random() < 0.5 else (y, x)
    return g.add(str(r.choice(["Add", "Sub", "Max"])), *pair)


def chain(g, pool):
    """Many terms, or many constants after each other."""
    r, x = g.rng, pool.get()
    if r.random() < 0.5:
        total = x
        for _ in range(int(r.integers(3, 9))):
            total = g.add(str(r.choice(["Add", "Sub", "Max"])), total, second(g, pool, total))
        return total
    shape = g[x].shape
    for _ in range(int(r.integers(3, 8))):
        x = g.add(str(r.choice(["Add", "Mul", "Sub"])), x, broadcast_constant(g, shape, low=0.5, high=1.5))
    return x


def where(g, pool):
    """Conditions depend on inputs alone, so that rounding cannot turn them."""
    r, x = g.rng, pool.get()
    shape = g[x].shape
    if r.random() < 0.5:
        mask = g.const(r.random(shape[int(r.integers(len(shape))):]) < 0.5)
    else:
        i = str(r.choice(g.inputs))
        if not can_meet(g[i].shape, shape):
            raise Refused("no condition fits")
        mask = g.add(str(r.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual"])), i, g.number(r.uniform(-0.5, 0.5)))
        if r.random() < 0.3:
            mask = g.add("Not", mask)
    return g.add("Where", mask, x, second(g, pool, x)) if r.random() < 0.5 else g.add("Where", mask, second(g, pool, x), x)


def rounding(g, pool):
    """Of inputs alone, for the same reason."""
    r, x = g.rng, str(g.rng.choice(g.inputs))
    kind = r.choice(["Floor", "Ceil", "Round", "Sign", "Cast", "ArgMax", "ArgMin", "ThresholdedRelu"])
    if kind in ("ArgMax", "ArgMin"):
        axis = int(r.integers(g[x].ndim))
        return g.add("Cast", g.add(kind, x, axis=axis, keepdims=int(r.integers(2))), to=TensorProto.FLOAT)
    if kind == "Sign" or kind == "ThresholdedRelu":
        return g.add(kind, x)
    y = g.add("Mul", x, g.number(3.3))
    if kind == "Cast":
        to = int(r.choice([TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL]))
        return g.add("Cast", g.add("Cast", y, to=to), to=TensorProto.FLOAT)
    return g.add(kind, y)


def norm_parameters(g, c):
    return g.floats(c, low=0.5, high=1.5), g.floats(c)


def normalization(g, pool):
    r, x = g.rng, pool.get(lambda a: a.ndim >= 2)
    a = g[x]
    kind = r.integers(5)
    if kind == 0:
        mean, var = g.floats(a.shape[1]), g.floats(a.shape[1], low=0.5, high=1.5)
        return g.add("BatchNormalization", x, *norm_parameters(g, a.shape[1]), mean, var, epsilon=1e-3)
    if kind == 1 and g.opset >= 17:
        axis = int(r.integers(1, a.ndim))
        shape = a.shape[axis:]
        y = g.add("LayerNormalization", x, g.floats(*shape, low=0.5, high=1.5), *([g.floats(*shape)] if r.random() < 0.7 else []),
                  axis=axis - (a.ndim if r.random() < 0.5 else 0), epsilon=1e-2)
    elif kind == 2 and a.ndim >= 3:
        y = g.add("InstanceNormalization", x, *norm_parameters(g, a.shape[1]), epsilon=1e-2)
    elif kind == 3 and g.opset >= 21 and a.ndim >= 3:
        groups = int(r.choice([n for n in range(1, a.shape[1] + 1) if a.shape[1] % n == 0]))
        y = g.add("GroupNormalization", x, *norm_parameters(g, a.shape[1]), num_groups=groups, epsilon=1e-2)
    else:  # layer normalization as PyTorch wrote it out
        mean = reduce(g, "ReduceMean", x, [-1], 1)
        d = g.add("Sub", x, mean)
        square = g.add("Pow", d, g.number(2)) if r.random() < 0.5 else g.add("Mul", d, d)
        sd = g.add("Sqrt", g.add("Add", reduce(g, "ReduceMean", square, [-1], 1), g.number(1e-2)))
        y = g.add("Add", g.add("Mul", g.add("Div", d, sd), g.floats(a.shape[-1])), g.floats(a.shape[-1]))
    return y


def reduce(g, kind, x, axes, keep):
    if axes is None:
        return g.add(kind, x, keepdims=keep)
    if g.opset >= 18 or (kind == "ReduceSum" and g.opset >= 13):
        return g.add(kind, x, g.ints(*axes), keepdims=keep)
    return g.add(kind, x, axes=axes, keepdims=keep)


def reduction(g, pool):
    r, x = g.rng, tame(g, pool.get(), 20.0)
    rank = g[x].ndim
    kind = str(r.choice(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare", "Softmax", "Softmax", "LogSoftmax"]))
    if kind.endswith("Softmax"):
        return g.add(kind, x, axis=int(r.integers(-rank, rank)))
    axes = sorted(int(i) for i in r.choice(rank, int(r.integers(1, rank + 1)), replace=False))
    if r.random() < 0.3:
        axes = [i - rank for i in axes]
    return reduce(g, kind, x, axes if r.random() < 0.9 else None, int(r.random() < 0.7))


def matmul(g, pool):
    r, x = g.rng, tame(g, pool.get(lambda a: a.ndim >= 2))
    a = g[x]
    k, n = a.shape[-1], int(r.integers(1, 20))
    kind = r.integers(6)
    if kind <= 1:
        y = g.add("MatMul", x, g.floats(k, n))
    elif kind == 2 and a.ndim == 2:
        m, k = a.shape
        trans_a, trans_b = int(r.integers(2)), int(r.integers(2))
        m, k = (k, m) if trans_a else (m, k)
        c = [g.floats(n), g.floats(1, n), g.floats(m, n), g.floats(m, 1), g.floats()][int(r.integers(5))]
        y = g.add("Gemm", x, g.floats(*((n, k) if trans_b else (k, n))), *([c] if r.random() < 0.8 else []),
                  alpha=float(r.choice([1, 0.5, -2])), beta=float(r.choice([1, 0.3])), transA=trans_a, transB=trans_b)
    elif kind == 3:
        y = g.add("MatMul", g.floats(*a.shape[:-2], n, a.shape[-2]), x)
    elif kind == 4:
        perm = list(range(a.ndim))
        perm[-1], perm[-2] = perm[-2], perm[-1]
        y = g.add("MatMul", x, g.add("Transpose", tame(g, x), perm=perm))
    else:
        y = g.add("MatMul", x, tame(g, pool.get(lambda b: b.ndim >= 2 and b.shape[-2] == k)))
    if r.random() < 0.5 and kind != 2:
        y = g.add("Add", y, g.floats(g[y].shape[-1]))
    return tame(g, y, 20.0)


def conv(g, pool, x=None, keeps=False):
    r = g.rng
    x = tame(g, x or pool.get(lambda a: a.ndim == 4))
    n, c, h, w = g[x].shape
    k = int(r.choice([1, 1, 3, 3, 2, 5]))
    if keeps:
        k = int(r.choice([1, 3]))
        return g.add("Conv", x, g.floats(c, c, k, k, low=-0.5, high=0.5), g.floats(c), kernel_shape=[k, k], pads=[k // 2] * 4)
    group = int(r.choice([1, 1, 1, c] + ([2] if c % 2 == 0 else [])))
    out = c * int(r.integers(1, 3)) if group == c else group * int(r.integers(1, 9))
    pads = [int(v) for v in r.integers(0, k // 2 + 1, 4)]
    y = g.add("Conv", x, g.floats(out, c // group, k, k, low=-0.5, high=0.5), *([g.floats(out)] if r.random() < 0.7 else []),
              kernel_shape=[k, k], group=group, pads=pads, strides=[int(v) for v in r.choice([1, 1, 2], 2)])
    if r.random() < 0.3:
        y = g.add("BatchNormalization", y, *norm_parameters(g, out), g.floats(out), g.floats(out, low=0.5, high=1.5), epsilon=1e-3)
    return activation(g, y) if r.random() < 0.4 else y


def pool_of(g, pool):
    r, x = g.rng, pool.get(lambda a: a.ndim in (3, 4))
    space = g[x].ndim - 2
    kind = str(r.choice(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"]))
    if kind.startswith("Global"):
        return g.add(kind, x)
    k = [int(v) for v in r.integers(1, 4, space)]
    more = {"pads": [int(r.integers(0, v)) for v in k + k], "strides": [int(v) for v in r.integers(1, 3, space)],
            "ceil_mode": int(r.random() < 0.3)}
    if kind == "AveragePool":
        more["count_include_pad"] = int(r.integers(2))
    return g.add(kind, x, kernel_shape=k, **more)
