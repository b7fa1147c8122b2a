#!/bin/sh
# make bench-model: how well learned models rank what they have never seen, from the recorded spaces of one CPU (share/spaces/zen4;
# BENCH_CPU names another).
#
# Test networks: BENCH_TEST (squeezenet1_1 resnet18 alexnet), of which those are ranked that were recorded. None of their
# workloads, nor any that is equal but for spatial size, batch and post-ops, is learned from. Shown: what the fastest of the first 1,
# 5 and 8 reach of the best's speed, by the model, the draft and at random; the learning curve at 10, 30, 50 and 100% of the
# workloads; an operator that was held out; how fast tl-filter ranks, and what is lost of the best by the 32 of a whole space that it
# keeps. BENCH_TRAIN is the time for each training (2m). Every run on test networks is told in bench/test-runs.ndjson, so that it is
# known how often anyone has looked. The figures are in build/bench-model.
set -eu
bench=model
# shellcheck source=bench/log.sh
. bench/log.sh
# shellcheck source=bench/held-out.sh
. bench/held-out.sh
# shellcheck source=bench/recorded.sh
. bench/recorded.sh
time=${BENCH_TRAIN:-2m}

exclude='' recorded=''
for network in $test; do
	workloads "$network" >"$dir/$network.workloads"
	exclude="$exclude --exclude=$dir/$network.workloads"
	for space in "$spaces/$network.zst" "$spaces"/*-"$network".zst; do
		[ ! -f "$space" ] || recorded="$recorded $(basename "$space" .zst)"
	done
done
[ -n "$recorded" ] || {
	echo "bench-model: none of $test was recorded ($spaces): make spaces" >&2
	exit 1
}
learn=''
for set in "$spaces"/*.zst; do
	case " $recorded " in *" $(basename "$set" .zst) "*) continue ;; esac
	learn="$learn $set"
done

rank() { # model name: of the test networks
	for network in $recorded; do
		build/bench/rank "$1" "$spaces/$network.zst" >"$dir/$2.$network.ndjson"
		grep '"model_id"' "$dir/$2.$network.ndjson" | sed "s/\"rank\",/\"rank\",\"network\":\"$network\",\"learned\":\"$2\",/" |
			tee -a "$dir/figures.ndjson" |
			sed "s/\"rank\",/\"rank\",\"at\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",/" >>bench/test-runs.ndjson
	done
}

for share in 0.1 0.3 0.5 1; do
	echo "learning from a share of $share of the workloads" >&2
	# shellcheck disable=SC2086 # lists of files and options
	"$bin/tl-train" --time="$time" --share=$share $exclude -o "$dir/$share.model" $learn
	rank "$dir/$share.model" $share
done

echo "learning without matrix products" >&2
for set in "$spaces"/*.zst; do zstdcat "$set" | grep '"type":"workload".*"op":"matmul"' || :; done >"$dir/matmul.workloads"
# shellcheck disable=SC2086
"$bin/tl-train" --time="$time" $exclude --exclude="$dir/matmul.workloads" -o "$dir/conv2d.model" $learn
if [ -f "$spaces/bert_base.zst" ]; then
	build/bench/rank "$dir/conv2d.model" "$spaces/bert_base.zst" | grep '"model_id"' |
		sed 's/"rank",/"rank","network":"bert_base","learned":"conv2d",/' >>"$dir/figures.ndjson"
fi

echo "how fast tl-filter ranks, and what it loses" >&2
for network in $recorded; do
	machine_of "$network"
	name=$(network_of "$network")
	zstdcat "$spaces/$network.zst" >"$dir/space"
	perl bench/model.pl candidates "$dir/space" | "$bin/tl-check" --fix >"$dir/candidates"
	for how in draft model; do
		start=$(date +%s.%N)
		"$bin/tl-filter" -m "$dir/1.model" --by=$how -k 32 -o "$dir/kept.$how" "$dir/candidates"
		end=$(date +%s.%N)
		lost=$(perl bench/model.pl lost "$dir/$name.workloads" "$dir/kept.$how" "$dir/space")
		awk -v s="$start" -v e="$end" -v n="$(wc -l <"$dir/candidates")" -v how=$how -v network="$network" -v lost="$lost" 'BEGIN {
			printf "{\"tl\":1,\"type\":\"filter\",\"network\":\"%s\",\"by\":\"%s\",\"candidates\":%d,\"per_s\":%.0f,%s}\n", network, how, n, n / (e - s), lost }' \
			>>"$dir/figures.ndjson"
	done
done
perl bench/model.pl table <"$dir/figures.ndjson"
