"""Writes NAME.shapes: what a framework itself tells of the shapes of a network's convolutions and products.

A line stands for one operator, in any order; tests/networks.t compares it with what tl-extract finds:
    conv MB G IC IHxIW OC OHxOW KHxKW      sizes of the data and of the output without padding; 1-D: 1xIW; 3-D: IDxIHxIW
    matmul MxK:KxN                         or BxMxK:BxKxN
    TYPE conv .., TYPE matmul ..           the element types where they are not f32, as records have them: s8, f32:s8:f32
    # TEXT                                 an operator that is no workload, for whoever reads the file
The first line may be "#options OPTION...": what tl-extract is given for this network.
"""


def by(sizes):
    return 'x'.join(str(int(s)) for s in sizes)


def conv(mb, groups, ic, image, oc, out, kernel):
    """Channels and sizes without the layout; image, out and kernel are lists of the same length."""
    one = lambda s: [1, *s] if len(s) == 1 else list(s)
    return f'conv {mb} {groups} {ic} {by(one(image))} {oc} {by(one(out))} {by(one(kernel))}'


def matmul(batch, m, k, n):
    return f'matmul {m}x{k}:{k}x{n}' if batch == 1 else f'matmul {batch}x{m}x{k}:{batch}x{k}x{n}'


def prod(sizes):
    n = 1
    for s in sizes:
        n *= int(s)
    return n


def transposed(mb, groups, ic, image, oc, kernel):
    """The product in a transposed convolution: each position of the data by the weights of its group."""
    return matmul(groups, mb * prod(image), ic // groups, oc // groups * prod(kernel))


def deformable(mb, groups, ic, oc, out, kernel):
    """The product in a deformable convolution: each position of the output by the weights of its group."""
    return matmul(groups, mb * prod(out), ic // groups * prod(kernel), oc // groups)


def write(path, lines, options=''):
    with open(path, 'w') as out:
        if options:
            print('#options', options, file=out)
        for line in lines:
            print(line, file=out)
