#include "lib/features/features_blocks.h"

enum { SECTOR = 32, WIDEST = 16 }; /* bytes */

static const char *const name[] = {BLOCK_FEATURE_LIST(FEATURE_NAME)};
static const char *const group[] = {BLOCK_FEATURE_LIST(FEATURE_GROUP)};

const struct feature_list features_blocks = {
	.of = "blocks of threads",
	.revision = 3,
	.n = BLOCK_FEATURES,
	.name = name,
	.group = group,
};

struct at {
	const struct draft *d;
	const struct nest *n;
	const struct limits *m;
	const struct occupancy *longest;
	struct occupancy all; /* what the phases' blocks do, and their times, added up */
	double flops, operands, roof_s;
	float *f;
};

static void add_counts(struct warp_count *sum, const struct warp_count *a, double times)
{
	for (int i = 0; i < OCCUPANCY_WAYS; i++) {
		sum[i].done += a[i].done * times;
		sum[i].least += a[i].least * times;
	}
}

static void add_phase(struct occupancy *sum, const struct occupancy *o)
{
	sum->fmas += o->fmas * o->blocks;
	sum->mma_fmas += o->mma_fmas * o->blocks;
	sum->mma_issues += o->mma_issues * o->blocks;
	sum->copied_bytes += o->copied_bytes * o->blocks;
	sum->instructions += o->instructions * o->blocks;
	sum->block_bytes += o->block_bytes * o->blocks;
	sum->global_bytes += o->global_bytes * o->blocks;
	sum->waits += o->waits * o->blocks;
	sum->accesses += o->accesses * o->blocks;
	add_counts(sum->banks, o->banks, o->blocks);
	add_counts(sum->sectors, o->sectors, o->blocks);
	sum->blocks += o->blocks;
	sum->arithmetic_s += o->arithmetic_s;
	sum->issue_s += o->issue_s;
	sum->block_s += o->block_s;
	sum->waiting_s += o->waiting_s;
	sum->l2_s += o->l2_s;
	sum->launch_s += o->launch_s;
	sum->seconds += o->seconds;
}

static double bytes_of(const struct nest *n, enum buffer_kind a, enum buffer_kind b)
{
	double bytes = 0;

	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == a || n->buffer[i].kind == b)
			bytes += (double)buffer_bytes(&n->buffer[i]);
	return bytes;
}

/* Multiply-adds, whatever does them. */
static double work(const struct occupancy *o)
{
	return o->fmas + o->mma_fmas;
}

static void of_work(struct at *a, const struct rates *r)
{
	double arithmetic = a->flops / r->flops;
	double move = a->operands / (a->operands > (double)a->m->l2 ? r->memory : r->l2);

	a->roof_s = arithmetic > move ? arithmetic : move;
	a->f[BLOCK_FEATURE_flops] = feature_ratio(a->flops, 1);
	a->f[BLOCK_FEATURE_intensity] = feature_ratio(a->flops, a->operands);
	a->f[BLOCK_FEATURE_roof_compute] = feature_share(arithmetic, a->roof_s);
}

static void of_draft(struct at *a)
{
	a->f[BLOCK_FEATURE_draft] = feature_ratio(a->d->seconds, a->roof_s);
	a->f[BLOCK_FEATURE_arithmetic] = feature_ratio(a->all.arithmetic_s, a->roof_s);
	a->f[BLOCK_FEATURE_issue] = feature_ratio(a->all.issue_s, a->roof_s);
	a->f[BLOCK_FEATURE_block_memory] = feature_ratio(a->all.block_s, a->roof_s);
	a->f[BLOCK_FEATURE_waiting] = feature_ratio(a->all.waiting_s, a->roof_s);
	a->f[BLOCK_FEATURE_second_level] = feature_ratio(a->all.l2_s, a->roof_s);
	a->f[BLOCK_FEATURE_launches] = feature_ratio(a->all.launch_s, a->roof_s);
}

static void of_work_done(struct at *a)
{
	const struct occupancy *o = &a->all;
	double threads = a->n->block_threads;

	a->f[BLOCK_FEATURE_waste] = feature_share(2 * work(o), a->flops);
	a->f[BLOCK_FEATURE_fma_share] = feature_share(o->fmas, o->instructions);
	a->f[BLOCK_FEATURE_mma_share] = feature_share(o->mma_fmas, work(o));
	a->f[BLOCK_FEATURE_mma_issue] = feature_share(o->mma_issues, o->instructions);
	a->f[BLOCK_FEATURE_copied] = feature_share(o->copied_bytes, o->global_bytes);
	a->f[BLOCK_FEATURE_accesses] = feature_share(o->accesses, o->instructions);
	a->f[BLOCK_FEATURE_access_bytes] =
		feature_share(o->block_bytes + o->global_bytes, o->accesses * WIDEST);
	a->f[BLOCK_FEATURE_waits] = feature_ratio(o->waits * threads, work(o));
}

