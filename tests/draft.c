/* lib/draft: the draft orders candidates as machines do, on a machine made up here; and the static
 * checks. Orderings only: nothing is timed. */
#include <math.h>
#include <string.h>

#include "lib/algo/candidate.h"
#include "lib/draft/draft.h"
#include "lib/draft/static.h"
#include "lib/target/target.h"
#include "tests/tap.h"

static struct limits avx512;

static void make_machine(void)
{
	if (target_isa_limits("avx512", &avx512) < 0)
		bail_out("avx512 is unknown");
	avx512.threads = 2;
	avx512.l1d = 48 << 10;
	avx512.l2 = 2 << 20;
	avx512.l3 = 128 << 20;
	avx512.hz = 2.5e9;
}

static struct arena arena;
static struct nest nest;
static struct workload w;

static void use(const char *op, const char *prob, const char *layout)
{
	struct err e = ERR_INIT;

	if (workload_from_text(&w, op, prob, layout, NULL, &e))
		bail_out("%s", e.msg);
}

/* "mr=7 nv=4": these knobs, the others at their frozen defaults. */
static void build(const char *algo, const char *text)
{
	struct candidate c = {.w = w};
	struct err e = ERR_INIT;
	const char *why;

	c.algo = algo_find(algo, strlen(algo));
	for (int i = 0; i < c.algo->nknobs; i++) {
		char name[32];
		const char *p;

		snprintf(name, sizeof name, " %s=", c.algo->knob[i].name);
		p = strstr(text, name);
		c.knob[i] = p ? strtoll(p + strlen(name), NULL, 10) : c.algo->knob[i].frozen;
	}
	if (!algo_valid(c.algo, &c.w, c.knob, &why))
		bail_out("%s: %s", text, why);
	arena_reset(&arena);
	nest_init(&nest, &arena, "kernel");
	if (c.algo->build(&c.w, c.knob, &nest, &e))
		bail_out("%s: %s", text, e.msg);
}

static struct draft draft_cold(const char *algo, const char *text, const struct limits *m,
			       unsigned cold)
{
	int64_t registers;
	struct draft d;

	build(algo, text);
	static_check(&nest, m, &registers, NULL);
	draft_predict(&nest, m, registers, cold, &d);
	return d;
}

static struct draft draft(const char *algo, const char *text, const struct limits *m)
{
	return draft_cold(algo, text, m, 0);
}

/* Is the first candidate predicted at least `times` as fast as the second? */
static void faster(const char *algo, const char *a, const char *b, double times, const char *name)
{
	struct draft x = draft(algo, a, &avx512), y = draft(algo, b, &avx512);

	if (!ok(x.seconds * times < y.seconds, "%s", name))
		diag("%g s for%s, %g s for%s", x.seconds, a, y.seconds, b);
}

static double peak_share(const struct draft *d)
{
	double cycles =
		(double)w.flops / (2.0 * avx512.lanes * avx512.fma_per_cycle) / avx512.threads;

	return cycles / d->compute_cycles;
}

static void test_tiles(void)
{
	struct draft d;

	use("matmul", "504x520:520x768", NULL);
	d = draft("gemm", " vl=16 nv=4 mr=6 mc=8 order=1", &avx512);
	ok(peak_share(&d) > 0.8 && peak_share(&d) <= 1, "a 6x64 tile is near the peak: %.2f",
	   peak_share(&d));
	d = draft("gemm", " vl=16 nv=1 mr=28 mc=9 order=1", &avx512);
	ok(peak_share(&d) < 0.85, "28x16 is bound by its loads: %.2f", peak_share(&d));
	faster("gemm", " vl=16 nv=4 mr=6 mc=8 order=1", " vl=16 nv=1 mr=1 mc=8 order=1", 4,
	       "one accumulator waits for itself");
	faster("gemm", " vl=16 nv=4 mr=6 mc=8 order=1", " vl=8 nv=2 mr=6 mc=8 order=1", 1.5,
	       "half a vector is half as fast");
	use("matmul", "504x16:16x768", NULL);
	d = draft("gemm", " vl=16 nv=4 mr=6 mc=8 order=1", &avx512);
	ok(peak_share(&d) < 0.78, "a short loop over k pays for its start: %.2f", peak_share(&d));
	use("matmul", "512x512:512x80", NULL);
	faster("gemm", " vl=16 nv=5 mr=5", " vl=16 nv=4 mr=5", 1.3,
	       "columns that only fill a tile up are work as well");
	use("matmul", "512x512:512x512", NULL);
	faster("gemm", " vl=16 nv=4 mr=6 mc=8", " vl=16 nv=4 mr=6 mc=8 kc=64", 1.03,
	       "short chunks of k pay for starting and for partial sums");
}

