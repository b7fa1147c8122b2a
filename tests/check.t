#!/bin/sh
# tl-check: what it takes, what it refuses, what it corrects.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# good NAME LINE [WANT]: passes as WANT (as itself)
good() {
	got=$(printf '%s\n' "$2" | "$bin/tl-check" 2>"$tmp/err") && [ "$got" = "${3:-$2}" ]
	ok $? "$1"
	[ "$got" = "${3:-$2}" ] || { echo "# got $got"; sed 's/^/# /' "$tmp/err"; }
}

# bad NAME LINE WORDS: exit 3, no output, WORDS and the line's number on stderr
bad() {
	got=$(printf '%s\n' "$2" | "$bin/tl-check" 2>"$tmp/err")
	[ $? -eq 3 ] && [ -z "$got" ] && grep -q -e ":1: .*$3" "$tmp/err"
	ok $? "$1"
	grep -q -e "$3" "$tmp/err" || sed 's/^/# /' "$tmp/err"
}

wl='"op":"matmul","prob":"49x512:512x1000","dtype":"f32","layout":"ab","post":[],"rhs":"const","flops":50176000'
id=f0b6c2f5d7fa21638b4b570435ec1e4e
start='{"tl":1,"type":'
w="$start\"workload\",\"workload_id\":\"$id\",$wl"

good 'a workload' "$w}"
good 'with everything' "$w,\"count\":3,\"source\":[\"a:b:c\"],\"round\":1,\"budget\":64,\"incumbent\":{\"candidate_id\":\"$id\",\"latency_s\":0.001},\"prune\":{\"action\":\"tune\",\"reason\":\"r\"},\"x\":{\"mine\":null,\"t_s\":-1}}"
good 'white space and numbers' "$w, \"x\" : [ 1.50 , 1E2, \"\\u00e9\" ] }" "$w,\"x\":[1.5,100,\"é\"]}"
good 'a type of later versions' "${start}\"novel\",\"a\":null}"
good 'an end' "${start}\"end\",\"workload_id\":\"$id\",\"drawn\":0,\"why\":\"n reached\",\"kept\":3}"
good 'ids are filled in' "${start}\"workload\",\"op\":\"matmul\",\"prob\":\"1x49x512:1x512x1000\"}" \
	"${start}\"workload\",\"op\":\"matmul\",\"prob\":\"49x512:512x1000\",\"workload_id\":\"$id\",\"dtype\":\"f32\",\"layout\":\"ab\",\"post\":[],\"rhs\":\"const\",\"flops\":50176000}"

bad 'another id' "${start}\"workload\",\"workload_id\":\"x$id\",$wl}" "workload_id"
bad 'a duplicate key' "$w,\"flops\":50176000}" 'twice'
bad 'no JSON' "$w" 'end'
bad 'no record' '{"a":1}' 'no record'
bad 'another version' '{"tl":2,"type":"workload"}' 'no record'
bad 'an integer beyond 2^53-1' "$w,\"x\":9007199254740992}" '2^53-1'
bad 'NaN' "$w,\"x\":NaN}" 'byte'
bad 'a negative count' "$w,\"count\":-1}" 'count'
bad 'a source that is no list' "$w,\"source\":\"a\"}" 'source'
bad 'an unknown action' "$w,\"prune\":{\"action\":\"no\",\"reason\":\"\"}}" 'tune|stop'
bad 'an end without its count' "${start}\"end\",\"workload_id\":\"$id\",\"why\":\"\"}" 'drawn'
bad 'null without a reason' "$w,\"budget\":null}" 'reason'
bad 'null in a field that is never null' "$w,\"budget\":null,\"budget_why\":\"r\"}" 'may not be null'
bad 'knobs that are no whole numbers' "$w,\"incumbent\":{\"candidate_id\":\"$id\",\"latency_s\":1,\"knobs\":{\"vl\":1.5}}}" 'incumbent: "knobs" is not an object of whole numbers'
bad 'a record that tl-gen writes for another program' "${start}\"ask\",\"n\":64,\"seed\":1}" '"round" is missing'
bad 'a negative time' "$w,\"wait_s\":-1}" 'quantity'
bad 'a time beyond all measure' "$w,\"wait_s\":1e300}" 'quantity from 0 to 1e30'
bad 'null with null for a reason' "$w,\"budget\":null,\"budget_why\":null}" 'reason'
bad 'null with an empty reason' "$w,\"budget\":null,\"budget_why\":\"\"}" 'reason'
bad 'impossible dimensions' "${start}\"workload\",\"op\":\"matmul\",\"prob\":\"2x3:4x5\"}" 'differ'
bad 'a candidate without a workload' "${start}\"candidate\",\"target\":\"cpu\"}" 'workload'

