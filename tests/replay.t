#!/bin/sh
# tl-replay: a space is recorded once, really; then simulations over it are exact, the same each time, and need no worker.
bin=${BIN:-bin}
bin=$(cd "$bin" && pwd)
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_CC
if [ -z "$TL_ISA" ]; then # the space of a narrower machine is smaller
	if has_isa avx2; then TL_ISA=avx2; else TL_ISA=scalar; fi
fi
export TL_CACHE="$tmp/cache" TL_ISA

# Candidate, stage and what was found, a line for each result.
found() { # file: in an order of their own, as finals are done in that of their verdicts
	perl -MJSON::PP -ne '
		my $r = decode_json($_);
		next unless $r->{type} eq "result" && $r->{ci_s};
		my $d = $r->{duel};
		print join(" ", @$r{qw(candidate_id status stage)}, $r->{latency_s}, @{$r->{ci_s}}, $r->{reps},
			$d ? ($d->{against}, $d->{end}, $d->{ratio}, @{$d->{ci}}) : (), $r->{incumbent} ? "incumbent" : ()), "\n"' "$1" | sort
}
# The sum of a cost over all results; or over the distinct objects.
total() { # cost file
	sed -n "s/.*\"$1\":\([0-9.e-]*\).*/\1/p" "$2" | awk '{ s += $1 } END { printf "%.6g\n", s }'
}
objects() { # file
	sed -n 's/.*"build_s":\([0-9.e-]*\).*"code_hash":"\([^"]*\)".*/\2 \1/p' "$1" |
		awk '$2 > most[$1] { most[$1] = $2 } END { for (h in most) s += most[h]; printf "%.6g\n", s }'
}

best() { # database options...
	"$bin/tl-query" -d "$@" "$tmp/w" | sed -n 's/.*"candidate_id":"\([^"]*\)".*/\1/p'
}

printf 'op,prob,layout,post\nmatmul,1x3:3x2,ab,\nmatmul,1x1:1x1,ab,bias\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w"
"$bin/tl-gen" -n 0 "$tmp/w" | "$bin/tl-filter" -k 100000 >"$tmp/c" 2>"$tmp/err"
candidates=$(grep -c '"type":"candidate"' "$tmp/c")
"$bin/tl-measure" --no-preempt --samples --final 0 "$tmp/c" >"$tmp/rec" 2>"$tmp/err" &&
	[ "$(grep -c '"samples_s":\[' "$tmp/rec")" -eq "$candidates" ]
ok $? "a whole space is recorded: $candidates candidates"

# Exactly

"$bin/tl-replay" --no-preempt --final 0 --from "$tmp/rec" <"$tmp/c" >"$tmp/full"
ok $? 'replays'
"$bin/tl-check" -q "$tmp/full"
ok $? 'results are valid records'
found "$tmp/rec" >"$tmp/1" && found "$tmp/full" >"$tmp/2" && [ "$(wc -l <"$tmp/1")" -eq "$candidates" ] && cmp -s "$tmp/1" "$tmp/2"
ok $? 'without preemption they are those that were recorded'
[ "$(grep -c '"replayed":true' "$tmp/full")" -eq $((candidates + 3)) ] && ! grep -q '"replayed"' "$tmp/rec"
ok $? 'and are marked, as are the ends and what the run would have cost'
# Purposes sum to wall time x cores; and to the results' own costs.
grep '"type":"run"' "$tmp/full" | perl -MJSON::PP -e '
	my $r = decode_json(<STDIN>);
	my $sum = 0;
	$sum += $_ for values %{$r->{cost}};
	my $held = $r->{wall_s} * $r->{cores};
	exit !(abs($sum - $held) < 1e-4 * $held && abs($r->{cost}{time} / $r->{cores} - $ARGV[0]) < 1e-4 * $ARGV[0])' \
	"$(total run_s "$tmp/full")"
