# Sourced by benches: ISA=avx512_amx, avx512_bf16, avx512_vnni, avx512, avx2 or scalar holds for us and for oneDNN; without ISA everything is what the machine has.
# bench: the bench's name, set by who sources this.
# shellcheck shell=sh disable=SC2154

case ${ISA:-} in
'') ;;
avx512)
	export TL_ISA=avx512 ONEDNN_MAX_CPU_ISA=DEFAULT # AMX does nothing for f32
	[ "${DTYPE:-f32}" = f32 ] || ONEDNN_MAX_CPU_ISA=AVX512_CORE
	;;
avx512_amx) export TL_ISA=avx512_amx ONEDNN_MAX_CPU_ISA=DEFAULT ;;
avx512_vnni) export TL_ISA=avx512_vnni ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI ;;
avx512_bf16) export TL_ISA=avx512_bf16 ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 ;;
avx2) export TL_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 ;;
scalar) export TL_ISA=scalar ONEDNN_MAX_CPU_ISA=SSE41 ;;
*)
	echo "bench-$bench: ISA is \"$ISA\", which is none of avx512_amx, avx512_bf16, avx512_vnni, avx512, avx2 and scalar" >&2
	exit 2
	;;
esac
