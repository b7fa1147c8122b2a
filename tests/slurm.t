#!/bin/sh
# A fleet under a real Slurm, with a database of PostgreSQL: nodes are killed, frozen and cut off, the disk of their results is full,
# the server and slurmctld are killed, at random moments; and the clocks of two nodes are wrong by minutes. Each unit is done once,
# nothing that was measured is lost, and the best kernels are those of one machine, but where a group was cut off and made anew.
#
# Measuring is played (fleet-measure.pl). TL_TEST_FAULTS (12), TL_TEST_NODES (4), TL_TEST_WORKLOADS (60; all: those of all networks of
# the tree), TL_TEST_EACH (0.2 s for a candidate), TL_TEST_UNITS (2 a claim) and
# TL_TEST_SEED (1).
bin=${BIN:-bin}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
# shellcheck source=tests/postgresql.sh
. "$here/postgresql.sh"
# shellcheck source=tests/slurm.sh
. "$here/slurm.sh"
unset TL_DB
has_slurm || {
	echo '1..0 # SKIP there is no Slurm (slurmctld, slurmd, munge), or this is not root'
	exit
}
enter_lab "$0"
pg_listen=$lab
pg_begin_or_skip
trap 'slurm_end; pg_end; umount "$tmp/jobs" 2>/dev/null; rm -rf "$tmp"' EXIT
faults=${TL_TEST_FAULTS:-12} nodes=${TL_TEST_NODES:-4} workloads=${TL_TEST_WORKLOADS:-60} each=${TL_TEST_EACH:-0.2}
mkdir "$tmp/shims" "$tmp/acked" "$tmp/jobs" "$tmp/recipes"
[ -z "$lab" ] || mount -t tmpfs -o size=64M none "$tmp/jobs"
bin=$(cd "$bin" && pwd)
# What tl-store acknowledged is kept beside.
cat >"$tmp/shims/tl-store" <<EOF
#!/bin/sh
for last; do :; done
case \$last in
results.*)
	copy=\$(mktemp $tmp/acked/XXXXXX)
	cp "\$last" "\$copy"
	$bin/tl-store "\$@" || exit
	mv "\$copy" "\$copy.ok"
	;;