# A candidate, by whatever ids it should have.
c="\"workload\":{\"workload_id\":\"$id\",$wl},\"target\":\"cpu\",\"algo\":\"gemm\",\"knobs\":{}"
cand=$(printf '%s\n' "${start}\"candidate\",$c}" | "$bin/tl-check")
ok $? 'a candidate gets its id'
cid=$(printf '%s\n' "$cand" | sed -n 's/.*"candidate_id":"\([0-9a-f]*\)".*/\1/p')
good 'and keeps it' "$cand"
c="\"candidate_id\":\"$cid\",$c"
bad 'another candidate id' "${start}\"candidate\",$(printf '%s' "$c" | sed "s/$cid/$id/")}" 'candidate_id'
bad 'an unknown algorithm' "${start}\"candidate\",$(printf '%s' "$c" | sed s/gemm/magic/)}" 'magic'

r="${start}\"result\",$c"
at='"at":"2026-11-21T09:00:00.000Z"'
meas='"stage":"race","latency_s":0.001,"ci_s":[0.001,0.002],"error":{"l2":1e-07,"max":1e-07},"env_id":"e0000000000000000000000000000000"'
good 'a result' "$r,\"status\":\"ok\",$meas,\"cost\":{\"energy_J\":null,\"energy_why\":\"no RAPL\"},\"baseline\":null,\"baseline_why\":\"none\",$at}"
good 'a failure' "$r,\"status\":\"crash\",\"why\":\"signal 11\",$at}"
bad 'an unknown status' "$r,\"status\":\"fine\",$at}" 'status'
bad 'a failure without a reason' "$r,\"status\":\"crash\",$at}" 'why'
bad 'a name in the place of an id' "$r,\"status\":\"ok\",$(printf '%s' "$meas" | sed 's/"env_id":"[0-9a-f]*"/"env_id":"mine"/'),$at}" '"env_id" is not an id'
bad 'an env whose cache is no number' "$r,\"status\":\"ok\",$meas,\"env\":{\"l2\":\"2M\"},$at}" 'env: "l2" is not a whole number'
bad 'ok without a latency' "$r,\"status\":\"ok\",\"stage\":\"race\",$at}" 'latency_s'
bad 'a time of day that is none' "$r,\"status\":\"ok\",$meas,\"at\":\"2026-13-21T09:00:00.000Z\"}" 'UTC'
bad 'an interval upside down' "$r,\"status\":\"ok\",$(printf '%s' "$meas" | sed 's/0.002/0.0001/'),$at}" 'interval'
bad 'a verdict of a race' "$r,\"status\":\"ok\",$meas,\"verdict\":\"same\",$at}" 'final'
good 'samples and disturbances' "$r,\"status\":\"ok\",$meas,\"watch\":{\"nivcsw\":2},\"samples_s\":[0.002,0.001],\"cache\":\"cold\",$at}"
bad 'a sample that is no time' "$r,\"status\":\"ok\",$meas,\"samples_s\":[0.002,-1],$at}" 'samples_s'
bad 'a fraction of a call' "$r,\"status\":\"ok\",$meas,\"reps\":0.5,$at}" 'reps'
bad 'caches of another kind' "$r,\"status\":\"ok\",$meas,\"cache\":\"tepid\",$at}" 'cache'
lost="$r,\"status\":\"preempted\",\"why\":\"slow\",\"bound\":\"lower\",$meas"
good 'an audit' "$lost,\"audit\":{\"ratio\":0.9,\"ci\":[0.8,0.95],\"false_kill\":false},$at}"
bad 'an audit without its ratio' "$lost,\"audit\":{\"ci\":[0.8,0.95],\"false_kill\":false},$at}" 'ratio'
bad 'an audit that does not say' "$lost,\"audit\":{\"ratio\":0.9,\"ci\":[0.8,0.95],\"false_kill\":\"no\"},$at}" 'false_kill'
bad 'an audit of one that was not preempted' "$r,\"status\":\"ok\",$meas,\"audit\":{\"ratio\":0.9,\"ci\":[0.8,0.95],\"false_kill\":false},$at}" 'audit'
race="$r,\"status\":\"ok\",$meas"
duel='"duel":{"against":"4c37ef429432a06ac4502501a1f8777a","ratio":1.02,"ci":[1.01,1.03],"latency_s":0.001,"end":"won"'
good 'a duel that was won' "$race,$duel,\"samples_s\":[0.001]},\"incumbent\":true,$at}"
bad 'a duel with nobody' "$race,$(printf '%s' "$duel" | sed 's/"against":"[^"]*",//')},$at}" 'against'
bad 'a duel without an end' "$race,$(printf '%s' "$duel" | sed 's/,"end":"won"//')},$at}" 'end'
bad 'a duel with an end of another kind' "$race,$(printf '%s' "$duel" | sed 's/won/drawn/')},$at}" 'end'
bad 'an incumbent that lost' "$lost,$(printf '%s' "$duel" | sed 's/won/lost/')},\"incumbent\":true,$at}" 'incumbent'
again='"again":{"ratio":0.99,"ci":[0.98,1.01],"ahead":false}'
good 'a second duel of a winner' "$race,$duel},$again,$at}"
good 'one that ended otherwise' "$race,$duel},\"again\":{\"status\":\"crash\",\"ahead\":false},$at}"
bad 'an incumbent that was not ahead again' "$race,$duel},$again,\"incumbent\":true,$at}" 'ahead'
bad 'a second duel of one that did not win' "$race,$(printf '%s' "$duel" | sed 's/won/even/')},$again,$at}" 'again'
bad 'a second duel that does not say' "$race,$duel},\"again\":{\"ratio\":1.1,\"ci\":[1,1.2]},$at}" 'ahead'
good 'a printer' "$race,\"printer\":\"c\",\"printer_why\":\"no vectors\",$at}"
bad 'GNU C without a reason' "$race,\"printer\":\"c\",$at}" 'printer_why'
bad 'a reason for assembly' "$race,\"printer\":\"assembly\",\"printer_why\":\"no vectors\",$at}" 'printer_why'
final=$(printf '%s' "$race" | sed 's/"stage":"race"/"stage":"final"/')
good 'a final' "$final,\"processes\":3,\"baseline\":{\"impl\":\"b\",\"layout\":\"ab\",\"latency_s\":0.001,\"ci_s\":[0.001,0.001],\"system\":\"Linux 6.1\",\"error\":{\"l2\":1e-07,\"max\":1e-07}},\"ratio\":{\"median\":1,\"ci\":[1,1]},\"verdict\":\"same\",\"rejected\":[{\"impl\":\"w\",\"layout\":\"ab\",\"error\":{\"l2\":0.1,\"max\":0.1}}],\"incumbent\":true,$at}"
own=',"own_layout":{"impl":"o","latency_s":0.002,"ci_s":[0.002,0.002],"ratio":{"median":2,"ci":[2,2]}}'
other="$final,\"baseline\":{\"impl\":\"b\",\"layout\":\"preferred\",\"latency_s\":0.001"
good 'the library in the own layout' "$other$own},$at}"
good 'which it does not have' "$other,\"own_layout\":null,\"own_layout_why\":\"none\"},$at}"
bad 'and nobody knows why' "$other,\"own_layout\":null},$at}" 'reason'
bad 'without a ratio' "$(printf '%s' "$other$own},$at}" | sed 's/,"ratio":{[^}]*}//')" 'ratio'
bad 'with half of an interval' "$(printf '%s' "$other$own},$at}" | sed 's/\[2,2\]/[2]/')" 'own_layout'
bad 'beside the best in that layout' "$(printf '%s' "$other$own},$at}" | sed 's/"preferred"/"ab"/')" 'own_layout'
bad 'half a process' "$final,\"processes\":0.5,$at}" 'processes'
bad 'energy that nobody knows' "$r,\"status\":\"ok\",$meas,\"cost\":{\"energy_J\":null},$at}" 'reason'