static void of_occupancy(struct at *a)
{
	const struct occupancy *o = a->longest;

	a->f[BLOCK_FEATURE_threads] = feature_ratio(a->n->block_threads, 1);
	a->f[BLOCK_FEATURE_registers] = (float)occupancy_registers(a->n);
	a->f[BLOCK_FEATURE_together] = (float)o->together;
	a->f[BLOCK_FEATURE_threads_used] = (float)o->threads_used;
	a->f[BLOCK_FEATURE_registers_used] = (float)o->registers_used;
	a->f[BLOCK_FEATURE_memory_used] = (float)o->memory_used;
}

static void of_grid(struct at *a)
{
	const struct occupancy *o = a->longest;

	a->f[BLOCK_FEATURE_blocks] = feature_ratio(o->blocks, 1);
	a->f[BLOCK_FEATURE_blocks_each] = feature_ratio(o->blocks, a->m->threads);
	a->f[BLOCK_FEATURE_waves] = feature_ratio(o->waves, 1);
	a->f[BLOCK_FEATURE_busy] = (float)o->busy;
	a->f[BLOCK_FEATURE_work_each] = feature_ratio(work(o), a->n->block_threads);
	a->f[BLOCK_FEATURE_phases] = (float)a->d->phases;
	a->f[BLOCK_FEATURE_longest] = feature_share(o->seconds, a->all.seconds);
}

static void of_moves(struct at *a)
{
	const struct warp_count *s = a->all.sectors;
	double sectors = SECTOR * (s[OCCUPANCY_READ].done + s[OCCUPANCY_WRITE].done);
	double partial = bytes_of(a->n, BUFFER_TEAM, BUFFER_TEAM);
	double all = a->operands + partial;

	a->f[BLOCK_FEATURE_operands_l2] = feature_ratio(a->operands, (double)a->m->l2);
	a->f[BLOCK_FEATURE_partial] = feature_ratio(partial, a->operands);
	a->f[BLOCK_FEATURE_move_block] = feature_ratio(a->all.block_bytes, a->flops);
	a->f[BLOCK_FEATURE_move_global] = feature_ratio(a->all.global_bytes, a->flops);
	a->f[BLOCK_FEATURE_move_l2] = feature_ratio(sectors, a->flops);
	a->f[BLOCK_FEATURE_move_memory] =
		feature_ratio(all <= (double)a->m->l2 || sectors < all ? all : sectors, a->flops);
	a->f[BLOCK_FEATURE_again] = feature_ratio(sectors, a->operands);
}

static void of_patterns(struct at *a)
{
	const struct warp_count *b = a->all.banks, *s = a->all.sectors;
	const int in = OCCUPANCY_READ, out = OCCUPANCY_WRITE;

	a->f[BLOCK_FEATURE_banks_read] = feature_share(b[in].done, b[in].least);
	a->f[BLOCK_FEATURE_banks_written] = feature_share(b[out].done, b[out].least);
	a->f[BLOCK_FEATURE_sectors_read] = feature_share(s[in].done, s[in].least);
	a->f[BLOCK_FEATURE_sectors_written] = feature_share(s[out].done, s[out].least);
	a->f[BLOCK_FEATURE_block_reads] = feature_ratio(b[in].done * WARP_THREADS, work(&a->all));
}

void features_of_blocks(const struct draft *d, const struct rates *r, double flops, float *f)
{
	struct at a = {.d = d, .n = d->n, .m = d->m, .longest = d->phase, .flops = flops, .f = f};

	for (int i = 0; i < d->phases; i++) {
		add_phase(&a.all, &d->phase[i]);
		if (d->phase[i].seconds > a.longest->seconds)
			a.longest = &d->phase[i];
	}
	a.operands = bytes_of(d->n, BUFFER_ARG, BUFFER_PACKED);
	of_work(&a, r);
	of_draft(&a);
	of_work_done(&a);
	of_occupancy(&a);
	of_grid(&a);
	of_moves(&a);
	of_patterns(&a);
}
