#include "lib/schedule/tile_block.h"

#include "lib/schedule/share.h"
#include "lib/schedule/staged.h"
#include "lib/space/knob.h"

enum { LANES = 4, PAD = 4 };

/* ---- sizes ---- */

static int64_t values_of(const struct tile_block *b)
{
	return tile_threads_values(&b->s);
}

int64_t tile_block_threads(const struct tile_block *b)
{
	return values_of(b) * (b->bm / b->tm) * (b->bn / b->tn);
}

/* Elements: of a stage [value][channel][tile], and behind it [value][channel][output channel]. */
static int64_t left_size(const struct tile_block *b)
{
	return values_of(b) * b->bk * (b->bm + PAD);
}

static int64_t right_size(const struct tile_block *b)
{
	return values_of(b) * b->bk * b->bn;
}

/* Of products: [value][tile][output channel]. */
static int64_t tile_step(const struct tile_block *b)
{
	return b->bn + PAD;
}

static int64_t memory_size(const struct tile_block *b)
{
	int64_t stages = b->stages * (left_size(b) + right_size(b));
	int64_t products = values_of(b) * b->bm * tile_step(b);

	return stages > products ? stages : products;
}

int64_t tile_block_bytes(const struct tile_block *b)
{
	return memory_size(b) * (int64_t)sizeof(float);
}

/* What a thread copies of a chunk: inputs of tiles, vectors of weights. */
static int64_t left_turns(const struct tile_block *b)
{
	return ceil_div(b->bm * b->bk, tile_block_threads(b));
}

static int64_t right_turns(const struct tile_block *b)
{
	return ceil_div(right_size(b) / LANES, tile_block_threads(b));
}

int64_t tile_block_registers(const struct tile_block *b)
{
	return (int64_t)b->tm * b->tn + b->tm + b->tn + values_of(b) * left_turns(b) +
	       LANES * right_turns(b) + tile_threads_registers(&b->s.g, 1);
}

void tile_block_declare(struct tile_block *b)
{
	struct nest *n = b->s.n;

	b->s.threads = (int)tile_block_threads(b);
	b->values = (int)values_of(b);
	b->down = (int)b->bm / b->tm;
	b->across = (int)b->bn / b->tn;
	b->memory = nest_block(n, "memory", memory_size(b));
	b->acc = nest_reg(n, "acc", ELEM_F32, LANES, b->tm, b->tn / LANES);
	b->a = nest_reg(n, "a", ELEM_F32, LANES, b->tm / LANES, 1);
	b->b = nest_reg(n, "b", ELEM_F32, LANES, b->tn / LANES, 1);
	b->fetched = nest_reg(n, "v", ELEM_F32, 1, (int)left_turns(b), b->values);
	b->right = nest_reg(n, "y", ELEM_F32, LANES, (int)right_turns(b), 1);
}

/* ---- chunks ---- */

/* Of tiles by so many channels: neighbours have neighbouring channels, or, where these are apart,
 * tiles. */
static void tile_and_channel(const struct tile_block *b, struct affine unit, int64_t channels,
			     struct affine *tile, struct affine *channel)
{
	struct nest *n = b->s.n;
	int64_t by = b->s.nchw ? b->bm : channels;
	struct affine low = af_var(nest_let_mod(n, "low", unit, by));
	struct affine high = af_var(nest_let_div(n, "high", unit, by));

	*tile = b->s.nchw ? low : high;
	*channel = b->s.nchw ? high : low;
}

static void open_chunk(void *arg, int q)
{
	struct tile_block *b = arg;

	b->q = q;
}

