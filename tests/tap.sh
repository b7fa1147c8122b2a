# shellcheck shell=sh
# What the shell tests share, to be sourced: a folder in $tmp that goes at the end, and TAP. The last line of a test is its
# plan, echo "1..$n".
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export XDG_DATA_HOME="$tmp/data" # no test finds another one's database
n=0

ok() { # status name; returns the status
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
	return "$1"
}

pass_on() { # file of TAP lines without numbers
	while read -r line; do
		case $line in
		'ok - '*) ok 0 "${line#ok - }" ;;
		'not ok - '*) ok 1 "${line#not ok - }" ;;
		*) echo "$line" ;;
		esac
	done <"$1"
}

skip() { # name
	n=$((n + 1))
	echo "ok $n # SKIP $1"
}

has_isa() { # avx512, avx2 or scalar: does the CPU have it?
	TL_ISA=$1 "${bin:?}/tl-gen" </dev/null >/dev/null 2>&1
}

# From here on programs judge for a machine of this instruction set, this many threads, and the caches of a Xeon of 2023,
# whatever they run on. It fails where the CPU lacks the instruction set.
as_machine() { # avx512, avx2 or scalar; threads
	TL_ISA=$1 OMP_NUM_THREADS=$2 TL_LIMITS=l1d=49152,l2=2097152,l3=34603008,wide=1,l3rate=10
	export TL_ISA OMP_NUM_THREADS TL_LIMITS
	has_isa "$1"
}

# Can a terminal be played here? It takes script and a mounted /dev/pts.
has_terminal() {
	script -qec true /dev/null </dev/null >/dev/null 2>&1
}
skip_terminal() { # name
	skip "$1: no terminal can be played without script and /dev/pts"
}

count() { # pattern file
	grep -c -- "$1" "$2"
}

# Measures candidates of the workloads in $tmp/w for each of these instruction sets that the CPU has: six at least are right,
# and none is wrong. Leaves the results in $tmp/r-ISA.
measures_for() { # candidates of a workload; instruction sets
	k=$1
	shift
	for isa; do
		has_isa "$isa" || {
			skip "$isa: the CPU lacks it"
			continue
		}
		TL_ISA=$isa "$bin/tl-gen" -n 200 "$tmp/w" | TL_ISA=$isa "$bin/tl-filter" -k "$k" >"$tmp/c" 2>"$tmp/err" &&
			TL_ISA=$isa "$bin/tl-measure" -q "$tmp/c" >"$tmp/r-$isa" 2>>"$tmp/err"
		ok $? "$isa: measures" || sed 's/^/# /' "$tmp/err"
		[ "$(count '"status":"\(ok\|preempted\)".*"stage":"race"' "$tmp/r-$isa")" -ge "$(count '"type":"workload"' "$tmp/w")" ] && ! grep -q '"status":"\(wrong\|crash\|build\|failed\)"' "$tmp/r-$isa"
		ok $? 'none is wrong' || grep '"status":"\(wrong\|crash\|build\|failed\)"' "$tmp/r-$isa" | head -3 | sed 's/^/# /'
		"$bin/tl-check" -q "$tmp/r-$isa"
		ok $? 'results are valid records'
	done
}

seal() { # object: as the build cache seals it (lib/io/seal.h)
	printf '\ntl-seal %s\n' "$(sha256sum <"$1" | cut -c 1-32)" >>"$1"
}
