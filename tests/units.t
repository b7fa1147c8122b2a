#!/bin/sh
# Units of work (tl-store --open, --claim, --renew, --release), in a file.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/sqlite.sh
. "$(dirname "$0")/sqlite.sh"
unset TL_DB
# shellcheck source=tests/units-rules.sh
. "$here/units-rules.sh"

# A database that a version without units made, which only a writer changes

sqlite3 "$(db units)" .dump | sed '/units\|choices/d' | sqlite3 "$tmp/old.db" && sqlite3 "$tmp/old.db" "PRAGMA user_version = 1; PRAGMA application_id = $((0x544c6462))"
"$bin/tl-query" -d "$tmp/old.db" --fleet >"$tmp/out" && grep -q '"units":\[\],"holders":\[\]' "$tmp/out" && [ "$(sqlite3 "$tmp/old.db" 'PRAGMA user_version')" -eq 1 ]
ok $? 'a reader finds no units in an older database'
"$bin/tl-store" -q -d "$tmp/old.db" --open --env any "$here/workloads.ndjson" && [ "$(sqlite3 "$tmp/old.db" 'PRAGMA user_version')" -eq 3 ] &&
	[ "$("$bin/tl-query" -d "$tmp/old.db" --fleet | jq .units[0].open)" -eq "$workloads" ]
ok $? 'and a writer makes room for them'

echo "1..$n"
