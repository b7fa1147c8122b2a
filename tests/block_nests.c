/* Nests of blocks of threads, made by hand: where threads wait for each other, what a launch gets,
 * and what is refused.
 */
#include "lib/algo/algo.h"
#include "lib/algo/candidate.h"
#include "lib/nest/box.h"
#include "lib/nest/check.h"
#include "lib/nest/interp.h"
#include "lib/target/simt.h"
#include "tests/tap.h"

/* ---- threads ---- */

/* Each thread puts its value into the block's memory, and takes its neighbour's: in a loop behind,
 * or in the same one, which is a race. */
static void neighbours(struct nest *n, int threads, int races)
{
	int src = nest_arg(n, "src", TENSOR_SRC, 4 * threads, 0);
	int dst = nest_arg(n, "dst", TENSOR_DST, 4 * threads, 1);
	int memory = nest_block(n, "memory", threads);
	int reg = nest_reg(n, "r", ELEM_F32, 1, 1, 1);
	int block = nest_for(n, LOOP_PARALLEL, "b", af(0), af(4)), t, other;
	struct affine at;

	t = nest_for_threads(n, "t", threads);
	at = af_add(af_mul(af_var(block), threads), af_var(t));
	nest_store(n, reg, af(0), NULL, ex_load(n, src, 1, at, NULL));
	nest_store(n, memory, af_var(t), NULL, ex_reg(n, reg, af(0)));
	nest_close(n);
	t = nest_for_threads(n, "t", threads);
	at = af_add(af_mul(af_var(block), threads), af_var(t));
	if (races)
		nest_store(n, memory, af_var(t), NULL, ex_const(n, ELEM_F32, 1, 0));
	other = nest_let_mod(n, "other", af_add(af_var(t), af(1)), threads);
	nest_store(n, dst, at, NULL,
		   ex_op(n, EXPR_ADD, ex_load(n, memory, 1, af_var(other), NULL),
			 ex_reg(n, reg, af(0)), NULL));
	nest_close(n);
	nest_close(n);
}

