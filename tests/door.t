#!/bin/sh
# What files say is believed only if it passes the door (lib/door/door.h): made-up records, databases that hold them, and
# flipped bits. A flip is detected, or changes nothing.
#
# TL_TEST_FLIPS (40) is how many bits of each file are flipped; 2500 is the long run.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
unset TL_DB
flips=${TL_TEST_FLIPS:-40}
env=e1000000000000000000000000000000

refuses() { # program and arguments, of what is in $tmp/line: ends with status 3, and a sentence on line 1
	timeout 60 "$@" <"$tmp/line" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q ':1: ' "$tmp/err"
}

# Made-up results: knobs that make no program or an endless one, ids of others, texts in the place of ids.
bad=0 i=0
while read -r line; do
	i=$((i + 1))
	printf '%s\n' "$line" >"$tmp/line"
	refuses "$bin/tl-check" && sed 's/^tl-check//' "$tmp/err" >"$tmp/why" &&
		refuses "$bin/tl-store" -q -d "$tmp/refused.db" && sed 's/^tl-store//' "$tmp/err" | cmp -s - "$tmp/why" &&
		refuses "$bin/tl-export" --one && [ ! -s "$tmp/out" ] && refuses "$bin/tl-train" -q -o "$tmp/model" && continue
	echo "# result $i"
	bad=1
done <"$here/door/results.ndjson"
[ $i -eq 12 ] && [ $bad -eq 0 ]
ok $? 'tl-store refuses what tl-check refuses, in its words, and tl-export and tl-train do not use it'
[ "$("$bin/tl-query" -d "$tmp/refused.db" --dump=results | wc -l)" -eq 0 ]
ok $? 'nothing of it is stored'
bad=0 i=0
while read -r line; do
	i=$((i + 1))
	printf '%s\n' "$line" >"$tmp/line"
	refuses "$bin/tl-export" --one && [ ! -s "$tmp/out" ] || bad=1
done <"$here/door/candidates.ndjson"
[ $i -eq 4 ] && [ $bad -eq 0 ]
ok $? 'tl-export refuses candidates that make no program, at once'
bad=0
for field in '"budget":"a"' '"budget":-1' '"budget":1.5' '"round":"x"' '"count":-2'; do
	printf '{"tl":1,"type":"workload","op":"matmul","prob":"4x8:8x4",%s}\n' "$field" >"$tmp/line"
	refuses "$bin/tl-query" -d "$tmp/refused.db" || bad=1
	for program in tl-check tl-gen tl-filter tl-prune; do
		if ! refuses "$bin/$program"; then
			echo "# $program $field"
			bad=1
		fi
	done
done
ok $bad 'a workload whose budget, round or count is no count is refused at once'
bad=0
for file in bom dup; do
	cp "$here/door/$file.rec" "$tmp/line"
	refuses "$bin/tl-check" && refuses "$bin/tl-store" -q -d "$tmp/refused.db" && refuses "$bin/tl-gen" || bad=1
done
ok $bad 'a byte-order mark, and a key that stands twice'

# A sound result, of which one thing after the other is changed: both programs refuse the same.
awk -v n=12 -f "$here/results.awk" "$here/workloads.ndjson" >"$tmp/results"
grep -m 1 '"status":"ok","stage":"race"' "$tmp/results" >"$tmp/sound"
both() { # what is in $tmp/line
	"$bin/tl-check" -q <"$tmp/line" 2>"$tmp/why"
	checked=$?
	"$bin/tl-store" -q -d "$tmp/both.db" <"$tmp/line" 2>"$tmp/err"
	[ $? -eq $checked ] && sed 's/^tl-store/tl-check/' "$tmp/err" | cmp -s - "$tmp/why"
}
cp "$tmp/sound" "$tmp/line" && both && [ "$checked" -eq 0 ]
ok $? 'a sound result passes'
bad=0
while read -r change; do
	sed "$change" "$tmp/sound" >"$tmp/line"
	! cmp -s "$tmp/sound" "$tmp/line" && both && [ "$checked" -eq 3 ] && continue
	echo "# $change"
	bad=1
