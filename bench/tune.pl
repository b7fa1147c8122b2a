#!/usr/bin/perl
# The records behind make bench-tune (bench/tune.sh). DIR holds what bench/Runs.pm says, workloads, and later looks and results: what
# was the best known of a run, timed again, and the best of them, timed again on another occasion.
#
#   incumbents DIR                      whatever was the best known of a run, by workload, three times
#   best DIR TIMES                      what a run ended with, and the four best of each workload by DIR/looks, so many times
#   table DIR NETWORK CORES FIRST       the table; figures on standard error; the curves in DIR/curves
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use List::Util qw(min sum0);
use Records;
use Runs;

my ($close, $far) = (1.01, 1.5);

# By workload: its records, its count.
sub workloads {
	my ($dir) = @_;
	my (%count, @lines);
	for (lines("$dir/workloads", 'workload')) {
		push @lines, $_;
		$count{field($_, 'workload_id')} = field($_, 'count') // 1;
	}
	return (\%count, @lines);
}

sub best {
	my ($dir, $times) = @_;
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
	srand 2;
	for (@workloads) {
		my $of = $of{field($_, 'workload_id')} // {};
		my @order = sort { $of->{$a} <=> $of->{$b} || $a cmp $b } keys %$of;
		my @chosen = grep { $wanted{$order[$_]} || $_ < 4 } 0 .. $#order;
		put_looks($times, $_, map { $line{$order[$_]} } @chosen);
	}
}

# The times that count: of the second occasion; what only had the first is brought to its scale by those that had both.
sub final_times {
	my ($dir) = @_;
	my @looks = lines("$dir/looks", 'result');
	my @finals = grep { /"stage":"final"/ } lines("$dir/results", 'result');
	my @results = grep { !/"stage":"final"/ } lines("$dir/results", 'result');
	my (%first, %second, %of, %native);
	%first = times_of(@looks);
	%second = times_of(@results);
	$of{field($_, 'candidate_id')} = field($_, 'workload_id') for @looks, @results;
	my (%scales, %scale);
	push @{$scales{$of{$_}}}, $second{$_} / $first{$_} for grep { $first{$_} && $first{$_} < 1e9 && $second{$_} < 1e9 } keys %second;
	for my $id (keys %scales) {
		my @s = sort { $a <=> $b } @{$scales{$id}};
		$scale{$id} = $s[$#s / 2];
	}
	my %time = map { $_ => $second{$_} // $first{$_} * ($scale{$of{$_}} // 1) } keys %first;
	for (@finals) {
		my $t = $time{field($_, 'candidate_id')} // next;
		$native{field($_, 'workload_id')} = $t * $1 if /"ratio":\{"median":([\d.e-]+),"ci":\[[^]]*\]\},"verdict"/;
	}
	return (\%time, \%of, \%native);
}

# The network's time along a run: [core-seconds, seconds].
sub trace {
	my ($run, $cores, $count, $time, $native) = @_;
	my %now = %$native;
	my $sum = sub { sum0 map { $count->{$_} * ($now{$_} // 0) } keys %$count };
	my @trace = ([0, $sum->()]);
	for my $step (@{$run->{steps}}) {
		my ($at, $id, $candidate) = @$step;
		# It is what the run believed to be the best, be it or not.
		$now{$id} = min($time->{$candidate} // 9e9, $native->{$id} // 9e9);
		push @trace, [($at - $run->{start}) * $cores, $sum->()];
	}
	return @trace;
}

# The core-seconds at which the time is at most this for the first time.
sub cost_of {
	my ($limit, @trace) = @_;
	my ($first) = grep { $_->[1] <= $limit } @trace;
	return $first ? $first->[0] : undef;
}

# Which part of the cost of a run's candidates went to failures and to those far from the best.
sub wasted {
	my ($run, $best) = @_;
	my ($all, $wasted) = (0, 0);
	for (@{$run->{all}}) {
		my $cost = /"cost":\{[^}]*"core_s":([\d.e-]+)/ ? $1 : next;
		my $t = /"status":"(?:ok|preempted)"/ ? field($_, 'latency_s') : undef;
		next if /"stage":"final"/;
		$all += $cost;
		$wasted += $cost if !defined $t || $t > $far * $best->{field($_, 'workload_id')};
	}
	return $all ? $wasted / $all : 0;
}

sub shown { defined $_[0] ? sprintf '%.1f', $_[0] : '-' }

sub number { defined $_[0] ? sprintf '%.6g', $_[0] : 'null' }

sub table {
	my ($dir, $network, $cores, $first) = @_;
	my ($count) = workloads($dir);
	my ($time, $of, $native) = final_times($dir);
	my %best = %$native;
	for (keys %$time) {
		my $id = $of->{$_};
		$best{$id} = $time->{$_} if $time->{$_} < ($best{$id} // 9e9);
	}
	my ($limit, $library) = map { my $t = $_; sum0 map { $count->{$_} * ($t->{$_} // 0) } keys %$count } \%best, $native;
	my @runs = runs($dir);
	my (%cost, %end, %trace);
	open my $curves, '>', "$dir/curves" or die "$dir/curves: $!\n";
	printf "%s: %d workloads; the library %.1f us; the best of all runs (L*) %.1f us\n", $network, scalar keys %$count, 1e6 * $library, 1e6 * $limit;
	printf "%-26s%5s%9s%11s%13s%14s%14s%9s\n", 'policy', 'seed', 'loss', 'candidates', 'core-seconds', 'to 1% of L*', 'to 1% of end', 'wasted';
	for my $run (@runs) {
		my @trace = trace($run, $cores, $count, $time, $native);
		my $end = $trace[-1][1];
		my $all = ($run->{end} - $run->{start}) * $cores;
		my ($to_best, $to_end) = (cost_of($close * $limit, @trace), cost_of($close * $end, @trace));
		my $wasted = wasted($run, \%best);
		my $key = "$run->{way} $run->{seed}";
		($cost{$key}, $end{$key}, $trace{$key}) = ($all, $end, \@trace);
		printf "%-26s%5d%8.1f%%%11d%13.1f%14s%14s%8.0f%%\n", $run->{way}, $run->{seed}, 100 * ($end / $limit - 1), $run->{measured}, $all,
			shown($to_best), shown($to_end), 100 * $wasted;
		printf STDERR qq({"tl":1,"type":"run-of-tuning","network":"%s","way":"%s","seed":%d,"latency_s":%.6g,"best_s":%.6g,"core_s":%.4g,)
			. qq("core_s_to_best":%s,"core_s_to_end":%s,"wasted":%.3g,"candidates":%d}\n),
			$network, $run->{way}, $run->{seed}, $end, $limit, $all, number($to_best), number($to_end), $wasted, $run->{measured};
		printf $curves "%s\t%d\t%.2f\t%.5f\n", $run->{way}, $run->{seed}, $_->[0], $_->[1] / $limit - 1 for @trace;
	}
	against(\@runs, $first, \%cost, \%end, \%trace);
}

# Each rival against the first policy, by seed.
sub against {
	my ($runs, $first, $cost, $end, $trace) = @_;
	my (%ratios, %never, @order);
	for my $run (@$runs) {
		my ($way, $seed) = @$run{qw(way seed)};
		my $ours = $cost->{"$first $seed"};
		next if $way eq $first || !$ours;
		push @order, $way if !exists $ratios{$way};
		my $theirs = cost_of($end->{"$first $seed"}, @{$trace->{"$way $seed"}});
		push @{$ratios{$way}}, $theirs ? $ours / $theirs : ();
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
