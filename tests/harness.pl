#!/usr/bin/perl
# Runs one test for prove: perl tests/harness.pl TEST. Whoever calls it, and wherever, the test finds the same surroundings,
# and it ends.
#
# - Of the environment it sees what $kept lists, and what the Makefile sets. The locale is C.UTF-8, the umask 022.
# - It has no terminal, nothing on standard input, no open file of its caller, and no signal that is ignored.
# - TMPDIR is a folder of its own, which goes afterwards with all that is in it. The lock on the machine is there, too. No
#   name of a folder that it is given has a space in it.
# - A test that runs longer than TL_TEST_LIMIT seconds (0: for ever) has hung. It fails, and what it was doing is told.
#   This says nothing of how fast a machine is: the limit is far beyond what the slowest test takes.
# - No process outlives its test: prove would wait for it.
# - What a test that fails said of it is added to the file TL_TEST_FAILED, so that it can be told once more at the end of a long
#   run.
use strict;
use warnings;
use File::Path 'remove_tree';
use File::Temp 'tempdir';
use POSIX qw(:signal_h :sys_wait_h setsid);
use Time::HiRes 'sleep';

# What says where things are, and what people set to have something tested.
my $kept = qr{^(?:
	PATH | HOME | XDG_(?:DATA|CACHE)_HOME | BIN | LIBEXEC | SAN | CC | (?:A|L|UB)SAN_OPTIONS |
	TL_(?:CC|CUDA_PATH|DB|ISA|LIMITS|MODEL|PROBE|TEST_\w+) | OMP_(?:NUM_THREADS|WAIT_POLICY) | ONEDNN_MAX_CPU_ISA |
	LD_LIBRARY_PATH | VIRTUAL_ENV | (?:CUDA|NVIDIA|OCL|POCL)_\w+
)$}x;

# What starts the test: itself, or the interpreter of its first line where nobody may execute it.
sub command {
	my ($test) = @_;
	return $test if -x $test;
	open my $file, '<', $test or die "harness: cannot open $test: $!\n";
	my ($interpreter) = (readline($file) // '') =~ /^#!\s*(.*\S)/ or die "harness: $test is no program\n";
	return (split(' ', $interpreter), $test);
}

sub start {
	my ($out, @command) = ($_[0], command($_[1]));
	my $pid = fork // die "harness: cannot fork: $!\n";
	return $pid if $pid;
	$SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT PIPE ALRM TERM USR1 USR2 CHLD TTIN TTOU TSTP XFSZ);
	sigprocmask(SIG_SETMASK, POSIX::SigSet->new);
	setsid();
	open STDIN, '<', '/dev/null' or die "harness: cannot open /dev/null: $!\n";
	open STDOUT, '>&', $out or die "harness: cannot hand on: $!\n";
	opendir my $open, '/proc/self/fd' or die "harness: there is no /proc: $!\n";
	POSIX::close($_) for grep { /^\d+$/ && $_ > 2 } readdir $open;
	exec { $command[0] } @command or print "Bail out! $command[0] cannot be started: $!\n";
	POSIX::_exit(127);
}

