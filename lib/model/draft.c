#include "lib/model/draft.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/model/static.h"

/* What limits.h does not say. To be probed one day; from a Xeon of 2023, and near enough elsewhere
 * to rank. */
static const struct {
	double l2, l3, memory; /* bytes a cycle a core */
	double store;	       /* vectors a cycle */
	double issue;	       /* operations a cycle */
	double load_share; /* of the load ports' peak, reached with lines that straddle and conflict
			    */
	double window;	   /* operations in flight */
	double fma_latency; /* cycles */
	double overlap;	    /* share of the lesser times that hides behind the greatest */
	double loop, entry; /* cycles an iteration of an outer loop, and a loop's entry and exit */
	double turn;   /* cycles that the jump back of an innermost loop costs beside its ports */
	double mask;   /* operations to make a mask of lanes */
	double fits;   /* share of a cache that a working set can have */
	double fork_s; /* a parallel region's start and end */
	double hz;     /* if unknown */
	double ways;   /* of the first-level cache */
} machine = {
	.l2 = 40,
	.l3 = 10,
	.memory = 5,
	.store = 1,
	.issue = 5,
	.load_share = 0.8,
	.window = 400,
	.fma_latency = 4,
	.overlap = 0.7,
	.loop = 2,
	.entry = 14,
	.turn = 1,
	.mask = 4,
	.fits = 0.85,
	.fork_s = 2e-6,
	.hz = 2.5e9,
	.ways = 12,
};

enum { DEPTH = 20, SITES = 64, LOOPS = 48, LINE = 64, PAGE = 4096 };

/* A thread with this many items does not feel that one is smaller. */
static const double MANY_ITEMS = 8;

/* A value over the loops around it: its mean, and what one iteration of each adds. Slopes are set
 * where loops has a bit, for most values do not follow most loops. */
struct form {
	double mean;
	uint32_t loops;
	double slope[DEPTH];
};

struct loop {
	int id;
	enum loop_kind kind;
	double n;     /* iterations, mean */
	double dealt; /* a thread's share of them */
};

/* Where memory is touched. */
struct site {
	int buffer;
	int depth;
	int loop[DEPTH];
	double times; /* how often, all loops and conditions counted, a thread's share */
	double touched[DEPTH + 1]; /* bytes by one pass of the loops from this depth inwards */
	double outside[DEPTH + 1]; /* passes of the loops outside of this depth */
};

/* Straight code, counted by port, and the cycles of the loops within it. */
struct work {
	double fma, arith, load, store, other;
	double chain; /* FMAs that wait for their own last result */
	double cycles;
	int loops;
};

struct walk {
	const struct nest *n;
	const struct limits *m;
	int folded;	/* no register is left for a broadcast: each multiply-add loads its own */
	int first_item; /* look at the first item of the parallel loops instead of their mean */
	double threads, items, share;
	int depth, nloops, nsites;
	struct loop path[DEPTH];
	struct site site[SITES];
	struct form var[NEST_VARS];
	struct form view[NEST_BUFFERS];
	double conflict_bytes; /* a thread's extra traffic from the second-level cache */
};

/* fmax() and fmin() are calls: they care for NaN. */
static inline double max(double a, double b)
{
	return a > b ? a : b;
}

static inline double min(double a, double b)
{
	return a < b ? a : b;
}

/* ---- values ---- */

/* f += k * g */
static void add_form(struct form *f, const struct form *g, double k)
{
	f->mean += k * g->mean;
	for (uint32_t rest = g->loops; rest; rest &= rest - 1) {
		int d = __builtin_ctz(rest);

		f->slope[d] = k * g->slope[d] + (f->loops >> d & 1 ? f->slope[d] : 0);
	}
	f->loops |= g->loops;
}

