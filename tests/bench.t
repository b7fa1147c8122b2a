#!/bin/sh
# bench/kernels.pl: finals as they are recorded come to a known table; nothing that was not judged is left out.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

dir=$tmp/run
mkdir "$dir"
printf '%s\t%s\n' begin 2026-11-23T10:00:00Z commit 1234567 cpu 'Test CPU' budget_s 60 end 2026-11-23T10:20:00Z >"$dir/run"
printf 'one\ntwo\n' >"$dir/models"
# Each had a neighbour; the results' own found the rest.
echo '{"peak_flops_all":4e12,"bandwidth_all":{"l1":1e9,"l2":1e11,"l3":1e9,"mem":1e9}}' >"$dir/probes"
echo '{"peak_flops_all":1e12,"bandwidth_all":{"l1":1e9,"l2":1e9,"l3":5e10,"mem":1e9}}' >>"$dir/probes"

# id op problem layout post flops
w1='"workload_id":"00000000000000000000000000000001","op":"conv2d","prob":"mb1_ic64ih56_oc64oh56_kh3ph1","dtype":"f32","layout":"nhwc","post":["bias"],"flops":231211008'
w2='"workload_id":"00000000000000000000000000000002","op":"conv2d","prob":"mb1_ic64ih56_oc256oh56_kh1","dtype":"f32","layout":"nhwc","post":["bias"],"flops":102760448'
w3='"workload_id":"00000000000000000000000000000003","op":"conv2d","prob":"mb1g32_ic32ih112_oc32oh112_kh3ph1","dtype":"f32","layout":"nhwc","post":[],"flops":7225344'
w4='"workload_id":"00000000000000000000000000000004","op":"matmul","prob":"2x64x64:2x64x32","dtype":"f32","layout":"ab","post":["add"],"flops":524288'
w5='"workload_id":"00000000000000000000000000000005","op":"conv2d","prob":"mb1_ic3ih35_oc24oh17_kh7sh2ph2","dtype":"f32","layout":"nchw","post":["bias","relu"],"flops":2038464'
w6='"workload_id":"00000000000000000000000000000006","op":"conv2d","prob":"mb1_ic64ih56_oc64oh28_kh3sh2ph1","dtype":"f32","layout":"nhwc","post":[],"flops":57802752'
w7='"workload_id":"00000000000000000000000000000007","op":"matmul","prob":"8x8:8x8","dtype":"f32","layout":"ab","post":[],"flops":1024'
workload() { printf '{"tl":1,"type":"workload",%s,"count":%d}\n' "$1" "$2"; }
{ workload "$w1" 3; workload "$w2" 1; workload "$w3" 4; workload "$w4" 12; workload "$w6" 1; workload "$w7" 2; } >"$dir/one.workloads"
{ workload "$w1" 1; workload "$w5" 1; } >"$dir/two.workloads"

env='"env":{"cpu":"Test","isa":"avx512","l1d":32768,"l2":1048576,"l3":33554432,"threads":2,"cc":"gcc 12.2.0","libs":"onednn 2.6.3","probe":{"peak_flops_all":3e12,"bandwidth_all":{"l1":4e11,"l2":9e10,"l3":4e10,"mem":2e10}}}'
result() { # workload, fields
	printf '{"tl":1,"type":"result","workload":{%s},"algo":"direct",%s,"at":"2026-11-23T10:0%d:00.000Z",%s}\n' "$1" "$2" "${3:-0}" "$env"
}
final() { # workload, its latency, error, the library's latency, layout, own_layout, ratio, interval, verdict
	result "$1" "\"status\":\"ok\",\"stage\":\"final\",\"latency_s\":$2,\"error\":{\"l2\":1e-07,\"max\":$3},\"processes\":3,\"baseline\":{\"impl\":\"onednn 2.6.3 direct jit\",\"layout\":\"$5\",\"latency_s\":$4$6},\"ratio\":{\"median\":$7,\"ci\":[$8]},\"verdict\":\"$9\""
}
own=',"own_layout":{"impl":"onednn 2.6.3 direct gemm","latency_s":2.1e-4,"ci_s":[2e-4,2.2e-4],"ratio":{"median":2,"ci":[1.923076923,2.08]}}'
none=',"own_layout":null,"own_layout_why":"the library has none"'
{
	# An interval is the ratio over and times 1.04. Times of other moments than the pairs' (w1's own) decide nothing.
	final "$w1" 9e-5 2e-7 1.25e-4 preferred "$own" 1.25 1.201923077,1.3 faster
	final "$w2" 1e-4 3e-7 8e-5 nhwc '' 0.8 0.769230769,0.832 slower
	final "$w4" 1e-6 3e-5 2e-6 ab '' 2 1.9,2.1 faster
	final "$w5" 1e-5 1e-7 1e-5 preferred "$none" 1 0.961538462,1.04 undecided
} >"$dir/best"
{
	cat "$dir/best"
	result "$w3" '"status":"build","why":"no registers"' 1
	result "$w3" '"status":"crash","why":"signal 11 | in the kernel"' 2
	result "$w6" '"status":"ok","stage":"race","latency_s":1e-4,"error":{"l2":1e-7,"max":1e-7}' 1
	result "$w6" '"status":"timeout","why":"not done within 10 s","stage":"final"' 2
} >"$dir/all"

