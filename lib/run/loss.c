#include "lib/run/loss.h"

#include <math.h>

/* log(sum of exp) of the scores of one label, `inner` apart, less the score of its class. The
 * largest score is taken off first: beside a large one the logarithm would be lost. */
static double log_sum(const struct loss *s, const float *scores, int64_t class)
{
	double most = -INFINITY, sum = 0;

	for (int64_t k = 0; k < s->classes; k++)
		most = fmax(most, (double)scores[k * s->inner]);
	for (int64_t k = 0; k < s->classes; k++)
		sum += exp((double)scores[k * s->inner] - most);
	sum = sum == 0 ? (double)-INFINITY : log(sum); /* 0: there are no classes */
	return most - (double)scores[class * s->inner] + sum;
}

/* The loss of label i, times its weight. -1: it is none of the classes. */
static int one(const struct loss *s, float *const *buffers, int64_t i, double *loss, double *weight)
{
	const float label = buffers[1][i];
	const float *scores = buffers[0] + i / s->inner * s->classes * s->inner + i % s->inner;
	int64_t class;

	*loss = *weight = 0;
	if (s->ignores && label == (float)s->ignored)
		return 0;
	if (!(label >= 0 && label < (float)s->classes))
		return -1;
	class = (int64_t)label;
	*weight = buffers[2] ? (double)buffers[2][class] : 1;
	*loss = s->is_softmax ? log_sum(s, scores, class) : -(double)scores[class * s->inner];
	*loss *= *weight;
	return 0;
}

int loss_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct loss *s = with;
	const int64_t n = s->batches * s->inner;
	double loss, weight, all = 0, weights = 0;
	int rc = 0;

	if (s->reduction == LOSS_NONE) {
		for (int64_t i = n * thread / threads; i < n * (thread + 1) / threads; i++) {
			rc |= one(s, buffers, i, &loss, &weight);
			buffers[3][i] = (float)loss;
		}
		return rc;
	}
	for (int64_t i = 0; !thread && i < n; i++) {
		rc |= one(s, buffers, i, &loss, &weight);
		all += loss;
		weights += weight;
	}
	if (!thread)
		buffers[3][0] = (float)(s->reduction == LOSS_MEAN ? all / weights : all);
	return rc;
}
