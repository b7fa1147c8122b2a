#!/bin/sh
# Workloads that no algorithm computes yet (other element types, convolutions in three dimensions, ...): each program knows
# them, and that there are no candidates is an ordinary answer.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

ids() { sed 's/.*"workload_id":"\([0-9a-f]*\)".*/\1/' "$@" | sort; }

printf '{"tl":1,"type":"workload",%s}\n' \
	'"op":"matmul","prob":"8x16:16x8"' \
	'"op":"matmul","prob":"8x16:16x8","dtype":"f16"' \
	'"op":"matmul","prob":"8x16:16x8","dtype":"u8:u8:u8"' \
	'"op":"conv2d","prob":"ic8ih14oc16kh3","dtype":"u8:u8:f32","post":["bias","relu"]' \
	'"op":"conv3d","prob":"ic8id4ih14iw14oc16kd3kh3kw3pd1ph1pw1"' \
	'"op":"conv3d","prob":"ic8id4oc16kd3","layout":"ncdhw"' \
	'"op":"attention","prob":"h2m8n8k16"' \
	'"op":"softmax","prob":"16x8","dtype":"f16"' \
	'"op":"eltwise","prob":"16x8","post":["relu"]' \
	'"op":"maxpool2d","prob":"ic8ih14kh2sh2"' \
	'"op":"avgpool2d","prob":"ic8ih14kh2sh2"' \
	'"op":"maxpool3d","prob":"ic8id4ih14iw14kd2kh2kw2sd2sh2sw2"' >"$tmp/hand"
"$bin/tl-check" --fix "$tmp/hand" >"$tmp/wl" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(ids "$tmp/wl" | uniq | wc -l)" -eq 12 ]
ok $? 'tl-check takes them, and each has an id of its own'
[ "$(grep -c '"dtype":"u8",' "$tmp/wl")" -eq 1 ] && grep -q '"prob":"mb1_ic8id4ih14iw14_oc16od4oh14ow14_kd3kh3kw3pd1ph1pw1"' "$tmp/wl"
ok $? 'and their canonical form'
"$bin/tl-check" "$tmp/wl" | cmp -s - "$tmp/wl"
ok $? 'which is final'
for bad in '"op":"matmul","prob":"8x16:16x8","dtype":"s9"' '"op":"conv3d","prob":"ic8id4oc16kd3","layout":"nhwc"' \
	'"op":"conv2d","prob":"ic8ih4oc16kh3","dtype":"u8:f32:f32"'; do
	printf '{"tl":1,"type":"workload",%s}\n' "$bad" | "$bin/tl-check" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q '^tl-check: (standard input):1: ' "$tmp/err"
	ok $? "refused: $bad" || sed 's/^/# /' "$tmp/err"
done

"$bin/tl-gen" --strict -n 5 "$tmp/wl" >"$tmp/gen" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(grep -c '"type":"candidate"' "$tmp/gen")" -eq 5 ] && [ "$(grep -c 'no algorithm applies' "$tmp/gen")" -eq 11 ]
ok $? 'tl-gen: that no algorithm applies is an ordinary answer' || sed 's/^/# /' "$tmp/err"
[ "$(cat "$tmp/err")" = 'tl-gen: no algorithm applies to 11 of 12 workloads: matmul in f16 1, matmul in u8 1, conv2d in u8:u8:f32 1, conv3d in f32 2, attention in f32 1, softmax in f16 1, eltwise in f32 1, maxpool2d in f32 1, avgpool2d in f32 1, maxpool3d in f32 1' ]
ok $? 'which is said once' || sed 's/^/# /' "$tmp/err"
"$bin/tl-gen" --strict -q -n 5 "$tmp/wl" 2>"$tmp/err" | cmp -s - "$tmp/gen" && [ ! -s "$tmp/err" ]
ok $? 'or not at all'
"$bin/tl-gen" -n 5 -a gemm "$tmp/wl" 2>"$tmp/err" | cmp -s - "$tmp/gen" && [ ! -s "$tmp/err" ]
ok $? 'and not where one algorithm is asked for'

# Another type under the candidate of a workload is no candidate of it.
grep -m 1 '"type":"candidate"' "$tmp/gen" | sed 's/"workload_id":"[0-9a-f]*",//; s/"dtype":"f32"/"dtype":"f16"/; s/"candidate_id":"[0-9a-f]*",//' |
	"$bin/tl-check" --fix >"$tmp/false" 2>"$tmp/err"
[ $? -eq 0 ] && "$bin/tl-filter" "$tmp/false" >"$tmp/out" 2>/dev/null
[ $? -eq 0 ] && ! grep -q '"type":"candidate"' "$tmp/out"
ok $? 'tl-filter refuses a candidate that would compute in another type' || sed 's/^/# /' "$tmp/err" "$tmp/out"
"$bin/tl-measure" -q "$tmp/false" >"$tmp/out" 2>"$tmp/err"
grep -q '"status":"unsupported","why":"it computes in single precision, in bf16 and in 8 bits only"' "$tmp/out"
ok $? 'and tl-measure calls it unsupported' || sed 's/^/# /' "$tmp/err" "$tmp/out"

