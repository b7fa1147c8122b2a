# shellcheck shell=sh
# Units of work in any kind of database, to be sourced behind tap.sh and sqlite.sh or postgresql.sh.
# shellcheck disable=SC2154 # bin, here and tmp are the test's
one=e1000000000000000000000000000000
two=e2000000000000000000000000000000
workloads=$(wc -l <"$here/workloads.ndjson")

claim() { # how many, how long, more options: lines in $tmp/out
	units=$1 lease=$2
	shift 2
	"$bin/tl-store" -d "$uri" --claim "$units" --lease "$lease" --env $one "$@" >"$tmp/out" 2>"$tmp/err"
}
claim_of() { # file
	sed -n 's/.*"claim":"\([0-9a-f]*\)".*/\1/p' "$1" | sort -u
}
ids() { # file
	sed -n 's/.*"unit":"\([0-9a-f]*\)".*/\1/p' "$1" | sort
}
ends() { # file of units, run: as tl-measure ends their groups
	jq -c --arg run "$2" --arg why "${3:-n reached}" '{tl:1,type:"end",workload_id,drawn:1,why:$why,unit,claim,kept:1,refused:0,measured:1,preempted:0,failed:0,built:1,run:$run}' "$1"
}
counts() { # "OPEN LEASED LAPSED DONE" of all envs
	"$bin/tl-query" -d "$uri" --fleet | jq -r '[.units[] | [.open, .leased, .lapsed, .done]] | transpose | map(add) | join(" ")'
}
is() { # what, wanted
	[ "$1" = "$2" ] || {
		echo "# $1, not $2"
		return 1
	}
}

uri=$(db units)
"$bin/tl-store" -d "$uri" --open --env any "$here/workloads.ndjson" | cmp -s - "$here/workloads.ndjson" && "$bin/tl-store" -q -d "$uri" --open --env any "$here/workloads.ndjson"
is "$(counts)" "$workloads 0 0 0"
ok $? 'each workload is a unit, which is opened once'

# Claims

claim 2 1h
[ $? -eq 0 ] && is "$(wc -l <"$tmp/out")" 2 && is "$(ids "$tmp/out" | uniq | wc -l)" 2 && is "$(claim_of "$tmp/out" | wc -l)" 1 &&
	"$bin/tl-check" "$tmp/out" >"$tmp/checked"
