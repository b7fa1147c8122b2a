"""Keeps graphs with their answers in an archive of NAME.onnx, NAME.in.npz and NAME.want.npz, for tests/graphs.t.

    python3 tests/graphs/record.py tests/graphs/recorded.tar.zst
    python3 tests/graphs/record.py --only KIND tests/graphs/recorded.tar.zst    # those anew ("constants" or a kind below), and the others as they are there

Those that tl-run refuses, or that are long, are left out: all together are to be small. An answer is onnxruntime's, and never what
tl-run said.
"""
import io
import os
import subprocess
import sys
import tarfile
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import constants  # noqa: E402
import random_graphs  # noqa: E402

FROM, COUNTS = 100000, {"graph": 200, "conv": 100, "transposed": 60, "op": 400}
MOST_BYTES, MOST_NUMBERS = 16000, 1200
OPTIONS = ["-m", "none"]


def is_small(case):
    model, feed, want = case
    return (model.ByteSize() < MOST_BYTES and sum(v.size for v in feed.values()) + sum(v.size for v in want.values()) < MOST_NUMBERS)


def chosen(kind, count):
    """(name, case) of the first seeds that fit."""
    args, seed = SimpleNamespace(kind=kind, threads="1", option=OPTIONS), FROM
    while count:
        seed += 1
        try:
            case = random_graphs.case_of(seed, args)
        except Exception:  # as in random_graphs.one()
            continue
        if not case or not is_small(case):
            continue
        verdict, reason = random_graphs.judge(case, args)
        if verdict == "right":
            count -= 1
            yield f"{kind}{seed}", case
        elif verdict != "refused":
            sys.exit(f"{seed}: {verdict}: {reason}")


def add(tar, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def arrays(named):
    out = io.BytesIO()
    np.savez(out, **named)
    return out.getvalue()


def members(name, model, feed, want):
    return [(f"{name}.onnx", model.SerializeToString()), (f"{name}.in.npz", arrays(feed)), (f"{name}.want.npz", arrays(want))]


def made(kind):
    """(name, content) of all cases of a kind."""
    if kind == "constants":
        for case in constants.cases():
            yield from members(*case)
        return
    for name, case in chosen(kind, COUNTS[kind]):
        print(name, flush=True)
        yield from members(name, *case)


def recorded(path):
    raw = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
        for member in tar:
            yield member.name, tar.extractfile(member).read()


def main():
    path, raw = sys.argv[-1], io.BytesIO()
    only = sys.argv[2] if sys.argv[1] == "--only" else None
    there = list(recorded(path)) if only else []
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for kind in ("constants", *COUNTS):
            old = [(name, content) for name, content in there if name.startswith(kind)]
            for name, content in old if only and kind != only else made(kind):
                add(tar, name, content)
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", path], input=raw.getvalue(), check=True)


if __name__ == "__main__":
    main()
