#!/bin/sh
# make bench-onnx ONNX=FOLDER [ONLY=TEXT] [JOBS=N] [PYTHON=FILE]: ONNX's node tests and light models by tl-run. Answers count here, not times.
#
# FOLDER is where Python's package onnx lies, such as VENV/lib/python3.11/site-packages/onnx; what that package needs (numpy) lies beside
# it. PYTHON (python3) is an interpreter of the version that the package was built for. ONLY takes the cases that have this text in their
# names. JOBS (2) run at once. bench/onnx-cases.py says how answers are judged.
#
# A case that is wrong can be repeated in build/bench-onnx/cases/NAME: tl-run --no-db -i in.npz -c want.npz model.onnx. The outcome and the
# reason of each case is in build/bench-onnx/figures.ndjson, which the next run replaces. Status 1: something is wrong, crashes or hangs.
set -eu
bin=${BIN:-bin}
dir=build/bench-onnx
[ -d "${ONNX:-}/backend/test" ] || {
	echo "ONNX=FOLDER: the folder of Python's package onnx, with its tests in backend/test" >&2
	exit 2
}
mkdir -p "$dir"
export TL_CACHE="$PWD/$dir/cache"
"${PYTHON:-python3}" bench/onnx-cases.py --run "$bin/tl-run" --dir "$dir" --onnx "$ONNX" --jobs "${JOBS:-2}" ${ONLY:+--only "$ONLY"}
