#!/bin/sh
# A recording that closes itself: tl-replay --close has measured what was not recorded, once, and finds it the next time.
bin=${BIN:-bin}
bin=$(cd "$bin" && pwd)
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_CC
if [ -z "$TL_ISA" ]; then # the space of a narrower machine is smaller
	if has_isa avx2; then TL_ISA=avx2; else TL_ISA=scalar; fi
fi
mkdir "$tmp/tmp"
export TL_CACHE="$tmp/cache" TL_ISA TMPDIR="$tmp/tmp"

close() { # recording options...: two looks
	db=$1
	shift
	"$bin/tl-replay" -q --close --looks 2 --from "$tmp/$db" "$@" 2>"$tmp/err"
}
dump() { # database
	"$bin/tl-query" -q -d "$tmp/$1" --dump=all
}
results() { # database
	"$bin/tl-query" -q -d "$tmp/$1" --dump=results
}
# The least number of races that a candidate has, and how many have any.
looks() { # database
	results "$1" | grep -v '"stage":"final"' | grep -o '"result","candidate_id":"[^"]*"' | sort | uniq -c |
		awk '{ if (!n++ || $1 < least) least = $1 } END { print least + 0, n + 0 }'
}
left_over() { # what still runs that was told of this path
	for p in /proc/[0-9]*; do
		{ tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null | grep -F -- "$1" | grep -v '^sh \|grep'
	done
}

printf 'op,prob,layout,post\nmatmul,16x64:64x64,ab,\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w"
"$bin/tl-gen" -n 8 "$tmp/w" >"$tmp/eight"
"$bin/tl-gen" -n 40 "$tmp/w" >"$tmp/many"
grep -v '"drawn"' "$tmp/eight" | head -n 5 >"$tmp/four"
sed 's/"drawn":8/"drawn":4/' "$tmp/eight" | tail -n 1 >>"$tmp/four"

# What is missing is measured

close r.db "$tmp/four" >"$tmp/first"
[ $? -eq 0 ] && [ "$(grep -c '"stage":"race"' "$tmp/first")" -eq 4 ] && "$bin/tl-check" -q "$tmp/first"
ok $? 'nothing was recorded: all is measured, and answers'
# shellcheck disable=SC2046 # two numbers
set -- $(looks r.db)
[ "$1" -ge 2 ] && [ "$2" -eq 4 ]
ok $? 'in as many looks as were asked for'
[ "$(grep -c '"stage":"final"' "$tmp/first")" -eq 1 ] && results r.db | grep -q '"stage":"final".*"verdict"'
ok $? 'with the final of the best, which has a verdict'
results r.db | grep -c '"stage":"race".*"samples_s":\[' >"$tmp/n" && [ "$(cat "$tmp/n")" -ge 8 ] && ! results r.db | grep -q '"status":"preempted"'
ok $? 'races are whole, with samples'
[ "$(results r.db | grep -o '"against":"[^"]*"' | sort -u | wc -l)" -eq 1 ]
ok $? 'and all are duels with one candidate'
dump r.db | grep -q '"type":"run".*"program":"tl-measure".*"cost":{.*"time":'
ok $? 'the recording has its true cost, by purpose'
[ -d "$tmp/r.db.cache/objects" ] && [ ! -e "$tmp/r.db.cache/measuring" ] && [ -z "$(ls "$tmp/tmp")" ]
ok $? 'built in a cache of its own; nothing else is left'
dump r.db >"$tmp/before"
close r.db "$tmp/four" >"$tmp/second" && cmp -s "$tmp/first" "$tmp/second" && dump r.db | cmp -s - "$tmp/before"
ok $? 'a second simulation measures nothing, and gives the same bytes'
"$bin/tl-replay" -q --from "$tmp/r.db" "$tmp/eight" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 4 ] && [ "$(grep -c '"stage":"race"' "$tmp/out")" -eq 4 ] && dump r.db | cmp -s - "$tmp/before"
ok $? 'without --close nothing is measured'
close r.db "$tmp/eight" >"$tmp/third"
[ $? -eq 0 ] && [ "$(grep -c '"stage":"race"' "$tmp/third")" -eq 8 ] && dump r.db | sort >"$tmp/after" && sort "$tmp/before" | comm -23 - "$tmp/after" >"$tmp/lost" && [ ! -s "$tmp/lost" ] &&
	[ "$(results r.db | grep -c '"stage":"race"')" -ge 16 ]
ok $? 'what comes later is added'
known=$(grep -o '"candidate","candidate_id":"[^"]*"' "$tmp/four" | cut -d '"' -f 6)
for id in $known; do results r.db | grep -c "\"result\",\"candidate_id\":\"$id\".*\"stage\":\"race\""; done >"$tmp/n"
for id in $known; do grep -c "\"result\",\"candidate_id\":\"$id\".*\"stage\":\"race\"" "$tmp/before"; done | cmp -s - "$tmp/n"
ok $? 'and what was recorded is not measured again'
[ "$(results r.db | grep -o '"against":"[^"]*"' | sort -u | wc -l)" -eq 1 ]
ok $? 'the reference stays the same'
close r.db "$tmp/four" | cmp -s - "$tmp/first"
ok $? 'and answers do not change when the recording grows'

# Looks are drawn by a seed. The times are made up: each run has others.

results r.db | grep '"stage":"race"' | perl -ne '
	my ($id) = /"candidate_id":"([^"]*)"/;
	my $t = 1e-6 * (1 + 0.01 * ++$n) * (1 + $looks{$id}++);
	s/("latency_s":)[^,]*,"ci_s":\[[^\]]*\]/$1$t,"ci_s":[$t,$t]/;
	s/("samples_s":)\[[^\]]*\]/$1\[@{[join ",", ($t) x 16]}]/;
	s/("duel":.*"samples_s":)\[[^\]]*\]/$1\[@{[join ",", (1e-6) x 16]}]/;
	s/,"checksum":"[0-9a-f]*"//;
	print' >"$tmp/made"
