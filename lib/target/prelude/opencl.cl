/* OpenCL C: the words of kernels' text (lib/target/simt.c). common.inc comes behind this file, and opencl_tiles.cl behind that. */

#define GLOBAL __global
#define LOCAL __local
#define RESTRICT restrict
#define ENTRY(T) __kernel __attribute__((reqd_work_group_size(T, 1, 1))) void
#define ENTRY_FOR(T, blocks) ENTRY(T)
#define BLOCK ((int)get_group_id(0))
#define THREAD ((int)get_local_id(0))
#define same_thread() THREAD
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
typedef float4 v4;
#define BLOCK_MEMORY(T, name, size, at) __local T name[size] __attribute__((aligned(16)))
#define make_v4(a, b, c, d) ((v4)(a, b, c, d))
#define root_v1(a) sqrt(a)
#define root_v4(a) sqrt(a)
/* If one is NaN, the second operand is the answer; fmax() would give the other one. */
static float max_v1(float a, float b) { return a > b ? a : b; }
static float min_v1(float a, float b) { return a < b ? a : b; }
static v4 max_v4(v4 a, v4 b) { return a > b ? a : b; }
static v4 min_v4(v4 a, v4 b) { return a < b ? a : b; }
#define power_v1(a) as_float(as_int(a) << 23)
#define power_v4(a) as_float4(as_int4(a) << 23)
#define load_v4(p) vload4(0, p)
#define store_v4(p, x) vstore4(x, 0, p)

/* Elements of other types. Those of 16 bits are integers in the text. */
#define DEVICE static
#define BITS(x) as_uint(x)
#define VALUE(u) as_float((unsigned)(u))
typedef ushort4 h4;
#define load_h4(p) vload4(0, p)
#define store_h4(p, x) vstore4(x, 0, p)
typedef int4 i4;
#define make_i4(a, b, c, d) ((i4)(a, b, c, d))
#define load_i4(p) vload4(0, p)
#define store_i4(p, x) vstore4(x, 0, p)
#define WHOLE(x) convert_int_sat_rte(x)
typedef unsigned short bf16, f16;
#define BF16_BY_SHIFTS
DEVICE float f16_value(f16 x)
{ const unsigned e = x >> 10 & 31u, m = x & 1023u;
	const float a = e == 0 ? (float)m * 5.9604644775390625e-8f
		: VALUE((e == 31 ? 255u : e + 112u) << 23 | m << 13);
	return x & 0x8000u ? -a : a; }
DEVICE f16 f16_of(float x)
{ const unsigned u = BITS(x), s = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
	if (a > 0x7f800000u) return (f16)(s | 0x7e00u);
	if (a >= 0x477ff000u) return (f16)(s | 0x7c00u);
	if (a < 0x38800000u) return (f16)(s | (unsigned)rint(VALUE(a) * 16777216.0f));
	return (f16)(s | (a + 0xfffu + (a >> 13 & 1u) - 0x38000000u) >> 13); }
