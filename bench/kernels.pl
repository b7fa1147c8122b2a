#!/usr/bin/perl
# The figures behind make bench-kernels (bench/kernels.sh).
#
#   figures DIR                       what DIR holds, as records: the run, a kernel a line, summaries
#   table [--markdown] FIGURES...     such records as tables for people, or for PERFORMANCE.md
#
# DIR holds run (NAME TAB VALUE a line), models (a name a line), NAME.workloads for each of these, NAME.failed (how tuning failed,
# where it did), best (the best known result of each workload, a final), all (all results, for the reasons where there is none), and
# probes (what worker-cpu --probe found, a line each time: the best of each figure counts, beside that of the results' own probe, as
# neighbours may disturb any of them).
#
# Every ratio is that of a final's pairs: oneDNN's time over the kernel's, with its 95% interval. Where ratios are put together,
# their intervals are taken for independent: those of logarithms add up by squares, weighed by what each contributes. A total is the
# sum of times by count; a kernel's time in it is the library's over the ratio of their pairs. "own" is oneDNN in the workload's own
# layout. The roofline of a kernel is flops over the peak or the bytes of its operands over the bandwidth of the smallest cache that
# holds them all, whichever takes longer, by the probe; winograd needs fewer multiplications and may pass it.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use List::Util qw(max min sum0);
use Ratios;
use Records;

my %max_error = (f32 => 1e-5, bf16 => 2**-7, s32 => 2**-13, s8 => 2**-6, u8 => 2**-6); # by the result's type
my %bytes = (f32 => 4, bf16 => 2);
my @classes = ('3x3 stride 1', '1x1', 'depthwise', 'first layer', 'matmul', 'other');

# ---- workloads ----

sub dims { # conv2d's text
	my %d = (mb => 1, g => 1, sh => 1, dh => 0, $_[0] =~ /([a-z]+)(\d+)/g);
	$d{"${_}w"} //= $d{"${_}h"} for qw(i o k s d);
	return \%d;
}

sub class_of {
	my ($w) = @_;
	return 'matmul' if $w->{op} eq 'matmul';
	my $d = dims($w->{prob});
	return $d->{g} == $d->{ic} ? 'depthwise' : 'other' if $d->{g} > 1;
	return 'first layer' if $d->{ic} <= 4;
	return '1x1' if $d->{kh} == 1 && $d->{kw} == 1;
	return '3x3 stride 1' if join(' ', @$d{qw(kh kw sh sw dh dw)}) eq '3 3 1 1 0 0';
	return 'other';
}

sub types_of { # of source, weights and result
	my @types = split /:/, $_[0]{dtype} // 'f32';
	return @types == 3 ? @types : (@types) x 3;
}

