/* Values of a graph while it is lowered: where they are, and copies of them in other orders. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/graph/element.h"
#include "lib/run/constants.h"
#include "lib/run/lower.h"

int lower_bad(const struct lowering *l, const struct graph_node *n, struct err *e, const char *fmt,
	      ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return err_set(e, "the node %s (%s) %s", node_label(l->g, n), n->type, text);
}

int lower_shape(const struct lowering *l, int value, struct place *out, struct err *e)
{
	const struct value *v = value < 0 ? NULL : l->g->value[value];

	if (!v)
		return err_set(e, "a node lacks an output that it needs");
	if (!shape_known(&v->shape) && v->producer >= 0 && node_is_walked(&l->g->node[v->producer]))
		return lower_refuse(l, &l->g->node[v->producer], e);
	if (!shape_known(&v->shape))
		return err_set(e, "the shape of '%s' is not known%s%s", v->name,
			       v->blame ? " because of " : "", v->blame ? v->blame : "");
	if (v->shape.rank > PLACE_RANK)
		return err_set(e, "'%s' has %d dimensions, more than %d", v->name, v->shape.rank,
			       PLACE_RANK);
	*out = (struct place){.memory = MEMORY_NONE};
	place_dense(out, v->shape.rank, v->shape.dim, NULL);
	return 0;
}

void lower_room(struct lowering *l, struct place *p)
{
	lower_room_as(l, p, ELEM_F32);
}

void lower_room_as(struct lowering *l, struct place *p, enum elem elem)
{
	p->memory = plan_memory(l->p, elem, place_span(p));
	p->elem = elem;
	p->at = 0;
}

void lower_put(struct lowering *l, int value, const struct place *p)
{
	l->place[value] = *p;
}

int lower_new(struct lowering *l, int value, const int *order, struct place *out, struct err *e)
{
	struct place shape;

	if (l->want[value].memory >= 0 && l->want[value].elem == ELEM_F32) {
		*out = l->want[value];
		return 0;
	}
	if (lower_shape(l, value, &shape, e))
		return -1;
	place_dense(out, shape.rank, shape.dim, order);
	lower_room(l, out);
	return 0;
}

int lower_number(const struct lowering *l, int value, double *x)
{
	const struct value *v = l->g->value[value];

	if (!constant_is_kept(l->g, v) || shape_count(&v->shape) != 1)
		return 0;
	*x = element_number(v->elem, v->kept[0]);
	return !(l->seed && constant_is_weights(l->g, value));
}

int lower_constant_value(struct lowering *l, int value, struct err *e)
{
	struct place p;

	if (lower_shape(l, value, &p, e))
		return -1;
	p.memory = constant_memory(l->p, l->g, value, l->seed, e);
	if (p.memory < 0)
		return -1;
	lower_put(l, value, &p);
	return 0;
}

int lower_compute(struct lowering *l, struct pointwise *m, int value, const char *name,
		  const char *what, struct err *e)
{
	int order[PLACE_RANK], from = 0;

	while (from < m->nin && place_repeats(&m->in[from]))
		from++;
	if (from < m->nin)
		place_order(&m->in[from], order);
	if (value >= 0 && l->want[value].memory >= 0) {
		m->out = l->want[value];
	} else {
		place_dense(&m->out, m->out.rank, m->out.dim, from < m->nin ? order : NULL);
		lower_room_as(l, &m->out, value >= 0 ? l->elem[value] : ELEM_F32);
	}
	return lower_pointwise(l, m, name, what, e);
}

/* Computes a waiting expression. */
static int compute(struct lowering *l, int value, struct err *e)
{
	struct pointwise *m = l->waiting[value];
	const struct value *v = l->g->value[value];
	const char *what = v->producer >= 0 ? l->g->node[v->producer].type : "constant";

	l->waiting[value] = NULL;
	if (lower_compute(l, m, value, v->name, what, e))
		return -1;
	lower_put(l, value, &m->out);
	return 0;
}

int lower_get_made(struct lowering *l, int value, struct place *out, struct err *e)
{
	if (value < 0)
		return err_set(e, "a node lacks an input that it needs");
	if (l->waiting[value] && compute(l, value, e))
		return -1;
	if (l->place[value].memory < 0 && lower_constant_value(l, value, e))
		return -1;
	*out = l->place[value];
	return 0;
}

