#!/bin/sh
# Tunes the workloads of a database, together with any number of other machines, until nothing is worth more: worker.sh DATABASE [FOLDER]
#
# It takes UNITS (4) units of work with a LEASE (10m), and measures them. Who finds none opens the next round. Results wait in FOLDER
# (tl-worker) until the database has them. A worker that begins there stores what the last one left. TERM ends it: it stores what was
# measured, and gives the other units back.
set -u
db=$1 folder=${2:-tl-worker} pipeline='' stopped=''
mkdir -p "$folder" && cd "$folder" && exec 9>lock || exit 3
flock -w 5 9 || { echo "worker.sh: another worker has $folder" >&2; exit 75; }

store() { # what was measured. A file that was cut off, or has bad lines, is kept: the database has the good ones
	for results in results.*; do
		[ -e "$results" ] || continue
		tl-store -q -d "$db" "$results" && rm "$results" && continue
		tl-query -d "$db" --stats >stats && mv "$results" "kept.$results" || return
	done
}
give_back() {
	claim=$(sed -n 's/.*"claim":"\([0-9a-f]*\)".*/\1/p' units 2>/dev/null | head -n 1)
	[ -z "$claim" ] || tl-store -d "$db" --release "$claim"
	rm -f units
}
measure() {
	# shellcheck disable=SC2016 # the inner shell expands it
	setsid sh -c 'tl-gen -d "$1" units | tl-filter | '"${MEASURE:-tl-measure -q}" sh "$db" >"results.$$.$(date +%s%N)" 9>&- &
	pipeline=$!
	while kill -0 $pipeline 2>/dev/null; do wait $pipeline; done
}
trap 'stopped=143; [ -z "$pipeline" ] || kill -TERM -"$pipeline" 2>/dev/null' TERM INT HUP

store; give_back
while [ -z "$stopped" ]; do
	store && tl-store -d "$db" --claim "${UNITS:-4}" --lease "${LEASE:-10m}" -o units
	case $? in
	0) measure ;;
	1) # tl-prune ends with 1 when nothing is worth more. What others have may still come back
		tl-query -d "$db" --dump=workloads | ${PRUNE:-tl-prune} -d "$db" -o round
		case $? in
		0) tl-store -q -d "$db" --open round ;;
		1) tl-query -d "$db" --fleet | grep -q '"leased":[1-9]' || break ;;
		esac
		sleep "${PAUSE:-3}" ;;
	*) sleep "${PAUSE:-10}" ;;
	esac
done
store; give_back
exit "${stopped:-0}"
