#!/bin/sh
# make bench-fleet: what a database of a fleet takes: results and claims a second, by 1, 8 and 50 processes at once, with a server of
# PostgreSQL on this machine, which syncs, and by 1 and 8 with a file. RESULTS (60000) are stored, in batches as they come. Claims are
# of one unit each, for 3 seconds.
#
# Then how long 1, 2, 4 and 8 workers take for UNITS (64) units of four candidates, of a second each, that they play
# (tests/fleet-measure.pl), against the ideal: that time over the number of workers. And how much of their time 1,000 workers would
# wait for the server, by a simulation with the claims and results a second that were measured.
#
# Prints tables; the figures are in build/bench-fleet/figures.ndjson. Nothing else should run meanwhile.
set -eu
bench=fleet
# shellcheck source=bench/log.sh
. bench/log.sh
bin=${BIN:-bin}
build=${BUILD:-build}
tmp=$build/bench-fleet
rm -rf "$tmp"
mkdir -p "$tmp"
# shellcheck source=tests/postgresql.sh
. tests/postgresql.sh
# shellcheck disable=SC2034 # pg_start reads it
pg_fsync=on
has_postgresql || {
	echo "bench-fleet: there is no PostgreSQL server" >&2
	exit 1
}
trap 'status=$?; pg_end; log_run "end, status $status"; exit $status' EXIT
pg_begin
results=${RESULTS:-60000}
awk -v n=$((results / 3)) -v bare=1 -f tests/results.awk tests/workloads.ndjson >"$tmp/results"
i=0
while [ $((i += 1)) -le 60000 ]; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${i}x64:64x64\"}"; done |
	"$bin/tl-check" --fix >"$tmp/workloads"

now() { date +%s.%N; }
figure() { # kind what processes rate median p99
	printf '%-12s %-8s %9s %14.0f %12s %12s\n' "$@"
	printf '{"tl":1,"type":"fleet_rate","database":"%s","what":"%s","processes":%d,"per_s":%.1f,"median_s":%s,"p99_s":%s}\n' "$1" "$2" "$3" "$4" \
		"${5:-null}" "${6:-null}" >>"$tmp/figures.ndjson"
}
store() { # kind database processes
	split -n "r/$3" "$tmp/results" "$tmp/part."
	began=$(now)
	pids=
	for part in "$tmp"/part.*; do
		"$bin/tl-store" -q -d "$2" "$part" &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086 # they are numbers
	wait $pids
	rate=$(echo "$(wc -l <"$tmp/results") $began $(now)" | awk '{ print $1 / ($3 - $2) }')
	rm "$tmp"/part.*
	figure "$1" results "$3" "$rate" '' ''
}
claim() { # kind database processes
	"$bin/tl-store" -q -d "$2" --open --env any "$tmp/workloads"
	pids=
	i=0
	while [ $((i += 1)) -le "$3" ]; do
		"$build/bench/claims" "$2" 3 >"$tmp/claims.$i" &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086 # they are numbers
	wait $pids
	# shellcheck disable=SC2046 # three words
	figure "$1" claims "$3" $(cat "$tmp"/claims.* | awk '{ sum += $1; if ($2 > m) m = $2; if ($3 > p) p = $3 } END { print sum, m, p }')
	rm "$tmp"/claims.*
}

printf '%-12s %-8s %9s %14s %12s %12s\n' database what processes 'a second' 'median s' '99th s'
for processes in 1 8 50; do
	pg_sql postgres "CREATE DATABASE bench$processes"
	store postgresql "$(pg_uri bench$processes)" $processes
	claim postgresql "$(pg_uri bench$processes)" $processes
done
for processes in 1 8; do
	store file "$tmp/$processes.db" $processes
	claim file "$tmp/$processes.db" $processes
done

# ---- how long a fleet takes ----

bin=$(cd "$bin" && pwd)
PATH=$bin:$PATH
units=${UNITS:-64} each=1
env=$(tl-doctor 2>/dev/null | sed -n 's/^env *\([0-9a-f]*\),.*/\1/p')
export PATH UNITS=2 LEASE=1m PAUSE=0.2 MEASURE="perl $PWD/tests/fleet-measure.pl $env $each" PRUNE="tl-prune --until rounds<1 -b $((units * 4))"
makespan() { # workers
	pg_sql postgres "CREATE DATABASE span$1"
	head -n "$units" "$tmp/workloads" | tl-store -q -d "$(pg_uri "span$1")"
	began=$(now)
	pids=
	i=0
	while [ $((i += 1)) -le "$1" ]; do
		sh share/recipes/worker.sh "$(pg_uri "span$1")" "$tmp/worker.$1.$i" &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086 # they are numbers
	wait $pids
	candidates=$(tl-query -d "$(pg_uri "span$1")" --dump=results | wc -l)
	echo "$1 $candidates $began $(now)" | awk -v each=$each -v figures="$tmp/figures.ndjson" '{
		ideal = $2 * each / $1; took = $4 - $3
		printf "%9d %12d %9.1f %9.1f %9.3f\n", $1, $2, ideal, took, took / ideal
		printf "{\"tl\":1,\"type\":\"makespan\",\"workers\":%d,\"candidates\":%d,\"ideal_s\":%.3f,\"took_s\":%.3f}\n", $1, $2, ideal, took >>figures
	}'
}
printf '\n%9s %12s %9s %9s %9s\n' workers candidates 'ideal s' 'took s' ratio
for workers in 1 2 4 8; do makespan $workers; done
perl bench/fleet-simulate.pl "$tmp/figures.ndjson"
