#!/usr/bin/perl
# The figures behind make bench-gpu (bench/gpu.sh).
#
#   gpu.pl DIR              what DIR holds, as records: the run, what each section found, a kernel a line, a group a line
#   gpu.pl --table FIGURES  such records as tables for people
#
# DIR holds run (NAME TAB VALUE a line), and of each section that was asked for: verify.tap; memcheck.tap, racecheck.tap, synccheck.tap and their
# logs; hostile.ndjson, kill.ndjson; networks (NAME TAB TYPE TAB "batch N" or "products" a line), NAME.workloads and NAME.tuned (the
# best known result of each workload) for each of these, left_out (networks of which there are no workloads, and why), and all (all
# results).
#
# A group has each of its workloads once. Its mean is the geometric one of the ratios of the finals, the library's time over the
# kernel's; a workload without a final is not in it, and is counted. The goals are those of the project for the GPUs of a data centre.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use List::Util qw(sum0);
use Ratios;

my $json = JSON::PP->new->canonical;
my %goal = ('f32 batch 1' => 1.15, 'f32 batch 32' => 0.9, 'bf16 batch 1' => 1.1, 'bf16 batch 32' => 0.8, depthwise => 1.5);
my $least_goal = 0.6;
my @first = ('f32 batch 1', 'f32 batch 32', 'bf16 batch 1', 'bf16 batch 32', 'depthwise', 'products');
my %bytes = (f32 => 4, tf32 => 4, bf16 => 2, f16 => 2);

sub text { # a file's lines
	open my $f, '<', $_[0] or return ();
	chomp(my @lines = <$f>);
	return @lines;
}

