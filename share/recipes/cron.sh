#!/bin/sh
# Tunes for some time each night, and says in a line or two what became faster, which cron mails: in a crontab
#
#     MAILTO=you@example.org
#     0 2 * * * sh /usr/share/tl/recipes/cron.sh 30m model.onnx tune.db
#
# A night in which nothing changed brings no mail, and one that went wrong brings its sentence.
set -eu
time=$1 model=$2 db=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
best() { # of each workload that is known: its id and its time
	[ -e "$db" ] || return 0
	tl-query -q -d "$db" "$work/wl" 2>"$work/unknown" | jq -r '"\(.workload.workload_id) \(.latency_s)"' | sort
}

tl-extract -q -o "$work/wl" "$model"
best >"$work/before"
tl-tune -q --time="$time" -d "$db" -o "$work/results" "$work/wl"
best >"$work/after"
join -a 2 -e 0 -o 0,1.2,2.2 "$work/before" "$work/after" | awk -v model="$model" '
	$2 == 0 { new++ }
	$2 > 1.01 * $3 && $3 > 0 { faster++; if ($2 / $3 > most) most = $2 / $3 }
	END {
		if (new) printf "%s: %d workloads have a kernel that had none\n", model, new
		if (faster) printf "%s: %d workloads are faster, one of them %.2f times as fast\n", model, faster, most
	}'