ok $? 'whose purposes sum to what it would have held'
# Timing costs the calls of both and one before each, but where nobody was there to duel with.
calls=$(perl -MJSON::PP -ne '
	my $r = decode_json($_);
	next unless $r->{type} eq "result";
	$s += $r->{duel} ? 0 : $r->{cost}{run_s};
	$s += 2 * $_ for $r->{duel} ? (@{$r->{samples_s}}, @{$r->{duel}{samples_s}}) : ();
	END { print $s }' "$tmp/rec")
[ "$(total build_s "$tmp/full")" = "$(objects "$tmp/rec")" ] && awk -v a="$(total run_s "$tmp/full")" -v b="$calls" 'BEGIN { exit !(a > 0.9 * b && a < 1.1 * b) }' &&
	[ "$(total verify_s "$tmp/full")" = "$(total verify_s "$tmp/rec")" ] && [ "$(total baseline_s "$tmp/full")" = "$(total baseline_s "$tmp/rec")" ]
ok $? 'and cost what they did'
"$bin/tl-replay" --final 0 --from "$tmp/rec" <"$tmp/c" >"$tmp/sim" && "$bin/tl-replay" --final 0 --from "$tmp/rec" <"$tmp/c" | cmp -s - "$tmp/sim"
ok $? 'the same twice, byte for byte'
# An incumbent that none can beat, who was recorded as well: all lose, however noisy the machine is.
printf 'op,prob,layout,post\nmatmul,48x192:192x192,ab,\n' >"$tmp/slow.csv"
"$bin/tl-extract" -q --format csv "$tmp/slow.csv" | "$bin/tl-gen" -n 9 >"$tmp/nine"
none=$(sed -n 's/^{"tl":1,"type":"candidate","candidate_id":"\([^"]*\)".*/\1/p' "$tmp/nine" | tail -n 1)
grep -v '"type":"candidate","candidate_id":"'"$none" "$tmp/nine" >"$tmp/slow"
"$bin/tl-measure" --no-preempt --samples --final 0 "$tmp/nine" >"$tmp/nine.rec" 2>"$tmp/err"
grep -v '"candidate_id":"'"$none" "$tmp/nine.rec" >"$tmp/slow.rec"
grep '"type":"result","candidate_id":"'"$none" "$tmp/nine.rec" |
	perl -pe 's/"latency_s":.*"error"/"latency_s":2e-6,"ci_s":[2e-6,2e-6],"reps":16,"error"/;s/,"env":\{([^{}]|\{[^{}]*\})*\}//;s/,"checksum":"[0-9a-f]*"//' >"$tmp/best.rec"
sed 's/"type":"workload",/&"incumbent":{"candidate_id":"'"$none"'","latency_s":2e-6,"at":"2026-11-21T09:00:00.000Z"},/' "$tmp/slow" >"$tmp/beaten"
"$bin/tl-replay" --from "$tmp/slow.rec" --from "$tmp/best.rec" "$tmp/beaten" >"$tmp/out" 2>"$tmp/err" && [ "$(grep -c '"status":"preempted".*"against":"'$none'"' "$tmp/out")" -eq 8 ] &&
	! grep -q '"status":"ok"\|"stage":"final"' "$tmp/out"
ok $? 'an incumbent that none can beat beats all, and there is no final'
[ "$(awk "BEGIN { print $(total run_s "$tmp/out") < $(total run_s "$tmp/slow.rec") }")" -eq 1 ]
ok $? 'and timing costs less'
{ "$bin/tl-gen" -n 12 "$tmp/w"; cat "$tmp/slow"; } >"$tmp/some"
counts() { # file
	sed -n 's/.*"type":"end".*\("measured":[0-9]*,"preempted":[0-9]*,"failed":[0-9]*\).*/\1/p' "$1"
}
"$bin/tl-measure" --samples --final 1 --audit 0.5 "$tmp/some" >"$tmp/raced" 2>"$tmp/err"
"$bin/tl-replay" --final 1 --from "$tmp/raced" "$tmp/some" >"$tmp/again"
found "$tmp/raced" >"$tmp/1" && found "$tmp/again" >"$tmp/2"
grep -q ' ok final' "$tmp/1" && cmp -s "$tmp/1" "$tmp/2"
ok $? 'a run that was raced comes out as it was, to the last digit, finals included' || diff "$tmp/1" "$tmp/2" | sed 's/^/# replay.t: /' >&2
[ "$(counts "$tmp/raced")" = "$(counts "$tmp/again")" ]
ok $? 'and so do its counts'
# A winner that was not ahead of the same incumbent in a second process does not take the place.
sed 's/"ahead":true/"ahead":false/;s/"incumbent":true,//;s/,"checksum":"[0-9a-f]*"//' "$tmp/raced" >"$tmp/behind"
"$bin/tl-replay" --final 0 --from "$tmp/behind" "$tmp/some" >"$tmp/out"
echo --- | cat "$tmp/behind" - "$tmp/out" | perl -MJSON::PP -ne '
	if (/^---/) { $replayed = 1; next }
	my $r = decode_json($_);
	my $d = $r->{duel} or next;
	my $key = "$r->{candidate_id} $d->{against}";
	$behind{$key} = 1 if !$replayed && $r->{again};
	$met++, $bad += !!$r->{incumbent} if $replayed && $behind{$key};
	END { print +($met || 0), " ", ($bad || 0), "\n" }' >"$tmp/met"
if grep -q '^0 ' "$tmp/met"; then
	skip 'no candidate won a duel with an incumbent that it meets again'
else
	grep -q ' 0$' "$tmp/met"
	ok $? 'a winner that was not ahead again does not take the place'
fi

# Wherever it was recorded

"$bin/tl-store" -q -d "$tmp/real.db" "$tmp/rec"
grep '"type":"run"' "$tmp/full" >"$tmp/run"
"$bin/tl-store" -q -d "$tmp/real.db" "$tmp/run" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'this was replayed' "$tmp/err"
ok $? 'a database of what was measured does not take its cost'
"$bin/tl-store" -q --replayed -d "$tmp/simulated.db" "$tmp/full" && "$bin/tl-query" --cost -d "$tmp/simulated.db" >"$tmp/cost" &&
	grep -q '"time":' "$tmp/cost"
ok $? 'and tl-query --cost sums it in one of replays'
"$bin/tl-replay" --final 0 -d "$tmp/real.db" "$tmp/c" | cmp -s - "$tmp/sim"
ok $? 'from a database'
TL_DB=$tmp/real.db "$bin/tl-replay" --final 0 <"$tmp/c" | cmp -s - "$tmp/sim"
ok $? 'which $TL_DB may name'
gzip -c "$tmp/rec" >"$tmp/rec.gz" && "$bin/tl-replay" --final 0 --from "$tmp/rec.gz" "$tmp/c" | cmp -s - "$tmp/sim"
ok $? 'from a compressed file'
sort "$tmp/rec" >"$tmp/sorted" && split -n l/3 "$tmp/sorted" "$tmp/part." && tar -C "$tmp" -czf "$tmp/parts.tar.gz" part.aa part.ac &&
	"$bin/tl-replay" --final 0 --from "$tmp/part.ab" --from "$tmp/parts.tar.gz" "$tmp/c" | cmp -s - "$tmp/sim"
ok $? 'from several, in any order, in an archive'

# Without a worker, a compiler or the lock of the device

mkdir "$tmp/bare"
cp "$bin"/tl-* "$tmp/bare"
env_id=$(grep -o '"env_id":"[^"]*"' "$tmp/full" | head -n 1 | cut -d '"' -f 4)
PATH=/nonexistent "$tmp/bare/tl-replay" --env "$env_id" --final 0 --from "$tmp/rec" "$tmp/c" 2>"$tmp/err" >"$tmp/out" && cmp -s "$tmp/out" "$tmp/sim" && [ ! -s "$tmp/err" ]
ok $? 'needs no worker and no compiler'
PATH=/nonexistent "$tmp/bare/tl-replay" --final 0 --from "$tmp/rec" "$tmp/c" 2>"$tmp/err" >"$tmp/out" && cmp -s "$tmp/out" "$tmp/sim" && grep -q "the env $env_id answer" "$tmp/err"
ok $? 'without which it says whose results answer'
sed "s/$env_id/00000000000000000000000000000000/;s/,\"env\":{.*/}/;s/,\"checksum\":\"[0-9a-f]*\"//" "$tmp/rec" >"$tmp/foreign"
"$bin/tl-replay" --from "$tmp/foreign" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q -e '--env' "$tmp/err" && [ ! -s "$tmp/out" ]
ok $? 'results of another machine answer only when they are asked for'
"$bin/tl-replay" --no-preempt --final 0 --env 00000000000000000000000000000000 --from "$tmp/foreign" "$tmp/c" >"$tmp/out" &&
	found "$tmp/out" >"$tmp/2" && found "$tmp/full" | cmp -s - "$tmp/2"
ok $? 'and then they do'

# The whole loop

from=$bin path=$PATH
# Times without noise, no two of them alike: then it is known who is the best.
perl -ne '
	if (/"type":"result"/ && /"latency_s":([0-9.e-]+)/) {
		my $t = sprintf "%.9g", $1 * (1 + 1e-6 * ++$n);
		s/,"samples_s":\[[^]]*\]//g;
		s/"latency_s":[0-9.e-]+,"ci_s":\[[^]]*\]/"latency_s":$t,"ci_s":[$t,$t]/;
	}
	s/,"checksum":"[0-9a-f]*"//;
	print' "$tmp/rec" >"$tmp/plain"
