#!/bin/sh
# tl-extract: variations, selection and order of what was found.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

cat >"$tmp/w.csv" <<'END'
op,prob,layout,post,count
conv2d,mb1_ic64ih56_oc64oh56_kh3ph1,nhwc,bias+relu,4
conv2d,mb1_ic64ih56_oc256oh56_kh1,nhwc,bias,2
conv2d,mb1_ic3ih224_oc64oh112_kh7sh2ph3,nhwc,,1
matmul,1x2048:2048x1000,,bias,1
matmul,12x128x64:12x64x128,,,3
END
"$bin/tl-extract" -q "$tmp/w.csv" >"$tmp/w"

# extract OPTION...: what the records of w become, a line "prob count" for each, joined by "; "
extract() {
	"$bin/tl-extract" "$@" <"$tmp/w" 2>"$tmp/err" | tee "$tmp/out" |
		sed 's/.*"prob":"\([^"]*\)".*"count":\([0-9]*\).*/\1 \2/' | paste -s -d ';'
}
# is WANT NAME OPTION...
is() {
	want=$1 name=$2
	shift 2
	got=$(extract "$@")
	[ "$got" = "$want" ]
	ok $? "$name"
	[ "$got" = "$want" ] || printf '# got  %s\n# want %s\n' "$got" "$want"
}
said() { # WORDS NAME
	grep -q -e "$1" "$tmp/err"
	ok $? "$2"
	grep -q -e "$1" "$tmp/err" || sed 's/^/# /' "$tmp/err"
}
refused() { # NAME WORDS OPTION...
	name=$1 words=$2
	shift 2
	"$bin/tl-extract" "$@" <"$tmp/w" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q -e "$words" "$tmp/err"
	ok $? "$name"
	grep -q -e "$words" "$tmp/err" || sed 's/^/# /' "$tmp/err"
}

is 'mb1_ic64ih56_oc64oh56_kh3ph1 4' '--where selects by sizes' --where 'flops>1e7 && kh==3'
said 'left out 4 of 5' 'what is left out is told'
said 'for 1 of these it is unknown.*matmul has no kh' 'and what the condition cannot tell of'
is 'mb1_ic64ih56_oc64oh56_kh3ph1 4' 'a condition that names the operator leaves nothing unknown' \
	--where 'op==conv2d && kh==3'
grep -q 'unknown' "$tmp/err"
[ $? -eq 1 ]
ok $? 'and says nothing of it'
is '12x128x64:12x64x128 3' 'dimensions of products' --where 'b>1'
is 'mb1_ic64ih56_oc64oh56_kh3ph1 4;12x128x64:12x64x128 3' 'counts' --where 'count>=3'
is 'mb1_ic3ih224_oc64oh112_kh7sh2ph3 1' 'arithmetic' --where 'oh*2==ih'
is '1x2048:2048x1000 1' 'operations a byte: 4096000 by 8208192' --where 'op==matmul && flops/bytes<0.5 && bytes==8208192'
is '' 'a condition that holds for nothing' --where 'layout==nchw || total<0'
is 'mb1_ic64ih56_oc256oh56_kh1 2' 'the operations of all instances' --where 'total==2*102760448'
refused 'a name that is none' 'where: column 12: there is no name "hk"' --where 'flops>1 && hk==3'
refused 'no comparison' 'where: column 1: a comparison is wanted' --where 'flops'

is 'mb1_ic3ih224_oc64oh112_kh7sh2ph3 1;mb1_ic64ih56_oc64oh56_kh3ph1 4;mb1_ic64ih56_oc256oh56_kh1 2;12x128x64:12x64x128 3;1x2048:2048x1000 1' \
	'--sort: the largest first, equal ones as they were' --sort flops
is 'mb1_ic64ih56_oc64oh56_kh3ph1 4;12x128x64:12x64x128 3;mb1_ic64ih56_oc256oh56_kh1 2;mb1_ic3ih224_oc64oh112_kh7sh2ph3 1;1x2048:2048x1000 1' \
	'by count' --sort count
is 'mb1_ic3ih224_oc64oh112_kh7sh2ph3 1;1x2048:2048x1000 1;mb1_ic64ih56_oc256oh56_kh1 2;12x128x64:12x64x128 3;mb1_ic64ih56_oc64oh56_kh3ph1 4' \
	'--reverse: the smallest first' --sort count -r
is 'mb1_ic64ih56_oc64oh56_kh3ph1 4;mb1_ic3ih224_oc64oh112_kh7sh2ph3 1' 'by the operations of all' \
	--sort total --where 'op==conv2d && kh>1'
is '1x2048:2048x1000 1;mb1_ic64ih56_oc256oh56_kh1 2;mb1_ic3ih224_oc64oh112_kh7sh2ph3 1;mb1_ic64ih56_oc64oh56_kh3ph1 4;12x128x64:12x64x128 3' \
	'by bytes' --sort bytes
refused '--reverse alone' 'reverse belongs to --sort' --reverse

is 'mb1_ic64ih56_oc64oh56_kh3ph1 4;mb4_ic64ih56_oc64oh56_kh3ph1 4;mb1_ic64ih56_oc256oh56_kh1 2;mb4_ic64ih56_oc256oh56_kh1 2' \
	'--vary: each value; the sources stay' --vary 'mb=1,4' --where 'op==conv2d && ih==56'
