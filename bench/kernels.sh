#!/bin/sh
# make bench-kernels: the best generated kernel against oneDNN's best, for every unique workload of ResNet-50 and
# MobileNet-V2, timed in turns in one run. Prints a table and means by kind; the records are in
# build/bench-kernels/results.ndjson. Nothing else should run meanwhile. BENCH_SECONDS (600) bounds the search.
set -eu
bench=kernels
# shellcheck source=bench/log.sh
. bench/log.sh
bin=${BIN:-bin}
dir=build/bench-kernels
rm -rf "$dir"
mkdir -p "$dir"
export TL_CACHE="$PWD/$dir/cache"
db=$dir/tl.db
"$bin/tl-extract" -q -o "$dir/workloads" share/models/resnet50.tar.zst share/models/mobilenet_v2.tar.zst
"$bin/tl-tune" -d "$db" --until "seconds<${BENCH_SECONDS:-600}" -o "$dir/tuned" "$dir/workloads"
# The winners once more, all in one run: candidates are results whose type is put back.
sed 's/"type":"result"/"type":"candidate"/' "$dir/tuned" | "$bin/tl-measure" --final 1 -o "$dir/results.ndjson"
awk -f bench/kernels.awk "$dir/results.ndjson"
