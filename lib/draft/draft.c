#include "lib/draft/draft.h"

#include "lib/draft/extremes.h"
#include "lib/nest/tmul.h"
#include "lib/space/assumed.h"

static const double OVERLAP = 0.7; /* share of the lesser times that hides behind the greatest */
static const double FITS = 0.85;   /* share of a cache that a working set can have */
static const double FAR = 4;	   /* times the best */

/* A thread with this many items does not feel that one is smaller. */
static const double MANY_ITEMS = 8;

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
	d->warm_s = d->seconds;
}

/* A cache level, as the draft counts it. */
struct level {
	double size; /* bytes that a thread has of the next nearer one */
	double rate; /* bytes a cycle from here */
};

/* The part of what a thread touches of each buffer that it must bring into a cache of the whole
 * team. What several threads touch is there once: each brings its part, and finds the others'. */
static void team_shares(const struct draft *d, const double *touched, double *share)
{
	for (int i = 0; i < d->n->nbuffers; i++) {
		const struct buffer *b = &d->n->buffer[i];
		const double bytes = (double)buffer_bytes(b), all = d->walk.threads * touched[i];

		share[i] = 1;
		if ((b->kind == BUFFER_ARG || b->kind == BUFFER_PACKED) && all > bytes)
			share[i] = max(bytes / all, 1 / d->walk.threads);
	}
}

/* Bytes that move from a level: with no operand cold; besides, because some are; and of these the
 * thread's part of what comes to the team. */
struct moved {
	double warm, cold, team;
};

static struct moved traffic(const struct draft *d, const struct level *l, const double *touched,
			    const double *share, unsigned cold)
{
	double by_buffer[NEST_BUFFERS], whole = d->whole;
	struct moved sum = {0};

	for (int i = 0; i < d->n->nbuffers; i++)
		whole -= (1 - share[i]) * touched[i];
	walk_traffic(&d->walk, l->size * FITS, whole, d->body, by_buffer);
	for (int i = 0; i < d->n->nbuffers; i++) {
		const struct buffer *b = &d->n->buffer[i];

		sum.warm += share[i] * by_buffer[i];
		if ((b->kind == BUFFER_ARG || b->kind == BUFFER_PACKED) && cold >> b->role & 1) {
			const double besides = max(touched[i] - by_buffer[i], 0);

			sum.cold += besides;
			sum.team += share[i] * besides;
		}
	}
	return sum;
}

/* Cycles that a thread waits for its cold operands. Threads read the same weights at the same time,
 * so that each waits for all that it touches, even where it comes from memory once. */
static double wait_cycles(const struct limits *m, const struct moved *b)
{
	return max(b->cold / assumed_stream(m), b->team / assumed.memory);
}

enum { FROM_L2, FROM_L3, FROM_MEMORY, LEVELS };

static int has_tiles(const struct nest *n)
{
	int i = 0;

	while (i < n->nbuffers && !nest_is_tiles(n, i))
		i++;
	return i < n->nbuffers;
}

/* Where vectors compute and the next panel of weights is prefetched to the second-level cache, the
 * wait hides this share of the lesser of itself and the other cycles: fitted to recordings of four
 * CPUs (docs/EXPERIMENTS.md, "Prefetched weights and their wait"). Products of tile registers are
 * too short for it. */
static const double HIDDEN = 0.5;

static double waited(const struct walk *w, double cycles, double wait)
{
	const int hides = w->prefetches[1] > 0 && !has_tiles(w->n);

	return cycles + wait - (hides ? HIDDEN * min(cycles, wait) : 0);
}

/* The greatest of the times hides most of the others, and all of what is prefetched. */
static double overlapped(const struct walk *w, const double *t)
{
	double most = 0, sum = 0;

	for (int i = 0; i <= LEVELS; i++) {
		most = max(most, t[i]);
		sum += i == FROM_L3 && w->prefetches[1] > 0 ? 0 : t[i];
	}
	return most + (1 - OVERLAP) * max(sum - most, 0);
}