# Streams and files
printf '%s\n' "$w}" 'junk' "$w}" >"$tmp/in"
[ "$("$bin/tl-check" "$tmp/in" 2>"$tmp/err" | wc -l)" -eq 2 ] && grep -q 'in:2: ' "$tmp/err"
ok $? 'the stream goes on after a bad line'
echo old >"$tmp/out"
"$bin/tl-check" -o "$tmp/out" "$tmp/in" 2>/dev/null
[ $? -eq 3 ] && [ "$(cat "$tmp/out")" = old ]
ok $? 'a file is not replaced by half of it'
printf '%s\n' "$w}" | "$bin/tl-check" -o "$tmp/out" - && [ "$(cat "$tmp/out")" = "$w}" ]
ok $? 'a file is replaced by all of it'
[ -z "$("$bin/tl-check" -q "$tmp/out")" ]
ok $? '-q writes nothing'
[ "$(ls "$tmp" | tr '\n' ' ')" = 'err in out ' ]
ok $? 'no temporary file is left'
mkfifo "$tmp/dead" "$tmp/alive"
"$bin/tl-check" -o "$tmp/kept" <"$tmp/dead" &
dead=$!
exec 8>"$tmp/dead"
# The second one comes later: what it makes and has not locked yet, the first one may sweep, and it takes another name.
until [ -e "$tmp/kept.$dead.tl.tmp" ]; do sleep 0.05; done
"$bin/tl-check" -o "$tmp/kept" <"$tmp/alive" &
alive=$!
exec 9>"$tmp/alive"
until [ -e "$tmp/kept.$alive.tl.tmp" ]; do sleep 0.05; done
kill -9 $dead
wait $dead 2>/dev/null
: >"$tmp/kept.1x.tl.tmp"
: >"$tmp/kept.12.tmp"
printf '%s\n' "$w}" | "$bin/tl-check" -o "$tmp/kept" && [ ! -e "$tmp/kept.$dead.tl.tmp" ] && [ -e "$tmp/kept.$alive.tl.tmp" ] && [ -e "$tmp/kept.1x.tl.tmp" ] && [ -e "$tmp/kept.12.tmp" ]
ok $? 'what a killed program left beside its output is removed, and nothing else'
exec 8>&- 9>&-
wait $alive && [ ! -s "$tmp/kept" ]
ok $? 'one that lives goes on'
rm -f "$tmp"/kept* "$tmp/dead" "$tmp/alive"

