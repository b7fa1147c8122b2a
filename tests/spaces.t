#!/bin/sh
# bench/spaces.pl, which makes one time of a recorded candidate's duel, and keeps the rest.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

result() { # unroll [fields]: of a candidate
	printf '{"tl":1,"type":"result","workload":{"workload_id":"w"},"algo":"gemm","knobs":{"unroll":%s},%s' "$1" "$2"
	printf ',"error":{"l2":1e-7,"max":2e-7},"env_id":"e","at":"2026-01-01T00:00:00Z"}\n'
}
duel() { # unroll ratio reference_s own_samples reference_samples
	result "$1" "\"status\":\"ok\",\"latency_s\":9,\"samples_s\":[$4],\"duel\":{\"ratio\":$2,\"latency_s\":$3,\"samples_s\":[$5]}"
}
latencies() { grep -o '"latency_s":[^,]*' "$tmp/space" | cut -d: -f2 | tr '\n' ' '; }

# Three duels, in hours that differ by two: the reference takes 10 us, and the others what the ratio says of that.
{
	result 1 '"status":"ok","latency_s":2e-05,"samples_s":[2e-05,3e-05]'
	duel 2 2 1e-05 4e-06,5e-06 8e-06,1e-05
	duel 3 0.5 2e-05 4e-05,4e-05 2e-05,2e-05
	duel 4 1 1e-05 1e-05 1e-05
	result 5 '"status":"wrong","why":"it is"'
} >"$tmp/results"
perl bench/spaces.pl merge "$tmp/results" >"$tmp/space" 2>"$tmp/err"
[ "$(latencies)" = '1e-05 5e-06 2e-05 1e-05 ' ]
ok $? 'a time is the reference over the ratio, whatever the hour'
grep -q 'unroll":2}.*"samples_s":\[5e-06,5e-06\]' "$tmp/space" && grep -q 'unroll":1}.*"samples_s":\[1e-05,1.5e-05\]' "$tmp/space"
ok $? 'samples are told over the reference of their own pair'
grep 'unroll":5}' "$tmp/space" | grep -q '"why":"it is"'
ok $? 'what was wrong stays'
result 1 '"status":"ok","latency_s":3e-05,"samples_s":[3e-05]' >"$tmp/first"
perl bench/spaces.pl merge "$tmp/results" "$tmp/first" >"$tmp/space" 2>"$tmp/err" && [ "$(latencies)" = '3e-05 1.5e-05 6e-05 3e-05 ' ] &&
	perl bench/spaces.pl merge "$tmp/results" "$tmp/none" 2>"$tmp/err" | grep -q '"latency_s":1e-05'
ok $? 'the reference keeps the time that another recording has of it'

{
	result 1 '"status":"ok","latency_s":1e-05,"samples_s":[1e-05]'
	duel 2 1 1e-05 "$(seq -s, 40)" "$(seq 40 | sed 's/.*/1/' | paste -sd,)"
} >"$tmp/results"
perl bench/spaces.pl merge "$tmp/results" >"$tmp/space" 2>"$tmp/err"
grep 'unroll":2}' "$tmp/space" | grep -o '"samples_s":\[[^]]*' | tr ',' '\n' | wc -l | grep -qx 8
ok $? 'of many samples a few'

# As tl-measure writes it: with the env at the end, and behind it the checksum.
env='"env":{"cpu":"C","isa":"avx2","probe":{"mem":1},"watch":["steal_s"]}'
result 1 '"status":"ok","latency_s":1e-05' | sed "s/}\$/,$env,\"checksum\":\"00ff\"}/" >"$tmp/results"
perl bench/spaces.pl merge "$tmp/results" >"$tmp/space" 2>"$tmp/err"
grep -qF "$env}" "$tmp/space" && ! grep -q checksum "$tmp/space"
ok $? 'of which machine it is stays'

# Adding to what is there: of two workloads the one with enough, unless it was recorded anew.
{ result 1 '"status":"ok"'; result 2 '"status":"ok"'; result 1 '"status":"ok"' | sed 's/"w"/"v"/'; } >"$tmp/set"
mkdir "$tmp/there"
perl bench/spaces.pl split "$tmp/there" 2 <"$tmp/set" && [ "$(ls "$tmp/there")" = w.space ] && head -n 2 "$tmp/set" | cmp -s - "$tmp/there/w.space"
ok $? 'what a set has enough of is taken over'
echo new >"$tmp/there/w.space"
perl bench/spaces.pl split "$tmp/there" 1 <"$tmp/set" && [ "$(cat "$tmp/there/w.space")" = new ] && [ -f "$tmp/there/v.space" ]
ok $? 'and never in the place of what is new'
perl bench/spaces.pl 2>/dev/null
[ $? -ne 0 ]
ok $? 'without a task it does nothing'
echo "1..$n"
