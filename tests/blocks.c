/* Kernels of blocks of threads: random problems, random candidates of every algorithm that has
 * them; interpreted against the naive nest, with its check for races; run through OpenCL where
 * there is a device (PoCL's is the CPU), or with TL_TEST_DRIVER=cuda by CUDA; compiled for NVIDIA's
 * GPUs where there is NVRTC. Then pinned kernels, whose tiles blocks share, or whose sides lie in
 * each order that there is.
 *
 * TL_TEST_PROBLEMS (6; with sanitizers 2) problems an operator, TL_TEST_BLOCKS (3; 1) candidates
 * each; one in TL_TEST_RUN (4) is run on the device, one in TL_TEST_NVRTC (8) compiled for each
 * architecture. TL_TEST_PINNED=0 leaves out the pinned kernels, of which sanitizers see a third.
 * TL_TEST_ALGO: of this algorithm alone. TL_TEST_TYPE: of these element types alone.
 */
#include <errno.h>
#include <math.h>

#include "lib/draft/static.h"
#include "lib/nest/mma.h"
#include "lib/search/search.h"
#include "lib/target/nvrtc.h"
#include "lib/target/device.h"
#include "lib/target/simt.h"
#include "tests/problems.h"
#include "tests/tap.h"

enum { TEAM = 3, ARCHS = 2, MOST_SPILT = 64 };
#ifdef __SANITIZE_ADDRESS__
enum { PROBLEMS = 2, CANDIDATES = 1, RARER = 3 };
#else
enum { PROBLEMS = 6, CANDIDATES = 3, RARER = 1 };
#endif

static const double LIMIT = 1e-5;
static const char *const archs[ARCHS] = {"sm_80", "sm_90"};

static const struct driver *driver = &driver_opencl;
static struct device *device; /* NULL: there is none */
static int64_t block_bytes;   /* of it */
static char device_arch[16];  /* what is compiled for it; "": sources are loaded */
static int has_nvrtc;
static int64_t one_in_run, one_in_nvrtc;

struct tally {
	int64_t candidates, bad, run, compiled[ARCHS];
};

/* Random candidates whose blocks share tiles. */
static int64_t sharing;
/* Compilations of what the static check lets pass, and those that spilt. */
static int64_t passed, spilt;

/* ---- operands ---- */

/* Floats become elements of the buffer's type in the same place, or the other way. */
static void convert(const struct buffer *b, float *x, int back)
{
	float *copy = xmalloc((size_t)b->size * sizeof *copy);

	memcpy(copy, x, (size_t)b->size * sizeof *copy);
	if (back)
		elem_to_floats(b->elem, copy, x, b->size);
	else
		elem_from_floats(b->elem, copy, x, b->size);
	free(copy);
}

static void operands_open(const struct problem *p, const struct nest *n, float **buffers)
{
	for (int i = 0; i < n->nslots; i++) {
		const struct buffer *b = operand_buffer(n, i);
		int role = b->role == TENSOR_DST ? TENSOR_ADD : b->role;

		buffers[i] = xmalloc((size_t)b->size * sizeof **buffers);
		for (int64_t j = 0; j < b->size; j++)
			buffers[i][j] = NAN;
		if (b->kind == BUFFER_PACKED)
			packing_run(b->packing, p->tensor[b->role], buffers[i]);
		else if (b->kind == BUFFER_ARG && p->tensor[role])
			memcpy(buffers[i], p->tensor[role], (size_t)b->size * sizeof **buffers);
		if (!elem_is_float(b->elem))
			convert(b, buffers[i], 0);
	}
}

/* As floats again, for those who compare. */
static void operands_widen(const struct nest *n, float **buffers)
{
	for (int i = 0; i < n->nslots; i++)
		if (!elem_is_float(operand_buffer(n, i)->elem))
			convert(operand_buffer(n, i), buffers[i], 1);
}

static void operands_close(const struct nest *n, float **buffers)
{
	for (int i = 0; i < n->nslots; i++)
		free(buffers[i]);
}

static double interpreted(const struct problem *p, const struct nest *n, struct err *e)
{
	float *buffers[NEST_BUFFERS];
	double error = NAN;

	operands_open(p, n, buffers);
	if (interp_team(n, TEAM, (void **)buffers, e) == 0) {
		operands_widen(n, buffers);
		error = error_of(p, n, buffers);
	}
	operands_close(n, buffers);
	return error;
}

