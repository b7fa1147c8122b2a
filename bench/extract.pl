#!/usr/bin/perl
# Times tl-extract on what bench/extract.sh has made: perl bench/extract.pl BIN DIR FIGURES
use strict;
use warnings;
use Time::HiRes 'time';

my ($bin, $dir, $figures) = @ARGV;
my $turns = 3;
open my $out, '>', $figures or die "$figures: $!\n";

# Seconds and MB resident of a run of tl-extract, the fastest of some, and the number of records. input: a file for its
# standard input, or undef.
sub run_once {
	my ($input, @args) = @_;
	my $began = time;
	my ($feeder, $r, $w);
	my $from = '</dev/null';
	if (defined $input) {
		pipe $r, $w or die "pipe: $!\n";
		$feeder = fork // die "fork: $!\n";
		if (!$feeder) { open STDOUT, '>&', $w; close $r; exec 'cat', $input or die "cat: $!\n" }
		close $w;
		$from = '<&' . fileno $r;
	}
	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		open STDIN, $from or die "$from: $!\n";
		open STDOUT, '>', "$dir/records" or die "$dir/records: $!\n";
		exec "$bin/tl-extract", '-q', @args or die "tl-extract: $!\n";
	}
	my ($status, $usage) = (pack('x8'), pack('x256'));
	syscall(61, $pid, $status, 0, $usage) == $pid or die "wait4: $!\n";    # wait4 of x86-64: with the memory
	my $s = time - $began;
	close $r if $r;
	waitpid $feeder, 0 if $feeder;
	die "tl-extract @args failed\n" if unpack 'i', $status;
	return ($s, (unpack 'q5', $usage)[4] / 1024);
}

sub run {
	my ($best, $mb);
	for (1 .. $turns) {
		my ($s, $m) = run_once(@_);
		$best = $s if !defined $best || $s < $best;
		$mb = $m if !defined $mb || $m > $mb;
	}
	return ($best, $mb);
}

sub put_figure {      # what, bytes, seconds, MB
	my ($what, $bytes, $s, $mb) = @_;
	printf "%-44s %9.1f MB %8.3f s %7.2f GB/s %6.1f MB resident\n", $what, $bytes / 1e6, $s, $bytes / 1e9 / $s, $mb;
	printf $out qq({"tl":1,"type":"figure","what":"%s","bytes":%d,"time_s":%.6f,"resident_bytes":%d}\n), $what, $bytes, $s,
		$mb * 1048576;
}

sub measure {   # what, bytes, input, arguments
	my ($what, $bytes, @run) = @_;
	put_figure($what, $bytes, run(@run));
}

my $onnx = "$dir/transformer.onnx";
measure('ONNX, 2 GB in one file', -s $onnx, undef, $onnx);
measure('the same, through a pipe', -s $onnx, $onnx);
measure('the same, in a tar', -s "$dir/transformer.tar", undef, "$dir/transformer.tar");
measure('the same, in a tar through a pipe', -s "$dir/transformer.tar", "$dir/transformer.tar");
measure('ONNX, with 2 GB of external data', (-s "$dir/external.onnx") + -s "$dir/external.data", undef, "$dir/external.onnx");

# TFLite: a file of 14 MB again and again.
my $tflite = "$dir/mobilenet_v2.tflite";
mkdir "$dir/lite";
link $tflite, "$dir/lite/net$_.tflite" for 100 .. 199;
system('tar', '--hard-dereference', '-cf', "$dir/lite.tar", '-C', "$dir/lite", '.') == 0 or die "tar failed\n";
measure('TFLite, 100 files', 100 * -s $tflite, undef, '-j1', glob "$dir/lite/*.tflite");
measure('the same, in a tar', -s "$dir/lite.tar", undef, "$dir/lite.tar");
unlink "$dir/lite.tar", glob "$dir/lite/*";
rmdir "$dir/lite";

# 300 models in one tar, against each of them alone.
my @kind = sort glob "$dir/many/*";
for my $i (@kind .. 299) {
	my $from = $kind[$i % @kind];
	(my $name = $from) =~ s{([^/]*)$}{copy$i-$1};
	link $from, $name or die "$name: $!\n";
}
my @all = sort glob "$dir/many/*";
my ($bytes, $sum, $most) = (0, 0, 0);
for (@all) {
	my ($s, $mb) = run_once(undef, $_);
	$bytes += -s;
	$sum += $s;
	$most = $mb if $mb > $most;
}
put_figure(scalar(@all) . ' models, each by itself: sum, largest', $bytes, $sum, $most);
system('tar', '--hard-dereference', '-cf', "$dir/many.tar", '-C', "$dir/many", '.') == 0 or die "tar failed\n";
measure('the same, in one tar', -s "$dir/many.tar", undef, "$dir/many.tar");
measure('the same, in a folder', $bytes, undef, "$dir/many");
measure('the same, as files, --jobs=1', $bytes, undef, '-j1', @all);
measure('the same, as files, --jobs=2', $bytes, undef, '-j2', @all);
close $out or die "$figures: $!\n";