static void fetch(void *arg, int thread)
{
	const struct tile_block *b = arg;
	struct nest *n = b->s.n;
	const int depth = n->depth;
	int64_t chunks = ceil_div(b->s.c.ic, b->bk);
	struct tile_place x = {.may_lack = 1};
	struct affine i, unit, at;
	struct line to;

	unit = share_units(b->s.n, LOOP_UNROLL, thread, b->s.threads, b->bm * b->bk, &i);
	tile_and_channel(b, unit, b->bk, &x.tile, &x.channel);
	x.tile = af_add(b->tile, x.tile);
	x.channel = af_add(af_mul(af_var(b->q), b->bk), x.channel);
	tile_threads_find(&b->s, &x);
	to = (struct line){b->fetched, af_mul(i, b->values), 1};
	tile_threads_transform(&b->s, &x, 1, &to);
	nest_close_to(n, depth);
	unit = share_units(b->s.n, LOOP_UNROLL, thread, b->s.threads, right_size(b) / LANES, &i);
	at = af_sum(af_mul(b->panel, chunks * right_size(b)), af_mul(af_var(b->q), right_size(b)),
		    af_mul(unit, LANES));
	nest_store(n, b->right, i, NULL, ex_load(n, b->weights, LANES, at, NULL));
	nest_close_to(n, depth);
}

static struct affine left_at(const struct tile_block *b, struct affine stage, struct affine value,
			     struct affine k, struct affine tile)
{
	return af_sum(af_mul(stage, left_size(b) + right_size(b)),
		      af_mul(value, b->bk * (b->bm + PAD)), af_mul(k, b->bm + PAD), tile);
}

/* Of element i: they lie as they do among the packed weights. */
static struct affine right_at(const struct tile_block *b, struct affine stage, struct affine i)
{
	return af_sum(af_mul(stage, left_size(b) + right_size(b)), af(left_size(b)), i);
}

static void put(void *arg, int thread, struct affine stage)
{
	const struct tile_block *b = arg;
	struct nest *n = b->s.n;
	const int depth = n->depth;
	struct affine i, unit, tile, k;
	int value;

	unit = share_units(b->s.n, LOOP_UNROLL, thread, b->s.threads, b->bm * b->bk, &i);
	tile_and_channel(b, unit, b->bk, &tile, &k);
	value = nest_for(n, LOOP_UNROLL, "xi", af(0), af(b->values));
	nest_store(n, b->memory, left_at(b, stage, af_var(value), k, tile), NULL,
		   ex_reg(n, b->fetched, af_add(af_mul(i, b->values), af_var(value))));
	nest_close_to(n, depth);
	unit = share_units(b->s.n, LOOP_UNROLL, thread, b->s.threads, right_size(b) / LANES, &i);
	nest_store(n, b->memory, right_at(b, stage, af_mul(unit, LANES)), NULL,
		   ex_reg(n, b->right, i));
	nest_close_to(n, depth);
}

/* ---- a thread's register tile ---- */

/* Its value, and its first row and column. Rows and columns come four by four, as far apart as
 * those of all threads are together. */
struct place {
	struct affine value, row, column;
};

static struct place place(const struct tile_block *b, int thread)
{
	struct nest *n = b->s.n;
	int of_value = b->down * b->across;
	int rest = nest_let_mod(n, "rest", af_var(thread), of_value);
	struct place x = {.value = af_var(nest_let_div(n, "xi", af_var(thread), of_value))};

	x.column = af_mul(af_var(nest_let_mod(n, "low", af_var(rest), b->across)), LANES);
	x.row = af_mul(af_var(nest_let_div(n, "high", af_var(rest), b->across)), LANES);
	return x;
}

static struct affine each(const struct tile_block *b, const char *name, int64_t turns)
{
	return af_var(nest_for(b->s.n, LOOP_UNROLL, name, af(0), af(turns)));
}

static struct affine group_row(const struct tile_block *b, struct affine group)
{
	return af_mul(group, (int64_t)LANES * b->down);
}

static struct affine vector_column(const struct tile_block *b, struct affine vector)
{
	return af_mul(vector, (int64_t)LANES * b->across);
}

static struct affine acc_at(const struct tile_block *b, struct affine group, struct affine row,
			    struct affine vector)
{
	return af_sum(af_mul(af_add(af_mul(group, LANES), row), b->tn / LANES), vector);
}

static void clear(const struct tile_block *b)
{
	struct nest *n = b->s.n;

	nest_for_threads(n, "t", b->s.threads);
	nest_store(n, b->acc, each(b, "i", (int64_t)b->tm * b->tn / LANES), NULL,
		   ex_const(n, ELEM_F32, LANES, 0));
	nest_close(n);
	nest_close(n);
}