draws() { # seed
	"$bin/tl-replay" -q --final 0 --seed "$1" --from "$tmp/made" "$tmp/eight"
}
latencies() { # the times of a replay
	sed -n 's/.*"stage":"race","cache":"weights-cold","latency_s":\([^,]*\).*/\1/p' | tr '\n' ' '
	echo
}
draws 1 >"$tmp/1" && draws 1 | cmp -s - "$tmp/1"
ok $? 'a seed draws the same looks each time'
for seed in 1 2 3 4 5 6 7 8; do draws $seed | latencies; done | sort -u >"$tmp/differ"
[ "$(wc -l <"$tmp/differ")" -ge 4 ]
ok $? 'another seed draws others'
"$bin/tl-replay" -q --final 0 --from "$tmp/made" "$tmp/eight" | latencies >"$tmp/usual" && "$bin/tl-replay" -q --final 0 --from "$tmp/made" "$tmp/eight" | latencies | cmp -s - "$tmp/usual"
ok $? 'without a seed the result that counts plays'

# All of a live run is charged

charged() { # search_s inference_s spent: wall_s of the run record, which must sum to it
	sed "s/\"drawn\":4/&,\"search_s\":$1,\"inference_s\":$2/" "$tmp/four" |
		"$bin/tl-replay" -q --charge=run --spent "$3" --final 0 --from "$tmp/r.db" | grep '"type":"run"' | perl -MJSON::PP -e '
			my $r = decode_json(<STDIN>);
			my $sum = 0;
			$sum += $_ for values %{$r->{cost}};
			die "no sum\n" if abs($sum - $r->{wall_s} * $r->{cores}) > 1e-4 * $sum;
			print join(" ", $r->{wall_s}, map { $r->{cost}{$_} // 0 } qw(search inference probe)), "\n"'
}
charged 0 0 0 >"$tmp/none" && charged 10 5 3 >"$tmp/all"
ok $? 'purposes sum to what a live run would hold'
paste -d ' ' "$tmp/none" "$tmp/all" | awk '{ d = $5 - $1 - 18; exit !(d > -1e-4 && d < 1e-4 && $6 > 12.99 && $6 < 13.01 && $7 > 4.99 && $7 < 5.01 && $4 > 0) }'
ok $? 'with search, inference, the start of tl-measure, and what went by before'
grep -v '"type":"run"' "$tmp/second" | grep -o '"at":"[^"]*"' | sort -c && "$bin/tl-replay" -q --charge=run --from "$tmp/r.db" "$tmp/four" >"$tmp/1" &&
	"$bin/tl-replay" -q --charge=run --from "$tmp/r.db" "$tmp/four" | cmp -s - "$tmp/1"
ok $? 'the same for the same input'

# tl-tune

tune() { # database options...
	out=$1
	shift
	"$bin/tl-tune" -q --replay "$tmp/t.db" --close --looks 1 -n 32 -b 4 --until 'rounds<2' --min-gain 0 -d "$tmp/$out" "$@" "$tmp/w" 2>"$tmp/err"
}
tune sim1.db && dump sim1.db >"$tmp/1" && grep -q '"stage":"final"' "$tmp/1" && dump t.db >"$tmp/before"
ok $? 'tl-tune --replay --close tunes from no recording at all, with finals at its end'
tune sim2.db && dump sim2.db | cmp -s - "$tmp/1" && dump t.db | cmp -s - "$tmp/before"
ok $? 'and the same once more, without measuring'
tune sim3.db --print >"$tmp/script" && PATH=$bin:$PATH sh "$tmp/script" 2>"$tmp/err" && dump sim3.db | cmp -s - "$tmp/1"
ok $? 'or as a script'
tune sim4.db --charge=run && dump sim4.db | grep '"type":"run"' >"$tmp/runs" && grep -q '"program":"tl-replay".*"search":.*"probe":' "$tmp/runs" && grep -q '"program":"tl-tune".*"replayed":true' "$tmp/runs"
ok $? '--charge=run tells the cost of search, also around tl-replay'
tune sim5.db --seed 7 && dump sim5.db >"$tmp/1" && tune sim6.db --seed 7 && dump sim6.db | cmp -s - "$tmp/1"
ok $? 'a seed is handed on, and gives the same bytes again'

# What is stopped goes on

wait_for() { # path: until it is there
	i=0
	until [ -e "$1" ] || [ $i -ge 600 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	[ -e "$1" ]
}
wait_until_gone() { # what names it on command lines
	i=0
	while [ -n "$(left_over "$1")" ] && [ $i -lt 300 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	[ -z "$(left_over "$1")" ]
}
for signal in TERM KILL; do
	k=k$signal.db
	"$bin/tl-replay" -q --close --looks 3 --from "$tmp/$k" "$tmp/many" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for "$tmp/$k.cache/measuring"
	kill -$signal $pid
	wait $pid 2>"$tmp/err"
	[ $? -ge 128 ] && [ -e "$tmp/$k.cache/measuring" ]
	ok $? "SIG$signal ends it while it measures"
	wait_until_gone "$tmp/$k"
	ok $? 'and leaves nothing that runs'
	[ $signal = KILL ] || [ -z "$(ls "$tmp/tmp")" ]
	ok $? 'nor a file'
	close $k "$tmp/many" >"$tmp/out" && [ "$(grep -c '"stage":"race"' "$tmp/out")" -eq "$(grep -c '"type":"candidate"' "$tmp/many")" ] && [ ! -e "$tmp/$k.cache/measuring" ]
	ok $? 'the next one goes on'
	close $k "$tmp/many" | cmp -s - "$tmp/out"
	ok $? 'to where nothing is missing'
done
: >"$tmp/r.db.cache/measuring" && : >"$tmp/r.db.cache/objects/stale.so"
"$bin/tl-gen" -n 12 "$tmp/w" | close r.db >"$tmp/out" && [ ! -e "$tmp/r.db.cache/objects/stale.so" ] && [ ! -e "$tmp/r.db.cache/measuring" ]
ok $? 'objects whose cost may not be recorded are built anew'

# Another one that closes a recording
lock=${TL_LOCKS:-/tmp}/tl-recordings.lock
exec 9<"$lock"
if flock 9; then
	"$bin/tl-replay" --close --looks 1 --from "$tmp/wait.db" "$tmp/four" >"$tmp/out" 2>"$tmp/err" 9<&- &
	pid=$!
	i=0
	while ! grep -q 'waiting: ' "$tmp/err" && [ $i -lt 600 ] && kill -0 $pid 2>"$tmp/dead"; do
		sleep 0.1
		i=$((i + 1))
	done
	grep -q '^tl-replay: waiting: ' "$tmp/err" && [ ! -e "$tmp/wait.db" ]
	ok $? 'it waits while another one measures'
	flock -u 9
	wait $pid && [ "$(grep -c '"stage":"race"' "$tmp/out")" -eq 4 ]
	ok $? 'and then goes on'
fi
exec 9<&-

# What is refused

fails() { # status sentence options...
	status=$1 sentence=$2
	shift 2
	"$bin/tl-replay" "$@" "$tmp/four" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$status" ] && grep -q -- "$sentence" "$tmp/err" && [ ! -s "$tmp/out" ]
}
fails 2 'name one database' --close && fails 2 'name one database' --close --from "$tmp/r.db" --from "$tmp/t.db"
ok $? '--close without a recording, or with two'
fails 2 'nothing would be measured' --close --looks 0 --from "$tmp/r.db"
ok $? 'no looks'
fails 3 'measures on this machine' --close --from "$tmp/r.db" --env 00000000000000000000000000000000
ok $? "another machine's results cannot be added to"
fails 2 'charge=run' --spent 1s --from "$tmp/r.db"
ok $? '--spent without --charge=run'
results r.db >"$tmp/text" && fails 3 'text' --close --from "$tmp/text"
ok $? 'a recording that is no database'
fails 3 'was replayed' --close --from "$tmp/sim1.db"
ok $? 'or one of replays'
"$bin/tl-tune" --close "$tmp/w" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'go with --replay' "$tmp/err"
ok $? 'tl-tune --close without --replay'
echo "1..$n"
