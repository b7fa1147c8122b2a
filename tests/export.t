#!/bin/bash
# tl-export: what comes out builds by itself, is right by its own test, and serves C++ and Python.
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-$PWD/bin}
# shellcheck source=tests/tap.sh
. tests/tap.sh
unset MAKEFLAGS MFLAGS TL_ISA

run() { # name command..: its output is shown where it fails
	local name=$1
	shift
	"$@" >"$tmp/log" 2>&1
	local status=$?
	[ $status -eq 0 ] || tail -20 "$tmp/log" | sed 's/^/# /'
	ok $status "$name"
}

# A workload of each kind, and a candidate of an algorithm for it, at random, for each instruction set that the CPU has.
while read -r algo op prob dtype layout rhs post; do
	printf '{"tl":1,"type":"workload","op":"%s","prob":"%s","dtype":"%s","layout":"%s","post":[%s]%s}\n' \
		"$op" "$prob" "$dtype" "$layout" "$post" "$([ "$rhs" = computed ] && echo ',"rhs":"computed"')" | "$bin/tl-check" | tee -a "$tmp/workloads" >"$tmp/wl-$algo"
	for isa in avx512_amx avx512_bf16 avx512_vnni avx512 avx2; do
		[ "${isa#avx512_}" = "$isa" ] || [ "$dtype" != f32 ] || continue
		! has_isa $isa || TL_ISA=$isa OMP_NUM_THREADS=2 "$bin/tl-gen" -a "$algo" -n 1 --seed 5 "$tmp/wl-$algo"
	done | grep '"type":"candidate"'
	# Some algorithms need vectors.
	TL_ISA=scalar OMP_NUM_THREADS=2 "$bin/tl-gen" -n 1 --seed 5 "$tmp/wl-$algo" | grep '"type":"candidate"'
done <<-'END' >"$tmp/all"
	winograd conv2d ic8ih13_oc24_kh3ph1 f32 nhwc const "bias","relu"
	direct conv2d ic20ih9_oc17_kh3ph1 f32 nchw const "bias","relu6"
	direct conv2d ic16ih10_oc40_kh1 f32 nhwc const "bias","add","relu"
	winograd conv2d ic3ih21_oc16_kh7sh2ph3 f32 nhwc const "bias","relu"
	depthwise conv2d g19ic19ih11_oc19_kh3ph1 f32 nhwc const "bias","relu6"
	grouped conv2d g8ic32ih9_oc32_kh3ph1 f32 nhwc const "bias","relu"
	winograd conv2d g4ic32ih9_oc64_kh3ph1 f32 nhwc const "bias","relu"
	gemm matmul 7x40:40x33 f32 ab const "bias","gelu"
	strassen matmul 16x64:64x48 f32 ab const "bias","mul"
	gemm matmul 2x9x20:2x20x24 f32 ab computed
	gemm matmul 2x600:600x20 f32 ab const "bias"
	direct conv2d ic32ih9_oc40_kh3ph1 bf16 nhwc const "bias","add","relu"
	depthwise conv2d g32ic32ih11_oc32_kh3ph1 bf16 nhwc const "bias","relu6"
	gemm matmul 7x40:40x33 bf16:bf16:f32 ab const "bias","gelu"
	gemm matmul 9x41:41x24 bf16 ab const "bias","mul"
	gemm matmul 9x48:48x24 bf16 ab const "bias","mul"
	direct conv2d ic7ih9_oc17_kh3ph1 bf16 nchw const "bias"
	grouped conv2d g8ic32ih9_oc32_kh3ph1 bf16 nhwc const "bias"
	winograd conv2d ic16ih8_oc32_kh3ph1 bf16 nhwc const "bias","relu"
	direct conv2d ic20ih9_oc24_kh3ph1 u8:s8:u8 nhwc const "bias","scale","relu","shift","pad"
	direct conv2d ic8ih9_oc24_kh1 u8:s8:s8 nchw const "bias","scale","shift"
	depthwise conv2d g32ic32ih11_oc32_kh3ph1 u8:s8:u8 nhwc const "bias","scale","shift","pad"
	winograd conv2d ic16ih8_oc32_kh3ph1 u8:s8:f32 nhwc const "bias","scale"
	grouped conv2d g8ic32ih9_oc32_kh3ph1 s8 nhwc const "bias","scale"
	gemm matmul 7x48:48x33 u8:s8:f32 ab const "bias","scale","add","gelu"
	gemm matmul 9x22:22x24 u8:s8:s32 ab computed
	dequantize matmul 3x64:64x40 f32:u4:f32 ab const "bias","groups(32)","zeros"
	dequantize matmul 2x64:64x40 f32:u8:f32 ab const "groups(64)"
	gemm matmul 5x48:48x24 u8:s8:u8 ab const "bias","scale","shift"
