#!/bin/sh
# What a machine may put in a program's way: a pipe with a name where a file is wanted, a file that may not grow (ulimit -f), an
# ignored signal, and a team of a thousand threads. Each is told by a sentence at once; nothing hangs.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB TL_MODEL OMP_NUM_THREADS
export TL_PROBE=0 TL_CACHE="$tmp/cache" TL_LOCKS="$tmp"
seconds=60 # a command is killed after these

head -n 1 "$here/workloads.ndjson" >"$tmp/w"
"$bin/tl-gen" -n 1 "$tmp/w" >"$tmp/c"
"$bin/tl-measure" --final=0 "$tmp/c" >"$tmp/r" 2>/dev/null
"$bin/tl-store" -q -d "$tmp/a.db" "$tmp/r"
cp "$here/run/rows.onnx" "$here/run/rows.npz" "$here/run/external.onnx" "$tmp"
mkfifo "$tmp/pipe" "$tmp/external.bin"
case $bin in /*) PATH=$bin:$PATH ;; *) PATH=$PWD/$bin:$PATH ;; esac
cd "$tmp" || exit 1

# Does a command end with this status and one sentence with these words?
says() { # status words command...
	status=$1 wanted=$2
	shift 2
	timeout -k 5 "$seconds" "$@" </dev/null >out 2>err
	is=$?
	[ $is -eq "$status" ] && { [ -z "$wanted" ] || grep -q -e "$wanted" err; }
	ok $? "$*: ${wanted:-all is well}" || { echo "# exit status $is"; sed 's/^/# /' err; }
}

# Pipes with a name

while read -r what command; do
	# shellcheck disable=SC2086
	says 3 "cannot read the ${what%,*} .*pipe: it is a pipe, not a file" $command
done <<'END'
network tl-run --no-db pipe
arrays tl-run --no-db -i pipe rows.onnx
arrays tl-run --no-db -c pipe rows.onnx
model tl-run --no-db -m pipe rows.onnx
database tl-run -d pipe rows.onnx
database tl-query -d pipe w
model tl-query -d a.db --predict -m pipe w
database tl-store -d pipe r
database tl-gen -d pipe w
model tl-gen --search=guided -m pipe w
model tl-filter -m pipe c
database tl-prune -d pipe w
database tl-measure --skip-known -d pipe c
database tl-replay --from r --after pipe c
model tl-train --update pipe r
database tl-train -d pipe r
database tl-export -d pipe --all -o kernels
database tl-tune -d pipe w
END
says 3 'the journal pipe is not a file' tl-measure --final=0 --journal pipe c
says 3 "the elements of '.*': cannot read the weights in .*external.bin: it is a pipe, not a file" tl-run --no-db external.onnx
says 3 'it is a folder, not a file' tl-run --no-db -i . rows.onnx
says 3 'it is a device, not a file' tl-gen --search=guided -m /dev/zero w
mkfifo gone
cat r >gone &
says 0 '' tl-replay --from gone -o replayed c
wait
grep -q '"type":"result"' replayed
ok $? 'a recording may come through a pipe'
sh -c 'cat rows.npz | tl-run --no-db -i /dev/stdin -c rows.npz rows.onnx' >out 2>err && grep -q equal out
ok $? 'and so may arrays, through one without a name'

# Files that may not grow

may_not_grow() { # command
	# shellcheck disable=SC2086
	(
		ulimit -f 0
		exec timeout -k 5 "$seconds" $1 </dev/null >out
	) 2>&1 | cat >err
	grep -q "^${1%% *}: cannot .*\(File too large\|cannot build\)" err
	ok $? "$1: a sentence" || sed 's/^/# /' err
}
while read -r command; do
	may_not_grow "$command"
done <<'END'
tl-check w
tl-check -o x w
tl-gen -n 9 w
tl-filter -o x c
tl-prune -d a.db -o x w
tl-measure --final=0 -o x c
tl-measure --final=0 --journal journal c
tl-store -q -d new.db r
tl-query -d a.db -o x w
tl-query -d a.db --report x.html w
tl-export -o kernels r
tl-replay --from r -o x c
tl-train --trials=1 --bag=1 -o x r
tl-extract -o x rows.onnx
tl-run --no-db --save-inputs x.npz rows.onnx
tl-doctor
END
[ -z "$(find . -name 'x*' -o -name 'kernels*' -o -name '*.tmp')" ]
ok $? "and nothing of these files is left: $(find . -name 'x*' -o -name 'kernels*' -o -name '*.tmp')"

# A program is started with a signal ignored

cat >deaf.pl <<'END'
$SIG{CHLD} = 'IGNORE';
exec @ARGV or die;
END
says 0 '' perl deaf.pl tl-measure --final=0 -o measured c
says 0 '' perl deaf.pl tl-tune -q -m none --no-db --final=0 -u 'candidates<2' -o tuned w
grep -q '"type":"result"' measured && grep -q '"type":"result"' tuned
ok $? 'children are waited for where SIGCHLD was ignored'

# Threads

many=$(($(nproc) * 4 + 1))
[ "$many" -gt 64 ] || many=65
words="asks for $many threads, and this process may use [0-9]* CPUs*: no more than [0-9]* run there"
export OMP_NUM_THREADS="$many"
says 2 "^tl-run: OMP_NUM_THREADS $words" tl-run --no-db rows.onnx
says 2 "^tl-measure: OMP_NUM_THREADS $words" tl-measure --final=0 c
says 2 "^tl-tune: OMP_NUM_THREADS $words" tl-tune -d new.db w
TL_PROBE=1
timeout -k 5 "$seconds" tl-doctor >out 2>err
grep -q "OMP_NUM_THREADS $words" out
ok $? 'tl-doctor tells it, and probes nothing with such a team'
says 0 '' tl-gen -n 1 w
unset OMP_NUM_THREADS
says 2 "^tl-run: --threads \($words\|wants at most\)" tl-run --no-db -t "$many" rows.onnx
if command -v cc >/dev/null && tl-export -o kernels r 2>err && make -s -C kernels example THREADS=pthreads >out 2>&1; then
	timeout -k 5 "$seconds" kernels/example "$(sed -n 's/.*"op":"\([^"]*\)".*/\1/p' w)" "$(sed -n 's/.*"prob":"\([^"]*\)".*/\1/p' w)" "$many" >out 2>err
	[ $? -eq 1 ] && grep -q 'Invalid argument' err
	ok $? 'nor does an exported library make such a team'
else
	skip 'the export does not build here'
fi
echo "1..$n"
