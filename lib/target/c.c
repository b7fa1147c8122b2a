#include "lib/target/c.h"

#include <assert.h>
#include <stdio.h>

/* Vector types and what vectors need beyond C's operators. Masked accesses use the CPU's own where
 * it has them; builtins, because immintrin.h alone would cost more to compile than most kernels. */
static const char prelude[] =
	"typedef float v4 __attribute__((vector_size(16)));\n"
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
	"INLINE float max_v1(float a, float b) { return a > b ? a : b; }\n"
	"INLINE float min_v1(float a, float b) { return a < b ? a : b; }\n"
	"INLINE double max_d1(double a, double b) { return a > b ? a : b; }\n"
	"INLINE double min_d1(double a, double b) { return a < b ? a : b; }\n"
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
	/* a * 2^n: n is in the low bits of b, which is 1.5 * 2^23 + n. */
	"#define SCALE(V, N) \\\n"
	"INLINE V scale_##V(V a, V b) { typedef int I __attribute__((vector_size(4 * N))); \\\n"
	"return (V)((I)a + ((I)b << 23)); }\n"
	"SCALE(v4, 4) SCALE(v8, 8) SCALE(v16, 16)\n"
	"INLINE float scale_v1(float a, float b)\n"
	"{ union { float f; unsigned u; } x = {a}, y = {b}; x.u += y.u << 23; return x.f; }\n"
	"SELECT(v4, 4) PARTIAL(v4, 4)\n"
	"#ifdef __AVX2__\n"
	"INLINE v8 max_v8(v8 a, v8 b) { return __builtin_ia32_maxps256(a, b); }\n"
	"INLINE v8 min_v8(v8 a, v8 b) { return __builtin_ia32_minps256(a, b); }\n"
	"#else\n"
	"SELECT(v8, 8)\n"
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
	"INLINE v16 max_v16(v16 a, v16 b)\n"
	"{ return __builtin_ia32_maxps512_mask(a, b, a, -1, 4); }\n"
	"INLINE v16 min_v16(v16 a, v16 b)\n"
	"{ return __builtin_ia32_minps512_mask(a, b, a, -1, 4); }\n"
	"INLINE v16 loadn_v16(const float *p, long n)\n"
	"{ return __builtin_ia32_loadups512_mask(p, (v16){0}, (short)mask(n, 16)); }\n"
	"INLINE void storen_v16(float *p, v16 x, long n)\n"
	"{ __builtin_ia32_storeups512_mask(p, x, (short)mask(n, 16)); }\n"
	"#else\n"
	"SELECT(v16, 16) PARTIAL(v16, 16)\n"
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

struct printer {
	const struct nest *n;
	struct buf *out;
	int depth;
	int known[NEST_VARS]; /* the variable is a constant here */
	int64_t value[NEST_VARS];
};

static const char *elem_name(enum elem e)
{
	return e == ELEM_F64 ? "double" : "float";
}

static void indent(struct printer *p)
{
	for (int i = 0; i < p->depth; i++)
		buf_ch(p->out, '\t');
}

static void var_name(struct printer *p, int v)
{
	buf_str(p->out, p->n->var[v].name);
	buf_int(p->out, v);
}

static int is_known(const struct printer *p, int v, int64_t *value)
{
	const struct var *var = &p->n->var[v];

	if (var->kind == VAR_SYMBOL && !var->runtime) {
		*value = var->value;
		return 1;
	}
	*value = p->value[v];
	return p->known[v];
}

static void term(struct printer *p, int64_t coef, int sym, int var)
{
	if (coef != 1) {
		buf_int(p->out, coef);
		buf_str(p->out, " * ");
	}
	if (sym >= 0)
		var_name(p, sym);
	if (sym >= 0 && var >= 0)
		buf_str(p->out, " * ");
	if (var >= 0)
		var_name(p, var);
}

