#!/usr/bin/perl
# The figures behind make bench-gpu (bench/gpu.sh).
#
#   gpu.pl DIR              what DIR holds, as records: the device, a kernel a line, a network a line
#   gpu.pl --table FIGURES  such records as tables for people
#
# DIR holds networks (a name a line), NAME.workloads and NAME.tuned (the best known result of each workload) for each of these, and
# all (all results).
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use List::Util qw(sum0);

my $json = JSON::PP->new->canonical;

sub records {
	my ($file) = @_;
	open my $f, '<', $file or return ();
	return map { $json->decode($_) } <$f>;
}

sub number { # of a dimension in conv2d's text
	my ($text, $name, $default) = @_;
	return $text =~ /(?:^|[^a-z])$name(\d+)/ ? $1 : $default;
}

sub bytes_of { # operands, each once
	my ($w) = @_;
	my ($p, $values) = $w->{prob};
	if ($w->{op} eq 'matmul') {
		my ($b, $m, $k, $n) = $p =~ /^(?:(\d+)x)?(\d+)x(\d+):(?:\d+x)?\d+x(\d+)$/ or die "no matmul: $p\n";
		$values = ($b // 1) * ($m * $k + $k * $n + $m * $n);
	} else {
		my %d = map { $_ => number($p, $_) } qw(ic ih oc oh kh);
		my ($mb, $g) = (number($p, 'mb', 1), number($p, 'g', 1));
		my %w = map { $_ => number($p, "${_}w", $d{"${_}h"}) } qw(i o k);
		$values = $mb * $d{ic} * $d{ih} * $w{i} + $mb * $d{oc} * $d{oh} * $w{o} + $d{oc} * $d{ic} / $g * $d{kh} * $w{k};
	}
	return 4 * $values;
}

# How often each workload occurs in a network, in its order.
sub counts {
	my ($file) = @_;
	return map { [$_->{workload_id}, $_->{count} // 1] } grep { $_->{type} eq 'workload' } records($file);
}

sub kernel {
	my ($network, $count, $r) = @_;
	my $probe = $r->{env}{probe} || {};
	my ($s, $w) = ($r->{latency_s}, $r->{workload});
	return {
		tl => 1, type => 'bench-gpu', network => $network, count => $count + 0, workload_id => $w->{workload_id},
		op => $w->{op}, prob => $w->{prob}, post => $w->{post} || [], algo => $r->{algo}, knobs => $r->{knobs},
		latency_s => $s + 0, error => $r->{error}{max}, flops => $w->{flops} + 0, device => $r->{env}{cpu}, compiler => $r->{env}{cc},
		peak_share => $probe->{peak_flops_all} ? $w->{flops} / $s / $probe->{peak_flops_all} : undef,
		memory_share => $probe->{bandwidth_all} ? bytes_of($w) / $s / $probe->{bandwidth_all}{mem} : undef,
		ratio => $r->{ratio} ? $r->{ratio}{median} : undef, baseline => $r->{baseline}, baseline_why => $r->{baseline_why},
	};
}

sub figures {
	my ($dir) = @_;
	my (%statuses, %tried);
	$statuses{$_->{status}}++ for grep { $_->{type} eq 'result' } records("$dir/all");
	open my $f, '<', "$dir/networks" or die "$dir/networks: $!\n";
	chomp(my @networks = <$f>);
	for my $network (@networks) {
		my %best = map { $_->{workload}{workload_id} => $_ } grep { $_->{type} eq 'result' } records("$dir/$network.tuned");
		for (counts("$dir/$network.workloads")) {
			my ($id, $count) = @$_;
			my $r = $best{$id};
			print $json->encode($r ? kernel($network, $count, $r)
				: {tl => 1, type => 'bench-gpu', network => $network, workload_id => $id, why => 'nothing was measured'}), "\n";
		}
	}
	print $json->encode({tl => 1, type => 'bench-gpu-run', results => \%statuses}), "\n";
}

sub percent {
	my ($x) = @_;
	return defined $x ? sprintf('%.0f%%', 100 * $x) : '-';
}

sub table {
	my ($file) = @_;
	my (%rows, @order, %device);
	for my $k (records($file)) {
		if ($k->{type} eq 'bench-gpu-run') {
			print "results: ", join(', ', map { "$_ $k->{results}{$_}" } sort keys %{$k->{results}}), "\n";
			next;
		}
		push @order, $k->{network} unless $rows{$k->{network}};
		push @{$rows{$k->{network}}}, $k;
		$device{"$k->{device}, $k->{compiler}"} = 1 if $k->{device};
	}
	print "device: $_\n" for sort keys %device;
	for my $network (@order) {
		my @k = grep { $_->{latency_s} } @{$rows{$network}};
		printf "\n%s: %d workloads, %d not measured, %.1f us in all by count\n", $network, scalar @{$rows{$network}},
			@{$rows{$network}} - @k, 1e6 * sum0(map { $_->{count} * $_->{latency_s} } @k);
		printf "%-44s %5s %10s %10s %6s %7s %6s %s\n", qw(problem count us GFLOP/s peak memory ratio by);
		printf "%-44s %5d %10.1f %10.0f %6s %7s %6s %s\n", substr("$_->{prob} " . join(',', @{$_->{post}}), 0, 44), $_->{count},
			1e6 * $_->{latency_s}, 1e-9 * $_->{flops} / $_->{latency_s}, percent($_->{peak_share}), percent($_->{memory_share}),
			defined $_->{ratio} ? sprintf('%.2f', $_->{ratio}) : '-', $_->{algo} for @k;
	}
}

@ARGV == 2 && $ARGV[0] eq '--table' ? table($ARGV[1]) : @ARGV == 1 ? figures($ARGV[0]) : die "usage: gpu.pl DIR | gpu.pl --table FIGURES\n";
