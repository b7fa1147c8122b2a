#!/bin/sh
# ONEDNN=FOLDER: another oneDNN than the system's, and all is built anew when it becomes another.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh
unset ONEDNN MAKEFLAGS MFLAGS SAN

folder=$tmp/onednn
mkdir -p "$folder/include" "$folder/lib" "$tmp/tree"
touch "$folder/include/dnnl.h" "$folder/lib/libdnnl.so"
ONEDNN=$folder sh share/configure.sh >"$tmp/out" && grep -qx "INCLUDE_onednn := -I$folder/include" "$tmp/out" &&
	grep -q "^LIBS_onednn := -L$folder/lib -Wl,-rpath,$folder/lib -ldnnl" "$tmp/out"
ok $? 'it is compiled with, linked with, and found at run time'
sh share/configure.sh >"$tmp/out" && grep -qx 'INCLUDE_onednn := ' "$tmp/out" && ! grep -q "$folder" "$tmp/out"
ok $? "without it, the system's"
ONEDNN=$tmp/tree sh share/configure.sh >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/out" ] && grep -q "ONEDNN=$tmp/tree has no " "$tmp/err"
ok $? 'a folder that has none is told'

mkdir "$tmp/path" && printf '#!/bin/sh\nexit 1\n' >"$tmp/path/pkg-config" && chmod +x "$tmp/path/pkg-config"
PATH=$tmp/path:$PATH sh share/configure.sh >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/out" ] && grep -q 'missing:.* hdf5.h.*make deps' "$tmp/err"
ok $? 'a library that is not here is named'

# In a tree of its own, that the tests' one stays as it is
cp -r Makefile share "$tmp/tree"
config() { # how config.mk is made: is it another one then?
	stat -c %y "$tmp/tree/config.mk" >"$tmp/was" 2>&1
	make -s -C "$tmp/tree" config.mk "$@" >/dev/null 2>"$tmp/err" || return 2
	! stat -c %y "$tmp/tree/config.mk" | cmp -s - "$tmp/was"
}
config && ! config
ok $? 'config.mk is made once'
config ONEDNN="$folder" && grep -q -- "-L$folder/lib" "$tmp/tree/config.mk" && ! config ONEDNN="$folder/../onednn/"
ok $? 'again for another oneDNN, and once for that'
! config ONEDNN="$tmp/tree" && grep -q "ONEDNN=$tmp/tree has no " "$tmp/err" && grep -q -- "-L$folder/lib" "$tmp/tree/config.mk"
ok $? 'not for a folder that has none'
config && ! grep -q "$folder" "$tmp/tree/config.mk"
ok $? "and again for the system's"
cp "$tmp/tree/config.mk" "$tmp/was"
make -n -C "$tmp/tree" bench-kernels ONEDNN="$folder" >"$tmp/out" 2>&1 && grep -q "BIN='build/onednn/bin'" "$tmp/out" &&
	cmp -s "$tmp/was" "$tmp/tree/config.mk" && grep -q -- "-L$folder/lib" "$tmp/tree/build/onednn/config.mk"
ok $? 'a bench with another oneDNN has a build of its own'
echo "1..$n"
