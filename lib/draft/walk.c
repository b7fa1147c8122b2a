#include "lib/draft/walk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/draft/extremes.h"
#include "lib/nest/tmul.h"

/* What the walk takes of any CPU, near enough to rank. */
static const struct {
	double load_share; /* of the load ports' peak, reached with lines that straddle and conflict
			    */
	double loop, entry; /* cycles an iteration of an outer loop, and a loop's entry and exit */
	double turn; /* cycles that the jump back of an innermost loop costs beside its ports */
	double mask; /* operations to make a mask of lanes */
	double ways; /* of the first-level cache */
	/* Operations that widen a vector, of bf16 or beside additions (widening()), and that round
	 * one. */
	double widen, widen_beside, round, round_by_hand;
} machine = {
	.load_share = 0.8,
	.loop = 2,
	.entry = 14,
	.turn = 1,
	.mask = 4,
	.ways = 12,
	.widen = 2,
	.widen_beside = 0.25,
	.round = 2,
	.round_by_hand = 6,
};

enum { LINE = 64, PAGE = 4096 };

/* Straight code, and the cycles of the loops within it. */
struct work {
	struct walk_ops ops;
	double chain; /* FMAs that wait for their own last result */
	double cycles;
	int loops;
};

/* ---- values ---- */

/* f += k * g */
static void add_form(struct walk_form *f, const struct walk_form *g, double k)
{
	f->mean += k * g->mean;
	for (uint32_t rest = g->loops; rest; rest &= rest - 1) {
		int d = __builtin_ctz(rest);

		f->slope[d] = k * g->slope[d] + (f->loops >> d & 1 ? f->slope[d] : 0);
	}
	f->loops |= g->loops;
}

static void evaluate(const struct walk *w, const struct affine *a, struct walk_form *f)
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
static double below_zero(const struct walk *w, const struct walk_form *f, double *mean_min)
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
	struct walk_form *v = &w->var[s->var], other, diff;
	double mean_min, share;

	evaluate(w, &s->a, v);
	switch (s->let) {
	case LET_IS:
		return;
	case LET_DIV:
		other = *v;
		*v = (struct walk_form){0};
		add_form(v, &other, 1 / (double)s->b.c);
		return;
	case LET_IN: /* mostly there */
		*v = (struct walk_form){.mean = 1};
		return;
	case LET_MOD: /* as good as any value */
		*v = (struct walk_form){.mean = (double)(s->b.c - 1) / 2};
		return;
	case LET_MIN:
		break;
	}
	evaluate(w, &s->b, &other);
	diff = *v;
	add_form(&diff, &other, -1);
	share = below_zero(w, &diff, &mean_min);
	if (share < 0.5)
		*v = other;
	v->mean = other.mean + mean_min;
}

/* ---- sites ---- */

/* Bytes of distinct lines (or pages: grain) that the loops from depth d on touch; order lists the
 * loops by slope. */
static double footprint(const struct walk *w, const double *step, const int *order, int norder,
			int d, double grain)
{
	double span = step[w->depth], stride = 0, count = 1, blocks = 1;

	for (int i = 0; i < norder; i++) {
		double c = step[order[i]], n = w->path[order[i]].dealt;

		if (order[i] < d || n <= 1)
			continue;
		if (count == 1 && c <= max(span, grain)) {
			span += c * (n - 1);
		} else if (count > 1 && c <= stride * count) {
			count += c / stride * (n - 1);
		} else {
			blocks *= count;
			stride = c;
			count = n;
		}
	}
	return blocks * count * max(span, grain);
}

/* The innermost loop that is no unrolled one; -1: none. */
static int inner_loop(const struct walk *w)
{
	int d = w->depth - 1;

	while (d >= 0 && w->path[d].kind != LOOP_SERIAL)
		d--;
	return d;
}

/* Rows a power of two apart fall into few sets of the first-level cache and push each other out:
 * then each access of a run along the lines goes to the second level. Returns the number of loops
 * for which that is so. */
