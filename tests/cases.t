#!/bin/sh
# Records and databases that programs believed once, though they were made up or damaged: tests/cases. Each is refused with a
# sentence, by every program that is handed it.
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-$PWD/bin}
# shellcheck source=tests/tap.sh
. tests/tap.sh
cases=$PWD/tests/cases

# A program's status and sentence: no crash (a status beyond 3), no hang, no control character on a terminal.
said() { # status command..
	want=$1
	shift
	timeout 60 "$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got -eq "$want" ] && ! LC_ALL=C grep -q '[[:cntrl:]]' "$tmp/err" && { [ "$want" -eq 0 ] || [ "$(wc -l <"$tmp/err")" -ge 1 ]; } && return 0
	echo "# status $got: $(head -c 300 "$tmp/err" | tr -d '[:cntrl:]')"
	return 1
}

for file in "$cases"/*.rec; do
	name=$(basename "$file")
	case $name in
	export-vl65536.rec) ;; # no result of a build: what its knobs make is for tl-export to ask
	*)
		said 3 "$bin/tl-check" -q "$file"
		ok $? "$name: tl-check refuses it"
		;;
	esac
	case $name in
	export-vl65536.rec | knob-* | dup.rec) ;; # tl-store acts on results alone
	*)
		said 3 "$bin/tl-store" -q -d "$tmp/$name.db" "$file" && [ ! -s "$tmp/out" ]
		ok $? "$name: so does tl-store"
		;;
	esac
	case $name in
	dup.rec) said 1 "$bin/tl-export" --one "$file" ;; # a workload: there is nothing to export
	*) said 3 "$bin/tl-export" --one "$file" ;;
	esac && [ ! -s "$tmp/out" ]
	ok $? "$name: and tl-export"
done

for name in dbp-6 future-clock run-knobs; do zstd -dqf "$cases/$name.db.zst" -o "$tmp/$name.db"; done

"$bin/tl-extract" -q tests/run/rows.onnx >"$tmp/w"
said 3 "$bin/tl-prune" --env=367bdba66b1e9ef42df09262042289d1 -d "$tmp/dbp-6.db" "$tmp/w" && grep -q 'lacks its "status"' "$tmp/err"
ok $? 'a row without its text is damage, and no crash'

# Made-up knobs in a database of another machine: as if it were empty, or refused.
"$bin/tl-run" --no-db -m none -q -o "$tmp/should.npz" -i tests/run/rows.npz tests/run/rows.onnx &&
	said 0 "$bin/tl-run" -d "$tmp/run-knobs.db" -m none -q -i tests/run/rows.npz -c "$tmp/should.npz" tests/run/rows.onnx
ok $? 'the outputs are those of a run without the database'

for file in "$cases"/*.ndjson "$cases/esc.rec"; do
	name=$(basename "$file")
	timeout 60 "$bin/tl-query" --report "$tmp/report.html" "$file" >"$tmp/out" 2>"$tmp/err"
	timeout 60 "$bin/tl-query" --table "$file" >>"$tmp/out" 2>>"$tmp/err"
	! grep -q '<script\|<img' "$tmp/report.html" 2>/dev/null && ! LC_ALL=C tr -d '\n\t' <"$tmp/err" | LC_ALL=C grep -q '[[:cntrl:]]' &&
		! LC_ALL=C tr -d '\n\t' <"$tmp/out" | LC_ALL=C grep -q '[[:cntrl:]]'
	ok $? "$name: nothing of it commands a terminal or a page"
done
echo "1..$n"
