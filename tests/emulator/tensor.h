/* What inline PTX does in kernels of this project, for the threads of an emulated warp: ldmatrix,
 * mma.sync, wgmma, cp.async, cp.async.bulk, mbarrier, tensor maps (NVIDIA, "Parallel Thread
 * Execution ISA"). Part of language.h.
 *
 * Fragments are put together from what each thread of the warp has, as the manual's figures show
 * them, so an index that the kernel's text gets wrong gives a wrong product. Copies happen when a
 * thread waits for them, and no sooner.
 */
#ifndef TL_TESTS_EMULATOR_TENSOR_H
#define TL_TESTS_EMULATOR_TENSOR_H

#include "tests/emulator/box.h"

/* Four matrices of 8 rows of 16 bytes: thread 8 i + r has the address of row r of matrix i. */
static inline void emulator_ldmatrix(unsigned &a, unsigned &b, unsigned &c, unsigned &d,
				     const void *row)
{
	const unsigned *rows[EMULATOR_WARP];
	const int lane = (int)emulator_lane();

	if ((__SIZE_TYPE__)row % 16)
		__builtin_trap();
	emulator_gather((const unsigned *)row, rows);
	a = rows[lane / 4][lane % 4];
	b = rows[8 + lane / 4][lane % 4];
	c = rows[16 + lane / 4][lane % 4];
	d = rows[24 + lane / 4][lane % 4];
}

struct emulator_sides {
	unsigned a[4], b[2];
};

/* Word w (0 to 7) of row r of the left side, and of column n of the right side. */
static inline unsigned emulator_a(const struct emulator_sides *all, int r, int w)
{
	return all[r % 8 * 4 + w % 4].a[r / 8 + w / 4 * 2];
}

static inline unsigned emulator_b(const struct emulator_sides *all, int n, int w)
{
	return all[n * 4 + w % 4].b[w / 4];
}

/* The sum of what two words hold: one number of tf32, of which the low bits are ignored, two of 16
 * bits, or four whole numbers of 8. */
struct emulator_tf32_words {
	static float product(unsigned x, unsigned y)
	{
		return __uint_as_float(x & ~0x1fffu) * __uint_as_float(y & ~0x1fffu);
	}
};

struct emulator_bf16_words {
	static float product(unsigned x, unsigned y)
	{
		return emulator_from_bf16((unsigned short)x) *
			       emulator_from_bf16((unsigned short)y) +
		       emulator_from_bf16((unsigned short)(x >> 16)) *
			       emulator_from_bf16((unsigned short)(y >> 16));
	}
};

struct emulator_f16_words {
	static float product(unsigned x, unsigned y)
	{
		return emulator_from_f16((unsigned short)x) * emulator_from_f16((unsigned short)y) +
		       emulator_from_f16((unsigned short)(x >> 16)) *
			       emulator_from_f16((unsigned short)(y >> 16));
	}
};

template <typename A> static inline int emulator_bytes_product(unsigned x, unsigned y)
{
	int sum = 0;

	for (int byte = 0; byte < 4; byte++)
		sum += (A)(x >> 8 * byte) * (signed char)(y >> 8 * byte);
	return sum;
}

struct emulator_s8_words {
	static int product(unsigned x, unsigned y)
	{
		return emulator_bytes_product<signed char>(x, y);
	}
};

struct emulator_u8_words {
	static int product(unsigned x, unsigned y)
	{
		return emulator_bytes_product<unsigned char>(x, y);
	}
};

template <class Words, typename Sum>
static inline Sum emulator_sum(const struct emulator_sides *all, int row, int column)
{
	Sum sum = 0;

	for (int w = 0; w < 8; w++)
		sum += Words::product(emulator_a(all, row, w), emulator_b(all, column, w));
	return sum;
}

/* m16n8k8 of tf32, m16n8k16 of 16 bits, m16n8k32 of 8. */
template <class Words, typename Sum>
static inline void emulator_mma(Sum &c0, Sum &c1, Sum &c2, Sum &c3, const unsigned *a,
				const unsigned *b)
{
	struct emulator_sides mine, all[EMULATOR_WARP];
	const int row = (int)emulator_lane() / 4, column = (int)emulator_lane() % 4 * 2;

	memcpy(mine.a, a, sizeof mine.a);
	memcpy(mine.b, b, sizeof mine.b);
	emulator_gather(mine, all);
	c0 += emulator_sum<Words, Sum>(all, row, column);
	c1 += emulator_sum<Words, Sum>(all, row, column + 1);
	c2 += emulator_sum<Words, Sum>(all, row + 8, column);
	c3 += emulator_sum<Words, Sum>(all, row + 8, column + 1);
}

/* ---- groups of warps ---- */

