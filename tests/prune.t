#!/bin/sh
# tl-prune: who goes on, with how much, and why. The policies are tested by tests/preempt.c and tests/policies.c.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB
wl=$here/workloads.ndjson

results() { # awk variables
	for v; do set -- "$@" -v "$v" && shift; done
	awk "$@" -f "$here/results.awk" "${in:-$wl}"
}

prune() {
	"$bin/tl-prune" --env e1000000000000000000000000000000 "$@"
}

# sums FILE: of the budgets
sums() {
	sed 's/.*"budget":\([0-9]*\).*/\1/' "$1" | awk '{ s += $1 } END { print s + 0 }'
}

prune --no-db "$wl" >"$tmp/out"
[ $? -eq 0 ] && [ "$(wc -l <"$tmp/out")" -eq 3 ] && [ "$(sums "$tmp/out")" -eq 24 ]
ok $? 'without history all are tuned, with 8 candidates each on average'
"$bin/tl-check" "$tmp/out" | cmp -s - "$tmp/out"
ok $? 'the records are as they should be'
sed 's/,"round":.*/}/' "$tmp/out" | cmp -s - "$wl"
ok $? 'and but for what was added as they were'
grep -q '"round":1,"budget":[0-9]*,"prune":{"action":"tune","reason":"' "$tmp/out"
ok $? 'round, budget, no incumbent, and the reason'

# Many: the first 64 candidates tell what a model from elsewhere is worth here; each workload gets 6.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"64x64:64x$((64 * i))\"}"
done | "$bin/tl-check" --fix >"$tmp/many"
prune --no-db "$tmp/many" >"$tmp/out" && [ "$(sums "$tmp/out")" -eq 72 ] && [ "$(wc -l <"$tmp/out")" -eq 12 ]
ok $? 'a first round has 64 candidates, or 6 for each'
prune --no-db -b 96 "$tmp/many" >"$tmp/out" && [ "$(sums "$tmp/out")" -eq 96 ]
ok $? 'unless more are asked for'
in=$tmp/many results n=5 drop=0.97 best=1e-4 >"$tmp/few" && in=$tmp/many results n=6 drop=0.97 best=1e-4 >"$tmp/enough"
prune --no-db "$tmp/few" >"$tmp/out" && [ "$(sums "$tmp/out")" -eq 72 ] && prune --no-db "$tmp/enough" >"$tmp/out" && [ "$(sums "$tmp/out")" -eq 96 ]
ok $? 'once as many are known, the next has 8 for each'

# One operator has a plateau, the others fall.

sed -n 1p "$wl" >"$tmp/w1"
sed -n 2,3p "$wl" >"$tmp/w23"
in=$tmp/w1 results n=60 drop=1 best=1e-4 first=0 >"$tmp/h1"
in=$tmp/w23 results n=60 drop=0.97 best=1e-4 >"$tmp/h23"
# the plateau: the best comes first
awk '/"type":"result"/ && !done { sub(/"latency_s":[^,]*/, "\"latency_s\":9e-05"); sub(/"ci_s":\[[^]]*\]/, "\"ci_s\":[8e-05,1e-04]"); done = 1 } { print }' "$tmp/h1" |
	grep -v '"stage":"final"' >"$tmp/h1b"
"$bin/tl-store" -q -d "$tmp/db" "$tmp/h1b" "$tmp/h23"
prune -d "$tmp/db" "$wl" >"$tmp/out"
[ $? -eq 0 ] && ! grep -q 4c37ef429432a06ac4502501a1f8777a "$tmp/out" &&
	[ "$(sums "$tmp/out")" -eq 24 ]