/* Where broadcasts are no operands, a tile of all registers loads each value of the left side once.
 */
static void test_unfolded(void)
{
	static const char *const tiles[] = {" vl=8 nv=3 mr=4 mc=8 order=1",
					    " vl=8 nv=4 mr=3 mc=8 order=1"};
	struct limits m = avx512;

	if (target_isa_limits("avx2", &m) < 0)
		bail_out("avx2 is unknown");
	use("matmul", "504x520:520x768", NULL);
	w.rhs_const = 1;
	for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
		const struct draft d = draft("gemm", tiles[i], &m);
		const double share =
			(double)w.flops / (2.0 * m.lanes * m.fma_per_cycle) / d.compute_cycles;

		ok(share > 0.8 && share <= 1, "avx2:%s is near the peak: %.2f", tiles[i], share);
	}
}

static void test_threads(void)
{
	struct limits one = avx512;
	struct draft a, b;

	one.threads = 1;
	use("matmul", "480x512:512x512", NULL);
	faster("gemm", " vl=16 nv=4 mr=6 mc=40", " vl=16 nv=4 mr=6", 1.8,
	       "a single work item uses one thread");
	faster("gemm", " vl=16 nv=4 mr=6 mc=40", " vl=16 nv=4 mr=6 mc=64", 1.4,
	       "uneven blocks leave one thread waiting");
	a = draft("gemm", " vl=16 nv=4 mr=6 mc=40", &avx512);
	b = draft("gemm", " vl=16 nv=4 mr=6 mc=40", &one);
	ok(a.items == 2 && fabs(b.compute_cycles / a.compute_cycles - 2) < 0.02,
	   "two items take one thread twice as long");
	a = draft("gemm", " vl=16 nv=4 mr=6 mc=64", &avx512);
	b = draft("gemm", " vl=16 nv=4 mr=6 mc=64", &one);
	ok(a.items == 2 && b.compute_cycles < 1.4 * a.compute_cycles,
	   "a small last block takes less than the first");
}

/* Threads that have parts of the same rows take lines from each other, unless much is computed for
 * each row. */
static void test_borders(void)
{
	static const char bands[] = " vl=16 nv=2 mr=28 rows=28 copy=0 depth=32",
			  parts[] = " vl=16 nv=2 mr=28 rows=0 nc=4 copy=0 depth=32";
	struct err e = ERR_INIT;
	double borders;

	use("conv2d", "ic64ih56oc256oh56kh1", "nhwc");
	borders = draft("direct", " vl=16 nv=2 mr=8 rows=0 nc=4 copy=0", &avx512).walk.borders;
	ok(borders == 0, "single precision: %g borders in rows", borders);
	if (workload_set_dtype(&w, "bf16", strlen("bf16"), &e))
		bail_out("%s", e.msg);
	borders = draft("direct", bands, &avx512).walk.borders;
	ok(borders == 0, "bands: %g borders in rows", borders);
	borders = draft("direct", parts, &avx512).walk.borders;
	ok(borders == 56 * 56, "parts of rows: %g borders", borders);
	faster("direct", bands, parts, 1.2, "bands instead of parts of rows");
}

/* A phase of the team splits the left side in halves. Threads that divide the columns read all of
 * them, those that divide the rows their own. */
static void test_others(void)
{
	static const char rows[] = " vl=16 nv=2 mr=32 mc=1 nc=0 par=0 pack_a=0 depth=32",
			  columns[] = " vl=16 nv=2 mr=32 mc=0 nc=1 par=0 pack_a=0 depth=32";
	double others;

	use("matmul", "128x512:512x512", NULL);
	others = draft("gemm_bf16x2", columns, &avx512).others_bytes;
	ok(others == 128 * 512 * 4 / 2, "columns: %g bytes from the other thread", others);
	others = draft("gemm_bf16x2", rows, &avx512).others_bytes;
	ok(others == 0, "rows: %g bytes from the other thread", others);
	others = draft("gemm", " vl=16 nv=2 mr=8 mc=0 nc=1", &avx512).others_bytes;
	ok(others == 0, "no phase: %g bytes from the other thread", others);
}

