#!/bin/sh
# shellcheck disable=SC3045 # dash has ulimit -v
# What the fuzzer found is mended; and each of its targets runs for a second (TL_TEST_FUZZ=SECONDS; 0: none), from where a
# longer run ended (tests/fuzz/corpus.sh).
bin=${BIN:-bin}
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh
seconds=${TL_TEST_FUZZ:-1}
targets=$(sh tests/fuzz/targets.sh)

# An input is read, or refused with a sentence, and what is written are records.
for f in tests/fuzz/found/*/*; do
	format=$(basename "$(dirname "$f")")
	case $format in
	archive) set -- "$f" ;;
	hdf5) set -- -f keras "$f" ;;
	index) continue ;; # of a checkpoint, which stands beside a model: it is one of the seeds
	where | vary | shape | dim) set -- "--$format=$(cat "$f")" share/models/squeezenet1_1.zip ;;
	*) set -- -f "$format" "$f" ;;
	esac
	for ops in products all; do
		(
			[ -n "$SAN" ] || ulimit -v 1000000
			"$bin/tl-extract" --ops "$ops" "$@" >"$tmp/out" 2>"$tmp/err"
		)
		status=$?
		{ [ $status -eq 0 ] || { [ $status -le 3 ] && [ -s "$tmp/err" ]; }; } && "$bin/tl-check" -q "$tmp/out"
		ok $? "${f#tests/fuzz/found/}, --ops $ops"
	done
done

for target in $targets; do
	if [ "$seconds" -eq 0 ]; then
		skip "fuzzing of $target: TL_TEST_FUZZ is 0"
	elif [ -n "$SAN" ]; then
		skip "fuzzing of $target: it has sanitizers of its own"
	elif [ ! -x build/fuzz/fuzz ]; then
		skip "fuzzing of $target: this machine has no clang with libFuzzer"
	else
		# Each run tries the same mutations, as many as the time allows. Ten minutes is a hang on any machine.
		BIN=$bin FUZZ_SEED=1 FUZZ_TIMEOUT=600 sh tests/fuzz/fuzz.sh "$target" "$seconds" "$tmp/$target" >"$tmp/told" 2>&1
		ok $? "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$tmp/told") inputs"
		tail -1 "$tmp/told" | grep -q peak_rss || tail -40 "$tmp/told" | sed 's/^/# /'
		grep -A1 'Test unit written' "$tmp/told" | sed 's/^/# /'
		for f in "$tmp/$target"/crash-* "$tmp/$target"/oom-* "$tmp/$target"/leak-* "$tmp/$target"/timeout-*; do
			[ ! -e "$f" ] || { mkdir -p build/fuzz/found && cp "$f" "build/fuzz/found/$target-$(basename "$f")"; }
		done
	fi
done

echo "1..$n"
