"""Makes the logs and traces here, of networks that frameworks ran once, and what the framework itself tells of them:

    python3 make.py NAME...     with the PyTorch or the TensorFlow of this Python

NAME is NETWORK-log (oneDNN's log of a forward run), NETWORK-mkldnn (of one in oneDNN's own layouts) or NETWORK-trace (PyTorch's
profiler), with a network of torchvision or of Keras' applications. Files are called after the network and the framework's version.
Of a log the lines of convolutions and products are kept, and one of each other kind; of a trace the operators of the host.

The files were made with torch 1.13.0 of Debian 12, torch 2.15.0 and TensorFlow 2.21.0.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import shapes

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = ('convolution', 'matmul', 'inner_product', 'gemm_api')


def torch_run(network, how, lines, trace):
    """Runs a network of torchvision; appends to lines what its modules tell."""
    import torch
    import torchvision

    torch.manual_seed(0)
    torch.set_num_threads(2)
    net = getattr(torchvision.models, network)(weights=None).eval()
    x = torch.randn(2, 3, 224, 224)

    def tell(module, inputs, output):
        a = inputs[0]
        if isinstance(module, torch.nn.Conv2d):
            lines.append(shapes.conv(a.shape[0], module.groups, a.shape[1], a.shape[2:], output.shape[1], output.shape[2:], module.kernel_size))
        elif isinstance(module, torch.nn.Linear) and how != 'log':  # a library of its own computes it
            lines.append(shapes.matmul(1, a.numel() // a.shape[-1], a.shape[-1], output.shape[-1]))
        elif isinstance(module, torch.nn.MultiheadAttention):  # which runs as one operator
            n, length, width = a.shape
            heads, each = n * module.num_heads, width // module.num_heads
            lines.append(shapes.matmul(1, n * length, width, 3 * width))
            lines.append(shapes.matmul(heads, length, each, length))
            lines.append(shapes.matmul(heads, length, length, each))
            lines.append(shapes.matmul(1, n * length, width, width))

    with torch.no_grad():
        hooks = [m.register_forward_hook(tell) for m in net.modules()]
        if how == 'mkldnn':
            net(x)
            for h in hooks:
                h.remove()
            print('run', flush=True)
            from torch.utils import mkldnn
            mkldnn.to_mkldnn(net)(x.to_mkldnn())
        elif how == 'log':
            net(x)
        else:
            from torch.profiler import ProfilerActivity, profile
            with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
                net(x)
            p.export_chrome_trace(trace)
    return 'torch' + torch.__version__.split('+')[0].split('a')[0]


def keras_run(network, how, lines, trace):
    os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
    import tensorflow as tf

    net = getattr(tf.keras.applications, network)(weights=None)
    x = tf.random.normal((2, *net.input.shape[1:]))
    for layer in net.layers:
        kind = type(layer).__name__
        if kind in ('Conv2D', 'DepthwiseConv2D'):
            a, b = layer.input.shape, layer.output.shape
            groups = a[-1] if kind == 'DepthwiseConv2D' else layer.groups
            lines.append(shapes.conv(2, groups, a[-1], a[1:3], b[-1], b[1:3], layer.kernel_size))
        elif kind == 'Dense':  # by oneDNN's BLAS
            lines.append(shapes.matmul(1, 2, layer.input.shape[-1], layer.output.shape[-1]))
    run = tf.function(net).get_concrete_function(tf.TensorSpec(x.shape))
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    print('run', flush=True)
    convert_variables_to_constants_v2(run)(x)
    return 'tensorflow' + tf.__version__


def child(network, how, trace):
    """In a process of its own, whose output is the log."""
    lines = []
    run = torch_run if network.islower() else keras_run
    version = run(network, how, lines, trace)
    print('told ' + json.dumps([version, lines]), flush=True)


def cut_log(text):
    seen, out = set(), []
    text = text.split('\nrun\n')[-1]
    for line in text.split('\n'):
        if 'onednn_verbose' not in line:
            continue
        kind = next((k for k in KEPT if f',{k},' in line), None)
        other = ','.join(line.split(',')[:6])
        if (kind and ',exec,' in line) or (not kind and other not in seen):
            seen.add(other)
            out.append(line)
    return '\n'.join(out) + '\n'


def cut_trace(name):
    trace = json.load(open(name))
    events = [e for e in trace['traceEvents'] if e.get('cat') == 'cpu_op']
    for e in events:
        e['args'] = {k: v for k, v in e['args'].items() if k in ('Input Dims', 'Input type', 'Concrete Inputs', 'Ev Idx')}
    return json.dumps({'schemaVersion': 1, 'displayTimeUnit': 'ms', 'traceEvents': events}, indent=1) + '\n'


def write(name, text):
    subprocess.run(['zstd', '-19', '-q', '-f', '-o', os.path.join(HERE, name + '.zst')], input=text.encode(), check=True)


def make(name):
    network, how = name.rsplit('-', 1)
    trace = '/tmp/make-trace.json'
    env = dict(os.environ, ONEDNN_VERBOSE='1', TF_ENABLE_ONEDNN_OPTS='1')
    run = subprocess.run([sys.executable, os.path.abspath(__file__), '--child', network, how, trace], env=env, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    told = next(line for line in run.stdout.split('\n') if line.startswith('told '))
    version, lines = json.loads(told[5:])
    name = f'{network.lower()}-{how}-{version}'
    if how == 'trace':
        write(name + '.trace.json', cut_trace(trace))
        os.remove(trace)
    else:
        write(name + '.log', cut_log(run.stdout))
    shapes.write(os.path.join(HERE, name + '.shapes'), lines)


if sys.argv[1:2] == ['--child']:
    child(*sys.argv[2:5])
else:
    for argument in sys.argv[1:]:
        make(argument)
