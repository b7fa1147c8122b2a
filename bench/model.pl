#!/usr/bin/perl
# The table of make bench-model, from its figures.
use strict;
use warnings;

sub number { # of a field, in an object of that name if there is one
	my ($line, $object, $name) = @_;
	my ($text) = $object ? $line =~ /"$object":(\{[^}]*\})/ : ($line);
	return defined $text && $text =~ /"$name":([-\d.e]+)/ ? $1 : undef;
}

printf "%-14s %-8s %9s  %-20s %-20s %-20s %s\n", 'network', 'learned', 'workloads', 'model top 1, 5, 8', 'draft', 'random',
	'closed, lost at 32';
while (my $line = <STDIN>) {
	if ($line =~ /"type":"filter"/) {
		printf "tl-filter by the %s: %d candidates a second\n", $line =~ /"by":"(\w+)"/, number($line, '', 'per_s');
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
