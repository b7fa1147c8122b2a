#!/bin/sh
# tl-extract on models that TensorFlow wrote (tests/networks/tflite/make.py). That their shapes are right is in
# tests/networks.t.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
models=$here/networks/tflite

for name in small small-open small-f16 mobilenet_v2; do
	zstd -dqf -o "$tmp/$name.tflite" "$models/$name.tflite.zst"
	"$bin/tl-extract" -o "$tmp/$name.wl" "$tmp/$name.tflite" 2>"$tmp/$name.err"
done
"$bin/tl-check" -q "$tmp"/*.wl
ok $? 'the records are valid'

for name in small small-open small-f16; do
	sed 's/,"source.*//' "$tmp/$name.wl" >"$tmp/$name.list"
done
cmp -s "$tmp/small.list" "$tmp/small-f16.list"
ok $? 'weights in half precision change nothing'
# Where the batch is open the converter leaves a dilation as blocks of the image in the batch.
grep -v 'kh5' "$tmp/small.list" >"$tmp/one"
grep -v 'kh5' "$tmp/small-open.list" | cmp -s - "$tmp/one" && [ "$(wc -l <"$tmp/one")" -eq $(($(wc -l <"$tmp/small.list") - 1)) ]
ok $? 'an open batch changes nothing'
grep -q '100.0 % of the model.s [0-9]* multiply-adds' "$tmp/small.err" && grep -q 'not extracted:.*Softmax 1' "$tmp/small.err"
ok $? 'what is left out is said'

"$bin/tl-extract" -q --batch=8 "$tmp/small-open.tflite" >"$tmp/out" &&
	[ "$(grep -c '"prob":"mb8[_g]\|"prob":"mb32g\|"prob":"8x\|"prob":"1536x' "$tmp/out")" -eq "$(wc -l <"$tmp/small.wl")" ]
ok $? '--batch, where the file leaves it open'

"$bin/tl-extract" -q "$models/small-int8.tflite.zst" >"$tmp/out" && [ "$(grep -c '"dtype":"s8"' "$tmp/out")" -eq 9 ] &&
	[ "$(wc -l <"$tmp/out")" -eq 9 ]
ok $? 'the workloads of an 8-bit model are of 8 bits'
# Small weights stay in f32.
"$bin/tl-extract" -q "$models/small-dynamic.tflite.zst" >"$tmp/out" && [ "$(grep -c '"dtype":"f32:s8:f32"' "$tmp/out")" -eq 3 ] &&
	[ "$(grep -c '"dtype":"f32"' "$tmp/out")" -eq 6 ]
ok $? 'those of operators with 8-bit weights alone say so'

# MobileNetV2 as torchvision has it, in ONNX: but for where a stride of 2 pads, and Keras' softmax, it is the same.
"$bin/tl-extract" -q share/models/mobilenet_v2.tar.zst >"$tmp/onnx.wl"
for f in onnx mobilenet_v2; do
	sed 's/.*"prob":"\([^"]*\)",.*"post":\(.*\),"flops":\([0-9]*\),"count":\([0-9]*\).*/\1 \2 \3 \4/' "$tmp/$f.wl" |
		sed 's/\(kh3sh2\)ph[01]/\1/' | sort >"$tmp/$f.list"
done
[ "$(wc -l <"$tmp/onnx.list")" -gt 20 ] && cmp -s "$tmp/onnx.list" "$tmp/mobilenet_v2.list"
ok $? 'MobileNetV2 has the same workloads as in ONNX'
diff "$tmp/onnx.list" "$tmp/mobilenet_v2.list" | sed 's/^/# /'

# However it comes.

"$bin/tl-extract" -q "$models/mobilenet_v2.tflite.zst" | cmp -s - "$tmp/mobilenet_v2.wl"
ok $? 'compressed'
(cd "$tmp" && tar -czf nets.tar.gz small.tflite mobilenet_v2.tflite && cp mobilenet_v2.tflite renamed)
"$bin/tl-extract" -q "$tmp/nets.tar.gz" >"$tmp/out" && "$bin/tl-extract" -q "$tmp/small.tflite" "$tmp/mobilenet_v2.tflite" | cmp -s - "$tmp/out"
ok $? 'in an archive'
# shellcheck disable=SC2002 # a pipe is what is tested
cat "$tmp/mobilenet_v2.tflite" | "$bin/tl-extract" -q | sed 's/stdin:/mobilenet_v2:/g' | cmp -s - "$tmp/mobilenet_v2.wl"
ok $? 'through a pipe'
"$bin/tl-extract" -q "$tmp/renamed" | sed 's/renamed:/mobilenet_v2:/g' | cmp -s - "$tmp/mobilenet_v2.wl"
ok $? 'by its content'

head -c 9000000 "$tmp/mobilenet_v2.tflite" >"$tmp/cut.tflite"
"$bin/tl-extract" "$tmp/cut.tflite" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q 'cut.tflite: it is cut off at byte 9000000' "$tmp/err"
ok $? 'a truncated model'
# The table of a buffer without elements has four bytes, and may be the last.
cp "$models/empty_table_last.tflite" "$tmp/last.tflite"
{ cat "$tmp/last.tflite" && printf '\0\0\0\0'; } >"$tmp/padded.tflite"
for f in last padded; do
	"$bin/tl-extract" -q "$tmp/$f.tflite" | sed 's/.*\("prob".*\),"source.*/\1/' >"$tmp/$f.list"
done
grep -q '^"prob":"1x2:2x3"' "$tmp/last.list" && cmp -s "$tmp/last.list" "$tmp/padded.list"
ok $? 'an empty table at the end of the file'
head -c 435 "$tmp/last.tflite" >"$tmp/cut.tflite"
"$bin/tl-extract" "$tmp/cut.tflite" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut.tflite: it is cut off at byte 435' "$tmp/err"
ok $? 'which is not all there'
echo 'not a model' >"$tmp/bad.tflite"
"$bin/tl-extract" "$tmp/bad.tflite" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'bad.tflite: it is no TFLite model' "$tmp/err"
ok $? 'bytes that are none'

echo "1..$n"