/* One thread has four rows of tiles, 16 panels, 16 steps, each of which reads 64 lines. */
static void test_prefetches(void)
{
	static const char text[] = " vl=16 nv=2 mr=32 mc=0 nc=0 order=1 pack_a=1 ahead=%d depth=32";
	double lines[3][2];

	use("matmul", "128x512:512x512", NULL);
	for (int ahead = 0; ahead < 3; ahead++) {
		char knobs[128];
		struct draft d;

		snprintf(knobs, sizeof knobs, text, ahead);
		d = draft("gemm_bf16x2", knobs, &avx512);
		memcpy(lines[ahead], d.walk.prefetches, sizeof lines[ahead]);
	}
	ok(lines[0][0] == 0 && lines[0][1] == 0, "no line is prefetched");
	ok(lines[1][0] == 4 * 16 * 16 * 64 && lines[1][1] == 0, "each line is: %g", lines[1][0]);
	ok(lines[2][0] == 0 && lines[2][1] == 16 * 16 * 64, "those of the next panel are, once: %g",
	   lines[2][1]);
}

static void test_memory(void)
{
	struct limits small = avx512;
	struct draft a, b;

	use("matmul", "1024x4096:4096x1024", NULL);
	a = draft("gemm", " vl=16 nv=4 mr=6 kc=128 mc=16 order=1", &avx512);
	b = draft("gemm", " vl=16 nv=4 mr=6 kc=1024 mc=16 order=1", &avx512);
	ok(a.l2_bytes < 0.7 * b.l2_bytes,
	   "a panel of B that fits in the first cache is read from the second once a block");
	a = draft("gemm", " vl=16 nv=4 mr=6 kc=128 mc=16 order=1", &avx512);
	b = draft("gemm", " vl=16 nv=4 mr=6 kc=128 mc=16 order=0", &avx512);
	ok(a.l2_bytes < 0.7 * b.l2_bytes, "rows innermost reuse the panel, columns do not");
	use("matmul", "8x4096:4096x4096", NULL);
	a = draft("gemm", " vl=16 nv=3 mr=8 nc=1", &avx512);
	ok(a.l3_bytes > 0.95 * 4096 * 4096 * 4 / 2 && a.l3_bytes < 1.2 * 4096 * 4096 * 4 / 2,
	   "each thread reads its half of the weights from the third cache, once");
	ok(a.memory_bytes == 0, "and what fits there is not read from memory");
	small.l3 = 8 << 20;
	a = draft("gemm", " vl=16 nv=3 mr=8 nc=1", &small);
	ok(a.memory_bytes > 0.95 * 4096 * 4096 * 4 / 2, "unless the third cache is small");
	use("conv2d", "ic512ih7oc512oh7kh3ph1", NULL);
	a = draft("direct", " vl=16 nv=4 mr=7 nc=1 order=1", &avx512);
	b = draft("direct", " vl=16 nv=4 mr=7 rows=1 nc=1 par=0", &avx512);
	ok(a.l3_bytes < 0.5 * b.l3_bytes, "deep layers: taking rows one by one reads the weights "
					  "again and again");
	use("matmul", "64x64:64x64", NULL);
	a = draft("gemm", " vl=16 nv=4 mr=6 mc=1", &avx512);
	ok(a.l3_bytes == 0 && a.memory_bytes == 0, "small problems stay in the second cache");
}

/* 16 MiB of weights take two threads, at 5 bytes a cycle each, 671 us at 2.5 GHz. */
static void test_cold(void)
{
	const unsigned weights = 1U << TENSOR_WEIGHTS;
	struct draft warm, cold;

	use("matmul", "8x2048:2048x2048", NULL);
	warm = draft("gemm", " vl=16 nv=3 mr=8 nc=1", &avx512);
	cold = draft_cold("gemm", " vl=16 nv=3 mr=8 nc=1", &avx512, weights);
	ok(warm.seconds == warm.warm_s && cold.warm_s == warm.seconds &&
		   cold.memory_bytes == warm.memory_bytes,
	   "what a draft tells of warm caches does not depend on their state");
	ok(cold.seconds > 671e-6 && cold.seconds < 3 * 671e-6 && cold.seconds > 1.5 * cold.warm_s,
	   "cold weights come from memory: %g s, %g s if they are warm", cold.seconds, cold.warm_s);
	cold = draft_cold("gemm", " vl=16 nv=3 mr=8 nc=1", &avx512, 1U << TENSOR_SRC);
	ok(cold.seconds < 1.1 * cold.warm_s, "a small source costs little");
	use("matmul", "8x16384:16384x8192", NULL);
	cold = draft_cold("gemm", " vl=16 nv=3 mr=8 nc=1", &avx512, weights);
	ok(cold.seconds < 1.05 * cold.warm_s,
	   "weights that are larger than all caches come from memory anyway");
}