"$bin/tl-store" -q -d "$tmp/plain.db" "$tmp/plain"
tune() { # database options...
	PATH=$path "$from/tl-tune" -q --replay "$tmp/plain" --final 0 -n 0 -b 1000 --patience 100000 --min-gain 0 -d "$@" "$tmp/w" 2>"$tmp/err"
}
tune "$tmp/sim1.db"
ok $? 'tl-tune simulates'
[ "$(best "$tmp/sim1.db" | wc -l)" -eq 2 ] && [ "$(best "$tmp/sim1.db")" = "$(best "$tmp/plain.db")" ]
ok $? 'and finds what is best of all that was recorded'
"$bin/tl-query" -d "$tmp/sim1.db" --dump=all >"$tmp/dump1"
tune "$tmp/sim2.db" && "$bin/tl-query" -d "$tmp/sim2.db" --dump=all | cmp -s - "$tmp/dump1"
ok $? 'the same in each simulation, byte for byte'
from=$tmp/bare path=/nonexistent
tune "$tmp/sim3.db" --env "$env_id" && "$bin/tl-query" -d "$tmp/sim3.db" --dump=all | cmp -s - "$tmp/dump1"
ok $? 'also without a worker and a compiler'
from=$bin path=$PATH
tune "$tmp/sim4.db" --print >"$tmp/script"
PATH=$bin:$PATH sh "$tmp/script" 2>"$tmp/err" && "$bin/tl-query" -d "$tmp/sim4.db" --dump=all | cmp -s - "$tmp/dump1"
ok $? 'and as a script'
rounds() { # options...
	rm -f "$tmp/r.db"
	"$bin/tl-tune" --replay "$tmp/rec" --final 0 -n 0 -b 16 --patience 100000 --min-gain 0 -d "$tmp/r.db" "$@" "$tmp/w" >"$tmp/table" 2>"$tmp/err"
	"$bin/tl-query" -d "$tmp/r.db" --dump=results >"$tmp/results"
	grep -o '"run":"[^"]*"' "$tmp/results" | uniq | wc -l
}
[ "$(rounds --until 'rounds<3')" -eq 3 ] && grep -q '^total' "$tmp/table" && grep -q 'not measured' "$tmp/err"
ok $? 'in rounds, with a table that says what it is'
[ "$(grep -o '"at":"[^"]*"' "$tmp/results" | sort -c 2>&1)" = '' ] && [ "$(grep -o '"run":"[^"]*"' "$tmp/results" | sort -u | wc -l)" -eq 3 ]
ok $? 'whose simulated clock goes on from one to the next'
grep -o '"build_s":[^,]*.*"code_hash":"[^"]*"' "$tmp/results" | grep -v '"build_s":0,' | grep -o '"code_hash":"[^"]*"' | sort | uniq -d >"$tmp/twice"
[ -s "$tmp/results" ] && [ ! -s "$tmp/twice" ]
ok $? 'and none compiles what an earlier one did'
[ "$(rounds --until 'seconds<0.001')" -eq 1 ]
ok $? 'a limit of seconds is one of that clock'
"$bin/tl-tune" -q --replay "$tmp/rec" --final 0 -b 8 --until 'rounds<1' --no-db "$tmp/w" 2>"$tmp/err" >"$tmp/out" && grep -q '"replayed":true' "$tmp/out"
ok $? 'or with no database kept'
"$bin/tl-tune" --replay "$tmp/rec" "$tmp/w" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'of its own' "$tmp/err"
ok $? 'never in the default one'

