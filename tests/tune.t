#!/bin/sh
# tl-tune: rounds from real processes, resumable; a death loses nothing that was measured and leaves nothing running.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_CC

results() { # database
	"$bin/tl-query" -d "$1" --dump=results | sort
}

printf 'op,prob,layout,post,count\nconv2d,mb1_ic8ih9_oc16oh9_kh3ph1,nhwc,bias,1\nmatmul,12x20:20x24,ab,,2\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w.wl"

timeout 120 "$bin/tl-tune" -d "$tmp/a.db" --min-gain 0 --until 'rounds<3' "$tmp/w.wl" >"$tmp/table" 2>"$tmp/err"
[ $? -eq 0 ] && ! grep -q 'cut off' "$tmp/err"
ok $? 'tunes'
grep -q '^conv2d' "$tmp/table" && grep -q '^matmul' "$tmp/table" && grep -q '^total' "$tmp/table"
ok $? 'ends with a table'
"$bin/tl-query" -d "$tmp/a.db" --report "$tmp/a.html" "$tmp/w.wl" && grep -q '^Weights came from memory before each timed call' "$tmp/table" && grep -q 'Weights came from memory before each' "$tmp/a.html" &&
	"$bin/tl-query" -d "$tmp/a.db" --dump=results | sed 's/"cache":"weights-cold",//; s/,"checksum":"[0-9a-f]*"//' | "$bin/tl-store" -q -d "$tmp/warm.db" &&
	! "$bin/tl-query" -d "$tmp/warm.db" --table "$tmp/w.wl" | grep -q 'Weights'
ok $? 'which says where the weights were'
"$bin/tl-query" -d "$tmp/a.db" --table "$tmp/w.wl" | cmp -s - "$tmp/table"
ok $? 'which tl-query gives again'
grep -q '^tl-tune: Of [0-9]* proposed candidates the filter passed on [0-9]*, and compilers built [0-9]* of their [0-9]* kernels' "$tmp/err" && grep -q '^tl-tune: The rounds ended: .*[^.]\.$' "$tmp/err"
ok $? 'and says what the run saved, and why it ended'
"$bin/tl-query" -d "$tmp/a.db" --cost --run last --table --wide | grep '^Of \|^The rounds \|^Other runs \|early\|cache' >"$tmp/said"
grep '^tl-tune: [A-Z0-9]' "$tmp/err" | sed 's/^tl-tune: //' | cmp -s - "$tmp/said"
ok $? 'which tl-query says again'
results "$tmp/a.db" >"$tmp/before"
"$bin/tl-tune" -q -d "$tmp/a.db" --min-gain 0 --until 'rounds<2' "$tmp/w.wl" 2>"$tmp/err"
[ $? -eq 0 ] && ! grep -q 'rounds ended' "$tmp/err"
ok $? 'goes on from the database, silently with -q'
results "$tmp/a.db" >"$tmp/after"
[ "$(comm -23 "$tmp/before" "$tmp/after" | wc -l)" -eq 0 ]
ok $? 'nothing that was known is lost'
# Those that held the place meet the best once more before its final.
raced_twice() { # file: results
	grep '"incumbent":true' "$1" | grep -o '"candidate_id":"[^"]*"' | sort -u >"$tmp/held"
	grep '"stage":"race"' "$1" | grep -o '"candidate_id":"[^"]*"' | sort | uniq -d | grep -cvxFf "$tmp/held"
}
[ "$(raced_twice "$tmp/after")" -eq 0 ]
ok $? 'no candidate is raced twice, but those that held the place'
TL_DB=$tmp/env.db "$bin/tl-tune" -q --min-gain 0 -n 0 -b 24 --until 'rounds<4' "$tmp/w.wl" 2>"$tmp/err" &&
	results "$tmp/env.db" >"$tmp/after" && [ "$(raced_twice "$tmp/after")" -eq 0 ]
ok $? 'nor where TL_DB names the database'

