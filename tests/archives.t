#!/bin/sh
# tl-extract: archives within archives, folders, bombs, and several inputs at once.
bin=${BIN:-bin}
here=$(dirname "$0")
root=$(cd "$here/.." && pwd)
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
models=$root/share/models

extract() { # arguments: records to out, what was said to err
	"$bin/tl-extract" "$@" >"$tmp/out" 2>"$tmp/err"
}

cd "$tmp" || exit 1
mkdir one two
cp "$root/tests/run/rows.onnx" one/rows.onnx
cp "$root/tests/run/cnn.onnx" two/cnn.onnx
"$bin/tl-extract" -q one/rows.onnx two/cnn.onnx >both.wl

# Archives within archives: zip in tar, compressed files, tar in zip; through a pipe, too.
(cd one && zip -q ../rows.zip rows.onnx)
gzip -c two/cnn.onnx >cnn.onnx.gz
tar -cf inner.tar rows.zip cnn.onnx.gz
zip -q outer.zip inner.tar
zstd -q outer.zip
for f in inner.tar outer.zip outer.zip.zst; do
	extract -q "$f" && cmp -s out both.wl && [ ! -s err ]
	ok $? "$f: the same as its models"
	# shellcheck disable=SC2002 # it is to be a pipe
	cat "$f" | "$bin/tl-extract" -q | cmp -s - both.wl
	ok $? "$f: through a pipe, too"
done

# What is inside of a compressed file has no name of its own, and is not taken for an archive by that of the file.
xz --format=lzma -kc one/rows.onnx >rows.onnx.lzma
extract -q rows.onnx.lzma && [ -s out ] && [ ! -s err ]
ok $? 'a model in an old form of xz'
mkdir junk && cp one/rows.onnx junk && seq 100 >junk/a.tar
extract -q junk && [ -s out ]
ok $? 'a file that is called an archive, and is none, is passed over'

# What goes wrong inside is said with all names, and the others go on.
head -c 3000 one/rows.onnx >bad.onnx
zip -q bad.zip bad.onnx
tar -cf some.tar bad.zip rows.zip
extract some.tar
[ $? -eq 3 ] && grep -q 'some.tar: bad.zip: bad.onnx: it is cut off' err && grep -q '"rows:' out
ok $? 'a bad member of an inner archive is named, and the next archive is read'
head -c 4000 rows.zip >cut.zip
tar -cf cut.tar cut.zip rows.zip
extract cut.tar
[ $? -eq 3 ] && [ "$(grep -c cut.zip err)" -eq 1 ] && grep -q 'cut.tar: cut.zip: ' err && grep -q '"rows:' out
ok $? 'so is an inner archive that is cut off, once'
head -c 12000 inner.tar >short.tar
extract short.tar
[ $? -eq 3 ] && [ "$(grep -c 'cannot be read\|cut off' err)" -eq 1 ]
ok $? 'the end of the outer archive within an inner one is told once'

cp rows.zip deep.zip
for i in 1 2 3; do
	mv deep.zip "in$i.zip" && zip -q deep.zip "in$i.zip"
done
extract -q deep.zip && [ -s out ]
ok $? 'archives may be nested four deep'
mv deep.zip in4.zip && cp in4.zip in5.zip && zip -q deep.zip in4.zip in5.zip one/rows.onnx
extract deep.zip
[ $? -eq 3 ] && [ "$(grep -c 'nested more than 4 deep' err)" -eq 1 ] && grep -q '"rows:' out
ok $? 'no deeper, which is said once; what lies higher is read'

# A name that says nothing gives way to that of the archive around it.
mkdir net && cp one/rows.onnx net/model.onnx
(cd net && zip -q ../kept.zip model.onnx)
tar -cf hub.tar kept.zip
extract -q hub.tar && grep -q '"source":\["kept:' out
ok $? 'a model without a name of its own is called as the archive next to it'

# Files with two names, of which tar writes the second as a link.
ln one/rows.onnx net/again.onnx
tar -cf links.tar one/rows.onnx net/again.onnx
extract links.tar
[ $? -eq 0 ] && [ "$(grep -c 'operators extracted' err)" -eq 1 ] && grep -q '"source":\["rows:' out
ok $? 'a hard link in an archive is no file of its own'

# Folders, as model hubs lay them out.
mkdir -p hub/b/onnx hub/a hub/.git
cp one/rows.onnx hub/b/onnx/model.onnx
cp two/cnn.onnx hub/b/onnx/model_quantized.onnx
cp rows.zip hub/a/rows.zip
cp two/cnn.onnx hub/.git/hidden.onnx
cp two/cnn.onnx hub/a/.hidden.onnx
printf '# A model\n' >hub/README.md
head -c 100000 /dev/zero >hub/b/pytorch_model.bin
ln -s .. hub/b/up
ln -s ../../two/cnn.onnx hub/a/link.onnx
ln -s nowhere hub/a/broken
extract hub
[ $? -eq 0 ] && [ "$(sed -n 's/^tl-extract: \([^:]*\): [0-9]* operators extracted.*/\1/p' err | tr '\n' ' ')" = 'link rows b model_quantized ' ]
ok $? 'a folder: its files in sorted order, links too, in no circle, nothing hidden'
(cd hub && "$bin/tl-extract" -q .) | cmp -s - out && [ -s out ]
ok $? 'the current folder'
chmod 0 hub/a/rows.zip
if [ -r hub/a/rows.zip ]; then
	skip 'a file of a folder that may not be read: this user may read all'
else
	extract hub
	[ $? -eq 3 ] && [ "$(grep -c 'hub/a/rows.zip: it cannot be opened' err)" -eq 1 ] && grep -q 'b: 6 operators' err
	ok $? 'a file of a folder that may not be read is named, and the others are'
