#!/bin/sh
# Says what tests find on this machine, and what it lacks: what needs that is skipped.
set -eu
flags=" $(sed -n '/^flags/{s/.*: //p;q}' /proc/cpuinfo) "
has='' lacks=''

cpu_has() { # flags
	for flag; do
		case $flags in
		*" $flag "*) ;;
		*) return 1 ;;
		esac
	done
}

exists() { # one of these files
	for file; do
		[ ! -e "$file" ] || return 0
	done
	return 1
}

look() { # what, and how to find out
	what=$1
	shift
	if "$@" >/dev/null 2>&1; then has="$has $what"; else lacks="$lacks $what"; fi
}

look AVX2 cpu_has avx2 fma
look AVX-512 cpu_has avx512f avx512vl avx512dq avx512bw
look AMX cpu_has amx_tile
look terminal script -qec true /dev/null </dev/null
look GPU exists /dev/nvidia[0-9]* /dev/kfd
echo "CPUs: $(nproc). This machine has:${has:- none}. It lacks:${lacks:- nothing}."
