#!/usr/bin/perl
# The records behind make bench-tune (bench/tune.sh). DIR holds what bench/Runs.pm says, workloads, and later looks and results: what
# was the best known of a run, timed again, and the best of them, timed again on another occasion.
#
#   incumbents DIR                      whatever was the best known of a run, by workload, three times
#   best DIR TIMES N                    what a run ended with, and the N best of each workload by DIR/looks, so many times
#   table DIR NETWORK CORES FIRST       the table; figures on standard error; the curves in DIR/curves
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use List::Util 'sum0';
use Compared;
use Records;
use Runs;

sub best {
	my ($dir, $times, $most) = @_;
	my ($count, @workloads) = workloads($dir);
	my @looks = lines("$dir/looks", 'result');
	my %time = times_of(@looks);
	my (%line, %of, %wanted);
	for (@looks) {
		my ($id, $candidate) = (field($_, 'workload_id'), field($_, 'candidate_id'));
		$line{$candidate} //= as_candidate($_);
		$of{$id}{$candidate} = $time{$candidate};
	}
	for my $run (runs($dir)) {
		my %last = map { $_->[1] => $_->[2] } @{$run->{steps}};
		$wanted{$_} = 1 for values %last;
	}
	my @groups;
	for (@workloads) {
		my $of = $of{field($_, 'workload_id')} // {};
		my @order = sort { $of->{$a} <=> $of->{$b} || $a cmp $b } keys %$of;
		my @chosen = grep { $wanted{$order[$_]} || $_ < $most } 0 .. $#order;
		push @groups, [$_, map { $line{$order[$_]} } @chosen];
	}
	srand 2;
	put_passes($times, @groups);
}

sub table {
	my ($dir, $network, $cores, $first) = @_;
	my ($library, $limit, $count, $best, @runs) = compare($dir, $cores);
	printf "%s: %d workloads; the library %.1f us; the best of all runs (L*) %.1f us\n", $network, scalar keys %$count, 1e6 * $library,
		1e6 * $limit;
	printf "%-26s%5s%9s%9s%11s%13s%9s%14s%14s%9s\n", 'policy', 'seed', 'loss', '95th', 'candidates', 'core-seconds', 'alone', 'to 1% of L*',
		'to 1% of end', 'wasted';
	printf "%-26s%5d%8.1f%%%8.1f%%%11d%13.1f%9.1f%14s%14s%8.0f%%\n", $_->{way}, $_->{seed}, 100 * ($_->{end_s} / $limit - 1),
		100 * highest($best, $_), $_->{measured}, $_->{cost}, $_->{alone}, shown($_->{to_best}), shown($_->{to_end}), 100 * $_->{wasted}
		for @runs;
	put_figures($network, $limit, @runs);
	put_curves("$dir/curves", $limit, @runs);
	against($first, @runs);
}

# Each rival against the first policy, by seed.
sub against {
	my ($first, @runs) = @_;
	my (%ours, %ratios, %never, @order);
	$ours{$_->{seed}} = $_ for grep { $_->{way} eq $first } @runs;
	for my $run (@runs) {
		my ($way, $our) = ($run->{way}, $ours{$run->{seed}});
		next if $way eq $first || !$our;
		push @order, $way if !exists $ratios{$way};
		my $theirs = cost_of($our->{end_s}, @{$run->{trace}});
		push @{$ratios{$way}}, $theirs ? $our->{cost} / $theirs : ();
		$never{$way}++ if !$theirs;
	}
	for my $way (@order) {
		my @r = sort { $a <=> $b } @{$ratios{$way}};
		my $mean = @r ? exp(sum0(map { log } @r) / @r) : undef;
		printf "%s against %s, stopped by an oracle when as good: %s%s\n", $first, $way,
			@r ? sprintf('%.2f of its core-seconds (%.2f to %.2f, %d seeds)', $mean, $r[0], $r[-1], scalar @r) : '',
			$never{$way} ? (@r ? '; ' : '') . "$never{$way} of its runs never was" : '';
	}
}

my %do = (
	incumbents => sub { my ($dir) = @_; put_incumbents("$dir/workloads", 0, runs($dir)) },
	best => \&best,
	table => \&table,
);
my $what = shift // '';
die "usage: tune.pl incumbents|best|table ...\n" if !$do{$what};
$do{$what}->(@ARGV);
