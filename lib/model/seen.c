#include "lib/model/seen.h"

#include <math.h>

#include "lib/io/field.h"

static const double BEYOND = 0.1; /* of the range */

void seen_add(struct seen *s, const float *x)
{
	for (int i = 0; i < FEATURES; i++) {
		const double v = (double)x[i];

		if (!s->known)
			s->least[i] = s->most[i] = v;
		s->least[i] = fmin(s->least[i], v); /* of a number and NAN it is the number */
		s->most[i] = fmax(s->most[i], v);
	}
	s->known = 1;
}

/* Returns how many ranges it lies beyond its own, at most 0 if it lies within. A feature that never
 * varied, or was always missing, tells nothing. */
static double beyond(const struct seen *s, int i, double v)
{
	const double range = s->most[i] - s->least[i];

	return range > 0 ? fmax(s->least[i] - v, v - s->most[i]) / range : 0;
}

int seen_beyond(const struct seen *s, const float *x)
{
	double most = BEYOND;
	int furthest = -1;

	for (int i = 0; i < FEATURES && s->known; i++) {
		const double far = beyond(s, i, (double)x[i]);

		if (far > most) {
			most = far;
			furthest = i;
		}
	}
	return furthest;
}

int seen_within(const struct seen *s, int feature, double v)
{
	return s->known && s->least[feature] <= v && v <= s->most[feature];
}

void seen_print(const struct seen *s, struct buf *out)
{
	if (!s->known)
		return;
	field_object(out, "seen");
	field_numbers(out, "least", s->least, FEATURES);
	field_numbers(out, "most", s->most, FEATURES);
	buf_ch(out, '}');
}

/* Returns how many elements the list has; those beyond FEATURES are not read. A list of blocks of
 * threads may be older than the last features of the others. */
static int read_list(const struct json_doc *d, const struct json *list, double *to)
{
	int n = 0;

	for (int i = 0; i < FEATURES; i++)
		to[i] = NAN;
	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v), n++)
		if (n < FEATURES && json_num(v, &to[n]))
			to[n] = NAN;
	return n;
}

void seen_read(struct seen *s, const struct json_doc *d)
{
	const struct json *v = json_get(d, d->tok, "seen");

	int n = v ? read_list(d, json_get(d, v, "least"), s->least) : 0;

	s->known = n > 0 && n <= FEATURES && read_list(d, json_get(d, v, "most"), s->most) == n;
}