static void evaluate(const struct walk *w, const struct affine *a, struct form *f)
{
	const struct nest *n = w->n;

	f->mean = (double)a->c;
	f->loops = 0;
	for (int i = 0; i < a->n; i++) {
		int sym = a->t[i].sym, var = a->t[i].var;
		double k = (double)a->t[i].coef;

		if (sym >= 0)
			k *= (double)n->var[sym].value;
		if (var < 0) {
			f->mean += k;
		} else if (n->var[var].kind == VAR_SYMBOL) {
			f->mean += k * (double)n->var[var].value;
		} else {
			add_form(f, &w->var[var], k);
		}
	}
}

/* A form's values as if evenly spread: the share below 0, and the mean of min(value, 0). */
static double below_zero(const struct walk *w, const struct form *f, double *mean_min)
{
	double half = 0, count = 1, lo, step, k;

	for (uint32_t rest = f->loops; rest; rest &= rest - 1) {
		int d = __builtin_ctz(rest);

		if (f->slope[d] == 0 || w->path[d].n <= 1)
			continue;
		half += fabs(f->slope[d]) * (w->path[d].n - 1) / 2;
		count *= w->path[d].n;
	}
	lo = f->mean - half;
	if (half == 0 || lo >= 0 || f->mean + half <= 0) {
		*mean_min = min(f->mean, 0);
		if (half == 0 || lo >= 0)
			return f->mean < 0 && lo < 0;
		return lo + 2 * half < 0 ? 1 : 1 - 1 / count;
	}
	step = 2 * half / (count - 1);
	k = min(ceil(-lo / step), count);
	*mean_min = (k * lo + step * k * (k - 1) / 2) / count;
	return k / count;
}

static void let(struct walk *w, const struct node *s)
{
	struct form *v = &w->var[s->var], other, diff;
	double mean_min, share;

	evaluate(w, &s->a, v);
	if (!s->has_b)
		return;
	evaluate(w, &s->b, &other);
	diff = *v;
	add_form(&diff, &other, -1);
	share = below_zero(w, &diff, &mean_min);
	if (share < 0.5)
		*v = other;
	v->mean = other.mean + mean_min;
}

/* ---- sites ---- */

/* Bytes of distinct lines that the loops from depth d on touch; order lists the loops by slope. */
static double footprint(const struct walk *w, const double *step, const int *order, int norder,
			int d)
{
	double span = step[w->depth], stride = 0, count = 1, blocks = 1;

	for (int i = 0; i < norder; i++) {
		double c = step[order[i]], n = w->path[order[i]].dealt;

		if (order[i] < d || n <= 1)
			continue;
		if (count == 1 && c <= max(span, LINE)) {
			span += c * (n - 1);
		} else if (count > 1 && c <= stride * count) {
			count += c / stride * (n - 1);
		} else {
			blocks *= count;
			stride = c;
			count = n;
		}
	}
	return blocks * count * max(span, LINE);
}

/* Rows a power of two apart fall into few sets of the first-level cache and push each other out:
 * then each access of a run along the lines goes to the second level. */
static void add_conflicts(struct walk *w, const double *step, double times)
{
	int inner = -1;

	for (int d = 0; d < w->depth; d++)
		if (w->path[d].kind == LOOP_SERIAL)
			inner = d;
	if (inner < 0 || step[inner] == 0 || step[inner] >= LINE)
		return;
	for (int d = inner + 1; d < w->depth; d++) {
		int64_t c = (int64_t)step[d], apart = c & -c;
		double rows = w->path[d].n;

		if (c < LINE || rows < 2)
			continue;
		apart = apart < LINE ? LINE : apart > PAGE ? PAGE : apart;
		if (rows > machine.ways * (double)(PAGE / apart) * 0.75)
			w->conflict_bytes += times * LINE;
	}
}

