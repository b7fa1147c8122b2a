# shellcheck shell=sh
# A Slurm for a test, to be sourced behind tap.sh: slurmctld, munged and some nodes, each node with a host's name of its own (a UTS
# namespace). They are on loopback; or, in a laboratory, each has a network namespace of its own and a cable (veth) to a switch (bridge)
# in that of the test. It ends with the test.
# shellcheck disable=SC2154 # tmp is the test's
slurm=     # its folder
slurm_pids= # of munged, slurmctld and the nodes
lab=${TL_TEST_LAB:-} # the address of the switch; empty: there is none

# Runs the test again where networks and mounts are its own, if that can be.
enter_lab() { # script
	[ -z "$lab" ] || {
		ip link set lo up && ip link add name switch type bridge && ip addr add "$lab/24" dev switch && ip link set switch up
		return
	}
	! unshare --net --mount sh -c 'ip link add name tl0 type veth peer name tl1 && ip link add name tl2 type bridge && mount -t tmpfs none /mnt' 2>/dev/null ||
		TL_TEST_LAB=10.77.0.1 exec unshare --net --mount sh "$1"
}
node_address() { # number
	if [ "$lab" ]; then echo "${lab%.*}.$((10 + $1))"; else echo 127.0.0.1; fi
}
plug_in() { # number
	pid=$(cat "$slurm/node$1.pid") here=$(readlink /proc/self/ns/net)
	while [ "$(readlink "/proc/$pid/ns/net")" = "$here" ]; do sleep 0.02; done
	ip link del "cable$1" 2>/dev/null
	ip link add name "cable$1" type veth peer name eth0 netns "$pid" && ip link set "cable$1" master switch up
}

has_slurm() {
	for program in slurmctld slurmd sbatch munged unshare; do command -v $program >/dev/null || return; done
	[ "$(id -u)" -eq 0 ] && unshare --uts true 2>/dev/null
}

slurm_daemon() { # name command...
	name=$1
	shift
	"$@" >>"$slurm/$name.out" 2>&1 &
	echo $! >"$slurm/$name.pid"
	slurm_pids="$slurm_pids $!"
}
slurm_master() {
	slurm_daemon slurmctld slurmctld -D -f "$slurm/slurm.conf"
}
slurm_node() { # number
	# shellcheck disable=SC2016 # the inner shell expands it
	slurm_daemon "node$1" unshare --uts ${lab:+--net} sh -c 'hostname "n$1" && if [ "$3" ]; then
			ip link set lo up
			until ip addr add "$3/24" dev eth0 2>/dev/null; do sleep 0.02; done
			ip link set eth0 up
		fi && exec slurmd -D -f "$2/slurm.conf" -N "n$1"' sh "$1" "$slurm" "${lab:+$(node_address "$1")}"
	[ -z "$lab" ] || plug_in "$1"
}

# All that runs on a node.
slurm_processes() { # number
	host=$(readlink "/proc/$(cat "$slurm/node$1.pid")/ns/uts") || return
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/ns/uts" 2>/dev/null)" != "$host" ] || echo "${process#/proc/}"
	done
}

slurm_begin() { # nodes
	slurm=$(mktemp -d /tmp/tl-slurm-XXXXXX) && chmod 755 "$slurm" && mkdir "$slurm/state" || return
	head -c 128 /dev/urandom >"$slurm/munge.key" && chmod 600 "$slurm/munge.key"
	port=$((20000 + $$ % 20000))
	cat >"$slurm/slurm.conf" <<-EOF
		ClusterName=tl
		SlurmctldHost=localhost(${lab:-127.0.0.1})
		SlurmctldPort=$port
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$slurm/munge.sock
		StateSaveLocation=$slurm/state
		SlurmdSpoolDir=$slurm/spool.%n
		SlurmctldPidFile=$slurm/master.lock
		SlurmdPidFile=$slurm/%n.lock
		SlurmctldLogFile=$slurm/slurmctld.log
		SlurmdLogFile=$slurm/%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/linear
		SwitchType=switch/none
		MpiDefault=none
		ReturnToService=2
		SlurmdTimeout=10
		KillWait=5
		UnkillableStepTimeout=10
		PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	EOF
	i=0
	while [ $((i += 1)) -le "$1" ]; do
		mkdir "$slurm/spool.n$i"
		echo "NodeName=n$i NodeHostname=n$i NodeAddr=$(node_address "$i") Port=$((port + i)) State=UNKNOWN" >>"$slurm/slurm.conf"
	done
	export SLURM_CONF="$slurm/slurm.conf"
	slurm_daemon munged munged --foreground --force --socket="$slurm/munge.sock" --key-file="$slurm/munge.key" --pid-file="$slurm/munge.lock" \
		--log-file="$slurm/munge.log" --seed-file="$slurm/munge.seed"
	i=0
	until [ -S "$slurm/munge.sock" ] || [ $((i += 1)) -gt 100 ]; do sleep 0.1; done
	slurm_master
	i=0
	while [ $((i += 1)) -le "$1" ]; do slurm_node $i; done
	i=0
	until [ "$(sinfo -h -o %D -t idle 2>/dev/null)" = "$1" ]; do
		[ $((i += 1)) -lt 300 ] || return
		sleep 0.1
	done
}

slurm_end() {
	scancel --user=root 2>/dev/null
	for pid in $slurm_pids; do kill "$pid" 2>/dev/null; done
	sleep 1
	for pid in $slurm_pids; do kill -9 "$pid" 2>/dev/null; done
	rm -rf "$slurm"
}
