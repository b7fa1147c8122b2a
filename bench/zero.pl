#!/usr/bin/perl
# The records behind make bench-zero (bench/zero.sh).
#
#   others [WORKLOADS...]                          of the results on standard input, those of other families than these
#                                                  workloads': not equal but for spatial size, batch and post-ops; each
#                                                  with a run, which a recorded space does not tell and a database wants
#   looks WORKLOADS CANDIDATES                     each candidate twice, by workload
#   again WORKLOADS CANDIDATES RESULTS             the best of each way by these results, nine times, by workload
#   table NETWORK WORKLOADS CANDIDATES RESULTS AGAIN    what the ways reach, by the times that "again" got; the figures to
#                                                  standard error
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
		s/"status":/"run":"$no_run",$&/ if !/"run":"/;
		print;
	}
}

sub looks {
	my ($workloads, $candidates) = @_;
	my (%of, %seen);
	for (lines($candidates, 'candidate')) {
		push @{$of{field($_, 'workload_id')}}, $_ if !$seen{field($_, 'candidate_id')}++;
	}
	srand 1;
	for (lines($workloads, 'workload')) {
		put_looks(2, $_, map { s/,"x":\{[^}]*\}//r } @{$of{field($_, 'workload_id')} // []});
	}
}

# By way and workload, the candidate that the results have as its best.
sub best_of {
	my ($candidates, $results) = @_;
	my %time = times_of(lines($results, 'result'));
	my (%best, %least);
	for (lines($candidates, 'candidate')) {
		my ($way) = /"way":"(\w+)"/;
		my $id = field($_, 'workload_id');
		my $t = $time{field($_, 'candidate_id')} // next;
		next if defined $least{$way}{$id} && $t >= $least{$way}{$id};
		$least{$way}{$id} = $t;
		$best{$way}{$id} = $_;
	}
	return \%best;
}

# The least of many looks is the luckiest: a way with 64 candidates would win against one with one by that alone. So what the ways
# have chosen is looked at anew, all as often, and only that counts.
sub again {
	my ($workloads, $candidates, $results) = @_;
	my $best = best_of($candidates, $results);
	srand 2;
	for (lines($workloads, 'workload')) {
		my $id = field($_, 'workload_id');
		my %chosen = map { field($_, 'candidate_id') => s/,"x":\{[^}]*\}//r } grep { defined } map { $best->{$_}{$id} } keys %$best;
		put_looks(9, $_, map { $chosen{$_} } sort keys %chosen);
	}
}

sub table {
	my ($network, $workloads, $candidates, $results, $again) = @_;
	my $chosen = best_of($candidates, $results);
	my @again = lines($again, 'result');
	my %time = times_of(@again);
	my %best;
	my %ways = map { $_ => 1 } keys %$chosen;
	for my $way (keys %ways) {
		for my $id (keys %{$chosen->{$way}}) {
			my $t = $time{field($chosen->{$way}{$id}, 'candidate_id')} // next;
			$best{$way}{$id} = $t;
			$best{best}{$id} = $t if !defined $best{best}{$id} || $t < $best{best}{$id};
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
	}
	printf "%s: %d workloads; the best of all %.1f us\n", $network, $n, 1e6 * $sum{best};
	for my $w (sort { $sum{$a} <=> $sum{$b} } keys %ways) {
		my @over = ($sum{$w} / $sum{tuned}, $sum{$w} / $sum{best}, exp($logs{$w} / $n));
		printf "%-14s %9.1f us  %.3f of what tuning found, %.3f of the best of all (geometric mean over workloads %.3f)\n", $w, 1e6 * $sum{$w}, @over;
		printf STDERR qq({"tl":1,"type":"zero","network":"%s","way":"%s","latency_s":%.6g,"best_s":%.6g,"over_tuned":%.4f,"over_best":%.4f,"mean":%.4f}\n),
			$network, $w, $sum{$w}, $sum{best}, @over;
	}
}

# Over networks, from the figures of all: over what tuning found, and over the best of all.
sub networks {
	my ($figures) = @_;
	my (%logs, %worst, %n);
	for (lines($figures, 'zero')) {
		my $way = field($_, 'way');
		$n{$way}++;
		for my $over (qw(tuned best)) {
			my $x = field($_, "over_$over");
			$logs{$over}{$way} += log $x;
			$worst{$over}{$way} = $x if $x > ($worst{$over}{$way} // 0);
		}
	}
	for my $way (sort { $logs{best}{$a} <=> $logs{best}{$b} } keys %n) {
		printf "%-14s over %d networks: geometric mean %.3f, worst %.3f of what tuning found; %.3f, %.3f of the best of all\n", $way, $n{$way},
			map { (exp($logs{$_}{$way} / $n{$way}), $worst{$_}{$way}) } qw(tuned best);
	}
}

my %do = (others => \&others, looks => \&looks, again => \&again, table => \&table, networks => \&networks);
my $what = shift // '';
die "usage: zero.pl others|looks|again|table|networks ...\n" if !$do{$what};
$do{$what}->(@ARGV);
