#!/bin/sh
# tl-store: what is passed on is committed; kills, cut-off input, replays and two writers lose and change nothing.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB

results() { # awk variables
	for v; do set -- "$@" -v "$v" && shift; done
	awk "$@" -f "$here/results.awk" "$here/workloads.ndjson"
}

dump() { # database: all that it holds, in an order of its own
	"$bin/tl-query" -d "$1" --dump=all | sort
}

wait_for() { # lines passed on; a minute at most
	i=0
	while [ "$(wc -l <"$tmp/out")" -lt "$1" ] && [ $i -lt 600 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	[ "$(wc -l <"$tmp/out")" -eq "$1" ]
}

results n=40 >"$tmp/a"
results n=40 run=run2 seed=9 day=22 >"$tmp/b"

# Passing on

"$bin/tl-store" -d "$tmp/a.db" <"$tmp/a" >"$tmp/out"
ok $? 'stores'
cmp -s "$tmp/a" "$tmp/out"
ok $? 'passes records on as they came'
"$bin/tl-query" -d "$tmp/a.db" --dump=results >"$tmp/out"
grep '"type":"result"' "$tmp/a" | cmp -s - "$tmp/out"
ok $? 'the dump gives back the results byte for byte'
got=$("$bin/tl-store" -q -d "$tmp/q.db" "$tmp/a")
[ $? -eq 0 ] && [ -z "$got" ]
ok $? '-q passes nothing on'
{
	echo '{"tl":1,"type":"novel","a":1}'
	cat "$tmp/a"
	echo '{"tl":1,"type":"unheard","b":2}'
} >"$tmp/mixed"
"$bin/tl-store" -d "$tmp/m.db" "$tmp/mixed" | cmp -s - "$tmp/mixed"
ok $? 'records of other types pass through in order'
echo '{"tl":1,"type":"candidate","b":2}' | cat - "$tmp/a" | "$bin/tl-store" -d "$tmp/n.db" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '^tl-store: (standard input):1: "workload" is missing' "$tmp/err" && cmp -s "$tmp/out" "$tmp/a"
ok $? 'but for a candidate that tl-check refuses'
"$bin/tl-store" -o "$tmp/out" -d "$tmp/m.db" "$tmp/a" && cmp -s "$tmp/a" "$tmp/out"
ok $? '-o writes to a file'
results n=20000 >"$tmp/many"
"$bin/tl-store" -d "$tmp/head.db" "$tmp/many" 2>"$tmp/err" | head -n 1 >"$tmp/out"
[ "$("$bin/tl-query" -d "$tmp/head.db" --dump=results | wc -l)" -eq "$(grep -c '"type":"result"' "$tmp/many")" ] &&
	[ ! -s "$tmp/err" ]
ok $? 'a reader that goes away costs no results'

# Replays and merges

dump "$tmp/a.db" >"$tmp/before"
"$bin/tl-store" -q -d "$tmp/a.db" "$tmp/a" && dump "$tmp/a.db" | cmp -s - "$tmp/before"
ok $? 'storing twice changes nothing'
"$bin/tl-store" -q -d "$tmp/b.db" "$tmp/b"
cp "$tmp/a.db" "$tmp/ab.db" && cp "$tmp/b.db" "$tmp/ba.db"
"$bin/tl-query" -d "$tmp/b.db" --dump=all | "$bin/tl-store" -q -d "$tmp/ab.db"
ok $? 'a dump of everything is no cut-off stream'
"$bin/tl-query" -d "$tmp/a.db" --dump=all | "$bin/tl-store" -q -d "$tmp/ba.db"
dump "$tmp/ab.db" >"$tmp/ab" && dump "$tmp/ba.db" | cmp -s - "$tmp/ab"
ok $? 'merging either way gives the same'
[ "$(wc -l <"$tmp/ab")" -gt "$(wc -l <"$tmp/before")" ]
ok $? 'and more than before'
"$bin/tl-query" -d "$tmp/b.db" --dump=all | "$bin/tl-store" -q -d "$tmp/ab.db" && dump "$tmp/ab.db" | cmp -s - "$tmp/ab"
ok $? 'merging twice changes nothing'
"$bin/tl-query" -d "$tmp/ab.db" --dump=all | timeout 20 "$bin/tl-store" -q -d "$tmp/ab.db" && dump "$tmp/ab.db" | cmp -s - "$tmp/ab"
ok $? 'a database can be dumped into itself'

# Bad input

sed '$d' "$tmp/a" >"$tmp/cut"
"$bin/tl-store" -q -d "$tmp/cut.db" "$tmp/cut" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut off' "$tmp/err"
ok $? 'a group that is cut off gives status 3'
[ "$("$bin/tl-query" -d "$tmp/cut.db" --dump=results | wc -l)" -eq "$(grep -c '"type":"result"' "$tmp/cut")" ]
ok $? 'and what came is stored'
{
	sed -n 1,3p "$tmp/a"
	sed -n 4p "$tmp/a" | sed 's/"status":"ok"/"status":"fine"/'
	echo '{"tl":1,"type":"result","candidate_id":'
	sed -n '5,$p' "$tmp/a"
} >"$tmp/bad"
"$bin/tl-store" -d "$tmp/bad.db" "$tmp/bad" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':4: "status" is not ok|' "$tmp/err" && grep -q ':5: ' "$tmp/err"
ok $? 'bad lines are named and give status 3'
sed '4,5d' "$tmp/bad" | cmp -s - "$tmp/out"
ok $? 'and are not passed on, while the others are'
sed -n 2p "$tmp/a" | sed 's/"prob":"[^"]*"/"prob":"mb1_ic3ih8_oc3oh8_kh1"/' | "$bin/tl-store" -q -d "$tmp/bad2.db" 2>/dev/null
[ $? -eq 3 ]
ok $? 'a workload whose id is wrong is refused'
echo 'not a database, but long enough to be taken for one, if only its first page were read' >"$tmp/other"
cp "$tmp/other" "$tmp/copy"
"$bin/tl-store" -q -d "$tmp/other" "$tmp/a" 2>/dev/null
[ $? -eq 3 ] && cmp -s "$tmp/other" "$tmp/copy"
ok $? 'a file that is no database is left alone'

for name in '' file:foo.db :memory:; do
	"$bin/tl-store" -q -d "$name" "$tmp/a" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && [ ! -e foo.db ] && [ ! -e file:foo.db ] && grep -q 'the name of the database is empty\|is no file.s name' "$tmp/err"
	ok $? "a database named \"$name\" is refused"
done

# Kills. Whatever was passed on must be there, and the database must be sound.

survived=0
for delay in 0.02 0.05 0.1 0.15 0.2 0.3; do
	rm -f "$tmp/k.db"*
	"$bin/tl-store" -d "$tmp/k.db" "$tmp/many" >"$tmp/out" 2>/dev/null &
	pid=$!
	sleep "$delay"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ -e "$tmp/k.db" ] || continue
	"$bin/tl-store" --check -d "$tmp/k.db" 2>"$tmp/err" || { survived=1; sed 's/^/# /' "$tmp/err"; }
	"$bin/tl-query" -d "$tmp/k.db" --dump=results | sort >"$tmp/have"
	# The last line may be half written: the pipe, not the database, was cut.
	sed '$d' "$tmp/out" | grep '"type":"result"' | sort | comm -23 - "$tmp/have" >"$tmp/lost"
	[ ! -s "$tmp/lost" ] || survived=1
