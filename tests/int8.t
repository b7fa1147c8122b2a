#!/bin/sh
# Kernels in 8 bits on processors: candidates, results and what comes of them, for each instruction set that the CPU has.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_ISA TL_CC
export TL_CACHE="$tmp/cache" OMP_NUM_THREADS=2 # trials of several threads go another way

printf 'op,prob,layout,post,dtype\nconv2d,mb1_ic16ih9_oc24oh9_kh3ph1,nhwc,bias+scale+relu,u8:s8:u8\nconv2d,mb1_ic8ih9_oc24oh9_kh1,nchw,bias+scale+add,u8:s8:s8\nconv2d,mb1g24_ic24ih9_oc24oh9_kh3ph1,nhwc,bias+scale,u8:s8:u8\nconv2d,mb1_ic3ih11_oc16oh6_kh3sh2ph1,nhwc,scale,s8\nconv2d,mb1_ic16ih9_oc24oh9_kh3ph1,nhwc,bias+scale+shift+pad,u8:s8:u8\nconv2d,mb1g24_ic24ih9_oc24oh9_kh3ph1,nhwc,bias+scale+relu+shift+pad,u8:s8:u8\nmatmul,12x20:20x24,ab,bias+scale,u8:s8:f32\nmatmul,5x7:7x9,ab,bias,s8:s8:s32\n' |
	tr + ' ' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(count '"post":\[[^]]*"scale"' "$tmp/w")" -eq 7 ]
ok $? 'workloads in 8 bits with scales' || sed 's/^/# /' "$tmp/err"
for bad in '"scale","bias"' '"relu","scale"' '"bias","add","scale"' '"bias","pad","relu"' '"scale","pad"' '"bias","pad"'; do
	printf '{"tl":1,"type":"workload","op":"matmul","prob":"12x20:20x24","dtype":"u8:s8:f32","post":[%s]}\n' "$bad" | "$bin/tl-check" >/dev/null 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q 'the post-op \(bias must be the first\|scale must be the first behind the bias\|pad must be the last, and have a bias\|pad is of convolutions only\)' "$tmp/err"
	ok $? "refused: $bad" || sed 's/^/# /' "$tmp/err"
done
printf '{"tl":1,"type":"workload","op":"matmul","prob":"12x20:20x24","post":["scale"]}\n' | "$bin/tl-check" | "$bin/tl-gen" -n 5 >"$tmp/out" 2>/dev/null
[ "$(count '"type":"candidate"' "$tmp/out")" -eq 0 ] && grep -q 'no algorithm applies' "$tmp/out"
ok $? 'scales of reals have no candidates'

# What a machine can do decides what is proposed.
"$bin/tl-gen" --arch=avx512_vnni -n 40 "$tmp/w" >"$tmp/dots" && "$bin/tl-gen" --arch=avx2 -n 40 "$tmp/w" >"$tmp/plain"
[ $? -eq 0 ] && [ "$(count '"depth":4' "$tmp/dots")" -ge 80 ] && [ "$(count '"depth":4' "$tmp/plain")" -eq 0 ] && [ "$(count '"depth":2' "$tmp/plain")" -ge 80 ]
ok $? 'products of four are proposed where there is an instruction for them, else those of two'
! grep '"dtype":"s8' "$tmp/dots" | grep -q '"depth":4'
ok $? 'and for a source without a sign'

# Taps with gaps between them are never long enough together for a tile: their convolutions have candidates without.
printf 'op,prob,layout,post,dtype\nconv2d,mb1_ic8ih20_oc16oh20_kh3ph2dh1,nhwc,bias scale shift,u8:s8:u8\nconv2d,mb1_g2ic16ih20_oc32oh16_kh3dh1,nhwc,bias scale,s8\nconv2d,mb1_ic3ih20_oc16oh16_kh3dh1,nhwc,bias,bf16\n' >"$tmp/gaps.csv"
"$bin/tl-extract" -q --format csv "$tmp/gaps.csv" | "$bin/tl-gen" --arch=avx512_amx -n 20 >"$tmp/gaps"
[ $? -eq 0 ] && [ "$(count '"type":"candidate"' "$tmp/gaps")" -eq 60 ]
ok $? 'dilated convolutions of few channels have candidates on a machine with tiles' || grep '"end"' "$tmp/gaps" | sed 's/^/# /'

