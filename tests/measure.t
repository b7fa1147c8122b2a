#!/bin/sh
# tl-measure: candidates become results; deaths, signals and a machine without a compiler cost what they must and no more.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_ISA TL_CC
export TL_CACHE="$tmp/cache"

printf 'op,prob,layout,post,count\nconv2d,mb1_ic8ih9_oc16oh9_kh3ph1,nhwc,bias+relu,1\nmatmul,12x20:20x24,ab,bias,2\n' |
	tr + ' ' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w" 2>"$tmp/err"
ok $? 'workloads from a list'
"$bin/tl-gen" -n 6 "$tmp/w" >"$tmp/c"

# Results

"$bin/tl-measure" "$tmp/c" >"$tmp/r" 2>"$tmp/err"
ok $? 'measures'
"$bin/tl-check" -q "$tmp/r"
ok $? 'results are valid records'
[ "$(count '"stage":"race"' "$tmp/r")" -eq 12 ]
ok $? 'one race result a candidate'
[ "$(count '"status":"wrong"\|"status":"crash"\|"status":"build"' "$tmp/r")" -eq 0 ]
ok $? 'none is wrong'
[ "$(count '"stage":"final".*"reps":[0-9]*,"processes":\([2-9]\|[123][0-9]\),.*"baseline":{"impl":.*"ratio":{"median":.*"verdict":"' "$tmp/r")" -eq 2 ]
ok $? 'the best of each workload has a verdict, from two processes or more'
! grep '"stage":"race"' "$tmp/r" | grep -q '"baseline":\|"ratio":{\|"noisy"\|"warmup"'
ok $? 'a race is against no library'
[ ! -r /proc/stat ] || [ "$(count '"stage":"race".*"watch":{"steal_s":[0-9.e-]*,"nivcsw":[0-9]*' "$tmp/r")" -eq 12 ]
ok $? 'and what disturbed a trial is told'
[ "$(count '"type":"end".*"measured":' "$tmp/r")" -eq 2 ] && [ "$(count '"type":"done"' "$tmp/r")" -eq 1 ]
ok $? 'groups and the run are closed'
[ "$(count '"status":"ok".*"cache":"weights-cold"' "$tmp/r")" -ge 4 ] && "$bin/tl-measure" --cache=warm "$tmp/c" 2>/dev/null >"$tmp/warm" && [ "$(count '"cache":' "$tmp/warm")" -eq 0 ]
ok $? 'weights are flushed by default, as a network finds them'
for mode in weights-cold warm; do # of the first result
	if [ $mode = warm ]; then cat "$tmp/warm" "$tmp/r"; else cat "$tmp/r" "$tmp/warm"; fi >"$tmp/both"
	"$bin/tl-replay" -q --from "$tmp/both" "$tmp/c" | grep '"status":"ok"' | grep -c '"cache":"weights-cold"' >"$tmp/$mode.n"
done
[ "$(cat "$tmp/warm.n")" -eq 0 ] && [ "$(cat "$tmp/weights-cold.n")" -ge 4 ]
ok $? "tl-replay takes the mode of the recording's first result"
"$bin/tl-measure" "$tmp/c" 2>/dev/null | grep -q '"type":"end".*"built":0,'
ok $? 'a second time nothing is built'
"$bin/tl-measure" --stream <"$tmp/c" 2>/dev/null | grep -c '"stage":"race"' | grep -qx 12
ok $? '--stream gives the same results'
TL_ISA=scalar "$bin/tl-gen" -n 4 "$tmp/w" | TL_ISA=scalar "$bin/tl-measure" >"$tmp/scalar" 2>/dev/null
[ "$(count '"status":"ok".*"isa":"scalar"' "$tmp/scalar")" -ge 2 ]
ok $? 'TL_ISA makes another env'

sed 's/"type":"result"/"type":"candidate"/' "$tmp/r" | "$bin/tl-measure" --final 1 2>/dev/null >"$tmp/again"
[ "$(count '"status":.*"status":' "$tmp/again")" -eq 0 ] && "$bin/tl-check" -q "$tmp/again"
ok $? 'a result that is measured once more has its fields replaced'

"$bin/tl-measure" "$tmp/w" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'no candidates came in: tl-gen makes them' "$tmp/err"
ok $? 'workloads without candidates are an error, which tells the mend'
"$bin/tl-measure" --race=50 "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -e '--race is 50 s' "$tmp/err" && [ ! -s "$tmp/out" ]
ok $? 'a race of a minute is refused: a unit is missing'

# The library in the workload's own layout

cat >"$tmp/own.pl" <<'EOF'
# Finals: the library in the workload's own layout stands beside a baseline in another, and only there. Prints the finals whose
# baseline was (LOOKED 1) or was not looked for in this run and which have such a time, by implementation.
use JSON::PP;
my ($looked, $bad) = shift;
while (<>) {
	my $r = decode_json($_);
	my $b = $r->{baseline} or next;
	my $own = $b->{own_layout};
	$bad ||= ($b->{layout} eq $r->{workload}{layout}) == exists $b->{own_layout};
	$bad ||= $own && !($own->{ratio}{ci}[0] <= $own->{ratio}{median} && $own->{ratio}{median} <= $own->{ratio}{ci}[1]);
	$bad ||= $own && $own->{samples_s} && @{$own->{samples_s}} != $r->{reps};
	print "$own->{impl}\n" if $own && $looked == defined $b->{error};
}
exit !!$bad;
EOF
printf 'op,prob,layout,post\nconv2d,mb1_ic16ih28_oc64oh28_kh3ph1,nhwc,bias\n' >"$tmp/own.csv"
"$bin/tl-extract" -q --format csv "$tmp/own.csv" >"$tmp/own.w" && "$bin/tl-gen" -n 2 "$tmp/own.w" >"$tmp/own.c" &&
	"$bin/tl-measure" --final 1 "$tmp/own.c" >"$tmp/own.r" 2>"$tmp/err" && perl "$tmp/own.pl" 1 "$tmp/own.r" >"$tmp/own" &&
	perl "$tmp/own.pl" 1 "$tmp/r" >/dev/null
ok $? 'beside a baseline in another layout, and only there, stands the best in the own one'
# The baselines of an earlier final, as tl-prune tells of them; or without saying which is the best in the own layout.
"$bin/tl-store" -q -d "$tmp/own.db" "$tmp/own.r" && "$bin/tl-prune" -d "$tmp/own.db" "$tmp/own.w" >"$tmp/pruned" 2>/dev/null
[ "$(count '"opponent":{[^}]*"own_impl":"' "$tmp/pruned")" -eq "$(count . "$tmp/own")" ] && "$bin/tl-check" -q "$tmp/pruned"
ok $? 'which the next final is told'
cat >"$tmp/final.pl" <<'EOF'
# Each workload with its baseline, and one candidate.
use JSON::PP;
my (%first, $silent);
$silent = shift;
open my $f, '<', shift or die;
for (<$f>) { $first{$1} //= $_ if /"type":"candidate".*?"workload_id":"(\w+)/ }
while (<>) {
	my $w = decode_json($_);
	delete $w->{incumbent};
	delete $w->{opponent}{own_impl} if $silent;
	print '{"tl":1,"type":"workload",', substr(JSON::PP->new->canonical->encode({map { $_ => $w->{$_} } grep { !/^(tl|type)$/ } keys %$w}), 1), "\n";
	print $first{$w->{workload_id}};
}
EOF
for silent in 0 1; do
	perl "$tmp/final.pl" $silent "$tmp/own.c" "$tmp/pruned" >"$tmp/in"
	"$bin/tl-measure" --final=1 --samples "$tmp/in" >"$tmp/r3" 2>"$tmp/err"
	perl "$tmp/own.pl" $silent "$tmp/r3" >"$tmp/own.$silent" || echo bad >"$tmp/own.$silent"
done
sort "$tmp/own" >"$tmp/want" && sort "$tmp/own.0" | cmp -s - "$tmp/want"
ok $? 'and does not look for again'
if [ -s "$tmp/own" ]; then
	# Where the best is in the own layout this time, nothing stands beside it.
	! grep -qx bad "$tmp/own.1" && { [ -s "$tmp/own.1" ] || grep -q '"baseline":{[^}]*"layout":"nhwc"' "$tmp/r3"; }
	ok $? 'unless it was not told which is the best in the own layout'
else
	skip "the library's best has the own layout everywhere"
fi

# Bad candidates

sed 's/"vl":[0-9]*/"vl":64/' "$tmp/c" | "$bin/tl-check" --fix | "$bin/tl-measure" 2>/dev/null >"$tmp/bad"
[ "$(count '"status":"unsupported"' "$tmp/bad")" -eq 12 ] && "$bin/tl-check" -q "$tmp/bad"
ok $? 'knobs that make no program are unsupported'
sed 's/"candidate_id":"......../"candidate_id":"00000000/' "$tmp/c" | "$bin/tl-measure" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':2: ' "$tmp/err" && ! grep -q '"type":"result"' "$tmp/out"
ok $? 'an id that disagrees is a bad line: told with its number, exit 3'
sed 's/"type":"workload",/&"incumbent":"none",/' "$tmp/c" | "$bin/tl-measure" --final=0 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':1: "incumbent" is not an object' "$tmp/err" && grep -q '"type":"result"' "$tmp/out" && "$bin/tl-check" -q "$tmp/out"
ok $? 'so is a workload whose incumbent is none, which is not passed on'
"$bin/tl-measure" --max-error=1e-12 "$tmp/c" 2>/dev/null >"$tmp/wrong"
[ "$(count '"status":"wrong".*the error is' "$tmp/wrong")" -ge 10 ] && "$bin/tl-check" -q "$tmp/wrong"
ok $? 'an error beyond --max-error is wrong, and is told'

# The machine's faults

TL_CC=/nonexistent/cc "$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && ! grep -q '"type":"result"' "$tmp/out" && grep -q nonexistent "$tmp/err"
ok $? 'without a compiler: exit 3, and no candidate is blamed'
echo old >"$tmp/kept"
TL_CC=/nonexistent/cc "$bin/tl-measure" -o "$tmp/kept" "$tmp/c" 2>/dev/null
[ "$(cat "$tmp/kept")" = old ]
ok $? 'and the old output file stands'
find "$TL_CACHE/objects" -name '*.so' >"$tmp/objects"
while read -r object; do : >"$object"; done <"$tmp/objects" # as a power cut may leave them
"$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
status=$?
"$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
"$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ $status -ne 1 ] && [ "$(count '"status":"ok"' "$tmp/out")" -ge 4 ] && ! grep -q '"unsupported"' "$tmp/out"
ok $? 'damaged objects are built anew'
exec 9<>"${TL_LOCKS:-/tmp}/tl-cpu.lock" 2>/dev/null || exec 9<"${TL_LOCKS:-/tmp}/tl-cpu.lock"
if flock 9; then
	"$bin/tl-measure" --no-wait "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 75 ] && grep -q 'another run' "$tmp/err"
	ok $? '--no-wait: exit 75 while another run is timing'
	timeout -s TERM 2 "$bin/tl-measure" -q "$tmp/c" 9<&- >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 124 ] && [ ! -s "$tmp/err" ] && ! grep -q '"type":"result"' "$tmp/out"
	ok $? 'one that is stopped while it waits is no failure' || sed 's/^/# /' "$tmp/err"
	flock -u 9
fi
exec 9<&-
perl -MFcntl=:flock -e 'open(my $f, "<", $ARGV[0]) or exit 1; flock($f, LOCK_EX); print "held\n"; close STDOUT; sleep 2' \
	"${TL_LOCKS:-/tmp}/tl-cpu.lock" >"$tmp/held" &
holder=$!
while [ ! -s "$tmp/held" ] && kill -0 $holder 2>/dev/null; do sleep 0.1; done
who=": process $holder (perl), since [0-9:]*, for [0-9:]*"
grep -q FLOCK /proc/locks 2>/dev/null || who= # not every kernel tells
"$bin/tl-measure" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && grep -q "^tl-measure: waiting: another run is timing on this machine's cpu$who\$" "$tmp/err"
ok $? 'one that waits says so, and for which process'

# Deaths in a pipeline

printf 'op,prob\nconv2d,mb4_ic64ih56_oc64oh56_kh3ph1\n' >"$tmp/slow.csv"
"$bin/tl-extract" -q --format csv "$tmp/slow.csv" | "$bin/tl-gen" -n 80 >"$tmp/slow" # takes seconds to time, and fills the buffer before that
await_worker() { # of process $1; its pid in $worker
	i=0
	worker=
	while [ -z "$worker" ] && [ $i -lt 600 ]; do
		sleep 0.05
		keeps=$(pgrep -d, -P "$1" -x keep) && worker=$(pgrep -P "$keeps" -x worker-cpu)
		i=$((i + 1))
	done
}
{ "$bin/tl-measure" "$tmp/slow" & echo $! >"$tmp/pid"; wait; } 2>/dev/null | "$bin/tl-store" -q -d "$tmp/k.db" 2>"$tmp/err" &
store=$!
while [ ! -s "$tmp/pid" ]; do sleep 0.05; done
await_worker "$(cat "$tmp/pid")"
sleep 0.5
kill -9 "$(cat "$tmp/pid")"
wait $store
[ $? -eq 3 ] && grep -q 'cut off' "$tmp/err"
ok $? 'tl-measure killed: tl-store says that the input was cut off, exit 3'
"$bin/tl-store" --check -d "$tmp/k.db"
ok $? 'and the database is whole'

# A shell without job control starts what runs behind it deaf to SIGINT.
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$bin/tl-measure" "$tmp/slow" >"$tmp/some" 2>/dev/null &
pid=$!
await_worker $pid
i=0
while ! grep -q '"type":"result"' "$tmp/some" && [ $i -lt 600 ]; do sleep 0.05; i=$((i + 1)); done
kill -INT $pid
wait $pid
[ $? -eq 130 ]
ok $? 'SIGINT: ends by the signal'
grep -q '"type":"result"' "$tmp/some" && ! grep -q '"type":"done"' "$tmp/some" && "$bin/tl-check" -q "$tmp/some"
ok $? 'what was measured has been written, whole lines'
"$bin/tl-measure" "$tmp/slow" >/dev/null 2>&1 &
pid=$!
await_worker $pid
kill -9 $pid
wait $pid 2>/dev/null
sleep 0.5
# What has ended may wait for its new parent as a zombie.
[ -n "$worker" ] && { ! [ -e "/proc/$worker" ] || grep -q '^State:.Z' "/proc/$worker/status"; }
ok $? 'killed: no worker is left'
{ head -n 4 "$tmp/c"; cat "$tmp/c"; } | "$bin/tl-measure" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut off' "$tmp/err" && [ "$(count '"type":"end"' "$tmp/out")" -eq 2 ] && ! grep -q '"type":"done"' "$tmp/out"
ok $? 'a group cut off in the middle of the input is not closed either'
head -c 20000 "$tmp/c" | head -n 4 | "$bin/tl-measure" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cut off' "$tmp/err" && grep -q '"type":"result"' "$tmp/out" && ! grep -q '"type":"end"' "$tmp/out"
ok $? 'input cut off inside a group: measured, told, not closed, exit 3'

# Duels: each race is against the last incumbent before it, and who wins is the next

cat >"$tmp/chain.pl" <<'END'
use strict;
use warnings;
use JSON::PP;
my ($incumbent, $duels, $bad) = (undef, 0, 0);
my $fixed = shift; # the first stays
while (<STDIN>) {
	my $r = decode_json($_);
	$incumbent = $r->{incumbent} ? $r->{incumbent}{candidate_id} : undef if $r->{type} eq "workload";
	next unless $r->{type} eq "result" && $r->{stage} eq "race";
	my $d = $r->{duel};
	if ($d) {
		$duels++;
		$bad += !defined $incumbent || $d->{against} ne $incumbent;
		$bad += $r->{status} ne ($d->{end} eq "lost" && !$fixed ? "preempted" : "ok");
	}
	$bad += !$d && defined $incumbent;
	# A clear win needs no second duel; one by less has one.
	my $won = $d && $d->{end} eq "won" && !$fixed;
	$bad++ if $r->{again} ? !$won : $won && $d->{ratio} < 1.1;
	my $takes = !$fixed && (!$d || ($r->{again} ? $r->{again}{ahead} : $won));
	$bad += !!$takes != !!$r->{incumbent};
	$incumbent = $r->{candidate_id} if $takes || !defined $incumbent;
}
print "$duels duels, $bad bad\n";
END
chain() { # file number fixed
	[ "$(perl "$tmp/chain.pl" "$3" <"$1")" = "$2 duels, 0 bad" ] || perl "$tmp/chain.pl" "$3" <"$1" | sed 's/^/# /'
}
[ -z "$(chain "$tmp/r" 10 0 | tee /dev/stderr)" ]
ok $? 'each races against the last who won twice or clearly, and takes its place if it does'
"$bin/tl-measure" --no-preempt --final=0 --samples "$tmp/c" >"$tmp/full" 2>/dev/null
[ -z "$(chain "$tmp/full" 10 1 | tee /dev/stderr)" ] && ! grep -q '"status":"preempted"\|"stage":"final"' "$tmp/full" && "$bin/tl-check" -q "$tmp/full"
ok $? '--no-preempt: each against the first, which stays, to the end'
perl -MJSON::PP -ne 'my $r = decode_json($_); my $d = $r->{duel} or next; $n++; $bad += @{$r->{samples_s}} != $r->{reps} || @{$d->{samples_s}} != $r->{reps}; END { exit !($n == 10 && !$bad) }' "$tmp/full"
ok $? 'and --samples has both calls of each pair'
# An incumbent of earlier rounds, as tl-prune tells of it.
perl -MJSON::PP -e '
	my (%best, @line);
	open my $f, "<", $ARGV[0] or die;
	while (<$f>) { my $r = decode_json($_); $best{$r->{workload}{workload_id}} = $r if $r->{type} eq "result" && $r->{incumbent} && $r->{stage} eq "race" }
	open $f, "<", $ARGV[1] or die;
	while (<$f>) {
		my $r = decode_json($_);
		my $b = $best{$r->{workload_id} // ""};
		my $i = $b && encode_json({candidate_id => $b->{candidate_id}, latency_s => $b->{latency_s}, algo => $b->{algo}, knobs => $b->{knobs}, at => $b->{at}});
		s/"type":"workload",/$&"incumbent":$i,/ if $b && $r->{type} eq "workload";
		next if $r->{type} eq "candidate" && grep { $_->{candidate_id} eq $r->{candidate_id} } values %best;
		print;
	}' "$tmp/r" "$tmp/c" >"$tmp/round2"
"$bin/tl-measure" --final=2 "$tmp/round2" >"$tmp/r2" 2>/dev/null
[ -z "$(chain "$tmp/r2" 10 0 | tee /dev/stderr)" ] && [ "$(count '"type":"workload".*"incumbent"' "$tmp/r2")" -eq 2 ] && "$bin/tl-check" -q "$tmp/r2"
ok $? 'an incumbent of earlier rounds holds the place from the start'
[ "$(count '"stage":"final".*"reps":[0-9]*,"processes":\([2-9]\|[12][0-9]\),.*"verdict":"' "$tmp/r2")" -eq 2 ]
ok $? 'and has its final, if it has had none'
sed 's/"incumbent":{/&"final":true,/' "$tmp/round2" | grep '"type":"workload"' >"$tmp/w2"
{ sed -n 1p "$tmp/w2"; grep '"type":"candidate"' "$tmp/round2" | head -n 1 | sed 's/"knobs":{[^}]*}/"knobs":{"vl":64,"nv":1,"mr":1}/' | "$bin/tl-check" --fix
	grep '"type":"end"' "$tmp/round2" | head -n 1; } >"$tmp/had"
"$bin/tl-measure" "$tmp/had" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(count '"status":"unsupported"' "$tmp/out")" -eq 1 ] && ! grep -q '"stage":"final"' "$tmp/out"
ok $? 'one that has had its final gets no other'
"$bin/tl-measure" --final=0 --audit=1 "$tmp/c" >"$tmp/out" 2>/dev/null
[ "$(count '"status":"preempted".*"audit":{"ratio":.*"false_kill":' "$tmp/out")" -eq "$(count '"status":"preempted"' "$tmp/out")" ] &&
	[ "$(count '"status":"ok".*"audit":' "$tmp/out")" -eq 0 ] && "$bin/tl-check" -q "$tmp/out" &&
	[ "$(grep -o '"audited":[0-9]*' "$tmp/out" | cut -d: -f2 | awk '{ s += $1 } END { print s }')" -eq "$(count '"audit":{' "$tmp/out")" ]
ok $? '--audit=1: all that lost have a second duel, and are counted'
"$bin/tl-measure" --final=10 </dev/null 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -- '--final' "$tmp/err"
ok $? 'more processes than a final has: exit 2'

# The time that tl-prune gives a round

ends_at() { # time file
	sed "s/\"type\":\"workload\",/&\"until\":\"$1\",/" "$2" >"$tmp/until"
}
ends_at 2001-01-01T00:00:00.000Z "$tmp/round2"
"$bin/tl-measure" "$tmp/until" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/out" && ! grep -q '"type":"result"' "$tmp/out" && grep -q '"type":"done"' "$tmp/out" &&
	[ "$(count '"why":"out of time".*"measured":0' "$tmp/out")" -eq 2 ]
ok $? 'when it is over, nothing is begun, and each end says why'
ends_at 9999-01-01T00:00:00.000Z "$tmp/round2"
"$bin/tl-measure" "$tmp/until" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/out" && [ "$(count '"stage":"race"' "$tmp/out")" -eq 10 ] && [ "$(count '"stage":"final"' "$tmp/out")" -eq 2 ] &&
	! grep -q 'out of time' "$tmp/out"
ok $? 'before that, nothing changes'
ends_at yesterday "$tmp/round2"
"$bin/tl-measure" --final=0 "$tmp/until" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '"until" is not a UTC time such as' "$tmp/err"
ok $? 'what is no time is refused'

exec 9<>"${TL_LOCKS:-/tmp}/tl-cpu.lock" 2>/dev/null || exec 9<"${TL_LOCKS:-/tmp}/tl-cpu.lock"
if flock 9; then
	for lease in '' '"unit":"0123456789abcdef0123456789abcdef",'; do
		seconds=${lease:+2}
		seconds=${seconds:-8}
		ends_at "$(date -u -d "+$seconds second" +%Y-%m-%dT%H:%M:%S.000Z)" "$tmp/round2"
		sed "s/^\({\"tl\":1,\"type\":\"workload\",\)/\1$lease/" "$tmp/until" >"$tmp/until2"
		timeout 300 "$bin/tl-measure" "$tmp/until2" 9<&- >"$tmp/out" 2>"$tmp/err" &
		waiting=$!
		sleep $seconds.5
		flock -u 9
		wait $waiting
		[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/out" && grep '"type":"run"' "$tmp/out" | grep -q '"waited_s":[0-9]' &&
			if [ "$lease" ]; then ! grep -q '"type":"result"' "$tmp/out"; else grep -q '"type":"result"' "$tmp/out"; fi
		ok $? "a run that waited has its own time all the same, but no more than its lease: ${lease:-without a lease}"
		flock 9
	done
	flock -u 9
fi
exec 9<&-
# A worker that does not answer to one command
root=$tmp/root
mkdir -p "$root/bin" "$root/libexec/tl"
cp "$bin/tl-measure" "$root/bin"
for f in "${LIBEXEC:-libexec/tl}"/*; do ln -s "$(cd "${f%/*}" && pwd)/${f##*/}" "$root/libexec/tl"; done
rm "$root/libexec/tl/worker-cpu"
cat >"$root/libexec/tl/worker-cpu" <<EOF
#!/bin/sh
[ "\$*" = --answers ] || exec $(cd "${LIBEXEC:-libexec/tl}" && pwd)/worker-cpu "\$@"
perl -ne 'BEGIN { \$| = 1 } sleep 1000 if /"cmd":"'\$HANG'"/; print' | $(cd "${LIBEXEC:-libexec/tl}" && pwd)/worker-cpu --answers
EOF
chmod +x "$root/libexec/tl/worker-cpu"
for HANG in open race baseline; do
	ends_at "$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%S.000Z)" "$tmp/round2"
	HANG=$HANG timeout 300 "$root/bin/tl-measure" --timeout 400s "$tmp/until" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/out" && ! grep -q '"stage":"final"\|"status":"timeout"' "$tmp/out" && grep -q '"type":"done"' "$tmp/out"
	ok $? "what is begun ends with the time ($HANG)"
done
HANG=nothing "$root/bin/tl-measure" --final=0 "$tmp/round2" >"$tmp/out" 2>"$tmp/err" && grep -q '"status":"\(ok\|preempted\)"' "$tmp/out"
ok $? 'this worker answers to others'

# True answers are kept

export TL_CACHE="$tmp/cache2"
"$bin/tl-measure" --final=0 "$tmp/c" >"$tmp/out" 2>/dev/null
"$bin/tl-measure" --final=0 "$tmp/c" >"$tmp/out" 2>/dev/null
[ "$(find "$TL_CACHE/objects" -name '*.truth' | wc -l)" -eq 2 ]
ok $? 'one true answer a workload'
find "$TL_CACHE/objects" -name '*.truth' | while read -r truth; do
	{ head -c 100 "$truth"; head -c 3 /dev/zero; tail -c +104 "$truth"; } >"$truth.new" && mv "$truth.new" "$truth"
done
"$bin/tl-measure" --final=0 "$tmp/c" >"$tmp/out" 2>/dev/null
[ $? -eq 0 ] && [ "$(count '"type":"result"' "$tmp/out")" -eq 12 ] && ! grep -q '"status":"wrong"' "$tmp/out"
ok $? 'which is not believed if it is damaged'
"$bin/tl-measure" --final=0 --seed=2 "$tmp/c" >"$tmp/out" 2>/dev/null
[ "$(find "$TL_CACHE/objects" -name '*.truth' | wc -l)" -eq 4 ] && ! grep -q '"status":"wrong"' "$tmp/out"
ok $? 'another seed has others'
echo "1..$n"
