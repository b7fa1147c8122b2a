#!/bin/sh
# make spaces: record how fast the candidates of whole spaces are on this machine, to learn from and to try searches on.
#
# share/spaces/plan says of which workloads, and how many candidates. They are drawn uniformly from all that are valid, and
# neither filtered nor raced; or, where the plan names another strategy of tl-gen, proposed by it (guided:128 asks TL_MODEL). Each is looked at for a millisecond of calls, at least 4. On a shared machine that is not
# enough: neighbours slow it down by half for a second now and then. So those within twice the best are looked at again, a
# pass over all of them at a time, until two looks agree, but at most 5 times; and the fastest once more for 30 ms. Of
# the looks that agree with a candidate's fastest the middle one counts.
#
# A workload's records are in build/spaces once it is done: a run that was stopped goes on when it is started again. The
# whole is put into share/spaces/NAME.zst. Nothing else should run meanwhile; it takes hours. SPACES_PLAN names another plan.
set -eu
bin=${BIN:-bin}
dir=build/spaces
export TL_DB='' TL_CACHE="$PWD/$dir/cache"

look() { # candidates race-time output
	[ -s "$1" ] || return 0
	"$bin/tl-measure" --max-drift 0 --no-preempt --samples --race "$2" --final 0 -o "$3" "$1"
}

record() { # stem [strategy:]n: the workload is in stem.workload
	strategy=${2%:*}
	[ "$strategy" != "$2" ] || strategy=random
	"$bin/tl-gen" --search="$strategy" -n "${2#*:}" -o "$1.candidates" "$1.workload"
	[ -f "$1.look1" ] || look "$1.candidates" 1ms "$1.look1"
	for i in 2 3 4 5; do
		[ -f "$1.look$i" ] && continue
		perl bench/spaces.pl doubtful "$1.candidates" "$1".look* >"$1.again"
		look "$1.again" 1ms "$1.look$i"
	done
	perl bench/spaces.pl fastest "$1.candidates" "$1".look* >"$1.again"
	look "$1.again" 30ms "$1.look9"
	perl bench/spaces.pl merge "$1.candidates" "$1".look* >"$1.part"
	mv "$1.part" "$1.space"
	rm -rf "$1.candidates" "$1.again" "$1".look* "$TL_CACHE/objects"
}

grep '^[^#]' "${SPACES_PLAN:-share/spaces/plan}" | while read -r set n model pattern; do
	mkdir -p "$dir/$set"
	"$bin/tl-extract" -q "share/models/$model" >"$dir/$set/workloads"
	echo "$set: $n candidates of each workload of $model ${pattern:-}" >&2
	grep -e "\"prob\":\"${pattern:-.}" "$dir/$set/workloads" | while read -r workload; do
		id=${workload#*\"workload_id\":\"}
		stem=$dir/$set/${id%%\"*}
		[ -f "$stem.space" ] && continue
		echo "$workload" >"$stem.workload"
		record "$stem" "$n"
	done
	cat "$dir/$set/workloads" "$dir/$set"/*.space | zstd -q -19 --long=27 -f -o "share/spaces/$set.zst"
done