static int conflicts(const struct walk *w, const double *step, int inner)
{
	int n = 0;

	if (inner < 0 || step[inner] == 0 || step[inner] >= LINE)
		return 0;
	for (int d = inner + 1; d < w->depth; d++) {
		int64_t c = (int64_t)step[d], apart = c & -c;
		double rows = w->path[d].n;

		if (c < LINE || rows < 2)
			continue;
		apart = apart < LINE ? LINE : apart > PAGE ? PAGE : apart;
		n += rows > machine.ways * (double)(PAGE / apart) * 0.75;
	}
	return n;
}

/* Do vectors begin anywhere in a line, because some loop steps by a part of one, of so many bytes?
 */
static int straddles(const struct walk *w, const double *step, int bytes)
{
	const int is_power = !(bytes & (bytes - 1)); /* nearly always, and divisions are slow */

	for (int d = 0; d < w->depth; d++)
		if (is_power ? (int64_t)step[d] & (bytes - 1) : (int64_t)step[d] % bytes)
			return 1;
	return 0;
}

/* All that find_touched() fills in. */
static void copy_touched(struct walk_site *to, const struct walk_site *from)
{
	to->buffer = from->buffer;
	to->depth = from->depth;
	to->pages = from->pages;
	for (int d = 0; d < from->depth; d++)
		to->loop[d] = from->loop[d];
	for (int d = 0; d <= from->depth; d++) {
		to->span[d] = from->span[d];
		to->touched[d] = from->touched[d];
		to->outside[d] = from->outside[d];
	}
}

/* Fills in what follows from the path and the slopes. */
static void find_touched(struct walk *w, const struct walk_form *f, int lanes, struct walk_site *t)
{
	const struct buffer *b = &w->n->buffer[t->buffer];
	const int size = elem_size(b->elem), inner = inner_loop(w);
	double step[WALK_DEPTH + 1], all = (double)buffer_bytes(b);
	int order[WALK_DEPTH], norder = 0;

	t->depth = w->depth;
	for (int d = 0; d < w->depth; d++) {
		int i = norder;

		t->loop[d] = w->path[d].id;
		t->outside[d] = w->outside[d];
		step[d] = f->loops >> d & 1 ? fabs(f->slope[d]) * size : 0;
		if (step[d] == 0)
			continue;
		for (norder++; i && step[order[i - 1]] > step[d]; i--)
			order[i] = order[i - 1];
		order[i] = d;
	}
	step[w->depth] = size * lanes;
	t->outside[w->depth] = w->outside[w->depth];
	t->span[w->depth] = size * lanes;
	for (int d = w->depth - 1; d >= 0; d--)
		t->span[d] = t->span[d + 1] + step[d] * (w->path[d].dealt - 1);
	for (int d = w->depth; d >= 0; d--)
		t->touched[d] =
			d < w->depth && step[d] == 0
				? t->touched[d + 1]
				: min(footprint(w, step, order, norder, d, LINE), all + LINE);
	t->pages = min(footprint(w, step, order, norder, inner < 0 ? 0 : inner, PAGE), all + PAGE) /
		   PAGE;
	w->last.conflicts = conflicts(w, step, inner);
	w->last.straddles = lanes > 1 && straddles(w, step, size * lanes);
}

static int innermost(const struct walk *w)
{
	return w->depth ? w->path[w->depth - 1].id : -1;
}

/* Does the site before touch as much? Code that is unrolled has many such, one after the other. */
static int is_like_last(const struct walk *w, const struct walk_form *f, int lanes, int buffer)
{
	const struct walk_last *l = &w->last;

	if (w->nsites < 2 || l->inner != innermost(w) || l->lanes != lanes ||
	    w->site[w->nsites - 2].buffer != buffer || l->form.loops != f->loops)
		return 0;
	for (uint32_t rest = f->loops; rest; rest &= rest - 1)
		if (l->form.slope[__builtin_ctz(rest)] != f->slope[__builtin_ctz(rest)])
			return 0;
	return 1;
}

/* Is it an operand that has fewer than 32 bits an element? In single precision, whose draft is what
 * models learned from, a thread's part of a row has four times the bytes. */
static int is_narrow_result(const struct walk *w, int buffer)
{
	return w->n->buffer[buffer].kind == BUFFER_ARG && elem_size(w->n->buffer[buffer].elem) < 4;
}

/* step: elements that a turn of the last loop of the path goes on by, beside what the index says;
 * 0: none. */
