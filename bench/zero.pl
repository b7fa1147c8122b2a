#!/usr/bin/perl
# The records behind make bench-zero (bench/zero.sh).
#
#   once WORKLOADS CANDIDATES                      each candidate once, by workload
#   table NETWORK WORKLOADS CANDIDATES RESULTS     what the ways reach
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Records;

sub once {
	my ($workloads, $candidates) = @_;
	my (%of, %seen);
	for (lines($candidates, 'candidate')) {
		push @{$of{field($_, 'workload_id')}}, $_ if !$seen{field($_, 'candidate_id')}++;
	}
	for (lines($workloads, 'workload')) {
		put_group($_, map { s/,"x":\{[^}]*\}//r } @{$of{field($_, 'workload_id')} // []});
	}
}

sub table {
	my ($network, $workloads, $candidates, $results) = @_;
	my (%time, %best, %ways, %baseline);
	for (lines($results, 'result')) {
		my $ok = /"status":"ok"/;
		$time{field($_, 'candidate_id')} = $ok ? field($_, 'latency_s') : 9e9;
		$baseline{field($_, 'workload_id')} = $1 if /"baseline":\{[^}]*"latency_s":([\d.e-]+)/;
	}
	for (lines($candidates, 'candidate')) {
		my ($way) = /"way":"(\w+)"/;
		my $id = field($_, 'workload_id');
		my $t = $time{field($_, 'candidate_id')} // next;
		$ways{$way} = 1;
		for my $w ($way, 'best') {
			$best{$w}{$id} = $t if !defined $best{$w}{$id} || $t < $best{$w}{$id};
		}
	}
	my (%sum, %logs, $n);
	for (lines($workloads, 'workload')) {
		my $id = field($_, 'workload_id');
		my $count = field($_, 'count') // 1;
		$n++;
		for my $w ('best', keys %ways) {
			$sum{$w} += $count * ($best{$w}{$id} // 9e9);
			$logs{$w} += log(($best{$w}{$id} // 9e9) / $best{best}{$id});
		}
		$sum{library} += $count * ($baseline{$id} // 0);
	}
	printf "%s: %d workloads; the best of all %.1f us, the library %.1f us\n", $network, $n, 1e6 * $sum{best}, 1e6 * $sum{library};
	for my $w (sort { $sum{$a} <=> $sum{$b} } keys %ways) {
		printf "%-14s %9.1f us  %.3f of the best of all (geometric mean over workloads %.3f)\n", $w, 1e6 * $sum{$w},
			$sum{$w} / $sum{best}, exp($logs{$w} / $n);
	}
}

my %do = (once => \&once, table => \&table);
my $what = shift // '';
die "usage: zero.pl once|table ...\n" if !$do{$what};
$do{$what}->(@ARGV);
