#!/usr/bin/perl
# The records behind make spaces (bench/spaces.sh).
#
#   near TIMES COPIES CANDIDATES LOOKS...   the candidates to look at again, those within TIMES the best: all of them in a
#                                           random order, COPIES times
#   merge CANDIDATES LOOKS...               one result a candidate, without what can be had again
#
# CANDIDATES are the records of one workload, LOOKS results of them in the order in which they were measured, a file a run.
#
# A time is read off several looks, which a shared machine takes at several speeds. Model: log of a look = log of the
# candidate's time + the machine's slowness then, + noise. Slowness is the running median of what neighbouring looks took
# beyond their candidates' times, a candidate's time the lower median of what its looks took beyond the slowness, in turns
# until nothing moves (median polish; Tukey, "Exploratory Data Analysis", 1977, chapter 11). Noise makes longer, hardly ever
# shorter; hence the lower one. Where the machine was fastest the slowness is 1: times are those of a quiet machine.
# Times are kept to 5 digits, which is more than they are worth; ids follow from the rest.
use strict;
use warnings;

my ($rounds, $beside, $quiet) = (12, 12, 0.1); # of the polish; looks on each side; quantile that is called quiet

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

sub median { # the lower one
	my @x = sort { $a <=> $b } @_;
	return $x[$#x / 2];
}

# The runs, each a list of looks [key, log of seconds, its samples]; and the first line of each candidate.
sub read_looks {
	my (@runs, %line, @order);
	for my $file (@_) {
		my @looks;
		each_line($file, 'result', sub {
			my ($line) = @_;
			my $key = key($line);
			push @order, $key if !$line{$key};
			$line{$key} = $line if !$line{$key} || ($line{$key} =~ /"status":"ok"/ && $line !~ /"status":"ok"/);
			return if $line !~ /"status":"ok"/;
			my ($samples) = $line =~ /"samples_s":\[([^\]]*)\]/;
			push @looks, [$key, log field($line, 'latency_s'), $samples];
		});
		push @runs, \@looks;
	}
	return (\@runs, \%line, \@order);
}

# Sets the slowness of all looks of one run (the fourth of each): those of a candidate that was looked at once say nothing
# of it, and get what the others beside them say.
sub find_slowness {
	my ($looks, $time, $count) = @_;
	my @telling = grep { $count->{$looks->[$_][0]} > 1 } 0 .. $#$looks;
	my @beyond = map { $looks->[$_][1] - $time->{$looks->[$_][0]} } @telling;
	my $at = 0;
	for my $i (0 .. $#$looks) {
		$at++ while $at < $#telling && $telling[$at] < $i;
		my ($from, $to) = ($at - $beside, $at + $beside);
		$from = 0 if $from < 0;
		$to = $#telling if $to > $#telling;
		$looks->[$i][3] = $from <= $to ? median(@beyond[$from .. $to]) : 0;
	}
}

# By candidate, the log of its time.
sub polish {
	my ($runs) = @_;
	my (%of, %time, %count);
	for my $look (map { @$_ } @$runs) {
		push @{$of{$look->[0]}}, $look;
		$look->[3] = 0;
	}
	$count{$_} = @{$of{$_}} for keys %of;
	for (1 .. $rounds) {
		$time{$_} = median(map { $_->[1] - $_->[3] } @{$of{$_}}) for keys %of;
		find_slowness($_, \%time, \%count) for @$runs;
	}
	my @slow = sort { $a <=> $b } map { $_->[3] } map { @$_ } @$runs;
	$time{$_} = median(map { $_->[1] - $_->[3] } @{$of{$_}}) + $slow[$#slow * $quiet] for keys %of;
	return (\%time, \%of, $slow[$#slow * $quiet]);
}

sub near {
	my ($times, $copies, $candidates, @looks) = @_;
	my ($runs) = read_looks(@looks);
	my ($time) = polish($runs);
	my ($best) = sort { $a <=> $b } values %$time;
	my @near;
	each_line($candidates, 'candidate', sub {
		my $t = $time->{key($_[0])};
		push @near, $_[0] if defined $t && $t < $best + log $times;
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

sub short { sprintf '%.5g', $_[0] }

sub slim { # a result; its time, and all samples, where it has any; is it the first?
	my ($line, $latency, $samples, $first) = @_;
	my ($workload) = $line =~ /"workload":(\{[^}]*\})/;
	my ($knobs) = $line =~ /"knobs":(\{[^}]*\})/;
	my ($l2, $max) = $line =~ /"error":\{"l2":([^,}]*),"max":([^,}]*)\}/;
	my $out = '{"tl":1,"type":"result","workload":' . $workload . ',"target":"cpu","algo":' . field($line, 'algo') .
		",\"knobs\":$knobs,\"status\":" . field($line, 'status');
	$out .= ',"stage":"race","latency_s":' . short($latency) if defined $latency;
	$out .= ',"samples_s":[' . join(',', map { short($_) } split /,/, $samples) . ']' if defined $samples;
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

# How well looks of the same candidate agree, behind the slowness.
sub tell_noise {
	my ($time, $of, $zero) = @_;
	my @off;
	for my $key (keys %$of) {
		next if @{$of->{$key}} < 3;
		push @off, map { abs($_->[1] - $_->[3] + $zero - $time->{$key}) } @{$of->{$key}};
	}
	@off = sort { $a <=> $b } @off;
	printf STDERR "%d candidates, %d looks at those looked at again: off by %.1f%% in the median, by over %.1f%% one in ten\n",
		scalar(keys %$of), scalar(@off), map { 100 * ($off[$#off * $_] // 0) } 0.5, 0.9;
}

sub merge {
	my ($candidates, @looks) = @_;
	my ($runs, $line, $order) = read_looks(@looks);
	my ($time, $of, $zero) = polish($runs);
	my $told;
	tell_noise($time, $of, $zero);
	for my $key (@$order) {
		my $ok = $line->{$key} =~ /"status":"ok"/;
		my $first = !$told && $line->{$key} =~ /"env":\{/;
		$told ||= $first;
		print slim($line->{$key}, $ok ? exp $time->{$key} : undef,
			$ok ? join(',', map { $_->[2] } @{$of->{$key}}) : undef, $first);
	}
}

my %do = (near => \&near, merge => \&merge);
my $what = shift // '';
die "usage: spaces.pl near TIMES COPIES CANDIDATES LOOKS... | merge CANDIDATES LOOKS...\n" if !$do{$what};
$do{$what}->(@ARGV);
