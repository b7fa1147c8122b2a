#!/bin/sh
# tl-store with PostgreSQL: what holds for a file holds here, too; and what a server adds: it can be away, be killed, and have
# many writers. TL_TEST_RECORDS as in store-many.t.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/postgresql.sh"
unset TL_DB
pg_begin_or_skip
# shellcheck source=tests/store-rules.sh
. "$here/store-rules.sh"

# The same answers as from a file

"$bin/tl-query" -d "$(db ab)" --dump=all | "$bin/tl-store" -q -d "$tmp/ab.db" && dump "$tmp/ab.db" | cmp -s - "$tmp/ab"
ok $? 'a dump moves to a file and is the same'
answers() { # database
	"$bin/tl-query" -d "$1" --stats
	"$bin/tl-query" -d "$1" --envs
	"$bin/tl-query" -d "$1" --top 5 --env e1000000000000000000000000000000 <"$here/workloads.ndjson"
	"$bin/tl-query" -d "$1" --cost
	"$bin/tl-store" --check -d "$1" && echo sound
}
answers "$(db ab)" >"$tmp/here" 2>&1
answers "$tmp/ab.db" >"$tmp/there" 2>&1
grep -q sound "$tmp/here" && cmp -s "$tmp/here" "$tmp/there"
ok $? 'and answers the same'

# Names and servers

"$bin/tl-store" -q -d 'mysql://host/db' "$tmp/a" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q '"mysql" is no kind of database that is known: it is a file, or postgresql://HOST/NAME' "$tmp/err"
ok $? 'another kind of database is refused'
for uri in "postgresql:///a?host=$tmp/nowhere&user=tl" "postgresql://tl:secret@localhost:1/a?connect_timeout=2&password=secret" \
	"postgresql:///nothing_here?host=$pg&user=tl" "postgresql:///a?host=$pg&user=nobody_here" 'postgresql://[::1/a' 'postgresql://tl:secret@[::1/a' \
	'postgresql:///a?colour=red'; do
	"$bin/tl-store" -q -d "$uri" "$tmp/a" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q 'tl-store: cannot open the database postgres' "$tmp/err" &&
		! grep -q secret "$tmp/err"
	ok $? "a server that is away: $(cat "$tmp/err")"
done
pg_sql "$(db strange >"$tmp/uri" && echo strange)" 'CREATE SCHEMA tl; CREATE TABLE tl.results(x TEXT)'
"$bin/tl-store" -q -d "$(db strange)" "$tmp/a" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'is a database of another program' "$tmp/err"
ok $? "another program's tables are left alone"
pg_sql postgres "CREATE DATABASE old ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'"
"$bin/tl-store" -q -d "$(pg_uri old)" "$tmp/a" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'has the encoding LATIN1, and must have UTF8' "$tmp/err"
ok $? 'so is a database of another encoding'
copy_db a newer && pg_sql newer 'UPDATE tl.about SET version = 99'
"$bin/tl-store" -q -d "$(db newer)" "$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'made by a newer version' "$tmp/err"
ok $? 'and a newer one'
copy_db a wrong && pg_sql wrong "UPDATE tl.tallies SET results = results + 1 WHERE workload = 2 AND status = 'ok'"
"$bin/tl-store" --check -d "$(db wrong)" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'the tallies of workload [0-9a-f]* are not those of its results' "$tmp/err"
ok $? '--check counts again'
"$bin/tl-store" -q --replayed -d "$(db a)" /dev/null 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'holds what was measured' "$tmp/err" && "$bin/tl-store" -q --replayed -d "$(db replayed)" /dev/null &&
	! "$bin/tl-store" -q -d "$(db replayed)" "$tmp/a" 2>"$tmp/err" && grep -q 'is for what was replayed' "$tmp/err"
ok $? 'measured and replayed results never share a database'

# Another writer holds it

