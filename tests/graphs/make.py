"""Random graphs and random convolutions: each is a function of its seed."""
import numpy as np

import blocks
import moves
from graph import Graph, Refused, session

OPSETS = (11, 13, 13, 17, 18, 20, 21)
BLOCKS = [(blocks.unary, 3), (blocks.binary, 4), (blocks.residual, 2), (blocks.gated, 2), (blocks.turned_on_itself, 1), (blocks.chain, 1),
          (blocks.where, 1), (blocks.rounding, 1), (blocks.normalization, 2), (blocks.reduction, 2), (blocks.matmul, 2), (blocks.conv, 3),
          (blocks.pool_of, 1), (moves.transpose, 2), (moves.reshape, 2), (moves.slice_, 2), (moves.split, 1), (moves.concat, 3),
          (moves.pad, 1), (moves.gather, 1), (moves.expand, 1), (moves.image, 1), (moves.constant, 1), (moves.divide_by_sum, 1)]
TRIES = 60


def shape_of_input(r):
    kind = r.integers(4)
    if kind <= 1:
        return [int(r.choice([1, 1, 2])), int(r.integers(1, 18)), int(r.integers(1, 11)), int(r.integers(1, 11))]
    if kind == 2:
        return [int(r.choice([1, 2, 3])), int(r.integers(1, 14)), int(r.choice([1, 5, 8, 16, 17, 24]))]
    return [int(r.integers(1, 20)), int(r.choice([1, 7, 16, 31]))]


def fresh(r, shape):
    """Multiples of 1/64 apart from 0, so that no threshold is met by rounding alone."""
    return ((r.integers(-128, 128, shape) + 0.5) / 64).astype(np.float32)


def grow(g, pool, size):
    weights = np.array([w for _, w in BLOCKS], float)
    for _ in range(TRIES):
        if len(g.nodes) >= size:
            break
        before = len(g.nodes)
        try:
            made = BLOCKS[int(g.rng.choice(len(BLOCKS), p=weights / weights.sum()))][0](g, pool)
        except Refused:
            del g.nodes[before:]
            continue
        pool.put(*(made if isinstance(made, tuple) else (made,)))
        for node in g.nodes[before:]:  # what a block makes on its way is read elsewhere, too
            if g.rng.random() < 0.15:
                pool.put(*[o for o in node.output if o])


def random_graph(seed):
    r = np.random.default_rng([seed, 1])
    g = Graph(r, int(r.choice(OPSETS)))
    pool = blocks.Pool(g)
    for _ in range(int(r.choice([1, 1, 2]))):
        pool.put(g.input(fresh(r, shape_of_input(r))))
    grow(g, pool, int(r.integers(2, 11)))
    made = [n for n in dict.fromkeys(pool.names) if n not in g.inputs]
    if not made:
        return None
    read = {i for node in g.nodes for i in node.input}
    ends = [n for n in made if n not in read] or made[-1:]
    g.outputs = list(dict.fromkeys(ends[-3:] + [n for n in made if r.random() < 0.1][:2]))
    return g


