#!/bin/sh
# The probe of the machine: its figures, its loops, its file; what a drift does to the env. No figure is compared with
# another measured one: what is made to drift is off by a factor of a thousand.
bin=${BIN:-bin}
worker=${LIBEXEC:-libexec/tl}/worker-cpu
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_CC OMP_NUM_THREADS
export TL_CACHE="$tmp/cache" TL_PROBE=1

# All numbers of the fields named below a JSON object, flat.
cat >"$tmp/figures.pl" <<'EOF'
use JSON::PP;
my $p = decode_json(<STDIN>);
sub leaf { my ($name, $v) = @_; ref $v ? map { leaf("$name.$_", $v->{$_}) } sort keys %$v : "$name $v\n" }
print map { leaf($_, $p->{$_}) } sort keys %$p;
EOF
OMP_NUM_THREADS=2 OMP_PROC_BIND=true "$worker" --probe >"$tmp/probe" 2>"$tmp/err" &&
	perl "$tmp/figures.pl" <"$tmp/probe" >"$tmp/figures"
ok $? 'the probe is a JSON object'
want='bandwidth.l1 bandwidth.l2 bandwidth.l3 bandwidth.mem bandwidth_all.l1 bandwidth_all.mem barrier_s bytes.l1 bytes.mem
	forkjoin_s peak_flops peak_flops_all triad.l1 triad.mem triad_all.l3 width.scalar.peak_flops width.scalar.peak_flops_all'
missing=
for f in $want; do grep -q "^$f [1-9]" "$tmp/figures" || missing="$missing $f"; done
[ -z "$missing" ]
ok $? 'with a rate for every level and width'
[ -z "$missing" ] || echo "# missing:$missing"
grep -q '^threads 2$' "$tmp/figures" && grep -q '^cores [12]$\|^cores_why .' "$tmp/figures"
ok $? 'and the cores that the team stands on'
OMP_NUM_THREADS=1 "$worker" --sentinel | perl "$tmp/figures.pl" | cut -d' ' -f1 | paste -sd' ' |
	grep -qx 'bandwidth_all.mem beat_s forkjoin_s peak_flops peak_flops_all'
ok $? 'the sentinel looks at four of them, and at a beat'

# The loops hold what is timed, the count and the jump: nothing is dropped, merged, spilled or vectorised.
loop() { # function: the instructions between the target of its last jump backwards and that jump
	objdump -d --no-show-raw-insn "$worker" | awk -v f="<$1>:" '
		index($0, f) { on = 1; next }
		on && /^$/ { exit }
		on {
			sub(/^ */, ""); split($0, a, /:[ \t]*/); at[++m] = a[1]; ins[m] = a[2]
			split(a[2], w, / +/)
			if (w[1] ~ /^j/) for (i = 1; i < m; i++) if (at[i] == w[2]) { from = i; to = m }
		}
		END { for (i = from; i && i <= to; i++) { split(ins[i], w, / +/); print w[1] } }'
}
if [ -n "$SAN" ]; then
	skip 'the loops are what they are without sanitizers'
elif ! command -v objdump >/dev/null; then
	skip 'no objdump'
else
	for isa in avx2 avx512; do
		loop ${isa}_peak | sort | uniq -c | sed 's/^ *//' >"$tmp/loop"
		[ "$(grep -c . "$tmp/loop")" -eq 3 ] && grep -q '^12 vfmadd...ps' "$tmp/loop" &&
			grep -q '^1 \(sub\|dec\|add\)' "$tmp/loop" && grep -q '^1 j' "$tmp/loop" || break
	done
	ok $? 'the peak loops hold twelve multiply-adds and the count'
	sed 's/^/# /' "$tmp/loop"
	loop scalar_peak | grep -vc '^mulss\|^addss\|^sub\|^dec\|^jne' | grep -qx 0 && [ "$(loop scalar_peak | grep -c ss)" -eq 24 ]
	ok $? 'the scalar one a multiplication and an addition each'
fi

# The file

printf 'op,prob,layout,post,count\nmatmul,12x20:20x24,ab,bias,1\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w"
"$bin/tl-gen" -n 2 "$tmp/w" >"$tmp/c" # without a database it needs no env
[ ! -d "$TL_CACHE/probe" ]
ok $? 'who needs no env makes no probe'
measure() {
	"$bin/tl-measure" --final=0 "$@" "$tmp/c" 2>"$tmp/err"
}
env_of() {
	grep -o '"env_id":"[^"]*"' "$1" | sort -u | paste -sd' '
}
"$bin/tl-store" -q -d "$tmp/db" </dev/null
"$bin/tl-gen" -n 2 -d "$tmp/db" "$tmp/w" | # asks for the env, too
	"$bin/tl-measure" --max-drift=0 --final=0 >"$tmp/a" 2>"$tmp/err" &
