# The second half of make bench-store: BIN DIR DATABASE. Reads DIR/stored, asks the database, prints figures as
# records on standard output and as a table on standard error.
use strict;
use warnings;
use Time::HiRes 'time';

my ($bin, $dir, $db) = @ARGV;
my $repeats = 20;
my $answers = "$bin/tl-query -d $db --env env1";
my $one = '--op conv2d --prob mb1_ic64ih56_oc64oh56_kh3ph1 --post bias,relu';
my @questions = (
	['best known, one workload', "$answers $one"],
	['resnet50, records', "$answers $dir/resnet50"],
	['resnet50, --table', "$answers --table $dir/resnet50"],
	['resnet50, --top 10', "$answers --top 10 $dir/resnet50"],
	['nearest, one workload', "$answers --op conv2d --prob mb1_ic64ih57_oc64oh57_kh3ph1"],
	['--stats', "$bin/tl-query -d $db --stats"],
);

sub median {
	my @s = sort { $a <=> $b } @_;
	return @s % 2 ? $s[$#s / 2] : ($s[@s / 2 - 1] + $s[@s / 2]) / 2;
}

sub seconds {
	my ($command) = @_;
	my $began = time;
	system("$command >$dir/answer");
	# 4: an answer that is not exact.
	die "bench-store: this failed: $command\n" unless $? == 0 || $? == 4 << 8;
	die "bench-store: no answer to $command\n" unless -s "$dir/answer";
	return time - $began;
}

# Asks the kernel to drop what it keeps of the database.
sub forget {
	system("dd if=$db iflag=nocache count=0 status=none") == 0 or die "bench-store: dd failed\n";
}

my ($stored, $took) = (0, 0);
open my $in, '<', "$dir/stored" or die "bench-store: $dir/stored: $!\n";
print STDERR "results stored      a second\n";
while (<$in>) {
	my (undef, $part, $n, $from, $to) = split;
	next unless $n;
	$stored += $n;
	$took += $to - $from;
	printf STDERR "%14d  %12.0f\n", $stored, $n / ($to - $from);
	printf "{\"what\":\"store\",\"part\":%d,\"results\":%d,\"seconds\":%.3f}\n", $part, $n, $to - $from;
}
printf STDERR "%14s  %12.0f\n", 'all', $stored / $took;
my $bytes = -s $db;
printf STDERR "The database has %.2f GB, %.0f bytes a result.\n\n", $bytes / 1e9, $bytes / $stored;
printf "{\"what\":\"size\",\"results\":%d,\"bytes\":%d}\n", $stored, $bytes;

printf STDERR "%-26s %10s %10s %10s\n", 'question', 'cold ms', 'warm ms', 'most ms';
for (@questions) {
	my ($what, $command) = @$_;
	my @cold = map { forget(); seconds($command) } 1 .. 5;
	my @warm = map { seconds($command) } 1 .. $repeats;
	my ($most) = sort { $b <=> $a } @warm;
	printf STDERR "%-26s %10.1f %10.1f %10.1f\n", $what, 1e3 * median(@cold), 1e3 * median(@warm), 1e3 * $most;
	printf "{\"what\":\"%s\",\"cold_s\":%.6f,\"warm_s\":%.6f,\"most_s\":%.6f}\n", $what, median(@cold), median(@warm),
		$most;
}
my $check = seconds("$bin/tl-store --check -d $db && echo sound");
printf STDERR "%-26s %10s %10.1f\n", 'tl-store --check', '', 1e3 * $check;
printf "{\"what\":\"check\",\"warm_s\":%.3f}\n", $check;
