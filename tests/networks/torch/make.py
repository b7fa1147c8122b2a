#!/usr/bin/env python3
"""Makes the programs of this folder, and what PyTorch says of their shapes.

pip install torch torchvision transformers; python3 tests/networks/torch/make.py [NAME...]

NAME.pt2 is an archive of torch.export with the program alone: weights and the lines of Python that operators came from are left out.
"""
import io
import json
import os
import sys
import zipfile

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes
import torch_networks
import torch_shapes


def write(name, network, inputs, suffix='', **options):
    program = torch.export.export(network, inputs, **options)
    if suffix == '-core':
        program = program.run_decompositions()
    whole = io.BytesIO()
    torch.export.save(program, whole)
    with zipfile.ZipFile(whole) as archive:
        member = next(n for n in archive.namelist() if n.endswith('models/model.json'))
        content = json.loads(archive.read(member))
    graph = content['graph_module']
    for node in graph['graph']['nodes']:
        node['metadata'] = {}
    graph['module_call_graph'] = []
    for key in ('tensor_values',):
        for value in graph['graph'][key].values():
            for field in ('strides', 'storage_offset'):
                value[field] = []
    with zipfile.ZipFile(f'{HERE}/{name}{suffix}.pt2', 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        info = zipfile.ZipInfo(f'{name}{suffix}/models/model.json', (2026, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(info, json.dumps(content, separators=(',', ':')))
    # Decomposed operators are run as they are in the program: some products are batched otherwise.
    shapes.write(f'{HERE}/{name}{suffix}.shapes', torch_shapes.of(program.module() if suffix == '-core' else network, *inputs))


def main():
    for name in sys.argv[1:] or torch_networks.NETWORKS:
        network, inputs = torch_networks.make(name)
        write(name, network, inputs)
        if name in ('mobilenet_v2', 'encoder', 'speech'):
            write(name, network, inputs, '-core')
        if name in ('unet', 'encoder'):
            write(name, network, tuple(torch.cat([i, i]) for i in inputs), '-open',
                  dynamic_shapes=({0: torch.export.Dim('batch')},))
            shapes.write(f'{HERE}/{name}-open.shapes', torch_shapes.of(network, *inputs))
        print(name, flush=True)


sys.exit(main())
