#!/usr/bin/perl
# What make bench-trust (bench/trust.sh) counts.
#
#   groups                       results on standard input -> groups of one candidate
#   duels FOUND KNOWN...         what was found, and all that was known, as groups: the found one is the reference
#   verdicts FINALS FINALS       of two runs of the same finals
#   recordings RESULTS RESULTS   of two recordings of the same candidates
#   start RESULTS                of duels: by how much the best known one beats the found one
use strict;
use warnings;
use lib 'bench';
use Records;

sub candidate { # result or candidate -> candidate, and its workload's record
	my ($line) = @_;
	my ($w) = $line =~ /"workload":\{([^}]*)\}/;
	my ($knobs) = $line =~ /"knobs":(\{[^}]*\})/;
	my $c = qq({"tl":1,"type":"candidate","candidate_id":") . field($line, 'candidate_id') . qq(","workload":{$w},"target":"cpu","algo":") .
		field($line, 'algo') . qq(","knobs":$knobs}\n);
	return ($c, qq({"tl":1,"type":"workload",$w}\n));
}

sub groups {
	while (<STDIN>) {
		next if !/^\{"tl":1,"type":"(result|candidate)"/;
		my ($c, $w) = candidate($_);
		put_group($w, $c);
	}
}

sub duels {
	my ($found, @known) = @_;
	my (%of, %seen);
	for my $file (@known) {
		push @{$of{field($_, 'workload_id')}}, $_ for lines($file, 'candidate'), lines($file, 'result');
	}
	for my $line (lines($found, 'result')) {
		my ($c, $w) = candidate($line);
		my %had = (field($c, 'candidate_id') => 1);
		my @others = grep { !$had{field($_, 'candidate_id')}++ } map { (candidate($_))[0] } @{$of{field($w, 'workload_id')} // []};
		put_group($w, $c, @others);
	}
}

sub interval { # line, what: median, low, high
	my ($line, $what) = @_;
	return $line =~ /"$what":\{"median":([^,]*),"ci":\[([^,]*),([^\]]*)\]/;
}

sub median {
	my @x = sort { $a <=> $b } @_;
	return @x ? $x[$#x / 2] : 0;
}

sub percent { return $_[1] ? sprintf('%.1f%%', 100 * $_[0] / $_[1]) : '-' }

sub verdicts {
	my @run = map { my %v; $v{field($_, 'workload_id')} = $_ for grep { /"stage":"final"/ } lines($_, 'result'); \%v } @_;
	my ($n, $same, $opposite, $undecided, @apart) = (0, 0, 0, 0);
	for my $id (sort keys %{$run[0]}) {
		my @line = map { $_->{$id} // '' } @run;
		my @verdict = map { field($_, 'verdict') // '' } @line;
		next if grep { $_ eq '' } @verdict;
		my @i = map { [interval($_, 'ratio')] } @line;
		my $overlap = $i[0][1] <= $i[1][2] && $i[1][1] <= $i[0][2];
		my $opposed = "@verdict" =~ /faster slower|slower faster/;
		$n++;
		$same++ if $verdict[0] eq $verdict[1] || ($overlap && !$opposed);
		$opposite++ if $opposed;
		$undecided += grep { $_ eq 'undecided' } @verdict;
		push @apart, abs(log($i[0][0] / $i[1][0]));
		printf "%-44s %.3f [%.3f, %.3f] %-9s  %.3f [%.3f, %.3f] %s\n", field($line[0], 'prob'), @{$i[0]}, $verdict[0], @{$i[1]}, $verdict[1];
	}
	printf "%d workloads: the same verdict, or a neighbouring one with intervals that overlap, in %s; opposite in %d; undecided %s;\n" .
		"ratios differ by %.2f%% in the median, %.2f%% at most\n", $n, percent($same, $n), $opposite, percent($undecided, 2 * $n),
		100 * (exp(median(@apart)) - 1), 100 * (exp((sort { $b <=> $a } @apart, 0)[0]) - 1);
}

sub ranks {
	my @order = sort { $_[$a] <=> $_[$b] } 0 .. $#_;
	my @rank;
	@rank[@order] = 0 .. $#order;
	return @rank;
}

sub correlation {
	my ($x, $y) = @_;
	my $n = @$x;
	my ($mx, $my, $xy, $xx, $yy) = (0, 0, 0, 0, 0);
	$mx += $_ / $n for @$x;
	$my += $_ / $n for @$y;
	for (0 .. $n - 1) {
		$xy += ($x->[$_] - $mx) * ($y->[$_] - $my);
		$xx += ($x->[$_] - $mx)**2;
		$yy += ($y->[$_] - $my)**2;
	}
	return $xx && $yy ? $xy / sqrt($xx * $yy) : 0;
}

sub spearman { return correlation([ranks(@{$_[0]})], [ranks(@{$_[1]})]) }

sub recordings {
	my @run = map {
		my %of;
		for (lines($_, 'result')) {
			my ($ratio) = /"duel":\{[^}]*"ratio":([^,]*)/ or next;
			$of{field($_, 'workload_id')}{field($_, 'candidate_id')} = [$ratio, 1 / field($_, 'latency_s'), field($_, 'prob')];
		}
		\%of
	} @_;
	my (@ratio, @single);
	for my $id (sort keys %{$run[0]}) {
		my @both = grep { $run[1]{$id}{$_} } sort keys %{$run[0]{$id}};
		my @x = map { my $r = $_; [map { $r->{$id}{$_} } @both] } @run;
		push @ratio, spearman([map { $_->[0] } @{$x[0]}], [map { $_->[0] } @{$x[1]}]);
		push @single, spearman([map { $_->[1] } @{$x[0]}], [map { $_->[1] } @{$x[1]}]);
		printf "%-44s %4d candidates: of ratios %.4f, of times %.4f\n", $x[0][0][2], scalar @both, $ratio[-1], $single[-1];
	}
	printf "rank correlation of two recordings: of ratios %.4f in the median, %.4f at least; of times %.4f, %.4f\n", median(@ratio),
		(sort { $a <=> $b } @ratio)[0], median(@single), (sort { $a <=> $b } @single)[0];
}

# Over processes: the geometric mean of a candidate's ratios, with Student's 95% interval.
sub mean_of_ratios {
	my @t = (0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23);
	my @x = map { log } @_;
	my ($n, $mean, $sum) = (scalar @x, 0, 0);
	$mean += $_ / $n for @x;
	$sum += ($_ - $mean)**2 for @x;
	my $half = $n > 1 ? $t[$n - 1 > 10 ? 10 : $n - 1] * sqrt($sum / ($n - 1) / $n) : 'inf';
	return map { exp } $mean, $mean - $half, $mean + $half;
}

sub start {
	my (%ratios, %of, %best, %prob);
	for (map { lines($_, 'result') } @_) {
		my ($ratio) = /"duel":\{[^}]*"ratio":([^,]*),/ or next;
		my $id = field($_, 'workload_id');
		$prob{$id} = field($_, 'prob');
		$of{field($_, 'candidate_id')} = $id;
		push @{$ratios{field($_, 'candidate_id')}}, $ratio;
	}
	for my $candidate (sort keys %ratios) {
		my $id = $of{$candidate};
		my @b = mean_of_ratios(@{$ratios{$candidate}});
		$best{$id} = \@b if !$best{$id} || $b[0] > $best{$id}[0];
	}
	my ($sum, $n, $worst, $beyond) = (0, 0, [0, 0, 0], 0);
	for my $id (sort keys %best) {
		my $b = $best{$id};
		printf "  %-44s the best known at the start runs at %.3f [%.3f, %.3f] of the speed of what was found\n", $prob{$id}, @$b if $b->[0] > 1;
		$sum += log $b->[0];
		$n++;
		$worst = $b if $b->[0] > $worst->[0];
		$beyond++ if $b->[1] > 1.01;
	}
	printf "  %d workloads with something else that was known: %.3f in the geometric mean, %.3f [%.3f, %.3f] at most; beyond 1.01 for certain: %d\n", $n,
		exp($sum / ($n || 1)), @$worst, $beyond;
}

my %do = (groups => \&groups, duels => \&duels, verdicts => \&verdicts, recordings => \&recordings, start => \&start);
my $what = shift // '';
die "usage: trust.pl groups | duels FOUND KNOWN... | verdicts RUN RUN | recordings RUN RUN | start RESULTS\n" if !$do{$what};
$do{$what}->(@ARGV);
