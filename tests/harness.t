#!/bin/sh
# What every test finds: tests/harness.pl, tried with callers and tests that are hard on it.
harness=$(dirname "$0")/harness.pl
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

a_test() { # name, its commands from standard input
	{ echo '#!/bin/sh'; cat; } >"$tmp/$1"
}
run() { # name; its output, what it says, its status
	perl "$harness" "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

a_test sees <<'END'
locale charmap
umask
env
readlink /proc/self/fd/0
echo "open: $(ls /proc/self/fd | tr '\n' ' ')"
grep '^SigIgn' /proc/self/status
(exec </dev/tty) 2>/dev/null && echo 'a terminal'
END
(
	umask 077
	trap '' INT PIPE
	COLUMNS=20 CDPATH=/ NO_COLOR=1 LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu MAKEFLAGS=-n TL_CACHE=/none OMP_DISPLAY_ENV=true TL_TEST_X=kept \
		perl "$harness" "$tmp/sees" 7<"$tmp/sees" >"$tmp/out" 2>"$tmp/err"
)
[ "$(sed -n 1p "$tmp/out")" = UTF-8 ] && [ "$(sed -n 2p "$tmp/out")" = 0022 ]
ok $? 'the locale and the umask are always the same'
grep -q '^TL_TEST_X=kept$' "$tmp/out" && ! grep -qE '^(COLUMNS|CDPATH|NO_COLOR|TZ|MAKEFLAGS|TL_CACHE|OMP_DISPLAY_ENV)=' "$tmp/out"
ok $? 'of the environment only what is for tests is seen'
grep -qx /dev/null "$tmp/out" && grep -qx 'open: 0 1 2 3 ' "$tmp/out" && ! grep -q 'a terminal' "$tmp/out"
ok $? 'no file of the caller is open'
grep -q '^SigIgn:.*[08]0000000$' "$tmp/out" # of signals 1 to 31; the rest is libc's
ok $? 'no signal is ignored'

mkdir "$tmp/a folder" "$tmp/a folder/bin"
echo "printf 'The program %s\n' here" | a_test 'a folder/bin/tool'
chmod +x "$tmp/a folder/bin/tool"
# shellcheck disable=SC2016
echo 'echo $TMPDIR$BIN; $BIN/tool' | a_test plain
BIN="$tmp/a folder/bin" TMPDIR="$tmp/a folder" run plain
[ "$(sed 1d "$tmp/out")" = 'The program here' ] && ! sed 1q "$tmp/out" | grep -q ' '
ok $? 'names of folders have no spaces'

a_test leaves <<'END'
mkdir "$TMPDIR/deep" && chmod 0 "$TMPDIR/deep"
echo "$TMPDIR"
perl -MPOSIX -e 'if (!fork) { setsid(); $| = 1; print "$$\n"; sleep 1000 }' &
wait
exit 3
END
run leaves # which does not end while anything of the test writes here
[ $status -eq 3 ] && [ ! -e "$(head -n 1 "$tmp/out")" ]
ok $? 'its files are removed'
! kill -0 "$(sed -n 2p "$tmp/out")" 2>/dev/null
ok $? 'no process outlives it'

a_test hangs <<'END'
echo 'ok 1 - so far'
sleep 1000 | sleep 1001
END
TL_TEST_LIMIT=1 run hangs
[ $status -eq 124 ] && grep -q "^not ok - $tmp/hangs ends within 1 s$" "$tmp/out" && grep -q '^#   sleep 1001' "$tmp/err"
ok $? 'a test that hangs fails, and what it did is told'
# shellcheck disable=SC2016
echo 'kill -SEGV $$' | a_test crashes
run crashes
[ $status -eq 139 ]
ok $? 'a test that crashes ends as it did'
a_test fails <<'END'
echo 'ok 1 - good'; echo '# nothing'; echo 'not ok 2 - bad'; echo '# since'; echo 'ok 3 - good again'; echo '# nothing'
END
echo 'echo ok 1' | a_test passes
for name in fails passes crashes; do TL_TEST_FAILED="$tmp/failed" run $name; done
printf '%s\n' "$tmp/fails (status 0):" '  not ok 2 - bad' '  # since' "$tmp/crashes (signal 11):" | cmp -s - "$tmp/failed"
ok $? 'what failed is kept to be told again' || sed 's/^/# /' "$tmp/failed"
echo 'sleep 1000' | a_test waits
perl "$harness" "$tmp/waits" &
pid=$!
kill -TERM $pid
wait $pid
[ $? -eq 143 ]
ok $? 'the caller can end it'
echo "1..$n"