# --fix
printf '%s\n' "{ \"type\":\"workload\", \"workload_id\":\"bad\", \"tl\":1, \"op\":\"matmul\", \"prob\":\"49x512:512x1000\",\"flops\":1}" |
	"$bin/tl-check" --fix >"$tmp/out" && grep -q "^{\"tl\":1,\"type\":\"workload\",\"workload_id\":\"$id\"" "$tmp/out" &&
	"$bin/tl-check" "$tmp/out" | cmp -s - "$tmp/out"
ok $? '--fix puts order, ids and flops right'
printf '%s\n' "${start}\"candidate\",$(printf '%s' "$c" | sed "s/$cid/$id/")}" | "$bin/tl-check" --fix | grep -q "\"candidate_id\":\"$cid\""
ok $? '--fix rewrites a candidate id'
hw='"isa":"avx2","features":"avx2,fma","l1d":32768,"l2":524288,"l3":33554432,"threads":2,"cc":"gcc 12.2.0","libs":"onednn 2.6.3","hw_id":"'"$(printf "features=avx2,fma;isa=avx2;l1d=32768;l2=524288;l3=33554432;threads=2;type=hw;" | sha256sum | cut -c1-32)"'"'
died="$r,\"status\":\"crash\",\"why\":\"signal 11\",$at,\"env\":{$hw}"
env_id=$(printf 'cc=gcc 12.2.0;features=avx2,fma;isa=avx2;l1d=32768;l2=524288;l3=33554432;libs=onednn 2.6.3;threads=2;type=env;' | sha256sum | cut -c1-32)
printf '%s\n' "$died}" | "$bin/tl-check" --fix | grep -q "\"env_id\":\"$env_id\""
ok $? '--fix fills in the id of an env'
bad 'another id of an env' "$died,\"env_id\":\"$id\"}" "\"env_id\" is $id, but the env's fields make it $env_id"
printf '%s\n' "$died,\"env_id\":\"$id\"}" | "$bin/tl-check" --fix | grep -q "\"env_id\":\"$env_id\""
ok $? 'and rewrites it'
printf '%s\n' "$w,\"count\":-1}" | "$bin/tl-check" --fix >/dev/null 2>&1
[ $? -eq 3 ]
ok $? '--fix invents nothing'
"$bin/tl-check" "$tmp/missing" 2>/dev/null
[ $? -eq 3 ]
ok $? 'a missing file is an input error'