/* ---- the device ---- */

static int source_of(const struct nest *n, const char *prelude, struct buf *out, struct err *e)
{
	const char *why;

	buf_fmt(out, "%s\n#define KERNEL kernel_of\n", prelude);
	why = simt_print(n, NULL, out);
	return why ? err_set(e, "it is not printed: %s", why) : 0;
}

static int run_device(const struct nest *n, struct device_program *program, float **buffers,
		      struct err *e)
{
	struct memory *memory[NEST_BUFFERS] = {0};
	long params[SIMT_PARAMS];
	double took;
	int rc = 0;

	simt_params(n, params);
	for (int i = 0; i < n->nslots && rc == 0; i++) {
		size_t bytes = (size_t)buffer_bytes(operand_buffer(n, i));

		memory[i] = driver->memory(device, bytes, e);
		rc = memory[i] ? driver->write(memory[i], 0, buffers[i], bytes, e) : -1;
	}
	if (rc == 0)
		rc = driver->run(program, "kernel_of", params, memory, n->nslots, 1, &took, e);
	for (int i = 0; i < n->nslots && rc == 0; i++)
		rc = driver->read(memory[i], 0, buffers[i],
				  (size_t)buffer_bytes(operand_buffer(n, i)), e);
	for (int i = 0; i < n->nslots; i++)
		if (memory[i])
			driver->free(memory[i]);
	return rc;
}

/* What the device loads: the source, or what NVRTC makes of it. */
static int object_of(const struct nest *n, struct buf *object, struct err *e)
{
	struct buf text = BUF_INIT, log = BUF_INIT;
	int rc;

	if (!device_arch[0])
		return source_of(n, simt_prelude_opencl(), object, e);
	rc = source_of(n, simt_prelude_cuda(), &text, e);
	if (rc == 0 && (rc = nvrtc_compile(device_arch, text.s, object, &log, e)) < 0)
		err_in(e, "%.300s", log.s ? log.s : "");
	buf_free(&text);
	buf_free(&log);
	return rc;
}

/* A kernel has died: a device of CUDA does nothing more for whoever ran it, until it is opened
 * anew. */
static void renew_device(void)
{
	struct err e = ERR_INIT;

	driver->close(device);
	device = driver->open(&e);
	if (!device)
		diag("the device does not open again: %s", e.msg);
}

static double by_device(const struct problem *p, const struct nest *n, struct err *e)
{
	struct buf object = BUF_INIT;
	float *buffers[NEST_BUFFERS];
	struct device_program *program = NULL;
	double error = NAN;
	int died = 0;

	if (object_of(n, &object, e) == 0)
		program = driver->load(device, object.s, object.n, e);
	if (program) {
		operands_open(p, n, buffers);
		died = run_device(n, program, buffers, e) < 0;
		if (!died) {
			operands_widen(n, buffers);
			error = error_of(p, n, buffers);
		}
		operands_close(n, buffers);
		driver->unload(program);
	}
	if (died)
		renew_device();
	buf_free(&object);
	return error;
}

/* ---- NVRTC ---- */

/* The most that a kernel of a compilation spills, in bytes. */
static int spills(const char *log)
{
	static const char words[] = " bytes spill stores";
	int most = 0;

	for (const char *p = log; p && (p = strstr(p, words)); p += sizeof words - 1) {
		const char *number = p;

		while (number > log && number[-1] >= '0' && number[-1] <= '9')
			number--;
		most = atoi(number) > most ? atoi(number) : most;
	}
	return most;
}

static void count_spills(const struct nest *n, const char *arch, const char *log)
{
	struct err why = ERR_INIT;
	struct limits m;
	int64_t registers;

	if (target_isa_limits(arch, &m) < 0 || static_check(n, &m, &registers, &why) < 0)
		return;
	passed++;
	if (spills(log) <= MOST_SPILT)
		return;
	spilt++;
	diag("passed, and spills %d bytes for %s", spills(log), arch);
}

/* The compiler tells by C7510 to C7519 that it lets products of groups wait for each other, or for
 * what touches their sums meanwhile. */
static int check_pipeline(const char *log, struct err *e)
{
	const char *told = log ? strstr(log, "(C751") : NULL;

	return told ? err_set(e, "products are made to wait: %.200s", told) : 0;
}