static void add_stepped_site(struct walk *w, int buffer, const struct affine *index, double step,
			     int lanes, double share, int store)
{
	const int root = nest_base(w->n, buffer);
	struct walk_site *t;
	struct walk_form f;

	if (w->first_item || w->n->buffer[buffer].near)
		return;
	assert(w->nsites < WALK_SITES);
	t = &w->site[w->nsites++];
	evaluate(w, index, &f);
	if (w->n->buffer[buffer].kind == BUFFER_VIEW)
		add_form(&f, &w->view[buffer], 1);
	if (step != 0) {
		f.mean += step * (w->path[w->depth - 1].n - 1) / 2;
		f.slope[w->depth - 1] = step;
		f.loops |= (uint32_t)1 << (w->depth - 1);
	}
	if (is_like_last(w, &f, lanes, root)) {
		copy_touched(t, &t[-1]);
	} else {
		t->buffer = root;
		find_touched(w, &f, lanes, t);
		w->last.inner = innermost(w);
		w->last.lanes = lanes;
		w->last.form = f;
	}
	t->middle = f.mean * elem_size(w->n->buffer[root].elem);
	t->store = store > 0;
	t->share = share;
	t->times = store ? store * share : share;
	if (store && is_narrow_result(w, root))
		w->borders += share * walk_borders(w, &f, elem_size(w->n->buffer[root].elem));
	for (int i = 0; i < w->last.conflicts; i++)
		w->conflict_bytes += t->times * w->outside[w->depth] * LINE;
	if (w->last.straddles)
		w->straddles += share * w->outside[w->depth];
}

static void add_site(struct walk *w, int buffer, const struct affine *index, int lanes,
		     double share, int store)
{
	add_stepped_site(w, buffer, index, 0, lanes, share, store);
}

/* ---- the walk ---- */

static void walk_body(struct walk *w, const struct node *s, struct work *here, double times,
		      double share);

/* Counts an operation: here, times over; and in all. */
static void count(struct walk *w, enum walk_op op, int lanes, struct work *here, double times,
		  double share)
{
	const double more = lanes > w->m->lanes / 2 ? max(w->m->wide_turns - 1, 0) : 0;
	const double all = share * w->outside[w->depth];

	here->ops.n[op] += times;
	here->ops.more[op] += times * more;
	w->ops.n[op] += all;
	w->ops.more[op] += all * more;
}

static void walk_access(struct walk *w, struct work *here, const struct affine *valid, double times,
			double share)
{
	if (!valid)
		return;
	count(w, WALK_OTHER, 1, here, times * machine.mask, share * machine.mask);
	w->masks += share * w->outside[w->depth];
}

/* Operations of the arithmetic ports that take as long. A division of 8 lanes keeps its port for
 * four to five cycles (Fog, "Instruction tables"). */
static double operations(enum expr_kind kind)
{
	switch (kind) {
	case EXPR_DIV:
	case EXPR_SQRT:
		return 8;
	default:
		return 1;
	}
}

/* Are elements of memory not those that are computed with? */
static int is_converted(const struct walk *w, int buffer)
{
	return !elem_is_float(w->n->buffer[nest_base(w->n, buffer)].elem);
}

/* Does a load make other elements of those in memory? Groups are what lies there, but pairs of 16
 * bits of elements of 8. */
static int is_widened(const struct walk *w, const struct expr *load)
{
	const int in_memory = elem_size(w->n->buffer[nest_base(w->n, load->buffer)].elem);

	return is_converted(w, load->buffer) &&
	       (elem_group(load->elem) == 1 || in_memory * elem_group(load->elem) < 4);
}

/* Operations of the arithmetic ports that make a load wider. Where products of pairs take an
 * addition each, a vector of AVX2 becomes pairs beside these, at a port that they do not take
 * (those of AVX-512 have two ports for all); a pair that is broadcast does so twice, and there are
 * more of them (docs/EXPERIMENTS.md, "8 bits on the Zen 3"). */
static double widening(const struct walk *w, const struct expr *load)
{
	const int beside = load->elem == ELEM_S16X2 && load->lanes > 1 && w->m->lanes < 16 &&
			   !(w->m->dots >> DTYPE_U8 & 1);

	return beside ? machine.widen_beside : machine.widen;
}

/* Operations that round a vector to elements of memory: to bf16 an instruction's, or those in its
 * place; to whole numbers two for their ends, and one each that converts and packs. */
