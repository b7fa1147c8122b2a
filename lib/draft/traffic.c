/* The working sets of a walk's loops, and the bytes that move into a cache (walk.h). */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "lib/draft/extremes.h"
#include "lib/draft/walk.h"

enum { LINE = 64 };

/* ---- working sets ---- */

/* A site touches this of a buffer while a loop's body runs once. */
struct stretch {
	int site;
	double from, to, touched; /* bytes */
};

static int is_before(double from, int site, const struct stretch *s)
{
	return from < s->from || (from == s->from && site < s->site);
}

/* Adds what a site touches to those of its buffer, n so far, which are listed by place, and where
 * they begin at the same one, in the text's order. */
static void add_stretch(const struct walk *w, int site, int depth, struct stretch *list, int n)
{
	const struct walk_site *t = &w->site[site];
	const double half = t->span[depth] / 2, from = t->middle - half;
	struct stretch *at = list + n;

	for (; at > list && is_before(from, site, &at[-1]); at--)
		*at = at[-1];
	*at = (struct stretch){site, from, t->middle + half, t->touched[depth]};
}

/* The stretches of a loop's body, of each buffer by place. */
struct stretches {
	uint64_t buffers; /* that the body touches, a bit each; of the others nothing is set */
	int n[NEST_BUFFERS];
	struct stretch *of[NEST_BUFFERS];
	struct stretch room[WALK_SITES];
};

/* Makes room for the stretches of each buffer. */
static void make_room(const struct walk *w, const struct walk_sites *body, struct stretches *s)
{
	struct stretch *next = s->room;

	s->buffers = 0;
	for (int i = body->first; i < body->end; i++) {
		const int buffer = w->site[i].buffer;

		if (!(s->buffers >> buffer & 1))
			s->n[buffer] = 0;
		s->buffers |= (uint64_t)1 << buffer;
		s->n[buffer]++;
	}
	for (uint64_t rest = s->buffers; rest; rest &= rest - 1) {
		const int buffer = __builtin_ctzll(rest);

		s->of[buffer] = next;
		next += s->n[buffer];
		s->n[buffer] = 0;
	}
}

/* order: of the sites, where those of a body stay together. Loops inside come first, and leave
 * their sites by place: most have the same place in the loop around them, so little is left to
 * move. */
static void list_stretches(const struct walk *w, const struct walk_sites *body, int *order,
			   struct stretches *s)
{
	_Static_assert(NEST_BUFFERS <= 64, "each has a bit");
	make_room(w, body, s);
	for (int i = body->first; i < body->end; i++) {
		const int site = order[i], buffer = w->site[site].buffer;

		add_stretch(w, site, body->depth, s->of[buffer], s->n[buffer]++);
	}
	for (int i = body->first; i < body->end; i++)
		order[i] = s->room[i - body->first].site;
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
static double working_set(struct walk *w, const struct walk_sites *body, int *order,
			  double *by_buffer)
{
	struct stretches s;
	double sum = 0;

	list_stretches(w, body, order, &s);
	for (uint64_t rest = s.buffers; rest; rest &= rest - 1) {
		const int i = __builtin_ctzll(rest);

		by_buffer[i] = min(together(s.of[i], s.n[i]),
				   (double)buffer_bytes(&w->n->buffer[i]) + LINE);
		set_moved(w, s.of[i], s.n[i], body->depth, by_buffer[i]);
		sum += by_buffer[i];
	}
	return sum;
}

double walk_working_sets(struct walk *w, double body[WALK_LOOPS], double by_buffer[NEST_BUFFERS])
{
	const struct walk_sites all = {0, w->nsites, 0};
	double unused[NEST_BUFFERS];
	int order[WALK_SITES];

	for (int i = 0; i < w->nsites; i++)
		order[i] = i;
	for (int i = w->nloops - 1; i >= 0; i--)
		body[i] = working_set(w, &w->body[i], order, unused);
	memset(by_buffer, 0, sizeof(double) * (size_t)w->n->nbuffers);
	return working_set(w, &all, order, by_buffer);
}

/* ---- traffic ---- */

/* The outermost loop whose body fits, from loop d on: each byte that it touches moves once a pass.
 */
static int depth_that_fits(const struct walk_site *t, const double *body, double size, int d)
{
	while (d < t->depth && body[t->loop[d]] > size)
		d++;
	return d;
}

static int inner_loop(const struct walk_site *t)
{
	return t->depth ? t->loop[t->depth - 1] : -1;
}

static double moved_from(const struct walk_site *t, int d)
{
	return t->times * t->moved[d] * t->outside[d];
}

double walk_traffic(const struct walk *w, double size, double whole, const double *body,
		    double by_buffer[NEST_BUFFERS])
{
	double sum = 0;

	memset(by_buffer, 0, sizeof(double) * (size_t)w->n->nbuffers);
	if (whole <= size)
		return 0;
	for (int i = 0, d = 0, last = -2; i < w->nsites; i++) {
		const struct walk_site *t = &w->site[i];
		double bytes;

		if (inner_loop(t) != last)
			d = depth_that_fits(t, body, size, 0);
		last = inner_loop(t);
		bytes = moved_from(t, d);
		by_buffer[t->buffer] += bytes;
		sum += bytes;
	}
	return sum;
}

/* The caches that do not hold the whole. */
struct caches {
	int n;
	double size[WALK_SIZES], sum[WALK_SIZES];
	int depth[WALK_SIZES]; /* of the loop that fits, for the last site */
};

/* Data that do not fit a cache fit no smaller one. So a larger cache before it says where to begin.
 */
static void find_depths(struct caches *c, const struct walk_site *t, const double *body)
{
	for (int k = c->n - 1, d = 0; k >= 0; k--) {
		if (k + 1 < c->n && c->size[k] > c->size[k + 1])
			d = 0;
		c->depth[k] = d = depth_that_fits(t, body, c->size[k], d);
	}
}

/* Adds what a site moves. Neighbouring sizes mostly have the same depth. */
static void add_moved(struct caches *c, const struct walk_site *t)
{
	double bytes = 0;

	for (int k = 0; k < c->n; k++) {
		if (!k || c->depth[k] != c->depth[k - 1])
			bytes = moved_from(t, c->depth[k]);
		c->sum[k] += bytes;
	}
}

void walk_traffics(const struct walk *w, const double *size, int n, double whole,
		   const double *body, double *sum)
{
	struct caches c = {0};

	assert(n <= WALK_SIZES);
	for (int k = 0; k < n; k++)
		if (whole > size[k])
			c.size[c.n++] = size[k];
	for (int i = 0, last = -2; i < w->nsites && c.n; i++) {
		const struct walk_site *t = &w->site[i];

		if (inner_loop(t) != last)
			find_depths(&c, t, body);
		last = inner_loop(t);
		add_moved(&c, t);
	}
	for (int k = 0, i = 0; k < n; k++)
		sum[k] = whole > size[k] ? c.sum[i++] : 0;
}
