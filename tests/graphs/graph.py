"""A graph that is built node by node. Each node is computed at once by onnxruntime, so a generator sees the values that it goes on
with: their shapes, and whether another operator can take them without losing all digits."""
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ort.set_default_logger_severity(4)
LARGEST = 6000  # elements of a value


class Refused(Exception):
    """What a generator tried makes no node: it tries something else."""


def kind_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def info(name, array):
    return helper.make_tensor_value_info(name, kind_of(array), array.shape)


def session(model, optimized=False):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    level = ort.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimized else level.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")  # single precision
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Graph:
    def __init__(self, rng, opset):
        self.rng, self.opset = rng, opset
        self.nodes, self.constants, self.value = [], {}, {}
        self.inputs, self.outputs = [], []
        self.count = 0

    # ---- values ----

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def input(self, array):
        name = self.name("i")
        self.inputs.append(name)
        self.value[name] = array
        return name

    def const(self, array):
        """An initializer."""
        array = np.asarray(array)
        name = self.name("c")
        self.constants[name] = numpy_helper.from_array(array, name)
        self.value[name] = array
        return name

    def halves(self, kind, numbers):
        """An initializer of 4 bits."""
        name = self.name("c")
        self.constants[name] = helper.make_tensor(name, TensorProto.DataType.Value(kind.upper()), numbers.shape, numbers.reshape(-1))
        self.value[name] = numbers
        return name

    def floats(self, *shape, low=-1.0, high=1.0):
        """Multiples of 1/256, which archives keep in few bytes."""
        return self.const((np.round(self.rng.uniform(low, high, shape) * 256) / 256).astype(np.float32))

    def number(self, x):
        return self.const(np.float32(x))

    def ints(self, *numbers):
        return self.const(np.array(numbers, np.int64))

    def __getitem__(self, name):
        return self.value[name]

    # ---- nodes ----

    def model_of(self, nodes, inputs, outputs):
        """outputs: names whose values are known, or not yet."""
        inside = {name for node in nodes for name in node.input}
        constants = [t for name, t in self.constants.items() if name in inside or name in outputs]
        outs = [info(o, self.value[o]) if o in self.value else helper.make_tensor_value_info(o, 0, None) for o in outputs]
        for out in outs:
            if out.name not in self.value:
                out.ClearField("type")
        graph = helper.make_graph(nodes, "graph", [info(i, self.value[i]) for i in inputs], outs, constants)
        sets = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(d, 1) for d in {n.domain for n in nodes if n.domain}]
        has_halves = any(t.data_type in (TensorProto.INT4, TensorProto.UINT4) for t in constants)
        return helper.make_model(graph, opset_imports=sets, ir_version=10 if has_halves else 8)

    def add(self, op, *inputs, n=1, **attributes):
        """The name of the node's output, or names."""
        names = [self.name("v") for _ in range(n)]
        node = helper.make_node(op, list(inputs), names, name=self.name(op.lower()), **attributes)
        read = list(dict.fromkeys(i for i in inputs if i and i not in self.constants))
        try:
            made = session(self.model_of([node], read, names)).run(names, {i: self.value[i] for i in read})
        except Exception as e:  # whatever onnxruntime throws
            raise Refused(f"{op}: {e}") from e
        for name, array in zip(names, made):
            if array.size > LARGEST or not array.size or array.ndim > 5:
                raise Refused(f"{op}: {array.shape}")
            if array.dtype == np.float32 and (not np.isfinite(array).all() or np.abs(array).max() > 1e4):
                raise Refused(f"{op}: absurd numbers")
            self.value[name] = array
        self.nodes.append(node)
        return names[0] if n == 1 else names

    def constant_node(self, array):
        """The same as const(), by a node."""
        tensor = numpy_helper.from_array(np.asarray(array), "")
        return self.add("Constant", value=tensor)

    # ---- the whole ----

    def model(self):
        """Without nodes that no output needs."""
        needed, nodes = set(self.outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                nodes.insert(0, node)
                needed |= set(node.input)
        inputs = [i for i in self.inputs if i in needed]
        return self.model_of(nodes, inputs, self.outputs)

    def feed(self, model):
        return {i.name: self.value[i.name] for i in model.graph.input}

    def cut(self, node):
        """A copy in which what the node (None: no one) makes are inputs."""
        g = Graph(self.rng, self.opset)
        g.constants, g.value, g.count, g.outputs = self.constants, self.value, self.count, list(self.outputs)
        g.nodes = [n for n in self.nodes if n is not node]
        g.inputs = self.inputs + [o for o in (node.output if node else []) if o and o not in self.outputs]
        return g
