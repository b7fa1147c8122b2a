#!/bin/sh
# Wrong files: each gets one sentence, which tells the mend; what is no record is told a few times, not a thousand.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB

wrong() { # name, words of the sentence
	for program in tl-gen tl-check tl-filter; do
		"$bin/$program" "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
		[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "^$program: $tmp/$1:1: .*$2" "$tmp/err" || {
			sed 's/^/# /' "$tmp/err"
			break
		}
		false
	done
	[ $? -eq 1 ]
	ok $? "$1: $2"
}

seq 3000 >"$tmp/many"
gzip -c "$tmp/many" >"$tmp/model.tar.gz"
wrong model.tar.gz 'this is an archive, or compressed; tl-extract reads'
(cd "$tmp" && tar cf model.tar many)
wrong model.tar 'this is an archive, or compressed; tl-extract reads'
zstd -q -o "$tmp/model.zst" "$tmp/many" 2>/dev/null || printf '\050\265\057\375\n\n\n\n\n\n' >"$tmp/model.zst"
wrong model.zst 'this is an archive'
printf 'PK\003\004%026d%s\n\n\n\n' 0 archive/data.pkl >"$tmp/model.pt"
wrong model.pt 'PyTorch'
printf '\010\007\022\006tester\n\n\n\n' >"$tmp/model.onnx"
wrong model.onnx 'this is an ONNX model; tl-extract reads it'
printf '\034\0\0\0TFL3\n\n\n\n' >"$tmp/model.tflite"
wrong model.tflite 'TFLite'
printf 'GGUF\003\n\n\n\n' >"$tmp/model.gguf"
wrong model.gguf 'GGUF'
printf '\211HDF\r\n\032\n' >"$tmp/model.h5"
wrong model.h5 'HDF5'
printf '<!DOCTYPE html>\n<html>\n<body>\n404\n' >"$tmp/page"
wrong page 'this is a web page'
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >"$tmp/pointer"
wrong pointer 'git lfs pull'
printf 'op,prob,layout,post,count\nmatmul,1x2:2x3,ab,,1\n' >"$tmp/list.csv"
wrong list.csv 'this is a list of operators; tl-extract'
"$bin/tl-store" -q -d "$tmp/a.db" "$here/workloads.ndjson"
wrong a.db 'this is a database'

# Records as another JSON printer writes them.

sed 's/":/": /g; s/,"/, "/g' "$here/workloads.ndjson" >"$tmp/spaced"
"$bin/tl-gen" -n 1 "$tmp/spaced" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':1: this record has blanks between its fields; tl-check --fix puts it in order' "$tmp/err"
ok $? 'a record with blanks is told from what is none'
"$bin/tl-check" --fix "$tmp/spaced" | cmp -s - "$here/workloads.ndjson"
ok $? 'and tl-check puts it in order'


# As Python's json.dumps prints them: blanks, escapes of what is not ASCII, and where it was asked to, keys in their order.
if command -v python3 >/dev/null; then
	dumped() { # options of json.dumps
		python3 -c "
import json
for line in open('$tmp/umlaut'):
    print(json.dumps(json.loads(line)$1))" >"$tmp/dumped"
	}
	sed 's/"source":\["/"source":["n\xc3\xa4rrisch:c1394537d64c:\/a","/' "$here/workloads.ndjson" >"$tmp/umlaut"
	dumped '' && ! cmp -s "$tmp/dumped" "$tmp/umlaut" && "$bin/tl-check" --fix "$tmp/dumped" | cmp -s - "$tmp/umlaut"
	ok $? 'tl-check --fix mends what json.dumps prints'
	dumped ', sort_keys=True' && "$bin/tl-check" --fix "$tmp/dumped" >"$tmp/mended" && "$bin/tl-check" "$tmp/mended" | cmp -s - "$tmp/mended" &&
		grep -c '^{"tl":1,"type":"workload",.*närrisch' "$tmp/mended" | grep -qx "$(wc -l <"$tmp/umlaut")"
	ok $? 'also with sorted keys'
	dumped ''
	"$bin/tl-gen" -n 1 "$tmp/dumped" >/dev/null 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q ':1: .*tl-check --fix puts it in order' "$tmp/err"
	ok $? 'and that is where the hint leads'
else
	skip 'python3 is not here, to print records'
fi

# Ids that are none, in all programs that have an option for one

for program in "$bin"/tl-*; do
	name=${program##*/}
	for option in $("$program" --help | sed -n 's/^.* --\([a-z-]*\)=\(ID\|RUN\)\( .*\)*$/\1/p'); do
		bad=0
		for id in foo '' 01234 0123456789ABCDEF0123456789ABCDEF 0123456789abcdef0123456789abcdef0; do
			"$program" --$option="$id" </dev/null >"$tmp/out" 2>"$tmp/err"
			[ $? -eq 2 ] && grep -q "^$name: --$option wants an id of 32 hexadecimal digits.*, not \"$id\"" "$tmp/err" && [ ! -s "$tmp/out" ] ||
				bad=1
		done
		ok $bad "$name refuses an --$option that is no id"
		echo "$name --$option" >>"$tmp/options"
	done
done
[ "$(grep -c -e '--env$' "$tmp/options")" -eq 6 ] && grep -q '^tl-query --run$' "$tmp/options" && grep -q '^tl-measure --part-of$' "$tmp/options"
ok $? 'six programs have an --env'

# A terminal: whoever forgot the file is told what is waited for.

if command -v script >/dev/null; then
	script -qec "$bin/tl-check -q" /dev/null </dev/null >"$tmp/out" 2>&1
	grep -q '^tl-check: reading records from standard input' "$tmp/out"
	ok $? 'a program that reads a terminal says so'
else
	skip 'script is not here, to play a terminal'
fi
"$bin/tl-check" -q </dev/null 2>"$tmp/err"
[ ! -s "$tmp/err" ]
ok $? 'and no other'

# Many bad lines

"$bin/tl-gen" "$tmp/many" "$here/workloads.ndjson" -n 1 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ "$(wc -l <"$tmp/err")" -eq 6 ] && grep -q "many: and 2995 more lines that are no records" "$tmp/err"
ok $? 'three thousand bad lines take six to tell'
[ "$(grep -c '"type":"candidate"' "$tmp/out")" -eq "$(wc -l <"$here/workloads.ndjson")" ]
ok $? 'and the next file is read'
echo "1..$n"
