#!/bin/sh
# --strict and TL_STRICT: products in single precision as such, without kernels by halves of bf16.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_STRICT TL_ISA

echo '{"tl":1,"type":"workload","op":"matmul","prob":"20x96:96x24"}' | "$bin/tl-check" --fix >"$tmp/w"
gen() { "$bin/tl-gen" --arch=avx512_amx -n 0 "$@" "$tmp/w"; }
candidates() { grep '"type":"candidate"' "$1" | sort; }
halves() { grep -c '"algo":"gemm_bf16x2"' "$1"; }

gen >"$tmp/all" && [ "$(halves "$tmp/all")" -ge 50 ]
ok $? 'kernels by halves are proposed where there are tile registers'
echo '{"tl":1,"type":"workload","op":"conv2d","prob":"ic64ih14oc64oh14kh3ph1"}' | "$bin/tl-check" --fix |
	"$bin/tl-gen" --arch=avx512_amx -n 50 -a direct_bf16x2 >"$tmp/conv" && [ "$(grep -c '"algo":"direct_bf16x2"' "$tmp/conv")" -eq 50 ]
ok $? 'and of convolutions'
gen --strict >"$tmp/strict" && [ "$(halves "$tmp/strict")" -eq 0 ] && candidates "$tmp/all" | grep -v gemm_bf16x2 >"$tmp/others" &&
	candidates "$tmp/strict" | cmp -s - "$tmp/others"
ok $? '--strict: they are not, and all others are'
TL_STRICT=1 gen >"$tmp/set" && cmp -s "$tmp/set" "$tmp/strict"
ok $? 'nor with TL_STRICT=1'
TL_STRICT=0 gen >"$tmp/set" && cmp -s "$tmp/set" "$tmp/all"
ok $? 'TL_STRICT=0 is as if it were not set'
TL_STRICT=yes "$bin/tl-gen" -n 1 "$tmp/w" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'TL_STRICT is "yes", which is neither 0 nor 1' "$tmp/err"
ok $? 'another value is refused' || sed 's/^/# /' "$tmp/err"

# Stored results: the quicker one is by halves.
env='"run":"a1000000000000000000000000000000","env_id":"e1000000000000000000000000000000"'
result() { # algorithm, latency
	gen -a "$1" | grep -m 1 '"type":"candidate"' |
		sed -e 's/"type":"candidate"/"type":"result"/' \
			-e "s/}\$/,\"status\":\"ok\",\"stage\":\"race\",\"latency_s\":$2,\"error\":{\"l2\":0,\"max\":0},\"at\":\"2026-11-29T01:00:00.000Z\",$env}/"
}
answer() { # options
	"$bin/tl-query" -q -d "$tmp/db" --env e1000000000000000000000000000000 "$@" "$tmp/w" 2>"$tmp/err" | grep -o '"algo":"[^"]*"'
}
{
	result gemm_bf16x2 0.001
	result gemm 0.002
} >"$tmp/results"
"$bin/tl-store" -q -d "$tmp/db" "$tmp/results" 2>"$tmp/err" && [ "$(answer)" = '"algo":"gemm_bf16x2"' ]
ok $? 'the best answer is by halves' || sed 's/^/# /' "$tmp/err"
[ "$(answer --strict)" = '"algo":"gemm"' ] && [ "$(answer --strict --top=5)" = '"algo":"gemm"' ]
ok $? '--strict: the next best is' || sed 's/^/# /' "$tmp/err"

# Outputs that differ.
run() { # options
	"$bin/tl-run" --no-db -m none --random-weights 5 -i tests/run/images.npz -c tests/run/images.npz "$@" tests/run/images.onnx >"$tmp/out" 2>"$tmp/err"
}
if ! "$bin/tl-run" --no-db -m none -q --profile tests/run/images.onnx 2>"$tmp/err" | grep -q bf16x2; then
	skip 'tl-run names --strict: no kernels by halves run here'
else
	run
	[ $? -eq 1 ] && grep -q 'of the kernels compute by halves of bf16; --strict leaves them out' "$tmp/err"
	ok $? 'where outputs differ, and kernels compute by halves, tl-run names --strict' || sed 's/^/# /' "$tmp/err"
	run --strict
	[ $? -eq 1 ] && ! grep -q strict "$tmp/err"
	ok $? 'with --strict it does not' || sed 's/^/# /' "$tmp/err"
fi
echo "1..$n"
