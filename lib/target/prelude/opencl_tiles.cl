/* OpenCL C: copies and products of tiles, by the threads one by one. Both sides of a product are places. */

#define COPY(to, from, n, valid) for (int c_ = 0; c_ < (n); c_++) \
	(to)[c_] = c_ < (valid) ? (from)[c_] : 0
#define TOGETHER()
#define END_GROUP()
#define WAIT(n)
DEVICE float tf32_of(float x) { return x != x ? x : VALUE((BITS(x) + 0x1000u) & 0xffffe000u); }
DEVICE float tf32_product(float a, float b) { return tf32_of(a) * tf32_of(b); }
DEVICE float tf32x3_product(float a, float b)
{ const float x = tf32_of(a), y = tf32_of(b);
	return x * tf32_of(b - y) + tf32_of(a - x) * y + x * y; }
#define bf16_product(a, b) (bf16_value(a) * bf16_value(b))
#define f16_product(a, b) (f16_value(a) * f16_value(b))
#define s8_product(a, b) ((a) * (b))
#define u8_product(a, b) ((a) * (b))
#define SIDE_AT(s, i) s.p[SWIZZLED((i) * s.step + k / PAIR * s.k_step + k % PAIR \
	+ s.k, s.down, s.mask, s.up)]
#define IN_ORDER(q, st, ks) q, st, ks, 0, 0, 0, 0
#define IN_ROWS(q, k, row, ks, down, mask, up) q, row, ks, k, down, mask, up
#define PLACE(s, q, st, ks, k_, dn, mk, u) do { s.p = (q); s.step = (st); \
	s.k_step = (ks); s.k = (k_); s.down = (dn); s.mask = (mk); s.up = (u); } while (0)
#define PLACE_NEXT(s, q, st, ks, k_, dn, mk, u) \
	PLACE(s, (q) + 8 * (st), st, ks, k_, dn, mk, u)

/* A and B: elements of both sides, PAIRS in 32 bits; sums are of type S, four of them a V. */
#define PRODUCT(KIND, A, B, DEPTH, PAIRS, S, V) \
typedef struct { LOCAL const A *p; int step, k_step, k, down, mask, up; } a_##KIND; \
typedef struct { LOCAL const B *p; int step, k_step, k, down, mask, up; } b_##KIND; \
DEVICE V sums_##KIND(V c, a_##KIND a, b_##KIND b) \
{ enum { PAIR = PAIRS }; const int g = (THREAD & 31) >> 2, t = (THREAD & 3) * 2; \
	S s0 = 0, s1 = 0, s2 = 0, s3 = 0; \
	for (int k = 0; k < DEPTH; k++) { \
		s0 += KIND##_product(SIDE_AT(a, g), SIDE_AT(b, t)); \
		s1 += KIND##_product(SIDE_AT(a, g), SIDE_AT(b, t + 1)); \
		s2 += KIND##_product(SIDE_AT(a, g + 8), SIDE_AT(b, t)); \
		s3 += KIND##_product(SIDE_AT(a, g + 8), SIDE_AT(b, t + 1)); \
	} \
	return make_##V(c.s0 + s0, c.s1 + s1, c.s2 + s2, c.s3 + s3); }
PRODUCT(tf32x3, float, float, 8, 1, float, v4)
#define load_a_tf32x3(a, side) PLACE(a, side)
#define load_b_tf32x3(b, side) PLACE(b, side)
#define load_b2_tf32x3(b, c, side) do { PLACE(b, side); PLACE_NEXT(c, side); } while (0)
#define mma_tf32x3(c, a, b) ((c) = sums_tf32x3(c, a, b))
PRODUCT(tf32, float, float, 8, 1, float, v4)
#define load_a_tf32(a, side) PLACE(a, side)
#define load_b_tf32(b, side) PLACE(b, side)
#define load_b2_tf32(b, c, side) do { PLACE(b, side); PLACE_NEXT(c, side); } while (0)
#define mma_tf32(c, a, b) ((c) = sums_tf32(c, a, b))
PRODUCT(bf16, bf16, bf16, 16, 2, float, v4)
#define load_a_bf16(a, side) PLACE(a, side)
#define load_b_bf16(b, side) PLACE(b, side)
#define load_b2_bf16(b, c, side) do { PLACE(b, side); PLACE_NEXT(c, side); } while (0)
#define mma_bf16(c, a, b) ((c) = sums_bf16(c, a, b))
PRODUCT(f16, f16, f16, 16, 2, float, v4)
#define load_a_f16(a, side) PLACE(a, side)
#define load_b_f16(b, side) PLACE(b, side)
#define load_b2_f16(b, c, side) do { PLACE(b, side); PLACE_NEXT(c, side); } while (0)
#define mma_f16(c, a, b) ((c) = sums_f16(c, a, b))
PRODUCT(s8, s8, s8, 32, 4, int, i4)
#define load_a_s8(a, side) PLACE(a, side)
#define load_b_s8(b, side) PLACE(b, side)
#define load_b2_s8(b, c, side) do { PLACE(b, side); PLACE_NEXT(c, side); } while (0)
#define mma_s8(c, a, b) ((c) = sums_s8(c, a, b))
PRODUCT(u8, u8, s8, 32, 4, int, i4)
#define load_a_u8(a, side) PLACE(a, side)
#define load_b_u8(b, side) PLACE(b, side)
#define load_b2_u8(b, c, side) do { PLACE(b, side); PLACE_NEXT(c, side); } while (0)
#define mma_u8(c, a, b) ((c) = sums_u8(c, a, b))