END
[ "$(grep -o '"workload_id":"[0-9a-f]*"' "$tmp/all" | sort -u | wc -l)" -eq 29 ]
ok $? 'twenty-nine workloads'

"$bin/tl-export" -o "$tmp/out" "$tmp/all" 2>"$tmp/err"
ok $? 'a folder of candidates'
grep -q ' kernels of 29 operators in ' "$tmp/err"
ok $? 'it says what was written'
ls "$tmp/out" >"$tmp/names"
[ "$(tr '\n' ' ' <"$tmp/names")" = 'LICENSE Makefile README bench_kernels.c checksums example.c kernels manifest.json test.c tlx.c tlx.h tlx_kernels.h tlx_prelude.h tlx_table.c tlx_team.c ' ]
ok $? 'its files'
OUT=$tmp/out perl -MJSON::PP -0777 -ne '
	my $kernels = decode_json($_);
	exit !(@$kernels && !grep { !-f "$ENV{OUT}/$_->{file}" || !$_->{workload_id} } @$kernels)' "$tmp/out/manifest.json"
ok $? 'the manifest is JSON, and its files are there'
"$bin/tl-export" -o "$tmp/again" "$tmp/all" 2>/dev/null && diff -r "$tmp/out" "$tmp/again" >/dev/null
ok $? 'the same records make the same bytes'
(umask 027 && "$bin/tl-export" -o "$tmp/masked" "$tmp/wl-gemm" "$tmp/all" 2>/dev/null) && [ "$(stat -c %a "$tmp/masked" "$tmp/masked/kernels" | tr '\n' ' ')" = '750 750 ' ]
ok $? 'its folders are as open as the umask lets them be'

# From a database: the same kernels, whatever asks for them.

sed 's/"type":"candidate"/"type":"result"/; s/}$/,"status":"ok","stage":"race","latency_s":1e-5,"error":{"l2":0,"max":0},"cost":{"core_s":0.1},"env_id":"e1000000000000000000000000000000","run":"a1000000000000000000000000000000","at":"2026-11-21T09:00:00.000Z"}/' \
	"$tmp/all" >"$tmp/results"
"$bin/tl-store" -q -d "$tmp/db" "$tmp/results"
ok $? 'results are stored'
"$bin/tl-export" -d "$tmp/db" -o "$tmp/known" "$tmp/workloads" 2>"$tmp/err"
ok $? 'a folder of what a database knows'
grep -q 'were tuned in another env' "$tmp/err"
ok $? 'it says what is from elsewhere'
"$bin/tl-export" -d "$tmp/db" --all -o "$tmp/every" 2>/dev/null
ok $? 'a folder of all that it knows'
[ "$(ls "$tmp/known/kernels")" = "$(ls "$tmp/every/kernels")" ] && [ "$(find "$tmp/known/kernels" -name 'definition_*' | wc -l)" -eq 29 ]
ok $? 'both have the kernels of all twenty-nine operators'
echo '{"tl":1,"type":"workload","op":"matmul","prob":"3x5:5x7","dtype":"f32","layout":"ab","post":[]}' | "$bin/tl-check" |
	"$bin/tl-export" -d "$tmp/db" --one >"$tmp/log" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/log" ] && grep -q 'knows no kernel' "$tmp/err"
ok $? 'what it does not know is said'
"$bin/tl-export" --all -o "$tmp/none" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -- '--all belongs to -d' "$tmp/err"
ok $? '--all without a database is refused'

