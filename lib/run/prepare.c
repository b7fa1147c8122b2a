#include "lib/run/prepare.h"

#include <stdlib.h>

#include "lib/run/library.h"
#include "lib/run/weights.h"

/* ---- kernels and constants ---- */

static int load_kernels(struct plan *p, struct err *e)
{
	int rc = cache_wait(p->cache, NULL, e);

	for (int i = 0; !rc && i < p->nstep; i++) {
		struct step *s = &p->step[i];

		if (!s->build)
			continue;
		if (s->build->state != BUILD_DONE)
			return err_set(e, "the kernel of %s does not compile: %s", s->name,
				       s->build->why ? s->build->why : "the compiler failed");
		rc = p->runner->load(&s->kernel, s->build->object, e);
		if (rc) {
			*e = (struct err)ERR_INIT;
			rc = cache_rebuild(p->cache, s->build, e);
			if (!rc)
				rc = p->runner->load(&s->kernel, s->build->object, e);
		}
	}
	return rc;
}

static void resolve(struct plan *p, struct step *s)
{
	for (int i = 0; i < s->nslots; i++) {
		const struct operand *o = &s->operand[i];

		if (o->memory == MEMORY_SCRATCH)
			s->buffers[i] = p->scratch + o->at;
		else if (o->memory >= 0)
			s->buffers[i] = plan_data(p, o->memory) + o->at;
	}
}

static int run_constant(struct plan *p, struct step *s, struct err *e)
{
	for (int i = 0; i < s->nslots; i++)
		if (s->operand[i].memory >= 0 && plan_alloc(p, s->operand[i].memory, e))
			return -1;
	resolve(p, s);
	if (s->plain) {
		if (s->plain->run(s->plain->with, (float *const *)s->buffers, 0, 1))
			return err_set(e, "%s (%s): %s", s->name, s->what, s->plain->bad);
	} else if (p->runner->run(&s->kernel, s->params, s->buffers, s->threads, e)) {
		return -1;
	}
	for (int i = 0; i < s->nslots; i++)
		if (s->operand[i].memory >= 0 && s->operand[i].memory != s->written)
			plan_leave(p, s->operand[i].memory);
	return 0;
}

/* Packs the weights of step i, or gives them to the library. */
static int prepare_weights(struct plan *p, int i, struct err *e)
{
	const struct weights_plan *w = p->step[i].weights;
	struct nest *n = plan_nest(p, "kernel");
	int rc = candidate_build(p->step[i].candidate, n, e);

	for (int k = 0, m; !rc && (m = plan_weights_read(w, k)) != MEMORY_NONE; k++)
		if (m >= 0)
			rc = plan_alloc(p, m, e);
	if (!rc)
		rc = p->by_library ? library_open(p, &p->step[i], e)
				   : weights_prepare(p, &p->step[i], n, e);
	for (int k = 0, m; !rc && (m = plan_weights_read(w, k)) != MEMORY_NONE; k++)
		if (m >= 0)
			plan_leave(p, m);
	return rc;
}

/* ---- where memory is ---- */

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

			if (overlap(k, o) && at < o->at + plan_round(o->size) &&
			    o->at < at + plan_round(k->size)) {
				at = o->at + plan_round(o->size);
				moved = 1;
			}
		}
	}
	return at;
}

/* The largest first, each as low as can be. */
static int place_all(struct plan *p, struct err *e)
{
	int *order = xcalloc((size_t)p->nmemory + 1, sizeof *order), n = 0;

	for (int m = 0; m < p->nmemory; m++) {
		int i = n;

		if (p->memory[m].is_const || p->memory[m].data ||
		    (p->memory[m].first < 0 && !p->memory[m].is_kept))
			continue;
		for (; i > 0 && p->memory[order[i - 1]].size < p->memory[m].size; i--)
			order[i] = order[i - 1];
		order[i] = m;
		n++;
	}
	for (int i = 0; i < n; i++) {
		struct memory *m = &p->memory[order[i]];

		m->at = lowest_place(p, order, i, order[i]);
		if (m->at + plan_round(m->size) > p->block_size)
			p->block_size = m->at + plan_round(m->size);
	}
	free(order);
	p->block = plan_map(p->block_size);
	return p->block ? 0 : err_sys(e, "there is no memory for what is computed");
}

int prepare_plan(struct plan *p, struct err *e)
{
	int rc = load_kernels(p, e);

	if (rc)
		return rc;
	p->scratch = plan_map(p->scratch_size);
	if (!p->scratch)
		return err_sys(e, "there is no memory for what kernels work in");
	for (int i = 0; !rc && i < p->nstep; i++)
		if (p->step[i].is_constant)
			rc = run_constant(p, &p->step[i], e);
	if (!rc)
		rc = place_all(p, e);
	for (int i = 0; !rc && i < p->nstep; i++)
		if (p->step[i].weights)
			rc = prepare_weights(p, i, e);
	for (int m = 0; !rc && m < p->nmemory; m++)
		if (p->memory[m].is_const && p->memory[m].readers)
			rc = plan_alloc(p, m, e);
	for (int i = 0; !rc && i < p->nstep; i++)
		if (!p->step[i].is_constant)
			resolve(p, &p->step[i]);
	return rc;
}
