#include "lib/run/layout.h"

#include <stdlib.h>

/* Is it in the block? Constants, and what a step that runs once began, have memory of their own. */
static int is_in_block(const struct memory *m)
{
	return !m->is_const && !m->data && (m->first >= 0 || m->is_kept);
}

static int overlap(const struct memory *a, const struct memory *b)
{
	return a->is_kept || b->is_kept || (a->first <= b->last && b->first <= a->last);
}

/* The lowest place for memory m that no placed one has at the same time. */
static int64_t lowest_place(const struct plan *p, const int *placed, int n, int m)
{
	const struct memory *k = &p->memory[m];
	int64_t at = 0;

	for (int moved = 1; moved;) {
		moved = 0;
		for (int i = 0; i < n; i++) {
			const struct memory *o = &p->memory[placed[i]];

			if (overlap(k, o) && at < o->at + plan_round(memory_floats(o)) &&
			    o->at < at + plan_round(memory_floats(k))) {
				at = o->at + plan_round(memory_floats(o));
				moved = 1;
			}
		}
	}
	return at;
}

static void place(struct plan *p, int memory, int64_t at)
{
	struct memory *m = &p->memory[memory];

	m->at = at;
	if (m->at + plan_round(memory_floats(m)) > p->block_size)
		p->block_size = m->at + plan_round(memory_floats(m));
}

int layout_make(struct plan *p, struct err *e)
{
	int *order = xcalloc((size_t)p->nmemory + 1, sizeof *order), n = 0;

	p->block_size = 0;
	for (int m = 0; m < p->nmemory; m++) {
		int i = n;

		if (!is_in_block(&p->memory[m]) || p->memory[m].within >= 0)
			continue;
		for (; i > 0 &&
		       memory_floats(&p->memory[order[i - 1]]) < memory_floats(&p->memory[m]);
		     i--)
			order[i] = order[i - 1];
		order[i] = m;
		n++;
	}
	for (int i = 0; i < n; i++)
		place(p, order[i], lowest_place(p, order, i, order[i]));
	for (int m = 0; m < p->nmemory; m++)
		if (p->memory[m].within >= 0)
			p->memory[m].at = p->memory[p->memory[m].within].at + p->memory[m].offset;
	free(order);
	p->block = plan_map(p->block_size);
	return p->block ? 0
			: err_sys(e, "there is no memory for what is computed (%.3g GB)",
				  (double)p->block_size * sizeof(float) / 1e9);
}

void layout_apart(struct plan *p)
{
	p->block_size = 0;
	for (int m = 0; m < p->nmemory; m++)
		if (is_in_block(&p->memory[m]))
			place(p, m, p->block_size);
}

void layout_resolve(struct plan *p, struct step *s)
{
	for (int i = 0; i < s->nslots; i++) {
		const struct place *o = &s->operand[i];

		if (o->memory == MEMORY_SCRATCH)
			s->buffers[i] = p->scratch + o->at;
		else if (o->memory >= 0)
			s->buffers[i] = plan_address(p, o);
	}
}
