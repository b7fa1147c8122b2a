# shellcheck shell=sh
# Writers at work for some time while harm is done, to be sourced behind tap.sh and sqlite.sh or postgresql.sh, with $uri, the database.
# harm() does some harm, once every few seconds. TL_TEST_MINUTES (0.1) is how long, and TL_TEST_WRITERS (8) how many.
# shellcheck disable=SC2154 # bin, here, tmp and uri are the test's
template=a1000000000000000000000000000000

# What was passed on, as far as its last line is whole.
acknowledge() { # file
	[ -z "$(tail -c 1 "$1")" ] || sed -i '$d' "$1"
	cat "$1" >>"$1.all"
}
write_on() { # number, until
	round=0
	while [ "$(date +%s)" -lt "$2" ]; do
		round=$((round + 1))
		sed "s/$template/$(printf '%08x%08x0000000000000000' "$1" $round)/" "$tmp/template" >"$tmp/in.$1"
		"$bin/tl-store" -d "$uri" "$tmp/in.$1" >"$tmp/out.$1" 2>>"$tmp/err.$1" &
		echo $! >"$tmp/pid.$1"
		wait $!
		acknowledge "$tmp/out.$1"
	done
}
kill_writer() {
	victim=$(awk -v seed="$1" -v n="$writers" 'BEGIN { srand(seed); print 1 + int(n * rand()) }')
	kill -9 "$(cat "$tmp/pid.$victim")" 2>/dev/null
}

writers=${TL_TEST_WRITERS:-8}
awk -v n=8 -v bare=1 -v run=$template -f "$here/results.awk" "$here/workloads.ndjson" >"$tmp/template"
until=$(($(date +%s) + $(echo "${TL_TEST_MINUTES:-0.1}" | awk '{ printf "%d", 60 * $1 }')))
w=0
pids=
while [ $((w += 1)) -le "$writers" ]; do
	write_on $w $until &
	pids="$pids $!"
done
harms=0
while [ "$(date +%s)" -lt $until ]; do
	sleep 2
	harm $((harms += 1))
done
# shellcheck disable=SC2086 # they are numbers
wait $pids
"$bin/tl-store" --check -d "$uri"
ok $? "the database is sound after $harms harms"
"$bin/tl-query" -d "$uri" --dump=results | sort >"$tmp/have"
cat "$tmp"/out.*.all | sort -u | comm -23 - "$tmp/have" >"$tmp/lost"
[ ! -s "$tmp/lost" ] && [ -s "$tmp/have" ]
ok $? "nothing is lost that $writers writers passed on: $(wc -l <"$tmp/have") results" || cut -c1-200 "$tmp/lost" | head -n 5 | sed 's/^/# /'
[ -z "$(uniq -d "$tmp/have" | head -n 1)" ]
ok $? 'and nothing is there twice'