ok $? 'a claim takes some: workloads, each with its unit and the same claim'
cp "$tmp/out" "$tmp/first"
is "$(counts)" "$((workloads - 2)) 2 0 0"
ok $? 'they are leased'
claim 100 1h
[ $? -eq 0 ] && is "$(wc -l <"$tmp/out")" $((workloads - 2)) && is "$(cat "$tmp/first" "$tmp/out" | ids /dev/stdin | uniq | wc -l)" "$workloads"
ok $? 'another claim takes others'
cp "$tmp/out" "$tmp/second"
claim 1 1h
[ $? -eq 1 ] && [ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
ok $? 'status 1: there are none'
"$bin/tl-store" -d "$uri" --renew "$(claim_of "$tmp/first")" --lease 2h && ! "$bin/tl-store" -d "$uri" --renew $one
ok $? 'a lease can be renewed, if the claim has one'
"$bin/tl-store" -d "$uri" --release "$(claim_of "$tmp/second")" && is "$(counts)" "$((workloads - 2)) 2 0 0"
ok $? 'what is given back is open again'

for args in "--claim 1 --renew $one" "--claim 1 $here/workloads.ndjson" "--release $one --open" '--check --claim 1'; do
	# shellcheck disable=SC2086 # they are words
	"$bin/tl-store" -d "$uri" $args >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q 'claim, --renew, --release, --check and --from' "$tmp/err"
	ok $? "$args is refused"
done

# Ends

ends "$tmp/first" $one | "$bin/tl-store" -q -d "$uri" && is "$(counts)" "$((workloads - 2)) 0 0 2"
ok $? 'an end record sets its unit to done'
ends "$tmp/first" $two | "$bin/tl-store" -q -d "$uri" && is "$(counts)" "$((workloads - 2)) 0 0 2" &&
	is "$("$bin/tl-query" -d "$uri" --dump=all | grep -c '"type":"end"')" 4
ok $? 'a second one is history, and the unit is done once'
claim 100 1h
! grep -q "$(ids "$tmp/first" | head -n 1)" "$tmp/out"
ok $? 'nobody gets a unit that is done'
ends "$tmp/out" $one 'out of time' | "$bin/tl-store" -q -d "$uri" && is "$(counts)" "$((workloads - 2)) 0 0 2"
ok $? 'a group that ran out of time opens its unit again'
"$bin/tl-store" -q -d "$uri" --open --env any "$here/workloads.ndjson" && is "$(counts)" "$((workloads - 2)) 0 0 2"
ok $? 'what is done stays done'
sed 's/"type":"workload"/&,"round":2/' "$here/workloads.ndjson" | "$bin/tl-store" -q -d "$uri" --open --env any && is "$(counts)" "$workloads 0 0 2"
ok $? 'another round is another unit, if that before it is done'

# Leases that are over

uri=$(db lapsed)
"$bin/tl-store" -q -d "$uri" --open --env any "$here/workloads.ndjson"
claim 100 0.2s --holder slow
cp "$tmp/out" "$tmp/late"
sleep 0.4
is "$(counts)" "0 0 $workloads 0" && is "$("$bin/tl-query" -d "$uri" --fleet | jq -r '.holders[] | "\(.holder) \(.lapsed) \(.silent_s > 0)"')" "slow $workloads true"
ok $? 'a lease ends, and that is told with the name of who had it'
claim 100 1h --holder quick
[ $? -eq 0 ] && is "$(ids "$tmp/out")" "$(ids "$tmp/late")" && ! "$bin/tl-store" -d "$uri" --renew "$(claim_of "$tmp/late")"
ok $? 'the next claim takes its units, and the first one cannot renew it'
ends "$tmp/late" $one stopped | "$bin/tl-store" -q -d "$uri" && is "$(counts)" "0 $workloads 0 0"
ok $? 'what the first taker breaks off does not take them away'
ends "$tmp/late" $one | "$bin/tl-store" -q -d "$uri" && is "$(counts)" "0 0 0 $workloads"
ok $? 'but what it did at last is done'
ends "$tmp/out" $two | "$bin/tl-store" -q -d "$uri" && is "$(counts)" "0 0 0 $workloads" && is "$("$bin/tl-query" -d "$uri" --dump=all | grep -c '"type":"end"')" $((3 * workloads))
ok $? 'and once, whoever else did it'

# Envs

uri=$(db envs)
"$bin/tl-store" -q -d "$uri" --open --env $two "$here/workloads.ndjson"
claim 100 1h
[ $? -eq 1 ] && claim 1 1h --env $two && ! claim 1 1h --env any
ok $? 'a machine takes units of its own env'

# Many at once, of which some die with what they took

uri=$(db many_units)
many=60
i=0
while [ $((i += 1)) -le $many ]; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${i}x64:64x64\"}"; done |
	"$bin/tl-check" --fix | "$bin/tl-store" -q -d "$uri" --open --env any
worker() { # number
	i=0
	while "$bin/tl-store" -d "$uri" --claim 3 --lease 3s --env $one >"$tmp/taken.$1.$i"; do
		i=$((i + 1))
		[ $((i % 5)) -eq "$1" ] || ends "$tmp/taken.$1.$((i - 1))" "$(printf 'a%031d' "$1")" | "$bin/tl-store" -q -d "$uri"
	done
}
workers=
for w in 0 1 2 3 4 5 6 7; do
	worker $w &
	workers="$workers $!"
done
# shellcheck disable=SC2086 # they are numbers
wait $workers
sleep 3.2
worker 9
is "$(counts)" "0 0 0 $many"
ok $? 'eight workers at once, of which some forget what they took: all units are done'
"$bin/tl-store" --check -d "$uri"
ok $? 'and the database is sound'
is "$("$bin/tl-query" -d "$uri" --dump=all | grep '"type":"end"' | sed 's/.*"unit":"\([0-9a-f]*\)".*/\1/' | sort | uniq -d | wc -l)" 0
ok $? 'no unit was done twice'

# The pipeline hands on what the unit needs

uri=$(db pipe)
"$bin/tl-store" -q -d "$uri" --open --env $one "$here/workloads.ndjson"
claim 1 1h
"$bin/tl-gen" -n 1 "$tmp/out" | "$bin/tl-filter" -q --model=none | sed -n '/"type":"end"/p' >"$tmp/end"
is "$(ids "$tmp/end") $(claim_of "$tmp/end")" "$(ids "$tmp/out") $(claim_of "$tmp/out")"
ok $? 'the end record tells of the unit and the claim'
"$bin/tl-query" -d "$uri" --prometheus >"$tmp/metrics" && grep -q "^tl_units{env=\"$one\",state=\"open\"} $((workloads - 1))\$" "$tmp/metrics" &&
	! grep -v '^# \(HELP\|TYPE\) tl_\|^tl_[a-z_]*{[a-z]*="[^"]*"\(,state="[a-z]*"\)\?} [-+0-9.e]*$' "$tmp/metrics"
ok $? 'metrics for Prometheus'
"$bin/tl-query" -d "$uri" --fleet --table >"$tmp/table" && grep -q 'to go' "$tmp/table"
ok $? 'and a table'
