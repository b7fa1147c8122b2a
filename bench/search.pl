#!/usr/bin/perl
# The records behind make bench-search (bench/search.sh). DIR is as in bench/Compared.pm.
#
#   span ALL                            when a simulated run began and ended, by what its database holds
#   looks DIR                           of results, those of races of DIR's workloads
#   table DIR NETWORK CORES FIRST       the table; figures on standard error; the curves in DIR/curves
#   gate DIR NETWORK CORES              the table of live and simulated runs; figures on standard error
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use List::Util qw(max min sum0);
use Compared;
use Records;
use Runs;

my $close = 0.1; # cost and latency of a simulated run

# The clock of tl-replay starts with its first run; all runs of the programs are behind one another.
sub span {
	my ($path) = @_;
	my @runs = lines($path, 'run');
	my @replays = grep { field($_, 'program') eq 'tl-replay' } @runs or die "$path: no simulated run\n";
	my $start = min map { seconds(field($_, 'at')) - field($_, 'wall_s') } @replays;
	printf "%.6f %.6f\n", $start, $start + sum0 map { field($_, 'wall_s') } @runs;
}

sub looks {
	my ($dir) = @_;
	my ($count) = workloads($dir);
	while (<STDIN>) {
		print if /^\{"tl":1,"type":"result"/ && !/"stage":"final"/ && $count->{field($_, 'workload_id')};
	}
}

sub mean { @_ ? sum0(@_) / @_ : undef }

sub median { my @x = sort { $a <=> $b } @_; @x ? $x[$#x / 2] : undef }

# Shows the geometric mean of ratios, with a 95% interval by bootstrap.
sub paired {
	my @log = map { log } @_;
	return '-' if !@log;
	srand 3;
	my @means = sort { $a <=> $b } map { mean(map { $log[rand @log] } @log) } 1 .. 2000;
	return sprintf '%.2f (%.2f to %.2f, %d seeds)', exp mean(@log), exp $means[50], exp $means[1949], scalar @log;
}

# The first policy's core-seconds over a rival's, by seed.
sub against {
	my ($first, $ours, $way, @runs) = @_;
	my @pairs = map { $ours->{$_->{seed}} ? [$ours->{$_->{seed}}, $_] : () } @runs;
	my @reached = grep { defined $_->[2] } map { [@$_, cost_of($_->[0]{end_s}, @{$_->[1]{trace}})] } @pairs;
	printf "%s over %s: %s at their own stops; %s with an oracle that stops %s when it is as good, which %d of %d runs were\n", $first, $way,
		paired(map { $_->[0]{cost} / $_->[1]{cost} } @pairs), paired(map { $_->[0]{cost} / max($_->[2], 1e-9) } @reached), $way,
		scalar @reached, scalar @pairs;
}

sub put_policy {
	my ($way, $limit, $count, $best, $easy, @runs) = @_;
	my %is_easy = map { $_ => 1 } @$easy;
	my @ids = sort keys %$count;
	my @loss = map { 100 * $_ } loss_of($count, $best, \@ids, @runs), loss_between($count, $best, \@ids, @runs);
	my @to_best = grep { defined } map { $_->{to_best} } @runs;
	printf "%-26s%5d%24s%8.1f%%%8.1f%%%10.1f%%%14.1f%9.1f%14s%9d%8.0f%%\n", $way, scalar @runs, sprintf('%.1f%% (%.1f to %.1f)', @loss),
		100 * (max(map { $_->{end_s} } @runs) / $limit - 1), 100 * highest($best, @runs),
		100 * loss_of($count, $best, [grep { !$is_easy{$_} } @ids], @runs), mean(map { $_->{cost} } @runs), mean(map { $_->{alone} } @runs),
		shown(median(@to_best)), scalar @to_best, 100 * mean(map { $_->{wasted} } @runs);
}

sub table {
	my ($dir, $network, $cores, $first) = @_;
	my ($library, $limit, $count, $best, @runs) = compare($dir, $cores);
	my (%of, @ways);
	for (@runs) {
		push @ways, $_->{way} if !$of{$_->{way}};
		push @{$of{$_->{way}}}, $_;
	}
	@ways = sort { ($b eq $first) <=> ($a eq $first) } @ways;
	my @easy = easy($best, @{$of{$first}});
	printf "%s: %d workloads, simulated; the library %.1f us; L* %.1f us; %d easy workloads, which most runs of %s bring within 3%% of the best "
		. "with 8 candidates\n", $network, scalar keys %$count, 1e6 * $library, 1e6 * $limit, scalar @easy, $first;
	printf "%-26s%5s%24s%9s%9s%11s%14s%9s%14s%9s%9s\n", 'policy', 'runs', 'loss', 'at most', '95th', 'not easy', 'core-seconds', 'alone',
		'to 1% of L*', 'reached', 'wasted';
	put_policy($_, $limit, $count, $best, \@easy, @{$of{$_}}) for @ways;
	my %ours = map { $_->{seed} => $_ } @{$of{$first}};
	against($first, \%ours, $_, @{$of{$_}}) for grep { $_ ne $first } @ways;
	put_figures($network, $limit, @runs);
	put_curves("$dir/curves", $limit, @runs);
}

sub gate {
	my ($dir, $network, $cores) = @_;
	my ($library, $limit, $count, $best, @runs) = compare($dir, $cores);
	my %simulated = map { ("$_->{way} $_->{seed}") => $_ } @runs;
	my $far = 0;
	printf "%s: %d workloads; the library %.1f us\n", $network, scalar keys %$count, 1e6 * $library;
	printf "%-26s%5s%14s%12s%8s%14s%12s%8s\n", 'policy', 'seed', 'core-s, live', 'simulated', 'ratio', 'us, live', 'simulated', 'ratio';
	for my $live (grep { $_->{way} !~ /=simulated$/ } @runs) {
		my $other = $simulated{"$live->{way}=simulated $live->{seed}"} // next;
		my @ratio = map { $other->{$_} / $live->{$_} } qw(cost end_s);
		$far++ if grep { abs($_ - 1) > $close } @ratio;
		printf "%-26s%5d%14.1f%12.1f%8.2f%14.1f%12.1f%8.2f\n", $live->{way}, $live->{seed}, $live->{cost}, $other->{cost}, $ratio[0],
			1e6 * $live->{end_s}, 1e6 * $other->{end_s}, $ratio[1];
	}
	printf "%d of them differ by more than %.0f%%\n", $far, 100 * $close;
	put_figures($network, $limit, @runs);
}

my %do = (span => \&span, looks => \&looks, table => \&table, gate => \&gate);
my $what = shift // '';
die "usage: search.pl span|looks|table|gate ...\n" if !$do{$what};
$do{$what}->(@ARGV);
