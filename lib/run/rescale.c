#include "lib/run/rescale.h"

#include <math.h>

enum { VALUES = 256, NEAR = 2 };

static const double MOST = 1e6; /* of a factor: all sums are far below 2^31 */

/* low <= factor[0] * x + factor[1] * y + rest <= high, in real numbers; beyond, the bound. */
struct form {
	double factor[2], rest, low, high;
};

static int is_number(const struct form *f)
{
	return f->factor[0] == 0 && f->factor[1] == 0;
}

static int is_bounded(const struct form *f)
{
	return f->low > -INFINITY || f->high < INFINITY;
}

/* ---- real numbers ---- */

static int add(struct form *f, const struct form *g, double sign)
{
	if (is_bounded(g) || (is_bounded(f) && !is_number(g)))
		return 0;
	for (int i = 0; i < 2; i++)
		f->factor[i] += sign * g->factor[i];
	f->rest += sign * g->rest;
	f->low += sign * g->rest;
	f->high += sign * g->rest;
	return 1;
}

static int multiply(struct form *f, double by)
{
	if (!isfinite(by) || (by <= 0 && is_bounded(f)))
		return 0;
	for (int i = 0; i < 2; i++)
		f->factor[i] *= by;
	f->rest *= by;
	f->low = is_bounded(f) ? f->low * by : -INFINITY;
	f->high = is_bounded(f) ? f->high * by : INFINITY;
	return 1;
}

static struct form number(double x)
{
	return (struct form){.rest = x, .low = -INFINITY, .high = INFINITY};
}

/* f becomes one of the two, and *by is the other, which is a number. 0: none is. */
static int takes_number(const struct form *a, const struct form *b, struct form *f, double *by)
{
	*f = is_number(b) ? *a : *b;
	*by = is_number(b) ? b->rest : a->rest;
	return is_number(a) || is_number(b);
}

/* Makes the form of operation o on two others. 0: it has none. */
static int form_of_two(enum pointwise_kind kind, const struct form *a, const struct form *b,
		       struct form *f)
{
	double by;

	if (kind == PW_ADD || kind == PW_SUB) {
		*f = *a;
		return add(f, b, kind == PW_ADD ? 1 : -1);
	}
	if (!takes_number(a, b, f, &by))
		return 0;
	switch (kind) {
	case PW_MUL:
		return multiply(f, by);
	case PW_DIV:
		return is_number(b) && multiply(f, 1 / by);
	case PW_MAX:
		f->low = fmax(f->low, by);
		return 1;
	case PW_MIN:
		f->high = fmin(f->high, by);
		return 1;
	default:
		return 0;
	}
}

static int form_of(const struct pointwise_op *o, const struct form *of, struct form *f)
{
	*f = number(o->kind == PW_CONST ? o->value : 0);
	if (o->kind == PW_INPUT)
		f->factor[o->a] = 1;
	if (o->kind == PW_INPUT || o->kind == PW_CONST)
		return isfinite(f->rest);
	return o->b >= 0 && form_of_two(o->kind, &of[o->a], &of[o->b], f);
}

/* ---- the definition ---- */

/* The values of an operand, of which the first is *least. */
static int values_of(const struct pointwise *m, int in, double *least)
{
	double most;

	if (in >= m->nin)
		return 1;
	elem_range(m->in[in].elem, least, &most);
	return VALUES;
}

/* One operation in single precision. Each result is stored, so nothing is contracted. */
static float computed(enum pointwise_kind kind, float a, float b)
{
	switch (kind) {
	case PW_ADD:
		return a + b;
	case PW_SUB:
		return a - b;
	case PW_MUL:
		return a * b;
	case PW_DIV:
		return a / b;
	case PW_MAX:
		return a > b ? a : b;
	default:
		return a < b ? a : b;
	}
}

/* Returns what the store makes of it. */
static unsigned char stored(const struct pointwise *m, float x)
{
	double low, high;

	elem_range(m->out.elem, &low, &high);
	x = rintf(x);
	return (unsigned char)(int)fmax(low, fmin(high, (double)x));
}

