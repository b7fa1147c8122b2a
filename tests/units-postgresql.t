#!/bin/sh
# Units of work (tl-store --open, --claim, --renew, --release), with PostgreSQL.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/postgresql.sh
. "$(dirname "$0")/postgresql.sh"
unset TL_DB
pg_begin_or_skip
# shellcheck source=tests/units-rules.sh
. "$here/units-rules.sh"

echo "1..$n"
