# shellcheck shell=sh
# What the benches share that try a model on networks which it has not seen: sets bin, dir (empty), model (MODEL; by default the one
# that make bench-model left) and test, the networks, by the name in $bench ("zero" of make bench-zero); and spaces, the folder of what
# was recorded on one CPU (BENCH_CPU, zen4).
# shellcheck disable=SC2034 # used by those who read this
bin=${BIN:-bin}
dir=build/bench-${bench:?}
model=${MODEL:-build/bench-model/1.model}
test=${BENCH_TEST:?the Makefile has the networks to test on}
spaces=share/spaces/${BENCH_CPU:-zen4}
[ "$bench" = model ] || [ -f "$model" ] || {
	echo "bench-$bench: there is no $model: make bench-model first" >&2
	exit 1
}
rm -rf "$dir"
mkdir -p "$dir"
export TL_DB='' TL_MODEL=''

network_of() { # set: the network that it was recorded of, whose name has no hyphen; what stands before says how
	echo "${1##*-}"
}

workloads() { # network
	"$bin/tl-extract" -q "share/models/$1".[tz]*
}
