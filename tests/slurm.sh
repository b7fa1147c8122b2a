# shellcheck shell=sh
# A Slurm for a test, to be sourced behind tap.sh: slurmctld, munged and some nodes on loopback, each node with a host's name of its
# own (a UTS namespace). It ends with the test.
# shellcheck disable=SC2154 # tmp is the test's
slurm=     # its folder
slurm_pids= # of munged, slurmctld and the nodes

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
	slurm_daemon "node$1" unshare --uts sh -c 'hostname "n$1" && exec slurmd -D -f "$2/slurm.conf" -N "n$1"' sh "$1" "$slurm"
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
		SlurmctldHost=localhost(127.0.0.1)
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
		echo "NodeName=n$i NodeHostname=n$i NodeAddr=127.0.0.1 Port=$((port + i)) State=UNKNOWN" >>"$slurm/slurm.conf"
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
