#!/bin/sh
# tl-store with a file: what is passed on is committed; kills, cut-off input, replays and two writers lose and change nothing.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB

# shellcheck source=tests/sqlite.sh
. "$here/sqlite.sh"
# shellcheck source=tests/store-rules.sh
. "$here/store-rules.sh"

# Files that are no database, and damage

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

dd if=/dev/urandom of="$tmp/k.db" bs=4096 seek=20 count=4 conv=notrunc 2>/dev/null
"$bin/tl-store" --check -d "$tmp/k.db" 2>/dev/null
[ $? -ne 0 ]
ok $? '--check sees damage'

mkfifo "$tmp/late"
"$bin/tl-store" -d "$tmp/gone.db" "$tmp/late" >"$tmp/out" 2>"$tmp/err" &
pid=$!
exec 3>"$tmp/late"
sed -n 1,5p "$tmp/a" >&3
wait_for 5
rm "$tmp/gone.db"
sed -n 6,10p "$tmp/a" >&3
exec 3>&-
wait $pid
[ $? -eq 3 ] && [ "$(wc -l <"$tmp/out")" -eq 5 ] && grep -q 'cannot write the database .*gone.db: its file was moved or removed meanwhile' "$tmp/err"
ok $? 'a file that is removed meanwhile is told, and nothing of it is passed on' || sed 's/^/# /' "$tmp/err"

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
	[ "$(sqlite3 "$tmp/nothing.db" 'PRAGMA user_version')" -eq 3 ]
ok $? 'a reader makes a database of an empty file'
cp "$tmp/plain.db" "$tmp/other.db"
sqlite3 "$tmp/other.db" 'UPDATE tallies SET results = results + 1 WHERE workload = 2 AND status = "ok"'
"$bin/tl-store" --check -d "$tmp/other.db" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'the tallies of workload [0-9a-f]* are not those of its results' "$tmp/err"
ok $? '--check counts again'
sqlite3 "$tmp/other.db" 'PRAGMA user_version = 99'
"$bin/tl-store" -q -d "$tmp/other.db" "$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'made by a newer version' "$tmp/err"
ok $? 'a newer one is left alone'
"$bin/tl-store" -q -d "$tmp/later.db" /dev/null && plain "$tmp/later.db"
"$bin/tl-store" -d "$tmp/later.db" "$tmp/fifo" >"$tmp/out" 2>"$tmp/err" &
pid=$!
exec 3>"$tmp/fifo"
sed -n 1,5p "$tmp/a" >&3
wait_for 5
sqlite3 "$tmp/later.db" 'PRAGMA user_version = 99'
sed -n 6,10p "$tmp/a" >&3
exec 3>&-
wait $pid
[ $? -eq 3 ] && grep -q 'made by a newer version' "$tmp/err" && [ "$(wc -l <"$tmp/out")" -eq 5 ]
ok $? 'even when it becomes newer meanwhile'

# Where

TL_DB="$tmp/env.db" "$bin/tl-store" -q "$tmp/a" && [ -s "$tmp/env.db" ]
ok $? 'TL_DB names the database'
XDG_DATA_HOME="$tmp/data" "$bin/tl-store" -q "$tmp/a" && [ -s "$tmp/data/tl/tl.db" ]
ok $? 'else it is in XDG_DATA_HOME'
XDG_DATA_HOME='' HOME="$tmp/home" "$bin/tl-store" -q "$tmp/a" && [ -s "$tmp/home/.local/share/tl/tl.db" ]
ok $? 'else below HOME'
XDG_DATA_HOME=/dev/null "$bin/tl-store" -q "$tmp/a" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'no place for the database, which -d may name: cannot make the folder /dev/null/tl: ' "$tmp/err"
ok $? 'a home that takes none: how another is named is told'

echo "1..$n"
