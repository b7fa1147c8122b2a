#!/bin/sh
# Eight tl-store at once, killed at random moments and begun again: the database is sound, holds whatever was passed on,
# and answers and counts as brute force does over its dump.
#
# TL_TEST_RECORDS (1500) is how many records each writer has; 20000 takes about 20 seconds.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB
records=${TL_TEST_RECORDS:-1500}

# Writers 1 and 2, 3 and 4, ... have results of the same keys, of which those of the later day are to be kept.
for w in 1 2 3 4 5 6 7 8; do
	awk -v n=$((records / 3)) -v run="run$(((w + 1) / 2))" -v env="e$(((w + 1) / 2 % 2 + 1))000000000000000000000000000000" -v seed=$w -v day=$((10 + w * 7 % 8)) \
		-f "$here/results.awk" "$here/workloads.ndjson" | perl "$here/store-many.pl" spoil $w >"$tmp/in$w"
done

began=$(date +%s)
perl "$here/store-many.pl" write "$bin" "$tmp/tl.db" 10 "$tmp"/in?
ok $? 'eight writers, killed ten times each'
echo "# $(($(date +%s) - began)) s; longest wait for another writer: $(sed -n 's/.*waited \([0-9.]*\) s.*/\1/p' "$tmp"/*.err.* | sort -g | tail -n 1) s"

"$bin/tl-store" --check -d "$tmp/tl.db"
ok $? 'the database is sound'
[ "$(sqlite3 "$tmp/tl.db" 'PRAGMA integrity_check')" = ok ]
ok $? 'sqlite3 finds it so, too'
"$bin/tl-query" -d "$tmp/tl.db" --dump=all >"$tmp/dump"
perl "$here/store-many.pl" check "$tmp/dump" "$tmp"/in[1-6] -- "$tmp"/in[78] -- "$tmp"/in?.acked.[0-9] >"$tmp/tap"
pass_on "$tmp/tap"
perl "$here/store-many.pl" recount "$bin" "$tmp/tl.db" "$here/workloads.ndjson" "$tmp/dump" >"$tmp/tap"
pass_on "$tmp/tap"

# Writers that write on

uri=$tmp/on.db
harm() { kill_writer "$1"; }
# shellcheck source=tests/writers.sh
. "$here/writers.sh"

echo "1..$n"
