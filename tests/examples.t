#!/bin/bash
# Runs every example of the manual: each literal display in a section EXAMPLES is a script, run where the files that it
# names have been made, and small.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
export PATH=${BIN:-$PWD/bin}:$PATH
# shellcheck source=tests/tap.sh
. tests/tap.sh
export HOME=$tmp TMPDIR=$tmp
unset TL_DB XDG_DATA_HOME

# The examples of a page, as files $tmp/examples/PAGE.NUMBER.
extract() { # page
	awk -v to="$tmp/examples/${1##*/}" '
		/^\.Sh / { on = $2 == "EXAMPLES"; next }
		on && /^\.Bd -literal/ { file = sprintf("%s.%02d", to, ++k); next }
		on && /^\.Ed/ { file = ""; next }
		on && file { print > file }' "$1"
}

# What mandoc makes of the escapes that the pages use.
plain() {
	sed -e "s/\\\\(aq/'/g" -e 's/\\(ti/~/g' -e 's/\\e/\\/g' -e 's/\\&//g' -e 's/\\-/-/g'
}

# As typed; what is no shell command is brought to where it stands.
as_script() { # example
	case $1 in
	%.*) # a rule of a Makefile
		printf '%s\n' "$1" >rules.mk
		echo 'make -f rules.mk nets.res'
		;;
	'0 2 * * *'*) printf '%s\n' "${1#'0 2 * * *'}" ;;
	parallel*) # without ssh; and where GNU parallel is not here, what its --pipe -N1 -j1 does
		parallel --version 2>/dev/null </dev/null | grep -q GNU || cat <<-'END'
			parallel() {
				while [[ $1 == -* ]]; do shift; done
				while IFS= read -r line; do "$@" <<<"$line" || return; done
			}
		END
		printf '%s\n' "${1/-S a,b,c/}"
		;;
	*) printf '%s\n' "$1" ;;
	esac
}

# Which of the languages that an example is written in is not here?
missing() { # example
	local word
	for word in jq python3; do
		[[ $1 == *"| $word "* || $1 == "$word "* ]] && ! command -v $word >/dev/null && echo $word
	done
	[[ $1 == *jsonschema* ]] && ! python3 -c 'import jsonschema' 2>/dev/null && echo python3-jsonschema
}

mkdir "$tmp/examples" "$tmp/files"
for page in build/man/*.[157]; do
	extract "$page"
done
grep -q . "$tmp"/examples/tl-*.01 || {
	echo 'Bail out! no examples: run this by make check'
	exit 1
}

# The files that the examples name, all small.
cd "$tmp/files" || exit 1
perl "$root/tests/tiny-onnx.pl" >resnet50.onnx
cp resnet50.onnx resnet18.onnx
tar -czf resnet18.tar.gz resnet18.onnx
cp resnet50.onnx m.onnx
mkdir -p models/resnet50
cp resnet50.onnx models/resnet50/model.onnx
printf '%s\n' '{"tl":1,"type":"workload","op":"matmul","prob":"16x64:64x64"}' | tl-check >nets.wl
cp nets.wl "$HOME/nets.wl"
tl-extract -q resnet18.tar.gz | cat nets.wl - | tl-gen -n 3 | tl-measure --final=1 2>err | tl-store -q -d tl.db
cp tl.db b.db

for file in "$tmp"/examples/*; do
	name=${file##*/}
	example=$(plain <"$file")
	lacks=$(missing "$example")
	if [ "$lacks" ]; then
		skip "$lacks is not here: $name"
		continue
	fi
	rm -rf "$tmp/run"
	cp -r "$tmp/files" "$tmp/run"
	cd "$tmp/run" || exit 1
	as_script "$example" >script
	how='-o pipefail'
	[[ $example == *head* ]] && how= # it may end those before it by SIGPIPE
	# shellcheck disable=SC2086
	timeout 60 bash $how script >out 2>err </dev/null
	status=$?
	# The nearest is an answer, too.
	[[ $status -eq 4 && $example == tl-query* ]] && status=0
	ok $status "$name: ${example//$'\n'/; }"
	[ $status -eq 0 ] || sed "s/^/# ($status) /" err | tail -20
done
echo "1..$n"
