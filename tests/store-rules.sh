# shellcheck shell=sh
# What holds for any kind of database, to be sourced behind tap.sh and sqlite.sh or postgresql.sh.
# shellcheck disable=SC2154 # bin, here and tmp are the test's
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

"$bin/tl-store" -d "$(db a)" <"$tmp/a" >"$tmp/out"
ok $? 'stores'
cmp -s "$tmp/a" "$tmp/out"
ok $? 'passes records on as they came'
"$bin/tl-query" -d "$(db a)" --dump=results >"$tmp/out"
grep '"type":"result"' "$tmp/a" | cmp -s - "$tmp/out"
ok $? 'the dump gives back the results byte for byte'
got=$("$bin/tl-store" -q -d "$(db q)" "$tmp/a")
[ $? -eq 0 ] && [ -z "$got" ]
ok $? '-q passes nothing on'
{
	echo '{"tl":1,"type":"novel","a":1}'
	cat "$tmp/a"
	echo '{"tl":1,"type":"unheard","b":2}'
} >"$tmp/mixed"
"$bin/tl-store" -d "$(db m)" "$tmp/mixed" | cmp -s - "$tmp/mixed"
ok $? 'records of other types pass through in order'
echo '{"tl":1,"type":"candidate","b":2}' | cat - "$tmp/a" | "$bin/tl-store" -d "$(db n)" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '^tl-store: (standard input):1: "workload" is missing' "$tmp/err" && cmp -s "$tmp/out" "$tmp/a"
ok $? 'but for a candidate that tl-check refuses'
"$bin/tl-store" -o "$tmp/out" -d "$(db m)" "$tmp/a" && cmp -s "$tmp/a" "$tmp/out"
ok $? '-o writes to a file'
results n=20000 >"$tmp/many"
"$bin/tl-store" -d "$(db head)" "$tmp/many" 2>"$tmp/err" | head -n 1 >"$tmp/out"
[ "$("$bin/tl-query" -d "$(db head)" --dump=results | wc -l)" -eq "$(grep -c '"type":"result"' "$tmp/many")" ] &&
	[ ! -s "$tmp/err" ]
ok $? 'a reader that goes away costs no results'

# Replays and merges

dump "$(db a)" >"$tmp/before"
"$bin/tl-store" -q -d "$(db a)" "$tmp/a" && dump "$(db a)" | cmp -s - "$tmp/before"
ok $? 'storing twice changes nothing'
"$bin/tl-store" -q -d "$(db b)" "$tmp/b"
copy_db a ab && copy_db b ba
"$bin/tl-query" -d "$(db b)" --dump=all | "$bin/tl-store" -q -d "$(db ab)"
ok $? 'a dump of everything is no cut-off stream'
"$bin/tl-query" -d "$(db a)" --dump=all | "$bin/tl-store" -q -d "$(db ba)"
dump "$(db ab)" >"$tmp/ab" && dump "$(db ba)" | cmp -s - "$tmp/ab"
ok $? 'merging either way gives the same'
[ "$(wc -l <"$tmp/ab")" -gt "$(wc -l <"$tmp/before")" ]
ok $? 'and more than before'
"$bin/tl-query" -d "$(db b)" --dump=all | "$bin/tl-store" -q -d "$(db ab)" && dump "$(db ab)" | cmp -s - "$tmp/ab"
ok $? 'merging twice changes nothing'
"$bin/tl-store" --from "$(db b)" --to "$(db moved)" && "$bin/tl-store" --from "$(db a)" --to "$(db moved)" && dump "$(db moved)" | cmp -s - "$tmp/ab"
ok $? '--from and --to move what a database holds'
"$bin/tl-store" --from "$tmp/nowhere.db" --to "$(db moved)" 2>"$tmp/err"
[ $? -ne 0 ] && [ -s "$tmp/err" ] && dump "$(db moved)" | cmp -s - "$tmp/ab"
ok $? 'from where there is nothing nothing comes'
"$bin/tl-query" -d "$(db ab)" --dump=all | timeout 20 "$bin/tl-store" -q -d "$(db ab)" && dump "$(db ab)" | cmp -s - "$tmp/ab"
ok $? 'a database can be dumped into itself'

# Bad input

