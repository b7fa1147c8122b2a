#!/bin/sh
# make spaces: record how fast the candidates of whole spaces are on this machine, to learn from and to try searches on.
#
# share/spaces/plan says of which workloads, and how many candidates. They are drawn uniformly from all that are valid, and
# neither filtered nor raced; or, with mixed:N, half of them so and half the best of 4096 by the analytic draft, which a model has
# to tell apart most; or, with halves:N, the same of each kind apart: a quarter in f32 and the others by halves of bf16; or, where the plan names another strategy of tl-gen, proposed by it (guided:24 asks the model that
# ships, or TL_MODEL: a model has to tell its own favourites apart most); or, with each:N, the N of each algorithm that the model puts first. A set
# whose name begins with avx2- or cold-avx2- is of kernels for AVX2, whatever the machine has besides; one whose name begins with cold- is
# timed with weights out of the caches, as networks find them. A set whose name has one- in it is of kernels for one thread. Sets of halves need tile registers, and are left out without them. A set whose
# name has bf16- or int8- in it is of the same workloads in these types, and needs a CPU with instructions for them.
# Each has a duel with the same reference, the draft's best of them, until their ratio is known to 2% or 20 ms of calls have
# been made. So neither the hour nor the neighbours matter. A set with bred- or each- in its name has the references of the set with halves- in
# that place, or without it, if that is recorded: the times of both are then told in the same measure.
#
# A workload's records are in build/spaces once it is done: a run that was stopped goes on when it is started again. The
# whole is put into share/spaces/CPU/NAME.zst; SPACES=CPU names the folder, one for each CPU (zen4). Nothing
# else should run meanwhile; it takes an hour. SPACES_PLAN names another plan; with SPACES_ADD=1 what is there already of
# as many candidates is kept (with each:N, of N in all), else all is recorded anew. On a CPU without AVX-512 the sets for AVX2 are left out: the others
# are of the same kernels.
set -eu
bench=spaces
# shellcheck source=bench/log.sh
. bench/log.sh
# shellcheck source=bench/dtype.sh
. bench/dtype.sh
# shellcheck source=bench/recorded.sh
. bench/recorded.sh
bin=${BIN:-bin}
dir=build/spaces
to=share/spaces/${SPACES:?name the folder of this CPU: make spaces SPACES=zen5}
mkdir -p "$to"
export TL_DB='' TL_CACHE="$PWD/$dir/cache"

of_kind() { # n workload [option of tl-gen]: n drawn uniformly, and the n best of 4096 by the draft
	n=$1 workload=$2
	shift 2
	"$bin/tl-gen" "$@" "$workload" | "$bin/tl-filter" -k "$n" --by draft | grep '"type":"candidate"' |
		sed 's/,"score":{[^}]*}//'
	"$bin/tl-gen" -n "$n" --seed 2 "$@" "$workload"
}

of_each() { # n workload: the n best of each algorithm by the model, of 4096 that are drawn
	"$bin/tl-gen" -n 4096 --seed 3 "$2" >"$2.drawn"
	for algo in $(grep -o '"algo":"[a-z0-9_]*"' "$2.drawn" | sort -u); do
		grep -e "$algo" -e '"type":"workload"' -e '"type":"end"' "$2.drawn" |
			"$bin/tl-filter" -k "$1" -m "${TL_MODEL:-pretrained}" --by model --cache="$cache" |
			grep '"type":"candidate"' | sed 's/,"score":{[^}]*}//'
	done
	rm -f "$2.drawn"
}