*) exec $bin/tl-store "\$@" ;;
esac
EOF
# What a machine proposes shall not depend on what others have measured meanwhile, so that one machine proposes the same.
printf '#!/bin/sh\nshift 4 # -s guided -n 256\nexec %s/tl-gen "$@"\n' "$bin" >"$tmp/shims/tl-gen"
printf '#!/bin/sh\nexec %s/tl-filter "$1" "$2" # without the database\n' "$bin" >"$tmp/shims/tl-filter"
chmod +x "$tmp/shims"/*
chmod 755 "$tmp"
PATH=$tmp/shims:$bin:$PATH
env=$(tl-doctor 2>/dev/null | sed -n 's/^env *\([0-9a-f]*\),.*/\1/p')
# The clocks of two nodes are wrong, if there is libfaketime.
faketime=$(find /usr/lib -name libfaketime.so.1 2>/dev/null | head -n 1)
recipes=$(cd "$here/../share/recipes" && pwd)
cp "$recipes"/* "$tmp/recipes"
cat >"$tmp/recipes/worker.sh" <<EOF
#!/bin/sh
case \$(hostname) in
n2) wrong=+3m ;;
n3) wrong=-5m ;;
esac
[ -z "\$wrong" ] || [ -z "$faketime" ] || export LD_PRELOAD="$faketime" FAKETIME="\$wrong" DONT_FAKE_MONOTONIC=1
exec sh "$recipes/worker.sh" "\$@"
EOF
export PATH TL_RECIPES="$tmp/recipes" UNITS=${TL_TEST_UNITS:-2} LEASE=4s PAUSE=0.5

counts() { # database: open, leased, lapsed, done
	tl-query -d "$1" --fleet | jq -r '[.units[] | [.open, .leased, .lapsed, .done]] | transpose | map(add) | join(" ")'
}
best() { # database
	tl-query -q -d "$1" "$tmp/wl" | jq -r '"\(.workload.workload_id) \(.candidate_id) \(.latency_s)"' | sort
}
# Slurm lets a task of a node that failed wait for two minutes.
begin_now() {
	for job in $(squeue -h -t PD -o %A 2>/dev/null); do scontrol update "JobId=$job" StartTime=now 2>/dev/null; done
}
workers_end() { # seconds at most
	i=0
	while [ -n "$(squeue -h 2>/dev/null || echo away)" ] && [ $((i += 1)) -lt "$1" ]; do
		begin_now
		sleep 1
	done
	[ $i -lt "$1" ]
}

if [ "$workloads" = all ]; then
	for network in "$here"/networks/*/* "$here"/../share/models/*.[zgc]*; do
		case $network in *.py | *.shapes) continue ;; esac
		"$bin/tl-extract" -q "$network" 2>/dev/null
	done >"$tmp/all"
	"$bin/tl-extract" -q "$tmp/all" 2>/dev/null | grep '"dtype":"f32"' >"$tmp/wl"
	workloads=$(wc -l <"$tmp/wl")
else
	i=0
	while [ $((i += 1)) -le "$workloads" ]; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${i}x64:64x64\"}"; done | tl-check --fix >"$tmp/wl"
fi
export MEASURE="perl $here/fleet-measure.pl $env $each" PRUNE="tl-prune --until rounds<1 -b $((workloads * 4))"
tl-store -q -d "$tmp/alone.db" "$tmp/wl"
MEASURE="perl $here/fleet-measure.pl $env 0" UNITS=64 sh "$recipes/worker.sh" "$tmp/alone.db" "$tmp/alone" 2>"$tmp/err"
rm -f "$tmp"/acked/*
best "$tmp/alone.db" >"$tmp/best.alone"
known=$(wc -l <"$tmp/best.alone") # what has no kernels, such as in a type that nobody makes them for, has no answer
[ "$known" -ge $((workloads / 2)) ] && counts "$tmp/alone.db" | grep -q '^0 0 0 '
ok $? "one machine tunes $workloads workloads: $(counts "$tmp/alone.db")"

# Nodes want more of a machine than programs, such as control groups.
slurm_begin "$nodes" || {
	sed 's/^/# /' "$slurm"/node1.out "$slurm"/slurmctld.out
	skip "Slurm does not start here: $(grep -h error: "$slurm/node1.out" | tail -n 1)"
	echo "1..$n"
	exit
}
ok 0 "Slurm has $nodes nodes"
[ "$lab" ] || skip 'no network of its own: no node is cut off, and no disk is full'
[ "$faketime" ] || skip 'no libfaketime: all clocks agree'
pg_sql postgres 'CREATE DATABASE fleet'
uri=$(pg_uri fleet)
tl-store -q -d "$uri" "$tmp/wl"
(cd "$tmp/jobs" && sbatch -Q --array="1-$nodes" --output=%a.out "$TL_RECIPES/slurm.sbatch" "$uri")
ok $? 'sbatch takes the recipe'

kill_node() { # number
	for pid in $(slurm_processes "$1"); do kill -9 "$pid" 2>/dev/null; done
	sleep 1
	slurm_node "$1"
}
freeze_node() { # number: for twice the lease
	frozen=$(slurm_processes "$1")
	for pid in $frozen; do kill -STOP "$pid" 2>/dev/null; done
	sleep 8
	for pid in $frozen; do kill -CONT "$pid" 2>/dev/null; done
}
kill_master() {
	kill -9 "$(cat "$slurm/slurmctld.pid")"
	slurm_master
}
cut_off() { # number: for twice the lease
	ip link set "cable$1" down
	sleep 8
	ip link set "cable$1" up
}
fill_disk() {
	head -c 64M /dev/zero >"$tmp/jobs/filler" 2>/dev/null
	sleep 3
	rm -f "$tmp/jobs/filler"
}
# Without a laboratory nobody is cut off, and no disk is full.
awk -v seed="${TL_TEST_SEED:-1}" -v n="$faults" -v nodes="$nodes" -v kinds="${lab:+6}" \
	'BEGIN { srand(seed); for (; n; n--) print int((kinds ? kinds : 4) * rand()), 1 + int(nodes * rand()), 1.5 * rand() }' >"$tmp/faults"
began=$(date +%s)
while read -r what node wait; do
	sleep "$wait"
	case $what in
	0) kill_node "$node" ;;
	1) freeze_node "$node" ;;
	2) pg_kill && pg_start ;;
	3) kill_master ;;
	4) cut_off "$node" ;;
	5) fill_disk ;;
	esac
	begin_now
	done_faults=$((${done_faults:-0} + 1))
	echo "# fault $what at node $node: $(counts "$uri" 2>/dev/null)"
	[ "$(squeue -h 2>/dev/null || echo away)" ] || break # all is done
done <"$tmp/faults"
workers_end $((240 + workloads))
ok $? "all workers end, $(($(date +%s) - began)) s after the first of ${done_faults:-0} faults" || squeue | sed 's/^/# /'

# What is left in the folders of workers that were not begun again.
for folder in "$tmp"/jobs/tl-worker.* "$tmp/last"; do sh "$TL_RECIPES/worker.sh" "$uri" "$folder" 2>>"$tmp/err"; done
counts "$uri" | grep -q '^0 0 0 '
ok $? "each unit is done: $(counts "$uri")"
tl-query -d "$uri" --dump=results | sort >"$tmp/have"
cat "$tmp"/acked/*.ok | grep '"type":"result"' | grep '}$' | sort -u | comm -23 - "$tmp/have" >"$tmp/lost"
[ ! -s "$tmp/lost" ] && [ -s "$tmp/have" ]
ok $? "nothing that was acknowledged is lost: $(wc -l <"$tmp/have") results" || sed 's/^/# /' "$tmp/lost" | cut -c1-200 | head -n 5
[ -z "$(find "$tmp/jobs" -name 'results.*')" ]
ok $? 'nothing waits in a folder'
for kept in "$tmp"/jobs/tl-worker.*/kept.*; do "$bin/tl-check" "$kept" 2>/dev/null; done | grep '"type":"result"' | sort -u | comm -23 - "$tmp/have" >"$tmp/lost"
[ ! -s "$tmp/lost" ]
ok $? 'what a killed worker had measured is stored' || sed 's/^/# /' "$tmp/lost"
tl-store --check -d "$uri"
ok $? 'the database is sound'
# Of each workload: its best candidate and that one's time, by all that was stored, and how many candidates it has.
"$bin/tl-query" -d "$uri" --dump=results | jq -r '"\(.workload.workload_id) \(.candidate_id) \(.latency_s)"' | sort -u | awk '
	{ n[$1]++ }
	!($1 in s) || $3 < s[$1] { s[$1] = $3; best[$1] = $1 " " $2 " " $3 }
	END { for (w in n) print best[w], n[w] }' | sort >"$tmp/found"
