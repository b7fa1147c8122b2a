#!/usr/bin/perl
# For bench/four-bits.sh: the best candidates of results, the time in a result, and the table.
use strict;
use warnings;
use JSON::PP;

my ($what, $file, $out) = @ARGV;
my $json = JSON::PP->new->canonical;

sub median {
	my @s = sort { $a <=> $b } @_;
	return ($s[($#s) / 2] + $s[@s / 2]) / 2;
}

# What is read once: packed weights and the scales of groups, the left side; and the result.
sub bytes_of {
	my ($w) = @_;
	my ($m, $k, $n) = $w->{prob} =~ /^(\d+)x(\d+):\d+x(\d+)$/ or die "no product: $w->{prob}\n";
	my ($group) = "@{$w->{post}}" =~ /groups\((\d+)\)/ or die "no groups\n";
	return $k * $n / 2 + $k / $group * $n * 4 + 4 * $m * ($k + $n);
}

if ($what eq 'time') {
	while (<STDIN>) {
		my $r = $json->decode($_);
		print "$r->{latency_s}\n" if $r->{type} eq 'result';
	}
	exit;
}

my (@order, %best);
open my $in, '<', $file or die "$file: $!\n";
while (<$in>) {
	my $r = $json->decode($_);
	next unless $r->{type} eq 'result' && $r->{status} eq 'ok';
	my $id = $r->{workload}{workload_id};
	push @order, $id unless $best{$id};
	$best{$id} = $r if !$best{$id} || $r->{incumbent};
}

if ($what eq 'best') {
	for my $i (0 .. $#order) {
		my $r = $best{$order[$i]};
		my %c = map { $_ => $r->{$_} } qw(tl candidate_id workload target algo knobs);
		open my $to, '>', "$out/best.$i" or die "$out/best.$i: $!\n";
		my $rest = $json->encode({map { $_ => $c{$_} } grep { $_ ne 'tl' } keys %c});
		print $to '{"tl":1,"type":"candidate",', substr($rest, 1), "\n";
		open $to, '>', "$out/bytes.$i" or die "$out/bytes.$i: $!\n";
		print $to bytes_of($r->{workload}), "\n";
	}
	exit;
}

my %turn;
open my $turns, '<', "$out/turns" or die "$out/turns: $!\n";
while (<$turns>) {
	my ($i, $kernel, $read) = split;
	push @{$turn{$i}{kernel}}, $kernel;
	push @{$turn{$i}{read}}, $read;
	push @{$turn{$i}{share}}, $read / $kernel;
}
printf "%-20s %9s %9s %9s %9s  %s\n", 'product', 'MB', 'us', 'GB/s', 'read GB/s', 'share';
for my $i (0 .. $#order) {
	my ($w, $t) = ($best{$order[$i]}{workload}, $turn{$i});
	my ($bytes, $s) = (bytes_of($w), median(@{$t->{kernel}}));
	printf "%-20s %9.1f %9.1f %9.1f %9.1f  %.0f%%\n", $w->{prob}, $bytes / 1e6, $s * 1e6, $bytes / $s / 1e9,
	  $bytes / median(@{$t->{read}}) / 1e9, 100 * median(@{$t->{share}});
}