ok $? 'a plateau stops an operator, and the others get its budget'
prune -b 200 -d "$tmp/db" "$wl" | grep -c . | grep -qx 2
ok $? 'each of them, if it is large enough'
prune -d "$tmp/db" --all "$wl" | grep -q '"budget":0,.*"action":"stop","reason":"the budget brings more elsewhere'
ok $? 'else the one that brings more'
prune -d "$tmp/db" --all "$wl" | grep -q '4c37ef429432a06a.*"round":2,"budget":0,"incumbent":{"candidate_id":"[0-9a-f]*","latency_s":9e-05,.*"at":"[^"]*"},"prune":{"action":"stop","reason":"no gain of 1% in the last'
ok $? '--all writes it, too, with its incumbent and the reason'
prune -v -d "$tmp/db" "$wl" 2>&1 >/dev/null | grep -c ': \(tune\|stop\) ' | grep -qx 3
ok $? '-v says each decision'
cat "$tmp/h1b" "$tmp/h23" | prune --no-db >"$tmp/out2"
cmp -s "$tmp/out" "$tmp/out2"
ok $? 'history from records is as good as from the database, but for the bound of memory'
cat "$tmp/h1b" "$tmp/h23" | prune -d "$tmp/db" | cmp -s - "$tmp/out"
ok $? 'and does not count twice'
prune -d "$tmp/db" "$wl" "$wl" | cmp -s - "$tmp/out"
ok $? 'a workload that comes twice is one'
sed 's/"count":2/"count":200/' "$wl" | prune -d "$tmp/db" -b 100 >"$tmp/heavy"
prune -d "$tmp/db" -b 100 "$wl" >"$tmp/even"
[ "$(sums "$tmp/heavy")" -eq 100 ] && [ "$(sums "$tmp/even")" -eq 100 ] &&
	[ "$(sed -n 1p "$tmp/heavy" | sed 's/.*"budget":\([0-9]*\).*/\1/')" -gt "$(sed -n 1p "$tmp/even" | sed 's/.*"budget":\([0-9]*\).*/\1/')" ]
ok $? 'count weighs'
"$bin/tl-prune" --env 0e000000000000000000000000000000 -d "$tmp/db" "$wl" | grep -c '"round":1' | grep -qx 3
ok $? 'results of another env do not count'

# The operands take 268 MB. bound() gives the memory a rate that makes the best candidate's time so many times the bound.
echo '{"tl":1,"type":"workload","op":"matmul","prob":"1x8192:8192x8192"}' | "$bin/tl-check" --fix >"$tmp/large"
in=$tmp/large results n=6 best=1e-2 >"$tmp/slow"
best_s=$(sed -n 's/.*"status":"ok","stage":"[a-z]*","latency_s":\([^,]*\),.*/\1/p' "$tmp/slow" | sort -g | head -n 1)
bound() { # times l3: the reason, where the env tells of such a last cache
	rate=$(awk -v s="$best_s" -v times="$1" 'BEGIN { printf "%.6g", 4 * (8192 * 8192 + 2 * 8192) / (s / times) }')
	sed "s/,\"l3\":[0-9]*/$2/;s/\"threads\":2/&,\"probe\":{\"bandwidth_all\":{\"mem\":$rate}}/" "$tmp/slow" >"$tmp/memory" &&
		rm -f "$tmp/memory.db" && "$bin/tl-store" -q -d "$tmp/memory.db" "$tmp/memory" && prune -d "$tmp/memory.db" --all "$tmp/large" |
		sed 's/.*"reason":"//'
}
bound 1 ',"l3":33554432' | grep -q '^its operands come from memory, which takes [0-9]*\.[0-9] us; the best is .* us after 6 candidates'
ok $? 'an operator at the bound of memory stops'
for how in '1.3 ,"l3":33554432' '0.5 ,"l3":33554432' '1 ' '1 ,"l3":0' '1 ,"l3":201326592'; do
	bound "${how%% *}" "${how#* }"
done >"$tmp/got"
[ "$(grep -c . "$tmp/got")" -eq 5 ] && ! grep -q 'come from memory' "$tmp/got"
ok $? 'not one far above or below it, nor where no last cache is known, or one that holds half of the operands'

# Right at first, wrong later: the incumbent of the plateau falls, and with it what came of it.

sed -n '/"latency_s":9e-05/s/"status":"ok"/"status":"wrong","why":"w"/p' "$tmp/h1b" | sed 's/"stage":"race"/"stage":"final"/' >"$tmp/late"
cp "$tmp/db" "$tmp/wrong.db"
"$bin/tl-store" -q -d "$tmp/wrong.db" "$tmp/late"
prune -d "$tmp/wrong.db" --all "$tmp/w1" >"$tmp/got"
[ "$(wc -l <"$tmp/late")" -eq 1 ] && grep -q '"incumbent"' "$tmp/got" && ! grep -q '"latency_s":9e-05' "$tmp/got"
ok $? 'a candidate that was found wrong is no incumbent'
cat "$tmp/late" "$tmp/h1b" | prune --no-db --all | cmp -s - "$tmp/got"
ok $? 'nor is it from records, in whatever order'

# Stopping