/* Folds what is constant here and prints the rest; a bare number if nothing is left. */
static void affine(struct printer *p, const struct affine *a)
{
	int64_t c = a->c, v;
	int printed = 0;

	for (int i = 0; i < a->n; i++) {
		int64_t coef = a->t[i].coef;
		int sym = a->t[i].sym, var = a->t[i].var;

		if (sym >= 0 && is_known(p, sym, &v)) {
			coef *= v;
			sym = -1;
		}
		if (var >= 0 && is_known(p, var, &v)) {
			coef *= v;
			var = -1;
		}
		if (!coef)
			continue;
		if (sym < 0 && var < 0) {
			c += coef;
			continue;
		}
		if (printed)
			buf_str(p->out, " + ");
		term(p, coef, sym, var);
		printed = 1;
	}
	if (!printed)
		buf_int(p->out, c);
	else if (c)
		buf_fmt(p->out, c < 0 ? " - %lld" : " + %lld", (long long)(c < 0 ? -c : c));
}

/* The constant value of an index that must be one (registers, bounds of unrolled loops). */
static int64_t constant(const struct printer *p, const struct affine *a)
{
	int64_t c = a->c, v;

	for (int i = 0; i < a->n; i++) {
		int64_t t = a->t[i].coef;
		int known = 1;

		if (a->t[i].sym >= 0) {
			known &= is_known(p, a->t[i].sym, &v);
			t *= v;
		}
		if (a->t[i].var >= 0) {
			known &= is_known(p, a->t[i].var, &v);
			t *= v;
		}
		assert(known || !t);
		c += t;
	}
	return c;
}

static void reg_name(struct printer *p, int buffer, int64_t i)
{
	const struct buffer *b = &p->n->buffer[buffer];

	buf_fmt(p->out, "%s%d_%lld_%lld", b->name, buffer, (long long)(i / b->cols),
		(long long)(i % b->cols));
}

static void buffer_name(struct printer *p, int buffer)
{
	buf_str(p->out, p->n->buffer[buffer].name);
	buf_int(p->out, buffer);
}

static void element(struct printer *p, int buffer, const struct affine *index)
{
	buffer_name(p, buffer);
	buf_ch(p->out, '[');
	affine(p, index);
	buf_ch(p->out, ']');
}

static void expr(struct printer *p, const struct expr *x);

static void call(struct printer *p, const char *f, const struct expr *x)
{
	buf_fmt(p->out, "%s_%c%d(", f, x->elem == ELEM_F64 ? 'd' : 'v', x->lanes);
	expr(p, x->a);
	if (x->b) {
		buf_str(p->out, ", ");
		expr(p, x->b);
	}
	buf_ch(p->out, ')');
}

static void load(struct printer *p, const struct expr *x)
{
	if (p->n->buffer[x->buffer].kind == BUFFER_REG) {
		reg_name(p, x->buffer, constant(p, &x->index));
	} else if (x->valid) {
		buf_fmt(p->out, "loadn_v%d(&", x->lanes);
		element(p, x->buffer, &x->index);
		buf_str(p->out, ", ");
		affine(p, x->valid);
		buf_ch(p->out, ')');
	} else {
		if (x->lanes > 1)
			buf_fmt(p->out, "*(const v%du *)&", x->lanes);
		element(p, x->buffer, &x->index);
	}
}

static void infix(struct printer *p, const struct expr *a, const char *op, const struct expr *b)
{
	expr(p, a);
	buf_str(p->out, op);
	expr(p, b);
}

static void constant_expr(struct printer *p, const struct expr *x)
{
	if (x->lanes == 1)
		buf_fmt(p->out, x->elem == ELEM_F64 ? "%.17g" : "(float)%.17g", x->value);
	else if (x->value == 0)
		buf_fmt(p->out, "(v%d){0}", x->lanes);
	else
		buf_fmt(p->out, "bcast_v%d((float)%.17g)", x->lanes, x->value);
}

static void spread(struct printer *p, const struct expr *x)
{
	int64_t index = constant(p, &x->index);

	if (x->lanes == 1) {
		expr(p, x->a);
		return;
	}
	buf_str(p->out, "__builtin_shufflevector(");
	expr(p, x->a);
	buf_fmt(p->out, ", (v%d){0}", x->lanes);
	for (int i = 0; i < x->lanes; i++)
		buf_fmt(p->out, ", %d", ex_spread_from(x, index, i));
	buf_ch(p->out, ')');
}

