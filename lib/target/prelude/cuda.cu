/* CUDA C: the words of kernels' text (lib/target/simt.c). common.inc comes behind this file, and cuda_tiles.cu behind that. With
 * TL_EMULATOR, tests/emulator does what PTX would. */

#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define RESTRICT __restrict__
#define ENTRY(T) extern "C" __global__ void __launch_bounds__(T)
#define ENTRY_FOR(T, blocks) extern "C" __global__ void __launch_bounds__(T, blocks)
#define BLOCK ((int)blockIdx.x)
#define THREAD ((int)threadIdx.x)
DEVICE int same_thread(void) { int t = THREAD; asm volatile("" : "+r"(t)); return t; }
#define BARRIER() __syncthreads()
struct __align__(16) v4 { float s0, s1, s2, s3; };
extern __shared__ __align__(1024) v4 block_memory[];
#define BLOCK_MEMORY(T, name, size, at) T *const name = (T *)((char *)block_memory + (at))
DEVICE v4 make_v4(float a, float b, float c, float d)
{ v4 x; x.s0 = a; x.s1 = b; x.s2 = c; x.s3 = d; return x; }
#define EACH(f) make_v4(f(a.s0, b.s0), f(a.s1, b.s1), f(a.s2, b.s2), f(a.s3, b.s3))
#define OPERATOR(o) DEVICE v4 operator o(v4 a, v4 b) \
{ return make_v4(a.s0 o b.s0, a.s1 o b.s1, a.s2 o b.s2, a.s3 o b.s3); }
OPERATOR(+) OPERATOR(-) OPERATOR(*) OPERATOR(/)
DEVICE float max_v1(float a, float b) { return a > b ? a : b; }
DEVICE float min_v1(float a, float b) { return a < b ? a : b; }
DEVICE float power_v1(float a) { return __int_as_float(__float_as_int(a) << 23); }
#define root_v1(a) sqrtf(a)
DEVICE v4 root_v4(v4 a)
{ return make_v4(sqrtf(a.s0), sqrtf(a.s1), sqrtf(a.s2), sqrtf(a.s3)); }
DEVICE v4 max_v4(v4 a, v4 b) { return EACH(max_v1); }
DEVICE v4 min_v4(v4 a, v4 b) { return EACH(min_v1); }
DEVICE v4 power_v4(v4 a)
{ return make_v4(power_v1(a.s0), power_v1(a.s1), power_v1(a.s2), power_v1(a.s3)); }
#define load_v4(p) (*(const v4 *)(p))
#define store_v4(p, x) (*(v4 *)(p) = (x))

/* Elements of other types. Those of 16 bits are integers in the text. */
#define BITS(x) ((unsigned)__float_as_int(x))
#define VALUE(u) __int_as_float((int)(u))
struct __align__(8) h4 { unsigned short s0, s1, s2, s3; };
#define load_h4(p) (*(const h4 *)(p))
#define store_h4(p, x) (*(h4 *)(p) = (x))
struct __align__(16) i4 { int s0, s1, s2, s3; };
#define load_i4(p) (*(const i4 *)(p))
#define store_i4(p, x) (*(i4 *)(p) = (x))
#define WHOLE(x) __float2int_rn(x)
typedef unsigned short bf16, f16;
#ifdef TL_EMULATOR
#define f16_value emulator_from_f16
#define f16_of emulator_f16
#else
DEVICE float f16_value(f16 x)
{ float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x)); return f; }
DEVICE f16 f16_of(float x)
{ f16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }
#endif
#if __CUDA_ARCH__ >= 800 && !defined TL_EMULATOR
DEVICE bf16 bf16_of(float x)
{ bf16 h; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }
#else
#define BF16_BY_SHIFTS
#endif
