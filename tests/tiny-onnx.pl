#!/usr/bin/perl
# Writes a small ONNX model to standard output: a 3x3 convolution of 8 to 16 channels over 14x14 pixels with bias and
# relu. For tests that tune a whole model in seconds.
use strict;
use warnings;

sub varint { my $v = shift; my $s = ''; do { my $b = $v & 127; $v >>= 7; $s .= chr($b | ($v ? 128 : 0)) } while $v; $s }
sub int_field { varint($_[0] << 3) . varint($_[1]) }
sub bytes { varint($_[0] << 3 | 2) . varint(length $_[1]) . $_[1] }

sub tensor {    # name, dims: all zeros
	my ($name, @dims) = @_;
	my $n = 4;
	$n *= $_ for @dims;
	return join('', map { int_field(1, $_) } @dims) . int_field(2, 1) . bytes(8, $name) . bytes(9, "\0" x $n);
}

sub value {     # name, dims
	my ($name, @dims) = @_;
	my $shape = join '', map { bytes(1, int_field(1, $_)) } @dims;
	return bytes(1, $name) . bytes(2, bytes(1, int_field(1, 1) . bytes(2, $shape)));
}

sub node {      # type, inputs, output, attributes as name => [ints]
	my ($type, $in, $out, %attr) = @_;
	return join('', map { bytes(1, $_) } @$in) . bytes(2, $out) . bytes(3, lc "$type-$out") . bytes(4, $type)
		. join '', map { my $k = $_;
			bytes(5, bytes(1, $k) . join('', map { int_field(8, $_) } @{$attr{$k}}) . int_field(20, 7)) }
		sort keys %attr;
}

my $graph = bytes(1, node('Conv', ['image', 'w', 'b'], 'sum', kernel_shape => [3, 3], pads => [1, 1, 1, 1]))
	. bytes(1, node('Relu', ['sum'], 'out'))
	. bytes(2, 'tiny')
	. bytes(5, tensor('w', 16, 8, 3, 3))
	. bytes(5, tensor('b', 16))
	. bytes(11, value('image', 1, 8, 14, 14))
	. bytes(12, value('out', 1, 16, 14, 14));
binmode STDOUT;
print int_field(1, 8), bytes(8, bytes(1, '') . int_field(2, 13)), bytes(7, $graph);
