"""Operators tuned by MetaSchedule (Apache TVM) and by tl-tune: what the tuning costs, and what it reaches.

Each operator is tuned by each of the two from nothing: by TVM with so many trials, by tl-tune until it ends by itself. Both have the same
number of threads, and all cores of the machine meanwhile, which count as core-seconds. TVM may lay the weights out as it likes, as tl-tune
may. Then both kernels run in this process in turns, one batch of calls each, after calls that warm up. A turn gives a ratio; the table has
their median and its 95% interval. The time of TVM's trials alone, without its first imports, counts.
"""
import argparse
import ctypes
import json
import logging
import math
import os
import re
import shutil
import statistics
import subprocess
import time

import numpy as np
import tvm
from tvm import te
from tvm.s_tir import meta_schedule as ms
from tvm.s_tir.transform import RemoveWeightLayoutRewriteBlock

BATCH_S = 0.02
PAUSE_S = 0.01  # until the other's threads sleep


def numbers(prob):
    """The numbers of a problem of a convolution, as benchdnn writes it, with benchdnn's defaults."""
    given = {key: int(value) for key, value in re.findall(r"([a-z]+)(\d+)", prob)}
    values = {"mb": given.get("mb", 1), "ic": given["ic"], "oc": given["oc"], "ih": given["ih"], "iw": given.get("iw", given["ih"]),
              "kh": given["kh"], "kw": given.get("kw", given["kh"]), "sh": given.get("sh", 1), "ph": given.get("ph", 0)}
    values["sw"], values["pw"] = given.get("sw", values["sh"]), given.get("pw", values["ph"])
    for side in "hw":
        values["o" + side] = (values["i" + side] + 2 * values["p" + side] - values["k" + side]) // values["s" + side] + 1
    return values


def convolution(prob):
    """NHWC, as tl-tune's layout is by default."""
    p = numbers(prob)
    src = te.placeholder((p["mb"], p["ih"], p["iw"], p["ic"]), name="src")
    weights = te.placeholder((p["kh"], p["kw"], p["ic"], p["oc"]), name="weights")
    padded = src
    if p["ph"] or p["pw"]:
        padded = te.compute(
            (p["mb"], p["ih"] + 2 * p["ph"], p["iw"] + 2 * p["pw"], p["ic"]),
            lambda n, y, x, c: tvm.tirx.if_then_else(
                tvm.tirx.all(y >= p["ph"], y < p["ih"] + p["ph"], x >= p["pw"], x < p["iw"] + p["pw"]),
                src[n, y - p["ph"], x - p["pw"], c], tvm.tirx.const(0.0, "float32")), name="padded")
    ky, kx, c = (te.reduce_axis((0, p[k]), name=k) for k in ("kh", "kw", "ic"))
    dst = te.compute(
        (p["mb"], p["oh"], p["ow"], p["oc"]),
        lambda n, y, x, o: te.sum(padded[n, y * p["sh"] + ky, x * p["sw"] + kx, c] * weights[ky, kx, c, o], axis=[ky, kx, c]),
        name="dst", attrs={"layout_free_placeholders": [weights]})
    return src, weights, dst


def product(prob):
    left, right = ([int(n) for n in side.split("x")] for side in prob.split(":"))
    src, weights = te.placeholder(left, name="src"), te.placeholder(right, name="weights")
    k = te.reduce_axis((0, left[1]), name="k")
    dst = te.compute((left[0], right[1]), lambda i, j: te.sum(src[i, k] * weights[k, j], axis=k), name="dst",
                     attrs={"layout_free_placeholders": [weights]})
    return src, weights, dst


def elements(tensor):
    return math.prod(int(n) for n in tensor.shape)


class Theirs:
    """MetaSchedule's kernel."""

    def __init__(self, op, prob, args, folder):
        tensors = convolution(prob) if op == "conv2d" else product(prob)
        module = tvm.IRModule({"main": te.create_prim_func(list(tensors))})
        target = tvm.target.Target({"kind": "llvm", "mcpu": args.mcpu, "num-cores": args.threads})
        shutil.rmtree(folder, ignore_errors=True)
        start = time.monotonic()
        database = ms.tir_integration.tune_tir(module, target, folder, max_trials_global=args.trials, num_trials_per_iter=64,
                                               database="memory", num_tuning_cores="logical", seed=args.seed)
        self.seconds = time.monotonic() - start
        best = ms.tir_integration.compile_tir(database, module, target)
        final = RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(best.mod)
        main = final["main"]
        self.run_module = tvm.compile(final, target=target)
        rng = np.random.default_rng(1)
        shapes = [[int(n) for n in p.shape] for p in main.params]  # of the weights as it lays them out
        self.data = [tvm.runtime.tensor(rng.standard_normal(shape).astype("float32")) for shape in shapes]
        self.run_main = self.run_module["main"]

    def call(self):
        self.run_main(*self.data)