/* The results for all values of the second operand. */
static void define_row(const struct pointwise *m, float x, float y, int n, unsigned char *to)
{
	float of[PW_OPS][VALUES];
	int k;

	for (k = 0; k < m->nop; k++) {
		const struct pointwise_op *o = &m->op[k];

		for (int i = 0; i < n; i++) {
			if (o->kind == PW_CONST)
				of[k][i] = (float)o->value;
			else if (o->kind == PW_INPUT)
				of[k][i] = o->a ? y + (float)i : x;
			else
				of[k][i] = computed(o->kind, of[o->a][i], of[o->b][i]);
		}
	}
	for (int i = 0; i < n; i++)
		to[i] = stored(m, of[k - 1][i]);
}

/* ---- the search ---- */

struct search {
	const struct pointwise *m;
	int values[2];
	double least[2];
	unsigned char should[VALUES * VALUES];
	int hard; /* a pair that a try failed at */
};

static void define(struct search *s)
{
	for (int i = 0; i < s->values[0]; i++)
		define_row(s->m, (float)(s->least[0] + i), (float)s->least[1], s->values[1],
			   s->should + i * s->values[1]);
}

static int is_equal_at(const struct search *s, const struct pointwise_sum *t, int pair)
{
	const float x = (float)(s->least[0] + pair / s->values[1]);
	const float y = (float)(s->least[1] + pair % s->values[1]);
	float sum = (float)t->rest;

	if (s->m->nin > 1)
		sum = fmaf(y, (float)t->factor[1], sum);
	sum = fmaf(x, (float)t->factor[0], sum);
	return stored(s->m, fmaxf((float)t->low, fminf((float)t->high, sum))) == s->should[pair];
}

/* Is it the definition for each pair? */
static int is_equal(struct search *s, const struct pointwise_sum *t)
{
	const int pairs = s->values[0] * s->values[1];

	if (!is_equal_at(s, t, s->hard))
		return 0;
	for (int pair = 0; pair < pairs; pair++)
		if (!is_equal_at(s, t, pair)) {
			s->hard = pair;
			return 0;
		}
	return 1;
}

/* The number that lies so many steps from x in single precision. */
static double near(double x, int steps)
{
	float y = (float)x;

	for (; steps > 0; steps--)
		y = nextafterf(y, INFINITY);
	for (; steps < 0; steps++)
		y = nextafterf(y, -INFINITY);
	return (double)y;
}

/* From 0 on, away to both sides: 0, 1, -1, 2, -2. */
static int step(int i)
{
	return i % 2 ? (i + 1) / 2 : -i / 2;
}

static int is_small(const struct form *f)
{
	return fabs(f->factor[0]) < MOST && fabs(f->factor[1]) < MOST && fabs(f->rest) < MOST;
}

/* Tries numbers close to those of the form. */
static int find(struct search *s, const struct form *f, struct pointwise_sum *t)
{
	const int each = 2 * NEAR + 1, second = s->m->nin > 1 ? each : 1;

	*t = (struct pointwise_sum){.is = 1, .low = f->low, .high = f->high};
	for (int i = 0; i < each * each * second; i++) {
		t->rest = near(f->rest, step(i % each));
		t->factor[0] = near(f->factor[0], step(i / each % each));
		t->factor[1] = near(f->factor[1], step(i / each / each));
		if (is_equal(s, t))
			return 1;
	}
	return 0;
}

void rescale_find(struct pointwise *m)
{
	struct search s = {.m = m};
	struct form of[PW_OPS];
	struct pointwise_sum sum;

	if (m->nin < 1 || m->nin > 2 || elem_size(m->out.elem) != 1)
		return;
	for (int i = 0; i < m->nin; i++)
		if (elem_size(m->in[i].elem) != 1)
			return;
	for (int k = 0; k < m->nop; k++)
		if (!form_of(&m->op[k], of, &of[k]))
			return;
	for (int i = 0; i < 2; i++)
		s.values[i] = values_of(m, i, &s.least[i]);
	if (!is_small(&of[m->nop - 1]))
		return;
	define(&s);
	if (find(&s, &of[m->nop - 1], &sum))
		m->sum = sum;
}
