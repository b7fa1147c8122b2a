/* What is quantized again is often a function of one number of 8 bits: an activation between its
 * QuantizeLinear and DequantizeLinear, or, as SiLU is exported, the product of a number with the
 * sigmoid of the same. Such an expression is a table (table.h). Where an operand was itself made by
 * a table, the expression is one of what that was made of; a table that nobody reads any more is
 * left out.
 */
#include <string.h>

#include "lib/nest/interp.h"
#include "lib/run/loops.h"
#include "lib/run/lower.h"
#include "lib/run/table.h"

/* So few numbers are one thread's. */
enum { ALONE = 1 << 10, ALONE_WIDE = 1 << 15 };

struct made_table {
	struct place from, to; /* of one run of bytes each */
	const unsigned char *values;
	int step;
};

/* Bytes in one run, in the same order. */
static int are_one_run(const struct place *from, const struct place *to)
{
	const struct place *const place[] = {from, to};
	const struct loops l = loops_of(place, 2);

	return l.n == 1 && (l.dim[0] == 1 || (l.stride[0][0] == 1 && l.stride[1][0] == 1));
}

/* The table that made a place, or what it is a view of; NULL: none did. */
static const struct made_table *maker_of(const struct lowering *l, const struct place *p)
{
	for (int i = l->ntables; i-- > 0;) {
		const struct made_table *t = &l->table[i];

		if (t->to.memory == p->memory && p->at >= t->to.at &&
		    p->at + place_span(p) <= t->to.at + place_count(&t->to))
			return t;
	}
	return NULL;
}

/* An operand as a function of its source. */
struct source {
	struct place from;
	const unsigned char *values; /* NULL: the source itself */
};

static struct source source_of(const struct lowering *l, const struct place *p)
{
	const struct made_table *t = maker_of(l, p);
	struct source s = {*p, NULL};

	if (!t)
		return s;
	s.values = t->values;
	s.from.memory = t->from.memory;
	s.from.elem = t->from.elem;
	s.from.at = t->from.at + p->at - t->to.at;
	return s;
}

/* Finds the one place of bytes that all operands are made of. 0: there is none. */
static int find_sources(const struct lowering *l, const struct pointwise *m,
			struct source s[PW_INPUTS])
{
	for (int i = 0; i < m->nin; i++)
		if (elem_size(m->in[i].elem) != 1)
			return 0;
	for (int i = 0; i < m->nin; i++)
		s[i] = source_of(l, &m->in[i]);
	for (int i = 1; i < m->nin; i++)
		if (!place_is(&s[i].from, &s[0].from) || s[i].from.elem != s[0].from.elem)
			return 0;
	return m->nin > 0 && are_one_run(&s[0].from, &m->out);
}

/* Fills the table by the expression of all 256 numbers. */
static int evaluate(struct lowering *l, const struct pointwise *m, const struct source *s,
		    unsigned char *values, struct err *e)
{
	static const int64_t dim[] = {TABLE_VALUES};
	unsigned char each[TABLE_VALUES];
	void *buffers[NEST_BUFFERS];
	struct pointwise all = *m;

	for (int i = 0; i < TABLE_VALUES; i++)
		each[i] = (unsigned char)i;
	for (int i = 0; i < m->nin; i++) {
		all.in[i].at = 0;
		place_dense(&all.in[i], 1, dim, NULL);
		buffers[i] = (void *)(s[i].values ? s[i].values : each);
	}
	all.out.at = 0;
	place_dense(&all.out, 1, dim, NULL);
	buffers[m->nin] = values;
	pointwise_nest(&all, 1, plan_nest(l->p, "table"));
	for (int i = m->nin + 1; i < l->p->nest->nslots; i++)
		buffers[i] =
			arena_alloc(l->p->a, (size_t)buffer_bytes(operand_buffer(l->p->nest, i)));
	return interp_run(l->p->nest, buffers, e);
}

static void note(struct lowering *l, const struct place *from, const struct place *to,
		 const unsigned char *values)
{
	if (l->ntables == l->table_cap) {
		l->table_cap = l->table_cap ? 2 * l->table_cap : 64;
		l->table = xrealloc(l->table, (size_t)l->table_cap * sizeof *l->table);
	}
	l->table[l->ntables++] = (struct made_table){*from, *to, values, l->p->nstep - 1};
}

int lower_table(struct lowering *l, const struct pointwise *m, const char *name, const char *what,
		struct err *e)
{
	struct source from[PW_INPUTS];
	struct table *t;
	struct step *s;
	struct place operand[2];

	if (!find_sources(l, m, from))
		return 0;
	t = arena_new(l->p->a, struct table);
	t->n = place_count(&m->out);
	t->wide = table_is_wide(l->lanes);
	if (evaluate(l, m, from, t->to, e))
		return -1;
	operand[0] = from[0].from;
	operand[1] = m->out;
	s = plan_plain(l->p, name, what,
		       &(struct plain){.run = table_run, .with = t, .is_typed = 1}, operand, 2);
	s->elementwise = 1;
	if (t->n < (t->wide ? ALONE_WIDE : ALONE))
		s->threads = 1;
	note(l, &operand[0], &operand[1], t->to);
	return 1;
}

void lower_leave_tables(struct lowering *l)
{
	for (int i = l->ntables; i-- > 0;) {
		const struct made_table *t = &l->table[i];

		if (!l->p->memory[t->to.memory].readers)
			l->p->step[t->step].is_idle = 1;
	}
}
