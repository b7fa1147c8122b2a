#!/usr/bin/env python3
"""Makes tests/onnx-rules.tar.zst: the test models of the ONNX specification, a node or a few each, for shape rules.

pip install onnx==1.23.2; python3 tests/onnx-rules.py

An output is called NAME:SHAPE, where SHAPE (2x3, or "a scalar") is that of the result in the specification's own
tests. Integers, booleans and small lists of floats among the inputs are initializers, because shapes may follow from
them; other inputs have only a shape. No output declares one. NAME_8.onnx is the same in operator set 8, where that has
another form of it.
"""
import io
import os
import subprocess
import tarfile

import numpy as np
import onnx
from onnx import helper, numpy_helper, version_converter
from onnx.backend.test.case.node import collect_testcases

OLD = (20, 17, 13, 12, 11, 10, 9, 8, 7)
FEW = 16  # floats that may decide a shape
LEAVE_OUT = (
    'string', 'image_decoder',  # no tensors of numbers
    'nonmaxsuppression', 'unique', 'sequence_map',  # shapes that depend on data
    'adagrad', 'adam', 'momentum', 'nesterov', 'flexattention', 'ai_onnx_ml',  # of other domains
)


def text(shape):
    return 'x'.join(map(str, shape)) if shape else 'a scalar'


def renamed(graph, names):
    """New names for values, in subgraphs too."""
    for node in graph.node:
        for names_of in (node.input, node.output):
            for i, name in enumerate(names_of):
                names_of[i] = names.get(name, name)
        for attribute in node.attribute:
            if attribute.HasField('g'):
                renamed(attribute.g, names)


def recorded(original, data):
    """The model as it is recorded, or None: it has no tensors."""
    model = onnx.ModelProto()
    model.CopyFrom(original)
    graph = model.graph
    inputs, outputs = data
    if not all(isinstance(a, np.ndarray) for a in [*inputs, *outputs]):
        return None
    if any(a.dtype == object for a in [*inputs, *outputs]):
        return None
    infos = list(graph.input)
    del graph.input[:], graph.value_info[:]
    for info, array in zip(infos, inputs):
        if np.issubdtype(array.dtype, np.integer) or array.dtype == bool or array.size <= FEW:
            graph.initializer.append(numpy_helper.from_array(array, info.name))
        else:
            graph.input.append(helper.make_tensor_value_info(info.name, info.type.tensor_type.elem_type, array.shape))
    names = {}
    for info, array in zip(graph.output, outputs):
        names[info.name] = f'{info.name}:{text(np.shape(array))}'
    renamed(graph, names)
    kinds = [info.type.tensor_type.elem_type for info in graph.output]
    del graph.output[:]
    graph.output.extend(helper.make_tensor_value_info(name, kind, None) for name, kind in zip(names.values(), kinds))
    for node in graph.node:
        node.doc_string = ''
    graph.doc_string = model.doc_string = ''
    return model


def old_forms(case):
    """The model in each older operator set, as long as there is a way back."""
    model = case.model
    for version in OLD:
        if model.opset_import[0].domain or version >= model.opset_import[0].version or 'scan9' in case.name:
            continue
        try:
            model = version_converter.convert_version(model, version)
        except Exception:  # it began with a later operator set
            return
        yield version, model


def forms(case):
    """Names and models, each form once."""
    seen = set()
    for name, model in [('', case.model), *((f'_{v}', m) for v, m in old_forms(case))]:
        model = recorded(model, case.data_sets[0])
        graph = model and model.graph.SerializeToString()
        if model and graph not in seen:
            seen.add(graph)
            yield case.name.removeprefix('test_') + name, model.SerializeToString()


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'onnx-rules.tar')
    with tarfile.open(path, 'w') as tar:
        for case in sorted(collect_testcases(None), key=lambda c: c.name):
            if case.kind != 'node' or not case.model or not case.data_sets or any(s in case.name for s in LEAVE_OUT):
                continue
            for name, data in forms(case):
                if len(data) < 40000:
                    member = tarfile.TarInfo(f'{name}.onnx')
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
    subprocess.run(['zstd', '-q', '-19', '--ultra', '--rm', '-f', path], check=True)


main()
