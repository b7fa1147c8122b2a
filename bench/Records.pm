# Records as the benches read them: lines of text, of which a field or two are wanted.
package Records;
use strict;
use warnings;
use Exporter 'import';
use List::Util 'shuffle';

our @EXPORT = qw(field lines put_group put_looks put_passes times_of);

sub field { # line, name: the first of that name, without quotes
	my ($line, $name) = @_;
	return $line =~ /"\Q$name\E":"?([^",}]*)/ ? $1 : undef;
}

sub lines { # file, type: its records of that type
	my ($file, $type) = @_;
	open my $f, '<', $file or die "$file: $!\n";
	return grep { /^\{"tl":1,"type":"$type"/ } <$f>;
}

sub put_group { # the workload's record, its candidates'
	my ($workload, @candidates) = @_;
	my $id = field($workload, 'workload_id');
	print $workload, @candidates;
	print qq({"tl":1,"type":"end","workload_id":"$id","drawn":), scalar @candidates, qq(,"why":"n reached"}\n);
}

# Each candidate so many times, in a random order: what is to be compared is not timed at one moment each.
sub put_looks { # times, the workload's record, its candidates'
	my ($times, $workload, @candidates) = @_;
	put_group($workload, map { shuffle(@candidates) } 1 .. $times);
}

# The workloads one after the other, so many times: looks at a candidate are minutes apart. What lies beyond the second cache takes two
# or three times as long while neighbours fill the third, and that changes within seconds. The first candidate of each is what the
# others duel with.
sub put_passes { # times, [the workload's record, its candidates'], ...
	my ($times, @groups) = @_;
	for (1 .. $times) {
		for my $group (@groups) {
			my ($workload, $reference, @others) = @$group;
			put_group($workload, $reference // (), shuffle(@others));
		}
	}
}

# By candidate, the median of its looks: the least of many single ones is the luckiest's. Where they were duels with one
# reference a workload, a time is the reference's over their ratio. What did not end well takes for ever.
sub times_of { # results
	my (%reference, %looks, %time);
	my $median = sub { my @t = sort { $a <=> $b } @_; $t[$#t / 2] };
	for (@_) {
		push @{$reference{field($_, 'workload_id')}}, $1 if /"duel":\{[^}]*"latency_s":([^,}]*)/;
	}
	for (@_) {
		my $all = $reference{field($_, 'workload_id')};
		my $ratio = /"duel":\{[^}]*"ratio":([^,}]*)/ ? $1 : 1; # who has none is the reference
		my $time = $all ? $median->(@$all) / $ratio : field($_, 'latency_s');
		push @{$looks{field($_, 'candidate_id')}}, /"status":"ok"/ ? $time : 9e9;
	}
	$time{$_} = $median->(@{$looks{$_}}) for keys %looks;
	return %time;
}

1;
