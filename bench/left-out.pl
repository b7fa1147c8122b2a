#!/usr/bin/perl
# The table of make bench-left-out (bench/left-out.sh): figures on standard input.
use strict;
use warnings;

my @ways = (['draft', 'draft'], ['model', 'shipped model'], ['left_out', 'model, CPU left out'], ['shared', 'with the draft'], ['predicted', 'as --predict chooses'], ['adapted', 'after a first round'], ['random', 'random']);

printf "%-24s %-9s %9s  %-21s %-21s %-20s %s\n", 'CPU left out', 'networks', 'workloads', 'ranked by', 'top 1, 5, 8', 'mean of top 1, 5, 8', 'until 1%';
my %sum;
my %sets;
while (my $line = <STDIN>) {
	my ($cpu, $isa, $threads, $cache, $kind, $n) = $line =~ /"cpu":"([^"]*)","isa":"([^"]*)","threads":(\d+),"cache":"([^"]*)","networks":"([^"]*)","workloads":(\d+)/ or next;
	my @first = ("$cpu $isa" . ($threads == 1 ? ' one' : '') . ($cache eq 'warm' ? '' : ' cold'), $kind, $n);
	$sets{$kind}++;
	my ($reach) = $line =~ /"reach":\{([^}]*)\}/;
	my %reach = ($reach // '') =~ /"(\w+)":([.\d]+)/g;
	for (@ways) {
		my ($way, $name) = @$_;
		my ($scores) = $line =~ /"$way":\{([^}]*)\}/ or next;
		my %value = $scores =~ /"(\w+)":([-\d.]+)/g;
		my @tops = (@value{qw(top1 top5 top8 mean1 mean5 mean8)}, $reach{$way} // 0);
		printf "%-24s %-9s %9s  %-21s %.3f %.3f %.3f    %.3f %.3f %.3f %8.1f\n", @first, $name, @tops;
		$sum{$kind}{$way}[$_] += $tops[$_] for 0 .. $#tops;
		@first = ('') x 3;
	}
}
for my $kind (sort keys %sum) {
	my @first = ("mean of $sets{$kind}", $kind, '');
	for (@ways) {
		my ($way, $name) = @$_;
		next if !$sum{$kind}{$way};
		printf "%-24s %-9s %9s  %-21s %.3f %.3f %.3f    %.3f %.3f %.3f %8.1f\n", @first, $name, map { $_ / $sets{$kind} } @{$sum{$kind}{$way}};
		@first = ('') x 3;
	}
}
