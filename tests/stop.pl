# What tests/stop.t cannot do in a shell: stop.pl SIGNAL SIGN SECONDS COMMAND... runs the command, waits until the file SIGN has
# something in it (-: until standard error has), sends the signal, and waits for the end. It exits as a shell would, with 128 and
# the number of the signal; 99: the command did not come to the sign, or did not end in that time.
use strict;
use warnings;
use POSIX ':sys_wait_h';

my ($signal, $sign, $seconds, @command) = @ARGV;
my $pid = fork // die "fork: $!";
if (!$pid) {
	$SIG{$_} = 'DEFAULT' for qw(INT HUP TERM);
	exec @command or die "exec: $!";
}

sub ended {
	return 0 if waitpid($pid, WNOHANG) != $pid;
	exit($? & 127 ? 128 + ($? & 127) : $? >> 8);
}

sub until_true {
	my ($test) = @_;

	for (1 .. $seconds * 100) {
		return if $test->();
		ended();
		select undef, undef, undef, 0.01;
	}
	kill 'KILL', $pid;
	print "# no end, or no sign\n";
	exit 99;
}

until_true(sub { $sign eq '-' ? -s STDERR : -s $sign });
kill $signal, $pid;
until_true(sub { 0 });
