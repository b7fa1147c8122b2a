#!/bin/sh
# The lock of a device lies where all users may write: what others put there is neither followed nor waited for, and nothing
# of it is changed.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
export TL_CACHE="$tmp/cache" TL_LOCKS="$tmp/locks" TL_PROBE=0
lock=$TL_LOCKS/tl-cpu.lock
mkdir "$TL_LOCKS"
printf 'op,prob,layout\nmatmul,12x20:20x24,ab\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" | "$bin/tl-gen" -n 1 >"$tmp/c"

tells() { # pattern
	timeout 60 "$bin/tl-doctor" --noise=0 >"$tmp/out" 2>"$tmp/err"
	grep -q "^lock  *$1" "$tmp/out" || { sed 's/^/# /' "$tmp/out" "$tmp/err"; return 1; }
}
refuses() { # pattern
	timeout 60 "$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q "^tl-measure: the lock $lock $1" "$tmp/err" && tells "the lock $lock $1"
}
(umask 077 && tells free) && [ "$(stat -c %a "$lock")" = 644 ]
ok $? 'a lock that is made is for all users'
chmod 600 "$lock"
tells free && [ "$(stat -c %a "$lock")" = 600 ]
ok $? 'one that is there stays as it is'
mv "$lock" "$tmp/mine"
ln -s "$tmp/mine" "$lock"
refuses 'is a symbolic link' && [ "$(stat -c %a "$tmp/mine")" = 600 ]
ok $? 'a link is not followed, and the mode of its file stays'
rm "$tmp/mine"
refuses 'is a symbolic link' && [ ! -e "$tmp/mine" ]
ok $? 'nor does it make a file where it leads'
rm "$lock"
mkfifo "$lock"
refuses 'is no regular file'
ok $? 'a pipe is not waited for'
rm "$lock"
mkdir "$lock"
refuses 'is no regular file'
ok $? 'a folder is no lock'
rmdir "$lock"

# A container that shares the folder shares the lock. Its processes cannot be seen from here, nor ours from there.

tells free
if unshare --user --map-root-user --pid --fork true 2>/dev/null; then
	unshare --user --map-root-user --pid --fork --kill-child flock "$lock" sleep 60 &
	container=$!
	i=0
	while flock -n "$lock" true && [ $((i += 1)) -lt 100 ]; do sleep 0.1; done
	timeout 60 "$bin/tl-measure" --no-wait "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 75 ] && grep -q "^tl-measure: another run is timing on this machine's cpu" "$tmp/err"
	ok $? 'a container has the lock' || sed 's/^/# /' "$tmp/err"
	kill -9 $container
	wait $container 2>/dev/null
	flock "$lock" sleep 60 &
	holder=$!
	sleep 0.3
	unshare --user --map-root-user --pid --fork --kill-child timeout 60 "$bin/tl-measure" --no-wait "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 75 ] && grep -q "^tl-measure: another run is timing on this machine's cpu" "$tmp/err"
	ok $? 'and waits for it' || sed 's/^/# /' "$tmp/err"
	pkill -P $holder
	wait $holder 2>/dev/null
else
	skip 'no container can be played here'
fi

echo "1..$n"