static void exchange(struct printer *p, const struct expr *x)
{
	buf_str(p->out, "__builtin_shufflevector(");
	infix(p, x->a, ", ", x->b);
	for (int i = 0; i < x->lanes; i++)
		buf_fmt(p->out, ", %d", ex_exchange_from(x, i));
	buf_ch(p->out, ')');
}

static void expr(struct printer *p, const struct expr *x)
{
	switch (x->kind) {
	case EXPR_CONST:
		constant_expr(p, x);
		return;
	case EXPR_LOAD:
		load(p, x);
		return;
	case EXPR_BCAST:
		call(p, "bcast", x);
		return;
	case EXPR_SPREAD:
		spread(p, x);
		return;
	case EXPR_EXCHANGE:
		exchange(p, x);
		return;
	case EXPR_MAX:
		call(p, "max", x);
		return;
	case EXPR_MIN:
		call(p, "min", x);
		return;
	case EXPR_SCALE:
		call(p, "scale", x);
		return;
	case EXPR_EXP:
	case EXPR_ERFC:
		buf_str(p->out, x->kind == EXPR_EXP ? "__builtin_exp(" : "__builtin_erfc(");
		expr(p, x->a);
		buf_ch(p->out, ')');
		return;
	case EXPR_WIDEN:
		buf_str(p->out, "(double)");
		expr(p, x->a);
		return;
	case EXPR_NARROW:
		buf_str(p->out, "(float)(");
		expr(p, x->a);
		buf_ch(p->out, ')');
		return;
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
		buf_ch(p->out, '(');
		infix(p, x->a,
		      x->kind == EXPR_ADD   ? " + "
		      : x->kind == EXPR_SUB ? " - "
		      : x->kind == EXPR_DIV ? " / "
					    : " * ",
		      x->b);
		buf_ch(p->out, ')');
		return;
	case EXPR_FMA:
		buf_ch(p->out, '(');
		infix(p, x->a, " * ", x->b);
		buf_str(p->out, " + ");
		expr(p, x->c);
		buf_ch(p->out, ')');
		return;
	}
}

static void nodes(struct printer *p, const struct node *t);

static void store(struct printer *p, const struct node *t)
{
	const struct buffer *b = &p->n->buffer[t->buffer];

	indent(p);
	if (b->kind == BUFFER_REG) {
		reg_name(p, t->buffer, constant(p, &t->a));
		buf_str(p->out, " = ");
		expr(p, t->value);
	} else if (t->valid) {
		buf_fmt(p->out, "storen_v%d(&", t->value->lanes);
		element(p, t->buffer, &t->a);
		buf_str(p->out, ", ");
		expr(p, t->value);
		buf_str(p->out, ", ");
		affine(p, t->valid);
		buf_ch(p->out, ')');
	} else {
		if (t->value->lanes > 1)
			buf_fmt(p->out, "*(v%du *)&", t->value->lanes);
		element(p, t->buffer, &t->a);
		buf_str(p->out, " = ");
		expr(p, t->value);
	}
	buf_str(p->out, ";\n");
}

static void unrolled(struct printer *p, const struct node *t)
{
	int64_t lo = constant(p, &t->a), hi = constant(p, &t->b);

	p->known[t->var] = 1;
	for (int64_t i = lo; i < hi; i++) {
		p->value[t->var] = i;
		nodes(p, t->body);
	}
	p->known[t->var] = 0;
}

static void run(struct printer *p, const struct node *t)
{
	const struct node *s = t->body;
	const struct expr *x = s->value;

	p->known[t->var] = 1;
	p->value[t->var] = 0;
	indent(p);
	buf_fmt(p->out, "%s_v%d(&", x->kind == EXPR_LOAD ? "copy" : "zero", x->lanes);
	element(p, s->buffer, &s->a);
	if (x->kind == EXPR_LOAD) {
		buf_str(p->out, ", &");
		element(p, x->buffer, &x->index);
	}
	buf_str(p->out, ", ");
	affine(p, s->valid);
	p->known[t->var] = 0;
	buf_str(p->out, ", ");
	affine(p, &t->b);
	buf_str(p->out, ");\n");
}