"$bin/tl-tune" --print -d "$tmp/s.db" --until 'rounds<1' "$tmp/w.wl" >"$tmp/script"
PATH=$(cd "$bin" && pwd):$PATH sh "$tmp/script" >"$tmp/out" 2>"$tmp/err"
ok $? '--print prints a script that runs'
grep -q '^total' "$tmp/out"
ok $? 'and ends with the same kind of table'
"$bin/tl-tune" -q --no-db --until 'rounds<1' -o - <"$tmp/w.wl" 2>"$tmp/err" | "$bin/tl-store" -q -d "$tmp/m.db"
[ "$("$bin/tl-query" -d "$tmp/m.db" --dump=results | wc -l)" -gt 4 ]
ok $? '--no-db -o - hands all results on'
"$bin/tl-tune" -q --no-db --until 'rounds<1' "$tmp/w.wl" 2>"$tmp/err" | grep -q '"stage":"race"'
ok $? '--no-db -q: also without -o'
"$bin/tl-tune" -q --print --no-db --until 'rounds<1' "$tmp/w.wl" >"$tmp/script"
PATH=$(cd "$bin" && pwd):$PATH sh "$tmp/script" 2>"$tmp/err" | grep -q '"stage":"race"'
ok $? 'and so does its script'

# Policies
trials() { # database; how many candidates each workload had, a line each
	results "$1" | sed 's/.*"candidate_id":"\([0-9a-f]*\)".*"workload_id":"\([0-9a-f]*\)".*/\2 \1/' | sort -u | cut -d' ' -f1 | uniq -c |
		sed 's/^ *\([0-9]*\) .*/\1/'
}
"$bin/tl-tune" -q -d "$tmp/lorien.db" --policy=lorien,trials=3 --final 0 "$tmp/w.wl" 2>"$tmp/err" && [ "$(trials "$tmp/lorien.db" | tr '\n' ' ')" = '3 3 ' ]
ok $? '--policy: two workloads have the same three trials each, and then the run ends'
"$bin/tl-tune" -q -d "$tmp/lorien.db" --policy=lorien,trials=3 --final 0 "$tmp/w.wl" 2>"$tmp/err" && [ "$(trials "$tmp/lorien.db" | tr '\n' ' ')" = '3 3 ' ]
ok $? 'another run of it measures nothing'
"$bin/tl-tune" --print -d "$tmp/s.db" --policy=trimmer,batch=8 "$tmp/w.wl" | grep -q '^while tl-prune .*--policy trimmer,batch=8 '
ok $? 'the script has it, too'
"$bin/tl-tune" --print -d "$tmp/s.db" --race 7ms "$tmp/w.wl" | grep -q 'tl-measure .*--race 0.007s ' && ! "$bin/tl-tune" --print -d "$tmp/s.db" "$tmp/w.wl" | grep -q -- --race
ok $? 'and how long a race takes'
"$bin/tl-tune" -d "$tmp/none.db" --race nonsense "$tmp/w.wl" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && [ ! -e "$tmp/none.db" ]
ok $? 'a race of no time is refused before anything is made'
"$bin/tl-tune" --print -d "$tmp/s.db" --policy=evolution "$tmp/w.wl" >"$tmp/script"
grep -q 'tl-gen .*-n 256 --search evolution' "$tmp/script" && grep -q 'tl-filter --by none' "$tmp/script" && grep -q 'tl-measure --no-preempt' "$tmp/script"
ok $? 'a rival searches, filters and measures in its own way'
"$bin/tl-tune" --print -d "$tmp/s.db" --policy=evolution,race=1 --search=random -n 9 --filter=draft "$tmp/w.wl" >"$tmp/script"
grep -q 'tl-gen .*-n 9 --search random' "$tmp/script" && grep -q 'tl-filter --by draft' "$tmp/script" && ! grep -q 'no-preempt' "$tmp/script"
ok $? 'unless told otherwise'
"$bin/tl-tune" -q -d "$tmp/drawn.db" --policy=random,trials=3 --final 0 "$tmp/w.wl" 2>"$tmp/err" && [ "$(trials "$tmp/drawn.db" | tr '\n' ' ')" = '3 3 ' ]
ok $? 'random has its trials, too'
i=0
for args in '--policy=nosuch' '--policy=trimmer,batch=65' '--policy=lorien --patience=3' '--policy=lorien --min-gain=0'; do
	# shellcheck disable=SC2086
	"$bin/tl-tune" -q -d "$tmp/nosuch.db" $args "$tmp/w.wl" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q '^tl-tune: .*\(one of evolution|\|from 8 to 64\|heeds no --patience\)' "$tmp/err" && [ ! -e "$tmp/nosuch.db" ] && i=$((i + 1))
