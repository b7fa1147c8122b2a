#include "lib/target/simt_tile.h"

#include "lib/nest/mma.h"
#include "lib/target/simt_bulk.h"
#include "lib/target/simt_group.h"
#include "lib/target/simt_proxy.h"

/* Elements of 16 bits are integers in the text. Shifts convert bf16. Halves are converted by HALVES
 * in OpenCL, and by cvt on NVIDIA's devices. */
#define NARROW                                                                                     \
	"typedef unsigned short bf16, f16;\n"                                                      \
	"DEVICE float bf16_value(bf16 x) { return VALUE((unsigned)x << 16); }\n"

/* To the nearest, ties to even. */
#define BF16_BY_SHIFTS                                                                             \
	"DEVICE bf16 bf16_of(float x)\n"                                                           \
	"{ const unsigned u = BITS(x);\n"                                                          \
	"\treturn (u & 0x7fffffffu) > 0x7f800000u ? (bf16)(u >> 16 | 64u)\n"                       \
	"\t\t: (bf16)((u + 0x7fffu + (u >> 16 & 1u)) >> 16); }\n"

/* The same by an instruction, where the device has it. */
#define BF16_BY_PTX                                                                                \
	"#if __CUDA_ARCH__ >= 800\n"                                                               \
	"DEVICE bf16 bf16_of(float x)\n"                                                           \
	"{ bf16 h; asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x)); return h; }\n"         \
	"#else\n" BF16_BY_SHIFTS "#endif\n"

#define HALVES                                                                                     \
	"DEVICE float f16_value(f16 x)\n"                                                          \
	"{ const unsigned e = x >> 10 & 31u, m = x & 1023u;\n"                                     \
	"\tconst float a = e == 0 ? (float)m * 5.9604644775390625e-8f\n"                           \
	"\t\t: VALUE((e == 31 ? 255u : e + 112u) << 23 | m << 13);\n"                              \
	"\treturn x & 0x8000u ? -a : a; }\n"                                                       \
	"DEVICE f16 f16_of(float x)\n"                                                             \
	"{ const unsigned u = BITS(x), s = u >> 16 & 0x8000u, a = u & 0x7fffffffu;\n"              \
	"\tif (a > 0x7f800000u) return (f16)(s | 0x7e00u);\n"                                      \
	"\tif (a >= 0x477ff000u) return (f16)(s | 0x7c00u);\n"                                     \
	"\tif (a < 0x38800000u) return (f16)(s | (unsigned)rint(VALUE(a) * 16777216.0f));\n"       \
	"\treturn (f16)(s | (a + 0xfffu + (a >> 13 & 1u) - 0x38000000u) >> 13); }\n"

/* Whole numbers are rounded to the nearest; WHOLE() goes to the end of 32 bits at most. */
#define WHOLES                                                                                     \
	"typedef int s32;\n"                                                                       \
	"typedef signed char s8;\n"                                                                \
	"typedef unsigned char u8;\n"                                                              \
	"#define s32_value(x) ((float)(x))\n"                                                      \
	"#define s8_value(x) ((float)(x))\n"                                                       \
	"#define u8_value(x) ((float)(x))\n"                                                       \
	"#define s32_of(x) WHOLE(x)\n"                                                             \
	"#define s8_of(x) ((s8)WHOLE(min_v1(max_v1(x, -128.0f), 127.0f)))\n"                       \
	"#define u8_of(x) ((u8)WHOLE(min_v1(max_v1(x, 0.0f), 255.0f)))\n"                          \
	"#define floats_v4(x) widen_s32(x)\n"                                                      \
	"#define wholes_v4(x) narrow_s32(x)\n"

#define OTHERS(T)                                                                                  \
	"#define load_v1_" #T "(p) " #T "_value(*(p))\n"                                           \
	"#define store_v1_" #T "(p, x) (*(p) = " #T "_of(x))\n"                                    \
	"#define loadn_v1_" #T "(p, n) ((n) > 0 ? load_v1_" #T "(p) : 0.0f)\n"                     \
	"#define storen_v1_" #T "(p, x, n) do { if ((n) > 0) store_v1_" #T "(p, x); } while (0)\n"

