#include "lib/run/check_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/exec.h"
#include "lib/run/layout.h"

/* ---- elements of a place ---- */

/* Goes through the elements of a place in the order of its dimensions. */
struct walk {
	const struct place *p;
	int64_t index[PLACE_RANK], at;
	int ended;
};

static struct walk walk_of(const struct place *p)
{
	return (struct walk){.p = p, .at = p->at, .ended = !place_count(p)};
}

static void walk_on(struct walk *w)
{
	for (int d = w->p->rank; d-- > 0;) {
		w->at += w->p->stride[d];
		if (++w->index[d] < w->p->dim[d])
			return;
		w->at -= w->p->stride[d] * w->p->dim[d];
		w->index[d] = 0;
	}
	w->ended = 1;
}

/* ---- whose element an address holds ---- */

/* Addresses are counted in units of the smallest elements that a plan has, bytes. */
enum { UNITS = sizeof(float) };
static const int64_t UNIT = sizeof(float) / UNITS;

/* The first unit of the element at w, and how many it has. */
static int64_t unit_at(const struct plan *p, const struct walk *w, int64_t *n)
{
	*n = elem_size(w->p->elem) / UNIT;
	return p->memory[w->p->memory].at * UNITS + w->at * *n;
}

struct owners {
	const struct plan *p;
	int *owner;	  /* memory, by unit of the block; -1: nobody's */
	int *written_by;  /* the step that wrote it last */
	int64_t *counted; /* which element of that step's result it is */
};

static void owners_begin(struct owners *o, const struct plan *p)
{
	size_t n = (size_t)(p->block_size * UNITS) + 1;

	*o = (struct owners){p, xmalloc(n * sizeof *o->owner), xmalloc(n * sizeof *o->written_by),
			     xmalloc(n * sizeof *o->counted)};
	for (size_t i = 0; i < n; i++)
		o->owner[i] = o->written_by[i] = -1;
}

static void owners_end(struct owners *o)
{
	free(o->owner);
	free(o->written_by);
	free(o->counted);
}

static int is_in_block(const struct plan *p, const struct place *o)
{
	return o->memory >= 0 && !p->memory[o->memory].is_const && !p->memory[o->memory].data;
}

/* The inputs are there before the first step. */
static void own_inputs(struct owners *o)
{
	for (int m = 0; m < o->p->nmemory; m++) {
		const struct memory *k = &o->p->memory[m];

		for (int64_t i = 0; k->is_input && i < memory_floats(k) * UNITS; i++)
			o->owner[k->at * UNITS + i] = m;
	}
}

static int say(const struct step *s, const char *what, struct err *e)
{
	return err_set(e, "%s (%s) %s: this plan of memory is wrong", s->name, s->what, what);
}

static int check_read(const struct owners *o, const struct step *s, const struct place *from,
		      struct err *e)
{
	for (struct walk w = walk_of(from); !w.ended; walk_on(&w)) {
		int64_t n, at = unit_at(o->p, &w, &n);

		for (; n--; at++)
			if (o->owner[at] != from->memory)
				return say(s,
					   o->owner[at] < 0
						   ? "reads what no step has written"
						   : "reads what another step has overwritten",
					   e);
	}
	return 0;
}

/* An operand that is read element by element may lie where the result does, in the same order. */
static int check_within(const struct owners *o, int step, int slot, struct err *e)
{
	const struct step *s = &o->p->step[step];
	const struct place *from = &s->operand[slot];
	int64_t i = 0;

	for (struct walk w = walk_of(from); !w.ended; walk_on(&w), i++) {
		int64_t n, at = unit_at(o->p, &w, &n);

		for (; n--; at++)
			if (o->written_by[at] == step &&
			    (slot >= s->elementwise || o->counted[at] != i))
				return say(s, "overwrites what it still reads", e);
	}
	return 0;
}

static void write(struct owners *o, int step)
{
	const struct place *to = &o->p->step[step].operand[o->p->step[step].result];
	int64_t i = 0;

	for (struct walk w = walk_of(to); !w.ended; walk_on(&w), i++) {
		int64_t n, at = unit_at(o->p, &w, &n);

		for (; n--; at++) {
			o->owner[at] = to->memory;
			o->written_by[at] = step;
			o->counted[at] = i;
		}
	}
}

static int check_step(struct owners *o, int step, struct err *e)
{
	const struct step *s = &o->p->step[step];
	int rc = 0, writes = s->result >= 0 && is_in_block(o->p, &s->operand[s->result]);

	for (int i = 0; !rc && i < s->nslots; i++)
		if (is_in_block(o->p, &s->operand[i]) && (i != s->result || s->adds))
			rc = check_read(o, s, &s->operand[i], e);
	if (!rc && writes)
		write(o, step);
	for (int i = 0; !rc && writes && i < s->nslots; i++)
		if (is_in_block(o->p, &s->operand[i]) && i != s->result)
			rc = check_within(o, step, i, e);
	return rc;
}

int check_addresses(const struct plan *p, struct err *e)
{
	struct owners o;
	int rc = 0;

	owners_begin(&o, p);
	own_inputs(&o);
	for (int i = 0; !rc && i < p->nstep; i++)
		if (!p->step[i].is_constant)
			rc = check_step(&o, i, e);
	owners_end(&o);
	return rc;
}

/* ---- values ---- */

/* FNV-1a over the bits of a step's result. */
static uint64_t hash_of(const struct plan *p, const struct step *s)
{
	const struct place *to = &s->operand[s->result];
	const char *data = (const char *)plan_data(p, to->memory);
	const size_t size = (size_t)elem_size(to->elem);
	uint64_t h = 0xcbf29ce484222325;

	for (struct walk w = walk_of(to); !w.ended; walk_on(&w)) {
		uint32_t bits = 0;

		memcpy(&bits, data + (size_t)w.at * size, size);
		h = (h ^ bits) * 0x100000001b3;
	}
	return h;
}