done
[ "$i" -eq 4 ]
ok $? 'a wrong one is refused before anything is made'

# The limit of time goes to all that keep it, also in the script
"$bin/tl-tune" --print --time 30s "$tmp/w.wl" >"$tmp/script"
[ "$(grep -c "tl-prune.* --until 'seconds<30' --since \"\$since\"" "$tmp/script")" -eq 2 ] && [ "$(grep -c -- ' --reserve ' "$tmp/script")" -eq 1 ]
ok $? '--time: rounds and finals have their part of it'
! "$bin/tl-tune" --print --time 30s --final 0 "$tmp/w.wl" | grep -q -- ' --reserve '
ok $? 'without finals the rounds have it all'
"$bin/tl-tune" --time 1ms -d "$tmp/none.db" "$tmp/w.wl" >"$tmp/table" 2>"$tmp/err" && ! grep -q 'round 1' "$tmp/err" && grep -q '^total' "$tmp/table"
ok $? 'a time that is over at once: no round, but a table'

# Temporary files
long="$tmp/a folder/$(printf '%0240d' 0)"
mkdir -p "$long"
TMPDIR=$long "$bin/tl-tune" -q --no-db --until 'rounds<1' "$tmp/w.wl" 2>"$tmp/err" | grep -q '"stage":"race"' && [ -z "$(ls "$long")" ]
ok $? 'TMPDIR may have a long name, with spaces in it, and is left empty'

# Who chooses
stages() { TL_MODEL='' "$bin/tl-tune" --print "$@" "$tmp/w.wl" | grep '^	.*tl-gen'; }
if [ -f "$bin/../share/models/cpu.model" ]; then
	stages | grep -q 'tl-gen .*--search guided -m pretrained .*tl-filter -m pretrained --by model '
else
	stages | grep -q 'tl-filter --by draft ' # a build elsewhere
