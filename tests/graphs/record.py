"""Keeps graphs with their answers in an archive of NAME.onnx, NAME.in.npz and NAME.want.npz, for tests/graphs.t.

    python3 tests/graphs/record.py tests/graphs/recorded.tar.zst

Those that tl-run refuses, or that are long, are left out: all together are to be small. An answer is onnxruntime's, and never what
tl-run said.
"""
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import constants  # noqa: E402
import random_graphs  # noqa: E402

FROM, GRAPHS, CONVOLUTIONS = 100000, 200, 100
MOST_BYTES, MOST_NUMBERS = 16000, 1200
OPTIONS = ["-m", "none"]


def is_small(case):
    model, feed, want = case
    return (model.ByteSize() < MOST_BYTES and sum(v.size for v in feed.values()) + sum(v.size for v in want.values()) < MOST_NUMBERS)


def chosen(count, convolutions):
    """(name, case) of the first seeds that fit."""
    args, seed = SimpleNamespace(convolutions=convolutions, threads="1", option=OPTIONS), FROM
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
            yield f"{'conv' if convolutions else 'graph'}{seed}", case
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


def main():
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        cases = [(name, (model, feed, want)) for name, model, feed, want in constants.cases()]
        for name, case in [*cases, *chosen(GRAPHS, False), *chosen(CONVOLUTIONS, True)]:
            model, feed, want = case
            add(tar, f"{name}.onnx", model.SerializeToString())
            add(tar, f"{name}.in.npz", arrays(feed))
            add(tar, f"{name}.want.npz", arrays(want))
            print(name, flush=True)
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", sys.argv[1]], input=raw.getvalue(), check=True)


if __name__ == "__main__":
    main()
