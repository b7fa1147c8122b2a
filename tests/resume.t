#!/bin/sh
# A run that dies goes on where it died: with a journal, or with what tl-store had by then.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_CC
export TL_CACHE="$tmp/cache"

results() { # file: in an order of their own, as finals are done in that of their verdicts
	grep '"type":"result"' "$1" | sort
}

raced() { # file: candidates with a result of the race
	results "$1" | grep '"stage":"race"' | grep -o '"candidate_id":"[^"]*"' | sort
}

# Candidates of a list of workloads: NAME.c, and their ids in NAME.all.
candidates() { # name first second
	printf 'op,prob,layout,post,count\nconv2d,%s,nhwc,bias,1\nmatmul,%s,ab,,2\n' "$2" "$3" >"$tmp/$1.csv"
	"$bin/tl-extract" -q --format csv "$tmp/$1.csv" | "$bin/tl-gen" -n 12 >"$tmp/$1"
	grep '"type":"candidate"' "$tmp/$1" | grep -o '"candidate_id":"[^"]*"' | sort >"$tmp/$1.all"
}
candidates c mb1_ic32ih14_oc32oh14_kh3ph1 98x128:128x256

# A journal, kept and asked

"$bin/tl-measure" --journal "$tmp/j" "$tmp/c" >"$tmp/r1" 2>"$tmp/err"
[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/j" && results "$tmp/j" >"$tmp/a" && results "$tmp/r1" | cmp -s - "$tmp/a"
ok $? 'a journal has every result'
[ "$(count '"type":"begin"' "$tmp/j")" -eq 1 ] && [ "$(count '"type":"run"' "$tmp/j")" -eq 1 ] && [ "$(tail -n 1 "$tmp/j" | count '"type":"done"' -)" -eq 1 ]
ok $? 'between its run'\''s begin and done'
"$bin/tl-measure" --journal "$tmp/j" "$tmp/c" >"$tmp/r2" 2>"$tmp/err"
[ $? -eq 0 ] && results "$tmp/r2" | cmp -s - "$tmp/a"
ok $? 'the same again: the same results, byte for byte, finals and all'
[ "$(count '"type":"end".*"measured":0,.*"known":12,' "$tmp/r2")" -eq 2 ] && "$bin/tl-check" -q "$tmp/r2"
ok $? 'and the end records say that they were known'
results "$tmp/j" | cmp -s - "$tmp/a"
ok $? 'nothing is written twice'
head -n 9 "$tmp/c" >"$tmp/some"
"$bin/tl-measure" --journal "$tmp/j3" --final 0 "$tmp/some" >"$tmp/out" 2>/dev/null # cut off, which costs nothing
"$bin/tl-measure" --journal "$tmp/j3" "$tmp/c" >"$tmp/r3" 2>"$tmp/err"
[ $? -eq 0 ] && results "$tmp/j3" | cut -c 1-100 | sort | uniq -d | wc -l >"$tmp/out" && raced "$tmp/j3" | uniq -d | cmp -s - /dev/null &&
	[ "$(count '"stage":"final"' "$tmp/r3")" -ge 2 ]
ok $? 'what is known is not raced again, but has the final that it lacked'
settings=$(results "$tmp/r1" | grep -o '"settings":"[^"]*"' | sort -u)
for other in --seed=2 --max-error=1e-4 --timeout=9 --cache=cold --cache=warm --no-preempt; do
	head -n 3 "$tmp/c" | "$bin/tl-measure" --journal "$tmp/j" --final 0 "$other" 2>/dev/null | results - | grep -vc "$settings" | grep -qx 2 || echo "$other"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
ok $? 'with other settings nothing is known'
TL_LIMITS=l2=77777 "$bin/tl-measure" --journal "$tmp/j" --final 0 "$tmp/c" 2>/dev/null | grep -c '"known":' | grep -qx 0
ok $? 'nor in another env'

# A flipped bit of a result is noticed, and the candidate measured again; the answer is of results as they were written.
head -n 3 "$tmp/c" >"$tmp/two"
"$bin/tl-measure" --journal "$tmp/flip" --final 0 "$tmp/two" >"$tmp/out" 2>/dev/null
perl tests/flip.pl -n "${TL_TEST_FLIPS:-8}" "$tmp/flip" "$bin/tl-measure --journal $tmp/flip --final 0 $tmp/two | sed -n '/\"type\":\"result\"/s/\"[^\"]*\":\"[0-9a-f]*\"}\$/}/p'"
ok $? 'flipped bits of a journal are noticed, but for the name of the checksum itself'

# Journals that are not as they should be

sed -n '1,5p' "$tmp/r1" >"$tmp/torn"
printf '%s\n' 'rubbish' >>"$tmp/torn"
sed -n 6p "$tmp/r1" | head -c 400 >>"$tmp/torn"
"$bin/tl-measure" --journal "$tmp/torn" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && grep -q 'was cut off (400 bytes)' "$tmp/err" && grep -q ':6: from here on 1 lines of the journal are no records' "$tmp/err" && raced "$tmp/out" | cmp -s - "$tmp/c.all"
ok $? 'a torn last line is cut off, rubbish passed over, both told'
grep -v rubbish "$tmp/torn" | "$bin/tl-check" -q
ok $? 'and what follows is whole'
perl "$(dirname "$0")/tiny-onnx.pl" >"$tmp/model"
cp "$tmp/model" "$tmp/before"
"$bin/tl-measure" --journal "$tmp/model" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q "model:1: this is no journal" "$tmp/err" && cmp -s "$tmp/model" "$tmp/before"
ok $? 'another file is refused, and left as it is'
for kind in workload candidate; do
	grep "\"type\":\"$kind\"" "$tmp/c" >"$tmp/others"
	cp "$tmp/others" "$tmp/before"
	"$bin/tl-measure" --journal "$tmp/others" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ -s "$tmp/before" ] && grep -q "others:1: this is no journal" "$tmp/err" && cmp -s "$tmp/others" "$tmp/before"
	ok $? "and so are records of the type $kind"