class Ours:
    """tl-tune's kernel, from a library that tl-export has made."""

    def __init__(self, op, prob, args, folder):
        # One for each operator: a library that is loaded once more from the same place is the old one.
        folder = os.path.join(folder, f"{op}-{prob}".replace(":", "-"))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        names = {name: os.path.join(folder, name) for name in ("list.csv", "workload", "db", "best", "kernels", "log")}
        environment = dict(os.environ, TL_CACHE=args.cache, OMP_NUM_THREADS=str(args.threads))
        with open(names["list.csv"], "w", encoding="ascii") as file:
            file.write(f"op,prob,layout,post\n{op},{prob},{'nhwc' if op == 'conv2d' else 'ab'},\n")
        with open(names["workload"], "wb") as file:
            subprocess.run([f"{args.bin}/tl-extract", "-q", "--format", "csv", names["list.csv"]], stdout=file, check=True)
        shutil.rmtree(os.path.join(args.cache, "objects"), ignore_errors=True)
        start = time.monotonic()
        subprocess.run([f"{args.bin}/tl-tune", "-q", "--cache=warm", f"--seed={args.seed}", "-d", names["db"], "-o", names["best"], names["workload"]],
                       env=environment, check=True)
        self.seconds = time.monotonic() - start
        with open(names["log"], "wb") as log:
            subprocess.run([f"{args.bin}/tl-export", "-d", names["db"], "-o", names["kernels"], names["workload"]], env=environment, stderr=log, check=True)
            subprocess.run(["make", "-C", names["kernels"], "libtlx.so"], stdout=log, stderr=log, check=True)
        with open(names["best"], encoding="utf-8") as file:
            results = [json.loads(line) for line in file]
        self.baseline_ratio = next((r["ratio"]["median"] for r in results if r.get("type") == "result" and r.get("ratio")), None)
        self.open(os.path.join(names["kernels"], "libtlx.so"), op, prob, args.threads)

    def open(self, path, op, prob, threads):
        lib = ctypes.CDLL(path)
        lib.tlx_find.restype = lib.tlx_create.restype = ctypes.c_void_p
        lib.tlx_find.argtypes = [ctypes.c_char_p] * 4
        lib.tlx_create.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int]
        lib.tlx_run.argtypes = [ctypes.c_void_p] * 3
        src, weights, dst = convolution(prob) if op == "conv2d" else product(prob)
        rng = np.random.default_rng(1)
        self.src, self.weights, self.dst = (rng.standard_normal(elements(t)).astype("float32") for t in (src, weights, dst))
        found = lib.tlx_find(op.encode(), prob.encode(), None, None)
        self.handle = lib.tlx_create(found, self.weights.ctypes.data, None, threads)
        self.run = lib.tlx_run
        if not found or not self.handle:
            raise RuntimeError(f"the exported library has no {op} {prob}")

    def call(self):
        if self.run(self.handle, self.src.ctypes.data, self.dst.ctypes.data):
            raise RuntimeError("the exported kernel fails")


def batch(side):
    """Seconds of a call, by a batch of them."""
    time.sleep(PAUSE_S)
    for _ in range(3):
        side.call()
    start, calls = time.perf_counter(), 0
    while True:
        side.call()
        calls += 1
        now = time.perf_counter() - start
        if now > BATCH_S:
            return now / calls


def interval(values):
    """Median, and its 95% interval by order statistics."""
    values = sorted(values)
    n = len(values)
    half = 0.98 * math.sqrt(n)
    return statistics.median(values), values[max(0, math.floor(n / 2 - half))], values[min(n - 1, math.ceil(n / 2 + half))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--mcpu", required=True)
    parser.add_argument("--turns", type=int, default=41)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("ops", nargs="+", help="op prob, in turns")
    args = parser.parse_args()
    args.dir = os.path.abspath(args.dir)
    args.cache = os.path.join(args.dir, "cache")
    args.bin = os.path.abspath(args.bin)
    logging.disable(logging.INFO)
    cores = os.cpu_count()
    print(f"{'operator':42} {'core-seconds':>25} {'us a call':>19} {'TVM / ours':>22} {'oneDNN / ours':>14}")
    print(f"{'':42} {'TVM':>9} {'ours':>8} {'':>6} {'TVM':>9} {'ours':>9}")
    costs, ratios = [], []
    for op, prob in zip(args.ops[::2], args.ops[1::2]):
        ours = Ours(op, prob, args, os.path.join(args.dir, "ours"))
        theirs = Theirs(op, prob, args, os.path.join(args.dir, "tvm"))
        turns = []
        for turn in range(args.turns):
            order = (theirs, ours) if turn % 2 else (ours, theirs)
            took = {side: batch(side) for side in order}
            turns.append((took[theirs], took[ours]))
        ratio, low, high = interval([t / o for t, o in turns])
        cost, us = [side.seconds * cores for side in (theirs, ours)], [1e6 * statistics.median(x) for x in zip(*turns)]
        costs.append(cost[1] / cost[0])
        ratios.append(ratio)
        print(f"{op + ' ' + prob:42} {cost[0]:9.1f} {cost[1]:8.1f} {'1/%.1f' % (cost[0] / cost[1]):>6} {us[0]:9.1f} {us[1]:9.1f} "
              f"{ratio:6.2f} [{low:.2f}, {high:.2f}] {'' if ours.baseline_ratio is None else '%14.2f' % ours.baseline_ratio}", flush=True)
        with open(os.path.join(args.dir, "figures.ndjson"), "a", encoding="ascii") as file:
            json.dump({"tl": 1, "type": "against-tvm", "tvm": tvm.__version__, "op": op, "prob": prob, "trials": args.trials, "seed": args.seed,
                       "tvm_core_s": cost[0], "core_s": cost[1], "tvm_us": us[0], "us": us[1], "ratio": ratio, "ci": [low, high],
                       "baseline_ratio": ours.baseline_ratio}, file)
            file.write("\n")
    mean = [math.exp(statistics.fmean(map(math.log, x))) for x in (costs, ratios)]
    print(f"geometric means: 1/{1 / mean[0]:.1f} of TVM's core-seconds; TVM's time is {mean[1]:.2f} of ours")


if __name__ == "__main__":
    main()
