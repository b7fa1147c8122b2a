"""Whole models by tl-run and by a baseline, in turns: onnxruntime, or tl-run with another database, or with oneDNN.

Each program has a process of its own, which waits for a line, runs the model again and again for a second, and answers with the median time
of a run. While one measures, the other is stopped by a signal, so that no thread of it spins beside. Both have the same weights and inputs,
the same number of threads, and a core for each. A turn gives a ratio; the table has their median and its 95% interval.

Called with --serve it is onnxruntime's process.
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


def serve(args):
    """onnxruntime's side: model, weights and inputs are files."""
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import numpy_helper

    model = onnx.load(args.models[0])
    weights = np.load(args.weights)
    for tensor in model.graph.initializer:
        if tensor.name in weights.files:
            array = weights[tensor.name].reshape(list(tensor.dims))
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    options = ort.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    cpus = sorted(os.sched_getaffinity(0))[: args.threads]
    if args.threads > 1:  # of the threads behind the first, which is this one; CPUs count from 1
        pins = ";".join(str(c + 1) for c in cpus[1:])
        options.add_session_config_entry("session.intra_op_thread_affinities", pins)
    file = args.weights + ".onnx"
    onnx.save(model, file)
    del model, weights
    session = ort.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    os.remove(file)
    os.sched_setaffinity(0, cpus[:1])
    arrays = np.load(args.inputs)
    feed = {}
    for i in session.get_inputs():
        feed[i.name] = arrays[i.name].astype(np.int64 if "int64" in i.type else np.float32)
    outputs = session.run(None, feed)
    np.savez(args.outputs, **{o.name: v for o, v in zip(session.get_outputs(), outputs)})
    print(json.dumps({"version": ort.__version__}), flush=True)
    for _ in sys.stdin:
        for _ in range(3):
            session.run(None, feed)
        times = []
        start = time.perf_counter()
        while len(times) < 3 or time.perf_counter() - start < SECONDS:
            begin = time.perf_counter()
            session.run(None, feed)
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


def compare(args, path):
    name = re.sub(r"\..*", "", os.path.basename(path))
    file = model_file(args, path)
    at = {k: os.path.join(args.dir, f"{name}.{k}.npz") for k in ("weights", "inputs", "outputs")}
    run = [args.run, "--random-weights=1", f"--threads={args.threads}"]
    bench = [f"--bench={SECONDS}s", "--turns", "--json", file]
    here = run + ["-d", args.db]
    baseline = args.against
    if not baseline:
        subprocess.run(here + ["-q", "--save-weights", at["weights"], "--save-inputs", at["inputs"], file], check=True)
        python = [sys.executable, __file__, "--serve", "--threads", str(args.threads)]
        env = {**os.environ, "PYTHONPATH": without_avx512(args.dir)} if args.isa == "avx2" else None
        theirs = Baseline(python + [f"--{k}={v}" for k, v in at.items()] + [file], env)
        baseline = "onnxruntime " + theirs.answer()["version"]
        theirs.stop()
    elif baseline == "library":
        subprocess.run(run + ["-q", "--library", "-o", at["outputs"], file], check=True)
        theirs = Baseline(run + ["--library"] + bench)
    else:
        subprocess.run(run + ["-q", "-d", baseline, "-o", at["outputs"], file], check=True)
        theirs = Baseline(run + ["-d", baseline] + bench)
    check = subprocess.run(here + ["-c", at["outputs"], file], capture_output=True, text=True)
    errors = [float(x) for x in re.findall(r"difference (\S+) of", check.stdout)]
    ours = Baseline(here + bench)
    turns = []
    for i in range(args.turns + 1):
        a, b = ours.measure(), theirs.measure()
        if i:  # the first turn warms up
            turns.append((a["latency_s"], b["latency_s"]))
    ours.end()
    theirs.end()
    for k in at.values():
        if os.path.exists(k):
            os.remove(k)
    ratio, low, high = interval([b / a for a, b in turns])
    return {
        "model": name, "threads": args.threads, "baseline": baseline, "turns": len(turns),
        "tl_s": statistics.median(a for a, _ in turns), "baseline_s": statistics.median(b for _, b in turns),
        "ratio": ratio, "ratio_ci": [low, high], "max_error": max(errors), "equal": check.returncode == 0,
        "kernels": a["kernels"], "tuned": a["tuned"], "tuned_s": a["tuned_s"],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--against", help="a database, or \"library\"; by default onnxruntime")
    parser.add_argument("--isa", choices=["avx512", "avx2", "scalar"])
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
    print(f"{'model':14} {'tl-run ms':>10} {'theirs ms':>10} {'ratio':>6} {'95% interval':>15} {'error':>8} "
          f"{'tuned':>9} {'sum alone ms':>12} {'run/sum':>7}")
    ratios = []
    with open(os.path.join(args.dir, "figures.ndjson"), "w") as out:
        for path in args.models:
            r = compare(args, path)
            ratios.append(r["ratio"])
            out.write(json.dumps(r) + "\n")
            alone = f"{r['tuned_s'] * 1e3:12.3f} {r['tl_s'] / r['tuned_s']:7.3f}" if r["tuned_s"] else ""
            print(f"{r['model']:14} {r['tl_s'] * 1e3:10.3f} {r['baseline_s'] * 1e3:10.3f} {r['ratio']:6.2f} "
                  f"  [{r['ratio_ci'][0]:.2f}, {r['ratio_ci'][1]:.2f}] {r['max_error']:8.1g} "
                  f"{r['tuned']:4}/{r['kernels']:<4} {alone}{'' if r['equal'] else '  DIFFERS'}", flush=True)
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