# A result against itself, by tl-check and by tl-store
awk -v n=1 -v run=a0000000000000000000000000000000 -f "${0%/*}/results.awk" "${0%/*}/workloads.ndjson" | grep -m 1 '"type":"result".*"status":"ok"' |
	"$bin/tl-check" --fix >"$tmp/result"
contradicts() { # sentence, sed
	sed "$2" "$tmp/result" >"$tmp/odd"
	cmp -s "$tmp/odd" "$tmp/result" && echo "# nothing changed: $2" && return 1
	"$bin/tl-check" "$tmp/odd" >/dev/null 2>"$tmp/err"
	[ $? -eq 3 ] && grep -qF -e "$1" "$tmp/err" || return 1
	"$bin/tl-store" -q -d "$tmp/odd.db" "$tmp/odd" >/dev/null 2>"$tmp/err"
	[ $? -eq 3 ] && grep -qF -e "$1" "$tmp/err"
}
"$bin/tl-check" -q "$tmp/result" && contradicts '"latency_s" 1e-09 lies outside "ci_s"' 's/"latency_s":[^,]*/"latency_s":1e-09/'
ok $? 'a time outside of its interval'
contradicts 'operations a second' 's/"latency_s":[^,]*,"ci_s":[^]]*\]/"latency_s":1e-12/'
ok $? 'a time that no machine reaches'
contradicts 'the largest error is 5 of the result' 's/"max":2.5e-07/"max":5/'
ok $? 'an error as large as the result, and status ok'
contradicts "but the ratio is 1.5" 's/"stage":"race"/"stage":"final","ratio":{"median":1.5,"ci":[1.4,1.6]},"verdict":"slower"/'
ok $? 'a verdict against the ratio'
contradicts 'but the times make it' 's/"stage":"race"/"stage":"final","ratio":{"median":1e9,"ci":[9e8,2e9]},"verdict":"faster"/'
ok $? 'a ratio that is far from that of the times'
contradicts 'lies outside its "ci"' 's/"stage":"race"/"stage":"final","ratio":{"median":1.5,"ci":[1.6,1.7]},"verdict":"faster"/'
ok $? 'a ratio outside of its interval'
env='"features":"avx2","isa":"avx2","l1d":32768,"l2":1048576,"l3":33554432,"threads":2,"cc":"gcc 12.2.0","libs":"onednn 2.6.3"'
in_env() { # env_id, hw_id
	echo "s/\"env_id\".*/\"env_id\":\"$1\",\"run\":\"a0000000000000000000000000000000\",\"at\":\"2026-11-24T09:00:00.000Z\",\"env\":{$env,\"hw_id\":\"$2\"}}/"
}
key='features=avx2;isa=avx2;l1d=32768;l2=1048576;l3=33554432;'
hw_id=$(printf '%sthreads=2;type=hw;' "$key" | sha256sum | cut -c1-32)
env_id=$(printf 'cc=gcc 12.2.0;%slibs=onednn 2.6.3;threads=2;type=env;' "$key" | sha256sum | cut -c1-32)
contradicts "\"env_id\" is $(printf %032d 0), but the env's fields make it $env_id" "$(in_env "$(printf %032d 0)" "$hw_id")"
ok $? 'an env_id that is not of its env'
contradicts "\"hw_id\" is $(printf %032d 1), but the env's fields make it $hw_id" "$(in_env "$env_id" "$(printf %032d 1)")"
ok $? 'nor the id of its hardware'
sed "$(in_env "$(printf %032d 0)" "$(printf %032d 1)")" "$tmp/result" | "$bin/tl-check" --fix >"$tmp/odd" && "$bin/tl-check" -q "$tmp/odd" &&
	grep -q "\"env_id\":\"$env_id\"" "$tmp/odd" && grep -q "\"hw_id\":\"$hw_id\"" "$tmp/odd"