static void multiply(void *arg, int thread, struct affine stage)
{
	const struct tile_block *b = arg;
	struct nest *n = b->s.n;
	const int depth = n->depth;
	struct place x = place(b, thread);
	struct affine k, group, row, vector, at;
	const struct expr *a;

	k = af_var(nest_for(n, LOOP_SERIAL, "k", af(0), af(b->bk)));
	nest_unroll_hint(n, b->unroll);
	group = each(b, "g", b->tm / LANES);
	at = left_at(b, stage, x.value, k, af_add(x.row, group_row(b, group)));
	nest_store(n, b->a, group, NULL, ex_load(n, b->memory, LANES, at, NULL));
	nest_close(n);
	vector = each(b, "j", b->tn / LANES);
	at = af_sum(af_mul(x.value, b->bk * b->bn), af_mul(k, b->bn), x.column,
		    vector_column(b, vector));
	nest_store(n, b->b, vector, NULL,
		   ex_load(n, b->memory, LANES, right_at(b, stage, at), NULL));
	nest_close(n);
	group = each(b, "g", b->tm / LANES);
	row = each(b, "l", LANES);
	a = ex_spread(n, ex_reg(n, b->a, group), LANES, 1, row);
	vector = each(b, "j", b->tn / LANES);
	at = acc_at(b, group, row, vector);
	nest_store(n, b->acc, at, NULL,
		   ex_op(n, EXPR_FMA, a, ex_reg(n, b->b, vector), ex_reg(n, b->acc, at)));
	nest_close_to(n, depth);
}

/* ---- the result ---- */

/* The register tiles into the block's memory. */
static void keep(const struct tile_block *b)
{
	struct nest *n = b->s.n;
	const int depth = n->depth;
	struct place x = place(b, nest_for_threads(n, "t", b->s.threads));
	struct affine group = each(b, "g", b->tm / LANES), row = each(b, "l", LANES);
	struct affine vector = each(b, "j", b->tn / LANES), at;

	at = af_sum(af_mul(x.value, b->bm * tile_step(b)),
		    af_mul(af_sum(x.row, group_row(b, group), row), tile_step(b)), x.column,
		    vector_column(b, vector));
	nest_store(n, b->memory, at, NULL, ex_reg(n, b->acc, acc_at(b, group, row, vector)));
	nest_close_to(n, depth);
}

static void back(const struct tile_block *b)
{
	struct nest *n = b->s.n;
	const int depth = n->depth;
	int64_t tiles = tile_threads_tiles(&b->s), oc = b->s.c.oc;
	int lanes = b->s.nchw || oc % LANES ? 1 : LANES, thread;
	struct tile_products from = {
		.buffer = b->memory, .value_step = b->bm * tile_step(b), .sums = 1};
	struct affine i, unit, tile, channel;
	struct tile_place x = {.may_lack = 0};

	thread = nest_for_threads(n, "t", b->s.threads);
	unit = share_units(b->s.n, LOOP_SERIAL, thread, b->s.threads, b->bm * b->bn / lanes, &i);
	tile_and_channel(b, unit, b->bn / lanes, &tile, &channel);
	channel = af_mul(channel, lanes);
	x.tile = af_add(b->tile, tile);
	x.channel = af_add(af_mul(b->panel, b->bn), channel);
	if (tiles % b->bm)
		nest_if_less(n, x.tile, af(tiles));
	if (oc % b->bn)
		nest_if_less(n, x.channel, af(oc));
	tile_threads_find(&b->s, &x);
	from.at = af_add(af_mul(tile, tile_step(b)), channel);
	tile_threads_back(&b->s, &x, lanes, &from);
	nest_close_to(n, depth);
}

void tile_block_compute(struct tile_block *b)
{
	const struct staged chunks = {.n = b->s.n,
				      .threads = b->s.threads,
				      .stages = b->stages,
				      .first = af(0),
				      .end = af(ceil_div(b->s.c.ic, b->bk)),
				      .open = open_chunk,
				      .fetch = fetch,
				      .put = put,
				      .multiply = multiply,
				      .arg = b};

	clear(b);
	staged_run(&chunks);
	keep(b);
	back(b);
}
