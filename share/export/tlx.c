#include "tlx.h"

#include <cpuid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "tlx_kernels.h"

enum { LINE = 64, THREADS_ANYWHERE = 64, THREADS_EACH_CPU = 4 };

struct tlx {
	const struct tlx_op *op;
	const struct tlx_kernel *kernel;
	int threads;
	void *packed;		      /* all packed tensors, one behind the other */
	void *ready[TLX_MAX_SLOTS];   /* of each packed slot, in there */
	size_t offset[TLX_MAX_SLOTS]; /* of each workspace, in bytes of the scratch memory */
	size_t scratch_bytes;
	void *scratch;
};

/* ---- operators ---- */

size_t tlx_count(void)
{
	return tlx_table_size;
}

const struct tlx_op *tlx_at(size_t i)
{
	return i < tlx_table_size ? &tlx_table[i].op : NULL;
}

const struct tlx_op *tlx_find_typed(const char *op, const char *prob, const char *layout,
				    const char *post, const char *dtype)
{
	for (size_t i = 0; i < tlx_table_size; i++) {
		const struct tlx_op *o = &tlx_table[i].op;

		if (!strcmp(o->op, op) && !strcmp(o->prob, prob) &&
		    (!layout || !strcmp(o->layout, layout)) && (!post || !strcmp(o->post, post)) &&
		    (!dtype || !strcmp(o->dtype, dtype)))
			return o;
	}
	return NULL;
}

const struct tlx_op *tlx_find(const char *op, const char *prob, const char *layout,
			      const char *post)
{
	const struct tlx_op *o = tlx_find_typed(op, prob, layout, post, "f32");

	return o ? o : tlx_find_typed(op, prob, layout, post, NULL);
}

/* ---- types ---- */

size_t tlx_type_bytes(enum tlx_type type)
{
	switch (type) {
	case TLX_BF16:
	case TLX_S16:
		return 2;
	case TLX_S8:
	case TLX_U8:
	case TLX_U4:
		return 1;
	default:
		return 4;
	}
}

/* To the nearest, ties to even. NaN stays NaN. */
void tlx_to_bf16(const float *from, uint16_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t u;

		memcpy(&u, from + i, sizeof u);
		if ((u & 0x7fffffff) > 0x7f800000)
			to[i] = (uint16_t)(u >> 16 | 64);
		else
			to[i] = (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
	}
}

void tlx_from_bf16(const uint16_t *from, float *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t u = (uint32_t)from[i] << 16;

		memcpy(to + i, &u, sizeof u);
	}
}

/* The whole number that is nearest to x, or the end of the range. */
static long whole(float x, long least, long most)
{
	if (!(x > (float)least))
		return least;
	return x >= (float)most ? most : _mm_cvtss_si32(_mm_set_ss(x));
}

void tlx_from_floats(enum tlx_type type, const float *from, void *to, size_t n)
{
	if (type == TLX_F32)
		memcpy(to, from, n * sizeof *from);
	else if (type == TLX_BF16)
		tlx_to_bf16(from, to, n);
	else if (type == TLX_S32)
		for (size_t i = 0; i < n; i++)
			((int32_t *)to)[i] = (int32_t)whole(from[i], INT32_MIN, INT32_MAX);
	else if (type == TLX_S16)
		for (size_t i = 0; i < n; i++)
			((int16_t *)to)[i] = (int16_t)whole(from[i], INT16_MIN, INT16_MAX);
	else if (type == TLX_S8)
		for (size_t i = 0; i < n; i++)
			((int8_t *)to)[i] = (int8_t)whole(from[i], INT8_MIN, INT8_MAX);
	else
		for (size_t i = 0; i < n; i++)
			((uint8_t *)to)[i] =
				(uint8_t)whole(from[i], 0, type == TLX_U4 ? 15 : UINT8_MAX);
}

void tlx_to_floats(enum tlx_type type, const void *from, float *to, size_t n)
{
	if (type == TLX_F32)
		memcpy(to, from, n * sizeof *to);
	else if (type == TLX_BF16)
		tlx_from_bf16(from, to, n);
	else
		for (size_t i = 0; i < n; i++)
			to[i] = type == TLX_S32	  ? (float)((const int32_t *)from)[i]
				: type == TLX_S16 ? ((const int16_t *)from)[i]
				: type == TLX_S8  ? ((const int8_t *)from)[i]
						  : ((const uint8_t *)from)[i];
}