static int compiles(const struct nest *n, const char *arch, struct err *e)
{
	struct buf text = BUF_INIT, cubin = BUF_INIT, log = BUF_INIT;
	int rc = source_of(n, simt_prelude_cuda(), &text, e);

	if (rc == 0 && (rc = nvrtc_compile(arch, text.s, &cubin, &log, e)) < 0)
		err_in(e, "%.300s", log.s ? log.s : "");
	if (rc == 0 && !cubin.n)
		rc = err_set(e, "the cubin is empty");
	if (rc == 0)
		rc = check_pipeline(log.s, e);
	if (rc == 0)
		count_spills(n, arch, log.s);
	buf_free(&text);
	buf_free(&cubin);
	buf_free(&log);
	return rc;
}

/* ---- candidates ---- */

/* Those that the nest needs? */
static int has_tensor_cores(const char *arch, const struct nest *n)
{
	struct limits m;

	return target_isa_limits(arch, &m) == 0 && !(mma_needs(n) & ~m.mma);
}

/* OpenCL has no groups of warps, and no bulk copies. */
static int runs(const struct nest *n)
{
	return device && nest_block_bytes(n) <= block_bytes &&
	       (device_arch[0] || !(mma_needs(n) & (1U << MMA_GROUPS | 1U << MMA_BULK)));
}

/* Do eight rows of a side, which ldmatrix reads at a time, lie in different banks? So do the units
 * of all rows that begin in the same place. */
static int has_conflicts(const struct nest *n, const struct mma *m, const struct mma_side *s)
{
	const struct buffer *b = &n->buffer[s->buffer];
	const int64_t zeros[NEST_VARS] = {0};
	unsigned seen = 0;

	if (m->group || s->k_step != mma_pair(m->kind))
		return 0;
	for (int row = 0; row < 8; row++) {
		struct affine at = mma_at(m, s, row, 0);
		int64_t place = swizzle_place(&b->swizzle, af_eval(n, &at, zeros));

		seen |= 1U << place * elem_size(b->elem) / 16 % 8;
	}
	return seen != 255;
}

static int any_conflicts(const struct nest *n, const struct node *t)
{
	for (; t; t = t->next)
		if ((t->kind == NODE_MMA && (has_conflicts(n, t->mma, &t->mma->a) ||
					     has_conflicts(n, t->mma, &t->mma->b))) ||
		    any_conflicts(n, t->body) || any_conflicts(n, t->orelse))
			return 1;
	return 0;
}

static int is_good(const struct problem *p, const struct candidate *c, struct tally *t,
		   struct err *e)
{
	const double limit = dtype_error(p->w.dtype.dst, LIMIT);
	struct arena a = ARENA_INIT;
	double error = NAN;
	struct nest n;

	nest_init(&n, &a, "kernel");
	if (candidate_build(c, &n, e) == 0)
		error = interpreted(p, &n, e);
	if (any_conflicts(&n, n.body) && error < limit) {
		err_set(e, "the rows of a matrix lie in the same banks");
		error = NAN;
	}
	if (error < limit && runs(&n) && pick(1, one_in_run) == 1) {
		error = by_device(p, &n, e);
		t->run++;
	}
	for (int i = 0; i < ARCHS && error < limit && has_nvrtc; i++) {
		if (pick(1, one_in_nvrtc) > 1 || !has_tensor_cores(archs[i], &n))
			continue;
		if (compiles(&n, archs[i], e) < 0)
			error = NAN;
		t->compiled[i]++;
	}
	arena_free(&a);
	if (!(error < limit) && !e->msg[0])
		err_set(e, "the error is %g", error);
	return error < limit;
}

/* Has the candidate this knob, at another value than 0? */
static int has_knob(const struct candidate *c, const char *name)
{
	for (int i = 0; i < c->algo->nknobs; i++)
		if (!strcmp(c->algo->knob[i].name, name))
			return c->knob[i] != 0;
	return 0;
}

