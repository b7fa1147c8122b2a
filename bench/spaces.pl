#!/usr/bin/perl
# The records behind make spaces (bench/spaces.sh).
#
#   merge RESULTS [FIRST]
#                     results of one workload, each a duel with the first of them, slimmed: without what can be had again. FIRST
#                     is a file with the record that another recording has of this first one: its time is taken
#   split DIR N       of a recorded set on standard input: each workload that has N results, to DIR/ID.space, unless that is
#                     there
#
# A candidate's time is the reference's over their ratio, so that the hour in which it was measured does not matter; the
# reference's is the median of its times in all duels, if no other recording has told it. Of samples $raw are kept at most, evenly, to 4 digits, each over the
# reference's call of the same pair and times the reference's time; ids follow from the rest.
use strict;
use warnings;

my $raw = 8; # samples kept

sub field { # line, name: a value without braces or brackets in it
	my ($line, $name) = @_;
	return $line =~ /"\Q$name\E":("[^"]*"|[^,}]*)/ ? $1 : undef;
}

sub median {
	my @x = sort { $a <=> $b } @_;
	return $x[$#x / 2];
}

sub short { sprintf '%.4g', $_[0] }

sub samples { # text of a list
	return split /,/, $_[0] // '';
}

sub some { # samples
	my @x = @_;
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
	$out .= ',"cache":"weights-cold"' if (field($line, 'cache') // '') eq '"weights-cold"';
	$out .= sprintf ',"error":{"l2":%.2g,"max":%.2g}', $l2, $max if defined $max;
	$out .= ',"why":' . field($line, 'why') if $line =~ /"status":"(?!ok)[^"]*".*"why":/;
	$out .= ',"env_id":' . field($line, 'env_id') . ',"at":' . field($line, 'at');
	# What the records of a workload share is told once.
	if ($first) {
		my ($baselines) = $line =~ /("baseline":\{.*?),"cost":\{/;
		my ($env) = $line =~ /("env":\{.*\})(?:,"checksum":"\w+")?\}\s*$/;
		$out .= ",$baselines" if defined $baselines;
		$out .= ",$env" if defined $env;
	}
	return "$out}\n";
}

# Of a duel: ratio, the reference's time, and the candidate's samples over the reference's. Nothing, if there was none.
sub duel {
	my ($line) = @_;
	my ($duel) = $line =~ /"duel":(\{[^}]*\})/ or return;
	my @x = samples($line =~ /"samples_s":\[([^\]]*)\]/);
	my @y = samples($duel =~ /"samples_s":\[([^\]]*)\]/);
	return (field($duel, 'ratio'), field($duel, 'latency_s'), map { $x[$_] / $y[$_] } 0 .. $#y);
}

# The reference's time in an earlier recording, if there is one.
sub known {
	my ($file) = @_;
	return undef if !defined $file || !-s $file;
	open my $f, '<', $file or die "$file: $!\n";
	return field(scalar <$f>, 'latency_s');
}

sub merge {
	my ($file, $first_file) = @_;
	my (@lines, @reference, $told);
	open my $f, '<', $file or die "$file: $!\n";
	while (<$f>) {
		next if !/^\{"tl":1,"type":"result"/;
		push @lines, $_;
		my (undef, $reference) = duel($_);
		push @reference, $reference if defined $reference;
	}
	my $reference = known($first_file) // (@reference ? median(@reference) : undef);
	for my $l (@lines) {
		my $first = !$told && $l =~ /"env":\{/;
		$told ||= $first;
		my ($ratio, undef, @x) = duel($l);
		if (defined $ratio) {
			print slim($l, $reference / $ratio, some(map { $_ * $reference } @x), $first);
		} elsif ($l =~ /"status":"ok"/) { # the reference, alone
			my @own = samples($l =~ /"samples_s":\[([^\]]*)\]/);
			my $scale = ($reference // field($l, 'latency_s')) / field($l, 'latency_s');
			print slim($l, field($l, 'latency_s') * $scale, some(map { $_ * $scale } @own), $first);
		} else {
			print slim($l, undef, undef, $first);
		}
	}
	printf STDERR "%d candidates; the reference takes %.4g us\n", scalar @lines, 1e6 * ($reference // 0);
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

my %do = (merge => \&merge, split => \&split_set);
my $what = shift // '';
die "usage: spaces.pl merge RESULTS [FIRST] | split DIR N\n" if !$do{$what};
$do{$what}->(@ARGV);
