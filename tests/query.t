#!/bin/sh
# tl-query: exact, of another env, nearest, nothing; top, tables, CSV, statistics, dumps.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB

results() { # awk variables
	for v; do set -- "$@" -v "$v" && shift; done
	awk "$@" -f "$here/results.awk" "$here/workloads.ndjson"
}

query() {
	"$bin/tl-query" -d "$tmp/db" --env e1000000000000000000000000000000 "$@"
}

conv() { # database, env, problem, options: of a convolution with bias and relu
	db=$1 env=$2 prob=$3
	shift 3
	"$bin/tl-query" -d "$db" --env "$env" --op conv2d --post bias,relu --prob "$prob" "$@"
}
known=ic64ih56oc64oh56kh3ph1

results n=20 >"$tmp/a"
"$bin/tl-store" -q -d "$tmp/db" "$tmp/a"

# Exact

query "$here/workloads.ndjson" >"$tmp/out"
ok $? 'exact answers give status 0'
grep '"stage":"final"' "$tmp/a" | sed 's/}$/,"match":"exact"}/' | cmp -s - "$tmp/out"
ok $? 'and are the final results, with how they match behind'
[ "$(conv "$tmp/db" e1000000000000000000000000000000 $known)" = "$(head -n 1 "$tmp/out")" ]
ok $? '--op and --prob ask the same as a record'
results n=20 run=worse best=2e-4 seed=5 | "$bin/tl-store" -q -d "$tmp/db"
query "$here/workloads.ndjson" | cmp -s - "$tmp/out"
ok $? 'worse results change no answer'
conv "$tmp/db" e1000000000000000000000000000000 $known --top 100 >"$tmp/top"
[ "$(wc -l <"$tmp/top")" -eq 14 ] && [ "$(grep -o '"candidate_id":"[^"]*"' "$tmp/top" | sort -u | wc -l)" -eq 14 ]
ok $? '--top gives distinct candidates'
grep '"stage":"race"' "$tmp/top" | sed 's/.*"latency_s":\([^,]*\),"ci.*"reps.*/\1/' | sort -cg 2>"$tmp/err"
ok $? 'and the best first'
[ "$(conv "$tmp/db" e1000000000000000000000000000000 $known --top 3)" = "$(head -n 3 "$tmp/top")" ]
ok $? 'the best 3 are the first of the best 100'

# Right at first, wrong later: the best and the second best fall out, whether the bad news comes last or first.

first=$(sed -n 1p "$tmp/top" | cut -d'"' -f10) second=$(sed -n 2p "$tmp/top" | cut -d'"' -f10)
grep -e "\"candidate_id\":\"$first" -e "\"candidate_id\":\"$second" "$tmp/a" | grep '"stage":"race"' |
	sed 's/"status":"ok"/"status":"wrong","why":"w"/;s/"stage":"race",/"stage":"final",/;s/"run":"a1000000000000000000000000000000"/"run":"1a7e0000000000000000000000000000"/' >"$tmp/late"
cp "$tmp/db" "$tmp/wrong.db"
"$bin/tl-store" -q -d "$tmp/wrong.db" "$tmp/late"
conv "$tmp/wrong.db" e1000000000000000000000000000000 $known --top 100 >"$tmp/got"
sed 1,2d "$tmp/top" >"$tmp/rest"
[ "$(wc -l <"$tmp/late")" -eq 2 ] && cmp -s "$tmp/rest" "$tmp/got"
ok $? 'a candidate that was found wrong later is no answer'
cat "$tmp/late" "$tmp/a" | "$bin/tl-store" -q -d "$tmp/wrong2.db"
results n=20 run=worse best=2e-4 seed=5 | "$bin/tl-store" -q -d "$tmp/wrong2.db"
conv "$tmp/wrong2.db" e1000000000000000000000000000000 $known --top 100 | cmp -s - "$tmp/rest"
ok $? 'nor one that was found wrong before'
sed 's/"env_id":"e1000000000000000000000000000000"/"env_id":"e2000000000000000000000000000000"/' "$tmp/late" | cat - "$tmp/a" | "$bin/tl-store" -q -d "$tmp/wrong3.db"
[ "$(conv "$tmp/wrong3.db" e1000000000000000000000000000000 $known | cut -d'"' -f10)" = "$first" ]
ok $? 'wrong in another env says nothing here'

# Inexact

conv "$tmp/db" 0e000000000000000000000000000000 $known >"$tmp/out" 2>"$tmp/err"
[ $? -eq 4 ] && grep -q '"match":"env","why":"measured in the env e1000000000000000000000000000000, not in 0e000000000000000000000000000000' "$tmp/out"
ok $? 'the same workload in another env gives status 4'
results n=5 env=e2000000000000000000000000000000 | "$bin/tl-store" -q -d "$tmp/db2"
results n=5 env=e1000000000000000000000000000000 | sed -n 1,8p | sed '$d' >"$tmp/one"
"$bin/tl-store" -q -d "$tmp/db2" "$tmp/one" 2>/dev/null
"$bin/tl-query" -d "$tmp/db2" --env e1000000000000000000000000000000 --op matmul --prob 1x512:512x1000 --post bias >"$tmp/out" 2>"$tmp/err"
[ $? -eq 4 ] && grep -q '"match":"env","why":"stale: measured with gcc 13.1.0, onednn 2.6.3 on this same hardware, where there is now gcc 12.2.0, onednn 2.6.3"' "$tmp/out"
ok $? 'another compiler on this hardware: stale'
aged() { # database, sed scripts for this env and for the other one, this env's id and the other's: the sentence; warnings in $tmp/err
	sed "$2;s/e1000000000000000000000000000000/$4/" "$tmp/one" | "$bin/tl-store" -q -d "$1" 2>/dev/null
	results n=5 env=e1000000000000000000000000000000 run=old | sed "$3;s/\"env_id\":\"e1000000000000000000000000000000\"/\"env_id\":\"${5:-e3000000000000000000000000000000}\"/" | "$bin/tl-store" -q -d "$1"
	"$bin/tl-query" -d "$1" --env "$4" "$here/workloads.ndjson" 2>"$tmp/err" |
		sed -n 's/.*"match":"env","why":"//p' | head -n 1
}
probed() { # peak_flops
	echo "s/\"env\":{/\"env\":{\"hw_id\":\"a64678d6821eaab11078f1c32ec13acc\",\"probe\":{\"peak_flops\":$1},/"
}
aged "$tmp/foreign.db" '' 's/"isa":"avx512"/"isa":"avx2"/;s/"cc":"gcc 12.2.0"/"cc":"gcc 13.1.0"/' e1000000000000000000000000000000 |
	grep -q '^foreign: measured on other hardware: isa is avx2 there and avx512 here"' &&
	grep -q '2 of 3 workloads are foreign' "$tmp/err"
ok $? 'another instruction set: foreign, and counted'
aged "$tmp/stale.db" "$(probed 2e9)" "$(probed 1e9);s/\"libs\":\"onednn 2.6.3/\"libs\":\"onednn 2.6.2/" c558a9dc3e929bd7603fa7219c5715e3 fd80098c91c67223c66c0cc88b010ee8 | # as their fields make them
	grep -q '^stale: measured with gcc 12.2.0, onednn 2.6.2 on this same hardware' &&
	grep -q '2 of 3 workloads are stale' "$tmp/err" && ! grep -q foreign "$tmp/err"
ok $? 'another library on the same hardware, however fast: stale, and counted'
conv "$tmp/db" e1000000000000000000000000000000 ic64ih28oc64oh28kh3ph1 >"$tmp/out"
[ $? -eq 4 ] && grep -q '"match":"nearest","why":"measured for the nearest workload known, conv2d mb1_ic128ih28_oc128oh28_kh3ph1: ic is 128 there and 64 here, oc is 128 there and 64 here"}' "$tmp/out"
ok $? 'a workload that is not known gets the nearest'
query --op conv2d --prob ic130ih28oc128oh28kh3ph1 >"$tmp/out"
[ $? -eq 4 ] && grep -q 'mb1_ic128ih28_oc128oh28_kh3ph1: ic is 128 there and 130 here, post-op bias is only there, post-op relu is only there' "$tmp/out"
ok $? 'whichever that is'
grep '"type":"result".*"post":\["bias","relu"\]' "$tmp/one" | sed 's/"relu"/"leaky_relu(0.1)"/; s/"workload_id":"[^"]*",//; s/"candidate_id":"[^"]*",//' | "$bin/tl-check" --fix | "$bin/tl-store" -q -d "$tmp/leaky.db"
"$bin/tl-query" -d "$tmp/leaky.db" --env e1000000000000000000000000000000 --op conv2d --prob ic128ih28oc128oh28kh3ph1 --post 'bias,leaky_relu(0.2)' >"$tmp/out"
[ $? -eq 4 ] && grep -q 'conv2d [^:]*: .*post-op leaky_relu(0.1) is leaky_relu(0.2) here"' "$tmp/out"
ok $? 'and what numbers of post-ops differ'
query --op matmul --prob 1x512:512x1000 >"$tmp/out"
[ $? -eq 4 ] && [ "$(grep -c '"algo":"gemm"' "$tmp/out")" -eq 1 ]
ok $? 'never of another operator'

# Nothing

sed -n 6p "$tmp/a" | sed 's/"status":"preempted"/"status":"build"/' >"$tmp/failed"
"$bin/tl-store" -q -d "$tmp/none.db" "$tmp/failed"
got=$(conv "$tmp/none.db" e1000000000000000000000000000000 $known)
[ $? -eq 1 ] && [ -z "$got" ]
ok $? 'nothing but failures is nothing known, status 1'
XDG_DATA_HOME="$tmp/nowhere" "$bin/tl-query" "$here/workloads.ndjson" 2>/dev/null
[ $? -eq 1 ] && [ ! -e "$tmp/nowhere" ]
ok $? 'so is a database that was not made yet'
"$bin/tl-query" -d "$tmp/nowhere.db" "$here/workloads.ndjson" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -e "$tmp/nowhere.db" ] && grep -q 'nothing is known yet' "$tmp/err"
ok $? 'and one that is named'
"$bin/tl-query" -d "$tmp/no/where.db" "$here/workloads.ndjson" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q "cannot look for the database $tmp/no/where.db" "$tmp/err"
ok $? 'but its folder must be there'
echo '{"tl":1,"type":"workload","op":"conv2d"}' | query >/dev/null 2>&1
[ $? -eq 3 ]
ok $? 'a bad record gives status 3'
query --op conv2d >/dev/null 2>&1
[ $? -eq 2 ]
ok $? '--op without --prob is a usage error'
[ "$(echo '{"tl":1,"type":"novel"}' | query)" = '{"tl":1,"type":"novel"}' ]
ok $? 'other records pass through'

# Tables, with figures that can be checked by hand

run=a1000000000000000000000000000000
"$bin/tl-check" --fix >"$tmp/hand" <<END
{"tl":1,"type":"workload","workload_id":"26ac6296f0e4819b28fec9ae3e5197b5","op":"matmul","prob":"1x512:512x1000","dtype":"f32","layout":"ab","post":["bias"],"rhs":"const","flops":1024000,"source":["a","b","c"]}
{"tl":1,"type":"result","candidate_id":"00000000000000000000000000000001","workload":{"workload_id":"26ac6296f0e4819b28fec9ae3e5197b5","op":"matmul","prob":"1x512:512x1000","dtype":"f32","layout":"ab","post":["bias"],"rhs":"const","flops":1024000},"target":"cpu","algo":"gemm","knobs":{"unroll":1},"status":"ok","stage":"final","latency_s":1.234e-05,"error":{"l2":1e-07,"max":2e-07},"baseline":{"impl":"b","layout":"ab","latency_s":2e-05},"ratio":{"median":1.625,"ci":[1.6,1.7]},"verdict":"faster","cost":{"core_s":1.5},"env_id":"e1000000000000000000000000000000","run":"$run","at":"2026-11-21T09:00:00.000Z"}
{"tl":1,"type":"result","candidate_id":"00000000000000000000000000000002","workload":{"workload_id":"26ac6296f0e4819b28fec9ae3e5197b5","op":"matmul","prob":"1x512:512x1000","dtype":"f32","layout":"ab","post":["bias"],"rhs":"const","flops":1024000},"target":"cpu","algo":"gemm","knobs":{"unroll":2},"status":"preempted","why":"w","stage":"race","latency_s":3e-05,"bound":"lower","cost":{"core_s":0.25},"env_id":"e1000000000000000000000000000000","run":"$run","at":"2026-11-21T09:00:00.000Z"}
{"tl":1,"type":"end","workload_id":"26ac6296f0e4819b28fec9ae3e5197b5","drawn":70,"why":"n reached","built":6,"preempted":1,"measured":4,"run":"$run"}
END
"$bin/tl-store" -q -d "$tmp/hand.db" "$tmp/hand"
"$bin/tl-query" -d "$tmp/hand.db" --env e1000000000000000000000000000000 --table --wide --op matmul --prob 1x512:512x1000 --post bias |
	sed 's/  */ /g;s/ $//' >"$tmp/out"
cat >"$tmp/want" <<'END'
op problem post count library tuned ratio verdict GFLOP/s peak algorithm generated built preempted measured
matmul 1x512:512x1000 bias 3 20.0 12.3 1.62 faster 83.2 - gemm 70 6 1 1
total count x time 3 60.0 36.9 1.63 83.2 - 70 6 1 1
Times are in us. A ratio is the library's time over the tuned kernel's, of calls in pairs; of a kernel that was raced only, it is of times taken apart.
Measuring took 1.8 core-seconds.
END
cmp -s "$tmp/want" "$tmp/out"
ok $? 'the table, with the count of the database'
cmp -s "$tmp/want" "$tmp/out" || sed 's/^/# /' "$tmp/out"
# A second round, another env, and a faster race behind a slower final.
{
	sed -n 2p "$tmp/hand" | sed 's/"unroll":1/"unroll":3/;s/"final","latency_s":1.234e-05/"race","latency_s":1e-05/;s/"baseline":{[^}]*}/"baseline":null,"baseline_why":"none"/
		s/"ratio.*"cost"/"cost"/;s/"run":"a1/"run":"a2/'
	sed -n 2p "$tmp/hand" | sed 's/1.234e-05/3e-05/;s/2e-05/4e-05/;s/"e1000000000000000000000000000000"/"e2000000000000000000000000000000"/;s/"run":"a1/"run":"a3/'
	sed -n 4p "$tmp/hand" | sed 's/"run":"a1/"run":"a2/'
	sed -n 4p "$tmp/hand" | sed 's/"run":"a1/"run":"a3/'
} | "$bin/tl-check" --fix >"$tmp/more"
cp "$tmp/hand.db" "$tmp/more.db"
"$bin/tl-store" -q -d "$tmp/more.db" "$tmp/more"
hand() { # database, env: the line of the one workload
	"$bin/tl-query" -d "$1" --env "$2" --table --wide --op matmul --prob 1x512:512x1000 --post bias | sed -n '2s/  */ /gp'
}
[ "$(hand "$tmp/more.db" e1000000000000000000000000000000)" = 'matmul 1x512:512x1000 bias 3 20.0 12.3 1.62 faster 83.2 - gemm 140 12 1 2' ]
ok $? 'rounds add up, the final stands before the race, another env counts there only'
[ "$(hand "$tmp/more.db" e2000000000000000000000000000000)" = 'matmul 1x512:512x1000 bias 3 40.0 24.6 1.62 faster 41.6 - gemm 70 6 0 1' ]
ok $? 'where it has its own figures'
sed 1q "$tmp/more" | "$bin/tl-store" -q -d "$tmp/raced.db"
[ "$(hand "$tmp/raced.db" e1000000000000000000000000000000)" = 'matmul 1x512:512x1000 bias 1 - 10.0 - raced only 102.4 - gemm - - 0 1' ]
ok $? 'without a baseline there is no ratio'
"$bin/tl-query" -d "$tmp/raced.db" --env e1000000000000000000000000000000 --table --op matmul --prob 1x512:512x1000 --post bias |
	grep -q 'leave out 1 of 1 workloads'
ok $? 'and the sums say what they leave out'
sed -n '1s/"baseline":null,"baseline_why":"none"/"baseline":{"impl":"b","layout":"ab","latency_s":1.5e-05}/p' "$tmp/more" | "$bin/tl-store" -q -d "$tmp/raced2.db"
[ "$(hand "$tmp/raced2.db" e1000000000000000000000000000000)" = 'matmul 1x512:512x1000 bias 1 15.0 10.0 1.50 raced only 102.4 - gemm - - 0 1' ]
ok $? 'the ratio of a race is the quotient of its times'
sed 's/"source":.*/"count":5}/;q' "$tmp/hand" | "$bin/tl-query" -d "$tmp/hand.db" --env e1000000000000000000000000000000 --table --wide >"$tmp/out"
grep -q 'bias  *5 ' "$tmp/out" && grep -q 'total .* 5  *100.0  *61.5' "$tmp/out"
ok $? 'the count of the record goes before'
"$bin/tl-query" -d "$tmp/hand.db" --env e1000000000000000000000000000000 --csv --op matmul --prob 1x512:512x1000 --post bias,relu >"$tmp/out"
[ $? -eq 4 ] && [ "$(sed 1d "$tmp/out" | cut -d, -f 2-6,10-14)" = 'matmul,1x512:512x1000,f32,ab,"bias,,,,,nearest' ]
ok $? 'CSV quotes what must be quoted, and gives no times that are not exact'
"$bin/tl-query" -d "$tmp/hand.db" --stats >"$tmp/out"
grep -q '"workloads":1,"sources":3,"candidates":2,"results":2,"status":{"ok":1,"preempted":1},"envs":1,"runs":1,"core_s":1.75}' "$tmp/out"
ok $? '--stats counts'
"$bin/tl-query" -d "$tmp/hand.db" --dump=workloads | "$bin/tl-check" -q &&
	"$bin/tl-query" -d "$tmp/hand.db" --dump=workloads | grep -q '"count":3,"source":\["a","b","c"\]}$'
ok $? 'workloads are dumped with the union of their sources'
query --dump=results | head -n 1 >"$tmp/out" 2>"$tmp/err"
[ -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
ok $? 'a reader that goes away is no failure'

# What fits

widest() { awk '{ sub(/\r$/, "") } length > most { most = length } END { print most + 0 }' "$@"; }
long=mb1_ic1024ih112iw96_oc1024oh112ow96_kh3kw3ph1pw1
probed='"env":{"isa":"avx512","features":"avx2,fma,avx512f","l1d":49152,"l2":2097152,"l3":33554432,"threads":2,"cc":"gcc 12.2.0","libs":"onednn 2.6.3","probe":{"peak_flops_all":1.664e11}}'
{
	cat "$tmp/hand"
	echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"conv2d\",\"prob\":\"$long\",\"post\":[\"bias\",\"add\",\"relu\"]}"
} | "$bin/tl-check" --fix >"$tmp/long"
sed "s/\"env_id\":\"e1000000000000000000000000000000\"/&,$probed/" "$tmp/hand" | "$bin/tl-store" -q -d "$tmp/wide.db"
wide() { "$bin/tl-query" -d "$tmp/wide.db" --env e1000000000000000000000000000000 --table "$@" "$tmp/long"; }
wide >"$tmp/out"
[ "$(widest "$tmp/out")" -le 80 ] && grep -q '^op  *problem  .*library .*GFLOP/s  *peak$' "$tmp/out" && ! grep -q generated "$tmp/out"
ok $? "a table fits 80 columns ($(widest "$tmp/out"))"
grep -q '^matmul .* faster  *83\.2  *50%$' "$tmp/out"
ok $? 'with the share of the peak that the env was probed for'
grep -q '^conv2d  *ic1024.*\.\.[a-z0-9]*pw1 ' "$tmp/out" && ! grep -q "$long" "$tmp/out"
ok $? 'a long problem is shortened'
grep -q "in pairs;" "$tmp/out" && tail -n 1 "$tmp/out" | grep -q '^[0-9]* more columns with --wide\.$'
ok $? 'what its ratios are, and what it leaves out, stands below'
wide --wide >"$tmp/out"
grep -q ' generated ' "$tmp/out" && grep -q "${long#mb1_}" "$tmp/out" && ! grep -q 'more column' "$tmp/out"
ok $? '--wide leaves out nothing'
for columns in 60 110; do
	if ! has_terminal; then
		skip_terminal "a terminal of $columns columns"
		continue
	fi
	TERM=xterm script -qec "stty cols $columns; $bin/tl-query -d $tmp/wide.db --env e1000000000000000000000000000000 --table --color=never $tmp/long" /dev/null >"$tmp/out" 2>/dev/null </dev/null
	[ "$(widest "$tmp/out")" -le $columns ] && [ "$(widest "$tmp/out")" -gt $((columns - 12)) ] && grep -q '^matmul\|^1x512' "$tmp/out"
	ok $? "a terminal of $columns columns is used ($(widest "$tmp/out"))"
done

# Envs

sed "s/\"env_id\":\"e1000000000000000000000000000000\"/\"env_id\":\"e5000000000000000000000000000000\",$probed/;s/\"threads\":2/\"threads\":1/;s/\"features\":\"avx2/&,amx/;s/\"run\":\"a1/\"run\":\"a4/" "$tmp/hand" | "$bin/tl-store" -q -d "$tmp/wide.db"
sed "s/\"env_id\":\"e1000000000000000000000000000000\"/\"env_id\":\"e6000000000000000000000000000000\",$probed/;s/gcc 12.2.0/gcc 13.1.0/;s/\"run\":\"a1/\"run\":\"a5/" "$tmp/hand" | "$bin/tl-store" -q -d "$tmp/wide.db"
envs() { "$bin/tl-query" -d "$tmp/wide.db" --env e1000000000000000000000000000000 --envs "$@"; }
envs >"$tmp/out"
ok $? '--envs answers'
"$bin/tl-check" -q "$tmp/out" && [ "$(grep -c '^{"tl":1,"type":"env","env_id":"e[156]0*","results":2,"workloads":1,"newest":"2026-11-21T09:00:00.000Z","state":' "$tmp/out")" -eq 3 ]
ok $? 'with a record for each'
grep '"e5000000000000000000000000000000"' "$tmp/out" | grep -q '"state":"foreign","differs":"amx only there, 1 thread there and 2 here","env":{"isa":"avx512"' &&
	grep '"e6000000000000000000000000000000"' "$tmp/out" | grep -q '"state":"stale","differs":"cc is gcc 13.1.0 there and gcc 12.2.0 here"' &&
	grep '"e1000000000000000000000000000000"' "$tmp/out" | grep -q '"state":"here","env":'
ok $? 'which says what differs from this one'
envs --table >"$tmp/out"
[ "$(widest "$tmp/out")" -le 80 ] && grep -q '^e50000000000  *foreign  *avx512  *1  *2 ' "$tmp/out" && grep -qx 'e50000000000: amx only there, 1 thread there and 2 here\.' "$tmp/out"
ok $? '--table: for people'
envs --csv | sed -n 1p | grep -qx 'env,state,isa,threads,results,workloads,newest,cpu,cc,libs'
ok $? '--csv: with all columns'
sed "s/\"env_id\":\"e1000000000000000000000000000000\"/\"env_id\":\"e5000000000000000000000000000000\",$probed/;s/\"threads\":2/\"threads\":1/" "$tmp/hand" | "$bin/tl-store" -q -d "$tmp/far.db"
"$bin/tl-store" -q -d "$tmp/far.db" "$tmp/one" 2>"$tmp/err"
"$bin/tl-query" -d "$tmp/far.db" --env e1000000000000000000000000000000 --table "$tmp/hand" >"$tmp/out" 2>/dev/null
grep -q '^matmul  *1x512:512x1000 .* foreign \[1\]' "$tmp/out" &&
	tr '\n' ' ' <"$tmp/out" | grep -q '\[1\] foreign: measured on other hardware: 1 thread there and 2 here\. '
ok $? 'a foreign answer says in the table what differs'
"$bin/tl-query" -d "$tmp/far.db" --env e1000000000000000000000000000000 --table -q "$tmp/hand" >"$tmp/out" 2>"$tmp/err"
[ -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
ok $? 'and -q warns of nothing'
id=$(printf 'a%.0s' $(seq 32))
sed "s/\"env_id\":\"e1000000000000000000000000000000\"/\"env_id\":\"$id\"/" "$tmp/hand" | "$bin/tl-store" -q -d "$tmp/digits.db"
"$bin/tl-query" -d "$tmp/digits.db" --env aaaaaaaaaaaa --op matmul --prob 1x512:512x1000 --post bias | grep -q '"match":"exact"'
ok $? 'the first digits of an env, as the table shows them, are enough'

# Colours
green=$(printf '\033[32mfaster\033[0m')
"$bin/tl-query" -d "$tmp/hand.db" --env e1000000000000000000000000000000 --table --color=always "$tmp/hand" >"$tmp/out" 2>/dev/null
grep -qF "$green" "$tmp/out" && sed 's/\x1b\[[0-9]*m//g' "$tmp/out" >"$tmp/plain"
"$bin/tl-query" -d "$tmp/hand.db" --env e1000000000000000000000000000000 --table "$tmp/hand" 2>/dev/null | cmp -s - "$tmp/plain"
ok $? '--color=always colours verdicts, and nothing else differs; by default a pipe gets none'
if has_terminal; then
	NO_COLOR=1 TERM=xterm script -qec "$bin/tl-query -d $tmp/hand.db --env e1000000000000000000000000000000 --table $tmp/hand" /dev/null >"$tmp/out" 2>/dev/null </dev/null
	! grep -q "$(printf '\033')" "$tmp/out" && grep -q faster "$tmp/out"
	ok $? 'a terminal gets none where NO_COLOR is set'
	NO_COLOR='' TERM=xterm script -qec "$bin/tl-query -d $tmp/hand.db --env e1000000000000000000000000000000 --table $tmp/hand" /dev/null >"$tmp/out" 2>/dev/null </dev/null
	grep -qF "$green" "$tmp/out"
	ok $? 'and green and red where it is not'
else
	skip_terminal "the colours of a terminal"
fi

# A run that knew of no incumbent takes no place from a better kernel.

res() { # candidate, run, second, latency, more: a result of the one workload
	printf '{"tl":1,"type":"result","workload":{"op":"matmul","prob":"1x512:512x1000","post":["bias"]},"target":"cpu","algo":"gemm","knobs":{"unroll":%d},"status":"ok","stage":"race","latency_s":%s,"error":{"l2":1e-07,"max":2e-07},%s"env_id":"e1000000000000000000000000000000","run":"%032d","at":"2026-11-21T09:00:%02d.000Z"}\n' "$1" "$4" "$5" "$2" "$3" |
		"$bin/tl-check" --fix
}
won() { # incumbent: a duel that was won against it
	printf '"incumbent":true,"duel":{"against":"%032d","latency_s":3e-05,"ratio":1.1,"ci":[1,1.2],"end":"won"},' "$1"
}
first='"incumbent":true,'
incumbent() { # results: the best that is known then, also if the database is made the other way round
	"$bin/tl-store" -q -d "$tmp/chain.db" "$1" && tac "$1" | "$bin/tl-store" -q -d "$tmp/chain2.db"
	for db in chain chain2; do
		"$bin/tl-query" -d "$tmp/$db.db" --env e1000000000000000000000000000000 --op matmul --prob 1x512:512x1000 --post bias |
			sed 's/.*"unroll":\([0-9]*\).*/\1/'
	done | sort -u
	rm "$tmp/chain.db" "$tmp/chain2.db"
}
{
	res 1 1 1 3e-05 "$first"
	res 2 1 2 2e-05 "$(won 1)"
} >"$tmp/one"
[ "$(incumbent "$tmp/one")" = 2 ]
ok $? 'who won is the best'
{ cat "$tmp/one"; res 3 2 3 2.6e-05 "$first"; } >"$tmp/two"
[ "$(incumbent "$tmp/two")" = 2 ]
ok $? 'the first of another run that knew nothing is not, if it is slower'
{ cat "$tmp/two"; res 4 2 4 2.4e-05 "$(won 3)"; } >"$tmp/three"
[ "$(incumbent "$tmp/three")" = 2 ]
ok $? 'nor is one that beat that'
{ cat "$tmp/three"; res 5 2 5 1.5e-05 "$(won 4)"; } >"$tmp/four"
[ "$(incumbent "$tmp/four")" = 5 ]
ok $? 'but one that is quicker is'
{ cat "$tmp/two"; res 4 3 4 2.1e-05 "$(won 2)"; } >"$tmp/five"
[ "$(incumbent "$tmp/five")" = 4 ]
ok $? 'and a duel counts more than times taken apart'


# Predictions of several workloads are made at once, and come in their order
printf '%s\n' op,prob 'conv2d,mb1_ic64ih28_oc64oh28_kh3ph1' 'matmul,12x20:20x24' 'matmul,13x20:20x24' 'matmul,14x20:20x24' | "$bin/tl-extract" -q --format csv >"$tmp/several"
problems() { sed 's/.*"prob":"\([^"]*\)".*/\1/' "$@"; }
remark='{"tl":1,"type":"remark"}'
sed "2a$remark" "$tmp/several" | "$bin/tl-query" --predict -m none -d "$tmp/no.db" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 4 ] && [ "$(problems "$tmp/out")" = "$(problems "$tmp/several" | sed "2a$remark")" ]
ok $? 'predictions come in the order of the workloads, and of what is passed on' || sed 's/^/# /' "$tmp/err"
env -u HOME -u XDG_DATA_HOME -u TL_DB "$bin/tl-query" --predict -m none --op=matmul --prob=33x64:64x65 >"$tmp/noplace" 2>"$tmp/noplace.err"
[ $? -eq 4 ] && grep -q '"type":"candidate"' "$tmp/noplace"
ok $? 'a prediction needs no place for a database' || sed 's/^/# /' "$tmp/noplace.err"
while read -r line; do
	echo "$line" | "$bin/tl-query" --predict -m none -d "$tmp/no.db" 2>"$tmp/err"
done <"$tmp/several" >"$tmp/one"
grep -v '"remark"' "$tmp/out" | cmp -s - "$tmp/one"
ok $? 'and are the same as of one at a time' || sed 's/^/# /' "$tmp/err"
echo "1..$n"