/* ---- the CPU ---- */

/* AVX512_BF16, which old compilers have no word for. */
static int has_bf16(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
}

/* AVX512_VNNI, which sums products of four numbers of 8 bits. */
static int has_vnni(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 11 & 1);
}

/* AMX with its products of bf16 and of whole numbers, and may this process use its tiles? Linux
 * gives them to who asks. */
static int has_amx(void)
{
	enum { ALL = 1 << 22 | 1 << 24 | 1 << 25, REQUEST = 0x1023, TILE_DATA = 18 };
	unsigned a, b, c, d;

	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & ALL) != ALL)
		return 0;
#ifdef SYS_arch_prctl
	return syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
#else
	return 0;
#endif
}

static enum tlx_isa isa_of_cpu(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
		return !has_vnni()   ? TLX_AVX512
		       : !has_bf16() ? TLX_AVX512_VNNI
		       : !has_amx()  ? TLX_AVX512_BF16
				     : TLX_AVX512_AMX;
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? TLX_AVX2
									       : TLX_SCALAR;
}

static enum tlx_isa isa_asked(void)
{
	static const char *const name[] = {[TLX_DEFINITION] = "definition",
					   [TLX_SCALAR] = "scalar",
					   [TLX_AVX2] = "avx2",
					   [TLX_AVX512] = "avx512",
					   [TLX_AVX512_VNNI] = "avx512_vnni",
					   [TLX_AVX512_BF16] = "avx512_bf16"};
	const char *isa = getenv("TLX_ISA");
	int i = 0;

	while (isa && i < TLX_AVX512_AMX && strcmp(isa, name[i]) != 0)
		i++;
	return isa ? (enum tlx_isa)i : TLX_AVX512_AMX;
}

static const struct tlx_kernel *choose(const struct tlx_op *op, enum tlx_isa most)
{
	const struct tlx_kernel *const *k = ((const struct tlx_entry *)op)->kernel;
	enum tlx_isa has = isa_of_cpu();

	while (k[1] && ((*k)->isa > most || (*k)->isa > has))
		k++;
	return *k;
}

/* ---- handles ---- */

static size_t lines(size_t bytes)
{
	return (bytes + LINE - 1) / LINE * LINE;
}

static void *aligned(size_t bytes)
{
	return aligned_alloc(LINE, bytes ? lines(bytes) : LINE);
}

static void lay_out(struct tlx *h)
{
	const struct tlx_kernel *k = h->kernel;

	for (int i = 0; i < k->nslots; i++) {
		size_t times = k->slot[i].kind == TLX_WORKSPACE ? (size_t)h->threads : 1;

		if (k->slot[i].kind < TLX_WORKSPACE)
			continue;
		h->offset[i] = h->scratch_bytes;
		h->scratch_bytes += lines(times * tlx_slot_bytes(&k->slot[i]));
	}
}

/* The constant that a slot is made of; NULL: it is none. */
static const float *constant(const struct tlx_op *op, const struct tlx_slot *s,
			     const struct tlx_constants *c)
{
	switch (s->kind) {
	case TLX_WEIGHTS:
		return op->rhs_computed ? NULL : c->weights;
	case TLX_BIAS:
		return c->bias;
	case TLX_SCALE:
		return c->scale;
	case TLX_SHIFT:
		return c->shift;
	case TLX_PAD:
		return c->pad;
	case TLX_ZEROS:
		return c->zeros;
	default:
		return NULL;
	}
}

static size_t kept_bytes(const struct tlx *h, const struct tlx_constants *c)
{
	size_t bytes = 0;

	for (int i = 0; i < h->kernel->nslots; i++)
		if (constant(h->op, &h->kernel->slot[i], c))
			bytes += lines(tlx_slot_bytes(&h->kernel->slot[i]));
	return bytes;
}

static void pack(const struct tlx_slot *s, const float *from, float *to)
{
	if (s->pack)
		s->pack(from, to);
	else
		memcpy(to, from, s->size * sizeof(float));
}

/* -1: there is no memory to pack what is rounded then. */
static int keep_slot(const struct tlx_slot *s, const float *from, void *to)
{
	float *made;

	if (s->type == TLX_F32) {
		pack(s, from, to);
		return 0;
	}
	made = aligned(s->size * sizeof(float));
	if (!made)
		return -1;
	pack(s, from, made);
	tlx_from_floats(s->type, made, to, s->size);
	free(made);
	return 0;
}

