#!/bin/sh
# Wrong files: each gets one sentence, which tells the mend; what is no record is told a few times, not a thousand.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB
export TL_PROBE=0

# Every program that reads records: its command line before the file. Recordings (--from, tl-train) may be compressed, and may be
# databases; and that nothing is in them is another sentence.
readers() { # "records": those that read nothing else; "unordered": those that do not put records in order; "all"
	cat <<-END
		tl-gen -n 1
		tl-check -q
		tl-filter
		tl-prune --no-db
		tl-measure
		tl-store -q -d $tmp/new.db
		tl-query -d $tmp/a.db
		tl-export -o $tmp/kernels
		tl-replay --from $tmp/results
	END
	[ "$1" = unordered ] || echo 'tl-check -q --fix'
	[ "$1" = records ] || printf '%s\n' 'tl-replay --from' 'tl-train --time=1s -o /dev/null'
}

refuse() { # kind file words: says each of the readers one sentence, with the words, and nothing else?
	readers "$1" | while read -r command; do
		# shellcheck disable=SC2086
		"$bin"/$command "$2" >"$tmp/out" 2>"$tmp/err" </dev/null
		status=$?
		grep -v -e 'nothing was recorded' -e 'there is no result to learn from' "$tmp/err" >"$tmp/told"
		[ $status -eq 3 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/told")" -eq 1 ] &&
			grep -q "^${command%% *}: $2:1: .*$3" "$tmp/told" && continue
		echo "# $command: exit status $status"
		sed 's/^/# /' "$tmp/err"
	done >"$tmp/faults"
	cat "$tmp/faults"
	[ ! -s "$tmp/faults" ]
}

wrong() { # name, words of the sentence, records or nothing
	refuse "${3:-all}" "$tmp/$1" "$2"
	ok $? "$1: $2"
}

