#!/bin/sh
# Makes tests/fuzz/corpus.tar.zst anew, after `make all build/fuzz/fuzz`: sh tests/fuzz/corpus.sh [SECONDS]
#
# Each target runs for so long (75), from its seeds and the corpus that there is. Of what it came upon those inputs stay
# that reach code which the seeds alone do not reach. So tests/fuzz.t begins where a longer run ended.
set -eu
seconds=${1:-75}
here=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/corpus"
for target in $(sh tests/fuzz/targets.sh); do
	run=$tmp/$target
	sh tests/fuzz/fuzz.sh "$target" "$seconds" "$run" >"$tmp/said" 2>&1 || { tail -40 "$tmp/said" >&2; exit 1; }
	cp -r "$run/seeds" "$run/all"
	FUZZ=$target ASAN_OPTIONS=detect_leaks=0 build/fuzz/fuzz -merge=1 -use_counters=0 "$run/all" "$run/kept" "$run/corpus" >"$tmp/said" 2>&1
	mkdir "$tmp/corpus/$target"
	for f in "$run/all"/*; do
		[ -e "$run/seeds/${f##*/}" ] || mv "$f" "$tmp/corpus/$target"
	done
	echo "$target: $(ls "$tmp/corpus/$target" | wc -l) inputs"
	rm -r "$run"
done
cd "$tmp/corpus"
tar -cf - --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -- * | zstd -qf -19 --long=27 -o "$here/tests/fuzz/corpus.tar.zst"
