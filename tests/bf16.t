#!/bin/sh
# Kernels in bf16 on processors: candidates, results and what comes of them, for each instruction set that the CPU has.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_ISA TL_CC
export TL_CACHE="$tmp/cache" OMP_NUM_THREADS=2 # trials of several threads go another way

printf 'op,prob,layout,post,count\nconv2d,mb1_ic16ih9_oc24oh9_kh3ph1,nhwc,bias+relu,1\nconv2d,mb1_ic8ih9_oc20oh9_kh1,nchw,bias+add,1\nconv2d,mb1g20_ic20ih9_oc20oh9_kh3ph1,nhwc,bias,1\nconv2d,mb1g8_ic32ih9_oc32oh9_kh3ph1,nhwc,bias,1\nmatmul,12x20:20x24,ab,bias,1\nmatmul,5x7:7x9,ab,,1\n' |
	tr + ' ' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv --vary dtype=bf16 "$tmp/w.csv" >"$tmp/w" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(count '"dtype":"bf16"' "$tmp/w")" -eq 6 ]
ok $? 'workloads in bf16 from a list in f32' || sed 's/^/# /' "$tmp/err"
printf '{"tl":1,"type":"workload","op":"matmul","prob":"12x20:20x24","dtype":"bf16:bf16:f32"}\n' | "$bin/tl-check" >>"$tmp/w"
ok $? 'and one that has a result in f32'

# What a machine can do decides what is proposed.
"$bin/tl-gen" --arch=avx512_bf16 -n 40 "$tmp/w" >"$tmp/dots" && "$bin/tl-gen" --arch=avx512 -n 40 "$tmp/w" >"$tmp/plain"
[ $? -eq 0 ] && [ "$(count '"depth":2' "$tmp/dots")" -ge 100 ] && [ "$(count '"depth"' "$tmp/plain")" -eq 0 ]
ok $? 'products of pairs are proposed where there is an instruction for them'
printf '{"tl":1,"type":"workload","op":"matmul","prob":"%s","dtype":"bf16"}\n' 20x96:96x24 20x72:72x24 1x96:96x24 | "$bin/tl-check" |
	"$bin/tl-gen" --arch=avx512_amx -n 40 | grep '"type":"candidate"' >"$tmp/tiles"
[ $? -eq 0 ] && [ "$(grep -o '"prob":"[^"]*"\|"depth":[0-9]*' "$tmp/tiles" | paste -d ' ' - - | sort -u | tr '\n' ' ')" = '"prob":"1x96:96x24" "depth":2 "prob":"20x72:72x24" "depth":24 "prob":"20x96:96x24" "depth":32 ' ]
ok $? 'tile registers take the largest steps that divide what is summed, of more than a row' || sed 's/^/# /' "$tmp/tiles"
printf '{"tl":1,"type":"workload","op":"conv2d","prob":"%s","dtype":"bf16"}\n' ic80ih20oc24oh20kh3ph1 ic64ih20oc24oh20kh3ph1 ic16ih20oc24oh20kh3ph1 | "$bin/tl-check" |
	"$bin/tl-gen" --arch=avx512_amx -a direct -n 200 | grep '"type":"candidate"' >"$tmp/padded"
[ $? -eq 0 ] && [ "$(grep -o 'mb1_ic[0-9]*\|"depth":[0-9]*' "$tmp/padded" | paste -d ' ' - - | sort -u | tr '\n' ' ')" = 'mb1_ic16 "depth":16 mb1_ic16 "depth":24 mb1_ic64 "depth":32 mb1_ic80 "depth":20 mb1_ic80 "depth":30 mb1_ic80 "depth":32 ' ] &&
	! grep 'mb1_ic80.*"depth":32' "$tmp/padded" | grep -q '"copy":0'
ok $? 'the largest step of all where channels are no whole lines, for which the copy has zeros behind them' || grep -o 'mb1_ic[0-9]*\|"depth":[0-9]*' "$tmp/padded" | sort -u | sed 's/^/# /'
grep '"prob":"5x7:7x9"' "$tmp/dots" | grep '"depth":2' >"$tmp/odd" && ! grep -q '"pack_a":0' "$tmp/odd"
ok $? 'and where what is summed has no whole pairs, if zeros can follow on the left side'
"$bin/tl-extract" -q --format csv "$tmp/w.csv" | "$bin/tl-gen" --arch=avx512_bf16 -n 40 >"$tmp/f32"
[ "$(count '"type":"candidate"' "$tmp/f32")" -ge 100 ] && ! grep -q '"depth"' "$tmp/f32"
ok $? 'candidates in f32 know nothing of it'
grep -m 1 '"dtype":"f32".*"algo":"gemm"' "$tmp/f32" | sed 's/"candidate_id":"[0-9a-f]*",//; s/"stream":0/&,"depth":2/' | "$bin/tl-check" --fix |
	"$bin/tl-measure" -q >"$tmp/out" 2>/dev/null
grep -q '"status":"unsupported","why":"no tile multiplies these types so"' "$tmp/out"
ok $? 'and are refused with it' || sed 's/^/# /' "$tmp/out"

measures_for 4 avx512_amx avx512_bf16 avx512 avx2 scalar
if has_isa avx512; then # oneDNN knows bf16 from there on
	[ "$(count '"stage":"final".*"baseline":{"impl":"onednn [^"]*bf16.*"verdict":"' "$tmp/r-avx512")" -ge 1 ]
	ok $? 'and compared with the library in bf16' || grep '"stage":"final"' "$tmp/r-avx512" | sed 's/^/# /'
else
	skip 'the library has no bf16 here'
fi

"$bin/tl-store" -d "$tmp/db" "$tmp/r-scalar" >/dev/null && TL_ISA=scalar "$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/best"
[ $? -eq 0 ] && [ "$(count '"type":"result"' "$tmp/best")" -eq 7 ]
ok $? 'results are stored and found'
"$bin/tl-export" -d "$tmp/db" --all -o "$tmp/library" >"$tmp/out" 2>"$tmp/err" && grep -q '7 kernels of 7 operators' "$tmp/err"
ok $? 'and exported' || sed 's/^/# /' "$tmp/err"
echo "1..$n"
