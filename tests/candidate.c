/* lib/algo: a candidate's id is that of the canonical text, written the slow way here, and never
 * changes. The golden ids were computed by another implementation (Python's hashlib) from the text
 * in the comments. Knobs that were valid once stay so. */
#include <stdio.h>
#include <string.h>

#include "lib/algo/candidate.h"
#include "lib/base/rng.h"
#include "lib/nest/check.h"
#include "lib/space/isa.h"
#include "lib/space/key.h"
#include "tests/tap.h"

static void slow_id(const struct candidate *c, struct id *id)
{
	struct key k = {0};

	key_str(&k, "type", "candidate");
	key_int(&k, "tl", 1);
	key_str(&k, "workload", c->w.id.s);
	key_str(&k, "target", c->target->name);
	key_str(&k, "algo", c->algo->name);
	key_int(&k, "rev", c->algo->rev);
	for (int i = 0; i < c->algo->nknobs; i++) {
		char name[24];

		if (c->knob[i] == c->algo->knob[i].frozen)
			continue;
		snprintf(name, sizeof name, "knob.%s", c->algo->knob[i].name);
		key_int(&k, name, c->knob[i]);
	}
	key_id(&k, id);
}

static void set(struct candidate *c, const char *knob, int64_t value)
{
	for (int i = 0; i < c->algo->nknobs; i++)
		if (!strcmp(c->algo->knob[i].name, knob))
			c->knob[i] = value;
}

static void start(struct candidate *c, const char *op, const char *prob, const char *algo)
{
	struct err e = ERR_INIT;

	memset(c, 0, sizeof *c);
	if (workload_from_text(&c->w, op, prob, NULL, NULL, &e))
		bail_out("%s", e.msg);
	if (!(c->algo = algo_find(algo, strlen(algo))))
		bail_out("no algorithm %s", algo);
	c->target = target_find("cpu", 3);
	for (int i = 0; i < c->algo->nknobs; i++)
		c->knob[i] = c->algo->knob[i].frozen;
}

static void is_id(struct candidate *c, const char *id, const char *what)
{
	candidate_identify(c);
	if (!ok(!strcmp(c->id.s, id), "the id of %s", what))
		diag("got %s", c->id.s);
}

/* The bound of depthwise's loops was once made smaller for nchw without another revision, and with
 * a stride of 2^31 - 1 each check of knobs took 2^31 divisions. It counted tiles between those at
 * the edges where there were none, so that 72 channels had no fast kernel of 16 lanes. */
static void test_valid(void)
{
	struct err e = ERR_INIT;
	struct candidate c;
	const char *why;

	start(&c, "conv2d", "g144ic144ih28oc144oh28kh3ph1", "depthwise");
	if (workload_from_text(&c.w, "conv2d", "g144ic144ih28oc144oh28kh3ph1", "nchw", NULL, &e))
		bail_out("%s", e.msg);
	set(&c, "vl", 16);
	set(&c, "nv", 2);
	set(&c, "mr", 7);
	set(&c, "order", 3);
	ok(algo_valid(c.algo, &c.w, c.knob, &why), "depthwise's knobs stay valid for nchw: %s",
	   why);
	start(&c, "conv2d", "g16ic16ih8oc16oh1kh3sh1048576", "depthwise");
	set(&c, "vl", 16);
	set(&c, "mr", 1);
	set(&c, "once", 1);
	ok(algo_valid(c.algo, &c.w, c.knob, &why), "no two taps share an input at any stride");
	start(&c, "conv2d", "g72ic72ih56oc72oh28kh5sh2ph2", "depthwise");
	set(&c, "vl", 16);
	set(&c, "mr", 14);
	set(&c, "once", 1);
	ok(algo_valid(c.algo, &c.w, c.knob, &why),
	   "channels that fill no vectors are loaded once where a row has two tiles: %s", why);
	start(&c, "matmul", "12x20:20x24", "gemm");
	set(&c, "vl", 16);
	set(&c, "mr", 4);
	set(&c, "ks", 0);
	ok(!algo_valid(c.algo, &c.w, c.knob, &why), "gemm has no parts of nothing: %s", why);
	set(&c, "ks", 2);
	set(&c, "depth", 0);
	ok(!algo_valid(c.algo, &c.w, c.knob, &why), "nor steps of nothing: %s", why);
}

