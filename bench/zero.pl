#!/usr/bin/perl
# The records behind make bench-zero (bench/zero.sh).
#
#   others WORKLOADS...                            of the results on standard input, those of other families than these
#                                                  workloads': not equal but for spatial size, batch and post-ops
#   once WORKLOADS CANDIDATES                      each candidate once, by workload
#   table NETWORK WORKLOADS CANDIDATES RESULTS     what the ways reach; the figures to standard error
#   networks FIGURES                               the same, over all networks
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Records;

my $no_run = '0' x 32;

# As tl-train --exclude has it (lib/model/dataset.h), or coarser: padding and constants are not told apart.
sub family {
	my ($line) = @_;
	my $prob = field($line, 'prob');
	return $1 if $prob =~ /(\d+x\d+)$/; # a matrix product: what it sums over and its columns
	return $prob =~ s/(mb|[io][hw]|p[hw])\d+//gr;
}

sub others {
	my %test = map { family($_) => 1 } map { lines($_, 'workload') } @_;
	while (<STDIN>) {
		next if $test{family($_)};
		s/"status":/"run":"$no_run",$&/ if !/"run":/; # a recorded space does not tell
		print;
	}
}

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
		printf STDERR qq({"tl":1,"type":"zero","network":"%s","way":"%s","latency_s":%.6g,"best_s":%.6g,"library_s":%.6g,"over_best":%.4f,"mean":%.4f}\n),
			$network, $w, $sum{$w}, $sum{best}, $sum{library}, $sum{$w} / $sum{best}, exp($logs{$w} / $n);
	}
}

# Over networks, from the figures of all.
sub networks {
	my ($figures) = @_;
	my (%logs, %worst, %n);
	for (lines($figures, 'zero')) {
		my ($way, $x) = (field($_, 'way'), field($_, 'over_best'));
		$logs{$way} += log $x;
		$n{$way}++;
		$worst{$way} = $x if $x > ($worst{$way} // 0);
	}
	for (sort { $logs{$a} / $n{$a} <=> $logs{$b} / $n{$b} } keys %logs) {
		printf "%-14s over %d networks: geometric mean %.3f, worst %.3f of the best of all\n", $_, $n{$_}, exp($logs{$_} / $n{$_}), $worst{$_};
	}
}

my %do = (others => \&others, once => \&once, table => \&table, networks => \&networks);
my $what = shift // '';
die "usage: zero.pl others|once|table|networks ...\n" if !$do{$what};
$do{$what}->(@ARGV);
