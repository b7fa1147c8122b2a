/* The working sets of a walk's loops, and the bytes that move into a cache (walk.h). */
#include <string.h>

#include "lib/draft/extremes.h"
#include "lib/draft/walk.h"

enum { LINE = 64 };

/* ---- working sets ---- */

/* A site touches this of a buffer while a loop's body runs once. */
struct stretch {
	int buffer, site;
	double from, to, touched; /* bytes */
};

static int is_before(const struct stretch *a, const struct stretch *b)
{
	return a->buffer < b->buffer || (a->buffer == b->buffer && a->from < b->from);
}

/* Lists the sites of a loop's body by buffer and place. Returns how many there are. */
static int stretches(const struct walk *w, const struct walk_sites *body, struct stretch *list)
{
	int n = 0;

	for (int i = body->first; i < body->end; i++) {
		const struct walk_site *t = &w->site[i];
		const double half = t->span[body->depth] / 2;
		const struct stretch s = {t->buffer, i, t->middle - half, t->middle + half,
					  t->touched[body->depth]};
		int at = n++;

		for (; at && is_before(&s, &list[at - 1]); at--)
			list[at] = list[at - 1];
		list[at] = s;
	}
	return n;
}

/* Stretches that overlap. */
struct overlap {
	double from, to;
	double touched; /* by those of the lines before */
	double begin,
		most; /* the line that the last ones begin in, and the most that one touches */
};

static struct overlap overlap_of(const struct stretch *s)
{
	return (struct overlap){s->from, s->to, 0, s->from, s->touched};
}

static void overlap_add(struct overlap *o, const struct stretch *s)
{
	if (s->from - o->begin >= LINE) {
		o->touched += o->most;
		o->begin = s->from;
		o->most = 0;
	}
	o->most = max(o->most, s->touched);
	o->to = max(o->to, s->to);
}

static double overlap_bytes(const struct overlap *o)
{
	return min(o->touched + o->most, max(o->to - o->from, LINE));
}

/* Bytes of a buffer that n sites touch together, listed by place. Those that begin in one line
 * touch the same. Those that overlap touch as much as all of them, but no more than lies between
 * their ends. */
static double together(const struct stretch *list, int n)
{
	struct overlap o = overlap_of(list);
	double sum = 0;

	for (int i = 1; i < n; i++)
		if (list[i].from > o.to) {
			sum += overlap_bytes(&o);
			o = overlap_of(&list[i]);
		} else {
			overlap_add(&o, &list[i]);
		}
	return sum + overlap_bytes(&o);
}

/* n sites move no more than they touch together. */
static void set_moved(struct walk *w, const struct stretch *list, int n, int depth, double bytes)
{
	double apart = 0;

	for (int i = 0; i < n; i++)
		apart += list[i].touched * w->site[list[i].site].share;
	for (int i = 0; i < n; i++)
		w->site[list[i].site].moved[depth] =
			list[i].touched * (apart > bytes ? bytes / apart : 1);
}

/* by_buffer: bytes, of the buffers that the body touches. Returns their sum. */
static double working_set(struct walk *w, const struct walk_sites *body, double *by_buffer)
{
	struct stretch list[WALK_SITES];
	const int n = stretches(w, body, list);
	double sum = 0;

	for (int i = 0, end; i < n; i = end) {
		const int buffer = list[i].buffer;
		double *bytes = &by_buffer[buffer];

		for (end = i + 1; end < n && list[end].buffer == buffer;)
			end++;
		*bytes = min(together(list + i, end - i),
			     (double)buffer_bytes(&w->n->buffer[buffer]) + LINE);
		set_moved(w, list + i, end - i, body->depth, *bytes);
		sum += *bytes;
	}
	return sum;
}

double walk_working_sets(struct walk *w, double body[WALK_LOOPS], double by_buffer[NEST_BUFFERS])
{
	const struct walk_sites all = {0, w->nsites, 0};
	double unused[NEST_BUFFERS];

	for (int i = 0; i < w->nloops; i++)
		body[i] = working_set(w, &w->body[i], unused);
	memset(by_buffer, 0, sizeof(double) * (size_t)w->n->nbuffers);
	return working_set(w, &all, by_buffer);
}

/* ---- traffic ---- */

/* With the outermost loop whose body fits, each byte that the loop touches moves once a pass. */
double walk_traffic(const struct walk *w, double size, double whole, const double *body,
		    double by_buffer[NEST_BUFFERS])
{
	double sum = 0;

	memset(by_buffer, 0, sizeof(double) * (size_t)w->n->nbuffers);
	if (whole <= size)
		return 0;
	for (int i = 0, d = 0, last = -2; i < w->nsites; i++) {
		const struct walk_site *t = &w->site[i];
		const int inner = t->depth ? t->loop[t->depth - 1] : -1;
		double bytes;

		for (d = inner == last ? d : 0; d < t->depth && body[t->loop[d]] > size;)
			d++;
		last = inner;
		bytes = t->times * t->moved[d] * t->outside[d];
		by_buffer[t->buffer] += bytes;
		sum += bytes;
	}
	return sum;
}
