# Runs of tuning, as the benches that compare them read them (bench/runs.pl, bench/tune.pl): DIR holds runs, a line a run (WAY SEED
# START END), WAY.SEED.all, what the run's database holds in the end, and WAY.SEED.best, the best of each workload.
package Runs;
use strict;
use warnings;
use Exporter 'import';
use Records;
use Time::Local 'timegm';

our @EXPORT = qw(seconds runs as_candidate put_incumbents);

sub seconds {
	my ($y, $m, $d, $h, $min, $s) = $_[0] =~ /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):([\d.]+)Z$/ or die "no time: $_[0]\n";
	return timegm(0, $min, $h, $d, $m - 1, $y) + $s;
}

# The runs in their order: way, seed, start, end, the results of the run, and steps: [time, workload, candidate, line], a candidate
# that was then the best.
sub runs {
	my ($dir) = @_;
	my @runs;
	open my $f, '<', "$dir/runs" or die "$dir/runs: $!\n";
	while (<$f>) {
		my ($way, $seed, $start, $end) = split;
		my (%best, @steps);
		my @all = grep { seconds(field($_, 'at')) >= $start } lines("$dir/$way.$seed.all", 'result'); # others were there before
		my @results = sort { field($a, 'at') cmp field($b, 'at') } grep { /"status":"ok"/ } @all;
		for (@results) {
			my ($id, $t) = (field($_, 'workload_id'), field($_, 'latency_s'));
			next if defined $best{$id} && $t >= $best{$id};
			$best{$id} = $t;
			push @steps, [seconds(field($_, 'at')), $id, field($_, 'candidate_id'), $_];
		}
		# What it ended with, its duels tell, and not the least of times that were taken at different moments.
		my %last = map { $_->[1] => $_->[2] } @steps;
		for (lines("$dir/$way.$seed.best", 'result')) {
			my ($id, $candidate) = (field($_, 'workload_id'), field($_, 'candidate_id'));
			push @steps, [$end, $id, $candidate, $_] if ($last{$id} // '') ne $candidate;
		}
		push @runs, {way => $way, seed => $seed, start => $start, end => $end, steps => \@steps, measured => scalar @results, all => \@all};
	}
	return @runs;
}

sub as_candidate { # result
	my ($line) = @_;
	$line =~ s/"type":"result"/"type":"candidate"/;
	$line =~ s/,"status":.*/}\n/s;
	return $line;
}

# Whatever was the best known of a run, by workload, three times; what a run ended with so many times more.
sub put_incumbents { # workloads, times more, runs
	my ($workloads, $more, @runs) = @_;
	my (%line, %last, @all, @ends); # by workload and candidate
	for my $run (@runs) {
		my %end;
		for my $step (@{$run->{steps}}) {
			my ($at, $id, $candidate, $line) = @$step;
			$line{$id}{$candidate} //= as_candidate($line);
			$end{$id} = $candidate;
		}
		$last{$_}{$end{$_}} = 1 for keys %end;
	}
	srand 1;
	for (lines($workloads, 'workload')) {
		my $id = field($_, 'workload_id');
		my @last = sort keys %{$last{$id}};
		push @ends, [$_, map { $line{$id}{$_} } @last];
		push @all, [@{$ends[-1]}, map { $line{$id}{$_} } grep { !$last{$id}{$_} } sort keys %{$line{$id}}];
	}
	put_passes(3, @all);
	put_passes($more, @ends);
}

1;