no_model() { # name, words of the sentence
	for command in tl-extract 'tl-run --no-db'; do
		# shellcheck disable=SC2086
		"$bin"/$command "$tmp/$1" >"$tmp/out" 2>"$tmp/err" </dev/null
		[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "^${command%% *}: $tmp/$1: .*$2" "$tmp/err" ||
			sed 's/^/# /' "$tmp/err"
	done >"$tmp/faults"
	cat "$tmp/faults"
	[ ! -s "$tmp/faults" ]
	ok $? "$1 is no model: $2"
}

# A database, and the results in it.
"$bin/tl-check" "$here/workloads.ndjson" | "$bin/tl-gen" -n 1 | "$bin/tl-measure" --final=0 2>/dev/null >"$tmp/results"
"$bin/tl-store" -q -d "$tmp/a.db" "$tmp/results"

seq 3000 >"$tmp/many"
gzip -c "$tmp/many" >"$tmp/model.tar.gz"
wrong model.tar.gz 'this is an archive, or compressed; tl-extract reads' records
(cd "$tmp" && tar cf model.tar many)
wrong model.tar 'this is an archive, or compressed; tl-extract reads' records
zstd -q -o "$tmp/model.zst" "$tmp/many" 2>/dev/null || printf '\050\265\057\375\n\n\n\n\n\n' >"$tmp/model.zst"
wrong model.zst 'this is an archive' records
printf '\010\007\022\006tester\n\n\n\n' >"$tmp/model.onnx"
wrong model.onnx 'this is an ONNX model; tl-extract reads it'
printf 'op,prob,layout,post,count\nmatmul,1x2:2x3,ab,,1\n' >"$tmp/list.csv"
wrong list.csv 'this is a list of operators; tl-extract'
wrong a.db 'this is a database' records
printf '\223NUMPY\001\0' >"$tmp/array.npy"
wrong array.npy 'NumPy'
printf '{"name":"resnet"}\n' >"$tmp/other.json"
printf '[\n  {\n    "tl": 1\n  }\n]\n' >"$tmp/list.json"
wrong list.json "jq -c '...'"
printf '{\n  "tl": 1,\n  "type": "workload"\n}\n' >"$tmp/spread.json"
wrong spread.json 'jq -c \.'
printf '\357\273\277{"tl":1,"type":"workload","op":"matmul","prob":"1x2:2x3"}\n' >"$tmp/marked"
wrong marked 'byte-order mark'

# What no program reads, neither as records nor as a model.
strange() { # name, words of the sentence
	wrong "$1" "$2" "$3"
	no_model "$1" "$2"
}
{
	printf 'PK\003\004'
	head -c 22 /dev/zero
	printf '\016\0\0\0net18/data.pkl\n\n\n'
} >"$tmp/model.pt"
wrong model.pt 'PyTorch.*torch.onnx.export' records
printf '\200\002\212\012l\374\234F\371 j\250P\031.\200\002M\n' >"$tmp/old.pt"
strange old.pt 'PyTorch.*torch.onnx.export'
printf '\022\001\0\0\0\0\0\0\0\0\0\0\0\0\0\0\n' >"$tmp/net-0000.params"
strange net-0000.params 'MXNet.*mxnet.onnx.export_model'
printf '{\n  "nodes": [\n    {\n      "op": "null"\n    }\n  ]\n}\n' >"$tmp/net-symbol.json"
strange net-symbol.json 'MXNet.*mxnet.onnx.export_model'
printf '\034\0\0\0TFL3\n\n\n\n' >"$tmp/model.tflite"
wrong model.tflite 'this is a TFLite model; tl-extract reads it' records
"$bin/tl-run" --no-db "$tmp/model.tflite" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q "^tl-run: $tmp/model.tflite: this is a TFLite model; tl-run runs ONNX models" "$tmp/err"
ok $? 'which tl-run does not run'
printf 'GGUF\003\n\n\n\n' >"$tmp/model.gguf"
wrong model.gguf 'this is a GGUF model; tl-extract reads it' records
printf '\211HDF\r\n\032\n' >"$tmp/model.h5"
strange model.h5 'HDF5'
for f in "$here"/fuzz/found/keras/*.h5; do
	"$bin/tl-extract" "$f" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q "$f: its attribute model_config cannot be read" "$tmp/err"
	ok $? "$(basename "$f"): a description that is not one text"
done
printf '\050\0\0\0\0\0\0\0{"w":{"dtype":"F32","shape":[0]}}\n' >"$tmp/model.safetensors"
strange model.safetensors 'safetensors'
printf '<!DOCTYPE html>\n<html>\n<body>\n404\n' >"$tmp/page"
strange page 'this is a web page'
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >"$tmp/pointer.onnx"
strange pointer.onnx 'git lfs pull'
no_model a.db 'this is a database'

# A model of another kind is known by the members of its archive.
if command -v zip >/dev/null; then
	mkdir -p "$tmp/net"
	seq 100 >"$tmp/net/data.pkl"
	seq 100 >"$tmp/net/saved_model.pb"
	seq 100 >"$tmp/net/constants.pkl"
	seq 100 >"$tmp/net/archive_format"
	seq 100 >"$tmp/net/model.weights.h5"
	(cd "$tmp" && zip -q -r zipped.pt net/data.pkl && zip -q -r zipped.zip net/saved_model.pb &&
		zip -q script.pt net/data.pkl net/constants.pkl && zip -q archive.pt2 net/archive_format &&
		zip -q -r net.keras net/model.weights.h5)
	no_model zipped.pt 'PyTorch.*torch.export.save.*torch.onnx.export'
	no_model script.pt 'TorchScript.*torch.onnx.export(torch.jit.load'
	no_model archive.pt2 'PyTorch.*tl-extract reads programs of torch.export'
	no_model zipped.zip 'TensorFlow'
	"$bin/tl-run" --no-db "$tmp/net.keras" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q "this is a .keras archive; .*format='onnx'" "$tmp/err"
	ok $? 'net.keras: tl-run says what makes an ONNX model of it'
else
	for what in zipped.pt script.pt archive.pt2 zipped.zip net.keras; do
		skip "$what: zip is not here"
	done
fi

# Where something else is wanted than records or a model.

perl "$here/tiny-onnx.pl" >"$tmp/tiny.onnx"
while IFS='|' read -r command words; do
	# shellcheck disable=SC2086
	"$bin"/$command <"$here/workloads.ndjson" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "^${command%% *}: $words" "$tmp/err"
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' "$tmp/err"
	ok $status "${command%%"$tmp"*}: $words"
done <<END
tl-query -d $tmp/tiny.onnx|cannot open the database $tmp/tiny.onnx: file is not a database
tl-filter -m $tmp/tiny.onnx|$tmp/tiny.onnx is no cost model
tl-run --random-weights 1 --no-db -i $tmp/page $tmp/tiny.onnx|$tmp/page: it is no array of NumPy's
tl-run --random-weights 1 --no-db -c $tmp/many $tmp/tiny.onnx|$tmp/many: it is no array of NumPy's
END

# Records as another JSON printer writes them.

sed 's/":/": /g; s/,"/, "/g' "$here/workloads.ndjson" >"$tmp/spaced"
head -n 1 "$tmp/spaced" >"$tmp/spaced2"
"$bin/tl-gen" -n 1 "$tmp/spaced" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q ':1: this record has blanks between its fields; tl-check --fix puts it in order' "$tmp/err"
ok $? 'a record with blanks is told from what is none'
refuse unordered "$tmp/spaced2" 'this record has blanks between its fields; tl-check --fix puts it in order'
ok $? 'so does every program'
refuse all "$tmp/other.json" 'this is JSON, but no record'
ok $? 'other JSON is told from records'
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
	for option in $("$program" --help | sed -n 's/^.* --\([a-z-]*\)=\(ID\|RUN\|CLAIM\)\( .*\)*$/\1/p'); do
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
[ "$(grep -c -e '--env$' "$tmp/options")" -eq 7 ] && grep -q '^tl-query --run$' "$tmp/options" && grep -q '^tl-measure --part-of$' "$tmp/options"
ok $? 'seven programs have an --env'

# A terminal: whoever forgot the file is told what is waited for.

if has_terminal; then
	script -qec "$bin/tl-check -q" /dev/null </dev/null >"$tmp/out" 2>&1
	grep -q '^tl-check: reading records from standard input' "$tmp/out"
	ok $? 'a program that reads a terminal says so'
else
	skip_terminal "a program that reads a terminal"
fi
"$bin/tl-check" -q </dev/null 2>"$tmp/err"
[ ! -s "$tmp/err" ]
ok $? 'and no other'

# Many bad lines

"$bin/tl-gen" "$tmp/many" "$here/workloads.ndjson" -n 1 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ "$(wc -l <"$tmp/err")" -eq 6 ] && grep -q "many: and 2995 more errors like that of line 1" "$tmp/err"
ok $? 'three thousand bad lines take six to tell'
[ "$(grep -c '"type":"candidate"' "$tmp/out")" -eq "$(wc -l <"$here/workloads.ndjson")" ]
ok $? 'and the next file is read'

# Lines that are records, and make no sense, are told in the same way; kinds are told apart.

{
	for i in $(seq 20); do
		printf '{"tl":1,"type":"workload","op":"matmul","prob":"%dx0:0x3"}\n' "$i"
		printf '{"tl":1,"type":"workload","op":"thing%d","prob":"1x2:2x3"}\n' "$i"
	done
} >"$tmp/bad"
for command in 'tl-check -q' tl-gen tl-filter tl-measure "tl-query -d $tmp/a.db" tl-extract; do
	# shellcheck disable=SC2086
	"$bin"/$command "$tmp/bad" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ "$(grep -c "^${command%% *}: $tmp/bad:[0-9]*: " "$tmp/err")" -eq 10 ] &&
		[ "$(grep -c "^${command%% *}: $tmp/bad: and 15 more errors like that of line [12]$" "$tmp/err")" -eq 2 ]
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' "$tmp/err"
	ok $status "${command%% *} tells each kind five times, as FILE:LINE:, and counts the rest"
done
printf 'op,prob\nmatmul,1x2:2x3\nmatmul,nonsense\n' >"$tmp/bad.csv"
"$bin/tl-extract" "$tmp/bad.csv" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q "^tl-extract: $tmp/bad.csv:3: " "$tmp/err"
ok $? 'lines of lists have their place, too'
"$bin/tl-gen" <"$tmp/model.onnx" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '^tl-gen: (standard input):1: this is an ONNX model' "$tmp/err"
ok $? 'and so has standard input'
echo "1..$n"
