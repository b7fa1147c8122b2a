#!/bin/sh
# The rules of the house (CONVENTIONS.md), read off the source by tests/floors.awk: rooms, places of libraries'
# headers, banned functions, who may exit, names. The same rules are then shown to find what breaks them.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
# shellcheck source=tests/tap.sh
. tests/tap.sh

# All breaches in the tree we stand in.
breaches() {
	# shellcheck disable=SC2046 # no file name here has blanks
	awk -f "$root/tests/floors.awk" $(find lib cmd libexec tests share man docs .ci ./*.md Makefile INSTALL NEWS \
		-type f ! -path '*/models/*' ! -path 'libexec/tl/*' 2>/dev/null | grep -v '\.tmp$' | sed 's|^\./||' | sort)
	names
}

# The file's name is the symbol's and the record's value.
names() {
	for room in op algo search; do
		for f in lib/$room/*.c; do
			name=$(basename "$f" .c)
			case $room/$name in op/op | op/convolution | op/rows | algo/algo | algo/candidate | search/search | search/schedule | search/cover | search/drafts | search/scored | */\*) continue ;; esac
			grep -q "^const struct $room ${room}_$name = {" "$f" ||
				echo "names $f:1: does not define const struct $room ${room}_$name"
			grep -q "\.name = \"$name\"" "$f" || echo "names $f:1: does not say .name = \"$name\""
		done
	done
	for room in target policy; do
		for f in $(grep -l "^const struct $room [a-z]" lib/$room/*.c 2>/dev/null); do
			name=$(basename "$f" .c)
			grep -q "^const struct $room ${room}_$name = {" "$f" ||
				echo "names $f:1: does not define const struct $room ${room}_$name"
			grep -q "\.name = \"$name\"" "$f" || echo "names $f:1: does not say .name = \"$name\""
		done
	done
	for f in cmd/*.c; do
		name=$(basename "$f" .c)
		[ "$name" = '*' ] || grep -q "\.name = \"$name\"" "$f" ||
			echo "names $f:1: does not say .name = \"$name\""
	done
}

breaches >"$tmp/found"
while read -r rule what; do
	grep "^$rule " "$tmp/found" | sed 's/^/# /'
	! grep -q "^$rule " "$tmp/found"
	ok $? "$what"
done <<EOF
floors a room includes itself and the rooms that it may see
cycles no includes go in a circle inside a room
targets what is a target's own is used in lib/target alone: no cpu_* elsewhere
headers each library's header stands in its own place
banned no banned function is called
ends only programs print errors and exit
names files are named as what they define
paths no folder of one machine is named
comments comments are sentences, not what is left of one
EOF

# Does it find what is wrong? Trees of one file: RULE PATH LINE, and - for no breach.
while read -r rule path line; do
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/$(dirname "$path")"
	printf '%s\n' "$line" >"$tmp/tree/$path"
	found=$(cd "$tmp/tree" && breaches | cut -d' ' -f1 | sort -u)
	[ "$found" = "${rule#-}" ]
	ok $? "$([ "$rule" = - ] && echo nothing wrong || echo "$rule") in $path: $line"
	[ "$found" = "${rule#-}" ] || echo "# found '$found'"
done <<'EOF'
floors lib/io/x.c #include "lib/op/op.h"
floors lib/base/x.h # include "lib/io/json.h"
floors lib/nest/x.c #include "lib/target/c.h"
floors lib/measure/x.c #include "lib/store/store.h"
floors lib/trial/x.c #include "lib/build/cache.h"
floors lib/op/x.h #include "op.h"
floors lib/attic/x.c int x;
floors cmd/x.h #include "tests/tap.h"
- lib/op/x.h #include "lib/nest/nest.h"
- lib/io/x.c #include "lib/io/json.h"
- tests/x.c #include "lib/store/db.h"
floors lib/extract/read/x.c #include "lib/extract/graph/graph.h"
floors lib/extract/graph/x.h #include "lib/extract/task/task.h"
floors lib/extract/x.c #include "lib/extract/onnx/onnx.h"
floors lib/extract/onnx/x.c #include "lib/extract/tflite/tflite.h"
floors lib/extract/list/x.c #include "lib/extract/call/call.h"
- lib/extract/onnx/x.c #include "lib/extract/call/call.h"
- lib/extract/keras/x.c #include "lib/extract/extract.h"
- lib/run/x.c #include "lib/extract/task/task.h"
targets lib/build/x.c #include "lib/target/cpu.h"
targets lib/measure/x.c #include "lib/target/c.h"
targets lib/host/x.c #include "lib/target/runner.h"
- lib/build/x.c #include "lib/target/target.h"
- lib/trial/x.h #include "lib/target/runner.h"
- libexec/x.c #include "lib/target/runner.h"
- tests/x.c #include "lib/target/cpu.h"
- lib/target/x.c #include "lib/target/cpu.h"
headers lib/op/x.h #include <sqlite3.h>
headers lib/baseline/cudnn.c #include <dnnl.h>
headers lib/baseline/x.c #include <oneapi/dnnl/dnnl.h>
headers lib/measure/x.c #include <omp.h>
headers lib/extract/x.c #include <jsmn.h>
headers lib/base/map.c #include <nettle/sha2.h>
headers lib/search/x.h #include <xgboost/c_api.h>
headers lib/target/cpu.c #include <cuda.h>
headers lib/base/x.c #include <glib.h>
- lib/store/x.h #include <sqlite3.h>
- lib/base/x.c #include <sys/stat.h>
banned lib/io/x.c 	strcpy(a, b);
banned libexec/x.c 	if (system ("rm")) x();
banned lib/io/proc.c 	pid = fork();
banned tests/x.c 	n = 1, sprintf(a, "x");
- lib/io/x.c 	/* strcpy(a, b) */ snprintf(a, n, "fork()"); // system()
- lib/io/x.c 	g->system(1); file_system(2);
ends lib/io/x.c 	exit(1);
ends lib/nest/x.c 	abort();
- libexec/x.c 	exit(1);
- lib/io/x.c 	at_exit(f);
names lib/op/relu.c const struct op op_prelu = { .name = "relu" };
names lib/algo/winograd.c const struct algo algo_winograd = { .name = "wino" };
names lib/target/cuda.c const struct target target_gpu = { .name = "cuda" };
names lib/policy/first.c const struct policy policy_last = { .name = "first" };
names lib/search/evolve.c static const struct search search_evolve = { .name = "evolve" };
names cmd/tl-x.c static const struct program program = { .name = "tl-y" };
- lib/op/relu.c const struct op op_relu = { .name = "relu" };
comments lib/extract/x.c /* Of all nodes. */
comments lib/op/x.h 	int n; /* Those of a graph */
- lib/extract/x.c /* Counts those of a graph. */
- lib/measure/x.c /* Of all nodes. */
paths share/x.sh cd /home/me/tl
paths docs/x.md see `/srv/x`
- share/x.sh cd "$HOME/home/me"; ls lib/srv/x
EOF

# A circle takes two files.
rm -rf "$tmp/tree"
mkdir -p "$tmp/tree/lib/io"
echo '#include "lib/io/b.h"' >"$tmp/tree/lib/io/a.c"
touch "$tmp/tree/lib/io/a.h"
for circle in a c; do
	echo "#include \"lib/io/$circle.h\"" >"$tmp/tree/lib/io/b.h"
	found=$(cd "$tmp/tree" && breaches | cut -d' ' -f1 | sort -u)
	[ "$found" = "$([ $circle = a ] && echo cycles)" ]
	ok $? "lib/io/a.c includes b.h, which includes $circle.h: $([ $circle = a ] && echo a circle || echo none)"
done

# Who is sent to a section of the results or of the experiments finds it; and the results stay short.
titles() { # file: where `FILE.md, "TITLE"` stands in the tree, the titles that the file does not have
	grep -rhoE "$1, \"[^\"]+\"" lib cmd docs NEWS CONVENTIONS.md README.md | sed 's/.*"\(.*\)"/\1/' | sort -u | while read -r title; do
		grep -qxF -e "## $title" -e "### $title" "$1" || echo "$1 has no section $title"
	done
}
{
	titles PERFORMANCE.md
	titles docs/EXPERIMENTS.md
} >"$tmp/faults"
sed 's/^/# /' "$tmp/faults"
[ ! -s "$tmp/faults" ]
ok $? 'sections that others name are there'
! grep -qiE '^#+ .*(tried|before)' PERFORMANCE.md
ok $? 'what was tried is told in docs/EXPERIMENTS.md'

# The formatter leaves a string as it was written: a sentence that is broken in the middle is not found by a search.
if command -v clang-format >/dev/null; then
	printf 'static const char text[] = "%s";\n' "$(printf 'word %.0s' $(seq 30))" >"$tmp/long.c"
	[ "$(clang-format --style="file:$PWD/.clang-format" <"$tmp/long.c" | grep -o '"' | wc -l)" -eq 2 ]
	ok $? 'the formatter breaks no string'
else
	skip 'clang-format is not here'
fi
echo "1..$n"
