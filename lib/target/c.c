#include "lib/target/c.h"

#include <assert.h>

#include "lib/target/c_bf16.h"
#include "lib/target/c_tmul.h"
#include "lib/target/c_whole.h"
#include "lib/target/text.h"

/* Vector types and what vectors need beyond C's operators. Masked accesses use the CPU's own where
 * it has them; builtins, because immintrin.h alone would cost more to compile than most kernels. */
static const char prelude[] =
	"typedef float v4 __attribute__((vector_size(16)));\n"
	"typedef float v2u __attribute__((vector_size(8), aligned(4), may_alias));\n"
	"typedef float v2 __attribute__((vector_size(8)));\n"
	"typedef float v8 __attribute__((vector_size(32)));\n"
	"typedef float v16 __attribute__((vector_size(64)));\n"
	"typedef float v4u __attribute__((vector_size(16), aligned(4), may_alias));\n"
	"typedef float v8u __attribute__((vector_size(32), aligned(4), may_alias));\n"
	"typedef float v16u __attribute__((vector_size(64), aligned(4), may_alias));\n"
	"#define RUN static __attribute__((noinline, unused))\n"
	"#define STRING_(x) #x\n"
	"#define STRING(x) STRING_(x)\n"
	"#define INLINE static inline __attribute__((always_inline, unused))\n"
	"INLINE float bcast_v1(float x) { return x; }\n"
	"INLINE v4 bcast_v4(float x) { return (v4){x, x, x, x}; }\n"
	"INLINE v8 bcast_v8(float x) { return (v8){x, x, x, x, x, x, x, x}; }\n"
	"INLINE v16 bcast_v16(float x)\n"
	"{ return (v16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }\n"
	"#define lane(x, i) ((x)[i])\n"
	"INLINE float max_v1(float a, float b) { return a > b ? a : b; }\n"
	"INLINE float min_v1(float a, float b) { return a < b ? a : b; }\n"
	"INLINE double max_d1(double a, double b) { return a > b ? a : b; }\n"
	"INLINE double min_d1(double a, double b) { return a < b ? a : b; }\n"
	"INLINE double root_d1(double a) { return __builtin_sqrt(a); }\n"
	/* Of a number the comparison is 0 in all bits, and 1 of NaN, which makes another NaN. */
	"#define UNORDERED(V, N) \\\n"
	"INLINE V nan_##V(V a, V b) { typedef int I __attribute__((vector_size(4 * N))); \\\n"
	"return (V)((I)(a != a) | (I)b); }\n"
	"UNORDERED(v4, 4) UNORDERED(v8, 8) UNORDERED(v16, 16)\n"
	"INLINE float nan_v1(float a, float b) { return a != a ? a : b; }\n"
	"#define SELECT(V, N) \\\n"
	"typedef int V##i __attribute__((vector_size(4 * N))); \\\n"
	"INLINE V max_##V(V a, V b) { V##i m = a > b; return (V)((m & (V##i)a) | (~m & (V##i)b)); "
	"} \\\n"
	"INLINE V min_##V(V a, V b) { V##i m = a < b; return (V)((m & (V##i)a) | (~m & (V##i)b)); "
	"}\n"
	"#define PARTIAL(V, N) \\\n"
	"INLINE V loadn_##V(const float *p, long n) \\\n"
	"{ V x = {0}; for (long i = 0; i < N; i++) if (i < n) x[i] = p[i]; return x; } \\\n"
	"INLINE void storen_##V(float *p, V x, long n) \\\n"
	"{ if (n >= N) *(V##u *)p = x; else for (long i = 0; i < n; i++) p[i] = x[i]; }\n"
	/* The lowest n of `most` bits, without a branch: hundreds of them would cost the compiler
	 * more than the rest of a kernel. */
	"INLINE unsigned mask(long n, long most)\n"
	"{ n = n < 0 ? 0 : n; n = n > most ? most : n; return (1u << n) - 1; }\n"
	/* 2^n: its exponent is in the low bits of a, which is 1.5 * 2^23 + 127 + n. */
	"#define POWER(V, N) \\\n"
	"INLINE V power_##V(V a) { typedef int I __attribute__((vector_size(4 * N))); \\\n"
	"return (V)((I)a << 23); }\n"
	"POWER(v4, 4) POWER(v8, 8) POWER(v16, 16)\n"
	"#define ROOTS(V, N) \\\n"
	"INLINE V root_##V(V a) { for (int i = 0; i < N; i++) a[i] = root_v1(a[i]); return a; }\n"
	"INLINE float power_v1(float a)\n"
	"{ union { float f; unsigned u; } x = {a}; x.u <<= 23; return x.f; }\n"
	/* By the CPU's own instruction: no library is linked. */
	"#ifdef __SSE2__\n"
	"INLINE v4 root_v4(v4 a) { return __builtin_ia32_sqrtps(a); }\n"
	"INLINE float root_v1(float a) { return root_v4((v4){a, 1, 1, 1})[0]; }\n"
	"#else\n"
	"INLINE float root_v1(float a) { return __builtin_sqrtf(a); }\n"
	"ROOTS(v4, 4)\n"
	"#endif\n"
	"SELECT(v4, 4) PARTIAL(v4, 4)\n"
	"#ifdef __AVX2__\n"
	"INLINE v8 root_v8(v8 a) { return __builtin_ia32_sqrtps256(a); }\n"
	"INLINE v8 max_v8(v8 a, v8 b) { return __builtin_ia32_maxps256(a, b); }\n"
	"INLINE v8 min_v8(v8 a, v8 b) { return __builtin_ia32_minps256(a, b); }\n"
	"#else\n"
	"ROOTS(v8, 8) SELECT(v8, 8)\n"
	"#endif\n"
	"#if defined __AVX512VL__\n"
	"INLINE v8 loadn_v8(const float *p, long n)\n"
	"{ return __builtin_ia32_loadups256_mask(p, (v8){0}, (char)mask(n, 8)); }\n"
	"INLINE void storen_v8(float *p, v8 x, long n)\n"
	"{ __builtin_ia32_storeups256_mask(p, x, (char)mask(n, 8)); }\n"
	"#elif defined __AVX2__\n"
	"typedef int v8i __attribute__((vector_size(32)));\n"
	"typedef int v8iu __attribute__((vector_size(32), aligned(4)));\n"
	"static const int lanes_v8[16] = {-1, -1, -1, -1, -1, -1, -1, -1};\n"
	"INLINE v8i mask_v8(long n)\n"
	"{ n = n < 0 ? 0 : n; n = n > 8 ? 8 : n; return *(const v8iu *)&lanes_v8[8 - n]; }\n"
	"INLINE v8 loadn_v8(const float *p, long n)\n"
	"{ return __builtin_ia32_maskloadps256((const v8 *)p, mask_v8(n)); }\n"
	"INLINE void storen_v8(float *p, v8 x, long n)\n"
	"{ __builtin_ia32_maskstoreps256((v8 *)p, mask_v8(n), x); }\n"
	"#else\n"
	"PARTIAL(v8, 8)\n"
	"#endif\n"
	"#ifdef __AVX512F__\n"
	"INLINE v16 root_v16(v16 a)\n"
	"{ return __builtin_ia32_sqrtps512_mask(a, a, -1, 4); }\n"
	"INLINE v16 max_v16(v16 a, v16 b)\n"
	"{ return __builtin_ia32_maxps512_mask(a, b, a, -1, 4); }\n"
	"INLINE v16 min_v16(v16 a, v16 b)\n"
	"{ return __builtin_ia32_minps512_mask(a, b, a, -1, 4); }\n"
	"INLINE v16 loadn_v16(const float *p, long n)\n"
	"{ return __builtin_ia32_loadups512_mask(p, (v16){0}, (short)mask(n, 16)); }\n"
	"INLINE void storen_v16(float *p, v16 x, long n)\n"
	"{ __builtin_ia32_storeups512_mask(p, x, (short)mask(n, 16)); }\n"
	"#else\n"
	"ROOTS(v16, 16) SELECT(v16, 16) PARTIAL(v16, 16)\n"
	"#endif\n"
	/* Runs of floats, as they are copied in packing: one function for all of them. */
	"#define RUNS(V, N) \\\n"
	"RUN void copy_##V(float *to, const float *from, long n, long vectors) \\\n"
	"{ for (long i = 0; i < N * vectors; i += N) \\\n"
	"  storen_##V(to + i, loadn_##V(from + i, n - i), n - i); } \\\n"
	"RUN void zero_##V(float *to, long n, long vectors) \\\n"
	"{ for (long i = 0; i < N * vectors; i += N) storen_##V(to + i, (V){0}, n - i); }\n"
	"RUNS(v4, 4) RUNS(v8, 8) RUNS(v16, 16)\n"
	"INLINE float loadn_v1(const float *p, long n) { return n > 0 ? *p : 0; }\n"
	"INLINE void storen_v1(float *p, float x, long n) { if (n > 0) *p = x; }\n";

