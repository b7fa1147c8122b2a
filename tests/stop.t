#!/bin/sh
# Signals end every program, whatever it does, and nothing of it is left: no process, no temporary file. A run that was
# killed leaves nothing behind the next one.
bin=${BIN:-bin}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB
export TL_PROBE=0 TL_CACHE="$tmp/cache" TL_LOCKS="$tmp" TMPDIR="$tmp/scratch"
mkdir "$TMPDIR"
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
seconds=60 # what runs longer than these after a signal hangs; each of the runs would take hours

head -n 20 "$here/workloads.ndjson" >"$tmp/w"
head -n 1 "$tmp/w" | "$bin/tl-gen" -n 40 -a gemm >"$tmp/c"
printf 'op,prob,layout,post\nmatmul,12x20:20x24,ab,\n' >"$tmp/small.csv"
"$bin/tl-extract" -q --format csv "$tmp/small.csv" | "$bin/tl-gen" -n 40 >"$tmp/small"
"$bin/tl-measure" --final=0 --race=2ms "$tmp/small" >"$tmp/r" 2>/dev/null
perl "$here/tiny-onnx.pl" >"$tmp/tiny.onnx"
mkfifo "$tmp/pipe"

nothing_left() {
	perl "$here/torture/torture.pl" left "TL_STOPPED=$tmp"
}

# Does a command end by each of the signals once a file says that it is under way (-: once it has said something)?
stops() { # what file command
	what=$1 file=$2
	shift 2
	for s in TERM INT HUP; do
		case $s in TERM) wanted=143 ;; INT) wanted=130 ;; *) wanted=129 ;; esac
		(
			rm -rf "$tmp/run"
			mkdir "$tmp/run"
			cd "$tmp/run" || exit 99
			export TL_STOPPED="$tmp"
			exec perl "$here/stop.pl" "$s" "$file" "$seconds" "$@"
		) >"$tmp/out" 2>"$tmp/err"
		status=$?
		nothing_left
		left=$?
		[ $status -eq $wanted ] && [ $left -eq 0 ] && [ -z "$(find "$tmp/run" "$TMPDIR" -mindepth 1)" ]
		ok $? "$what: $s" || { echo "# exit status $status; left: $(find "$tmp/run" "$TMPDIR" -mindepth 1)"; sed 's/^/# /' "$tmp/err"; }
	done
}

stops tl-train - "$bin/tl-train" --time=9999s -o model "$tmp/r"
stops 'tl-gen, whose command repeats itself' "$tmp/sign" "$bin/tl-gen" -o cand \
	-s "exec:echo x >$tmp/sign; while :; do echo '{\"algo\":\"gemm\",\"knobs\":{}}'; done" "$tmp/w"
rm -f "$tmp/sign"
stops 'tl-gen, whose command sleeps in a child' "$tmp/sign" "$bin/tl-gen" -o cand -s "exec:echo x >$tmp/sign; sleep 9999 | cat" "$tmp/w"
stops tl-export "$tmp/r" "$bin/tl-export" -o kernels "$tmp/r" "$tmp/pipe"
stops 'tl-extract, with a pipe that nobody writes to' "$tmp/r" "$bin/tl-extract" -o work "$tmp/pipe"
stops 'tl-replay, with such a recording' "$tmp/r" "$bin/tl-replay" --from "$tmp/pipe" -o work "$tmp/c"
stops 'tl-run' - "$bin/tl-run" --random-weights 1 --profile --bench 9999s --tune 9999s -d "$tmp/run.db" "$tmp/tiny.onnx"

stops 'tl-run, which tunes' - "$bin/tl-run" --random-weights 1 --tune 9999s -d "$tmp/run.db" "$tmp/tiny.onnx"

# Killed: the children go with it, and the next run takes away what it left.

killed() { # what file command
	what=$1 file=$2
	shift 2
	(
		rm -rf "$tmp/run"
		mkdir "$tmp/run"
		cd "$tmp/run" || exit 99
		export TL_STOPPED="$tmp"
		exec perl "$here/stop.pl" KILL "$file" "$seconds" "$@"
	) >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 137 ] && nothing_left
	ok $? "$what, killed: no process is left"
}
rm -f "$tmp/sign"
killed tl-gen "$tmp/sign" "$bin/tl-gen" -s "exec:echo x >$tmp/sign; sleep 9999 | cat" "$tmp/w"
for db in "-d $tmp/t.db" --no-db; do
	rm -f "$tmp/sign"
	# shellcheck disable=SC2086
	killed "tl-tune $db" "$tmp/sign" "$bin/tl-tune" $db -s "exec:echo x >$tmp/sign; sleep 9999 | cat" "$tmp/w"
done
set -- "$TMPDIR"/tl-tune-??????
[ $# -eq 1 ] && [ -d "$1" ]
ok $? 'a folder of the last of them is left, and none of the one before'
mkdir "$TMPDIR/tl-tune-others" "$TMPDIR/tl-tune-mine12"
chmod 700 "$TMPDIR/tl-tune-mine12"
echo notes >"$TMPDIR/tl-tune-mine12/notes"
ln -s "$1" "$TMPDIR/tl-tune-linked"
"$bin/tl-tune" -q -d "$tmp/t.db" --until 'rounds<0' "$tmp/w" >"$tmp/out" 2>"$tmp/err"
[ ! -e "$1" ] && [ -d "$TMPDIR/tl-tune-others" ] && [ -f "$TMPDIR/tl-tune-mine12/notes" ] && [ -h "$TMPDIR/tl-tune-linked" ]
ok $? 'the next run removes it, and no folder or link of others'
echo "1..$n"
