#!/usr/bin/perl
# The records behind runs of tuning that are compared (bench/runs.sh). DIR holds what bench/Runs.pm says, and results, the incumbents
# of all runs measured again.
#
#   incumbents WORKLOADS DIR              whatever was the best known of a run, by workload, three times; what a run ended with nine
#                                         times more
#   table NETWORK CORES WORKLOADS DIR     what the runs reached, and when
#   reverse                               a recorded space, with each workload's times turned round: the slowest has the best
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Records;
use Runs;

my $close = 1.01;

# Results as make spaces records them: a workload's stand together.
sub reverse_times {
	my (@group, $id);
	my $flush = sub {
		my @times = sort { $a <=> $b } map { field($_, 'latency_s') } grep { /"status":"ok"/ } @group;
		my %turned;
		@turned{@times} = reverse @times;
		for (@group) {
			s/("latency_s":)([\d.e-]+)/$1$turned{$2}/ if /"status":"ok"/;
			s/,"samples_s":\[[^\]]*\]//;
			print;
		}
		@group = ();
	};
	while (<STDIN>) {
		my ($of) = /^\{"tl":1,"type":"result","workload":\{"workload_id":"(\w*)"/;
		if (!defined $of) {
			print;
			next;
		}
		$flush->() if defined $id && $of ne $id;
		$id = $of;
		push @group, $_;
	}
	$flush->();
}

sub table {
	my ($network, $cores, $workloads, $dir) = @_;
	my (%count, $library, %native);
	my @results = lines("$dir/results", 'result');
	my %time = times_of(@results);
	for (@results) {
		$native{field($_, 'workload_id')} = $1 if /"baseline":\{[^}]*"latency_s":([\d.e-]+)/;
	}
	$count{field($_, 'workload_id')} = field($_, 'count') // 1 for lines($workloads, 'workload');
	$library += $count{$_} * ($native{$_} // 0) for keys %count;
	my @runs = runs($dir);
	my $target = 0;
	for my $run (@runs) {
		my (%now, @trace);
		for my $step (@{$run->{steps}}) {
			my ($at, $id, $candidate) = @$step;
			$now{$id} = $time{$candidate} // next;
			next if keys %now < keys %count;
			my $sum = 0;
			$sum += $count{$_} * $now{$_} for keys %count;
			push @trace, [($at - $run->{start}) * $cores, $sum];
		}
		die "$run->{way} $run->{seed}: no schedule for some workload\n" if !@trace;
		$run->{trace} = \@trace;
		$run->{final} = $trace[-1][1];
		$target = $run->{final} if $run->{final} > $target;
	}
	printf "%s: %d workloads; the library %.1f us; all runs reach %.1f us\n", $network, scalar keys %count, 1e6 * $library, 1e6 * $target;
	printf "%-8s%6s%14s%14s%16s%22s\n", 'way', 'seed', 'latency, us', 'candidates', 'core-seconds', 'to within 1% of all';
	for my $run (@runs) {
		my ($first) = grep { $_->[1] <= $close * $target } @{$run->{trace}};
		printf "%-8s%6d%14.1f%14d%16.1f%22.1f\n", $run->{way}, $run->{seed}, 1e6 * $run->{final}, $run->{measured},
			($run->{end} - $run->{start}) * $cores, $first->[0];
		printf STDERR qq({"tl":1,"type":"run-of-tuning","network":"%s","way":"%s","seed":%d,"latency_s":%.6g,"core_s":%.4g,"core_s_to_target":%.4g}\n),
			$network, $run->{way}, $run->{seed}, $run->{final}, ($run->{end} - $run->{start}) * $cores, $first->[0];
	}
}

my %do = (incumbents => sub { my ($workloads, $dir) = @_; put_incumbents($workloads, 9, runs($dir)) }, table => \&table, reverse => \&reverse_times);
my $what = shift // '';
die "usage: runs.pl incumbents|table|reverse ...\n" if !$do{$what};
$do{$what}->(@ARGV);
