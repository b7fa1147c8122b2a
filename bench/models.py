"""Whole models by tl-run and by baselines, in turns: onnxruntime and OpenVINO, or tl-run with another database, or with oneDNN.

Each program has a process of its own, which waits for a line, runs the model again and again for a second, and answers with the median time
of a run. While one measures, the others are stopped by a signal, so that no thread of them spins beside. All have the same weights and inputs,
and the same number of threads. A turn gives a ratio; the table has their median and its 95% interval.

Called with --serve it is the process of onnxruntime or OpenVINO.
"""
import argparse
import glob
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
import zipfile

SECONDS = 1.0


def without_avx512(folder):
    """A copy of onnxruntime that never finds AVX-512; returns the folder to import it from.

    onnxruntime has no switch for it. Its library tests a bit of what CPUID says, once, when it chooses kernels: "test $0x10000, register",
    soon behind XGETBV, and before the test of the state that the system saves. The copy tests no bit there.
    """
    import importlib.util

    package = os.path.dirname(importlib.util.find_spec("onnxruntime").origin)
    copy = os.path.join(folder, "onnxruntime-avx2")
    if os.path.isdir(copy):
        return copy
    shutil.copytree(package, os.path.join(copy, "onnxruntime"))
    for path in glob.glob(os.path.join(copy, "onnxruntime", "capi", "onnxruntime_pybind11_state*.so")):
        with open(path, "rb") as file:
            text = bytearray(file.read())
        found = [m.start() for m in re.finditer(rb"\x41\xf7[\xc0-\xc7]\x00\x00\x01\x00.{0,16}\xa8\xe0", text, re.DOTALL)
                 if b"\x0f\x01\xd0" in text[m.start() - 2048:m.start()]]
        if len(found) != 1:
            sys.exit(f"{path}: the test of AVX-512 is there {len(found)} times instead of once")
        text[found[0] + 5] = 0
        with open(path, "wb") as file:
            file.write(text)
    return copy


def model_with_weights(args):
    """The model's file, with the weights that the other side has."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    own = args.precision == "int8"
    model = onnx.load(args.models[0], load_external_data=own)  # weights may be named alone, without their file
    weights = {} if own else np.load(args.weights)
    for tensor in model.graph.initializer:
        if tensor.name in weights:
            array = weights[tensor.name].reshape(list(tensor.dims))
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    file = f"{args.weights}.{args.serve}.onnx"
    onnx.save(model, file)
    return file


def load_onnxruntime(args, file):
    """Its version, the names of inputs and outputs, and a function that runs the model once."""
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    cpus = sorted(os.sched_getaffinity(0))[: args.threads]
    if args.threads > 1:  # of the threads behind the first, which is this one; CPUs count from 1
        pins = ";".join(str(c + 1) for c in cpus[1:])
        options.add_session_config_entry("session.intra_op_thread_affinities", pins)
    session = ort.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    os.sched_setaffinity(0, cpus[:1])
    arrays = np.load(args.inputs)
    feed = {}
    for i in session.get_inputs():
        feed[i.name] = arrays[i.name].astype(np.int64 if "int64" in i.type else np.float32)
    names = [o.name for o in session.get_outputs()]
    return ort.__version__, names, lambda: session.run(None, feed)


def load_openvino(args, file):
    """The same. Inputs are given once, and a run copies nothing."""
    import numpy as np
    import openvino as ov

    core = ov.Core()
    model = core.compile_model(file, "CPU", {
        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "bf16" if args.precision == "bf16" else "f32", "NUM_STREAMS": "1",
        "INFERENCE_NUM_THREADS": args.threads})
    request = model.create_infer_request()
    arrays = np.load(args.inputs)
    for port in model.inputs:
        data = arrays[port.any_name].astype(port.element_type.to_dtype())
        request.set_tensor(port, ov.Tensor(np.ascontiguousarray(data)))
    names = [next(iter(port.names)) for port in model.outputs]

    def run():
        request.infer()
        return [request.get_output_tensor(i).data for i in range(len(names))]
    return ov.__version__.split("-")[0], names, run


ENGINES = {"onnxruntime": load_onnxruntime, "openvino": load_openvino}


def engines(args):
    """Those of them that are installed and compute in that precision; onnxruntime has no bf16 on processors."""
    import importlib.util

    return [name for name in ENGINES
            if importlib.util.find_spec(name) and (args.precision != "bf16" or name != "onnxruntime")]


def serve(args):
    """An engine's side: model, weights and inputs are files."""
    import numpy as np

    file = model_with_weights(args)
    version, names, run = ENGINES[args.serve](args, file)
    os.remove(file)
    np.savez(args.outputs, **dict(zip(names, run())))
    print(json.dumps({"version": version}), flush=True)
    for _ in sys.stdin:
        for _ in range(3):
            run()
        times = []
        start = time.perf_counter()
        while len(times) < 3 or time.perf_counter() - start < SECONDS:
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
        print(json.dumps({"latency_s": statistics.median(times)}), flush=True)