cp -r "$tmp/out" "$tmp/openmp"
run 'it builds' make -s -C "$tmp/openmp" all test example
run 'each kernel is as its definition, with OpenMP' "$tmp/openmp/test"
grep -q '^29 passed, 0 failed$' "$tmp/log"
ok $? 'all twenty-nine were tried'
run 'the example runs' "$tmp/openmp/example"
run 'its bench builds' make -s -C "$tmp/openmp" bench_kernels
"$tmp/openmp/bench_kernels" 1 >"$tmp/bench" && [ "$(grep -c ' us' "$tmp/bench")" -ge 1 ] &&
	[ "$(grep -c -e ': avx' -e ': scalar' -e ': definition' "$tmp/bench")" -eq "$(grep -c '{{"' "$tmp/openmp/tlx_table.c")" ]
ok $? 'and times each operator'
if qemu=$(command -v qemu-x86_64 || command -v qemu-x86_64-static); then
	run 'a CPU without AVX computes by the definitions' "$qemu" -cpu Nehalem "$tmp/openmp/test"
	[ "$(grep -c -e ': definition, error' -e ': scalar: ' "$tmp/log")" -eq 29 ]
	ok $? 'all twenty-nine of them'
else
	skip 'a CPU without AVX: qemu-user is not installed'
fi
cp -r "$tmp/out" "$tmp/pthreads"
run 'with POSIX threads' make -s -C "$tmp/pthreads" THREADS=pthreads check
cp -r "$tmp/out" "$tmp/alone"
run 'without threads' make -s -C "$tmp/alone" THREADS=none check
cp -r "$tmp/out" "$tmp/asan"
run 'under the address sanitizer' env ASAN_OPTIONS=detect_leaks=1 make -s -C "$tmp/asan" THREADS=none \
	CFLAGS='-O1 -g -fsanitize=address,undefined' check
run 'it installs' make -s -C "$tmp/pthreads" THREADS=pthreads DESTDIR="$tmp/root" PREFIX=/usr install
[ -f "$tmp/root/usr/include/tlx.h" ] && [ -f "$tmp/root/usr/lib/libtlx.so" ] && grep -q -e '-ltlx' "$tmp/root/usr/lib/pkgconfig/tlx.pc"
ok $? 'header, library and pkg-config file'

# A bit that flips after the export is noticed before anything is built; a change of one's own is accepted.
cp -r "$tmp/out" "$tmp/flip"
for file in tlx.c Makefile checksums "$(cd "$tmp/flip" && find kernels -name '*.c' | sort | head -n 1)"; do
	shown="&& cat $tmp/flip/$file"
	[ $file != checksums ] || shown='' # it says nothing itself
	perl tests/flip.pl -n "${TL_TEST_FLIPS:-20}" "$tmp/flip/$file" "cd $tmp/flip && rm -f .whole && make -s .whole $shown"
	ok $? "flipped bits of $file are noticed"
done
echo '/* mine */' >>"$tmp/flip/tlx.c"
! make -s -C "$tmp/flip" .whole >"$tmp/log" 2>&1 && grep -q '^  *tlx.c$' "$tmp/log" && make -s -C "$tmp/flip" renew && make -s -C "$tmp/flip" .whole
ok $? 'a change of a file is named, until it is accepted'

# A kernel that is wrong is found.
for kernel in "$tmp/alone"/kernels/avx*.c; do
	[ ! -f "$kernel" ] || sed -i '0,/vfmadd231ps/s//vfnmadd231ps/; 0,/vaddps/s//vsubps/' "$kernel"
done
if grep -q vfnmadd231ps "$tmp/alone"/kernels/*.c; then
	make -s -C "$tmp/alone" renew
	! make -s -C "$tmp/alone" THREADS=none check >"$tmp/log" 2>&1 && grep -q '^not ok: ' "$tmp/log"
	ok $? 'a wrong kernel fails the test'
else
	skip 'there is no kernel in assembly to break: the CPU lacks AVX2'
fi

# Many callers at once, in C++, by two libraries in one program.
"$bin/tl-export" -o "$tmp/other" --prefix my_ops "$tmp/all" 2>/dev/null && make -s -C "$tmp/other" THREADS=pthreads >"$tmp/log" 2>&1
ok $? 'another prefix'
! grep -rqi tlx "$tmp/other" --include='*.[ch]' --include=Makefile
ok $? 'which is everywhere'
cat >"$tmp/many.cc" <<'END'
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
#include "other/my_ops.h"
#include "pthreads/tlx.h"
int main()
{
	const tlx_op *op = tlx_find("conv2d", "mb1_ic8ih13_oc24oh13_kh3ph1", "nhwc", "bias,relu");
	const my_ops_op *same = my_ops_find("conv2d", "mb1_ic8ih13_oc24oh13_kh3ph1", nullptr, nullptr);
	if (!op || !same)
		return 1;
	std::vector<float> src(op->src, 0.5f), weights(op->weights, 0.25f), bias(op->bias, 1), expected(op->dst);
	my_ops *one = my_ops_create(same, weights.data(), bias.data(), 1);
	if (!one || my_ops_run(one, src.data(), expected.data()))
		return 2;
	std::vector<std::thread> threads;
	bool good[4] = {};
	tlx *shared = tlx_create(op, weights.data(), bias.data(), 2);
	for (int t = 0; t < 4; t++)
		threads.emplace_back([&, t] {
			std::vector<float> dst(op->dst);
			std::vector<char> memory(tlx_scratch_bytes(shared) + 64);
			void *scratch = memory.data() + 64 - (size_t)memory.data() % 64;
			tlx_data data = {src.data(), dst.data(), nullptr, nullptr};
			good[t] = true;
			for (int i = 0; i < 200; i++) {
				std::memset(dst.data(), 0, dst.size() * sizeof(float));
				good[t] &= !tlx_run_in(shared, &data, scratch);
				for (size_t j = 0; j < dst.size(); j++)
					good[t] &= std::fabs(dst[j] - expected[j]) <= 1e-3f;
			}
		});
	for (auto &t : threads)
		t.join();
	tlx_destroy(shared);
	my_ops_destroy(one);
	if (tlx_create(op, nullptr, bias.data(), 1) || tlx_create(op, weights.data(), bias.data(), 0) || tlx_find("conv2d", "x", 0, 0))
		return 3;
	std::puts(good[0] && good[1] && good[2] && good[3] ? "all right" : "wrong");
}
END
if command -v c++ >/dev/null; then
	c++ -O1 -I"$tmp" -o "$tmp/many" "$tmp/many.cc" "$tmp/pthreads/libtlx.a" "$tmp/other/libmy_ops.a" -pthread >"$tmp/log" 2>&1 &&
		[ "$("$tmp/many")" = 'all right' ]
	ok $? 'four C++ threads share a handle, beside another library'
else
	skip 'there is no c++ here'
fi

if command -v python3 >/dev/null; then
	python3 - "$tmp/openmp/libtlx.so" >"$tmp/log" 2>&1 <<'END'
import ctypes, sys
class Op(ctypes.Structure):
    _fields_ = [(n, ctypes.c_char_p) for n in ("op", "prob", "layout", "post")] + [
        (n, ctypes.c_size_t) for n in ("src", "weights", "bias", "add", "mul", "dst")] + [("rhs_computed", ctypes.c_int)]
lib = ctypes.CDLL(sys.argv[1])
lib.tlx_find.restype = ctypes.POINTER(Op)
lib.tlx_create.restype = ctypes.c_void_p
lib.tlx_create.argtypes = [ctypes.POINTER(Op), ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
lib.tlx_run.argtypes = lib.tlx_destroy.argtypes = None
op = lib.tlx_find(b"matmul", b"2x600:600x20", None, b"bias")
o = op.contents
src = (ctypes.c_float * o.src)(*[1.0] * o.src)
weights = (ctypes.c_float * o.weights)(*[0.5] * o.weights)
bias = (ctypes.c_float * o.bias)(*range(o.bias))
dst = (ctypes.c_float * o.dst)()
handle = ctypes.c_void_p(lib.tlx_create(op, weights, bias, 2))
assert lib.tlx_run(handle, src, dst) == 0
assert all(abs(dst[i] - (300 + i % 20)) < 1e-3 for i in range(o.dst)), list(dst)
lib.tlx_destroy(handle)
END
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' "$tmp/log"
	ok $status "Python calls it by ctypes"
else
	skip 'there is no python3 here'
fi
[ "$(TLX_ISA=scalar "$tmp/openmp/example" | grep -c ', scalar: ')" -eq 1 ] &&
	[ "$(TLX_ISA=definition "$tmp/openmp/example" | grep -c ', definition$')" -eq 1 ]
ok $? 'TLX_ISA makes it take a kernel for less'

# In bf16: exact numbers, and what is no number; by the kernels of this CPU and of less.
cat >"$tmp/bf16.c" <<'END'
#include <math.h>
#include <stdio.h>
#include "tlx.h"
#define TEXT_(k) #k
#define TEXT(k) TEXT_(k)
#define OPERANDS "9x" TEXT(K) ":" TEXT(K) "x24"
int main(void)
{
	const struct tlx_op *op = tlx_find_typed("matmul", OPERANDS, NULL, NULL, "bf16");
	float weights[K * 24], bias[24], src[9 * K], mul[9 * 24], got[9 * 24], nan, huge = 3.4e38f, is;
	uint16_t half[9 * K], factor[9 * 24], dst[9 * 24];
	unsigned bits = 0x7fffffff;
	if (!op || op->src_type != TLX_BF16 || op->dst_type != TLX_BF16 || tlx_find_typed("matmul", OPERANDS, NULL, NULL, "f32"))
		return 1;
	__builtin_memcpy(&nan, &bits, sizeof nan);
	for (int i = 0; i < K * 24; i++)
		weights[i] = 0.5f;
	for (int i = 0; i < 24; i++)
		bias[i] = i;
	for (int i = 0; i < 9 * K; i++)
		src[i] = i / K == 8 && i % K == 3 ? nan : 1;
	for (int i = 0; i < 9 * 24; i++)
		mul[i] = 2;
	tlx_to_bf16(src, half, 9 * K);
	tlx_to_bf16(mul, factor, 9 * 24);
	struct tlx *handle = tlx_create(op, weights, bias, 2);
	const struct tlx_data data = {half, dst, factor, NULL};
	if (!handle || tlx_run_data(handle, &data))
		return 2;
	tlx_from_bf16(dst, got, 9 * 24);
	for (int i = 0; i < 9 * 24; i++)
		if (i / 24 == 8 ? !isnan(got[i]) : got[i] != K + 2 * (i % 24))
			return printf("element %d is %g\n", i, got[i]), 3;
	tlx_to_bf16(&huge, half, 1);
	tlx_from_bf16(half, &is, 1);
	puts(isinf(is) ? tlx_kernel_name(handle) : "finite");
	tlx_destroy(handle);
	return 0;
}
END
bf16_caller() { # values that are summed
	cc -O1 -DK="$1" -I"$tmp/openmp" -o "$tmp/bf16-$1" "$tmp/bf16.c" "$tmp/openmp/libtlx.a" -fopenmp -lm 2>"$tmp/log"
}
if bf16_caller 41 && bf16_caller 48; then
	for isa in avx512_amx avx512_bf16 avx512 avx2 scalar definition; do
		k=41
		[ $isa != avx512_amx ] || k=48 # tiles take whole steps
		if [ $isa = definition ] || has_isa $isa; then
			TLX_ISA=$isa "$tmp/bf16-$k" >"$tmp/log" && grep -q "^$isa\>" "$tmp/log"
			ok $? "bf16 by $isa"
		else
			skip "bf16: this CPU has no $isa"
		fi
	done
	# A virtual machine may show a part of AMX.
	mkdir "$tmp/shim"
	cat >"$tmp/shim/cpuid.h" <<-'END'
		#include_next <cpuid.h>
		static inline int less(unsigned leaf, unsigned part, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
		{
			int known = __get_cpuid_count(leaf, part, a, b, c, d);
			if (known && leaf == 7 && part == 0)
				*d &= ~(1u << LACKS);
			return known;
		}
		#define __get_cpuid_count less
	END
	for lacks in 22 24 25; do
		if has_isa avx512_amx; then
			cc -O1 -DK=48 -DLACKS=$lacks -I"$tmp/shim" -I"$tmp/openmp" -o "$tmp/less" "$tmp/bf16.c" "$tmp/openmp/tlx.c" "$tmp/openmp/libtlx.a" -fopenmp -lm 2>"$tmp/log" &&
				"$tmp/less" >"$tmp/log" && grep -q '^avx512_bf16\>' "$tmp/log"
			ok $? "a CPU with a part of AMX (not bit $lacks) takes no kernel with tiles" || sed 's/^/# /' "$tmp/log"
		else
			skip 'a part of AMX: this CPU has none'
		fi
	done
else
	ok 1 'a caller in bf16 compiles'
	sed 's/^/# /' "$tmp/log"
fi

# In 8 bits, and by weights of 4 bits: against sums that the caller makes itself.
cat >"$tmp/whole.c" <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "tlx.h"
static int bytes(void)
{
	const struct tlx_op *op = tlx_find("matmul", "5x48:48x24", NULL, "bias,scale,shift");
	float weights[48 * 24], bias[24], scale[24], shift[24], real[5 * 48], sum;
	uint8_t src[5 * 48], dst[5 * 24];
	const struct tlx_constants c = {.weights = weights, .bias = bias, .scale = scale, .shift = shift};
	const struct tlx_constants less = {.weights = weights, .bias = bias, .scale = scale};
	if (!op || op->src_type != TLX_U8 || op->weights_type != TLX_S8 || op->dst_type != TLX_U8 || op->scale != 24 || op->shift != 24 || op->pad)
		return 1;
	for (int i = 0; i < 48 * 24; i++)
		weights[i] = i * 37 % 255 - 127;
	for (int i = 0; i < 24; i++)
		bias[i] = i * 1000 - 9000, scale[i] = 0x1p-9f, shift[i] = 101;
	for (int i = 0; i < 5 * 48; i++)
		real[i] = i * 29 % 256;
	real[7] = 300; /* is 255 */
	tlx_from_floats(TLX_U8, real, src, 5 * 48);
	if (src[7] != 255 || src[9] != 9 * 29 % 256 || tlx_create(op, weights, bias, 1) || tlx_create_with(op, &less, 1))
		return 2;
	struct tlx *handle = tlx_create_with(op, &c, 2);
	if (!handle || tlx_run(handle, src, dst))
		return 3;
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 24; j++) {
			sum = bias[j];
			for (int k = 0; k < 48; k++)
				sum += src[i * 48 + k] * weights[k * 24 + j];
			sum = fminf(fmaxf(rintf(sum * 0x1p-9f) + 101, 0), 255);
			if (dst[i * 24 + j] != sum)
				return printf("%d, %d: %d is %g\n", i, j, dst[i * 24 + j], sum), 4;
		}
	puts(tlx_kernel_name(handle));
	tlx_destroy(handle);
	return 0;
}
static int few_bits(void)
{
	const struct tlx_op *op = tlx_find("matmul", "3x64:64x40", NULL, NULL);
	float weights[64 * 40], bias[40], scale[2 * 40], zeros[2 * 40], src[3 * 64], dst[3 * 40];
	const struct tlx_constants c = {.weights = weights, .bias = bias, .scale = scale, .zeros = zeros};
	if (!op || op->weights_type != TLX_U4 || op->scale != 80 || op->zeros != 80)
		return 5;
	for (int i = 0; i < 64 * 40; i++)
		weights[i] = i * 7 % 16;
	for (int i = 0; i < 40; i++)
		bias[i] = i;
	for (int i = 0; i < 80; i++)
		scale[i] = i < 40 ? 0.25f : 0.5f, zeros[i] = i * 3 % 16;
	for (int i = 0; i < 3 * 64; i++)
		src[i] = i * 5 % 9 - 4;
	struct tlx *handle = tlx_create_with(op, &c, 2);
	if (!handle || tlx_run(handle, src, dst))
		return 6;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 40; j++) {
			float sum = bias[j];
			for (int k = 0; k < 64; k++)
				sum += src[i * 64 + k] * (weights[k * 40 + j] - zeros[k / 32 * 40 + j]) * scale[k / 32 * 40 + j];
			if (fabsf(dst[i * 40 + j] - sum) > 1e-3f)
				return printf("%d, %d: %g is %g\n", i, j, dst[i * 40 + j], sum), 7;
		}
	tlx_destroy(handle);
	return 0;
}
int main(void)
{
	int status = bytes();
	return status ? status : few_bits();
}
END
if cc -O1 -I"$tmp/openmp" -o "$tmp/whole" "$tmp/whole.c" "$tmp/openmp/libtlx.a" -fopenmp -lm 2>"$tmp/log"; then
	for isa in avx512_vnni avx512 avx2 scalar definition; do
		if [ $isa = definition ] || has_isa $isa; then
			TLX_ISA=$isa "$tmp/whole" >"$tmp/log" && grep -q "^$isa\>" "$tmp/log"
			ok $? "8 and 4 bits by $isa" || sed 's/^/# /' "$tmp/log"
		else
			skip "8 bits: this CPU has no $isa"
		fi
	done
	run '8 and 4 bits by what the CPU has' "$tmp/whole"