/* Whole numbers have room for so many channels by image tiles of 4 and of 2 pixels a side. */
static void test_channels(void)
{
	static const struct {
		const char *prob;
		int64_t m, mw;
		int fits;
	} tries[] = {
		{"ic112ih8oc32oh8kh3ph1", 4, 0, 1},  {"ic128ih8oc32oh8kh3ph1", 4, 0, 0},
		{"ic448ih8oc32oh8kh3ph1", 4, 2, 1},  {"ic448ih8oc32oh8kh3ph1", 2, 4, 1},
		{"ic464ih8oc32oh8kh3ph1", 4, 2, 0},  {"ic464ih8oc32oh8kh3ph1", 2, 4, 0},
		{"ic1824ih8oc32oh8kh3ph1", 2, 0, 1}, {"ic1840ih8oc32oh8kh3ph1", 2, 0, 0},
	};

	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		struct err e = ERR_INIT;
		const char *why = "";
		struct candidate c;

		start(&c, "conv2d", tries[i].prob, "winograd");
		if (workload_set_dtype(&c.w, "u8:s8:s32", 9, &e) < 0)
			bail_out("%s", e.msg);
		set(&c, "vl", 8);
		set(&c, "nv", 2);
		set(&c, "mr", 4);
		set(&c, "m", tries[i].m);
		set(&c, "mw", tries[i].mw);
		set(&c, "tc", 2);
		set(&c, "tr", 2);
		ok((algo_valid(c.algo, &c.w, c.knob, &why) == 1) == tries[i].fits,
		   "%s by tiles of %lld, %lld pixels %s: %s", tries[i].prob, (long long)tries[i].m,
		   (long long)tries[i].mw, tries[i].fits ? "is exact" : "has no room", why);
	}
}

/* Is the nest of the knobs no larger than nests may be, whether they are valid or not? */
static int has_nest(const struct candidate *c)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct nest n;
	int holds;

	nest_init(&n, &a, "kernel");
	holds = c->algo->build(&c->w, c->knob, &n, &e) == 0 && check_nest(&n, &e) == 0;
	arena_free(&a);
	return holds;
}

/* Depthwise's knobs are valid where their nests are not too large, and everywhere there: in single
 * precision points went neither when this was bounded nor when it was asked of the nest. */
static void test_large_nests(const char *prob, const char *dtype, const char *layout)
{
	int valid = 0, refused = 0, wrong = 0;
	struct err e = ERR_INIT;
	struct candidate c;
	const char *why;

	start(&c, "conv2d", prob, "depthwise");
	if (workload_from_text(&c.w, "conv2d", prob, layout, NULL, &e) < 0 ||
	    workload_set_dtype(&c.w, dtype, strlen(dtype), &e) < 0)
		bail_out("%s", e.msg);
	for (int i = 0; i < 8 * 2 * 4; i++) {
		set(&c, "vl", 16);
		set(&c, "nv", 1 + i / 8 % 2);
		set(&c, "mr", 1 + i % 8);
		set(&c, "order", i / 16);
		if (algo_valid(c.algo, &c.w, c.knob, &why)) {
			valid++;
			wrong += !has_nest(&c);
		} else if (!strcmp(why, "too many tiles have taps outside the image")) {
			refused++;
			wrong += has_nest(&c);
		}
	}
	ok(valid && refused && !wrong, "%s %s %s: %d nests, %d too large, %d other than said", prob,
	   dtype, layout, valid, refused, wrong);
}

/* Channels that fill no vectors, and kernel rows that fill no group: tiles of single rows are
 * offered, and make programs where those of groups have too many loops. */
static void test_single_rows(void)
{
	struct knob_space s = {0};
	struct err e = ERR_INIT;
	struct limits vnni;
	struct candidate c;
	const char *why = NULL;
	int has_one = 0;

	start(&c, "conv2d", "g120ic120ih28oc120oh28kh5ph2", "depthwise");
	if (workload_set_dtype(&c.w, "u8:s8:u8", 8, &e) < 0 ||
	    isa_limits("avx512_vnni", &vnni) < 0 || !algo_space(c.algo, &c.w, &vnni, &s))
		bail_out("there is no such space");
	for (int i = 0; i < s.n; i++)
		for (int v = 0; !strcmp(c.algo->knob[i].name, "depth") && v < s.knob[i].n; v++)
			has_one |= s.knob[i].value[v] == 1;
	set(&c, "vl", 16);
	set(&c, "mr", 7);
	set(&c, "once", 1);
	ok(has_one && algo_valid(c.algo, &c.w, c.knob, &why),
	   "5x5 by 120 channels in 8 bits has tiles of single kernel rows%s%s", why ? ": " : "",
	   why ? why : "");
}

