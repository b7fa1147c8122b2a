#!/bin/sh
# What tuning costs: run records, by hand and of a real run, summed by purpose; and what of it was wasted.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_CC

cost() { # database, options
	db=$1
	shift
	"$bin/tl-query" -d "$db" --cost "$@"
}

# The number of a field in the cost record on standard input.
field() {
	sed -n "s/.*\"$1\":\([0-9.e+-]*\|null\)[,}].*/\1/p"
}

is() { # file field number
	[ "$(field "$2" <"$1")" = "$3" ] || {
		echo "# $2 is $(field "$2" <"$1"), not $3"
		return 1
	}
}

# By hand: two rounds of one tl-tune, one tl-measure alone. Latencies tell who was the best when.

# The candidates are the first that tl-gen draws for the last of the workloads.
tail -n 1 "$here/workloads.ndjson" | awk -v n=7 -v bare=1 -f "$here/results.awk" | grep '"stage":"race"' |
	sed 's/.*\("candidate_id".*\),"status".*/\1/' >"$tmp/candidates"
result() { # candidate, status, stage, latency, second, run, core_s, baseline_s
	error='"error":{"l2":1e-7,"max":1e-7}'
	case $2 in
	ok) told="\"latency_s\":$4,$error" ;;
	preempted) told="\"why\":\"slower than the incumbent\",\"latency_s\":$4,\"bound\":\"lower\",$error" ;;
	*) told='"why":"made up"' ;;
	esac
	printf '{"tl":1,"type":"result",%s,"status":"%s","stage":"%s",%s,"cost":{"baseline_s":%s,"core_s":%s},"env_id":"e1000000000000000000000000000000","run":"%s","at":"2026-11-21T09:00:%02d.000Z"}\n' \
		"$(sed -n "$1p" "$tmp/candidates")" "$2" "$3" "$told" "$8" "$7" "$6" "$5"
}
run() { # run, program, second, wall, cores, cost, other fields
	printf '{"tl":1,"type":"run","run":"%s","program":"%s","at":"2026-11-21T09:00:%02d.000Z","wall_s":%s,"cores":%s,"cost":{%s},"energy_J":null,"energy_why":"none"%s}\n' \
		"$1" "$2" "$3" "$4" "$5" "$6" "$7"
}
{
	result 1 ok race 5e-5 1 b1000000000000000000000000000000 1.5 0.25        # the best when it came: useful; 0.5 of it shared
	result 2 preempted race 6e-5 2 b1000000000000000000000000000000 2 0.25   # wasted, but for 0.5 of it shared
	result 3 ok race 4e-5 3 b1000000000000000000000000000000 1 0             # the best then
	result 4 ok race 4.5e-5 4 b1000000000000000000000000000000 0.5 0         # wasted, but see its final
	result 3 ok final 4.1e-5 5 b1000000000000000000000000000000 0.25 0       # a final goes before a race
	result 4 ok final 4.05e-5 6 b1000000000000000000000000000000 0.25 0      # and this one is better: useful, race and all
	run b1000000000000000000000000000000 tl-measure 7 3 2 '"build":4,"verify":0.5,"time":1,"idle":0.5' ',"part_of":"70000000000000000000000000000000"'
	result 5 ok race 1e-6 8 b2000000000000000000000000000000 1 0             # best of all, but found wrong: wasted
	result 5 wrong final - 9 b2000000000000000000000000000000 0.125 0     # wasted
	result 6 crash race - 10 b2000000000000000000000000000000 0.0625 0    # wasted
	run b2000000000000000000000000000000 tl-measure 11 1 2 '"build":1,"verify":0.25,"idle":0.75' ',"part_of":"70000000000000000000000000000000"'
	run 70000000000000000000000000000000 tl-tune 12 5 2 '"search":1,"store":0.5,"idle":0.5' ',"parts_s":4'
	result 7 ok race 4.2e-5 13 b3000000000000000000000000000000 3 0          # wasted: better ones were known, from other runs
	run b3000000000000000000000000000000 tl-measure 14 2 4 '"time":7,"novel":1'
} >"$tmp/hand"
"$bin/tl-check" -q "$tmp/hand" && "$bin/tl-store" -q -d "$tmp/hand.db" "$tmp/hand"
ok $? 'run records are stored'