prune -q -d "$tmp/db" "$wl"
ok $? '-q: something is worth more'
prune -q -d "$tmp/db" "$tmp/w1"
[ $? -eq 1 ]
ok $? '-q: nothing is worth more, status 1'
prune -q --min-gain 1 -d "$tmp/db" "$wl"
[ $? -eq 1 ]
ok $? '--min-gain stops all'
for limit in core-seconds 'core-seconds<40' 'seconds<5' 'rounds<1' 'candidates<100' 'rounds<9,candidates<180'; do
	prune -q --until "$limit" -d "$tmp/db" "$wl" 2>/dev/null
	echo $?
done >"$tmp/got"
printf '%s\n' 2 1 1 1 1 1 | cmp -s - "$tmp/got"
ok $? '--until: what stops'
prune -q --why "$tmp/why" -d "$tmp/db" "$wl" && [ ! -e "$tmp/why" ]
ok $? '--why: nothing while something is worth more'
prune -q --min-gain 1 --why "$tmp/why" -d "$tmp/db" "$wl"
[ "$(wc -l <"$tmp/why")" -eq 1 ] && grep -q '^[0-9.]*% of all time is the gain to expect of as many core-seconds as were spent so far, less than 100%$' "$tmp/why"
ok $? 'else the reason of all'
prune -q --until 'rounds<1' --why "$tmp/why" -d "$tmp/db" "$wl"
grep -q '^the limit rounds<1 is reached with 1; [0-9.]*% of all time is the gain to expect of as many core-seconds as were spent so far$' "$tmp/why"
ok $? 'with a limit also what more would have brought'
prune -q --until 'rounds<1' --policy=lorien --why "$tmp/why" -d "$tmp/db" "$wl"
grep -qx 'the limit rounds<1 is reached with 1' "$tmp/why"
ok $? 'unless the policy expects nothing'
prune -q --why "$tmp/why" -d "$tmp/db" "$tmp/w1"
grep -q '^no gain of 1% in the last' "$tmp/why"
ok $? 'or that of a single operator'
prune -q --policy=lorien,trials=1 --why "$tmp/why" -d "$tmp/db" "$wl"
grep -q '^none of the 3 operators goes on; of the first, it had its [0-9]* trials; the best is [0-9.]* us$' "$tmp/why"
ok $? 'or that of the first of several'
prune -q -d "$tmp/yet.db" "$wl" 2>"$tmp/err" && grep -q 'yet.db is not there: nothing is known yet' "$tmp/err" && [ ! -e "$tmp/yet.db" ]
ok $? 'a database that is not there yet is empty'
prune -q -d "$tmp/no/where.db" "$wl" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cannot look for the database' "$tmp/err"
ok $? 'but its folder must be there'
prune -q --until 'core-seconds<60,rounds<2,candidates<181' -d "$tmp/db" "$wl" &&
	prune -q --until 'core-seconds<1,rounds<1' --since 2026-11-21T10:00:00.000Z -d "$tmp/db" "$wl"
ok $? '--until: what goes on, --since: what does not count'
echo '{"tl":1,"type":"end","workload_id":"26ac6296f0e4819b28fec9ae3e5197b5","drawn":0,"why":"the space is exhausted","kept":0,"refused":0,"measured":0,"preempted":0,"failed":0,"built":0,"run":"a2000000000000000000000000000000"}' >"$tmp/exhausted"
prune --all -d "$tmp/db" "$wl" >"$tmp/before"
sed 's/the space is exhausted/stopped/' "$tmp/exhausted" | "$bin/tl-store" -q -d "$tmp/db"
prune --all -d "$tmp/db" "$wl" | cmp -s - "$tmp/before" &&
	{ sed 's/the space is exhausted/stopped/' "$tmp/exhausted"; cat "$wl"; } | prune --all -d "$tmp/db" | cmp -s - "$tmp/before"
ok $? 'an operator that was stopped for a round has candidates left'
sed 's/the space is exhausted/out of time/; s/a20/a30/' "$tmp/exhausted" >"$tmp/late"
{ cat "$tmp/late" "$wl"; } | prune --all -d "$tmp/db" | cmp -s - "$tmp/before" && "$bin/tl-store" -q -d "$tmp/db" "$tmp/late" && prune --all -d "$tmp/db" "$wl" | cmp -s - "$tmp/before"
ok $? 'and so has one for which there was no time'
"$bin/tl-store" -q -d "$tmp/db" "$tmp/exhausted"
prune --all -d "$tmp/db" "$wl" | grep 26ac6296f0e4819b28fec9ae3e5197b5 | grep -q '"action":"stop","reason":"no candidate is left'
ok $? 'an operator without candidates stops'
echo '{"tl":1,"type":"workload","op":"conv2d"}' | cat - "$wl" | prune -d "$tmp/db" >/dev/null 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':1: ' "$tmp/err"
ok $? 'a bad record is named and gives status 3'
sed 's/"type":"workload",/&"round":9007199254740991,/' "$wl" | prune --no-db --all >"$tmp/out" &&
	grep -q '"round":9007199254740991' "$tmp/out" && "$bin/tl-check" -q "$tmp/out"