else
	ok 1 'a caller in 8 bits compiles'
	sed 's/^/# /' "$tmp/log"
fi

# Results: which one is taken.
first=$(grep -m 1 '"algo":"gemm"' "$tmp/all")
result() { # knob mr, latency, at, more
	echo "$first" | sed -e 's/"type":"candidate","candidate_id":"[0-9a-f]*"/"type":"result"/' -e "s/\"mr\":[0-9]*/\"mr\":$1/" \
		-e "s/}\$/,\"status\":\"ok\",\"stage\":\"final\",\"latency_s\":$2,\"error\":{\"l2\":0,\"max\":0},\"at\":\"2026-11-24T0$3:00:00.000Z\",\"env_id\":\"e1000000000000000000000000000000\",\"env\":{\"cpu\":\"C\",\"threads\":2}$4}/"
}
mr() { # results..: the mr of the kernel that is taken
	printf '%s\n' "$@" | "$bin/tl-export" --one 2>/dev/null | sed -n 's/.* mr=\([0-9]*\) .*/\1/p' | head -n 1
}
[ "$(mr "$(result 1 0.003 1 '')" "$(result 2 0.002 1 '')")" = 2 ]
ok $? 'of results that never led, the quickest'
[ "$(mr "$(result 1 0.003 2 ',"incumbent":true')" "$(result 2 0.002 1 ',"incumbent":true')")" = 1 ]
ok $? 'of those that led, the last'
[ "$(mr "$(result 2 0.001 2 '' | sed 's/"status":"ok"/"status":"wrong","why":"w"/')" "$(result 1 0.002 1 '')")" = 1 ]
ok $? 'what is wrong is not taken'
result 1 0.003 1 ',"ratio":{"median":1.5,"ci":[1.4,1.6]},"verdict":"faster","baseline":{"impl":"lib *\/ int x;","layout":"ab","latency_s":0.0045}' |
	"$bin/tl-export" --one | head -n 9 >"$tmp/one"