def window(r, n):
    """Sizes and attributes of a convolution along n axes."""
    k = [int(v) for v in r.choice([1, 1, 2, 3, 3, 4, 5, 7], n)]
    if r.random() < 0.5:
        k = k[:1] * n
    strides = [int(v) for v in r.choice([1, 1, 1, 2, 3], n)]
    dilations = [int(v) for v in r.choice([1, 1, 1, 2, 3], n)]
    reach = [d * (s - 1) for d, s in zip(dilations, k)]
    at = {"kernel_shape": k, "strides": strides, "dilations": dilations}
    pads = [0] * 2 * n
    kind = r.integers(6)
    if kind == 0:
        at["auto_pad"] = str(r.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    elif kind <= 2:
        pads = at["pads"] = [v // 2 for v in reach] * 2
    elif kind <= 4:
        pads = at["pads"] = [int(r.integers(0, v + 2)) for v in reach * 2]
    size = [max(1, v + 1 - pads[i] - pads[i + n]) + int(r.choice([0, 1, 2, 3, 5, 8, 13])) for i, v in enumerate(reach)]
    return at, k, size


def post(g, pool, y):
    r = g.rng
    for _ in range(int(r.choice([0, 1, 1, 2, 3]))):
        c = g[y].shape[1]
        kind = r.integers(7)
        side = [1] * (g[y].ndim - 2)
        if kind == 0:
            y = g.add("Add", y, g.input(fresh(r, g[y].shape)))
        elif kind == 1:
            y = g.add("BatchNormalization", y, *blocks.norm_parameters(g, c), g.floats(c), g.floats(c, low=0.5, high=1.5))
        elif kind == 2:
            y = g.add(str(r.choice(["Add", "Mul", "Sub"])), y, g.floats(c, *side, low=0.5, high=1.5))
        elif kind == 3:
            s = blocks.activation(g, y, smooth=True)
            y = g.add("Mul", *((y, s) if r.random() < 0.5 else (s, y)))
        elif kind == 4:
            y = g.add("Add", y, blocks.activation(g, y))
        else:
            y = blocks.activation(g, y)
    return y


def random_convolution(seed):
    r = np.random.default_rng([seed, 2])
    g = Graph(r, int(r.choice(OPSETS)))
    pool = blocks.Pool(g)
    at, k, size = window(r, int(r.choice([1, 2, 2, 2])))
    group = int(r.choice([1, 1, 1, 2, 3, 5, 8]))
    each, out = int(r.choice([1, 1, 2, 3, 4, 7, 8, 16])), int(r.choice([1, 1, 2, 3, 5, 8, 16, 17]))
    if group > 2 and r.random() < 0.6:
        each, out = 1, int(r.choice([1, 1, 2]))
    x = g.input(fresh(r, [int(r.choice([1, 1, 2, 3])), each * group, *size]))
    try:
        if r.random() < 0.2:
            x = blocks.activation(g, x)
        y = g.add("Conv", x, g.floats(out * group, each, *k, low=-0.5, high=0.5), *([g.floats(out * group)] if r.random() < 0.6 else []),
                  group=group, **at)
        g.outputs = [y]
        g.outputs = [post(g, pool, y)]
    except Refused:
        if not g.outputs:
            return None
    if r.random() < 0.15 and y not in g.outputs:
        g.outputs.append(y)
    return g


def transposed_window(r, n):
    """Sizes and attributes of a transposed convolution along n axes: as networks have them, or any."""
    known = [(2, 2, 0, 0), (4, 2, 1, 0), (3, 2, 1, 1), (3, 1, 1, 0), (8, 4, 2, 0), (5, 2, 2, 1), (6, 3, 0, 0), (1, 1, 0, 0)]
    at = {}
    if r.random() < 0.4:
        k, s, p, o = (int(v) for v in known[int(r.integers(len(known)))])
        k, strides, at["pads"], at["output_padding"] = [k] * n, [s] * n, [p] * 2 * n, [o] * n
    else:
        k = [int(v) for v in r.choice([1, 2, 2, 3, 3, 4, 5, 6], n)]
        strides = [int(v) for v in (np.where(r.random(n) < 0.4, k, r.choice([1, 1, 2, 2, 3, 4], n)))]
        dilations = [int(v) for v in r.choice([1, 1, 1, 2, 3], n)]
        kind = r.integers(6)
        if kind == 0:
            at["auto_pad"] = str(r.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        elif kind <= 3:
            at["pads"] = [int(r.integers(0, d * (v - 1) + 2)) for d, v in zip(dilations * 2, k * 2)]
        if r.random() < 0.3:
            at["output_padding"] = [int(r.integers(0, max(s, d))) for s, d in zip(strides, dilations)]
        if max(dilations) > 1:
            at["dilations"] = dilations
    size = [int(r.choice([1, 2, 3, 4, 5, 7, 8])) for _ in range(n)]
    if "output_padding" not in at and r.random() < 0.2:
        at["output_shape"] = [s * (x - 1) + v + int(r.integers(-2, 2)) for s, x, v in zip(strides, size, k)]
        at.pop("pads", None)
    return {"kernel_shape": k, "strides": strides, **at}, k, size


def random_transposed(seed):
    r = np.random.default_rng([seed, 3])
    g = Graph(r, int(r.choice(OPSETS)))
    pool = blocks.Pool(g)
    at, k, size = transposed_window(r, int(r.choice([1, 2, 2, 2, 2, 3])))
    group = int(r.choice([1, 1, 1, 1, 2, 3, 5]))
    each, out = int(r.choice([1, 2, 3, 4, 8, 16])), int(r.choice([1, 1, 2, 3, 5, 8, 16, 17]))
    if group > 2 and r.random() < 0.6:
        each, out = 1, 1
    x = g.input(fresh(r, [int(r.choice([1, 1, 2, 3])), each * group, *size]))
    try:
        if r.random() < 0.3:
            x = blocks.activation(g, x)
        weights = g.floats(each * group, out, *k, low=-0.5, high=0.5)
        if r.random() < 0.1:
            weights = g.add("Mul", weights, g.input(fresh(r, [1])))
        y = g.add("ConvTranspose", x, weights, *([g.floats(out * group)] if r.random() < 0.6 else []), group=group, **at)
        g.outputs = [y]
        y = post(g, pool, y)
        if r.random() < 0.3:
            y = g.add("Concat", *r.permutation([y, g.input(fresh(r, g[y].shape))]), axis=1)
        g.outputs = [y]
    except Refused:
        if not g.outputs:
            return None
    return g


def answers(g, optimized, exact=False):
    """Model, inputs, what onnxruntime says; None: that depends on rounding, so that nobody is right. exact: nothing is rounded."""
    model = g.model()
    feed = g.feed(model)
    if not feed:
        return None
    right = session(model, optimized).run(g.outputs, feed)
    if exact:
        return model, feed, dict(zip(g.outputs, right))
    r = np.random.default_rng(1)
    near = {k: (v * (1 + r.uniform(-4e-7, 4e-7, v.shape))).astype(v.dtype) if v.dtype == np.float32 else v for k, v in feed.items()}
    moved = session(model).run(g.outputs, near)
    for a, b in zip(right, moved):
        if not np.isfinite(a).all() or np.abs(a - b).max() > 2e-5 * max(np.abs(a).max(), 1e-30):
            return None
    return model, feed, dict(zip(g.outputs, right))
