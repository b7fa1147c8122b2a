#!/bin/sh
# make bench-search: what policies of tuning cost, and what they reach, in simulated runs over a recording that closes itself.
#
# Each network (MODELS: files, workload records among them, or names of share/models) is tuned from nothing by each of POLICIES with
# each of SEEDS (1 to 20). What a run asks for and RECORDING (build/search.db) does not hold is measured then, in LOOKS (3) processes,
# and stays there for the next run, and for the next time. A run draws its looks by its seed. All that a live run would hold the
# machine for is charged (tl-replay --charge=run). Policies may have options, and have finals or not, as in bench/tune.sh.
#
# L* is the network's time with the best of each workload, among what runs ended with and the best 32 of all that was recorded. These
# are timed again FINALS (15) times, each in a process of its own, on another occasion than the one that chose them. Those times alone
# count; what is not among them is brought to their scale.
#
# The table shows for each policy, over its runs: the loss against L*, as a mean with a 95% interval by bootstrap over workloads and
# runs, and at most; the loss at the 95th percentile of workloads; the loss without the easy workloads, which the first policy brings
# within 3% with 8 candidates; the core-seconds, of all and of the candidates alone; those to within 1% of L* (the median, and how many
# runs came there); and which part of the cost of candidates went to those that failed, or that take more than 1.5 times the workload's
# best. Then the first policy's core-seconds over each rival's, paired by seed, with a 95% interval
# by bootstrap over the seeds: both at their own stops, and the rival stopped by an oracle when it is as good as the first one's end.
# Figures: build/bench-search/figures.ndjson; the curves of cost and loss: curves.tsv, curves.svg.
#
# GATE=1: is the simulation to be believed? Each run (SEEDS: 1 2 3) is made live, too. The table shows cost and latency of both and
# their ratios; the latencies come from one occasion. Nothing else should run meanwhile.
set -eu
bench=search
# shellcheck source=bench/log.sh
. bench/log.sh
top=build/bench-search
recording=${RECORDING:-build/search.db}
# shellcheck source=bench/policies.sh
. bench/policies.sh

simulated() { # policy seed
	way=$1${GATE:+=simulated}
	run=$way.$2
	echo "$network: $1, seed $2, simulated" >&2
	# shellcheck disable=SC2046 # they are words
	"$bin/tl-tune" -q --cache=warm -m "${TL_MODEL:-pretrained}" $(options_of "$1" "$2") --replay "$recording" --close --looks "${LOOKS:-3}" \
		--charge=run -d "$dir/$run.db" -o "$dir/$run.best" "$wl"
	"$bin/tl-query" -q -d "$dir/$run.db" --dump=all >"$dir/$run.all"
	printf '%s %s %s\n' "$way" "$2" "$(perl bench/search.pl span "$dir/$run.all")" >>"$dir/runs"
}

search() {
	# shellcheck disable=SC2046,SC2086 # they are words
	in_turns simulated ${SEEDS:-$(seq 20)}
	"$bin/tl-query" -q -d "$recording" --dump=results | perl bench/search.pl looks "$dir" >"$dir/looks"
	time_best "${FINALS:-15}" 32
	perl bench/search.pl table "$dir" "$network" "$(nproc)" "$first" 2>>"$top/figures.ndjson"
	sed "s/^/$network	/" "$dir/curves" >>"$top/curves.tsv"
}

both() { # policy seed
	live "$@"
	simulated "$@"
}

gate() {
	# shellcheck disable=SC2086 # they are words
	in_turns both ${SEEDS:-1 2 3}
	time_again "${FINALS:-15}" 4
	perl bench/search.pl gate "$dir" "$network" "$(nproc)" 2>>"$top/figures.ndjson"
}

if [ "${GATE:-}" ]; then
	each_network gate
else
	each_network search
	"${BUILD:-build}/bench/curves" <"$top/curves.tsv" >"$top/curves.svg"
fi
