#!/usr/bin/perl
# What a device survives (bench/gpu.sh).
#
#   hostile.pl kernels BIN TARGET DIR     kernels that hang, write where they must not, and the like, a good one between any two
#   hostile.pl kills BIN TARGET DIR N     tl-tune, killed N times at random moments, and once to its end
#
# Prints a record a kernel, or a kill: what was done, and whether it came out as it must. DIR gets what is made meanwhile.
#
# Kernels are spoiled where they are compiled: DIR has a copy of the programs, in which this script stands for the compiler's command
# of the target. It puts words at the beginning of the kernels that DIR/spoil names, and calls the command itself.
use strict;
use warnings FATAL => 'all';
use Cwd qw(abs_path);
use JSON::PP;
use POSIX qw(:sys_wait_h);
use Time::HiRes qw(sleep time);

my $json = JSON::PP->new->canonical;
my $workload = 'conv2d,ic16ih14oc32oh14kh3ph1,"bias,add,relu"';
my $another = 'conv2d,ic16ih14oc48oh14kh3ph1,"bias,add,relu"';
my $elements = 32 * 14 * 14; # of the result

# Name, words (DST is the result), what may become of it.
my %local = (cuda => '__shared__', opencl => '__local');
my @kinds = (
	['endless loop', 'for (;;) ((GLOBAL volatile float *)DST)[THREAD] = 1;', 'timeout'], # a compiler may end a loop without effects
	['write anywhere', '((GLOBAL volatile float *)16)[0] = 1;', 'crash'],
	['write behind the end', "((GLOBAL volatile float *)DST)[$elements + 5] = 1;", 'wrong'],
	['write far behind the end', "((GLOBAL volatile float *)DST)[$elements + (1 << 22)] = 1;", 'crash'],
	['NaN', '((GLOBAL volatile int *)DST)[THREAD] = 0x7fc00000; return;', 'wrong'],
	['too much memory of a block', 'LOCAL_MEMORY float big[1 << 24]; big[THREAD] = DST[THREAD]; DST[THREAD] = big[THREAD ^ 1];', 'build|unsupported|crash|oom'],
	['flood of printf', 'for (int i = 0; i < 100000; i++) printf("all work and no play\n"); return;', 'wrong|timeout|crash'],
);

