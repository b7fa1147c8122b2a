# What tests/logs/pytorch.log is the log of: a small residual network and a product of batches, once forward on oneDNN.
#   DNNL_VERBOSE=1 python3 pytorch_net.py > pytorch.log      (PyTorch 1.13.1 and oneDNN 2.6.3 of Debian 12)
import torch
import torch.nn as nn
from torch.utils import mkldnn


class Block(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, groups=groups)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.norm(self.first(x)))))


net = nn.Sequential(
    nn.Conv2d(3, 16, 7, stride=2, padding=3), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1),
    Block(16, 1), Block(16, 1), Block(16, 16),
    nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1)).eval()
head = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10)).eval()

with torch.no_grad():
    image = torch.randn(2, 3, 64, 64).to_mkldnn()
    features = mkldnn.to_mkldnn(net)(image)
    mkldnn.to_mkldnn(head)(features.to_dense().reshape(2, 32).to_mkldnn())
    sides = torch.randn(6, 12, 20).bfloat16(), torch.randn(6, 20, 8).bfloat16()
    torch.bmm(*sides)
