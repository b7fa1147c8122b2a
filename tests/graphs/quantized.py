"""Random graphs as onnxruntime quantizes them: between QuantizeLinear and DequantizeLinear, by operators of their own, or dynamically."""
import logging
import os
import tempfile

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

from graph import session

# A result may lie between two steps, and the other one is as good; what follows is then a step off, too.
TOLERANCE = "--tolerance=0.02"


class Once(CalibrationDataReader):
    def __init__(self, feed):
        self.left = [feed]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantize(rng, source, result, feed):
    types = [QuantType.QUInt8, QuantType.QInt8]
    per_channel = bool(rng.random() < 0.6)
    if rng.random() < 0.2:
        quantize_dynamic(source, result, per_channel=per_channel, weight_type=types[rng.integers(2)])
        return
    quantize_static(source, result, Once(feed), per_channel=per_channel, activation_type=types[int(rng.random() < 0.3)], weight_type=QuantType.QInt8,
                    quant_format=QuantFormat.QOperator if rng.random() < 0.4 else QuantFormat.QDQ,
                    extra_options={"ActivationSymmetric": bool(rng.random() < 0.2)})


def quantized(seed, case):
    """The same for a quantized graph; None if onnxruntime cannot make or run it."""
    model, feed, _ = case
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "source.onnx"), os.path.join(folder, "result.onnx")
        onnx.save(model, source)
        try:
            quantize(np.random.default_rng(seed), source, result, feed)
            model = onnx.load(result)
            s = session(model)
            return model, feed, dict(zip([o.name for o in s.get_outputs()], s.run(None, feed)))
        except Exception:  # its own faults: types that an operator does not take, a graph that is none
            return None
