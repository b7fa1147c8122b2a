#!/bin/sh
# make spaces: record how fast the candidates of whole spaces are on this machine, to learn from and to try searches on.
#
# share/spaces/plan says of which workloads, and how many candidates. They are drawn uniformly from all that are valid, and
# neither filtered nor raced; or, where the plan names another strategy of tl-gen, proposed by it (guided:128 asks TL_MODEL).
# Each is looked at for a millisecond of calls; those within 3 times the best (6, if neighbours disturbed the look) then with
# patience, in a quiet moment, for 5 ms; those within 1.15 times the best three times more, up to five times, until
# bench/spaces.pl, which makes one time of a candidate's looks, knows most to 1%. On a machine that others use, too, it takes as much
# longer as there are fewer quiet moments.
#
# A workload's records are in build/spaces once it is done: a run that was stopped goes on when it is started again. The
# whole is put into share/spaces/NAME.zst. Nothing else should run meanwhile; it takes hours. SPACES_PLAN names another plan; with
# SPACES_ADD=1 what share/spaces has already of as many candidates is kept, else all is recorded anew.
set -eu
bin=${BIN:-bin}
dir=build/spaces
export TL_DB='' TL_CACHE="$PWD/$dir/cache"

look() { # candidates output [option...]
	in=$1 out=$2
	shift 2
	"$bin/tl-measure" --no-preempt --samples --final 0 "$@" -o "$out" "$in"
}

record() { # stem [strategy:]n: the workload is in stem.workload
	strategy=${2%:*}
	[ "$strategy" != "$2" ] || strategy=random
	"$bin/tl-gen" --search="$strategy" -n "${2#*:}" -o "$1.candidates" "$1.workload"
	rm -f "$1".looks?
	look "$1.candidates" "$1.looks1" --race 1ms
	perl bench/spaces.pl near 3 1 "$1.candidates" "$1.looks1" >"$1.near"
	look "$1.near" "$1.looks2" --race 5ms --patience 2s --max-drift 0
	for i in 3 4 5 6 7; do
		perl bench/spaces.pl near 1.15 3 "$1.candidates" "$1".looks? >"$1.near"
		look "$1.near" "$1.looks$i" --race 5ms --patience 2s --max-drift 0
		perl bench/spaces.pl settled "$1".looks? && break
	done
	perl bench/spaces.pl merge "$1".looks? >"$1.part"
	mv "$1.part" "$1.space"
	rm -rf "$1.candidates" "$1.near" "$1".looks? "$TL_CACHE/objects"
}

grep '^[^#]' "${SPACES_PLAN:-share/spaces/plan}" | while read -r set n file pattern; do
	mkdir -p "$dir/$set"
	"$bin/tl-extract" -q "share/$file" >"$dir/$set/workloads"
	if [ -n "${SPACES_ADD:-}" ] && [ -f "share/spaces/$set.zst" ]; then
		zstdcat "share/spaces/$set.zst" | perl bench/spaces.pl split "$dir/$set" "${n#*:}"
	fi
	echo "$set: $n candidates of each workload of $file ${pattern:-}" >&2
	grep -e "\"prob\":\"${pattern:-.}" "$dir/$set/workloads" | while read -r workload; do
		id=${workload#*\"workload_id\":\"}
		stem=$dir/$set/${id%%\"*}
		[ -f "$stem.space" ] && continue
		echo "$workload" >"$stem.workload"
		record "$stem" "$n"
	done
	cat "$dir/$set/workloads" "$dir/$set"/*.space | zstd -q -19 --long=27 -f -o "$dir/$set.zst"
	mv "$dir/$set.zst" "share/spaces/$set.zst"
done