static void serial(struct printer *p, const struct node *t)
{
	if (nest_is_run(p->n, t)) {
		run(p, t);
		return;
	}
	if (t->unroll > 1) {
		indent(p);
		buf_fmt(p->out, "#pragma GCC unroll %d\n", t->unroll);
	}
	indent(p);
	buf_str(p->out, "for (long ");
	var_name(p, t->var);
	buf_str(p->out, " = ");
	affine(p, &t->a);
	buf_str(p->out, "; ");
	var_name(p, t->var);
	buf_str(p->out, " < ");
	affine(p, &t->b);
	buf_str(p->out, "; ");
	var_name(p, t->var);
	buf_str(p->out, "++) {\n");
	p->depth++;
	nodes(p, t->body);
	p->depth--;
	indent(p);
	buf_str(p->out, "}\n");
}

static int is_parallel(const struct node *t)
{
	return t && t->kind == NODE_FOR && t->loop == LOOP_PARALLEL && !t->next;
}

/* Parallel loops nested directly: one iteration space, a contiguous stretch of it for each thread.
 */
static void parallel(struct printer *p, const struct node *t)
{
	const struct node *loop[8], *last = t;
	int n = 0;

	do {
		assert(n < 8);
		loop[n++] = last;
		last = last->body;
	} while (is_parallel(last));
	indent(p);
	buf_str(p->out, "{\n");
	indent(p);
	buf_str(p->out, "long work = 1;\n");
	for (int i = 0; i < n; i++) {
		indent(p);
		buf_str(p->out, "const long n_");
		var_name(p, loop[i]->var);
		buf_str(p->out, " = ");
		affine(p, &loop[i]->b);
		buf_str(p->out, " - (");
		affine(p, &loop[i]->a);
		buf_str(p->out, ");\n");
		indent(p);
		buf_str(p->out, "work *= n_");
		var_name(p, loop[i]->var);
		buf_str(p->out, ";\n");
	}
	indent(p);
	buf_str(p->out, "for (long w = work * thread / threads; "
			"w < work * (thread + 1) / threads; w++) {\n");
	p->depth++;
	indent(p);
	buf_str(p->out, "long rest = w;\n");
	for (int i = n - 1; i >= 0; i--) {
		indent(p);
		buf_str(p->out, "const long ");
		var_name(p, loop[i]->var);
		buf_str(p->out, " = rest % n_");
		var_name(p, loop[i]->var);
		buf_str(p->out, " + (");
		affine(p, &loop[i]->a);
		buf_str(p->out, ");\n");
		indent(p);
		buf_str(p->out, "rest /= n_");
		var_name(p, loop[i]->var);
		buf_str(p->out, ";\n");
	}
	nodes(p, loop[n - 1]->body);
	p->depth--;
	indent(p);
	buf_str(p->out, "}\n");
	indent(p);
	buf_str(p->out, "}\n");
}

static void branch(struct printer *p, const struct node *t)
{
	indent(p);
	buf_str(p->out, "if (");
	affine(p, &t->a);
	buf_str(p->out, " < ");
	affine(p, &t->b);
	buf_str(p->out, ") {\n");
	p->depth++;
	nodes(p, t->body);
	p->depth--;
	if (t->orelse) {
		indent(p);
		buf_str(p->out, "} else {\n");
		p->depth++;
		nodes(p, t->orelse);
		p->depth--;
	}
	indent(p);
	buf_str(p->out, "}\n");
}

static void let(struct printer *p, const struct node *t)
{
	indent(p);
	buf_str(p->out, "const long ");
	var_name(p, t->var);
	buf_str(p->out, " = ");
	affine(p, &t->a);
	if (t->has_b) {
		buf_str(p->out, " < ");
		affine(p, &t->b);
		buf_str(p->out, " ? ");
		affine(p, &t->a);
		buf_str(p->out, " : ");
		affine(p, &t->b);
	}
	buf_str(p->out, ";\n");
}

