# Flips single bits of a file that a program reads, and tells whether the program noticed.
#
#	perl tests/flip.pl [-n FLIPS] [-s SEED] [-r FROM-TO] FILE COMMAND
#
# COMMAND, for sh -c, reads FILE and writes to standard output what its answer depends on. It runs once on the sound file.
# Then it runs for each flip, with one bit of FILE changed (in bytes FROM to TO, counted from 0; by default in all of
# them). FILE is written anew before each run, and is as it was at the end. Equal seeds flip equal bits.
#
# A flip is harmless if the answer and the exit status are the same. It is detected if the program says on standard error
# what it did not say before, and ends by itself, with a status below 126. Everything else is a fault: another answer
# without a word, a signal, or no end within 60 seconds. Each fault is a line, and the last line has the counts. The exit
# status is 1 if there was a fault.
use strict;
use warnings;
use POSIX ':sys_wait_h';

use constant { LIMIT_S => 60, LINES => 20 };

my ($flips, $seed, $from, $to) = (300, 1, 0, undef);
while (@ARGV && $ARGV[0] =~ /^-([nsr])$/) {
	my ($option, $value) = ($1, $ARGV[1] // die "flip.pl: -$1 lacks its value\n");
	splice @ARGV, 0, 2;
	if ($option eq 'n') {
		$flips = $value;
	} elsif ($option eq 's') {
		$seed = $value;
	} else {
		($from, $to) = $value =~ /^([0-9]+)-([0-9]+)$/ or die "flip.pl: -r wants FROM-TO\n";
	}
}
die "usage: flip.pl [-n FLIPS] [-s SEED] [-r FROM-TO] FILE COMMAND\n" if @ARGV != 2;
my ($file, $command) = @ARGV;

sub contents {
	my ($path) = @_;
	open my $in, '<:raw', $path or die "$path: $!\n";
	local $/;
	return scalar <$in> // '';
}

sub write_file {
	my ($bytes) = @_;
	open my $out, '>:raw', $file or die "$file: $!\n";
	print $out $bytes or die "$file: $!\n";
	close $out or die "$file: $!\n";
}

# Runs the command in a process group of its own, which goes as a whole when its time is over.
sub run {
	my ($out, $err) = ("$file.flip-out", "$file.flip-err");
	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		setpgrp;
		open STDIN, '<', '/dev/null' or die;
		open STDOUT, '>', $out or die;
		open STDERR, '>', $err or die;
		exec 'sh', '-c', $command or die;
	}
	my $late = 0;
	local $SIG{ALRM} = sub { $late = 1; kill 'KILL', -$pid };
	alarm LIMIT_S;
	1 while waitpid($pid, 0) < 0;
	alarm 0;
	my %run = (status => $late ? 'late' : $? & 127 ? 'signal ' . ($? & 127) : $? >> 8,
		out => contents($out), err => contents($err));
	unlink $out, $err;
	return \%run;
}

my $sound = contents($file);
$to = length($sound) - 1 unless defined $to && $to < length $sound;
die "flip.pl: $file has no such bytes\n" if $from > $to;
my $truth = run();
die "flip.pl: on the sound file the command ends with $truth->{status}: $truth->{err}" unless $truth->{status} eq '0';

my %count = (detected => 0, harmless => 0, fault => 0);
my $state = $seed;
sub draw { # a number below n; the same on every machine
	my ($n) = @_;
	$state = ($state * 1103515245 + 12345) % 2147483648 for 1 .. 3;
	return int($state / 2147483648 * $n);
}
for (1 .. $flips) {
	my ($byte, $bit) = ($from + draw($to - $from + 1), draw(8));
	my $bytes = $sound;
	substr($bytes, $byte, 1) ^= chr(1 << $bit);
	write_file($bytes);
	my $run = run();
	my $ended = $run->{status} =~ /^[0-9]+$/ && $run->{status} < 126;
	my $same = $ended && $run->{status} eq $truth->{status} && $run->{out} eq $truth->{out};
	my $said = $ended && length $run->{err} && $run->{err} ne $truth->{err};
	my $what = $same ? 'harmless' : $said ? 'detected' : 'fault';
	$count{$what}++;
	print "# bit $bit of byte $byte: ", $ended ? 'another answer without a word' : "status $run->{status}", "\n"
		if $what eq 'fault' && $count{fault} <= LINES;
}
write_file($sound);
print "# $flips flips of $file: $count{detected} detected, $count{harmless} harmless, $count{fault} faults\n";
exit($count{fault} > 0);
