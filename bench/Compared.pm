# Runs of tuning that were compared, for bench/tune.pl and bench/search.pl: DIR holds what bench/Runs.pm says, workloads, looks, the
# results of whatever was the best known of a run, and results, the best of them timed again on another occasion.
package Compared;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(min sum0);
use Records;
use Runs;

our @EXPORT = qw(workloads final_times compare cost_of put_figures put_curves shown number);

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
	my (@trace, @ids);
	@ids = keys %$count;
	# It is known when each workload has a time, of a candidate or of the library.
	my $note = sub {
		push @trace, [$_[0], sum0 map { $count->{$_} * $now{$_} } @ids] if @ids == grep { $now{$_} } @ids;
	};
	$note->(0);
	for my $step (@{$run->{steps}}) {
		my ($at, $id, $candidate) = @$step;
		# It is what the run believed to be the best, be it or not.
		$now{$id} = min($time->{$candidate} // 9e9, $native->{$id} // 9e9);
		$note->(($at - $run->{start}) * $cores);
	}
	die "$run->{way} $run->{seed}: neither a schedule nor the library's time for some workload\n" if !@trace;
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

# The network's time of the library, the best one of all runs, and the runs, each with what it cost and reached: cost, end, to_best,
# to_end (core-seconds, undef: never), wasted, trace.
sub compare {
	my ($dir, $cores) = @_;
	my ($count) = workloads($dir);
	my ($time, $of, $native) = final_times($dir);
	my %best = %$native;
	for (keys %$time) {
		my $id = $of->{$_};
		$best{$id} = $time->{$_} if $time->{$_} < ($best{$id} // 9e9);
	}
	my ($limit, $library) = map { my $t = $_; sum0 map { $count->{$_} * ($t->{$_} // 0) } keys %$count } \%best, $native;
	my @runs = runs($dir);
	for my $run (@runs) {
		my @trace = trace($run, $cores, $count, $time, $native);
		my $end = $trace[-1][1];
		@$run{qw(trace end_s cost)} = (\@trace, $end, ($run->{end} - $run->{start}) * $cores);
		@$run{qw(to_best to_end)} = (cost_of($close * $limit, @trace), cost_of($close * $end, @trace));
		$run->{wasted} = wasted($run, \%best);
	}
	return ($library, $limit, scalar keys %$count, @runs);
}

# They go to standard error, a line a run.
sub put_figures {
	my ($network, $limit, @runs) = @_;
	printf STDERR qq({"tl":1,"type":"run-of-tuning","network":"%s","way":"%s","seed":%d,"latency_s":%.6g,"best_s":%.6g,"core_s":%.4g,)
		. qq("core_s_to_best":%s,"core_s_to_end":%s,"wasted":%.3g,"candidates":%d}\n),
		$network, $_->{way}, $_->{seed}, $_->{end_s}, $limit, $_->{cost}, number($_->{to_best}), number($_->{to_end}), $_->{wasted}, $_->{measured}
		for @runs;
}

# A line holds way, seed, core-seconds, loss.
sub put_curves {
	my ($path, $limit, @runs) = @_;
	open my $curves, '>', $path or die "$path: $!\n";
	for my $run (@runs) {
		printf $curves "%s\t%d\t%.2f\t%.5f\n", $run->{way}, $run->{seed}, $_->[0], $_->[1] / $limit - 1 for @{$run->{trace}};
	}
}

1;
