#!/bin/sh
# The build cache as tl-measure's user meets it: a full disk, a bound, a death among compilers.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB TL_CC TL_CACHE_SIZE
export TL_CACHE="$tmp/cache"

printf 'op,prob,layout\nconv2d,mb1_ic8ih9_oc16oh9_kh3ph1,nhwc\nmatmul,12x20:20x24,ab\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w"
"$bin/tl-gen" -n 12 "$tmp/w" >"$tmp/c"

# A disk with room for the canary, and not for kernels. A name space of our own lets anyone mount one.
mkdir "$tmp/disk"
if unshare -rm mount -t tmpfs -o size=64k tmpfs "$tmp/disk" 2>/dev/null; then
	# shellcheck disable=SC2016 # for the inner shell
	unshare -rm sh -c 'mount -t tmpfs -o size=64k tmpfs "$1" && TL_CACHE=$1 "$2" "$3"' sh \
		"$tmp/disk" "$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q 'No space left' "$tmp/err" && ! grep -q '"type":"result"' "$tmp/out"
	ok $? 'the disk of the cache is full: exit 3, told, and no candidate is blamed'
else
	skip 'the disk of the cache is full: cannot mount one here'
fi

# A folder that others may write to, and what was put there. tl-run loads objects itself.

run() {
	"$bin/tl-run" -q --no-db -m none -t 1 -i "$here/run/rows.npz" -c "$here/run/rows.npz" "$here/run/rows.onnx" >"$tmp/out" 2>"$tmp/err"
}
run
ok $? 'tl-run builds and loads its objects'
TL_CACHE='' XDG_CACHE_HOME=/dev/null run
[ $? -eq 3 ] && grep -q 'no place for compiled kernels, which TL_CACHE may name: cannot make the folder /dev/null/tl: ' "$tmp/err"
ok $? 'a home that takes none: how another is named is told'
cat >"$tmp/planted.c" <<END
#include <fcntl.h>
__attribute__((constructor)) static void planted(void) { creat("$tmp/planted", 0666); }
END
cc -shared -fPIC "$tmp/planted.c" -o "$tmp/planted.so"
for object in "$TL_CACHE"/objects/*.so; do
	rm "$object"
	cp "$tmp/planted.so" "$object"
done
run && [ ! -e "$tmp/planted" ]
ok $? 'objects that it did not build are not loaded'
for object in "$TL_CACHE"/objects/*.so; do
	printf 'X' | dd of="$object" bs=1 seek=5000 conv=notrunc 2>/dev/null
done
run
ok $? 'nor are damaged ones'
# Flipped bits: TL_TEST_FLIPS of them in each object, by default one in each of the first three.
for object in $(find "$TL_CACHE/objects" -name '*.so' | sort | if [ "$TL_TEST_FLIPS" ]; then cat; else head -n 3; fi); do
	perl "$here/flip.pl" -n "${TL_TEST_FLIPS:-1}" "$object" "$bin/tl-run -q --no-db -m none -t 1 -i $here/run/rows.npz -o $tmp/rows.npz $here/run/rows.onnx && cat $tmp/rows.npz" || break
	flipped=$object
done
[ "$flipped" = "$object" ]
ok $? 'no flipped bit of an object changes what a model computes'
for folder in "$TL_CACHE" "$TL_CACHE/objects"; do
	chmod 777 "$folder"
	run
	[ $? -eq 3 ] && grep -q "^tl-run: other users may write to the folder $folder " "$tmp/err" || break
	"$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q "^tl-measure: other users may write to the folder $folder " "$tmp/err" || break
	chmod 700 "$folder"
done
[ "$(stat -c %a "$TL_CACHE/objects")" = 700 ] && run
ok $? 'a folder that others may write to is refused with the reason' || sed 's/^/# /' "$tmp/err"
chmod 700 "$TL_CACHE" "$TL_CACHE/objects"

# The bound

for size in lots -1 1.5G 10GB; do
	TL_CACHE_SIZE=$size "$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q "TL_CACHE_SIZE is \"$size\"" "$tmp/err" || break
done
[ "$size" = 10GB ]
ok $? 'a size that is none: exit 2'
TL_CACHE_SIZE=1 "$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && ! grep -q '"status":"\(build\|crash\)"' "$tmp/out" && grep -q '"status":"ok"' "$tmp/out"
ok $? 'a run has its objects, however small the bound'
[ -z "$(find "$TL_CACHE/objects" -name '*.so')" ]
ok $? 'and leaves what the bound allows'
TL_CACHE_SIZE=20M "$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err" &&
	[ "$(find "$TL_CACHE/objects" -name '*.so' | wc -l)" -ge 4 ]
ok $? 'which may be all of them'

# Folders that had other files

mkdir "$tmp/other" "$tmp/other/objects"
chmod 700 "$tmp/other" "$tmp/other/objects"
echo 'int main(void) { return 0; }' >"$tmp/other/objects/mine.c"
TL_CACHE=$tmp/other TL_CACHE_SIZE=1 "$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err" && grep -q '"status":"ok"' "$tmp/out" &&
	[ -e "$tmp/other/objects/mine.c" ] && [ -n "$(find "$tmp/other/objects" -name '*.so')" ]
ok $? 'a folder that had other files is used, and nothing is removed from it'
TL_CACHE=$tmp/other "$bin/tl-doctor" --noise=0 >"$tmp/out" 2>"$tmp/err"
grep -q 'no mark of ours (CACHEDIR.TAG)' "$tmp/out" && "$bin/tl-doctor" --noise=0 >"$tmp/out" 2>"$tmp/err" && ! grep -q 'no mark' "$tmp/out"
ok $? 'which tl-doctor tells'

# A compiler that is killed for memory is no fault of the kernel's.
cat >"$tmp/starved" <<END
#!/bin/sh
case \$* in *batch-*) rmdir "$tmp"/tickets/a 2>/dev/null || rmdir "$tmp"/tickets/b 2>/dev/null && kill -9 \$\$ ;; esac
exec cc "\$@"
END
chmod +x "$tmp/starved"
starved() { # a candidate's line among those of gemm; tickets, with which a compiler is killed
	{ cat "$tmp/w"; grep '"algo":"gemm"' "$tmp/c" | sed -n "$1p"; grep '"type":"end"' "$tmp/c" | tail -n 1; } >"$tmp/one"
	shift
	mkdir -p "$tmp/tickets"
	for ticket; do mkdir "$tmp/tickets/$ticket"; done
	TL_CACHE=$tmp/hungry TL_CC="$tmp/starved" "$bin/tl-measure" -q --final=0 "$tmp/one" >"$tmp/out" 2>"$tmp/err" && rmdir "$tmp/tickets"
}
starved 1 a && grep -q '"status":"ok".*"stage":"race"' "$tmp/out"
ok $? 'a compiler that is killed has another chance' || sed 's/^/# /' "$tmp/out" "$tmp/err"
starved 2 a b && grep -q '"status":"oom","why":"the compiler ended with status 137"' "$tmp/out" && "$bin/tl-check" -q "$tmp/out"
ok $? 'and twice in a row is want of memory' || sed 's/^/# /' "$tmp/out" "$tmp/err"

# Death. The compiler's processes hold a lock while they live, and take their time.
cat >"$tmp/cc" <<END
#!/bin/sh
exec 9>>"$tmp/alive"
flock -s 9
case \$* in *batch-*) sleep 30 & echo >"$tmp/compiling"; sleep 30 ;; esac
exec cc "\$@"
END
chmod +x "$tmp/cc"
for sig in KILL TERM; do
	rm -f "$tmp/compiling"
	TL_CC="$tmp/cc" "$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>/dev/null &
	pid=$!
	i=0
	while [ ! -e "$tmp/compiling" ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i + 1)); done
	kill -$sig $pid
	wait $pid 2>/dev/null
	[ -e "$tmp/compiling" ] && flock -w 10 "$tmp/alive" true
	ok $? "$sig while it compiles: no compiler is left"
done
"$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err" && grep -q '"status":"ok"' "$tmp/out" &&
	[ -z "$(find "$TL_CACHE/objects" -type f ! -name '*.so' ! -name '*.truth' ! -name lock ! -name CACHEDIR.TAG)" ]
ok $? 'and the next run clears up'
echo "1..$n"