ok $? '--fix rewrites both'

# Streams that are merged: sources decide what counts twice.
w() { # PROB SOURCES, with quotes and commas
	echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"$1\",\"count\":$(echo "$2" | tr , '\n' | wc -l),\"source\":[$2]}"
}
{
	w 5x7:7x9 '"a:000000000000:x","a:000000000000:y"'
	w 5x7:7x8 '"a:000000000000:z"'
} | "$bin/tl-check" --fix >"$tmp/a"
{
	w 5x7:7x9 '"b:000000000001:x"'
	w 5x7:7x9 '"b:000000000000:y"'
} | "$bin/tl-check" --fix >"$tmp/b"
"$bin/tl-check" --merge "$tmp/a" "$tmp/b" "$tmp/a" >"$tmp/out" && sed 's/.*"prob":"\([^"]*\)",\("count".*\]\),"workload_id.*/\1 \2/' "$tmp/out" >"$tmp/told"
cat >"$tmp/want" <<'END2'
5x7:7x9 "count":3,"source":["a:000000000000:x","a:000000000000:y","b:000000000001:x"]
5x7:7x8 "count":1,"source":["a:000000000000:z"]
END2
cmp -s "$tmp/want" "$tmp/told"
ok $? '--merge: each workload once, with all its sources'
"$bin/tl-check" --merge "$tmp/out" | cmp -s - "$tmp/out" && "$bin/tl-check" -q "$tmp/out"
ok $? 'what is merged stays as it is'
"$bin/tl-extract" -q "$tmp/a" "$tmp/b" | "$bin/tl-check" | cmp -s - "$tmp/out"
ok $? 'and is what tl-extract makes of both'
cat "$tmp/result" "$tmp/a" "$tmp/result" >"$tmp/mixed"
"$bin/tl-check" --merge "$tmp/mixed" >"$tmp/out" && [ "$(wc -l <"$tmp/out")" -eq 3 ] && head -n 1 "$tmp/out" | cmp -s - "$tmp/result"
ok $? 'other records stand before them, each once'
echo '{"tl":1,"type":"workload","op":"matmul","prob":"5x7:7x9","count":0}' | "$bin/tl-check" --merge >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ]
ok $? 'a bad record is told as always'

echo "1..$n"