sub put {
	my ($type, %record) = @_;
	print qq({"tl":1,"type":"$type",), substr($json->encode(\%record), 1), "\n";
	STDOUT->flush;
}

sub slurp {
	open my $f, '<', $_[0] or return '';
	local $/;
	return scalar <$f> // '';
}

sub spew {
	my ($path, $text) = @_;
	open my $f, '>', $path or die "$path: $!\n";
	print $f $text;
	close $f or die "$path: $!\n";
}

sub results {
	return map { $json->decode($_) } grep { /"type":"result"/ } split /^/, slurp($_[0]);
}

sub write_workloads {
	my ($bin, $dir, @lines) = @_;
	spew("$dir/list.csv", join("\n", 'op,prob,post', @lines) . "\n");
	system("$bin/tl-extract -q -o $dir/w $dir/list.csv") == 0 or die "no workloads\n";
}

# ---- in the compiler's place ----

sub spoiled { # a kernel, words: at the beginning of each of its phases
	my ($kernel, $words) = @_;
	my ($dst) = $kernel =~ /GLOBAL float \*(?:RESTRICT )?(dst\d+)/ or die "a kernel without a result\n";
	$words =~ s/DST/$dst/g;
	return $kernel =~ s/int rest = BLOCK;/$words $&/gr;
}

sub compile {
	my $list = "$0.spoil";
	my $source = $ARGV[-1];
	my $text = -e $list && @ARGV > 1 ? slurp($source) : '';
	for (split /^/, slurp($list)) {
		my ($code, $words) = /^(\S+) (.*)$/ or next;
		$text =~ s{^#define KERNEL k_\Q$code\E\n.*?^#undef KERNEL$}{spoiled($&, $words)}mse and spew($source, $text);
	}
	exec "$0-itself", @ARGV or die "$0-itself: $!\n";
}

# ---- kernels ----

sub copy_programs { # returns the copy's bin
	my ($bin, $target, $dir) = @_;
	my $libexec = abs_path("$bin/../libexec/tl");
	-e "$dir/bin" or system("mkdir -p $dir/bin $dir/libexec && cp $bin/tl-* $dir/bin && cp -rL $libexec $dir/libexec/tl") == 0 or die "cannot copy the programs\n";
	my $command = "$dir/libexec/tl/$target";
	if (! -e "$command-itself") {
		rename $command, "$command-itself" or die "$command: $!\n";
		spew($command, slurp(abs_path($0)));
		chmod 0755, $command;
	}
	return "$dir/bin";
}

sub measure {
	my ($bin, $target, $dir, $to) = @_;
	return system("TL_CACHE=$dir/cache $bin/tl-measure -q --target=$target --race 0.002 --final 0 --no-preempt --timeout 5 $dir/c >$dir/$to 2>$dir/$to.err");
}

sub kernels {
	my ($bin, $target, $dir) = @_;
	$dir = abs_path($dir);
	my $own = copy_programs($bin, $target, $dir);
	my $n = 2 * @kinds + 1;
	write_workloads($bin, $dir, $workload);
	system("$own/tl-gen -q --target=$target -a implicit_gemm -n 200 $dir/w | $own/tl-filter -q --target=$target --by none -k $n >$dir/c") == 0 or die "there are no candidates\n";
	measure($own, $target, $dir, 'good') == 0 or die slurp("$dir/good.err") || "nothing was measured\n";
	my @good = results("$dir/good");
	@good == $n or die scalar(@good) . " results of $n candidates\n";
	my $list = '';
	for my $i (0 .. $#kinds) {
		my $code = $good[2 * $i + 1]{code_hash} or die "candidate " . (2 * $i + 1) . " was not built\n";
		$list .= "$code " . $kinds[$i][1] =~ s/LOCAL_MEMORY/$local{$target}/r . "\n";
		unlink "$dir/cache/objects/$code.so";
	}
	spew("$dir/libexec/tl/$target.spoil", $list);
	my $status = measure($own, $target, $dir, 'bad');
	my @bad = results("$dir/bad");
	for my $i (0 .. $#kinds) {
		my ($name, undef, $may) = @{$kinds[$i]};
		my ($r, $next) = @bad[2 * $i + 1, 2 * $i + 2];
		put('bench-gpu-hostile', kernel => $name, status => $r ? $r->{status} : undef, why => $r ? $r->{why} : 'the run ended before it',
			as_it_must => $r && $r->{status} =~ /^(?:$may)$/ ? 1 : 0, next_is_good => $next && $next->{status} eq 'ok' ? 1 : 0);
	}
	put('bench-gpu-hostile-run', status => $status >> 8, why => slurp("$dir/bad.err") =~ s/\n.*//sr);
}

# ---- kills ----

sub processes { # pid => [parent, start]
	my %all;
	for (glob '/proc/[0-9]*/stat') {
		my ($pid, $rest) = slurp($_) =~ /^(\d+) \(.*\) \S (.*)/s or next;
		my @field = split ' ', $rest;
		$all{$pid} = [$field[0], $field[18]];
	}
	return %all;
}

sub descendants {
	my ($of) = @_;
	my %all = processes();
	my %in = ($of => 1);
	my $more = 1;
	while ($more) {
		my @new = grep { !$in{$_} && $in{$all{$_}[0]} } keys %all;
		$in{$_} = 1 for @new;
		$more = @new;
	}
	return map { $_ => $all{$_}[1] } grep { $all{$_} } keys %in;
}

sub still_there { # of pid => start, after at most 5 seconds
	my %gone = @_;
	for (1 .. 50) {
		my %now = processes();
		delete @gone{grep { !$now{$_} || $now{$_}[1] ne $gone{$_} } keys %gone};
		last if !%gone;
		sleep 0.1;
	}
	return scalar keys %gone;
}

sub tune {
	my ($bin, $target, $dir, $candidates) = @_;
	my $pid = fork // die "fork: $!\n";
	return $pid if $pid;
	$ENV{TL_CACHE} = "$dir/cache";
	open STDOUT, '>', '/dev/null';
	open STDERR, '>>', "$dir/tune.err";
	exec "$bin/tl-tune", '-q', "--target=$target", '-d', "$dir/db", '--until', "candidates<$candidates", '--final', '0', "$dir/w" or POSIX::_exit(1);
}

sub results_in {
	my ($bin, $dir) = @_;
	return 0 if ! -e "$dir/db";
	return `$bin/tl-query -d $dir/db --dump=results 2>/dev/null | grep -c '"type":"result"'` + 0;
}

sub kills {
	my ($bin, $target, $dir, $n) = @_;
	write_workloads($bin, $dir, $workload, $another);
	srand 7;
	my ($most, $endless, $few) = (0, 1000, 24); # candidates
	for my $i (1 .. $n) {
		my $after = 1 + 14 * rand;
		my $pid = tune($bin, $target, $dir, $endless);
		sleep $after;
		my %alive = descendants($pid);
		my $killed = waitpid($pid, WNOHANG) == 0;
		kill KILL => $pid if $killed;
		waitpid $pid, 0 if $killed;
		my $left = still_there(%alive);
		my $whole = -e "$dir/db" ? system("$bin/tl-store -q -d $dir/db --check >/dev/null 2>&1") == 0 : 1;
		my $have = results_in($bin, $dir);
		put('bench-gpu-kill', after_s => sprintf('%.1f', $after) + 0, killed => $killed ? 1 : 0, left => $left, database_whole => $whole ? 1 : 0,
			results => $have, lost => $have < $most ? $most - $have : 0);
		$most = $have if $have > $most;
	}
	my $pid = tune($bin, $target, $dir, $few);
	waitpid $pid, 0;
	my $status = $? >> 8;
	my $answered = `$bin/tl-query -q --target=$target -d $dir/db $dir/w 2>/dev/null | grep -c '"status":"ok"'` + 0;
	put('bench-gpu-kill-end', status => $status, results => results_in($bin, $dir), workloads => 2, answered => $answered,
		database_whole => system("$bin/tl-store -q -d $dir/db --check >/dev/null 2>&1") == 0 ? 1 : 0);
}

my %what = (kernels => [\&kernels, 3], kills => [\&kills, 4]);
compile() if $0 !~ /hostile\.pl$/;
my $do = $what{shift // ''};
die "usage: hostile.pl kernels BIN TARGET DIR | hostile.pl kills BIN TARGET DIR N\n" if !$do || @ARGV != $do->[1];
$do->[0]->(@ARGV);