done
exec 9<"$tmp/j"
flock 9
"$bin/tl-measure" --journal "$tmp/j" "$tmp/c" 9<&- >"$tmp/out" 2>"$tmp/err"
[ $? -eq 75 ] && grep -q 'another run is writing the journal' "$tmp/err" && [ ! -s "$tmp/out" ]
ok $? 'a journal that another run has: exit 75'
exec 9<&-
"$bin/tl-measure" --journal "$tmp" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'journal' "$tmp/err"
ok $? 'one that cannot be opened: exit 3'
# Of the limit's blocks of 512 bytes the compiler needs some for itself.
yes '{"tl":1,"type":"begin","run":"r"}' | head -n 3000 >"$tmp/full"
(ulimit -f $(($(wc -c <"$tmp/full") / 512 + 2)); trap '' XFSZ; exec "$bin/tl-measure" --journal "$tmp/full" "$tmp/c") >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cannot write the journal' "$tmp/err"
ok $? 'one that cannot grow: exit 3'
"$bin/tl-measure" --journal "$tmp/full" "$tmp/c" 2>"$tmp/err" >"$tmp/out"
[ $? -eq 0 ] && grep -q 'was cut off' "$tmp/err" && raced "$tmp/out" | cmp -s - "$tmp/c.all"
ok $? 'and when it can, it goes on'

# A database

"$bin/tl-store" -q -d "$tmp/db" "$tmp/r1"
"$bin/tl-measure" --skip-known -d "$tmp/db" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && results "$tmp/out" | cmp -s - "$tmp/a"
ok $? '--skip-known passes on what the database has'
TL_DB=$tmp/db "$bin/tl-measure" --skip-known "$tmp/c" 2>/dev/null | results - | cmp -s - "$tmp/a"
ok $? 'also where TL_DB names it'
"$bin/tl-measure" --skip-known -d "$tmp/none.db" --final 0 "$tmp/some" >"$tmp/out" 2>"$tmp/err"
grep -q 'nothing is known yet' "$tmp/err" && results "$tmp/out" | grep -q '"stage":"race"' && [ ! -e "$tmp/none.db" ]
ok $? 'without one nothing is known'
"$bin/tl-measure" -d "$tmp/db" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ]
ok $? '-d without --skip-known: exit 2'
"$bin/tl-measure" --skip-known -d "$tmp/a/b.db" --final 0 "$tmp/some" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '^tl-measure: cannot look for the database' "$tmp/err" && [ ! -s "$tmp/out" ]
ok $? 'a database that cannot be looked for is not taken for an empty one'
# A quarter of the time of the incumbent: far below it, and still a time that a machine may have.
perl -pe '/"duel":\{[^{}]*"latency_s":([0-9.e+-]+)/ and $low = $1 / 4 and
	s/"latency_s":[0-9.e+-]+,"bound":"lower","ci_s":\[[^]]*\]/"latency_s":$low,"bound":"lower"/ and
	s/,"checksum":"[0-9a-f]*"//' "$tmp/r1" >"$tmp/low"
