#!/bin/sh
# make bench-model: how well learned models rank what they have never seen, from the recorded spaces in share/spaces.
#
# Test networks: BENCH_TEST (squeezenet1_1). None of their workloads, nor any that is equal but for spatial size, batch and
# post-ops, is learned from. Shown: what the fastest of the first 1, 5 and 8 reach of the best's speed, by the model, the
# draft and at random; the learning curve at 10, 30, 50 and 100% of the workloads; an operator that was held out; how fast
# tl-filter ranks. BENCH_TRAIN is the time for each training (2m). Every run on test networks is told in bench/test-runs.ndjson,
# so that it is known how often anyone has looked. The figures are in build/bench-model.
set -eu
bin=${BIN:-bin}
dir=build/bench-model
test=${BENCH_TEST:-squeezenet1_1}
time=${BENCH_TRAIN:-2m}
rm -rf "$dir"
mkdir -p "$dir"

learn='' exclude=''
for set in share/spaces/*.zst; do
	name=$(basename "$set" .zst)
	case " $test " in *" $name "*) continue ;; esac
	learn="$learn $set"
done
for name in $test; do
	[ -f "share/spaces/$name.zst" ] || {
		echo "bench-model: $name was not recorded (share/spaces/$name.zst): make spaces" >&2
		exit 1
	}
	zstdcat "share/spaces/$name.zst" | grep '"type":"workload"' >"$dir/$name.workloads"
	exclude="$exclude --exclude=$dir/$name.workloads"
done

rank() { # model name: of the test networks
	for network in $test; do
		build/bench/rank "$1" "share/spaces/$network.zst" >"$dir/$2.$network.ndjson"
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
for set in share/spaces/*.zst; do zstdcat "$set" | grep '"type":"workload".*"op":"matmul"' || :; done >"$dir/matmul.workloads"
# shellcheck disable=SC2086
"$bin/tl-train" --time="$time" $exclude --exclude="$dir/matmul.workloads" -o "$dir/conv2d.model" $learn
if [ -f share/spaces/bert_base.zst ]; then
	build/bench/rank "$dir/conv2d.model" share/spaces/bert_base.zst | grep '"model_id"' |
		sed 's/"rank",/"rank","network":"bert_base","learned":"conv2d",/' >>"$dir/figures.ndjson"
fi

echo "how fast tl-filter ranks" >&2
for network in $test; do cat "$dir/$network.workloads"; done | "$bin/tl-gen" -n 20000 -o "$dir/candidates"
for how in draft model; do
	start=$(date +%s.%N)
	"$bin/tl-filter" -m "$dir/1.model" --by=$how -k 32 -o "$dir/kept.$how" "$dir/candidates"
	end=$(date +%s.%N)
	grep -c '"type":"candidate"' "$dir/candidates" | awk -v s="$start" -v e="$end" -v how=$how \
		'{ printf "{\"tl\":1,\"type\":\"filter\",\"by\":\"%s\",\"candidates\":%d,\"per_s\":%.0f}\n", how, $1, $1 / (e - s) }' \
		>>"$dir/figures.ndjson"
done
perl bench/model.pl <"$dir/figures.ndjson"