ok $? 'the largest round of a record is the last one'
[ "$(echo '{"tl":1,"type":"novel"}' | prune --no-db)" = '{"tl":1,"type":"novel"}' ]
ok $? 'other records pass through'

# Policies

prune -d "$tmp/db" --all "$wl" >"$tmp/default" && prune -d "$tmp/db" --all --policy=preempt "$wl" | cmp -s - "$tmp/default"
ok $? 'preempt is the default policy'
"$bin/tl-prune" --list-policies >"$tmp/policies"
[ "$(cut -d' ' -f1 "$tmp/policies" | tr '\n' ' ')" = 'policy evolution lorien preempt random trimmer ' ] && grep -q '^trimmer  *threshold=3,batch=16,race=0  ' "$tmp/policies"
ok $? '--list-policies'
prune -d "$tmp/db" --policy=nosuch "$wl" >"$tmp/got" 2>"$tmp/err"
[ $? -eq 2 ] && [ ! -s "$tmp/got" ] && grep -q '^tl-prune: --policy is "nosuch", and wants one of evolution|lorien|preempt|random|trimmer$' "$tmp/err"
ok $? 'another one is refused'
prune -d "$tmp/db" --policy=trimmer,batch=65 "$wl" >"$tmp/got" 2>"$tmp/err"
[ $? -eq 2 ] && [ ! -s "$tmp/got" ] && grep -q '^tl-prune: the policy trimmer wants batch=N, with N from 8 to 64, not "batch=65"$' "$tmp/err"
ok $? 'so is a setting out of its range'
for option in --gain=0.1 --patience=8 --min-gain=1; do
	prune -d "$tmp/db" --policy=lorien "$option" "$wl" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q '^tl-prune: the policy lorien heeds no --gain, --patience or --min-gain$' "$tmp/err" && echo "$option"
done | wc -l | grep -qx 3
ok $? 'and an option that the policy does not heed'
# 60 candidates of each are known, the best of the first among its first eight.
"$bin/tl-store" -q -d "$tmp/rivals.db" "$tmp/h1b" "$tmp/h23"
prune -d "$tmp/rivals.db" --policy=lorien --all "$wl" >"$tmp/got"
[ "$(sums "$tmp/got")" -eq 4 ] && sed -n 1p "$tmp/got" | grep -q '"budget":4,.*"action":"tune","reason":"4 of its 64 trials, after 60"' &&
	sed -n 3p "$tmp/got" | grep -q '"action":"stop","reason":"it waits for the end of 2 operators before it"'