grep -q ' 3000 us in 2 threads of C' "$tmp/one" && grep -q -F ' 1.5 (1.4 to 1.6) times as fast as lib ?/ int x;: faster' "$tmp/one" && grep -q 'measured 2026-11-24T01' "$tmp/one"
ok $? 'the comment tells what was measured, and no text ends it'

# Two programs in bf16: one multiplies pairs, the other in single precision, measured where there was no AVX512_BF16.
of_bf16() { # arch, features, latency
	echo '{"tl":1,"type":"workload","op":"conv2d","prob":"ic16ih9_oc40_kh3ph1","dtype":"bf16"}' | "$bin/tl-check" |
		"$bin/tl-gen" --arch="$1" -a direct -n 20 | grep -m 1 '"type":"candidate".*"vl":16' |
		sed -e 's/"type":"candidate","candidate_id":"[0-9a-f]*"/"type":"result"/' \
			-e "s/}\$/,\"status\":\"ok\",\"stage\":\"race\",\"latency_s\":$3,\"error\":{\"l2\":0,\"max\":0},\"at\":\"2026-11-24T01:00:00.000Z\",\"env_id\":\"e1000000000000000000000000000000\",\"env\":{\"cpu\":\"C\",\"features\":\"$2\",\"threads\":2}}/"
}
of_bf16 avx512_bf16 avx512f,avx512bf16 0.003 >"$tmp/pairs"
of_bf16 avx512 avx512f 0.002 >"$tmp/single"
of_bf16 avx512 avx512f,avx512bf16 0.001 >"$tmp/beside"
kept() { # name; then what the manifest must and must not have of each instruction set, and the results
	local name=$1 pairs=$2 single=$3
	shift 3
	rm -rf "$tmp/both"
	cat "$@" | "$bin/tl-export" -o "$tmp/both" 2>"$tmp/err" &&
		[ "$(grep -o '"isa":"avx512_bf16".*' "$tmp/both/manifest.json" | grep -o -e '"depth":2' -e '"latency_s":[^,]*' | tr '\n' ' ')" = "$pairs" ] &&
		[ "$(grep -o '"isa":"avx512".*' "$tmp/both/manifest.json" | grep -o -e '"depth":2' -e '"latency_s":[^,]*' | tr '\n' ' ')" = "$single" ]
	ok $? "$name" || sed 's/^/# /' "$tmp/err" "$tmp/both/manifest.json"
}
kept 'a kernel that multiplies pairs stays beside a quicker one of another CPU' '"depth":2 "latency_s":0.003 ' '"latency_s":0.002 ' "$tmp/pairs" "$tmp/single"
kept 'and takes its place' '"depth":2 "latency_s":0.003 ' '"latency_s":0.002 ' "$tmp/single" "$tmp/pairs"
kept 'a quicker one of the same CPU goes before it, and tells no time for other CPUs' '"latency_s":0.001 ' '' "$tmp/pairs" "$tmp/beside"
kept 'a kernel stands for both where there is no other' '' '"latency_s":0.002 ' "$tmp/single"

