#!/bin/sh
# The record schema: what tl-check --schema prints holds for the records that the programs write and that tl-record(5) shows, knows
# each of their fields, and refuses nothing that tl-check takes.
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-$PWD/bin}
# shellcheck source=tests/tap.sh
. tests/tap.sh
unset TL_DB TL_CC
export TL_CACHE="$tmp/cache"
if [ -z "$TL_ISA" ]; then
	if has_isa avx2; then TL_ISA=avx2; else TL_ISA=scalar; fi
	export TL_ISA
fi

# The records that tl-record(5) shows, each on a line.
awk '/^\.Bd / { on = 1; next }
	/^\.Ed/ { if (line) print line; on = 0; line = ""; next }
	on && (line || /^\{"tl":1,"type":"[a-z]*"/) { line = line $0 }' build/man/tl-record.5 >"$tmp/shown"

types() { # file
	sed 's/^{"tl":1,"type":"\([a-z]*\)".*/\1/' "$1" | sort -u | tr '\n' ' '
}
[ "$(types "$tmp/shown")" = 'ask begin candidate choice cost done end env fleet observed result run space stats workload ' ]
ok $? 'tl-record(5) shows a record of each type' || types "$tmp/shown"
"$bin/tl-check" "$tmp/shown" >"$tmp/out" 2>"$tmp/err" && cmp -s "$tmp/out" "$tmp/shown"
ok $? 'tl-check finds nothing wrong in them, and nothing to change' || sed 's/^/# /' "$tmp/err"
"$bin/tl-check" --schema >"$tmp/schema" && grep -q 'draft/2020-12' "$tmp/schema"
ok $? 'tl-check --schema prints a JSON Schema'
"$bin/tl-check" --schema -o "$tmp/file" >"$tmp/out" && cmp -s "$tmp/schema" "$tmp/file" && [ ! -s "$tmp/out" ]
ok $? 'or writes it to the file that --output names'
! "$bin/tl-check" --schema >/dev/full 2>"$tmp/err" && grep -q 'cannot write' "$tmp/err"
ok $? 'and says when it could not'

# The page's lists are those of the tables.
"$bin/tl-check" --schema | sed -n 's/^    "\([A-Za-z0-9_]*\)":{.*/.It Li \1/p' | sort -u >"$tmp/fields"
[ "$(wc -l <"$tmp/fields")" -gt 100 ] && [ -z "$(sort -u build/man/tl-record.5 | comm -13 - "$tmp/fields")" ]
ok $? 'tl-record(5) lists all fields' || sort -u build/man/tl-record.5 | comm -13 - "$tmp/fields" | sed 's/^/# /'
for target in cpu cuda opencl; do
	"$bin/tl-gen" --list-knobs --target=$target | awk 'NR > 1 { print $1, $2, $3 }'
done | sort -u >"$tmp/knobs"
sed -n '/^\.Sh ALGORITHMS AND KNOBS/,/^\.Sh GROUPS/p' build/man/tl-record.5 |
	awk '/^\.It Li [a-z0-9_]+$/ { algo = $3 } /^\.It Li .* Pq/ { print algo, $3, $5 }' | sort >"$tmp/listed"
[ "$(wc -l <"$tmp/knobs")" -gt 60 ] && cmp -s "$tmp/knobs" "$tmp/listed"
ok $? 'and all knobs of all targets, with their frozen values' || diff "$tmp/knobs" "$tmp/listed" | sed 's/^/# /'
{ echo '@A@'; echo text; echo '@C@'; } >"$tmp/text"
printf '%s\n' '@A@' '@B@' >"$tmp/page"
! awk -f share/fill.awk "$tmp/text" "$tmp/page" >"$tmp/out" 2>"$tmp/err" && [ "$(cat "$tmp/out")" = "$(printf 'text\n@B@')" ] &&
	grep -q 'nothing was made for @B@' "$tmp/err" && grep -q 'there is no line @C@' "$tmp/err"
ok $? 'a page with a list too many or too few is not made'

# A pipeline's records, of all programs.
db=$tmp/tl.db
{
	printf '%s\n' '{"tl":1,"type":"workload","op":"matmul","prob":"32x64:64x64"}'
	perl tests/tiny-onnx.pl >"$tmp/tiny.onnx" && "$bin/tl-extract" -q "$tmp/tiny.onnx"
} | "$bin/tl-check" >"$tmp/wl"
{
	for round in 1 2; do
		"$bin/tl-prune" -d "$db" "$tmp/wl" 2>/dev/null | tee "$tmp/pruned.$round" |
			"$bin/tl-gen" -d "$db" --cost --seed=$round -n 60 2>/dev/null | "$bin/tl-filter" --cost -k 4 --audit=0.1 --refused="$tmp/refused.$round" |
			"$bin/tl-measure" --samples --audit=1 --final=1 2>/dev/null | tee "$tmp/results.$round" | "$bin/tl-store" -d "$db" 2>/dev/null
	done
	cat "$tmp"/pruned.* "$tmp"/refused.* "$tmp"/results.*
	"$bin/tl-query" -d "$db" "$tmp/wl"
	"$bin/tl-query" -d "$db" --predict --op=matmul --prob=33x64:64x65
	"$bin/tl-query" -d "$tmp/none.db" --predict --model=none --op=matmul --prob=33x64:64x65
	"$bin/tl-query" -d "$db" --stats
	"$bin/tl-query" -d "$db" --envs
	"$bin/tl-query" -d "$db" --fleet
	"$bin/tl-query" -d "$db" --cost
	"$bin/tl-run" -q -d "$db" --random-weights 1 --in-place 20s --race-all "$tmp/tiny.onnx"
	"$bin/tl-query" -d "$db" --dump=all
	"$bin/tl-gen" -n 60 "$tmp/wl" | "$bin/tl-replay" --from "$tmp/results.1" 2>/dev/null
	"$bin/tl-gen" -n 2 -d "$db" --search="exec:cat >>$tmp/asked" "$tmp/wl" 2>/dev/null
	cat "$tmp/asked"
} >"$tmp/all" 2>"$tmp/err"
[ "$(types "$tmp/all")" = "$(types "$tmp/shown")" ] && grep -q '"stage":"final"' "$tmp/results.1" && grep -q '"replayed":true' "$tmp/all"
ok $? 'a pipeline writes records of each type' || sed 's/^/# /' "$tmp/err"
sort -u "$tmp/all" "$tmp/shown" >"$tmp/records"
"$bin/tl-check" -q "$tmp/records" 2>"$tmp/err"
ok $? 'tl-check takes all of them' || sed 's/^/# /' "$tmp/err" | cut -c1-300 | head

if ! python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
	skip 'python3-jsonschema is not here, to hold records against the schema'
	echo "1..$n"
	exit
fi
wrong() { # part, records
	python3 -W ignore tests/schema.py "$1" "$tmp/schema" "$2" "$bin/tl-check" >"$tmp/out" 2>"$tmp/err" || echo 'the script failed' >>"$tmp/out"
	sort -u "$tmp/out" | cut -c1-300 | head -n 20 | sed 's/^/# /'
	sed 's/^/# /' "$tmp/err"
	[ ! -s "$tmp/out" ]
}
wrong valid "$tmp/records"
ok $? 'the schema takes all of them'
wrong known "$tmp/records"
ok $? 'and knows each of their fields'
python3 -c 'import json; json.load(open("'"$tmp/schema"'"))' &&
	python3 -W ignore -c 'import json, jsonschema; jsonschema.Draft202012Validator.check_schema(json.load(open("'"$tmp/schema"'")))'
ok $? 'the schema is one'

# What is changed: one record of each form, with each required field left out and each field of another kind.
awk '{
	match($0, /"type":"[a-z]*"/)
	form = substr($0, RSTART, RLENGTH)
	for (i = split("\"status\":\"ok\" \"status\":\"preempted\" \"stage\":\"final\" \"duel\" \"again\" \"audit\" \"incumbent\" \"opponent\" \"replayed\" \"score\"", mark, " "); i; i--)
		form = form (index($0, mark[i]) ? mark[i] : "")
	if (!(form in seen)) print
	seen[form] = 1
}' "$tmp/records" >"$tmp/forms"
wrong mutants "$tmp/forms"
ok $? 'the schema and tl-check refuse what lacks a field or has one of another kind'

# Can it fail? A schema that knows a field less, and one that is stricter.
sed 's/"flops":{/"slops":{/' "$tmp/schema" >"$tmp/other" && mv "$tmp/other" "$tmp/schema"
! wrong known "$tmp/forms" >/dev/null
ok $? 'a field that the schema does not know is seen'
sed 's/"enum":\["tune","stop"\]/"enum":["stop"]/' "$tmp/schema" >"$tmp/other" && mv "$tmp/other" "$tmp/schema"
grep '"tune"' "$tmp/forms" >"$tmp/decisions"
! wrong mutants "$tmp/decisions" >/dev/null && grep -q '^the schema alone refuses ' "$tmp/out"
ok $? 'and a schema that refuses what tl-check takes'
echo "1..$n"