cost "$tmp/hand.db" >"$tmp/all"
is "$tmp/all" runs 2 && is "$tmp/all" parts 2
ok $? 'a part counts in its whole'
is "$tmp/all" held_core_s 18 && is "$tmp/all" sum_core_s 18 && is "$tmp/all" wall_s 7
ok $? 'the purposes sum to what was held'
is "$tmp/all" build 5 && is "$tmp/all" verify 0.75 && is "$tmp/all" time 8 && is "$tmp/all" search 1 && is "$tmp/all" idle 1.75
ok $? 'each of them over all runs'
is "$tmp/all" unknown 1
ok $? 'also one that only a later version knows'
is "$tmp/all" wasted_core_s 5.6875
ok $? 'wasted: what was spent on those that never were the best'
is "$tmp/all" results 10 && is "$tmp/all" candidates 7 && is "$tmp/all" measured 5 && is "$tmp/all" preempted 1 && is "$tmp/all" failed 1 &&
	is "$tmp/all" results_core_s 9.6875
ok $? 'candidates, and what their results tell of'
cost "$tmp/hand.db" --run 70000000000000000000000000000000 >"$tmp/t"
is "$tmp/t" held_core_s 10 && is "$tmp/t" sum_core_s 10 && is "$tmp/t" wasted_core_s 2.6875 && is "$tmp/t" candidates 6
ok $? '--run: a run and its parts'
cost "$tmp/hand.db" --run b2000000000000000000000000000000 >"$tmp/m2"
is "$tmp/m2" held_core_s 2 && is "$tmp/m2" sum_core_s 2 && is "$tmp/m2" runs 1 && is "$tmp/m2" build 1
ok $? '--run: a part alone'
cost "$tmp/hand.db" --run last >"$tmp/last"
is "$tmp/last" held_core_s 8 && is "$tmp/last" candidates 1
ok $? '--run=last'
cost "$tmp/hand.db" --since 2026-11-21T09:00:12.000Z >"$tmp/since"
cmp -s "$tmp/since" "$tmp/all"
ok $? '--since: parts go by the end of their whole'
cost "$tmp/hand.db" --since 2026-11-21T09:00:13.000Z | cmp -s - "$tmp/last"
ok $? 'or are left out with it'
run b4000000000000000000000000000000 tl-measure 15 9 4 '"time":36' | sed 's/2026-11-21/2999-11-21/' | cat "$tmp/hand" - | "$bin/tl-store" -q -d "$tmp/future.db"
cost "$tmp/future.db" --since 2026-11-21T09:00:12.000Z | cmp -s - "$tmp/all"
ok $? 'and so is what is dated in the future'
cost "$tmp/hand.db" --run 0a000000000000000000000000000000 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'no such run' "$tmp/err" && [ ! -s "$tmp/out" ]
ok $? 'a run that is not known: exit 1'
cost "$tmp/hand.db" --table >"$tmp/out"
grep -q '^build  *5.00  *27.8$' "$tmp/out" && grep -q '^sum  *18.00  *100.0$' "$tmp/out" && grep -q '^wasted of these  *5.69  *31.6$' "$tmp/out" &&
	grep -q 'sum to 100.00% of 18.00 core-seconds, what 2 runs held in 7.00 s' "$tmp/out"
ok $? '--table'
cost "$tmp/hand.db" --csv | grep -q '^build,5,27.7777778.\{0,1\}$'
ok $? '--csv'
"$bin/tl-query" -d "$tmp/hand.db" --run 70000000000000000000000000000000 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ]
ok $? '--run without --cost: exit 2'

# What was saved: two of three that lost were in an env where others went to their end. One kernel was in the cache.