static double round_ops(const struct walk *w, int buffer)
{
	enum { ENDS = 2, PACK = 2 };

	if (elem_is_whole(w->n->buffer[nest_base(w->n, buffer)].elem))
		return ENDS + PACK;
	return w->m->dots >> DTYPE_BF16 & 1 ? machine.round : machine.round_by_hand;
}

/* Is the sum of products of whole numbers an operation of its own? */
static int adds_apart(const struct walk *w, const struct expr *x)
{
	return x->elem == ELEM_S32 && !(x->kind == EXPR_DOT && w->m->dots >> DTYPE_U8 & 1);
}

/* Groups whose members lie apart: each is loaded and made wider, and all but the first are shifted
 * and joined with those before. */
static void walk_members(struct walk *w, const struct expr *x, struct work *here, double times,
			 double share)
{
	enum { JOIN = 2 };
	const int loads = ex_loads(x);
	const double arith = loads * machine.widen + (loads - 1) * JOIN;

	count(w, WALK_ARITH, x->lanes, here, times * arith, share * arith);
	count(w, WALK_LOAD, x->lanes, here, times * loads, share * loads);
	for (int m = x->members->from; m < x->members->to; m++) {
		const struct affine at = ex_member_at(x, m);

		walk_access(w, here, x->valid, times, share);
		add_site(w, x->buffer, &at, x->lanes, share, 0);
	}
}

static void walk_expr(struct walk *w, const struct expr *x, struct work *here, double times,
		      double share)
{
	if (!x)
		return;
	switch (x->kind) {
	case EXPR_LOAD:
		if (w->n->buffer[x->buffer].kind == BUFFER_REG) {
			if (w->n->buffer[x->buffer].elem != x->elem)
				count(w, WALK_ARITH, x->lanes, here, times, share);
			return;
		}
		if (x->members) {
			walk_members(w, x, here, times, share);
			return;
		}
		if (is_widened(w, x))
			count(w, WALK_ARITH, x->lanes, here, times * widening(w, x),
			      share * widening(w, x));
		count(w, WALK_LOAD, x->lanes, here, times, share);
		if (x->lanes == 1)
			w->scalars += share * w->outside[w->depth];
		walk_access(w, here, x->valid, times, share);
		add_site(w, x->buffer, &x->index, x->lanes * elem_group(x->elem), share, 0);
		return;
	case EXPR_DOT:
	case EXPR_FMA:
		count(w, WALK_FMA, x->lanes, here, times, share);
		if (x->low && adds_apart(w, x)) /* sums of two products, then of these */
			count(w, WALK_FMA, x->lanes, here, times, share);
		if (adds_apart(w, x))
			count(w, WALK_OTHER, x->lanes, here, times, share);
		w->flops += 2 * x->lanes * elem_group(x->a->elem) * share * w->outside[w->depth];
		if (w->folded && x->lanes > 1)
			count(w, WALK_LOAD, x->lanes, here, times, share);
		break;
	case EXPR_CONST:
	case EXPR_BCAST: /* of a load: one operation with it */
		break;
	default:
		count(w, WALK_ARITH, x->lanes, here, times * operations(x->kind),
		      share * operations(x->kind));
	}
	walk_expr(w, x->a, here, times, share);
	walk_expr(w, x->b, here, times, share);
	walk_expr(w, x->c, here, times, share);
}

static void walk_store(struct walk *w, const struct node *s, struct work *here, double times,
		       double share)
{
	const struct expr *x = s->value;

	if (w->folded && x->kind == EXPR_BCAST) /* counted with its uses */
		count(w, WALK_LOAD, x->lanes, here, -times, -share);
	w->code += w->copies[w->depth];
	walk_expr(w, x, here, times, share);
	if (w->n->buffer[s->buffer].kind == BUFFER_REG) {
		if ((x->kind == EXPR_FMA || x->kind == EXPR_DOT) && x->c->kind == EXPR_LOAD &&
		    x->c->buffer == s->buffer)
			here->chain += times;
		else if (x->kind == EXPR_CONST)
			count(w, WALK_OTHER, 1, here, times, share);
		return;
	}
	if (is_converted(w, s->buffer) && elem_group(x->elem) == 1)
		count(w, WALK_ARITH, x->lanes, here, times * round_ops(w, s->buffer),
		      share * round_ops(w, s->buffer));
	count(w, WALK_STORE, x->lanes, here, times, share);
	walk_access(w, here, s->valid, times, share);
	/* Lines that are written come and go, or just go. */
	add_site(w, s->buffer, &s->a, x->lanes * elem_group(x->elem), share, s->streams ? 1 : 2);
}

