#!/bin/sh
# make bench-machine: what it costs to tune on one machine with what another one has learned.
#
# The other machine is this one with AVX-512, of which the first test network (BENCH_TEST) was recorded; the one that is tuned on is
# this one with AVX2 (TL_ISA): other vectors, half the registers, an env of its own, of which no recording is learned from. It is tuned three ways: "cold", by the analytic draft
# and an empty database; "warm", with the recorded space in the database, of another env there, and a model of the other
# machine; and "misled", the same with all times turned round, so that what was the
# slowest of a workload is told to be the fastest, in the database as well as in what the model has learned. Nobody should pay
# for that: the draft is to take over once 64 times are known. Two runs of BENCH_TUNE (1m) each, the second ones in the
# reverse order. How they are compared: bench/runs.sh.
set -eu
bench=machine
# shellcheck source=bench/log.sh
. bench/log.sh
# shellcheck source=bench/held-out.sh
. bench/held-out.sh
# shellcheck source=bench/runs.sh
. bench/runs.sh
space=$spaces/$network.zst

echo "a database and a model of the other machine, right and wrong" >&2
exclude=''
for n in $test; do
	workloads "$n" >"$dir/$n.workloads"
	exclude="$exclude --exclude=$dir/$n.workloads"
done
learn=''
for set in "$spaces"/*.zst; do
	case " $test " in *" $(basename "$set" .zst) "*) continue ;; esac
	case $set in */avx2-* | */cold-* | */halves-*) continue ;; esac
	learn="$learn $set"
	zstdcat "$set" | perl bench/runs.pl reverse
done >"$dir/reversed"
# shellcheck disable=SC2086 # lists of options and files
"$bin/tl-train" --trials=1 --bag=3 $exclude -o "$dir/warm.model" $learn
# shellcheck disable=SC2086
"$bin/tl-train" --trials=1 --bag=3 $exclude -o "$dir/misled.model" "$dir/reversed"
to_db() { # name: a recorded space on standard input
	grep '"status":"ok"' | perl bench/zero.pl others | "$bin/tl-check" --fix | "$bin/tl-store" -q -d "$dir/$1.1.db"
}
zstdcat "$space" | to_db warm
zstdcat "$space" | perl bench/runs.pl reverse | to_db misled
for way in warm misled; do cp "$dir/$way.1.db" "$dir/$way.2.db"; done

export TL_ISA=avx2
tune_way() { # way seed
	case $1 in
	cold) tune cold "$2" --filter=draft ;;
	warm) tune warm "$2" -m "$dir/warm.model" ;;
	misled) tune misled "$2" -m "$dir/misled.model" ;;
	esac
}
for way in warm misled cold; do tune_way $way 1; done
for way in cold misled warm; do tune_way $way 2; done
compare
