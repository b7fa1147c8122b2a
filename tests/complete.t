#!/bin/bash
# Completion, as a user has it: keys are typed at a terminal to a real bash or zsh, and it is looked at what the program would
# have been called with. fish is asked by its own command for this.
cd "$(dirname "$0")/.." || exit 1
bin=$(realpath "${BIN:-bin}")
here=$PWD
made=$here/build/completions
# shellcheck source=tests/tap.sh
. tests/tap.sh
export PATH=$bin:$PATH TERM=xterm HOME=$tmp
unset TL_DB

[ -s "$made/bash/tl-gen" ] || {
	echo 'Bail out! no completions: run this by make check'
	exit 1
}

# What there is to complete: files and folders with strange names, and a database that knows an env.
mkdir -p "$tmp/files/my folder"
cd "$tmp/files" || exit 1
: >'my model.onnx'
: >"it's.onnx"
: >'a:b.onnx'
: >pretrained.model
printf '%s\n' '{"tl":1,"type":"workload","op":"matmul","prob":"8x16:16x32"}' | tl-check | tl-gen -n 2 | tl-measure --final=0 2>/dev/null |
	tl-store -q -d 'my results.db'
env=$(tl-query -d 'my results.db' --dump=results | sed -n 's/.*"env_id":"\([0-9a-f]*\)".*/\1/p' | head -1)

# In each shell, the programs are functions that write what they were called with, a line each, to $tmp/args.
programs='tl tl-gen tl-query tl-export tl-extract tl-filter tl-tune'
stubs=
for p in $programs; do
	stubs="$stubs$p() { printf '%s\\n' \"\$@\" >'$tmp/args'; }
"
done
# tl-query is called by completion, too.
stubs="${stubs}tl-query() { case \$1 in --env-ids) command tl-query \"\$@\" ;; *) printf '%s\\n' \"\$@\" >'$tmp/args' ;; esac; }
"
mkdir "$tmp/zsh"
{
	printf "PS1='$ '\nstty cols 400\nbind 'set bell-style none'\nbind 'set enable-bracketed-paste off'\n"
	for p in $programs; do
		echo "source '$made/bash/$p'"
	done
	printf '%s' "$stubs"
} >"$tmp/bashrc"
mkdir "$tmp/zsh/fpath"
for p in $programs; do
	cp "$made/zsh/$p" "$tmp/zsh/fpath/_$p"
done
{
	printf "PS1='$ '\nstty cols 400\nunsetopt beep\nfpath=('%s' \$fpath)\nautoload -Uz compinit\ncompinit -u -D\n" "$tmp/zsh/fpath"
	printf '%s' "$stubs"
} >"$tmp/zsh/.zshrc"

typed() { # shell keys: types them at a prompt; $tmp/args and $tmp/screen
	: >"$tmp/args"
	case $1 in
	bash) command="bash --noprofile --rcfile '$tmp/bashrc' -i" ;;
	zsh) command="ZDOTDIR='$tmp/zsh' zsh -o no_global_rcs -i" ;;
	esac
	# shellcheck disable=SC2059 # keys are a format
	{ printf "$2"; printf '\nexit\n'; } | timeout 60 script -qec "$command" /dev/null >"$tmp/screen" 2>&1
}

gives() { # shell keys arguments...: is that what the program gets?
	shell=$1 keys=$2
	shift 2
	typed "$shell" "$keys"
	printf '%s\n' "$@" | cmp -s - "$tmp/args"
	status=$?
	[ $status -eq 0 ] || sed 's/^/# it gets /' "$tmp/args"
	ok $status "$shell: $keys gives $*"
}

