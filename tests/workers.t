#!/bin/sh
# tl-tune --workers: a list of machines tunes for each of their envs. The machines are shells here.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/sqlite.sh
. "$(dirname "$0")/sqlite.sh"
unset TL_DB
bin=$(cd "$bin" && pwd)
PATH=$bin:$PATH HOME=$tmp/home PAUSE=0.2
export PATH HOME PAUSE
mkdir "$HOME"
i=0
while [ $((i += 1)) -le 6 ]; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${i}x16:16x16\"}"; done | tl-check --fix >"$tmp/wl"

tune() { # list, database, options and files
	list=$1 db=$2
	shift 2
	tl-tune --workers "$list" -d "$db" --until 'rounds<1' -b 36 --final 0 "$@" >"$tmp/out" 2>"$tmp/err"
}
counts() { # database
	tl-query -d "$1" --fleet | jq -r '[.units[] | [.open, .leased, .lapsed, .done]] | transpose | map(add) | join(" ")'
}
ended() { # name: no worker has its folder any more
	flock -w 60 "$HOME/tl-worker.$1/lock" true
}

printf '# two machines of one kind\na cpu sh -c\n\n  b\tcpu  sh -c \n' >"$tmp/list"
db=$(db same)
tune "$tmp/list" "$db" "$tmp/wl"
[ $? -eq 0 ] && [ "$(counts "$db")" = '0 0 0 6' ] && [ -e "$HOME/tl-worker.a/lock" ] && [ -e "$HOME/tl-worker.b/lock" ]
ok $? "two machines tune a list: $(counts "$db")" || sed 's/^/# /' "$tmp/err"
grep -q '^total *of 6 known' "$tmp/out" && [ "$(grep -c matmul "$tmp/out")" -eq 6 ]
ok $? 'and the best of all is told' || sed 's/^/# /' "$tmp/out"
tl-query -d "$db" --fleet | jq -e '.units | length == 1' >"$tmp/truth"
ok $? 'for one env'

if [ "$(nproc)" -gt 1 ]; then
	printf 'a cpu sh -c\none cpu env OMP_NUM_THREADS=1 sh -c\n' >"$tmp/list"
	db=$(db kinds)
	tune "$tmp/list" "$db" "$tmp/wl" -o "$tmp/best"
	[ $? -eq 0 ] && [ "$(counts "$db")" = '0 0 0 12' ] && [ "$(jq -r '.env_id' "$tmp/best" | sort | uniq -c | awk '{ print $1 }' | xargs)" = '6 6' ]
	ok $? "two machines of two kinds tune it each for itself: $(counts "$db")" || sed 's/^/# /' "$tmp/err"
	tl-query -d "$db" --env any --csv "$tmp/wl" >"$tmp/csv" && [ "$(wc -l <"$tmp/csv")" -eq 13 ] &&
		[ "$(tail -n +2 "$tmp/csv" | tr -d '\r' | cut -d , -f 5 | sort -u | wc -l)" -eq 2 ]
	ok $? 'tl-query --env any has both' || sed 's/^/# /' "$tmp/csv"
	tl-query -d "$db" --env any --table --wide "$tmp/wl" >"$tmp/table" && grep -q ', 1 threads' "$tmp/table" && [ "$(awk '/^total/ { print NF }' "$tmp/table")" -eq 9 ]
	ok $? 'and a table compares them' || sed 's/^/# /' "$tmp/table"
	tl-query -d "$db" --env any --op matmul --prob 1x16:16x16 >"$tmp/out" && [ "$(jq -r '.env_id' "$tmp/out" | sort -u | wc -l)" -eq 2 ]
	ok $? 'records do, too'
else
	skip 'one core is one kind of machine'
fi
tl-query -d "$db" --env any --op matmul --prob 7x16:16x16 >"$tmp/out"
[ $? -eq 1 ] && [ ! -s "$tmp/out" ]
ok $? 'what no env knows: status 1'
tl-query -d "$db" --env any --predict "$tmp/wl" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'env=any' "$tmp/err"
ok $? 'no prediction is of any env'

# Machines that fail

