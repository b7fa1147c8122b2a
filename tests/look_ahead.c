/* The next panel of packed weights is prefetched in shares (lib/schedule/block.h), and offered
 * where weights come from the third cache. */
#include <string.h>

#include "lib/algo/algo.h"
#include "lib/algo/candidate.h"
#include "lib/schedule/block.h"
#include "lib/target/target.h"
#include "lib/tile/tile.h"
#include "tests/tap.h"

enum { GROUPS = 16, MOST_LINES = 16384 }; /* in a line; lines */

static struct limits granite;

static void make_machine(void)
{
	if (target_isa_limits("avx512", &granite) < 0)
		bail_out("avx512 is unknown");
	granite.threads = 2;
	granite.l1d = 48 << 10;
	granite.l2 = 2 << 20;
	granite.l3 = 480 << 20;
}

/* Do the shares of all steps of all tiles hold each line of the panel, and little beyond it? */
static void covers(const struct tile *tile, int64_t elements, int64_t tiles, int64_t steps)
{
	static unsigned char is_fetched[MOST_LINES];
	struct brgemm g = {.tile = tile};
	const int64_t line = (int64_t)GROUPS * tile->group, lines = ceil_div(elements, line);
	int64_t missed = 0, beyond = 0;

	memset(is_fetched, 0, sizeof is_fetched);
	block_panel_ahead(&g, &(struct panel_ahead){.at = af(0),
						    .elements = elements,
						    .tile = af(1),
						    .tiles = tiles,
						    .steps = steps});
	for (int64_t t = 0; t < tiles; t++)
		for (int64_t k = 0; k < steps; k++)
			for (int l = 0; l < g.next_lines; l++) {
				int64_t at = (t * g.next.c + k * g.next_step) / line + l;

				if (at < MOST_LINES)
					is_fetched[at] = 1;
			}
	for (int64_t i = 0; i < MOST_LINES; i++) {
		missed += i < lines && !is_fetched[i];
		beyond += i >= lines && is_fetched[i];
	}
	ok(!missed && beyond <= lines,
	   "%s, %lld elements, %lld tiles of %lld steps: %lld lines missed, %lld beyond",
	   tile->name, (long long)elements, (long long)tiles, (long long)steps, (long long)missed,
	   (long long)beyond);
}

/* Returns the values of the knob `ahead` that are worth trying there, as bits. */
static unsigned offered_in(const char *dtype, const char *algo, const char *op, const char *prob)
{
	const struct algo *a = algo_find(algo, strlen(algo));
	struct knob_space s = {0};
	struct workload w;
	struct err e = ERR_INIT;
	unsigned bits = 0;

	if (workload_from_text(&w, op, prob, NULL, NULL, &e) ||
	    workload_set_dtype(&w, dtype, strlen(dtype), &e))
		bail_out("%s: %s", prob, e.msg);
	if (!algo_space(a, &w, &granite, &s))
		return 0;
	for (int i = 0; i < s.n; i++)
		for (int v = 0; !strcmp(a->knob[i].name, "ahead") && v < s.knob[i].n; v++)
			bits |= 1U << s.knob[i].value[v];
	return bits;
}

static unsigned offered(const char *algo, const char *op, const char *prob)
{
	return offered_in("f32", algo, op, prob);
}

static void test_offers(void)
{
	ok(offered("gemm", "conv2d", "ic1024ih7oc2048oh7kh1") == 5,
	   "gemm may prefetch panels of weights that the second cache cannot hold");
	ok(offered("gemm", "conv2d", "ic64ih56oc64oh56kh1") == 3, "and leaves small ones");
	ok(offered("gemm", "matmul", "1x4096:4096x4096") == 1, "and those that are read once");
	ok(offered("direct", "conv2d", "ic512ih14oc512oh7kh3sh2ph1") & 4, "direct likewise");
	ok(!(offered("direct", "conv2d", "ic64ih56oc64oh56kh3ph1") & 4), "not small ones");
	ok(offered("winograd", "conv2d", "ic224ih14oc224oh14kh3ph1") == 3, "winograd likewise");
	ok(offered("winograd", "conv2d", "ic64ih56oc64oh56kh3ph1") == 1, "not small ones, either");
}

/* A sixteenth of the second cache is 128 KB: 512 x 512 weights of 8 bits have twice that. */
static void test_narrow_offers(void)
{
	static const char *const types[] = {"u8:s8:s32", "bf16"};

	for (int i = 0; i < 2; i++) {
		ok(offered_in(types[i], "gemm", "conv2d", "ic512ih7oc512oh7kh1") & 4,
		   "gemm in %s prefetches panels beyond a sixteenth of the second cache", types[i]);
		ok(!(offered_in(types[i], "gemm", "conv2d", "ic128ih7oc256oh7kh1") & 4),
		   "not smaller ones");
		ok(offered_in(types[i], "direct", "conv2d", "ic128ih14oc256oh14kh3ph1") & 4,
		   "direct likewise");
		ok(!(offered_in(types[i], "direct", "conv2d", "ic32ih14oc64oh14kh3ph1") & 4),
		   "not small ones");
	}
}

static void set(struct candidate *c, const char *name, int64_t value)
{
	for (int i = 0; i < c->algo->nknobs; i++)
		if (!strcmp(c->algo->knob[i].name, name))
			c->knob[i] = value;
}

/* Returns how many prefetches into the second cache stand in loops below these nodes. */
static int prefetches_far(const struct node *from)
{
	int sum = 0;

	for (const struct node *x = from; x; x = x->next) {
		sum += x->kind == NODE_PREFETCH && x->far;
		sum += prefetches_far(x->body) + prefetches_far(x->orelse);
	}
	return sum;
}

/* The kernel of a product in these types, with and without it. */
static void test_nests(const char *dtype, int64_t depth)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	int found[2];

	for (int i = 0; i < 2; i++) {
		struct candidate c = {.target = target_default(), .algo = algo_find("gemm", 4)};
		struct nest n;

		if (workload_from_text(&c.w, "matmul", "49x512:512x512", NULL, NULL, &e) ||
		    workload_set_dtype(&c.w, dtype, strlen(dtype), &e))
			bail_out("%s", e.msg);
		for (int k = 0; k < c.algo->nknobs; k++)
			c.knob[k] = c.algo->knob[k].frozen;
		set(&c, "vl", 16);
		set(&c, "nv", 2);
		set(&c, "mr", 7);
		set(&c, "order", 1);
		set(&c, "ahead", i ? AHEAD_PANEL : 0);
		set(&c, "depth", depth);
		nest_init(&n, &a, "kernel");
		if (candidate_build(&c, &n, &e) < 0)
			bail_out("%s: %s", dtype, e.msg);
		found[i] = prefetches_far(n.body);
	}
	ok(!found[0] && found[1], "the nest in %s has prefetches: %d", dtype, found[1]);
	arena_free(&a);
}

int main(void)
{
	make_machine();
	covers(&tile_fma, 1024 * 48, 6, 1024);
	covers(&tile_fma, 1024 * 48, 1, 1024);
	covers(&tile_fma, 160 * 32, 2, 160);
	covers(&tile_fma, 4608 * 32, 7, 4608);
	covers(&tile_fma, 33, 3, 5);
	covers(&tile_dot_bf16, 2048 * 32, 4, 1024);
	covers(&tile_dot_u8, 2048 * 32, 4, 512);
	covers(&tile_dot_s16, 128 * 64, 5, 64);
	test_offers();
	test_narrow_offers();
	test_nests("f32", 1);
	test_nests("bf16", 2);
	test_nests("u8:s8:s32", 4);
	return done_testing();
}
