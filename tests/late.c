/* Products by groups of warps, which go on while their threads do (lib/nest/mma.h): nests made by
 * hand, and those that touch sums or sides too early are refused.
 */
#include <string.h>

#include "lib/algo/algo.h"
#include "lib/nest/check.h"
#include "lib/nest/interp.h"
#include "lib/nest/mma.h"
#include "tests/tap.h"

enum {
	THREADS = MMA_GROUP * MMA_WARP,
	ROWS = MMA_GROUP * MMA_ROWS,
	DEPTH = 16,
	CORE = 8, /* bf16 elements in 16 bytes */
	SIDE = ROWS * DEPTH,
	RIGHT = MMA_COLUMNS * DEPTH,
};

/* A nest that is made step by step, each in a loop over threads of its own. */
struct made {
	struct arena a;
	struct nest n;
	int src, dst, left, right, acc;
};

static int open_threads(struct made *x)
{
	return nest_for_threads(&x->n, "t", THREADS);
}

/* Elements of a side, a constant each. */
static void fill(struct made *x, int buffer, int size, double value)
{
	int t = open_threads(x), v = nest_for(&x->n, LOOP_UNROLL, "v", af(0), af(size / THREADS));

	nest_store(&x->n, buffer, af_add(af_mul(af_var(v), THREADS), af_var(t)), NULL,
		   ex_const(&x->n, ELEM_F32, 1, value));
	nest_close(&x->n);
	nest_close(&x->n);
}

/* The chunk `from` of the source comes to the left side, in a loop over threads that is open. */
static void copy(struct made *x, int t, int from)
{
	nest_copy(&x->n, x->left, af_mul(af_var(t), CORE), x->src,
		  af_add(af(from * SIDE), af_mul(af_var(t), CORE)), CORE, NULL);
}

static void begin(struct made *x)
{
	*x = (struct made){0};
	nest_init(&x->n, &x->a, "kernel");
	x->src = nest_arg(&x->n, "src", TENSOR_SRC, 2 * SIDE, 0);
	x->dst = nest_arg(&x->n, "dst", TENSOR_DST, THREADS * 4, 1);
	x->left = nest_block(&x->n, "left", SIDE);
	x->right = nest_block(&x->n, "right", RIGHT);
	nest_elem(&x->n, x->src, ELEM_BF16);
	nest_elem(&x->n, x->left, ELEM_BF16);
	nest_elem(&x->n, x->right, ELEM_BF16);
	x->acc = nest_reg(&x->n, "acc", ELEM_F32, 4, 1, 1);
	nest_for(&x->n, LOOP_PARALLEL, "b", af(0), af(1));
	open_threads(x);
	nest_store(&x->n, x->acc, af(0), NULL, ex_const(&x->n, ELEM_F32, 4, 0));
	nest_close(&x->n);
	fill(x, x->left, SIDE, 1);
	fill(x, x->right, RIGHT, 1);
}

static void multiply(struct made *x, int steps, int late)
{
	const struct mma m = {.kind = MMA_BF16,
			      .group = 1,
			      .late = late,
			      .steps = steps,
			      .down = 1,
			      .across = 1,
			      .a = {x->left, af(0), MMA_CORE * CORE, ROWS * CORE, CORE},
			      .b = {x->right, af(0), MMA_CORE * CORE, MMA_COLUMNS * CORE, CORE}};

	nest_mma(&x->n, x->acc, af(0), &m);
}

static void leave(struct made *x, int t)
{
	nest_store(&x->n, x->dst, af_mul(af_var(t), 4), NULL, ex_reg(&x->n, x->acc, af(0)));
}

/* Runs the nest: every sum is this; or, with why, the nest is refused so. */
static void is_run(struct made *x, const char *what, float sum, const char *why)
{
	static uint16_t src[2 * SIDE];
	static float dst[THREADS * 4];
	void *buffers[] = {src, dst};
	struct err e = ERR_INIT;
	int rc, good = 1;

	nest_close_to(&x->n, 0);
	rc = interp_team(&x->n, 1, buffers, &e);
	for (int i = 0; i < THREADS * 4; i++)
		good &= dst[i] == sum;
	if (!ok(why ? rc < 0 && strstr(e.msg, why) : rc == 0 && good, "%s%s%s", what,
		rc < 0 ? ": " : "", rc < 0 ? e.msg : ""))
		diag("the first sum is %g", (double)dst[0]);
	arena_free(&x->a);
}

/* Two products, whose sums are left behind `end` further loops. */
static void two(struct made *x, int late, int ends)
{
	begin(x);
	for (int i = 0; i < 2; i++) {
		open_threads(x);
		multiply(x, 1, late);
		nest_close(&x->n);
	}
	for (int i = 0; i < ends; i++) {
		open_threads(x);
		multiply(x, 0, 0);
		nest_close(&x->n);
	}
	leave(x, open_threads(x));
}

static void check_sums(void)
{
	struct made x;
	int t;

	two(&x, 0, 0);
	is_run(&x, "sums are there behind the loop", 2 * DEPTH, NULL);
	two(&x, 1, 1);
	is_run(&x, "late ones behind the loop that ends them", 2 * DEPTH, NULL);
	two(&x, 1, 0);
	is_run(&x, "nobody has ended them", 0, "is read before it is there");

	begin(&x);
	t = open_threads(&x);
	multiply(&x, 1, 0);
	leave(&x, t);
	is_run(&x, "sums are not there in the loop", 0, "is read before it is there");

	begin(&x);
	open_threads(&x);
	multiply(&x, 1, 0);
	multiply(&x, 1, 0);
	is_run(&x, "one product in a loop", 0, "two products of groups");
}

/* A product is begun; then its left side is written, in the same loop or `apart`, and it ends. */
static void overwritten(struct made *x, int late, int apart, int copies)
{
	int t;

	begin(x);
	t = open_threads(x);
	multiply(x, 1, late);
	if (apart) {
		nest_close(&x->n);
		t = open_threads(x);
	}
	if (copies)
		copy(x, t, 0);
	else
		nest_store(&x->n, x->left, af_var(t), NULL, ex_const(&x->n, ELEM_F32, 1, 5));
	nest_close(&x->n);
	open_threads(x);
	multiply(x, 0, 0);
	nest_close(&x->n);
	leave(x, open_threads(x));
}

static void check_sides(void)
{
	struct made x;

	overwritten(&x, 0, 1, 1);
	is_run(&x, "a side may be copied to behind the loop", DEPTH, NULL);
	overwritten(&x, 0, 0, 1);
	is_run(&x, "not in it", 0, "before it is there");
	overwritten(&x, 1, 1, 1);
	is_run(&x, "nor behind it where the product is late", 0, "before it is there");
	overwritten(&x, 1, 1, 0);
	is_run(&x, "nor be stored to", 0, "is overwritten while it is multiplied");
}

static void check_warps(void)
{
	struct made x;
	struct err e = ERR_INIT;
	struct mma m = {.kind = MMA_BF16, .late = 1, .steps = 1, .down = 1, .across = 1};

	begin(&x);
	m.a = (struct mma_side){.buffer = x.left, .step = DEPTH, .k_step = 2};
	m.b = (struct mma_side){.buffer = x.right, .step = DEPTH, .k_step = 2};
	open_threads(&x);
	nest_mma(&x.n, x.acc, af(0), &m);
	nest_close_to(&x.n, 0);
	ok(check_nest(&x.n, &e) < 0 && strstr(e.msg, "never late"), "%s", e.msg);
	arena_free(&x.a);
}

int main(void)
{
	check_sums();
	check_sides();
	check_warps();
	return done_testing();
}
