#!/usr/bin/env python3
"""Makes the models of this folder, and what TensorFlow says of their shapes.

pip install tensorflow-cpu==2.21.0; python3 tests/networks/tensorflow/make.py [NAME...]

NAME.tar.zst is a SavedModel without its variables, and without what is there for training and for messages alone. NAME-frozen.pb.zst is
a frozen GraphDef, with zeros for weights. NAME-open.tar.zst is a SavedModel that leaves shapes of variables open, with the index of its
checkpoint.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import shapes
import tf_networks
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

FROZEN = ('mobilenet_v2', 'transformer', 'unet', 'video', 'recurrent', 'nasnet_mobile')
FROZEN_ALONE = ('nasnet_mobile',)
NETWORKS = {**tf_networks.NETWORKS, 'nasnet_mobile': tf_networks.application('NASNetMobile')}


def write(name, data):
    path = f'{HERE}/{name}'
    with open(path, 'wb') as out:
        out.write(data)
    subprocess.run(['zstd', '-q', '-19', '--rm', '-f', path], check=True)


def plain(graph):
    """Leaves out which line of Python made a node."""
    for nodes in [graph.node, *(f.node_def for f in getattr(graph, 'library').function)]:
        for node in nodes:
            node.ClearField('experimental_debug_info')
            if node.op == 'Const':
                tensor = node.attr['value'].tensor
                if len(tensor.tensor_content) > 256:
                    tensor.tensor_content = bytes(len(tensor.tensor_content))
    return graph


class Open(tf.Module):
    """Two of its variables have the same name."""

    def __init__(self):
        super().__init__()
        self.filter = tf.Variable(tf.zeros([3, 3, 8, 8]), shape=tf.TensorShape(None), name='filter')
        self.dense = tf.Variable(tf.zeros([8, 5]), shape=tf.TensorShape([None, 5]), name='dense')
        self.biases = [tf.Variable(tf.zeros([5]), shape=tf.TensorShape([None]), name='dense')]

    @tf.function(input_signature=[tf.TensorSpec([1, 14, 14, 8])])
    def __call__(self, x):
        rows = tf.reduce_mean(tf.nn.conv2d(x, self.filter, 1, 'SAME'), [1, 2])
        return tf.matmul(rows, self.dense) + self.biases[0]


def export_open(folder):
    model = Open()
    tf.saved_model.save(model, folder, signatures=model.__call__)


def export_open1(folder):
    """As TensorFlow 1 saves: nodes of the graph itself restore the variables."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [1, 14, 14, 8], name='x')
        filters = v1.get_variable('filter', initializer=tf.zeros([3, 3, 8, 8]), validate_shape=False, use_resource=True)
        start = v1.placeholder_with_default(tf.zeros([8, 5]), [None, 5])
        dense = v1.get_variable('dense', initializer=start, validate_shape=False, use_resource=False)
        y = tf.matmul(tf.reduce_mean(tf.nn.conv2d(x, filters, 1, 'SAME'), [1, 2]), dense)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, folder, {'x': x}, {'y': y})


OPEN = {'variables-open': export_open, 'variables1-open': export_open1}


def saved_model(name, export, more=()):
    with tempfile.TemporaryDirectory() as folder:
        export(f'{folder}/{name}')
        file = f'{folder}/{name}/saved_model.pb'
        whole = saved_model_pb2.SavedModel()
        with open(file, 'rb') as f:
            whole.ParseFromString(f.read())
        for meta in whole.meta_graphs:
            meta.ClearField('object_graph_def')
            meta.meta_info_def.ClearField('stripped_op_list')
            plain(meta.graph_def)
        with open(file, 'wb') as f:
            f.write(whole.SerializeToString(deterministic=True))
        subprocess.run(['tar', '--mtime=2026-01-01', '--owner=0', '--group=0', '--numeric-owner', '-cf', f'{HERE}/{name}.tar',
                        '-C', folder, f'{name}/saved_model.pb', *(f'{name}/{file}' for file in more)], check=True)
    subprocess.run(['zstd', '-q', '-19', '--rm', '-f', f'{HERE}/{name}.tar'], check=True)


def main():
    for name in sys.argv[1:] or (*NETWORKS, *OPEN):
        if name in OPEN:
            saved_model(name, OPEN[name], ('variables/variables.index',))
            continue
        tf.keras.utils.set_random_seed(1)
        model = NETWORKS[name]()
        function = tf_networks.frozen(model)
        told = tf_networks.frozen(tf_networks.TOLD_BY[name]()) if name in tf_networks.TOLD_BY else function
        if name not in FROZEN_ALONE:
            saved_model(name, lambda folder: model.export(folder, verbose=False))
            shapes.write(f'{HERE}/{name}.shapes', tf_networks.lines(told))
        if name in FROZEN:
            write(f'{name}-frozen.pb', plain(function.graph.as_graph_def()).SerializeToString(deterministic=True))
            shapes.write(f'{HERE}/{name}-frozen.shapes', tf_networks.lines(told))
        print(name, flush=True)


sys.exit(main())
