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

echo "1..$n"