with() { # build_core_s, digit of the kernel's hash, further field
	sed "s/\"cost\":{/$3\"code_hash\":\"${2}0000000000000000000000000000000\",&\"build_core_s\":$1,/"
}
m=b5000000000000000000000000000000
{
	result 1 ok race 5e-5 1 $m 1.5 0.25 | with 0.2 a                        # 0.5 of it shared: to the end in 0.8
	result 2 ok race 4e-5 2 $m 9 0 | with 0.4 b '"duel":{"against":"00000000000000000000000000000001","ratio":1.1,"ci":[1,1.2],"latency_s":5e-5,"end":"won"},' # won
	result 3 preempted race 6e-5 3 $m 0.5 0 | with 0.1 c                    # 0.4
	result 4 preempted race 6e-5 4 $m 0.3 0 | with 0 d                      # 0.3
	result 5 build race - 5 $m 0.2 0 | with 0.2 e                           # no kernel
	result 6 preempted race 6e-5 6 $m 0.2 0 | with 0 d | sed 's/"env_id":"e1/"env_id":"e2/'
	wid=$(sed -n 's/.*"workload_id":"\([0-9a-f]*\)".*/\1/p;1q' "$tmp/candidates")
	printf '{"tl":1,"type":"end","workload_id":"%s","drawn":1000,"why":"n reached","kept":5,"refused":995,"measured":2,"preempted":3,"failed":1,"built":3,"run":"%s"}\n' "$wid" $m
	printf '{"tl":1,"type":"end","workload_id":"%s","drawn":1,"why":"rematches","measured":0,"preempted":1,"failed":0,"built":0,"run":"%s"}\n' "$wid" $m
	run $m tl-measure 7 3 2 '"build":4' ',"part_of":"75000000000000000000000000000000"'
	run 75000000000000000000000000000000 tl-tune 8 5 2 '"search":1' ',"parts_s":4,"stop":"nothing is left to try"'
} >"$tmp/saved"
"$bin/tl-check" -q "$tmp/saved" && "$bin/tl-store" -q -d "$tmp/saved.db" "$tmp/saved" && cost "$tmp/saved.db" >"$tmp/s" && "$bin/tl-check" -q "$tmp/s"
ok $? 'records of a run that saved something'
is "$tmp/s" races 5 && is "$tmp/s" stopped 3 && is "$tmp/s" estimated 2 && is "$tmp/s" stopped_core_s 0.9
ok $? 'races that were stopped early would have taken as long as those that were not'
is "$tmp/s" proposed 1000 && is "$tmp/s" passed_on 5
ok $? 'what the filter passed over is counted, rematches are not'
is "$tmp/s" kernels 4 && is "$tmp/s" built 3 && is "$tmp/s" cached_core_s 0.2
ok $? 'a kernel from the cache would have taken as much as the median of those that were built'
awk -v line="$(printf '{"tl":1,"type":"end","workload_id":"%s","drawn":9007199254740991,"why":"n reached","kept":9007199254740991,"refused":9007199254740991,"measured":2,"preempted":3,"failed":1,"built":9007199254740991,"run":"%s"}' "$wid" $m)" \
	'BEGIN { for (i = 1; i <= 1025; i++) { s = line; sub(/"measured":2/, "\"measured\":" i, s); print s } }' >"$tmp/forged"
cp "$tmp/saved.db" "$tmp/forged.db" && "$bin/tl-store" -q -d "$tmp/forged.db" "$tmp/forged" && cost "$tmp/forged.db" >"$tmp/s" && "$bin/tl-check" -q "$tmp/s" &&
	is "$tmp/s" proposed 9007199254740991 && is "$tmp/s" built 9007199254740991 &&
	tail -n 1 "$here/workloads.ndjson" | "$bin/tl-query" -d "$tmp/forged.db" --table --wide --env e1000000000000000000000000000000 | grep -q ' 9007199254740991 *9007199254740991 '
ok $? 'sums of counts end with the largest number of a record'
cost "$tmp/saved.db" --run last | grep -q '"stop":"nothing is left to try"' && grep -q '"stop"' "$tmp/s" && ! grep -q '"stop"' "$tmp/all"
ok $? 'why the run ended'
cost "$tmp/saved.db" --table | tr '\n' ' ' >"$tmp/out"
grep -q '3 of 5 races were stopped early, which saved about 0.9 core-seconds: 2 of them would have' "$tmp/out" &&
	grep -q 'Of 1000 proposed candidates the filter passed on 5, and compilers built 3 of their 4 kernels; ' "$tmp/out" &&
	grep -q 'Kernels from the build cache (1) saved about 0.2 core-seconds.' "$tmp/out" && grep -q 'The rounds ended: nothing is left to try.' "$tmp/out"
ok $? '--table says so in sentences'

# Replays, orders, deaths