# What is not known

grep -v "$(grep -o '"candidate_id":"[^"]*"' "$tmp/rec" | sed -n 5p)" "$tmp/rec" >"$tmp/gap"
"$bin/tl-replay" --final 0 --from "$tmp/gap" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 4 ] && grep -q '^tl-replay: of 1 of ' "$tmp/err" && grep -q '"type":"done"' "$tmp/out" && [ "$(grep -c '"type":"result"' "$tmp/out")" -eq $((candidates - 1)) ]
ok $? 'a candidate that was not recorded has no result: exit 4'
[ "$(grep -o '"unknown":[0-9]*' "$tmp/out" | sort | tr '\n' ' ')" = '"unknown":0 "unknown":1 ' ]
ok $? 'and is counted'
"$bin/tl-replay" --missing=fail --from "$tmp/gap" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'nothing is known of the candidate' "$tmp/err" && ! grep -q '"type":"done"' "$tmp/out"
ok $? '--missing=fail: exit 3'
"$bin/tl-tune" -q --replay "$tmp/gap" --final 0 -n 0 -b 10000 --patience 100000 --min-gain 0 -d "$tmp/gap.db" "$tmp/w" 2>"$tmp/err" &&
	[ "$("$bin/tl-query" -d "$tmp/gap.db" --dump=results | wc -l)" -eq $((candidates - 1)) ]