ok $? 'lorien: the first goes on, as if it had no plateau'
prune -d "$tmp/rivals.db" --policy=lorien,trials=60 --all "$wl" >"$tmp/got"
[ $? -eq 1 ] && [ "$(grep -c '"action":"stop","reason":"it had its 60 trials; the best is' "$tmp/got")" -eq 3 ]
ok $? 'until all have had their trials'
prune -d "$tmp/rivals.db" --policy=trimmer,threshold=6,batch=8 --all "$wl" >"$tmp/got"
[ "$(sums "$tmp/got")" -eq 8 ] && sed -n 1p "$tmp/got" | grep -q '"action":"stop","reason":"6 batches of 8 in a row did not improve its best, which is 90.0 us after 60 candidates"' &&
	[ "$(grep -c '"action":"tune","reason":"pass 8: 4 of 8 candidates; its plateau counter is at [01] of 6"' "$tmp/got")" -eq 2 ]
ok $? 'trimmer: the plateau stops, the others fill their batches'
bad=0
for policy in $(sed '1d; s/ .*//' "$tmp/policies"); do
	for limit in 'core-seconds<40' 'seconds<5' 'rounds<1' 'candidates<100' 'candidates<180'; do
		prune -q --policy="$policy" --until "$limit" -d "$tmp/rivals.db" "$wl"
		[ $? -eq 1 ] || bad=1
		prune --all --policy="$policy" --until "$limit" -d "$tmp/rivals.db" "$wl" | grep -c "\"budget\":0,.*\"reason\":\"all stop: the limit $limit is reached" | grep -qx 3 || bad=1
	done
	prune --policy="$policy" --until 'core-seconds<60,rounds<2,candidates<183' -d "$tmp/rivals.db" "$wl" >"$tmp/got"
	[ $? -eq 0 ] && [ "$(sums "$tmp/got")" -eq 3 ] || bad=1
done
[ "$bad" -eq 0 ]
ok $? 'limits hold for each policy'

# The limit of time. The run begins in the far future, so that the clock does not matter.
when() { # options
	prune --no-db --since 2999-01-01T00:00:00.000Z --until 'seconds<100' "$@" "$tmp/w1" | sed 's/.*"until":"2999-01-01T00:\([^"]*\)".*/\1/'
}
[ "$(when)" = 01:40.000Z ]
ok $? 'a round is told when its time is over'
[ "$(when --reserve)" = 01:38.750Z ]
ok $? '--reserve: what the finals take is kept for them'
[ "$(prune --no-db --since 2999-01-01T00:00:00.000Z --until 'seconds<5' --reserve "$tmp/w1" | sed 's/.*"until":"[^.]*:\([^"]*\)".*/\1/')" = 04.000Z ]
ok $? 'a fifth of the time at most'
when_all() { # options: the same for three workloads
	prune --since 2999-01-01T00:00:00.000Z --until 'seconds<100' --reserve "$@" "$wl" | sed -n '1s/.*"until":"2999-01-01T00:\([^"]*\)".*/\1/p'
}
results n=3 best=1e-4 | "$bin/tl-store" -q -d "$tmp/final.db"
[ "$(when_all --no-db)" = 01:36.250Z ] && [ "$(when_all -d "$tmp/final.db")" = 01:38.750Z ]
ok $? 'nothing for those whose best has had its final, but for one that may change'
! prune --no-db "$tmp/w1" | grep -q '"until"'
ok $? 'without a limit there is no such time'
prune --all --since 2001-01-01T00:00:00.000Z --until 'seconds<100' --no-db "$tmp/w1" >"$tmp/got"
[ $? -eq 1 ] && ! grep -q '"until"' "$tmp/got"
ok $? 'nor where the round does not begin'

# Before its final the best meets those that held its place before: of four winners by 1.5, 1.05, 1.1 and 1.05 the last is
# the best, the two before it are near, the first is neither near nor among the last two.
in=$tmp/w1 results n=8 bare=1 | grep '"status":"ok","stage":"race"' | head -n 4 | perl -ne '
	BEGIN { @ratio = (1.5, 1.05, 1.1, 1.05) }
	my $duel = sprintf q("duel":{"against":"%s","ratio":%g,"ci":[1,2],"latency_s":0.001,"end":"won"},"incumbent":true,), "0" x 32, shift @ratio;
	s/"error":/$duel$&/;
	print' | "$bin/tl-check" --fix >"$tmp/winners"
prune --no-db --finals "$tmp/w1" "$tmp/winners" >"$tmp/got"
ids() { grep "$1" "$2" | sed 's/.*"candidate_id":"\([0-9a-f]*\)".*/\1/'; }
[ "$(ids '"type":"candidate"' "$tmp/got" | sort)" = "$(ids . "$tmp/winners" | sed -n 2,3p | sort)" ] &&
	sed -n 1p "$tmp/got" | grep -q '"incumbent":{"candidate_id":"'"$(ids . "$tmp/winners" | sed -n 4p)"
ok $? '--finals: the last two that held the place come along'
sed 's/"ratio":1.1,/"ratio":1.3,/' "$tmp/winners" >"$tmp/far"
[ "$(prune --no-db --finals "$tmp/w1" "$tmp/far" | ids '"type":"candidate"' - | wc -l)" -eq 1 ]
ok $? 'unless they are far behind'
sed '3s/"candidate_id":"[0-9a-f]*/"candidate_id":"00000000000000000000000000000000/' "$tmp/winners" >"$tmp/stale"
prune --no-db --finals "$tmp/w1" "$tmp/stale" 2>"$tmp/err" | ids '"type":"candidate"' - >"$tmp/got"
grep -q ':3: "candidate_id" is not ' "$tmp/err" && grep -qx "$(ids . "$tmp/winners" | sed -n 2p)" "$tmp/got" &&
	! grep -qx "$(ids . "$tmp/winners" | sed -n 3p)" "$tmp/got"
ok $? 'or are of an older revision, which is said'

echo "1..$n"