/* 3x3, 256 channels at 14x14. With tiles by rows of the image both threads read all 9.4 MB of
 * weights; with blocks of channels each has its own half. */
static void test_streams(void)
{
	const unsigned weights = 1U << TENSOR_WEIGHTS;
	const char *all = " vl=16 nv=2 mr=8 m=4 tc=4 tr=2 nc=0 par=0",
		   *few = " vl=16 nv=2 mr=7 m=2 tc=7 tr=7 nc=4 par=0";
	struct limits near = avx512, one = avx512;
	struct draft a, b, c;

	use("conv2d", "ic256ih14oc256oh14kh3ph1", NULL);
	a = draft_cold("winograd", all, &avx512, weights);
	b = draft_cold("winograd", few, &avx512, weights);
	ok(a.warm_s < 1.3 * b.warm_s && a.seconds > 1.7 * b.seconds,
	   "each thread waits for all the weights that it reads: %g and %g s, warm %g and %g",
	   a.seconds, b.seconds, a.warm_s, b.warm_s);
	ok(a.seconds - a.warm_s > 9.4e6 / (5 * 2.5e9), "no arithmetic hides the wait");
	c = draft_cold("winograd", " vl=16 nv=2 mr=7 m=2 tc=7 tr=7 nc=4 par=0 ahead=1", &avx512,
		       weights);
	ok(c.seconds - c.warm_s < 0.75 * (b.seconds - b.warm_s) &&
		   c.seconds - c.warm_s > 0.4 * (b.seconds - b.warm_s),
	   "but for panels that are prefetched, of which it hides half: %g and %g s",
	   c.seconds - c.warm_s, b.seconds - b.warm_s);
	near.l3_rate = 25;
	c = draft_cold("winograd", all, &near, weights);
	ok(c.seconds - c.warm_s < 0.7 * (a.seconds - a.warm_s),
	   "a thread gets twice as much where the third level is near: %g and %g s",
	   c.seconds - c.warm_s, a.seconds - a.warm_s);
	one.threads = near.threads = 1;
	b = draft_cold("winograd", all, &one, weights);
	c = draft_cold("winograd", all, &near, weights);
	ok(c.seconds - c.warm_s > 9.4e6 / (5 * 2.5e9) && b.seconds - b.warm_s > 9.4e6 / (5 * 2.5e9),
	   "but the threads together no more than the memory has");
}

/* 1x1, 1024 to 2048 channels at 7x7: 8.4 MB of weights from the third cache. */
static void test_ahead(void)
{
	use("conv2d", "ic1024ih7oc2048oh7kh1", NULL);
	faster("gemm", " vl=16 nv=3 mr=9 kc=512 nc=1 order=1 ahead=2",
	       " vl=16 nv=3 mr=9 kc=512 nc=1 order=1", 1.02,
	       "panels that are prefetched cost less");
	use("conv2d", "ic224ih14oc224oh14kh3ph1", NULL);
	faster("winograd", " vl=16 nv=2 mr=8 m=4 tc=4 tr=4 nc=4 ahead=1",
	       " vl=16 nv=2 mr=8 m=4 tc=4 tr=4 nc=4", 1.02, "so do transformed weights");
}

static void test_layout(void)
{
	struct draft a, b;

	use("conv2d", "ic64ih56oc64oh56kh3ph1", "nchw");
	b = draft("direct", " vl=16 nv=4 mr=6 rows=7", &avx512);
	use("conv2d", "ic64ih56oc64oh56kh3ph1", "nhwc");
	a = draft("direct", " vl=16 nv=4 mr=6 rows=7", &avx512);
	ok(a.seconds < b.seconds, "nchw pays for copying in and scattering out");
	b = draft("direct", " vl=16 nv=4 mr=6 rows=1", &avx512);
	ok(a.compute_cycles < b.compute_cycles, "one-row bands copy each input row three times");
}

static void refused(const char *knobs, const struct limits *m, const char *why)
{
	struct err e = ERR_INIT;
	int64_t registers;
	int rc;

	build("gemm", knobs);
	rc = static_check(&nest, m, &registers, &e);
	if (why)
		ok(rc == -1 && strstr(e.msg, why), "%s is refused on %s: %s", knobs, m->isa, why);
	else
		ok(rc == 0, "%s is fine on %s", knobs, m->isa);
	if (why ? rc == 0 : rc != 0)
		diag("got %d %s", rc, e.msg);
}

