#!/usr/bin/perl
# The records behind make spaces (bench/spaces.sh).
#
#   near TIMES COPIES CANDIDATES LOOKS...   the candidates to look at again, those within TIMES the best, or twice that if they
#                                           were never looked at without neighbours: in a random order, COPIES times
#   settled LOOKS...                        status 0: those near the best are known well enough
#   merge LOOKS...                          one result a candidate, without what can be had again
#   split DIR N                             of a recorded set on standard input: each workload that has N results, to DIR/ID.space,
#                                           unless that is there
#
# CANDIDATES are the records of one workload, LOOKS results of them in the order in which they were measured, a file a run.
#
# A candidate's time is the median of its quiet looks, where there are any; else a low quantile of all (the first of four, the
# second of eight): neighbours on a shared machine make them longer, by half for minutes, by two for a few looks in a row, and
# never shorter. A first look, of few calls, is as good as a noisy one. To correct looks for how slow others were beside them
# was tried, and makes it worse: what slows one down is over, or there no more, when the next one runs.
# Of samples $raw are kept at most, evenly from all looks, to 4 digits; ids follow from the rest.
use strict;
use warnings;

my $low = 0.2;                        # the quantile of noisy looks
my ($close, $settled) = (1.15, 0.01); # times the best: those whose times are to be known, and how well
my ($doubt, $raw) = (2, 32);          # how far a look may be that neighbours disturbed; samples kept
my $wild = 1.5;                       # times its least sample: a time that is none

sub field { # line, name: a value without braces or brackets in it
	my ($line, $name) = @_;
	return $line =~ /"\Q$name\E":("[^"]*"|[^,}]*)/ ? $1 : undef;
}

sub key { # of a candidate, by what it is
	my ($line) = @_;
	return field($line, 'algo') . ($line =~ /"knobs":(\{[^}]*\})/)[0];
}

sub each_line {
	my ($file, $type, $do) = @_;
	open my $f, '<', $file or die "$file: $!\n";
	while (<$f>) {
		$do->($_) if /^\{"tl":1,"type":"$type"/;
	}
}

sub quantile { # share, values
	my ($q, @x) = @_;
	@x = sort { $a <=> $b } @x;
	return $x[int $#x * $q];
}

sub time_of { # looks
	my @quiet = grep { $_->[2] } @_;
	return @quiet ? quantile(0.5, map { $_->[0] } @quiet) : quantile($low, map { $_->[0] } @_);
}

# By candidate: its looks, each [seconds, samples, quiet, calm: so is a first one that nobody disturbed]; its record, that of a good
# look if there is one; and the order.
sub read_looks {
	my (%looks, %line, @order);
	my $first = $_[0];
	for my $file (@_) {
		each_line($file, 'result', sub {
			my ($line) = @_;
			my $key = key($line);
			my $ok = $line =~ /"status":"ok"/;
			push @order, $key if !$line{$key};
			$line{$key} = $line if !$line{$key} || ($ok && $line{$key} !~ /"status":"ok"/);
			return if !$ok;
			my ($samples) = $line =~ /"samples_s":\[([^\]]*)\]/;
			my $calm = $line !~ /"noisy":/;
			push @{$looks{$key}}, [field($line, 'latency_s'), $samples, $file ne $first && $calm, $calm];
		});
	}
	return (\%looks, \%line, \@order);
}

# How near a candidate may be: nothing makes a call shorter, but where threads wait for each other three of four calls were seen
# to take eighty times as long as the fourth.
sub least_time {
	my ($time, @looks) = @_;
	my $least = quantile(0, map { split /,/, $_->[1] } @looks);
	return $time > $wild * $least ? $least : $time;
}

sub read_times {
	my ($looks) = @_;
	return {map { $_ => time_of(@{$looks->{$_}}) } keys %$looks};
}

# What "near" is measured from: the fifth best, for the least of many times is the luckiest.
sub best {
	my @times = sort { $a <=> $b } values %{$_[0]};
	return $times[$#times < 4 ? $#times : 4] // 0;
}

sub near {
	my ($times, $copies, $candidates, @files) = @_;
	my ($looks) = read_looks(@files);
	my $time = read_times($looks);
	my $best = best($time);
	my @near;
	each_line($candidates, 'candidate', sub {
		my $key = key($_[0]);
		my $t = least_time($time->{$key} // return, @{$looks->{$key}});
		my $far = (grep { $_->[3] } @{$looks->{$key}}) ? $times : $times * $doubt;
		push @near, $_[0] if $t < $best * $far;
	});
	srand 1;
	for (1 .. $copies) {
		for my $i (reverse 1 .. $#near) {
			my $j = int rand $i + 1;
			@near[$i, $j] = @near[$j, $i];
		}
		print @near;
	}
}

sub short { sprintf '%.4g', $_[0] }

sub some { # samples of all looks, a text each
	my @x = map { split /,/ } @_;
	return join(',', map { short($x[$_ * @x / $raw]) } 0 .. $raw - 1) if @x > $raw;
	return join(',', map { short($_) } @x);
}

sub slim { # a result; its time, and samples, where it has any; is it the first?
	my ($line, $latency, $samples, $first) = @_;
	my ($workload) = $line =~ /"workload":(\{[^}]*\})/;
	my ($knobs) = $line =~ /"knobs":(\{[^}]*\})/;
	my ($l2, $max) = $line =~ /"error":\{"l2":([^,}]*),"max":([^,}]*)\}/;
	my $out = '{"tl":1,"type":"result","workload":' . $workload . ',"target":"cpu","algo":' . field($line, 'algo') .
		",\"knobs\":$knobs,\"status\":" . field($line, 'status');
	$out .= ',"stage":"race","latency_s":' . short($latency) if defined $latency;
	$out .= ",\"samples_s\":[$samples]" if defined $samples;
	$out .= sprintf ',"error":{"l2":%.2g,"max":%.2g}', $l2, $max if defined $max;
	$out .= ',"why":' . field($line, 'why') if $line =~ /"status":"(?!ok)[^"]*".*"why":/;
	$out .= ',"env_id":' . field($line, 'env_id') . ',"at":' . field($line, 'at');
	# What the records of a workload share is told once.
	if ($first) {
		my ($baselines) = $line =~ /("baseline":\{.*?),"cost":\{/;
		my ($env) = $line =~ /("env":\{.*\})\}\s*$/;
		$out .= ",$baselines" if defined $baselines;
		$out .= ",$env" if defined $env;
	}
	return "$out}\n";
}