ok $? 'tl-tune goes on with the others, and ends'
"$bin/tl-replay" --from /dev/null "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'nothing was recorded' "$tmp/err"
ok $? 'nothing at all: exit 3'
{ sed 's/"samples_s":\[/&"x",/' "$tmp/rec" | head -n 4; sed 1,4d "$tmp/rec"; } >"$tmp/bad"
"$bin/tl-replay" --final 0 --from "$tmp/bad" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q "bad:3: .*samples_s" "$tmp/err" && [ "$(grep -c '"type":"result"' "$tmp/out")" -eq $((candidates - 2)) ]
ok $? 'a bad line of a recording is told with its number: exit 3'
head -c 9000 "$tmp/rec.gz" >"$tmp/cut.gz"
"$bin/tl-replay" --from "$tmp/cut.gz" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut.gz' "$tmp/err" && [ ! -s "$tmp/out" ]
ok $? 'a recording that is cut off: exit 3, and no answer'

# The stream

{ echo '{"tl":1,"type":"novel","a":1}'; cat "$tmp/c"; } | "$bin/tl-replay" --final 0 --from "$tmp/rec" | sed -n 2p | grep -qx '{"tl":1,"type":"novel","a":1}'
ok $? 'other records pass through'
grep '"type":"candidate"' "$tmp/c" | "$bin/tl-replay" --final 0 --from "$tmp/rec" >"$tmp/out" && [ "$(grep -c '"type":"end".*"why":"end of input"' "$tmp/out")" -eq 2 ]
ok $? 'candidates may stand alone'
head -n 4 "$tmp/c" | "$bin/tl-replay" --final 0 --from "$tmp/rec" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut off' "$tmp/err" && grep -q '"type":"result"' "$tmp/out" && ! grep -q '"type":"end"\|"type":"done"' "$tmp/out"
ok $? 'input cut off inside a group: told, not closed, exit 3'
sed 's/"candidate_id":"......../"candidate_id":"00000000/' "$tmp/c" | "$bin/tl-replay" --from "$tmp/rec" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':2: ' "$tmp/err" && ! grep -q '"type":"result"' "$tmp/out"
ok $? 'an id that disagrees is a bad line'
sed 's/"workload":{[^{}]*}/"workload":""/' "$tmp/c" >"$tmp/empty"
"$bin/tl-replay" --from "$tmp/rec" "$tmp/empty" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':2: workload: .*not an object' "$tmp/err" && ! grep -q '"type":"result"' "$tmp/out"
ok $? 'so is a candidate whose workload is an empty string'
sed 's/"build_s":[0-9.e-]*/"build_s":1e30/; s/,"checksum":"[^"]*"//' "$tmp/rec" >"$tmp/long"
"$bin/tl-replay" --final 0 --from "$tmp/long" "$tmp/c" >"$tmp/out" && grep -q '"type":"result".*"at":"9999-12-31T23:59:59.999Z"' "$tmp/out"
ok $? 'a clock that runs beyond the times of day stands at the last one'
"$bin/tl-replay" --final 0 --from "$tmp/rec" -o "$tmp/out" "$tmp/c" && cmp -s "$tmp/out" "$tmp/sim"
ok $? '-o writes to a file'
mkfifo "$tmp/fifo"
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$bin/tl-replay" --final 0 --from "$tmp/rec" "$tmp/fifo" >"$tmp/out" 2>"$tmp/err" &
pid=$!
exec 3>"$tmp/fifo"
head -n 5 "$tmp/c" >&3
i=0
while [ "$(grep -c '"type":"result"' "$tmp/out")" -lt 4 ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
kill -INT $pid
wait $pid
[ $? -eq 130 ] && [ "$(grep -c '"type":"result"' "$tmp/out")" -eq 4 ] && ! grep -q '"type":"done"' "$tmp/out"
ok $? 'SIGINT: what was answered is written; ends by the signal'
exec 3>&-

# Never taken for what was measured

"$bin/tl-query" -d "$tmp/real.db" --dump=all >"$tmp/before"
"$bin/tl-store" -q -d "$tmp/real.db" "$tmp/sim" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'was replayed' "$tmp/err" && "$bin/tl-query" -d "$tmp/real.db" --dump=all | cmp -s - "$tmp/before"
ok $? 'tl-store refuses them in a database of results'
"$bin/tl-store" --replayed -q -d "$tmp/real.db" "$tmp/sim" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'one of its own' "$tmp/err" && "$bin/tl-query" -d "$tmp/real.db" --dump=all | cmp -s - "$tmp/before"
ok $? 'also with --replayed'
"$bin/tl-store" -q -d "$tmp/new.db" "$tmp/w" && "$bin/tl-store" --replayed -q -d "$tmp/new.db" "$tmp/sim" &&
	[ "$("$bin/tl-query" -d "$tmp/new.db" --dump=results | wc -l)" -eq "$candidates" ]
ok $? 'a database without results can be given to them'
"$bin/tl-store" -q -d "$tmp/new.db" "$tmp/rec" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'was measured' "$tmp/err" && [ "$("$bin/tl-query" -d "$tmp/new.db" --dump=results | wc -l)" -eq "$candidates" ]
ok $? 'which then refuses what was measured'
"$bin/tl-query" -d "$tmp/new.db" --dump=all | "$bin/tl-store" -q -d "$tmp/sim1.db"
ok $? 'and takes what was replayed without being told'
"$bin/tl-replay" --from "$tmp/sim" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'was replayed' "$tmp/err"
ok $? 'a replay answers nothing'
sed -n 's/"type":"result"/"type":"candidate"/p' "$tmp/sim" | head -n 2 | "$bin/tl-measure" --final 0 2>"$tmp/err" >"$tmp/out"
[ "$(grep -c '"type":"result"' "$tmp/out")" -eq 2 ] && ! grep -q '"replayed"' "$tmp/out" && grep -q '"settings"' "$tmp/out" && ! grep -q '"settings"' "$tmp/sim"
ok $? 'what is measured after all is marked no more'
sed 's/"replayed":true/"replayed":"yes"/' "$tmp/sim" | "$bin/tl-check" -q 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '"replayed" is not true or false' "$tmp/err"
ok $? 'tl-check knows the mark'
echo "1..$n"
