#!/bin/sh
# shellcheck disable=SC2002,SC3045 # pipes are what is tested; dash has ulimit -v
# tl-extract: archives, standard input, merging, options, and what it says when it cannot.
bin=${BIN:-bin}
models=share/models
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# sum FILE: "flops count" over its records
sum() {
	sed 's/.*"flops":\([0-9]*\),"count":\([0-9]*\).*/\1 \2/' "$1" |
		awk '{ f += $1 * $2; c += $2 } END { printf "%.0f %d\n", f, c }'
}

# model NAME ARCHIVE FLOPS COUNT
model() {
	"$bin/tl-extract" -o "$tmp/$1.wl" "$models/$2" 2>"$tmp/err" && [ "$(sum "$tmp/$1.wl")" = "$3 $4" ] &&
		grep -q "^tl-extract: $1: $4 operators extracted, 100.0 %" "$tmp/err"
	ok $? "$1: $3 flops in $4 operators"
}

model resnet50 resnet50.tar.zst 8178368512 54
model resnet18 resnet18.tar.gz 3628146688 21
model vgg16 vgg16.tar.gz 30940528640 16
model mobilenet_v2 mobilenet_v2.tar.zst 601548544 53
model densenet121 densenet121.tar.zst 5668323328 121
model inception_v3 inception_v3.tar.zst 11426432192 95
model alexnet alexnet.zip 1428376960 8
model squeezenet1_1 squeezenet1_1.zip 698303872 26
model bert_base bert_base.tar.zst 22348431360 97

