#!/bin/sh
# Tunes the workloads of a database, together with any number of other machines, until nothing is worth more: worker.sh DATABASE [FOLDER]
#
# It takes UNITS (4) units of work with a LEASE (10m), and measures them. Who finds none opens the next round. Results wait in FOLDER
# (tl-worker) until the database has them. A worker that begins there stores what the last one left. TERM ends it: it stores what was
# measured, and gives the other units back. Where measuring fails five times in a row, it ends. TARGET (cpu) and HOLDER are what tl-store calls them. It
# takes nothing after DEADLINE, in seconds since 1970.
set -u
db=$1 folder=${2:-tl-worker} pipeline='' stopped='' failures=0
case $db in /* | *://*) ;; *) db=$PWD/$db ;; esac
export TARGET="${TARGET:-cpu}" TL_MODEL="${TL_MODEL:-pretrained}"
mkdir -p "$folder" && cd "$folder" && exec 9>lock && flock -w 5 9 || { echo "worker.sh: another worker has $folder, or it cannot be made" >&2; exit 75; }

store() { # what was measured. A file is removed when the database has all of it, and kept when it has bad lines, too
	for results in results.*; do
		[ -e "$results" ] || continue
		tl-store -d "$db" "$results" >stored || { tl-check "$results" >good 2>/dev/null; bad=$?; cmp -s good stored || return 3; }
		[ "${bad:-0}" -eq 0 ] && rm "$results" || mv "$results" "kept.$results"; bad=0
	done
}
give_back() {
	claim=$(sed -n 's/.*"claim":"\([0-9a-f]*\)".*/\1/p' units 2>/dev/null | head -n 1)
	[ -z "$claim" ] || tl-store -d "$db" --release "$claim"; rm -f units
}
end_pipeline() { kill -TERM -$pipeline 2>/dev/null || kill -TERM $pipeline 2>/dev/null; } # it may have no group yet
measure() {
	# shellcheck disable=SC2016 # the inner shell expands it. It waits for all three programs, also after TERM
	setsid sh -c 'trap : TERM; tl-gen -s guided -n 256 --target "$TARGET" -d "$1" units | tl-filter --target "$TARGET" -d "$1" |
		'"${MEASURE:-tl-measure -q --target $TARGET}" sh "$db" >"results.$$.$(date +%s%N)" 9>&- &
	pipeline=$!; [ -z "$stopped" ] || end_pipeline
	while wait $pipeline; status=$?; kill -0 $pipeline 2>/dev/null; do [ -z "$stopped" ] || end_pipeline; done
	[ $status -ne 0 ] && [ -z "$stopped" ] || { failures=0; return; }
	rm -f units; sleep "${PAUSE:-5}" # its lease keeps what failed from being tried again at once
	[ $((failures += 1)) -lt 5 ] || { echo "worker.sh: measuring failed 5 times in a row" >&2; stopped=3; }
}
trap 'stopped=143; [ -z "$pipeline" ] || end_pipeline' TERM INT HUP

store; give_back
while [ -z "$stopped" ] && [ "$(date +%s)" -lt "${DEADLINE:-9999999999}" ]; do
	store && tl-store -d "$db" --claim "${UNITS:-4}" --lease "${LEASE:-10m}" ${HOLDER:+--holder="$HOLDER"} --target "$TARGET" -o units
	case $? in
	0) [ "$stopped" ] || measure; continue ;;
	1) # tl-prune ends with 1 when nothing is worth more. What others have may still come back
		tl-query -d "$db" --dump=workloads | ${PRUNE:-tl-prune} --target "$TARGET" -d "$db" -o round; status=$?
		[ $status -ne 0 ] || tl-store -q -d "$db" --open --target "$TARGET" round
		[ $status -ne 1 ] || tl-query -d "$db" --fleet | grep -q '"leased":[1-9]' || break ;;
	esac
	sleep "${PAUSE:-5}"
done
store; give_back; exit "${stopped:-0}"