static double all_ops(const struct walk_ops *k)
{
	double sum = 0;

	for (int op = 0; op < WALK_OPS; op++)
		sum += k->n[op];
	return sum;
}

static double turns(const struct walk_ops *k, enum walk_op op)
{
	return k->n[op] + k->more[op];
}

static double ports(const struct walk *w, const struct walk_ops *k)
{
	const struct limits *m = w->m;
	double fma = (turns(k, WALK_FMA) + turns(k, WALK_ARITH)) / m->fma_per_cycle;
	double load = turns(k, WALK_LOAD) / (m->load_per_cycle * machine.load_share);
	double store = turns(k, WALK_STORE) / m->store_per_cycle;

	return max(max(fma, load), max(store, all_ops(k) / m->issue_per_cycle));
}

/* Runs of a loop that overlap: short ones find room for the next in the window. */
static double in_flight(const struct limits *m, const struct walk_ops *k, double n)
{
	return min(max(m->window / (n * all_ops(k)), 1), m->fma_latency);
}

static void push_loop(struct walk *w, enum loop_kind kind, double n, double dealt)
{
	int d = w->depth;

	assert(d < WALK_DEPTH && w->nloops < WALK_LOOPS);
	w->path[d] = (struct walk_loop){w->nloops++, kind, n, dealt};
	w->body[w->path[d].id] = (struct walk_sites){w->nsites, w->nsites, d + 1};
	w->outside[d + 1] = w->outside[d] * dealt;
	w->copies[d + 1] = w->copies[d] * (kind == LOOP_UNROLL ? n : 1);
	w->depth++;
}

static void push(struct walk *w, const struct node *s, double n, double dealt)
{
	struct walk_form *v = &w->var[s->var];
	int d = w->depth;

	evaluate(w, &s->a, v);
	push_loop(w, s->loop, n, dealt);
	v->mean += (n - 1) / 2;
	v->slope[d] = 1;
	v->loops |= (uint32_t)1 << d;
}

static void pop(struct walk *w)
{
	w->depth--;
	w->body[w->path[w->depth].id].end = w->nsites;
}

static double trips(struct walk *w, const struct node *s)
{
	struct walk_form lo, hi;

	evaluate(w, &s->a, &lo);
	evaluate(w, &s->b, &hi);
	return hi.mean - lo.mean;
}

/* The path's last loop multiplies and adds, and has no other inside. */
static void keep_inner(struct walk *w, const struct work *k, double n, double cycles, double share)
{
	double runs = share * w->outside[w->depth - 1], fmas = runs * n * k->ops.n[WALK_FMA];

	w->inner_cycles += runs * n * cycles;
	if (fmas <= w->inner.fmas)
		return;
	w->inner = (struct walk_inner){
		.ops = k->ops,
		.chain = k->chain,
		.n = n,
		.cycles = cycles,
		.fmas = fmas,
		.depth = w->depth,
	};
	memcpy(w->inner.path, w->path, sizeof *w->path * (size_t)w->depth);
}

static void walk_serial(struct walk *w, const struct node *s, struct work *here, double times,
			double share, double n)
{
	struct work inner = {0};
	double each;

	push(w, s, n, n);
	walk_body(w, s->body, &inner, 1, share);
	if (inner.loops) {
		each = inner.cycles + ports(w, &inner.ops) + machine.loop;
	} else {
		inner.ops.n[WALK_OTHER] += 2.0 / (s->unroll > 1 ? s->unroll : 1);
		each = ports(w, &inner.ops) + machine.turn / (s->unroll > 1 ? s->unroll : 1);
		if (inner.chain > 0)
			each = max(each, w->m->fma_latency / in_flight(w->m, &inner.ops, n));
		else if (inner.ops.n[WALK_FMA] == 0)
			each = max(each, 1);
		if (inner.ops.n[WALK_FMA] > 0)
			keep_inner(w, &inner, n, each, share);
	}
	pop(w);
	here->cycles += times * (n * each + machine.entry);
	here->loops++;
}