done
ok $survived 'kill -9 loses nothing that was passed on'
"$bin/tl-store" -q -d "$tmp/k.db" "$tmp/many" && [ "$("$bin/tl-query" -d "$tmp/k.db" --dump=results | wc -l)" -eq 60003 ]
ok $? 'and storing goes on where it was cut off'
mkfifo "$tmp/fifo"
# A shell without job control starts what runs behind it deaf to SIGINT.
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$bin/tl-store" -d "$tmp/term.db" "$tmp/fifo" >"$tmp/out" &
pid=$!
exec 3>"$tmp/fifo"
sed -n 1,5p "$tmp/a" >&3
wait_for 5
ok $? 'commits and passes on before it waits for more'
kill -INT $pid
kill -TERM $pid # the same stop, come twice at once
sed -n 6,10p "$tmp/a" >&3
wait_for 10
ok $? 'SIGINT stops the producer, not the sink'
sleep 1
kill -TERM $pid
wait $pid
[ $? -eq 143 ]
ok $? 'a second signal does'
exec 3>&-
sed -n 1,10p "$tmp/a" | cmp -s - "$tmp/out" && "$bin/tl-query" -d "$tmp/term.db" --dump=results >"$tmp/have" &&
	sed -n 1,10p "$tmp/a" | grep '"type":"result"' | cmp -s - "$tmp/have"