static void view(struct printer *p, const struct node *t)
{
	const struct buffer *b = &p->n->buffer[nest_base(p->n, t->buffer)];

	indent(p);
	buf_fmt(p->out, "%s%s *const ",
		b->kind == BUFFER_PACKED || (b->kind == BUFFER_ARG && !b->written) ? "const " : "",
		elem_name(b->elem));
	buffer_name(p, t->buffer);
	buf_str(p->out, " = &");
	element(p, p->n->buffer[t->buffer].base, &t->a);
	buf_str(p->out, ";\n");
}

static void prefetch(struct printer *p, const struct node *t)
{
	indent(p);
	buf_str(p->out, "__builtin_prefetch(&");
	element(p, t->buffer, &t->a);
	buf_str(p->out, ");\n");
}

static void nodes(struct printer *p, const struct node *t)
{
	for (; t; t = t->next) {
		switch (t->kind) {
		case NODE_FOR:
			if (t->loop == LOOP_UNROLL)
				unrolled(p, t);
			else if (t->loop == LOOP_PARALLEL)
				parallel(p, t);
			else
				serial(p, t);
			break;
		case NODE_IF:
			branch(p, t);
			break;
		case NODE_LET:
			let(p, t);
			break;
		case NODE_VIEW:
			view(p, t);
			break;
		case NODE_STORE:
			store(p, t);
			break;
		case NODE_PREFETCH:
			prefetch(p, t);
			break;
		case NODE_SYNC:
			buf_str(p->out, "\tif (threads > 1)\n\t\tbarrier();\n");
			break;
		}
	}
}

/* What other threads write between two uses is not this pointer's alone. */
static const char *restricted(const struct printer *p, const struct buffer *b)
{
	return b->kind != BUFFER_TEAM && !(b->written && p->n->nphases > 1) ? "restrict " : "";
}

static void declare_buffer(struct printer *p, int i)
{
	const struct buffer *b = &p->n->buffer[i];

	switch (b->kind) {
	case BUFFER_ARG:
	case BUFFER_PACKED:
	case BUFFER_TEAM:
		buf_fmt(p->out, "\t%s%s *const %s",
			b->written || b->kind == BUFFER_TEAM ? "" : "const ", elem_name(b->elem),
			restricted(p, b));
		buffer_name(p, i);
		buf_fmt(p->out, " = buffers[%d];\n", b->slot);
		break;
	case BUFFER_WORK:
		buf_fmt(p->out, "\t%s *const restrict ", elem_name(b->elem));
		buffer_name(p, i);
		buf_fmt(p->out, " = (%s *)buffers[%d] + thread * params[%d];\n", elem_name(b->elem),
			b->slot, b->stride_param);
		break;
	case BUFFER_REG:
		if (b->lanes == 1)
			buf_fmt(p->out, "\t%s ", elem_name(b->elem));
		else
			buf_fmt(p->out, "\tv%d ", b->lanes);
		for (int64_t r = 0; r < b->size; r++) {
			if (r)
				buf_str(p->out, ", ");
			reg_name(p, i, r);
		}
		buf_str(p->out, ";\n");
		break;
	case BUFFER_VIEW:
		break;
	}
}

const char *c_prelude(void)
{
	return prelude;
}

void c_print(const struct nest *n, struct buf *out)
{
	struct printer p = {.n = n, .out = out, .depth = 1};

	buf_str(out, "\nvoid KERNEL(const long *params, void *const *buffers, long thread, long "
		     "threads, "
		     "void (*barrier)(void))\n{\n\t(void)barrier;\n");
	for (int i = 0; i < n->nvars; i++) {
		if (n->var[i].kind != VAR_SYMBOL || !n->var[i].runtime)
			continue;
		buf_str(out, "\tconst long ");
		var_name(&p, i);
		buf_fmt(out, " = params[%d];\n", n->var[i].param);
	}
	for (int i = 0; i < n->nbuffers; i++)
		declare_buffer(&p, i);
	nodes(&p, n->body);
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
