#!/usr/bin/env python3
"""Random graphs, convolutions and operators, computed by onnxruntime and by tl-run. Prints the seed of each that is wrong, refused or crashed.

Wants numpy, onnx and onnxruntime; the tests need none of them, for they have recorded answers (record.py):
    python3 tests/graphs/random_graphs.py --seed 1 --count 2000 --log graphs.log
    python3 tests/graphs/random_graphs.py --convolutions --seed 1 --count 2000    # --transposed: transposed ones; --operators: one operator each; --quantized: graphs in 8 bits
                                                              # --microsoft: MatMulNBits, scales of blocks, QLinearAdd and the like
    python3 tests/graphs/random_graphs.py --seed 1234 --shrink DIR    # one, made smaller, as DIR/NAME.onnx with .in.npz and .want.npz
Status 1: something was wrong or crashed.
"""
import argparse
import collections
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make  # noqa: E402
import microsoft  # noqa: E402
import operators  # noqa: E402
import quantized  # noqa: E402

KINDS = {"graph": make.random_graph, "conv": make.random_convolution, "transposed": make.random_transposed, "op": operators.random_operator,
         "microsoft": microsoft.random_microsoft,
         "quantized": lambda seed: (make.random_convolution if seed % 3 == 0 else make.random_graph)(seed)}
BIN = os.environ.get("BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bin"))
TIME_LIMIT = 300  # seconds for one run; the machine may be busy


def write(folder, name, case):
    model, feed, want = case
    at = os.path.join(folder, name)
    onnx.save(model, at + ".onnx")
    np.savez_compressed(at + ".in.npz", **feed)
    np.savez_compressed(at + ".want.npz", **want)
    return at


def run(at, threads, options):
    """(verdict, reason) of tl-run."""
    command = [os.path.join(BIN, "tl-run"), "--no-db", "-t", str(threads), *options, "-i", at + ".in.npz", "-c", at + ".want.npz", at + ".onnx"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return "crashed", f"{TIME_LIMIT} s were not enough"
    said = (done.stderr + done.stdout).strip().split("\n")
    if done.returncode == 0:
        return "right", ""
    if done.returncode == 1:
        return "wrong", next((line for line in said if "differs" in line), said[-1])
    return ("refused" if done.returncode == 3 else "crashed"), f"{said[-1]}" + (f" (status {done.returncode})" if done.returncode != 3 else "")


def judge(case, args):
    """(verdict, reason); the verdict is None if there is no answer to compare with."""
    if not case:
        return None, ""
    with tempfile.TemporaryDirectory() as folder:
        at = write(folder, "case", case)
        for threads in args.threads.split(","):
            verdict = run(at, threads, args.option)
            if verdict[0] != "right":
                return verdict
    return verdict


def graph_of(seed, args):
    return KINDS[args.kind](seed)


def answers(g, seed, args):
    """onnxruntime optimizes the odd ones."""
    case = make.answers(g, seed % 2 == 1 and args.kind != "quantized", args.kind == "op") if g else None
    return quantized.quantized(seed, case) if case and args.kind == "quantized" else case


def case_of(seed, args):
    return answers(graph_of(seed, args), seed, args)


def one(job):
    seed, args = job
    try:
        return seed, *judge(case_of(seed, args), args)
    except Exception as e:  # of the generator or onnxruntime; the other seeds go on
        return seed, None, f"{type(e).__name__}: {e}"


def shrink(seed, args):
    """Cuts and leaves out while the verdict stays the same."""
    g = graph_of(seed, args)
    verdict = judge(answers(g, seed, args), args)
    smaller = g
    while smaller:
        smaller = None
        tries = [dict(outputs=[o]) for o in g.outputs if len(g.outputs) > 1] + [dict(cut=n) for n in reversed(g.nodes)]
        tries += [dict(outputs=[n.output[0]]) for n in g.nodes if n.output[0] not in g.outputs]
        for change in tries:
            h = g.cut(change.get("cut"))
            h.outputs = change.get("outputs", h.outputs)
            if not any(h.outputs[0] in n.output for n in h.nodes):
                continue
            try:
                same = judge(answers(h, seed, args), args)[0] == verdict[0]
            except Exception:  # it is no graph any more
                continue
            if same and len(h.model().graph.node) < len(g.model().graph.node):
                g = smaller = h
                break
    print(seed, *verdict)
    for node in g.model().graph.node:
        sizes = [list(g[i].shape) if i else None for i in node.input]
        what = [f"{a.name}={onnx.helper.get_attribute_value(a)}" for a in node.attribute]
        print("   ", ", ".join(node.output), "=", node.op_type, list(node.input), sizes, *what)
    print("    outputs:", *g.outputs)
    os.makedirs(args.shrink, exist_ok=True)
    write(args.shrink, f"{args.kind}{seed}", answers(g, seed, args))


def kind_of(reason):
    """A reason without what differs from model to model."""
    reason = re.sub(r"'[^']*'", "'..'", re.sub(r"the node \S+", "the node ..", reason))
    return re.sub(r"-?[0-9][0-9.e+-]*", "#", reason)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=1)
    p.add_argument("--convolutions", dest="kind", action="store_const", const="conv", default="graph")
    p.add_argument("--transposed", dest="kind", action="store_const", const="transposed")
    p.add_argument("--operators", dest="kind", action="store_const", const="op")
    p.add_argument("--quantized", dest="kind", action="store_const", const="quantized")
    p.add_argument("--microsoft", dest="kind", action="store_const", const="microsoft")
    p.add_argument("--threads", default="1,2", help="the numbers that tl-run is run with")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--log", help="a line for each seed")
    p.add_argument("--shrink", metavar="DIR", help="make the graph of --seed smaller and keep it")
    p.add_argument("--option", action="append", default=[], help="more for tl-run, such as --option=--library")
    args = p.parse_args()
    if args.kind == "quantized":
        args.option.append(quantized.TOLERANCE)
    if args.shrink:
        return shrink(args.seed, args)

    count, kinds = collections.Counter(), collections.Counter()
    log = open(args.log, "a", encoding="utf-8") if args.log else None
    jobs, seed = [], args.seed
    jobs = ((s, args) for s in range(args.seed, args.seed + 10 * args.count))
    with multiprocessing.Pool(args.jobs) as pool:
        for seed, verdict, reason in pool.imap(one, jobs):
            if log:
                print(seed, verdict or "none", reason, file=log, flush=True)
            count[verdict] += 1
            if verdict in ("wrong", "crashed"):
                print(seed, verdict, reason, flush=True)
            if verdict == "refused":
                kinds[kind_of(reason)] += 1
                if kinds[kind_of(reason)] == 1:
                    print(seed, verdict, reason, flush=True)
            if sum(n for v, n in count.items() if v) >= args.count:
                break
        pool.terminate()
    for kind, n in kinds.most_common():
        print(f"{n:6} refused: {kind}")
    print(f"seeds {args.seed} to {seed}:", ", ".join(f"{count[v]} {v}" for v in ("right", "wrong", "crashed", "refused")),
          f"({count[None]} without an answer that rounding leaves alone)")
    return 1 if count["wrong"] + count["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main())
