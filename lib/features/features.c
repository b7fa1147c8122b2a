#include "lib/features/features.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/hash.h"
#include "lib/features/features_blocks.h"
#include "lib/op/op.h"
#include "lib/space/assumed.h"

static const char *const name[] = {FEATURE_LIST(FEATURE_NAME)};
static const char *const group[] = {FEATURE_LIST(FEATURE_GROUP)};

const struct feature_list features_threads = {
	.of = "threads of a processor",
	.revision = 4,
	.n = FEATURES,
	.name = name,
	.group = group,
};

_Static_assert((int)BLOCK_FEATURES <= (int)FEATURE_cold, "a row has room for any list");
_Static_assert((int)BLOCK_FEATURE_draft == (int)FEATURE_draft, "fit.c takes it of any list");

/* ---- lists ---- */

static const struct feature_list *const lists[] = {&features_threads, &features_blocks, NULL};

const struct feature_list *features_list(const struct target *t)
{
	return t && t->can & TARGET_BLOCKS ? &features_blocks : &features_threads;
}

int features_know(const struct feature_list *l, const struct dtypes *d)
{
	return l != &features_threads || dtype_bits(d->src) == dtype_bits(d->wei);
}

void features_version(const struct feature_list *l, char version[FEATURES_VERSION + 1])
{
	struct buf text = BUF_INIT;
	struct id id;

	buf_fmt(&text, "%d", l->revision);
	for (int i = 0; i < l->n; i++)
		buf_fmt(&text, " %s/%s", l->name[i], l->group[i]);
	hash_id(&id, text.s, text.n);
	snprintf(version, FEATURES_VERSION + 1, "%.*s", FEATURES_VERSION, id.s);
	buf_free(&text);
}

const struct feature_list *features_find(const char *version, size_t n)
{
	char own[FEATURES_VERSION + 1];

	for (int i = 0; lists[i]; i++) {
		features_version(lists[i], own);
		if (n == FEATURES_VERSION && !memcmp(own, version, n))
			return lists[i];
	}
	return NULL;
}

/* ---- rates ---- */

void features_rates(const struct limits *m, struct rates *r)
{
	double hz = assumed_hz(m), threads = m->threads > 0 ? m->threads : 1;
	double turns = m->wide_turns > 1 ? m->wide_turns : 1;

	*r = (struct rates){
		.flops = hz * threads * m->fma_per_cycle * m->lanes * 2 / turns,
		.l2 = hz * threads * assumed.l2,
		.l3 = hz * threads * assumed_l3(m),
		.memory = hz * threads * assumed.memory,
		.fork_s = assumed.fork_s,
	};
}

/* ---- the parts ---- */

struct at {
	const struct draft *d;
	const struct walk *w;
	const struct limits *m;
	const struct rates *r;
	double flops, roof_s;
	float *f;
};

static int is_scratch(const struct buffer *b)
{
	return b->kind == BUFFER_WORK || b->kind == BUFFER_TEAM || b->kind == BUFFER_BLOCK;
}

/* Bytes of the arguments and packed operands. */
static double operand_bytes(const struct nest *n)
{
	double bytes = 0;

	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_ARG || n->buffer[i].kind == BUFFER_PACKED)
			bytes += (double)buffer_bytes(&n->buffer[i]);
	return bytes;
}

static float bits(const struct nest *n, enum tensor_role role)
{
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_ARG && n->buffer[i].role == (int)role)
			return (float)log2(8 * elem_size(n->buffer[i].elem));
	return NAN;
}

static void of_work(struct at *a)
{
	double bytes = operand_bytes(a->w->n), arithmetic = a->flops / a->r->flops;
	double move = bytes / (bytes > (double)a->m->l3 ? a->r->memory : a->r->l3);

	a->roof_s = arithmetic > move ? arithmetic : move;
	a->f[FEATURE_flops] = feature_ratio(a->flops, 1);
	a->f[FEATURE_intensity] = feature_ratio(a->flops, bytes);
	a->f[FEATURE_roof_compute] = feature_share(arithmetic, a->roof_s);
	a->f[FEATURE_element] = bits(a->w->n, TENSOR_SRC);
	a->f[FEATURE_result] = bits(a->w->n, TENSOR_DST);
}