fi
mkdir empty
extract empty
[ $? -eq 3 ] && grep -q 'empty: it is empty' err
ok $? 'a folder without models is refused'
"$bin/tl-run" hub >out 2>err
[ $? -eq 3 ] && grep -q 'hub: it is a folder, not a file' err
ok $? 'a program that wants one model wants no folder'

# What no reader knows is passed over without reading on.
truncate -s 3G hub/b/weights.bin
extract -q hub/b && [ -s out ]
ok $? 'weights in a folder are passed over'

# Bombs. A model of zeros is none.
extract -q "$models/vgg16.tar.gz" && [ -s out ]
ok $? 'weights of zeros, which shrink a thousandfold, are no bomb'
extract --max-bytes=1M "$models/vgg16.tar.gz" rows.zip
[ $? -eq 3 ] && [ "$(wc -l <err)" -eq 3 ] && grep -q 'vgg16.onnx: more than 1000000 bytes are unpacked' err && grep -q '"rows:' out
ok $? '--max-bytes refuses an input in one sentence, and the others go on'
truncate -s 5G zeros.bin
tar -cSf sparse.tar zeros.bin one/rows.onnx
extract sparse.tar
[ $? -eq 0 ] && grep -q '"rows:' out
ok $? 'a hole that is passed over costs nothing'
# Frames of zstd one behind the other are one file: 64 MB of zeros are packed once, and not 5 GB twice.
tar -cf - zeros.bin 2>/dev/null | head -c 512 | zstd -q >bomb.tar.zst
rm zeros.bin
head -c 67108864 /dev/zero | zstd -q -1 >frame.zst
for i in $(seq 80); do cat frame.zst; done >zeros.zst
cp one/rows.onnx z.onnx
tar -cf zeros.tar zeros.zst z.onnx
extract zeros.tar
[ $? -eq 0 ] && grep -q '"z:' out
ok $? 'nor does a compressed file of 5 GB in which nothing is'
cat zeros.zst >>bomb.tar.zst
tar -cf - one/rows.onnx | zstd -q >>bomb.tar.zst
extract bomb.tar.zst rows.zip
[ $? -eq 3 ] && [ "$(grep -c bomb err)" -eq 1 ] && grep -q 'bomb.tar.zst: it unpacks to more than 4294967296 bytes' err && grep -q '"rows:' out
ok $? 'an archive that unpacks to many times its size is refused in one sentence'
extract -q --max-bytes=10G bomb.tar.zst && grep -q '"rows:' out
ok $? 'unless --max-bytes allows it'

# Several inputs at once: the same records, tables and sentences, in the order of the inputs.
set -- "$models"/*.zip "$models"/resnet*.tar.* two/cnn.onnx nowhere.onnx bad.onnx hub both.wl "$root"/tests/logs/*.log some.tar
for how in '' '--ops all' --list --dot '--shape input:2,3,224,224 --dim nothing=3'; do
	# shellcheck disable=SC2086 # words
	"$bin/tl-extract" $how -j 1 "$@" >one.out 2>one.err
	first=$?
	# shellcheck disable=SC2086
	"$bin/tl-extract" $how -j 5 "$@" >five.out 2>five.err
	[ $first -eq $? ] && [ $first -eq 3 ] && cmp -s one.out five.out && cmp -s one.err five.err
	ok $? "five at once give the same as one after the other ${how:+with }$how"
done
mkfifo pipe
gzip -c one/rows.onnx >pipe &
"$bin/tl-extract" -q -j 3 two/cnn.onnx pipe - <cnn.onnx.gz >piped.wl
[ $? -eq 0 ] && "$bin/tl-extract" -q two/cnn.onnx one/rows.onnx | sed 's/"rows:/"pipe:/g' | cmp -s - piped.wl
ok $? 'pipes among them'
extract --jobs=257 rows.zip
[ $? -eq 2 ] && grep -q -e '--jobs is 257' err
ok $? 'not more than 256 at once'

# A link that cannot be followed is told; one to nothing is passed over.
mkdir ties && cp two/cnn.onnx ties/reg.onnx && ln -s nowhere ties/b.onnx && "$bin/tl-extract" -q ties >out 2>err
[ $? -eq 0 ] && [ ! -s err ] && ln -s reg.onnx/x ties/a.onnx && extract ties
[ $? -eq 3 ] && grep -q 'ties/a.onnx: it cannot be opened: Not a directory' err
ok $? 'a link through a file is told'

# A command line has 128 options at most, and one that has no "=" is no option of benchdnn.
{ printf './bin/MIOpenDriver conv'; awk 'BEGIN { for (i = 0; i < 130; i++) printf " --x%d 1", i }'; echo ' -n 4 -c 16 -H 14 -W 14 -k 16 -y 3 -x 3'; } >long.log
"$bin/tl-extract" -q --list long.log >out 2>err
grep -q 'more options than are read' out && ! grep -q workload out
ok $? 'a command line of too many options is left'
{ printf './benchdnn --conv '; awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "--a " }'; echo ' ic16ih7oc16oh7kh3ph1'; } >long.log
timeout 60 "$bin/tl-extract" -q long.log 2>err | grep -q '"prob":"mb'
ok $? 'many words without a "=" take no time'

# Nothing that a file says is a command to the terminal.
esc=$(printf '\033')
mkdir names && cp bad.onnx "names/a${esc}[2Jb.onnx" && tar -cf names.tar names
extract names.tar
[ $? -eq 3 ] && ! grep -q "$esc" err && grep -q 'a?\[2Jb.onnx' err
ok $? 'a name of a member with escapes is shown without them'

echo "1..$n"
