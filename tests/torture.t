#!/bin/sh
# tl-measure under torture: objects made to crash, hang, lie, flood, escape and scribble. Each becomes one record with the right
# status, the good candidates between them are unharmed, and no process of the run is left: neither after its end nor after a
# signal at whatever moment. TL_TEST_KILLS: how often each signal is sent (default 8).
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB
here=$(dirname "$0")/torture

# Candidates to results, by a tl-measure whose processes bear the mark.
measure() { # candidates options
	in=$1
	shift
	env TL_TORTURE="$tmp" TL_CACHE="$cache" "$bin/tl-measure" --race=2ms "$@" <"$in"
}

nothing_left() {
	perl "$here/torture.pl" left "TL_TORTURE=$tmp"
}

# A workload with candidates that all have objects of their own, in a cache of its own: $tmp/NAME.c, .w, .r, .codes (id and
# code), objects in $cache, the reference's code in $naive.
prepare() { # name problem candidates
	cache="$tmp/$1.cache"
	printf 'op,prob,layout,post\nmatmul,%s,ab,bias\n' "$2" >"$tmp/$1.csv"
	"$bin/tl-extract" -q --format csv "$tmp/$1.csv" >"$tmp/$1.w" 2>/dev/null
	"$bin/tl-gen" -n "$3" "$tmp/$1.w" >"$tmp/$1.c"
	measure "$tmp/$1.c" --final=0 --no-preempt >"$tmp/$1.r" 2>"$tmp/err"
	sed -n 's/.*"candidate_id":"\([0-9a-f]*\)".*"code_hash":"\([0-9a-f]*\)".*/\1 \2/p' "$tmp/$1.r" |
		awk '!seen[$2]++' >"$tmp/$1.codes"
	cut -d' ' -f2 "$tmp/$1.codes" >"$tmp/$1.hashes"
	naive=$(for f in "$cache"/objects/*.so; do basename "$f" .so; done | grep -vFf "$tmp/$1.hashes")
	[ -f "$cache/objects/$naive.so" ] || return 1
	mkdir -p "$tmp/$1.real"
	cp "$cache"/objects/*.so "$tmp/$1.real"
}

# Puts a hostile object in the place of another.
replace() { # workload-name case code floats
	cc -shared -fPIC -O1 -w -D_GNU_SOURCE -pthread -DCASE="$2" -DNAME="\"$2\"" -DHASH="$3" -DN="$4" \
		-DREAL="\"$tmp/$1.real/$3.so\"" "$here/hostile.c" -o "$tmp/hostile.so" &&
		seal "$tmp/hostile.so" &&
		mv "$tmp/hostile.so" "$cache/objects/$3.so"
}

# The address sanitizer makes exits of some signals, and memory is not limited under it.
adapt() { # plan
	if [ "$SAN" = 1 ]; then
		sed -i -e '/ hog oom /d' -e 's/crash signal [48]$/crash /' "$1"
	fi
}

# Replaces objects as a list of cases wants it: "CASE STATUS WHY" a line. A good candidate stands between any two. Writes
# "ID CODE CASE STATUS WHY" to $tmp/NAME.plan; - is no case.
plan() { # workload-name floats
	while read -r name rest; do
		echo "$name $rest"
		echo '- ok'
	done | paste -d' ' "$tmp/$1.codes" - | awk 'NF > 2' >"$tmp/$1.plan"
	adapt "$tmp/$1.plan"
	while read -r id code name status why; do
		case $name in
		-) ;;
		empty) : >"$cache/objects/$code.so" ;;
		garbage) head -c 5000 /dev/urandom >"$cache/objects/$code.so" ;;
		cut) head -c 4000 "$tmp/$1.real/$code.so" >"$cache/objects/$code.so" ;;
		symbolless) cp "$tmp/symbolless.so" "$cache/objects/$code.so" ;;
		gone) rm "$cache/objects/$code.so" ;;
		*) replace "$1" "$name" "$code" "$2" || echo "# $name does not build" >&2 ;;
		esac
	done <"$tmp/$1.plan"
	cut -d' ' -f1 "$tmp/$1.plan" >"$tmp/$1.ids"
	grep -Ff "$tmp/$1.ids" "$tmp/$1.c" >"$tmp/$1.chosen"
}

# Has each candidate of the plan one record, with the status and the reason that it should have?
verify() { # workload-name results
	while read -r id code name status why; do
		grep "\"candidate_id\":\"$id\"" "$2" >"$tmp/one"
		[ "$(count . "$tmp/one")" -eq 1 ] && grep -q "\"status\":\"$status\"" "$tmp/one" && grep -Eq -- "\"why\":\"[^\"]*$why|\"status\":\"ok\"" "$tmp/one"
		rc=$?
		[ $rc -eq 0 ] || sed -n 's/.*\("status":.*"stage"\).*/# \1/p' "$tmp/one" >&2
		[ "$name" = - ] && [ $rc -eq 0 ] && continue
		ok $rc "$3$name: $status${why:+, $why}"
	done <"$tmp/$1.plan"
}

command -v cc >/dev/null || { echo '1..0 # SKIP there is no cc'; exit 0; }
echo 'int nothing;' >"$tmp/symbolless.c"
cc -shared -fPIC "$tmp/symbolless.c" -o "$tmp/symbolless.so" && seal "$tmp/symbolless.so" || { echo '1..0 # SKIP cc makes no objects'; exit 0; }
filters=1
perl "$here/torture.pl" nofilter true && filters=$(grep -c '^Seccomp:' /proc/self/status)

# The torture set

prepare a 12x20:20x24 120
ok $? 'candidates, each with an object of its own'
plan a 288 <<'END'
null crash signal 11
hang timeout not done within
output timeout not done within
fork_many ok
bomb timeout not done within
thread_bomb timeout not done within
linger ok
hog oom out of memory
behind wrong behind the end of the output
before crash wrote 4 bytes before the beginning of the output
far_behind crash wrote [0-9]+ bytes behind the end of the output
input crash wrote to the input
wrong wrong the error is
nan_value wrong 1 of 288 outputs are NaN
unwritten wrong 144 of 288 outputs were not written
nothing wrong 288 of 288 outputs were not written
do_abort crash signal 6
do_exit crash ended with status [0-9]+ before it was done
do__exit crash ended with status 0 before it was done
kill_self crash signal 9
stop_self timeout not done within
stack crash its stack is full
divide crash signal 8
illegal crash signal 4
jump crash signal 11
third timeout not done within
lazy wrong right at first, wrong later, on other data: 288 of 288 outputs were not written
replay wrong right at first, wrong later, on other data: the error is
sleepy timeout not done within
deadlock timeout not done within
network ok
files ok
kill_parent ok
escape ok
affinity ok
scribble ok
construct_crash crash signal 6
construct_exit crash ended with status 0
construct_hang timeout not done within
empty ok
garbage ok
cut ok
symbolless ok
END
if [ "$filters" -eq 0 ]; then
	sed -i '/ \(fork_many\|bomb\|thread_bomb\|linger\|network\|files\|kill_parent\|escape\|affinity\) /d' "$tmp/a.plan"
	skip 'there are no seccomp filters: what they refuse'
fi
hostile=$(awk '$3 != "-"' "$tmp/a.plan" | wc -l)
[ "$hostile" -ge 30 ]
ok $? "$hostile hostile candidates, a good one behind each"
measure "$tmp/a.chosen" --final=0 --timeout=4s --memory=256000000 --no-preempt >"$tmp/out" 2>"$tmp/err"
ok $? 'the run goes through: exit 0'
nothing_left
ok $? 'no process of it is left'
[ "$(count '"type":"result"' "$tmp/out")" -eq "$(count . "$tmp/a.plan")" ] && [ "$(count '"type":"done"' "$tmp/out")" -eq 1 ]
ok $? 'one record each'
"$bin/tl-check" -q "$tmp/out"
ok $? 'valid records all'
verify a "$tmp/out"
# With sanitizers, which may report something, a kernel's standard error is that of the run.
[ -z "$(find "$tmp/a.real" ! -name '*.so' ! -name a.real)" ] && { [ -n "$SAN" ] || [ "$(count . "$tmp/err")" -le 2 ]; }
ok $? 'nothing was written anywhere'
while read -r id code name rest; do
	case $name in
	empty | garbage | cut | symbolless) [ "$(wc -c <"$cache/objects/$code.so")" -gt 4000 ] || echo "$name" ;;
	esac
