#!/bin/sh
# make bench-gpu [TARGET=cuda] [SECTIONS="..."] [MODELS="FILE..."] [BATCHES="1 32"] [TYPES="f32 tf32 bf16 f16"] [BUDGET=SECONDS] [FINALS=N] [PROBLEMS=N]
# [KILLS=N] [EVERY=N]:
# all that is to be known of a GPU, in less than 25 minutes.
#
# SECTIONS are, in this order:
#   verify    kernels of PROBLEMS (10) random problems an operator run on the device, and their results compared (tests/blocks.c)
#   sanitize  a few of them under compute-sanitizer's memcheck, racecheck and synccheck, where that is found
#   hostile   kernels that hang, write where they must not and the like, a good one between any two (bench/hostile.pl)
#   kill      tl-tune killed KILLS (5) times at random moments, and then run to its end
#   tune      each of the models, at each batch size and in each element type, in BUDGET (900) seconds for all. A model without
#             convolutions is tuned as it is, without a batch size. Where the target has a library, the best kernel of each workload is
#             then timed in turns with the library's best, in FINALS (2) processes. What there is no time for is left out.
#             EVERY=3 takes the first, fourth, seventh... workload of each.
# TARGET=opencl takes the first device of OpenCL. Nothing else should run meanwhile.
#
# The tables are those of bench/gpu.pl. The records behind them are in build/bench-gpu/figures.ndjson, which the next run removes.
set -eu
bin=${BIN:-bin}
tests=${TESTS_BIN:-build/tests}
target=${TARGET:-cuda}
dir=build/bench-gpu
sections=${SECTIONS:-verify sanitize hostile kill tune}
budget=${BUDGET:-900}
helper=$bin/../libexec/tl/$target
for section in $sections; do
	case $section in
	verify | sanitize | hostile | kill | tune) ;;
	*) echo "make bench-gpu: SECTIONS has $section, and wants some of verify, sanitize, hostile, kill and tune" >&2; exit 2 ;;
	esac
done
device=$("$helper" --device) || exit 3
commit=$(git describe --always --dirty 2>/dev/null || echo unknown) # before the log makes it a dirty one
bench=gpu
# shellcheck source=bench/log.sh
. bench/log.sh
rm -rf "$dir"
mkdir -p "$dir/hostile" "$dir/kill"
TL_CACHE=$PWD/$dir/cache
export TL_CACHE TL_TEST_DRIVER="$target"
unset TL_DB TL_MODEL

tell() { # name value
	printf '%s\t%s\n' "$1" "$2" >>"$dir/run"
}
wanted() {
	case " $sections " in *" $1 "*) echo "$1" >&2 ;; *) return 1 ;; esac
}
tell begin "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
tell commit "$commit"
tell target "$target"
tell sections "$sections"
tell every "${EVERY:-1}"
tell device "$device"
tell compiler "$("$helper" --version 2>/dev/null || echo none)"
tell cpu "$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -n 1)"
if [ "$target" = cuda ] && driver=$(nvidia-smi --query-gpu=driver_version,power.limit,clocks.max.sm,clocks.max.mem --format=csv,noheader 2>/dev/null | head -n 1); then
	tell driver "$driver"
fi

if wanted verify; then
	TL_TEST_PROBLEMS=${PROBLEMS:-10} TL_TEST_BLOCKS=2 TL_TEST_RUN=1 "$tests/blocks" >"$dir/verify.tap" 2>"$dir/verify.log" ||
		tell verify "it ended with status $?"
fi