perl bench/kernels.pl figures "$dir" >"$tmp/figures"
ok $? 'figures'
! grep -qv '^{"tl":1,"type":"bench-[a-z]*",' "$tmp/figures" && [ "$(count bench-kernel "$tmp/figures")" -eq 8 ]
ok $? 'are records, one a kernel of each model'
perl bench/kernels.pl table "$tmp/figures" >"$tmp/table"
cat >"$tmp/want" <<'EOF'

onednn 2.6.3 on Test CPU, avx512, 2 threads

2026-11-23T10:00:00Z to 2026-11-23T10:20:00Z, commit 1234567, 60 s of tuning a model. Ratios are oneDNN's time over ours, in pairs of calls, with 95% intervals; own layout: oneDNN in the workload's. 4 of 8 kernels are not judged.

one

problem                         count  class         oneDNN us  ours us                  ratio  verdict                own layout  roofline  bound    error  algorithm  oneDNN's best
ic64ih56_oc64oh56_kh3ph1 bias       3  3x3 stride 1        125      100  1.250 (1.202 - 1.300)  faster      2.000 (1.923 - 2.080)       58%  peak   2.0e-07  direct     direct jit
ic64ih56_oc256oh56_kh1 bias         1  1x1                80.0      100  0.800 (0.769 - 0.832)  slower      0.800 (0.769 - 0.832)       82%  l3     3.0e-07  direct     direct jit
g32_ic32ih112_oc32oh112_kh3ph1      4  depthwise             -        -                      -  NOT JUDGED                      -         -  -            -  -          2 candidates, none of them ok; the last: crash: signal 11 | in the kernel
2x64x64:2x64x32 add                12  matmul                -        -                      -  NOT JUDGED                      -         -  -      3.0e-05  -          the error is 3e-05, beyond 1e-05
ic64ih56_oc64oh28_kh3sh2ph1         1  other                 -        -                      -  NOT JUDGED                      -         -  -            -  -          its final: timeout: not done within 10 s
8x8:8x8                             2  matmul                -        -                      -  NOT JUDGED                      -         -  -            -  -          no candidate was measured

two

problem                               count  class         oneDNN us  ours us                  ratio  verdict               own layout  roofline  bound    error  algorithm  oneDNN's best
ic64ih56_oc64oh56_kh3ph1 bias             1  3x3 stride 1        125      100  1.250 (1.202 - 1.300)  faster     2.000 (1.923 - 2.080)       58%  peak   2.0e-07  direct     direct jit
ic3ih35_oc24oh17_kh7sh2ph2 bias,relu      1  first layer        10.0     10.0  1.000 (0.962 - 1.040)  undecided   the library has none        5%  peak   1.0e-07  direct     direct jit

Summary

