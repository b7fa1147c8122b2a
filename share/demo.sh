#!/bin/sh
# make demo [TARGET=cuda|opencl] [BUDGET=SECONDS] [ONNXRUNTIME=FOLDER]: tunes a ResNet-50 kept in share/models on this CPU, or for another target,
# and shows what it brought. BUDGET is the most time for tuning: 90 seconds, or 110 on a device, where the library's search takes minutes.
# On this CPU, where Python has onnx, numpy, and onnxruntime or openvino (FOLDER is a virtual environment with them), the model runs there, too.
# A second run starts from the database of the first and measures only what is new.
set -eu
bin=${BIN:-bin}
target=${TARGET:-cpu}
dir=build/demo
budget=${BUDGET:-90}
rounds=
if [ "$target" != cpu ]; then
	dir=$dir-$target
	budget=${BUDGET:-110}
	rounds='-b 112 --final 2' # 4 for each workload: a round is never cut short, and a device's compiler takes longer
	"$bin/../libexec/tl/$target" --device >/dev/null || exit 3 # which says what is missing
	TL_PROBE=0 "$bin/tl-doctor" --noise 0 | grep "^$target "
fi
mkdir -p "$dir"
TL_CACHE=$PWD/$dir/cache
TL_DB=$PWD/$dir/tl.db
export TL_CACHE TL_DB
model=share/models/resnet50.tar.zst
start=$(date +%s)
echo "Tuning $model; the database is $dir/tl.db. This takes $((budget + 90 + (${#rounds} ? 60 : 0))) s at most."
# shellcheck disable=SC2086 # an option or none
"$bin/tl-tune" --target="$target" $rounds --until "seconds<$budget" "$model"
echo
echo "Took $(($(date +%s) - start)) s. The same table, from the database:"
echo "    bin/tl-extract $model | bin/tl-query -d $dir/tl.db --target=$target --table"
"$bin/tl-extract" -q "$model" | "$bin/tl-query" --target="$target" --report "$dir/report.html" || [ $? -ne 3 ]
echo "As a page with plots: $dir/report.html"
[ "$target" = cpu ] || exit 0 # kernels for others are neither run nor exported
echo
echo "The model itself, with random weights, by the library's convolutions and products and by these:"
for library in --library ''; do
	# shellcheck disable=SC2086 # an option or none
	"$bin/tl-run" --random-weights 1 --bench 2s $library "$model"
done
python=${ONNXRUNTIME:+$ONNXRUNTIME/bin/}python3
if "$python" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || "$python" -c 'import numpy, onnx, openvino' 2>/dev/null; then
	echo "And in turns with onnxruntime and OpenVINO, whichever is installed, with the same weights:"
	"$python" bench/models.py --run "$bin/tl-run" --db "$TL_DB" --dir "$dir" --turns 5 "$model"
else
	echo "(Python's onnxruntime or openvino, onnx and numpy are not installed; with them this would compare.)"
fi
echo
echo "The kernels as a library in C, for your own program:"
echo "    bin/tl-extract $model | bin/tl-export -d $dir/tl.db -o $dir/kernels"