# Tile registers that are in use cost time where the core's other thread is busy (lib/target/x86_tmul.c): the left side has one.
tiles_in_use() { # nv, mr: of a product in bf16
	echo '{"tl":1,"type":"workload","op":"matmul","prob":"64x64:64x64","dtype":"bf16"}' | "$bin/tl-check" |
		"$bin/tl-gen" --arch=avx512_amx -a gemm | grep -m 1 "\"nv\":$1,\"mr\":$2,.*\"depth\":32" |
		sed -e 's/"type":"candidate","candidate_id":"[0-9a-f]*"/"type":"result"/' \
			-e 's/}$/,"status":"ok","stage":"race","latency_s":0.001,"error":{"l2":0,"max":0},"at":"2026-11-24T01:00:00.000Z","env_id":"e1000000000000000000000000000000","env":{"cpu":"C","features":"avx512f,amx-tile,amx-bf16","threads":2}}/' |
		"$bin/tl-export" --one 2>"$tmp/err" | grep -o '%%*tmm[0-7]' | sort -u | wc -l
}
[ "$(tiles_in_use 2 32)" -eq 7 ] && [ "$(tiles_in_use 1 64)" -eq 6 ]
ok $? 'products of 2x2 tiles have seven tile registers in use, and of 4x1 six'