# A right side that is computed is packed in groups on the clock; zeros follow where k has no whole ones, also of a constant side.
{
	for prob in 2x9x20:2x20x24 5x33x21:5x21x17; do
		printf '{"tl":1,"type":"workload","op":"matmul","prob":"%s","dtype":"u8:s8:s32","rhs":"computed"}\n' $prob
	done
	printf '{"tl":1,"type":"workload","op":"matmul","prob":"6x31x22:6x22x19","dtype":"u8:s8:s32"}\n'
} | "$bin/tl-check" | "$bin/tl-gen" --arch=avx512_vnni -n 60 >"$tmp/computed"
[ "$(count '"depth":4' "$tmp/computed")" -eq 180 ]
ok $? 'products by a computed right side, or of no whole groups, have groups of four alone'
grep -m 1 '"prob":"2x9x20:2x20x24".*"depth":4' "$tmp/computed" | sed 's/"candidate_id":"[0-9a-f]*",//; s/"depth":4/"depth":2/' | "$bin/tl-export" --one >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'a computed right side has no groups' "$tmp/err"
ok $? 'pairs of a computed right side are refused' || sed 's/^/# /' "$tmp/err"
if has_isa avx512_vnni; then
	grep -e '"type":"workload"' -e '"depth":4' "$tmp/computed" | TL_ISA=avx512_vnni "$bin/tl-measure" -q -o "$tmp/m-computed" 2>"$tmp/err"
	[ "$(count '"type":"result"' "$tmp/m-computed")" -ge 15 ] && ! grep -q '"status":"\(wrong\|crash\|build\|timeout\|unsupported\)"' "$tmp/m-computed"
	ok $? 'which are right' || sed 's/^/# /' "$tmp/err" "$tmp/m-computed"
else
	skip 'products of groups of a computed right side: this CPU has no avx512_vnni'
fi

measures_for 3 avx512_amx avx512_bf16 avx512_vnni avx512 avx2 scalar
if has_isa avx512_vnni; then
	[ "$(count '"stage":"final".*"baseline":{"impl":"onednn [^"]*".*"verdict":"' "$tmp/r-avx512_vnni")" -ge 1 ] ||
		[ "$(count '"impl":"onednn 2' "$tmp/r-avx512_vnni")" -eq 0 ] # later versions have no such scales
	ok $? 'and compared with the library in 8 bits' || grep '"stage":"final"' "$tmp/r-avx512_vnni" | sed 's/^/# /'
else
	skip 'the library has no products of four here'
fi

"$bin/tl-store" -d "$tmp/db" "$tmp/r-scalar" >/dev/null && TL_ISA=scalar "$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/best"
[ $? -eq 0 ] && [ "$(count '"type":"result"' "$tmp/best")" -eq 8 ]
ok $? 'results are stored and found'
"$bin/tl-export" -d "$tmp/db" --all -o "$tmp/library" >"$tmp/out" 2>"$tmp/err" && [ "$(find "$tmp/library/kernels" -name 'scalar_*' | wc -l)" -eq 8 ]
ok $? 'tl-export writes a kernel for each' || sed 's/^/# /' "$tmp/err"
(unset MAKEFLAGS MFLAGS && make -s -C "$tmp/library" THREADS=none check) >"$tmp/out" 2>&1 && grep -q '^8 passed, 0 failed$' "$tmp/out"
ok $? 'which are right' || sed 's/^/# /' "$tmp/out"
echo "1..$n"