best "$uri" >"$tmp/best"
cut -d ' ' -f 1-3 "$tmp/found" | cmp -s - "$tmp/best" && [ "$(wc -l <"$tmp/best")" -eq "$known" ]
ok $? 'the answers are the best of all that was measured'
"$bin/tl-query" -d "$tmp/alone.db" --dump=results | jq -r .workload.workload_id | sort | uniq -c | awk '{ print $2, $1 }' | sort >"$tmp/tried"
join "$tmp/tried" "$tmp/found" | awk '$5 < $2 { bad = 1 } END { exit bad }'
ok $? 'each workload had as many candidates as on one machine'
# A group that was cut off is made anew with others beside those that were measured, so the workload has more.
join "$tmp/tried" "$tmp/found" | awk '$5 == $2 { print $1, $3, $4 }' >"$tmp/whole"
[ -s "$tmp/whole" ] && comm -23 "$tmp/whole" "$tmp/best.alone" >"$tmp/other" && [ ! -s "$tmp/other" ]
ok $? "the best kernels are those of one machine, of $(wc -l <"$tmp/whole") workloads of which no group was cut off" || sed 's/^/# /' "$tmp/other"

# Measuring is not played, on one node.
unset MEASURE
export UNITS=2 LEASE=1m PRUNE='tl-prune --until rounds<1 -b 12'
pg_sql postgres 'CREATE DATABASE live'
uri=$(pg_uri live)
for m in 16 32 48; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${m}x64:64x64\"}"; done | tl-check --fix >"$tmp/wl"
tl-store -q -d "$uri" "$tmp/wl"
(cd "$tmp/jobs" && sbatch -Q --array=1-1 --output=live.out "$TL_RECIPES/slurm.sbatch" "$uri") && workers_end 240
ok $? 'a worker of one node measures, and ends' || sed 's/^/# /' "$tmp/jobs/live.out"
[ "$(counts "$uri")" = '0 0 0 3' ] && [ "$(tl-query -q -d "$uri" "$tmp/wl" | jq -s 'map(select(.latency_s > 0)) | length')" -eq 3 ]
ok $? "each of its 3 workloads has a kernel: $(counts "$uri")" || sed 's/^/# /' "$tmp/jobs/live.out"

echo "1..$n"
