# shellcheck shell=sh
# What the name of a recorded set (share/spaces/plan) says of the machine: kernels for AVX2, or for one thread. Else kernels are for
# what the machine has, and for as many threads as this program was told, or as the machine grants.
threads=${OMP_NUM_THREADS:-}

machine_of() { # set: sets TL_ISA and OMP_NUM_THREADS
	unset TL_ISA OMP_NUM_THREADS
	case $1 in avx2-* | cold-avx2-*) export TL_ISA=avx2 ;; esac
	case $1 in
	*one-*) export OMP_NUM_THREADS=1 ;;
	*) [ ! "$threads" ] || export OMP_NUM_THREADS="$threads" ;;
	esac
}
