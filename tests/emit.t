#!/bin/sh
# tl-extract --emit: workloads in the words of others, and back.
bin=${BIN:-bin}
models=share/models
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# what FILE: all of its workloads but their sources
what() {
	sed 's/,"source":.*//' "$1" | sort
}
# round NAME FILE: records of FILE, written in each form and read again
round() {
	for form in csv benchdnn; do
		"$bin/tl-extract" -q --emit="$form" "$2" >"$tmp/text" && [ -s "$tmp/text" ] && ! grep -q '^{' "$tmp/text" &&
			"$bin/tl-extract" -q --format="$(echo "$form" | sed s/benchdnn/log/)" "$tmp/text" >"$tmp/back" && what "$2" >"$tmp/a" && what "$tmp/back" | cmp -s - "$tmp/a"
		ok $? "$1 as $form and back: the same workloads with their counts"
	done
}

for net in resnet18.tar.gz mobilenet_v2.tar.zst bert_base.tar.zst; do
	"$bin/tl-extract" -q "$models/$net" >"$tmp/net.wl"
	round "$net" "$tmp/net.wl"
done
cat >"$tmp/w.csv" <<'END'
op,prob,layout,post,rhs,count
conv2d,mb2_g4ic8ih14iw9_oc8oh14ow9_kh3kw1ph1pw0,nchw,"bias+clip(-1.5,0.1)",,7
conv2d,mb1_ic8ih14_oc8oh7_kh3sh2ph0dh0,nhwc,add+leaky_relu(0.1)+mul,,1
conv2d,mb1_ic8ih14_oc8oh14_kh3ph1,nhwc,relu6,,1
conv2d,mb1_ic8ih14_oc8oh14_kh3ph1,nhwc,hardswish+sigmoid+tanh,,1
matmul,5x7:7x9,,bias+silu,,1
matmul,5x7:7x9,,gelu,computed,3
matmul,3x5x7:3x7x9,,bias+gelu_tanh+mul,computed,1
matmul,1x7:7x1,,bias+add+relu,,1
END
"$bin/tl-extract" -q "$tmp/w.csv" >"$tmp/w.wl" && [ "$(count '"type":"workload"' "$tmp/w.wl")" = 8 ]
ok $? 'a list with every post-op'
round 'every post-op' "$tmp/w.wl"

cat >"$tmp/t.csv" <<'END2'
op,prob,layout,post,rhs,count,dtype
conv2d,mb1_ic8ih14_oc8oh14_kh3ph1,nhwc,bias+relu,,2,u8:s8:u8
conv2d,mb1_ic8ih14_oc8oh14_kh3ph1,nchw,,,1,bf16
conv3d,mb1_ic8id4ih14iw14_oc8od4oh14ow14_kd3kh3kw3pd1ph1pw1,ndhwc,bias,,3,f32
conv3d,mb1_ic8id4ih14iw14_oc8od4oh14ow14_kd3kh3kw3pd1ph1pw1,ncdhw,,,1,f16:f16:f32
matmul,5x7:7x9,,,,1,s8:s8:s32
END2
"$bin/tl-extract" -q "$tmp/t.csv" >"$tmp/t.wl" && [ "$(count '"type":"workload"' "$tmp/t.wl")" = 5 ]
ok $? 'a list with other element types, and three dimensions'
round 'element types and dimensions' "$tmp/t.wl"
printf 'op,prob\nsoftmax,64x1000\n' >"$tmp/s.csv"
"$bin/tl-extract" -q --emit=csv "$tmp/s.csv" | "$bin/tl-extract" -q -f csv >"$tmp/out" && [ "$(count '"op":"softmax"' "$tmp/out")" = 1 ] &&
	"$bin/tl-extract" --emit=benchdnn "$tmp/s.csv" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ] && grep -q 'no words for 1 of 1 workload$' "$tmp/err"