class Baseline:
    """A process that answers lines, stopped between them."""

    def __init__(self, argv, env=None):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended with status {self.process.wait()}")
        return json.loads(line)

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def measure(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.answer()
        self.stop()
        return answer

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def interval(values):
    """The median and the order statistics around it (Conover, section 3.2)."""
    x = sorted(values)
    n = len(x)
    reach = 0.98 * math.sqrt(n)
    low = max(0, math.floor(n / 2 - reach))
    high = min(n - 1, math.ceil(n / 2 + reach))
    return statistics.median(x), x[low], x[high]


def model_file(args, path):
    """The model itself, out of its archive."""
    if path.endswith(".onnx"):
        return path
    folder = os.path.join(args.dir, "models")
    os.makedirs(folder, exist_ok=True)
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith(".onnx"))
            archive.extract(name, folder)
    else:
        names = subprocess.run(["tar", "-tf", path], capture_output=True, text=True, check=True).stdout.split("\n")
        name = next(n for n in names if n.endswith(".onnx"))
        subprocess.run(["tar", "-xf", path, "-C", folder, name], check=True)
    return os.path.join(folder, name)


def start_engines(args, files, file):
    """A process for each engine that is installed, by its name and version."""
    theirs = {}
    for name in engines(args):
        env = dict(os.environ)
        if args.isa == "avx2" and name == "onnxruntime":
            env["PYTHONPATH"] = without_avx512(args.dir)
        elif args.isa == "avx2":
            env["ONEDNN_MAX_CPU_ISA"] = "AVX2"
        outputs = f"{files['outputs']}.{name}.npz"
        argv = [sys.executable, __file__, "--serve", name, "--threads", str(args.threads), "--outputs", outputs,
                "--weights", files["weights"], "--inputs", files["inputs"], "--precision", args.precision, file]
        engine = Baseline(argv, env)
        theirs[f"{name} {engine.answer()['version']}"] = (engine, outputs)
        engine.stop()
    return theirs


def tl_run(args):
    if args.precision == "int8":  # a quantized model has weights that fit its scales, and inputs that these were chosen for
        return [args.run, f"--threads={args.threads}"]
    return [args.run, "--random-weights=1", f"--threads={args.threads}", f"--precision={args.precision}"]


def start_baselines(args, files, file):
    """Those that tl-run is compared with: processes, and files of what they answer."""
    run = tl_run(args)
    if not args.against:
        save = [] if args.precision == "int8" else ["--save-weights", files["weights"]]
        subprocess.run(run + ["-d", args.db, "-q", "--save-inputs", files["inputs"], file] + save, check=True)
        return start_engines(args, files, file)
    options = ["--library"] if args.against == "library" else ["-d", args.against]
    subprocess.run(run + options + ["-q", "-o", files["outputs"], file], check=True)
    return {args.against: (Baseline(run + options + bench_options(file)), files["outputs"])}


def bench_options(file):
    return [f"--bench={SECONDS}s", "--turns", "--json", file]


