#!/bin/sh
# SavedModels that leave shapes of variables open: these are in the index of the checkpoint beside the graph.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"

networks=$here/networks/tensorflow

problems() {
	sed 's/.*"prob":"\([^"]*\)".*/\1/' "$1" | sort | tr '\n' ' '
}

for name in variables variables1; do
	tar -C "$tmp" -xf "$networks/$name-open.tar.zst"
	folder=$tmp/$name-open
	index=$folder/variables/variables.index
	"$bin/tl-extract" "$folder" >"$tmp/out" 2>"$tmp/err" && [ "$(problems "$tmp/out")" = "1x8:8x5 mb1_ic8ih14_oc8oh14_kh3ph1 " ]
	ok $? "$name: a folder, with the index of its variables"
	! grep -q unknown "$tmp/err"
	ok $? "of which nothing is unknown"
	"$bin/tl-extract" "$folder/saved_model.pb" 2>"$tmp/err" | cmp -s - "$tmp/out"
	ok $? "and so is the file alone"
	(cd "$folder" && "$bin/tl-extract" saved_model.pb 2>"$tmp/err") >"$tmp/here" && [ "$(problems "$tmp/here")" = "$(problems "$tmp/out")" ]
	ok $? "and in the folder itself"
	cp "$index" "$tmp/index"
	head -c 100 "$tmp/index" >"$index"
	"$bin/tl-extract" "$folder" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q 'variables.index: it is no index of a checkpoint, or damaged' "$tmp/err"
	ok $? "an index that is cut off is refused"
	rm "$index" && ln -s variables.index "$index"
	"$bin/tl-extract" "$folder" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q 'cannot open .*variables.index' "$tmp/err"
	ok $? "so is one that cannot be opened"
	rm "$index"
	"$bin/tl-extract" "$folder" >"$tmp/out" 2>"$tmp/err" && grep -q "MatMul (unknown shape" "$tmp/err"
	ok $? "without an index the shapes are not known"
done

echo "1..$n"
