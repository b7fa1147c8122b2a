/* Kernels of blocks of threads: random problems, random candidates of every algorithm that has
 * them; interpreted against the naive nest, with its check for races; run through OpenCL where
 * there is a device (PoCL's is the CPU), or with TL_TEST_DRIVER=cuda by CUDA; compiled for NVIDIA's
 * GPUs where there is NVRTC.
 *
 * TL_TEST_PROBLEMS (6) problems an operator, TL_TEST_BLOCKS (3) candidates each; one in
 * TL_TEST_RUN (4) is run on the device, one in TL_TEST_NVRTC (8) compiled for each architecture.
 * TL_TEST_ALGO: of this algorithm alone. TL_TEST_TYPE: of these element types alone.
 */
#include <errno.h>
#include <math.h>

#include "lib/model/static.h"
#include "lib/nest/mma.h"
#include "lib/search/search.h"
#include "lib/target/nvrtc.h"
#include "lib/target/device.h"
#include "lib/target/simt.h"
#include "tests/problems.h"
#include "tests/tap.h"

enum { TEAM = 3, ARCHS = 2, MOST_SPILT = 64 };

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
			packing_run(&b->packing, p->tensor[b->role], buffers[i]);
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
	why = simt_print(n, out);
	return why ? err_set(e, "it is not printed: %s", why) : 0;
}

static int run_device(const struct nest *n, struct program *program, float **buffers, struct err *e)
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

static double by_device(const struct problem *p, const struct nest *n, struct err *e)
{
	struct buf object = BUF_INIT;
	float *buffers[NEST_BUFFERS];
	struct program *program = NULL;
	double error = NAN;

	if (object_of(n, &object, e) == 0)
		program = driver->load(device, object.s, object.n, e);
	if (program) {
		operands_open(p, n, buffers);
		if (run_device(n, program, buffers, e) == 0) {
			operands_widen(n, buffers);
			error = error_of(p, n, buffers);
		}
		operands_close(n, buffers);
		driver->unload(program);
	}
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

	if (target_isa_limits(arch, &m) < 0 || static_check(n, &m, &why) < 0)
		return;
	passed++;
	if (spills(log) <= MOST_SPILT)
		return;
	spilt++;
	diag("passed, and spills %d bytes for %s", spills(log), arch);
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
	const int64_t problems = from_env("TL_TEST_PROBLEMS", 6);
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
	const int64_t wanted = from_env("TL_TEST_BLOCKS", 3);

	check_problems(m, "conv2d", random_conv, "f32", wanted);
	check_problems(m, "conv2d of unit stride", random_filtered_conv, "f32", (wanted + 2) / 3);
	check_problems(m, "matmul", random_matmul, "f32", wanted);
	check_problems(m, "rows", random_rows, "f32", wanted);
}

static int random_product(struct workload *w)
{
	return pick(0, 1) ? random_matmul(w) : random_conv(w);
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

	for (size_t i = 0; i < sizeof posts / sizeof *posts; i++)
		for (size_t j = 0; j < sizeof with_posts / sizeof *with_posts; j++) {
			struct problem p = {0};
			struct err e = ERR_INIT;

			if (workload_from_text(&p.w, with_posts[j].op, with_posts[j].prob,
					       with_posts[j].layout, posts[i], &e) < 0)
				bail_out("%s", e.msg);
			check_problem(m, &p, 1, &t);
		}
	ok(t.candidates && !t.bad, "activations: %lld candidates, %lld wrong",
	   (long long)t.candidates, (long long)t.bad);
}

/* ---- the sides of tensor cores ---- */

/* How they lie in a block's memory: apart, swizzled in rows of each length, in core matrices; and
 * copied in bulk. */
