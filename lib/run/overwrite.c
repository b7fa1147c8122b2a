#include "lib/run/overwrite.h"

/* The memory that has the place, and where m begins in it. */
static int root_of(const struct plan *p, int m, int64_t *at)
{
	const struct memory *k = &p->memory[m];

	*at = k->within < 0 ? 0 : k->offset;
	return k->within < 0 ? m : k->within;
}

/* Constants stay, and what is begun by a step that runs once. */
static int is_of_one_run(const struct memory *m)
{
	return !m->is_const && !m->data && !m->written_once;
}

/* Do two places have elements of the same type in the same order, with the same gaps? */
static int same_strides(const struct place *a, const struct place *b)
{
	if (a->elem != b->elem || !place_same_shape(a, b))
		return 0;
	for (int i = 0; i < a->rank; i++)
		if (a->dim[i] > 1 && a->stride[i] != b->stride[i])
			return 0;
	return 1;
}

/* Element 0 of a place in the memory that has its place, in bytes, where its own memory begins
 * `begin` floats behind the start. */
static int64_t bytes_at(const struct place *o, int64_t begin)
{
	return begin * elem_size(ELEM_F32) + o->at * elem_size(o->elem);
}

/* Each operand that lies in the memory `root` must be read element by element with the result, at
 * the same addresses; `at` is where the result's memory would begin there. */
static int reads_fit(const struct plan *p, const struct step *s, int root, int64_t at)
{
	const struct place *to = &s->operand[s->result];
	int64_t begin;

	for (int i = 0; i < s->nslots; i++) {
		const struct place *o = &s->operand[i];

		if (i == s->result || o->memory < 0 || root_of(p, o->memory, &begin) != root)
			continue;
		if (i >= s->elementwise || !same_strides(o, to) ||
		    bytes_at(o, begin) != bytes_at(to, at))
			return 0;
	}
	return 1;
}

/* Puts the result of step i over its operand k. 0: that would destroy something. */
static int overwrite(struct plan *p, int i, int k)
{
	struct step *s = &p->step[i];
	const struct place *from = &s->operand[k], *to = &s->operand[s->result];
	struct memory *out, *over;
	int64_t at, bytes;
	int root;

	if (from->memory < 0)
		return 0;
	root = root_of(p, from->memory, &at);
	bytes = bytes_at(from, at) - bytes_at(to, 0);
	if (bytes % elem_size(ELEM_F32))
		return 0;
	at = bytes / elem_size(ELEM_F32);
	out = &p->memory[to->memory];
	over = &p->memory[root];
	if (!is_of_one_run(over) || over->is_kept || over->last != i || at < 0 ||
	    at + memory_floats(out) > memory_floats(over) || !reads_fit(p, s, root, at))
		return 0;
	out->within = root;
	out->offset = at;
	over->last = out->last;
	over->is_kept = out->is_kept;
	s->is_idle = s->is_copy;
	return 1;
}

void overwrite_operands(struct plan *p)
{
	for (int i = 0; i < p->nstep; i++) {
		const struct step *s = &p->step[i];
		const struct memory *out;

		if (s->is_constant || s->is_idle || s->result < 0 ||
		    s->operand[s->result].memory < 0)
			continue;
		out = &p->memory[s->operand[s->result].memory];
		if (out->first != i || out->within >= 0 || !is_of_one_run(out))
			continue;
		for (int k = 0; k < s->elementwise && !overwrite(p, i, k);)
			k++;
	}
}
