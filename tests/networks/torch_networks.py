"""Networks of PyTorch and torchvision, of six families, with random weights; by name, with an example of their input."""
import torch
import torchvision
from torch import nn

import torch_attention

models = torchvision.models


class UNet(nn.Module):
    """Segmentation: down, up by transposed convolutions, joined."""

    def __init__(self):
        super().__init__()
        block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
                                           nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())
        self.down = nn.ModuleList([block(3, 16), block(16, 32), block(32, 64)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
        self.join = nn.ModuleList([block(64, 32), block(32, 16)])
        self.last = nn.Conv2d(16, 5, 1)

    def forward(self, x):
        a = self.down[0](x)
        b = self.down[1](nn.functional.max_pool2d(a, 2))
        c = self.down[2](nn.functional.max_pool2d(b, 2))
        b = self.join[0](torch.cat([self.up[0](c), b], 1))
        return self.last(self.join[1](torch.cat([self.up[1](b), a], 1)))


class Detector(nn.Module):
    """One-stage detection: a backbone, features of several sizes, heads that share their weights."""

    def __init__(self):
        super().__init__()
        r = models.resnet18()
        self.stem = nn.Sequential(r.conv1, r.bn1, r.relu, r.maxpool, r.layer1)
        self.body = nn.ModuleList([r.layer2, r.layer3, r.layer4])
        self.side = nn.ModuleList([nn.Conv2d(c, 64, 1) for c in (128, 256, 512)])
        self.head = nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.SiLU(), nn.Conv2d(64, 9 * 24, 3, padding=1))

    def forward(self, x):
        x, features = self.stem(x), []
        for layer in self.body:
            x = layer(x)
            features.append(x)
        top, out = None, []
        for side, x in reversed(list(zip(self.side, features))):
            x = side(x)
            top = x if top is None else x + nn.functional.interpolate(top, scale_factor=2.0)
            out.append(self.head(top).permute(0, 2, 3, 1).reshape(top.shape[0], -1, 24))
        return torch.cat(out, 1).sigmoid()


class Heads(nn.Module):
    """A detector of torchvision up to what its heads say; the rest sorts boxes."""

    def __init__(self, detector):
        super().__init__()
        self.backbone, self.head = detector.backbone, detector.head if hasattr(detector, 'head') else detector.rpn.head

    def forward(self, x):
        return self.head(list(self.backbone(x).values()))


class Encoder(nn.Module):
    """Words in, classes out: embeddings, layers of attention as torch.nn has them."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, activation='gelu', dropout=0)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classes = nn.Linear(64, 10)

    def forward(self, words):
        return self.classes(self.layers(self.words(words)).mean(1))


class Decoder(nn.Module):
    """Causal attention with fewer heads of keys than of queries, a gate, no biases: as large language models."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 96)
        self.q, self.kv = nn.Linear(96, 96, bias=False), nn.Linear(96, 64, bias=False)
        self.o = nn.Linear(96, 96, bias=False)
        self.gate, self.up, self.down = (nn.Linear(a, b, bias=False) for a, b in ((96, 256), (96, 256), (256, 96)))
        self.norm = nn.LayerNorm(96)

    def forward(self, words):
        x = self.words(words)
        b, s, _ = x.shape
        q = self.q(self.norm(x)).view(b, s, 6, 16).transpose(1, 2)
        k, v = (t.view(b, s, 2, 16).transpose(1, 2).repeat_interleave(3, 1) for t in self.kv(self.norm(x)).chunk(2, -1))
        x = x + self.o(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, 96))
        h = self.norm(x)
        x = x + self.down(nn.functional.silu(self.gate(h)) * self.up(h))
        return x @ self.words.weight.t()


class Speech(nn.Module):
    """Convolutions over time, then attention, then classes for each moment: as wav2vec and Whisper begin."""

    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(80, 96, 3, padding=1), nn.GELU(), nn.Conv1d(96, 96, 3, stride=2, padding=1), nn.GELU(),
                                   nn.Conv1d(96, 96, 9, padding=4, groups=96), nn.BatchNorm1d(96), nn.SiLU())
        self.layer = nn.TransformerEncoderLayer(96, 4, 192, batch_first=True, dropout=0)
        self.classes = nn.Linear(96, 29)

    def forward(self, x):
        return self.classes(self.layer(self.front(x).transpose(1, 2)))


