#!/usr/bin/perl
# The records behind make spaces (bench/spaces.sh).
#
#   near CANDIDATES LOOKS            the candidates to time in turns with the library
#   merge CANDIDATES LOOKS TURNS     one result a candidate, without what can be had again
#
# CANDIDATES are the records of one workload, LOOKS and TURNS results of them. Times are kept to 5 digits, which is more than
# they are worth; ids follow from the rest.
use strict;
use warnings;

my $near = 2.5; # times the best look

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

sub time_of {
	my ($line) = @_;
	return $line =~ /"status":"ok"/ ? field($line, 'latency_s') : undef;
}

sub near {
	my ($candidates, $looks) = @_;
	my (%time, $best);
	each_line($looks, 'result', sub {
		my $t = time_of($_[0]) // return;
		$time{key($_[0])} = $t;
		$best = $t if !defined $best || $t < $best;
	});
	each_line($candidates, 'candidate', sub {
		my $t = $time{key($_[0])};
		print $_[0] if defined $t && $t < $near * $best;
	});
}

# By candidate: its ratio to the library, and the result that tells it; and the library's time when the machine was quiet.
sub read_turns {
	my (%of, @library);
	each_line($_[0], 'result', sub {
		my ($line) = @_;
		return if $line !~ /"stage":"final"/ || !defined time_of($line);
		my ($ratio) = $line =~ /"ratio":\{"median":([\d.e-]+)/ or return;
		$of{key($line)} = [$ratio, $line];
		push @library, $ratio * time_of($line);
	});
	@library = sort { $a <=> $b } @library;
	return \%of, $library[@library / 10];
}

sub short { sprintf '%.5g', $_[0] }

sub slim { # the look, the time that counts, is it the first?
	my ($line, $latency, $first) = @_;
	my ($workload) = $line =~ /"workload":(\{[^}]*\})/;
	my ($knobs) = $line =~ /"knobs":(\{[^}]*\})/;
	my ($samples) = $line =~ /"samples_s":\[([^\]]*)\]/;
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

sub merge {
	my ($candidates, $looks, $turns) = @_;
	my ($turn, $library) = read_turns($turns);
	my $told;
	each_line($looks, 'result', sub {
		my ($line) = @_;
		my $t = $turn->{key($line)};
		my $first = !$told && $line =~ /"env":\{/;
		$told ||= $first;
		# The samples are those of the time that counts.
		print slim($line, time_of($line), $first) if !$t;
		print slim($t->[1], $library / $t->[0], $first) if $t;
	});
}

my %do = (near => \&near, merge => \&merge);
my $what = shift // '';
die "usage: spaces.pl near CANDIDATES LOOKS | merge CANDIDATES LOOKS TURNS\n" if !$do{$what};
$do{$what}->(@ARGV);