try() { # shell
	gives "$1" 'tl-gen my\\ m\t' 'my model.onnx'
	gives "$1" 'tl-gen it\t' "it's.onnx"
	gives "$1" 'tl-gen a\t' 'a:b.onnx'
	gives "$1" 'tl-export -o my\\ f\tx' -o 'my folder/x'
	gives "$1" 'tl-gen --model pretrained.\t' --model pretrained.model
	gives "$1" 'tl-gen --model n\t' --model none
	gives "$1" 'tl-gen --search gr\t' --search grid
	gives "$1" 'tl-gen --search=po\t' --search=portfolio
	gives "$1" 'tl-gen -s ra\t' -s random
	gives "$1" 'tl-tune --search=gui\t' --search=guided
	gives "$1" 'tl-gen -a win\t' -a winograd
	gives "$1" 'tl-query --op mat\t' --op matmul
	gives "$1" 'tl-query --layout nh\t' --layout nhwc
	gives "$1" 'tl-tune --layout nc\t' --layout nchw
	gives "$1" 'tl-tune --policy=tri\t' --policy=trimmer
	gives "$1" 'tl-filter --by dr\t' --by draft
	gives "$1" 'tl-export --isa sc\t' --isa scalar
	gives "$1" 'tl-gen --see\t3' --seed=3
	if [ -n "$env" ]; then
		gives "$1" "tl-gen -d my\\\\ results.db --env ${env%?????}\\t" -d 'my results.db' --env "$env"
		gives "$1" "tl-gen --db=my\\\\ results.db --env=${env%?????}\\t" '--db=my results.db' "--env=$env"
	fi
	gives "$1" 'tl ext\t' extract
	gives "$1" 'tl gen --search gr\t' gen --search grid
}

if ! has_terminal; then
	skip_terminal "what bash and zsh complete"
else
	for shell in bash zsh; do
		if command -v $shell >/dev/null; then
			try $shell
		else
			skip "$shell is not here"
		fi
	done
	gives bash 'tl-gen my\tm\t' 'my model.onnx'
	if command -v zsh >/dev/null; then
		typed zsh 'tl-filter --h\t\t'
		grep -q "With a model: this share of the places is the draft's choice" "$tmp/screen"
		ok $? 'zsh shows what an option does, with its colons and quotes'
	else
		skip 'zsh is not here'
	fi
fi

if command -v fish >/dev/null; then
	for p in $programs; do
		cat "$made/fish/$p"
	done >"$tmp/all.fish"
	offers() { # command line, what is offered
		fish -N -c "source '$tmp/all.fish'; complete -C '$1'" >"$tmp/offered" 2>/dev/null </dev/null
		grep -qF -- "$2" "$tmp/offered"
		status=$?
		[ $status -eq 0 ] || sed 's/^/# it offers /' "$tmp/offered"
		ok $status "fish: $1 offers $2"
	}
	offers 'tl-gen my' 'my model.onnx'
	offers 'tl-export -o my' 'my folder/'
	offers 'tl-gen --model n' 'none'
	offers 'tl-gen --model pre' 'pretrained.model'
	offers 'tl-gen --search=gr' '--search=grid'
	offers 'tl-gen -a win' winograd
	offers 'tl-query --op mat' matmul
	offers 'tl-query --layout nh' nhwc
	offers 'tl-filter --by dr' draft
	offers 'tl-filter --hed' "With a model: this share of the places is the draft's choice"
	if [ -n "$env" ]; then
		offers 'tl-gen -d my\ results.db --env ' "$env"
		offers 'tl-gen --db=my\ results.db --env=' "--env=$env"
	fi
	offers 'tl ext' extract
	offers 'tl gen --search gr' grid
else
	skip 'fish is not here'
fi

# What is made from a table with all kinds of characters; and a template that is wrong.
cd "$here" || exit 1
printf '%s\t%s\t%s\t%s\t%s\t%s\n' program tl-demo files '' '' '' \
	'value letter' n about TOPIC '' "What it's about: one of \"these\" [a\\b]" >"$tmp/table"
fill() { awk -f completions/fill.awk "$tmp/table" "$1"; }
fill completions/zsh/any.in | grep -qF "'-n+[What it'\\''s about\\: one of \"these\" \\[a\\\\b\\]]:TOPIC:'"
ok $? 'quotes, colons and brackets are kept in zsh'
fill completions/fish/any.in | grep -qF "complete -c tl-demo -s n -l about -x -d 'What it\\'s about: one of \"these\" [a\\\\b]'"
ok $? 'and in fish'
printf '%s\n' '@each' 'x @nmae@' '@end' >"$tmp/wrong.in"
! fill "$tmp/wrong.in" >"$tmp/out" 2>"$tmp/err" && grep -q 'wrong.in:3: nothing is called @nmae@' "$tmp/err"
ok $? 'a template with a wrong name is refused'
echo "1..$n"
