#!/bin/sh
# make bench-metaschedule TVM=FOLDER [TRIALS=N] [OPS="OP PROB ..."] [SEED=N]: what tuning costs, and what it reaches, against MetaSchedule.
#
# FOLDER is a virtual environment of Python with apache-tvm, xgboost and numpy. (Seen with apache-tvm 0.27.0.post1; its apache-tvm-ffi
# 0.1.15 crashes when it tunes, and 0.1.14 does not.) bench/metaschedule.py says how it compares. Both tune for all cores of this machine, and
# TVM for this machine's CPU by name: MCPU=NAME, as LLVM calls it, by default what gcc finds. Nothing else should run meanwhile.
# The figures are added to build/bench-metaschedule/figures.ndjson.
set -eu
bench=metaschedule
# shellcheck source=bench/log.sh
. bench/log.sh
[ -x "${TVM:-}/bin/python3" ] || {
	echo "TVM=FOLDER: a virtual environment with apache-tvm, xgboost and numpy" >&2
	exit 2
}
mcpu=${MCPU:-$(gcc -march=native -Q --help=target | awk '$1 == "-march=" { print $2; exit }')}
ops=${OPS:-conv2d mb1_ic64ih56_oc64oh56_kh3ph1 conv2d mb1_ic256ih56_oc64oh56_kh1 conv2d mb1_ic256ih14_oc256oh14_kh3ph1
conv2d mb1_ic128ih28_oc512oh28_kh1 matmul 128x768:768x768 matmul 128x768:768x3072}
dir=build/bench-metaschedule
mkdir -p "$dir/cache"
# The probe of this machine is no part of either's tuning.
printf '{"tl":1,"type":"workload","op":"matmul","prob":"16x64:64x64"}\n' | TL_CACHE=$PWD/$dir/cache "${BIN:-bin}/tl-gen" -n 1 |
	TL_CACHE=$PWD/$dir/cache "${BIN:-bin}/tl-measure" -q --final=0 >"$dir/probed"
# shellcheck disable=SC2086 # words
"$TVM/bin/python3" bench/metaschedule.py --bin "${BIN:-bin}" --dir "$dir" --trials "${TRIALS:-256}" --threads "$(nproc)" --mcpu "$mcpu" \
	--seed "${SEED:-1}" $ops