/* Core matrices of 8 rows of 16 bytes, from the beginning of the block's memory. */
static inline unsigned long long emulator_matrices(const void *p, unsigned k_bytes,
						   unsigned i_bytes, unsigned order)
{
	const unsigned long long at =
		(unsigned long long)((const char *)p - (char *)emulator.shared);

	if (at % 16 || k_bytes % 16 || i_bytes % 16 || at >> 18)
		__builtin_trap();
	return at >> 4 | (unsigned long long)(k_bytes >> 4) << 16 |
	       (unsigned long long)(i_bytes >> 4) << 32 | (unsigned long long)order << 62;
}

/* Word w of row or column i of what a descriptor describes. */
static inline unsigned emulator_word(unsigned long long d, int i, int w)
{
	const unsigned long long at = (d & 0x3fff) << 4, k_bytes = (d >> 16 & 0x3fff) << 4;
	const unsigned long long i_bytes = (d >> 32 & 0x3fff) << 4;
	const unsigned order = (unsigned)(d >> 62), row = order ? 256u >> order : 16;
	unsigned long long place =
		at + (unsigned)(i / 8) * i_bytes + (unsigned)(i % 8) * row + (unsigned)(w % 4) * 4;

	place += (unsigned)(w / 4) * (order ? 16 : k_bytes);
	if (order)
		place ^= (place >> 7 & (row / 16 - 1)) << 4;
	return *(const unsigned *)((char *)emulator.shared + place);
}

/* wgmma.mma_async: 64 rows by 8 * across columns; c: the thread's sums. */
template <class Words>
static inline void emulator_group_mma(float *const *c, int across, unsigned long long a,
				      unsigned long long b)
{
	const int thread = (int)threadIdx.x % (4 * EMULATOR_WARP), lane = thread % EMULATOR_WARP;
	struct {
		unsigned long long a, b;
	} mine = {a, b}, all[EMULATOR_WARP];

	emulator_gather(mine, all);
	for (int i = 0; i < EMULATOR_WARP; i++)
		if (all[i].a != a || all[i].b != b)
			__builtin_trap();
	for (int j = 0; j < across; j++)
		for (int s = 0; s < 4; s++) {
			const int row = thread / EMULATOR_WARP * 16 + lane / 4 + s / 2 * 8;
			const int column = j * 8 + lane % 4 * 2 + s % 2;

			for (int w = 0; w < 8; w++)
				*c[j * 4 + s] += Words::product(emulator_word(a, row, w),
								emulator_word(b, column, w));
		}
}

/* ---- copies ---- */

enum { EMULATOR_COPIES = 256, EMULATOR_THREADS = 1024 };

/* Of a thread, the oldest first. */
static struct emulator_copies {
	int n, groups; /* groups that are closed */
	struct {
		void *to;
		const void *from;
		int room, bytes, group;
	} copy[EMULATOR_COPIES];
} emulator_copies[EMULATOR_THREADS];

static inline void emulator_copy_async(void *to, const void *from, int room, int bytes)
{
	struct emulator_copies *c = &emulator_copies[threadIdx.x];

	if ((__SIZE_TYPE__)to % (__SIZE_TYPE__)room || c->n == EMULATOR_COPIES ||
	    (bytes && (__SIZE_TYPE__)from % (__SIZE_TYPE__)room))
		__builtin_trap();
	c->copy[c->n].to = to;
	c->copy[c->n].from = from;
	c->copy[c->n].room = room;
	c->copy[c->n].bytes = bytes;
	c->copy[c->n++].group = c->groups;
}

static inline void emulator_end_group()
{
	emulator_copies[threadIdx.x].groups++;
}

static inline void emulator_wait(int groups)
{
	struct emulator_copies *c = &emulator_copies[threadIdx.x];
	int left = 0;

	for (int i = 0; i < c->n; i++) {
		char *to = (char *)c->copy[i].to;

		if (c->copy[i].group >= c->groups - groups) {
			c->copy[left++] = c->copy[i];
			continue;
		}
		memcpy(to, c->copy[i].from, (__SIZE_TYPE__)c->copy[i].bytes);
		for (int b = c->copy[i].bytes; b < c->copy[i].room; b++)
			to[b] = 0;
	}
	c->n = left;
}

/* ---- copies in bulk ---- */

enum { EMULATOR_BULKS = 64 };

/* Where a box begins: channel, column, row, image; and what all of its pixels are moved by. */
struct emulator_place {
	int at[4], right, down;
};

/* What a barrier's 64 bits hold here. */
struct emulator_barrier {
	int arrived, phase;
};

static struct emulator_bulks {
	int n;
	struct {
		struct emulator_barrier *barrier;
		void *to;
		const void *from; /* or a tensor map, of a box */
		unsigned bytes;
		int is_box;
		struct emulator_place place;
	} copy[EMULATOR_BULKS];
} emulator_bulks;

static inline void emulator_bulk_init(unsigned long long *b)
{
	struct emulator_barrier *barrier = (struct emulator_barrier *)b;

	barrier->arrived = barrier->phase = 0;
}