"$bin/tl-check" -q "$tmp"/*.wl
ok $? 'the records are valid'

grep -q '"prob":"mb1_ic64ih56_oc64oh56_kh3ph1",.*"post":\["bias","add","relu"\],.*"count":2,"source":\["resnet18:[0-9a-f]\{12\}:' \
	"$tmp/resnet18.wl"
ok $? 'batch normalization, residual and relu are fused; equal workloads come once, with their sources'

"$bin/tl-extract" -q "$models/resnet18.tar.gz" "$models/squeezenet1_1.zip" >"$tmp/two.wl" 2>"$tmp/err" && [ ! -s "$tmp/err" ]
ok $? '-q says nothing'
"$bin/tl-extract" -q "$tmp/resnet18.wl" "$tmp/squeezenet1_1.wl" | cmp -s - "$tmp/two.wl"
ok $? 'merging records is extracting together'
"$bin/tl-extract" -q "$tmp/two.wl" "$models/resnet18.tar.gz" "$tmp/two.wl" | cmp -s - "$tmp/two.wl"
ok $? 'extracting twice changes nothing'
cat "$tmp/resnet18.wl" "$tmp/resnet18.wl" | "$bin/tl-extract" -q | cmp -s - "$tmp/resnet18.wl"
ok $? 'nor do records said twice on standard input'
sed 's/"workload_id":"[0-9a-f]*",//' "$tmp/two.wl" | "$bin/tl-extract" -q | grep -o '"workload_id":"[^"]*' >"$tmp/ids"
grep -o '"workload_id":"[^"]*' "$tmp/two.wl" | cmp -s - "$tmp/ids"
ok $? 'records without ids get them'

tar -xOzf "$models/resnet18.tar.gz" >"$tmp/renamed.onnx"
"$bin/tl-extract" -q "$tmp/resnet18.wl" "$tmp/renamed.onnx" | cmp -s - "$tmp/resnet18.wl"
ok $? 'nor does a copy of another name'

tar -xOzf "$models/resnet18.tar.gz" >"$tmp/resnet18.onnx"
"$bin/tl-extract" -q "$tmp/resnet18.onnx" | cmp -s - "$tmp/resnet18.wl"
ok $? 'a plain file is the same as its archive'
gzip -1 -c "$tmp/resnet18.onnx" >"$tmp/resnet18.onnx.gz"
"$bin/tl-extract" -q "$tmp/resnet18.onnx.gz" | cmp -s - "$tmp/resnet18.wl"
ok $? 'so is a compressed one'
"$bin/tl-extract" -q - <"$tmp/resnet18.onnx" | sed 's/stdin:/resnet18:/g' | cmp -s - "$tmp/resnet18.wl"
ok $? 'so is standard input'
cat "$models/resnet18.tar.gz" | "$bin/tl-extract" -q | cmp -s - "$tmp/resnet18.wl"
ok $? 'so is an archive through a pipe'
cat "$models/squeezenet1_1.zip" | "$bin/tl-extract" -q - | cmp -s - "$tmp/squeezenet1_1.wl"
ok $? 'a zip archive too'

"$bin/tl-extract" -q --batch 4 "$models/mobilenet_v2.tar.zst" | grep -q '"prob":"mb4_ic3ih224_oc32oh112_kh3sh2ph1"'
ok $? '--batch'
"$bin/tl-extract" -q --batch=0 "$models/mobilenet_v2.tar.zst" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -e '--batch is 0' "$tmp/err" && [ ! -s "$tmp/out" ]
ok $? 'a batch of none is refused'
"$bin/tl-extract" -q --shape input:2,3,96,96 "$models/mobilenet_v2.tar.zst" | grep -q '"prob":"mb2_ic3ih96_oc32oh48_kh3sh2ph1"'
ok $? '--shape'
"$bin/tl-extract" --dim seq=8 --dim batch=4 "$models/squeezenet1_1.zip" >/dev/null 2>"$tmp/err"
[ $? -eq 0 ] && grep -q 'no model has an open dimension "seq"' "$tmp/err"
ok $? '--dim of a name that is in no model is told'
"$bin/tl-extract" --dim seq:8 "$models/alexnet.zip" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q -e '--dim wants NAME=SIZE' "$tmp/err"
ok $? 'a --dim that is none is a usage error'
"$bin/tl-extract" -q --layout nchw "$models/alexnet.zip" | grep -c '"layout":"nchw"' | grep -q '^5$'
ok $? '--layout'
"$bin/tl-extract" --shape 'input:1,,3' "$models/alexnet.zip" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q 'wants NAME:1,3,224,224' "$tmp/err"
ok $? 'a shape that is none is a usage error'

# refused NAME WORDS COMMAND...: exit 3, WORDS on stderr
refused() {
	name=$1 words=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q -e "$words" "$tmp/err"
	ok $? "$name"
	grep -q -e "$words" "$tmp/err" || sed 's/^/# /' "$tmp/err"
}

head -c 20000 "$models/resnet18.tar.gz" >"$tmp/cut.tar.gz"
refused 'a truncated archive, by its member' 'cut.tar.gz: resnet18.onnx: the archive cannot be read on' \
	"$bin/tl-extract" "$tmp/cut.tar.gz"
head -c 20000000 "$tmp/resnet18.onnx" >"$tmp/cut.onnx"
refused 'a truncated model' 'cut.onnx: it is cut off at byte 20000000' "$bin/tl-extract" "$tmp/cut.onnx"
refused 'a truncated model on a pipe' 'cut off at byte 20000000' sh -c "cat $tmp/cut.onnx | $bin/tl-extract"
echo 'not a model' >"$tmp/bad.onnx"
refused 'bytes that are no ONNX' 'bad.onnx: it is no ONNX model' "$bin/tl-extract" "$tmp/bad.onnx"
: >"$tmp/empty.onnx"
refused 'an empty file' 'empty.onnx: it' "$bin/tl-extract" "$tmp/empty.onnx"
refused 'a missing file' 'No such file' "$bin/tl-extract" "$tmp/none.onnx"
(cd "$tmp" && tar -czf mixed.tar.gz bad.onnx resnet18.onnx cut.onnx)
refused 'bad members among good ones' 'mixed.tar.gz: bad.onnx: it is no ONNX model' "$bin/tl-extract" "$tmp/mixed.tar.gz"
cmp -s "$tmp/out" "$tmp/resnet18.wl"
ok $? 'and the good ones still go on'
refused 'a shape that does not fit the model' 'reads 4 channels, but its weights want 3' \
	"$bin/tl-extract" --shape input:1,4,96,96 "$models/mobilenet_v2.tar.zst"

# Logs of real programs, against what the networks in tests/logs/*_net.py have.
ran() { # NAME
	"$bin/tl-extract" "tests/logs/$1.log" 2>"$tmp/err" |
		sed 's/.*"prob":"\([^"]*\)".*"post":\[\([^]]*\)\].*"count":\([0-9]*\).*/\1 \2 \3/' | tr -d '"' >"$tmp/out"
	cmp -s "$tmp/want" "$tmp/out"
	ok $? "a log of $1: the operators that it ran, with their counts"
	cmp -s "$tmp/want" "$tmp/out" || sed 's/^/# /' "$tmp/out"
}
cat >"$tmp/want" <<'END'
mb2_ic3ih64_oc16oh32_kh7sh2ph3 bias 1
mb2_ic16ih16_oc16oh16_kh3ph1 bias 2
mb2_ic16ih16_oc16oh16_kh1 bias 3
mb2g16_ic16ih16_oc16oh16_kh3ph1 bias 1
mb2_ic16ih16_oc32oh8_kh3sh2ph1 bias 1
2x32:32x64 bias 1
2x64:64x10 bias 1
6x12x20:6x20x8  1
END
ran pytorch
grep -q 'pytorch: 11 instances extracted, .*; not extracted: reorder' "$tmp/err"
ok $? 'and what is left out'
cat >"$tmp/want" <<'END'
mb2_ic3ih64_oc16oh32_kh7sh2ph2 bias,relu 1
mb2_ic16ih32_oc16oh32_kh3ph1 bias,add,relu 3
mb2_ic16ih32_oc32oh32_kh1 bias,relu6 1
2x32:32x10 bias 1
END
ran tensorflow

