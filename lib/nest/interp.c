#include "lib/nest/interp.h"

#include <math.h>
#include <stdlib.h>

enum { LANES = 16 };

struct value {
	double v[LANES];
};

struct interp {
	const struct nest *n;
	float *const *buffers;
	double *reg[NEST_BUFFERS];    /* register arrays, lanes apart */
	int64_t offset[NEST_BUFFERS]; /* of views */
	int64_t var[NEST_VARS];
	struct err *e;
};

static int64_t eval(const struct interp *s, const struct affine *a)
{
	return af_eval(s->n, a, s->var);
}

static int valid_lanes(const struct interp *s, const struct affine *valid, int lanes)
{
	int64_t v = valid ? eval(s, valid) : lanes;

	return v > lanes ? lanes : v < 0 ? 0 : (int)v;
}

/* Finds the memory of buffer[index .. index + lanes): *f for memory, *r for registers. */
static int locate(struct interp *s, int buffer, int64_t index, int lanes, float **f, double **r)
{
	const struct buffer *b = &s->n->buffer[buffer];

	if (b->kind == BUFFER_VIEW) {
		index += s->offset[buffer];
		b = &s->n->buffer[nest_base(s->n, buffer)];
	}
	if (b->kind == BUFFER_REG) {
		if (index < 0 || index >= b->size || lanes != b->lanes)
			return err_set(s->e, "register %s[%lld] with %d lanes is outside %lld x %d",
				       b->name, (long long)index, lanes, (long long)b->size,
				       b->lanes);
		*r = s->reg[b - s->n->buffer] + index * b->lanes;
		return 0;
	}
	if (lanes && (index < 0 || index + lanes > b->size))
		return err_set(s->e, "access %s[%lld .. %lld] is outside its %lld elements",
			       b->name, (long long)index, (long long)index + lanes - 1,
			       (long long)b->size);
	*f = s->buffers[b->slot] + index;
	return 0;
}

static int load(struct interp *s, const struct expr *x, struct value *out)
{
	double *r = NULL;
	float *f = NULL;
	int count = valid_lanes(s, x->valid, x->lanes);

	if (locate(s, x->buffer, eval(s, &x->index), x->valid ? count : x->lanes, &f, &r) < 0)
		return -1;
	for (int i = 0; i < x->lanes; i++)
		out->v[i] = i >= count ? 0 : r ? r[i] : (double)f[i];
	return 0;
}

static double apply(enum expr_kind kind, double a, double b, double c)
{
	switch (kind) {
	case EXPR_ADD:
		return a + b;
	case EXPR_SUB:
		return a - b;
	case EXPR_MUL:
		return a * b;
	case EXPR_MAX:
		return a > b ? a : b;
	case EXPR_MIN:
		return a < b ? a : b;
	case EXPR_FMA:
		return a * b + c;
	default:
		return a;
	}
}

static int expr(struct interp *s, const struct expr *x, struct value *out)
{
	struct value a, b = {{0}}, c = {{0}};

	if (x->kind == EXPR_LOAD)
		return load(s, x, out);
	if (x->kind == EXPR_CONST) {
		for (int i = 0; i < x->lanes; i++)
			out->v[i] = x->value;
		return 0;
	}
	if (expr(s, x->a, &a) < 0 || (x->b && expr(s, x->b, &b) < 0) ||
	    (x->c && expr(s, x->c, &c) < 0))
		return -1;
	for (int i = 0; i < x->lanes; i++) {
		double v = apply(x->kind, a.v[x->kind == EXPR_BCAST ? 0 : i], b.v[i], c.v[i]);

		out->v[i] = x->elem == ELEM_F32 ? (double)(float)v : v;
	}
	return 0;
}

static int store(struct interp *s, const struct node *t)
{
	int lanes = t->value->lanes, count = valid_lanes(s, t->valid, lanes);
	struct value v;
	double *r = NULL;
	float *f = NULL;

	if (expr(s, t->value, &v) < 0)
		return -1;
	if (locate(s, t->buffer, eval(s, &t->a), t->valid ? count : lanes, &f, &r) < 0)
		return -1;
	for (int i = 0; i < count; i++) {
		if (r)
			r[i] = v.v[i];
		else
			f[i] = (float)v.v[i];
	}
	return 0;
}

static int run(struct interp *s, const struct node *t)
{
	for (; t; t = t->next) {
		int64_t a = eval(s, &t->a), b = eval(s, &t->b);

		switch (t->kind) {
		case NODE_FOR:
			for (int64_t i = a; i < b; i++) {
				s->var[t->var] = i;
				if (run(s, t->body) < 0)
					return -1;
			}
			break;
		case NODE_IF:
			if (run(s, a < b ? t->body : t->orelse) < 0)
				return -1;
			break;
		case NODE_LET:
			s->var[t->var] = t->has_b && b < a ? b : a;
			break;
		case NODE_VIEW:
			s->offset[t->buffer] = a;
			if (s->n->buffer[s->n->buffer[t->buffer].base].kind == BUFFER_VIEW)
				s->offset[t->buffer] += s->offset[s->n->buffer[t->buffer].base];
			break;
		case NODE_STORE:
			if (store(s, t) < 0)
				return -1;
			break;
		case NODE_PREFETCH:
			break;
		}
	}
	return 0;
}

int interp_run(const struct nest *n, float *const *buffers, struct err *e)
{
	struct interp s = {.n = n, .buffers = buffers, .e = e};
	int rc;

	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_REG)
			s.reg[i] = xcalloc((size_t)n->buffer[i].size * (size_t)n->buffer[i].lanes,
					   sizeof(double));
	rc = run(&s, n->body);
	for (int i = 0; i < n->nbuffers; i++)
		free(s.reg[i]);
	return rc;
}
