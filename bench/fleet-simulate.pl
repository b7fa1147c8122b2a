#!/usr/bin/perl
# How much of their time the workers of a large fleet spend on coordination: perl bench/fleet-simulate.pl FIGURES
#
# A worker claims 4 units, tunes them, and stores what it measured. Four units take 8 to 80 s, evenly distributed; a unit has 8 results
# and an end record. The server does one thing after the other, at the rates that bench/fleet.sh measured with 50 processes; who comes
# while it works waits in a line. A worker's own share of a claim is what a claim takes where nobody else asks. An hour is simulated.
use strict;
use warnings;

my %rate;
my ($alone) = (0);
open my $f, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
while (<$f>) {
	next unless /"database":"postgresql","what":"(\w+)","processes":(\d+),"per_s":([\d.]+),"median_s":([\d.e-]+|null)/;
	$rate{$1} = $3 if $2 == 50;
	$alone = $4 if $1 eq 'claims' && $2 == 1;
}
close $f;
srand 1;
printf "\n%9s %12s %14s %14s %12s\n", 'workers', 'claims/s', 'server busy', 'coordination', 'longest s';
for my $workers (10, 100, 1000, 3000) {
	my ($free, $busy, $waited, $worked, $longest, $claims) = (0) x 6;
	my $claim = 4 / $rate{claims};
	my $store = 4 * 9 / $rate{results};
	# Events by time, in a heap made of buckets of 10 ms.
	my @at;
	push @{$at[int(100 * 80 * rand)]}, 1 for 1 .. $workers;
	for (my $slot = 0; $slot < 360000; $slot++) {
		for (@{$at[$slot] || []}) {
			my $now = $slot / 100;
			my $begin = $free > $now ? $free : $now;
			$free = $begin + $claim + $store;
			$busy += $claim + $store;
			my $took = $free - $now + $alone;
			$waited += $took;
			$longest = $took if $took > $longest;
			my $work = 8 + 72 * rand;
			$worked += $work;
			$claims++;
			my $next = int(100 * ($now + $took + $work));
			push @{$at[$next > $slot ? $next : $slot + 1]}, 1;
		}
		$at[$slot] = undef;
	}
	printf "%9d %12.1f %13.2f%% %13.3f%% %12.3f\n", $workers, $claims / 3600, 100 * $busy / 3600, 100 * $waited / ($waited + $worked), $longest;
	open my $out, '>>', $ARGV[0] or die "$ARGV[0]: $!\n";
	printf $out '{"tl":1,"type":"fleet_simulation","workers":%d,"claims_per_s":%.2f,"server_busy":%.5f,"coordination":%.6f,"longest_s":%.4f}' . "\n", $workers,
		$claims / 3600, $busy / 3600, $waited / ($waited + $worked), $longest;
	close $out;
}