ok $? 'and all that had come is stored'
# A service manager stops the whole group. The producer has some more to say, then ends.
cat >"$tmp/producer" <<'EOF'
trap 'sed -n "6,\$p" "$1"; exit 143' TERM
sed -n 1,5p "$1"
i=0
while [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
EOF
: >"$tmp/out"
setsid sh -c 'sh "$1/producer" "$1/a" | "$2/tl-store" -d "$1/group.db" >"$1/out"' sh "$tmp" "$bin" &
pid=$!
wait_for 5
kill -TERM -$pid
i=0
while pgrep -g $pid >/dev/null && [ $i -lt 600 ]; do
	sleep 0.1
	i=$((i + 1))
done
wait $pid 2>/dev/null
cmp -s "$tmp/a" "$tmp/out" && dump "$tmp/group.db" | cmp -s - "$tmp/before"
ok $? 'SIGTERM to the whole group: what the producer had finished is stored'
dd if=/dev/urandom of="$tmp/k.db" bs=4096 seek=20 count=4 conv=notrunc 2>/dev/null
"$bin/tl-store" --check -d "$tmp/k.db" 2>/dev/null
[ $? -ne 0 ]
ok $? '--check sees damage'

# Older databases, which have no checksums

plain() { # database: as versions before kept it, so that sqlite3 may write it
	{
		sqlite3 "$1" .dump
		echo "PRAGMA application_id = $(sqlite3 "$1" 'PRAGMA application_id');"
		echo "PRAGMA user_version = $(sqlite3 "$1" 'PRAGMA user_version');"
	} | sqlite3 "$1.plain" && mv "$1.plain" "$1"
}
cp "$tmp/a.db" "$tmp/odd.db" && sqlite3 "$tmp/odd.db" 'UPDATE results SET latency_s = 2 * latency_s'
"$bin/tl-query" -d "$tmp/odd.db" --dump=all >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q "the database $tmp/odd.db is damaged: a page is not as it was written" "$tmp/err"
ok $? 'what another program writes into a database counts as damage'
cp "$tmp/a.db" "$tmp/plain.db" && plain "$tmp/plain.db" && dump "$tmp/plain.db" | cmp -s - "$tmp/before" &&
	"$bin/tl-store" -q -d "$tmp/plain.db" "$tmp/a" && "$bin/tl-store" --check -d "$tmp/plain.db"
ok $? 'a database without checksums is read and written as it is'

old() { # database: what a.db holds, as version 1 kept it
	rm -f "$1"
	{ echo "ATTACH '$tmp/a.db' AS new;" && cat "$here/schema1.sql"; } | sqlite3 "$1"
}
ask() { # database
	"$bin/tl-query" -d "$1" --stats && "$bin/tl-query" -d "$1" --env e1000000000000000000000000000000 --table "$here/workloads.ndjson"
}
ask "$tmp/a.db" >"$tmp/asked"
old "$tmp/old.db" && ask "$tmp/old.db" | cmp -s - "$tmp/asked" && dump "$tmp/old.db" | cmp -s - "$tmp/before" &&
	"$bin/tl-store" --check -d "$tmp/old.db"
ok $? 'an older database is brought up to date by a reader'
cp "$tmp/a.db" "$tmp/both.db" && "$bin/tl-store" -q -d "$tmp/both.db" "$tmp/b"
old "$tmp/old.db" && "$bin/tl-store" -q -d "$tmp/old.db" "$tmp/b" && "$bin/tl-store" --check -d "$tmp/old.db" &&
	ask "$tmp/both.db" >"$tmp/asked" && ask "$tmp/old.db" | cmp -s - "$tmp/asked"
ok $? 'and by a writer'
sqlite3 "$tmp/old.db" 'UPDATE tallies SET results = results + 1 WHERE workload = 2 AND status = "ok"'
"$bin/tl-store" --check -d "$tmp/old.db" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'the tallies of workload [0-9a-f]* are not those of its results' "$tmp/err"
ok $? '--check counts again'
sqlite3 "$tmp/old.db" 'PRAGMA user_version = 1000'
"$bin/tl-store" -q -d "$tmp/old.db" "$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'made by a newer version' "$tmp/err"
ok $? 'a newer one is left alone'
"$bin/tl-store" -q -d "$tmp/later.db" /dev/null && plain "$tmp/later.db"
"$bin/tl-store" -d "$tmp/later.db" "$tmp/fifo" >"$tmp/out" 2>"$tmp/err" &
pid=$!
exec 3>"$tmp/fifo"
sed -n 1,5p "$tmp/a" >&3
wait_for 5
sqlite3 "$tmp/later.db" 'PRAGMA user_version = 1000'
sed -n 6,10p "$tmp/a" >&3
exec 3>&-
wait $pid
[ $? -eq 3 ] && grep -q 'made by a newer version' "$tmp/err" && [ "$(wc -l <"$tmp/out")" -eq 5 ]
ok $? 'even when it becomes newer meanwhile'

# Older envs: the class of the machine's speed was in their ids

today=c558a9dc3e929bd7603fa7219c5715e3 hardware=a64678d6821eaab11078f1c32ec13acc zeros=000000000000000000000000000000
env1=d1$zeros env2=d2$zeros env5=d5$zeros other=ee$zeros before=bb$zeros
classed() { # env, class
	sed "s/\"env_id\":\"e1000000000000000000000000000000\"/\"env_id\":\"$1\"/;s/\"libs\":\"onednn 2.6.3\"}/\"libs\":\"onednn 2.6.3\",\"hw_id\":\"$before\",\"probe\":{\"class\":\"$2\",\"cores\":2}}/"
}
{
	results n=30 run=one | classed "$env1" quick
	results n=30 run=two first=20 seed=2 best=5e-5 | classed "$env2" slow
	results n=9 run=three seed=3 | sed "s/e1000000000000000000000000000000/$today/" # as it is measured today
	results n=9 run=four seed=4 env="$other"
	results n=9 run=one bare=1 day=22 seed=5 | classed "$env5" odd # later than what then has the same key
	results n=9 run=two bare=1 day=20 first=20 seed=6 | classed "$env1" quick # and earlier
	results n=9 run=five seed=7 | sed 's/"env_id":"e1000000000000000000000000000000"/"env_id":"'"$env2"'"/;s/,"env":{.*}}$/}/' # that do not tell their env
} >"$tmp/aged"
before() { # database: the same, as version 3 of the schema kept it
	rm -f "$1"
	sed 's/"class"/"CLASS"/;s/"hw_id"/"HW_ID"/' "$tmp/aged" | "$bin/tl-store" -q -d "$1" && plain "$1" && sqlite3 "$1" "
		UPDATE records SET record = replace(replace(record, '\"CLASS\"', '\"class\"'), '\"HW_ID\"', '\"hw_id\"');
		UPDATE envs SET env = replace(replace(env, '\"CLASS\"', '\"class\"'), '\"HW_ID\"', '\"hw_id\"');
		DROP TABLE envs_before;
		DROP INDEX results_best;
		ALTER TABLE results DROP COLUMN since;
		ALTER TABLE results DROP COLUMN ratio;
		CREATE INDEX results_best ON results(workload, env, final DESC, latency_s, candidate) WHERE status = 'ok';
		PRAGMA user_version = 3"
}
envs() { # dump
	grep '"type":"result"' "$1" | grep -o '"env_id":"[^"]*"' | sort | uniq -c | sed 's/^ *//'
}
before "$tmp/aged.db"
[ "$(sqlite3 "$tmp/aged.db" 'SELECT id FROM envs ORDER BY id' | tr '\n' ' ')" = "$today $env1 $env2 $env5 $other " ]
ok $? "one machine had several envs"
cp "$tmp/aged.db" "$tmp/copy.db"
dump "$tmp/aged.db" >"$tmp/renewed" && [ "$(sqlite3 "$tmp/aged.db" 'SELECT id FROM envs ORDER BY id' | tr '\n' ' ')" = "$today $other " ]
ok $? 'and has one'
[ "$(envs "$tmp/renewed" | wc -l)" -eq 2 ] && ! grep -q "\"class\"\|\"hw_id\":\"$before" "$tmp/renewed" && grep -q "\"hw_id\":\"$hardware\",\"probe\":{\"cores\":2}" "$tmp/renewed"
ok $? 'its records say so'
"$bin/tl-store" --check -d "$tmp/aged.db" && [ "$(sqlite3 "$tmp/aged.db" 'SELECT count(*) = (SELECT count(*) FROM results) FROM records')" -eq 1 ]
ok $? 'and the tallies are right'
latest() { # dump: for each key the latest time, and how many records there are
	perl -ne '
		next if !/"type":"result"/;
		my ($line, %v) = $_;
		$v{$_} = ($line =~ /"$_":"([^"]*)"/)[0] for qw(candidate_id stage run at);
		my $key = "$v{candidate_id} $v{stage} $v{run}";
		$at{$key} = $v{at} if !$at{$key} || $v{at} gt $at{$key};
		END { print map { "$_ $at{$_}\n" } sort keys %at }' "$1"
}
latest "$tmp/aged" >"$tmp/latest"
latest "$tmp/renewed" | cmp -s - "$tmp/latest" && [ "$(grep -c '"type":"result"' "$tmp/renewed")" -eq "$(grep -c . "$tmp/latest")" ] &&
	[ "$(grep -c '"type":"result"' "$tmp/aged")" -gt "$(grep -c . "$tmp/latest")" ]
