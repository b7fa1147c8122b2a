#include "lib/run/transform.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/err.h"

#define ANGLES_MOST ((int64_t)1 << 22)

static void angle(const struct transform *t, int64_t i, double at[2])
{
	const double turn = 2 * M_PI / (double)t->length;

	at[0] = cos(turn * (double)i);
	at[1] = sin(turn * (double)i) * (t->is_inverse ? 1 : -1);
}

void transform_begin(struct transform *t)
{
	t->angle = NULL;
	if (t->length > ANGLES_MOST)
		return;
	t->angle = xcalloc((size_t)t->length, 2 * sizeof *t->angle);
	for (int64_t i = 0; i < t->length; i++)
		angle(t, i, t->angle + 2 * i);
}

void transform_end(struct transform *t)
{
	free(t->angle);
	t->angle = NULL;
}

double transform_factor(const struct transform *t, int64_t j, int64_t p, int64_t k, int64_t q)
{
	double scale = t->is_inverse ? 1.0 / (double)t->length : 1, made[2];
	const double *at = made;

	if (j >= t->length || (t->is_halved && 2 * j > t->length))
		return 0;
	if (t->is_halved && j > 0 && 2 * j < t->length)
		scale *= 2;
	if (t->angle)
		at = t->angle + 2 * (j * k % t->length);
	else
		angle(t, j * k % t->length, made);
	return scale * (p == q ? at[0] : p < q ? at[1] : -at[1]);
}
