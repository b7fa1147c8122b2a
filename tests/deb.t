#!/bin/sh
# make deb: the package builds, lintian has nothing against it, and it brings what a node needs.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
{ command -v dh && command -v dpkg-buildpackage; } >/dev/null 2>&1 || {
	echo '1..0 # SKIP debhelper is not here'
	exit
}
lacking=$(cd "$here/.." && dpkg-checkbuilddeps 2>&1) || {
	echo "1..0 # SKIP $lacking"
	exit
}
# A copy, as other tests use the tree meanwhile.
mkdir "$tmp/tree"
tar -C "$here/.." --exclude=./build --exclude=./bin --exclude=./libexec/tl --exclude=./config.mk --exclude=./.git --exclude=./share/spaces -cf - . | tar -xf - -C "$tmp/tree"
MAKEFLAGS='' MAKELEVEL='' make -s -C "$tmp/tree" deb >"$tmp/out" 2>&1
deb=$(find "$tmp/tree/build/deb" -name 'tensor-lathe_*.deb' 2>/dev/null)
[ -n "$deb" ]
ok $? 'a package is built' || {
	tail -n 20 "$tmp/out" | sed 's/^/# /'
	echo "1..$n"
	exit
}
dpkg-deb -c "$deb" >"$tmp/list"
for file in usr/bin/tl-tune usr/libexec/tl/worker-cpu usr/share/man/man7/tl-fleet.7.gz usr/share/tl/recipes/worker.sh usr/share/tl/models/cpu.model \
	usr/share/bash-completion/completions/tl-store lib/systemd/system/tl-worker.service; do
	grep -q " \./$file\$" "$tmp/list" || echo "# $file is not in it"
done >"$tmp/missing"
cat "$tmp/missing"
[ ! -s "$tmp/missing" ]
ok $? 'it has programs, workers, pages, recipes, models, completions and the service'
dpkg-deb -e "$deb" "$tmp/control" && ! grep -qs 'deb-systemd-invoke' "$tmp/control/postinst"
ok $? 'which nothing enables or starts'
dpkg-deb -x "$deb" "$tmp/root"
echo '{"tl":1,"type":"workload","op":"matmul","prob":"4x4:4x4"}' | "$tmp/root/usr/bin/tl-check" --fix | "$tmp/root/usr/bin/tl-gen" -n 1 | grep -q '"type":"candidate"'
ok $? 'its programs run where it is unpacked'
if command -v lintian >/dev/null; then
	lintian --fail-on error,warning --allow-root "$deb" >"$tmp/lintian" 2>&1
	ok $? 'lintian has nothing against it' || sed 's/^/# /' "$tmp/lintian"
else
	skip 'lintian is not here'
fi

# The manual's way, word by word: from the package to a tuned network over two nodes. The server is one of this test, the nodes are
# two folders, and a round is enough.
# shellcheck source=tests/postgresql.sh
. "$here/postgresql.sh"
awk '/^\.Ss From a package/ { on = 1 } /^\.Sh UNITS/ { on = 0 } on && /^\.Bd/ { show = 1; next } /^\.Ed/ { show = 0 } show' "$here/../man/tl-fleet.7" >"$tmp/way"
[ "$(wc -l <"$tmp/way")" -le 6 ] && [ "$(head -n 1 "$tmp/way")" = 'apt install ./tensor-lathe_*.deb postgresql' ]
ok $? "the manual goes from the package to a tuned network in $(wc -l <"$tmp/way") commands" || sed 's/^/# /' "$tmp/way"
if has_postgresql; then
	trap 'pg_end; rm -rf "$tmp"' EXIT
	pg_begin
	printf 'op,prob,count\nmatmul,8x64:64x64,2\nconv2d,ic8ih10_oc8oh10_kh3ph1,3\nmatmul,1x128:128x64,1\n' >"$tmp/net.csv"
	mkdir "$tmp/one" "$tmp/two"
	unset TL_DB
	PGHOST=$pg PGUSER=tl PATH=$tmp/root/usr/bin:$pg_bin:$PATH PRUNE='tl-prune --until rounds<1 -b 36' PAUSE=0.2
	export PGHOST PGUSER PATH PRUNE PAUSE
	sed -e 's,postgresql://server/tl,postgresql:///tl,' -e "s,/usr/share,$tmp/root/usr/share," -e 's,net.onnx,../net.csv,' "$tmp/way" >"$tmp/words"
	grep '^export\|^sh ' "$tmp/words" >"$tmp/node"
	(cd "$tmp/one" && grep -v '^apt\|^sh \|--table' "$tmp/words" >../first && sh -e ../first) >"$tmp/out" 2>&1
	ok $? 'the database has the network' || sed 's/^/# /' "$tmp/out"
	(cd "$tmp/one" && sh -e "$tmp/node") >"$tmp/out.one" 2>&1 &
	(cd "$tmp/two" && sh -e "$tmp/node") >"$tmp/out.two" 2>&1
	status=$?
	wait $!
	[ $? -eq 0 ] && [ $status -eq 0 ]
	ok $? 'both nodes tune it to the end' || sed 's/^/# /' "$tmp/out.one" "$tmp/out.two"
	(cd "$tmp/two" && grep '^export\|--table' "$tmp/words" >../ask && sh -e ../ask) >"$tmp/table" 2>&1
	[ $? -eq 0 ] && [ "$(grep -c 'matmul\|conv2d' "$tmp/table")" -eq 3 ] && ! grep -q ' unknown' "$tmp/table"
	ok $? 'and either has its kernels' || sed 's/^/# /' "$tmp/table"
else
	skip 'there is no PostgreSQL server: the way is not gone'
fi

echo "1..$n"
