#!/bin/bash
# The first hour of a stranger: installs, types what README says, takes a model of their own, gives the wrong file, puts a stage
# in Python between two programs, makes a report, removes it all. What they read is looked at for what they would look for;
# `prove -v tests/stranger.t` shows it whole. All budgets are tiny.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
# shellcheck source=tests/tap.sh
. tests/tap.sh
export HOME=$tmp XDG_CACHE_HOME=${XDG_CACHE_HOME:-$tmp/cache} TL_LOCKS=${TL_LOCKS:-$tmp} TL_PROBE=${TL_PROBE:-0}
unset TL_DB TL_MODEL XDG_DATA_HOME
mkdir "$tmp/work"
cd "$tmp/work" || exit 1

# Runs a command line as typed. What it says goes to $tmp/said, and into the test's own output; 0 if its status is the one given.
types() { # status command
	bash -o pipefail -c "$2" >"$tmp/said" 2>&1 </dev/null
	local status=$?
	{
		printf '$ %s\n' "$2"
		cat "$tmp/said"
	} | sed 's/^/#   /'
	[ $status -eq "$1" ] || {
		echo "# its status is $status, not $1"
		false
	}
}

says() { # pattern...: does each stand in what was said?
	local pattern
	for pattern; do
		grep -qE -- "$pattern" "$tmp/said" || {
			echo "# it does not say: $pattern"
			return 1
		}
	done
}

lines() { # most: are there as many lines, and not 0?
	[ -s "$tmp/said" ] && [ "$(wc -l <"$tmp/said")" -le "$1" ]
}

# ---- Installing into a folder ----

# When install.t does not make it, too.
do_make() {
	flock "$root/build/making" env -u SAN -u MAKEFLAGS -u MFLAGS make -C "$root" -s "$@" DESTDIR= PREFIX="$tmp/tl"
}
do_make install >"$tmp/said" 2>&1
status=$?
[ $status -eq 0 ] || sed 's/^/# /' "$tmp/said"
ok $status 'it installs into a folder'
find "$tmp/tl" -type f | sort >"$tmp/installed"
export PATH=$tmp/tl/bin:$PATH
types 0 'tl' && says '^  measure ' '^  tune ' 'man 7 tl'
ok $? '`tl` lists the programs'
types 0 'tl help gen' && says '^Usage: tl-gen' '--search='
ok $? '`tl help gen` is the help of tl-gen'
types 2 'tl-gen --serach=grid' && says 'did you mean --search'
ok $? 'a slip of the pen is understood'

# ---- README ----

# Before anything else it says what it can and cannot do, with a picture of the result.
head -n 30 "$root/README.md" >"$tmp/said"
says '^\| element types .*f32' '^\| operators .*convolutions.*products of matrices' '^\| systems .*Debian 12.*x86-64' '<img src="docs/demo.svg"'
ok $? 'README says in its first screen what the toolkit does, and what it does not'
head -c 200 "$root/docs/demo.svg" | grep -q '<svg' && [ "$(wc -c <"$root/docs/demo.svg")" -lt 65536 ]
ok $? 'and its picture is in the tree, and small'

# What stands indented in README and begins with a program, up to the next blank line.
from_readme() { # the nth command
	awk -v n="$1" '/^    tl-/ { if (++k == n) { sub(/^    /, ""); print; exit } }' "$root/README.md"
}
ln -s "$tmp/tl/share/tl" share
pipeline=$(from_readme 1)
asks=$(from_readme 2)
loops=$(from_readme 3)
case "$pipeline$asks$loops" in
*tl-extract*tl-gen*tl-filter*tl-measure*tl-store*tl-query*--table*tl-tune*) true ;;
*) false ;;
esac
ok $? 'README begins with a pipeline, a question and the loop'
# Two operators, few candidates.
small=$(printf '%s' "$pipeline" | sed -e 's/| tl-gen/| head -n 2 | tl-gen/' -e 's/-n 1000/-n 50/' -e 's/-k 16/-k 2/')
types 0 "$small" && says 'tl-extract: resnet18: [0-9]+ operators extracted'
ok $? 'the pipeline of README runs'
types 0 "$(printf '%s' "$asks" | sed 's/| tl-query/| head -n 2 | tl-query/')" && says 'conv2d' 'faster|same|slower|undecided' 'core-seconds'
ok $? 'and its question is answered with a table'
grep -qE '\bnan\b|\binf\b|-nan' "$tmp/said"
[ $? -ne 0 ]
ok $? 'in which stands no nan'
types 0 "$(printf '%s' "$loops" | sed 's/tl-tune/tl-tune --time=1s --final=0/')" && says 'conv2d'
ok $? 'the loop of README runs'

# ---- A model of one's own ----

