#!/bin/sh
# make bench-extract: how fast tl-extract reads, and in how much memory. Prints what was measured as a table; the same as
# records is in build/bench-extract/figures.ndjson. Nothing else should run meanwhile.
#
# BENCH_DIR (build/bench-extract) is where 7 GB of models are made; they are removed at the end.
set -eu
bench=extract
# shellcheck source=bench/log.sh
. bench/log.sh
bin=${BIN:-bin}
dir=${BENCH_DIR:-build/bench-extract}
rm -rf "$dir"
mkdir -p "$dir/many"

perl bench/transformer.pl "$dir"
tar -cf "$dir/transformer.tar" -C "$dir" transformer.onnx
zstd -qdf tests/networks/tflite/mobilenet_v2.tflite.zst -o "$dir/mobilenet_v2.tflite"

# 300 models: copies of the recorded ones by turns, each under a name of its own.
for f in share/models/*.tar.zst; do
	tar -xf "$f" -C "$dir/many"
done
unzip -qo share/models/squeezenet1_1.zip -d "$dir/many"
rm "$dir/many/bert_base.onnx"
for f in tests/networks/tflite/*.tflite.zst tests/networks/onnx/*.onnx.zst; do
	[ ! -e "$f" ] || zstd -qdf "$f" -o "$dir/many/$(basename "${f%.zst}")"
done
cp tests/networks/torch/*.pt2 "$dir/many"

perl bench/extract.pl "$bin" "$dir" "$dir/figures.ndjson"
rm -rf "$dir/many" "$dir"/*.tar "$dir"/*.onnx "$dir"/*.data "$dir"/*.tflite