static int64_t registers_on(const struct limits *m)
{
	int64_t registers;

	static_check(&nest, m, &registers, NULL);
	return registers;
}

static void test_static(void)
{
	struct limits avx2, tiny = avx512;

	if (target_isa_limits("avx2", &avx2) < 0)
		bail_out("avx2 is unknown");
	tiny.l2 = 1024;
	use("matmul", "512x512:512x768", NULL);
	build("gemm", " vl=16 nv=4 mr=6");
	ok(registers_on(&avx512) == 28, "6x64 takes 24 + 4 registers");
	build("gemm", " vl=8 nv=2 mr=6");
	ok(registers_on(&avx2) == 15, "6x16 takes 12 + 2 + 1 without broadcast operands");
	refused(" vl=16 nv=4 mr=7", &avx512, NULL);
	refused(" vl=16 nv=4 mr=6", &avx2, "lanes");
	refused(" vl=8 nv=2 mr=6", &avx2, NULL);
	avx2.vregs = 14;
	refused(" vl=8 nv=2 mr=6", &avx2, "spills");
	use("matmul", "1024x1024:1024x8", NULL);
	refused(" vl=8 nv=1 mr=8 pack_a=1 mc=1", &avx512, NULL);
	tiny.threads = 64;
	refused(" vl=8 nv=1 mr=8 pack_a=1", &tiny, "workspace");
}

/* On a machine whose products of pairs take an addition each, weights that get 16 bits as they are
 * loaded cost nothing, but pairs of the left side do. */
static void test_pairs(void)
{
	const unsigned weights = 1U << TENSOR_WEIGHTS;
	struct draft left, both, right;
	struct limits avx2, wide = avx512;
	struct err e = ERR_INIT;

	if (target_isa_limits("avx2", &avx2) < 0)
		bail_out("avx2 is unknown");
	avx2.threads = 2;
	use("conv2d", "ic2048ih7oc512oh7kh1", "nhwc");
	if (workload_set_dtype(&w, "u8:s8:s32", strlen("u8:s8:s32"), &e) < 0)
		bail_out("%s", e.msg);
	left = draft_cold("gemm", " vl=8 nv=2 mr=6 pack_a=1 order=1 wide=1 depth=2", &avx2,
			  weights);
	both = draft_cold("gemm", " vl=8 nv=2 mr=6 pack_a=1 order=1 wide=3 depth=2", &avx2,
			  weights);
	right = draft_cold("gemm", " vl=8 nv=2 mr=6 pack_a=1 order=1 wide=2 depth=2", &avx2,
			   weights);
	if (!ok(left.seconds < both.seconds && both.seconds * 1.2 < right.seconds,
		"cold weights that get wider as they are loaded have half of the bytes"))
		diag("%g s, both sides %g s, the right one %g s", left.seconds, both.seconds,
		     right.seconds);
	wide.dots = 0;
	left = draft("gemm", " vl=16 nv=2 mr=6 pack_a=1 order=1 wide=1 depth=2", &wide);
	both = draft("gemm", " vl=16 nv=2 mr=6 pack_a=1 order=1 wide=3 depth=2", &wide);
	if (!ok(both.compute_cycles * 1.1 < left.compute_cycles,
		"vectors of AVX-512 have no third port for that"))
		diag("%g cycles, both sides %g", left.compute_cycles, both.compute_cycles);
}

