#!/bin/sh
# make bench-kernels MODELS="..." [DTYPE=bf16|int8] [BUDGET=SECONDS] [THREADS=N] [ISA=avx2] [ONEDNN=FOLDER]: the best generated kernels against
# oneDNN's.
#
# Each of the models (or lists of workloads, in any format of tl-extract's) is tuned for BUDGET seconds (300); then the best kernel of
# each workload duels with the best that oneDNN has, and, where that is in another layout, with its best in the workload's own. A
# workload of several models is judged once more only where a later model's tuning found a better kernel. ISA holds for us and for
# oneDNN, THREADS for both, too. Nothing else should run meanwhile. int8 is u8:s8:u8 with a scale for each output channel.
#
# Prints the tables of bench/kernels.pl; their records are in build/bench-kernels/figures.ndjson, which the next run removes. For
# PERFORMANCE.md: perl bench/kernels.pl table --markdown FIGURES...
set -eu
commit=$(git describe --always --dirty 2>/dev/null || echo unknown) # before the log makes it a dirty one
bench=kernels
# shellcheck source=bench/log.sh
. bench/log.sh
# shellcheck source=bench/dtype.sh
. bench/dtype.sh
# shellcheck source=bench/isa.sh
. bench/isa.sh
bin=${BIN:-bin}
dir=build/bench-kernels
budget=${BUDGET:-300}
[ -z "${THREADS:-}" ] || export OMP_NUM_THREADS="$THREADS"
rm -rf "$dir"
mkdir -p "$dir"
export TL_CACHE="$PWD/$dir/cache"
db=$dir/tl.db

tell() { # name value
	printf '%s\t%s\n' "$1" "$2" >>"$dir/run"
}
tell begin "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
tell commit "$commit"
tell cpu "$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -n 1)"
tell budget_s "$budget"

for model in ${MODELS:-share/models/resnet50.tar.zst share/models/mobilenet_v2.tar.zst}; do
	name=$(basename "$model")
	name=${name%%.*}
	[ ! -e "$dir/$name.workloads" ] || name=$name-$(wc -l <"$dir/models")
	workloads_in "${DTYPE:-}" "$model" >"$dir/$name.workloads"
	echo "$name" >>"$dir/models"
done
probe() { # what the machine can do with as many threads, as far as nobody else does it meanwhile
	OMP_NUM_THREADS="${THREADS:-$(nproc)}" OMP_PROC_BIND=true OMP_DYNAMIC=false "$bin/../libexec/tl/worker-cpu" --probe >>"$dir/probes"
}
probe
# Tuning that fails leaves workloads that are not judged, and the table says why.
while read -r name; do
	echo "$name: tuning for $budget s" >&2
	"$bin/tl-tune" -q -d "$db" --cache="${CACHE:-warm}" --until "seconds<$budget" -o "$dir/$name.tuned" "$dir/$name.workloads" ||
		echo "tl-tune ended with status $?" | tee "$dir/$name.failed" >&2
	probe
done <"$dir/models"

sed 's|.*|'"$dir"'/&.workloads|' "$dir/models" | xargs cat >"$dir/workloads"
"$bin/tl-query" -d "$db" -o "$dir/best" "$dir/workloads" || [ $? -eq 1 ] # of some nothing is known
"$bin/tl-query" -d "$db" --dump=results -o "$dir/all"
tell end "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
perl bench/kernels.pl figures "$dir" >"$dir/figures.ndjson"
perl bench/kernels.pl table "$dir/figures.ndjson"