static void add_site(struct walk *w, int buffer, const struct affine *index, int lanes,
		     double times)
{
	int root = nest_base(w->n, buffer), order[DEPTH], norder = 0;
	double step[DEPTH + 1], outside = 1;
	struct site *t;
	struct form f;

	if (w->first_item || w->nsites == SITES)
		return;
	t = &w->site[w->nsites++];
	evaluate(w, index, &f);
	if (w->n->buffer[buffer].kind == BUFFER_VIEW)
		add_form(&f, &w->view[buffer], 1);
	t->buffer = root;
	t->depth = w->depth;
	for (int d = 0; d < w->depth; d++) {
		int i = norder;

		t->loop[d] = w->path[d].id;
		t->outside[d] = outside;
		outside *= w->path[d].dealt;
		step[d] = f.loops >> d & 1 ? fabs(f.slope[d]) * 4 : 0;
		if (step[d] == 0)
			continue;
		for (norder++; i && step[order[i - 1]] > step[d]; i--)
			order[i] = order[i - 1];
		order[i] = d;
	}
	step[w->depth] = 4 * lanes;
	t->outside[w->depth] = outside;
	t->times = times;
	for (int d = w->depth; d >= 0; d--)
		t->touched[d] = d < w->depth && step[d] == 0
					? t->touched[d + 1]
					: min(footprint(w, step, order, norder, d),
					      (double)w->n->buffer[root].size * 4 + LINE);
	add_conflicts(w, step, times * outside);
}

/* ---- the walk ---- */

static void walk_body(struct walk *w, const struct node *s, struct work *here, double times,
		      double share);

static void walk_expr(struct walk *w, const struct expr *x, struct work *here, double times,
		      double share)
{
	if (!x)
		return;
	switch (x->kind) {
	case EXPR_LOAD:
		if (w->n->buffer[x->buffer].kind == BUFFER_REG)
			return;
		here->load += times;
		if (x->valid)
			here->other += times * machine.mask;
		add_site(w, x->buffer, &x->index, x->lanes, share);
		return;
	case EXPR_FMA:
		here->fma += times;
		if (w->folded && x->lanes > 1)
			here->load += times;
		break;
	case EXPR_CONST:
	case EXPR_BCAST: /* of a load: one operation with it */
		break;
	default:
		here->arith += times;
	}
	walk_expr(w, x->a, here, times, share);
	walk_expr(w, x->b, here, times, share);
	walk_expr(w, x->c, here, times, share);
}

static void walk_store(struct walk *w, const struct node *s, struct work *here, double times,
		       double share)
{
	const struct expr *x = s->value;

	if (w->folded && x->kind == EXPR_BCAST)
		here->load -= times; /* counted with its uses */
	walk_expr(w, x, here, times, share);
	if (w->n->buffer[s->buffer].kind == BUFFER_REG) {
		if (x->kind == EXPR_FMA && x->c->kind == EXPR_LOAD && x->c->buffer == s->buffer)
			here->chain += times;
		else if (x->kind == EXPR_CONST)
			here->other += times;
		return;
	}
	here->store += times;
	if (s->valid)
		here->other += times * machine.mask;
	add_site(w, s->buffer, &s->a, x->lanes, 2 * share); /* lines come and go */
}

static double ports(const struct walk *w, const struct work *k)
{
	const struct limits *m = w->m;
	double fma = (k->fma + k->arith) / m->fma_per_cycle;
	double load = k->load / (m->load_per_cycle * machine.load_share);
	double store = k->store / machine.store;
	double issue = (k->fma + k->arith + k->load + k->store + k->other) / machine.issue;

	return max(max(fma, load), max(store, issue));
}

/* Runs of a loop that overlap: short ones find room for the next in the window. */
static double in_flight(const struct work *k, double n)
{
	double run = n * (k->fma + k->arith + k->load + k->store + k->other);

	return min(max(machine.window / run, 1), machine.fma_latency);
}

static void push(struct walk *w, const struct node *s, double n, double dealt)
{
	struct form *v = &w->var[s->var];

	assert(w->depth < DEPTH);
	evaluate(w, &s->a, v);
	w->path[w->depth] = (struct loop){w->nloops++, s->loop, n, dealt};
	v->mean += (n - 1) / 2;
	v->slope[w->depth] = 1;
	v->loops |= (uint32_t)1 << w->depth;
	w->depth++;
}

