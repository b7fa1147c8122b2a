#!/bin/sh
# tl-gen: what it proposes, that it repeats itself exactly, and what it never proposes.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

candidates() { grep '^{"tl":1,"type":"candidate"' "$@"; }
ids() { candidates "$@" | cut -d'"' -f10; }
gen() { "$bin/tl-gen" "$@"; }

wls=${0%/*}/workloads.ndjson
printf '%s\n' '{"tl":1,"type":"workload","op":"matmul","prob":"5x6:6x7"}' >"$tmp/small"
"$bin/tl-check" --fix "$tmp/small" >"$tmp/one" || exit 1

# The time of a round
sed 's/"type":"workload",/&"until":"2001-01-01T00:00:00.000Z",/' "$wls" >"$tmp/late"
gen -n 3 "$tmp/late" >"$tmp/a" && [ -z "$(candidates "$tmp/a")" ] && [ "$(grep -c '"drawn":0,"why":"out of time"' "$tmp/a")" -eq 3 ]
ok $? 'when it is over nothing is proposed'
sed 's/2001-/9999-/' "$tmp/late" >"$tmp/early"
gen -n 3 "$tmp/early" >"$tmp/a" && [ "$(candidates "$tmp/a" | wc -l)" -eq 9 ]
ok $? 'before that nothing changes'
sed 's/2001-/soon-/' "$tmp/late" | gen -n 3 >"$tmp/a" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '"until" is no time' "$tmp/err"
ok $? 'what is no time is refused'

# The stream
gen -n 300 "$wls" >"$tmp/a" && gen -n 300 "$wls" >"$tmp/b" && cmp -s "$tmp/a" "$tmp/b"
ok $? 'the same seed gives the same stream'
gen -n 300 --seed 2 "$wls" >"$tmp/b" && ! cmp -s "$tmp/a" "$tmp/b"
ok $? 'another seed gives another'
[ "$(candidates "$tmp/a" | wc -l)" -eq 900 ] && [ "$(ids "$tmp/a" | sort -u | wc -l)" -eq 900 ]
ok $? '-n 300 gives 300 different candidates a workload'
"$bin/tl-check" "$tmp/a" >"$tmp/c" 2>"$tmp/err" && cmp -s "$tmp/a" "$tmp/c"
ok $? 'tl-check finds nothing wrong and nothing to change'
grep '"type":"workload"' "$tmp/a" | cmp -s - "$wls"
ok $? 'workloads pass byte for byte'
awk -F'"' '/"type":"workload"/ { if (open) exit 1; id = $10; open = 1; seen = 0; next }
	/"type":"candidate"/ { if (!open || $16 != id) exit 1; seen++; next }
	/"type":"end"/ { if (!open || $10 != id || $0 !~ "\"drawn\":" seen "[,}]") exit 1; open = 0; next }
	END { if (open) exit 1 }' "$tmp/a"
ok $? 'each group is its workload, its candidates and its end'
! gen -n 300 -a direct "$wls" | candidates | grep -qv '"algo":"direct"'
ok $? '--algo limits the algorithm'
gen --algo nosuch "$wls" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q nosuch "$tmp/err"
ok $? 'an unknown algorithm is a usage error'

# Hints and lists
hint() { # sentence, option..
	sentence=$1
	shift
	"$bin/tl-gen" "$@" </dev/null >/dev/null 2>"$tmp/err"
	[ $? -eq 2 ] && grep -qF -e "$sentence" "$tmp/err"
}
hint 'there is no algorithm "winogard"; did you mean winograd?' -a winogard && ! hint 'did you mean' -a xyz
ok $? 'a name that is nearly right gets a hint, another none'
hint 'there is no option --saerch; did you mean --search? (see' --saerch=grid && hint 'there is no option --no-such (see' --no-such &&
	hint '--list is not the only option that begins so' --list
ok $? 'and so does an option'
mend() { # sentence, record
	printf '%s\n' "$2" | "$bin/tl-check" >/dev/null 2>"$tmp/err"
	grep -qF "$1" "$tmp/err"
}
mend 'there is no operator "conv2"; did you mean conv2d?' '{"tl":1,"type":"workload","op":"conv2","prob":"ic3"}'
ok $? 'an operator'
knobs=$(gen -n 1 -a gemm "$tmp/one" | candidates | head -n 1 | sed "s/,\"trim\":1//")
mend 'algorithm gemm has no knob "unrol"; did you mean unroll?' "$(printf '%s' "$knobs" | sed 's/"unroll":/"unrol":/')"
ok $? 'and a knob'
"$bin/tl-gen" --list-algos >"$tmp/list" && [ "$(awk 'NR > 1 { print $1 }' "$tmp/list" | tr '\n' ' ')" = 'depthwise dequantize direct direct_bf16x2 gemm gemm_bf16x2 grouped planar strassen winograd ' ]
ok $? '--list-algos'
"$bin/tl-gen" --list-knobs -a gemm >"$tmp/list" && [ "$(awk 'NR > 1 { print $2 }' "$tmp/list" | head -n 3 | tr '\n' ' ')" = 'vl nv mr ' ] &&
	[ "$(printf '%s' "$knobs" | grep -o '"knobs":{[^}]*' | tr ',' '\n' | wc -l)" -eq "$(($(grep -Ecv '^gemm +(trim|wide|depth) ' "$tmp/list") - 1))" ] &&
	grep -q '^gemm  *wide ' "$tmp/list" && grep -q '^gemm  *depth ' "$tmp/list"
ok $? '--list-knobs lists all that a candidate has, and those that it lacks in f32'

# The whole space
gen -n 0 "$tmp/one" >"$tmp/random" && gen -n 0 --search=grid "$tmp/one" >"$tmp/grid" &&
	ids "$tmp/random" | sort >"$tmp/r" && ids "$tmp/grid" | sort >"$tmp/g" &&
	[ "$(wc -l <"$tmp/g")" -gt 50 ] && cmp -s "$tmp/r" "$tmp/g" && [ -z "$(uniq -d "$tmp/r")" ]
ok $? '-n 0 covers the space, every point once, in either order'
! cmp -s "$tmp/random" "$tmp/grid"
ok $? 'random is another order than grid'
tail -n 1 "$tmp/random" | grep -q "\"drawn\":$(wc -l <"$tmp/r"),\"why\":\"space exhausted\""
ok $? 'the end says that the space is exhausted'
gen -n 7 "$tmp/one" | tail -n 1 | grep -q '"drawn":7,"why":"n reached"'
ok $? 'or that n is reached'

# A workload written by hand
gen -n 40 "$tmp/small" >"$tmp/out" && gen -n 40 "$tmp/one" | sed 1d >"$tmp/want" && sed 1d "$tmp/out" | cmp -s - "$tmp/want" &&
	head -n 1 "$tmp/out" | grep -qxF "$(sed 's/}$//' "$tmp/small"),$(grep -o '"workload_id":"[0-9a-f]*"' "$tmp/one")}"
ok $? 'a workload written by hand gets its id, the rest of the line stays'
"$bin/tl-filter" -k 3 "$tmp/out" >"$tmp/kept" 2>"$tmp/err" && [ "$(candidates "$tmp/kept" | wc -l)" -eq 3 ] &&
	"$bin/tl-store" -d "$tmp/hand.db" "$tmp/kept" 2>>"$tmp/err" | cmp -s - "$tmp/kept"
ok $? 'and goes through tl-filter and tl-store' || sed 's/^/# /' "$tmp/err"

# What lies on the way
printf '%s\n' '{"tl":1,"type":"novel","a":null}' | cat - "$tmp/one" | gen -n 1 | head -n 1 |
	grep -qxF '{"tl":1,"type":"novel","a":null}'
ok $? 'records of other types pass'
{ cat "$tmp/one"; echo junk; cat "$wls"; } | gen -n 2 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':2:' "$tmp/err" && [ "$(candidates "$tmp/out" | wc -l)" -eq 8 ]
ok $? 'a bad line is an error with its number, and the stream goes on'
sed 's/}$/,"prune":{"action":"stop","reason":"r"}}/' "$tmp/one" >"$tmp/stop"
gen "$tmp/stop" >"$tmp/out" && [ "$(wc -l <"$tmp/out")" -eq 2 ] && head -n 1 "$tmp/out" | cmp -s - "$tmp/stop" &&
	tail -n 1 "$tmp/out" | grep -q '"type":"end".*"drawn":0'
ok $? 'a workload that is to stop gets no candidates'
sed 's/}$/,"round":1}/' "$tmp/one" | gen -n 20 | ids >"$tmp/r1"
gen -n 20 "$tmp/one" | ids >"$tmp/r0"
[ -s "$tmp/r1" ] && ! cmp -s "$tmp/r0" "$tmp/r1"
ok $? 'another round is another stream'
(
	gen -n 0 "$wls" 2>"$tmp/err"
	echo $? >"$tmp/status"
) | head -n 1 >"$tmp/out"
[ "$(cat "$tmp/status")" = 0 ] && [ ! -s "$tmp/err" ] && [ -s "$tmp/out" ]
ok $? 'a closed pipe ends it quietly with status 0'

# History: of the whole space, results of each status for the first ones of the grid
result() { # status: candidates on stdin become results
	sed -e 's/"type":"candidate"/"type":"result"/' \
		-e "s/}\$/,\"status\":\"$1\",\"why\":\"w\",\"stage\":\"race\",\"latency_s\":1,\"bound\":\"lower\",\"error\":{\"l2\":0,\"max\":0},\"env_id\":\"e0000000000000000000000000000000\",\"run\":\"${2}000000000000000000000000000000\",\"at\":\"2026-01-01T00:00:00.000Z\"}/"
}
line() { candidates "$tmp/grid" | sed -n "$1p"; }
: >"$tmp/history"
i=1
for status in ok preempted wrong unsupported build filtered timeout oom crash; do
	line $i | result $status a1 >>"$tmp/history"
	i=$((i + 1))
done
line 9 | result crash a2 >>"$tmp/history"
cat "$tmp/history" "$tmp/one" | gen -n 0 >"$tmp/out"
ids "$tmp/out" | sort >"$tmp/got"
for i in 1 2 3 4 5 9; do line $i; done | cut -d'"' -f10 | sort >"$tmp/known"
comm -23 "$tmp/g" "$tmp/known" | cmp -s - "$tmp/got"
ok $? 'what results before the workload make known is not proposed; one failure is not final'
! grep -q '"type":"result"' "$tmp/out"
ok $? 'those results are consumed'
cat "$tmp/history" "$tmp/one" | gen -n 0 --env 0e000000000000000000000000000000 | ids | sort | cmp -s - "$tmp/g"
ok $? 'results of another env are no history'
cat "$tmp/history" "$tmp/one" | "$bin/tl-store" -q -d "$tmp/db" 2>"$tmp/err" &&
	gen -n 0 -d "$tmp/db" --env e0000000000000000000000000000000 "$tmp/one" | ids | sort | cmp -s - "$tmp/got"
ok $? 'a database makes the same known' || sed 's/^/# /' "$tmp/err"
gen -n 1 -d "$tmp/none" "$tmp/one" 2>"$tmp/err" | candidates >"$tmp/out" && grep -q none "$tmp/err" && [ ! -e "$tmp/none" ]
ok $? 'a database that is not there is said, not made'
gen -n 5 -o "$tmp/file" "$tmp/one" && [ "$(candidates "$tmp/file" | wc -l)" -eq 5 ]
ok $? '-o writes a file'

# Another program decides
cat >"$tmp/chooser" <<'END'
# Proposes all values of mr with the first of all others; says what it was asked on stderr.
while (<STDIN>) {
	print STDERR $_;
	next if !/"type":"space","algo":"([^"]*)","knobs":\{(.*)\}\}/;
	my ($algo, %knob) = $1;
	my $text = $2;
	$knob{$1} = [split /,/, $2] while $text =~ /"(\w+)":\[([^\]]*)\]/g;
	for my $mr (@{$knob{mr}}) {
		print "{\"algo\":\"$algo\",\"knobs\":{", join(',', map { "\"$_\":" . ($_ eq 'mr' ? $mr : $knob{$_}[0]) } sort keys %knob), "}}\n" for 1, 2;
	}
	print "{\"algo\":\"$algo\",\"knobs\":{\"mr\":777}}\n";
}
END
gen -n 0 --search="exec:perl $tmp/chooser" "$tmp/one" >"$tmp/out" 2>"$tmp/err"
ok $? 'another program may decide'
"$bin/tl-check" -q "$tmp/out" && [ "$(candidates "$tmp/out" | wc -l)" -gt 1 ] && [ -z "$(ids "$tmp/out" | sort | uniq -d)" ]
ok $? 'and what it proposes twice, or is not in the space, is passed over'
grep -q '"type":"ask","n":0,"seed":1,"round":0}' "$tmp/err" && grep "^tl-gen: warning" "$tmp/err" >"$tmp/other" && head -n 1 "$tmp/err" | grep -q '^{"tl":1,"type":"workload","workload_id"'
ok $? 'it is told what is wanted'
nmr=$("$bin/tl-gen" -n 0 -a gemm --search=grid "$tmp/one" | candidates | grep -o '"mr":[0-9]*' | sort -u | wc -l)
grep -q "chooser: of [0-9]* proposals for 5x6:6x7, [0-9]* were passed over: .*not in the space (the first: [a-z]* of [a-z]* is [0-9]*, which is none of its values here)" "$tmp/other" &&
	[ "$nmr" -gt 1 ]
ok $? 'and that is told, with what was wrong with the first'
passed_over() { tail -n 1 "$1" | sed -n 's/.*"why":"no more proposed","passed_over":\([0-9]*\)}$/\1/p'; }
sum=$(sed -n 's/.*passed over: //p' "$tmp/other" | grep -o '[0-9]* \(not in\|that make\|proposed before\|known\)' | awk '{ n += $1 } END { print n }')
[ "$(passed_over "$tmp/out")" = "$sum" ] && [ "$sum" -gt 2 ] &&
	[ "$(sed -n 's/.* of \([0-9]*\) proposals.*/\1/p' "$tmp/other")" -eq "$(($(candidates "$tmp/out" | wc -l) + sum))" ]
ok $? 'the end record counts them; what was proposed is candidates and these'
propose() { # lines of proposals: the candidates, or why the first was passed over
	printf '%s\n' "$@" >"$tmp/lines"
	gen -n 0 -a gemm --search="exec:cat >/dev/null; cat $tmp/lines" "$tmp/one" >"$tmp/out" 2>"$tmp/err" &&
		sed -n 's/.*the first: \(.*\)).*/\1/p' "$tmp/err"
}
[ "$(propose '{"algo":"gemm","knobs":{"unrol":2}}')" = 'algorithm gemm has no knob "unrol"; did you mean unroll?' ] &&
	[ "$(propose '{"algo":"gemm","knobs":{"vl":"8"}}')" = 'knob "vl" is not an integer' ] &&
	[ "$(propose '{"algo":"direct","knobs":{}}')" = 'algorithm direct does not apply to this workload' ]
ok $? 'a knob that there is not, a value that is none, and an algorithm that does not apply are told'
# Every point of the space, as its records list it.
cat >"$tmp/lister" <<'END'
while (<STDIN>) {
	next if !/"type":"space","algo":"([^"]*)","knobs":\{(.*)\}\}/;
	my ($algo, $text, @point) = ($1, $2, '');
	while ($text =~ /"(\w+)":\[([^\]]*)\]/g) {
		my ($knob, @value) = ($1, split /,/, $2);
		@point = map { my $p = $_; map { ($p ? "$p," : '') . "\"$knob\":$_" } @value } @point;
	}
	pop @point if @ARGV;
	print "{\"algo\":\"$algo\",\"knobs\":{$_}}\n" for @point;
}
END
gen -n 0 -a gemm --search="exec:perl $tmp/lister" "$tmp/one" >"$tmp/out" 2>"$tmp/err" && ids "$tmp/out" | sort >"$tmp/got" &&
	gen -n 0 -a gemm --search=grid "$tmp/one" | ids | sort | cmp -s - "$tmp/got" && tail -n 1 "$tmp/out" | grep -q '"why":"space exhausted","passed_over":' &&
	grep -q 'that make no program (the first: gemm: [a-z]' "$tmp/err"