propose() { # [strategy:]n workload
	strategy=${1%:*}
	[ "$strategy" != "$1" ] || strategy=random
	if [ "$strategy" = halves ]; then
		part=$((${1#*:} / 16))
		of_kind $((2 * part)) "$2" --strict
		of_kind $((3 * part)) "$2" -a gemm_bf16x2
		of_kind $((3 * part)) "$2" -a direct_bf16x2
	elif [ "$strategy" = each ]; then
		of_each "${1#*:}" "$2"
	elif [ "$strategy" = mixed ]; then
		of_kind $((${1#*:} / 2)) "$2"
	else
		"$bin/tl-gen" --search="$strategy" --cache="$cache" -n "${1#*:}" "$2"
	fi
}

recorded_like() { # set: the recordings whose references it has, the first one first, or nothing
	for part in halves- ''; do
		other=$to/$(echo "$1" | sed "s/bred-/$part/; s/each-/$part/").zst
		[ "$other" = "$to/$1.zst" ] || [ ! -f "$other" ] || echo "$other"
	done
}

first_of() { # stem: the first record that the recordings $like have of the workload
	# shellcheck disable=SC2086 # they are files
	zstdcat $like | grep -m 1 "\"type\":\"result\",\"workload\":{\"workload_id\":\"${1##*/}" >"$1.first" || rm -f "$1.first"
}

reference() { # stem: the draft's best candidate, or the reference of the set that has the same workloads
	if [ -f "$1.first" ]; then
		sed 's/"type":"result"/"type":"candidate"/; s/,"status":.*/}/' "$1.first" | "$bin/tl-check" --fix
	else
		"$bin/tl-filter" -k 1 --by draft "$1.candidates" | grep '"type":"candidate"'
	fi
}

record() { # stem [strategy:]n: the workload is in stem.workload
	propose "$2" "$1.workload" | awk '!seen[$0]++' >"$1.candidates"
	if [ "${2%:*}" = halves ] && ! grep -q '"algo":"[a-z]*_bf16x2"' "$1.candidates"; then
		: >"$1.space"
		return
	fi
	reference "$1" >"$1.reference"
	id=$(sed 's/.*"candidate_id":"\([^"]*\)".*/\1/' "$1.reference")
	{
		cat "$1.workload" "$1.reference"
		grep '"type":"candidate"' "$1.candidates" | grep -v "\"candidate_id\":\"$id\"" || :
		echo "{\"tl\":1,\"type\":\"end\",\"workload_id\":\"$(basename "$1")\",\"drawn\":${2#*:},\"why\":\"the plan\"}"
	} |
		"$bin/tl-measure" --cache="$cache" --no-preempt --samples --final 0 --race 20ms -o "$1.results"
	perl bench/spaces.pl merge "$1.results" "$1.first" >"$1.part"
	mv "$1.part" "$1.space"
	rm -rf "$1.candidates" "$1.reference" "$1.first" "$1.results" "$TL_CACHE/objects"
}

grep '^[^#]' "${SPACES_PLAN:-share/spaces/plan}" | while read -r set n file pattern; do
	case $set in
	avx2-* | cold-avx2-*) grep -q -w avx512vl /proc/cpuinfo || continue ;;
	*halves-*) grep -q -w amx_bf16 /proc/cpuinfo || continue ;;
	esac
	machine_of "$set"
	case $set in
	*bf16-*) dtype=bf16 can='-e avx512_bf16 -e amx_bf16' ;;
	*int8-*) dtype=int8 can='-e avx_vnni -e avx512_vnni -e amx_int8' ;;
	*) dtype='' can='-e .' ;;
	esac
	# shellcheck disable=SC2086 # they are words
	grep -q $can /proc/cpuinfo || continue
	case $set in cold-*) cache=weights-cold ;; *) cache=warm ;; esac
	mkdir -p "$dir/$set"
	workloads_in "$dtype" "share/$file" >"$dir/$set/workloads"
	if [ -n "${SPACES_ADD:-}" ] && [ -f "$to/$set.zst" ]; then
		zstdcat "$to/$set.zst" | perl bench/spaces.pl split "$dir/$set" "${n#*:}"
	fi
	like=$(recorded_like "$set")
	echo "$set: $n candidates of each workload of $file ${pattern:-}" >&2
	grep -e "\"prob\":\"${pattern:-.}" "$dir/$set/workloads" | while read -r workload; do
		id=${workload#*\"workload_id\":\"}
		stem=$dir/$set/${id%%\"*}
		[ -f "$stem.space" ] && continue
		echo "$workload" >"$stem.workload"
		[ ! "$like" ] || first_of "$stem"
		record "$stem" "$n"
	done
	cat "$dir/$set/workloads" "$dir/$set"/*.space | zstd -q -19 --long=27 -f -o "$dir/$set.zst"
	mv "$dir/$set.zst" "$to/$set.zst"
done