/* Four at a time, through a vector V of four integers. */
#define VECTORS_OF(T, V)                                                                           \
	OTHERS(T)                                                                                  \
	"DEVICE v4 widen_" #T "(" #V " h)\n"                                                       \
	"{ return make_v4(" #T "_value(h.s0), " #T "_value(h.s1), " #T "_value(h.s2), " #T         \
	"_value(h.s3)); }\n"                                                                       \
	"DEVICE " #V " narrow_" #T "(v4 x)\n"                                                      \
	"{ " #V " h; h.s0 = " #T "_of(x.s0); h.s1 = " #T "_of(x.s1); h.s2 = " #T                   \
	"_of(x.s2); h.s3 = " #T "_of(x.s3); return h; }\n"                                         \
	"#define load_v4_" #T "(p) widen_" #T "(load_" #V "(p))\n"                                 \
	"#define store_v4_" #T "(p, x) store_" #V "(p, narrow_" #T "(x))\n"                        \
	"#define loadn_v4_" #T "(p, n) ((n) >= 4 ? load_v4_" #T "(p) : make_v4(loadn_v1_" #T       \
	"(p, n), \\\n\tloadn_v1_" #T "((p) + 1, (n) - 1), loadn_v1_" #T                            \
	"((p) + 2, (n) - 2), 0.0f))\n"                                                             \
	"#define storen_v4_" #T "(p, x, n) do { v4 x_ = (x); storen_v1_" #T                        \
	"(p, x_.s0, n); \\\n\tstoren_v1_" #T "((p) + 1, x_.s1, (n) - 1); storen_v1_" #T            \
	"((p) + 2, x_.s2, (n) - 2); \\\n\tstoren_v1_" #T                                           \
	"((p) + 3, x_.s3, (n) - 3); } while (0)\n"

/* Where threads compute their sums one by one, both sides are places. */
#define BY_THREADS                                                                                 \
	"#define COPY(to, from, n, valid) for (int c_ = 0; c_ < (n); c_++) \\\n"                   \
	"\t(to)[c_] = c_ < (valid) ? (from)[c_] : 0\n"                                             \
	"#define TOGETHER()\n"                                                                     \
	"#define END_GROUP()\n"                                                                    \
	"#define WAIT(n)\n"                                                                        \
	"DEVICE float tf32_of(float x) { return VALUE((BITS(x) + 0x1000u) & 0xffffe000u); }\n"     \
	"DEVICE float tf32_product(float a, float b) { return tf32_of(a) * tf32_of(b); }\n"        \
	"DEVICE float tf32x3_product(float a, float b)\n"                                          \
	"{ const float x = tf32_of(a), y = tf32_of(b);\n"                                          \
	"\treturn x * tf32_of(b - y) + tf32_of(a - x) * y + x * y; }\n"                            \
	"#define bf16_product(a, b) (bf16_value(a) * bf16_value(b))\n"                             \
	"#define f16_product(a, b) (f16_value(a) * f16_value(b))\n"                                \
	"#define s8_product(a, b) ((a) * (b))\n"                                                   \
	"#define u8_product(a, b) ((a) * (b))\n"                                                   \
	"#define SIDE_AT(s, i) s.p[SWIZZLED((i) * s.step + k / PAIR * s.k_step + k % PAIR \\\n"    \
	"\t+ s.k, s.down, s.mask, s.up)]\n"                                                        \
	"#define IN_ORDER(q, st, ks) q, st, ks, 0, 0, 0, 0\n"                                      \
	"#define IN_ROWS(q, k, row, ks, down, mask, up) q, row, ks, k, down, mask, up\n"           \
	"#define PLACE(s, q, st, ks, k_, dn, mk, u) do { s.p = (q); s.step = (st); \\\n"           \
	"\ts.k_step = (ks); s.k = (k_); s.down = (dn); s.mask = (mk); s.up = (u); } while (0)\n"   \
	"#define PLACE_NEXT(s, q, st, ks, k_, dn, mk, u) \\\n"                                     \
	"\tPLACE(s, (q) + 8 * (st), st, ks, k_, dn, mk, u)\n"