static int keep(struct tlx *h, const struct tlx_constants *c)
{
	char *to = h->packed;

	for (int i = 0; i < h->kernel->nslots; i++) {
		const struct tlx_slot *s = &h->kernel->slot[i];
		const float *from = constant(h->op, s, c);

		if (!from)
			continue;
		h->ready[i] = to;
		if (keep_slot(s, from, to))
			return -1;
		to += lines(tlx_slot_bytes(s));
	}
	return 0;
}

/* Threads that wait for each other by turns make seconds of microseconds. */
static int too_many(int threads)
{
	return threads > THREADS_ANYWHERE &&
	       threads > THREADS_EACH_CPU * sysconf(_SC_NPROCESSORS_ONLN);
}

static int lacks_constant(const struct tlx_op *op, const struct tlx_constants *c)
{
	return (op->weights && !op->rhs_computed && !c->weights) || (op->bias && !c->bias) ||
	       (op->scale && !c->scale) || (op->shift && !c->shift) || (op->pad && !c->pad) ||
	       (op->zeros && !c->zeros);
}

struct tlx *tlx_create_for(const struct tlx_op *op, const struct tlx_constants *constants,
			   int threads, enum tlx_isa most)
{
	struct tlx *h;

	if (!op || !constants || threads < 1 || too_many(threads) ||
	    lacks_constant(op, constants)) {
		errno = EINVAL;
		return NULL;
	}
	h = calloc(1, sizeof *h);
	if (!h)
		return NULL;
	h->op = op;
	h->kernel = choose(op, most);
	h->threads = h->kernel->alone ? 1 : threads;
	lay_out(h);
	h->packed = aligned(kept_bytes(h, constants));
	h->scratch = aligned(h->scratch_bytes);
	if (!h->packed || !h->scratch || keep(h, constants) || tlx_team_start(h->threads)) {
		tlx_destroy(h);
		errno = ENOMEM;
		return NULL;
	}
	memset(h->scratch, 0, h->scratch_bytes);
	return h;
}

struct tlx *tlx_create_with(const struct tlx_op *op, const struct tlx_constants *constants,
			    int threads)
{
	return tlx_create_for(op, constants, threads, isa_asked());
}

struct tlx *tlx_create(const struct tlx_op *op, const float *weights, const float *bias,
		       int threads)
{
	const struct tlx_constants c = {.weights = weights, .bias = bias};

	return tlx_create_with(op, &c, threads);
}

void tlx_destroy(struct tlx *h)
{
	if (!h)
		return;
	free(h->packed);
	free(h->scratch);
	free(h);
}

const char *tlx_kernel_name(const struct tlx *h)
{
	return h->kernel->name;
}

const struct tlx_kernel *tlx_kernel_of(const struct tlx *h)
{
	return h->kernel;
}

size_t tlx_scratch_bytes(const struct tlx *h)
{
	return h->scratch_bytes;
}

/* ---- calls ---- */

static void *operand(const struct tlx *h, int i, const struct tlx_data *d, void *scratch)
{
	switch (h->kernel->slot[i].kind) {
	case TLX_SRC:
		return (void *)d->src;
	case TLX_MUL:
		return (void *)d->mul;
	case TLX_ADD:
	case TLX_DST:
		return d->dst;
	case TLX_WEIGHTS:
		return h->op->rhs_computed ? (void *)d->rhs : h->ready[i];
	case TLX_BIAS:
	case TLX_SCALE:
	case TLX_SHIFT:
	case TLX_PAD:
	case TLX_ZEROS:
		return h->ready[i];
	default:
		return (char *)scratch + h->offset[i];
	}
}

int tlx_run_in(const struct tlx *h, const struct tlx_data *d, void *scratch)
{
	void *buffers[TLX_MAX_SLOTS];

	if (!d->src || !d->dst || (h->op->mul && !d->mul) || (h->op->rhs_computed && !d->rhs))
		return -1;
	for (int i = 0; i < h->kernel->nslots; i++)
		buffers[i] = operand(h, i, d, scratch);
	tlx_team_run(h->kernel, buffers, h->threads);
	return 0;
}

int tlx_run_data(struct tlx *h, const struct tlx_data *d)
{
	return tlx_run_in(h, d, h->scratch);
}

int tlx_run(struct tlx *h, const void *src, void *dst)
{
	const struct tlx_data d = {src, dst, NULL, NULL};

	return tlx_run_in(h, &d, h->scratch);
}