static void check_algorithm(struct problem *p, const char *name, const struct limits *m,
			    int64_t wanted, struct tally *t)
{
	const struct data_env env = {.limits = *m};
	struct search_space space;
	struct arena state = ARENA_INIT;
	struct buf text = BUF_INIT;
	uint64_t point;
	void *s;

	search_space_init(&space, &p->w, &env, name);
	s = search_find("random")->start(&space, 1, 0, &state);
	while (wanted > 0 && search_find("random")->propose(s, &point)) {
		struct candidate c = {.w = p->w};
		struct err e = ERR_INIT;

		if (!search_space_at(&space, point, &c))
			continue;
		candidate_identify(&c);
		wanted--;
		t->candidates++;
		sharing += has_knob(&c, "stream_k");
		if (is_good(p, &c, t, &e))
			continue;
		t->bad++;
		buf_clear(&text);
		candidate_print(&c, &text);
		diag("%s\n# %s", e.msg, text.s);
	}
	buf_free(&text);
	arena_free(&state);
}

static int64_t from_env(const char *name, int64_t def)
{
	const char *s = getenv(name);

	return s ? atoll(s) : def;
}

static void check_problem(const struct limits *m, struct problem *p, int64_t wanted,
			  struct tally *t)
{
	const char *only = getenv("TL_TEST_ALGO");

	problem_open(p);
	for (int i = 0; algo_list[i]; i++)
		if (algo_list[i]->needs & TARGET_BLOCKS &&
		    (!only || !strcmp(algo_list[i]->name, only)))
			check_algorithm(p, algo_list[i]->name, m, wanted, t);
	problem_close(p);
}

typedef int random_problem(struct workload *w);

static void check_problems(const struct limits *m, const char *name, random_problem *draw,
			   const char *types, int64_t wanted)
{
	const int64_t problems = from_env("TL_TEST_PROBLEMS", PROBLEMS);
	const char *only = getenv("TL_TEST_TYPE");
	struct tally t = {0};

	if (only && strcmp(only, types) != 0)
		return;
	rng_seed(&rng, 11, "blocks");
	for (int64_t i = 0; i < problems;) {
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (!draw(&p.w))
			continue;
		i++;
		if (workload_set_dtype(&p.w, types, strlen(types), &e) < 0)
			bail_out("%s", e.msg);
		check_problem(m, &p, wanted, &t);
	}
	ok((t.candidates >= problems || getenv("TL_TEST_ALGO")) && !t.bad,
	   "%s: %lld candidates, %lld of them run by %s, %lld and %lld compiled for %s and %s; "
	   "%lld wrong",
	   name, (long long)t.candidates, (long long)t.run, device_arch[0] ? "CUDA" : "OpenCL",
	   (long long)t.compiled[0], (long long)t.compiled[1], archs[0], archs[1],
	   (long long)t.bad);
}

static void check_operators(const struct limits *m)
{
	const int64_t wanted = from_env("TL_TEST_BLOCKS", CANDIDATES);

	check_problems(m, "conv2d", random_conv, "f32", wanted);
	check_problems(m, "conv2d of unit stride", random_filtered_conv, "f32", (wanted + 2) / 3);
	check_problems(m, "depthwise conv2d", random_depthwise, "f32", wanted);
	check_problems(m, "matmul", random_matmul, "f32", wanted);
	check_problems(m, "rows", random_rows, "f32", wanted);
}

static int random_product(struct workload *w)
{
	if (pick(0, 1))
		return random_matmul(w);
	return pick(0, 2) ? random_conv(w) : random_depthwise(w);
}

/* Elements of other types, by what computes with them. */
static void check_types(const struct limits *m)
{
	check_problems(m, "tf32", random_product, "tf32", 3);
	check_problems(m, "bf16", random_product, "bf16", 3);
	check_problems(m, "f16", random_product, "f16", 3);
	check_problems(m, "s8", random_product, "s8:s8:s32", 3);
	check_problems(m, "u8:s8:f32", random_product, "u8:s8:f32", 3);
}

/* A problem of each kind with post-ops. */
static const struct {
	const char *op, *prob, *layout;
} with_posts[] = {
	{"conv2d", "ic8ih9oc20oh9kh3ph1", "nhwc"},
	{"conv2d", "ic8ih9oc20oh9kh3ph1", "nchw"},
	{"layer_norm", "6x36", NULL},
};

