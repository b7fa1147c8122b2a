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

echo "1..$n"
