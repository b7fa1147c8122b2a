#include "lib/nest/interp_access.h"

#include <stdio.h>
#include <string.h>

int64_t access_eval(const struct interp *s, const struct affine *a)
{
	int64_t v = a->c;

	for (int i = 0; i < a->n; i++) {
		int64_t t = a->t[i].coef;

		if (a->t[i].sym >= 0)
			t *= s->var[a->t[i].sym];
		if (a->t[i].var >= 0)
			t *= s->var[a->t[i].var];
		v += t;
	}
	return v;
}

int access_valid(const struct interp *s, const struct affine *valid, int lanes)
{
	int64_t v = valid ? access_eval(s, valid) : lanes;

	return v > lanes ? lanes : v < 0 ? 0 : (int)v;
}

int access_locate(struct interp *s, int buffer, int64_t index, int lanes, struct place *p)
{
	const struct buffer *b = &s->n->buffer[buffer];
	int64_t before = 0; /* elements of the threads before this one */

	if (b->kind == BUFFER_VIEW) {
		index += s->offset[buffer];
		buffer = nest_base(s->n, buffer);
		b = &s->n->buffer[buffer];
	}
	*p = (struct place){.buffer = b, .index = index};
	if (b->kind == BUFFER_REG) {
		if (index < 0 || index >= b->size || lanes != b->lanes)
			return err_set(s->e, "register %s[%lld] with %d lanes is outside %lld x %d",
				       b->name, (long long)index, lanes, (long long)b->size,
				       b->lanes);
		index += s->inner * b->size;
		p->r = s->reg[buffer] + index * b->lanes;
		p->written = s->written[buffer] + index;
		return 0;
	}
	if (lanes && (index < 0 || index + lanes > b->size))
		return err_set(s->e, "access %s[%lld .. %lld] is outside its %lld elements",
			       b->name, (long long)index, (long long)index + lanes - 1,
			       (long long)b->size);
	if (lanes && b->swizzle.row &&
	    index / b->swizzle.unit != (index + lanes - 1) / b->swizzle.unit)
		return err_set(s->e, "access %s[%lld .. %lld] goes beyond a unit of swizzled rows",
			       b->name, (long long)index, (long long)index + lanes - 1);
	if (b->kind == BUFFER_BLOCK) {
		p->memory = (char *)s->block[buffer] + index * elem_size(b->elem);
		p->written = s->written[buffer] + index;
		p->touch = s->touch[buffer] + index;
		return 0;
	}
	if (b->kind == BUFFER_WORK)
		before = b->size * s->thread;
	if (b->swizzle.row)
		index = swizzle_place(&b->swizzle, index);
	p->memory = (char *)s->team->buffers[b->slot] + (before + index) * elem_size(b->elem);
	if (s->team->written[buffer])
		p->written = s->team->written[buffer] + before + index;
	if (s->team->touch[buffer])
		p->touch = s->team->touch[buffer] + index;
	return 0;
}

void access_get(const struct place *p, int lanes, double *x)
{
	if (p->r) {
		memcpy(x, p->r, (size_t)lanes * sizeof *x);
		return;
	}
	for (int i = 0; i < lanes; i++)
		x[i] = elem_read(p->buffer->elem, p->memory, i);
}

void access_set(const struct place *p, int lanes, const double *x)
{
	const enum elem elem = p->buffer->elem;

	if (p->r && elem_is_float(elem))
		memcpy(p->r, x, (size_t)lanes * sizeof *x);
	for (int i = 0; p->r && i < lanes && !elem_is_float(elem); i++)
		p->r[i] = elem_round(elem, x[i]);
	for (int i = 0; !p->r && i < lanes; i++)
		elem_write(elem, p->memory, i, x[i]);
}

/* How many marks `written` has for so many lanes: a register is written as a whole. */
static int marks(const struct place *p, int lanes)
{
	return !p->written ? 0 : p->r && lanes ? 1 : lanes;
}

/* ---- accesses by threads ---- */

/* A number of this thread at this point: its phase and place in the team, the step of its block
 * (how many loops over threads have ended), and the thread of the block. */
enum { STEP_BITS = 32, INNER_BITS = 10 };
_Static_assert(NEST_BLOCK_THREADS <= 1 << INNER_BITS, "room for a block's threads");