/* A border between threads (walk_borders()) costs so many cycles, but a share of the rest hides as
 * many: fitted to a Granite Rapids (docs/EXPERIMENTS.md, "Threads that write parts of the same
 * rows"). */
static const double BORDER = 45, BORDER_HIDDEN = 0.1;

static double border_cycles(const struct draft *d)
{
	return max(BORDER * d->walk.borders - BORDER_HIDDEN * d->compute_cycles, 0);
}

/* A thread reads at so many bytes a cycle what another one wrote in the phase before, for it lies
 * in that one's cache: fitted to the Granite Rapids (docs/EXPERIMENTS.md, "Single precision by
 * halves"). Phases in single precision stay as models learned them, without it. */
static const double FROM_OTHERS = 4;

static double others_bytes(const struct draft *d, const double *touched)
{
	double bytes = 0;

	for (int i = 0; i < d->n->nbuffers; i++) {
		const struct buffer *b = &d->n->buffer[i];

		if (b->kind == BUFFER_TEAM && elem_size(b->elem) < elem_size(ELEM_F32))
			bytes += max(touched[i] - (double)buffer_bytes(b) / d->walk.threads, 0);
	}
	return bytes;
}

static void predict_threads(struct draft *d, int64_t registers, unsigned cold)
{
	const struct nest *n = d->n;
	const struct limits *m = d->m;
	struct walk *w = &d->walk, first;
	double hz = assumed_hz(m), touched[NEST_BUFFERS], warm[1 + LEVELS], far[1 + LEVELS];
	double besides_s, own[NEST_BUFFERS], shared[NEST_BUFFERS];
	struct moved bytes[LEVELS];
	struct level level[LEVELS];

	walk_nest(w, n, m, registers, 0);
	d->whole = walk_working_sets(w, d->body, touched);
	team_shares(d, touched, shared);
	for (int i = 0; i < n->nbuffers; i++)
		own[i] = 1;
	d->items = w->phase[w->longest].items;
	d->forks = nest_threads(n, m->threads) > 1 ? w->nphases : 0;
	d->uneven_cycles = uneven(w, &first);
	d->compute_cycles = w->cycles + d->uneven_cycles;
	level[FROM_L2] = (struct level){(double)m->l1d, assumed.l2};
	level[FROM_L3] = (struct level){(double)m->l2, assumed_l3(m)};
	level[FROM_MEMORY] = (struct level){(double)m->l3 / w->threads, assumed.memory};
	warm[LEVELS] = far[LEVELS] = d->compute_cycles;
	for (int i = 0; i < LEVELS; i++) {
		const int is_shared = i == FROM_MEMORY;

		bytes[i] = traffic(d, &level[i], touched, is_shared ? shared : own, cold);
		if (i == FROM_L2)
			bytes[i].warm += w->conflict_bytes;
		warm[i] = bytes[i].warm / level[i].rate;
		far[i] = warm[i] + (is_shared ? 0 : bytes[i].cold / level[i].rate);
	}
	d->l2_bytes = bytes[FROM_L2].warm;
	d->l3_bytes = bytes[FROM_L3].warm;
	d->memory_bytes = bytes[FROM_MEMORY].warm;
	d->others_bytes = others_bytes(d, touched);
	besides_s =
		assumed.fork_s * d->forks + (border_cycles(d) + d->others_bytes / FROM_OTHERS) / hz;
	d->warm_s = overlapped(w, warm) / hz + besides_s;
	d->seconds =
		waited(w, overlapped(w, far), wait_cycles(m, &bytes[FROM_MEMORY])) / hz + besides_s;
}

void draft_predict(const struct nest *n, const struct limits *m, int64_t registers, unsigned cold,
		   struct draft *d)
{
	d->n = n;
	d->m = m;
	d->phases = 0;
	if (n->block_threads)
		predict_blocks(d);
	else
		predict_threads(d, registers, cold);
}

int draft_refutes(double draft_s, double best_s)
{
	return best_s > 0 && draft_s > FAR * best_s;
}
