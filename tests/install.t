#!/bin/sh
# make install: all that belongs there, where it belongs; an installed tree runs, and runs when it is moved; uninstall
# leaves nothing.
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh

# The ordinary build, whatever the tests are run by, when stranger.t does not make it, too.
do_make() {
	flock build/making env -u SAN -u MAKEFLAGS -u MFLAGS make -s "$@" DESTDIR="$tmp/root" PREFIX=/usr
}

do_make install >"$tmp/log" 2>&1
status=$?
[ $status -eq 0 ] || sed 's/^/# /' "$tmp/log"
ok $status 'make install'
# Else it would link programs that the tests beside it run.
! grep '^  [A-Z]' "$tmp/log" | sed 's/^/# /' | grep .
ok $? 'and all was built before'

there() { # mode path
	if [ "$1" = "$(stat -c %a "$tmp/root/usr/$2")" ]; then true; else
		echo "# $2 is missing, or its mode is not $1"
		false
	fi
}
for f in cmd/*.c; do
	p=$(basename "$f" .c)
	there 755 "bin/$p" && there 644 "share/man/man1/$p.1" && there 644 "share/bash-completion/completions/$p" &&
		there 644 "share/zsh/site-functions/_$p" && there 644 "share/fish/vendor_completions.d/$p.fish"
	ok $? "$p, its page and its completions"
done
for f in libexec/*.c; do
	there 755 "libexec/tl/$(basename "$f" .c)"
	ok $? "$f"
done
there 644 share/man/man5/tl-record.5 && there 644 share/man/man7/tl.7 && there 644 share/tl/models/resnet18.tar.gz
ok $? 'the other pages, and the models'

cp -r "$tmp/root/usr" "$tmp/moved"
(
	export PATH="$tmp/moved/bin:$PATH" HOME="$tmp" XDG_CACHE_HOME="${XDG_CACHE_HOME:-$tmp/cache}"
	unset TL_DB XDG_DATA_HOME
	exec 2>"$tmp/err"
	tl-extract -q "$tmp/moved/share/tl/models/squeezenet1_1.zip" >"$tmp/wl" &&
		echo '{"tl":1,"type":"workload","op":"matmul","prob":"8x16:16x32"}' | tl-check | tl-gen -n 2 | tl-measure | tl-store -q &&
		tl-query --op=matmul --prob=8x16:16x32 >"$tmp/res"
)
status=$?
[ $status -eq 0 ] || sed 's/^/# /' "$tmp/err"
ok $status 'a tree that was moved runs, and keeps its database at the default place'
[ -s "$tmp/.local/share/tl/tl.db" ]
ok $? 'which is ~/.local/share/tl/tl.db'

for shell in bash zsh fish; do
	for f in build/completions/"$shell"/*; do
		[ -s "$f" ] || echo "# $f is empty"
	done
	if command -v "$shell" >/dev/null; then
		bad=0
		for f in build/completions/"$shell"/*; do
			"$shell" -n "$f" || bad=1
		done
		ok $bad "$shell can read its completions"
	else
		n=$((n + 1))
		echo "ok $n # SKIP $shell is not here"
	fi
done

do_make uninstall
ok $? 'make uninstall'
[ -z "$(find "$tmp/root" ! -type d)" ] && [ ! -e "$tmp/root/usr/libexec" ] && [ ! -e "$tmp/root/usr/share/tl" ]
ok $? 'leaves no file, and none of its own folders'
echo "1..$n"