ok $? 'the space is exhausted where all of it was proposed'
gen -n 0 -a gemm --search="exec:perl $tmp/lister 1" "$tmp/one" 2>/dev/null | tail -n 1 | grep -q '"why":"no more proposed"'
ok $? 'and where a point is missing it is not'
gen -n 2 --search='exec:perl '"$tmp/chooser"'; sleep 100' "$tmp/one" 2>"$tmp/err" >"$tmp/b" && [ "$(candidates "$tmp/b" | wc -l)" -eq 2 ]
ok $? 'when there are enough, it is stopped'
gen --search='exec:exit 7' "$tmp/one" >"$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'ended with status 7' "$tmp/err"
ok $? 'its failure is an error'
gen --search='exec:echo nonsense' "$tmp/one" >"$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'proposes' "$tmp/err"
ok $? 'so is what is no proposal'
gen --search='exec:echo '\''{"algo":"gem","knobs":{}}'\' "$tmp/one" >"$tmp/b" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'proposes the unknown algorithm "gem"; did you mean gemm?' "$tmp/err"
ok $? 'and one with an algorithm that does not exist'
gen --search=nosuch "$tmp/one" >"$tmp/b" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'exec:COMMAND, grid, guided, portfolio, random' "$tmp/err"
ok $? 'a strategy that is none is a usage error that names those there are'