static double trips(struct walk *w, const struct node *s)
{
	struct form lo, hi;

	evaluate(w, &s->a, &lo);
	evaluate(w, &s->b, &hi);
	return hi.mean - lo.mean;
}

static void walk_serial(struct walk *w, const struct node *s, struct work *here, double times,
			double share, double n)
{
	struct work inner = {0};
	double each;

	push(w, s, n, n);
	walk_body(w, s->body, &inner, 1, share);
	w->depth--;
	if (inner.loops) {
		each = inner.cycles + ports(w, &inner) + machine.loop;
	} else {
		inner.other += 2.0 / (s->unroll > 1 ? s->unroll : 1);
		each = ports(w, &inner) + machine.turn / (s->unroll > 1 ? s->unroll : 1);
		if (inner.chain > 0)
			each = max(each, machine.fma_latency / in_flight(&inner, n));
		else if (inner.fma == 0)
			each = max(each, 1);
	}
	here->cycles += times * (n * each + machine.entry);
	here->loops++;
}

/* The parallel loops nested directly in each other are one range of items, dealt in stretches. */
static void walk_parallel(struct walk *w, const struct node *s, struct work *here, double times,
			  double share)
{
	double n[8], dealt[8];
	const struct node *loop[8];
	int count = 0, depth = w->depth;

	w->items = 1;
	for (const struct node *p = s;
	     p && p->kind == NODE_FOR && p->loop == LOOP_PARALLEL && count < 8; p = p->body) {
		loop[count] = p;
		n[count] = trips(w, p);
		if (n[count] <= 0)
			return;
		w->items *= n[count++];
	}
	w->share = ceil(w->items / w->threads);
	for (double left = w->share, i = count - 1; i >= 0; i--) {
		dealt[(int)i] = min(n[(int)i], left);
		left = ceil(left / n[(int)i]);
	}
	for (int i = 0; i < count; i++)
		push(w, loop[i], w->first_item ? 1 : n[i], dealt[i]);
	walk_body(w, loop[count - 1]->body, here, times, share);
	w->depth = depth;
}

static void walk_for(struct walk *w, const struct node *s, struct work *here, double times,
		     double share)
{
	double n;

	if (s->loop == LOOP_PARALLEL) {
		walk_parallel(w, s, here, times, share);
		return;
	}
	n = trips(w, s);
	if (n <= 0)
		return;
	if (s->loop == LOOP_SERIAL) {
		walk_serial(w, s, here, times, share, n);
		return;
	}
	push(w, s, n, n);
	walk_body(w, s->body, here, times * n, share);
	w->depth--;
}

static void walk_if(struct walk *w, const struct node *s, struct work *here, double times,
		    double share)
{
	struct form a, b;
	double yes, unused;

	evaluate(w, &s->a, &a);
	evaluate(w, &s->b, &b);
	add_form(&a, &b, -1);
	yes = below_zero(w, &a, &unused);
	if (yes > 0)
		walk_body(w, s->body, here, times * yes, share * yes);
	if (yes < 1)
		walk_body(w, s->orelse, here, times * (1 - yes), share * (1 - yes));
}

static void walk_body(struct walk *w, const struct node *s, struct work *here, double times,
		      double share)
{
	for (; s; s = s->next) {
		switch (s->kind) {
		case NODE_FOR:
			walk_for(w, s, here, times, share);
			break;
		case NODE_IF:
			walk_if(w, s, here, times, share);
			break;
		case NODE_LET:
			let(w, s);
			break;
		case NODE_VIEW: {
			const struct buffer *b = &w->n->buffer[s->buffer];
			struct form *f = &w->view[s->buffer];

			evaluate(w, &s->a, f);
			if (w->n->buffer[b->base].kind == BUFFER_VIEW)
				add_form(f, &w->view[b->base], 1);
			break;
		}
		case NODE_STORE:
			walk_store(w, s, here, times, share);
			break;
		}
	}
}

