"""ONNX's own node tests and its light models by tl-run: what passes, what is refused and why, what is wrong, crashes or hangs.

The cases come from the folder of Python's package onnx: newer packages make the node tests by code, older ones have them as files. Each
case becomes a folder with model.onnx, in.npz and want.npz, so that one can repeat it by hand. tl-run's answer is compared by ONNX's own
rule: the difference of each element is at most atol + rtol * |wanted|; NaN is equal to NaN, and integers are equal. An input or an answer
that is no tensor of numbers is left out: the case is then wrong unless tl-run refuses it.

The node tests have everything as an input: axes, shapes and bounds, too, which models have as constants and which tl-run must know before
it runs. So a case that is refused is asked once more, in NAME/constants, with inputs behind the first one as constants where they are
integers or single elements. The first refusal is told if that is refused, too.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys
import warnings

TIMEOUT_S = 300
OUTCOMES = ("pass", "refused", "wrong", "crash", "hang")
Case = collections.namedtuple("Case", "name kind operator model inputs outputs rtol atol")


def tensors(values):
    """Arrays of numbers; None for a sequence, a string, or what was left out."""
    import numpy as np
    import onnx

    found = []
    for v in values:
        if isinstance(v, onnx.TensorProto):
            v = onnx.numpy_helper.to_array(v)
        is_array = isinstance(v, (np.ndarray, np.generic)) and v.dtype != object and v.dtype.kind not in "SUc"
        found.append(np.asarray(v) if is_array else None)
    return found


def load(path):
    import onnx

    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    return tensor


def in_order(folder, what):
    paths = glob.glob(os.path.join(folder, what + "_*.pb"))
    return sorted(paths, key=lambda p: int(p.rsplit("_", 1)[1][:-3]))


def made_cases():
    """The node tests of a package that makes them by code."""
    import numpy as np
    from onnx.backend.test.loader import load_node_model_tests

    np.random.seed(0)
    operator = None
    for c in load_node_model_tests():
        if "_expanded" not in c.name:
            operator = c.model.graph.node[0].op_type
        for inputs, outputs in c.data_sets:
            yield Case(c.name, "node", operator, c.model, tensors(inputs), tensors(outputs), c.rtol, c.atol)


def stored_cases(folder):
    """The node tests of a package that has them as files."""
    import onnx

    operator = None
    for path in sorted(glob.glob(os.path.join(folder, "*", "model.onnx"))):
        name = os.path.basename(os.path.dirname(path))
        model = onnx.load(path)
        if "_expanded" not in name:
            operator = model.graph.node[0].op_type
        for data in sorted(glob.glob(os.path.join(os.path.dirname(path), "test_data_set_*"))):
            inputs, outputs = ([load(p) for p in in_order(data, what)] for what in ("input", "output"))
            yield Case(name, "node", operator, model, tensors(inputs), tensors(outputs), 1e-3, 1e-7)


def light_cases(folder):
    """Whole networks whose weights are constants; their inputs rise from 0 to 1, as ONNX's runner makes them."""
    import numpy as np
    import onnx

    for path in sorted(glob.glob(os.path.join(folder, "light_*.onnx"))):
        model = onnx.load(path)
        constants = {i.name for i in model.graph.initializer}
        inputs = []
        for i in model.graph.input:
            if i.name not in constants:
                shape = [d.dim_value or 1 for d in i.type.tensor_type.shape.dim]
                count = int(np.prod(shape))
                inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
        outputs = [load(p) for p in in_order(folder, os.path.basename(path)[:-5] + "_output")]
        name = os.path.basename(path)[:-5]
        yield Case(name, "light", name, model, inputs, tensors(outputs), 1e-3, 1e-7)


def write(case, folder):
    """The case's folder. What NumPy has no type for becomes a float."""
    import numpy as np
    import onnx

    os.makedirs(folder)
    onnx.save(case.model, os.path.join(folder, "model.onnx"))
    constants = {i.name for i in case.model.graph.initializer}
    names = {
        "in.npz": [i.name for i in case.model.graph.input if i.name not in constants],
        "want.npz": [o.name for o in case.model.graph.output],
    }
    for file, values in (("in.npz", case.inputs), ("want.npz", case.outputs)):
        arrays = {n: v for n, v in zip(names[file], values) if v is not None}
        for n, v in arrays.items():
            if v.dtype.kind not in "fiub":
                arrays[n] = v.astype(np.float32)
        np.savez(os.path.join(folder, file), **arrays)


