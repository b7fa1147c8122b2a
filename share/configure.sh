#!/bin/sh
# Prints config.mk: how to link the libraries that are here. oneDNN 2.x and 3.x both serve.
# Without a compiler or a header there is no config.mk, but a sentence that says what is missing.
set -eu
cc=${CC:-cc}

command -v "$cc" >/dev/null || {
	echo "configure: there is no C compiler ($cc); \`make deps\` installs what is missing" >&2
	exit 1
}
missing=
for header in archive.h csv.h dnnl.h jsmn.h nettle/sha2.h sqlite3.h xgboost/c_api.h; do
	echo "#include <$header>" | $cc -E -o /dev/null - 2>/dev/null || missing="$missing $header"
done
[ -z "$missing" ] || {
	echo "configure: missing:$missing; \`make deps\` installs what is missing" >&2
	exit 1
}

libs() { pkg-config --libs "$1" 2>/dev/null || echo "$2"; }
cat <<EOF
# Made by share/configure.sh.
LIBS := $(libs libarchive -larchive) -lcsv $(libs nettle -lnettle) $(libs sqlite3 -lsqlite3) -lm
LIBS_ref := $(libs dnnl -ldnnl) -ldl
EOF