cp "$tmp/resnet18.wl" "$tmp/keep"
"$bin/tl-extract" -q -o "$tmp/keep" "$models/alexnet.zip" && cmp -s "$tmp/keep" "$tmp/alexnet.wl"
ok $? '-o replaces its file'

# A model ten times as large as what is allowed may not take more memory than its graph.
(ulimit -v 200000 && "$bin/tl-extract" -q "$models/vgg16.tar.gz") 2>"$tmp/err" | cmp -s - "$tmp/vgg16.wl"
s=$?
if grep -q -i 'sanitizer' "$tmp/err"; then
	n=$((n + 1))
	echo "ok $n # SKIP address space of a sanitized program"
else
	ok $s '553 MB of weights are passed over'
fi

# A list may count no more than there is memory for.
awk 'BEGIN { print "op,prob,count"; for (i = 1; i <= 10; i++) print "matmul,2x8:8x" i ",100000" }' >"$tmp/many.csv"
(
	[ -n "$SAN" ] || ulimit -v 400000
	"$bin/tl-extract" "$tmp/many.csv" >"$tmp/out" 2>"$tmp/err"
)
[ $? -eq 0 ] && grep -q 'beyond what a list may hold' "$tmp/err" && [ "$(wc -l <"$tmp/out")" -lt 10 ] && "$bin/tl-check" -q "$tmp/out"
ok $? 'a list of a million instances'
(cd "$tmp" && sed 's/matmul,2/matmul,3/' many.csv >more.csv && tar -cf many.tar many.csv more.csv)
"$bin/tl-extract" "$tmp/many.tar" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(grep -c 'beyond what a list may hold' "$tmp/err")" -eq 2 ] && grep -q 'more: 0 instances' "$tmp/err"
ok $? 'the bound holds for all lists together'

echo "1..$n"
