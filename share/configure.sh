#!/bin/sh
# Prints config.mk: how to link the libraries that are here. oneDNN 2.x and 3.x both serve: the system's; or, with ONEDNN=FOLDER,
# the one that has its include/ and lib/ there, where programs then find it when they run.
# Without a compiler or a header there is no config.mk, but a sentence that says what is missing.
set -eu
cc=${CC:-cc}
onednn=${ONEDNN:-}

command -v "$cc" >/dev/null || {
	echo "configure: there is no C compiler ($cc); \`make deps\` installs what is missing" >&2
	exit 1
}

libs() { pkg-config --libs "$1" 2>/dev/null || echo "$2"; }
if [ -n "$onednn" ]; then
	lib=
	for folder in lib/x86_64-linux-gnu lib64 lib; do
		[ ! -e "$onednn/$folder/libdnnl.so" ] || lib=$onednn/$folder
	done
	[ -n "$lib" ] && [ -e "$onednn/include/dnnl.h" ] || {
		echo "configure: ONEDNN=$onednn has no include/dnnl.h or no lib/libdnnl.so" >&2
		exit 1
	}
	include=-I$onednn/include
	libs_onednn="-L$lib -Wl,-rpath,$lib -ldnnl"
else
	include=
	libs_onednn=$(libs dnnl -ldnnl)
fi

hdf5=$(pkg-config --cflags hdf5 2>/dev/null) || hdf5=
pq=$(pkg-config --cflags libpq 2>/dev/null) || pq=
missing=
for header in archive.h csv.h dnnl.h expat.h hdf5.h jsmn.h libpq-fe.h nettle/sha2.h sqlite3.h xgboost/c_api.h; do
	echo "#include <$header>" | $cc $include $hdf5 $pq -E -o /dev/null - 2>/dev/null || missing="$missing $header"
done
[ -z "$missing" ] || {
	echo "configure: missing:$missing; \`make deps\` installs what is missing" >&2
	exit 1
}

# Fuzzing needs clang with libFuzzer; without it there is none.
fuzz_cc=clang
echo 'int LLVMFuzzerTestOneInput(const char *s, unsigned long n) { return n && !s; }' |
	$fuzz_cc -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null || fuzz_cc=

# Tests are many programs, which gold links in half the time.
fast=-fuse-ld=gold
echo 'int main(void) { return 0; }' | $cc $fast -x c -o /dev/null - 2>/dev/null || fast=

cat <<EOF
# Made by share/configure.sh.
ONEDNN_HERE := $onednn
LIBS := $(libs libarchive -larchive) -lcsv $(libs expat -lexpat) $(libs nettle -lnettle) $(libs sqlite3 -lsqlite3) -lm
INCLUDE_onednn := $include
LIBS_onednn := $libs_onednn -ldl
INCLUDE_hdf5 := $hdf5
LIBS_hdf5 := $(libs hdf5 -lhdf5)
INCLUDE_pq := $pq
FUZZ_CC := $fuzz_cc
LINK_FAST := $fast
EOF
