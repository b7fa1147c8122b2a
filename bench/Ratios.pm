# Ratios with their intervals, as the benches put them together: in logarithms. Intervals are taken for independent, so their halves
# add up by squares.
package Ratios;
use strict;
use warnings;
use Exporter 'import';
use List::Util 'sum0';

our @EXPORT = qw(half estimate geometric_mean verdict);

sub half { # of an interval
	my ($lo, $hi) = @{$_[0]};
	return log($hi / $lo) / 2;
}

sub estimate { # the logarithm of a ratio, half of its interval
	my ($log, $half) = @_;
	return (ratio => exp $log, ci => [exp($log - $half), exp($log + $half)]);
}

sub geometric_mean { # lists of a ratio and its interval
	my $n = @_ or return;
	return estimate(sum0(map { log $_->[0] } @_) / $n, sqrt(sum0 map { half($_->[1])**2 } @_) / $n);
}

sub verdict { # as lib/trial/stat.h has it
	my ($lo, $hi) = @{$_[0]};
	return $lo > 1.01 ? 'faster' : $hi < 0.99 ? 'slower' : $lo >= 0.98 && $hi <= 1.02 ? 'same' : 'undecided';
}

1;
