/* CUDA C: copies, and products of tiles by tensor cores (NVIDIA, "Parallel Thread Execution ISA"). */

/* ---- what a warp multiplies ---- */

struct words2 { unsigned r[2]; };
struct words4 { unsigned r[4]; };
struct split2 { words2 big, small; };
struct split4 { words4 big, small; };

#ifdef TL_EMULATOR
template <int N> DEVICE void copy_async(void *to, const void *from, int bytes)
{ emulator_copy_async(to, from, N, bytes); }
#define TOGETHER() __syncwarp()
#define END_GROUP() emulator_end_group()
#define WAIT(n) emulator_wait(n)
#define matrices emulator_ldmatrix
DEVICE unsigned tf32_of(float x) { return BITS(emulator_tf32(x)); }
#define MMA(KIND, shape) \
DEVICE void mma_##KIND(v4 &c, const words4 &a, const words2 &b) \
{ emulator_mma<emulator_##KIND##_words>(c.s0, c.s1, c.s2, c.s3, a.r, b.r); }
#define MMA_WHOLES(KIND) \
DEVICE void mma_##KIND(i4 &c, const words4 &a, const words2 &b) \
{ emulator_mma<emulator_##KIND##_words>(c.s0, c.s1, c.s2, c.s3, a.r, b.r); }
#else
/* cp.async, ldmatrix, mma. A matrix of ldmatrix has 8 rows of 16 bytes; lane l gets word l % 4 of row l / 4, whatever the words
 * hold. Threads of a warp that went different ways through a branch meet at TOGETHER(). */
DEVICE unsigned in_block(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
template <int N> DEVICE void copy_async(void *to, const void *from, int bytes)
{ if (N == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
			:: "r"(in_block(to)), "l"(from), "r"(bytes) : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
			:: "r"(in_block(to)), "l"(from), "n"(N), "r"(bytes) : "memory"); }
#define TOGETHER() __syncwarp()
#define END_GROUP() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
DEVICE void matrices(unsigned &a, unsigned &b, unsigned &c, unsigned &d, const void *p)
{ asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
	: "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(in_block(p)) : "memory"); }
DEVICE unsigned tf32_of(float x)
{ unsigned u; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(x)); return u; }
#define MMA(KIND, shape) \
DEVICE void mma_##KIND(v4 &c, const words4 &a, const words2 &b) \
{ asm("mma.sync.aligned." shape ".row.col.f32." #KIND "." #KIND ".f32 " \
	"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
	: "+f"(c.s0), "+f"(c.s1), "+f"(c.s2), "+f"(c.s3) \
	: "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1])); }
#define MMA_WHOLES(KIND) \
DEVICE void mma_##KIND(i4 &c, const words4 &a, const words2 &b) \
{ asm("mma.sync.aligned.m16n8k32.row.col.s32." #KIND ".s8.s32 " \
	"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
	: "+r"(c.s0), "+r"(c.s1), "+r"(c.s2), "+r"(c.s3) \
	: "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1])); }
#endif

DEVICE int within(int n, int most) { return n < 0 ? 0 : n > most ? most : n; }
#define COPY(to, from, n, valid) \
	copy_async<(n) * (int)sizeof *(to)>(to, from, within(valid, n) * (int)sizeof *(to))
DEVICE unsigned word(const float *p) { return BITS(*p); }
template <typename T> DEVICE unsigned word(const T *p) { return *(const unsigned *)p; }
template <typename T> struct in_order { const T *p; int step, k_step; };
template <typename T> struct in_rows { const T *p; int k, row; };
template <typename T> DEVICE in_order<T> IN_ORDER(const T *p, int step, int k_step)
{ in_order<T> s; s.p = p; s.step = step; s.k_step = k_step; return s; }
template <typename T>
DEVICE in_rows<T> IN_ROWS(const T *p, int k, int row, int, int, int, int)
{ in_rows<T> s; s.p = p; s.k = k; s.row = row; return s; }
template <typename T> DEVICE int has_matrices(const in_order<T> &s)
{ return s.k_step * (int)sizeof(T) == 4 && s.step * (int)sizeof(T) % 16 == 0; }
template <typename T> DEVICE void load_a(words4 &a, const in_order<T> &s)
{ const int l = THREAD & 31;
	if (has_matrices(s)) {
		matrices(a.r[0], a.r[1], a.r[2], a.r[3],
			s.p + (l & 15) * s.step + (l >> 4) * (16 / (int)sizeof(T)));
		return; }
	const T *p = s.p + (l >> 2) * s.step + (l & 3) * s.k_step;
	a.r[0] = word(p); a.r[1] = word(p + 8 * s.step);
	a.r[2] = word(p + 4 * s.k_step); a.r[3] = word(p + 8 * s.step + 4 * s.k_step); }
template <typename T> DEVICE void load_b(words2 &b, const in_order<T> &s)
{ const int l = THREAD & 31;
	const T *p = s.p + (l >> 2) * s.step + (l & 3) * s.k_step;
	b.r[0] = word(p); b.r[1] = word(p + 4 * s.k_step); }
template <typename T>
DEVICE void load_b2(words2 &b, words2 &c, const in_order<T> &s)
{ const int l = THREAD & 31;
	if (has_matrices(s)) {
		matrices(b.r[0], b.r[1], c.r[0], c.r[1], s.p
			+ ((l & 7) + (l >> 4) * 8) * s.step + (l >> 3 & 1) * (16 / (int)sizeof(T)));
		return; }
	load_b(b, s);
	load_b(c, IN_ORDER(s.p + 8 * s.step, s.step, s.k_step)); }
template <typename T> DEVICE const char *unit_of(const in_rows<T> &s, int i, int unit)
{ const int bytes = s.row * (int)sizeof(T), u = s.k * (int)sizeof(T) / 16 + unit;
	return (const char *)s.p + i * bytes
		+ ((u ^ ((i * bytes >> 7) & (bytes / 16 - 1))) << 4); }
template <typename T> DEVICE void load_a(words4 &a, const in_rows<T> &s)
{ const int l = THREAD & 31;
	matrices(a.r[0], a.r[1], a.r[2], a.r[3], unit_of(s, l & 15, l >> 4)); }
template <typename T> DEVICE void load_b(words2 &b, const in_rows<T> &s)
{ const int l = THREAD & 31;
	for (int i = 0; i < 2; i++)
		b.r[i] = ((const unsigned *)unit_of(s, l >> 2, i))[l & 3]; }
template <typename T>
DEVICE void load_b2(words2 &b, words2 &c, const in_rows<T> &s)
{ const int l = THREAD & 31;
	matrices(b.r[0], b.r[1], c.r[0], c.r[1],
		unit_of(s, (l & 7) + (l >> 4) * 8, l >> 3 & 1)); }
template <int N, typename W> DEVICE void round_tf32(W &w)
{ for (int i = 0; i < N; i++) w.r[i] = tf32_of(VALUE(w.r[i])); }
template <int N, typename S, typename W> DEVICE void split_tf32(S &s, const W &w)
{ for (int i = 0; i < N; i++) {
		s.big.r[i] = tf32_of(VALUE(w.r[i]));
		s.small.r[i] = tf32_of(VALUE(w.r[i]) - VALUE(s.big.r[i])); } }
MMA(tf32, "m16n8k8")
MMA(bf16, "m16n8k16")
MMA(f16, "m16n8k16")
MMA_WHOLES(s8)
MMA_WHOLES(u8)
typedef words4 a_tf32, a_bf16, a_f16, a_s8, a_u8;
typedef words2 b_tf32, b_bf16, b_f16, b_s8, b_u8;
typedef split4 a_tf32x3;
typedef split2 b_tf32x3;
#define load_a_bf16 load_a
#define load_b_bf16 load_b
#define load_b2_bf16 load_b2
#define load_a_f16 load_a
#define load_b_f16 load_b
#define load_b2_f16 load_b2
#define load_a_s8 load_a
#define load_b_s8 load_b
#define load_b2_s8 load_b2
#define load_a_u8 load_a
#define load_b_u8 load_b
#define load_b2_u8 load_b2
template <typename S> DEVICE void load_a_tf32(a_tf32 &a, const S &s)
{ load_a(a, s); round_tf32<4>(a); }
template <typename S> DEVICE void load_b_tf32(b_tf32 &b, const S &s)
{ load_b(b, s); round_tf32<2>(b); }
template <typename S> DEVICE void load_b2_tf32(b_tf32 &b, b_tf32 &c, const S &s)
{ load_b2(b, c, s); round_tf32<2>(b); round_tf32<2>(c); }
template <typename S> DEVICE void load_a_tf32x3(a_tf32x3 &a, const S &s)
{ words4 w; load_a(w, s); split_tf32<4>(a, w); }
template <typename S> DEVICE void load_b_tf32x3(b_tf32x3 &b, const S &s)
{ words2 w; load_b(w, s); split_tf32<2>(b, w); }
template <typename S> DEVICE void load_b2_tf32x3(b_tf32x3 &b, b_tf32x3 &c, const S &s)
{ words2 v, w; load_b2(v, w, s); split_tf32<2>(b, v); split_tf32<2>(c, w); }
DEVICE void mma_tf32x3(v4 &c, const a_tf32x3 &a, const b_tf32x3 &b)
{ mma_tf32(c, a.small, b.big); mma_tf32(c, a.big, b.small); mma_tf32(c, a.big, b.big); }

/* ---- what a group of four warps multiplies ---- */

#ifdef TL_EMULATOR
#define matrices_at emulator_matrices
#define GROUP_FENCE()
#define GROUP_BEGIN()
#define GROUP_END()
#define GROUP_WAIT(n)
#define HOLD(c)
#else
/* wgmma. A descriptor has the address, and the distances of core matrices along k and along rows, all in units of 16 bytes, and how
 * rows are swizzled: 1, 2 and 3 for those of 128, 64 and 32 bytes. It is the same for all threads, which the compiler does not know.
 * What threads wrote to the block's memory must pass a fence before wgmma reads it. HOLD keeps the compiler from moving sums while
 * they are computed. */
DEVICE unsigned long long matrices_at(const void *p, unsigned k_bytes, unsigned i_bytes, unsigned order)
{ return (unsigned long long)__shfl_sync(0xffffffffu, in_block(p) >> 4 & 0x3fff, 0) |
	(unsigned long long)(k_bytes >> 4) << 16 | (unsigned long long)(i_bytes >> 4) << 32 |
	(unsigned long long)order << 62; }
#define GROUP_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define GROUP_BEGIN() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define GROUP_END() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define GROUP_WAIT(n) \
	asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define HOLD(c) asm volatile("" : "+f"((c).s0), "+f"((c).s1), "+f"((c).s2), "+f"((c).s3) :: "memory")
#endif

/* ---- copies in bulk ---- */

#ifdef TL_EMULATOR
#define bulk_init emulator_bulk_init
#define BULK_FENCE()
#define bulk_copy emulator_bulk_copy
typedef emulator_box BOX_MAP;
#define BOX emulator_box
#define box_copy emulator_box_copy
#define bulk_arrive emulator_bulk_arrive
#define bulk_wait emulator_bulk_wait
#else
/* A phase of a barrier ends when its one thread has arrived and as many bytes have come as that thread said. */
DEVICE void bulk_init(unsigned long long *b)
{ asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(in_block(b)) : "memory"); }
#define BULK_FENCE() asm volatile("fence.mbarrier_init.release.cluster;\n\t" \
	"fence.proxy.async.shared::cta;" ::: "memory")
DEVICE void bulk_copy(void *to, const void *from, unsigned bytes, unsigned long long *b)
{ asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
	"[%0], [%1], %2, [%3];"
	:: "r"(in_block(to)), "l"(from), "r"(bytes), "r"(in_block(b)) : "memory"); }
struct __align__(64) BOX_MAP { unsigned long long word[16]; };
#define BOX __grid_constant__ BOX_MAP
DEVICE void box_copy(void *to, const BOX_MAP *box, int c, int x, int y, int image, int right, int down, unsigned long long *b)
{ asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
	".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
	:: "r"(in_block(to)), "l"(box), "r"(c), "r"(x), "r"(y), "r"(image), "r"(in_block(b)),
	"h"((short)right), "h"((short)down) : "memory"); }
DEVICE void bulk_arrive(unsigned long long *b, unsigned bytes)
{ asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
	:: "r"(in_block(b)), "r"(bytes) : "memory"); }
DEVICE void bulk_wait(unsigned long long *b, unsigned phase)
{ asm volatile("{ .reg .pred there;\n\t"
	"AGAIN: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n\t"
	"@!there bra AGAIN; }"
	:: "r"(in_block(b)), "r"(phase) : "memory"); }
#endif

/* Groups take turns with the barriers. */
#define BULK_BEGIN(at, n) \
	unsigned long long *const bulk_barrier = \
		(unsigned long long *)((char *)block_memory + (at)); \
	int bulk_groups = 0, bulk_waited = 0; \
	unsigned bulk_bytes = 0; \
	if (THREAD < (n)) bulk_init(bulk_barrier + THREAD); \
	BULK_FENCE(); \
	BARRIER()
#define BULK_OVER_READS() do { if (THREAD == 0) GROUP_FENCE(); } while (0)
#define BULK_COPY(to, from, bytes, n) do { \
	if (THREAD == 0) \
		bulk_copy(to, from, bytes, bulk_barrier + bulk_groups % (n)); \
	bulk_bytes += (bytes); } while (0)
#define BOX_COPY(to, box, c, x, y, image, right, down, bytes, n) do { \
	if (THREAD == 0) \
		box_copy(to, box, c, x, y, image, right, down, \
			bulk_barrier + bulk_groups % (n)); \
	bulk_bytes += (bytes); } while (0)
#define BULK_END_GROUP(n) do { \
	if (THREAD == 0) bulk_arrive(bulk_barrier + bulk_groups % (n), bulk_bytes); \
	bulk_bytes = 0; bulk_groups++; } while (0)
#define BULK_WAIT(groups, n) \
	_Pragma("unroll 1") \
	for (; bulk_waited < bulk_groups - (groups); bulk_waited++) \
		bulk_wait(bulk_barrier + bulk_waited % (n), bulk_waited / (n) & 1)
