# The table of make bench-measure: perl bench/measure.pl FOLDER SET...
# Or the candidates that won in any way, to be timed once more: perl bench/measure.pl FOLDER --winners SET
use strict;
use warnings;

my ($dir, @sets) = @ARGV;
my $cores = `getconf _NPROCESSORS_ONLN` + 0;

sub cost { # seconds, core-seconds held, processor seconds: of all that is named
	my ($wall, $cpu) = (0, 0);
	for my $name (@_) {
		open my $f, '<', "$dir/$name.cost" or die "$dir/$name.cost: $!";
		my ($w, $c) = split ' ', <$f>;
		$wall += $w;
		$cpu += $c;
	}
	return ($wall, $wall * $cores, $cpu);
}

sub results { # of a file: a hash a result
	my ($name) = @_;
	my @all;
	open my $f, '<', "$dir/$name" or die "$dir/$name: $!";
	while (<$f>) {
		next unless /"type":"result"/;
		my %r;
		($r{id}) = /"candidate_id":"(\w+)"/;
		($r{workload}) = /"workload_id":"(\w+)"/;
		($r{status}) = /"status":"(\w+)"/;
		($r{stage}, $r{time}) = /"stage":"(\w+)".*?"latency_s":([\d.e+-]+)/;
		($r{verdict}) = /"verdict":"(\w+)"/;
		($r{ratio}) = /"ratio":\{"median":([\d.e+-]+)/;
		($r{false_kill}) = /"false_kill":(\w+)/;
		push @all, \%r;
	}
	return @all;
}

# The best of each workload among the results that pass: final before race, then by time.
sub winners {
	my %best;
	for my $r (@_) {
		next unless $r->{status} eq 'ok';
		my $b = $best{$r->{workload}};
		next if $b && ($b->{stage} eq 'final') > ($r->{stage} eq 'final');
		$best{$r->{workload}} = $r
			if !$b || ($b->{stage} ne $r->{stage} && $r->{stage} eq 'final') || $r->{time} < $b->{time};
	}
	return %best;
}

# Wilson's interval for k of n, upper end.
sub upper {
	my ($k, $n) = @_;
	return 1 unless $n;
	my ($z, $p) = (1.96, $k / $n);
	return ($p + $z**2 / (2 * $n) + $z * sqrt($p * (1 - $p) / $n + $z**2 / (4 * $n**2))) / (1 + $z**2 / $n);
}

sub plain_times {
	my ($set) = @_;
	my %t;
	open my $f, '<', "$dir/$set.plain-cpu.times" or die;
	while (<$f>) {
		my ($id, $time) = split;
		$t{$id} = $time;
	}
	return %t;
}

sub geomean {
	my $sum = 0;
	$sum += log for @_;
	return @_ ? exp($sum / @_) : 0;
}

# The winner of each workload by the way's own times: race, full and plain, as hashes of candidate ids.
sub ways {
	my ($set) = @_;
	my @race = results("$set.race");
	my %raced = winners(@race);
	my %full = winners(results("$set.full"));
	my %plain = plain_times($set);
	my %best;
	for my $r (grep { $_->{stage} eq 'race' } @race) {
		my $t = $plain{$r->{id}};
		my $b = \$best{$r->{workload}};
		$$b = $r->{id} if defined $t && (!defined $$b || $t < $plain{$$b});
	}
	return (race => { map { $_ => $raced{$_}{id} } keys %raced },
		full => { map { $_ => $full{$_}{id} } keys %full }, plain => \%best);
}

if (@sets == 2 && $sets[0] eq '--winners') {
	my %way = ways($sets[1]);
	my %wins = map { $_ => 1 } map { values %$_ } values %way;
	open my $f, '<', "$dir/$sets[1].candidates" or die "$dir/$sets[1].candidates: $!";
	while (<$f>) {
		print if !/"candidate_id":"(\w+)"/ || $wins{$1};
	}
	exit;
}

open my $out, '>', "$dir/figures.ndjson" or die;
my @rows;
for my $set (@sets) {
	my %f = (set => $set);
	my @race = results("$set.race");
	my %raced = winners(@race);
	my %way = ways($set);
	my %time; # the least of three runs of the winners alone
	for my $r (grep { $_->{status} eq 'ok' } map { results("$set.winners.$_") } 1 .. 3) {
		$time{$r->{id}} = $r->{time} if !$time{$r->{id}} || $r->{time} < $time{$r->{id}};
	}
	my %again = winners(results("$set.again"));
	my %plain = plain_times($set);
	for my $how ('c', 'cpu') {
		($f{"plain_${how}_s"}, $f{"plain_${how}_core_s"}, $f{"plain_${how}_cpu_s"}) =
			cost("$set.plain-$how.build", "$set.plain-$how.run");
		(undef, $f{"plain_${how}_build_core_s"}) = cost("$set.plain-$how.build");
	}
	($f{race_s}, $f{race_core_s}, $f{race_cpu_s}) = cost("$set.race");
	$f{candidates} = keys %plain;
	$f{preempted} = grep { $_->{status} eq 'preempted' } @race;
	$f{saving} = $f{plain_c_core_s} / $f{race_core_s};
	$f{saving_same_source} = $f{plain_cpu_core_s} / $f{race_core_s};
	# What the winner of a way takes, over the winner of full timing.
	for my $name ('race', 'plain') {
		my ($winner, $full) = ($way{$name}, $way{full});
		my @loss = sort { $a <=> $b } map { $time{$winner->{$_}} / $time{$full->{$_}} }
			grep { $winner->{$_} && $time{$winner->{$_}} && $time{$full->{$_}} } keys %$full;
		$f{"${name}_loss_mean"} = geomean(@loss) - 1;
		$f{"${name}_loss_worst"} = $loss[-1] - 1;
		$f{"${name}_within_1%"} = grep { $_ <= 1.01 } @loss;
		$f{workloads} = @loss;
	}
	my @audited = grep { defined $_->{false_kill} } results("$set.audit");
	$f{audited} = @audited;
	$f{false_kills} = grep { $_->{false_kill} eq 'true' } @audited;
	$f{false_kill_rate} = @audited ? $f{false_kills} / @audited : 0;
	$f{false_kill_rate_upper} = upper($f{false_kills}, scalar @audited);
	my @decided = grep { $raced{$_}{verdict} && $raced{$_}{verdict} ne 'undecided' } keys %raced;
	$f{decided} = @decided;
	$f{contradicted} = grep { $again{$_}{verdict} ne $raced{$_}{verdict} && $again{$_}{verdict} ne 'undecided' } @decided;
	$f{agreed} = grep { $again{$_}{verdict} eq $raced{$_}{verdict} } @decided;
	print $out '{', join(',', map { "\"$_\":" . ($_ eq 'set' ? "\"$f{$_}\"" : $f{$_} + 0) } sort keys %f), "}\n";
	push @rows, \%f;
}
close $out;

sub line {
	my ($name, $format, $value) = @_;
	printf "%-58s", $name;
	printf "%16s", sprintf $format, $value->($_) for @rows;
	print "\n";
}

line('candidates', '%s', sub { $_[0]{set} });
line('  workloads', '%d', sub { $_[0]{workloads} });
line('  candidates', '%d', sub { $_[0]{candidates} });
for my $how ('c', 'cpu') {
	line($how eq 'c' ? 'the plain way, kernels in GNU C: core-seconds held' : 'the plain way, the same source: core-seconds held',
		'%.1f', sub { $_[0]{"plain_${how}_core_s"} });
	line('  of them building', '%.1f', sub { $_[0]{"plain_${how}_build_core_s"} });
	line('  candidates a second', '%.1f', sub { $_[0]{candidates} / $_[0]{"plain_${how}_s"} });
	line('  processor seconds', '%.1f', sub { $_[0]{"plain_${how}_cpu_s"} });
}
line('tl-measure, baseline and finals included: core-seconds held', '%.1f', sub { $_[0]{race_core_s} });
line('  candidates a second', '%.1f', sub { $_[0]{candidates} / $_[0]{race_s} });
line('  processor seconds', '%.1f', sub { $_[0]{race_cpu_s} });
line('the plain way in GNU C / tl-measure: core-seconds', '%.2f', sub { $_[0]{saving} });
line('the plain way, the same source / tl-measure', '%.2f', sub { $_[0]{saving_same_source} });
line('preempted', '%d', sub { $_[0]{preempted} });
line('audited after preemption', '%d', sub { $_[0]{audited} });
line('  better than the incumbent (false kills)', '%s',
	sub { sprintf '%d (%.2f%%)', $_[0]{false_kills}, 100 * $_[0]{false_kill_rate} });
line('  upper end of the 95% interval', '%.2f%%', sub { 100 * $_[0]{false_kill_rate_upper} });
for my $way ('race', 'plain') {
	line($way eq 'race' ? 'winner of the race over that of full timing: mean' : 'winner of the plain way over it: mean',
		'%.2f%%', sub { 100 * $_[0]{"${way}_loss_mean"} });
	line('  worst', '%.2f%%', sub { 100 * $_[0]{"${way}_loss_worst"} });
	line('  within 1%', '%s', sub { $_[0]{"${way}_within_1%"} . '/' . $_[0]{workloads} });
}
line('verdicts decided', '%d', sub { $_[0]{decided} });
line('  the same in a rerun', '%s',
	sub { sprintf '%d (%.0f%%)', $_[0]{agreed}, $_[0]{decided} ? 100 * $_[0]{agreed} / $_[0]{decided} : 0 });
line('  the contrary in a rerun', '%d', sub { $_[0]{contradicted} });

my %alone = map { $_->{id} => $_->{time} } grep { $_->{status} eq 'ok' } results('alone.results');
my @beside = sort { $a <=> $b } map { $_->{time} / $alone{$_->{id}} }
	grep { $_->{status} eq 'ok' && $alone{$_->{id}} } results('beside.results');
if (@beside) {
	printf "\nOne thread timed beside a compiler on another core, over the same alone: %d candidates, median %.3f, 5%% below %.3f, 5%% above %.3f\n",
		scalar @beside, $beside[@beside / 2], $beside[@beside * 0.05], $beside[@beside * 0.95];
}
