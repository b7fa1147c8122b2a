#!/bin/sh
# A worker on each host of a list, by GNU parallel and ssh: parallel.sh HOSTS postgresql://HOST/NAME
#
# HOSTS is a file with a host on each line, as ssh knows it (USER@HOST). Each has Tensor Lathe installed, and keeps its results in
# ~/tl-worker until the database has them. A host that fails is tried three times; the others take its units when its lease ends.
set -eu
hosts=$1 db=$2
recipes=${TL_RECIPES:-/usr/share/tl/recipes}
parallel --jobs 0 --retries 3 --joblog tl-workers.log --tag \
	"${TL_SSH:-ssh}" -o BatchMode=yes {} sh "$recipes/worker.sh" "\"'$db'\"" '\$HOME/tl-worker' :::: "$hosts"