"$bin/tl-filter" -k 2 "$tmp/gen" >"$tmp/kept" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(grep -c '"type":"end"' "$tmp/kept")" -eq 12 ]
ok $? 'groups without candidates pass tl-filter' || sed 's/^/# /' "$tmp/err"
"$bin/tl-measure" -q "$tmp/kept" >"$tmp/results" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(grep -c '"type":"end"' "$tmp/results")" -eq 12 ] && grep -q '"status":"ok"' "$tmp/results"
ok $? 'and tl-measure' || sed 's/^/# /' "$tmp/err"
"$bin/tl-store" -q -d "$tmp/tl.db" "$tmp/results" 2>"$tmp/err" && "$bin/tl-store" -q -d "$tmp/tl.db" "$tmp/wl" 2>"$tmp/err"
ok $? 'tl-store keeps them' || sed 's/^/# /' "$tmp/err"
"$bin/tl-query" -d "$tmp/tl.db" "$tmp/wl" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ "$(grep -c . "$tmp/out")" -eq 1 ] && grep -q '"dtype":"f32".*"match":"exact"' "$tmp/out"
ok $? 'tl-query knows nothing of them' || sed 's/^/# /' "$tmp/err" "$tmp/out"
"$bin/tl-query" -d "$tmp/tl.db" --op=matmul --prob=8x16:16x8 --dtype=bf16 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/out" ]
ok $? 'nor of the one that --dtype names' || sed 's/^/# /' "$tmp/err" "$tmp/out"
"$bin/tl-query" -d "$tmp/tl.db" --op=matmul --prob=8x16:16x8 --dtype=f64 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'element type "f64" is none' "$tmp/err"
ok $? 'which is checked' || sed 's/^/# /' "$tmp/err"
for as in --table --csv --predict --report="$tmp/r.md" --report="$tmp/r.html"; do
	"$bin/tl-query" -d "$tmp/tl.db" "$as" "$tmp/wl" >"$tmp/out" 2>"$tmp/err"
	[ $? -lt 2 ] && ! grep -qw 'nan\|inf' "$tmp/out"
	ok $? "tl-query $(echo "$as" | sed 's/=.*\././') has room for them" || sed 's/^/# /' "$tmp/err"
done
grep -q 'maxpool2d.*ih14' "$tmp/r.md" && grep -q 'avgpool2d.*ih14' "$tmp/r.md"
ok $? 'a report tells the kinds of pools apart'
"$bin/tl-query" -d "$tmp/tl.db" --table "$tmp/wl" | grep -q '^matmul  *8x16:16x8 f16 '
ok $? 'and tells them apart'
"$bin/tl-tune" -q -d "$tmp/tune.db" --min-gain 0 --until 'rounds<3' -b 8 "$tmp/wl" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(grep -c 'no algorithm applies to' "$tmp/err")" -le 1 ]
ok $? 'tl-tune tunes the others' || sed 's/^/# /' "$tmp/err"
"$bin/tl-prune" -d "$tmp/tune.db" "$tmp/wl" >"$tmp/out" 2>/dev/null
[ "$(grep -c '"type":"workload"' "$tmp/out")" -le 1 ] && ! grep -q '"dtype":"bf16"' "$tmp/out"
ok $? 'and then leaves these out' || sed 's/^/# /' "$tmp/out"

printf 'op,prob,dtype\nmatmul,8x16:16x8,bf16\nmatmul,8x16:16x8,u8:s8:s32\nmatmul,8x16:16x8,x\n' >"$tmp/list.csv"
"$bin/tl-extract" "$tmp/list.csv" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '"dtype":"bf16"' "$tmp/out" && grep -q '"dtype":"u8:s8:s32"' "$tmp/out" && grep -q 'list.csv:4: .*"x" is none' "$tmp/err"
ok $? 'lists name types' || sed 's/^/# /' "$tmp/err" "$tmp/out"
for form in csv benchdnn; do
	# benchdnn has no words here for the others.
	case $form in
	csv) cp "$tmp/wl" "$tmp/told" ;;
	*) grep -v '"op":"\(attention\|softmax\|eltwise\|maxpool[23]d\|avgpool2d\)"' "$tmp/wl" >"$tmp/told" ;;
	esac
	"$bin/tl-extract" -q --emit=$form "$tmp/told" | "$bin/tl-extract" -q -f "$(echo $form | sed s/benchdnn/log/)" - >"$tmp/out" 2>"$tmp/err"
	ids "$tmp/told" >"$tmp/want" && ids "$tmp/out" | cmp -s - "$tmp/want"
	ok $? "and come back from --emit=$form" || sed 's/^/# /' "$tmp/err" "$tmp/out"
done

echo "1..$n"