/* A copy that has no kernel, because both of its places are one, moves nothing there; elsewhere it
 * does. */
static void move(const struct plan *p, const struct step *s)
{
	const char *from = (const char *)plan_data(p, s->operand[0].memory);
	char *to = (char *)plan_data(p, s->operand[1].memory);
	const size_t size = (size_t)elem_size(s->operand[0].elem);
	struct walk r = walk_of(&s->operand[0]);

	for (struct walk w = walk_of(&s->operand[1]); !w.ended; walk_on(&w), walk_on(&r))
		memcpy(to + (size_t)w.at * size, from + (size_t)r.at * size, size);
}

/* NaN as a float, and as two elements of bf16. */
static void poison(float *x, int64_t n)
{
	const uint32_t nan = 0x7fc07fc0;

	for (int64_t i = 0; i < n; i++)
		memcpy(x + i, &nan, sizeof nan);
}

static void poison_unit(float *block, int64_t unit)
{
	const uint32_t nan = 0x7fc07fc0;

	memcpy((char *)block + unit * UNIT, (const char *)&nan + unit * UNIT % sizeof nan, UNIT);
}

/* The last step that reads each piece of memory; nstep for what the caller reads. */
static int *last_reads(const struct plan *p)
{
	int *last = xcalloc((size_t)p->nmemory + 1, sizeof *last);

	for (int m = 0; m < p->nmemory; m++)
		last[m] = p->memory[m].is_kept ? p->nstep : -1;
	for (int i = 0; i < p->nstep; i++)
		for (int k = 0; k < p->step[i].nslots; k++) {
			int m = p->step[i].operand[k].memory;

			if (m >= 0 && last[m] < i)
				last[m] = i;
		}
	return last;
}

/* After a step: NaN in what was written, and is read no more. */
static void forget(struct plan *p, const struct owners *o, const int *last, int step)
{
	for (int64_t a = 0; a < p->block_size * UNITS; a++)
		if (o->owner[a] < 0 || last[o->owner[a]] <= step)
			poison_unit(p->block, a);
}

/* Runs all steps as they lie now; hashes the result of each into `hash`, or compares it. */
static int run_once(struct plan *p, int forgets, int compares, uint64_t *hash, struct err *e)
{
	int rc = 0, *last = last_reads(p);
	struct owners o;

	owners_begin(&o, p);
	own_inputs(&o);
	for (int i = 0; !rc && i < p->nstep; i++) {
		struct step *s = &p->step[i];
		uint64_t h;

		if (s->is_constant || (s->is_idle && !s->is_copy))
			continue;
		layout_resolve(p, s);
		poison(p->scratch, p->scratch_size);
		if (!s->is_idle)
			rc = exec_step(p, s, e);
		else if (!forgets)
			move(p, s);
		h = rc ? 0 : hash_of(p, s);
		if (!rc && compares && h != hash[i])
			rc = say(s, "gives another result where memory is shared", e);
		hash[i] = h;
		if (forgets && !rc) {
			if (is_in_block(p, &s->operand[s->result]))
				write(&o, i);
			forget(p, &o, last, i);
		}
	}
	owners_end(&o);
	free(last);
	return rc;
}

/* The inputs' elements: out of memory into a buffer, or back into where memory is now. */
static void carry(const struct plan *p, const int *input, int n, float *buffer, int back)
{
	for (int i = 0; i < n; i++) {
		size_t size = (size_t)p->memory[input[i]].size;
		float *data = plan_data(p, input[i]);

		memcpy(back ? data : buffer, back ? buffer : data, size * sizeof *buffer);
		buffer += size;
	}
}

/* Where each piece of memory has a place of its own. */
static int run_apart(struct plan *p, const int *input, int ninputs, float *inputs, uint64_t *hash,
		     struct err *e)
{
	float *block = p->block;
	int64_t size = p->block_size;
	int rc;

	layout_apart(p);
	p->block = plan_map(p->block_size);
	rc = p->block ? 0 : err_sys(e, "there is no memory for a check of memory");
	if (!rc) {
		poison(p->block, p->block_size);
		carry(p, input, ninputs, inputs, 1);
		rc = run_once(p, 0, 0, hash, e);
		plan_unmap(p->block, p->block_size);
	}
	p->block = block;
	p->block_size = size;
	return rc;
}

int check_values(struct plan *p, const int *input, int ninputs, struct err *e)
{
	uint64_t *hash = xcalloc((size_t)p->nstep + 1, sizeof *hash);
	int64_t *at = xcalloc((size_t)p->nmemory + 1, sizeof *at), size = 1;
	float *inputs;
	int rc;

	for (int i = 0; i < ninputs; i++)
		size += p->memory[input[i]].size;
	inputs = xmalloc((size_t)size * sizeof *inputs);
	carry(p, input, ninputs, inputs, 0);
	for (int m = 0; m < p->nmemory; m++)
		at[m] = p->memory[m].at;
	rc = run_apart(p, input, ninputs, inputs, hash, e);
	for (int m = 0; m < p->nmemory; m++)
		p->memory[m].at = at[m];
	poison(p->block, p->block_size);
	carry(p, input, ninputs, inputs, 1);
	for (int run = 0; !rc && run < 2; run++)
		rc = run_once(p, 1, 1, hash, e);
	for (int i = 0; i < p->nstep; i++)
		if (step_is_live(&p->step[i]))
			layout_resolve(p, &p->step[i]);
	free(hash);
	free(at);
	free(inputs);
	return rc;
}
