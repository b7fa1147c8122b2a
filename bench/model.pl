#!/usr/bin/perl
# The records behind make bench-model (bench/model.sh), and its table.
#
#   candidates SPACES...              what was recorded well, as candidates
#   lost WORKLOADS KEPT SPACES...     what keeping only these candidates loses of the best's speed: fields of a record
#   table                             of the figures on standard input
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Records;

sub number { # of a field, in an object of that name if there is one
	my ($line, $object, $name) = @_;
	my ($text) = $object ? $line =~ /"$object":(\{[^}]*\})/ : ($line);
	return defined $text && $text =~ /"$name":([-\d.e]+)/ ? $1 : undef;
}

sub what { # a candidate is, in a text
	my ($line) = @_;
	return field($line, 'workload_id') . field($line, 'algo') . ($line =~ /"knobs":(\{[^}]*\})/)[0];
}

sub recorded { # spaces: results that have a time
	return grep { /"status":"ok"/ } map { lines($_, 'result') } @_;
}

sub candidates {
	for (recorded(@_)) {
		my ($workload, $program) = /"workload":(\{[^}]*\}).*?("algo":"[^"]*","knobs":\{[^}]*\})/;
		print qq({"tl":1,"type":"candidate","workload":$workload,"target":"cpu",$program}\n);
	}
}

# Of the network, by time and count; the mean over its workloads; and the worst.
sub lost {
	my ($workloads, $kept, @spaces) = @_;
	my %count = map { field($_, 'workload_id') => field($_, 'count') } lines($workloads, 'workload');
	my %is_kept = map { what($_) => 1 } lines($kept, 'candidate');
	my (%best, %left);
	for (recorded(@spaces)) {
		my ($id, $t) = (field($_, 'workload_id'), field($_, 'latency_s'));
		for my $least (\%best, $is_kept{what($_)} ? \%left : ()) {
			$least->{$id} = $t if !defined $least->{$id} || $t < $least->{$id};
		}
	}
	my ($best, $left, $mean, $worst) = (0, 0, 0, 0);
	for my $id (keys %best) {
		my $lost = 1 - $best{$id} / ($left{$id} // 9e9);
		$best += $best{$id} * $count{$id};
		$left += ($left{$id} // 9e9) * $count{$id};
		$mean += $lost / keys %best;
		$worst = $lost if $lost > $worst;
	}
	printf '"lost":%.5f,"mean_lost":%.5f,"worst_lost":%.5f', 1 - $best / $left, $mean, $worst;
}

sub table {
	printf "%-14s %-8s %9s  %-20s %-20s %-20s %s\n", 'network', 'learned', 'workloads', 'model top 1, 5, 8', 'draft', 'random',
		'closed, lost at 32';
	while (my $line = <STDIN>) {
		if ($line =~ /"type":"filter"/) {
			printf "tl-filter by the %s: %d candidates a second; the best of the 32 it keeps loses %.2f%% of the best's speed (mean %.2f%%, worst %.2f%%)\n",
				$line =~ /"by":"(\w+)"/, number($line, '', 'per_s'), map { 100 * number($line, '', $_) } qw(lost mean_lost worst_lost);
			next;
		}
		my ($network) = $line =~ /"network":"([^"]*)"/;
		my ($learned) = $line =~ /"learned":"([^"]*)"/;
		printf "%-14s %-8s %9d", $network, $learned, number($line, '', 'workloads');
		for my $who (qw(model draft random)) {
			printf '  %.3f %.3f %.3f   ', map { number($line, $who, "top$_") } 1, 5, 8;
		}
		printf " %.2f %.2f %.2f, %.4f\n", (map { number($line, '', "closed$_") } 1, 5, 8), number($line, '', 'lost32');
		printf "%-14s %-8s %9s", '', '', 'mean';
		for my $who (qw(model draft random)) {
			printf '  %.3f %.3f %.3f   ', map { number($line, $who, "mean$_") } 1, 5, 8;
		}
		print "\n";
	}
}

my %do = (candidates => \&candidates, lost => \&lost, table => \&table);
my $what = shift // '';
die "usage: model.pl candidates|lost|table ...\n" if !$do{$what};
$do{$what}->(@ARGV);
