"""Weights of few bits whose groups have scales, and onnxruntime's own operators on whole numbers, with what may read them. Scales are
odd, so that hardly a result lies between two steps. QLinearSoftmax is left out: onnxruntime cuts off what 0.5 to 0.7 of a step are too much."""
import numpy as np

import blocks
from graph import Graph, Refused

F = np.float32
DOMAIN = "com.microsoft"
HALVES = {"int4": -8, "uint4": 0}


def one_of(g, *values):
    return g.rng.choice(values)


def product_of_bits(g, x):
    """MatMulNBits."""
    r, k, n = g.rng, g[x].shape[-1], int(one_of(g, 1, 3, 8, 16, 17, 33))
    bits, block = int(one_of(g, 4, 4, 4, 8, 2)), int(one_of(g, 16, 32, 64, 128))
    groups = -(-k // block)
    rest = [g.const(r.integers(0, 256, (n, groups, block * bits // 8)).astype(np.uint8)), g.floats(n, groups, low=-0.1, high=0.1)]
    zeros = int(r.integers(3))
    if zeros == 1:
        rest.append(g.const(r.integers(0, 256, (n, -(-groups * bits // 8))).astype(np.uint8)))
    elif zeros == 2:
        rest.append(g.floats(n, groups, low=0, high=2 ** bits - 1))
    if r.random() < 0.4:
        rest += [""] * (5 - 1 - len(rest)) + [g.floats(n)]
    return g.add("MatMulNBits", x, *rest, domain=DOMAIN, K=k, N=n, bits=bits, block_size=block)


def by_blocks(g, shape, axis):
    """A constant whose blocks along an axis have scales."""
    r, block = g.rng, int(one_of(g, 16, 32, 64))
    scales = [-(-d // block) if i == axis else d for i, d in enumerate(shape)]
    kind = str(one_of(g, "int4", "uint4", "int8", "uint8"))
    some = (lambda dims: g.halves(kind, r.integers(HALVES[kind], HALVES[kind] + 16, dims))) if kind in HALVES else (
        lambda dims: g.const(r.integers(0, 100, dims).astype(kind)))
    zero = [some(scales)] if r.random() < 0.6 else []
    return g.add("DequantizeLinear", some(shape), g.floats(*scales, low=-0.1, high=0.1), *zero, axis=axis - (len(shape) if r.random() < 0.3 else 0),
                 block_size=block)


def product_by_blocks(g, x):
    k, n = g[x].shape[-1], int(one_of(g, 1, 3, 8, 16, 17, 33))
    kind = g.rng.integers(3)
    if kind == 0 and g[x].ndim == 2:
        return g.add("Gemm", x, by_blocks(g, [n, k], 1), *([g.floats(n)] if g.rng.random() < 0.5 else []), transB=1)
    if kind == 1:
        return g.add(str(one_of(g, "Add", "Mul")), x, by_blocks(g, list(g[x].shape), int(g.rng.integers(g[x].ndim))))
    return g.add("MatMul", x, by_blocks(g, [k, n], int(g.rng.integers(2))))


def reals(g):
    r = g.rng
    x = blocks.tame(g, g.input((r.integers(-128, 128, [int(d) for d in r.choice([1, 2, 3, 5], int(r.integers(1, 3)))] + [int(r.integers(1, 150))])
                                + 0.5).astype(F) / 64))
    y = (product_of_bits if r.random() < 0.6 else product_by_blocks)(g, x)
    for _ in range(int(r.integers(3))):
        y = blocks.activation(g, y) if r.random() < 0.6 else g.add("Add", y, g.floats(g[y].shape[-1]))
    return y


# ---- whole numbers ----

def whole(g, dims, kind):
    """A value, its scale and its zero point."""
    info = np.iinfo(kind)
    return [g.input(g.rng.integers(info.min, info.max, dims, endpoint=True).astype(kind)), *unit(g, kind, g.rng.uniform(0.01, 0.1))]


def unit(g, kind, scale):
    info = np.iinfo(kind)
    return [g.const(F(scale)), g.const(np.array(g.rng.integers(info.min, info.max, endpoint=True), kind))]


def dims_of(r, least=1, most=5):
    return [int(d) for d in r.choice([1, 2, 3, 4, 5, 7, 8], int(r.integers(least, most + 1)))]


def linear(g, kind):
    r, name = g.rng, str(one_of(g, "QLinearAdd", "QLinearMul", "QLinearConcat", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearGlobalAveragePool",
                                  "QLinearWhere", "QGemm", "QGemm"))
    dims = dims_of(r)
    x = whole(g, dims, kind)
    some = [d if r.random() < 0.7 else 1 for d in dims]
    if name in ("QLinearAdd", "QLinearMul"):
        size = g[x[1]] * 40 if name == "QLinearMul" else 1
        return g.add(name, *x, *whole(g, some, kind), *unit(g, kind, size * r.uniform(0.02, 0.2)), domain=DOMAIN)
    if name == "QLinearConcat":
        axis = int(r.integers(len(dims)))
        return g.add(name, *unit(g, kind, 0.0713), *x, *whole(g, dims, kind), domain=DOMAIN, axis=axis)
    if name == "QLinearLeakyRelu":
        return g.add(name, *x, *unit(g, kind, 0.0713), domain=DOMAIN, alpha=0.117)
    if name == "QLinearSigmoid":
        return g.add(name, *x, *unit(g, kind, 0.00713), domain=DOMAIN)
    if name == "QLinearWhere":
        return g.add(name, g.input(r.random(some) < 0.5), *x, *whole(g, some, kind), *unit(g, kind, 0.0713), domain=DOMAIN)
    if name == "QLinearGlobalAveragePool":
        x = whole(g, [2, 5, *dims_of(r, 2, 2)], kind)
        return g.add(name, *x, *unit(g, kind, 0.0713), domain=DOMAIN, channels_last=0)
    m, k, n = (int(v) for v in r.choice([1, 3, 8, 16, 17, 40], 3))
    ta, tb, weights = int(r.integers(2)), int(r.integers(2)), str(one_of(g, "int8", kind))
    b = whole(g, [n, k] if tb else [k, n], weights)
    if r.random() < 0.6:
        b[0] = g.const(g[b[0]])
    c = [g.const(r.integers(-2000, 2000, n).astype(np.int32))] if r.random() < 0.5 else [""]
    result = unit(g, kind, r.uniform(0.02, 0.2)) if r.random() < 0.8 else []
    return g.add(name, *whole(g, [k, m] if ta else [m, k], kind), *b, *c, *result, domain=DOMAIN, transA=ta, transB=tb, alpha=float(r.choice([1, 0.7])))


# ---- fused ----

def some(g, *dims):
    return g.input(((g.rng.integers(-128, 128, dims) + 0.5) / 64).astype(F))


def fused_product(g):
    r = g.rng
    m, k, n = (int(v) for v in r.choice([1, 3, 8, 17], 3))
    batch, ta, tb = dims_of(r, 1, 2) if r.random() < 0.5 else [], int(r.integers(2)), int(r.integers(2))
    left, right = batch + ([k, m] if ta else [m, k]), (batch if r.random() < 0.5 else []) + ([n, k] if tb else [k, n])
    if batch and r.random() < 0.4:
        split = {"transBatchA": 1} if len(right) < len(left) else {"transBatchA": int(r.integers(2)), "transBatchB": 1}
        left = [left[-2], *batch, left[-1]] if split["transBatchA"] else left
        right = [right[-2], *batch, right[-1]] if "transBatchB" in split else right
        return g.add("FusedMatMul", some(g, *left), some(g, *right), domain=DOMAIN, transA=ta, transB=tb, **split)
    return g.add("FusedMatMul", some(g, *left), some(g, *right) if r.random() < 0.5 else g.floats(*right), domain=DOMAIN, transA=ta, transB=tb,
                 alpha=float(one_of(g, 1, 0.25)))


def activation_of(g, conv):
    kind = str(one_of(g, "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Clip"))
    params = {"LeakyRelu": [0.2], "HardSigmoid": [0.3, 0.4], "Clip": [-0.5, 0.75]}.get(kind, [])
    if conv:
        return {"activation": kind, **({"activation_params": params} if params else {})}
    return {"activation": kind if kind != "Clip" else "Relu", **{f"activation_{n}": v for n, v in zip(("alpha", "beta"), params) if kind != "Clip"}}


def fused_conv(g):
    r = g.rng
    c, o = (int(v) for v in r.choice([1, 3, 8], 2))
    x, w, more = some(g, 1, c, 7, 6), g.floats(o, c, 3, 3, low=-0.5, high=0.5), {"pads": [1, 1, 1, 1]}
    z = [some(g, *g[g.add("Conv", x, w, **more)].shape)] if r.random() < 0.5 else []
    return g.add("FusedConv", x, w, g.floats(o), *z, domain=DOMAIN, **more, **activation_of(g, True))


def fused_gemm(g):
    r = g.rng
    m, k, n = (int(v) for v in r.choice([1, 3, 8, 17], 3))
    return g.add("FusedGemm", some(g, m, k), g.floats(n, k), *([g.floats(n)] if r.random() < 0.5 else []), domain=DOMAIN, transB=1,
                 alpha=float(one_of(g, 1, 0.5)), **activation_of(g, False))


def fused_rows(g):
    r, dims = g.rng, [int(one_of(g, 1, 2)), int(one_of(g, 1, 3, 5)), int(one_of(g, 4, 8, 17))]
    x, size = some(g, *dims), dims[-1]
    kind = str(one_of(g, "Gelu", "QuickGelu", "FastGelu", "BiasGelu", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"))
    if kind in ("Gelu", "QuickGelu"):
        return g.add(kind, x, domain=DOMAIN, **({"alpha": 1.3} if kind == "QuickGelu" and r.random() < 0.5 else {}))
    if kind in ("FastGelu", "BiasGelu"):
        return g.add(kind, x, *([g.floats(size)] if kind == "BiasGelu" or r.random() < 0.5 else []), domain=DOMAIN)
    skip, scale = some(g, *dims), g.floats(size, low=0.5, high=1.5)
    rest = [g.floats(size) if r.random() < 0.5 else ""] if kind == "SkipLayerNormalization" else []
    rest += [g.floats(size)] if r.random() < 0.5 else []
    names = g.add(kind, x, skip, scale, *rest, domain=DOMAIN, n=4, **({"epsilon": 0.01} if r.random() < 0.5 else {}))
    return g.add("Add", names[0], names[3]) if r.random() < 0.5 else names[0]


def random_microsoft(seed):
    r = np.random.default_rng([seed, 4])
    for _ in range(20):
        g = Graph(r, 21)
        try:
            kind = r.random()
            if kind < 0.3:
                g.outputs = [(fused_product, fused_conv, fused_gemm, fused_rows, fused_rows)[int(r.integers(5))](g)]
            else:
                g.outputs = [reals(g) if kind < 0.7 else linear(g, str(r.choice(["uint8", "int8"])))]
            return g
        except Refused:
            continue
    return None
