#!/bin/sh
# keep: a command's status and signal come through, its limits hold, and nothing of it is left: neither after its end nor
# after the end, however violent, of who started it.
keep=${LIBEXEC:-libexec/tl}/keep
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# Becomes a command whose processes all hold a lock, as long as one of them lives.
become_held() {
	exec 9>"$tmp/lock"
	flock 9
	exec "$@"
}

# Is there none left? What has been killed may take a moment to end.
none_left() {
	flock -w "${1:-10}" "$tmp/lock" true
}

# Status and signal

"$keep" -- sh -c 'exit 7'
[ $? -eq 7 ]
ok $? 'the status of the command'
for sig in TERM KILL SEGV; do
	# perl tells an end by a signal from a status beyond 128.
	perl -e 'system @ARGV; exit($? & 127)' "$keep" -- sh -c "kill -$sig \$\$"
	[ $? -eq "$(kill -l "$sig" 2>/dev/null || perl -MConfig -e '@n{split " ", $Config{sig_name}} = split " ", $Config{sig_num}; print $n{$ARGV[0]}' "$sig")" ]
	ok $? "ends by $sig as the command did"
done
"$keep" -- "$tmp/nothing" 2>"$tmp/err"
[ $? -eq 127 ] && grep -q 'cannot start.*nothing' "$tmp/err"
ok $? 'a command that is not there: 127, and told'
for args in '' '--' '--memory=much -- true' '--nonsense -- true' '--memory=-1 -- true' 'true'; do
	# shellcheck disable=SC2086 # several arguments
	"$keep" $args 2>/dev/null
	[ $? -eq 2 ] || break
done
[ "$args" = true ]
ok $? 'a command line that makes no sense: 2'
[ "$(echo in | "$keep" -- sh -c 'cat; echo err >&2' 2>"$tmp/err")" = in ] && [ "$(cat "$tmp/err")" = err ]
ok $? 'stdin, stdout and stderr are the command'"'"'s'
wait_for() { # file
	i=0
	while [ ! -s "$1" ] && [ $i -lt 400 ]; do sleep 0.05; i=$((i + 1)); done
}
"$keep" -- sh -c 'exec >&- 2>&-; echo $$ >"$1"; sleep 60' sh "$tmp/pid" | {
	cat
	echo >"$tmp/end"
} &
wait_for "$tmp/pid"
wait_for "$tmp/end"
[ -s "$tmp/end" ] && kill -9 "$(cat "$tmp/pid")"
ok $? 'and nobody else'"'"'s: that it closes them is seen while it runs'

# What the command leaves behind

cat >"$tmp/strays" <<'END'
# Children of children whose parents have gone, in sessions of their own where they can be; then waits or ends.
use POSIX;
my ($count, $then) = @ARGV;
$SIG{TERM} = $SIG{INT} = $SIG{HUP} = "IGNORE";
for (1 .. $count) {
	next if fork;
	POSIX::setsid();
	fork and POSIX::_exit(0);
	POSIX::setsid();
	sleep 60;
	POSIX::_exit(0);
}
exit if $then eq "end";
open F, ">", $then;
print F "$$\n";
close F;
sleep 60;
END
for sessions in '' --sessions; do
	# shellcheck disable=SC2086 # no argument, or one
	(become_held "$keep" $sessions -- perl "$tmp/strays" 5 end)
	status=$?
	[ $status -eq 0 ] && none_left 0
	ok $? "the command ends: nothing is left of it $sessions"
	rm -f "$tmp/pid"
	# shellcheck disable=SC2086
	become_held "$keep" $sessions -- perl "$tmp/strays" 5 "$tmp/pid" &
	pid=$!
	wait_for "$tmp/pid"
	sleep 0.1
	kill -TERM $pid
	wait $pid 2>/dev/null
	[ $? -eq 143 ] && none_left 0
	ok $? "SIGTERM: nothing is left of it $sessions"
done
rm -f "$tmp/pid"
become_held "$keep" -- perl "$tmp/strays" 0 "$tmp/pid" &
pid=$!
wait_for "$tmp/pid"
kill -KILL $pid
wait $pid 2>/dev/null
none_left
ok $? 'keep is killed: the command dies with it'

# As our programs start it: killed with its parent until it says otherwise.
cat >"$tmp/caller" <<'END'
my $self = $$;
my $pid = fork // die;
if (!$pid) {
	syscall(157, 1, 9); # prctl(PR_SET_PDEATHSIG, SIGKILL)
	exit 1 if getppid() != $self;
	exec @ARGV;
}
waitpid $pid, 0;
END
if [ "$(uname -m)" = x86_64 ]; then
	clean=0
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sessions=
		[ $((i % 2)) -eq 0 ] || sessions=--sessions
		# shellcheck disable=SC2086
		become_held perl "$tmp/caller" "$keep" $sessions -- perl "$tmp/strays" 20 "$tmp/pid" &
		pid=$!
		perl -e 'select undef, undef, undef, rand 0.12'
		kill -9 $pid
		wait $pid 2>/dev/null
		none_left || break
		clean=$i
	done
	[ $clean -eq 20 ]
	ok $? 'the caller is killed at 20 random moments: nothing is left'
