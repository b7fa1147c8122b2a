#!/bin/sh
# A fleet that shares nothing but a folder, such as one on NFS: no locks are trusted there, only that a file is renamed at once.
#
#     tl-extract model.onnx | shared-folder.sh FOLDER split     makes a unit of each workload, once
#     shared-folder.sh FOLDER work [TIME]                       on each machine: takes a unit, tunes it for TIME (1m), and goes on
#     shared-folder.sh FOLDER collect DATABASE                  on one machine: stores what came, in a database on its own disk
#
# A unit of a machine that died lies in FOLDER/taken: mv FOLDER/taken/UNIT.HOST.PID FOLDER/open/UNIT gives it to another one.
set -eu
cd "$1"
mkdir -p open taken finished results new
case $2 in
split)
	while IFS= read -r line; do
		id=$(printf '%s\n' "$line" | sed -n 's/.*"workload_id":"\([0-9a-f]*\)".*/\1/p')
		[ -z "$id" ] || [ -e "finished/$id" ] || [ -n "$(find taken -name "$id.*")" ] || { printf '%s\n' "$line" >"new/$id" && mv "new/$id" "open/$id"; }
	done
	;;
work)
	me=$(hostname).$$
	for unit in open/*; do
		id=${unit#open/}
		mv "$unit" "taken/$id.$me" 2>/dev/null || continue # another machine was quicker
		tl-tune -q --no-db --time="${3:-1m}" -o "new/$id.$me" "taken/$id.$me" &&
			mv "new/$id.$me" "results/$id.$me" && mv "taken/$id.$me" "finished/$id"
	done
	;;
collect)
	for results in results/*; do
		[ ! -e "$results" ] || { tl-store -q -d "$3" "$results" && rm "$results"; }
	done
	;;
esac