sub bytes_of { # all operands once; a residual is read, and the output written in its place
	my ($w) = @_;
	my ($src, $weights, $dst, $bias);
	if ($w->{op} eq 'matmul') {
		my ($m, $k, $n) = $w->{prob} =~ /(\d+)x(\d+):(?:\d+x)?\d+x(\d+)$/ or die "no matmul: $w->{prob}\n";
		my $b = $w->{prob} =~ /^(\d+)x\d+x\d+:/ ? $1 : 1;
		($src, $weights, $dst, $bias) = ($b * $m * $k, $b * $k * $n, $b * $m * $n, $n);
	} else {
		my $d = dims($w->{prob});
		$src = $d->{mb} * $d->{ic} * $d->{ih} * $d->{iw};
		$weights = $d->{oc} * $d->{ic} / $d->{g} * $d->{kh} * $d->{kw};
		$dst = $d->{mb} * $d->{oc} * $d->{oh} * $d->{ow};
		$bias = $d->{oc};
	}
	my %post = map { $_ => 1 } @{$w->{post}};
	my ($of_src, $of_weights, $of_dst) = map { $bytes{$_} // die "no bytes of $_\n" } types_of($w);
	return $of_src * $src + $of_weights * $weights + $of_dst * ($dst * ($post{add} ? 2 : 1) + ($post{bias} ? $bias : 0));
}

# The best of several probes, by figure.
sub best_probe {
	my @probes = grep { $_ } @_ or return;
	my %best = (peak_flops_all => max(map { $_->{peak_flops_all} } @probes));
	for my $level (qw(l1 l2 l3 mem)) {
		$best{bandwidth_all}{$level} = max(map { $_->{bandwidth_all}{$level} } @probes);
	}
	return \%best;
}

# The least time, and what binds: "peak" or a level of the caches. Nothing without a probe.
sub roofline {
	my ($w, $env, @probes) = @_;
	my $probe = best_probe($env->{probe}, @probes) or return;
	return if ($w->{dtype} // 'f32') ne 'f32'; # the probe's peak is that of single precision
	my $bytes = bytes_of($w);
	my $level = 'mem';
	for (['l3', 1], ['l2', $env->{threads}], ['l1', $env->{threads}]) {
		my ($name, $times) = @$_;
		my $size = $env->{$name eq 'l1' ? 'l1d' : $name};
		$level = $name if $size && $bytes <= $times * $size;
	}
	my ($arithmetic, $traffic) = ($w->{flops} / $probe->{peak_flops_all}, $bytes / $probe->{bandwidth_all}{$level});
	return $arithmetic > $traffic ? ('peak', $arithmetic) : ($level, $traffic);
}

# ---- kernels ----

# Why there is no final that ended well: by all results of the workload.
sub failure {
	my @results = sort { $a->{at} cmp $b->{at} } @_;
	return 'no candidate was measured' if !@results;
	my ($final) = grep { $_->{stage} && $_->{stage} eq 'final' } reverse @results;
	return "its final: $final->{status}: $final->{why}" if $final && $final->{status} ne 'ok';
	return 'it had no final' if grep { $_->{status} eq 'ok' } @results;
	return sprintf '%d candidate%s, none of them ok; the last: %s: %s', scalar @results, @results == 1 ? '' : 's',
		$results[-1]{status}, $results[-1]{why};
}

sub kernel { # model, the workload's record, its best result or nothing, the reason then, probes
	my ($model, $w, $r, $why, @probes) = @_;
	my %k = (type => 'bench-kernel', model => $model, class => class_of($w), count => $w->{count} // 1,
		map { $_ => $w->{$_} } qw(workload_id op prob post));
	$r = undef if $r && ($r->{stage} ne 'final' || $r->{status} ne 'ok');
	return {%k, why => $why} if !$r;
	$k{error} = max(values %{$r->{error}});
	my $max_error = $max_error{(types_of($w))[2]};
	return {%k, why => sprintf 'the error is %.2g, beyond %.2g', $k{error}, $max_error} if !($k{error} <= $max_error);
	my $b = $r->{baseline} or return {%k, why => "oneDNN: $r->{baseline_why}"};
	@k{qw(algo latency_s baseline_s impl layout ratio ci verdict processes)} =
		($r->{algo}, $r->{latency_s}, $b->{latency_s}, $b->{impl}, $b->{layout}, $r->{ratio}{median}, $r->{ratio}{ci}, $r->{verdict}, $r->{processes});
	my $own = $b->{layout} eq $w->{layout} ? {impl => $b->{impl}, latency_s => $b->{latency_s}, ratio => $r->{ratio}} : $b->{own_layout};
	@k{qw(own_impl own_s own_ratio own_ci)} = ($own->{impl}, $own->{latency_s}, $own->{ratio}{median}, $own->{ratio}{ci}) if $own;
	$k{own_why} = $b->{own_layout_why} // 'not recorded' if !$own;
	my ($bound, $bound_s) = roofline($w, $r->{env}, @probes);
	@k{qw(bound bound_s roofline)} = ($bound, $bound_s, $bound_s / ($k{baseline_s} / $k{ratio})) if $bound;
	return \%k;
}

# ---- summaries ----

# Geometric mean and total of a list of [ratio, interval, count, the kernel's time]; the total's weights are the library's times in
# $by_library, else the kernels': what the other side's time is told by.
sub combine {
	my ($by_library, @x) = @_;
	return if !@x;
	my $n = @x;
	my %mean = geometric_mean(@x);
	my $ours = sum0(map { $_->[2] * $_->[3] } @x);
	my $library = sum0(map { $_->[2] * $_->[3] * $_->[0] } @x);
	my $half = sqrt(sum0 map { ($_->[2] * $_->[3] * ($by_library ? $_->[0] / $library : 1 / $ours) * half($_->[1]))**2 } @x);
	my %total = estimate(log($library / $ours), $half);
	$_->{verdict} = verdict($_->{ci}) for \%mean, \%total;
	return (n => $n, mean => \%mean, total => {%total, library_s => $library, ours_s => $ours});
}

sub ours_s { $_[0]{baseline_s} / $_[0]{ratio} }

sub summary { # model, class, kernels
	my ($model, $class, @kernels) = @_;
	my @judged = grep { defined $_->{ratio} } @kernels;
	my @own = grep { defined $_->{own_ratio} } @judged;
	my ($worst) = sort { $a->{ratio} <=> $b->{ratio} } @judged;
	my %s = (type => 'bench-summary', model => $model, class => $class, workloads => scalar @kernels,
		failed => @kernels - @judged, map { my $v = $_; $v => scalar grep { $_->{verdict} eq $v } @judged } qw(faster same slower undecided));
	return \%s if !@judged;
	$s{best} = {combine(0, map { [$_->{ratio}, $_->{ci}, $_->{count}, ours_s($_)] } @judged)};
	$s{own} = {combine(1, map { [$_->{own_ratio}, $_->{own_ci}, $_->{count}, ours_s($_)] } @own)} if @own;
	$s{worst} = {map { $_ => $worst->{$_} } qw(model prob ratio ci verdict)};
	my @bound = grep { $_->{bound_s} } @judged;
	$s{roofline} = sum0(map { $_->{count} * $_->{bound_s} } @bound) / sum0(map { $_->{count} * ours_s($_) } @bound) if @bound;
	return \%s;
}

# Of each model, of each class of each model; and of each class of all models, in whose means a workload counts once.
sub summaries {
	my ($models, @kernels) = @_;
	my @out;
	for my $model (@$models) {
		my @of = grep { $_->{model} eq $model } @kernels;
		push @out, summary($model, 'all', @of);
		for my $class (@classes) {
			my @in = grep { $_->{class} eq $class } @of;
			push @out, summary($model, $class, @in) if @in;
		}
	}
	return @out if @$models < 2;
	my %once;
	for my $k (@kernels) {
		my $first = $once{$k->{workload_id}} //= {%$k, count => 0};
		$first->{count} += $k->{count};
	}
	my @once = map { delete $once{$_->{workload_id}} // () } @kernels;
	for my $class ('all', @classes) {
		my @in = grep { $class eq 'all' || $_->{class} eq $class } @once;
		push @out, summary('all', $class, @in) if @in;
	}
	return @out;
}

# ---- records ----

sub text { # a file's lines
	open my $f, '<', $_[0] or die "$_[0]: $!\n";
	chomp(my @lines = <$f>);
	return @lines;
}

sub rounded {
	my ($x) = @_;
	return {map { $_ => rounded($x->{$_}) } keys %$x} if ref $x eq 'HASH';
	return [map { rounded($_) } @$x] if ref $x eq 'ARRAY';
	return defined $x && $x =~ /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i && length $x < 32 ? 0 + sprintf '%.9g', $x : $x;
}

sub put {
	my %rest = %{rounded($_[0])};
	my $type = delete $rest{type};
	print qq({"tl":1,"type":"$type",), substr(JSON::PP->new->canonical->encode(\%rest), 1), "\n";
}

sub figures {
	my ($dir) = @_;
	my %run = map { split /\t/, $_, 2 } text("$dir/run");
	my @models = text("$dir/models");
	my @probes = map { decode_json($_) } text("$dir/probes");
	my %best = map { $_->{workload}{workload_id} => $_ } map { decode_json($_) } lines("$dir/best", 'result');
	my (@kernels, %results);
	push @{$results{field($_, 'workload_id')}}, $_ for lines("$dir/all", 'result');
	for my $model (@models) {
		my $failed = -e "$dir/$model.failed" ? join '', '; ', text("$dir/$model.failed") : '';
		for my $w (map { decode_json($_) } lines("$dir/$model.workloads", 'workload')) {
			my @all = $best{$w->{workload_id}} && $best{$w->{workload_id}}{stage} eq 'final' ? () :
				map { decode_json($_) } @{$results{$w->{workload_id}} // []};
			push @kernels, kernel($model, $w, $best{$w->{workload_id}}, failure(@all) . $failed, @probes);
		}
	}
	my ($any) = values %best;
	my $env = $any ? $any->{env} : {};
	my %env = map { $_ => $env->{$_} // 'not known, as nothing was measured' } qw(isa threads cc libs);
	put($_) for {type => 'bench-run', bench => 'kernels', %run, probe => scalar best_probe($env->{probe}, @probes), models => \@models, %env}, @kernels, summaries(\@models, @kernels);
}

# ---- tables ----

my $markdown;

sub rows { # a list of lists, the first of which is the head: ">" begins what goes to the right
	my ($head, @rows) = @_;
	my @right = map { s/^>// } @$head;
	if ($markdown) {
		print '| ', join(' | ', map { s/\|/\\|/gr } @$_), " |\n" for $head, [map { $_ ? '--:' : '---' } @right], @rows;
		return;
	}
	my @width = map { my $i = $_; max(map { length $_->[$i] } $head, @rows) } 0 .. $#$head;
	for my $row ($head, @rows) {
		my $line = join '  ', map { sprintf $right[$_] ? "%$width[$_]s" : "%-$width[$_]s", $row->[$_] } 0 .. $#$row;
		print $line =~ s/\s+$//r, "\n";
	}
}

sub title {
	print $markdown ? "\n### $_[0]\n\n" : "\n$_[0]\n\n";
}

sub interval {
	my ($x) = @_;
	return sprintf '%.3f (%.3f - %.3f)', $x->{ratio}, @{$x->{ci}};
}

sub us { sprintf $_[0] < 1e-4 ? '%.1f' : '%.0f', 1e6 * $_[0] }

sub percent { defined $_[0] ? sprintf '%.0f%%', 100 * $_[0] : '-' }

sub problem {
	my ($k) = @_;
	my $post = @{$k->{post} // []} ? ' ' . join ',', @{$k->{post}} : '';
	return ($k->{prob} =~ s/^mb1_?//r) . $post;
}

sub put_kernels {
	rows(['problem', '>count', 'class', '>oneDNN us', '>ours us', '>ratio', 'verdict', '>own layout', '>roofline', 'bound', '>error', 'algorithm', "oneDNN's best"],
		map {
			my $k = $_;
			my @start = (problem($k), $k->{count}, $k->{class});
			defined $k->{ratio} ? [@start, us($k->{baseline_s}), us(ours_s($k)), interval($k), $k->{verdict},
				$k->{own_ci} ? interval({ratio => $k->{own_ratio}, ci => $k->{own_ci}}) : $k->{own_why}, percent($k->{roofline}), $k->{bound} // '-',
				sprintf('%.1e', $k->{error}), $k->{algo}, $k->{impl} =~ s/^onednn [\d.]+ //r]
				: [@start, ('-') x 3, 'NOT JUDGED', ('-') x 3, defined $k->{error} ? sprintf('%.1e', $k->{error}) : '-', '-', $k->{why}];
		} @_);
}

sub put_summaries {
	rows(['model', 'class', '>workloads', '>not judged', '>undecided', '>geometric mean', 'verdict', '>worst', 'of', '>oneDNN us', '>ours us', '>total', 'verdict',
			'>own layout, mean', '>total', '>roofline'],
		map {
			my $s = $_;
			my ($b, $o) = @$s{qw(best own)};
			my @start = @$s{qw(model class workloads failed undecided)};
			$b ? [@start, interval($b->{mean}), $b->{mean}{verdict}, sprintf('%.3f %s', @{$s->{worst}}{qw(ratio verdict)}), $s->{worst}{prob} =~ s/^mb1_?//r,
				us($b->{total}{library_s}), us($b->{total}{ours_s}), interval($b->{total}), $b->{total}{verdict},
				$o ? interval($o->{mean}) . ($o->{n} < $b->{n} ? " of $o->{n}" : '') : '-', $o ? interval($o->{total}) : '-',
				percent($s->{roofline})]
				: [@start, ('-') x 11];
		} @_);
}

sub put_run {
	my ($r, @kernels) = @_;
	my $failed = grep { !defined $_->{ratio} } @kernels;
	title("$r->{libs} on $r->{cpu}, $r->{isa}, $r->{threads} thread" . ($r->{threads} eq '1' ? '' : 's'));
	print "$r->{begin} to ", $r->{end} // 'an end that was not reached', ", commit $r->{commit}, $r->{budget_s} s of tuning a model. ",
		"Ratios are oneDNN's time over ours, in pairs of calls, with 95% intervals; own layout: oneDNN in the workload's. ",
		"$failed of ", scalar @kernels, " kernels are not judged.\n";
}

sub table {
	my ($run, @kernels, @summaries);
	my $flush = sub {
		return if !$run;
		put_run($run, @kernels);
		for my $model (@{$run->{models}}) {
			title($model);
			put_kernels(grep { $_->{model} eq $model } @kernels);
		}
		title('Summary');
		put_summaries(@summaries);
		@kernels = @summaries = ();
	};
	for (map { text($_) } @_) {
		my $r = decode_json($_);
		push @kernels, $r if $r->{type} eq 'bench-kernel';
		push @summaries, $r if $r->{type} eq 'bench-summary';
		next if $r->{type} ne 'bench-run';
		$flush->();
		$run = $r;
	}
	$flush->();
}

my $what = shift // '';
if ($what eq 'figures' && @ARGV == 1) {
	figures(@ARGV);
} elsif ($what eq 'table' && @ARGV) {
	$markdown = @ARGV && $ARGV[0] eq '--markdown' ? shift : 0;
	table(@ARGV);
} else {
	die "usage: kernels.pl figures DIR | kernels.pl table [--markdown] FIGURES...\n";
}
