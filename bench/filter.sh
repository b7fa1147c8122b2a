#!/bin/sh
# make bench-filter: what the filter is worth in a live run of tuning.
#
# The first test network (BENCH_TEST) is tuned from nothing by the same programs three ways: tl-filter ranks by a model that has
# learned nothing of the network (build/bench-model/1.model, by make bench-model), by the analytic draft, or passes on
# whatever comes first. Each way has two runs of BENCH_TUNE (1m) with two seeds, the second ones in the reverse order. All that ever
# was the best known of a run is then timed again in one run for all, since a shared machine's speed changes between the
# runs; so it is known what each run had really found at which cost. Shown are the latency of the network each way ends with (the
# sum over its operators, weighed by count) and the core-seconds to come within 1% of the latency that all of them reach.
# The latter is with patience (BENCH_PATIENCE, 1s). Nothing else should run meanwhile. Records: build/bench-filter.
set -eu
bench=filter
# shellcheck source=bench/held-out.sh
. bench/held-out.sh
network=${test%% *}
tune=${BENCH_TUNE:-1m}

wl=$dir/workloads
workloads "$network" >"$wl"
tune() { # way seed
	echo "$network: tuning, filtered by $1, seed $2" >&2
	start=$(date +%s.%N)
	"$bin/tl-tune" -q --seed "$2" -d "$dir/$1.$2.db" -m "$model" --filter="$1" --budget "$tune" -o "$dir/$1.$2.best" "$wl"
	end=$(date +%s.%N)
	"$bin/tl-query" -d "$dir/$1.$2.db" --dump=all >"$dir/$1.$2.all"
	printf '%s %s %s %s\n' "$1" "$2" "$start" "$end" >>"$dir/runs"
}
for way in model draft none; do tune $way 1; done
for way in none draft model; do tune $way 2; done
perl bench/filter.pl incumbents "$wl" "$dir" >"$dir/candidates"
"$bin/tl-measure" --no-preempt --final 0 --max-drift 0 --patience="${BENCH_PATIENCE:-1s}" -o "$dir/results" "$dir/candidates"
perl bench/filter.pl table "$network" "$(nproc)" "$wl" "$dir" 2>"$dir/figures.ndjson"