sed '$d' "$tmp/a" >"$tmp/cut"
"$bin/tl-store" -q -d "$(db cut)" "$tmp/cut" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut off' "$tmp/err"
ok $? 'a group that is cut off gives status 3'
begin=$(printf '{"tl":1,"type":"begin","run":"%032d"}' 7)
{ echo "$begin" && cat "$tmp/cut"; } | "$bin/tl-store" -q -d "$(db cut)" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut off: 1 workload without an end record' "$tmp/err"
ok $? 'a group that its run is cut off with counts once'
{ echo "$begin" && cat "$tmp/a"; } | "$bin/tl-store" -q -d "$(db cut)" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut off: 1 measuring run without a done record' "$tmp/err"
ok $? 'a run that is cut off between two groups is told'
[ "$("$bin/tl-query" -d "$(db cut)" --dump=results | wc -l)" -eq "$(grep -c '"type":"result"' "$tmp/cut")" ]
ok $? 'and what came is stored'
{
	sed -n 1,3p "$tmp/a"
	sed -n 4p "$tmp/a" | sed 's/"status":"ok"/"status":"fine"/'
	echo '{"tl":1,"type":"result","candidate_id":'
	sed -n '5,$p' "$tmp/a"
} >"$tmp/bad"
"$bin/tl-store" -d "$(db bad)" "$tmp/bad" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':4: "status" is not ok|' "$tmp/err" && grep -q ':5: ' "$tmp/err"
ok $? 'bad lines are named and give status 3'
sed '4,5d' "$tmp/bad" | cmp -s - "$tmp/out"
ok $? 'and are not passed on, while the others are'
sed -n 2p "$tmp/a" | sed 's/"prob":"[^"]*"/"prob":"mb1_ic3ih8_oc3oh8_kh1"/' | "$bin/tl-store" -q -d "$(db bad2)" 2>/dev/null
[ $? -eq 3 ]
ok $? 'a workload whose id is wrong is refused'

# Kills. Whatever was passed on must be there, and the database must be sound.

survived=0
for delay in 0.02 0.05 0.1 0.15 0.2 0.3 0.8 1.5; do
	forget_db k
	uri=$(db k)
	"$bin/tl-store" -d "$uri" "$tmp/many" >"$tmp/out" 2>/dev/null &
	pid=$!
	sleep "$delay"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	has_db k || continue
	"$bin/tl-store" --check -d "$(db k)" 2>"$tmp/err" || { survived=1; sed 's/^/# /' "$tmp/err"; }
	"$bin/tl-query" -d "$(db k)" --dump=results | sort >"$tmp/have"
	# The last line may be half written: the pipe, not the database, was cut.
	sed '$d' "$tmp/out" | grep '"type":"result"' | sort | comm -23 - "$tmp/have" >"$tmp/lost"
	[ ! -s "$tmp/lost" ] || survived=1
done
ok $survived 'kill -9 loses nothing that was passed on'
"$bin/tl-store" -q -d "$(db k)" "$tmp/many" && [ "$("$bin/tl-query" -d "$(db k)" --dump=results | wc -l)" -eq 60003 ]
ok $? 'and storing goes on where it was cut off'
mkfifo "$tmp/fifo"
term=$(db term)
# A shell without job control starts what runs behind it deaf to SIGINT.
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$bin/tl-store" -d "$term" "$tmp/fifo" >"$tmp/out" &
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
sed -n 1,10p "$tmp/a" | cmp -s - "$tmp/out" && "$bin/tl-query" -d "$(db term)" --dump=results >"$tmp/have" &&
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
group=$(db group)
setsid sh -c 'sh "$1/producer" "$1/a" | "$2/tl-store" -d "$3" >"$1/out"' sh "$tmp" "$bin" "$group" &
pid=$!
wait_for 5
kill -TERM -$pid
i=0
while pgrep -g $pid >/dev/null && [ $i -lt 600 ]; do
	sleep 0.1
	i=$((i + 1))
done
wait $pid 2>/dev/null
cmp -s "$tmp/a" "$tmp/out" && dump "$(db group)" | cmp -s - "$tmp/before"
ok $? 'SIGTERM to the whole group: what the producer had finished is stored'
# Two writers at once

results n=15000 run=left >"$tmp/left"
results n=15000 run=right env=e2000000000000000000000000000000 >"$tmp/right"
two=$(db two)
"$bin/tl-store" -q -d "$two" "$tmp/left" &
pid=$!
"$bin/tl-store" -q -d "$two" "$tmp/right"
right=$?
wait $pid
[ $? -eq 0 ] && [ $right -eq 0 ]
ok $? 'two writers at once'
cat "$tmp/left" "$tmp/right" | grep '"type":"result"' | sort >"$tmp/want"
"$bin/tl-query" -d "$(db two)" --dump=results | sort | cmp -s - "$tmp/want"
ok $? 'and nothing of either is lost'