done <<'END'
s/"error":{[^}]*}/"error":5.0/
s/"stage":"race"/"stage":"race","ratio":1e9/
s/"latency_s":[^,]*/"latency_s":"fast"/
s/"knobs":{[^}]*}/"knobs":[]/
s/"vl":[0-9]*/"vl":-1/
s/"vl":[0-9]*/"vl":65536/
s/"algo":"[a-z]*"/"algo":"nosuch"/
s/"target":"cpu"/"target":"abacus"/
s/"candidate_id":"./"candidate_id":"x/
s/"run":"[^"]*"/"run":"mine"/
s/"at":"[^"]*"/"at":"noon"/
s/"cost":{/"cost":{"run_s":-1,"x_s":/
s/"env":{/"env":[{/;s/}}$/}]}/
s/"reps":20/"reps":1.5/
s/"status":"ok"/"status":null/
s/"flops":[0-9]*/"flops":1/
s/}$/,"checksum":"0123456789abcdef"}/
s/}$/,"checksum":7}/
END
ok $bad 'wrong kinds, ids and knobs are refused by both with the same words'

# A checksum is that of what the record says, however it is written.
"$bin/tl-replay" --help >"$tmp/out" && sed 's/}$/,"checksum":"0000000000000000"}/' "$tmp/sound" | "$bin/tl-check" --fix >"$tmp/sealed"
"$bin/tl-check" "$tmp/sealed" | cmp -s - "$tmp/sealed"
ok $? '--fix makes the checksum that the fields make'
perl -MJSON::PP -ne 'my $r = decode_json($_); my $head = "{\"tl\":1,\"type\":\"result\""; delete @$r{qw(tl type)};
	$r->{x} = "mine"; my $t = JSON::PP->new->canonical->space_after->encode($r); $t =~ s/^\{/$head, /; print "$t\n"' "$tmp/sealed" >"$tmp/line"
both && [ "$checked" -eq 0 ]
ok $? 'the order of fields, white space and the field x do not matter'
perl "$here/flip.pl" -n $((flips * 2)) "$tmp/sealed" "$bin/tl-check $tmp/sealed | sed 's/\"[^\"]*\":\"[0-9a-f]*\"}\$/}/'"
ok $? 'a flipped bit of a result with a checksum is detected, but for the name of the checksum itself'

# A database with what tl-store refuses: the next best answers, and it is said once.
"$bin/tl-store" -q -d "$tmp/sound.db" "$tmp/results"
plain() { # from, to: without checksums of pages, so that sqlite3 may write it
	{
		sqlite3 "$1" .dump
		echo "PRAGMA application_id = $(sqlite3 "$1" 'PRAGMA application_id');"
		echo "PRAGMA user_version = $(sqlite3 "$1" 'PRAGMA user_version');"
	} | sqlite3 "$2"
}
ask() { # database
	"$bin/tl-query" -d "$1" --env $env --top 2 "$here/workloads.ndjson" 2>"$tmp/err"
}
ask "$tmp/sound.db" >"$tmp/told"
second=$(sed -n 2p "$tmp/told")
bad=0 i=0
while read -r change; do
	i=$((i + 1))
	plain "$tmp/sound.db" "$tmp/odd$i.db" && sqlite3 "$tmp/odd$i.db" "UPDATE records SET record = $change
		WHERE num = (SELECT num FROM results WHERE final AND workload = 1)"
	ask "$tmp/odd$i.db" >"$tmp/out"
	[ "$(grep -v '"stage":"final"' "$tmp/out" | head -n 1 | grep -o '"candidate_id":"[^"]*"')" = "$(echo "$second" | grep -o '"candidate_id":"[^"]*"')" ] ||
		[ "$(grep -c . "$tmp/out")" -ge 5 ] || bad=1
	grep -q '1 stored record is left out, as tl-check would refuse it; the first: ' "$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ] || bad=1
	"$bin/tl-export" -d "$tmp/odd$i.db" --all -o "$tmp/export$i" 2>"$tmp/err" || bad=1
	grep -q ' left out, as tl-check ' "$tmp/err" || bad=1
	"$bin/tl-prune" -d "$tmp/odd$i.db" --env $env --all "$here/workloads.ndjson" >"$tmp/out" 2>"$tmp/err"
	grep -q ' left out, as tl-check ' "$tmp/err" || bad=1
	[ $bad -eq 0 ] || { echo "# $change" && sed 's/^/# /' "$tmp/err"; }
done <<'END'
replace(record, '"vl":16', '"vl":65536')
replace(record, '"algo":"direct"', '"algo":"nosuch"')
replace(record, '"knobs":{', '"knobs":{"nosuch":1,')
replace(record, '"candidate_id":"', '"candidate_id":"0')
(SELECT record FROM records WHERE num = 1)
'{"tl":1,"type":"result"}'
'nothing'
END
ok $bad 'what a database holds and tl-check would refuse is unknown to tl-query, tl-export and tl-prune'

# Rows that lack what the schema says they have crashed tl-prune.
plain "$tmp/sound.db" "$tmp/rows.db" && sqlite3 "$tmp/rows.db" "PRAGMA writable_schema = 1;
	UPDATE sqlite_schema SET sql = replace(replace(sql, 'at TEXT NOT NULL', 'at TEXT'), 'record TEXT NOT NULL', 'record TEXT')" &&
	sqlite3 "$tmp/rows.db" 'UPDATE results SET at = NULL; UPDATE records SET record = NULL; UPDATE ends SET record = NULL'
bad=0
for what in "tl-prune --env $env" "tl-query --env $env" 'tl-export --one' 'tl-gen -n 5' 'tl-train -o /dev/null'; do
	# shellcheck disable=SC2086
	set -- $what
	program=$1
	shift
	timeout 60 "$bin/$program" -d "$tmp/rows.db" "$@" "$here/workloads.ndjson" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status -eq 3 ] && grep -q 'is damaged: a row lacks its "' "$tmp/err" && continue
	[ "$program" = tl-gen ] || [ "$program" = tl-export ] && [ $status -le 3 ] && continue # they ask for other envs than this one
	echo "# $what: $status"
	bad=1