static void of_draft(struct at *a)
{
	const struct draft *d = a->d;
	double hz = assumed_hz(a->m), threads = a->w->threads;

	a->f[FEATURE_draft] = feature_ratio(d->warm_s, a->roof_s);
	a->f[FEATURE_cold] = (float)log2(d->seconds / d->warm_s);
	a->f[FEATURE_compute] = feature_ratio(d->compute_cycles / hz, a->roof_s);
	a->f[FEATURE_from_l2] = feature_ratio(d->l2_bytes * threads / a->r->l2, a->roof_s);
	a->f[FEATURE_from_l3] = feature_ratio(d->l3_bytes * threads / a->r->l3, a->roof_s);
	a->f[FEATURE_from_memory] =
		feature_ratio(d->memory_bytes * threads / a->r->memory, a->roof_s);
	a->f[FEATURE_conflicts] = feature_share(a->w->conflict_bytes, d->l2_bytes);
	a->f[FEATURE_fork_join] = feature_ratio(a->r->fork_s * d->forks, a->roof_s);
	a->f[FEATURE_uneven] = feature_share(d->uneven_cycles, d->compute_cycles);
}

static void of_ops(struct at *a)
{
	const struct walk *w = a->w;
	const struct walk_ops *k = &w->ops;

	a->f[FEATURE_waste] = feature_share(w->flops * w->threads, a->flops);
	a->f[FEATURE_lanes] = feature_share(w->flops, 2 * k->n[WALK_FMA] * a->m->lanes);
	a->f[FEATURE_loads] = feature_share(k->n[WALK_LOAD], k->n[WALK_FMA]);
	a->f[FEATURE_stores] = feature_ratio(k->n[WALK_STORE], k->n[WALK_FMA]);
	a->f[FEATURE_ariths] = feature_ratio(k->n[WALK_ARITH], k->n[WALK_FMA]);
	a->f[FEATURE_others] = feature_ratio(k->n[WALK_OTHER], k->n[WALK_FMA]);
	a->f[FEATURE_scalars] = feature_share(w->scalars, k->n[WALK_FMA]);
	a->f[FEATURE_straddles] = feature_share(w->straddles, k->n[WALK_LOAD] + k->n[WALK_STORE]);
	a->f[FEATURE_masks] = feature_share(w->masks, k->n[WALK_LOAD] + k->n[WALK_STORE]);
	a->f[FEATURE_prefetches] = feature_ratio(w->prefetches[0], k->n[WALK_FMA]);
	a->f[FEATURE_prefetches_l2] = feature_ratio(w->prefetches[1], k->n[WALK_FMA]);
	a->f[FEATURE_code] = feature_ratio(w->code, 1);
}

static void of_tile(struct at *a)
{
	const struct walk_inner *t = &a->w->inner;
	const struct limits *m = a->m;
	double fma = (t->ops.n[WALK_FMA] + t->ops.more[WALK_FMA]) / m->fma_per_cycle, all = 0;

	a->f[FEATURE_registers] = feature_share((double)a->w->registers, m->vregs);
	if (t->fmas <= 0)
		return;
	for (int op = 0; op < WALK_OPS; op++)
		all += t->ops.n[op];
	a->f[FEATURE_tile_fmas] = (float)t->ops.n[WALK_FMA];
	a->f[FEATURE_tile_loads] = feature_share(t->ops.n[WALK_LOAD], t->ops.n[WALK_FMA]);
	a->f[FEATURE_tile_others] =
		feature_share(t->ops.n[WALK_OTHER] + t->ops.n[WALK_ARITH], t->ops.n[WALK_FMA]);
	a->f[FEATURE_tile_rate] = feature_share(t->cycles, fma);
	a->f[FEATURE_tile_load_bound] =
		feature_share(t->ops.n[WALK_LOAD] / m->load_per_cycle, t->cycles);
	a->f[FEATURE_tile_issue_bound] = feature_share(all / 4, t->cycles);
	a->f[FEATURE_tile_run] = feature_ratio(t->n, 1);
	a->f[FEATURE_tile_share] = feature_share(a->w->inner_cycles, a->w->cycles);
	a->f[FEATURE_tile_fma_share] = feature_share(t->fmas, a->w->ops.n[WALK_FMA]);
}

static void of_threads(struct at *a)
{
	const struct walk_phase *p = &a->w->phase[a->w->longest];

	a->f[FEATURE_items] = feature_ratio(p->items, 1);
	a->f[FEATURE_items_each] = feature_ratio(p->share, 1);
	a->f[FEATURE_balance] = feature_share(p->items, p->share * a->w->threads);
	a->f[FEATURE_item_cycles] = feature_ratio(p->cycles, 1);
}