ok $? 'of two results with the same key the later is kept'
"$bin/tl-store" -q -d "$tmp/door.db" "$tmp/aged" && dump "$tmp/door.db" | cmp -s - "$tmp/renewed" &&
	"$bin/tl-query" -d "$tmp/aged.db" --env "$today" --table "$here/workloads.ndjson" >"$tmp/asked" && grep -q . "$tmp/asked" &&
	"$bin/tl-query" -d "$tmp/door.db" --env "$today" --table "$here/workloads.ndjson" | cmp -s - "$tmp/asked"
ok $? 'records from before are brought up to date when they are stored'
{ grep '"type":"result"' "$tmp/aged" | tac && grep -v '"type":"result"' "$tmp/aged"; } >"$tmp/turned"
"$bin/tl-store" -q -d "$tmp/turned.db" "$tmp/turned" && dump "$tmp/turned.db" | cmp -s - "$tmp/renewed" && "$bin/tl-store" --check -d "$tmp/turned.db" &&
	[ "$(sqlite3 "$tmp/turned.db" 'SELECT id FROM envs ORDER BY id' | tr '\n' ' ')" = "$today $other " ]
ok $? 'in whatever order'
"$bin/tl-store" -q -d "$tmp/aged.db" "$tmp/turned" && dump "$tmp/aged.db" | cmp -s - "$tmp/renewed"
ok $? 'so that an old dump changes nothing'
grep '"run":"66697665' "$tmp/aged" | grep '"type":"result"' | "$bin/tl-store" -q -d "$tmp/aged.db" && dump "$tmp/aged.db" | cmp -s - "$tmp/renewed"
ok $? 'nor do records from before that do not tell their env'
survived=0
for delay in 0 0.001 0.002 0.004 0.008 0.016 0.032; do
	cp "$tmp/copy.db" "$tmp/k.db"
	rm -f "$tmp/k.db-journal"
	"$bin/tl-query" -d "$tmp/k.db" --stats >/dev/null 2>&1 &
	pid=$!
	sleep "$delay"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	dump "$tmp/k.db" | cmp -s - "$tmp/renewed" && "$bin/tl-store" --check -d "$tmp/k.db" || survived=1
