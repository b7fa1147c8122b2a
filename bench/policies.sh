# shellcheck shell=sh
# Policies of tuning in turns, for the benches that compare them (bench/tune.sh, bench/search.sh). Sets bin, and makes the folder top,
# which the bench names, anew. POLICIES may have options of tl-tune behind them, such as preempt:-n:1000:--patience=16. With WARM the
# word cold behind one lets it begin with nothing (preempt:cold).
# shellcheck disable=SC2154 # top is the bench's
bin=${BIN:-bin}
policies=${POLICIES:-preempt evolution trimmer lorien random}
first=${policies%% *}
rm -rf "$top"
mkdir -p "$top/cold"
export TL_DB='' TL_CACHE="$PWD/$top/cold"
# The machine is probed once, so that no run has to.
printf '{"tl":1,"type":"workload","op":"matmul","prob":"16x64:64x64"}\n' | "$bin/tl-gen" -n 1 | "$bin/tl-measure" -q --final=0 >"$top/probed"
rm -rf "$TL_CACHE/objects"

# Options of tl-tune: policy seed. Rivals have no finals, as the published ones have none.
options_of() {
	options=$(printf '%s' "${1#"${1%%:*}"}" | sed 's/:cold\>//; s/:/ /g')
	[ "${1%%:*}" = "${first%%:*}" ] || options="$options --final=0"
	printf '%s' "--policy=${1%%:*} $options --seed=$2 --time=${BUDGET:-10m}"
}

# A live run, from an empty database (or a copy of WARM) and an empty cache: policy seed.
live() {
	run=$1.$2
	rm -rf "$top/cache"
	cp -R "$top/cold" "$top/cache"
	case $1:${WARM:-:} in
	*:cold:* | *::) ;;
	*) cp "$WARM" "$dir/$run.db" ;;
	esac
	echo "$network: $1, seed $2" >&2
	start=$(date +%s.%N)
	# shellcheck disable=SC2046 # they are words
	TL_CACHE=$PWD/$top/cache "$bin/tl-tune" -q --cache=warm $(options_of "$1" "$2") -d "$dir/$run.db" -o "$dir/$run.best" "$wl"
	printf '%s %s %s %s\n' "$1" "$2" "$start" "$(date +%s.%N)" >>"$dir/runs"
	"$bin/tl-query" -d "$dir/$run.db" --dump=all >"$dir/$run.all"
}

# Each policy with each of the seeds. They take turns, and each seed begins with another one: function seed...
in_turns() {
	do_run=$1
	shift
	turns=$policies
	for seed; do
		for policy in $turns; do "$do_run" "$policy" "$seed"; done
		turns="${turns#* } ${turns%% *}"
	done
}

# Each of MODELS, with its name in network, its folder in dir, its workloads in wl: function
each_network() {
	for model in ${MODELS:?a network, or several}; do
		[ -e "$model" ] || model=$(ls "share/models/$model".[tz]*)
		network=$(basename "${model%%.*}")
		dir=$top/$network
		wl=$dir/workloads
		mkdir -p "$dir"
		"$bin/tl-extract" -q "$model" >"$wl"
		"$1"
	done
}

# Times what was ever the best of a run, then the best of them on another occasion: how many times, how many of each workload.
time_again() {
	perl bench/tune.pl incumbents "$dir" >"$dir/incumbents"
	"$bin/tl-measure" -q --cache=warm --no-preempt --final=0 --race=20ms -o "$dir/looks" "$dir/incumbents"
	time_best "$1" "$2"
}

# The best by what dir/looks has: how many times, how many of each workload.
time_best() {
	perl bench/tune.pl best "$dir" "$1" "$2" >"$dir/candidates"
	"$bin/tl-measure" -q --cache=warm --no-preempt --final=0 --race=20ms -o "$dir/results" "$dir/candidates"
	perl bench/tune.pl best "$dir" 1 "$2" >"$dir/candidates"
	"$bin/tl-measure" -q --cache=warm --no-preempt --final=8 --race=20ms -o "$dir/finals" "$dir/candidates"
	cat "$dir/finals" >>"$dir/results"
}
