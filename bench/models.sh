#!/bin/sh
# make bench-models ONNXRUNTIME=FOLDER|AGAINST=DB|AGAINST=library [MODELS="FILE..."] [BUDGET=SECONDS] [THREADS=N] [TURNS=N] [DB=FILE]
# [ISA=avx2] [CACHE=MODE] [BESIDE=CORE] [PRECISION=bf16|int8]: whole models by tl-run against onnxruntime and OpenVINO, another database, or oneDNN.
#
# FOLDER is a virtual environment of Python with onnx, numpy, and onnxruntime or openvino or both. With BESIDE another program takes half of
# the time of that core, in bursts (bench/neighbour.c). Each model gets random weights, is tuned for BUDGET seconds
# (120) with caches as MODE says (weights-cold, as in a network), and then runs in both programs, TURNS times (15) for a second each: bench/models.py says
# how. Outputs are compared first. ISA holds for both sides. With PRECISION=bf16
# tl-run and OpenVINO compute in bf16; onnxruntime, which does not on a processor, is left out. With PRECISION=int8 MODELS are quantized models with their weights, and bench/quantize.py
# first makes such models of archives, as MODEL_qdq.onnx. Nothing else should run meanwhile.
#
# The figures are in build/bench-models/figures.ndjson, which the next run removes; the database stays, so that a second run goes on tuning.
set -eu
bench=models
# shellcheck source=bench/log.sh
. bench/log.sh
# shellcheck source=bench/isa.sh
. bench/isa.sh
bin=${BIN:-bin}
dir=build/bench-models
mkdir -p "$dir"
rm -f "$dir/figures.ndjson"
export TL_CACHE="$PWD/$dir/cache"
db=${DB:-$dir/tl.db}
python=${ONNXRUNTIME:+$ONNXRUNTIME/bin/}python3
beside=''
[ -z "${BESIDE:-}" ] || beside="neighbour on core $BESIDE"
[ -n "${AGAINST:-}" ] || [ -x "${ONNXRUNTIME:-}/bin/python3" ] || {
	echo "ONNXRUNTIME=FOLDER: a virtual environment with onnx, numpy, and onnxruntime or openvino; or AGAINST=DB, or AGAINST=library" >&2
	exit 2
}
[ -z "${THREADS:-}" ] || export OMP_NUM_THREADS="$THREADS"
precision=${PRECISION:-f32}
models=${MODELS:-share/models/resnet50.tar.zst share/models/mobilenet_v2.tar.zst share/models/bert_base.tar.zst}
if [ "$precision" = int8 ]; then
	quantized=''
	for model in $models; do
		case $model in
		*.onnx) quantized="$quantized $model" ;;
		*)
			name=$(basename "$model")
			name=$dir/${name%%.*}_qdq.onnx
			[ -f "$name" ] || "$python" bench/quantize.py "$bin/tl-run" "$model" "$name"
			quantized="$quantized $name"
			;;
		esac
	done
	models=$quantized
fi
for model in $models; do
	[ "${BUDGET:-120}" != 0 ] || continue
	tuned=$model
	if [ "$precision" != f32 ]; then
		tuned=$dir/workloads
		case $precision in
		int8) "$bin/tl-run" --workloads "$tuned" "$model" ;;
		*) "$bin/tl-run" --random-weights=1 --precision="$precision" --workloads "$tuned" "$model" ;;
		esac
	fi
	"$bin/tl-tune" -q -d "$db" --cache="${CACHE:-weights-cold}" --time "${BUDGET:-120}s" -o "$dir/tuned" "$tuned" ||
		echo "tl-tune ended with status $?" >&2
done
# It ends with this script.
[ -z "$beside" ] || taskset -c "$BESIDE" "${BUILD:-build}/bench/neighbour" 36000 &
# shellcheck disable=SC2086 # names of files, separated by spaces
"$python" bench/models.py --run "$bin/tl-run" --db "$db" --dir "$dir" --turns "${TURNS:-15}" --threads "${THREADS:-0}" \
	${AGAINST:+--against "$AGAINST"} ${beside:+--beside "$beside"} ${ISA:+--isa "$ISA"} --precision "$precision" $models
