#!/bin/sh
# make bench-left-out: what a learned model is worth on a CPU that it has not learned from, by the recorded spaces of each CPU
# (share/spaces/CPU). It needs no quiet machine, and takes about two minutes on two idle cores.
#
# Each CPU is left out in turn, and with it families of workloads, in folds. Shown: what the fastest of the first 1, 5 and 8 reach
# of the best's speed, over a network's counts and as the mean over workloads; by the draft, by the model that ships (MODEL; it
# may have learned from this CPU), by the model that was left out, and by that model with a share of the draft, as programs use it
# where it has not learned from the CPU; by that among the algorithms that --predict may choose; and by that after a first round of
# tuning (the first 8 of 12 workloads of other families). NETWORKS=test ranks the test networks (BENCH_TEST) as well; such a run is told in
# bench/test-runs.ndjson. The figures are in build/bench-left-out/figures.ndjson.
set -eu
bench=left-out
# shellcheck source=bench/log.sh
. bench/log.sh
dir=build/bench-left-out
mkdir -p "$dir"

test=''
[ "${NETWORKS:-}" != test ] || test="-- ${TEST:?}"
# shellcheck disable=SC2086 # lists of files
"${BUILD:-build}/bench/left-out" "${MODEL:-share/models/cpu.model}" ${LEARN:?} $test >"$dir/figures.ndjson"
grep '"networks":"test"' "$dir/figures.ndjson" | sed "s/\"left-out\",/\"left-out\",\"at\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",/" >>bench/test-runs.ndjson || :
perl bench/left-out.pl <"$dir/figures.ndjson"