/* A and B: elements of both sides, PAIRS in 32 bits; sums are of type S, four of them a V. */
#define BY_THREADS_MMA(KIND, A, B, DEPTH, PAIRS, S, V)                                             \
	"typedef struct { LOCAL const " #A " *p; int step, k_step, k, down, mask, up; } a_" #KIND  \
	";\n"                                                                                      \
	"typedef struct { LOCAL const " #B " *p; int step, k_step, k, down, mask, up; } b_" #KIND  \
	";\n"                                                                                      \
	"#define load_a_" #KIND "(a, side) PLACE(a, side)\n"                                       \
	"#define load_b_" #KIND "(b, side) PLACE(b, side)\n"                                       \
	"#define load_b2_" #KIND                                                                   \
	"(b, c, side) do { PLACE(b, side); PLACE_NEXT(c, side); } while (0)\n"                     \
	"DEVICE " #V " sums_" #KIND "(" #V " c, a_" #KIND " a, b_" #KIND " b)\n"                   \
	"{ enum { PAIR = " #PAIRS " }; const int g = (THREAD & 31) >> 2, t = (THREAD & 3) * 2;\n"  \
	"\t" #S " s0 = 0, s1 = 0, s2 = 0, s3 = 0;\n"                                               \
	"\tfor (int k = 0; k < " #DEPTH "; k++) {\n"                                               \
	"\t\ts0 += " #KIND "_product(SIDE_AT(a, g), SIDE_AT(b, t));\n"                             \
	"\t\ts1 += " #KIND "_product(SIDE_AT(a, g), SIDE_AT(b, t + 1));\n"                         \
	"\t\ts2 += " #KIND "_product(SIDE_AT(a, g + 8), SIDE_AT(b, t));\n"                         \
	"\t\ts3 += " #KIND "_product(SIDE_AT(a, g + 8), SIDE_AT(b, t + 1));\n"                     \
	"\t}\n"                                                                                    \
	"\treturn make_" #V "(c.s0 + s0, c.s1 + s1, c.s2 + s2, c.s3 + s3); }\n"                    \
	"#define mma_" #KIND "(c, a, b) ((c) = sums_" #KIND "(c, a, b))\n"

#define BY_THREADS_MMAS                                                                            \
	BY_THREADS                                                                                 \
	BY_THREADS_MMA(tf32x3, float, float, 8, 1, float, v4)                                      \
	BY_THREADS_MMA(tf32, float, float, 8, 1, float, v4)                                        \
	BY_THREADS_MMA(bf16, bf16, bf16, 16, 2, float, v4)                                         \
	BY_THREADS_MMA(f16, f16, f16, 16, 2, float, v4)                                            \
	BY_THREADS_MMA(s8, s8, s8, 32, 4, int, i4)                                                 \
	BY_THREADS_MMA(u8, u8, s8, 32, 4, int, i4)

#define WORDS                                                                                      \
	"struct words2 { unsigned r[2]; };\n"                                                      \
	"struct words4 { unsigned r[4]; };\n"                                                      \
	"struct split2 { words2 big, small; };\n"                                                  \
	"struct split4 { words4 big, small; };\n"

/* NVIDIA, "Parallel Thread Execution ISA": cp.async, ldmatrix, mma. A matrix of ldmatrix has 8 rows
 * of 16 bytes; lane l gets word l % 4 of row l / 4, whatever the words hold. */