/* The loops around the inner one, unrolled ones left out, from the inside to the outside. */
static void of_levels(struct at *a)
{
	const struct walk_inner *t = &a->w->inner;
	const double l1 = (double)a->m->l1d, l2 = (double)a->m->l2;
	double pages = 0, scratch = 0;
	int level = 0;

	for (int d = t->depth - 2; d >= 0 && t->fmas > 0 && level < FEATURE_LEVELS; d--) {
		float *f = &a->f[FEATURE_level1_trips + 3 * level];
		double set = a->d->body[t->path[d].id];

		if (t->path[d].kind == LOOP_UNROLL)
			continue;
		f[0] = feature_ratio(t->path[d].dealt, 1);
		f[1] = feature_ratio(set, l1);
		f[2] = feature_ratio(set, l2);
		if (t->path[d].kind == LOOP_PARALLEL && isnan(a->f[FEATURE_item_set]))
			a->f[FEATURE_item_set] = f[2];
		level++;
	}
	for (int i = 0; i < a->w->nsites; i++)
		pages = a->w->site[i].pages > pages ? a->w->site[i].pages : pages;
	for (int i = 0; i < a->w->n->nbuffers; i++)
		if (is_scratch(&a->w->n->buffer[i]))
			scratch += (double)buffer_bytes(&a->w->n->buffer[i]);
	a->f[FEATURE_inner_pages] = feature_ratio(pages, 1);
	a->f[FEATURE_whole_l2] = feature_ratio(a->d->whole, l2);
	a->f[FEATURE_whole_l3] = feature_ratio(a->d->whole, (double)a->m->l3);
	a->f[FEATURE_scratch_l1] = scratch > 0 ? feature_ratio(scratch, l1) : NAN;
	a->f[FEATURE_scratch_l2] = scratch > 0 ? feature_ratio(scratch, l2) : NAN;
}

static float move(const struct at *a, double bytes)
{
	return feature_ratio(bytes * a->w->threads, a->flops);
}

/* Which operand a buffer is: src, weights, dst, what is added, scratch. */
static int operand_of(const struct buffer *b)
{
	if (is_scratch(b))
		return 4;
	switch (b->role) {
	case TENSOR_SRC:
		return 0;
	case TENSOR_WEIGHTS:
		return 1;
	case TENSOR_DST:
		return 2;
	default:
		return 3;
	}
}

static void of_operands(struct at *a, const double *by_buffer, float *f)
{
	const struct nest *n = a->w->n;
	double bytes[FEATURE_OPERANDS] = {0};

	for (int i = 0; i < n->nbuffers; i++)
		bytes[operand_of(&n->buffer[i])] += by_buffer[i];
	for (int i = 0; i < FEATURE_OPERANDS; i++)
		f[i] = move(a, bytes[i]);
}

/* Bytes that move into caches of all sizes. */
static void of_curve(struct at *a)
{
	static const double times[FEATURE_SIZES] = {1. / 8, 1. / 4, 1. / 2, 1, 2, 4, 1. / 8,
						    1. / 4, 1. / 2, 1,	    2, 4, 8, 16};
	const int l2_from = 6;
	double size[FEATURE_SIZES], bytes[FEATURE_SIZES], by_buffer[NEST_BUFFERS];

	for (int i = 0; i < FEATURE_SIZES; i++)
		size[i] = (double)(i < l2_from ? a->m->l1d : a->m->l2) * times[i];
	walk_traffics(a->w, size, FEATURE_SIZES, a->d->whole, a->d->body, bytes);
	for (int i = 0; i < FEATURE_SIZES; i++)
		a->f[FEATURE_move_l1_8 + i] = move(a, bytes[i]);
	walk_traffic(a->w, (double)a->m->l1d, a->d->whole, a->d->body, by_buffer);
	of_operands(a, by_buffer, &a->f[FEATURE_src_l1]);
	walk_traffic(a->w, (double)a->m->l2, a->d->whole, a->d->body, by_buffer);
	of_operands(a, by_buffer, &a->f[FEATURE_src_l2]);
}

static void of_sizes(struct at *a)
{
	const struct walk *w = a->w;
	const struct nest *n = w->n;
	double size[FEATURE_OPERANDS] = {0}, written = 0;

	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind != BUFFER_REG && n->buffer[i].kind != BUFFER_VIEW)
			size[operand_of(&n->buffer[i])] += (double)buffer_bytes(&n->buffer[i]);
	for (int i = 0; i < w->nsites; i++) {
		const struct walk_site *t = &w->site[i];

		if (t->store && is_scratch(&n->buffer[t->buffer]))
			written += t->times / 2 * t->outside[t->depth] * t->touched[t->depth];
	}
	for (int i = 0; i < 3; i++)
		a->f[FEATURE_src_size + i] = feature_ratio(size[i], (double)a->m->l2);
	a->f[FEATURE_scratch_stores] = feature_ratio(written * w->threads, size[0]);
}

void features_of(const struct draft *d, const struct rates *r, double flops, float f[FEATURES])
{
	struct at a = {d, &d->walk, d->m, r, flops, 0, f};

	for (int i = 0; i < FEATURES; i++)
		f[i] = NAN;
	if (d->phases) {
		features_of_blocks(d, r, flops, f);
		return;
	}
	of_work(&a);
	of_draft(&a);
	of_ops(&a);
	of_tile(&a);
	of_threads(&a);
	of_levels(&a);
	of_curve(&a);
	of_sizes(&a);
}