done
ok $survived 'kill -9 meanwhile loses nothing'

# Two writers at once

results n=15000 run=left >"$tmp/left"
results n=15000 run=right env=e2000000000000000000000000000000 >"$tmp/right"
"$bin/tl-store" -q -d "$tmp/two.db" "$tmp/left" &
pid=$!
"$bin/tl-store" -q -d "$tmp/two.db" "$tmp/right"
right=$?
wait $pid
[ $? -eq 0 ] && [ $right -eq 0 ]
ok $? 'two writers at once'
cat "$tmp/left" "$tmp/right" | grep '"type":"result"' | sort >"$tmp/want"
"$bin/tl-query" -d "$tmp/two.db" --dump=results | sort | cmp -s - "$tmp/want"
ok $? 'and nothing of either is lost'

# Where

TL_DB="$tmp/env.db" "$bin/tl-store" -q "$tmp/a" && [ -s "$tmp/env.db" ]
ok $? 'TL_DB names the database'
XDG_DATA_HOME="$tmp/data" "$bin/tl-store" -q "$tmp/a" && [ -s "$tmp/data/tl/tl.db" ]
ok $? 'else it is in XDG_DATA_HOME'
XDG_DATA_HOME='' HOME="$tmp/home" "$bin/tl-store" -q "$tmp/a" && [ -s "$tmp/home/.local/share/tl/tl.db" ]
ok $? 'else below HOME'

echo "1..$n"
