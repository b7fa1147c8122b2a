#!/usr/bin/perl
# The fault loop: runs each program with the 1st, 2nd, 3rd, ... call of each kind failing (tests/fault/fault.c), until
# none is left that could fail, and holds it to this:
#
# - it ends, within 20 s and not by a signal, with status 3 and a sentence on standard error that begins with its name
#   and tells the reason; or as if nothing had happened, with the same output to the byte;
# - what came out before a failure is the beginning of the whole; a file written by -o is the old one or the new one;
# - no temporary file and no process is left;
# - a database is sound, holds all that was passed on, and takes the rest when the program runs again.
#
# Of loops with many calls the first and a random sample are tried: TL_TEST_FAULTS=N for about N a loop, 0 for all.
# TL_TEST_FAULTS_OF=REGEX takes only the loops of that name ("tl-store: sqlite"). With SAN=1 leaks fail, too; and
# there only failures are tried, as it is on their ways that something may leak.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename;
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
use File::Temp 'tempdir';
use IO::Poll 'POLLERR';
use POSIX ':sys_wait_h';
use Time::HiRes qw(sleep time);

my $here = dirname(dirname(abs_path($0)));
my $bin = abs_path($ENV{BIN} // 'bin');
# What looks at a database afterwards is none of the programs that are tried: the ordinary build is faster.
my $ordinary = -x "$here/../bin/tl-store" && -x "$here/../bin/tl-query" ? "$here/../bin" : $bin;
my $library = "$here/../build/tests/fault.so";
my $tmp = tempdir(CLEANUP => 1);
my $limit = $ENV{TL_TEST_FAULTS} // ($ENV{SAN} ? 2 : 8);
my $wanted = $ENV{TL_TEST_FAULTS_OF} // '.';
my ($timeout, $grace, $patience) = (20, 3, 5);
my ($tests, $total) = (0, 0);

delete @ENV{qw(TL_DB TL_ISA TL_CC FAULT FAULT_PROGRAM FAULT_FILE)};
$ENV{LC_ALL} = 'C';
$ENV{TL_CACHE} = "$tmp/cache";
$ENV{TL_LOCKS} = $tmp;
$ENV{TL_PROBE} = 0;
$ENV{ASAN_OPTIONS} = join ':', grep { $_ } $ENV{ASAN_OPTIONS}, 'verify_asan_link_order=0', 'exitcode=99';
$ENV{LSAN_OPTIONS} = join ':', grep { $_ } $ENV{LSAN_OPTIONS}, 'exitcode=98';
srand 1;
syscall 157, 36, 1, 0, 0, 0;    # prctl(PR_SET_CHILD_SUBREAPER, 1): orphans become ours, and are seen

my %kinds = (    # what the sentence must tell
	# A thread that finds no memory is EAGAIN to the C library.
	malloc => qr{out of memory|annot allocate memory|no memory|can't allocate|cannot start a thread}i,
	read => qr{Input/output error|disk I/O error},
	write => qr{No space left on device|disk is full|disk I/O error},
	open => qr{Too many open files|unable to open database file|disk I/O error},
	sync => qr{Input/output error|disk I/O error},
	path => qr{Input/output error|disk I/O error|unable to open database file},
	seek => qr{Input/output error},
	lock => qr{No locks available},
	exec => qr{Resource temporarily unavailable},
	mmap => qr{annot allocate memory},
	sqlite => qr{disk I/O error},
	'sqlite:13' => qr{database or disk is full},
	'sqlite:5' => qr{others held it},
	'sqlite:7' => qr{out of memory},
	short => undef,    # no failures: nothing may happen
	eintr => undef,
);
my @kinds = qw(malloc read write short eintr open sync path seek lock exec mmap sqlite sqlite:13 sqlite:7);

sub slurp {
	my $path = shift;
	open my $f, '<:raw', $path or return undef;
	local $/;
	return scalar(<$f>) // '';
}

sub spew {
	my ($path, $text) = @_;
	open my $f, '>:raw', $path or die "$path: $!";
	print $f $text or die "$path: $!";
	close $f or die "$path: $!";
}

# A child that writes the parts to a pipe, each after the first when something came out anew, and the end. Ends with
# status 1 if nothing comes, and nobody has gone. Returns its process and the end to be read.
sub feed {
	my ($out, @parts) = @_;
	pipe my $read, my $write or die "pipe: $!";
	my $pid = fork // die "fork: $!";

	if (!$pid) {
		my $poll = IO::Poll->new;
		my $had = 0;
		local $SIG{PIPE} = 'IGNORE';
		close $read;
		$poll->mask($write => POLLERR);
		for my $part (@parts) {
			syswrite $write, $part;
			my $until = time + $patience;
			while ((-s $out // 0) <= $had && !$poll->poll(0.002)) {
				POSIX::_exit(1) if time > $until;
			}
			$had = -s $out // 0;
		}
		POSIX::_exit(0);
	}
	return ($pid, $read);
}

# Runs and waits; returns the wait status, 'hang' after the time, 'hold' if fed records were held back, and the processes that were left.
sub run {
	my ($argv, $in, $out, $err, %env) = @_;
	my ($status, $left) = ('hang', 0);
	my ($feeder, $pipe);

	spew($out, '');
	($feeder, $pipe) = feed($out, @$in) if ref $in;
	my $pid = fork // die "fork: $!";

	if (!$pid) {
		setpgrp;
		@ENV{qw(LD_PRELOAD FAULT_SYNC)} = ($library, 0);
		@ENV{keys %env} = values %env;
		open STDIN, ref $in ? '<&' : '<', ref $in ? $pipe : $in or die "$in: $!";
		close $pipe if $pipe;
		open STDOUT, '>', $out or die "$out: $!";
		open STDERR, '>', $err or die "$err: $!";
		{ exec { $argv->[0] } @$argv }
		POSIX::_exit(127);
	}
	close $pipe if $pipe;
	eval {
		local $SIG{ALRM} = sub { die "time\n" };
		alarm $timeout;
		my $r = waitpid $pid, 0;
		$status = $? if $r == $pid;
		alarm 0;
	};
	if ($status eq 'hang') {
		kill 'KILL', -$pid;
		waitpid $pid, 0;
	}
	if ($feeder) {
		waitpid $feeder, 0;
		$status = 'hold' if $? == 256;
	}
	for (my $until = time + $grace; ; sleep 0.005) {
		my $r = waitpid -1, WNOHANG;
		last if $r < 0;
		next if $r > 0 || time < $until;
		$left = 1;
		kill 'KILL', -$pid;
		last if time > $until + $grace;
	}
	return ($status, $left);
}

sub files_in {
	my $dir = shift;
	opendir my $d, $dir or die "$dir: $!";
	return sort grep { !/^\.\.?$/ } readdir $d;
}

# One run of a case in a fresh folder; what there is to see of it.
sub attempt {
	my ($case, $fault, $program) = @_;
	my $dir = "$tmp/run";

	chdir $tmp or die "$tmp: $!";
	remove_tree($dir);
	make_path($dir, "$tmp/io");
	unlink "$tmp/io/hit";
	chdir $dir or die "$dir: $!";
	for my $name (keys %{$case->{files} // {}}) {
		copy($case->{files}{$name}, $name) or die "$name: $!";
	}
	$case->{prepare}->() if $case->{prepare};
	my %env = (FAULT_FILE => "$tmp/io/hit", FAULT => $fault, FAULT_PROGRAM => $program,
		%{$case->{env} // {}});
	# Where nothing can be opened any more, the leak checker does not see what the threads hold, and takes it for lost.
	$env{ASAN_OPTIONS} = "$ENV{ASAN_OPTIONS}:detect_leaks=0" if $fault =~ /^open:\d+:sticky/;
	my ($status, $left) = run($case->{argv}, $case->{in} // '/dev/null', "$tmp/io/out", "$tmp/io/err", %env);
	my %seen = (status => $status, left => $left, out => slurp("$tmp/io/out"), err => slurp("$tmp/io/err"),
		hit => slurp("$tmp/io/hit") // '', names => [files_in($dir)]);
	$seen{file}{$_} = slurp($_) for @{$case->{writes} // []};
	return \%seen;
}

sub exit_of {
	my $status = shift;
	return $status eq 'hang' ? 'does not end' : $status eq 'hold' ? 'holds back what it could pass on' : $status & 127 ? 'dies of signal ' . ($status & 127) : $status >> 8;
}

# What a run that measures must say whatever the clock says: which candidates, how they ended, and that it is whole.
sub outcomes {
	my $text = shift;
	my @lines;
	for (split /\n/, $text) {
		my ($type) = /"type":"(\w+)"/ or next;
		my ($id) = /"candidate_id":"(\w+)"/;
		my ($status) = /"status":"(\w+)"/;
		push @lines, $type eq 'result' ? "$id $status\n" : "$type\n";
	}
	return join '', @lines;
}

# Without the times at which records were made.
sub timeless {
	my $text = shift;
	$text =~ s/"at":"[^"]*"/"at":""/g;
	return $text;
}

# Where nothing fails. Its leaks are not looked for after each fault: other tests do, and that is half of a program's time.
sub run_well {
	return run(@_, ASAN_OPTIONS => "$ENV{ASAN_OPTIONS}:detect_leaks=0");
}

# All lines of a database, sorted; a reason instead if it is damaged.
sub contents {
	my $db = shift;
	my ($status) = run_well(["$ordinary/tl-store", '--check', '-d', $db], '/dev/null', "$tmp/io/check", "$tmp/io/check");
	return (undef, 'the database is damaged: ' . slurp("$tmp/io/check")) if $status;
	($status) = run_well(["$ordinary/tl-query", '-d', $db, '--dump=all'], '/dev/null', "$tmp/io/dump", "$tmp/io/check");
	return (undef, 'the database cannot be dumped: ' . slurp("$tmp/io/check")) if $status;
	return [sort split /\n/, slurp("$tmp/io/dump")];
}

# What is wrong with the database after a run of tl-store.
sub judge_store {
	my ($case, $seen, $good) = @_;
	my ($has, $why) = ([]);

	if (-s 'db') {
		($has, $why) = contents('db');
		return $why if $why;
	}
	my %has = map { $_ => 1 } @$has, split /\n/, $case->{merged} // '';
	my $whole = substr $seen->{out}, 0, 1 + rindex $seen->{out}, "\n";
	for my $line (split /\n/, $whole) {
		return "passed on and not stored: $line" if !$has{$line};
	}
	my ($status) = run_well([@{$case->{argv}}, '-q'], $case->{again} // $case->{in}, "$tmp/io/again", "$tmp/io/again");
	return 'a rerun fails: ' . slurp("$tmp/io/again") if $status;
	($has, $why) = contents('db');
	return $why if $why;
	return 'a rerun does not store everything' if "@$has" ne "@{$good->{contents}}";
	return undef;
}

# What tl-measure leaves behind in its cache but finished objects and true answers; where memory ended, the next run sweeps.
sub judge_cache {
	my ($seen) = @_;
	my @strange = -d 'cache/objects' ? grep { !/^[0-9a-f]{32}\.(so|truth)$|^lock$|^CACHEDIR\.TAG$/ } files_in('cache/objects') : ();
	@strange = grep { !/\.tmp$|^work-/ } @strange if $seen->{err} =~ /out of memory/;
	# Who can open no folder does not find what a killed compiler left there; the next run does.
	@strange = grep { !/^work-/ } @strange if $seen->{fault} eq 'open:sticky';
	return @strange ? "leaves @strange in the cache" : undef;
}

# What is wrong with a run in which a fault came; undef if nothing is.
sub judge {
	my ($case, $seen, $good, $why) = @_;
	my $exit = exit_of($seen->{status});
	my $expected = exit_of($good->{status});
	my $view = $case->{view};
	my $busy = defined $why && $why eq $kinds{'sqlite:5'};

	return 'leaves a process behind' if $seen->{left};
	# Where libarchive finds no memory for its buffer, it ends the process itself, with a sentence of its own.
	my $archive = $exit eq '1' && $seen->{err} =~ /^Fatal Internal Error in libarchive: Out of memory/m;
	return "$exit, where only $expected and 3 are right" if $exit ne $expected && $exit ne ($busy ? 75 : 3) && !$archive;
	my %known = map { $_ => 1 } @{$good->{names}}, @{$case->{may_leave} // []};
	my @strange = grep { !$known{$_} } @{$seen->{names}};
	@strange = grep { $seen->{err} !~ m{^tl-tune: what was measured is in the database \S*\Q$_\E/db$}m || !-s "$_/db" } @strange
		if $case->{told};
	return "leaves @strange" if @strange;
	if ($exit eq $expected) {
		return 'says that all is well, and standard output differs' if $view->($seen->{out}) ne $view->($good->{out});
		for (@{$case->{writes} // []}) {
			return "says that all is well, and $_ differs" if $view->($seen->{file}{$_} // '') ne $view->($good->{file}{$_});
		}
	} else {
		return 'fails, and it is no failure: ' . $seen->{err} if !$why;
		return "fails without a sentence of its own: $seen->{err}" if !$archive && $seen->{err} !~ /^\Q$case->{program}\E: \S/m;
		return "does not tell the reason: $seen->{err}" if $seen->{err} !~ $why && $seen->{err} !~ ($case->{why} // $why);
		return 'what came out before is not the beginning of the whole'
			if index $view->($good->{out}), $view->($seen->{out});
		for my $name (@{$case->{writes} // []}) {
			my $now = $seen->{file}{$name} // '(not there)';
			next if $now eq "old\n";
			return "fails, and $name is neither the old nor the new one"
				if !$case->{partial} && $view->($now) ne $view->($good->{file}{$name})
				|| $case->{partial} && grep { index($view->($good->{file}{$name}), $_) < 0 } split /\n/, $view->($now);
		}
	}
	if (my $bad = $case->{judge} && $case->{judge}->($seen)) {
		return $bad;
	}
	return $case->{database} ? judge_store($case, $seen, $good) : undef;
}

# The calls to try out of so many: the first ones, and some of the others.
sub choose {
	my ($count, $limit) = @_;
	return 1 .. $count if !$limit || $count <= $limit;
	my $first = int($limit * 0.6);
	my %n = map { $_ => 1 } 1 .. $first, $limit > 3 ? $count : ();
	$n{$first + 1 + int rand($count - $first)} = 1 while keys %n < $limit;
	return sort { $a <=> $b } keys %n;
}

sub report {
	my ($wrong, $what) = @_;
	$tests++;
	print $wrong ? 'not ' : '', "ok $tests - $what\n";
}

# One loop; returns how many calls there were.
sub loop {
	my ($case, $kind, $how, $count, $good) = @_;
	my ($name, $code) = split /:/, $kind;
	my $limit = $limit && $case->{share} ? 1 + int $limit * $case->{share} : $limit;
	my ($tried, $wrong) = (0, 0);

	for my $n (choose($count, $how eq 'sticky' ? int(($limit + 1) / 2) : $limit)) {
		my $seen = attempt($case, "$name:$n:$how" . ($code ? ":$code" : ''), $case->{program});
		$seen->{fault} = "$name:$how";
		if ($seen->{hit} !~ /^hit/m) {    # as where the time decides how often something is asked
			next if $n > 1;
			$wrong++;
			print "# $case->{name}: the first call of the kind $kind did not come\n";
			next;
		}
		$tried++;
		my $bad = judge($case, $seen, $good, $kinds{$kind}) // next;
		next if $wrong++ >= 10;
		my ($call) = $seen->{hit} =~ /^(hit .*)$/m;
		$bad =~ s/\n(?=.)/\n#   /g;
		chomp $bad;
		print "# $case->{name}, $name:$n:$how ($call): $bad\n";
	}
	$total += $tried;
	report($wrong, "$case->{name}: $kind, $how: $tried of $count calls" . ($wrong ? ", $wrong wrong" : ''));
}

sub try_case {
	my $case = shift;
	my @kinds = grep { !$ENV{SAN} || $kinds{$_} } @{$case->{kinds} // \@kinds};

	return if "$case->{name}: " !~ /$wanted/ && !grep { "$case->{name}: $_" =~ /$wanted/ } @kinds;
	$case->{program} //= basename($case->{argv}[0]);
	$case->{view} //= \&timeless;
	my ($before, $began) = ($total, time);
	my $good = attempt($case, 'malloc:0', $case->{program});
	my %count = $good->{hit} =~ /^count (\w+) (\d+)/mg;
	my $exit = exit_of($good->{status});
	if (!%count || $exit ne ($case->{status} // 0)) {
		report(1, "$case->{name}: ends with status $exit where nothing fails: $good->{err}");
		return;
	}
	$good->{contents} = (contents('db'))[0] if $case->{database};
	for my $kind (@kinds) {
		my ($name) = split /:/, $kind;
		next if "$case->{name}: $kind" !~ /$wanted/;
		my $count = $count{$name};
		report(1, "$case->{name}: never calls what $name stands for") if !$count && grep { $_ eq $kind } @{$case->{must} // []};
		next if !$count;
		loop($case, $kind, 'once', $count, $good);
		loop($case, $kind, 'sticky', $count, $good) if $name ne 'lock';    # SQLite waits for two minutes
	}
	printf "# %s: %d faults in %.1f s\n", $case->{name}, $total - $before, time - $began;
}

# Inputs

sub shell {
	my $command = shift;
	system('/bin/sh', '-c', $command) == 0 or die "$command fails";
}

sub results {
	my ($to, $variables) = @_;
	shell("awk $variables -f '$here/results.awk' '$here/workloads.ndjson' >'$tmp/$to'");
}

for ($bin, $tmp, $here) {
	die "a name with quotes: $_" if /'/;
}
if (!-e $library) {
	print "1..0 # SKIP $library is not built\n";
	exit;
}
shell("perl '$here/tiny-onnx.pl' >'$tmp/tiny.onnx'");
shell("cd '$tmp' && tar czf models.tar.gz tiny.onnx");
shell("zstd -dq -o '$tmp/small.tflite' '$here/networks/tflite/small.tflite.zst'");
spew("$tmp/list.csv", "op,prob,layout,post,count\nconv2d,mb1_ic8ih9_oc16oh9_kh3ph1,nhwc,bias+relu,1\n"
	. "matmul,12x20:20x24,ab,bias,2\n");
shell("'$bin/tl-gen' -n 8 '$here/workloads.ndjson' >'$tmp/candidates'");
my $known = slurp("$tmp/candidates");
$known =~ s/"type":"candidate"/"type":"result"/g;
$known =~ s/("type":"result".*)\}$/$1,"status":"ok","stage":"race","latency_s":1e-3,"ci_s":[9e-4,1.1e-3],"reps":20,"error":{"l2":1.2e-7,"max":2.5e-7},"env_id":"e1000000000000000000000000000000","run":"a1000000000000000000000000000000","at":"2026-11-21T09:00:00.000Z"}/gm;
spew("$tmp/known", $known);
shell("tar -xf '$here/networks/tensorflow/variables-open.tar.zst' -C '$tmp'");
shell("gzip -k '$tmp/known'");
shell("'$bin/tl-store' -q -d '$tmp/known.db' '$tmp/known'");
shell("'$bin/tl-extract' -q '$tmp/tiny.onnx' | '$bin/tl-gen' -n 2 >'$tmp/two'");
shell("'$bin/tl-measure' -q --final 0 --no-preempt '$tmp/two' >'$tmp/measured' && '$bin/tl-store' -q -d '$tmp/measured.db' '$tmp/measured'");
shell("OMP_NUM_THREADS=1 '$bin/tl-train' --trials=1 --bag=1 -o '$tmp/model' '$tmp/known'");
spew("$tmp/old", "old\n");
results('a', '-v n=6');
results('b', '-v n=6 -v run=a2000000000000000000000000000000 -v seed=9 -v day=22 -v best=2e-4');
results('c', '-v n=3 -v run=a3000000000000000000000000000000 -v seed=4 -v day=23');
shell("cat '$tmp/b' '$tmp/c' >'$tmp/bc'");
shell("'$bin/tl-store' -q -d '$tmp/a.db' '$tmp/a'");
shell("'$bin/tl-store' -q -d '$tmp/empty.db' </dev/null");
spew("$tmp/nothing", '');
make_path("$tmp/io");
make_path("$tmp/folder/inner");
shell("cp '$tmp/tiny.onnx' '$tmp/list.csv' '$tmp/folder' && cp '$tmp/list.csv' '$tmp/folder/inner'");

my @out = (files => {out => "$tmp/old"}, writes => ['out']);
my @db = (files => {db => "$tmp/a.db"}, may_leave => ['db-journal']);
my @io = qw(malloc read write short);

my @cases = (
	{name => 'tl-extract, an ONNX model', argv => ["$bin/tl-extract", '-o', 'out', "$tmp/tiny.onnx"], @out,
		partial => 1, must => [@io, qw(open sync path)]},
	{name => 'tl-extract, a TFLite model', argv => ["$bin/tl-extract", '-o', 'out', "$tmp/small.tflite"], @out,
		partial => 1, must => [@io, qw(open sync path)]},
	{name => 'tl-extract, an archive', argv => ["$bin/tl-extract", "$tmp/models.tar.gz"],
		why => qr{gzip decompression failed}, must => \@io},
	{name => 'tl-extract, a folder', argv => ["$bin/tl-extract", '-o', 'out', "$tmp/folder"], @out, partial => 1, must => \@io},
	{name => 'tl-extract, a list', argv => ["$bin/tl-extract", '-o', 'out', "$tmp/list.csv"], @out, partial => 1, must => \@io},
	{name => 'tl-extract, two inputs', argv => ["$bin/tl-extract", '-o', 'out', "$tmp/list.csv", "$tmp/tiny.onnx"],
		@out, partial => 1, share => 0.5, must => \@io},
	{name => 'tl-extract --list', argv => ["$bin/tl-extract", '--list', '--csv', '-o', 'out', "$tmp/tiny.onnx"], @out,
		partial => 1, share => 0.3, must => \@io},
	{name => 'tl-extract --vary', argv => ["$bin/tl-extract", '--vary=mb=1,2', '--where=op==conv2d', '--sort=flops',
		'--emit=benchdnn', '-o', 'out', "$tmp/tiny.onnx"], @out, partial => 1, share => 0.3, must => \@io},
	{name => 'tl-extract, a trace', argv => ["$bin/tl-extract", '-o', 'out', "$here/logs/pytorch.trace.json"], @out,
		partial => 1, share => 0.3, must => \@io},
	{name => 'tl-extract, a log of tuning', argv => ["$bin/tl-extract", '-f', 'log', '-o', 'out', "$here/logs/autotvm.json"], @out,
		partial => 1, share => 0.3, must => \@io},
	{name => 'tl-extract, an HDF5 file', argv => ["$bin/tl-extract", '-o', 'out', "$here/networks/keras/nested-keras2.h5"],
		@out, partial => 1, share => 0.3, must => [@io, qw(open exec)]},
	{name => 'tl-extract, an index of variables', argv => ["$bin/tl-extract", '-o', 'out', "$tmp/variables-open"],
		@out, partial => 1, share => 0.3, must => [@io, 'open']},
	{name => 'tl-check', argv => ["$bin/tl-check", "$tmp/candidates"], must => \@io},
	{name => 'tl-check --merge', argv => ["$bin/tl-check", '--merge', '-o', 'out', "$here/workloads.ndjson", "$tmp/candidates"],
		@out, share => 0.3, must => \@io},
	{name => 'tl-check --schema', argv => ["$bin/tl-check", '--schema'], share => 0.3, must => [qw(malloc write)]},
	{name => 'tl-check, a link to a private file', argv => ["$bin/tl-check", '-o', 'out'], in => "$tmp/candidates",
		files => {real => "$tmp/old"}, writes => ['out'], share => 0.3,
		prepare => sub { symlink 'real', 'out' or die; chmod 0600, 'real' or die },
		judge => sub { !-l 'out' ? 'replaces the link' : ((stat 'real')[2] & 07777) != 0600 ? 'gives the file away' : undef }},
	{name => 'tl-check, standard input', argv => ["$bin/tl-check", '-o', 'out'], in => "$tmp/candidates", @out, must => \@io},
	{name => 'tl-export', argv => ["$bin/tl-export", '-o', 'out', "$tmp/candidates"], may_leave => ['out'], share => 0.5,
		must => [@io, qw(open sync path)],
		judge => sub {
			return undef if !-e 'out';
			my $parts = grep { -s "out/$_" } qw(Makefile tlx.c tlx_table.c manifest.json LICENSE);
			remove_tree('out');
			return $parts == 5 ? undef : 'made a folder that is not whole';
		}},
	{name => 'tl-export --one', argv => ["$bin/tl-export", '--one', "$tmp/candidates"], share => 0.5, must => \@io},
	{name => 'tl-gen', argv => ["$bin/tl-gen", '-n', 20, '-o', 'out', "$here/workloads.ndjson"], @out, must => \@io},
	{name => 'tl-gen, a database', argv => ["$bin/tl-gen", '-n', 20, '-d', 'db', '--env', 'e1000000000000000000000000000000'],
		in => "$here/workloads.ndjson", files => {db => "$tmp/known.db"}, may_leave => ['db-journal'],
		must => [@io, 'sqlite']},
	{name => 'tl-filter', argv => ["$bin/tl-filter", '-k', 3, '-o', 'out', '--refused', 'refused', "$tmp/candidates"],
		files => {out => "$tmp/old", refused => "$tmp/old"}, writes => ['out', 'refused'], must => \@io},
	{name => 'tl-train --dump-features', argv => ["$bin/tl-train", '--dump-features', '-o', 'out', "$tmp/known.gz"], @out,
		why => qr{gzip decompression failed}, must => \@io, share => 0.5},
	# XGBoost ends the process where it has no memory: its own calls are not ours to answer for.
	{name => 'tl-filter, a model', argv => ["$bin/tl-filter", '-m', "$tmp/model", '-k', 3, '-o', 'out', "$tmp/candidates"], @out,
		env => {OMP_NUM_THREADS => 1}, kinds => [qw(read write short eintr open sync path)], share => 0.5},
	{name => 'tl-filter, a model and a database', argv => ["$bin/tl-filter", '-m', "$tmp/model", '-d', 'db', '--env', 'e1000000000000000000000000000000', '-k', 3, '-o', 'out', "$tmp/candidates"],
		files => {out => "$tmp/old", db => "$tmp/known.db"}, writes => ['out'], may_leave => ['db-journal'],
		env => {OMP_NUM_THREADS => 1}, kinds => [qw(read short eintr open path lock sqlite)], share => 0.3},
	{name => 'tl-store, a new database', argv => ["$bin/tl-store", '-d', 'db'], in => "$tmp/a", database => 1, share => 0.4,
		may_leave => ['db', 'db-journal'], must => [@io, qw(sync sqlite)]},
	{name => 'tl-store', argv => ["$bin/tl-store", '-d', 'db'], in => "$tmp/b", database => 1, @db,
		why => qr{for writing}, kinds => [@kinds, 'sqlite:5'], must => [@io, qw(sync sqlite)]},
	{name => 'tl-store, more later', argv => ["$bin/tl-store", '-d', 'db'], database => 1, @db, share => 0.5,
		in => [slurp("$tmp/b"), slurp("$tmp/c")], again => "$tmp/bc",
		kinds => [qw(malloc read write eintr sync sqlite sqlite:13)], must => [@io, 'sync']},
	{name => 'tl-query', argv => ["$bin/tl-query", '-d', 'db', '--env', 'e1000000000000000000000000000000', "$here/workloads.ndjson"], @db,
		must => [@io, 'sqlite']},
	{name => 'tl-query, the database of the environment', argv => ["$bin/tl-query", '--env', 'e1000000000000000000000000000000', '--csv'],
		in => "$here/workloads.ndjson", env => {TL_DB => 'db'}, @db, share => 0.5},
	{name => 'tl-prune, the database of the environment', argv => ["$bin/tl-prune", '--env', 'e1000000000000000000000000000000'],
		in => "$here/workloads.ndjson", env => {TL_DB => 'db'}, @db, share => 0.5},
	{name => 'tl-query, another env', argv => ["$bin/tl-query", '-d', 'db', '--env', 'e2000000000000000000000000000000', '--table'],
		in => "$here/workloads.ndjson", @db, status => 4, share => 0.5},
	{name => 'tl-query, nothing known', status => 1, share => 0.5,
		argv => ["$bin/tl-query", '-d', 'db', '--env', 'e1000000000000000000000000000000', "$here/workloads.ndjson"],
		files => {db => "$tmp/empty.db"}, may_leave => ['db-journal']},
	{name => 'tl-query --stats', argv => ["$bin/tl-query", '-d', 'db', '--stats'], @db, share => 0.5},
	{name => 'tl-query --emit', argv => ["$bin/tl-query", '-d', 'db', '--emit=benchdnn'], @db, share => 0.3, must => ['sqlite']},
	{name => 'tl-query --stats, an empty file', argv => ["$bin/tl-query", '-d', 'db', '--stats'], share => 0.5,
		files => {db => "$tmp/nothing"}, may_leave => ['db-journal'], must => ['sqlite'], why => qr{cannot be written},
		judge => sub {
			my ($has, $why) = contents('db');
			return $why // (@$has ? 'holds something' : undef);
		}},
	{name => 'tl-query --dump', argv => ["$bin/tl-query", '-d', 'db', '--dump=all', '-o', 'out'], share => 0.5,
		files => {db => "$tmp/a.db", out => "$tmp/old"}, writes => ['out'], may_leave => ['db-journal']},
	{name => 'tl-query --csv', argv => ["$bin/tl-query", '-d', 'db', '--env', 'e1000000000000000000000000000000', '--csv'],
		in => "$here/workloads.ndjson", @db, share => 0.5},
	{name => 'tl-prune', argv => ["$bin/tl-prune", '-d', 'db', '--env', 'e1000000000000000000000000000000', "$here/workloads.ndjson"], @db,
		must => [@io, 'sqlite']},
	{name => 'tl-prune, another policy', share => 0.5, @db,
		argv => ["$bin/tl-prune", '-d', 'db', '--policy=trimmer,batch=8', '--env', 'e1000000000000000000000000000000', "$here/workloads.ndjson"]},
	{name => 'tl-gen, the env of this machine', argv => ["$bin/tl-gen", '-n', 20, '-d', 'db'], share => 0.3,
		in => "$here/workloads.ndjson", files => {db => "$tmp/known.db"}, may_leave => ['db-journal'],
		must => [qw(exec open)]},
	{name => 'tl-tune', argv => ["$bin/tl-tune", '-d', 'db', '-u', 'rounds<0', '-q', '-o', 'out', "$tmp/tiny.onnx"],
		env => {TMPDIR => '.'}, files => {db => "$tmp/a.db", out => "$tmp/old"}, writes => ['out'],
		may_leave => ['db-journal'], share => 0.3, must => [qw(malloc open path exec)]},
	{name => 'tl-tune --no-db', argv => ["$bin/tl-tune", '--no-db', '-u', 'rounds<0', '-q', '-o', 'out', "$tmp/tiny.onnx"],
		env => {TMPDIR => '.'}, files => {out => "$tmp/old"}, writes => ['out'], view => \&outcomes, partial => 1, share => 0.3, told => 1},
	{name => 'tl-tune --no-db, its tl-query', program => 'tl-query', env => {TMPDIR => '.'},
		argv => ["$bin/tl-tune", '--no-db', '-u', 'rounds<0', '-q', '-o', 'out', "$tmp/tiny.onnx"],
		files => {out => "$tmp/old"}, writes => ['out'], view => \&outcomes, partial => 1, share => 0.3, told => 1, kinds => [qw(malloc read write sync sqlite)]},
	{name => 'tl-measure', argv => ["$bin/tl-measure", '--final', 0, '--no-preempt', '-o', 'out', "$tmp/two"],
		env => {TL_CACHE => 'cache'}, files => {out => "$tmp/old"}, writes => ['out'], view => \&outcomes, partial => 1,
		share => 0.05, judge => \&judge_cache, must => [qw(malloc read write short eintr open path lock exec)]},
	{name => 'tl-run', argv => ["$bin/tl-run", '--no-db', '-m', 'none', '-t', 1, '--random-weights', 1, '-o', 'out.npz', "$tmp/tiny.onnx"],
		env => {TL_CACHE => 'cache'}, files => {'out.npz' => "$tmp/old"}, writes => ['out.npz'], share => 0.1, judge => \&judge_cache,
		must => [qw(malloc read write open path exec)]},
	{name => 'tl-run --precision', argv => ["$bin/tl-run", '--no-db', '-m', 'none', '-t', 1, '--random-weights', 1, '--precision=bf16', '--compare-single', '-q', '-o',
			'out.npz', "$tmp/tiny.onnx"],
		env => {TL_CACHE => 'cache'}, files => {'out.npz' => "$tmp/old"}, writes => ['out.npz'], share => 0.05, judge => \&judge_cache,
		must => [qw(malloc read write open path exec)]},
	{name => 'tl-run --workloads', argv => ["$bin/tl-run", '--precision=bf16', '--workloads', 'out', "$tmp/tiny.onnx"],
		env => {TL_CACHE => 'cache'}, files => {out => "$tmp/old"}, writes => ['out'], share => 0.2, judge => \&judge_cache,
		must => [qw(malloc read write open path)]},
	{name => 'tl-run --in-place', argv => ["$bin/tl-run", '-q', '-d', 'db', '-m', 'none', '-t', 1, '--random-weights', 1, '--race-all', '--in-place=0.05s',
			"$tmp/tiny.onnx"],
		env => {TL_CACHE => 'cache'}, files => {db => "$tmp/measured.db"}, may_leave => ['db-journal'], share => 0.1, judge => \&judge_cache,
		must => [qw(malloc read write open path exec sqlite)]},
	{name => 'tl-replay, the env of this machine', argv => ["$bin/tl-replay", '--from', "$tmp/measured", '-o', 'out', "$tmp/two"],
		files => {out => "$tmp/old"}, writes => ['out'], view => \&outcomes, partial => 1, share => 0.3, must => [qw(exec open)]},
	{name => 'tl-replay', argv => ["$bin/tl-replay", '--from', "$tmp/known.gz", '--env', 'e1000000000000000000000000000000', '-o', 'out', "$tmp/candidates"],
		files => {out => "$tmp/old"}, writes => ['out'], view => \&outcomes, partial => 1, must => \@io,
		why => qr{gzip decompression failed}},
	{name => 'tl-tune --print', argv => ["$bin/tl-tune", '--print', "$tmp/tiny.onnx"], must => ['malloc', 'write']},
);

try_case($_) for @cases;
print "# $total faults\n1..$tests\n";
chdir '/';