bounds=$(count '"bound"' "$tmp/low")
"$bin/tl-measure" --final 0 --journal "$tmp/low" "$tmp/c" 2>/dev/null >"$tmp/out"
known=$(grep -o '"known":[0-9]*' "$tmp/out" | cut -d: -f 2 | awk '{ s += $1 } END { print s }')
[ "$known" -eq 24 ] && "$bin/tl-check" -q "$tmp/low"
ok $? "who has lost its duel is known, whatever its bound ($bounds)"
results "$tmp/r1" | grep '"stage":"race"' | sed 's/"status":"[a-z]*"\(,"why":"[^"]*"\)*/"status":"crash","why":"made up"/;s/,"audit":{[^{}]*}//;s/,"checksum":"[0-9a-f]*"//' >"$tmp/once"
sed 's/"run":"[0-9a-f]*"/"run":"c1000000000000000000000000000000"/' "$tmp/once" | cat "$tmp/once" - >"$tmp/twice"
"$bin/tl-check" -q "$tmp/twice" && "$bin/tl-measure" --final 0 --journal "$tmp/once" "$tmp/c" 2>/dev/null | grep '"type":"end"' | grep -c '"known":' | grep -qx 0 &&
	"$bin/tl-measure" --final 0 --journal "$tmp/twice" "$tmp/c" 2>/dev/null | grep -c '"known":12' | grep -qx 2
ok $? 'what crashed gets one more chance'

# Deaths: here a run takes longer, so that most of them come before its end.

candidates long mb1_ic64ih28_oc64oh28_kh3ph1 196x256:256x512

rm -rf "$TL_CACHE"
killed=0
for delay in 0.3 0.5 0.7 0.4 0.6 0.8 0.35 0.45 0.55 0.65; do
	"$bin/tl-measure" --journal "$tmp/k" "$tmp/long" >"$tmp/out" 2>/dev/null &
	pid=$!
	sleep $delay
	kill -9 $pid 2>/dev/null && killed=$((killed + 1))
	wait $pid 2>/dev/null
	[ -e "$tmp/k" ] && sed '$d' "$tmp/k" >"$tmp/whole" && { "$bin/tl-check" -q "$tmp/whole" || break; }
done
ok $? "killed $killed times: the journal is whole lines but for the last"
"$bin/tl-measure" --journal "$tmp/k" "$tmp/long" >"$tmp/out" 2>/dev/null
[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/out" "$tmp/k" && [ "$(count '"type":"end"' "$tmp/out")" -eq 2 ] && [ "$(count '"type":"done"' "$tmp/out")" -eq 1 ]
ok $? 'the next run ends as if nothing had been'
raced "$tmp/out" | cmp -s - "$tmp/long.all"
ok $? 'no candidate is lost, and none there twice'
raced "$tmp/k" | cmp -s - "$tmp/long.all"
ok $? 'and none was measured twice'
"$bin/tl-store" -q -d "$tmp/k.db" "$tmp/out" && "$bin/tl-query" -d "$tmp/k.db" --dump=results | raced - | cmp -s - "$tmp/long.all"
ok $? 'nor stored twice'
for delay in 0.5 1 0.7 1.5; do
	{ "$bin/tl-measure" --skip-known -d "$tmp/p.db" "$tmp/long" 2>/dev/null & echo $! >"$tmp/pid"; wait; } 2>/dev/null | "$bin/tl-store" -q -d "$tmp/p.db" 2>/dev/null &
	store=$!
	sleep $delay
	kill -9 "$(cat "$tmp/pid")" 2>/dev/null
	wait $store
done
"$bin/tl-measure" --skip-known -d "$tmp/p.db" "$tmp/long" 2>/dev/null | "$bin/tl-store" -d "$tmp/p.db" >"$tmp/out"
[ $? -eq 0 ] && raced "$tmp/out" | cmp -s - "$tmp/long.all" && "$bin/tl-check" -q "$tmp/out"
ok $? '--skip-known: no candidate is lost either'
"$bin/tl-query" -d "$tmp/p.db" --dump=results | raced - | cmp -s - "$tmp/long.all"
ok $? 'and none of those that were stored is measured twice'
echo "1..$n"
