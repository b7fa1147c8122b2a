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
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && [ ! -e foo.db ] && [ ! -e file:foo.db ] && grep -q 'wants the name of a file\|is no file.s name' "$tmp/err"
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

# Databases without checksums, which sqlite3 makes, and of other versions

plain() { # database: without checksums, so that sqlite3 may write it
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

: >"$tmp/nothing.db"
"$bin/tl-query" -d "$tmp/nothing.db" --stats >"$tmp/asked" && "$bin/tl-store" --check -d "$tmp/nothing.db" &&
	[ "$(sqlite3 "$tmp/nothing.db" 'PRAGMA user_version')" -eq 1 ]
ok $? 'a reader makes a database of an empty file'
cp "$tmp/plain.db" "$tmp/other.db"
sqlite3 "$tmp/other.db" 'UPDATE tallies SET results = results + 1 WHERE workload = 2 AND status = "ok"'
"$bin/tl-store" --check -d "$tmp/other.db" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'the tallies of workload [0-9a-f]* are not those of its results' "$tmp/err"
ok $? '--check counts again'
sqlite3 "$tmp/other.db" 'PRAGMA user_version = 2'
"$bin/tl-store" -q -d "$tmp/other.db" "$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'made by a newer version' "$tmp/err"
ok $? 'a newer one is left alone'
"$bin/tl-store" -q -d "$tmp/later.db" /dev/null && plain "$tmp/later.db"
"$bin/tl-store" -d "$tmp/later.db" "$tmp/fifo" >"$tmp/out" 2>"$tmp/err" &
pid=$!
exec 3>"$tmp/fifo"
sed -n 1,5p "$tmp/a" >&3
wait_for 5
sqlite3 "$tmp/later.db" 'PRAGMA user_version = 2'
sed -n 6,10p "$tmp/a" >&3
exec 3>&-
wait $pid
[ $? -eq 3 ] && grep -q 'made by a newer version' "$tmp/err" && [ "$(wc -l <"$tmp/out")" -eq 5 ]
ok $? 'even when it becomes newer meanwhile'

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