printf 'a cpu sh -c\naway cpu sh -c false\n' >"$tmp/list"
db=$(db away)
tune "$tmp/list" "$db" "$tmp/wl"
[ $? -eq 0 ] && [ "$(counts "$db")" = '0 0 0 6' ] && grep -q '^tl-tune: warning: the worker away ended with status 1$' "$tmp/err"
ok $? 'one that cannot be reached is told, and the other tunes all' || sed 's/^/# /' "$tmp/err"
printf 'away cpu sh -c false\nnone cpu %s/none\n' "$tmp" >"$tmp/list"
db=$(db none)
tune "$tmp/list" "$db" "$tmp/wl"
[ $? -eq 3 ] && grep -q "$tmp/none" "$tmp/err"
ok $? 'where a command is missing: status 3' || sed 's/^/# /' "$tmp/err"
printf 'away cpu sh -c false\n' >"$tmp/list"
tl-store -q -d "$db" --open "$tmp/wl"
tune "$tmp/list" "$db" "$tmp/wl"
[ $? -eq 3 ] && grep -q '^tl-tune: warning: 6 units of the env [0-9a-f]* are not done: no worker serves it any more$' "$tmp/err"
ok $? 'an env that no machine serves is told, and stays open' || sed 's/^/# /' "$tmp/err"

# The end of tl-tune is the end of its workers

printf 'a cpu sh -c\n' >"$tmp/list"
i=0
while [ $((i += 1)) -le 40 ]; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${i}x640:640x640\"}"; done | tl-check --fix >"$tmp/many"
for how in TERM KILL; do
	db=$(db $how)
	rm -rf "$HOME/tl-worker.a"
	tl-tune --workers "$tmp/list" -d "$db" "$tmp/many" >"$tmp/out" 2>"$tmp/err" &
	tune=$!
	i=0
	until [ -n "$(find "$HOME/tl-worker.a" -name 'results.*' -size +0 2>/dev/null)" ] || [ $((i += 1)) -gt 300 ]; do sleep 0.1; done
	kill -$how $tune
	wait $tune 2>/dev/null
	status=$?
	ended a && [ $status -gt 128 ] && counts "$db" | grep -q '^[1-9][0-9]* 0 0 '
	ok $? "$how ends the worker, which gives back what it had: $(counts "$db")" || sed 's/^/# /' "$tmp/err"
done

# A limit of time

printf 'a cpu sh -c\n' >"$tmp/list"
rm -rf "$HOME/tl-worker.a"
db=$(db limited)
timeout 120 tl-tune --workers "$tmp/list" -d "$db" --time 3s --final 0 "$tmp/many" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && ! grep -q 'no worker serves' "$tmp/err" &&
	[ "$(counts "$db" | awk '{ print $2 + $3 }')" -eq 0 ] && [ "$(tl-query -d "$db" --dump=results | wc -l)" -gt 0 ]
ok $? "a limit of time ends the workers: $(counts "$db")" || sed 's/^/# /' "$tmp/err"
tune "$tmp/list" "$db" -m none "$tmp/wl"
[ $? -eq 2 ] && grep -q 'searches by its own model' "$tmp/err"
ok $? 'what workers would not heed is refused'

# Bad lists

refuses() { # text, sentence
	printf '%b' "$1" >"$tmp/list"
	tune "$tmp/list" "$tmp/bad.db" "$tmp/wl"
	[ $? -eq 3 ] && grep -q "^tl-tune: $2" "$tmp/err"
	ok $? "refused: $2" || sed 's/^/# /' "$tmp/err"
}
refuses '' ".*list lists no workers"
refuses '# nothing\n' ".*list lists no workers"
refuses 'a cpu sh -c\nb cpu\n' ".*list:2: a line has a name, a target and a command"
refuses 'a tpu sh -c\n' '.*list:1: "tpu" is no target'
refuses 'a/b cpu sh -c\n' '.*list:1: "a/b" is no name'
refuses 'a cpu sh -c\na cpu ssh b\n' '.*list:2: there are two workers "a"'
tune "$tmp/nowhere" "$tmp/bad.db" "$tmp/wl"
[ $? -eq 3 ] && grep -q 'list of workers' "$tmp/err"
ok $? 'refused: a list that is not there'
tune "$tmp/list" "$tmp/bad.db" --replay "$tmp/bad.db" "$tmp/wl"
[ $? -eq 2 ] && grep -q -- '--workers' "$tmp/err"
ok $? 'refused: a simulation with workers'

echo "1..$n"