# Each tool's output has its own summary; the test's goes along.
if wanted sanitize; then
	PATH=$PATH:/usr/local/cuda/bin
	if [ "$target" != cuda ]; then
		tell sanitize "compute-sanitizer is for CUDA"
	elif ! command -v compute-sanitizer >/dev/null; then
		tell sanitize "no compute-sanitizer"
	else
		for tool in memcheck racecheck synccheck; do
			room= # for the barriers of all kernels, which no kernel gives back
			[ $tool != synccheck ] || room='--num-cuda-barriers 1000000'
			# shellcheck disable=SC2086 # two words, or none
			TL_TEST_PROBLEMS=5 TL_TEST_BLOCKS=1 TL_TEST_RUN=1 timeout 150 compute-sanitizer --tool "$tool" $room --error-exitcode 86 "$tests/blocks" \
				>"$dir/$tool.tap" 2>"$dir/$tool.log" || tell "$tool" "it ended with status $?"
		done
	fi
fi

if wanted hostile; then
	perl bench/hostile.pl kernels "$bin" "$target" "$dir/hostile" >"$dir/hostile.ndjson" || tell hostile "it ended with status $?"
fi

if wanted kill; then
	perl bench/hostile.pl kills "$bin" "$target" "$dir/kill" "${KILLS:-5}" >"$dir/kill.ndjson" || tell kill "it ended with status $?"
fi

network() { # model, name, type, kind, options of tl-extract
	from=$1 name=$2-$3 type=$3 kind=$4
	shift 4
	if "$bin/tl-extract" -q --vary "dtype=$type" "$@" -o "$dir/$name.all" "$from" 2>"$dir/$name.err"; then
		awk -v every="${EVERY:-1}" '!/"type":"workload"/ || n++ % every == 0' "$dir/$name.all" >"$dir/$name.workloads"
		printf '%s\t%s\t%s\n' "$name" "$type" "$kind" >>"$dir/networks"
	else
		echo "$name: $(tail -n 1 "$dir/$name.err")" | tee -a "$dir/left_out" >&2
	fi
}
if wanted tune; then
	for type in ${TYPES:-f32 bf16 tf32 f16}; do
		for model in ${MODELS:-share/models/resnet50.tar.zst share/models/mobilenet_v2.tar.zst share/models/bert_base.tar.zst}; do
			base=$(basename "$model")
			base=${base%%.*}
			if "$bin/tl-extract" -q "$model" | grep -q '"op":"conv'; then
				for batch in ${BATCHES:-1 32}; do
					network "$model" "$base-$batch" "$type" "batch $batch" --batch "$batch"
				done
			else
				network "$model" "$base" "$type" products
			fi
		done
	done
	tell budget_s "$budget"
	end=$(($(date +%s) + budget))
	touch "$dir/networks"
	left=$(wc -l <"$dir/networks")
	while IFS='	' read -r name type kind; do
		share=$(((end - $(date +%s)) / left))
		left=$((left - 1))
		if [ "$share" -lt 5 ]; then
			tell "$name" 'no time was left'
			continue
		fi
		echo "$name: $share s" >&2
		# Rounds of 4 for each workload, because a round is never cut short. What is left of the share is for the finals, which are not, either.
		timeout -s INT $((share + 300)) "$bin/tl-tune" -q --target="$target" -d "$dir/tl.db" --until "seconds<$((share * 2 / 5))" --final "${FINALS:-2}" \
			-b $((4 * $(grep -c '"type":"workload"' "$dir/$name.workloads"))) -o /dev/null "$dir/$name.workloads" 2>"$dir/$name.err" ||
			tell "$name" "tl-tune ended with status $?: $(tail -n 1 "$dir/$name.err")"
		[ ! -e "$dir/tl.db" ] || "$bin/tl-query" -q -d "$dir/tl.db" --target="$target" -o "$dir/$name.tuned" "$dir/$name.workloads" || [ $? -eq 1 ] # of some nothing is known
	done <"$dir/networks"
	[ ! -e "$dir/tl.db" ] || "$bin/tl-query" -d "$dir/tl.db" --dump=results -o "$dir/all"
fi

tell end "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
perl bench/gpu.pl "$dir" >"$dir/figures.ndjson"
perl bench/gpu.pl --table "$dir/figures.ndjson"
