#!/usr/bin/perl
# The records behind make spaces (bench/spaces.sh).
#
#   doubtful CANDIDATES LOOK...   the candidates to look at again: within twice the best, and no two looks agree
#   fastest CANDIDATES LOOK...    those to time for longer
#   merge CANDIDATES LOOK...      one result a candidate: the middle one of the looks that agree with its fastest
#
# CANDIDATES are the records of one workload, a LOOK results of some of them. Times are kept to 5 digits, which is more
# than they are worth; ids follow from the rest.
use strict;
use warnings;

my ($near, $agree) = (2, 1.04);
my %fastest = (share => 1 / 64, least => 32);

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

# By candidate: its looks as [time, line], the fastest first.
sub read_looks {
	my %looks;
	for my $file (@_) {
		each_line($file, 'result', sub {
			my ($line) = @_;
			my $time = $line =~ /"status":"ok"/ ? field($line, 'latency_s') : 9e9;
			push @{$looks{key($line)}}, [$time, $line];
		});
	}
	@$_ = sort { $a->[0] <=> $b->[0] } @$_ for values %looks;
	return \%looks;
}

# Slower ones were disturbed. Among the others the fastest was also lucky: where memory came to lie makes a few per cent.
sub middle {
	my @good = grep { $_->[0] <= $_[0][0] * $agree } @_;
	return $good[@good / 2];
}

sub best { (sort { $a <=> $b } map { $_->[0][0] } values %{$_[0]})[0] }

sub print_candidates {
	my ($file, $wanted) = @_;
	each_line($file, 'candidate', sub { print $_[0] if $wanted->{key($_[0])} });
}

sub doubtful {
	my ($candidates, @looks) = @_;
	my $of = read_looks(@looks);
	my $limit = best($of) * $near;
	print_candidates($candidates, {map { $_ => 1 } grep {
		my $t = $of->{$_};
		$t->[0][0] < $limit && (@$t < 2 || $t->[1][0] > $t->[0][0] * $agree)
	} keys %$of});
}

sub fastest {
	my ($candidates, @looks) = @_;
	my $of = read_looks(@looks);
	my @order = sort { $of->{$a}[0][0] <=> $of->{$b}[0][0] || $a cmp $b } grep { $of->{$_}[0][0] < 9e9 } keys %$of;
	my $n = int(@order * $fastest{share});
	$n = $fastest{least} if $n < $fastest{least};
	splice @order, $n if @order > $n;
	print_candidates($candidates, {map { $_ => 1 } @order});
}

sub short { sprintf '%.5g', $_[0] }

sub slim {
	my ($line, $at, $first) = @_;
	my ($workload) = $line =~ /"workload":(\{[^}]*\})/;
	my ($knobs) = $line =~ /"knobs":(\{[^}]*\})/;
	my ($samples) = $line =~ /"samples_s":\[([^\]]*)\]/;
	my ($l2, $max) = $line =~ /"error":\{"l2":([^,}]*),"max":([^,}]*)\}/;
	my $out = '{"tl":1,"type":"result","workload":' . $workload . ',"target":"cpu","algo":' . field($line, 'algo') .
		",\"knobs\":$knobs,\"status\":" . field($line, 'status');
	my $latency = field($line, 'latency_s');
	$out .= ',"stage":"race","latency_s":' . short($latency) if defined $latency && $latency ne 'null';
	$out .= ',"samples_s":[' . join(',', map { short($_) } split /,/, $samples) . ']' if defined $samples;
	$out .= sprintf ',"error":{"l2":%.2g,"max":%.2g}', $l2, $max if defined $max;
	$out .= ',"why":' . field($line, 'why') if $line =~ /"status":"(?!ok)[^"]*".*"why":/;
	$out .= ',"env_id":' . field($line, 'env_id') . ",\"at\":$at";
	# What the records of a workload share is told once.
	if ($first) {
		my ($baselines) = $line =~ /("baseline":\{.*?),"(?:cost|env)":\{/;
		my ($env) = $line =~ /("env":\{.*\})\}\s*$/;
		$out .= ",$baselines" if defined $baselines;
		$out .= ",$env" if defined $env;
	}
	return "$out}\n";
}

sub merge {
	my ($candidates, @looks) = @_;
	my $of = read_looks(@looks);
	my $told;
	each_line($candidates, 'candidate', sub {
		my $looks = $of->{key($_[0])} // return;
		my $found = middle(@$looks)->[1];
		my $first = !$told && $found =~ /"env":\{/;
		$told ||= $first;
		print slim($found, field($found, 'at'), $first);
	});
}

my %do = (doubtful => \&doubtful, fastest => \&fastest, merge => \&merge);
my $what = shift // '';
die "usage: spaces.pl doubtful|fastest|merge CANDIDATES LOOK...\n" if !$do{$what};
$do{$what}->(@ARGV);