perl "$root/tests/tiny-onnx.pl" >'my model.onnx'
types 0 'tl-extract "my model.onnx"' && says '"op":"conv2d"' 'my model'
ok $? 'the operators of an own model'
types 0 'tl-tune -d my.db --until "candidates<8" "my model.onnx"' && says 'conv2d' 'faster|same|slower|undecided'
ok $? 'are tuned'
types 0 'tl-run -d my.db --random-weights 1 --bench 100ms "my model.onnx"' && says 'my model.onnx: [0-9.]+ ms' '1 of 1 kernels'
ok $? 'and the model runs on what was found'
types 0 'tl-extract -q "my model.onnx" | tl-export -d my.db -o kernels && make -s -C kernels check'
ok $? 'the kernel can be taken away, and passes its own test'

# ---- Wrong files ----

seq 3000 >many
gzip -c many >many.gz
tar cf own.tar 'my model.onnx'
printf '<!DOCTYPE html>\n<html>\n<body>\n404\n' >page.html
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >pointer.onnx
mkdir net18
echo weights >net18/data.pkl
zip -q -0 net.pt net18/data.pkl
printf '\034\0\0\0TFL3\n\n\n\n' >net.tflite
printf 'GGUF\003\n\n\n\n' >net.gguf
printf '\211HDF\r\n\032\n' >net.h5
printf '{"name":"resnet"}\n' >other.json
printf '[\n  {\n  }\n]\n' >list.json
# Each: the file; what tl-gen, tl-extract and tl-run say of it. "-": not asked.
while IFS='|' read -r file gen extract run; do
	for to in "tl-gen -n 1|$gen" "tl-check|$gen" "tl-extract|$extract" "tl-run --no-db|$run"; do
		[ "${to#*|}" = - ] && continue
		[ -e "$file" ] || {
			skip "there is no $file: zip is not here"
			continue
		}
		types 3 "${to%%|*} $file" && lines 1 && says "^[a-z-]*: $file:.*${to#*|}"
		ok $? "${to%%|*} $file: ${to#*|}"
	done
done <<'END'
many.gz|this is an archive.*tl-extract reads|it holds no model|it holds no ONNX model
own.tar|this is an archive.*tl-extract reads|-|-
page.html|web page|web page|web page
pointer.onnx|git lfs pull|git lfs pull|git lfs pull
net.pt|PyTorch.*torch.onnx.export|PyTorch|PyTorch
net.tflite|TFLite model; tl-extract reads it|TFLite|TFLite.*tl-run runs ONNX
net.gguf|GGUF model; tl-extract reads it|GGUF model in the order|GGUF model; tl-run runs ONNX
net.h5|HDF5.*ONNX|HDF5|HDF5
my.db|database.*-d|database.*-d|database.*-d
other.json|no record|no model of a known format|no ONNX model
list.json|jq|no model of a known format|no ONNX model
END
types 3 'tl-gen -n 1 "my model.onnx"' && lines 1 && says 'ONNX model; tl-extract reads it'
ok $? 'tl-gen says who reads a model'
types 3 'tl-gen many' && lines 6 && says 'many: and 2995 more'
ok $? 'three thousand wrong lines take six to tell'
types 3 'tl-extract nowhere.onnx' && lines 1 && says 'nowhere.onnx: .*No such file'
ok $? 'a file that is not there'

# ---- A stage in Python ----

cat >stage.py <<'END'
import json, sys

for line in sys.stdin:
    record = json.loads(line)
    if record["type"] != "candidate" or record["algo"] == "direct":
        print(json.dumps(record))
END
if command -v python3 >/dev/null; then
	types 3 'tl-extract -q "my model.onnx" | tl-gen -n 200 | python3 stage.py | tl-filter -k 1' && lines 6 && says 'tl-check --fix puts it in order'
	ok $? 'what Python prints is no record yet, and it is said what makes one of it'
	types 0 'tl-extract -q "my model.onnx" | tl-prune -d my.db --min-gain 0 -b 2 | tl-gen -d my.db -n 200 | python3 stage.py | tl-check --fix | tl-filter | tl-measure --final=0 | tl-store -d my.db' &&
		says '"algo":"direct".*"status":"(ok|preempted)"' && ! says '"type":"result".*"algo":"(gemm|winograd|grouped)"' >"$tmp/other"
	ok $? 'a stage in Python that takes one algorithm'
else
	skip 'python3 is not here'
	skip 'python3 is not here'
fi

# ---- A report ----

types 0 'tl-extract -q "my model.onnx" | tl-query -d my.db --report report.html'
ok $? 'a report'
grep -q '<svg' report.html && grep -q 'ic8ih14_oc16oh14_kh3ph1' report.html && ! grep -qE '>-?(nan|inf)<' report.html
ok $? 'which is a page with plots'
types 0 'tl-extract -q "my model.onnx" | tl-query -d my.db --report report.md' && grep -qE '^\| ic8ih14_oc16oh14_kh3ph1 .*(faster|same|slower|undecided)' report.md
sed "s/^/#   /" report.md
ok $? 'and one in Markdown'

# ---- Removing it ----

do_make uninstall >"$tmp/said" 2>&1 && [ -z "$(find "$tmp/tl" -type f)" ]
ok $? 'uninstalling removes every file that was installed'
[ -s my.db ] && [ -s report.html ]
ok $? 'and nothing of what was measured'
echo "1..$n"