static int count(const char *text, const char *what)
{
	int n = 0;

	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

static void check_neighbours(void)
{
	enum { THREADS = 5 };
	struct arena a = ARENA_INIT;
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	float src[4 * THREADS], dst[4 * THREADS];
	void *buffers[] = {src, dst};
	struct nest n;
	int good = 1;

	for (int i = 0; i < 4 * THREADS; i++)
		src[i] = (float)i;
	nest_init(&n, &a, "kernel");
	neighbours(&n, THREADS, 0);
	ok(interp_team(&n, 2, buffers, &e) == 0, "threads meet behind a loop over them%s%s",
	   e.msg[0] ? ": " : "", e.msg);
	for (int i = 0; i < 4 * THREADS; i++)
		good &= dst[i] == src[i] + src[i / THREADS * THREADS + (i + 1) % THREADS];
	ok(good, "a thread's registers last, and it reads what its neighbour wrote");
	ok(!simt_print(&n, NULL, &text) && count(text.s, "BARRIER();") == 1, "they wait once");
	nest_resident(&n, 3);
	buf_clear(&text);
	ok(!simt_print(&n, NULL, &text) && count(text.s, "ENTRY_FOR(5, 3)") == 1,
	   "a compiler is told for how many blocks there are to be registers");
	nest_init(&n, &a, "kernel");
	neighbours(&n, THREADS, 1);
	ok(interp_team(&n, 2, buffers, &e) < 0 && strstr(e.msg, "of this block"), "%s", e.msg);
	buf_free(&text);
	arena_free(&a);
}

/* Phases that do not use a block's memory are launched without it. */
static void check_launch(void)
{
	struct candidate c = {.algo = algo_find("winograd_threads", strlen("winograd_threads"))};
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	long params[SIMT_PARAMS];
	struct nest n;

	if (workload_from_text(&c.w, "conv2d", "ic64ih56oc64oh56kh3ph1", NULL, NULL, &e) < 0)
		bail_out("%s", e.msg);
	for (int i = 0; i < c.algo->nknobs; i++)
		c.knob[i] = c.algo->knob[i].frozen;
	nest_init(&n, &a, "kernel");
	if (candidate_build(&c, &n, &e) < 0)
		bail_out("%s", e.msg);
	simt_params(&n, params);
	ok(params[SIMT_PHASES] == 3 && !params[SIMT_BLOCK_BYTES] &&
		   params[SIMT_BLOCK_BYTES + 1] == nest_block_bytes(&n) &&
		   params[SIMT_BLOCK_BYTES + 1] > 0 && !params[SIMT_BLOCK_BYTES + 2],
	   "of winograd's phases the products alone have memory of a block");
	arena_free(&a);
}

/* A loop over tiles hides from compilers that the thread is the same in each; no other loop does.
 */
static void check_same_thread(void)
{
	struct candidate c = {.algo = algo_find("implicit_mma", strlen("implicit_mma"))};
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	int times[2];
	struct nest n;

	if (workload_from_text(&c.w, "matmul", "64x256:256x320", NULL, NULL, &e) < 0)
		bail_out("%s", e.msg);
	for (int i = 0; i < c.algo->nknobs; i++)
		c.knob[i] = c.algo->knob[i].frozen;
	for (int i = 0; i < 2; i++) {
		struct buf text = BUF_INIT;

		for (int k = 0; k < c.algo->nknobs; k++)
			if (!strcmp(c.algo->knob[k].name, "stream_k"))
				c.knob[k] = i ? 3 : 0;
		nest_init(&n, &a, "kernel");
		if (candidate_build(&c, &n, &e) < 0 || simt_print(&n, NULL, &text))
			bail_out("%s", e.msg);
		times[i] = count(text.s, "same_thread()");
		buf_free(&text);
	}
	ok(times[0] == 0 && times[1] == 1, "a thread's number is hidden once in a loop over tiles");
	arena_free(&a);
}

/* A nest whose parallel loop of so many turns (0: none) and loop over four threads are open; they
 * may store to *to. Returns the thread's variable. */
static int open_nest(struct nest *n, struct arena *a, int blocks, int *to)
{
	nest_init(n, a, "kernel");
	*to = nest_arg(n, "dst", TENSOR_DST, 64, 1);
	if (blocks)
		nest_for(n, LOOP_PARALLEL, "b", af(0), af(blocks));
	return nest_for_threads(n, "t", 4);
}

static void store_one(struct nest *n, int to, struct affine at, int lanes)
{
	nest_store(n, to, at, NULL, ex_const(n, ELEM_F32, lanes, 1));
}

static void is_refused(struct nest *n, int team, const char *why)
{
	float dst[64];
	void *buffers[] = {dst};
	struct err e = ERR_INIT;

	nest_close_to(n, 0);
	ok(interp_team(n, team, buffers, &e) < 0 && strstr(e.msg, why), "%s", e.msg);
}

static void check_refusals(void)
{
	struct arena a = ARENA_INIT;
	struct nest n;
	int to, t;

	t = open_nest(&n, &a, 8, &to);
	store_one(&n, to, af_var(t), 1);
	is_refused(&n, 3, "another block");

	t = open_nest(&n, &a, 1, &to);
	store_one(&n, to, af_add(af_mul(af_var(t), 4), af(2)), 4);
	is_refused(&n, 1, "no multiple");

	t = open_nest(&n, &a, 1, &to);
	store_one(&n, to, af_var(t), 1);
	nest_close(&n);
	store_one(&n, to, af(9), 1);
	is_refused(&n, 1, "no loop over them");

	t = open_nest(&n, &a, 0, &to);
	store_one(&n, to, af_var(t), 1);
	is_refused(&n, 1, "in no parallel loop");
	arena_free(&a);
}

/* ---- copies ---- */

enum { ROW = 16, POSITIONS = 8, WIDTH = 3 }; /* of single precision: rows of 64 bytes */

/* A nest whose loop over four threads is open, with memory of eight rows. */
static int open_memory(struct nest *n, struct arena *a)
{
	int memory;

	nest_init(n, a, "kernel");
	memory = nest_block(n, "memory", POSITIONS * ROW);
	nest_swizzle(n, memory, ROW);
	return memory;
}

static int open_box(struct nest *n, int images)
{
	const struct box b = {.from = nest_arg(n, "src", TENSOR_SRC, images * WIDTH * ROW, 0),
			      .images = images,
			      .height = 1,
			      .width = WIDTH,
			      .channels = ROW,
			      .down = 1,
			      .across = WIDTH,
			      .first_column = -1,
			      .step_down = 1,
			      .step_across = 1,
			      .positions = POSITIONS,
			      .values = ROW};

	return nest_box(n, &b);
}

/* A box of pixels, from this one on, goes to the result by way of the memory. */
static void copy_box(struct nest *n, struct arena *a, int column)
{
	const int memory = open_memory(n, a), box = open_box(n, 2);
	const int dst = nest_arg(n, "dst", TENSOR_DST, POSITIONS * ROW, 1);
	struct box_place p = {.column = af(column)};
	int t, i;

	nest_for(n, LOOP_PARALLEL, "b", af(0), af(1));
	nest_for_threads(n, "t", 4);
	nest_copy_box(n, memory, af(0), box, &p);
	nest_close(n);
	nest_for_threads(n, "t", 4);
	nest_wait(n, 0);
	nest_close(n);
	t = nest_for_threads(n, "t", 4);
	i = nest_for(n, LOOP_SERIAL, "i", af(0), af(POSITIONS * ROW / 4));
	nest_store(n, dst, af_add(af_mul(af_var(i), 4), af_var(t)), NULL,
		   ex_load(n, memory, 1, af_add(af_mul(af_var(i), 4), af_var(t)), NULL));
	nest_close_to(n, 0);
}

static int is_copied(struct nest *n, struct err *e, float *dst)
{
	float src[2 * WIDTH * ROW];
	void *buffers[] = {src, dst};

	for (int i = 0; i < 2 * WIDTH * ROW; i++)
		src[i] = (float)(i + 1);
	return check_nest(n, e) == 0 && interp_team(n, 1, buffers, e) == 0;
}

/* Positions -1, 0 and 1 of two images of three columns; behind them there is nothing. */
static void check_box(void)
{
	static const int column[POSITIONS] = {-1, 0, 1, -1, WIDTH, WIDTH + 1, -1, -1};
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	float dst[POSITIONS * ROW];
	struct nest n;
	int good = 1;

	copy_box(&n, &a, -1);
	if (!ok(is_copied(&n, &e, dst), "a box is copied"))
		diag("%s", e.msg);
	for (int p = 0; p < POSITIONS; p++)
		for (int v = 0; v < ROW; v++) {
			float is = column[p] < 0 ? 0 : (float)(column[p] * ROW + v + 1);

			good &= dst[p * ROW + v] == is;
		}
	ok(good, "its positions go on in the next image, and it is zero outside of them");
	copy_box(&n, &a, 2);
	ok(!is_copied(&n, &e, dst) && strstr(e.msg, "at no position"), "%s", e.msg);
	arena_free(&a);
}

static void is_no_copy(struct nest *n, const char *why)
{
	struct err e = ERR_INIT;

	nest_close_to(n, 0);
	ok(check_nest(n, &e) < 0 && strstr(e.msg, why), "%s", e.msg);
}

/* A group more than there are barriers, and nobody waits. */
static void check_groups(void)
{
	const struct packing p = {.rank = 1,
				  .extent = {POSITIONS * ROW},
				  .naxes = 1,
				  .axis = {{0, POSITIONS * ROW, 1}}};
	float weights[POSITIONS * ROW] = {0};
	void *buffers[] = {weights};
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct nest n;
	const int memory = open_memory(&n, &a), packed = nest_packed(&n, "w", TENSOR_WEIGHTS, &p);

	nest_swizzle(&n, packed, ROW);
	nest_for(&n, LOOP_PARALLEL, "b", af(0), af(1));
	for (int i = 0; i <= NEST_BULK_GROUPS; i++) {
		nest_for_threads(&n, "t", 4);
		nest_copy(&n, memory, af(0), packed, af(0), POSITIONS * ROW, NULL);
		nest_close(&n);
	}
	nest_close_to(&n, 0);
	ok(interp_team(&n, 1, buffers, &e) < 0 && strstr(e.msg, "groups of bulk copies"), "%s",
	   e.msg);
	arena_free(&a);
}

static void check_copies(void)
{
	const struct packing p = {.rank = 1,
				  .extent = {POSITIONS * ROW},
				  .naxes = 1,
				  .axis = {{0, POSITIONS * ROW, 1}}};
	struct arena a = ARENA_INIT;
	struct nest n;
	int memory, packed;

	memory = open_memory(&n, &a);
	packed = nest_packed(&n, "w", TENSOR_WEIGHTS, &p);
	nest_for(&n, LOOP_PARALLEL, "b", af(0), af(1));
	nest_for_threads(&n, "t", 4);
	nest_copy(&n, memory, af(0), packed, af(0), POSITIONS * ROW, NULL);
	is_no_copy(&n, "is none of whole units");

	memory = open_memory(&n, &a);
	packed = nest_packed(&n, "w", TENSOR_WEIGHTS, &p);
	nest_swizzle(&n, packed, ROW);
	nest_for(&n, LOOP_PARALLEL, "b", af(0), af(1));
	nest_for_threads(&n, "t", 4);
	nest_copy(&n, memory, af(0), packed, af(0), POSITIONS * ROW, NULL);
	nest_wait(&n, NEST_BULK_GROUPS);
	is_no_copy(&n, "groups of bulk copies");

	memory = open_memory(&n, &a);
	nest_swizzle(&n, memory, 3);
	nest_for(&n, LOOP_PARALLEL, "b", af(0), af(1));
	nest_for_threads(&n, "t", 4);
	is_no_copy(&n, "no eight rows");
	arena_free(&a);
}

int main(void)
{
	check_neighbours();
	check_refusals();
	check_launch();
	check_same_thread();
	check_box();
	check_copies();
	check_groups();
	return done_testing();
}