/* Threads of a warp that went different ways through a branch meet at TOGETHER(). */
#define PTX                                                                                        \
	"DEVICE unsigned in_block(const void *p) { return (unsigned)__cvta_generic_to_shared(p); " \
	"}\n"                                                                                      \
	"template <int N> DEVICE void copy_async(void *to, const void *from, int bytes)\n"         \
	"{ if (N == 16)\n"                                                                         \
	"\t\tasm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\"\n"                     \
	"\t\t\t:: \"r\"(in_block(to)), \"l\"(from), \"r\"(bytes) : \"memory\");\n"                 \
	"\telse\n"                                                                                 \
	"\t\tasm volatile(\"cp.async.ca.shared.global [%0], [%1], %2, %3;\"\n"                     \
	"\t\t\t:: \"r\"(in_block(to)), \"l\"(from), \"n\"(N), \"r\"(bytes) : \"memory\"); }\n"     \
	"#define TOGETHER() __syncwarp()\n"                                                        \
	"#define END_GROUP() asm volatile(\"cp.async.commit_group;\" ::: \"memory\")\n"            \
	"#define WAIT(n) asm volatile(\"cp.async.wait_group \" #n \";\" ::: \"memory\")\n"         \
	"DEVICE void matrices(unsigned &a, unsigned &b, unsigned &c, unsigned &d, const void "     \
	"*p)\n"                                                                                    \
	"{ asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"    \
	"\t: \"=r\"(a), \"=r\"(b), \"=r\"(c), \"=r\"(d) : \"r\"(in_block(p)) : \"memory\"); }\n"   \
	"DEVICE unsigned tf32_of(float x)\n"                                                       \
	"{ unsigned u; asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(u) : \"f\"(x)); return u; }\n"    \
	"#define MMA(KIND, shape) \\\n"                                                            \
	"DEVICE void mma_##KIND(v4 &c, const words4 &a, const words2 &b) \\\n"                     \
	"{ asm(\"mma.sync.aligned.\" shape \".row.col.f32.\" #KIND \".\" #KIND \".f32 \" \\\n"     \
	"\t\"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\" \\\n"               \
	"\t: \"+f\"(c.s0), \"+f\"(c.s1), \"+f\"(c.s2), \"+f\"(c.s3) \\\n"                          \
	"\t: \"r\"(a.r[0]), \"r\"(a.r[1]), \"r\"(a.r[2]), \"r\"(a.r[3]), \"r\"(b.r[0]), "          \
	"\"r\"(b.r[1])); }\n"                                                                      \
	"#define MMA_WHOLES(KIND) \\\n"                                                            \
	"DEVICE void mma_##KIND(i4 &c, const words4 &a, const words2 &b) \\\n"                     \
	"{ asm(\"mma.sync.aligned.m16n8k32.row.col.s32.\" #KIND \".s8.s32 \" \\\n"                 \
	"\t\"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\" \\\n"               \
	"\t: \"+r\"(c.s0), \"+r\"(c.s1), \"+r\"(c.s2), \"+r\"(c.s3) \\\n"                          \
	"\t: \"r\"(a.r[0]), \"r\"(a.r[1]), \"r\"(a.r[2]), \"r\"(a.r[3]), \"r\"(b.r[0]), "          \
	"\"r\"(b.r[1])); }\n"                                                                      \
	"DEVICE float f16_value(f16 x)\n"                                                          \
	"{ float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(x)); return f; }\n"            \
	"DEVICE f16 f16_of(float x)\n"                                                             \
	"{ f16 h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x)); return h; }\n"

/* The same by tests/emulator/tensor.h. */
#define EMULATED                                                                                   \
	"template <int N> DEVICE void copy_async(void *to, const void *from, int bytes)\n"         \
	"{ emulator_copy_async(to, from, N, bytes); }\n"                                           \
	"#define TOGETHER() __syncwarp()\n"                                                        \
	"#define END_GROUP() emulator_end_group()\n"                                               \
	"#define WAIT(n) emulator_wait(n)\n"                                                       \
	"#define f16_value emulator_from_f16\n"                                                    \
	"#define f16_of emulator_f16\n"                                                            \
	"#define matrices emulator_ldmatrix\n"                                                     \
	"DEVICE unsigned tf32_of(float x) { return BITS(emulator_tf32(x)); }\n"                    \
	"#define MMA(KIND, shape) \\\n"                                                            \
	"DEVICE void mma_##KIND(v4 &c, const words4 &a, const words2 &b) \\\n"                     \
	"{ emulator_mma<emulator_##KIND##_words>(c.s0, c.s1, c.s2, c.s3, a.r, b.r); }\n"           \
	"#define MMA_WHOLES(KIND) \\\n"                                                            \
	"DEVICE void mma_##KIND(i4 &c, const words4 &a, const words2 &b) \\\n"                     \
	"{ emulator_mma<emulator_##KIND##_words>(c.s0, c.s1, c.s2, c.s3, a.r, b.r); }\n"