(echo "BEGIN; SELECT pg_advisory_xact_lock(1414292578);" && sleep 5) | psql -qAtX -d "$(pg_uri a)" >"$tmp/held" &
holder=$!
i=0
while [ ! -s "$tmp/held" ] && [ $i -lt 100 ]; do sleep 0.1 && i=$((i + 1)); done
"$bin/tl-store" -q -v -d "$(db a)" "$tmp/b" 2>"$tmp/err"
[ $? -eq 0 ] && grep -q 'waited [2345]' "$tmp/err"
ok $? 'a writer waits for another one, and says so at its end'
wait $holder

# Eight writers that are killed

records=${TL_TEST_RECORDS:-600}
for w in 1 2 3 4 5 6 7 8; do
	awk -v n=$((records / 3)) -v run="run$(((w + 1) / 2))" -v env="e$(((w + 1) / 2 % 2 + 1))000000000000000000000000000000" -v seed=$w -v day=$((10 + w * 7 % 8)) \
		-f "$here/results.awk" "$here/workloads.ndjson" | perl "$here/store-many.pl" spoil $w >"$tmp/in$w"
done
perl "$here/store-many.pl" write "$bin" "$(db many)" 5 "$tmp"/in?
ok $? 'eight writers, killed five times each'
"$bin/tl-store" --check -d "$(db many)"
ok $? 'the database is sound'
"$bin/tl-query" -d "$(db many)" --dump=all >"$tmp/dump"
perl "$here/store-many.pl" check "$tmp/dump" "$tmp"/in[1-6] -- "$tmp"/in[78] -- "$tmp"/in?.acked.[0-9] >"$tmp/tap"
pass_on "$tmp/tap"
perl "$here/store-many.pl" recount "$bin" "$(db many)" "$here/workloads.ndjson" "$tmp/dump" >"$tmp/tap"
pass_on "$tmp/tap"

# The server is killed

lost=0
for delay in 0.1 0.2 0.4 0.8; do
	forget_db k
	uri=$(db k)
	"$bin/tl-store" -d "$uri" "$tmp/many" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	sleep "$delay"
	pg_kill
	pg_start || lost=1
	wait $pid
	status=$?
	"$bin/tl-query" -d "$uri" --dump=results | sort >"$tmp/have"
	grep '"type":"result"' "$tmp/out" | sort | comm -23 - "$tmp/have" >"$tmp/lost"
	[ ! -s "$tmp/lost" ] && "$bin/tl-store" --check -d "$uri" || lost=1
	# It may have been too late, or before there was a connection.
	[ "$(wc -l <"$tmp/err")" -le 1 ] && { [ $status -eq 0 ] || { [ $status -eq 3 ] && [ ! -s "$tmp/out" ]; }; } || lost=1
	[ $status -ne 0 ] || { [ "$(wc -l <"$tmp/have")" -eq 60003 ] && cmp -s "$tmp/many" "$tmp/out"; } || lost=1
	[ $lost -eq 0 ] || echo "# killed after $delay s: status $status: $(cat "$tmp/err"), $(wc -l <"$tmp/have") results" >&2
done
ok $lost 'a server that is killed loses nothing: the batch is stored again when it is back'
grep -q '^tl-store: waiting: cannot [a-z]* the database' "$tmp/err"
ok $? 'and a writer that waits for it says so'
"$bin/tl-store" -d "$uri" "$tmp/many" >"$tmp/out" 2>"$tmp/err" &
pid=$!
sleep 0.3
pg_kill
sleep 0.5
began=$(date +%s)
kill -TERM $pid
wait $pid
status=$?
pg_start
[ $status -eq 3 ] && [ $(($(date +%s) - began)) -lt 60 ] && "$bin/tl-store" --check -d "$uri"
ok $? "a writer that waits can be ended: status $status"

# Writers that write on while the server is killed, too

forget_db k
uri=$(db k)
harm() {
	kill_writer "$1"
	pg_kill
	pg_start
}
# shellcheck source=tests/writers.sh
. "$here/writers.sh"

echo "1..$n"