# How well the times of those near the best are known: by what share two times differ that are made of half of a candidate's
# looks each, in the median, and nine in ten; how many candidates those are, and how many looks they have.
sub known {
	my ($time, $looks) = @_;
	my $best = best($time);
	my (@apart, $n);
	for my $key (keys %$looks) {
		my @looks = @{$looks->{$key}};
		shift @looks; # the first one was short
		next if $time->{$key} > $best * $close || @looks < 4;
		my ($odd, $even) = (time_of(@looks[grep { $_ % 2 } 0 .. $#looks]), time_of(@looks[grep { !($_ % 2) } 0 .. $#looks]));
		push @apart, abs(log($odd / $even));
		$n += @looks;
	}
	@apart = sort { $a <=> $b } @apart;
	return ((map { $apart[$#apart * $_] // 0 } 0.5, 0.9), scalar(@apart), $n // 0);
}

sub settled {
	my ($looks) = read_looks(@_);
	my ($half) = known(read_times($looks), $looks);
	exit($half <= $settled ? 0 : 1);
}

sub merge {
	my (@files) = @_;
	my ($looks, $line, $order) = read_looks(@files);
	my $time = read_times($looks);
	my $told;
	my ($half, $nine, $n, $all) = known($time, $looks);
	printf STDERR "%d candidates, the best %.4g us; %d within %.0f%% of it, with %.1f looks each: halves differ by %.1f%%, one in ten by over %.1f%%\n",
		scalar(keys %$looks), 1e6 * best($time), $n, 100 * ($close - 1), $all / ($n || 1), 100 * $half, 100 * $nine;
	for my $key (@$order) {
		my $l = $line->{$key};
		my $first = !$told && $l =~ /"env":\{/;
		$told ||= $first;
		print slim($l, $time->{$key}, $looks->{$key} ? some(map { $_->[1] } @{$looks->{$key}}) : undef, $first);
	}
}

sub split_set {
	my ($dir, $n) = @_;
	my %of;
	while (<STDIN>) {
		push @{$of{$1}}, $_ if /^\{"tl":1,"type":"result","workload":\{"workload_id":"(\w+)"/;
	}
	for my $id (keys %of) {
		next if @{$of{$id}} < $n || -e "$dir/$id.space";
		open my $f, '>', "$dir/$id.part" or die "$dir/$id.part: $!\n";
		print $f @{$of{$id}};
		close $f or die "$dir/$id.part: $!\n";
		rename "$dir/$id.part", "$dir/$id.space" or die "$dir/$id.space: $!\n";
	}
}

my %do = (near => \&near, settled => \&settled, merge => \&merge, split => \&split_set);
my $what = shift // '';
die "usage: spaces.pl near TIMES COPIES CANDIDATES LOOKS... | settled LOOKS... | merge LOOKS... | split DIR N\n" if !$do{$what};
$do{$what}->(@ARGV);