"$bin/tl-export" -o "$tmp/some" --isa scalar "$tmp/all" 2>"$tmp/err" && [ -f "$tmp/some/Makefile" ] && ! ls "$tmp/some/kernels"/avx* >"$tmp/log" 2>&1
ok $? '--isa scalar'
if has_isa avx512_amx; then
	"$bin/tl-export" -o "$tmp/tiles" --isa avx512_amx "$tmp/all" 2>"$tmp/err" &&
		grep -q tdpbf16ps "$tmp/tiles/kernels/"avx512_amx_*.c &&
		! find "$tmp/out/kernels" -name 'avx*.c' ! -name 'avx512_amx_*' -exec cat {} + | grep -q -e tdpbf16ps -e ldtilecfg
	ok $? '--isa avx512_amx: its instructions are in no kernel for other CPUs'
else
	skip '--isa avx512_amx: this CPU has none'
fi
if has_isa avx512_bf16; then
	"$bin/tl-export" -o "$tmp/groups" --isa avx512_bf16 "$tmp/all" 2>"$tmp/err" &&
		[ "$(find "$tmp/groups/kernels" -name 'avx512_bf16_*' | wc -l)" -eq 8 ] && [ "$(find "$tmp/groups/kernels" -name 'definition_*' | wc -l)" -eq 8 ] &&
		grep -q vdpbf16ps "$tmp/groups/kernels/"avx512_bf16_*.c &&
		! find "$tmp/out/kernels" -name 'avx*.c' ! -name 'avx512_bf16_*' ! -name 'avx512_amx_*' -exec cat {} + | grep -q -e vdpbf16ps -e vcvtneps2bf16
	ok $? '--isa avx512_bf16: its instructions are in no kernel for other CPUs'