static void check_activations(const struct limits *m)
{
	static const char *const posts[] = {"bias,clip(-0.5,0.75)",
					    "bias,add,leaky_relu(0.1)",
					    "bias,hardswish",
					    "tanh,add",
					    "bias,silu,mul",
					    "bias,add,gelu",
					    "gelu_tanh"};
	struct tally t = {0};

	rng_seed(&rng, 12, "activations");
	for (size_t i = 0; i < sizeof posts / sizeof *posts; i++)
		for (size_t j = i % RARER; j < sizeof with_posts / sizeof *with_posts; j += RARER) {
			struct problem p = {0};
			struct err e = ERR_INIT;

			if (workload_from_text(&p.w, with_posts[j].op, with_posts[j].prob,
					       with_posts[j].layout, posts[i], &e) < 0)
				bail_out("%s", e.msg);
			check_problem(m, &p, 1, &t);
		}
	ok((t.candidates || getenv("TL_TEST_ALGO")) && !t.bad,
	   "activations: %lld candidates, %lld wrong", (long long)t.candidates, (long long)t.bad);
}

/* ---- pinned kernels ---- */

/* A kernel of tiles of 32 rows by 32 columns, most with chunks of 32 values. */
struct pinned {
	const char *what, *algo, *types, *op, *prob, *layout, *post, *knobs;
	const char *why; /* it is refused, but right; NULL: it is taken */
};

/* Blocks share tiles, or the knobs make no program. */
static const struct pinned shared[] = {
	{"more blocks than chunks", "implicit_mma", "f32", "matmul", "32x64:64x32", NULL, NULL,
	 "stream_k=5", "more blocks than chunks"},
	{"one block", "implicit_mma", "f32", "matmul", "64x64:64x64", NULL, NULL, "stream_k=1",
	 "none is shared"},
	{"one chunk", "implicit_mma", "f32", "matmul", "32x32:32x224", NULL, "bias", "stream_k=3",
	 "none is shared"},
	{"whole waves", "implicit_mma", "f32", "matmul", "64x64:64x64", NULL, "bias", "stream_k=2",
	 "none is shared"},
	{"both ways", "implicit_mma", "f32", "matmul", "32x64:64x96", NULL, NULL, "ks=2 stream_k=2",
	 "by both"},
	{"three blocks to a tile", "implicit_mma", "f32", "matmul", "32x192:192x32", NULL,
	 "bias,relu", "stream_k=3", NULL},
	{"fewer blocks than may be", "implicit_mma", "bf16", "matmul", "32x320:320x32", NULL, NULL,
	 "stream_k=7 stages=3", NULL},
	{"a block with whole tiles alone", "implicit_mma", "bf16", "matmul", "32x64:64x352", NULL,
	 "bias", "stream_k=5", NULL},
	{"three tiles to a block", "implicit_mma", "f32", "matmul", "32x128:128x160", NULL,
	 "bias,add", "stream_k=3 stages=1", NULL},
	{"two whole tiles before", "implicit_mma", "bf16", "matmul", "32x96:96x352", NULL, "bias",
	 "stream_k=3", NULL},
	{"ragged ends", "implicit_mma", "f32", "matmul", "50x90:90x45", NULL, "bias,relu",
	 "stream_k=3 stages=4", NULL},
	{"batches", "implicit_mma", "f16", "matmul", "3x40x70:3x70x36", NULL, NULL,
	 "stream_k=5 order=1", NULL},
	{"groups", "implicit_mma", "f32", "conv2d", "g3ic96ih5oc120oh5kh3ph1", "nhwc", "bias",
	 "stream_k=4 order=1", NULL},
	{"nchw", "implicit_mma", "f32", "conv2d", "g2ic40ih7oc72oh7kh3ph1", "nchw", "bias,add",
	 "stream_k=5", NULL},
	{"whole numbers", "implicit_mma", "s8:s8:s32", "conv2d", "ic40ih9oc40oh5kh3sh2ph1", "nhwc",
	 NULL, "stream_k=3", NULL},
	{"groups of warps", "implicit_mma", "bf16", "matmul", "70x160:160x40", NULL, "bias",
	 "stream_k=3 bm=64 wm=4 wn=1 group=1 stages=3", NULL},
	{"copies in bulk", "implicit_mma", "bf16", "conv2d", "ic40ih9oc72oh9kh3ph1", "nhwc", "bias",
	 "stream_k=5 stages=5 swizzle=1 bulk=1", NULL},
	{"boxes", "implicit_mma", "bf16", "conv2d", "ic48ih9oc80oh5kh3sh2ph1", "nhwc", "bias",
	 "stream_k=4 stages=5 swizzle=1 bulk=1 box=1", NULL},
	{"groups of warps, boxes", "implicit_mma", "bf16", "matmul", "150x200:200x140", NULL,
	 "bias", "stream_k=4 bm=64 wm=4 wn=1 group=1 stages=3 swizzle=1 box=1", NULL},
	{"late products", "implicit_mma", "bf16", "matmul", "150x360:360x140", NULL, "bias",
	 "stream_k=4 bm=64 bk=64 wm=4 wn=1 group=1 stages=3 swizzle=1 box=1 late=1", NULL},
	{"late products, two stages", "implicit_mma", "bf16", "matmul", "70x160:160x40", NULL, NULL,
	 "bm=64 wm=4 wn=1 group=1 stages=2 late=1", "with three chunks"},
	{"late products of warps", "implicit_mma", "bf16", "matmul", "70x160:160x40", NULL, NULL,
	 "stages=3 late=1", "by groups of warps"},
	{"implicit_gemm", "implicit_gemm", "f32", "matmul", "50x90:90x205", NULL, "bias,relu",
	 "stream_k=3", NULL},
	{"implicit_gemm, two stages", "implicit_gemm", "f32", "matmul", "2x50x70:2x70x45", NULL,
	 NULL, "stream_k=5 stages=2 order=1", NULL},
	{"implicit_gemm, nchw", "implicit_gemm", "f32", "conv2d", "g2ic12ih7oc40oh7kh3ph1", "nchw",
	 "bias,add", "stream_k=5 stages=2", NULL},
	{"implicit_gemm, four to a tile", "implicit_gemm", "f32", "conv2d", "ic16ih5oc20oh5kh3ph1",
	 "nhwc", "bias", "stream_k=4", NULL},
};

