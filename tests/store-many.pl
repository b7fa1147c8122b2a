# For tests/store-many.t and tests/store-full.t: writers that are killed, and what a database must hold after them,
# told without a database.
use strict;
use warnings;
use POSIX ':sys_wait_h';
use Time::HiRes qw(sleep time);

my ($what, @args) = @ARGV;

sub field {
	my ($line, $key) = @_;
	return $line =~ /"$key":"([^"]*)"/ ? $1 : '';
}

sub lines {
	my ($path) = @_;
	open my $in, '<', $path or die "$path: $!\n";
	my @lines = grep { /\n$/ } <$in>; # a killed writer may leave half a line
	chomp @lines;
	return @lines;
}

# Writes records in portions of random size, as a measurer would; 0 if the reader is gone.
sub feed {
	my ($out, $portion, @records) = @_;
	local $SIG{PIPE} = 'IGNORE';
	while (my @some = splice @records, 0, 1 + int rand $portion) {
		my $text = join('', map { "$_\n" } @some);
		while (length $text) {
			my $n = syswrite $out, $text;
			return 0 unless $n;
			substr($text, 0, $n) = '';
		}
		sleep rand 0.01;
	}
	return 1;
}

sub await {
	my ($path) = @_;
	my $until = time + 10;
	sleep 0.001 until -s $path || time > $until;
}

# A writer: tl-store with INPUT, what it acknowledges in ACKED.0, .1, ...; killed KILLS times at a random moment and
# begun again behind what it acknowledged, so that what it should not have acknowledged stays lost. Every other time it may
# acknowledge something first, because a slow build (sanitizers) would else be killed before its first commit each time.
# If it is cut, then killed for good.
sub writer {
	my ($bin, $db, $input, $acked, $kills, $cut) = @_;
	my @records = lines($input);
	for my $try (0 .. $kills) {
		pipe my $from, my $to or die "pipe: $!\n";
		open my $out, '>', "$acked.$try" or die "$acked.$try: $!\n"; # here: it may be killed before it could
		open my $err, '>', "$acked.err.$try" or die "$acked.err.$try: $!\n";
		my $pid = fork // die "fork: $!\n";
		if (!$pid) {
			close $to;
			open STDIN, '<&', $from or die "stdin: $!\n";
			open STDOUT, '>&', $out or die "stdout: $!\n";
			open STDERR, '>&', $err or die "stderr: $!\n";
			exec "$bin/tl-store", '-v', '-d', $db or die "tl-store: $!\n";
		}
		close $from;
		my $doomed = $try < $kills || $cut;
		my $share = $doomed ? int rand(2 * @records / ($kills - $try + 1)) : @records;
		$share = @records if $share > @records;
		my $reached = feed($to, 400, @records[0 .. $share - 1]);
		if ($doomed) {
			await("$acked.$try") if $try % 2 && $share;
			sleep rand 0.002; # in the middle of a batch, or of its commit
			kill KILL => $pid;
		}
		close $to;
		waitpid $pid, 0;
		splice @records, 0, scalar lines("$acked.$try");
		next if $doomed;
		die "a writer ended with $?: ", lines("$acked.err.$try"), "\n" if $? || !$reached;
	}
}

# write BIN DATABASE KILLS INPUT...: a writer for each, at once; the last quarter never ends.
sub write_all {
	my ($bin, $db, $kills, @inputs) = @_;
	my ($failed, $i) = (0, 0);
	for my $input (@inputs) {
		my $cut = ++$i > @inputs * 3 / 4;
		my $pid = fork // die "fork: $!\n";
		next if $pid;
		srand(time * 1000 + $$);
		eval { writer($bin, $db, $input, "$input.acked", $kills, $cut) };
		print STDERR "# $@" if $@;
		exit($@ ? 1 : 0);
	}
	$failed ||= $? while wait > 0;
	return $failed;
}

# The rules of lib/store/store.h.

sub key { my ($r) = @_; return join ' ', map { field($r, $_) } qw(candidate_id env_id run stage); }

sub is_later { my ($x, $y) = @_; return (field($x, 'at') cmp field($y, 'at') || $x cmp $y) > 0; }

sub latency { return $_[0] =~ /"latency_s":([-+.0-9e]+)/ ? $1 : 9e9; }

sub by_merit {
	return (field($b, 'stage') eq 'final') - (field($a, 'stage') eq 'final') || latency($a) <=> latency($b) ||
		field($a, 'candidate_id') cmp field($b, 'candidate_id') || field($a, 'run') cmp field($b, 'run');
}

my ($tests, $bad) = (0, 0);