/* Each site touches what its own index says, also where the one before it is much like it. */
static void test_sites(void)
{
	static const double bytes[] = {256, 256, 64 * 63 + 4, 256, 4 * 63 + 32, 256};
	static struct draft d;
	int src, weights, dst, i, right = 0;
	const struct expr *sum;
	int64_t registers;

	arena_reset(&arena);
	nest_init(&nest, &arena, "kernel");
	src = nest_arg(&nest, "src", TENSOR_SRC, 4096, 0);
	weights = nest_arg(&nest, "weights", TENSOR_WEIGHTS, 4096, 0);
	dst = nest_arg(&nest, "dst", TENSOR_DST, 4096, 1);
	nest_for(&nest, LOOP_PARALLEL, "p", af(0), af(1));
	i = nest_for(&nest, LOOP_SERIAL, "i", af(0), af(64));
	sum = ex_op(&nest, EXPR_ADD, ex_load(&nest, src, 1, af_var(i), NULL),
		    ex_load(&nest, src, 1, af_add(af_var(i), af(1)), NULL), NULL);
	sum = ex_op(&nest, EXPR_ADD, sum, ex_load(&nest, src, 1, af_mul(af_var(i), 16), NULL),
		    NULL);
	sum = ex_op(&nest, EXPR_ADD, sum, ex_load(&nest, weights, 1, af_var(i), NULL), NULL);
	sum = ex_op(&nest, EXPR_ADD, sum,
		    ex_pick(&nest, ex_load(&nest, weights, 8, af_var(i), NULL), af(0)), NULL);
	nest_store(&nest, dst, af_var(i), NULL, sum);
	nest_close_to(&nest, 0);
	static_check(&nest, &avx512, &registers, NULL);
	draft_predict(&nest, &avx512, registers, 0, &d);
	for (int k = 0; k < d.walk.nsites && k < 6; k++) {
		const struct walk_site *s = &d.walk.site[k];
		const int buffer = k < 3 ? src : k < 5 ? weights : dst;

		right += s->buffer == buffer && s->store == (k == 5) &&
			 fabs(s->touched[1] - bytes[k]) < 1e-9;
	}
	ok(d.walk.nsites == 6 && right == 6, "six sites of one loop touch what they touch: %d",
	   right);
}

/* Bytes of src that a loop of 64 touches by these loads, 1 float each: strides and places. */
static double touched_by(int n, const int64_t (*load)[2])
{
	double body[WALK_LOOPS], by_buffer[NEST_BUFFERS];
	const struct expr *sum = NULL;
	static struct walk walk;
	int64_t registers;
	int src, dst, i;

	arena_reset(&arena);
	nest_init(&nest, &arena, "kernel");
	src = nest_arg(&nest, "src", TENSOR_SRC, 65536, 0);
	dst = nest_arg(&nest, "dst", TENSOR_DST, 64, 1);
	nest_for(&nest, LOOP_PARALLEL, "p", af(0), af(1));
	i = nest_for(&nest, LOOP_SERIAL, "i", af(0), af(64));
	for (int k = 0; k < n; k++) {
		const struct affine at = af_add(af_mul(af_var(i), load[k][0]), af(load[k][1]));
		const struct expr *x = ex_load(&nest, src, 1, at, NULL);

		sum = sum ? ex_op(&nest, EXPR_ADD, sum, x, NULL) : x;
	}
	nest_store(&nest, dst, af_var(i), NULL, sum);
	nest_close_to(&nest, 0);
	static_check(&nest, &avx512, &registers, NULL);
	walk_nest(&walk, &nest, &avx512, registers, 0);
	walk_working_sets(&walk, body, by_buffer);
	return by_buffer[src];
}

/* Several sites touch as much of a buffer as all of them, and what two of them touch once. */
static void test_together(void)
{
	static const int64_t same[][2] = {{1, 0}, {1, 0}, {1, 1}}, apart[][2] = {{1, 0}, {1, 4096}};
	static const int64_t chain[][2] = {{1, 0}, {1, 32}, {1, 64}},
			     rows[][2] = {{64, 0}, {64, 32}};
	struct draft d;
	double bytes = 0;

	ok(touched_by(3, same) == 256, "sites of one line: %g bytes", touched_by(3, same));
	ok(touched_by(2, apart) == 512, "sites apart: %g", touched_by(2, apart));
	ok(touched_by(3, chain) == 512, "sites that overlap: %g", touched_by(3, chain));
	ok(touched_by(2, rows) == 64 * 128, "two lines of each row: %g", touched_by(2, rows));
	use("matmul", "64x512:512x1024", NULL);
	d = draft("strassen", " vl=16 nv=2 mr=8", &avx512);
	for (int i = 0; i < nest.nbuffers; i++)
		if (nest.buffer[i].role == TENSOR_WEIGHTS && nest.buffer[i].kind == BUFFER_PACKED)
			bytes += (double)buffer_bytes(&nest.buffer[i]);
	ok(bytes == 512 * 1024 * 4 * 7 / 4 && d.whole > bytes / 2,
	   "two threads read all of strassen's %g bytes of weights: %g each", bytes, d.whole);
}

int main(void)
{
	make_machine();
	test_sites();
	test_together();
	test_tiles();
	test_unfolded();
	test_threads();
	test_borders();
	test_others();
	test_prefetches();
	test_memory();
	test_cold();
	test_streams();
	test_ahead();
	test_layout();
	test_static();
	test_pairs();
	arena_free(&arena);
	return done_testing();
}