static enum elem elem_at(const struct text *p, int buffer)
{
	return p->n->buffer[nest_base(p->n, buffer)].elem;
}

static int is_other(const struct text *p, int buffer)
{
	return !elem_is_float(elem_at(p, buffer));
}

/* Do whole numbers of 8 bits become wider? */
static int widens(const struct text *p, const struct node *s)
{
	const enum elem from = elem_at(p, s->value->buffer);

	return elem_at(p, s->buffer) == ELEM_S16 && (from == ELEM_U8 || from == ELEM_S8);
}

/* A run for which the prelude has a function: of what is there in single precision, none is
 * rounded. */
static int is_run(const struct text *p, const struct node *t)
{
	const struct node *s = t->body;

	return nest_is_run(p->n, t) &&
	       (!is_other(p, s->buffer) || s->value->kind == EXPR_CONST || widens(p, s) ||
		elem_at(p, s->buffer) == elem_at(p, s->value->buffer));
}

static void run(struct text *p, const struct node *t)
{
	const struct node *s = t->body;
	const struct expr *x = s->value;

	p->known[t->var] = 1;
	p->value[t->var] = 0;
	text_indent(p);
	buf_fmt(p->out, "%s_v%d", x->kind == EXPR_LOAD ? "copy" : "zero", x->lanes);
	if (is_other(p, s->buffer) || (x->kind == EXPR_LOAD && is_other(p, x->buffer)))
		buf_fmt(p->out, "_%s", text_elem(elem_at(p, s->buffer)));
	if (x->kind == EXPR_LOAD && is_other(p, x->buffer))
		buf_fmt(p->out, "_%s", text_elem(elem_at(p, x->buffer)));
	buf_str(p->out, "(&");
	text_element(p, s->buffer, &s->a);
	if (x->kind == EXPR_LOAD) {
		buf_str(p->out, ", &");
		text_element(p, x->buffer, &x->index);
	}
	buf_str(p->out, ", ");
	text_affine(p, s->valid);
	p->known[t->var] = 0;
	buf_str(p->out, ", ");
	text_affine(p, &t->b);
	buf_str(p->out, ");\n");
}

