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
[ "$(count '"stage":"final".*"verdict":"' "$tmp/r")" -ge 2 ]
ok $? 'finalists have a verdict'
[ ! -r /proc/stat ] || [ "$(count '"stage":"race".*"watch":{"steal_s":[0-9.e-]*,"nivcsw":[0-9]*' "$tmp/r")" -eq 12 ]
ok $? 'and what disturbed a trial is told'
[ "$(count '"type":"end".*"measured":' "$tmp/r")" -eq 2 ] && [ "$(count '"type":"done"' "$tmp/r")" -eq 1 ]
ok $? 'groups and the run are closed'
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

# Bad candidates

sed 's/"vl":[0-9]*/"vl":64/' "$tmp/c" | "$bin/tl-check" --fix | "$bin/tl-measure" 2>/dev/null >"$tmp/bad"
[ "$(count '"status":"unsupported"' "$tmp/bad")" -eq 12 ] && "$bin/tl-check" -q "$tmp/bad"
ok $? 'knobs that make no program are unsupported'
sed 's/"candidate_id":"......../"candidate_id":"00000000/' "$tmp/c" | "$bin/tl-measure" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':2: ' "$tmp/err" && ! grep -q '"type":"result"' "$tmp/out"
ok $? 'an id that disagrees is a bad line: told with its number, exit 3'
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
	flock -u 9
fi
exec 9<&-

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

# Patience

head -n 4 "$tmp/c" | "$bin/tl-measure" --stream --final=0 --patience=50ms >"$tmp/out" 2>/dev/null
[ "$(count '"type":"result".*"status":"\(ok\|preempted\)"' "$tmp/out")" -ge 2 ]
ok $? 'with patience candidates are measured, too'
"$bin/tl-measure" --patience=3s --timeout=20s </dev/null 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -- '--patience' "$tmp/err"
ok $? 'patience that would let a candidate time out is a usage error'
echo "1..$n"