sub records {
	return map { $json->decode($_) } grep { /^\{/ } text($_[0]);
}

sub put {
	my ($type, %record) = @_;
	print qq({"tl":1,"type":"$type",), substr($json->encode(\%record), 1), "\n";
}

# ---- workloads ----

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
	return ($bytes{$w->{dtype} // 'f32'} // 4) * $values;
}

sub is_depthwise {
	my ($w) = @_;
	my $g = $w->{op} eq 'conv2d' ? number($w->{prob}, 'g', 1) : 1;
	return $g > 1 && $g == number($w->{prob}, 'ic');
}

# ---- kernels ----

sub kernel { # where, the workload's record, its best result or nothing, why there is none
	my ($at, $w, $r, $why) = @_;
	my %k = (network => $at->{name}, dtype => $at->{dtype}, kind => $at->{kind}, count => ($w->{count} // 1) + 0, depthwise => is_depthwise($w) ? 1 : 0,
		map { $_ => $w->{$_} } qw(workload_id op prob));
	return {%k, why => $why} if !$r;
	my ($probe, $s) = ($r->{env}{probe} || {}, $r->{latency_s});
	$w = $r->{workload};
	%k = (%k, post => $w->{post} || [], algo => $r->{algo}, knobs => $r->{knobs}, latency_s => $s + 0, error => $r->{error}{max}, flops => $w->{flops} + 0,
		device => $r->{env}{cpu}, compiler => $r->{env}{cc}, libs => $r->{env}{libs});
	# The probe's peak is that of single precision.
	$k{peak_share} = $w->{flops} / $s / $probe->{peak_flops_all} if $probe->{peak_flops_all} && ($w->{dtype} // 'f32') eq 'f32';
	$k{memory_share} = bytes_of($w) / $s / $probe->{bandwidth_all}{mem} if $probe->{bandwidth_all};
	$k{baseline} = $r->{baseline};
	return {%k, why => $r->{baseline_why} // 'it has no baseline'} if !$r->{baseline};
	return {%k, why => 'it had no final'} if !$r->{ratio} || $r->{stage} ne 'final';
	return {%k, ratio => $r->{ratio}{median}, ci => $r->{ratio}{ci}, verdict => $r->{verdict}};
}

sub kernels {
	my ($dir, $run) = @_;
	my @kernels;
	for (text("$dir/networks")) {
		my %at;
		@at{qw(name dtype kind)} = split /\t/;
		my %best = map { $_->{workload}{workload_id} => $_ } grep { $_->{type} eq 'result' } records("$dir/$at{name}.tuned");
		push @kernels, map { kernel(\%at, $_, $best{$_->{workload_id}}, $run->{$at{name}} // 'nothing was measured') }
			grep { $_->{type} eq 'workload' } records("$dir/$at{name}.workloads");
	}
	return @kernels;
}

# ---- groups ----

sub group {
	my ($name, @kernels) = @_;
	my %once = map { $_->{workload_id} => $_ } grep { !defined $_->{ratio} } @kernels;
	$once{$_->{workload_id}} = $_ for grep { defined $_->{ratio} } @kernels;
	my @judged = sort { $a->{ratio} <=> $b->{ratio} || $a->{workload_id} cmp $b->{workload_id} } grep { defined $_->{ratio} } values %once;
	my %g = (group => $name, workloads => scalar keys %once, not_judged => keys(%once) - @judged);
	$g{goal} = $goal{$name} if $goal{$name};
	my %why;
	$why{$_->{why}}++ for grep { defined $_->{why} } values %once;
	$g{why} = \%why if %why;
	return %g if !@judged;
	my %mean = geometric_mean(map { [$_->{ratio}, $_->{ci}] } @judged);
	return (%g, ratio => $mean{ratio}, ci => $mean{ci}, reached => $goal{$name} ? ($mean{ratio} >= $goal{$name} ? 1 : 0) : undef,
		least => $judged[0]{ratio}, least_of => $judged[0]{prob}, least_dtype => $judged[0]{dtype}, below => scalar grep { $_->{ratio} < $least_goal } @judged);
}

sub groups {
	my @kernels = @_;
	my (%in, @names);
	for my $k (@kernels) {
		my @of = $k->{kind} eq 'products' ? ('products', "products $k->{dtype}") : "$k->{dtype} $k->{kind}";
		push @of, 'depthwise' if $k->{depthwise};
		for (@of) {
			push @names, $_ if !$in{$_};
			push @{$in{$_}}, $k;
		}
	}
	my %is_first = map { $_ => 1 } @first;
	return map { {group($_, @{$in{$_}})} } (grep { $in{$_} } @first), grep { !$is_first{$_} } @names;
}

# ---- sections ----

sub tap {
	my ($file) = @_;
	my @lines = text($file);
	my @failed = map { s/^not ok \d+ - //r } grep { /^not ok/ } @lines;
	push @failed, 'it did not reach its end' if !grep { /^1\.\.\d+/ } @lines;
	return (passed => scalar(grep { /^ok/ && !/# SKIP/ } @lines), failed => \@failed, skipped => [map { s/^ok \d+ # SKIP //r } grep { /# SKIP/ } @lines],
		told => [map { s/^ok \d+ - //r } grep { /^ok .*candidates/ } @lines]);
}

sub put_section { # name, run
	my ($name, $run, $dir) = @_;
	if ($name eq 'verify') {
		put('bench-gpu-verify', tap("$dir/verify.tap"));
	} elsif ($name eq 'sanitize') {
		return put('bench-gpu-sanitize', why => $run->{sanitize}) if $run->{sanitize};
		for my $tool (qw(memcheck racecheck synccheck)) {
			my ($summary) = map { /SUMMARY: (.*?)\s*=*$/ } text("$dir/$tool.tap"), text("$dir/$tool.log");
			put('bench-gpu-sanitize', tool => $tool, summary => $summary, tap("$dir/$tool.tap"), why => $run->{$tool});
		}
	} elsif ($name eq 'hostile' || $name eq 'kill') {
		my @lines = text("$dir/$name.ndjson");
		print "$_\n" for @lines;
		put("bench-gpu-$name-run", why => $run->{$name}) if $run->{$name};
	}
}

sub figures {
	my ($dir) = @_;
	my %run = map { split /\t/, $_, 2 } text("$dir/run");
	my (%statuses);
	$statuses{$_->{status}}++ for grep { $_->{type} eq 'result' } records("$dir/all");
	my @kernels = kernels($dir, \%run);
	my ($any) = grep { $_->{device} } @kernels;
	put('bench-gpu-run', %run, results => \%statuses, left_out => [text("$dir/left_out")], $any ? (libs => $any->{libs}) : ());
	put_section($_, \%run, $dir) for split ' ', $run{sections} // '';
	put('bench-gpu', %$_) for @kernels;
	put('bench-gpu-group', %$_) for groups(@kernels);
}

# ---- tables ----

sub percent {
	my ($x) = @_;
	return defined $x ? sprintf('%.0f%%', 100 * $x) : '-';
}

sub yes { $_[0] ? 'yes' : 'NO' }

sub show_run {
	my ($r) = @_;
	for (qw(target device driver compiler libs cpu commit begin end budget_s every)) {
		printf "%-10s %s\n", $_, $r->{$_} if defined $r->{$_} && $r->{$_} ne '';
	}
	print "left out   $_\n" for @{$r->{left_out} || []};
	my $s = $r->{results} || {};
	printf "%-10s %s\n", 'results', join(', ', map { "$_ $s->{$_}" } sort keys %$s) if %$s;
}

sub show_tap {
	my ($name, $r) = @_;
	return print "$name: not run: $r->{why}\n" if !defined $r->{passed};
	printf "%s: %s; %d passed, %d failed%s\n", $name, @{$r->{failed}} ? 'FAILED' : 'right', $r->{passed}, scalar @{$r->{failed}},
		defined $r->{summary} ? "; $r->{summary}" : '';
	print "  $_\n" for @{$r->{told} || []};
	print "  FAILED: $_\n" for @{$r->{failed}};
	print "  not run: $_\n" for @{$r->{skipped}};
}

sub show_hostile {
	my @rows = @_ or return;
	printf "\n%-28s %-10s %-10s %-10s %s\n", 'hostile kernel', 'status', 'as it must', 'next good', 'why';
	printf "%-28s %-10s %-10s %-10s %s\n", $_->{kernel}, $_->{status} // '-', yes($_->{as_it_must}), yes($_->{next_is_good}), $_->{why} // '' for @rows;
}

sub show_kills {
	my ($end, @rows) = @_;
	return if !@rows;
	printf "\ntl-tune was killed %d times; processes left %d, results lost %d, databases damaged %d\n", scalar(grep { $_->{killed} } @rows),
		sum0(map { $_->{left} } @rows), sum0(map { $_->{lost} } @rows), scalar grep { !$_->{database_whole} } @rows;
	printf "then it ended with status %d: %d results, %d of %d workloads answered, the database is %s\n", $end->{status}, $end->{results},
		@$end{qw(answered workloads)}, $end->{database_whole} ? 'whole' : 'DAMAGED' if $end;
}

sub show_network {
	my ($name, @all) = @_;
	my @k = grep { $_->{latency_s} } @all;
	printf "\n%s: %d workloads, %d not measured, %.1f us in all by count\n", $name, scalar @all, @all - @k,
		1e6 * sum0(map { $_->{count} * $_->{latency_s} } @k);
	printf "%-44s %5s %10s %10s %6s %7s %6s %s\n", qw(problem count us GFLOP/s peak memory ratio by) if @k;
	printf "%-44s %5d %10.1f %10.0f %6s %7s %6s %s\n", substr("$_->{prob} " . join(',', @{$_->{post}}), 0, 44), $_->{count},
		1e6 * $_->{latency_s}, 1e-9 * $_->{flops} / $_->{latency_s}, percent($_->{peak_share}), percent($_->{memory_share}),
		defined $_->{ratio} ? sprintf('%.2f', $_->{ratio}) : '-', $_->{algo} for @k;
}

sub show_groups {
	my @groups = @_ or return;
	printf "\n%-16s %9s %10s %-22s %5s %7s %6s %9s %s\n", 'group', 'workloads', 'not judged', 'geometric mean', 'goal', 'reached', 'least', "below $least_goal", 'of';
	for my $g (@groups) {
		my $judged = defined $g->{ratio};
		my $line = sprintf '%-16s %9d %10d %-22s %5s %7s %6s %9s %s', @$g{qw(group workloads not_judged)},
			$judged ? sprintf('%.3f (%.3f - %.3f)', $g->{ratio}, @{$g->{ci}}) : '-', $g->{goal} // '-',
			$judged && $g->{goal} ? yes($g->{reached}) : '-', $judged ? sprintf('%.2f', $g->{least}) : '-', $judged ? $g->{below} : '-',
			$judged ? "$g->{least_of} $g->{least_dtype}" : '';
		print $line =~ s/\s+$//r, "\n";
	}
	my %why;
	for my $g (@groups) {
		$why{$_}{$g->{group}} = $g->{why}{$_} for keys %{$g->{why} || {}};
	}
	for my $why (sort keys %why) {
		print "not judged, $why: ", join(', ', map { "$why{$why}{$_} of $_" } sort keys %{$why{$why}}), "\n";
	}
}

sub table {
	my ($file) = @_;
	my (%rows, @order, %of);
	for my $k (records($file)) {
		push @{$of{$k->{type}}}, $k;
		next if $k->{type} ne 'bench-gpu';
		push @order, $k->{network} unless $rows{$k->{network}};
		push @{$rows{$k->{network}}}, $k;
	}
	show_run($_) for @{$of{'bench-gpu-run'}};
	print "\n";
	show_tap('random problems', $_) for @{$of{'bench-gpu-verify'}};
	show_tap('compute-sanitizer' . ($_->{tool} ? " $_->{tool}" : ''), $_) for @{$of{'bench-gpu-sanitize'}};
	show_hostile(@{$of{'bench-gpu-hostile'}});
	show_kills($of{'bench-gpu-kill-end'}[0], @{$of{'bench-gpu-kill'}});
	for (@{$of{'bench-gpu-hostile-run'}}, @{$of{'bench-gpu-kill-run'}}) {
		print "$_->{type}: $_->{why}\n" if $_->{why};
	}
	show_network($_, @{$rows{$_}}) for @order;
	show_groups(@{$of{'bench-gpu-group'}});
}

@ARGV == 2 && $ARGV[0] eq '--table' ? table($ARGV[1]) : @ARGV == 1 ? figures($ARGV[0]) : die "usage: gpu.pl DIR | gpu.pl --table FIGURES\n";