static void serial(struct text *p, const struct node *t)
{
	if (is_run(p, t)) {
		run(p, t);
		return;
	}
	if (t->unroll > 1) {
		text_indent(p);
		buf_fmt(p->out, "#pragma GCC unroll %d\n", t->unroll);
	}
	text_loop(p, t);
}

static int is_parallel(const struct node *t)
{
	return t && t->kind == NODE_FOR && t->loop == LOOP_PARALLEL && !t->next;
}

/* Parallel loops nested directly: one iteration space, a contiguous stretch of it for each thread.
 */
static void parallel(struct text *p, const struct node *t)
{
	const struct node *loop[8], *last = t;
	int n = 0;

	do {
		assert(n < 8);
		loop[n++] = last;
		last = last->body;
	} while (is_parallel(last));
	text_indent(p);
	buf_str(p->out, "{\n");
	text_indent(p);
	buf_str(p->out, "long work = 1;\n");
	for (int i = 0; i < n; i++) {
		text_indent(p);
		buf_str(p->out, "const long n_");
		text_var(p, loop[i]->var);
		buf_str(p->out, " = ");
		text_affine(p, &loop[i]->b);
		buf_str(p->out, " - (");
		text_affine(p, &loop[i]->a);
		buf_str(p->out, ");\n");
		text_indent(p);
		buf_str(p->out, "work *= n_");
		text_var(p, loop[i]->var);
		buf_str(p->out, ";\n");
	}
	text_indent(p);
	buf_str(p->out, "for (long w = work * thread / threads; "
			"w < work * (thread + 1) / threads; w++) {\n");
	p->depth++;
	text_indent(p);
	buf_str(p->out, "long rest = w;\n");
	for (int i = n - 1; i >= 0; i--) {
		text_indent(p);
		buf_str(p->out, "const long ");
		text_var(p, loop[i]->var);
		buf_str(p->out, " = rest % n_");
		text_var(p, loop[i]->var);
		buf_str(p->out, " + (");
		text_affine(p, &loop[i]->a);
		buf_str(p->out, ");\n");
		text_indent(p);
		buf_str(p->out, "rest /= n_");
		text_var(p, loop[i]->var);
		buf_str(p->out, ";\n");
	}
	text_nodes(p, loop[n - 1]->body);
	p->depth--;
	text_indent(p);
	buf_str(p->out, "}\n");
	text_indent(p);
	buf_str(p->out, "}\n");
}

