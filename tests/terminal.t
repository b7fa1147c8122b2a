#!/bin/sh
# What programs say on a terminal while they work, and that they do not where there is none.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB TL_CC NO_COLOR
export TERM=xterm TL_CACHE="$tmp/cache"

printf 'op,prob,layout,post,count\nmatmul,12x20:20x24,ab,bias,1\nconv2d,mb1_ic8ih9_oc16oh9_kh3ph1,nhwc,bias,2\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" >"$tmp/w"
"$bin/tl-gen" -n 3 "$tmp/w" >"$tmp/c"

"$bin/tl-measure" --final 0 "$tmp/c" >"$tmp/r" 2>"$tmp/err" && [ -s "$tmp/r" ] && [ ! -s "$tmp/err" ]
ok $? 'where there is no terminal tl-measure says nothing'

# Colours of tl-tune's table: what tl-query is told.
script=$("$bin/tl-tune" --print -d "$tmp/db" --wide --color=never "$tmp/w")
echo "$script" | grep -q 'tl-query .*--table --wide --color never'
ok $? 'tl-tune hands --wide and --color on'
script=$("$bin/tl-tune" -q --print --no-db "$tmp/w")
[ "$(echo "$script" | grep -o 'tl-[a-z]* -q' | sort -u | tr '\n' ' ')" = 'tl-extract -q tl-filter -q tl-gen -q tl-measure -q tl-query -q tl-store -q ' ]
ok $? 'and -q'

if ! has_terminal; then
	skip_terminal "what programs say on a terminal"
	echo "1..$n"
	exit
fi

# A command on a terminal of so many columns: what came to it, a line for each that was written in place.
on_terminal() { # columns command
	script -qec "stty cols $1; $2" /dev/null </dev/null | tr '\r' '\n' | sed 's/\x1b\[K//g' >"$tmp/shown"
}
fits() { # columns
	awk -v most="$1" 'length >= most { print "# too long: " $0; bad = 1 } END { exit bad }' "$tmp/shown"
}

on_terminal 60 "$bin/tl-measure --final 1 $tmp/c >$tmp/r"
grep -q '^measuring [0-9]* of 6, 0:[0-9][0-9]' "$tmp/shown" && grep -q '"stage":"final"' "$tmp/r"
ok $? 'tl-measure: how many of all, and for how long'
grep -q '^comparing with the library [0-9] of 2, ' "$tmp/shown"
ok $? 'and in its finals'
fits 60
ok $? 'on 60 columns'
on_terminal 25 "$bin/tl-measure --final 0 $tmp/c >$tmp/r"
grep -q '^measuring ' "$tmp/shown" && fits 25
ok $? 'and on 25'
on_terminal 60 "$bin/tl-measure -q --final 0 $tmp/c >$tmp/r"
! grep -q . "$tmp/shown" && [ -s "$tmp/r" ]
ok $? 'nothing with -q'

on_terminal 80 "$bin/tl-tune -d $tmp/db --time 1m --until 'rounds<1' -b 4 --final 1 $tmp/w"
grep -q '^round 1, 0:[0-9][0-9] of 1:00: [a-z]' "$tmp/shown"
ok $? 'tl-tune: its rounds and its time stand before what is done'
grep -q '^finals, 0:[0-9][0-9] of 1:00: comparing with the library ' "$tmp/shown"
ok $? 'and its finals'
grep -q '^tl-tune: round 1: [12] workloads*, 0:[0-9][0-9] of 1:00$' "$tmp/shown"
ok $? 'a line of each round stays'
# The library's time and the incumbent's are known now.
"$bin/tl-prune" -d "$tmp/db" "$tmp/w" 2>/dev/null | "$bin/tl-gen" -d "$tmp/db" -n 3 | "$bin/tl-filter" -k 3 >"$tmp/c2" 2>/dev/null
grep -q '"opponent":{[^}]*"latency_s":[0-9.e-]*}' "$tmp/c2"
ok $? 'tl-prune tells how long the library took'
on_terminal 100 "$bin/tl-measure --final 0 $tmp/c2 >$tmp/r"
grep -q '^measuring .*, [0-9]*\.[0-9][0-9] x library, ' "$tmp/shown"
ok $? 'so that the line tells how the best so far stand against it'
"$bin/tl-tune" -q -d "$tmp/db" --min-gain 0 --until 'rounds<2' -b 4 "$tmp/w" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
ok $? 'with -q nothing at all'

# A big archive, which comes slowly
mkfifo "$tmp/fifo"
{
	tar -C "$tmp" -cf - w.csv >"$tmp/w.tar"
	head -c 1024 "$tmp/w.tar"
	sleep 1
	tail -c +1025 "$tmp/w.tar"
} >"$tmp/fifo" &
on_terminal 60 "$bin/tl-extract $tmp/fifo >$tmp/x"
wait
grep -q '^reading 0:0[0-9]' "$tmp/shown" && grep -q '"op":"matmul"' "$tmp/x" && fits 60
ok $? 'tl-extract: what it reads, and for how long'

"$bin/tl-query" -d "$tmp/db" --dump=results >"$tmp/results"
on_terminal 60 "$bin/tl-train --trials 2 --bag 1 $tmp/results -o $tmp/model"
grep -q '^\(holding out folds\|choosing the model\) [0-9] of 5, .*configuration [0-9]' "$tmp/shown" &&
	sed -i '/^holding\|^choosing/!d' "$tmp/shown" && fits 60
ok $? 'tl-train: what it does'

# Standard input
for command in tl-train tl-check tl-store\ -d\ "$tmp/y.db"; do
	script -qec "$bin/$command" /dev/null </dev/null >"$tmp/out" 2>&1
	grep -q "^${command%% *}: reading records from standard input" "$tmp/out"
	ok $? "${command%% *}: a terminal is told what it is waited for"
done
script -qec "$bin/tl-extract" /dev/null </dev/null >"$tmp/out" 2>&1
grep -q '^tl-extract: reading a model from standard input' "$tmp/out"
ok $? 'and tl-extract'
echo "1..$n"
