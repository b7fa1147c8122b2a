#!/bin/sh
# tl-doctor: what it finds on a machine that is well, and what it says of one that is not.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB TL_CC TL_ISA TL_CACHE_SIZE
export TL_CACHE="$tmp/cache" TL_PROBE=0 TL_LOCKS="$tmp/locks"
mkdir "$tmp/locks"

doctor() {
	"$bin/tl-doctor" --noise 0 -d "$tmp/db" >"$tmp/out" 2>"$tmp/err"
}

doctor
ok $? 'a machine that is well'
for what in version CPU compiler library env cuda opencl probe lock energy cache database model; do
	grep -q "^$what  *[^ ]" "$tmp/out" || echo "# nothing of the $what"
done >"$tmp/missing"
cat "$tmp/missing"
[ ! -s "$tmp/missing" ] && ! grep -q -e '->' "$tmp/out"
ok $? 'it tells all, and nothing is amiss'
if has_isa avx512_amx; then
	grep -q 'amx-bf16' "$tmp/out" && TL_ISA=avx512_bf16 "$bin/tl-doctor" --noise 0 -d "$tmp/db" >"$tmp/bf16" 2>"$tmp/err" && ! grep -q amx "$tmp/bf16" &&
		[ "$(grep '^env ' "$tmp/out" | cut -d , -f 1)" != "$(grep '^env ' "$tmp/bf16" | cut -d , -f 1)" ]
	ok $? 'without its tile registers it is another env'
else
	skip 'tile registers: this CPU has none'
fi
grep -q '^database .*is not there yet' "$tmp/out" && [ ! -e "$tmp/db" ]
ok $? 'a database that is not there yet is no fault, and is not made'
awk -v n=3 -f "$here/results.awk" "$here/workloads.ndjson" | "$bin/tl-store" -q -d "$tmp/db"
doctor && grep -q '^database .*[0-9] results of [0-9]* workloads in 1 envs' "$tmp/out"
ok $? 'what a database holds'
head -c 8192 "$tmp/db" | tr '\0' x >"$tmp/bad"
"$bin/tl-doctor" --noise 0 -d "$tmp/bad" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q -e '-> name another one by -d' "$tmp/out"
ok $? 'a file that is none is amiss'
TL_CC=/nonexistent/cc doctor
[ $? -eq 1 ] && grep -q '/nonexistent/cc' "$tmp/out" && grep -q -e '-> nothing can be measured' "$tmp/out" && grep -q '^database' "$tmp/out"
ok $? 'without a compiler it says so, and goes on'
TL_CACHE_SIZE=huge doctor
[ $? -eq 1 ] && grep -q 'TL_CACHE_SIZE is "huge"' "$tmp/out"
ok $? 'a size that is none is amiss'
TL_MODEL=pretrained TL_LIMITS=l1d=32768,l2=777216 doctor && grep -q '^model .*cpu.model; it never saw such a CPU' "$tmp/out"
ok $? 'whether the model has seen such a machine'
head -c 1000 "$tmp/bad" >"$tmp/model"
TL_MODEL="$tmp/model" doctor
[ $? -eq 1 ] && grep -q -e '-> name another one by TL_MODEL' "$tmp/out"
ok $? 'a model that is none is amiss'
"$bin/tl-doctor" --noise 200ms -d "$tmp/db" >"$tmp/out" 2>&1
grep -q '^noise  *[0-9.]*% of equal turns' "$tmp/out"
ok $? 'how steadily the machine runs'
"$bin/tl-doctor" --noise 0 -d "$tmp/db" >/dev/full 2>"$tmp/err"
[ $? -eq 3 ] && [ -s "$tmp/err" ]
ok $? 'a full disk is told'
echo "1..$n"