static const struct {
	const char *op, *prob, *layout, *types, *knobs;
} sides[] = {
	{"matmul", "70x100:100x40", NULL, "bf16", "bm=64 bn=32 bk=16 stages=3 swizzle=1"},
	{"matmul", "70x100:100x40", NULL, "bf16", "bm=64 bn=32 bk=32 stages=1 swizzle=1 bulk=1"},
	{"matmul", "70x100:100x40", NULL, "f16", "bm=64 bn=32 bk=64 stages=5 swizzle=1 bulk=1"},
	{"matmul", "70x100:100x40", NULL, "tf32", "bm=32 bn=32 bk=16 stages=2 swizzle=1 bulk=1"},
	{"matmul", "70x100:100x40", NULL, "f32",
	 "bm=32 bn=32 bk=32 stages=4 swizzle=1 bulk=1 ks=2"},
	{"matmul", "70x100:100x40", NULL, "s8:s8:s32", "bk=128 stages=3 swizzle=1 bulk=1"},
	{"matmul", "150x100:100x40", NULL, "bf16",
	 "bm=128 bn=32 bk=16 wm=8 wn=1 stages=3 group=1 swizzle=1"},
	{"matmul", "150x200:200x40", NULL, "bf16",
	 "bm=128 bn=64 bk=64 wm=4 wn=2 stages=4 group=1 swizzle=1 bulk=1"},
	{"matmul", "150x200:200x40", NULL, "tf32",
	 "bm=64 bn=64 bk=16 wm=4 wn=1 stages=2 group=1 swizzle=1 bulk=1"},
	{"matmul", "150x200:200x40", NULL, "f16",
	 "bm=64 bn=64 bk=32 wm=4 wn=1 stages=2 group=1 swizzle=1 bulk=1"},
	{"matmul", "150x200:200x40", NULL, "f16", "bm=64 bn=64 bk=32 wm=4 wn=1 stages=2 group=1"},
	{"matmul", "2x70x100:2x100x40", NULL, "tf32", "bm=32 bn=32 bk=32 stages=3 swizzle=1 box=1"},
	{"matmul", "300x200:200x40", NULL, "bf16",
	 "bm=128 bn=64 bk=64 wm=4 wn=2 stages=4 group=1 swizzle=1 bulk=1 box=1"},
	{"matmul", "70x112:112x40", NULL, "s8:s8:s32", "bk=128 stages=3 swizzle=1 bulk=1 box=1"},
	{"conv2d", "mb3ic24ih11iw8oc40oh6ow3kh3kw4sh2sw3ph1pw2", "nhwc", "bf16",
	 "bm=32 bn=32 bk=16 stages=3 swizzle=1 bulk=1 box=1"},
	{"conv2d", "mb2g2ic32ih7oc24oh7kh3ph2dh1", "nhwc", "f32",
	 "bm=64 bn=32 bk=16 stages=2 swizzle=1 box=1"},
	{"conv2d", "mb2ic40ih9oc24oh9kh1", "nhwc", "f16",
	 "bm=64 bn=32 bk=32 wm=4 wn=1 stages=5 group=1 swizzle=1 bulk=1 box=1 ks=2"},
	{"conv2d", "g2ic44ih9oc44oh5kh3sh2ph1", "nhwc", "bf16",
	 "bm=32 bn=32 bk=32 stages=3 swizzle=1 bulk=1"},
	{"conv2d", "ic24ih9oc40oh9kh3ph1", "nchw", "f32", "bm=32 bn=32 stages=3 swizzle=1 bulk=1"},
	{"conv2d", "ic24ih9oc40oh9kh3ph1", "nhwc", "bf16",
	 "bm=64 bn=32 bk=16 wm=4 wn=1 stages=3 group=1 swizzle=1 bulk=1 ks=2"},
};

static void set_knobs(struct candidate *c, const char *text)
{
	char name[16];
	int value, n;

	for (; sscanf(text, " %15[a-z]=%d%n", name, &value, &n) == 2; text += n)
		for (int i = 0; i < c->algo->nknobs; i++)
			if (!strcmp(c->algo->knob[i].name, name))
				c->knob[i] = value;
}

static void check_sides(void)
{
	const char *const name = "implicit_mma";
	struct tally t = {0};

	one_in_run = one_in_nvrtc = 1;
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
		struct candidate c = {.algo = algo_find(name, strlen(name)),
				      .target = target_find("cuda", 4)};
		struct problem p = {0};
		struct err e = ERR_INIT;
		const char *why = NULL;

		if (workload_from_text(&p.w, sides[i].op, sides[i].prob, sides[i].layout, NULL,
				       &e) < 0 ||
		    workload_set_dtype(&p.w, sides[i].types, strlen(sides[i].types), &e) < 0)
			bail_out("%s", e.msg);
		p.w.rhs_const = p.w.op == &op_matmul;
		problem_open(&p);
		c.w = p.w;
		for (int k = 0; k < c.algo->nknobs; k++)
			c.knob[k] = c.algo->knob[k].frozen;
		set_knobs(&c, sides[i].knobs);
		t.candidates++;
		if (!algo_valid(c.algo, &c.w, c.knob, &why) || !is_good(&p, &c, &t, &e)) {
			t.bad++;
			diag("%s %s: %s", sides[i].types, sides[i].knobs, why ? why : e.msg);
		}
		problem_close(&p);
	}
	ok(!t.bad,
	   "sides of tensor cores in each order: %lld kernels, %lld of them run, %lld and "
	   "%lld compiled; %lld wrong",
	   (long long)t.candidates, (long long)t.run, (long long)t.compiled[0],
	   (long long)t.compiled[1], (long long)t.bad);
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
	check_operators(&m);
	check_types(&m);
	check_activations(&m);
	check_sides();
	if (has_nvrtc)
		ok(spilt * 20 <= passed,
		   "of %lld kernels that the static check lets pass %lld spill more than %d bytes",
		   (long long)passed, (long long)spilt, MOST_SPILT);
	if (device)
		driver->close(device);
	buf_free(&text);
	return done_testing();
}