ok $? 'an operator that benchdnn has no words for here'
"$bin/tl-extract" -q --emit=benchdnn "$tmp/w.wl" | sed -n '1,2p;7p' >"$tmp/out"
cat >"$tmp/want" <<'END'
--conv --reset --dir=FWD_B --stag=abx --dtag=abx --attr-post-ops=clip:-1.5:0.1 mb2g4_ic8ih14iw9_oc8oh14ow9_kh3kw1ph1pw0n"w:2_1*7"
--conv --reset --dir=FWD_I --stag=axb --dtag=axb --attr-post-ops=sum+relu:0.1+mul:f32:per_tensor mb1_ic8ih14_oc8oh7_kh3sh2n"w:3"
--matmul --reset --wtag=abx --bia_dt=f32 --bia_mask=4 --attr-post-ops=gelu_tanh+mul:f32:per_tensor 3x5x7:3x7x9n"w:8"
END
cmp -s "$tmp/want" "$tmp/out"
ok $? "benchdnn's words"
"$bin/tl-extract" -q --emit=csv "$tmp/w.wl" | sed -n 1,2p >"$tmp/out"
[ "$(head -n 1 "$tmp/out")" = 'op,prob,layout,post,rhs,count,dtype' ] && grep -q ',nchw,"bias+clip(-1.5,0.1)",,7,f32$' "$tmp/out"
ok $? 'a list has a header, and quotes where they are needed'
"$bin/tl-extract" -q --emit=csv --where 'op==matmul' --vary 'n*=2' --sort count <"$tmp/w.wl" >"$tmp/out" &&
	[ "$(sed -n 2p "$tmp/out")" = 'matmul,5x7:7x18,ab,gelu,computed,3,f32' ] && [ "$(wc -l <"$tmp/out")" -eq 5 ]
ok $? 'of what was varied, selected and sorted'
"$bin/tl-extract" -q --emit=records "$tmp/w.wl" | cmp -s - "$tmp/w.wl"
ok $? 'records, as without it'
"$bin/tl-extract" --emit=csv --list "$tmp/w.wl" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'emit is of workloads' "$tmp/err"
ok $? '--list has its own form'

# MIOpen's words: convolutions without post-ops, but for a bias, that are padded alike on both sides.
cat >"$tmp/m.csv" <<'END2'
op,prob,layout,post,rhs,count
conv2d,mb2g4_ic8ih14iw9_oc8oh14ow9_kh3kw1ph1pw0,nchw,bias,,7
conv2d,mb1_ic8ih14_oc8oh10_kh3dh1,nhwc,,,1
conv2d,mb1_ic8ih14_oc8oh7_kh3sh2ph0,nhwc,,,2
conv2d,mb1_ic8ih14_oc8oh14_kh3ph1,nhwc,relu,,1
matmul,5x7:7x9,,,,1
END2
"$bin/tl-extract" -q "$tmp/m.csv" >"$tmp/m.wl"
"$bin/tl-extract" --emit=miopen "$tmp/m.wl" >"$tmp/text" 2>"$tmp/err"
grep -q -- '--emit=miopen has no words for 3 of 5 workloads' "$tmp/err" && [ "$(wc -l <"$tmp/text")" -eq 8 ]
ok $? 'miopen: a line for each operator, and what has no words is counted'
[ "$(head -n 1 "$tmp/text")" = './bin/MIOpenDriver conv -n 2 -c 8 -H 14 -W 9 -k 8 -y 3 -x 1 -p 1 -q 0 -u 1 -v 1 -l 1 -j 1 -m conv -g 4 -b 1 -F 1 -t 1' ]
ok $? 'in the words of the driver'
sed -n 1,2p "$tmp/m.wl" >"$tmp/m2.wl"
what "$tmp/m2.wl" >"$tmp/a" && "$bin/tl-extract" -q -f log "$tmp/text" >"$tmp/back" && what "$tmp/back" | cmp -s - "$tmp/a"
ok $? 'and back: the same workloads with their counts'

# The same of a database.
"$bin/tl-store" -q -d "$tmp/w.db" "$tmp/w.wl"
for form in benchdnn csv; do
	"$bin/tl-query" -d "$tmp/w.db" --emit=$form >"$tmp/text" && "$bin/tl-extract" -q --format="$(echo "$form" | sed s/benchdnn/log/)" "$tmp/text" >"$tmp/back" &&
		what "$tmp/w.wl" >"$tmp/a" && what "$tmp/back" | cmp -s - "$tmp/a"
	ok $? "tl-query --emit=$form: all that the database knows"
done
"$bin/tl-query" -d "$tmp/w.db" --emit=miopen >"$tmp/text" 2>"$tmp/err"
[ $? -eq 0 ] && [ ! -s "$tmp/text" ] && grep -q -- '--emit=miopen has no words for 8 of 8 workloads' "$tmp/err"
ok $? 'tl-query --emit=miopen has no words for some'
"$bin/tl-query" -d "$tmp/w.db" --emit=csv --stats >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'ask one' "$tmp/err"
ok $? 'one question at a time'

echo "1..$n"
