#!/bin/sh
# make bench-trust: whether what tl-measure and tl-tune say can be had again. BENCH_PART names some of the parts:
#
#   verdicts     the finals of 20 workloads' best candidates in two whole runs, beside build/bench/neighbour: how often the
#                verdicts agree, how many are undecided, how far ratios differ
#   recordings   300 candidates of each of 10 workloads in duels with a reference, twice: the rank correlation of the two
#   start        tl-tune --budget ${BENCH_TUNE:-2m} on three networks: what it found against each schedule that was known at the
#                start (--predict, the portfolio's first two, the draft's first), in duels in six processes each
#
# Nothing else may run meanwhile. All is in build/bench-trust; tables go to standard output, records to files there.
set -eu
bench=trust
# shellcheck source=bench/log.sh
. bench/log.sh
bin=${BIN:-bin}
dir=build/bench-trust
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
export TL_CACHE="$dir/cache" TL_DB="$dir/tl.db"

as_candidates() { # results on standard input: their candidates, each in a group with its workload
	perl bench/trust.pl groups
}

verdicts() {
	rm -f "$TL_DB"
	"$bin/tl-extract" -q share/models/squeezenet1_1.zip share/models/resnet18.tar.gz >"$dir/all.wl"
	head -n 20 "$dir/all.wl" >"$dir/20.wl"
	"$bin/tl-tune" -q --cache=warm --final 0 --until 'rounds<2' -o "$dir/best" "$dir/20.wl" || :
	as_candidates <"$dir/best" >"$dir/finals.in"
	build/bench/neighbour 3600 &
	neighbour=$!
	for run in 1 2; do
		"$bin/tl-measure" --cache=warm -o "$dir/finals$run" "$dir/finals.in"
	done
	kill $neighbour
	perl bench/trust.pl verdicts "$dir/finals1" "$dir/finals2" | tee "$dir/verdicts.txt"
}

recordings() {
	"$bin/tl-extract" -q share/models/squeezenet1_1.zip | head -n 10 >"$dir/10.wl"
	while read -r workload; do
		echo "$workload" >"$dir/one.wl"
		"$bin/tl-gen" -n 300 "$dir/one.wl" >"$dir/one.candidates"
		"$bin/tl-filter" -k 1 --by draft "$dir/one.candidates" | grep '"type":"candidate"' >"$dir/one.first"
		{ cat "$dir/one.wl" "$dir/one.first"; grep '"type":"candidate"\|"type":"end"' "$dir/one.candidates"; }
	done <"$dir/10.wl" >"$dir/recordings.in"
	for run in 1 2; do
		"$bin/tl-measure" --cache=warm --no-preempt --final 0 --race 20ms -o "$dir/recording$run" "$dir/recordings.in"
	done
	perl bench/trust.pl recordings "$dir/recording1" "$dir/recording2" | tee "$dir/recordings.txt"
}

start() {
	for file in resnet18.tar.gz squeezenet1_1.zip bert_base.tar.zst; do
		rm -f "$TL_DB"
		"$bin/tl-extract" -q "share/models/$file" >"$dir/one.wl"
		"$bin/tl-store" -q -d "$TL_DB" </dev/null
		"$bin/tl-query" --predict -d "$TL_DB" "$dir/one.wl" >"$dir/predicted" || : # 1: none of them was measured
		"$bin/tl-gen" --search=portfolio -n 2 "$dir/one.wl" >"$dir/portfolio"
		"$bin/tl-gen" -n 4096 "$dir/one.wl" | "$bin/tl-filter" -k 1 --by draft >"$dir/draft"
		"$bin/tl-tune" -q --cache=warm --final 1 --budget "${BENCH_TUNE:-2m}" -o "$dir/found" "$dir/one.wl" || :
		perl bench/trust.pl duels "$dir/found" "$dir/predicted" "$dir/portfolio" "$dir/draft" >"$dir/start.in"
		for process in 1 2 3 4 5 6; do
			"$bin/tl-measure" --cache=warm --no-preempt --final 0 --race 300ms -o "$dir/start$process.$file" "$dir/start.in"
		done
		echo "$file"
		perl bench/trust.pl start "$dir"/start[1-6]."$file"
	done | tee "$dir/start.txt"
}

for part in ${BENCH_PART:-verdicts recordings start}; do
	$part
done