"$bin/tl-query" -d "$tmp/hand.db" --dump=all >"$tmp/dump"
grep '"type":"run"' "$tmp/hand" | sort >"$tmp/want"
grep '"type":"run"' "$tmp/dump" | sort | cmp -s - "$tmp/want" && "$bin/tl-query" -d "$tmp/hand.db" --dump=runs | sort | cmp -s - "$tmp/want"
ok $? 'runs are dumped byte for byte'
"$bin/tl-store" -v -q -d "$tmp/hand.db" "$tmp/dump" 2>"$tmp/err" && grep -q ': 0 new' "$tmp/err" && cost "$tmp/hand.db" | cmp -s - "$tmp/all"
ok $? 'storing twice changes nothing'
grep -v '"type":"workload"' "$tmp/dump" | tac | "$bin/tl-store" -q -d "$tmp/back.db" && cost "$tmp/back.db" | cmp -s - "$tmp/all"
ok $? 'nor does the order'
{
	run b3000000000000000000000000000000 tl-measure 14 9 4 '"time":36'
	run b3000000000000000000000000000000 tl-measure 13 9 4 '"time":36'
} >"$tmp/later"
tac "$tmp/later" | cat - "$tmp/hand" "$tmp/later" | "$bin/tl-store" -q -d "$tmp/l1.db"
grep -v '"type":"workload"' "$tmp/dump" | cat "$tmp/later" - | tac | "$bin/tl-store" -q -d "$tmp/l2.db"
cost "$tmp/l1.db" >"$tmp/l1" && cost "$tmp/l2.db" | cmp -s - "$tmp/l1" && is "$tmp/l1" held_core_s 46
ok $? 'of two records of a run the later is kept, in whatever order they come'
grep -v '"run":"70000000000000000000000000000000","program"' "$tmp/hand" | "$bin/tl-store" -q -d "$tmp/killed.db"
cost "$tmp/killed.db" >"$tmp/killed"
is "$tmp/killed" runs 3 && is "$tmp/killed" held_core_s 16 && is "$tmp/killed" sum_core_s 16 && cost "$tmp/killed.db" --run 70000000000000000000000000000000 | field held_core_s | grep -qx 8
ok $? 'parts whose whole was killed stand for themselves'
grep -v '"run":"b1000000000000000000000000000000","program"' "$tmp/hand" | "$bin/tl-store" -q -d "$tmp/lost.db"
cost "$tmp/lost.db" --run 70000000000000000000000000000000 --table | grep -q 'sum to 40.00% of 10.00'
ok $? 'a part that was killed is missed'
for bad in 's/"wall_s":2/"wall_s":-2/' 's/"cost":{[^}]*}/"cost":[]/' 's/"time":7/"time":null/' 's/"cores":4,//' 's/"run":"b3000000000000000000000000000000"/"run":3/'; do
	grep '"b3000000000000000000000000000000","program"' "$tmp/hand" | sed "$bad" >"$tmp/bad"
	"$bin/tl-store" -q -d "$tmp/bad.db" "$tmp/bad" 2>/dev/null
	[ $? -eq 3 ] && ! "$bin/tl-check" -q "$tmp/bad" 2>/dev/null || echo "$bad"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
ok $? 'records that make no sense are refused'

# A real run: what the programs tell, each by its own clock, against what was held in all

near() { # a b slack: do they agree within 2%, or the slack?
	awk -v a="$1" -v b="$2" -v slack="$3" 'BEGIN { d = a > b ? a - b : b - a; if (a != "" && b != "" && (d <= 0.02 * b || d <= slack)) exit 0; print "# " a " is not " b; exit 1 }'
}
printf 'op,prob,layout,post,count\nconv2d,mb1_ic16ih14_oc32oh14_kh3ph1,nhwc,bias,1\nmatmul,24x40:40x48,ab,,2\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w.wl"
export TL_CACHE="$tmp/cache"
"$bin/tl-tune" -q -b 24 --min-gain 0 -d "$tmp/r.db" --until 'rounds<2' "$tmp/w.wl" 2>"$tmp/err"
ok $? 'a real run'
cost "$tmp/r.db" --run last >"$tmp/r"
is "$tmp/r" runs 1 && is "$tmp/r" parts 3
ok $? 'is one run of three parts: two rounds, and the finals'
# What no program can see of itself, its start and its end, is milliseconds a process; on a busy machine it may be far more.
awk -v sum="$(field sum_core_s <"$tmp/r")" -v held="$(field held_core_s <"$tmp/r")" 'BEGIN {
	if (sum > 0.5 * held && sum <= 1.02 * held)
		exit 0
	print "# " sum " of " held
	exit 1
}'
ok $? 'its purposes sum to wall time x cores'
for p in search inference build verify baseline time probe store; do
	awk -v v="$(field $p <"$tmp/r")" 'BEGIN { exit !(v > 0) }' || echo $p