/* How the sides of tensor cores lie in a block's memory, and how they come there. The right side of
 * a matmul is constant. */
static const struct pinned sides[] = {
	{"rows of 32 bytes", "implicit_mma", "bf16", "matmul", "70x100:100x40", NULL, NULL,
	 "bm=64 bn=32 bk=16 stages=3 swizzle=1", NULL},
	{"rows of 64 bytes", "implicit_mma", "bf16", "matmul", "70x100:100x40", NULL, NULL,
	 "bm=64 bn=32 bk=32 stages=1 swizzle=1 bulk=1", NULL},
	{"rows of 128 bytes", "implicit_mma", "f16", "matmul", "70x100:100x40", NULL, NULL,
	 "bm=64 bn=32 bk=64 stages=5 swizzle=1 bulk=1", NULL},
	{"tf32", "implicit_mma", "tf32", "matmul", "70x100:100x40", NULL, NULL,
	 "bk=16 stages=2 swizzle=1 bulk=1", NULL},
	{"parts of the sum", "implicit_mma", "f32", "matmul", "70x100:100x40", NULL, "bias",
	 "bk=32 stages=4 swizzle=1 bulk=1 ks=2", NULL},
	{"whole numbers", "implicit_mma", "s8:s8:s32", "matmul", "70x100:100x40", NULL, NULL,
	 "bm=64 bn=64 bk=128 stages=3 swizzle=1 bulk=1", NULL},
	{"groups, rows of 32 bytes", "implicit_mma", "bf16", "matmul", "150x100:100x40", NULL, NULL,
	 "bm=128 bk=16 wm=8 wn=1 stages=3 group=1 swizzle=1", NULL},
	{"groups, rows of 128 bytes", "implicit_mma", "bf16", "matmul", "150x200:200x40", NULL,
	 NULL, "bm=128 bn=64 bk=64 wm=4 wn=2 stages=4 group=1 swizzle=1 bulk=1", NULL},
	{"groups, tf32", "implicit_mma", "tf32", "matmul", "150x200:200x40", NULL, NULL,
	 "bm=64 bn=64 bk=16 wm=4 wn=1 stages=2 group=1 swizzle=1 bulk=1", NULL},
	{"groups, rows of 64 bytes", "implicit_mma", "f16", "matmul", "150x200:200x40", NULL, NULL,
	 "bm=64 bn=64 bk=32 wm=4 wn=1 stages=2 group=1 swizzle=1 bulk=1", NULL},
	{"core matrices", "implicit_mma", "f16", "matmul", "150x200:200x40", NULL, NULL,
	 "bm=64 bn=64 bk=32 wm=4 wn=1 stages=2 group=1", NULL},
	{"boxes of batches", "implicit_mma", "tf32", "matmul", "2x70x100:2x100x40", NULL, NULL,
	 "bk=32 stages=3 swizzle=1 box=1", NULL},
	{"boxes for groups", "implicit_mma", "bf16", "matmul", "300x200:200x40", NULL, NULL,
	 "bm=128 bn=64 bk=64 wm=4 wn=2 stages=4 group=1 swizzle=1 bulk=1 box=1", NULL},
	{"boxes of whole numbers", "implicit_mma", "s8:s8:s32", "matmul", "70x112:112x40", NULL,
	 NULL, "bk=128 stages=3 swizzle=1 bulk=1 box=1", NULL},
	{"boxes of images", "implicit_mma", "bf16", "conv2d",
	 "mb3ic24ih11iw8oc40oh6ow3kh3kw4sh2sw3ph1pw2", "nhwc", NULL,
	 "bk=16 stages=3 swizzle=1 bulk=1 box=1", NULL},
	{"boxes of channel groups", "implicit_mma", "f32", "conv2d", "mb2g2ic32ih7oc24oh7kh3ph2dh1",
	 "nhwc", NULL, "bm=64 bk=16 stages=2 swizzle=1 box=1", NULL},
	{"boxes of pixels", "implicit_mma", "f16", "conv2d", "mb2ic40ih9oc24oh9kh1", "nhwc", NULL,
	 "bm=64 bk=32 wm=4 wn=1 stages=5 group=1 swizzle=1 bulk=1 box=1 ks=2", NULL},
	{"boxes of two groups", "implicit_mma", "f32", "conv2d", "g2ic24ih7oc24oh7kh3ph1", "nhwc",
	 NULL, "bk=16 swizzle=1 box=1", "of two groups"},
	{"boxes for many", "implicit_mma", "bf16", "matmul", "70x160:160x100", NULL, "bias",
	 "bk=32 stages=3 swizzle=1 bulk=1 box=1 stream_k=5", NULL},
	{"few channels", "implicit_mma", "bf16", "conv2d", "g2ic44ih9oc44oh5kh3sh2ph1", "nhwc",
	 NULL, "bk=32 stages=3 swizzle=1 bulk=1", NULL},
	{"pixels apart", "implicit_mma", "f32", "conv2d", "ic24ih9oc40oh9kh3ph1", "nchw", NULL,
	 "stages=3 swizzle=1 bulk=1", NULL},
	{"late, core matrices", "implicit_mma", "f16", "matmul", "150x400:400x40", NULL, NULL,
	 "bm=128 bn=32 bk=32 wm=4 wn=1 stages=3 group=1 late=1", NULL},
	{"late, tf32", "implicit_mma", "tf32", "matmul", "150x200:200x40", NULL, "bias",
	 "bm=64 bn=64 bk=16 wm=4 wn=1 stages=4 group=1 swizzle=1 bulk=1 late=1", NULL},
	{"late, boxes", "implicit_mma", "bf16", "matmul", "300x400:400x40", NULL, NULL,
	 "bm=128 bn=64 bk=64 wm=4 wn=2 stages=4 group=1 swizzle=1 bulk=1 box=1 late=1", NULL},
	{"late, parts of the sum", "implicit_mma", "bf16", "conv2d", "mb2ic40ih9oc24oh9kh3ph1",
	 "nhwc", "bias", "bm=64 bk=32 wm=4 wn=1 stages=5 group=1 swizzle=1 ks=3 late=1", NULL},
	{"late, fewer chunks than stages", "implicit_mma", "bf16", "matmul", "70x60:60x40", NULL,
	 NULL, "bm=64 bk=32 wm=4 wn=1 stages=5 group=1 swizzle=1 bulk=1 late=1", NULL},
	{"late, one chunk", "implicit_mma", "bf16", "matmul", "70x32:32x40", NULL, NULL,
	 "bm=64 bk=32 wm=4 wn=1 stages=3 group=1 swizzle=1 box=1 late=1", NULL},
	{"groups, images", "implicit_mma", "bf16", "conv2d", "ic24ih9oc40oh9kh3ph1", "nhwc", NULL,
	 "bm=64 bk=16 wm=4 wn=1 stages=3 group=1 swizzle=1 bulk=1 ks=2", NULL},
};

