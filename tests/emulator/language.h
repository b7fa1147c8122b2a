/* The words of CUDA C that kernels of this project use, as C++ for this processor. The stand-in
 * compiler (nvrtc.c) puts them in front of a kernel's source.
 *
 * A thread is a fiber of the stand-in driver (fiber.h), so what all threads see is a global
 * variable, and what a thread waits for is a call. The words __global__, __launch_bounds__ and
 * __shared__ are the compiler's own: it looks for them in the text.
 *
 * Inline PTX is not understood. Where a source has it, the macro TL_EMULATOR selects C++ that does
 * the same: the threads of a warp exchange values by emulator_gather().
 */
#include "tests/emulator/module.h"

#define TL_EMULATOR 1
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) alignas(n)

#define threadIdx (emulator.thread)
#define blockIdx (emulator.block)
#define blockDim (emulator.block_dim)
#define gridDim (emulator.grid_dim)
#define warpSize 32

extern "C" {
extern __attribute__((visibility("default"))) struct emulator emulator;
int printf(const char *format, ...);
void *memcpy(void *to, const void *from, __SIZE_TYPE__ n);
float sqrtf(float), expf(float), logf(float), tanhf(float), erff(float), fabsf(float);
float exp2f(float), log2f(float), powf(float, float), floorf(float), ceilf(float), rintf(float);
float fmaf(float, float, float), fmaxf(float, float), fminf(float, float);
}

struct emulator emulator;

/* Calls a kernel with what the driver's list of parameters points to. */
template <int... I> struct emulator_list {
};
template <int N, int... I> struct emulator_count : emulator_count<N - 1, N - 1, I...> {
};
template <int... I> struct emulator_count<0, I...> {
	typedef emulator_list<I...> list;
};
template <class... A, int... I>
static inline void emulator_pass(void (*kernel)(A...), void **params, emulator_list<I...>)
{
	(void)params;
	kernel(*(A *)params[I]...);
}
template <class... A> static inline void emulator_call(void (*kernel)(A...), void **params)
{
	emulator_pass(kernel, params, typename emulator_count<sizeof...(A)>::list());
}

/* The bytes of each parameter. Returns how many there are. */
template <class... A> static inline int emulator_sizes(void (*)(A...), unsigned *size)
{
	const unsigned all[] = {(unsigned)sizeof(A)..., 0};

	for (unsigned i = 0; i < sizeof...(A); i++)
		size[i] = all[i];
	return (int)sizeof...(A);
}

static inline void __syncthreads()
{
	emulator.wait_block();
}

static inline void __syncwarp(unsigned = ~0u)
{
	emulator.wait_warp();
}

/* The thread's place in its warp. */
static inline unsigned emulator_lane()
{
	unsigned i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);

	return i % EMULATOR_WARP;
}

/* What each thread of the warp has for `mine`. All of them must call it. */
template <class T> static inline void emulator_gather(const T &mine, T all[EMULATOR_WARP])
{
	static_assert(sizeof(T) <= EMULATOR_EXCHANGE, "more than a thread can show");

	memcpy(emulator.exchange + EMULATOR_EXCHANGE * emulator_lane(), &mine, sizeof mine);
	emulator.wait_warp();
	for (int i = 0; i < EMULATOR_WARP; i++)
		memcpy(&all[i], emulator.exchange + EMULATOR_EXCHANGE * i, sizeof mine);
	emulator.wait_warp();
}

/* The values of other threads of the warp, within parts of it of so many threads. */
template <class T> static inline T __shfl_sync(unsigned, T x, int from, int width = 32)
{
	T all[EMULATOR_WARP];
	int lane = (int)emulator_lane();

	emulator_gather(x, all);
	return all[(lane & ~(width - 1)) + (from & (width - 1))];
}

template <class T> static inline T __shfl_xor_sync(unsigned, T x, int mask, int width = 32)
{
	T all[EMULATOR_WARP];
	int lane = (int)emulator_lane(), from = lane ^ mask;

	emulator_gather(x, all);
	return all[from < (lane & ~(width - 1)) + width ? from : lane];
}

template <class T> static inline T __shfl_down_sync(unsigned, T x, int by, int width = 32)
{
	T all[EMULATOR_WARP];
	int lane = (int)emulator_lane();

	emulator_gather(x, all);
	return all[lane % width + by < width ? lane + by : lane];
}

template <class T> static inline T __shfl_up_sync(unsigned, T x, int by, int width = 32)
{
	T all[EMULATOR_WARP];
	int lane = (int)emulator_lane();

	emulator_gather(x, all);
	return all[lane % width >= by ? lane - by : lane];
}

template <class To, class From> static inline To emulator_bits(From x)
{
	To y;

	static_assert(sizeof x == sizeof y, "of another size");
	memcpy(&y, &x, sizeof y);
	return y;
}

static inline float __int_as_float(int x)
{
	return emulator_bits<float>(x);
}

/* To the nearest, ties to even; to the end of 32 bits at most, and 0 of what is no number. */
static inline int __float2int_rn(float x)
{
	if (x != x)
		return 0;
	return x >= 0x1p31f ? 0x7fffffff : x <= -0x1p31f ? -0x7fffffff - 1 : (int)rintf(x);
}

static inline int __float_as_int(float x)
{
	return emulator_bits<int>(x);
}

static inline float __uint_as_float(unsigned x)
{
	return emulator_bits<float>(x);
}

static inline unsigned __float_as_uint(float x)
{
	return emulator_bits<unsigned>(x);
}

static inline float rsqrtf(float x)
{
	return 1.0f / sqrtf(x);
}

template <class T> static inline T __ldg(const T *p)
{
	return *p;
}

static inline int min(int a, int b)
{
	return a < b ? a : b;
}

static inline int max(int a, int b)
{
	return a > b ? a : b;
}

/* Numbers of 16 bits, rounded to the nearest, ties to even. */
static inline unsigned short emulator_bf16(float x)
{
	unsigned bits = __float_as_uint(x);

	if (x != x)
		return 0x7fff;
	return (unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static inline float emulator_from_bf16(unsigned short x)
{
	return __uint_as_float((unsigned)x << 16);
}

static inline float emulator_from_f16(unsigned short x)
{
	const unsigned sign = (x & 0x8000u) << 16, exponent = (x >> 10) & 31, rest = x & 1023u;

	if (exponent == 31)
		return __uint_as_float(sign | 0x7f800000u | rest << 13);
	if (exponent == 0)
		return __uint_as_float(sign | __float_as_uint((float)rest * 0x1p-24f));
	return __uint_as_float(sign | (exponent + 112) << 23 | rest << 13);
}

static inline unsigned short emulator_f16(float x)
{
	const unsigned sign = __float_as_uint(x) >> 16 & 0x8000u;
	float y = fabsf(x);

	if (x != x)
		return 0x7fff;
	if (y >= 65520.0f)
		return (unsigned short)(sign | 0x7c00u);
	if (y < 0x1p-14f) /* the sum's last bit is the smallest number's */
		return (unsigned short)(sign | (__float_as_uint(y + 0.5f) - 0x3f000000u));
	unsigned bits = __float_as_uint(y);
	bits += 0xfff + ((bits >> 13) & 1);
	return (unsigned short)(sign | ((bits - (112u << 23)) >> 13));
}

/* A number of tf32: ten bits behind the point, ties away from zero. */
static inline float emulator_tf32(float x)
{
	return x != x ? x : __uint_as_float((__float_as_uint(x) + 0x1000u) & ~0x1fffu);
}

#include "tests/emulator/tensor.h"