int main(void)
{
	struct candidate c;
	struct err e = ERR_INIT;
	struct rng rng;
	int bad = 0;

	test_single_rows();
	test_channels();
	/* algo=gemm;rev=3;target=cpu;tl=1;type=candidate;workload=f0b6c2f5d7fa21638b4b570435ec1e4e;
	 */
	start(&c, "matmul", "49x512:512x1000", "gemm");
	is_id(&c, "c55ed09d33825b4dc67db57382a1b91b", "gemm with every knob at its frozen default");
	/* algo=gemm;knob.kc=128;knob.mr=7;knob.nv=4;knob.order=1;knob.vl=16;rev=3;... */
	set(&c, "vl", 16);
	set(&c, "nv", 4);
	set(&c, "mr", 7);
	set(&c, "kc", 128);
	set(&c, "order", 1);
	is_id(&c, "1471e089e8d2d3345cb706f2a23e0c8c", "gemm with five knobs set");

	start(&c, "matmul", "1x4096:4096x4096", "dequantize");
	if (workload_from_text(&c.w, "matmul", "1x4096:4096x4096", NULL, "bias,groups(32),zeros",
			       &e) ||
	    workload_set_dtype(&c.w, "f32:u4:f32", 10, &e))
		bail_out("%s", e.msg);
	set(&c, "vl", 16);
	set(&c, "digits", 1);
	is_id(&c, "cd05c2c10fe20ed9cf1798f97983f06b", "dequantize");
	start(&c, "matmul", "49x512:512x1000", "implicit_gemm");
	c.target = target_find("cuda", 4);
	is_id(&c, "39132b4da78c602fa173526a2185c4f0", "implicit_gemm for cuda");
	start(&c, "conv2d", "g32ic32ih28oc32oh28kh3ph1", "depthwise_threads");
	c.target = target_find("opencl", 6);
	is_id(&c, "6d35247bf7db68901af934d138d9f7e2", "depthwise_threads for opencl");
	start(&c, "conv2d", "ic64ih56oc64oh56kh3ph1", "winograd_threads");
	c.target = target_find("cuda", 4);
	is_id(&c, "54bf29ccc65c8d18614ac901bf589545", "winograd_threads for cuda");

	start(&c, "matmul", "49x512:512x1000", "implicit_mma");
	c.target = target_find("cuda", 4);
	is_id(&c, "afd073e65bce7b12ba15c252d0f96db7", "implicit_mma for cuda");

	start(&c, "softmax", "1536x128", "rows_threads");
	c.target = target_find("opencl", 6);
	is_id(&c, "3e994d4239c8b10375a61e6b78480209", "rows_threads for opencl");

	start(&c, "conv2d", "ic64ih56oc64oh56kh3ph1", "fused_winograd_threads");
	c.target = target_find("cuda", 4);
	is_id(&c, "0294fb3daa0d0a6c80fca928ed529291", "fused_winograd_threads for cuda");

	/* Since it takes groups the ids of others stay. */
	start(&c, "conv2d", "ic64ih56oc64oh56kh3ph1", "winograd");
	is_id(&c, "37151fc2d58b2d740ce666f8f8adc3c0", "winograd of one group");
	start(&c, "conv2d", "g32ic256ih28oc256oh28kh3ph1", "winograd");
	set(&c, "groups", 8);
	is_id(&c, "ea351fe827b0ffd8945c24f2f1b63dd3", "winograd of eight groups");
	start(&c, "conv2d", "g32ic256ih28oc256oh28kh3ph1", "planar");
	is_id(&c, "a2614275c314dd428a39fd7a2d89eb2d", "planar");

	test_valid();
	test_large_nests("g28ic28ih8iw30oc28oh6ow16kh5kw6sw2ph1pw4", "f32", "nhwc");
	test_large_nests("g36ic36ih12oc36oh12kh5ph4dh1", "f32", "nhwc");
	test_large_nests("g36ic36ih12oc36oh12kh5kw3ph4pw1dh1dw0", "f32", "nchw");
	test_large_nests("g36ic36ih12oc36oh12kh5ph4dh1", "bf16", "nhwc");

	rng_seed(&rng, 3, "candidate");
	for (const struct algo *const *a = algo_list; *a; a++) {
		start(&c, "conv2d", "ic64ih56oc64kh3ph1", (*a)->name);
		for (int n = 0; n < 2000; n++) {
			struct id slow;

			for (int i = 0; i < (*a)->nknobs; i++)
				c.knob[i] = rng_below(&rng, 3) ? (int64_t)rng_below(&rng, 2000)
							       : (*a)->knob[i].frozen;
			if (n == 7)
				c.knob[0] = -INT64_C(9007199254740991);
			candidate_identify(&c);
			slow_id(&c, &slow);
			bad += strcmp(c.id.s, slow.s) != 0;
		}
	}
	ok(!bad, "the fast id is the id of the canonical text: %d differ", bad);
	return done_testing();
}
