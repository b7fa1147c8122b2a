"""What PyTorch itself runs of a network: the shapes of its convolutions and products, as shapes.py writes them."""
import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import shapes

aten = torch.ops.aten
torch.backends.mha.set_fastpath_enabled(False)  # one operator for a whole layer, of which nothing is seen


class Recorder(TorchDispatchMode):
    """Notes the operators that multiply and add, on the level to which all others come down."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket
        if name in (aten.convolution, aten._convolution):
            self.convolution(args[0], args[1], out, args[6], args[8])
        elif name == aten.addmm:
            self.product(args[1], args[2])
        elif name in (aten.mm, aten.bmm):
            self.product(args[0], args[1])
        elif name == aten.baddbmm:
            self.product(args[1], args[2])
        elif name in (aten._scaled_dot_product_flash_attention_for_cpu, aten._scaled_dot_product_flash_attention):
            q, k, v = args[:3]
            batch = math.prod(q.shape[:-2])
            self.lines.append(shapes.matmul(batch, q.shape[-2], q.shape[-1], k.shape[-2]))
            self.lines.append(shapes.matmul(batch, q.shape[-2], k.shape[-2], v.shape[-1]))
        return out

    def convolution(self, x, w, out, transposed, groups):
        if transposed:
            line = shapes.transposed(x.shape[0], groups, x.shape[1], x.shape[2:], out.shape[1], w.shape[2:])
        else:
            line = shapes.conv(x.shape[0], groups, x.shape[1], x.shape[2:], out.shape[1], out.shape[2:], w.shape[2:])
        self.lines.append(line)

    def product(self, a, b):
        self.lines.append(shapes.matmul(math.prod(a.shape[:-2]), a.shape[-2], a.shape[-1], b.shape[-1]))


def of(network, *inputs):
    # oneDNN has one operator for a recurrent layer; without it, its products are seen.
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False), Recorder() as r:
        network(*inputs)
    return r.lines