#define BY_WARPS                                                                                    \
	"DEVICE int within(int n, int most) { return n < 0 ? 0 : n > most ? most : n; }\n"          \
	"#define COPY(to, from, n, valid) \\\n"                                                     \
	"\tcopy_async<(n) * (int)sizeof *(to)>(to, from, within(valid, n) * (int)sizeof *(to))\n"   \
	"DEVICE unsigned word(const float *p) { return BITS(*p); }\n"                               \
	"template <typename T> DEVICE unsigned word(const T *p) { return *(const unsigned *)p; }\n" \
	"template <typename T> struct in_order { const T *p; int step, k_step; };\n"                \
	"template <typename T> struct in_rows { const T *p; int k, row; };\n"                       \
	"template <typename T> DEVICE in_order<T> IN_ORDER(const T *p, int step, int k_step)\n"     \
	"{ in_order<T> s; s.p = p; s.step = step; s.k_step = k_step; return s; }\n"                 \
	"template <typename T>\n"                                                                   \
	"DEVICE in_rows<T> IN_ROWS(const T *p, int k, int row, int, int, int, int)\n"               \
	"{ in_rows<T> s; s.p = p; s.k = k; s.row = row; return s; }\n"                              \
	"template <typename T> DEVICE int has_matrices(const in_order<T> &s)\n"                     \
	"{ return s.k_step * (int)sizeof(T) == 4 && s.step * (int)sizeof(T) % 16 == 0; }\n"         \
	"template <typename T> DEVICE void load_a(words4 &a, const in_order<T> &s)\n"               \
	"{ const int l = THREAD & 31;\n"                                                            \
	"\tif (has_matrices(s)) {\n"                                                                \
	"\t\tmatrices(a.r[0], a.r[1], a.r[2], a.r[3],\n"                                            \
	"\t\t\ts.p + (l & 15) * s.step + (l >> 4) * (16 / (int)sizeof(T)));\n"                      \
	"\t\treturn; }\n"                                                                           \
	"\tconst T *p = s.p + (l >> 2) * s.step + (l & 3) * s.k_step;\n"                            \
	"\ta.r[0] = word(p); a.r[1] = word(p + 8 * s.step);\n"                                      \
	"\ta.r[2] = word(p + 4 * s.k_step); a.r[3] = word(p + 8 * s.step + 4 * s.k_step); }\n"      \
	"template <typename T> DEVICE void load_b(words2 &b, const in_order<T> &s)\n"               \
	"{ const int l = THREAD & 31;\n"                                                            \
	"\tconst T *p = s.p + (l >> 2) * s.step + (l & 3) * s.k_step;\n"                            \
	"\tb.r[0] = word(p); b.r[1] = word(p + 4 * s.k_step); }\n"                                  \
	"template <typename T>\n"                                                                   \
	"DEVICE void load_b2(words2 &b, words2 &c, const in_order<T> &s)\n"                         \
	"{ const int l = THREAD & 31;\n"                                                            \
	"\tif (has_matrices(s)) {\n"                                                                \
	"\t\tmatrices(b.r[0], b.r[1], c.r[0], c.r[1], s.p\n"                                        \
	"\t\t\t+ ((l & 7) + (l >> 4) * 8) * s.step + (l >> 3 & 1) * (16 / (int)sizeof(T)));\n"      \
	"\t\treturn; }\n"                                                                           \
	"\tload_b(b, s);\n"                                                                         \
	"\tload_b(c, IN_ORDER(s.p + 8 * s.step, s.step, s.k_step)); }\n"                            \
	"template <typename T> DEVICE const char *unit_of(const in_rows<T> &s, int i, int unit)\n"  \
	"{ const int bytes = s.row * (int)sizeof(T), u = s.k * (int)sizeof(T) / 16 + unit;\n"       \
	"\treturn (const char *)s.p + i * bytes\n"                                                  \
	"\t\t+ ((u ^ ((i * bytes >> 7) & (bytes / 16 - 1))) << 4); }\n"                             \
	"template <typename T> DEVICE void load_a(words4 &a, const in_rows<T> &s)\n"                \
	"{ const int l = THREAD & 31;\n"                                                            \
	"\tmatrices(a.r[0], a.r[1], a.r[2], a.r[3], unit_of(s, l & 15, l >> 4)); }\n"               \
	"template <typename T> DEVICE void load_b(words2 &b, const in_rows<T> &s)\n"                \
	"{ const int l = THREAD & 31;\n"                                                            \
	"\tfor (int i = 0; i < 2; i++)\n"                                                           \
	"\t\tb.r[i] = ((const unsigned *)unit_of(s, l >> 2, i))[l & 3]; }\n"                        \
	"template <typename T>\n"                                                                   \
	"DEVICE void load_b2(words2 &b, words2 &c, const in_rows<T> &s)\n"                          \
	"{ const int l = THREAD & 31;\n"                                                            \
	"\tmatrices(b.r[0], b.r[1], c.r[0], c.r[1],\n"                                              \
	"\t\tunit_of(s, (l & 7) + (l >> 4) * 8, l >> 3 & 1)); }\n"                                  \
	"template <int N, typename W> DEVICE void round_tf32(W &w)\n"                               \
	"{ for (int i = 0; i < N; i++) w.r[i] = tf32_of(VALUE(w.r[i])); }\n"                        \
	"template <int N, typename S, typename W> DEVICE void split_tf32(S &s, const W &w)\n"       \
	"{ for (int i = 0; i < N; i++) {\n"                                                         \
	"\t\ts.big.r[i] = tf32_of(VALUE(w.r[i]));\n"                                                \
	"\t\ts.small.r[i] = tf32_of(VALUE(w.r[i]) - VALUE(s.big.r[i])); } }\n"                      \
	"MMA(tf32, \"m16n8k8\")\n"                                                                  \
	"MMA(bf16, \"m16n8k16\")\n"                                                                 \
	"MMA(f16, \"m16n8k16\")\n"                                                                  \
	"MMA_WHOLES(s8)\n"                                                                          \
	"MMA_WHOLES(u8)\n"                                                                          \
	"typedef words4 a_tf32, a_bf16, a_f16, a_s8, a_u8;\n"                                       \
	"typedef words2 b_tf32, b_bf16, b_f16, b_s8, b_u8;\n"                                       \
	"typedef split4 a_tf32x3;\n"                                                                \
	"typedef split2 b_tf32x3;\n"                                                                \
	"#define load_a_bf16 load_a\n"                                                              \
	"#define load_b_bf16 load_b\n"                                                              \
	"#define load_b2_bf16 load_b2\n"                                                            \
	"#define load_a_f16 load_a\n"                                                               \
	"#define load_b_f16 load_b\n"                                                               \
	"#define load_b2_f16 load_b2\n"                                                             \
	"#define load_a_s8 load_a\n"                                                                \
	"#define load_b_s8 load_b\n"                                                                \
	"#define load_b2_s8 load_b2\n"                                                              \
	"#define load_a_u8 load_a\n"                                                                \
	"#define load_b_u8 load_b\n"                                                                \
	"#define load_b2_u8 load_b2\n"                                                              \
	"template <typename S> DEVICE void load_a_tf32(a_tf32 &a, const S &s)\n"                    \
	"{ load_a(a, s); round_tf32<4>(a); }\n"                                                     \
	"template <typename S> DEVICE void load_b_tf32(b_tf32 &b, const S &s)\n"                    \
	"{ load_b(b, s); round_tf32<2>(b); }\n"                                                     \
	"template <typename S> DEVICE void load_b2_tf32(b_tf32 &b, b_tf32 &c, const S &s)\n"        \
	"{ load_b2(b, c, s); round_tf32<2>(b); round_tf32<2>(c); }\n"                               \
	"template <typename S> DEVICE void load_a_tf32x3(a_tf32x3 &a, const S &s)\n"                \
	"{ words4 w; load_a(w, s); split_tf32<4>(a, w); }\n"                                        \
	"template <typename S> DEVICE void load_b_tf32x3(b_tf32x3 &b, const S &s)\n"                \
	"{ words2 w; load_b(w, s); split_tf32<2>(b, w); }\n"                                        \
	"template <typename S> DEVICE void load_b2_tf32x3(b_tf32x3 &b, b_tf32x3 &c, const S &s)\n"  \
	"{ words2 v, w; load_b2(v, w, s); split_tf32<2>(b, v); split_tf32<2>(c, w); }\n"            \
	"DEVICE void mma_tf32x3(v4 &c, const a_tf32x3 &a, const b_tf32x3 &b)\n"                     \
	"{ mma_tf32(c, a.small, b.big); mma_tf32(c, a.big, b.small); mma_tf32(c, a.big, b.big); "   \
	"}\n"