# What other machines know
measured_there() { # candidates, each faster than the one before
	awk '/"type":"candidate"/ {
		sub(/"type":"candidate"/, "\"type\":\"result\"")
		sub(/}$/, sprintf(",\"status\":\"ok\",\"stage\":\"race\",\"latency_s\":%.9g,\"error\":{\"l2\":0,\"max\":0},\"env_id\":\"7e000000000000000000000000000000\",\"run\":\"a3000000000000000000000000000000\",\"at\":\"2026-11-21T09:00:00.000Z\"}", 1e-3 / ++n))
		print
	}'
}
gen -n 20 "$tmp/one" | measured_there >"$tmp/there"
"$bin/tl-store" -q -d "$tmp/db" "$tmp/there"
grep -o '"candidate_id":"[^"]*"' "$tmp/there" | tail -n 8 | sed '1!G;h;$!d' | cut -d'"' -f4 >"$tmp/best"
gen -n 12 -d "$tmp/db" --env 4e000000000000000000000000000000 "$tmp/one" >"$tmp/b" && ids "$tmp/b" | head -n 8 | cmp -s - "$tmp/best" &&
	[ "$(ids "$tmp/b" | sort -u | wc -l)" -eq 12 ]
ok $? 'the eight best of another env come first, best first, and not twice'
gen -n 3 -d "$tmp/db" --env 4e000000000000000000000000000000 "$tmp/one" >"$tmp/b" && [ "$(ids "$tmp/b" | wc -l)" -eq 3 ]
ok $? 'but never more than are wanted'
gen -n 20 -d "$tmp/db" --env 7e000000000000000000000000000000 "$tmp/one" >"$tmp/b" && ! ids "$tmp/b" | grep -qxFf "$tmp/best"
ok $? 'those of this env are not proposed again'
# What near workloads of this machine know: the one at hand is 5x6:6x7.
near() { # problem: a result of a workload like it
	printf '{"tl":1,"type":"workload","op":"matmul","prob":"%s"}\n' "$1" | "$bin/tl-check" --fix | gen -n 1 --seed "$2" | measured_there
}
for i in 1 2 3 4; do near "$((5 * i + 1))x6:6x7" "$i"; done >"$tmp/near"
sed 's/"incumbent":true//; s/"stage":"race"/&,"incumbent":true/' "$tmp/near" >"$tmp/there"
"$bin/tl-store" -q -d "$tmp/near.db" "$tmp/there"
neighbours() { gen -n 9 --search=guided -m none -d "$tmp/near.db" --env 7e000000000000000000000000000000 "$@"; }
neighbours "$tmp/one" >"$tmp/a" && [ "$(grep -c '"match":"nearest"' "$tmp/a")" -eq 2 ] && candidates "$tmp/a" | sed -n '1p;2p' | grep -c '"match":"nearest"' | grep -qx 2 &&
	[ "$(ids "$tmp/a" | sort -u | wc -l)" -eq 9 ]
