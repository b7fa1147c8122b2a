#include "lib/run/prepare.h"

#include <stdlib.h>

#include "lib/run/layout.h"
#include "lib/run/library.h"
#include "lib/run/overwrite.h"
#include "lib/run/weights.h"

/* ---- kernels and constants ---- */

static int load_kernels(struct plan *p, struct err *e)
{
	int rc = cache_wait(p->cache, NULL, e);

	for (int i = 0; !rc && i < plan_count_kernels(p); i++) {
		struct step *s = plan_kernel_at(p, i);

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

static int run_constant(struct plan *p, struct step *s, struct err *e)
{
	for (int i = 0; i < s->nslots; i++)
		if (s->operand[i].memory >= 0 && plan_alloc(p, s->operand[i].memory, e))
			return -1;
	layout_resolve(p, s);
	if (s->plain) {
		for (int turn = 0; turn < plain_turns(s->plain); turn++)
			if (plain_part(s->plain, s->buffers, turn, 0, 1))
				return err_set(e, "%s (%s): %s", s->name, s->what, s->plain->bad);
	} else if (p->runner->run(&s->kernel, s->params, s->buffers, s->threads, e)) {
		return -1;
	}
	for (int i = 0; i < s->nslots; i++)
		if (s->operand[i].memory >= 0 && i != s->result)
			plan_leave(p, s->operand[i].memory);
	return 0;
}

/* Packs the weights of a step, or gives them to the library. */
static int prepare_weights(struct plan *p, struct step *s, struct err *e)
{
	const struct weights_plan *w = s->weights;
	struct nest *n = plan_nest(p, "kernel");
	int rc;

	n->pitch = s->pitch;
	rc = candidate_build(s->candidate, n, e);
	for (int k = 0, m; !rc && (m = plan_weights_read(w, k)) != MEMORY_NONE; k++)
		if (m >= 0)
			rc = plan_alloc(p, m, e);
	if (!rc)
		rc = p->by_library ? library_open(p, s, e) : weights_prepare(p, s, n, e);
	for (int k = 0, m; !rc && (m = plan_weights_read(w, k)) != MEMORY_NONE; k++)
		if (m >= 0)
			plan_leave(p, m);
	return rc;
}

int prepare_plan(struct plan *p, struct err *e)
{
	int rc = 0;

	overwrite_operands(p);
	if (plan_make_copies(p, e) || load_kernels(p, e))
		return -1;
	p->scratch = plan_map(p->scratch_size);
	if (!p->scratch)
		return err_sys(e, "there is no memory for what kernels work in");
	for (int i = 0; !rc && i < p->nstep; i++)
		if (p->step[i].is_constant)
			rc = run_constant(p, &p->step[i], e);
	if (!rc)
		rc = layout_make(p, e);
	for (int i = 0; !rc && i < plan_count_kernels(p); i++)
		if (plan_kernel_at(p, i)->weights)
			rc = prepare_weights(p, plan_kernel_at(p, i), e);
	for (int m = 0; !rc && m < p->nmemory; m++)
		if (p->memory[m].is_const && p->memory[m].readers)
			rc = plan_alloc(p, m, e);
	for (int i = 0; !rc && i < plan_count_kernels(p); i++)
		if (step_is_live(plan_kernel_at(p, i)))
			layout_resolve(p, plan_kernel_at(p, i));
	return rc;
}