const char simt_tile_cuda[] = "#define BITS(x) ((unsigned)__float_as_int(x))\n"
			      "#define VALUE(u) __int_as_float((int)(u))\n"
			      "struct __align__(8) h4 { unsigned short s0, s1, s2, s3; };\n"
			      "#define load_h4(p) (*(const h4 *)(p))\n"
			      "#define store_h4(p, x) (*(h4 *)(p) = (x))\n"
			      "struct __align__(16) i4 { int s0, s1, s2, s3; };\n"
			      "#define load_i4(p) (*(const i4 *)(p))\n"
			      "#define store_i4(p, x) (*(i4 *)(p) = (x))\n"
			      "#define WHOLE(x) __float2int_rn(x)\n" NARROW WHOLES WORDS
			      "#ifdef TL_EMULATOR\n" EMULATED BF16_BY_SHIFTS
			      "#else\n" PTX BF16_BY_PTX "#endif\n" BY_WARPS VECTORS_OF(bf16, h4)
				      VECTORS_OF(f16, h4) VECTORS_OF(s32, i4) OTHERS(s8) OTHERS(u8);

const char simt_tile_opencl[] =
	"#define DEVICE static\n"
	"#define BITS(x) as_uint(x)\n"
	"#define VALUE(u) as_float((unsigned)(u))\n"
	"typedef ushort4 h4;\n"
	"#define load_h4(p) vload4(0, p)\n"
	"#define store_h4(p, x) vstore4(x, 0, p)\n"
	"typedef int4 i4;\n"
	"#define make_i4(a, b, c, d) ((i4)(a, b, c, d))\n"
	"#define load_i4(p) vload4(0, p)\n"
	"#define store_i4(p, x) vstore4(x, 0, p)\n"
	"#define WHOLE(x) convert_int_sat_rte(x)\n" NARROW BF16_BY_SHIFTS HALVES WHOLES
		BY_THREADS_MMAS VECTORS_OF(bf16, h4) VECTORS_OF(f16, h4) VECTORS_OF(s32, i4)
			OTHERS(s8) OTHERS(u8);

