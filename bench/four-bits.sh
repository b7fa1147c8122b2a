#!/bin/sh
# make bench-four-bits: products by weights of 4 bits, and which part of the memory's bandwidth they have.
#
# Of each workload of bench/four-bits.csv CANDIDATES (48) are measured, and the best duels with the library's product by the
# dequantized weights. A shared machine's memory is not always as fast. So the best kernel and a team that reads as many bytes and does
# nothing else (bench/read.c) then take turns, TURNS (5) times, and the table has the medians of both and of their ratios.
set -eu
out=$BUILD/bench-four-bits
mkdir -p "$out"
"$BIN/tl-extract" bench/four-bits.csv | "$BIN/tl-gen" -n "${CANDIDATES:-48}" |
	"$BIN/tl-measure" --final=2 >"$out/results.ndjson"
perl bench/four-bits.pl best "$out/results.ndjson" "$out"
: >"$out/turns"
for _ in $(seq "${TURNS:-5}"); do
	for one in "$out"/best.*; do
		s=$("$BIN/tl-measure" --final=0 "$one" | perl bench/four-bits.pl time)
		echo "${one##*.} $s $("$BUILD/bench/read" "$(cat "$out/bytes.${one##*.}")")" >>"$out/turns"
	done
done
perl bench/four-bits.pl table "$out/results.ndjson" "$out"