else
	skip 'the caller is killed: knows prctl on x86-64 only'
fi

# Bombs are bounded, so that a failure here ends by itself.
cat >"$tmp/bomb" <<'END'
# Each process forks two, down to a depth: 250 in all, and all stay. That is fewer than keep lets a user have more, so that
# none is missing elsewhere.
use POSIX;
sub grow {
	my $depth = shift;
	for (1 .. 2) {
		my $pid = fork;
		next if !defined $pid || $pid;
		POSIX::setsid();
		grow($depth + 1) if $depth < 7;
		last;
	}
	sleep 30;
	POSIX::_exit(0);
}
grow(1);
END
cat >"$tmp/chain" <<'END'
# Each process forks the next and goes: none is there when it is looked for.
use POSIX;
for (1 .. 30000) {
	my $pid = fork;
	POSIX::_exit(0) if $pid;
	POSIX::setsid();
}
END
for bomb in bomb chain; do
	for sessions in '' --sessions; do
		# shellcheck disable=SC2086
		(become_held "$keep" --processes=512 $sessions -- sh -c 'perl "$1" & sleep 0.2' sh "$tmp/$bomb")
		[ $? -eq 0 ] && none_left 0
		ok $? "a fork bomb loses: $bomb $sessions"
	done
done
"$keep" -- perl -e 'for (1 .. 30) { if (!fork) { exit if fork; exit } } 1 while wait > 0; select undef, undef, undef, 0.3;
	open F, "<", "/proc/" . getppid . "/task/" . getppid . "/children"; @c = split " ", <F>; exit(@c == 1 ? 0 : 1)'
ok $? 'orphans that have ended are not kept as zombies'

# Limits

"$keep" --memory=200000000 -- perl -e '$x = "a" x 50_000_000' 2>/dev/null
status=$?
"$keep" --memory=200000000 -- perl -e '$x = "a" x 500_000_000' 2>/dev/null
[ $? -ne 0 ] && [ $status -eq 0 ]
ok $? 'memory'
{ "$keep" --file=4096 -- perl -e 'open F, ">", $ARGV[0]; print F "a" x 9000; close F' "$tmp/big"; } 2>/dev/null
[ $? -eq 153 ] && [ "$(stat -c %s "$tmp/big")" -eq 4096 ]
ok $? 'the size of a file'
{ "$keep" --cpu=1 -- perl -e '1 while 1'; } 2>/dev/null
[ $? -eq 152 ]
ok $? 'CPU time'
[ "$("$keep" --files=20 -- perl -e 'while (open $f[@f], "<", "/dev/null") {} print @f <= 20 ? "few" : "many"' 2>/dev/null)" = few ]
ok $? 'open files'
bound=$("$keep" --processes=1000 -- sh -c 'ulimit -u 2>/dev/null || ulimit -p')
most=$(awk '/^Max processes/ { print $4 }' /proc/self/limits)
case $most in unlimited) most=1000000000 ;; esac
[ "$bound" -gt 1000 ] || [ "$bound" -eq "$most" ]
[ $? -eq 0 ] && [ "$bound" -lt $((2000 + $(sed 's:.*/\([0-9]*\) .*:\1:' /proc/loadavg))) ]
ok $? "processes, beside those of the machine: $bound"
[ "$("$keep" -- sh -c 'ulimit -u 2>/dev/null || ulimit -p')" = "$(sh -c 'ulimit -u 2>/dev/null || ulimit -p')" ]
ok $? 'which without that limit are as before'
"$keep" -- sh -c '[ "$(ulimit -c)" -eq 0 ]'
ok $? 'core dumps'
if grep -q '^Seccomp:' /proc/self/status && [ "$(uname -m)" = x86_64 ]; then
	cat >"$tmp/socket" <<'END'
use Socket;
use Errno;
for (AF_INET, AF_INET6) {
	exit 1 if socket(my $s, $_, SOCK_STREAM, 0) || !$!{EACCES};
}
exit !socket(my $s, AF_UNIX, SOCK_STREAM, 0);
END
	"$keep" --no-network -- perl "$tmp/socket" && ! "$keep" -- perl "$tmp/socket"
	ok $? 'the network is refused, and a local socket is not'
	"$keep" --no-fork -- perl -MErrno -e 'exit(defined fork || !$!{EAGAIN})' &&
		head -c 8000000 /dev/zero | "$keep" --no-fork -- xz -T2 --block-size=1MiB >"$tmp/xz" &&
		xz -dc "$tmp/xz" | cmp -n 8000000 - /dev/zero
	ok $? 'processes are refused, and threads are not'
	"$keep" -- perl -MPOSIX -MErrno -e 'exit if fork; exit 1; ' &&
		"$keep" -- perl -MPOSIX -MErrno -e 'if (!fork) { exit(POSIX::setsid() == -1 && $!{EPERM} ? 0 : 1) } wait; exit($? >> 8)'
	ok $? 'and so is leaving the group'
else
	for what in 'the network is refused' 'processes are refused' 'leaving the group is refused'; do
		skip "$what: there is no seccomp"
	done
fi
echo "1..$n"