/* ---- nodes ---- */

static void copy(struct text *p, const struct node *t)
{
	if (nest_is_bulk(p->n, t)) {
		simt_bulk_copy(p, t);
		return;
	}
	text_indent(p);
	buf_str(p->out, "COPY(&");
	text_element(p, t->buffer, &t->a);
	buf_str(p->out, ", &");
	text_element(p, t->from, &t->b);
	buf_fmt(p->out, ", %d, ", t->lanes);
	if (t->valid)
		text_affine(p, t->valid);
	else
		buf_int(p->out, t->lanes);
	buf_str(p->out, ");\n");
}

/* ", IN_ORDER(&left3[i], STEP, K_STEP));" of a side, from a row and step on. */
static void side(struct text *p, const struct mma *m, const struct mma_side *s, int row, int step)
{
	const struct swizzle *order = &p->n->buffer[s->buffer].swizzle;
	const struct swizzle_bits b = swizzle_bits(order);
	struct affine at = mma_at(m, s, row, (int64_t)step * mma_depth(m->kind)), rest;

	if (!order->row) {
		buf_str(p->out, ", IN_ORDER(&");
		text_element(p, s->buffer, &at);
		buf_fmt(p->out, ", %lld, %lld));\n", (long long)s->step, (long long)s->k_step);
		return;
	}
	mma_split(p->n, s->buffer, &at, &at, &rest);
	buf_str(p->out, ", IN_ROWS(&");
	text_place(p, s->buffer, &at);
	buf_str(p->out, ", ");
	text_affine(p, &rest);
	buf_fmt(p->out, ", %d, %lld, %d, %d, %d));\n", order->row, (long long)s->k_step, b.down,
		b.mask, b.up);
}