else
	skip '--isa avx512_bf16: this CPU has none'
fi
if has_isa avx512_vnni; then
	"$bin/tl-export" -o "$tmp/fours" --isa avx512_vnni "$tmp/all" 2>"$tmp/err" &&
		[ "$(find "$tmp/fours/kernels" -name 'avx512_vnni_*' | wc -l)" -ge 7 ] && grep -q vpdpbusd "$tmp/fours/kernels/"avx512_vnni_*.c &&
		! find "$tmp/out/kernels" -name 'avx*.c' ! -name 'avx512_vnni_*' ! -name 'avx512_amx_*' -exec cat {} + | grep -q -e vpdpbusd -e vpdpwssd
	ok $? '--isa avx512_vnni: its instructions are in no kernel for other CPUs'
else
	skip '--isa avx512_vnni: this CPU has none'
fi
sed -n 1p "$tmp/workloads" | sed 's/"workload_id":"[0-9a-f]*",//; s/"dtype":"f32"/"dtype":"f16"/' | "$bin/tl-export" -d "$tmp/db" -o "$tmp/half" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q '1 workloads are in f16 or tf32' "$tmp/err"
ok $? 'types that processors have no kernels in are said, and not exported'

# Errors.
says() { # status words name command..
	local status=$1 words=$2 name=$3
	shift 3
	"$@" >"$tmp/log" 2>&1
	[ $? -eq "$status" ] && grep -q -e "$words" "$tmp/log"
	local good=$?
	[ $good -eq 0 ] || sed 's/^/# /' "$tmp/log"
	ok $good "$name"
}
says 1 'nothing to export' 'nothing came in' "$bin/tl-export" -o "$tmp/none" /dev/null
[ ! -e "$tmp/none" ]
ok $? 'and nothing is made'
says 3 'cannot replace' 'a folder that has files' "$bin/tl-export" -o "$tmp/out" "$tmp/all"
says 3 'cannot make a folder' 'a place that is not there' "$bin/tl-export" -o "$tmp/no/where" "$tmp/all"
says 2 'one of -o DIR and --one' 'no folder' "$bin/tl-export" "$tmp/all"
says 2 '--prefix' 'a prefix that is no name' "$bin/tl-export" -o "$tmp/none" --prefix 2x "$tmp/all"
for prefix in int class unix string stdio test c pthread timer sem "a;b" "$(printf 'a\033b')"; do
	says 2 '^tl-export: --prefix wants a name' "a prefix of which there is no library: $(printf %s "$prefix" | tr -d '\033')" \
		"$bin/tl-export" -o "$tmp/none" --prefix "$prefix" "$tmp/all"
done
[ ! -e "$tmp/none" ]
ok $? 'and nothing is made'
says 2 '--isa' 'an instruction set that is not known' "$bin/tl-export" -o "$tmp/none" --isa neon "$tmp/all"
says 3 ':1: ' 'a bad line' "$bin/tl-export" -o "$tmp/bad" <(echo '{"tl":1,"type":"candidate"}'; cat "$tmp/all")
[ -f "$tmp/bad/Makefile" ]
ok $? 'which is left out'
[ -z "$(ls -d "$tmp"/*.?????? 2>/dev/null)" ]
ok $? 'nothing temporary is left'
echo "1..$n"
