# Runs of tuning that were compared, for bench/tune.pl and bench/search.pl: DIR holds what bench/Runs.pm says, workloads, looks, the
# results of whatever was the best known of a run, and results, the best of them timed again on another occasion.
package Compared;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(min sum0);
use Records;
use Runs;

our @EXPORT = qw(workloads final_times compare cost_of easy loss_of loss_between highest put_figures put_curves shown number);

my ($close, $far) = (1.01, 1.5);
my ($few, $near) = (8, 1.03); # an easy workload comes so near to the best with its first few candidates

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

# The network's time along a run: [core-seconds, seconds]. Fills ends: each workload's time at the run's end.
sub trace {
	my ($run, $cores, $count, $time, $native, $ends) = @_;
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
	%$ends = map { $_ => $now{$_} } @ids;
	return @trace;
}

# By workload: the least time among the run's first few candidates, or the library's.
sub early {
	my ($run, $time, $native) = @_;
	my (%early, %tried);
	for (sort { field($a, 'at') cmp field($b, 'at') } @{$run->{all}}) {
		my $id = field($_, 'workload_id');
		$early{$id} //= $native->{$id} // 9e9;
		next if /"stage":"final"/ || $tried{$id}++ >= $few;
		$early{$id} = min($early{$id}, $time->{field($_, 'candidate_id')} // 9e9);
	}
	return \%early;
}

# The workloads that most of these runs bring near to the best with their first few candidates.
sub easy {
	my ($best, @runs) = @_;
	my @easy;
	for my $id (sort keys %$best) {
		my $near_runs = grep { ($_->{early}{$id} // 9e9) <= $near * $best->{$id} } @runs;
		push @easy, $id if 2 * $near_runs > @runs;
	}
	return @easy;
}

# The loss of runs at their ends over these workloads: how much longer they take than the best, together.
sub loss_of {
	my ($count, $best, $ids, @runs) = @_;
	my $least = sum0 map { $count->{$_} * $best->{$_} } @$ids;
	my $mean = sum0(map { my $run = $_; map { $count->{$_} * $run->{ends}{$_} } @$ids } @runs) / @runs;
	return $least ? $mean / $least - 1 : 0;
}

# The same, a 95% interval by bootstrap over workloads and runs.
sub loss_between {
	my ($count, $best, $ids, @runs) = @_;
	srand 5;
	my @loss = sort { $a <=> $b } map {
		loss_of($count, $best, [map { $ids->[rand @$ids] } @$ids], map { $runs[rand @runs] } @runs)
	} 1 .. 1000;
	return @loss[25, 974];
}

# The loss at the 95th percentile of the workloads of these runs.
sub highest {
	my ($best, @runs) = @_;
	my @loss = sort { $a <=> $b } map { my $ends = $_->{ends}; map { $ends->{$_} / $best->{$_} - 1 } keys %$ends } @runs;
	return $loss[0.95 * $#loss];
}

# The core-seconds at which the time is at most this for the first time.
sub cost_of {
	my ($limit, @trace) = @_;
	my ($first) = grep { $_->[1] <= $limit } @trace;
	return $first ? $first->[0] : undef;
}

# What a run's candidates cost alone, in core-seconds, and which part of it went to failures and to those far from the best.
sub spent {
	my ($run, $best) = @_;
	my ($all, $wasted) = (0, 0);
	for (@{$run->{all}}) {
		my $cost = /"cost":\{[^}]*"core_s":([\d.e-]+)/ ? $1 : next;
		my $t = /"status":"(?:ok|preempted)"/ ? field($_, 'latency_s') : undef;
		next if /"stage":"final"/;
		$all += $cost;
		$wasted += $cost if !defined $t || $t > $far * $best->{field($_, 'workload_id')};
	}
	return ($all, $all ? $wasted / $all : 0);
}

sub shown { defined $_[0] ? sprintf '%.1f', $_[0] : '-' }

sub number { defined $_[0] ? sprintf '%.6g', $_[0] : 'null' }

# The network's time of the library, the best one of all runs, counts and best times by workload, and the runs, each with what it cost
# and reached: cost, alone (core-seconds, all of them and those of its candidates), end_s, ends and early (by workload), to_best,
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
		my @trace = trace($run, $cores, $count, $time, $native, \my %ends);
		my $end = $trace[-1][1];
		@$run{qw(trace end_s cost)} = (\@trace, $end, ($run->{end} - $run->{start}) * $cores);
		@$run{qw(to_best to_end)} = (cost_of($close * $limit, @trace), cost_of($close * $end, @trace));
		@$run{qw(alone wasted)} = spent($run, \%best);
		@$run{qw(ends early)} = (\%ends, early($run, $time, $native));
	}
	return ($library, $limit, $count, \%best, @runs);
}

# They go to standard error, a line a run.
sub put_figures {
	my ($network, $limit, @runs) = @_;
	printf STDERR qq({"tl":1,"type":"run-of-tuning","network":"%s","way":"%s","seed":%d,"latency_s":%.6g,"best_s":%.6g,"core_s":%.4g,)
		. qq("core_s_alone":%.4g,"core_s_to_best":%s,"core_s_to_end":%s,"wasted":%.3g,"candidates":%d}\n),
		$network, $_->{way}, $_->{seed}, $_->{end_s}, $limit, $_->{cost}, $_->{alone}, number($_->{to_best}), number($_->{to_end}),
		$_->{wasted}, $_->{measured}
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