class Recurrent(nn.Module):
    """Convolutions over a spectrogram, then an LSTM in both directions: as DeepSpeech."""

    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv2d(1, 16, (11, 5), stride=(2, 2), padding=(5, 2)), nn.BatchNorm2d(16), nn.Hardtanh(0, 20))
        self.lstm = nn.LSTM(16 * 40, 64, bidirectional=True, batch_first=True)
        self.classes = nn.Linear(128, 29)

    def forward(self, x):
        x = self.front(x).permute(0, 3, 1, 2).flatten(2)
        return self.classes(self.lstm(x)[0])


def heads(name):
    return lambda: Heads(getattr(models.detection, name)(weights=None, weights_backbone=None))


class Stacked(nn.Module):
    """Layers of a GRU and of an LSTM on each other, then steps of a cell: as encoders and decoders of translation."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 48)
        self.gru = nn.GRU(48, 64, num_layers=2, bidirectional=True)
        self.lstm = nn.LSTM(128, 40, num_layers=3, batch_first=True, bias=False)
        self.cell = nn.LSTMCell(40, 24)
        self.classes = nn.Linear(24, 11)

    def forward(self, words):
        x, _ = self.gru(self.words(words).transpose(0, 1))
        x, _ = self.lstm(x.transpose(0, 1))
        h = c = torch.zeros(words.shape[0], 24)
        for i in range(3):
            h, c = self.cell(x[:, i], (h, c))
        return self.classes(h)


image = lambda side=224: (torch.zeros(1, 3, side, side),)
video = lambda: (torch.zeros(1, 3, 8, 64, 64),)
words = lambda: (torch.zeros(1, 12, dtype=torch.long),)

NETWORKS = {
    **{name: (getattr(models, name), image) for name in (
        'resnet18', 'resnet50', 'resnext50_32x4d', 'densenet121', 'googlenet', 'vgg16', 'alexnet', 'squeezenet1_1', 'regnet_y_400mf',
        'convnext_tiny', 'mobilenet_v2', 'mobilenet_v3_small', 'efficientnet_b0', 'mnasnet1_0', 'shufflenet_v2_x1_0', 'vit_b_16',
        'swin_t', 'swin_v2_t')},
    'inception_v3': (models.inception_v3, lambda: image(299)),
    'maxvit_t': (models.maxvit_t, image),
    'deeplabv3_mobilenet_v3_large': (models.segmentation.deeplabv3_mobilenet_v3_large, image),
    'lraspp_mobilenet_v3_large': (models.segmentation.lraspp_mobilenet_v3_large, image),
    'fcn_resnet50': (models.segmentation.fcn_resnet50, image),
    'unet': (UNet, lambda: image(64)),
    'detector': (Detector, image),
    'ssdlite320': (heads('ssdlite320_mobilenet_v3_large'), lambda: image(320)),
    'ssd300_vgg16': (heads('ssd300_vgg16'), lambda: image(300)),
    'retinanet_fpn': (heads('retinanet_resnet50_fpn'), image),
    'fcos_fpn': (heads('fcos_resnet50_fpn'), image),
    'fasterrcnn_fpn': (heads('fasterrcnn_mobilenet_v3_large_fpn'), image),
    'r3d_18': (models.video.r3d_18, video),
    'mc3_18': (models.video.mc3_18, video),
    'r2plus1d_18': (models.video.r2plus1d_18, video),
    's3d': (models.video.s3d, lambda: (torch.zeros(1, 3, 16, 224, 224),)),
    'swin3d_t': (models.video.swin3d_t, video),
    'encoder': (Encoder, words),
    'decoder': (Decoder, words),
    'speech': (Speech, lambda: (torch.zeros(1, 80, 100),)),
    'recurrent': (Recurrent, lambda: (torch.zeros(1, 1, 80, 60),)),
    'stacked': (Stacked, words),
    **torch_attention.NETWORKS,
}


def make(name):
    torch.manual_seed(1)
    network, example = NETWORKS[name]
    keywords = {'weights': None} if network.__module__.startswith('torchvision') else {}
    if name in ('googlenet', 'inception_v3'):
        keywords.update(init_weights=False, aux_logits=True)
    if 'mobilenet_v3_large' in name and 'fpn' not in name or name == 'fcn_resnet50':
        keywords['weights_backbone'] = None
    return network(**keywords).eval(), example()