said 'made 8 workloads of 5' 'how many came of it is told'
said '2 workloads stay as they are: they have no dimension that --vary names' 'and what it does not touch'
is 'mb1_ic64ih56_oc64oh56_kh3ph1 4;mb1_ic64ih56_oc128oh56_kh3ph1 4;mb2_ic64ih56_oc64oh56_kh3ph1 4;mb2_ic64ih56_oc128oh56_kh3ph1 4' \
	'all combinations, the last term fastest' --vary 'mb=1,2; oc*=1,2' --where 'op==conv2d && kh==3'
is 'mb1_ic64ih112_oc64oh112_kh3ph1 4;mb1_ic3ih448_oc64oh224_kh7sh2ph3 1' 'several names with one value; outputs follow' \
	--vary 'ih,iw*=2' --where 'op==conv2d && kh>1'
is 'mb1_ic64ih56_oc64oh54_kh5ph1 4' 'an output follows from the kernel, too' --vary 'kh,kw+=2' --where 'op==conv2d && kh==5'
is 'mb1_ic64ih56_oc64oh56_kh5ph2 4' 'and from the padding' --vary 'kh,kw+=2; ph,pw+=1' --where 'op==conv2d && kh==5'
is 'mb1_ic64ih56iw56_oc64oh28ow56_kh3kw3sh2sw1ph1pw1 4' 'one axis alone' --vary 'sh*=2' --where 'op==conv2d && kh==3'
is '1x2048:2048x1000 1;64x2048:2048x1000 1;12x32x64:12x64x128 3;12x64x64:12x64x128 3' 'products' \
	--vary 'm=1,32,64' --where 'op==matmul && (b==1 && m!=32 || b>1 && m>1)'
is 'mb1_ic64ih56_oc64oh56_kh3ph1 4;mb1_ic64ih56_oc64oh56_kh3ph1 4' 'layouts' --vary 'layout=nhwc,nchw' --where 'op==conv2d && kh==3'
[ "$(count '"layout":"nchw"' "$tmp/out")" = 1 ]
ok $? 'one record has each'
is 'mb1_ic64ih56_oc64oh56_kh3ph1 4;mb1_ic64ih56_oc64oh56_kh3ph1 4' 'element types' --vary 'dtype=bf16,u8:s8:f32' --where 'op==conv2d && kh==3'
[ "$(sed -n 's/.*"dtype":"\([^"]*\)".*/\1/p' "$tmp/out" | tr '\n' ' ')" = 'bf16 u8:s8:f32 ' ]
ok $? 'both are there'
refused 'an element type that is none' 'the element type "f33" ' --vary 'dtype=f33'
refused 'what is set alone' 'dtype is set alone, as in dtype=f32,bf16' --vary 'dtype,mb=1'
is 'mb1_ic32ih56_oc64oh56_kh3ph1 4;mb1_ic32ih56_oc256oh56_kh1 2' 'a division' --vary 'ic/=2' --where 'op==conv2d'
said 'dropped 1 variation, which is no workload, of mb1_ic3ih224.*no whole number' 'one that leaves a rest is dropped, and told'
is '' 'what is no problem is dropped' --vary 'ph,pw=100,1000' --where 'op==conv2d && ih==56 && g>1'
is 'mb2_ic64ih56_oc64oh56_kh3ph1 4' 'where two turn out equal, a source counts once' --vary 'mb=2,2' --where 'op==conv2d && kh==3'
extract --vary 'mb*=1' >"$tmp/same" && cmp -s "$tmp/w" "$tmp/out"
ok $? 'what does not change is byte for byte the same'
"$bin/tl-extract" -q --vary 'mb=2,8; oc*=2; layout=nchw,nhwc' <"$tmp/w" | "$bin/tl-check" -q
ok $? 'variations are valid records'
"$bin/tl-extract" -q --vary 'mb=8' share/models/resnet18.tar.gz | grep conv2d >"$tmp/a"
"$bin/tl-extract" -q --batch=8 share/models/resnet18.tar.gz | grep conv2d | cmp -s - "$tmp/a"
ok $? 'a batch set afterwards is the batch that the model is read with'

for bad in '' ';' 'mb' '=3' 'mb=' 'mb=x' 'mb=-1' 'mb=1,,2' 'mb=2147483648' 'mb/=0' 'mbb=1' 'mb=1;mb=2' 'mb,mb=1' 'layout*=2' \
	'layout=nhwx' 'layout,mb=1' 'mb=1e3' ',=1'; do
	refused "--vary '$bad' is refused" '^tl-extract: --vary: ' --vary "$bad"
done
refused 'a name that is nearly right' 'no operator has a dimension "icc"; did you mean ic?' --vary 'icc=1'
many=$(seq -s, 200)
refused 'too many combinations' 'more than 10000 variations' --vary "mb=$many;ic=$many"
is 'mb1_ic64ih56_oc64oh56_kh3ph1 4' 'sizes beyond all limits are dropped' \
	--vary 'ic,oc,ih,iw,kh,kw,sh,sw*=1,2147483647' --where 'op==conv2d && kh==3'

echo "1..$n"
