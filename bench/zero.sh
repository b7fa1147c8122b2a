#!/bin/sh
# make bench-zero: what schedules are worth that nobody has measured, measured for real.
#
# Each test network (BENCH_TEST) is tried with a model that has learned nothing from it (MODEL; by default build/bench-model/1.model,
# by make bench-model). These ways are compared: the one schedule that tl-query --predict gives; the same with --budget SHOTS (10s);
# the best of 8 and of 64 that are bred inside the model; the best of the 16 in the portfolio; the nearest recorded workload's best
# schedule, fitted; and the best that tuning found (BENCH_TUNE, 3m with the model and as long without; no operator stops for lack of
# gain). All are timed in one run, twice in a random order, and then the best of each way nine times more, which alone count. Shown is each one's latency of the network, the
# sum over its operators weighed by count, over that of what tuning found, and of the best of all.
# RIVAL=BIN:MODEL has another build of these programs predict as well, with its own model ("rival"): so that a change of the draft or
# of the model is judged in one run. All of a workload are timed in duels with the same one. Nothing else should run meanwhile. Figures:
# build/bench-zero/figures.ndjson.
set -eu
bench=zero
# shellcheck source=bench/log.sh
. bench/log.sh
# shellcheck source=bench/held-out.sh
. bench/held-out.sh
tune=${BENCH_TUNE:-3m}

for network in $test; do workloads "$network" >"$dir/$network.workloads"; done
echo "a database of what was recorded of other networks" >&2
for set in "$spaces"/*.zst; do
	case " $test " in *" $(network_of "$(basename "$set" .zst)") "*) continue ;; esac
	zstdcat "$set" | grep '"status":"ok"' | perl bench/zero.pl others "$dir"/*.workloads | "$bin/tl-check" --fix | "$bin/tl-store" -q -d "$dir/others.db"
done

look() { # output
	"$bin/tl-measure" --no-preempt --final 0 --race 20ms -o "$1"
}

as_candidates() { # results on standard input
	sed 's/"type":"result"/"type":"candidate"/; s/,"match":"[^"]*"//; s/,"status":.*/}/'
}

candidates() { # name: those on standard input, marked with it
	grep '"type":"candidate"' | sed "s/}\$/,\"x\":{\"way\":\"$1\"}}/" >>"$dir/$network.candidates"
}

for network in $test; do
	wl=$dir/$network.workloads
	start=$(date +%s.%N)
	"$bin/tl-query" --predict -m "$model" -d "$dir/others.db" "$wl" >"$dir/$network.zero" 2>/dev/null || [ $? -eq 4 ]
	end=$(date +%s.%N)
	echo "$start $end" | awk -v n="$(wc -l <"$wl")" '{ printf "tl-query --predict: %.3f s a workload\n", ($2 - $1) / n }'
	candidates zero <"$dir/$network.zero"
	if [ "${RIVAL:-}" ]; then
		cp "$dir/others.db" "$dir/$network.rival.db"
		"${RIVAL%:*}/tl-query" --predict -m "${RIVAL#*:}" -d "$dir/$network.rival.db" "$wl" 2>/dev/null >"$dir/$network.rival" || [ $? -eq 4 ]
		candidates rival <"$dir/$network.rival"
	fi
	cp "$dir/others.db" "$dir/$network.shots.db"
	"$bin/tl-query" -q --predict --budget "${SHOTS:-10s}" -m "$model" -d "$dir/$network.shots.db" "$wl" >"$dir/$network.shots" || [ $? -eq 4 ]
	as_candidates <"$dir/$network.shots" | candidates shots
	end_shots=$(date +%s.%N)
	echo "$end $end_shots" | awk -v n="$(grep -c '"match":"exact"' "$dir/$network.shots")" '{ printf "with --budget: %.1f s, %d workloads were measured\n", $2 - $1, n }'
	"$bin/tl-query" --predict -m none -d "$dir/others.db" "$wl" 2>/dev/null >"$dir/$network.nearest" || [ $? -eq 4 ]
	candidates nearest <"$dir/$network.nearest"
	"$bin/tl-gen" --search=guided -m "$model" -n 8 "$wl" | candidates guided8
	"$bin/tl-gen" --search=guided -m "$model" -n 64 "$wl" | candidates guided64
	"$bin/tl-gen" --search=portfolio -m "$model" -n 16 "$wl" | candidates portfolio16
	echo "$network: tuning" >&2
	"$bin/tl-tune" -q -d "$dir/$network.db" -m "$model" -s guided --patience 1000 --min-gain 0 --budget "$tune" "$wl"
	"$bin/tl-tune" -q -d "$dir/$network.db" -m none --patience 1000 --min-gain 0 --budget "$tune" "$wl"
	"$bin/tl-query" -d "$dir/$network.db" --top 4 "$wl" >"$dir/$network.tuned" || :
	as_candidates <"$dir/$network.tuned" | candidates tuned
	perl bench/zero.pl looks "$wl" "$dir/$network.candidates" | look "$dir/$network.results"
	perl bench/zero.pl again "$wl" "$dir/$network.candidates" "$dir/$network.results" | look "$dir/$network.again"
	perl bench/zero.pl table "$network" "$wl" "$dir/$network.candidates" "$dir/$network.results" "$dir/$network.again" 2>>"$dir/figures.ndjson"
done
perl bench/zero.pl networks "$dir/figures.ndjson"