def with_constants(case):
    """The case with what parameters are in models as constants, or None if it has none."""
    import numpy as np
    import onnx

    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    names = {i.name for i in model.graph.initializer}
    given = [i for i in model.graph.input if i.name not in names]
    inputs = case.inputs[:1]
    for i, v in list(zip(given, case.inputs))[1:]:
        if v is not None and v.dtype.kind in "fiub" and (v.dtype.kind != "f" or v.size == 1):
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.ascontiguousarray(v).reshape(v.shape), i.name))
            model.graph.input.remove(i)
        else:
            inputs.append(v)
    return case._replace(model=model, inputs=inputs) if len(inputs) < len(case.inputs) else None


def difference(folder, case):
    """What is wrong with the answer, or None."""
    import numpy as np

    want, got = (np.load(os.path.join(folder, f)) for f in ("want.npz", "got.npz"))
    if None in [type(v) if v is not None else None for v in case.inputs + case.outputs]:
        return "tl-run answered, though not all inputs and outputs are tensors of numbers"
    for name in want.files:
        if name not in got.files:
            return f"{name} is missing"
        w, g = want[name], got[name].astype(np.float64)
        if w.shape != g.shape:
            return f"{name} has the shape {g.shape} instead of {w.shape}"
        if w.dtype.kind == "f":
            rtol, atol = case.rtol, case.atol
        else:  # tl-run answers in single precision
            rtol, atol = 2.0**-24, 0
        good = np.isclose(g, w.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)
        if not good.all():
            at = np.unravel_index(np.argmin(good), good.shape)
            return f"{name}{[int(i) for i in at]} is {g[at]:g} instead of {w[at]:g}; {int((~good).sum())} of {good.size} differ"
    return None


def ask(args, case, folder):
    """tl-run's outcome, and what is to be said of it."""
    write(case, folder)
    argv = [os.path.abspath(args.run), "--no-db", "-q", "-t", "1", "-o", "got.npz", "model.onnx"]
    argv += ["-m", "none"] if case.kind == "node" else []  # a cost model has nothing to choose there
    argv += ["-i", "in.npz"] if case.inputs else []
    try:
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, errors="replace")
    except subprocess.TimeoutExpired:
        return "hang", f"no answer within {TIMEOUT_S} s"
    said = done.stderr.strip()
    if done.returncode == 3:
        return ("refused", said) if said and "\n" not in said else ("wrong", f"refused without a line that says why: {said}")
    if done.returncode != 0:
        return "crash", f"status {done.returncode}: {said}"
    why = difference(folder, case)
    return ("wrong", why) if why else ("pass", "")


def judge(args, case):
    """The outcome, why, and whether it needed constants."""
    folder = os.path.join(args.dir, "cases", case.name)
    outcome, why = ask(args, case, folder)
    second = with_constants(case) if outcome == "refused" else None
    if second:
        again, what = ask(args, second, os.path.join(folder, "constants"))
        if again != "refused":
            return again, what, True
    return outcome, why, False


def table(results):
    by = collections.defaultdict(collections.Counter)
    for r in results:
        for row in r["operator"], "total, " + r["kind"]:
            by[row][r["outcome"]] += 1
            by[row]["of constants"] += r["outcome"] == "pass" and r["constants"]
    columns = OUTCOMES[:1] + ("of constants",) + OUTCOMES[1:]
    lines = [f"{'operator':28}" + "".join(f"{o:>{len(o) + 3}}" for o in columns)]
    for row in sorted(by, key=lambda o: (o.startswith("total"), o)):
        lines.append(f"{row:28}" + "".join(f"{by[row][o] or '.':>{len(o) + 3}}" for o in columns))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    for name in ("run", "dir", "onnx", "only"):
        parser.add_argument("--" + name)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    sys.path.insert(0, os.path.dirname(os.path.abspath(args.onnx)))
    warnings.simplefilter("ignore")
    shutil.rmtree(os.path.join(args.dir, "cases"), ignore_errors=True)
    data = os.path.join(args.onnx, "backend", "test", "data")
    stored = os.path.join(data, "node")
    cases = list(stored_cases(stored) if os.path.isdir(stored) else made_cases()) + list(light_cases(os.path.join(data, "light")))
    cases = [c for c in cases if not args.only or args.only.lower() in c.name.lower()]
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, (outcome, why, constants) in zip(cases, pool.map(lambda c: judge(args, c), cases)):
            results.append({"tl": 1, "type": "bench-onnx", "case": case.name, "kind": case.kind, "operator": case.operator,
                            "outcome": outcome, "constants": constants, "why": why or None})
            if outcome not in ("pass", "refused"):
                print(f"{outcome.upper()} {case.name}: {why}", flush=True)
    with open(os.path.join(args.dir, "figures.ndjson"), "w") as out:
        out.writelines(json.dumps(r) + "\n" for r in results)
    print(table(results))
    return any(r["outcome"] not in ("pass", "refused") for r in results)


if __name__ == "__main__":
    sys.exit(main())