static int set_knob(struct candidate *c, const char *name, size_t n, int64_t value)
{
	for (int i = 0; i < c->algo->nknobs; i++)
		if (strlen(c->algo->knob[i].name) == n && !memcmp(c->algo->knob[i].name, name, n)) {
			c->knob[i] = value;
			return 0;
		}
	return -1;
}

/* "name=value name=value". */
static void set_knobs(struct candidate *c, const char *text)
{
	char *end;

	while (*text) {
		size_t n = strcspn(text, "=");

		if (set_knob(c, text, n, strtoll(text + n + 1, &end, 10)) < 0)
			bail_out("%s has no knob %.*s", c->algo->name, (int)n, text);
		text = end + (*end == ' ');
	}
}

static void check_pinned(const char *about, const struct pinned *x, int rhs_const)
{
	struct candidate c = {.algo = algo_find(x->algo, strlen(x->algo))};
	struct problem p = {0};
	struct err e = ERR_INIT;
	struct tally t = {0};
	const char *why;
	int taken;

	if (workload_from_text(&p.w, x->op, x->prob, x->layout, x->post, &e) < 0 ||
	    workload_set_dtype(&p.w, x->types, strlen(x->types), &e) < 0)
		bail_out("%s", e.msg);
	p.w.rhs_const = rhs_const;
	c.w = p.w;
	for (int k = 0; k < c.algo->nknobs; k++)
		c.knob[k] = c.algo->knob[k].frozen;
	set_knobs(&c, "bm=32 bn=32");
	set_knobs(&c, x->knobs);
	taken = algo_valid(c.algo, &c.w, c.knob, &why);
	problem_open(&p);
	if (taken && !is_good(&p, &c, &t, &e)) {
		diag("%s", e.msg);
		t.bad++;
	}
	ok(!t.bad && (x->why ? !taken && strstr(why, x->why) : taken), "%s: %s%s%s", about, x->what,
	   taken ? "" : ": ", taken ? "" : why);
	problem_close(&p);
}

