"""Makes a quantized model of an archive (tar) of share/models: bench/quantize.py TL-RUN ARCHIVE RESULT.onnx [QOPERATOR]

It is what onnxruntime.quantization.quantize_static makes: u8 activations and s8 weights with a scale for each channel, between QuantizeLinear
and DequantizeLinear, or with a fourth argument by operators of its own (QLinearConv, QLinearAdd, ..). Weights are tl-run's random ones, and
ranges come from two random inputs. It needs onnx and onnxruntime.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class Inputs(CalibrationDataReader):
    """The inputs that tl-run makes, and once more in another order."""

    def __init__(self, arrays):
        rng = np.random.default_rng(1)
        self.left = [arrays, {k: rng.permutation(v.ravel()).reshape(v.shape) for k, v in arrays.items()}]

    def get_next(self):
        return self.left.pop(0) if self.left else None


def with_weights(run, archive, folder):
    """The model with weights, as a file, and inputs."""
    names = subprocess.run(["tar", "-tf", archive], capture_output=True, text=True, check=True).stdout.split("\n")
    name = next(n for n in names if n.endswith(".onnx"))
    subprocess.run(["tar", "-xf", archive, "-C", folder, name], check=True)
    file = os.path.join(folder, name)
    weights, inputs = os.path.join(folder, "weights.npz"), os.path.join(folder, "inputs.npz")
    subprocess.run([run, "--random-weights=1", "-q", "--save-weights", weights, "--save-inputs", inputs, file], check=True)
    model, arrays = onnx.load(file), np.load(weights)
    for tensor in model.graph.initializer:
        if tensor.name in arrays.files:
            tensor.CopyFrom(numpy_helper.from_array(arrays[tensor.name].reshape(list(tensor.dims)), tensor.name))
    onnx.save(model, file)
    return file, {k: v.astype(np.float32) for k, v in np.load(inputs).items()}


def main():
    run, archive, result = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        file, inputs = with_weights(run, archive, folder)
        prepared = os.path.join(folder, "prepared.onnx")
        quant_pre_process(file, prepared, skip_symbolic_shape=True)
        quantize_static(prepared, result, Inputs(inputs), quant_format=QuantFormat.QOperator if len(sys.argv) > 4 else QuantFormat.QDQ,
                        per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


if __name__ == "__main__":
    main()
