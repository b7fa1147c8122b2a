#!/bin/sh
# Candidates for GPUs, made and judged on a machine that need not have one.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

cat >"$tmp/w" <<'W'
{"tl":1,"type":"workload","op":"conv2d","prob":"ic64ih56oc64oh56kh3ph1","post":["bias","relu"]}
{"tl":1,"type":"workload","op":"conv2d","prob":"g32ic32ih28oc32oh28kh3ph1"}
{"tl":1,"type":"workload","op":"matmul","prob":"128x768:768x3072","post":["bias","gelu"]}
{"tl":1,"type":"workload","op":"conv2d","prob":"ic512ih7oc512oh7kh3ph1"}
{"tl":1,"type":"workload","op":"softmax","prob":"1536x128"}
W
candidates() { grep '^{"tl":1,"type":"candidate"' "$@"; }

# Made
"$bin/tl-gen" --target=cuda --arch=sm_90 -n 200 "$tmp/w" >"$tmp/c"
ok $? 'tl-gen makes candidates for sm_90'
[ "$(candidates "$tmp/c" | wc -l)" -gt 600 ] && ! candidates "$tmp/c" | grep -qv '"target":"cuda"'
ok $? 'which are all for the target cuda'
for algo in implicit_gemm depthwise_threads winograd_threads fused_winograd_threads rows_threads; do
	[ "$(count "\"algo\":\"$algo\"" "$tmp/c")" -gt 0 ]
	ok $? "some are of $algo"
done
! grep -q '"algo":"\(direct\|gemm\|winograd\|depthwise\)"' "$tmp/c"
ok $? 'and none of what needs the vectors of a processor'
"$bin/tl-check" -q "$tmp/c"
ok $? 'they are well formed'
"$bin/tl-gen" -n 50 "$tmp/w" 2>/dev/null | candidates | grep -q '"algo":"\(implicit_[a-z]*\|[a-z]*_threads\)"'
[ $? -eq 1 ]
ok $? 'a processor gets none of them'

# Judged
"$bin/tl-filter" --target=cuda --arch=sm_90 -k 8 --refused "$tmp/no" "$tmp/c" >"$tmp/f"
[ $? -eq 0 ] && [ "$(candidates "$tmp/f" | wc -l)" -eq 40 ]
ok $? 'tl-filter passes on eight of each workload'
"$bin/tl-gen" --target=cuda --arch=sm_75 -a implicit_gemm -n 2000 "$tmp/w" |
	"$bin/tl-filter" --target=cuda --arch=sm_75 --refused "$tmp/no" >/dev/null
grep -q 'a block needs [0-9]* bytes of memory, of 65536' "$tmp/no"
ok $? 'what an architecture has no memory for is refused'

# Refused
"$bin/tl-filter" -k 8 "$tmp/c" >/dev/null 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'a candidate for the target cuda, not cpu (--target=cuda)' "$tmp/err"
ok $? 'a candidate of another target is no input'
"$bin/tl-gen" --target=cuda --arch=sm_1 "$tmp/w" >/dev/null 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'no architecture "sm_1"' "$tmp/err"
ok $? 'an unknown architecture is a usage error'
"$bin/tl-measure" --target=opencl --cache=weights-cold "$tmp/f" >/dev/null 2>"$tmp/err"
[ $? -eq 2 ] && grep -q "flushes this processor's caches" "$tmp/err"
ok $? 'weights alone cannot be flushed on a device'
if "${bin%bin}libexec/tl/cuda" --device >/dev/null 2>&1; then
	skip 'there is a CUDA device'
	skip 'there is a CUDA device'