/* Cycles of one item. */
static double compute(struct walk *w, const struct nest *n, const struct limits *m, int first_item)
{
	struct work all = {0};

	w->n = n;
	w->m = m;
	w->first_item = first_item;
	w->folded = static_registers(n, m) >= m->vregs;
	w->threads = m->threads > 0 ? m->threads : 1;
	w->items = w->share = 1;
	w->depth = w->nloops = w->nsites = 0;
	w->conflict_bytes = 0;
	walk_body(w, n->body, &all, 1, 1);
	return all.cycles + ports(w, &all);
}

/* ---- caches ---- */

/* Working sets: of the whole, and of one iteration of each loop. A buffer counts once in each. */
static void working_sets(const struct walk *w, double *whole, double *body)
{
	double most[LOOPS + 1][NEST_BUFFERS];
	int nbuffers = w->n->nbuffers;

	for (int i = 0; i <= w->nloops && i <= LOOPS; i++)
		memset(most[i], 0, sizeof(double) * (size_t)nbuffers);
	for (int i = 0; i < w->nsites; i++) {
		const struct site *t = &w->site[i];

		for (int d = 0; d <= t->depth; d++) {
			double *p = &most[d ? t->loop[d - 1] + 1 : 0][t->buffer];

			*p = max(*p, t->touched[d]);
		}
	}
	for (int i = 0; i <= w->nloops; i++) {
		double sum = 0;

		for (int b = 0; b < nbuffers; b++)
			sum += most[i][b];
		if (i)
			body[i - 1] = sum;
		else
			*whole = sum;
	}
}

/* Bytes that move into a cache of this size: with the outermost loop whose body fits, each byte
 * that the loop touches moves once a pass. */
static double traffic(const struct walk *w, double size, double whole, const double *body)
{
	double bytes = 0;

	if (whole <= size)
		return 0;
	for (int i = 0; i < w->nsites; i++) {
		const struct site *t = &w->site[i];
		int d = 0;

		while (d < t->depth && body[t->loop[d]] > size)
			d++;
		bytes += t->times * t->touched[d] * t->outside[d];
	}
	return bytes;
}

void draft_predict(const struct nest *n, const struct limits *m, struct draft *d)
{
	struct walk w;
	double whole = 0, body[LOOPS], mean, first, t[4], most, sum,
	       hz = m->hz > 0 ? m->hz : machine.hz;

	mean = compute(&w, n, m, 0);
	assert(w.nloops <= LOOPS);
	working_sets(&w, &whole, body);
	d->items = w.items;
	d->compute_cycles = w.share * mean;
	d->l2_bytes = traffic(&w, (double)m->l1d * machine.fits, whole, body) + w.conflict_bytes;
	d->l3_bytes = traffic(&w, (double)m->l2 * machine.fits, whole, body);
	d->memory_bytes = traffic(&w, (double)m->l3 / w.threads * machine.fits, whole, body);
	if (w.share < MANY_ITEMS && w.share < w.items) { /* the last walk: it forgets the sites */
		double spread = (w.items - w.share) / (w.items - 1);

		first = compute(&w, n, m, 1);
		d->compute_cycles += max(first - mean, 0) * spread;
	}
	t[0] = d->compute_cycles;
	t[1] = d->l2_bytes / machine.l2;
	t[2] = d->l3_bytes / machine.l3;
	t[3] = d->memory_bytes / machine.memory;
	most = max(max(t[0], t[1]), max(t[2], t[3]));
	sum = t[0] + t[1] + t[2] + t[3];
	d->seconds = (most + (1 - machine.overlap) * (sum - most)) / hz +
		     (m->threads > 1 ? machine.fork_s : 0);
}
