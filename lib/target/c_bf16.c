/* Words of GNU C for elements of bf16: widening loads, rounding stores, copies, and groups. */
#include "lib/target/c_bf16.h"

static const char words[] =
	"#ifndef BF16_WORDS\n"
	"#define BF16_WORDS\n"
	"typedef unsigned short bf16;\n"
	"typedef unsigned bf16x2;\n"
	"typedef union { unsigned u; float f; } bits;\n"
	"INLINE float load_v1_bf16(const bf16 *p) { return ((bits){.u = (unsigned)*p << 16}).f; }\n"
	"INLINE void store_v1_bf16(bf16 *p, float x)\n"
	"{ unsigned u = ((bits){.f = x}).u;\n"
	"  *p = x != x ? u >> 16 | 64 : (u + 0x7fff + (u >> 16 & 1)) >> 16; }\n"
	"INLINE float loadn_v1_bf16(const bf16 *p, long n) { return n > 0 ? load_v1_bf16(p) : 0; }\n"
	"INLINE void storen_v1_bf16(bf16 *p, float x, long n) { if (n > 0) store_v1_bf16(p, x); }\n"
	"INLINE g1 load_g1(const bf16 *p) { return *(const g1u *)p; }\n"
	"INLINE g1 apart_g1_bf16(const bf16 *p, long apart, int from, int to, int bits, long n)\n"
	"{ g1 x = 0;\n"
	"  for (int i = from; n > 0 && i < to; i++, p += apart) x |= (g1)*p << bits * i;\n"
	"  return x; }\n"
	"INLINE float dot_bf16_v1(g1 a, g1 b, float c)\n"
	"{ c += ((bits){.u = a << 16}).f * ((bits){.u = b << 16}).f;\n"
	"  return c + ((bits){.u = a & 0xffff0000}).f * ((bits){.u = b & 0xffff0000}).f; }\n"
	"#define BF16(N) \\\n"
	"typedef unsigned short h##N __attribute__((vector_size(2 * N), aligned(2), may_alias)); \\\n"
	"INLINE v##N load_v##N##_bf16(const bf16 *p) \\\n"
	"{ return (v##N)(__builtin_convertvector(*(const h##N *)p, g##N) << 16); } \\\n"
	"INLINE void store_v##N##_bf16(bf16 *p, v##N x) \\\n"
	"{ g##N u = (g##N)x, nan = (g##N)(x != x); \\\n"
	"  u = (nan & (u >> 16 | 64)) | (~nan & (u + 0x7fff + (u >> 16 & 1)) >> 16); \\\n"
	"  *(h##N *)p = __builtin_convertvector(u, h##N); } \\\n"
	"INLINE v##N loadn_v##N##_bf16(const bf16 *p, long n) \\\n"
	"{ v##N x = {0}; if (n >= N) return load_v##N##_bf16(p); \\\n"
	"  for (long i = 0; i < n; i++) x[i] = load_v1_bf16(p + i); return x; } \\\n"
	"INLINE void storen_v##N##_bf16(bf16 *p, v##N x, long n) \\\n"
	"{ if (n >= N) store_v##N##_bf16(p, x); \\\n"
	"  else for (long i = 0; i < n; i++) store_v1_bf16(p + i, x[i]); } \\\n"
	"INLINE g##N load_g##N(const bf16 *p) { return *(const g##N##u *)p; } \\\n"
	"INLINE g##N apart_g##N##_bf16(const bf16 *p, long apart, int from, int to, int bits, \\\n"
	"                              long n) \\\n"
	"{ g##N x = {0}; \\\n"
	"  for (int i = from; i < to; i++, p += apart) \\\n"
	"    x |= (g##N)loadn_v##N##_bf16(p, n) >> 16 << bits * i; \\\n"
	"  return x; } \\\n"
	"INLINE v##N dot_bf16_v##N(g##N a, g##N b, v##N c) \\\n"
	"{ c += (v##N)(a << 16) * (v##N)(b << 16); \\\n"
	"  return c + (v##N)(a & 0xffff0000) * (v##N)(b & 0xffff0000); } \\\n"
	"RUN void copy_v##N##_bf16_bf16(bf16 *to, const bf16 *from, long n, long vectors) \\\n"
	"{ for (long i = 0; i < N * vectors && i < n; i++) to[i] = from[i]; } \\\n"
	"RUN void copy_v##N##_float_bf16(float *to, const bf16 *from, long n, long vectors) \\\n"
	"{ for (long i = 0; i < N * vectors; i += N) \\\n"
	"  storen_v##N(to + i, loadn_v##N##_bf16(from + i, n - i), n - i); } \\\n"
	"RUN void zero_v##N##_bf16(bf16 *to, long n, long vectors) \\\n"
	"{ for (long i = 0; i < N * vectors && i < n; i++) to[i] = 0; }\n"
	"BF16(4) BF16(8) BF16(16)\n"
	"#endif\n";

static const char groups[] =
	"#ifndef GROUP_WORDS\n"
	"#define GROUP_WORDS\n"
	"typedef unsigned g1;\n"
	"typedef unsigned g1u __attribute__((aligned(1), may_alias));\n"
	"INLINE g1 bcast_g1(g1 x) { return x; }\n"
	"INLINE void store_g1(void *p, g1 x) { *(g1u *)p = x; }\n"
	"#define GROUPS(N) \\\n"
	"typedef unsigned g##N __attribute__((vector_size(4 * N))); \\\n"
	"typedef unsigned g##N##u __attribute__((vector_size(4 * N), aligned(1), may_alias)); \\\n"
	"INLINE g##N bcast_g##N(g1 x) { return x - (g##N){0}; } \\\n"
	"INLINE void store_g##N(void *p, g##N x) { *(g##N##u *)p = x; }\n"
	"GROUPS(4) GROUPS(8) GROUPS(16)\n"
	"#endif\n";

const char *c_group_words(void)
{
	return groups;
}

const char *c_bf16_words(void)
{
	return words;
}