done >"$tmp/out"
[ ! -s "$tmp/out" ]
ok $? 'none that took something is left out'
"$bin/tl-query" -d "$tmp/r.db" --dump=results >"$tmp/results"
sum() { # of a field of costs
	grep -o "\"$1\":[0-9.e+-]*" "$tmp/results" | cut -d: -f 2 | awk '{ s += $1 } END { printf "%.9g", s }'
}
cores=$("$bin/tl-query" -d "$tmp/r.db" --dump=runs | field cores | head -n 1)
product() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.9g", a * b }'; }
near "$(sum build_core_s)" "$(field build <"$tmp/r")" 0.02
ok $? 'the results tell of the same: build'
near "$(product "$(sum verify_s)" "$cores")" "$(field verify <"$tmp/r")" 0.05
ok $? 'verify'
near "$(product "$(sum baseline_s)" "$cores")" "$(field baseline <"$tmp/r")" 0.05
ok $? 'baseline'
near "$(product "$(sum run_s)" "$cores")" "$(field time <"$tmp/r")" 0.05
ok $? 'time'
near "$(sum core_s)" "$(field results_core_s <"$tmp/r")" 0.001
ok $? 'and tl-query adds them up'
awk -v w="$(field wasted_core_s <"$tmp/r")" -v r="$(field results_core_s <"$tmp/r")" 'BEGIN { exit !(w > 0 && w < r) }'
ok $? 'a part of it was wasted'

# By hand, without tl-tune; a death

"$bin/tl-gen" -n 500 --seed 7 --cost "$tmp/w.wl" | "$bin/tl-filter" -k 4 --cost | "$bin/tl-measure" >"$tmp/out" 2>/dev/null
"$bin/tl-check" -q "$tmp/out" && grep '"type":"end"' "$tmp/out" | grep '"search_s":' | grep -c '"inference_s":' | grep -qx 2
ok $? '--cost: end records tell what search and inference took'
grep '"type":"run"' "$tmp/out" >"$tmp/run"
[ "$(wc -l <"$tmp/run")" -eq 1 ] && awk -v v="$(field search <"$tmp/run")" -v w="$(field inference <"$tmp/run")" 'BEGIN { exit !(v > 0 && w > 0) }'
ok $? 'and tl-measure, which waited for them, counts it'
"$bin/tl-gen" -n 50 "$tmp/w.wl" >"$tmp/a"
"$bin/tl-gen" -n 50 "$tmp/w.wl" | cmp -s - "$tmp/a"
ok $? 'without --cost the same input gives the same output'
printf 'op,prob\nconv2d,mb4_ic64ih56_oc64oh56_kh3ph1\n' >"$tmp/slow.csv"
"$bin/tl-extract" -q --format csv "$tmp/slow.csv" | "$bin/tl-gen" -n 80 >"$tmp/slow"
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$bin/tl-measure" "$tmp/slow" >"$tmp/some" 2>/dev/null &
pid=$!
i=0
while ! grep -q '"type":"result"' "$tmp/some" 2>/dev/null && [ $i -lt 600 ]; do
	sleep 0.05
	i=$((i + 1))
done
kill -INT $pid
wait $pid
grep '"type":"run"' "$tmp/some" | grep -q '"why":"stopped by a signal"' && "$bin/tl-check" -q "$tmp/some"
ok $? 'a run that was stopped tells what it cost so far'
TL_CC=/nonexistent/cc "$bin/tl-measure" "$tmp/slow" 2>/dev/null | grep '"type":"run"' | grep -q '"why":".*nonexistent'
ok $? 'also one that measured nothing'
echo "1..$n"
