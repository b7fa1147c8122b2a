#!/bin/sh
# tl-tune: rounds from real processes, resumable; a death loses nothing that was measured and leaves nothing running.
bin=${BIN:-bin}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset TL_DB TL_ISA TL_CC
n=0

ok() { # status name
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

results() { # database
	"$bin/tl-query" -d "$1" --dump=results | sort
}

printf 'op,prob,layout,post,count\nconv2d,mb1_ic8ih9_oc16oh9_kh3ph1,nhwc,bias,1\nmatmul,12x20:20x24,ab,,2\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w.wl"

timeout 120 "$bin/tl-tune" -d "$tmp/a.db" --until 'rounds<3' "$tmp/w.wl" >"$tmp/table" 2>"$tmp/err"
ok $? 'tunes'
grep -q '^conv2d' "$tmp/table" && grep -q '^matmul' "$tmp/table" && grep -q '^total' "$tmp/table"
ok $? 'ends with a table'
"$bin/tl-query" -d "$tmp/a.db" --table "$tmp/w.wl" | cmp -s - "$tmp/table"
ok $? 'which tl-query gives again'
results "$tmp/a.db" >"$tmp/before"
"$bin/tl-tune" -q -d "$tmp/a.db" --until 'rounds<2' "$tmp/w.wl" 2>"$tmp/err"
ok $? 'goes on from the database'
results "$tmp/a.db" >"$tmp/after"
[ "$(comm -23 "$tmp/before" "$tmp/after" | wc -l)" -eq 0 ]
ok $? 'nothing that was known is lost'
[ "$(grep '"stage":"race"' "$tmp/after" | grep -o '"candidate_id":"[^"]*"' | sort | uniq -d | wc -l)" -eq 0 ]
ok $? 'no candidate is raced twice'

"$bin/tl-tune" --print -d "$tmp/s.db" --until 'rounds<1' "$tmp/w.wl" >"$tmp/script"
PATH=$(cd "$bin" && pwd):$PATH sh "$tmp/script" >"$tmp/out" 2>"$tmp/err"
ok $? '--print prints a script that runs'
grep -q '^total' "$tmp/out"
ok $? 'and ends with the same kind of table'
"$bin/tl-tune" -q --no-db --until 'rounds<1' -o - <"$tmp/w.wl" 2>"$tmp/err" | "$bin/tl-store" -q -d "$tmp/m.db"
[ "$("$bin/tl-query" -d "$tmp/m.db" --dump=results | wc -l)" -gt 4 ]
ok $? '--no-db -o - hands all results on'
here=$PWD
(cd "$tmp" && printf '%%.res: %%.wl\n\t"%s"/tl-tune -q -d m.db -o $@ $<\n' "$(cd "$here" && cd "$bin" && pwd)" >Makefile && make -s w.res 2>err) && [ "$(wc -l <"$tmp/w.res")" -eq 2 ]
ok $? 'a Makefile rule'

# Deaths

printf 'op,prob\nconv2d,mb1_ic64ih28_oc64oh28_kh3ph1\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w.wl" # takes seconds to time
"$bin/tl-tune" -q -d "$tmp/k.db" -b 12 --patience 1000 "$tmp/w.wl" 2>/dev/null &
pid=$!
i=0
while [ "$("$bin/tl-query" -d "$tmp/k.db" --dump=results 2>/dev/null | wc -l)" -eq 0 ] && [ $i -lt 400 ]; do
	sleep 0.1
	i=$((i + 1))
done
sleep 1
children=$(pgrep -P $pid)
kill -9 $pid
wait $pid 2>/dev/null
sleep 2
left=0
for c in $children; do
	[ -e "/proc/$c" ] && ! grep -q '^State:.Z' "/proc/$c/status" && left=1
done
ok $left 'tl-tune killed: nothing is left running'
"$bin/tl-store" --check -d "$tmp/k.db"
ok $? 'and the database is whole'
results "$tmp/k.db" >"$tmp/before"
[ -s "$tmp/before" ]
ok $? 'and holds what was measured'
"$bin/tl-tune" -q -d "$tmp/k.db" --until 'candidates<4' "$tmp/w.wl" 2>/dev/null
ok $? 'tunes again'
results "$tmp/k.db" >"$tmp/after"
[ "$(comm -23 "$tmp/before" "$tmp/after" | wc -l)" -eq 0 ]
ok $? 'and nothing is lost'
timeout -s INT --preserve-status 4 "$bin/tl-tune" -q -d "$tmp/k.db" --patience 1000 -b 12 "$tmp/w.wl" 2>/dev/null
[ $? -eq 130 ]
ok $? 'SIGINT: ends by the signal'
results "$tmp/k.db" | comm -23 "$tmp/after" - | wc -l | grep -qx 0
ok $? 'and what was measured stays'
printf 'garbage' >"$tmp/g.onnx"
"$bin/tl-tune" -q -d "$tmp/k.db" "$tmp/g.onnx" 2>"$tmp/err"
[ $? -eq 3 ] && [ -s "$tmp/err" ]
ok $? 'no model: exit 3'
"$bin/tl-tune" --until nonsense "$tmp/w.wl" 2>"$tmp/err"
[ $? -eq 2 ]
ok $? 'bad limits: exit 2'
echo "1..$n"