/* The parallel loops nested directly in each other are one range of items, dealt in stretches. */
static void walk_parallel(struct walk *w, const struct node *s, struct work *here, double times,
			  double share)
{
	double n[NEST_PARALLEL], dealt[NEST_PARALLEL];
	const struct node *loop[NEST_PARALLEL];
	struct walk_phase *phase = &w->phase[w->nphases - 1];
	int count = 0, depth = w->depth;

	for (const struct node *p = s; p && p->kind == NODE_FOR && p->loop == LOOP_PARALLEL;
	     p = p->body) {
		assert(count < NEST_PARALLEL);
		loop[count] = p;
		n[count] = trips(w, p);
		if (n[count] <= 0)
			return;
		phase->items *= n[count++];
	}
	phase->share = ceil(phase->items / w->threads);
	for (double left = phase->share, i = count - 1; i >= 0; i--) {
		dealt[(int)i] = min(n[(int)i], left);
		left = ceil(left / n[(int)i]);
	}
	for (int i = 0; i < count; i++)
		push(w, loop[i], w->first_item ? 1 : n[i], dealt[i]);
	walk_body(w, loop[count - 1]->body, here, times, share);
	while (w->depth > depth)
		pop(w);
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
	pop(w);
}

static void walk_if(struct walk *w, const struct node *s, struct work *here, double times,
		    double share)
{
	struct walk_form a, b;
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

/* Counts vectors' rows of an operation on tiles, each `times` over. */
static void count_rows(struct walk *w, enum walk_op op, double rows, struct work *here,
		       double times, double share)
{
	count(w, op, 1, here, times * rows, share * rows);
}

/* Nothing waits for these lines. They go to the first-level cache, or beyond it. */
static void count_prefetches(struct walk *w, int beyond, double lines, double share)
{
	w->prefetches[beyond] += lines * share * w->outside[w->depth];
}

static int64_t common(int64_t a, int64_t b)
{
	return b ? common(b, a % b) : a;
}

/* Returns the share of rows of so many bytes, `pitch` bytes apart, that lie in two lines. Products
 * follow each other by a row's bytes. */
static double crossing(int64_t pitch, int64_t bytes)
{
	const int64_t step = common(common(llabs(pitch), bytes), LINE), places = LINE / step;

	return (double)(places - 1 - (LINE - bytes) / step) / (double)places;
}

/* Loads of the left side: a row that lies in two lines takes as long as four others
 * (docs/EXPERIMENTS.md). */
static double left_loads(const struct walk *w, const struct tmul *m, double rows, double pitch)
{
	enum { MORE = 3 };
	const int size = elem_size(w->n->buffer[nest_base(w->n, m->left)].elem);

	return rows * (1 + MORE * crossing((int64_t)pitch * size, (int64_t)m->depth * size));
}

/* Returns the cycles for which a product of two tiles keeps its port. In single precision models
 * learned the rows of the left side (Intel, "Optimization Reference Manual", "Intel Advanced Matrix
 * Extensions"). With the loads of both sides it is the larger of them that counts, and few rows
 * take as long as ten (docs/EXPERIMENTS.md). */
static double product_cycles(const struct tmul *m, int rows, int groups)
{
	static const double least = 10.5;

	return m->half ? rows : max(max(rows, groups), least);
}

/* Each row of both sides is loaded by itself. */
static void walk_product(struct walk *w, const struct node *s, struct work *here, double times,
			 double share)
{
	const struct tmul *m = s->tmul;
	const int rows = w->n->buffer[s->buffer].tile_rows,
		  groups = m->depth / elem_group(m->right);
	const double products = (double)m->down * m->across * rows * tmul_products(m);
	const double cycles = products / rows * product_cycles(m, rows, groups);
	const int halves = m->half ? 2 : 1;
	double lefts = (double)m->down * rows * tmul_products(m);
	struct walk_form left_row;

	evaluate(w, &m->left_row, &left_row);
	if (!m->half)
		lefts = left_loads(w, m, lefts, left_row.mean);
	count_rows(w, WALK_FMA, cycles * w->m->fma_per_cycle, here, times, share);
	count_rows(w, WALK_LOAD, lefts + (double)m->across * groups * halves, here, times, share);
	w->flops += 2 * products * TMUL_COLUMNS * m->depth * share * w->outside[w->depth];
	count_prefetches(w, 0, m->ahead ? (double)m->across * groups * halves : 0, share);
	count_prefetches(w, 1, m->next_lines, share);
	for (int half = 0; half < halves; half++) {
		const struct affine right = af_add(m->at, af(half * m->half));

		add_site(w, m->memory, &right, (int)m->row * groups, share, 0);
		push_loop(w, LOOP_UNROLL, m->height, m->height);
		for (int line = 0; line < m->lines; line++) {
			const struct affine at = af_sum(m->left_at, af(half * m->left_half),
							af_scale(af(line), m->left_line));

			add_stepped_site(w, m->left, &at, left_row.mean, m->depth, share, 0);
		}
		pop(w);
	}
}

static void walk_tmul(struct walk *w, const struct node *s, struct work *here, double times,
		      double share)
{
	const struct tmul *m = s->tmul;
	const double rows = (double)m->down * m->across * w->n->buffer[s->buffer].tile_rows;

	if (m->op == TMUL_ADD)
		walk_product(w, s, here, times, share);
	else if (m->op != TMUL_ZERO)
		count_rows(w, m->op == TMUL_STORE ? WALK_STORE : WALK_LOAD, rows, here, times,
			   share);
	if (m->op == TMUL_REPEAT)
		add_site(w, m->memory, &m->at, m->across * TMUL_COLUMNS, share, 0);
	if ((m->op == TMUL_LOAD || m->op == TMUL_STORE) && !w->n->buffer[m->memory].near)
		add_site(w, m->memory, &m->at, (int)m->row * m->height * m->lines, share,
			 m->op == TMUL_STORE ? 2 : 0);
}

static void begin_phase(struct walk *w, struct work *all)
{
	assert(w->nphases < NEST_PHASES);
	*all = (struct work){0};
	w->phase[w->nphases++] = (struct walk_phase){1, 1, 0};
}

static void end_phase(struct walk *w, const struct work *all)
{
	struct walk_phase *p = &w->phase[w->nphases - 1];
	const struct walk_phase *longest = &w->phase[w->longest];

	p->cycles = all->cycles + ports(w, &all->ops);
	w->cycles += p->share * p->cycles;
	if (p->share * p->cycles > longest->share * longest->cycles)
		w->longest = w->nphases - 1;
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
			struct walk_form *f = &w->view[s->buffer];

			evaluate(w, &s->a, f);
			if (w->n->buffer[b->base].kind == BUFFER_VIEW)
				add_form(f, &w->view[b->base], 1);
			break;
		}
		case NODE_STORE:
			walk_store(w, s, here, times, share);
			break;
		case NODE_TMUL:
			walk_tmul(w, s, here, times, share);
			break;
		case NODE_PREFETCH: /* a load that nothing waits for */
			count_prefetches(w, s->far, 1, share);
			break;
		case NODE_COPY: /* blocks of threads alone have these */
		case NODE_WAIT:
		case NODE_MMA:
			break;
		case NODE_SYNC:
			end_phase(w, here);
			begin_phase(w, here);
			break;
		}
	}
}

void walk_nest(struct walk *w, const struct nest *n, const struct limits *m, int64_t registers,
	       int first_item)
{
	struct work all;

	w->n = n;
	w->m = m;
	w->first_item = first_item;
	w->registers = registers;
	w->folded = m->folds && w->registers >= m->vregs;
	w->threads = m->threads > 0 ? m->threads : 1;
	w->nphases = 0;
	w->longest = 0;
	w->cycles = 0;
	w->depth = w->nloops = w->nsites = 0;
	w->outside[0] = w->copies[0] = 1;
	w->ops = (struct walk_ops){0};
	w->inner.fmas = 0;
	w->flops = w->scalars = w->straddles = w->masks = w->code = w->inner_cycles = 0;
	w->prefetches[0] = w->prefetches[1] = 0;
	w->conflict_bytes = w->borders = 0;
	begin_phase(w, &all);
	walk_body(w, n->body, &all, 1, 1);
	end_phase(w, &all);
}
