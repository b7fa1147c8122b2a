#!/bin/sh
# Runs one target of the fuzzer: sh tests/fuzz/fuzz.sh TARGET SECONDS [FOLDER]
#
# FOLDER (build/fuzz/TARGET) has its seeds, the inputs that it came upon in corpus/, from which the next run goes on, and
# what it found: crash-*, timeout-*, oom-*. Such a file belongs into tests/fuzz/found/TARGET once its fault is mended. No
# input may take ten seconds, or more than 256 MB.
set -eu
target=$1 seconds=$2 folder=${3:-build/fuzz/runs/$1}
mkdir -p "$folder/corpus"
[ -d "$folder/seeds" ] || sh tests/fuzz/seeds.sh "$target" "$folder/seeds"
# What was freed is not kept for long, as it would count.
FUZZ=$target ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=8:detect_leaks=1 \
	LSAN_OPTIONS=suppressions=share/lsan.supp:print_suppressions=0 UBSAN_OPTIONS=print_stacktrace=1 \
	exec build/fuzz/fuzz -max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-10}" -rss_limit_mb=256 -artifact_prefix="$folder/" \
	-print_final_stats=1 -verbosity=0 "$folder/corpus" "$folder/seeds"
