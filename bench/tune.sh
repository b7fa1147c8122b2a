#!/bin/sh
# make bench-tune: what a policy of tuning costs, and what it reaches, live, against its rivals.
#
# Each network (MODELS: files, or names of share/models) is tuned from nothing by each of POLICIES with each of SEEDS. The policies
# take turns, and each seed begins with another one. A run has an empty database and an empty cache of kernels, data and library
# times; the machine was probed before. WARM=DB: each run begins with a copy of that database instead. Runs end by themselves, or at
# BUDGET (10m). Rivals have no finals, as the published ones have none. A policy may have options of tl-tune behind it, such as
# preempt:-n:1000:--patience=16, to see what one of them is worth. Rivals search with a model that learns from their own run, as the
# published ones do; lorien,race=1:--search=guided:--filter=model has our model, our filter and our races.
#
# What was ever the best known of a run is timed again, three times in a random order, then what a run ended with and the four best
# of each workload FINALS (15) times more, on another occasion. Those times alone count. A workload's time is the library's where
# nothing better is known. L* is the network's time with the best of all runs.
#
# The table shows for each run its loss against L* at its own end, of the network and at the 95th percentile of its workloads; its
# core-seconds (cores x seconds on the clock: everything is in them, the idle cores, too), and those of its candidates alone; those at which it came within 1% of L*, and of its own end; and which part of the cost of its candidates
# went to those that failed, or that take more than 1.5 times the workload's best. Then each rival against the first policy: the
# core-seconds that the first one took, over those the rival had taken when it first was as good as the first one's end, if an oracle
# had stopped it there. Figures: build/bench-tune/figures.ndjson; the curves of cost and loss: curves.tsv, drawn in
# curves.svg.
# Nothing else should run meanwhile.
set -eu
bench=tune
# shellcheck source=bench/log.sh
. bench/log.sh
top=build/bench-tune
# shellcheck source=bench/policies.sh
. bench/policies.sh

compare() {
	# shellcheck disable=SC2086 # they are words
	in_turns live ${SEEDS:-1 2}
	time_again "${FINALS:-15}" 4
	perl bench/tune.pl table "$dir" "$network" "$(nproc)" "$first" 2>>"$top/figures.ndjson"
	sed "s/^/$network	/" "$dir/curves" >>"$top/curves.tsv"
}

each_network compare
"${BUILD:-build}/bench/curves" <"$top/curves.tsv" >"$top/curves.svg"
