#!/bin/sh
# make bench-store: how fast results are stored and questions answered when the database is big. Prints what was
# measured as a table; the same as records is in build/bench-store/figures.ndjson. Nothing else should run meanwhile.
#
# BENCH_RESULTS (1000000) is how many results the database gets, of about 900 bytes each, made up by tests/results.awk:
# rounds of 64 candidates for each workload of the models in share/models at batch sizes from 1 to 32, in two envs in
# turn. BENCH_DIR (build/bench-store) is where; a result takes 1.2 kB. BENCH_KEEP=1 leaves the database there.
set -eu
bench=store
# shellcheck source=bench/log.sh
. bench/log.sh
bin=${BIN:-bin}
dir=${BENCH_DIR:-build/bench-store}
results=${BENCH_RESULTS:-1000000}
models=share/models
rm -rf "$dir"
mkdir -p "$dir"
db=$dir/tl.db

for batch in 1 2 4 8 16 32; do
	"$bin/tl-extract" -q -b $batch "$models"/*.zip "$models"/*.tar.* 2>/dev/null || :
done | "$bin/tl-extract" -q -o "$dir/workloads"
"$bin/tl-extract" -q -o "$dir/resnet50" "$models/resnet50.tar.zst"
round=$(($(wc -l <"$dir/workloads") * 65))
rounds=$(((results + round - 1) / round))

# Rounds $1 to $2 - 1, each a run over all workloads; every other one in the other env.
make_results() {
	i=$1
	while [ "$i" -lt "$2" ]; do
		awk -v n=64 -v first=$((i / 2 * 64)) -v run="run$i" -v seed="$i" -v env="env$((i % 2 + 1))" \
			-v day=$((1 + i / 4 % 28)) -f tests/results.awk "$dir/workloads"
		i=$((i + 1))
	done
}

# Stored in tenths, so that it shows if the rate falls as the database grows.
from=0
tenth=1
while [ $tenth -le 10 ]; do
	to=$((rounds * tenth / 10))
	began=$(date +%s.%N)
	make_results $from $to | "$bin/tl-store" -q -d "$db"
	echo "store $tenth $(((to - from) * round)) $began $(date +%s.%N)"
	from=$to
	tenth=$((tenth + 1))
done >"$dir/stored"

perl bench/store.pl "$bin" "$dir" "$db" >"$dir/figures.ndjson"
[ -n "${BENCH_KEEP:-}" ] || rm -f "$db" "$db-journal"
