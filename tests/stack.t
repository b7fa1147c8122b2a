#!/bin/sh
# shellcheck disable=SC3045 # dash has ulimit -s
# A small stack: programs make theirs larger, and their threads', or say that they cannot.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

predict() { # 4: its answer is a prediction
	"$bin/tl-query" --predict --op=matmul --prob=64x64:64x64 >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 4 ] && grep -q '"candidate_id":' "$tmp/out"
}

(ulimit -S -s 128 && predict)
ok $? 'a limit of 128 kB that may be raised is raised'
(ulimit -s 1024 && predict)
ok $? '1024 kB are enough'
for program in "$bin"/tl-*; do
	name=${program##*/}
	(ulimit -s 128 && exec "$program" --version >"$tmp/out" 2>"$tmp/err")
	[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q "^$name: the limit of the stack is 128 kB, .*(ulimit -s)" "$tmp/err"
	ok $? "$name says that 128 kB are too little"
done
echo "1..$n"
