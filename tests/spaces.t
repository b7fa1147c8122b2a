#!/bin/sh
# bench/spaces.pl, which makes one time of the several looks at a recorded candidate: whom it has looked at again, when it
# knows enough, and what it keeps.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

candidate() { # unroll: one of 12
	echo "{\"tl\":1,\"type\":\"candidate\",\"algo\":\"gemm\",\"knobs\":{\"unroll\":$1}}"
}
look() { # unroll seconds [field...]
	printf '{"tl":1,"type":"result","workload":{"workload_id":"w"},"algo":"gemm","knobs":{"unroll":%s},"status":"ok",' "$1"
	printf '"latency_s":%s,"samples_s":[%s,%s]%s,"env_id":"e","at":"2026-01-01T00:00:00Z"}\n' "$2" "$2" "$2" "${3:-}"
}
again() { # times copies look...: whose turn it is, sorted
	times=$1 copies=$2
	shift 2
	perl bench/spaces.pl near "$times" "$copies" "$tmp/candidates" "$@" | grep -o 'unroll":[0-9]*' | cut -d: -f2 | sort -n | tr '\n' ' '
}

for i in 1 2 3 4 5 6 7 8; do candidate $i; done >"$tmp/candidates"
# The fifth best, by which "near" goes, takes 10 us; the sixth 25, the seventh 45, with neighbours; the eighth 45, without.
for i in 1 2 3 4 5; do look $i 1e-05; done >"$tmp/looks1"
look 6 2.5e-05 >>"$tmp/looks1"
look 7 4.5e-05 ',"noisy":true' >>"$tmp/looks1"
look 8 4.5e-05 >>"$tmp/looks1"
[ "$(again 3 1 "$tmp/looks1")" = '1 2 3 4 5 6 7 ' ]
ok $? 'the near ones again, and those that neighbours may have made far'
[ "$(again 1.15 3 "$tmp/looks1")" = '1 1 1 2 2 2 3 3 3 4 4 4 5 5 5 ' ]
ok $? 'as often as wanted'
{ cat "$tmp/looks1"; look 8 4.5e-05 | sed 's/\[4.5e-05/[1.2e-05/'; } >"$tmp/wild"
[ "$(again 3 1 "$tmp/wild")" = '1 2 3 4 5 6 7 8 ' ]
ok $? 'and those of which one call was near'

# Quiet looks have it: the seventh is the fastest of all.
{ for i in 1 2 3 4 5 6; do look $i 1.1e-05; done; look 7 0.9e-05; } >"$tmp/looks2"
{ look 7 0.902e-05; look 1 3e-05 ',"noisy":true'; } >"$tmp/looks3"
perl bench/spaces.pl merge "$tmp"/looks? >"$tmp/space" 2>"$tmp/err"
times=$(grep -o '"latency_s":[^,]*' "$tmp/space" | cut -d: -f2 | tr '\n' ' ')
[ "$times" = '1.1e-05 1.1e-05 1.1e-05 1.1e-05 1.1e-05 1.1e-05 9e-06 4.5e-05 ' ]
ok $? 'a time is the median of the quiet looks, or a low one of the others'
[ "$(count '"samples_s"' "$tmp/space")" -eq 8 ] && grep -q 'unroll":1}.*"samples_s":\[1e-05,1e-05,1.1e-05,1.1e-05,3e-05,3e-05\]' "$tmp/space"
ok $? 'and has the samples of all looks'

for i in $(seq 40); do look 1 "$(awk -v i="$i" 'BEGIN { printf "%.6g", 1e-5 * (1 + i / 1000) }')"; done >"$tmp/many"
perl bench/spaces.pl merge "$tmp/many" >"$tmp/space" 2>"$tmp/err"
[ "$(grep -o '1\.0[0-9]*e-05' "$tmp/space" | wc -l)" -eq 33 ] && grep -q '1.039e-05' "$tmp/space"
ok $? 'of many samples a few, from all looks'

steady() { # noise
	for l in 1 2 3 4 5; do
		for i in 1 2 3 4 5; do look $i "$(awk -v l=$l -v x="$1" 'BEGIN { printf "%.6g", 1e-5 * (1 + (l % 2) * x) }')"; done >"$tmp/s$l"
	done
	perl bench/spaces.pl settled "$tmp"/s?
}
steady 0.001
ok $? 'looks that agree are enough'
! steady 0.05
ok $? 'looks that do not are not'

# Adding to what is there: of two workloads the one with enough, unless it was recorded anew.
{ look 1 1e-05; look 2 1e-05; look 1 1e-05 | sed 's/"w"/"v"/'; } >"$tmp/set"
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