done
for what in --dump=all --envs; do
	"$bin/tl-query" -d "$tmp/rows.db" $what >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q 'is damaged: a row lacks its "' "$tmp/err" && continue
	echo "# tl-query $what" && sed 's/^/# /' "$tmp/err"
	bad=1
done
ok $bad 'rows that lack a text are said to be damage'

# Flipped bits of a database.
cp "$tmp/sound.db" "$tmp/flip.db"
perl "$here/flip.pl" -n "$flips" "$tmp/flip.db" "$bin/tl-query -d $tmp/flip.db --env $env --top 5 $here/workloads.ndjson"
ok $? 'tl-query notices flipped bits of its database'
perl "$here/flip.pl" -n "$flips" -s 2 "$tmp/flip.db" "$bin/tl-prune -d $tmp/flip.db --env $env --all $here/workloads.ndjson"
ok $? 'so does tl-prune'
perl "$here/flip.pl" -n "$flips" -s 3 "$tmp/flip.db" "$bin/tl-export --one -d $tmp/flip.db $here/workloads.ndjson"
ok $? 'and tl-export'
perl "$here/flip.pl" -n "$flips" -s 4 -r 0-99 "$tmp/flip.db" "$bin/tl-query -d $tmp/flip.db --dump=all"
ok $? "and of its header"
cmp -s "$tmp/sound.db" "$tmp/flip.db"
ok $? 'nothing of this changed the database'

# Flipped bits of arrays, which archives have checksums of.
cp "$here/run/rows.npz" "$tmp/in.npz"
perl "$here/flip.pl" -n "$((flips / 4))" "$tmp/in.npz" "$bin/tl-run --no-db -t 1 -i $tmp/in.npz -o $tmp/outputs.npz $here/run/rows.onnx && cat $tmp/outputs.npz"
ok $? 'tl-run notices flipped bits of arrays'

echo "1..$n"
