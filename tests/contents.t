#!/bin/sh
# tl-extract --list and --dot: what is in models, lists, logs and records.
bin=${BIN:-bin}
models=share/models
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

"$bin/tl-extract" -q "$models/squeezenet1_1.zip" >"$tmp/s.wl"
"$bin/tl-extract" -q --list --wide "$models/squeezenet1_1.zip" >"$tmp/out"
grep -q '^squeezenet1_1 *Conv *26 *349151936 *100.0 % *workload *$' "$tmp/out" &&
	grep -q '^squeezenet1_1 *Relu *26 *fused *$' "$tmp/out" && grep -q '^squeezenet1_1 *MaxPool *3 *none *$' "$tmp/out"
ok $? '--list: each type with its count and what becomes of it'
[ "$(tail -n 1 "$tmp/out" | tr -s ' ')" = 'squeezenet1_1 all 65 349151936 100.0 % covered' ]
ok $? 'and the sum'
"$bin/tl-extract" -q -l --wide -o "$tmp/file" "$models/squeezenet1_1.zip" && cmp -s "$tmp/out" "$tmp/file"
ok $? '-l -o'

"$bin/tl-extract" -q --list "$models/squeezenet1_1.zip" >"$tmp/narrow"
grep -q '^squeezenet1_1 *Conv *26 *100.0 % *workload *$' "$tmp/narrow"
ok $? 'on 80 columns'
"$bin/tl-extract" -q --list --csv "$tmp/s.wl" "$models/resnet18.tar.gz" >"$tmp/out"
printf 'model,operator,count,multiply_adds,share,becomes,why\ns,conv2d,26,349151936,1,workload,\n' >"$tmp/want"
head -n 2 "$tmp/out" | cmp -s - "$tmp/want" && grep -q '^resnet18,Conv,20,1813561344,0.999717' "$tmp/out"
ok $? '--csv: records and a model, one after the other'
[ "$(count ,all, "$tmp/out")" = 0 ]
ok $? 'without sums'

cat >"$tmp/run.log" <<'END'
onednn_verbose,exec,cpu,matmul,jit,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,5x7:7x9,0.01
onednn_verbose,exec,cpu,matmul,jit,undef,src_f64::blocked:ab:f0 wei_f64::blocked:ab:f0 dst_f32::blocked:ab:f0,,,5x7:7x9,0.01
onednn_verbose,exec,cpu,softmax,jit,forward_inference,src_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,alg:softmax_accurate axis:1,5x7,0.01
END
"$bin/tl-extract" -q --list --csv "$tmp/run.log" >"$tmp/out"
cat >"$tmp/want" <<'END'
model,operator,count,multiply_adds,share,time_s,time_share,becomes,why
run,matmul,1,315,0.5,1e-05,0.333333333,workload,
run,matmul,1,315,0.5,1e-05,0.333333333,none,of other types
run,softmax,1,0,0,1e-05,0.333333333,none,
END
cmp -s "$tmp/want" "$tmp/out"
ok $? 'a log: what is not covered, and why'
printf 'op,prob,count\nmatmul,5x7:7x9,3\n' | "$bin/tl-extract" -q --list --csv --format csv | grep -q '^stdin,matmul,3,945,1,workload'
ok $? 'a list'
"$bin/tl-extract" -q --list "$tmp/none.onnx" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'No such file' "$tmp/err"
ok $? 'a missing file is told as always'

"$bin/tl-extract" -q --dot "$models/resnet18.tar.gz" >"$tmp/a.dot" && "$bin/tl-extract" -q --dot - <"$models/resnet18.tar.gz" |
	cmp -s - "$tmp/a.dot"
ok $? '--dot: the same graph, the same text'
[ "$(count 'fillcolor=palegreen3' "$tmp/a.dot")" = 21 ] && [ "$(count 'fillcolor=orange' "$tmp/a.dot")" = 0 ]
ok $? 'a green node for each workload'
[ "$(count '{$' "$tmp/a.dot")" = 1 ] && [ "$(tail -n 1 "$tmp/a.dot")" = '}' ]
ok $? 'one graph'
if command -v dot >/dev/null; then
	dot -Tplain "$tmp/a.dot" >"$tmp/plain" && [ "$(count '^node' "$tmp/plain")" = "$(count '\[.*label=.*\(fillcolor\|ellipse\)' "$tmp/a.dot")" ]
	ok $? 'Graphviz reads it'
else
	skip 'there is no Graphviz'
fi

for wrong in '--list --dot' '--list --sort=flops' '--dot --where=flops>1' '--list --vary=mb=1' --csv --wide; do
	# shellcheck disable=SC2086 # words
	"$bin/tl-extract" $wrong "$tmp/s.wl" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q 'see tl-extract --help' "$tmp/err"
	ok $? "$wrong is refused"
done

echo "1..$n"