static void declare(struct text *p, const char *name, char which, int n)
{
	text_indent(p);
	buf_fmt(p->out, "%c_%s ", which, name);
	for (int i = 0; i < n; i++)
		buf_fmt(p->out, "%s%c%d", i ? ", " : "", which, i);
	buf_str(p->out, ";\n");
}

static void load_b(struct text *p, const struct mma *m, int step)
{
	const char *name = mma_name(m->kind);

	for (int j = 0; j < m->across; j += 2) {
		text_indent(p);
		if (j + 1 < m->across)
			buf_fmt(p->out, "load_b2_%s(b%d, b%d", name, j, j + 1);
		else
			buf_fmt(p->out, "load_b_%s(b%d", name, j);
		side(p, m, &m->b, j * MMA_COLUMNS, step);
	}
}

static void multiply(struct text *p, const struct node *t, int step)
{
	const struct mma *m = t->mma;
	const char *name = mma_name(m->kind);
	int64_t first = text_constant(p, &t->a);

	text_indent(p);
	buf_str(p->out, "TOGETHER();\n");
	text_indent(p);
	buf_str(p->out, "{\n");
	p->depth++;
	declare(p, name, 'a', m->down);
	declare(p, name, 'b', m->across);
	for (int i = 0; i < m->down; i++) {
		text_indent(p);
		buf_fmt(p->out, "load_a_%s(a%d", name, i);
		side(p, m, &m->a, i * MMA_ROWS, step);
	}
	load_b(p, m, step);
	for (int tile = 0; tile < m->down * m->across; tile++) {
		text_indent(p);
		buf_fmt(p->out, "mma_%s(", name);
		text_register(p, t->buffer, first + tile);
		buf_fmt(p->out, ", a%d, b%d);\n", tile / m->across, tile % m->across);
	}
	p->depth--;
	text_indent(p);
	buf_str(p->out, "}\n");
}

/* OpenCL gets no products by groups: its limits have none. */
static void products(struct text *p, const struct node *t)
{
	if (t->mma->group) {
		simt_group_print(p, t);
		return;
	}
	for (int step = 0; step < t->mma->steps; step++)
		multiply(p, t, step);
}

static void wait_for(struct text *p, const struct node *t)
{
	if (simt_proxy_copies(p->n)) {
		text_indent(p);
		buf_fmt(p->out, "WAIT(%lld);\n", (long long)t->a.c);
	}
	simt_bulk_wait(p, t->a.c);
	if (!simt_proxy_written(p->n))
		return;
	text_indent(p);
	buf_str(p->out, "GROUP_FENCE();\n");
}

void simt_tile_print(struct text *p, const struct node *t)
{
	if (t->kind == NODE_COPY)
		copy(p, t);
	else if (t->kind == NODE_MMA)
		products(p, t);
	else
		wait_for(p, t);
}

void simt_tile_end_group(struct text *p, const struct node *loop)
{
	if (nest_has(loop->body, NODE_COPY)) {
		if (simt_proxy_copies(p->n)) {
			text_indent(p);
			buf_str(p->out, "END_GROUP();\n");
		}
		simt_bulk_end_group(p);
	}
	simt_group_end(p, loop);
}
