#!/bin/sh
# make bench-filter: what the filter is worth in a live run of tuning.
#
# The first test network (BENCH_TEST) is tuned from nothing by the same programs three ways: tl-filter ranks by a model that has
# learned nothing of the network (build/bench-model/1.model, by make bench-model), by the analytic draft, or passes on
# whatever comes first. Each way has two runs of BENCH_TUNE (1m) with two seeds, the second ones in the reverse order. How they
# are compared: bench/runs.sh.
set -eu
bench=filter
# shellcheck source=bench/held-out.sh
. bench/held-out.sh
# shellcheck source=bench/runs.sh
. bench/runs.sh
for way in model draft none; do tune $way 1 -m "$model" --filter=$way; done
for way in none draft model; do tune $way 2 -m "$model" --filter=$way; done
compare
