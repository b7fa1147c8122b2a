#!/bin/sh
# The probe of the machine: its figures, its loops, its file. No figure is compared with another measured one.
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
for f in $want; do grep -q "^$f [0-9.]*[1-9]" "$tmp/figures" || missing="$missing $f"; done
[ -z "$missing" ]
ok $? 'with a rate for every level and width'
[ -z "$missing" ] || echo "# missing:$missing"
grep -q '^threads 2$' "$tmp/figures" && grep -q '^cores [12]$\|^cores_why .' "$tmp/figures"
ok $? 'and the cores that the team stands on'

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
	"$bin/tl-measure" --final=0 "$tmp/c" 2>"$tmp/err"
}
env_of() {
	grep -o '"env_id":"[^"]*"' "$1" | sort -u | paste -sd' '
}
"$bin/tl-store" -q -d "$tmp/db" </dev/null
"$bin/tl-gen" -n 2 -d "$tmp/db" "$tmp/w" | # asks for the env, too
	"$bin/tl-measure" --final=0 >"$tmp/a" 2>"$tmp/err" &
"$bin/tl-measure" --final=0 "$tmp/c" >"$tmp/b" 2>/dev/null
wait
[ "$(find "$TL_CACHE/probe" -type f | wc -l)" -eq 1 ] && [ -n "$(env_of "$tmp/a")" ] && [ "$(env_of "$tmp/a")" = "$(env_of "$tmp/b")" ]
ok $? 'two at once make one probe, and agree in the env'
file=$(find "$TL_CACHE/probe" -type f)
"$bin/tl-check" -q "$tmp/a" && grep -q '"hw_id":"[0-9a-f]\{32\}","probe":{\("cores":.*\)\?"peak_flops":[0-9]' "$tmp/a" && ! grep -q '"class"' "$tmp/a"
ok $? 'records tell the hardware and what it does'
"$bin/tl-store" -q -d "$tmp/db" "$tmp/a"
cp "$file" "$tmp/file"
"$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/out" 2>"$tmp/err" && cmp -s "$file" "$tmp/file"
ok $? 'tl-query finds the same env, and probes no more'
TL_PROBE=0 "$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/out" 2>"$tmp/err"
ok $? 'TL_PROBE=0 is the same env'
put() { # text: as the file of a probe
	printf '%s' "$1" >"$file"
	seal "$file"
}
put "$(sed 's/"peak_flops":[0-9.e+]*/"peak_flops":1e3/;/^tl-seal/d' "$tmp/file")"
cmp -s "$file" "$tmp/file" && echo '# the figure could not be changed'
measure >"$tmp/out"
[ "$(env_of "$tmp/out")" = "$(env_of "$tmp/a")" ] && grep -q '"peak_flops":1e3,' "$tmp/out"
ok $? 'and so is a machine that was found slower'
sed 's/"peak_flops":[0-9.e+]*/"peak_flops":1e3/' "$tmp/file" >"$file"
measure >"$tmp/out" && ! grep -q '"peak_flops":1e3,' "$tmp/out"
ok $? 'a figure that was changed is not believed'
head -c 100 "$tmp/file" >"$file"
measure >"$tmp/out" && [ "$(env_of "$tmp/out")" = "$(env_of "$tmp/a")" ] && grep -q '^{"isa":.*}$' "$file"
ok $? 'a damaged file is made anew'
rm "$file" && mkfifo "$file"
timeout 120 "$bin/tl-doctor" --noise 0 >"$tmp/out"
[ $? -lt 2 ] && [ -f "$file" ] && measure >"$tmp/out" && grep -q '^{"isa":' "$file"
ok $? 'and so is one in whose place a pipe stands, which nothing waits for'

# A probe that was disturbed, and one that is asked for anew

probed() { # disturbed, age: a file of that share and a peak that no machine has, so old
	put "$(sed "s/\"peak_flops\":[0-9.e+]*/\"peak_flops\":1e3/;s/\"disturbed\":[0-9.e-]*/\"disturbed\":$1/;/^tl-seal/d" "$tmp/file")"
	touch -d "$2" "$file"
	measure >"$tmp/out"
}
grep -q '"disturbed":\(0\|1\|0\.[0-9]*\|[0-9.]*e-[0-9]*\),' "$tmp/file"
ok $? 'the probe says which share of it others disturbed'
probed 1 '1 hour ago' && ! grep -q '"peak_flops":1e3,' "$tmp/out" && ! grep -q '"peak_flops":1e3,' "$file"
ok $? 'one that they did is made again'
probed 1 now && grep -q '"peak_flops":1e3,' "$tmp/out" && grep -q '"disturbed":1,\?' "$tmp/out"
ok $? 'though not at once'
probed 0.1 '1 hour ago' && grep -q '"peak_flops":1e3,' "$tmp/out" && [ ! -s "$tmp/err" ]
ok $? 'and one that they did not stays, and nothing is said of it'
"$bin/tl-measure" --reprobe --final=0 "$tmp/c" >"$tmp/out" 2>"$tmp/err" && ! grep -q '"peak_flops":1e3,' "$tmp/out" && [ "$(env_of "$tmp/out")" = "$(env_of "$tmp/a")" ]
ok $? '--reprobe makes it anew'
probed 0.1 now
"$bin/tl-measure" --reprobe /dev/null >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ] && ! grep -q '"peak_flops":1e3,' "$file"
ok $? 'also where there is nothing to measure'
probed 0.1 now
"$bin/tl-tune" -q --reprobe -d "$tmp/db" --until 'rounds<0' "$tmp/w" 2>"$tmp/err" && ! grep -q '"peak_flops":1e3,' "$file"
ok $? 'and tl-tune hands it on'

# Waiting

rm -r "$TL_CACHE/probe"
exec 9<>"${TL_LOCKS:-/tmp}/tl-cpu.lock" 2>/dev/null || exec 9<"${TL_LOCKS:-/tmp}/tl-cpu.lock"
flock 9
timeout 120 "$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/out" 2>"$tmp/err" 9<&- && [ -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
ok $? 'who only asks for the env does not wait for the device' || sed 's/^/# /' "$tmp/err"
[ -z "$(find "$TL_CACHE/probe" -name '*.json')" ]
ok $? 'and nobody probes while it is timed'
timeout 120 "$bin/tl-doctor" --noise=0 >"$tmp/out" 2>"$tmp/err" 9<&-
grep -q '^probe  *none: another run is timing on this machine, which was not probed before$' "$tmp/out"
ok $? 'which tl-doctor says' || sed 's/^/# /' "$tmp/out" "$tmp/err"
flock -u 9
timeout 120 "$bin/tl-query" -d "$tmp/db" "$tmp/w" >"$tmp/out" 2>"$tmp/err" 9<&- && [ -n "$(find "$TL_CACHE/probe" -name '*.json')" ]
ok $? 'when the device is free, it is probed'
exec 9<&-
echo "1..$n"