sub ok {
	my ($good, $name) = @_;
	$tests++;
	$bad++ unless $good;
	print $good ? '' : 'not ', "ok - $name\n";
}

# check DUMP COMPLETE... -- CUT... -- ACKED...: the inputs whose writers ended, those of the others, what was passed on.
sub check {
	my ($dump, @rest) = @_;
	my @list = ([], [], []);
	my $at = 0;
	for (@rest) {
		if ($_ eq '--') { $at++ } else { push @{ $list[$at] }, $_ }
	}
	my ($complete, $cut, $acked) = @list;
	my (%have, %of_key, %made);
	for (lines($dump)) {
		$have{$_} = 1;
		next unless /"type":"result"/;
		ok(0, 'two results have the same key') if $of_key{key($_)};
		$of_key{key($_)} = $_;
	}
	my $kept = sub {
		my ($r) = @_;
		return 1 if $have{$r} || $r =~ /"type":"workload"/;
		return 0 unless $r =~ /"type":"result"/;
		my $other = $of_key{key($r)};
		return $other && is_later($other, $r);
	};
	my @acked = map { lines($_) } @$acked;
	my @lost = grep { !$kept->($_) } @acked;
	print "# lost: $lost[0]\n" if @lost;
	ok(@acked > 0 && !@lost, 'what was passed on is there (' . @acked . ' records)');
	my @missing = grep { !$kept->($_) } map { lines($_) } @$complete;
	print "# missing: $missing[0]\n" if @missing;
	ok(!@missing, 'and all of those who could end');
	$made{$_} = 1 for map { lines($_) } @$complete, @$cut;
	ok(!(grep { !$made{$_} } values %of_key), 'and nothing else');
}

# Distinct candidates, best first, of the results kept for a workload and an env.
sub best {
	my (@results) = @_;
	my %wrong = map { field($_, 'candidate_id') => 1 } grep { field($_, 'status') eq 'wrong' } @results;
	my %seen;
	return grep { !$seen{field($_, 'candidate_id')}++ }
		sort by_merit grep { field($_, 'status') eq 'ok' && !$wrong{field($_, 'candidate_id')} } @results;
}

# recount BIN DATABASE WORKLOADS DUMP
sub recount {
	my ($bin, $db, $workloads, $dump) = @_;
	my @results = grep { /"type":"result"/ } lines($dump);
	my (%of, %status, %candidates);
	my $core_s = 0;
	for (@results) {
		my $workload = field($_, 'workload_id');
		push @{ $of{"$workload " . field($_, 'env_id')} }, $_;
		$status{field($_, 'status')}++;
		$candidates{"$workload " . field($_, 'candidate_id')} = 1;
		$core_s += /"core_s":([-+.0-9e]+)/ ? $1 : 0;
	}
	my ($same, $differ) = (0, 0);
	for my $env (map { "e$_" . "0" x 30 } 1 .. 2) {
		for my $workload (lines($workloads)) {
			my @want = best(@{ $of{field($workload, 'workload_id') . " $env"} || [] });
			@want = @want[0 .. 9] if @want > 10;
			open my $to, '>', "$dump.one" or die "$dump.one: $!\n";
			print $to "$workload\n";
			close $to;
			my @got = `$bin/tl-query -d '$db' --env $env --top 10 $dump.one`;
			chomp @got;
			s/,"match":"exact"\}$/}/ for @got;
			if (@want && "@got" eq "@want") { $same++ } else { $differ++ }
		}
	}
	ok($same && !$differ, "the ten best are those of brute force, $same times");
	my $stats = `$bin/tl-query -d '$db' --stats`;
	my $counts = join ',', map { "\"$_\":$status{$_}" } sort keys %status;
	ok(index($stats, "\"status\":{$counts}") >= 0 && $stats =~ /"results":@{[scalar @results]},/, 'so are the results counted');
	ok($stats =~ /"candidates":@{[scalar keys %candidates]},/, 'and the candidates');
	ok($stats =~ /"core_s":([-+.0-9e]+)/ && abs($1 - $core_s) < 1e-6 * $core_s, 'and the core-seconds');
}

# Some results are made wrong, so that a candidate's best is not believed.
sub spoil {
	srand shift;
	while (<STDIN>) {
		s/"status":"ok"/"status":"wrong","why":"it differs"/ if /"stage":"race"/ && rand() < 0.05;
		print;
	}
}

if ($what eq 'write') { exit(write_all(@args) ? 1 : 0) }
elsif ($what eq 'check') { check(@args) }
elsif ($what eq 'recount') { recount(@args) }
elsif ($what eq 'spoil') { spoil(@args) }
else { die "store-many.pl: $what?\n" }
exit($bad ? 1 : 0);