int64_t access_turn(const struct interp *s)
{
	int64_t of_team = s->team->phase * s->team->threads + s->thread;

	return ((of_team << STEP_BITS | s->step) << INNER_BITS | s->inner) + 1;
}

static int64_t step_of(int64_t turn)
{
	return (turn - 1) >> INNER_BITS;
}

static int64_t of_team(int64_t turn)
{
	return step_of(turn) >> STEP_BITS;
}

int64_t access_step(int64_t turn)
{
	return step_of(turn) & (((int64_t)1 << STEP_BITS) - 1);
}

static int is_of_other_block(const struct interp *s, int64_t turn)
{
	return access_step(turn) < s->first_step;
}

/* Was the turn in this phase, but in another block or of another thread of the team? Then nothing
 * orders it before or behind this thread. */
static int is_far(const struct interp *s, int64_t turn)
{
	if (!turn || of_team(turn) < s->team->phase * s->team->threads)
		return 0;
	return of_team(turn) != of_team(access_turn(s)) || is_of_other_block(s, turn);
}

/* The turn is one of this phase, but not this thread's; nor is it an earlier step of this block. */
static int is_other(const struct interp *s, int64_t turn)
{
	int64_t own = access_turn(s);

	if (is_far(s, turn))
		return 1;
	return turn && step_of(turn) == step_of(own) && turn != own;
}

/* "thread 1", or "thread 1 of this block", of the one that had this turn. */
static void name_turn(const struct interp *s, int64_t turn, char *out, size_t size)
{
	int inner = (int)((turn - 1) & ((1 << INNER_BITS) - 1));

	if (!s->n->block_threads)
		snprintf(out, size, "thread %d", (int)(of_team(turn) % s->team->threads));
	else if (of_team(turn) != of_team(access_turn(s)) || is_of_other_block(s, turn))
		snprintf(out, size, "another block");
	else
		snprintf(out, size, "thread %d of this block", inner);
}

static int race(struct interp *s, const struct place *p, int lane, int64_t other, const char *what)
{
	char us[40], them[40];

	name_turn(s, access_turn(s), us, sizeof us);
	name_turn(s, other, them, sizeof them);
	return err_set(s->e, "a race in phase %d: %s %s %s[%lld], which %s %s", s->team->phase + 1,
		       us, what, p->buffer->name, (long long)p->index + lane, them,
		       other == p->touch[lane].writer ? "writes" : "reads");
}

int access_read(struct interp *s, const struct place *p, int lanes)
{
	for (int i = 0; i < marks(p, lanes); i++)
		if (p->written[i] != WRITTEN)
			return err_set(s->e, "%s[%lld] is read %s", p->buffer->name,
				       (long long)p->index + i,
				       p->written[i] ? "before it is there" : "unwritten");
	for (int i = 0; i < lanes && p->touch; i++) {
		struct touch *t = &p->touch[i];

		if (is_other(s, t->writer))
			return race(s, p, i, t->writer, "reads");
		/* A reader of another block conflicts until the phase ends: remember that one. */
		if (is_other(s, t->reader) && (is_far(s, t->reader) || !is_far(s, t->other_reader)))
			t->other_reader = t->reader;
		t->reader = access_turn(s);
	}
	return 0;
}

int access_write(struct interp *s, const struct place *p, int lanes)
{
	for (int i = 0; i < marks(p, lanes); i++)
		p->written[i] = WRITTEN;
	for (int i = 0; i < lanes && p->touch; i++) {
		struct touch *t = &p->touch[i];

		if (is_other(s, t->writer))
			return race(s, p, i, t->writer, "writes");
		if (is_other(s, t->reader))
			return race(s, p, i, t->reader, "writes");
		if (is_other(s, t->other_reader))
			return race(s, p, i, t->other_reader, "writes");
		t->writer = access_turn(s);
	}
	return 0;
}

/* Blocks read and write whole vectors at multiples of their lanes alone. */
int access_aligned(const struct interp *s, const struct place *p, int lanes)
{
	if (!s->n->block_threads || p->r || lanes == 1 || p->index % lanes == 0)
		return 0;
	return err_set(s->e, "a vector of %d lanes stands at %s[%lld], which is no multiple", lanes,
		       p->buffer->name, (long long)p->index);
}
