#!/bin/sh
# tl-store without room: on a full disk, and where a file may not grow. It says so, ends with 3, and what was passed on
# is there; with room again it goes on. And what a killed writer left half written: who may not mend it is told so.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB

skip() { # names
	why=$1
	shift
	for name; do
		n=$((n + 1))
		echo "ok $n - $name # SKIP $why"
	done
}

# Prints the results that were passed on and are not in the database; the last line may be half written.
lost() { # passed-on database
	"$bin/tl-query" -d "$2" --dump=results | sort >"$tmp/have"
	sed '$d' "$1" | grep '"type":"result"' | sort | comm -23 - "$tmp/have"
}

awk -v n=3000 -f "$here/results.awk" "$here/workloads.ndjson" >"$tmp/in"
whole=$(grep -c '"type":"result"' "$tmp/in")

# A first part, which has room and is waited for; then the rest.
cat >"$tmp/feed.sh" <<'EOF'
head -n 500 "$1"
turns=0
until [ -s "$2" ] || [ $((turns += 1)) -gt 3000 ]; do sleep 0.02; done
tail -n +501 "$1"
EOF
feed="sh $tmp/feed.sh $tmp/in $tmp/out"

# A file that may not grow: units of 512 bytes.

{
	$feed | (
		ulimit -f 4000
		exec "$bin/tl-store" -v -d "$tmp/limit.db" 2>&3
	)
	echo $? >"$tmp/status"
} 3>"$tmp/err" | cat >"$tmp/out"
[ "$(cat "$tmp/status")" -eq 3 ] && grep -q "cannot write the database $tmp/limit.db: .*File too large" "$tmp/err"
ok $? "a file that may not grow: $(head -n 1 "$tmp/err")"
new=$(sed -n 's/^tl-store: \([0-9]*\) new,.*/\1/p' "$tmp/err")
[ "$new" -gt 0 ] && [ "$new" -le "$("$bin/tl-query" -d "$tmp/limit.db" --dump=all | wc -l)" ]
ok $? "it counts what was committed: $new"
[ "$(wc -l <"$tmp/out")" -gt 100 ] && [ -z "$(lost "$tmp/out" "$tmp/limit.db")" ]
ok $? "the $(wc -l <"$tmp/out") records that were passed on are stored"
"$bin/tl-store" --check -d "$tmp/limit.db"
ok $? 'the database is sound'
"$bin/tl-store" -q -d "$tmp/limit.db" "$tmp/in" && [ "$("$bin/tl-query" -d "$tmp/limit.db" --dump=results | wc -l)" -eq "$whole" ]
ok $? 'and takes all where it may grow'

# A full disk: a small tmpfs in a mount namespace of its own.

cat >"$tmp/full.sh" <<'EOF'
small=$1/small
mount -t tmpfs -o size=3m none "$small" || exit 77
touch "$1/mounted"
$2 | { "$3/tl-store" -d "$small/tl.db" 2>"$1/err"; echo $? >"$1/status"; } >"$1/out"
df -P "$small" | tail -n 1 >"$1/df"
"$3/tl-store" --check -d "$small/tl.db" 2>"$1/check" && echo sound >"$1/check"
"$3/tl-query" -d "$small/tl.db" --dump=results >"$1/dump"
mount -o remount,size=64m none "$small"
"$3/tl-store" -q -d "$small/tl.db" "$1/in" && "$3/tl-query" -d "$small/tl.db" --dump=results | wc -l >"$1/whole"
EOF
mkdir "$tmp/small"
if [ "$(id -u)" -eq 0 ]; then
	unshare -m sh "$tmp/full.sh" "$tmp" "$feed" "$bin" 2>/dev/null
else
	unshare -rm sh "$tmp/full.sh" "$tmp" "$feed" "$bin" 2>/dev/null
fi
if [ -e "$tmp/mounted" ]; then
	[ "$(cat "$tmp/status")" -eq 3 ] && grep -q "cannot write the database .*/tl.db: database or disk is full" "$tmp/err"
	ok $? "a full disk: $(cat "$tmp/err")"
	sort "$tmp/dump" >"$tmp/have"
	[ "$(wc -l <"$tmp/out")" -gt 100 ] &&
		[ -z "$(sed '$d' "$tmp/out" | grep '"type":"result"' | sort | comm -23 - "$tmp/have")" ]
	ok $? "the $(wc -l <"$tmp/out") records that were passed on are stored"
	[ "$(cat "$tmp/check")" = sound ]
	ok $? 'the database is sound, and can be read while the disk is full'
	[ "$(cat "$tmp/whole")" -eq "$whole" ]
	ok $? 'and takes all where there is room'
else
	skip 'no file system can be mounted here' 'a full disk' 'what was passed on is stored' 'the database is sound' \
		'and takes all where there is room'
fi

# Killed between the first write to the database and the end of the commit: the journal brings back what was.

hot() { # folder
	mkdir "$1" && cp "$tmp/before.db" "$1/tl.db"
	# shellcheck disable=SC2016
	sqlite3 "$1/tl.db" 'PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 5; BEGIN;' \
		"UPDATE records SET record = 'lost'; UPDATE results SET status = 'wrong';" '.shell kill -9 $PPID' >/dev/null 2>&1
	[ -s "$1/tl.db-journal" ] && ! cmp -s "$tmp/before.db" "$1/tl.db"
}

"$bin/tl-store" -q -d "$tmp/before.db" "$tmp/in"
"$bin/tl-query" -d "$tmp/before.db" --dump=all >"$tmp/before"
hot "$tmp/hot" 2>/dev/null
ok $? 'a writer is killed in the middle of its commit'
"$bin/tl-query" -d "$tmp/hot/tl.db" --dump=all | cmp -s - "$tmp/before"
ok $? 'a reader finds what was committed before'
if [ "$(id -u)" -eq 0 ]; then
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
else
	as=
fi
hot "$tmp/shut" 2>/dev/null
chmod 755 "$tmp" && chmod 644 "$tmp/shut"/* && chmod 555 "$tmp/shut"
if [ -z "$as" ]; then chmod 444 "$tmp/shut"/*; fi
cp "$tmp/shut/tl.db" "$tmp/copy"
if $as "$bin/tl-query" --help >/dev/null 2>&1 && $as test -r "$tmp/shut/tl.db"; then
	$as "$bin/tl-query" -d "$tmp/shut/tl.db" --dump=all >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q 'left half written by a writer that was killed' "$tmp/err"
	ok $? "a reader who may not write is told so: $(cat "$tmp/err")"
	cmp -s "$tmp/copy" "$tmp/shut/tl.db" && [ -s "$tmp/shut/tl.db-journal" ]
	ok $? 'and changes nothing'
	chmod 755 "$tmp/shut" && chmod 644 "$tmp/shut"/*
	"$bin/tl-query" -d "$tmp/shut/tl.db" --dump=all | cmp -s - "$tmp/before"
	ok $? 'the owner brings back what was committed before'
	chmod 555 "$tmp/shut"
	$as "$bin/tl-query" -d "$tmp/shut/tl.db" --dump=all | cmp -s - "$tmp/before"
	ok $? 'and then it can be read without writing'
	chmod 755 "$tmp/shut"
else
	skip 'an ordinary user cannot run the programs, or not reach the folder' 'a reader who may not write is told so' 'and changes nothing' \
		'the owner brings back what was committed before' 'and then it can be read without writing'
fi

echo "1..$n"