static void prefetch(struct text *p, const struct node *t)
{
	text_indent(p);
	buf_str(p->out, "__builtin_prefetch(&");
	text_element(p, t->buffer, &t->a);
	buf_str(p->out, t->far ? ", 0, 2);\n" : ");\n");
}

static void sync(struct text *p)
{
	buf_str(p->out, "\tif (threads > 1)\n\t\tbarrier();\n");
}

static const char *space(const struct nest *n, int buffer)
{
	(void)n, (void)buffer;
	return "";
}

/* No target of this printer has TARGET_BLOCKS. */
static void thread(struct text *p, const struct node *t)
{
	(void)p, (void)t;
	assert(0);
}

static const struct dialect gnu_c = {
	.integer = "long",
	.space = space,
	.parallel = parallel,
	.thread = thread,
	.serial = serial,
	.prefetch = prefetch,
	.sync = sync,
	.tile = c_tmul,
};

/* What other threads write between two uses is not this pointer's alone. */
static const char *restricted(const struct text *p, const struct buffer *b)
{
	return b->kind != BUFFER_TEAM && !(b->written && p->n->nphases > 1) ? "restrict " : "";
}

static void declare_buffer(struct text *p, int i)
{
	const struct buffer *b = &p->n->buffer[i];

	switch (b->kind) {
	case BUFFER_ARG:
	case BUFFER_PACKED:
	case BUFFER_TEAM:
		buf_fmt(p->out, "\t%s%s *const %s",
			b->written || b->kind == BUFFER_TEAM ? "" : "const ", text_elem(b->elem),
			restricted(p, b));
		text_buffer(p, i);
		buf_fmt(p->out, " = buffers[%d];\n", b->slot);
		break;
	case BUFFER_WORK:
		buf_fmt(p->out, "\t%s *const restrict ", text_elem(b->elem));
		text_buffer(p, i);
		buf_fmt(p->out, " = (%s *)buffers[%d] + thread * params[%d];\n", text_elem(b->elem),
			b->slot, b->stride_param);
		break;
	case BUFFER_REG:
		if (b->tile_rows)
			c_tmul_declare(p, i);
		else
			text_declare_registers(p, i);
		break;
	case BUFFER_VIEW:
	case BUFFER_BLOCK:
		break;
	}
}

const char *c_prelude(void)
{
	return prelude;
}

static int has_elem(const struct nest *n, enum elem elem)
{
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].elem == elem)
			return 1;
	return 0;
}

void c_print(const struct nest *n, struct buf *out)
{
	struct text p = {.n = n, .out = out, .d = &gnu_c, .depth = 1};

	if (has_elem(n, ELEM_BF16))
		buf_fmt(out, "\n%s%s", c_group_words(), c_bf16_words());
	if (has_elem(n, ELEM_S8) || has_elem(n, ELEM_U8) || has_elem(n, ELEM_S32))
		buf_fmt(out, "\n%s%s", c_group_words(), c_whole_words());
	c_tmul_words(n, out);
	buf_str(out, "\nvoid KERNEL(const long *params, void *const *buffers, long thread, long "
		     "threads, "
		     "void (*barrier)(void))\n{\n\t(void)barrier;\n");
	for (int i = 0; i < n->nvars; i++) {
		if (n->var[i].kind != VAR_SYMBOL || !n->var[i].runtime)
			continue;
		buf_str(out, "\tconst long ");
		text_var(&p, i);
		buf_fmt(out, " = params[%d];\n", n->var[i].param);
	}
	for (int i = 0; i < n->nbuffers; i++)
		declare_buffer(&p, i);
	text_nodes(&p, n->body);
	buf_str(out, "}\n");
}

void c_params(const struct nest *n, long *params)
{
	for (int i = 0; i < n->nvars; i++)
		if (n->var[i].kind == VAR_SYMBOL && n->var[i].runtime)
			params[n->var[i].param] = (long)n->var[i].value;
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_WORK)
			params[n->buffer[i].stride_param] = (long)n->buffer[i].size;
}
