#!/bin/sh
# Standard streams that are closed. No program hangs, or takes a file that it opens for one of them: reading a closed standard
# input and writing a closed standard output are errors, with a sentence and exit status 3, and a closed standard error changes
# nothing.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB
export TL_PROBE=0 TL_CACHE="$tmp/cache"
libexec=$(dirname "$bin")/libexec/tl
seconds=120 # a run takes a few; it is killed after these

head -n 1 "$here/workloads.ndjson" >"$tmp/w"
"$bin/tl-gen" -n 1 "$tmp/w" >"$tmp/c"
"$bin/tl-measure" --final=0 "$tmp/c" >"$tmp/r" 2>/dev/null
"$bin/tl-store" -q -d "$tmp/a.db" "$tmp/r"
perl "$here/tiny-onnx.pl" >"$tmp/tiny.onnx"
cp "$here/run/rows.onnx" "$here/run/rows.npz" "$tmp"

# What reads (r) standard input, what writes (w) standard output, what does neither (-), and its exit status if all is well.
commands() {
	cat <<-'END'
		r 0 tl-check
		w 0 tl-check w
		r 0 tl-gen -n 1
		w 0 tl-gen -n 1 w
		r 0 tl-filter
		w 0 tl-filter c
		r 1 tl-prune --no-db
		w 0 tl-prune -d a.db w
		r 0 tl-measure --final=0
		w 0 tl-measure --final=0 c
		r 0 tl-store -d new.db
		w 0 tl-store -d new.db r
		- 0 tl-store -q -d new.db r
		r 0 tl-query -d a.db
		w 0 tl-query -d a.db w
		w 0 tl-query -d a.db --table w
		- 0 tl-query -d a.db -o best w
		r 1 tl-export -o kernels
		- 0 tl-export -o kernels r
		w 0 tl-export --one r
		r 0 tl-replay --from r
		w 0 tl-replay --from r c
		r 3 tl-train --trials=1
		w 0 tl-train --trials=1 --bag=1 r
		r 3 tl-extract -
		w 0 tl-extract tiny.onnx
		w 0 tl-run --no-db -i rows.npz -c rows.npz rows.onnx
		- 0 tl-run --no-db -i rows.npz -o out.npz rows.onnx
		w 0 tl-tune -d new.db --until rounds<1 -b 1 --final 0 w
		- 0 tl-tune -q -d new.db --until rounds<1 -b 1 --final 0 w
		w 0 tl-doctor
		w 0 tl
		w 0 tl-gen --help
	END
}

# Runs a command of the list with streams closed: "0 1" closes the first two. 124: it hung.
closed() { # streams command
	(
		cd "$tmp" || exit 99
		rm -rf kernels new.db best out.npz
		: >out
		: >err
		set -f
		# shellcheck disable=SC2086
		set -- "$1" $2
		streams=" $1 "
		program=$1
		shift
		program=$1
		shift
		exec </dev/null >out 2>err
		case $streams in *' 0 '*) exec <&- ;; esac
		case $streams in *' 1 '*) exec >&- ;; esac
		case $streams in *' 2 '*) exec 2>&- ;; esac
		exec timeout -k 5 "$seconds" "$program" "$@"
	)
}

case $bin in /*) PATH=$bin:$PATH ;; *) PATH=$PWD/$bin:$PATH ;; esac
databases='' # what was stored must be what is read back: no stream of a program ends up in a file
check() { # streams how command expected-status
	closed "$1" "$3"
	status=$?
	good=0
	[ "$status" -eq "$4" ] || good=1
	case $1 in
	*2*) [ ! -s "$tmp/err" ] || good=1 ;;
	*) [ "$status" -ne 3 ] || [ -s "$tmp/err" ] || good=1 ;;
	esac
	if [ -f "$tmp/new.db" ] && ! "$bin/tl-query" -d "$tmp/new.db" --dump=all >"$tmp/dump" 2>&1; then
		databases="$databases $3"
	fi
	ok $good "$3: $2" || { echo "# exit status $status, not $4"; sed 's/^/# /' "$tmp/err"; }
}

commands >"$tmp/commands"
while read -r what well command; do
	[ "$what" = r ] && reads=3 || reads=$well
	[ "$what" = w ] && writes=3 || writes=$well
	[ "$what" = - ] && any=$well || any=3
	check 0 'standard input closed' "$command" "$reads"
	check 1 'standard output closed' "$command" "$writes"
	check 2 'standard error closed' "$command" "$well"
	check '0 1 2' 'all three closed' "$command" "$any"
done <"$tmp/commands"
[ -z "$databases" ]
ok $? "every database that they made can be read$databases"

closed 0 'tl-gen'
grep -qx 'tl-gen: cannot read (standard input): Bad file descriptor' "$tmp/err"
ok $? 'a closed standard input is told by its name'
closed 1 'tl-check w'
grep -qx 'tl-check: cannot write standard output: Bad file descriptor' "$tmp/err"
ok $? 'and so is a closed standard output'
closed 1 'tl-run --no-db --random-weights 1 -b 0.01s tiny.onnx'
grep -qx 'tl-run: cannot write standard output: Bad file descriptor' "$tmp/err"
ok $? 'also by tl-run, which writes before its end'

# The programs that are not for people
for program in "$libexec"/*; do
	timeout -k 5 "$seconds" "$program" <&- >&- 2>&-
	status=$?
	[ $status -ne 124 ] && [ $status -lt 128 ]
	ok $? "${program##*/} with nothing open ends"
done
echo "1..$n"
