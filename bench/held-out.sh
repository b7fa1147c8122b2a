# shellcheck shell=sh
# What the benches share that try a model on a network which it has not seen: sets bin, dir (empty) and model, by the name in
# $bench ("zero" of make bench-zero).
# shellcheck disable=SC2034 # used by those who read this
bin=${BIN:-bin}
dir=build/bench-${bench:?}
model=build/bench-model/1.model
[ -f "$model" ] || {
	echo "bench-$bench: there is no $model: make bench-model first" >&2
	exit 1
}
rm -rf "$dir"
mkdir -p "$dir"
export TL_DB='' TL_MODEL=''
