#!/bin/sh
# OpenVINO IR with open sizes: the constants that shapes are computed from are in the file of weights beside it.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"

networks=$here/networks/openvino

# The problems of a network, each as often as it counts. Sizes of data, filters and products only.
problems() {
	sed 's/.*"prob":"\([^"]*\)".*"count":\([0-9]*\).*/\1 \2/' "$1" | sort
}

for name in mobilenet_v2 detector encoder; do
	tar -C "$tmp" -xf "$networks/$name-open.tar.zst"
	case $name in encoder) sizes="--shape words:1,12" ;; *) sizes= ;; esac
	"$bin/tl-extract" $sizes "$tmp/$name-open.xml" >"$tmp/open" 2>"$tmp/err" && "$bin/tl-extract" -q "$networks/$name.xml.zst" >"$tmp/fixed" &&
		problems "$tmp/open" >"$tmp/a" && problems "$tmp/fixed" | cmp -s "$tmp/a" -
	ok $? "$name with open sizes is the same as with fixed ones"
	! grep -q 'unknown\|not known' "$tmp/err"
	ok $? "and nothing of it is unknown"
	"$bin/tl-extract" $sizes --batch 4 "$tmp/$name-open.xml" 2>"$tmp/err" | grep -q '"prob":"\(mb4\|4\)'
	ok $? "and its batch may have another size"
done

echo "1..$n"