done <"$tmp/a.plan" >"$tmp/damaged"
[ ! -s "$tmp/damaged" ]
ok $? 'damaged objects were built anew'

# An output that ends where its page does has no room for canaries

prepare b 32x20:20x32 8
plan b 1024 <<'END'
behind crash wrote 1 bytes behind the end of the output
before crash wrote 4 bytes before the beginning of the output
END
measure "$tmp/b.chosen" --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
verify b "$tmp/out" 'at the end of a page: '

# Right in the race, wrong in the final

prepare c 12x20:20x16 2
plan c 192 <<'END'
wrong_late wrong right at first, wrong later
END
head -n 1 "$tmp/c.plan" | cut -d' ' -f1 >"$tmp/c.ids"
grep -Ff "$tmp/c.ids" "$tmp/c.c" | measure /dev/stdin --race=20ms --final=1 >"$tmp/out" 2>"$tmp/err"
[ "$(count '"status":"ok".*"stage":"race"' "$tmp/out")" -eq 1 ] && [ "$(count '"status":"wrong","why":"right at first, wrong later.*"stage":"final"' "$tmp/out")" -eq 1 ] &&
	! grep -q '"stage":"final".*"incumbent":true' "$tmp/out"
ok $? 'wrong only after many calls: seen in the final'

# Two that do not bear each other, though each is well by itself: who is at fault cannot be told

prepare f 12x20:20x18 6
plan f 216 <<'END'
mortal ok
END
head -n 3 "$tmp/f.codes" | cut -d' ' -f1 >"$tmp/f.ids"
grep -Ff "$tmp/f.ids" "$tmp/f.c" | measure /dev/stdin --race=20ms --final=0 >"$tmp/out" 2>"$tmp/err"
{ read -r first _ && read -r second _ && read -r _; } <"$tmp/f.codes"
[ "$(count '"status":"ok"' "$tmp/out")" -eq 3 ] && grep "$first" "$tmp/out" | grep -q '"incumbent":true' && ! grep -q '"duel"' "$tmp/out" &&
	grep "\"candidate_id\":\"$second\"" "$tmp/out" | grep -qv '"incumbent"'
ok $? 'an incumbent that ends the process of a duel: its challenger is well alone, and the incumbent stays'

# A candidate that dies is not the incumbent's fault, nor does one that gives out its first answer beat anyone

prepare h 12x20:20x22 6
plan h 264 <<'END'
good ok
END
sed -n '2p' "$tmp/h.codes" | while read -r id code; do replace h null "$code" 264; done
sed -n '3p' "$tmp/h.codes" | while read -r id code; do replace h replay "$code" 264; done
cp "$tmp/h.real/$(sed -n '1s/.* //p' "$tmp/h.codes").so" "$cache/objects/"
head -n 4 "$tmp/h.codes" | cut -d' ' -f1 >"$tmp/h.ids"
grep -Ff "$tmp/h.ids" "$tmp/h.c" | measure /dev/stdin --race=20ms --final=0 >"$tmp/out" 2>"$tmp/err"
first=$(sed -n 1p "$tmp/h.ids")
# How slow each is, the machine decides: a liar that lost its duel early is gone before a look at its answer finds it out.
third=$(sed -n 3p "$tmp/h.ids")
[ "$(count '"status":"crash"' "$tmp/out")" -eq 1 ] && grep "\"candidate_id\":\"$third\"" "$tmp/out" | grep -q '"status":"\(wrong\|preempted\)"' &&
	sed -n 4p "$tmp/h.ids" | grep -Ff - "$tmp/out" | grep -q "\"against\":\"$first\""
ok $? 'one that dies, and one that gives out its first answer: the incumbent keeps its place'

# Without filters

if [ "$filters" -gt 0 ]; then
	prepare d 12x20:20x40 16
	plan d 480 <<'END'
fork_many ok
escape ok
hog oom out of memory
null crash signal 11
output timeout not done within
kill_parent crash died of signal 9
END
	env TL_TORTURE="$tmp" TL_CACHE="$cache" perl "$here/torture.pl" nofilter "$bin/tl-measure" --race=2ms --final=0 --timeout=2s \
		--memory=256000000 --no-preempt "$tmp/d.chosen" >"$tmp/out" 2>"$tmp/err"
	ok $? 'without seccomp filters: exit 0'
	nothing_left
	ok $? 'no process is left'
	verify d "$tmp/out" 'without seccomp filters: '
else
	skip 'there are no seccomp filters, with and without which it could be tested'
fi

# Lies

prepare e 12x20:20x48 12
sed -e '2s/"knobs":{[^}]*}/"knobs":{"vl":8,"mr":1000000,"nv":1000000}/' -e '3s/"kc":[0-9]*/"kc":9007199254740991/' \
	-e '4s/"mc":[0-9]*/"mc":-7/' -e '5s/"unroll":[0-9]*/"unroll":1000000/' -e '6s/"nv":[0-9]*/"nv":0/' \
	-e '7s/"order":[0-9]*/"order":12345/' -e '8s/"algo":"gemm"/"algo":"direct"/' "$tmp/e.c" | "$bin/tl-check" --fix >"$tmp/lies" 2>"$tmp/err"
measure "$tmp/lies" --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
status=$?
[ "$(count '"type":"result"' "$tmp/out")" -eq "$(count '"type":"candidate"' "$tmp/lies")" ] && [ "$(count '"status":"ok"' "$tmp/out")" -ge 5 ] &&
	[ "$(count '"status":"unsupported"' "$tmp/out")" -ge 4 ] && [ $status -eq 0 ] && "$bin/tl-check" -q "$tmp/out"
ok $? 'knobs that make no sense: unsupported, and the others are measured'
sed 's/"type":"candidate"/&,"code_hash":"00000000000000000000000000000000","env_id":"0","status":"ok","latency_s":1e-12,"cost":{"build_s":-1}/' "$tmp/e.c" |
	measure /dev/stdin --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
[ "$(count '"status":"ok"' "$tmp/out")" -eq 12 ] && ! grep -q '1e-12\|"code_hash":"0000\|"build_s":-1\|"status".*"status"' "$tmp/out" && "$bin/tl-check" -q "$tmp/out"
ok $? 'fields of a result in a candidate are not believed'
sed 's/"flops":[0-9]*/"flops":1/' "$tmp/e.c" | measure /dev/stdin --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
[ "$(count '"status":"ok"' "$tmp/out")" -eq 12 ] || { [ "$(count '"type":"result"' "$tmp/out")" -eq 0 ] && grep -q flops "$tmp/err"; }
ok $? 'a wrong count of operations is refused or not heeded'
printf 'op,prob\nmatmul,1000000x20:20x1000000\n' >"$tmp/big.csv"
"$bin/tl-extract" -q --format csv "$tmp/big.csv" | "$bin/tl-gen" -n 3 | cat - "$tmp/e.c" | measure /dev/stdin --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(count '"status":"oom","why":"its operands take .* GiB' "$tmp/out")" -eq 3 ] && [ "$(count '"status":"ok"' "$tmp/out")" -eq 12 ] &&
	"$bin/tl-check" -q "$tmp/out"
ok $? 'a problem that no memory can hold: oom, and the next group is measured'

# The reference, and a machine that computes wrongly

forget() { # what the reference answered
	rm -f "$cache"/objects/*.truth
}
for damage in empty garbage cut symbolless gone; do
	forget
	case $damage in
	empty) : >"$cache/objects/$naive.so" ;;
	garbage) head -c 5000 /dev/urandom >"$cache/objects/$naive.so" ;;
	cut) head -c 4000 "$tmp/e.real/$naive.so" >"$cache/objects/$naive.so" ;;
	symbolless) cp "$tmp/symbolless.so" "$cache/objects/$naive.so" ;;
	gone) rm "$cache/objects/$naive.so" ;;
	esac
	measure "$tmp/e.c" --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err" && [ "$(count '"status":"ok"' "$tmp/out")" -eq 12 ] || break
done
[ "$damage" = gone ] && [ "$(count '"status":"ok"' "$tmp/out")" -eq 12 ]
ok $? "the reference's object is damaged ($damage): it is built anew"
for code in $(head -n 4 "$tmp/e.codes" | cut -d' ' -f2); do
	replace e null "$code" 576
done
measure "$tmp/e.c" --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(count '"status":"crash"' "$tmp/out")" -eq 4 ] && [ "$(count '"status":"ok"' "$tmp/out")" -eq 8 ]
ok $? 'crashes in a row, and the machine is found to be well: written'
forget
replace e liar "$naive" 576
measure "$tmp/e.c" --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && ! grep -q '"type":"result"\|"type":"done"\|"type":"end"' "$tmp/out" && grep -q 'computes wrongly' "$tmp/err"
ok $? 'crashes in a row, and something known to be good fails as well: exit 3, and nothing is written of them'
replace e wrong "$naive" 576
measure "$tmp/e.c" --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && ! grep -q '"type":"result"' "$tmp/out" && grep -q 'computes wrongly' "$tmp/err"
ok $? 'nor if it answers otherwise than it did in an earlier run'
forget
measure "$tmp/e.c" --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && ! grep -q '"type":"result"' "$tmp/out" && grep -q 'the library finds another answer' "$tmp/err"
ok $? 'a reference with which the library disagrees: exit 3, no candidate is called wrong'

# Signals at whatever moment, while it builds, verifies, races and kills

cache="$tmp/a.cache"
kills=${TL_TEST_KILLS:-8}
grep ' ok\| crash \| wrong ' "$tmp/a.plan" | cut -d' ' -f1 | grep -Ff - "$tmp/a.c" >"$tmp/quick" # none of those that hang
awk '$3 == "-" && ++i <= 8 { print $2 }' "$tmp/a.plan" >"$tmp/rebuilt"
clean() { # is nothing in the cache but whole objects and true answers?
	[ -z "$(find "$cache/objects" -type f ! -name '*.so' ! -name '*.truth' ! -name lock ! -name CACHEDIR.TAG)" ]
}
kill_one() { # signal after candidates
	while read -r code; do rm -f "$cache/objects/$code.so"; done <"$tmp/rebuilt"
	echo none >"$tmp/status"
	env TL_TORTURE="$tmp" TL_CACHE="$cache" perl "$here/torture.pl" kill "$1" "$2" "$bin/tl-measure" --final=1 --race=20ms \
		--timeout=60s --memory=256000000 "$3" 3>"$tmp/status" 2>"$tmp/err" | cat >"$tmp/out"
	nothing_left || return 1
	read -r status <"$tmp/status"
	[ "$status" -eq 0 ] && ended=$((ended + 1)) && return 0
	case $1$status in
	INT130 | TERM143) ;;
	KILL137) return 0 ;;
	*) echo "# status $status" >&2; return 1 ;;
	esac
	"$bin/tl-check" -q "$tmp/out" && clean
}
for sig in INT TERM KILL; do
	i=0
	ended=0
	perl -e 'srand shift; printf "%.3f\n", 0.45 * rand for 1 .. shift' $((${#sig} + 7)) "$kills" >"$tmp/moments"
	while read -r after; do
		if [ $((i % 3)) -eq 0 ]; then set=$tmp/a.chosen; else set=$tmp/quick; fi
		kill_one $sig "$after" "$set" || break
		i=$((i + 1))
	done <"$tmp/moments"
	[ "$i" -eq "$kills" ] && [ $ended -le $((kills / 2)) ]
	ok $? "SIG$sig at $kills moments ($ended runs had ended): nothing is left$([ $sig = KILL ] || echo ', whole lines, no temporary files')"
done
measure "$tmp/quick" --final=0 --no-preempt >"$tmp/out" 2>"$tmp/err" && [ "$(count '"type":"result"' "$tmp/out")" -eq "$(count . "$tmp/quick")" ] && clean
ok $? 'and the next run is as if nothing had been'
echo "1..$n"