int lower_get(struct lowering *l, int value, struct place *out, struct err *e)
{
	struct place p;

	if (lower_get_made(l, value, &p, e))
		return -1;
	lower_as(l, &p, ELEM_F32, l->g->value[value]->name, out);
	return 0;
}

/* ---- copies ---- */

/* The dimension along which the result is dense; -1: there is none. */
static int inner_of(const struct place *out)
{
	int i = out->rank - 1;

	while (i >= 0 && (out->dim[i] == 1 || out->stride[i] != 1))
		i--;
	return i;
}

/* An operand in the result's order: a copy of the elements that it has. */
static void turn(struct lowering *l, const struct place *out, const char *name, struct place *in)
{
	struct place p = *in;
	int order[PLACE_RANK];

	place_order(out, order);
	for (int i = 0; i < p.rank; i++)
		p.dim[i] = in->stride[i] ? p.dim[i] : 1;
	lower_dense(l, &p, order, name, &p);
	for (int i = 0; i < p.rank; i++) {
		p.stride[i] = in->stride[i] ? p.stride[i] : 0;
		p.dim[i] = in->dim[i];
	}
	*in = p;
}

/* Operands that lie in another order would keep the expression from vectors. To copy them first
 * takes less, but for copies themselves. */
static void turn_operands(struct lowering *l, struct pointwise *m, const char *name)
{
	const int inner = inner_of(&m->out);

	for (int i = 0; i < m->nin && m->nop > 1 && inner >= 0; i++)
		if (m->in[i].stride[inner] > 1)
			turn(l, &m->out, name, &m->in[i]);
}

int lower_pointwise(struct lowering *l, const struct pointwise *given, const char *name,
		    const char *what, struct err *e)
{
	struct place operand[PW_INPUTS + 1];
	struct pointwise turned = *given;
	const struct pointwise *m = &turned;
	struct step *s;

	turn_operands(l, &turned, name);
	pointwise_nest(m, l->lanes, plan_nest(l->p, "pointwise"));
	for (int i = 0; i < m->nin; i++)
		operand[i] = m->in[i];
	operand[m->nin] = m->out;
	s = plan_kernel(l->p, name, what, operand, e);
	if (s)
		s->elementwise = m->nin;
	return s ? 0 : -1;
}

/* A copy that was made before. Copies belong to the lowering. */
static const struct place *find_copy(const struct lowering *l, const struct place *from,
				     const int *order, enum elem elem)
{
	for (int i = 0; i < l->ncopies; i++)
		if (place_is(&l->copy[i].from, from) && place_is_dense(&l->copy[i].to, order) &&
		    l->copy[i].to.elem == elem)
			return &l->copy[i].to;
	return NULL;
}

void lower_dense(struct lowering *l, const struct place *given, const int *order, const char *name,
		 struct place *out)
{
	lower_dense_as(l, given, order, given->elem, name, out);
}

void lower_dense_as(struct lowering *l, const struct place *given, const int *order, enum elem elem,
		    const char *name, struct place *out)
{
	const struct place from = *given, *known; /* out may be where it was given */

	if (from.elem == elem && place_is_dense(&from, order)) {
		*out = from;
		place_dense(out, from.rank, from.dim, order);
		return;
	}
	known = find_copy(l, &from, order, elem);
	if (known) {
		*out = *known;
		return;
	}
	place_dense(out, from.rank, from.dim, order);
	lower_room_as(l, out, elem);
	if (l->ncopies == l->copy_cap) {
		l->copy_cap = l->copy_cap ? 2 * l->copy_cap : 64;
		l->copy = xrealloc(l->copy, (size_t)l->copy_cap * sizeof *l->copy);
	}
	l->copy[l->ncopies].from = from;
	l->copy[l->ncopies++].to = *out;
	plan_copy(l->p, name, &from, out, 0);
}

void lower_arrange(struct lowering *l, int value, const int *order)
{
	const struct pointwise *m = value < 0 ? NULL : lower_dequantized(l, value);
	struct place p;

	if (!m || place_repeats(&m->in[0]))
		return;
	lower_dense(l, &m->in[0], order, l->g->value[value]->name, &p);
	lower_put_dequantized(l, value, m, &p);
}

int lower_get_dense(struct lowering *l, int value, const int *order, struct place *out,
		    struct err *e)
{
	struct place p;

	lower_arrange(l, value, order);
	if (lower_get(l, value, &p, e))
		return -1;
	lower_dense(l, &p, order, l->g->value[value]->name, out);
	return 0;
}
