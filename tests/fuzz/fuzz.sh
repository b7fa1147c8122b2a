#!/bin/sh
# Runs one target of the fuzzer: sh tests/fuzz/fuzz.sh TARGET SECONDS [FOLDER]
#
# FOLDER (build/fuzz/runs/TARGET) has its seeds, in kept/ inputs of earlier runs that reach more than the seeds do (corpus.sh),
# the inputs that it came upon in corpus/, from which the next run goes on,
# and what it found: crash-*, timeout-*, oom-*. Such a file belongs into tests/fuzz/found/TARGET once its fault is mended.
# No input may take ten seconds, or more than 256 MB. FUZZ_SEED gives the mutations of an earlier run again, with equal
# addresses where the machine allows that (0: other mutations each time).
set -eu
target=$1 seconds=$2 folder=${3:-build/fuzz/runs/$1}
mkdir -p "$folder/corpus"
[ -d "$folder/seeds" ] || sh tests/fuzz/seeds.sh "$target" "$folder/seeds"
[ -d "$folder/kept" ] || {
	mkdir "$folder/kept"
	! tar -tf tests/fuzz/corpus.tar.zst | grep -q "^$target/." ||
		tar -xf tests/fuzz/corpus.tar.zst -C "$folder/kept" --strip-components=1 "$target"
}
fixed=
[ "${FUZZ_SEED:-0}" = 0 ] || ! setarch -R true 2>/dev/null || fixed="setarch -R"
# A packed file asks for a dictionary of up to 1 GiB, of which it fills only what it unpacks: room is no memory.
room=256
[ "$target" != archive ] || room=1100
# What was freed is not kept for long, as it would count.
FUZZ=$target ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=8:detect_leaks=1 \
	LSAN_OPTIONS=suppressions=share/lsan.supp:print_suppressions=0 UBSAN_OPTIONS=print_stacktrace=1 \
	exec $fixed build/fuzz/fuzz -max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-10}" -rss_limit_mb=256 -malloc_limit_mb=$room \
	-seed="${FUZZ_SEED:-0}" -artifact_prefix="$folder/" -print_final_stats=1 -verbosity=0 "$folder/corpus" "$folder/seeds" "$folder/kept"