static void check_all_pinned(void)
{
	rng_seed(&rng, 13, "pinned");
	for (size_t i = 0; i < sizeof shared / sizeof *shared; i += RARER)
		check_pinned("shared tiles", &shared[i], 0);
	one_in_run = 1; /* the order of a side is the printers' alone: all must run */
	one_in_nvrtc = 1;
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i += RARER)
		check_pinned("sides of tensor cores", &sides[i], !strcmp(sides[i].op, "matmul"));
}

static void open_device(void)
{
	const char *told = getenv("TL_TEST_DRIVER");
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	int processors;
	long bytes;

	if (told && !strcmp(told, "cuda"))
		driver = &driver_cuda;
	device = driver->open(&e);
	if (!device) {
		skip("%s: %s", told ? told : "OpenCL", e.msg);
	} else if (driver == &driver_opencl) {
		opencl_sizes(device, &processors, &block_bytes);
		opencl_describe(device, &text);
		diag("OpenCL: %s", text.s);
	} else if (cuda_describe(&text, &e) == 0 &&
		   sscanf(text.s, "%15s %d %ld", device_arch, &processors, &bytes) == 3) {
		block_bytes = bytes;
		diag("CUDA: %s", text.s);
	} else {
		bail_out("CUDA: %s", e.msg);
	}
	buf_free(&text);
}

int main(void)
{
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	struct limits m;

	one_in_run = from_env("TL_TEST_RUN", 4);
	one_in_nvrtc = from_env("TL_TEST_NVRTC", 8);
	open_device();
	/* The driver of a test has a compiler that goes with it. */
	has_nvrtc = !device_arch[0] && nvrtc_version(&text, &e) == 0;
	if (!has_nvrtc && !device_arch[0])
		skip("NVRTC: %s", e.msg);
	if (target_isa_limits("sm_90", &m) < 0)
		bail_out("sm_90 is unknown");
	m.threads = 3; /* processors: small problems, too, have tiles that blocks may share */
	check_operators(&m);
	check_types(&m);
	check_activations(&m);
	ok(sharing > 0 || getenv("TL_TEST_ALGO"), "blocks of %lld of all these share tiles",
	   (long long)sharing);
	if (from_env("TL_TEST_PINNED", 1))
		check_all_pinned();
	if (has_nvrtc)
		ok(spilt * 20 <= passed,
		   "of %lld kernels that the static check lets pass %lld spill more than %d bytes",
		   (long long)passed, (long long)spilt, MOST_SPILT);
	if (device)
		driver->close(device);
	buf_free(&text);
	return done_testing();
}