"$bin/tl-measure" --max-drift=0 --final=0 "$tmp/c" >"$tmp/b" 2>/dev/null
wait
[ "$(find "$TL_CACHE/probe" -type f | wc -l)" -eq 1 ] && [ -n "$(env_of "$tmp/a")" ] && [ "$(env_of "$tmp/a")" = "$(env_of "$tmp/b")" ]
ok $? 'two at once make one probe, and agree in the env'
file=$(find "$TL_CACHE/probe" -type f)
"$bin/tl-check" -q "$tmp/a" && grep -q '"hw_id":"[0-9a-f]\{32\}","probe":{"class":"[^"]*GFLOP/s' "$tmp/a"
ok $? 'records tell the hardware and its class'
"$bin/tl-store" -q -d "$tmp/db" "$tmp/a"
cp "$file" "$tmp/file"
"$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/out" 2>"$tmp/err" && cmp -s "$file" "$tmp/file"
ok $? 'tl-query finds the same env, and probes no more'
TL_PROBE=0 "$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 4 ] && grep -q '"why":"stale: ' "$tmp/out"
ok $? 'TL_PROBE=0 is another env'

# Drift: as if the machine had been a thousand times faster when it was probed.

sed 's/\("bandwidth_all":{[^}]*"mem":[0-9.]*e+\)1/\14/;s/"mem":\([0-9.]*\)e+09\(},"triad"\)/"mem":\1e+12\2/' "$tmp/file" >"$file"
cmp -s "$file" "$tmp/file" && echo '# the figure could not be changed'
cp "$file" "$tmp/fast"
measure --max-drift=0 >"$tmp/out"
[ "$(env_of "$tmp/out")" = "$(env_of "$tmp/a")" ] && ! grep -q drifted "$tmp/err"
ok $? '--max-drift=0 does not look'
measure >"$tmp/new"
grep -q 'the machine has drifted: .*memory gives .*%).*; it is taken for a new one' "$tmp/err" &&
	[ -n "$(env_of "$tmp/new")" ] && [ "$(env_of "$tmp/new")" != "$(env_of "$tmp/a")" ]
ok $? 'a drift is said, with the figures, and makes another env'
[ "$(grep -o '"class":"' "$file" | wc -l)" -eq 2 ] && grep -q '^{"now":1,' "$file"
ok $? 'for which the machine is probed anew'
"$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 4 ] && grep -q '"why":"foreign: ' "$tmp/out" && grep -q '1 of 1 workloads are foreign' "$tmp/err"
ok $? 'and what was measured before is foreign'
sed 's/^{"now":1,/{"now":0,/' "$file" >"$tmp/back" && cp "$tmp/back" "$file"
measure >"$tmp/out"
[ "$(env_of "$tmp/out")" = "$(env_of "$tmp/a")" ] && ! grep -q drifted "$tmp/err" && cmp -s "$file" "$tmp/back"
ok $? 'within a minute it is not looked again'
sed 's/"looked":"2[^"]*"/"looked":"2026-11-21T09:00:00.000Z"/' "$tmp/back" >"$file"
measure --max-drift=99 >"$tmp/out"
grep -q 'it is taken for one known before' "$tmp/err" && [ "$(env_of "$tmp/out")" = "$(env_of "$tmp/new")" ] &&
	grep -q '^{"now":1,' "$file"
ok $? 'a state known before gives its env again'
head -c 100 "$tmp/file" >"$file"
measure --max-drift=0 >"$tmp/out" && [ -n "$(env_of "$tmp/out")" ] && grep -q '^{"now":0,' "$file"
ok $? 'a damaged file is made anew'

# Waiting

rm -r "$TL_CACHE/probe"
exec 9<>"${TL_LOCKS:-/tmp}/tl-cpu.lock" 2>/dev/null || exec 9<"${TL_LOCKS:-/tmp}/tl-cpu.lock"
flock 9
"$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/out" 2>"$tmp/err" 9<&- &
query=$!
sleep 0.5
[ ! -s "$tmp/out" ] && kill -0 $query && [ -z "$(find "$TL_CACHE/probe" -name '*.json')" ]
ok $? 'nobody probes while the device is timed'
cp "$tmp/file" "$file"
wait $query
[ $? -eq 0 ] && [ -s "$tmp/out" ]
ok $? 'but goes on when there is a probe, still beside the timing'
flock -u 9
exec 9<&-
echo "1..$n"