ok $? 'the best of two near workloads come first'
{ cat "$tmp/one"; candidates "$tmp/a" | head -n 2 | measured_there; } >"$tmp/known"
"$bin/tl-store" -q -d "$tmp/near.db" "$tmp/known"
neighbours "$tmp/one" >"$tmp/b" && [ "$(grep -c '"match":"nearest"' "$tmp/b")" -le 1 ] && ! { ids "$tmp/b"; candidates "$tmp/a" | head -n 2 | ids; } | sort | uniq -d | grep -q .
ok $? 'then a third, once'
gen -n 9 -d "$tmp/near.db" --env 7e000000000000000000000000000000 "$tmp/one" >"$tmp/b" && ! grep -q '"match":"nearest"' "$tmp/b"
ok $? 'a search that draws at random heeds none'
# Where the draft alone judges, few of the first have the same value.
printf '%s\n' '{"tl":1,"type":"workload","op":"conv2d","prob":"mb1_ic64ih56_oc64oh56_kh3ph1","dtype":"u8:s8:u8","layout":"nhwc","post":["bias","scale","relu"]}' |
	"$bin/tl-check" --fix | gen -n 40 --search=guided --arch=avx512_amx | "$bin/tl-filter" -k 40 --by=draft --arch=avx512_amx >"$tmp/a" &&
	[ "$(grep -o '"draft_s":[^,}]*' "$tmp/a" | sort -u | wc -l)" -ge 38 ]
ok $? 'programs that the draft cannot tell apart come later'
# What has other vectors is fitted: all but their length stays.
knobs() { candidates "$@" | grep -o '"nv":[^}]*'; }
if has_isa avx2; then
	TL_ISA=avx2 gen -n 1 "$tmp/one" >"$tmp/a"
	measured_there <"$tmp/a" >"$tmp/there"
	"$bin/tl-store" -q -d "$tmp/fit.db" "$tmp/there"
	TL_ISA=scalar gen -n 1 -d "$tmp/fit.db" --env 4e000000000000000000000000000000 "$tmp/one" >"$tmp/b" &&
		[ "$(knobs "$tmp/a")" = "$(knobs "$tmp/b")" ] && grep -q '"vl":8' "$tmp/a" && grep -q '"vl":1,' "$tmp/b"
	ok $? 'the schedule of a machine with other vectors is fitted to those here'
else
	skip 'this CPU has no AVX2: the schedule of a machine with other vectors is fitted to those here'
fi
echo "1..$n"
