/* The true answers of a trial (trial.h). */
#include <stdio.h>
#include <string.h>

#include "lib/trial/verify.h"

static void run(const struct trial *t, const struct kernel *k, float *to)
{
	const struct fence *dst = &t->tensor[TENSOR_DST];

	compare_poison(dst->data, dst->n);
	t->runner->run(k, t->entrant->params, t->entrant->buffers, t->entrant->threads, NULL);
	memcpy(to, dst->data, fence_bytes(dst));
}

void trial_truth(void *trial, void *answer)
{
	const struct trial *t = trial;
	struct truth *out = answer;
	struct err e = ERR_INIT;
	struct kernel k;

	if (t->runner->load(&k, t->entrant->object, &e) < 0) {
		snprintf(out->why, sizeof out->why, "%.190s", e.msg);
		return;
	}
	run(t, &k, out->dst);
	verify_freshen(t);
	run(t, &k, out->dst + t->tensor[TENSOR_DST].n);
	out->ran = 1;
}
