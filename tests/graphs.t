#!/bin/bash
# tl-run: random graphs and convolutions, and constants of all kinds, whose answers onnxruntime gave once (tests/graphs/record.py).
# A sample of the graphs is run; TL_TEST_GRAPHS=0 runs all, TL_TEST_GRAPHS=N one in N.
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-$PWD/bin}
# shellcheck source=tests/tap.sh
. tests/tap.sh

zstd -dcq tests/graphs/recorded.tar.zst | tar -xf - -C "$tmp"
set -- "$tmp"/*.onnx
[ $# -gt 250 ]
ok $? 'there are graphs'

isas=
for isa in avx512 avx2 scalar; do
	has_isa $isa && isas="$isas $isa"
done
# shellcheck disable=SC2086 # a list
set -- $isas

equal() { # name options..
	local name=$1
	shift
	"$bin/tl-run" --no-db -m none --check-memory -i "$tmp/$name.in.npz" -c "$tmp/$name.want.npz" "$@" "$tmp/$name.onnx" >"$tmp/log" 2>&1
	local status=$?
	[ $status -eq 0 ] || grep -v ': equal: ' "$tmp/log" | sed 's/^/# /'
	return $status
}

share=${TL_TEST_GRAPHS:-$([ -n "$SAN" ] && echo 10 || echo 3)}
i=0
for model in "$tmp"/*.onnx; do
	name=$(basename "$model" .onnx)
	i=$((i + 1))
	[ "$share" -lt 2 ] || [ "${name#constants}" != "$name" ] || [ $((i % share)) -eq 0 ] || continue
	isa=${*:$((i / 2 % $# + 1)):1}
	TL_ISA=$isa equal "$name" -t $((i % 2 + 1))
	ok $? "$name, $isa"
done

# What --random-weights replaces is only weights.
equal constants_said -t 1 --random-weights 1
ok $? 'integers and what nodes say stay as they are'
equal constants_weights -t 1 --random-weights 1 >/dev/null
[ $? -eq 1 ]
ok $? 'weights do not'
echo "1..$n"