# All processes that descend from this one, with their command lines.
sub descendants {
	my (%children, @found);
	for my $stat (glob '/proc/[0-9]*/stat') {
		open my $file, '<', $stat or next;
		my ($pid, $name, $state, $parent) = (readline($file) // '') =~ /^(\d+) \((.*)\) (\S) (\d+)/s or next;
		push @{ $children{$parent} }, [ $pid, $name ] if $state ne 'Z';
	}
	my @next = @{ $children{$$} // [] };
	while (my $process = shift @next) {
		my ($pid, $name) = @$process;
		push @next, @{ $children{$pid} // [] };
		my $words = '';
		if (open my $file, '<', "/proc/$pid/cmdline") {
			local $/;
			$words = readline($file) // '';
			$words =~ tr/\0-\37/ /;
		}
		push @found, [ $pid, $words || $name ];
	}
	return @found;
}

sub end_descendants {
	local $SIG{CHLD} = 'DEFAULT';
	for (1 .. 500) {
		1 while waitpid(-1, WNOHANG) > 0;
		my @left = descendants() or return;
		kill 'KILL', map { $_->[0] } @left;
		sleep 0.02;
	}
}

sub tell_hung {
	my ($test, $limit) = @_;
	print STDERR "# $test has run for $limit s (TL_TEST_LIMIT) and is ended. These processes ran:\n";
	print STDERR '#   ', substr($_->[1], 0, 200), "\n" for descendants();
}

# Hands the test's output on until nobody can write there any more: its processes end with it, and where it hangs. Returns the
# status of wait, or undef when it has hung.
sub run {
	my ($test, $limit, $hand_on) = @_;
	my ($pid, %ended, $hung);
	local $SIG{CHLD} = sub {
		while ((my $child = waitpid(-1, WNOHANG)) > 0) { $ended{$child} = $?; }
		end_descendants() if $pid && exists $ended{$pid};
	};
	local $SIG{ALRM} = sub { $hung = 1; tell_hung($test, $limit); end_descendants(); };
	pipe my $out, my $in or die "harness: cannot make a pipe: $!\n";
	$pid = start($in, $test);
	close $in;
	alarm $limit;
	$SIG{CHLD}->();    # it may have ended before its id was known
	while (defined(my $line = readline $out)) { $hand_on->($line); }
	sleep 0.01 while !$hung && !exists $ended{$pid};
	alarm 0;
	end_descendants();
	return $hung ? undef : $ended{$pid};
}

# Prints a line of the test, and keeps it if it tells of a failure. What follows one with a # belongs to it.
{
	my (@told, @last, $tells);

	sub hand_on {
		my ($line) = @_;
		print $line;
		push @last, $line;
		shift @last if @last > 10;
		$tells = $line =~ /^not ok\b(?!.*#\s*(?:TODO|SKIP))/i if $line =~ /^(?:not )?ok\b/;
		push @told, $line if $tells && @told < 60;
	}

	sub told { return @told ? @told : @last; }
}

sub add_failure {
	my ($file, $test, $status) = @_;
	my $how = !defined $status ? 'hung' : $status & 127 ? 'signal ' . ($status & 127) : 'status ' . ($status >> 8);
	my @told = told();
	return if !$status && defined $status && !grep { /^not ok/ } @told;
	open my $to, '>>', $file or die "harness: cannot open $file: $!\n";
	syswrite $to, join '', "$test ($how):\n", map { "  $_" =~ s/\n*\z/\n/r } @told;
}

# A folder of the test's own, in the first of these that can be written to and has a name that needs no quotes. Other users
# may pass through it: a test of root may run programs as one of them.
sub folder {
	for my $in (grep { defined && m{^/[\w./+-]{0,80}$} && -w } $ENV{TMPDIR}, '/tmp', '/var/tmp', '/dev/shm') {
		my $folder = tempdir("$in/tl-test-XXXXXX");
		chmod 0711, $folder or die "harness: cannot open $folder to others: $!\n";
		return $folder;
	}
	die "harness: no folder for temporary files can be written to\n";
}

sub surroundings {
	my ($tmp) = @_;
	delete @ENV{ grep { !/$kept/ } keys %ENV };
	@ENV{qw(LC_ALL TMPDIR TL_LOCKS)} = ('C.UTF-8', $tmp, $tmp);
	for my $name (qw(BIN LIBEXEC)) {
		next if ($ENV{$name} // '') =~ m{^[\w./+-]*$};
		symlink $ENV{$name}, "$tmp/.$name" or die "harness: cannot make a link in $tmp: $!\n";
		$ENV{$name} = "$tmp/.$name";
	}
	umask 022;
}

my $test = shift // die "usage: harness.pl TEST\n";
my $limit = $ENV{TL_TEST_LIMIT} // 3600;
my $told = delete $ENV{TL_TEST_FAILED};
my $tmp = folder();
surroundings($tmp);
$| = 1;
syscall 157, 36, 1, 0, 0, 0;    # prctl(PR_SET_CHILD_SUBREAPER, 1): who loses its parent stays a descendant

for my $name (qw(HUP INT TERM)) {
	$SIG{$name} = sub { end_descendants(); remove_tree($tmp); $SIG{$name} = 'DEFAULT'; kill $name, $$ };
}
my $status = run($test, $limit, \&hand_on);
remove_tree($tmp);
hand_on("\nnot ok - $test ends within $limit s\n") if !defined $status;
add_failure($told, $test, $status) if $told;
exit 124 if !defined $status;
kill $status & 127, $$ if $status & 127;
exit($status >> 8);