model  class         workloads  not judged  undecided         geometric mean  verdict              worst  of                          oneDNN us  ours us                  total  verdict              own layout, mean                  total  roofline
one    all                   6           4          0  1.000 (0.973 - 1.028)  undecided     0.800 slower  ic64ih56_oc256oh56_kh1            455      400  1.137 (1.103 - 1.173)  faster          1.265 (1.230 - 1.300)  1.700 (1.642 - 1.760)       64%
one    3x3 stride 1          1           0          0  1.250 (1.202 - 1.300)  faster        1.250 faster  ic64ih56_oc64oh56_kh3ph1          375      300  1.250 (1.202 - 1.300)  faster          2.000 (1.923 - 2.080)  2.000 (1.923 - 2.080)       58%
one    1x1                   1           0          0  0.800 (0.769 - 0.832)  slower        0.800 slower  ic64ih56_oc256oh56_kh1           80.0      100  0.800 (0.769 - 0.832)  slower          0.800 (0.769 - 0.832)  0.800 (0.769 - 0.832)       82%
one    depthwise             1           1          0                      -  -                        -  -                                   -        -                      -  -                                   -                      -         -
one    matmul                2           2          0                      -  -                        -  -                                   -        -                      -  -                                   -                      -         -
one    other                 1           1          0                      -  -                        -  -                                   -        -                      -  -                                   -                      -         -
two    all                   2           0          1  1.118 (1.087 - 1.149)  faster     1.000 undecided  ic3ih35_oc24oh17_kh7sh2ph2        135      110  1.227 (1.184 - 1.272)  faster     2.000 (1.923 - 2.080) of 1  2.000 (1.923 - 2.080)       53%
two    3x3 stride 1          1           0          0  1.250 (1.202 - 1.300)  faster        1.250 faster  ic64ih56_oc64oh56_kh3ph1          125      100  1.250 (1.202 - 1.300)  faster          2.000 (1.923 - 2.080)  2.000 (1.923 - 2.080)       58%
two    first layer           1           0          1  1.000 (0.962 - 1.040)  undecided  1.000 undecided  ic3ih35_oc24oh17_kh7sh2ph2       10.0     10.0  1.000 (0.962 - 1.040)  undecided                           -                      -        5%
all    all                   7           4          1  1.000 (0.978 - 1.023)  undecided     0.800 slower  ic64ih56_oc256oh56_kh1            590      510  1.157 (1.121 - 1.194)  faster     1.265 (1.230 - 1.300) of 2  1.760 (1.698 - 1.824)       61%
all    3x3 stride 1          1           0          0  1.250 (1.202 - 1.300)  faster        1.250 faster  ic64ih56_oc64oh56_kh3ph1          500      400  1.250 (1.202 - 1.300)  faster          2.000 (1.923 - 2.080)  2.000 (1.923 - 2.080)       58%
all    1x1                   1           0          0  0.800 (0.769 - 0.832)  slower        0.800 slower  ic64ih56_oc256oh56_kh1           80.0      100  0.800 (0.769 - 0.832)  slower          0.800 (0.769 - 0.832)  0.800 (0.769 - 0.832)       82%
all    depthwise             1           1          0                      -  -                        -  -                                   -        -                      -  -                                   -                      -         -
all    first layer           1           0          1  1.000 (0.962 - 1.040)  undecided  1.000 undecided  ic3ih35_oc24oh17_kh7sh2ph2       10.0     10.0  1.000 (0.962 - 1.040)  undecided                           -                      -        5%
all    matmul                2           2          0                      -  -                        -  -                                   -        -                      -  -                                   -                      -         -
all    other                 1           1          0                      -  -                        -  -                                   -        -                      -  -                                   -                      -         -
EOF
diff "$tmp/want" "$tmp/table" >&2
ok $? 'and a known table'
for name in begin end commit cpu isa threads libs budget_s probe; do
	grep -q "^{\"tl\":1,\"type\":\"bench-run\",.*\"$name\":" "$tmp/figures" || echo "$name is missing" >&2
done 2>"$tmp/err"
[ ! -s "$tmp/err" ]
ok $? 'what was run, where and when is told'
perl bench/kernels.pl table --markdown "$tmp/figures" "$tmp/figures" >"$tmp/table.md"
[ "$(count '^| one | all | 6 | 4 | 0 | 1.000 (0.973 - 1.028) | undecided | ' "$tmp/table.md")" -eq 2 ] &&
	[ "$(sed -n '/^|/{s/\\|//g;p;}' "$tmp/table.md" | awk -F '|' '{ print NF }' | sort -u | wc -l)" -eq 2 ]
ok $? 'the same in Markdown, of several runs'
sed -i '/^end/d' "$dir/run"
: >"$dir/best"
: >"$dir/all"
echo 'tl-tune ended with status 3' >"$dir/two.failed"
perl bench/kernels.pl figures "$dir" | perl bench/kernels.pl table /dev/stdin >"$tmp/table" && [ "$(count 'NOT JUDGED .* no candidate was measured' "$tmp/table")" -eq 8 ] &&
	[ "$(count 'no candidate was measured; tl-tune ended with status 3$' "$tmp/table")" -eq 2 ] && grep -q '8 of 8 kernels are not judged' "$tmp/table" && grep -q 'to an end that was not reached' "$tmp/table"
