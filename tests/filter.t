#!/bin/sh
# tl-filter: how many it keeps, which, in which order, and what becomes of the rest.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

candidates() { grep '^{"tl":1,"type":"candidate"' "$@"; }
ids() { candidates "$@" | cut -d'"' -f10; }
filter() { "$bin/tl-filter" "$@"; }

as_machine avx2 2 || as_machine scalar 2
"$bin/tl-gen" -n 1000 "${0%/*}/workloads.ndjson" >"$tmp/in"

filter -k 20 "$tmp/in" >"$tmp/a" && filter -k 20 "$tmp/in" >"$tmp/b" && cmp -s "$tmp/a" "$tmp/b"
ok $? 'the same input gives the same output'
[ "$(ids "$tmp/a" | sort -u | wc -l)" -eq 60 ] && [ "$(candidates "$tmp/a" | wc -l)" -eq 60 ]
ok $? 'it keeps k a workload'
"$bin/tl-check" -q "$tmp/a"
ok $? 'what it writes is well formed'
{ sed 's/"workload":{[^{}]*}/"workload":""/' "$tmp/in" | candidates | head -n 2; sed '/"type":"end"/q' "$tmp/in"; } |
	filter -k 20 >"$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':1: workload: .*not an object' "$tmp/err" && "$bin/tl-check" -q "$tmp/b" && [ "$(candidates "$tmp/b" | wc -l)" -eq 20 ]
ok $? 'a candidate whose workload is an empty string is a bad line'
sed 's/,"score":{[^}]*}//' "$tmp/a" | candidates | sort >"$tmp/kept"
candidates "$tmp/in" | sort | comm -13 - "$tmp/kept" | wc -l | grep -qx ' *0'
ok $? 'but for the score, candidates are the lines that came'
[ "$(grep -c '"type":"workload"' "$tmp/a")" -eq 3 ] &&
	[ "$(grep -c '"type":"end".*"drawn":1000,"why":"n reached","kept":20,"refused":980}' "$tmp/a")" -eq 3 ]
ok $? 'ends count what was kept and refused'
awk '/"type":"workload"/ { last = 0; next } /"random":true/ { random++; next }
	/"type":"candidate"/ { sub(/.*"draft_s":/, ""); if ($0 + 0 < last) bad = 1; last = $0 + 0 }
	END { exit bad || random != 3 }' "$tmp/a"
ok $? 'by predicted time, and one of each group at random'
filter -k 20 --seed 2 "$tmp/in" >"$tmp/b"
grep -v '"random":true' "$tmp/a" >"$tmp/a0"
grep -v '"random":true' "$tmp/b" | cmp -s - "$tmp/a0" && ! cmp -s "$tmp/a" "$tmp/b"
ok $? 'another seed draws another random one, and nothing else changes'
! filter -k 7 "$tmp/in" | grep -q '"random":true'
ok $? 'none is drawn for a small k'
tiles() { # the largest number of candidates of the first workload with one register tile
	awk '/"type":"end"/ { exit } /"type":"candidate"/' "$1" | grep -v '"random":true' |
		grep -o '"vl":[0-9]*,"nv":[0-9]*,"mr":[0-9]*' | sort | uniq -c | sort -rn | awk '{ print $1; exit }'
}
[ "$(tiles "$tmp/a")" -le 6 ] && filter -k 6 "$tmp/in" >"$tmp/b" && [ "$(tiles "$tmp/b")" -le 2 ]
ok $? 'no register tile gets more than its share'
awk '/"type":"end"/ { print; exit } /"mr":6,/ || /"type":"workload"/' "$tmp/in" | sed '/"nv":2,/!{/candidate_id/d;}' >"$tmp/one-tile"
[ "$(candidates "$tmp/one-tile" | wc -l)" -ge 5 ] && [ "$(filter -k 5 "$tmp/one-tile" | candidates | wc -l)" -eq 5 ]
ok $? 'unless there is no other'

# The refused
filter -k 20 --refused "$tmp/refused" "$tmp/in" | cmp -s - "$tmp/a"
ok $? '--refused changes nothing of the output'
"$bin/tl-check" -q "$tmp/refused" && ! grep -v '"type":"result".*"status":"filtered","why":"' "$tmp/refused" | grep -q .
ok $? 'the refused are results of status filtered'
{ ids "$tmp/a"; cut -d'"' -f10 "$tmp/refused"; } | sort >"$tmp/all"
ids "$tmp/in" | sort | cmp -s - "$tmp/all"
ok $? 'kept and refused together are all, each once'

# Odd input
{ cat "$tmp/in"; cat "$tmp/in"; } | filter -k 20 >"$tmp/b" && cat "$tmp/a" "$tmp/a" | cmp -s - "$tmp/b"
ok $? 'a group may come again'
sed 2p "$tmp/in" | filter -k 20 | sed 's/"refused":[0-9]*//' >"$tmp/b"
sed 's/"refused":[0-9]*//' "$tmp/a" | cmp -s - "$tmp/b"
ok $? 'a duplicate candidate is dropped'
candidates "$tmp/in" | filter -k 20 >"$tmp/b" && candidates "$tmp/a" | cmp -s - "$tmp/b"
ok $? 'a dump without groups is selected from by workload'
sed '/"type":"workload"/s/}$/,"budget":3}/' "$tmp/in" | filter -k 20 | candidates >"$tmp/b"
[ "$(wc -l <"$tmp/b")" -eq 9 ]
ok $? "a workload's budget is its k"
sed '/"type":"workload"/s/}$/,"budget":0}/' "$tmp/in" | filter >"$tmp/b" && ! candidates "$tmp/b" >/dev/null &&
	grep -q '"kept":0' "$tmp/b"
ok $? 'which may be 0'
filter "${0%/*}/workloads.ndjson" | cmp -s - "${0%/*}/workloads.ndjson"
ok $? 'a stream of workloads alone passes'
printf '%s\n' '{"tl":1,"type":"novel","a":1}' | filter | grep -qxF '{"tl":1,"type":"novel","a":1}'
ok $? 'records of other types pass'
head -n 500 "$tmp/in" | filter -k 20 >"$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut off' "$tmp/err" && [ "$(candidates "$tmp/b" | wc -l)" -eq 20 ] && ! grep -q '"type":"end"' "$tmp/b"
ok $? 'a group that is cut off is selected from, gets no end, and is an error'
sed -e '2s/"algo":"[a-z]*"/"algo":"nosuch"/' -e '3s/"candidate_id":"./&x/' "$tmp/in" | filter -k 20 >"$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':2: .*nosuch' "$tmp/err" && grep -q ':3: .*candidate_id' "$tmp/err" &&
	[ "$(candidates "$tmp/b" | wc -l)" -eq 60 ]
ok $? 'bad candidates are errors with their numbers, and the stream goes on'

# Static checks
TL_ISA=scalar filter -k 20 --refused "$tmp/refused" "$tmp/in" >"$tmp/b"
if [ "$TL_ISA" = scalar ]; then
	skip 'this CPU has no AVX2: vectors wider than the machine are refused'
else
	! grep -q '"vl":8' "$tmp/b" && grep -q '"vl":8.*"why":"vectors of 8 lanes are unsupported' "$tmp/refused"
	ok $? "vectors wider than the machine's are refused"
fi
filter -k 20 -o "$tmp/file" "$tmp/in" && cmp -s "$tmp/file" "$tmp/a"
ok $? '-o writes a file'
echo "1..$n"