static inline void emulator_bulk_copy(void *to, const void *from, unsigned bytes,
				      unsigned long long *b)
{
	struct emulator_bulks *s = &emulator_bulks;

	if ((__SIZE_TYPE__)to % 16 || (__SIZE_TYPE__)from % 16 || bytes % 16 ||
	    s->n == EMULATOR_BULKS)
		__builtin_trap();
	s->copy[s->n].barrier = (struct emulator_barrier *)b;
	s->copy[s->n].to = to;
	s->copy[s->n].from = from;
	s->copy[s->n].is_box = 0;
	s->copy[s->n++].bytes = bytes;
}

/* The place must be one of the positions that the map has. */
static inline void emulator_box_copy(void *to, const emulator_box *box, int c, int x, int y,
				     int image, int right, int down, unsigned long long *b)
{
	const struct emulator_place place = {{c, x, y, image}, right, down};

	if ((x - box->lower[0]) % (int)box->step[0] || (y - box->lower[1]) % (int)box->step[1] ||
	    x < box->lower[0] || y < box->lower[1] || right < 0 || right > 255 || down < 0 ||
	    down > 255 || ((char *)to - (char *)emulator.shared) % (8 * (int)box->row))
		__builtin_trap();
	emulator_bulk_copy(to, nullptr, box->channels * box->pixels * box->element, b);
	emulator_bulks.copy[emulator_bulks.n - 1].from = box;
	emulator_bulks.copy[emulator_bulks.n - 1].is_box = 1;
	emulator_bulks.copy[emulator_bulks.n - 1].place = place;
}

/* Element i, of all bytes, in the block's memory, in swizzled rows of so many bytes. */
static inline char *emulator_swizzled(void *to, unsigned row, unsigned i)
{
	__SIZE_TYPE__ at = (__SIZE_TYPE__)((char *)to - (char *)emulator.shared) + i;

	return (char *)emulator.shared + (at ^ (at >> 7 & (row / 16 - 1)) << 4);
}

/* One pixel's values, of which the tensor may lack some, or all. */
static inline void emulator_pixel(void *to, const emulator_box *b, const struct emulator_place *p,
				  unsigned number)
{
	const int x = p->at[1] + p->right, y = p->at[2] + p->down;
	const int inside = p->at[3] < (int)b->size[3] && x >= 0 && x < (int)b->size[1] && y >= 0 &&
			   y < (int)b->size[2];

	for (unsigned i = 0; i < b->channels * b->element; i++) {
		const unsigned byte = (unsigned)p->at[0] * b->element + i;
		char *place = emulator_swizzled(to, b->row, number * b->channels * b->element + i);

		*place = 0;
		if (inside && byte < b->size[0] * b->element)
			*place = b->tensor[(__SIZE_TYPE__)p->at[3] * b->stride[2] +
					   (__SIZE_TYPE__)y * b->stride[1] +
					   (__SIZE_TYPE__)x * b->stride[0] + byte];
	}
}

/* Pixels come in the order of columns, rows, images, within the corners. */
static inline void emulator_box_come(void *to, const emulator_box *b, struct emulator_place p)
{
	for (unsigned i = 0; i < b->pixels; i++) {
		emulator_pixel(to, b, &p, i);
		p.at[1] += (int)b->step[0];
		if (p.at[1] <= (int)b->size[1] - 1 + b->upper[0])
			continue;
		p.at[1] = b->lower[0];
		p.at[2] += (int)b->step[1];
		if (p.at[2] <= (int)b->size[2] - 1 + b->upper[1])
			continue;
		p.at[2] = b->lower[1];
		p.at[3]++;
	}
}

/* The thread arrives, and says how many bytes come. Nobody arrives twice in a phase. */
static inline void emulator_bulk_arrive(unsigned long long *b, unsigned bytes)
{
	struct emulator_barrier *barrier = (struct emulator_barrier *)b;
	unsigned come = 0;

	for (int i = 0; i < emulator_bulks.n; i++)
		if (emulator_bulks.copy[i].barrier == barrier)
			come += emulator_bulks.copy[i].bytes;
	if (come != bytes || barrier->arrived)
		__builtin_trap();
	barrier->arrived = 1;
}

/* The first one to wait for a phase makes its copies; a phase that nobody has arrived in would
 * never end. */
static inline void emulator_bulk_wait(unsigned long long *b, unsigned phase)
{
	struct emulator_barrier *barrier = (struct emulator_barrier *)b;
	struct emulator_bulks *s = &emulator_bulks;
	int left = 0;

	if (((unsigned)barrier->phase & 1) != phase)
		return;
	if (!barrier->arrived)
		__builtin_trap();
	for (int i = 0; i < s->n; i++)
		if (s->copy[i].barrier == barrier && s->copy[i].is_box)
			emulator_box_come(s->copy[i].to, (const emulator_box *)s->copy[i].from,
					  s->copy[i].place);
		else if (s->copy[i].barrier == barrier)
			memcpy(s->copy[i].to, s->copy[i].from, s->copy[i].bytes);
		else
			s->copy[left++] = s->copy[i];
	s->n = left;
	barrier->arrived = 0;
	barrier->phase++;
}

#endif