ok $? 'of a run that measured nothing it is said'
# bench-gpu: made-up records, and what is made of them
gpu=$tmp/gpu
mkdir "$gpu"
printf 'net-1-f32\tf32\tbatch 1\nnet-1-bf16\tbf16\tbatch 1\nbert-1-f32\tf32\tproducts\n' >"$gpu/networks"
printf 'target\tcuda\nsections\tverify sanitize hostile kill tune\ndevice\tsm_90 made up\nsanitize\tno compute-sanitizer\nnet-1-bf16\ttl-tune ended with status 3: no\n' >"$gpu/run"
echo 'net-1-f99: there is no such type' >"$gpu/left_out"
cat >"$gpu/verify.tap" <<'W'
ok 1 - threads meet
ok 2 - conv2d: 40 candidates, 40 of them run by CUDA; 0 wrong
not ok 3 - matmul: 40 candidates, 40 of them run by CUDA; 1 wrong
ok 4 # SKIP NVRTC: there is none
1..4
W
cat >"$gpu/hostile.ndjson" <<'W'
{"tl":1,"type":"bench-gpu-hostile","as_it_must":1,"kernel":"endless loop","next_is_good":1,"status":"timeout","why":"not done within 5 s"}
{"tl":1,"type":"bench-gpu-hostile","as_it_must":0,"kernel":"NaN","next_is_good":1,"status":"ok","why":null}
{"tl":1,"type":"bench-gpu-hostile-run","status":0,"why":""}
W
cat >"$gpu/kill.ndjson" <<'W'
{"tl":1,"type":"bench-gpu-kill","after_s":2.5,"database_whole":1,"killed":1,"left":0,"lost":0,"results":3}
{"tl":1,"type":"bench-gpu-kill","after_s":9.5,"database_whole":1,"killed":0,"left":2,"lost":0,"results":9}
{"tl":1,"type":"bench-gpu-kill-end","answered":2,"database_whole":1,"results":24,"status":0,"workloads":2}
W
w() { # id op prob dtype count
	printf '{"tl":1,"type":"workload","workload_id":"%s","op":"%s","prob":"%s","dtype":"%s","count":%d}\n' "$@"
}
r() { # id op prob flops latency the rest
	printf '{"tl":1,"type":"result","workload":{"workload_id":"%s","op":"%s","prob":"%s","post":["bias"],"flops":%s},"algo":"implicit_gemm","knobs":{},"status":"ok","latency_s":%s,"error":{"max":1e-7},"env":{"cpu":"device","cc":"compiler","libs":"cudnn 9","probe":{"peak_flops_all":1.2e11,"bandwidth_all":{"mem":8.8e9}}},%s}\n' "$@"
}
final() { # ratio lo hi
	printf '"stage":"final","baseline":{"impl":"x"},"ratio":{"median":%s,"ci":[%s,%s]},"verdict":"faster"' "$@"
}
{
	w a matmul 10x20:20x30 f32 3
	w b matmul 1x2:2x3 f32 1
	w c conv2d mb1_ic8ih4oc8oh4kh1 f32 1
	w d conv2d mb1_g8_ic8ih4oc8oh4kh3ph1 f32 1
} >"$gpu/net-1-f32.workloads"
{
	r a matmul 10x20:20x30 12000 1e-6 "$(final 2 1.9 2.1052632)"
	r c conv2d mb1_ic8ih4oc8oh4kh1 4096 1e-6 "$(final 0.5 0.5 0.5)"
	r d conv2d mb1_g8_ic8ih4oc8oh4kh3ph1 4096 1e-6 "$(final 1.6 1.6 1.6)"
} >"$gpu/net-1-f32.tuned"
w e conv2d mb1_ic8ih4oc8oh4kh1 bf16 1 >"$gpu/net-1-bf16.workloads"
{
	w a matmul 10x20:20x30 f32 3
	w f matmul 4x8:8x8 f32 1
} >"$gpu/bert-1-f32.workloads"
{
	r a matmul 10x20:20x30 12000 1e-6 "$(final 2 1.9 2.1052632)"
	r f matmul 4x8:8x8 512 1e-6 '"stage":"race","baseline":null,"baseline_why":"there is no library"'
} >"$gpu/bert-1-f32.tuned"
cat "$gpu"/*.tuned >"$gpu/all"
perl bench/gpu.pl "$gpu" >"$tmp/figures" && perl bench/gpu.pl --table "$tmp/figures" >"$tmp/table"
ok $? 'bench/gpu.pl reads what a run leaves'
first=$(grep '"type":"bench-gpu",.*"network":"net-1-f32".*"workload_id":"a"' "$tmp/figures")
echo "$first" | grep -q '"memory_share":0\.[45].*"peak_share":0\.[01]'
ok $? 'shares of the peak and of the memory, 1100 values in a microsecond'
grep -q '^net-1-f32: 4 workloads, 1 not measured, 5.0 us in all by count' "$tmp/table" && grep -q '^10x20:20x30 bias  *3  *1.0  *12  *10%  *50%  *2.00 ' "$tmp/table" && grep -q '^results  *ok 5$' "$tmp/table"
ok $? 'a network, kernel by kernel'
# (2 x 0.5 x 1.6)^(1/3), half of the interval log(2.1052632/1.9)/2/3
grep -q '^f32 batch 1  *4  *1 1.170 (1.150 - 1.190)  *1.15  *yes  *0.50  *1 mb1_ic8ih4oc8oh4kh1 f32$' "$tmp/table"
ok $? 'a group: its mean with its interval, the goal, the least'
grep -q '^bf16 batch 1  *1  *1 -  *1.1  *-  *-  *-$' "$tmp/table" && grep -q '^depthwise  *1  *0 1.600 (1.600 - 1.600)  *1.5  *yes' "$tmp/table" && grep -q '^products  *2  *1 2.000 ' "$tmp/table"
ok $? 'groups without a kernel, across types, and without a goal'
grep -q '^not judged, nothing was measured: 1 of f32 batch 1$' "$tmp/table" && grep -q '^not judged, there is no library: 1 of products, 1 of products f32$' "$tmp/table" &&
	grep -q '^not judged, tl-tune ended with status 3: no: 1 of bf16 batch 1$' "$tmp/table"
ok $? 'what is left out is counted, by reason'
grep -q '^left out   net-1-f99: there is no such type$' "$tmp/table"
ok $? 'a network that was not read is named'
grep -q '^random problems: FAILED; 2 passed, 1 failed$' "$tmp/table" && grep -q '^  FAILED: matmul: 40 candidates' "$tmp/table" && grep -q '^  not run: NVRTC' "$tmp/table" &&
	grep -q '^compute-sanitizer: not run: no compute-sanitizer$' "$tmp/table"
ok $? 'the random problems, and the sanitizer'
grep -q '^endless loop  *timeout  *yes  *yes  *not done within 5 s$' "$tmp/table" && grep -q '^NaN  *ok  *NO  *yes' "$tmp/table" &&
	grep -q '^tl-tune was killed 1 times; processes left 2, results lost 0, databases damaged 0$' "$tmp/table" && grep -q 'it ended with status 0: 24 results, 2 of 2 workloads answered, the database is whole$' "$tmp/table"
ok $? 'hostile kernels, and kills'
printf 'ERROR SUMMARY: 0 errors\n' | sed 's/^/========= /' >"$gpu/memcheck.tap"
printf 'ok 1 - x\n1..1\n' >>"$gpu/memcheck.tap"
sed -i '/^sanitize/d' "$gpu/run"
echo 'ok 1 - x' >"$gpu/racecheck.tap"
perl bench/gpu.pl "$gpu" | perl bench/gpu.pl --table /dev/stdin >"$tmp/table"
grep -q '^compute-sanitizer memcheck: right; 1 passed, 0 failed; 0 errors$' "$tmp/table" && grep -q '^compute-sanitizer racecheck: FAILED; 1 passed, 1 failed' "$tmp/table"
ok $? 'the sanitizer where it ran, and where it ended early'
SECTIONS='verify nonsense' sh bench/gpu.sh >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'SECTIONS has nonsense, and wants some of verify, ' "$tmp/err"
ok $? 'a section that is none is refused'

# A script that is named as a package is imports itself in the package's place: bench/ is looked through first.
for file in bench/*.py; do
	name=$(basename "$file" .py)
	! grep -qE "^\s*(import|from) $name\b" bench/*.py || echo "# $file is taken for the package $name"
done >"$tmp/out"
cat "$tmp/out"
[ ! -s "$tmp/out" ]
ok $? 'no script stands in the way of a package'

# bench/search.pl: simulated runs, and live ones beside them

# Not -B, which makes config.mk anew even with -n, and with it the programs that the other tests run.
make -n -W Makefile build/registry.c OPS=zzz ALGOS=zzz TARGETS=zzz SEARCHES=zzz POLICIES=zzz >"$tmp/out" 2>"$tmp/err" &&
	grep -q policy_list "$tmp/out" && ! grep -q zzz "$tmp/out"
ok $? 'what a bench is told on the command line of make is not built in'
dir=$tmp/search
mkdir "$dir"
at() { printf '"at":"2026-11-23T10:00:%s.000Z"' "$1"; }
candidate() { printf '"candidate_id":"%s","workload":{%s},"target":"cpu","algo":"direct","knobs":{}' "$1" "$w1"; }
tried() { # candidate, latency, core-seconds, at
	printf '{"tl":1,"type":"result",%s,"status":"ok","stage":"race","latency_s":%s,"cost":{"core_s":%s},%s}\n' "$(candidate "$1")" "$2" "$3" "$(at "$4")"
}
workload "$w1" 2 >"$dir/workloads"
{ tried a 3e-3 1 02 && tried b 1e-3 1 04 && tried c 9e-3 2 05; } >"$dir/live.1.all"
{
	cat "$dir/live.1.all"
	printf '{"tl":1,"type":"run","program":"tl-replay",%s,"wall_s":4,"cores":2}\n' "$(at 05)"
	printf '{"tl":1,"type":"run","program":"tl-replay",%s,"wall_s":2,"cores":2}\n' "$(at 07)"
	printf '{"tl":1,"type":"run","program":"tl-tune",%s,"wall_s":0.5,"cores":2}\n' "$(at 59)"
} >"$dir/live=simulated.1.all"
tried b 1e-3 1 04 | tee "$dir/live.1.best" >"$dir/live=simulated.1.best"
span=$(perl bench/search.pl span "$dir/live=simulated.1.all")
[ "$span" = '1795428001.000000 1795428007.500000' ] || echo "# $span"
[ "$span" = '1795428001.000000 1795428007.500000' ]
ok $? 'a simulated run begins with its first replay, and lasts as long as all of its programs'
echo "live 1 1795428000 1795428005" >"$dir/runs"
echo "live=simulated 1 $span" >>"$dir/runs"
for _ in 1 2 3; do tried a 3e-3 1 02 && tried b 1e-3 1 04 && tried c 9e-3 2 05; done >"$dir/looks"
cp "$dir/looks" "$dir/results"
perl bench/search.pl gate "$dir" net 2 >"$tmp/out" 2>"$tmp/err" && grep -q '^live  *1  *10\.0  *13\.0  *1\.30  *2000\.0  *2000\.0  *1\.00$' "$tmp/out" && grep -q '^1 of them differ by more than 10%$' "$tmp/out"
ok $? 'live and simulated runs stand side by side, with their ratios'
sed 's/^live=simulated 1/rival 1/' "$dir/runs" >"$tmp/runs" && mv "$tmp/runs" "$dir/runs" && cp "$dir/live=simulated.1.all" "$dir/rival.1.all" && cp "$dir/live.1.best" "$dir/rival.1.best"
perl bench/search.pl table "$dir" net 2 live >"$tmp/out" 2>"$tmp/figures" && grep -q '^live  *1  *0\.0% (0\.0 to 0\.0)  *0\.0%  *0\.0%  *0\.0%  *10\.0  *4\.0  *8\.0  *1  *75%$' "$tmp/out" &&
	grep -q '; 1 easy workloads, which most runs of live bring' "$tmp/out" &&
	grep -q 'live over rival: 0\.77 (0\.77 to 0\.77, 1 seeds) at their own stops; 1\.67 ' "$tmp/out"
ok $? 'policies are paired by seed'
[ "$(grep -c '"type":"run-of-tuning","network":"net"' "$tmp/figures")" -eq 2 ] && grep -q "^rival	1	6\.00	0\.00000$" "$dir/curves"
ok $? 'with figures and curves'
sed 's/"stage":"race"/"stage":"final"/' "$dir/looks" | cat - "$dir/looks" | perl bench/search.pl looks "$dir" | cmp -s - "$dir/looks"
ok $? 'looks are races of the workloads at hand'

echo "1..$n"
