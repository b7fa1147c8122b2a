#!/usr/bin/perl
# Writes a transformer of 2 GB into a folder, twice: transformer.onnx with its weights inside, and external.onnx with the
# weights beside it in external.data. The weights are holes in the files: zeros that take no room on the disk.
use strict;
use warnings;

my ($dir) = @ARGV;
my ($layers, $width, $length) = (10, 2048, 128);

sub varint { my $v = shift; my $s = ''; do { my $b = $v & 127; $v >>= 7; $s .= chr($b | ($v ? 128 : 0)) } while $v; $s }
sub int_field { varint($_[0] << 3) . varint($_[1]) }
sub bytes { varint($_[0] << 3 | 2) . varint(length $_[1]) . $_[1] }

sub value {     # name, dims
	my ($name, @dims) = @_;
	my $shape = join '', map { bytes(1, int_field(1, $_)) } @dims;
	return bytes(1, $name) . bytes(2, bytes(1, int_field(1, 1) . bytes(2, $shape)));
}

sub node {      # type, output, inputs
	my ($type, $out, @in) = @_;
	return join('', map { bytes(1, $_) } @in) . bytes(2, $out) . bytes(3, $out) . bytes(4, $type);
}

my (@nodes, @weights);

sub product {   # output, input, from, to: by a weight
	my ($out, $in, $from, $to) = @_;
	push @weights, ["$out.weight", $from, $to];
	push @nodes, node('MatMul', $out, $in, "$out.weight");
	return $out;
}

my $x = 'x';
for my $l (1 .. $layers) {
	my ($q, $k, $v) = map { product("layer$l.$_", $x, $width, $width) } qw(q k v);
	push @nodes, node('Transpose', "layer$l.kt", $k), node('MatMul', "layer$l.scores", $q, "layer$l.kt"),
		node('Softmax', "layer$l.soft", "layer$l.scores"), node('MatMul', "layer$l.mix", "layer$l.soft", $v);
	my $o = product("layer$l.o", "layer$l.mix", $width, $width);
	push @nodes, node('Add', "layer$l.sum", $o, $x);
	my $up = product("layer$l.up", "layer$l.sum", $width, 4 * $width);
	push @nodes, node('Relu', "layer$l.relu", $up);
	my $down = product("layer$l.down", "layer$l.relu", 4 * $width, $width);
	push @nodes, node('Add', "layer$l.out", $down, "layer$l.sum");
	$x = "layer$l.out";
}

my $nodes = join '', map { bytes(1, $_) } @nodes;
my $ends = bytes(2, 'transformer') . bytes(11, value('x', $length, $width)) . bytes(12, value($x, $length, $width));

# A tensor without its elements, and how many bytes these are.
sub tensor {
	my ($name, @dims) = @{$_[0]};
	return (join('', map { int_field(1, $_) } @dims) . int_field(2, 1) . bytes(8, $name), 4 * $dims[0] * $dims[1]);
}

sub head { # bytes of the graph
	return int_field(1, 8) . bytes(8, bytes(1, '') . int_field(2, 17)) . varint(7 << 3 | 2) . varint($_[0]);
}

sub inside {
	my @parts = map {
		my ($head, $n) = tensor($_);
		$head .= varint(9 << 3 | 2) . varint($n);
		[varint(5 << 3 | 2) . varint(length($head) + $n) . $head, $n]
	} @weights;
	my $size = length($nodes) + length $ends;
	$size += length($_->[0]) + $_->[1] for @parts;
	open my $f, '>:raw', "$dir/transformer.onnx" or die "$dir/transformer.onnx: $!\n";
	print $f head($size), $nodes;
	for (@parts) {
		print $f $_->[0];
		seek $f, $_->[1], 1 or die "$dir/transformer.onnx: $!\n";
	}
	print $f $ends;
	close $f or die "$dir/transformer.onnx: $!\n";
}

sub beside {
	my ($offset, $tensors) = (0, '');
	for (@weights) {
		my ($head, $n) = tensor($_);
		my %where = (location => 'external.data', offset => $offset, length => $n);
		$head .= bytes(13, bytes(1, $_) . bytes(2, $where{$_})) for sort keys %where;
		$tensors .= bytes(5, $head . int_field(14, 1));
		$offset += $n;
	}
	open my $f, '>:raw', "$dir/external.onnx" or die "$dir/external.onnx: $!\n";
	print $f head(length($nodes) + length($tensors) + length $ends), $nodes, $tensors, $ends;
	close $f or die "$dir/external.onnx: $!\n";
	open $f, '>:raw', "$dir/external.data" or die "$dir/external.data: $!\n";
	truncate $f, $offset or die "$dir/external.data: $!\n";
	close $f;
}

inside();
beside();
