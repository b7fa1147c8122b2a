#include <stdio.h>
#include <string.h>

#include "lib/target/kernel.h"
#include "lib/trial/compare.h"
#include "lib/trial/trial.h"

void trial_naive(void *trial, void *answer)
{
	const struct trial *t = trial;
	const struct fence *dst = &t->tensor[TENSOR_DST];
	struct naive_output *out = answer;
	struct err e = ERR_INIT;
	struct kernel k;

	if (kernel_load(&k, t->entrant->object, &e) < 0) {
		snprintf(out->why, sizeof out->why, "%.190s", e.msg);
		return;
	}
	compare_poison(dst->data, dst->n);
	kernel_run(&k, t->entrant->params, t->entrant->buffers, t->threads);
	memcpy(out->dst, dst->data, (size_t)dst->n * sizeof(float));
	out->ran = 1;
}