fi
ok $? 'the model that came with the programs, if it is there'
TL_MODEL=y.model "$bin/tl-tune" --print "$tmp/w.wl" | grep -q 'tl-filter -m y.model --by model '
ok $? 'or the one that TL_MODEL names'
stages -m none >"$tmp/out" && grep -q 'tl-filter --by draft ' "$tmp/out" && ! grep -q guided "$tmp/out"
ok $? 'or the draft, if no model is wanted'
stages -m x.model -s grid | grep -q 'tl-gen .*--search grid -m x.model .*tl-filter -m x.model --by model '
ok $? 'or what is named'
"$bin/tl-tune" --print -m none --filter=model "$tmp/w.wl" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'wants a model' "$tmp/err"
ok $? 'no model to rank by: a usage error'
TL_MODEL='' "$bin/tl-tune" -q -d "$tmp/bred.db" -b 16 --until 'rounds<1' -o "$tmp/out" "$tmp/w.wl" 2>"$tmp/err" && [ "$(wc -l <"$tmp/out")" -eq 2 ]
ok $? 'by default, for real'
mkdir "$tmp/many"
for i in $(seq 40); do cp "$tmp/w.wl" "$tmp/many/$i.wl"; done
"$bin/tl-tune" -d "$tmp/many.db" --until 'rounds<0' "$tmp"/many/*.wl >"$tmp/table" 2>"$tmp/err" &&
	[ "$("$bin/tl-query" -d "$tmp/many.db" --dump=workloads | wc -l)" -eq 2 ] && grep -q '^total' "$tmp/table"
ok $? '40 files at once'
"$bin/tl-tune" --print "$tmp"/many/*.wl | grep -c '40\.wl' | grep -qx 1
ok $? 'also printed'
here=$PWD
(cd "$tmp" && printf '%%.res: %%.wl\n\t"%s"/tl-tune -q -d m.db -o $@ $<\n' "$(cd "$here" && cd "$bin" && pwd)" >Makefile && make -s w.res 2>err) && [ "$(wc -l <"$tmp/w.res")" -eq 2 ]
ok $? 'a Makefile rule'

# Failures

export TMPDIR="$tmp/t"
mkdir "$TMPDIR"
none_left() { [ -z "$(ls -A "$TMPDIR")" ]; }

# A program that does what a line of shell says, before the others of a folder of their own.
here=$(cd "$bin" && pwd)
mkdir "$tmp/fake"
for f in "$here"/tl-*; do ln -s "$f" "$tmp/fake/"; done
fake() { # program line
	rm "$tmp/fake/$1"
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/fake/$1"
	chmod +x "$tmp/fake/$1"
}

"$bin/tl-tune" --print -d "$tmp/s.db" "$tmp/w.wl" >"$tmp/script"
# With a database of its own: in the other one all may have been tuned already.
"$bin/tl-tune" --print -d "$tmp/fresh.db" "$tmp/w.wl" >"$tmp/fresh"
TL_CC=/nonexistent PATH=$here:$PATH timeout 30 sh "$tmp/fresh" >"$tmp/out" 2>"$tmp/err"
s=$?
[ $s -ne 0 ] && [ $s -ne 124 ] && none_left
ok $? 'the script ends where nothing can be compiled'
TL_CC=/nonexistent timeout 30 "$bin/tl-tune" -q -d "$tmp/fresh.db" "$tmp/w.wl" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '^tl-measure: ' "$tmp/err" && ! grep -q '^tl-filter: ' "$tmp/err" && none_left
ok $? 'and tl-tune with it, and only who failed says so'
{ sleep 0.3; "$bin/tl-gen" "$tmp/w.wl" | "$bin/tl-filter" -k 1000 2>"$tmp/err"; echo $? >"$tmp/status"; } | :
[ "$(cat "$tmp/status")" -eq 0 ] && ! [ -s "$tmp/err" ]
ok $? 'tl-filter without a reader ends quietly'
fake tl-prune 'exit 3'
PATH=$tmp/fake:$PATH timeout 30 sh "$tmp/script" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '^conv2d' "$tmp/out"
ok $? 'the script ends as tl-prune fails, with a table'
fake tl-prune 'exit 1'
PATH=$tmp/fake:$PATH timeout 30 sh "$tmp/script" >"$tmp/out" 2>"$tmp/err"
ok $? 'and well when it has enough'
exec 9<>"${TL_LOCKS:-/tmp}/tl-cpu.lock" 2>/dev/null || exec 9<"${TL_LOCKS:-/tmp}/tl-cpu.lock"
if flock 9; then
	timeout 60 "$bin/tl-tune" --no-wait -q --no-db "$tmp/w.wl" 9<&- >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 75 ] && grep -q 'another run' "$tmp/err" && none_left
	ok $? '--no-wait: exit 75 while another run is timing'
	flock -u 9
fi
exec 9<&-

# Deaths

printf 'op,prob\nconv2d,mb1_ic64ih28_oc64oh28_kh3ph1\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w.wl" # takes seconds to time
"$bin/tl-tune" -q -d "$tmp/k.db" -b 12 --patience 1000 --min-gain 0 "$tmp/w.wl" 2>/dev/null &
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
# A stage may have something to bring to an end.
i=0
while
	left=0
	for c in $children; do
		[ -e "/proc/$c" ] && ! grep -q '^State:.Z' "/proc/$c/status" && left=1
	done
	[ $left -eq 1 ] && [ $i -lt 300 ]
do
	sleep 0.1
	i=$((i + 1))
done
ok $left 'tl-tune killed: nothing is left running'
"$bin/tl-store" --check -d "$tmp/k.db"
ok $? 'and the database is whole'
results "$tmp/k.db" >"$tmp/before"
[ -s "$tmp/before" ]
ok $? 'and holds what was measured'
"$bin/tl-tune" -q -d "$tmp/k.db" --min-gain 0 --until 'candidates<4' "$tmp/w.wl" 2>/dev/null
ok $? 'tunes again'
results "$tmp/k.db" >"$tmp/after"
[ "$(comm -23 "$tmp/before" "$tmp/after" | wc -l)" -eq 0 ]
ok $? 'and nothing is lost'
timeout -s INT --preserve-status 4 "$bin/tl-tune" -q -d "$tmp/k.db" --patience 1000 --min-gain 0 -b 12 "$tmp/w.wl" 2>/dev/null
[ $? -eq 130 ]
ok $? 'SIGINT: ends by the signal'
results "$tmp/k.db" | comm -23 "$tmp/after" - | wc -l | grep -qx 0
ok $? 'and what was measured stays'
# With a table, for whoever pressed the keys. A shell without job control starts what runs behind it deaf to SIGINT.
interrupted() { # options: of a run that has measured something; its output in $tmp/out, and on stderr in $tmp/err
	rm -f "$tmp/i.db"
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$bin/tl-tune" "$@" -d "$tmp/i.db" -b 12 --patience 1000 --min-gain 0 "$tmp/w.wl" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	i=0
	while [ "$("$bin/tl-query" -d "$tmp/i.db" --dump=results 2>/dev/null | wc -l)" -eq 0 ] && [ $i -lt 400 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	kill -INT $pid
	wait $pid
	[ $? -eq 130 ]
}
rm -rf "${TMPDIR:?}"/* # of the one that was killed
interrupted && grep -q '^conv2d .*raced only' "$tmp/out" && grep -q '^total ' "$tmp/out" && none_left
ok $? 'with the table so far'
grep -q "^tl-tune: stopped: $(results "$tmp/i.db" | wc -l) results* of this run [a-z]* stored in $tmp/i.db; run it again to go on\$" "$tmp/err"
ok $? 'and with what is stored'
interrupted -q && [ ! -s "$tmp/out" ] && ! grep -q 'stopped\|round\|warning' "$tmp/err"
ok $? 'but silently with -q'
interrupted -o "$tmp/best" && [ ! -s "$tmp/out" ] && [ ! -e "$tmp/best" ] && grep -q '^tl-tune: stopped: ' "$tmp/err"
ok $? 'and with -o there is no file of a run that was not finished'
"$bin/tl-tune" --print -d "$tmp/i.db" "$tmp/w.wl" >"$tmp/script"
fake tl-prune 'kill -INT $PPID; exit 3'
PATH=$tmp/fake:$PATH timeout 30 sh "$tmp/script" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 130 ] && grep -q '^total ' "$tmp/out" && grep -q "^stopped: .* $tmp/i.db; run this again to go on" "$tmp/err"
ok $? 'and so does the script'
rm -rf "${TMPDIR:?}"/*
for sig in INT TERM; do
	num=15
	[ $sig = INT ] && num=2
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$bin/tl-tune" -q --no-db -b 12 --patience 1000 --min-gain 0 "$tmp/w.wl" >"$tmp/out" 2>/dev/null &
	pid=$!
	i=0
	while ! "$bin/tl-query" -d "$TMPDIR"/tl-tune-*/db --dump=results 2>/dev/null | grep -q '"stage":"race"' && [ $i -lt 400 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	kill -$sig $pid
	wait $pid
	[ $? -eq $((128 + num)) ] && grep -q '"stage":"race"' "$tmp/out" && "$bin/tl-check" -q "$tmp/out" && none_left
	ok $? "SIG$sig with --no-db: what was measured is written, and the folder removed"
done
printf 'garbage' >"$tmp/g.onnx"
"$bin/tl-tune" -q -d "$tmp/k.db" "$tmp/w.wl" "$tmp/g.onnx" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '^tl-extract: .*g.onnx' "$tmp/err" && grep -q 'nothing is tuned' "$tmp/err" && none_left
ok $? 'one that is no model: exit 3, and nothing is tuned'
for limit in nonsense 5m 'rounds<' 'rounds=3' 'rounds<3,' 'rounds<3x' 'seconds<inf' 'seconds<nan' 'seconds<0x10' 'seconds< 5' 'seconds<+5' \
	'seconds<1e999'; do
	"$bin/tl-tune" -d "$tmp/limits.db" --until "$limit" "$tmp/w.wl" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q '^tl-tune: --until wants limits' "$tmp/err" && [ ! -e "$tmp/limits.db" ] && [ ! -s "$tmp/out" ]
	ok $? "bad limits ($limit) are refused before anything is made"
done
"$bin/tl-tune" -q -d "$tmp/few.db" --min-gain 0 --until 'candidates<5' --final 0 "$tmp/w.wl" 2>"$tmp/err" &&
	[ "$("$bin/tl-query" -d "$tmp/few.db" --dump=results | cut -d'"' -f10 | sort -u | wc -l)" -eq 5 ]
ok $? 'a limit of candidates is held exactly'
"$bin/tl-tune" -d "$tmp/new.db" -o "$tmp/few.db" "$tmp/w.wl" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '^tl-tune: .*few.db is there and is not replaced: this is a database' "$tmp/err" && [ ! -e "$tmp/new.db" ]
ok $? 'an output that is a database is refused before anything is measured'
"$bin/tl-tune" --print --reprobe -d "$tmp/p.db" "$tmp/w.wl" | grep -qx 'tl-measure --reprobe /dev/null'
ok $? '--reprobe is a step of its own'
"$bin/tl-tune" --reprobe --replay "$tmp/k.db" --no-db "$tmp/w.wl" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'reprobe' "$tmp/err"
ok $? 'which no simulation has'
"$bin/tl-tune" --print --time 90s "$tmp/w.wl" >"$tmp/out" && grep -q 'seconds<90' "$tmp/out"
ok $? '--time is a limit of seconds'

# Few shots: tl-query has what nobody has measured tuned for a given time, and answers with what is known then.
few() { # options of tl-query
	env TMPDIR="$tmp/few-shots" ${no_cc:+TL_CC=/nonexistent} timeout 120 "$bin/tl-query" -q --predict -d "$tmp/few-shots.db" "$@" >"$tmp/out" 2>"$tmp/err"
}
mkdir "$tmp/few-shots"
printf 'op,prob\nconv2d,mb1_ic8ih9_oc16oh9_kh3ph1\nmatmul,12x20:20x24\n' | "$bin/tl-extract" -q --format csv >"$tmp/few.wl"
few --budget 60s "$tmp/few.wl" && [ "$(grep '"status":"ok"' "$tmp/out" | grep -c '"match":"exact"')" -eq 2 ] && [ ! -s "$tmp/err" ] && "$bin/tl-check" -q "$tmp/out"
ok $? 'tl-query --budget: the answers are measured' || sed 's/^/# /' "$tmp/err"
results "$tmp/few-shots.db" >"$tmp/before"
cp "$tmp/out" "$tmp/first"
no_cc=1
few --budget 60s "$tmp/few.wl" && cmp -s "$tmp/first" "$tmp/out"
ok $? 'what is known is not measured again, which needs no compiler'
no_cc=
few --budget 60s --op=matmul --prob=7x9:9x11 && [ "$(grep -c '"prob":"7x9:9x11".*"match":"exact"' "$tmp/out")" -eq 1 ]
ok $? 'nor beside what is not known'
results "$tmp/few-shots.db" | grep -v '"prob":"7x9:9x11"' | cmp -s - "$tmp/before"
ok $? 'which alone is stored'
few --budget 1ms --op=matmul --prob=17x9:9x11
[ $? -eq 4 ] && grep -q '"match":"\(nearest\|default\)"' "$tmp/out"
ok $? 'no time: a prediction'
no_cc=1
few --budget 60s --op=matmul --prob=18x9:9x11
[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q '^tl-' "$tmp/err"
ok $? 'without a compiler nothing is measured, and that is said'
exec 9<>"${TL_LOCKS:-/tmp}/tl-cpu.lock" 2>/dev/null || exec 9<"${TL_LOCKS:-/tmp}/tl-cpu.lock"
flock 9
(exec 9<&- && TMPDIR="$tmp/few-shots" timeout 120 "$bin/tl-query" --predict -d "$tmp/few-shots.db" --budget 1s --op=matmul --prob=19x9:9x11 >"$tmp/out" 2>"$tmp/err")
[ $? -eq 4 ] && grep -q '"prob":"19x9:9x11".*"match":"\(nearest\|default\)"' "$tmp/out" && ! grep -q '^tl-measure' "$tmp/err" &&
	grep -q "^tl-query: warning: the time is over before tuning has ended: another run is timing on this machine's cpu.*; what was not measured by then is predicted$" "$tmp/err"
ok $? 'another run has the machine: a prediction when the time is over' || sed 's/^/# /' "$tmp/err"
flock -u 9
exec 9<&-
bad=0
for options in '' '--predict --env e1000000000000000000000000000000'; do
	# shellcheck disable=SC2086 # several options
	"$bin/tl-query" -d "$tmp/few-shots.db" $options --budget 1s "$tmp/few.wl" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q -e '--budget belongs to --predict' "$tmp/err" || bad=1
done
ok $bad '--budget is for predictions of this machine'
[ -z "$(find "$tmp/few-shots" -mindepth 1)" ]
ok $? 'its folder is removed'
echo "1..$n"
