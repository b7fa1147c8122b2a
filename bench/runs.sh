# shellcheck shell=sh
# Runs of tuning that begin with nothing, compared, for the benches that ask what a way of tuning costs. Read after held-out.sh.
#
# What each way's best latency was at which cost is only known when all that ever was the best known of a run is timed again in one
# run, in a random order, three times, and what a run ended with nine times more, as a shared machine's speed changes between the
# runs. Shown are the latency of the network that each run ends with (the sum over its operators, weighed by count) and the
# core-seconds to come within 1% of the latency that all of them reach.
# Nothing else should run meanwhile. Figures: figures.ndjson in the bench's folder.
# shellcheck disable=SC2154 # bin and dir are held-out.sh's
network=${test%% *}
wl=$dir/workloads
workloads "$network" >"$wl"

tune() { # way seed [option...]: in the database of that name, which may be there already
	run=$1.$2
	printf '%s %s' "$1" "$2" >>"$dir/runs"
	echo "$network: tuning, $1, seed $2" >&2
	shift 2
	start=$(date +%s.%N)
	"$bin/tl-tune" -q --cache=warm --seed "${run#*.}" -d "$dir/$run.db" --budget "${BENCH_TUNE:-1m}" -o "$dir/$run.best" "$@" "$wl"
	echo " $start $(date +%s.%N)" >>"$dir/runs"
	"$bin/tl-query" -d "$dir/$run.db" --dump=all >"$dir/$run.all"
}

compare() {
	perl bench/runs.pl incumbents "$wl" "$dir" >"$dir/candidates"
	"$bin/tl-measure" --cache=warm --no-preempt --final 0 --race 20ms -o "$dir/results" "$dir/candidates"
	perl bench/runs.pl table "$network" "$(nproc)" "$wl" "$dir" 2>"$dir/figures.ndjson"
}
