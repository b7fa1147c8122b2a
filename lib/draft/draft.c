#include "lib/draft/draft.h"

#include "lib/space/assumed.h"

static const double OVERLAP = 0.7; /* share of the lesser times that hides behind the greatest */
static const double FITS = 0.85;   /* share of a cache that a working set can have */
static const double FAR = 4;	   /* times the best */

/* A thread with this many items does not feel that one is smaller. */
static const double MANY_ITEMS = 8;

static double max(double a, double b)
{
	return a > b ? a : b;
}

static int is_uneven(const struct walk_phase *p)
{
	return p->share < MANY_ITEMS && p->share < p->items;
}

/* Blocks at the edge are smaller than the first: cycles by which the slowest thread's differ. */
static double uneven(const struct walk *w, struct walk *first)
{
	double sum = 0;
	int any = 0;

	for (int i = 0; i < w->nphases; i++)
		any |= is_uneven(&w->phase[i]);
	if (!any)
		return 0;
	walk_nest(first, w->n, w->m, w->registers, 1);
	for (int i = 0; i < w->nphases; i++) {
		const struct walk_phase *p = &w->phase[i];

		if (is_uneven(p))
			sum += max(first->phase[i].cycles - p->cycles, 0) *
			       ((p->items - p->share) / (p->items - 1));
	}
	return sum;
}

static void predict_blocks(struct draft *d)
{
	d->phases = occupancy_predict(d->n, d->m, d->phase);
	d->seconds = 0;
	for (int i = 0; i < d->phases; i++)
		d->seconds += d->phase[i].seconds;
}

static void predict_threads(struct draft *d, int64_t registers)
{
	const struct nest *n = d->n;
	const struct limits *m = d->m;
	double hz = assumed_hz(m), t[4], most, sum, by_buffer[NEST_BUFFERS];
	struct walk *w = &d->walk, first;

	walk_nest(w, n, m, registers, 0);
	walk_working_sets(w, &d->whole, d->body);
	d->items = w->phase[w->longest].items;
	d->forks = nest_threads(n, m->threads) > 1 ? w->nphases : 0;
	d->uneven_cycles = uneven(w, &first);
	d->compute_cycles = w->cycles + d->uneven_cycles;
	d->l2_bytes = walk_traffic(w, (double)m->l1d * FITS, d->whole, d->body, by_buffer) +
		      w->conflict_bytes;
	d->l3_bytes = walk_traffic(w, (double)m->l2 * FITS, d->whole, d->body, by_buffer);
	d->memory_bytes =
		walk_traffic(w, (double)m->l3 / w->threads * FITS, d->whole, d->body, by_buffer);
	t[0] = d->compute_cycles;
	t[1] = d->l2_bytes / assumed.l2;
	t[2] = d->l3_bytes / assumed.l3;
	t[3] = d->memory_bytes / assumed.memory;
	most = max(max(t[0], t[1]), max(t[2], t[3]));
	sum = t[0] + t[1] + t[2] + t[3];
	d->seconds = (most + (1 - OVERLAP) * (sum - most)) / hz + assumed.fork_s * d->forks;
}

void draft_predict(const struct nest *n, const struct limits *m, int64_t registers, struct draft *d)
{
	d->n = n;
	d->m = m;
	d->phases = 0;
	if (n->block_threads)
		predict_blocks(d);
	else
		predict_threads(d, registers);
}

int draft_refutes(double draft_s, double best_s)
{
	return best_s > 0 && draft_s > FAR * best_s;
}