else
	"$bin/tl-measure" --target=cuda "$tmp/f" >/dev/null 2>"$tmp/err"
	[ $? -eq 3 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q 'there is no CUDA device here' "$tmp/err"
	ok $? 'without a device tl-measure says so in a sentence'
	"$bin/tl-gen" --target=cuda "$tmp/w" >/dev/null 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q 'there is no CUDA device here' "$tmp/err"
	ok $? 'and so does tl-gen without an architecture'
fi

# Learned: results of PoCL on a processor (12 workloads, 36 candidates drawn at random of each), whatever device is here
results=tests/opencl-results.zst
"$bin/tl-train" --target=opencl --trials=1 --bag=2 -o "$tmp/model" "$results" 2>"$tmp/err"
ok $? 'tl-train learns from results of blocks of threads'
ranks() { head -n 1 "$tmp/model" | sed "s/.*\"$1\":{[^}]*\"spearman\":\(-*[0-9.]*\).*/\1/"; } # its rank correlation; the best of 12 alone is chance
perl -e 'exit !($ARGV[0] > $ARGV[1] + 0.1)' "$(ranks model)" "$(ranks draft)"
ok $? "held out, the model ranks better than the draft: $(ranks model), $(ranks draft)"
"$bin/tl-train" "$results" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'no result to learn from for the target cpu; 324 are for others (--target), or of types that models do not know' "$tmp/err"
ok $? 'results of another target are no results'
"$bin/tl-train" --target=opencl --dump-features "$results" >"$tmp/csv" && [ "$(wc -l <"$tmp/csv")" -eq 325 ] &&
	head -n 1 "$tmp/csv" | grep -q ',draft,.*,threads_used,.*,banks_read,' && ! head -n 1 "$tmp/csv" | grep -q move_l1 &&
	awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' "$tmp/csv"
ok $? 'their features are those of blocks'
"$bin/tl-gen" --target=opencl --arch=opencl -n 60 "$tmp/w" >"$tmp/o"
"$bin/tl-filter" --target=opencl --arch=opencl -m "$tmp/model" -k 8 "$tmp/o" >"$tmp/f" && "$bin/tl-check" -q "$tmp/f" &&
	[ "$(candidates "$tmp/f" | grep -c '"score":{"draft_s":[0-9.e-]*,"model":[-0-9.e]*,"deviation":[0-9.e-]*}')" -ge 24 ]
ok $? 'tl-filter ranks by the model'
"$bin/tl-filter" --target=cuda --arch=sm_90 -m "$tmp/model" -k 8 "$tmp/c" >"$tmp/f" && candidates "$tmp/f" | grep -q '"model":'
ok $? 'also candidates for another target with blocks'
"$bin/tl-gen" --target=cuda --arch=sm_90 --search=guided -m "$tmp/model" -n 8 "$tmp/w" >"$tmp/g" && [ "$(candidates "$tmp/g" | wc -l)" -eq $((8 * $(wc -l <"$tmp/w"))) ]
ok $? 'tl-gen searches by it'
"$bin/tl-gen" --target=cuda --arch=sm_90 --search=guided -m pretrained -n 8 "$tmp/w" >"$tmp/g" && [ "$(candidates "$tmp/g" | wc -l)" -eq $((8 * $(wc -l <"$tmp/w"))) ]
ok $? 'or by the model that came with the programs'
# Among these are schedules that no two changes fit to some workload. The search for them once read behind its list.
zstdcat share/spaces/h100/networks.zst | head -n 400 >"$tmp/h100"
"$bin/tl-train" -q --target=cuda --trials=1 --bag=1 -o "$tmp/of_h100" "$tmp/h100" && grep -q '"env_id"\|"tl":' "$tmp/of_h100"
ok $? 'tl-train learns from results of a GPU'
"$bin/tl-gen" -n 8 "$tmp/w" | "$bin/tl-filter" -m "$tmp/model" >"$tmp/f" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'was trained on kernels of blocks of threads, not of threads of a processor' "$tmp/err"
ok $? 'a model of blocks ranks no kernels of a processor'
"$bin/tl-filter" --target=opencl --arch=opencl -m share/models/cpu.model "$tmp/o" >"$tmp/f" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'was trained on kernels of threads of a processor, not of blocks of threads' "$tmp/err"
ok $? 'nor the other way'

# Timed, on a device of OpenCL (PoCL's is the processor).
if ! "${bin%bin}libexec/tl/opencl" --device >"$tmp/device" 2>/dev/null; then
	for what in 'tl-measure' 'its results' 'its probe' 'no baseline' 'cold' 'replay' 'tl-tune' 'the table' 'a hostile run' 'hang and crash' 'wrong' 'unharmed'; do
		skip "there is no OpenCL device: $what"
	done
else
	cat >"$tmp/small" <<'W'
{"tl":1,"type":"workload","op":"conv2d","prob":"ic16ih14oc32oh14kh3ph1","post":["bias","add","relu"]}
{"tl":1,"type":"workload","op":"conv2d","prob":"g24ic24ih14oc24oh7kh3sh2ph1","post":["bias","relu6"]}
{"tl":1,"type":"workload","op":"layer_norm","prob":"24x96","post":["bias"]}
{"tl":1,"type":"workload","op":"softmax","prob":"24x50"}
W
	export TL_CACHE="$tmp/cache" TL_LOCKS="$tmp"
	"$bin/tl-gen" --target=opencl -n 100 "$tmp/small" | "$bin/tl-filter" --target=opencl -k 3 |
		"$bin/tl-measure" --target=opencl --race 0.01 --final 1 --samples >"$tmp/results" 2>"$tmp/err"
	ok $? 'tl-measure --target=opencl times candidates'
	"$bin/tl-check" -q "$tmp/results" && [ "$(grep -c '"type":"result".*"status":"\(ok\|preempted\)"' "$tmp/results")" -ge 12 ]
	ok $? 'its results are right and well formed'
	head -n 1 "$tmp/small" | "$bin/tl-gen" --target=opencl -n 20 | "$bin/tl-filter" --target=opencl -k 1 |
		TL_PROBE=1 XDG_CACHE_HOME="$tmp/probed" "$bin/tl-measure" --target=opencl --race 0.002 --final 0 >"$tmp/probe" 2>"$tmp/err" &&
		grep -q '"probe":{"cores":.*"bandwidth_all":{"mem":' "$tmp/probe" && "$bin/tl-check" -q "$tmp/probe"
	ok $? 'and so is the probe of the device'
	grep -q '"baseline":null,"baseline_why":"there is no library for this target"' "$tmp/results"
	ok $? 'they say why there is no baseline'
	"$bin/tl-gen" --target=opencl -n 100 "$tmp/small" | "$bin/tl-filter" --target=opencl -k 1 |
		"$bin/tl-measure" --target=opencl --cache=cold --race 0.002 --final 0 >"$tmp/cold" 2>"$tmp/err"
	[ $? -eq 0 ] && [ "$(grep -c '"type":"result".*"status":"ok"' "$tmp/cold")" -eq "$(wc -l <"$tmp/small")" ] && ! grep -q '"row":' "$tmp/cold"
	ok $? 'with cold caches, too, and then no calls in a row'
	"$bin/tl-gen" --target=opencl -n 100 "$tmp/small" | "$bin/tl-filter" --target=opencl -k 3 |
		"$bin/tl-replay" --target=opencl --from "$tmp/results" --final 1 >"$tmp/replayed" 2>"$tmp/err" &&
		[ "$(grep -c '"type":"result"' "$tmp/replayed")" -ge 12 ] && "$bin/tl-check" -q "$tmp/replayed"
	ok $? 'a run on a device is replayed'
	cat >"$tmp/list.csv" <<'W'
op,prob,post
conv2d,ic16ih14oc32oh14kh3ph1,"bias,relu"
conv2d,g24ic24ih14oc24oh7kh3sh2ph1,bias
rms_norm,24x96,
W
	"$bin/tl-tune" --wide --target=opencl -d "$tmp/db" --min-gain 0 --until 'candidates<12' --final 1 "$tmp/list.csv" >"$tmp/table" 2>"$tmp/err"
	ok $? 'tl-tune --target=opencl tunes'
	[ "$(grep -c 'implicit_[a-z]*\|[a-z]*_threads' "$tmp/table")" -eq 3 ]
	ok $? 'and shows the best of each workload'

	# Objects are sources: hostile words at the beginning of their kernels, a good candidate between any two.
	head -n 1 "$tmp/small" | "$bin/tl-gen" --target=opencl -a implicit_gemm -n 100 |
		"$bin/tl-filter" --target=opencl --by none -k 9 >"$tmp/c"
	measure() { "$bin/tl-measure" --target=opencl --race 0.002 --final 0 --no-preempt --timeout 8 "$tmp/c"; }
	measure >"$tmp/good"
	sed -n 's/.*"code_hash":"\([0-9a-f]*\)".*/\1/p' "$tmp/good" >"$tmp/codes"
	# shellcheck disable=SC2046 # a word each
	set -- $(cat "$tmp/codes")
	spoil() { # code words
		sed -e "s|int rest = BLOCK;|$2 &|" -e '/^tl-seal /d' "$TL_CACHE/objects/$1.so" >"$tmp/object"
		seal "$tmp/object"
		mv "$tmp/object" "$TL_CACHE/objects/$1.so"
	}
	dst=$(grep -o 'GLOBAL float \*dst[0-9]*' "$TL_CACHE/objects/$2.so" | head -n 1 | sed 's/.*\*//')
	spoil "$2" 'volatile int hang = 1; while (hang) ;'
	spoil "$4" '((GLOBAL volatile float *)16)[0] = 1;'
	spoil "$6" "((GLOBAL volatile float *)$dst)[32 * 14 * 14 + 5] = 1;"
	spoil "$8" 'for (int i = 0; i < 100000; i++) printf("all work and no play\\n"); return;'
	measure >"$tmp/bad" 2>"$tmp/err"
	ok $? 'hostile kernels end no run'
	is_status() { # candidate pattern
		grep '"type":"result"' "$tmp/bad" | sed -n "$1p" | grep -q "\"status\":$2"
	}
	is_status 2 '"timeout"' && is_status 4 '"\(crash\|wrong\)"'
	ok $? 'one that hangs is late, one that writes anywhere dies'
	is_status 6 '"wrong","why":"it wrote behind the end of operand' && is_status 8 '"\(wrong\|timeout\)"'
	ok $? 'one that writes behind the end is seen, one that prints and does nothing, too'
	is_status 1 '"ok"' && is_status 3 '"ok"' && is_status 5 '"ok"' && is_status 7 '"ok"' && is_status 9 '"ok"'
	ok $? 'those between them are unharmed'
fi

echo "1..$n"
