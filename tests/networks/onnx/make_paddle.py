#!/usr/bin/env python3
"""Writes networks of PaddlePaddle as paddle2onnx does, for make_onnxruntime.py to record.

pip install paddlepaddle==3.0.0 paddle2onnx==1.3.1 packaging; python3 tests/networks/onnx/make_paddle.py FOLDER
python3 tests/networks/onnx/make_onnxruntime.py FOLDER/*.onnx
"""
import sys

import paddle
from paddle.vision import models


class Encoder(paddle.nn.Layer):
    """Two blocks of a transformer over 12 words."""

    def __init__(self):
        super().__init__()
        self.words = paddle.nn.Embedding(100, 32)
        self.blocks = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(32, 4, 64), 2)
        self.last = paddle.nn.Linear(32, 5)

    def forward(self, x):
        return self.last(self.blocks(self.words(x)))


class Recurrent(paddle.nn.Layer):
    """An LSTM in both directions over 12 steps."""

    def __init__(self):
        super().__init__()
        self.steps = paddle.nn.LSTM(16, 24, direction='bidirect')
        self.last = paddle.nn.Linear(48, 5)

    def forward(self, x):
        return self.last(self.steps(x)[0])


NETWORKS = {
    'resnet18': (models.resnet18, [-1, 3, 224, 224], 'float32', 11),
    'mobilenet_v3_small': (models.mobilenet_v3_small, [-1, 3, 224, 224], 'float32', 13),
    'shufflenet_v2_x0_25': (models.shufflenet_v2_x0_25, [-1, 3, 224, 224], 'float32', 12),
    'encoder': (Encoder, [-1, 12], 'int64', 16),
    'recurrent': (Recurrent, [-1, 12, 16], 'float32', 14),
}


def main():
    for name, (make, shape, kind, opset) in NETWORKS.items():
        network = make()
        network.eval()
        spec = paddle.static.InputSpec(shape, kind, 'x')
        paddle.onnx.export(network, f'{sys.argv[1]}/{name}-paddle', input_spec=[spec], opset_version=opset)


main()
