#!/bin/sh
# make bench-gpu [TARGET=cuda] [MODELS="FILE..."] [BATCHES="1 32"] [BUDGET=SECONDS]: tunes networks on a GPU and tells what came of it.
#
# Each of the models (or lists of workloads, whose batch size is what it is) is tuned for BUDGET seconds (300) at each batch size. Then the table
# of bench/gpu.pl tells of each unique workload the time of its best kernel by the device's clock, its share of the device's peak and of
# its memory's rate by the probe, and, where the target has a library, the ratio of a final. TARGET=opencl takes the first device of OpenCL. Nothing
# else should run meanwhile.
#
# The records behind the table are in build/bench-gpu/figures.ndjson, which the next run removes.
set -eu
bench=gpu
# shellcheck source=bench/log.sh
. bench/log.sh
bin=${BIN:-bin}
target=${TARGET:-cuda}
dir=build/bench-gpu
rm -rf "$dir"
mkdir -p "$dir"
export TL_CACHE="$PWD/$dir/cache"
db=$dir/tl.db

for model in ${MODELS:-share/models/resnet50.tar.zst share/models/mobilenet_v2.tar.zst share/models/bert_base.tar.zst}; do
	name=$(basename "$model")
	name=${name%%.*}
	for batch in ${BATCHES:-1 32}; do
		"$bin/tl-extract" -q --batch "$batch" -o "$dir/$name-$batch.workloads" "$model"
		echo "$name-$batch" >>"$dir/networks"
	done
done
while read -r network; do
	echo "$network: tuning for ${BUDGET:-300} s" >&2
	"$bin/tl-tune" -q --target="$target" -d "$db" --until "seconds<${BUDGET:-300}" -o "$dir/$network.tuned" \
		"$dir/$network.workloads" || echo "tl-tune ended with status $?" >&2
done <"$dir/networks"

"$bin/tl-query" -d "$db" --dump=results -o "$dir/all"
perl bench/gpu.pl "$dir" >"$dir/figures.ndjson"
perl bench/gpu.pl --table "$dir/figures.ndjson"