def outputs_agree(here, outputs, file):
    """Whether tl-run answers the same, and by how much it is off."""
    tolerance = [] if "--random-weights=1" in here else ["--tolerance=0.1"]  # steps of 8 bits add up from layer to layer
    check = subprocess.run(here + ["-c", outputs, file] + tolerance, capture_output=True, text=True)
    errors = [float(x) for x in re.findall(r"difference (\S+) of", check.stdout)]
    return check.returncode == 0, max(errors, default=math.nan)


def compare(args, path):
    """A record for each baseline."""
    name = re.sub(r"\..*", "", os.path.basename(path))
    file = model_file(args, path)
    files = {k: os.path.join(args.dir, f"{name}.{k}.npz") for k in ("weights", "inputs", "outputs")}
    here = tl_run(args) + ["-d", args.db]
    theirs = start_baselines(args, files, file)
    agree = {k: outputs_agree(here, outputs, file) for k, (_, outputs) in theirs.items()}
    ours = Baseline(here + bench_options(file))
    turns = []
    for i in range(args.turns + 1):
        turn = {"": ours.measure()}
        turn.update((k, engine.measure()) for k, (engine, _) in theirs.items())
        if i:  # the first turn warms up
            turns.append(turn)
    ours.end()
    for engine, outputs in theirs.values():
        engine.end()
        os.remove(outputs)
    for k in files.values():
        if os.path.exists(k):
            os.remove(k)
    records = []
    for k, (equal, error) in agree.items():
        ratio, low, high = interval([t[k]["latency_s"] / t[""]["latency_s"] for t in turns])
        records.append({
            "model": name, "precision": args.precision, "threads": args.threads, "baseline": k, "beside": args.beside, "turns": len(turns),
            "tl_s": statistics.median(t[""]["latency_s"] for t in turns),
            "baseline_s": statistics.median(t[k]["latency_s"] for t in turns),
            "ratio": ratio, "ratio_ci": [low, high], "max_error": error, "equal": equal,
            **{field: turns[0][""][field] for field in ("kernels", "tuned", "tuned_s")},
        })
    return records


def print_record(r):
    alone = f"{r['tuned_s'] * 1e3:12.3f} {r['tl_s'] / r['tuned_s']:7.3f}" if r["tuned_s"] else ""
    print(f"{r['model']:14} {r['baseline']:20} {r['tl_s'] * 1e3:9.3f} {r['baseline_s'] * 1e3:9.3f} {r['ratio']:6.2f} "
          f"  [{r['ratio_ci'][0]:.2f}, {r['ratio_ci'][1]:.2f}] {r['max_error']:8.1g} "
          f"{r['tuned']:4}/{r['kernels']:<4} {alone}{'' if r['equal'] else '  DIFFERS'}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", choices=ENGINES)
    parser.add_argument("--against", help="a database, or \"library\"; by default onnxruntime and openvino")
    parser.add_argument("--beside", help="what runs beside: goes into the figures")
    parser.add_argument("--isa", choices=["avx512", "avx2", "scalar"])
    parser.add_argument("--precision", choices=["f32", "bf16", "int8"], default="f32")
    for name in ("run", "db", "dir", "weights", "inputs", "outputs"):
        parser.add_argument("--" + name)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    args.threads = args.threads or len(os.sched_getaffinity(0))
    if args.isa == "scalar" and not args.against:
        sys.exit("onnxruntime cannot be kept from AVX2")
    if args.serve:
        serve(args)
        return
    print(f"{'model':14} {'baseline':20} {'tl-run ms':>9} {'theirs ms':>9} {'ratio':>6} {'95% interval':>15} {'error':>8} "
          f"{'tuned':>9} {'sum alone ms':>12} {'run/sum':>7}")
    least = []  # of each model: the ratio to the best baseline
    with open(os.path.join(args.dir, "figures.ndjson"), "w") as out:
        for path in args.models:
            records = compare(args, path)
            least.append(min(r["ratio"] for r in records))
            for r in records:
                out.write(json.dumps(r) + "\n")
                print_record(r)
    print(f"against the better one: geometric mean {math.exp(sum(map(math.log, least)) / len(least)):.2f}, least {min(least):.2f}")


if __name__ == "__main__":
    main()
