#!/usr/bin/perl
# A stand-in for tl-measure where many machines are played on one: perl fleet-measure.pl ENV SECONDS. Reads candidates, takes that
# long for each, and writes results as tl-measure does. A candidate's time follows from its id, so that it is the same on each
# machine. TERM ends it behind the candidate that it is at.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use POSIX 'strftime';
use Time::HiRes qw(sleep time);

my ($env, $each) = @ARGV;
my $run = substr(sha256_hex("$$ " . time), 0, 32);
my ($stopped, $measured) = (0, 0);
$SIG{TERM} = sub { $stopped = 1 };
$| = 1;

sub at {
	my $now = time;
	return strftime('%Y-%m-%dT%H:%M:%S', gmtime $now) . sprintf('.%03dZ', ($now - int $now) * 1000);
}

# Between 100 and 400 us.
sub latency { return 1e-4 * (1 + 3 * hex(substr(sha256_hex($_[0]), 0, 8)) / 0xffffffff) }

# Where the disk is full, it ends as tl-measure does.
sub put { print $_[0] or exit 3 }

sub result {
	my ($candidate) = @_;
	my ($id) = $candidate =~ /"candidate_id":"([0-9a-f]+)"/;
	my $s = latency($id);
	$candidate =~ s/^\{"tl":1,"type":"candidate",//;
	$candidate =~ s/("knobs":\{[^}]*\}).*/$1/s;
	put(sprintf '{"tl":1,"type":"result",%s,"status":"ok","stage":"race","latency_s":%.9g,"ci_s":[%.9g,%.9g],"reps":20,"error":{"l2":1.2e-07,"max":2.5e-07},'
		. '"baseline":null,"baseline_why":"it is not timed here","cost":{"build_s":0.05,"verify_s":0.01,"run_s":%.3g,"core_s":%.3g,'
		. '"energy_J":null,"energy_why":"no energy counter can be read"},"env_id":"%s","code_hash":"%s","run":"%s","at":"%s"}' . "\n",
		$candidate, $s, $s * 0.99, $s * 1.01, $each, $each + 0.06, $env, substr(sha256_hex("code $id"), 0, 32), $run, at());
}

while (my $line = <STDIN>) {
	last if $stopped;
	if ($line =~ /"type":"candidate"/) {
		sleep $each;
		result($line);
		$measured++;
	} elsif ($line =~ /"type":"end"/) {
		$line =~ s/\}$/,"measured":$measured,"preempted":0,"failed":0,"built":$measured,"run":"$run"}/;
		put($line);
		$measured = 0;
	} else {
		put($line);
	}
}
