#!/bin/sh
# Networks as frameworks wrote them: all shapes that tl-extract finds are those that the framework itself tells.
#
# A folder in tests/networks is a format: NAME.ENDING.zst is a network, with weights of zeros; NAME.shapes is what the
# framework told (shapes.py); make.py made both. A network without NAME.shapes is for other tests.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"

# Each record as often as it counts, as shapes.py writes it.
of_records() { # file
	sed 's/.*"op":"\([a-z0-9]*\)".*"prob":"\([^"]*\)".*"dtype":"\([^"]*\)".*"count":\([0-9]*\).*/\1 \2 \4 \3/' "$1" | awk '
		function get(name, otherwise) {
			return match(prob, "[0-9_]" name "[0-9]+") ? substr(prob, RSTART + 1 + length(name), RLENGTH - 1 - length(name)) : otherwise
		}
		function image(d, h, w,    first) {
			first = get(d, "")
			return (first == "" ? "" : first "x") get(h, first) "x" get(w, get(h, first))
		}
		{
			prob = "_" $2
			if ($1 ~ /^conv/)
				line = "conv " get("mb", 1) " " get("g", 1) " " get("ic") " " image("id", "ih", "iw") " " get("oc") \
					" " image("od", "oh", "ow") " " image("kd", "kh", "kw")
			else
				line = "matmul " $2
			if ($4 != "f32")
				line = $4 " " line
			for (i = 0; i < $3; i++)
				print line
		}' | sort
}

# At least 99% of the multiply-adds are covered, where the summary tells a share, and none is unknown.
is_covered() { # file
	! grep -q 'are not known' "$1" && sed -n "s/.* \([0-9]*\)\.[0-9] % of the model's.*/\1/p" "$1" | awk '$1 < 99 { few = 1 } END { exit few }'
}

for shapes in "$here"/networks/*/*.shapes; do
	for network in "${shapes%.shapes}".*; do
		[ "$network" = "$shapes" ] || break
	done
	name=${shapes#"$here/networks/"}
	name=${name%.shapes}
	# shellcheck disable=SC2046 # words
	"$bin/tl-extract" $(sed -n '1s/^#options//p' "$shapes") "$network" >"$tmp/wl" 2>"$tmp/err"
	status=$?
	[ $status -eq 0 ] && of_records "$tmp/wl" >"$tmp/ours" && sed '/^#/d' "$shapes" | sort >"$tmp/theirs" &&
		cmp -s "$tmp/ours" "$tmp/theirs" && is_covered "$tmp/err" && "$bin/tl-check" -q "$tmp/wl"
	ok $? "$name: the shapes are those that the framework tells"
	diff "$tmp/ours" "$tmp/theirs" | sed 's/^/# /' | head -20
done

echo "1..$n"
