/* Every candidate means what its operator says: random problems, random candidates, interpreter
 * against the naive nest, and a share of them compiled for each instruction set that the CPU has.
 *
 * TL_TEST_PROBLEMS (6; with sanitizers 3) problems an operator, TL_TEST_CANDIDATES (60; 24)
 * candidates each; 0 candidates: the whole space.
 *
 * Under sanitizers there are fewer problems, and other ones: what is looked for there is how nests
 * are built, printed and interpreted. The compiler has no sanitizer, nor have kernels. */
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/draft/draft.h"
#include "lib/draft/static.h"
#include "lib/io/proc.h"
#include "lib/space/isa.h"
#include "lib/trial/cell.h"
#include "lib/nest/tmul.h"
#include "lib/search/search.h"
#include "lib/target/c.h"
#include "lib/target/runner.h"
#include "lib/target/x86.h"
#include "lib/tile/activation.h"
#include "tests/problems.h"
#include "tests/tap.h"

/* With sanitizers fewer: the kernels that run have none. */
#ifdef __SANITIZE_ADDRESS__
enum { DRAWN = 3, CANDIDATES = 24, RARER = 3, NARROW = 4 };
#else
enum { DRAWN = 6, CANDIDATES = 60, RARER = 2, NARROW = 3 };
#endif
enum { THREADS = 3, SEED = 7 };
enum { F32_KINDS = 4, BF16_KINDS = 2, WHOLE_KINDS = 3 }; /* of problems */

/* Elements that end where a page begins that nobody may touch, shared with children. The front is
 * only guarded as far as it lies on a page of its own. */
static size_t guarded_bytes(size_t bytes)
{
	return (bytes + 4095) / 4096 * 4096;
}

static void *guarded(size_t bytes)
{
	const size_t room = guarded_bytes(bytes);
	char *p = mmap(NULL, room + 8192, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + 4096, room, PROT_READ | PROT_WRITE))
		bail_out("no memory");
	return p + 4096 + room - bytes;
}

static void unguard(void *p, size_t bytes)
{
	char *end = (char *)p + bytes;

	munmap(end - guarded_bytes(bytes) - 4096, guarded_bytes(bytes) + 8192);
}

static size_t bytes_of(const struct nest *n, int slot, int threads)
{
	return (size_t)operand_size(n, slot, threads) *
	       (size_t)elem_size(operand_buffer(n, slot)->elem);
}

static void operands_close(const struct nest *n, int threads, void **buffers)
{
	for (int i = 0; i < n->nslots; i++)
		unguard(buffers[i], bytes_of(n, i, threads));
}

/* The operands of a nest, in its types. The output holds the tensor that is added; if there is none
 * it is poisoned, as all workspace is. */
static void operands_open(const struct problem *p, const struct nest *n, int threads,
			  void **buffers)
{
	for (int i = 0; i < n->nslots; i++) {
		const struct buffer *b = operand_buffer(n, i);
		const int64_t size = operand_size(n, i, threads);
		const float *from = NULL;
		float *x = xmalloc((size_t)size * sizeof *x);

		for (int64_t j = 0; j < size; j++)
			x[j] = NAN;
		if (b->kind == BUFFER_PACKED)
			packing_run(b->packing, p->tensor[b->role], x);
		else if (b->kind == BUFFER_ARG)
			from = p->tensor[b->role == TENSOR_DST ? TENSOR_ADD : b->role];
		buffers[i] = guarded(bytes_of(n, i, threads));
		elem_from_floats(b->elem, from ? from : x, buffers[i], size);
		free(x);
	}
}

/* error_of() of a result in its type. */
static double result_error(const struct problem *p, const struct nest *n, void *const *buffers)
{
	float *floats[NEST_BUFFERS] = {0};
	double error;

	for (int i = 0; i < n->nslots; i++) {
		const struct buffer *b = operand_buffer(n, i);

		if (!b->written)
			continue;
		floats[i] = xmalloc((size_t)b->size * sizeof(float));
		elem_to_floats(b->elem, buffers[i], floats[i], b->size);
	}
	error = error_of(p, n, floats);
	for (int i = 0; i < n->nslots; i++)
		free(floats[i]);
	return error;
}

static int exactly; /* results may not be off */

/* What a candidate may be off. */
static double limit_of(const struct problem *p)
{
	return exactly ? 0x1p-149 : dtype_error(p->w.dtype.dst, 1e-5);
}

static void describe(const struct candidate *c, struct buf *out)
{
	buf_clear(out);
	candidate_print(c, out);
}

struct calls {
	struct kernel kernel;
	const long *params;
	void *const *buffers;
	int threads, phases;
};

/* The last thread goes first, so that nobody writes again what another has spoilt behind its own
 * part. With phases all go at once. */
static void call_all(void *arg, void *answer)
{
	const struct calls *c = arg;

	(void)answer;
	if (c->phases)
		runner_cpu.run(&c->kernel, c->params, c->buffers, c->threads, NULL);
	for (int t = c->threads - 1; t >= 0 && !c->phases; t--)
		((c_kernel)c->kernel.entry)(c->params, c->buffers, t, c->threads, NULL);
}

/* In a cell, for it may die of what it touches. */
static int run_apart(struct calls *calls, struct err *e)
{
	const struct cell cell = {.timeout_s = 60, .threads = calls->threads};
	struct cell_fault fault;
	char why[CELL_WHY], answer;

	if (cell_run(&cell, call_all, calls, &answer, 1, &fault, why) == CELL_DONE)
		return 0;
	return err_set(e, "it dies: %s", why);
}

typedef void printing(const struct nest *n, struct buf *out);

static struct limits machine; /* that kernels are printed for: its dots and tiles */

/* Runs a compiled nest with `threads` threads one after the other, which is as good as at once. */
static double run_error(const struct problem *p, const struct nest *n, void *entry, struct err *e)
{
	void *buffers[NEST_BUFFERS];
	long params[NEST_PARAMS];
	struct calls calls = {
		.params = params, .buffers = buffers, .threads = THREADS, .phases = n->nphases > 1};
	double error = NAN;

	*(void **)&calls.kernel.entry = entry;
	operands_open(p, n, THREADS, buffers);
	c_params(n, params);
	if (run_apart(&calls, e) == 0)
		error = result_error(p, n, buffers);
	operands_close(n, THREADS, buffers);
	return error;
}

/* ---- kernels that wait for the compiler ---- */

/* One call of the compiler builds several kernels, as in the build cache: its start costs more than
 * most of them. */
enum { WAITING = 32 };

struct tally {
	int64_t candidates, compiled, assembled, bad;
};

/* A nest with its memory. Nests that wait are linked. */
struct kept {
	struct arena a;
	struct nest n;
	const char *said; /* what its candidate is called */
	struct kept *next;
};

/* A problem that stays open while kernels of it may wait. */
struct opened {
	struct problem p;
	struct opened *next;
};

struct waiting {
	const struct problem *p;
	const struct kept *kept;
	const char *text;
	double limit; /* the error that it may have */
	struct tally *tally;
};

static struct waiting waiting[WAITING];
static int nwaiting;
static struct kept *kept;
static struct opened *opened;
static char dir[] = "/tmp/tl-test-kernels-XXXXXX";
static const char *isa;

static void tell_bad(struct tally *tally, double error, const struct err *e, const char *said)
{
	tally->bad++;
	diag("error %g%s%s\n# %s", error, e->msg[0] ? ": " : "", e->msg, said);
}

static void run_kernel(const struct waiting *w, void *entry)
{
	struct err e = ERR_INIT;
	const double error = run_error(w->p, &w->kept->n, entry, &e);

	if (!(error < w->limit))
		tell_bad(w->tally, error, &e, w->kept->said);
}

/* Compiles kernels first to end - 1 and runs each. -1: the compiler refuses one of them. */
static int compile_and_run(int first, int end, struct err *e)
{
	char source[256], object[256], name[32], *argv[TARGET_ARGS];
	struct buf text = BUF_INIT, log = BUF_INIT;
	void *handle = NULL;
	FILE *f;

	snprintf(source, sizeof source, "%s/k.c", dir);
	snprintf(object, sizeof object, "%s/k.so", dir);
	buf_str(&text, c_prelude());
	for (int i = first; i < end; i++)
		buf_fmt(&text, "\n#define KERNEL kernel_%d\n%s\n#undef KERNEL\n", i,
			waiting[i].text);
	f = fopen(source, "we");
	fwrite(text.s, 1, text.n, f);
	fclose(f);
	target_default()->compile(isa, source, object, argv);
	if (proc_run(argv, 60 * (end - first), 10000, &log, e) == 0)
		handle = dlopen(object, RTLD_NOW);
	if (!handle)
		err_set(e, "cc: %.800s", log.s ? log.s : "");
	for (int i = first; handle && i < end; i++) {
		snprintf(name, sizeof name, "kernel_%d", i);
		run_kernel(&waiting[i], dlsym(handle, name));
	}
	if (handle)
		dlclose(handle);
	unlink(source);
	unlink(object);
	buf_free(&text);
	buf_free(&log);
	return handle ? 0 : -1;
}

/* Frees the nest that was kept last. */
static void drop_first(void)
{
	struct kept *k = kept;

	kept = k->next;
	arena_free(&k->a);
	free(k);
}

/* Only the kernel that the compiler refuses is blamed. */
static void run_waiting(void)
{
	struct err e = ERR_INIT;

	if (nwaiting && compile_and_run(0, nwaiting, &e) < 0)
		for (int i = 0; i < nwaiting; i++) {
			e = (struct err)ERR_INIT;
			if (compile_and_run(i, i + 1, &e) < 0)
				tell_bad(waiting[i].tally, NAN, &e, waiting[i].kept->said);
		}
	nwaiting = 0;
	while (kept)
		drop_first();
}

/* A nest is printed so, compiled with others, and run. The caller keeps it in `kept`. */
static void add_waiting(const struct problem *p, struct kept *k, printing *print,
			struct tally *tally)
{
	struct buf text = BUF_INIT;

	print(&k->n, &text);
	waiting[nwaiting++] = (struct waiting){.p = p,
					       .kept = k,
					       .text = arena_strndup(&k->a, text.s, text.n),
					       .limit = limit_of(p),
					       .tally = tally};
	tally->compiled++;
	buf_free(&text);
}

static const struct problem *problem_of(const struct problem *p)
{
	struct opened *o = xcalloc(1, sizeof *o);

	o->p = *p;
	problem_open(&o->p);
	o->next = opened;
	opened = o;
	return &o->p;
}

/* The end of what a tally counts. */
static void close_problems(void)
{
	run_waiting();
	while (opened) {
		struct opened *o = opened;

		opened = o->next;
		problem_close(&o->p);
		free(o);
	}
}

static double interpreted_error(const struct problem *p, const struct nest *n, struct err *e)
{
	void *buffers[NEST_BUFFERS];
	double error = NAN;

	operands_open(p, n, THREADS, buffers);
	if (interp_team(n, THREADS, buffers, e) == 0)
		error = result_error(p, n, buffers);
	operands_close(n, THREADS, buffers);
	return error;
}

static int64_t compiled_of[SEARCH_MAX_ALGOS]; /* candidates compiled, by the place in algo_list */

static int64_t *compiled_of_algo(const struct algo *a)
{
	int i = 0;

	while (algo_list[i] != a)
		i++;
	return &compiled_of[i];
}

/* The first algorithm for this target of which nothing has been compiled, or NULL. Tile registers
 * need vectors of 16 lanes. */
static const char *not_compiled(const struct limits *m)
{
	for (int i = 0; algo_list[i]; i++)
		if (!compiled_of[i] && algo_suits(algo_list[i], target_default()) &&
		    (m->lanes == TMUL_COLUMNS || !algo_list[i]->halves))
			return algo_list[i]->name;
	return NULL;
}

/* How often a candidate is compiled, one in so many, by its printing; the first of an algorithm
 * always. */
struct shares {
	int64_t assembly, c;
};

static void print(const struct nest *n, struct buf *out)
{
	target_default()->print(n, &machine, out);
}

/* A nest of vectors that is not written as assembly is told of. */
static int is_assembly(const struct nest *n, int lanes)
{
	struct buf text = BUF_INIT;
	const char *why = x86_print(n, &machine, &text);

	if (why && lanes > 1)
		diag("no assembly: %s", why);
	buf_free(&text);
	return !why;
}

/* Returns whether it waits for the compiler in one printing or both. */
static int add_either(const struct problem *p, struct kept *k, const struct limits *m,
		      const struct shares *one_in, int is_first, struct tally *tally)
{
	const int64_t before = tally->compiled;

	if (is_assembly(&k->n, m->lanes)) {
		tally->assembled++;
		if (pick(1, one_in->assembly) == 1 || is_first)
			add_waiting(p, k, print, tally);
	}
	/* Without vectors there is nothing but C: one candidate at least. */
	if (pick(1, one_in->c) == 1 || (m->lanes == 1 && !tally->compiled))
		add_waiting(p, k, c_print, tally);
	return tally->compiled > before;
}

/* The draft refuses the nest with a reason, or tells a time. */
static int is_judged(const struct nest *n, const struct limits *m)
{
	static struct draft d;
	struct err why = ERR_INIT;
	int64_t registers;

	if (static_check(n, m, &registers, &why) < 0)
		return why.msg[0] != 0;
	draft_predict(n, m, registers, 0, &d);
	return isfinite(d.seconds) && d.seconds > 0;
}

static struct kept *keep_new(void)
{
	struct kept *k = xcalloc(1, sizeof *k);

	nest_init(&k->n, &k->a, "kernel");
	return k;
}

/* One candidate: interpreted at once, and compiled with others if its turn comes. */
static void check_candidate(const struct problem *p, struct candidate *c, const struct limits *m,
			    const struct shares *one_in, struct tally *tally)
{
	struct kept *k = keep_new();
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	const int64_t compiled = tally->compiled;
	double error = NAN;

	tally->candidates++;
	candidate_identify(c);
	describe(c, &text);
	k->said = arena_strndup(&k->a, text.s, text.n);
	if (candidate_build(c, &k->n, &e) == 0 && is_judged(&k->n, m))
		error = interpreted_error(p, &k->n, &e);
	k->next = kept;
	kept = k;
	if (!(error < limit_of(p)))
		tell_bad(tally, error, &e, k->said);
	else if (add_either(p, k, m, one_in, !*compiled_of_algo(c->algo), tally))
		*compiled_of_algo(c->algo) += tally->compiled - compiled;
	else
		drop_first();
	if (nwaiting > WAITING - 2)
		run_waiting();
	buf_free(&text);
}

/* These are points of an algorithm: so many at random, or all (0), and if a knob is named, those
 * alone that have this value of it. */
struct points {
	const char *algo;
	int64_t wanted;
	const char *knob;
	int64_t value;
};

static int is_wanted(const struct points *of, const struct candidate *c)
{
	for (int i = 0; of->knob && i < c->algo->nknobs; i++)
		if (!strcmp(c->algo->knob[i].name, of->knob))
			return c->knob[i] == of->value;
	return 1;
}

static void check_points(const struct problem *p, const struct points *of, const struct limits *m,
			 const struct shares *one_in, struct tally *tally)
{
	const struct search *search = search_find(of->wanted ? "random" : "grid");
	const struct data_env env = {.limits = *m};
	struct search_space space;
	struct arena state = ARENA_INIT;
	uint64_t point;
	void *s;

	isa = m->isa;
	search_space_init(&space, &p->w, &env, of->algo);
	s = search->start(&space, 1, 0, &state);
	for (int64_t i = 0; (!of->wanted || i < of->wanted) && tally->bad <= 20;) {
		struct candidate c = {.w = p->w};

		if (!search->propose(s, &point))
			break;
		if (!search_space_at(&space, point, &c) || !is_wanted(of, &c))
			continue;
		i++;
		check_candidate(p, &c, m, one_in, tally);
	}
	arena_free(&state);
}

static void check_algorithm(const struct problem *p, const char *name, const struct limits *m,
			    int64_t wanted, const struct shares *one_in, struct tally *tally)
{
	check_points(p, &(struct points){name, wanted, NULL, 0}, m, one_in, tally);
}

/* Each algorithm has its share of the candidates, however small its space. */
static void check_problem(const struct problem *of, const struct limits *m, int64_t wanted,
			  const struct shares *one_in, struct tally *tally)
{
	const struct problem *p = problem_of(of);
	const struct data_env env = {.limits = *m};
	struct search_space space;

	search_space_init(&space, &p->w, &env, NULL);
	for (int i = 0; i < space.nalgos; i++)
		check_algorithm(p, space.algo[i]->name, m, ceil_div(wanted, space.nalgos), one_in,
				tally);
}

/* The few problems need not suit all algorithms: more are drawn for those that are left. */
static void check_left(const struct limits *m, const struct shares *one_in, struct tally *tally)
{
	enum { DRAWS = 1000 };
	const struct data_env env = {.limits = *m};
	const char *name;

	for (int i = 0; i < DRAWS && (name = not_compiled(m)); i++) {
		struct problem p = {0};
		struct search_space space;

		if (!(i % 4 ? random_conv(&p.w) : random_matmul(&p.w)))
			continue;
		search_space_init(&space, &p.w, &env, name);
		if (!space.nalgos)
			continue;
		check_algorithm(problem_of(&p), name, m, RARER, one_in, tally);
	}
}

/* ---- bf16 ---- */

/* The same problem in bf16, with a result of bf16 or f32. */
static int in_bf16(struct workload *w)
{
	static const char *const types[] = {"bf16", "bf16:bf16:f32"};
	const char *text = types[pick(0, 1)];
	struct err e;

	return workload_set_dtype(w, text, strlen(text), &e) == 0;
}

/* Channels are even more often than not: only these make groups. */
/* On a machine with tiles more sums are long enough for these, whose least depth this is. */
static void lengthen(struct workload *w, int64_t depth)
{
	const int at = w->op == &op_conv2d ? (int)CONV_IC : (int)MATMUL_K;

	if (machine.tiles && pick(0, 3))
		w->dim[at] *= depth;
}

static int random_bf16_conv(struct workload *w)
{
	if (!random_conv(w))
		return 0;
	if (w->dim[CONV_G] == 1 && pick(0, 2))
		w->dim[CONV_IC] += w->dim[CONV_IC] % 2;
	lengthen(w, 8);
	return in_bf16(w);
}

static int random_bf16_matmul(struct workload *w)
{
	if (!random_matmul(w))
		return 0;
	if (pick(0, 2)) {
		w->dim[MATMUL_K] += w->dim[MATMUL_K] % 2;
		w->rhs_const = 1;
	}
	lengthen(w, 8);
	return in_bf16(w);
}

/* Tiles of groups on machines without their instruction, compiled all. */
static void check_groups_by_hand(const struct limits *m)
{
	static const char *const problems[][3] = {
		{"conv2d", "ic8ih9oc20oh9kh3ph1", "nhwc"},
		{"conv2d", "ic16ih9oc40oh9kh1", "nchw"},
		{"conv2d", "g8ic32ih9oc32oh9kh3ph1", "nhwc"},
		{"matmul", "13x32:32x42", "ab"},
	};
	const struct shares all = {1, 1};
	struct limits as_if = *m;
	struct tally tally = {0};

	as_if.dots = 1U << DTYPE_BF16;
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, problems[i][0], problems[i][1], problems[i][2], "bias",
				       &e) < 0 ||
		    !in_bf16(&p.w))
			bail_out("%s", e.msg);
		check_problem(&p, &as_if, 6, &all, &tally);
	}
	close_problems();
	ok(!tally.bad && tally.compiled, "%s: groups of bf16 without an instruction: %lld compiled",
	   m->isa, (long long)tally.compiled);
}

static void set_knob(struct candidate *c, const char *name, int64_t value)
{
	for (int i = 0; i < c->algo->nknobs; i++)
		if (!strcmp(c->algo->knob[i].name, name))
			c->knob[i] = value;
}

/* Stores past the caches need whole lines, but rows of 48 in bf16 begin within one. The result has
 * 576 bytes, so that it begins with a line. */
static void check_streams(const struct limits *m)
{
	const struct shares all = {1, 1};
	struct candidate c = {.target = target_default(), .algo = algo_find("gemm", 4)};
	struct tally tally = {0};
	struct problem p = {0};
	struct err e = ERR_INIT;

	if (workload_from_text(&p.w, "matmul", "6x32:32x48", "ab", "bias", &e) < 0 ||
	    workload_set_dtype(&p.w, "bf16", 4, &e) < 0)
		bail_out("%s", e.msg);
	p.w.rhs_const = 1;
	c.w = p.w;
	for (int i = 0; i < c.algo->nknobs; i++)
		c.knob[i] = c.algo->knob[i].frozen;
	set_knob(&c, "vl", m->lanes);
	set_knob(&c, "nv", 3);
	set_knob(&c, "mr", 3);
	set_knob(&c, "stream", 1);
	set_knob(&c, "depth", m->dots & 1U << DTYPE_BF16 ? 2 : 1);
	check_candidate(problem_of(&p), &c, m, &all, &tally);
	close_problems();
	ok(!tally.bad && tally.compiled + tally.assembled,
	   "%s: bf16 past the caches, in rows that begin within a line", m->isa);
}

/* Tiles of fewer rows than vectors, which hold the left side in registers. Rows are parts of two
 * heights, and the last panel has fewer columns. */
static const struct held_left {
	const char *op, *prob, *layout, *algo;
	int64_t nv, mr;
} held_left[] = {{"matmul", "13x40:40x70", "ab", "gemm", 4, 3},
		 {"matmul", "5x24:24x90", "ab", "gemm", 6, 2},
		 {"conv2d", "ic3ih9oc40oh5kh3sh2ph1", "nhwc", "direct", 4, 3},
		 {"conv2d", "ic16ih9oc52oh9kh3ph1", "nhwc", "direct", 6, 2},
		 {"conv2d", "ic16ih9oc40oh9kh3ph1", "nhwc", "winograd", 4, 3},
		 {"matmul", "14x64:64x72", "ab", "strassen", 4, 3}};

static void make_held_left(const struct held_left *of, struct candidate *c)
{
	struct err e = ERR_INIT;

	if (workload_from_text(&c->w, of->op, of->prob, of->layout, "bias,relu", &e) < 0)
		bail_out("%s", e.msg);
	c->w.rhs_const = 1;
	c->target = target_default();
	c->algo = algo_find(of->algo, strlen(of->algo));
	for (int k = 0; k < c->algo->nknobs; k++)
		c->knob[k] = c->algo->knob[k].frozen;
	set_knob(c, "nv", of->nv);
	set_knob(c, "mr", of->mr);
	set_knob(c, "tc", 3);
}

static void check_held_left(const struct limits *m)
{
	enum { N = sizeof held_left / sizeof *held_left };
	const struct shares all = {1, 1};
	struct tally tally = {0};
	const char *why = NULL;
	int valid = 0;

	for (size_t i = 0; i < N; i++) {
		struct candidate c = {0};
		struct problem p = {0};

		make_held_left(&held_left[i], &c);
		p.w = c.w;
		valid += algo_valid(c.algo, &c.w, c.knob, &why);
		check_candidate(problem_of(&p), &c, m, &all, &tally);
	}
	close_problems();
	ok(!tally.bad && valid == N && tally.assembled == N,
	   "%s: the left side waits in registers: %d of %d tiles are there, %lld as assembly%s%s",
	   m->isa, valid, N, (long long)tally.assembled, why ? ": " : "", why ? why : "");
}

/* ---- tile registers ---- */

static int in_bytes(struct workload *w);

static int in_single(struct workload *w)
{
	return dtypes_are_f32(&w->dtype);
}

/* Infinities, NaN and numbers too large for bf16 make what they make in single precision. */
static void check_special(void)
{
	enum { ROW = 32, COLUMNS = 16 };
	static const float special[] = {INFINITY, -INFINITY, NAN, 3.4e38F, -1e-30F};
	const struct algo *gemm = algo_find("gemm_bf16x2", strlen("gemm_bf16x2"));
	struct candidate c = {.target = target_default(), .algo = gemm};
	void *buffers[NEST_BUFFERS];
	struct kept *k = keep_new();
	struct problem p = {0};
	struct err e = ERR_INIT;
	int good = 1;

	if (workload_from_text(&p.w, "matmul", "16x32:32x16", "ab", "", &e) < 0)
		bail_out("%s", e.msg);
	p.w.rhs_const = 1;
	problem_open(&p);
	c.w = p.w;
	for (int i = 0; i < gemm->nknobs; i++) {
		const char *name = gemm->knob[i].name;
		const int is_size = !strcmp(name, "vl") || !strcmp(name, "mr");

		c.knob[i] = is_size ? 16 : !strcmp(name, "depth") ? 32 : gemm->knob[i].frozen;
	}
	for (int i = 0; i < COLUMNS; i++)
		p.tensor[TENSOR_WEIGHTS][i] = 1;
	for (int i = 0; i < (int)(sizeof special / sizeof *special); i++)
		for (int j = 0; j < ROW; j++)
			p.tensor[TENSOR_SRC][i * ROW + j] = j ? 0 : special[i];
	if (candidate_build(&c, &k->n, &e) < 0)
		bail_out("%s", e.msg);
	operands_open(&p, &k->n, THREADS, buffers);
	good &= interp_team(&k->n, THREADS, buffers, &e) == 0;
	for (int i = 0; i < k->n.nslots; i++)
		for (int j = 0; operand_buffer(&k->n, i)->written && j < COLUMNS; j++) {
			const float *sum = (const float *)buffers[i] + j;

			good &= sum[0] == INFINITY && sum[COLUMNS] == -INFINITY &&
				isnan(sum[2 * COLUMNS]) &&
				fabsf(sum[3 * COLUMNS] / special[3] - 1) < 1e-5F &&
				fabsf(sum[4 * COLUMNS] / special[4] - 1) < 1e-5F;
		}
	ok(good, "halves: infinities, NaN, large and small numbers: %s", e.msg);
	operands_close(&k->n, THREADS, buffers);
	problem_close(&p);
	k->next = kept;
	kept = k;
	drop_first();
}

/* Returns the limits of a machine that is the same, but has tile registers. */
static struct limits with_tiles(const struct limits *m)
{
	struct limits as_if = *m;

	as_if.tiles = isa_find("avx512_amx")->tiles;
	as_if.dots = isa_find("avx512_amx")->dots;
	return as_if;
}

/* Compiles points of direct's tiles that have this value of a knob, of problems in bf16, 8 bits and
 * halves of single precision: as assembly, or, on a machine without tiles, as loops. */
static void check_knob_of_tiles(const struct limits *m, const char *const problems[][2], size_t n,
				const char *knob, int value, const char *what)
{
	enum { EACH = 4 };
	static int (*const types[])(struct workload *) = {in_bf16, in_bytes, in_single};
	static const char *const algos[] = {"direct", "direct", "direct_bf16x2"};
	const size_t ntypes = sizeof types / sizeof *types;
	const struct limits as_if = with_tiles(m);
	const struct shares all = {1, 4};
	struct tally tally = {0};

	for (size_t i = 0; i < n * ntypes; i++) {
		const char *const *text = problems[i / ntypes];
		const struct points over = {algos[i % ntypes], EACH, knob, value};
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, "conv2d", text[0], "nhwc", text[1], &e) < 0)
			bail_out("%s: %s", text[0], e.msg);
		if (!types[i % ntypes](&p.w))
			bail_out("%s has no such types", text[0]);
		check_points(problem_of(&p), &over, &as_if, &all, &tally);
	}
	close_problems();
	/* A space may have fewer than asked for. */
	ok(!tally.bad && tally.candidates >= (int64_t)(n * ntypes) * EACH / 2 &&
		   (!m->tiles || tally.assembled == tally.candidates),
	   "%s: %s: %lld compiled, %lld as assembly", m->isa, what, (long long)tally.compiled,
	   (long long)tally.assembled);
}

/* Tiles that run over the ends of lines. Lines are shorter and longer than a tile, or lie in place;
 * a tensor is added once to each value, though the last tile of a band overlaps the one before;
 * activations wait; and channels are no whole vectors. */
static void check_overruns(const struct limits *m)
{
	static const char *const problems[][2] = {
		{"ic32ih9oc20oh9kh3ph1", "bias,add,relu"},
		{"mb2ic32ih7iw20oc40oh7ow20kh1kw7ph0pw3", "bias,gelu"},
		{"g2ic64ih6iw19oc48oh6ow19kh5ph2", "bias,silu,mul"},
		{"ic32ih10iw21oc24oh8ow19kh3", "bias"},
		{"ic48ih11iw4oc16oh11ow4kh3ph1", ""},
	};

	check_knob_of_tiles(m, problems, sizeof problems / sizeof *problems, "run", 2,
			    "tiles over the ends of lines");
}

/* Taps are merged of channels that are no whole groups: zeros stand behind each pixel's. */
static void check_merged(const struct limits *m)
{
	static const char *const problems[][2] = {
		{"ic33ih8iw17oc16oh8ow16kh1kw2", "bias"},
		{"ic33ih5iw17oc16oh5ow16kh1kw4ph0pw1", ""},
		{"mb2ic19ih9iw12oc3oh10ow12kh2kw2ph1dh1", "bias,relu"},
		{"ic18ih7iw9oc24oh5ow9kh3kw3ph0pw1", "bias,add"},
	};

	check_knob_of_tiles(m, problems, sizeof problems / sizeof *problems, "merge", 1,
			    "merged taps of odd channels");
}

/* Compiles all candidates with tiles: as assembly, or, on a machine without tiles, as loops. */
static void check_tiles(const struct limits *m)
{
	static const char *const problems[][4] = {
		{"conv2d", "ic32ih9oc20oh9kh3ph1", "nhwc"},
		{"conv2d", "ic3ih20oc24oh8kh7sh2", "nhwc"},
		{"conv2d", "ic48ih7oc40oh7kh1", "nchw"},
		{"conv2d", "ic40ih9oc20oh9kh3ph1", "nhwc"},
		{"conv2d", "ic64ih19oc36oh10kh1sh2", "nhwc"},
		{"matmul", "49x64:64x72", "ab"},
		{"matmul", "21x96:96x16", "ab"},
		{"matmul", "21x67:67x40", "ab"},
		{"matmul", "37x544:544x40", "ab"},
		{"matmul", "2x37x64:2x64x40", "ab", "computed"},
		{"matmul", "2x21x67:2x67x37", "ab", "computed"},
	};
	static int (*const types[])(struct workload *) = {in_bf16, in_bytes, in_single};
	const size_t ntypes = sizeof types / sizeof *types;
	const struct shares all = {1, 1};
	const struct limits as_if = with_tiles(m);
	struct tally tally = {0};

	for (size_t i = 0; i < sizeof problems / sizeof *problems * ntypes; i++) {
		const char *const *text = problems[i / ntypes];
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, text[0], text[1], text[2], "bias,relu", &e) < 0)
			bail_out("%s", e.msg);
		p.w.rhs_const = !text[3];
		if (!types[i % ntypes](&p.w))
			bail_out("%s has no such types", text[1]);
		check_problem(&p, &as_if, 5, &all, &tally);
	}
	close_problems();
	ok(!tally.bad && tally.compiled, "%s: tiles: %lld compiled, %lld as assembly", m->isa,
	   (long long)tally.compiled, (long long)tally.assembled);
}

/* ---- whole numbers of 8 bits ---- */

/* Weights in bf16 are packed in single precision. */
static void check_wide_bf16(const struct limits *m)
{
	static const char *const problems[][4] = {
		{"conv2d", "ic8ih9oc20oh9kh3ph1", "nhwc", "direct"},
		{"conv2d", "ic5ih9oc40oh5kh3sh2ph1", "nchw", "direct"},
		{"matmul", "13x31:31x42", "ab", "gemm"},
	};
	const struct shares few = {1, 4};
	struct tally tally = {0};

	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		const struct points of = {problems[i][3], 4, "wide", 2};
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, problems[i][0], problems[i][1], problems[i][2], "bias",
				       &e) < 0 ||
		    !in_bf16(&p.w))
			bail_out("%s", e.msg);
		check_points(problem_of(&p), &of, m, &few, &tally);
	}
	close_problems();
	ok(!tally.bad && tally.assembled, "%s: weights of bf16 as floats: %lld interpreted", m->isa,
	   (long long)tally.candidates);
}

/* A convolution with padding before the image. */
static int is_padded(const struct workload *w)
{
	return w->op == &op_conv2d && (w->dim[CONV_PH] || w->dim[CONV_PW]);
}

/* The same problem in 8 bits; results of 8 bits are scaled, for else all would be at the ends. */
static int in_bytes(struct workload *w)
{
	static const char *const types[] = {"u8:s8:f32", "u8:s8:s32", "u8:s8:u8", "u8:s8:s8",
					    "s8:s8:f32", "s8:s8:s32", "s8:s8:u8", "s8"};
	const char *text = types[pick(0, 7)];
	const int at = workload_has_post(w, POST_BIAS);
	struct err e;

	if ((strlen(text) < 9 || pick(0, 1)) && w->npost < OP_MAX_POSTS) {
		memmove(&w->post[at + 1], &w->post[at],
			(size_t)(w->npost++ - at) * sizeof *w->post);
		w->post[at] = (struct post_op){.kind = POST_SCALE};
	}
	if (pick(0, 1) && w->npost < OP_MAX_POSTS)
		w->post[w->npost++] = (struct post_op){.kind = POST_SHIFT};
	if (at && pick(0, 2) && w->npost < OP_MAX_POSTS && is_padded(w))
		w->post[w->npost++] = (struct post_op){.kind = POST_PAD};
	return workload_set_dtype(w, text, strlen(text), &e) == 0;
}

static int random_byte_conv(struct workload *w)
{
	if (!random_conv(w))
		return 0;
	if (w->dim[CONV_G] == 1 && pick(0, 2))
		w->dim[CONV_IC] += w->dim[CONV_IC] % 4;
	lengthen(w, 16);
	return in_bytes(w);
}

static int random_byte_matmul(struct workload *w)
{
	if (!random_matmul(w))
		return 0;
	if (pick(0, 2)) {
		w->dim[MATMUL_K] = (w->dim[MATMUL_K] + 3) / 4 * 4;
		w->rhs_const = 1;
	}
	lengthen(w, 16);
	return in_bytes(w);
}

/* Weights of 4 or 8 bits, whose groups have scales and perhaps zero points; few rows more often
 * than many. */
static int random_group_matmul(struct workload *w)
{
	const int64_t group = 16 * pick(1, 4);
	const char *type = pick(0, 2) ? "f32:u4:f32" : "f32:u8:f32";
	struct err e;

	if (!random_matmul(w) || w->npost > OP_MAX_POSTS - 2)
		return 0;
	w->rhs_const = 1;
	w->dim[MATMUL_B] = 1;
	w->dim[MATMUL_M] = pick(0, 1) ? pick(1, 4) : pick(1, 17);
	w->dim[MATMUL_K] = group * pick(1, 4);
	w->post[w->npost++] = (struct post_op){.kind = POST_GROUPS, .a = (double)group};
	if (pick(0, 1))
		w->post[w->npost++] = (struct post_op){.kind = POST_ZEROS};
	return workload_set_dtype(w, type, strlen(type), &e) == 0;
}

/* Sums of the largest and least numbers are exact: an instruction that ends them at 16 bits is not
 * for this. */
static void check_extremes(const struct limits *m)
{
	static const char *const problems[][4] = {
		{"conv2d", "ic8ih6oc24oh6kh3ph1", "nhwc"},
		{"conv2d", "ic3ih6oc20oh6kh3ph1", "nhwc"},
		{"conv2d", "ic16ih5oc40oh5kh1", "nhwc"},
		{"conv2d", "g24ic24ih7oc24oh7kh3ph1", "nhwc"},
		{"conv2d", "ic8ih6oc24oh6kh3ph1", "nhwc", "bias,pad"},
		{"conv2d", "ic6ih7oc24oh4kh3sh2ph1", "nchw", "bias,pad"},
		{"conv2d", "g24ic24ih7oc24oh7kh3ph1", "nhwc", "bias,pad"},
		{"matmul", "7x32:32x48", "ab"},
	};
	static const char *const types[] = {"u8:s8:s32", "s8:s8:s32"};
	const struct shares few = {1, 4};
	struct tally tally = {0};

	exactly = 1;
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		for (int k = 0; k < 4; k++) {
			struct problem p = {.extremes = 4 | k};
			struct err e = ERR_INIT;

			if (workload_from_text(&p.w, problems[i][0], problems[i][1], problems[i][2],
					       problems[i][3] ? problems[i][3] : "bias", &e) < 0 ||
			    workload_set_dtype(&p.w, types[k > 1], 9, &e) < 0)
				bail_out("%s", e.msg);
			check_problem(&p, m, 1, &few, &tally);
		}
	close_problems();
	exactly = 0;
	ok(!tally.bad && tally.compiled, "%s: sums of extremes are exact: %lld compiled", m->isa,
	   (long long)tally.compiled);
}

/* A few points of an algorithm, on a problem in whole numbers. */
struct whole_points {
	struct points of;
	const char *op, *prob, *layout, *post;
};

/* Sources and weights are extremes (k), drawn from both, or, behind those, random. */
static void check_whole_points(const struct limits *m, const struct whole_points *of, size_t n,
			       const char *what)
{
	static const int extremes[] = {4, 5, 6, 7, EXTREMES | EXTREMES_DRAWN, 0};
	const int tries = sizeof extremes / sizeof *extremes;
	static const char *const types[] = {"u8:s8:s32", "s8:s8:s32"};
	const struct shares few = {1, 4};
	struct tally tally = {0};

	exactly = 1;
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < tries; k++) {
			struct problem p = {.extremes = extremes[k]};
			struct err e = ERR_INIT;

			if (workload_from_text(&p.w, of[i].op, of[i].prob, of[i].layout, of[i].post,
					       &e) < 0 ||
			    workload_set_dtype(&p.w, types[k > 1], 9, &e) < 0)
				bail_out("%s", e.msg);
			check_points(problem_of(&p), &of[i].of, m, &few, &tally);
		}
	close_problems();
	exactly = 0;
	ok(!tally.bad && tally.assembled, "%s: %s: %lld interpreted, %lld compiled", m->isa, what,
	   (long long)tally.candidates, (long long)tally.compiled);
}

/* Elements of 8 bits are copied and packed as 16, on either side or both. */
static void check_pairs(const struct limits *m)
{
	static const struct whole_points problems[] = {
		{{"direct", 3, "wide", 1}, "conv2d", "ic6ih7oc20oh7kh3ph1", "nhwc", "bias"},
		{{"direct", 3, "wide", 2}, "conv2d", "ic16ih7oc24oh4kh3sh2ph1", "nhwc", "bias"},
		{{"direct", 3, "wide", 3}, "conv2d", "ic34ih7oc20oh7kh3ph1", "nchw", "bias,pad"},
		{{"direct", 3, "wide", 3}, "conv2d", "ic3ih9oc24oh5kh3sh2ph1", "nhwc", "bias"},
		{{"gemm", 3, "wide", 1}, "conv2d", "ic38ih5oc20oh5kh1", "nhwc", "bias"},
		{{"gemm", 3, "wide", 2}, "matmul", "7x32:32x42", "ab", "bias"},
		{{"gemm", 3, "wide", 3}, "matmul", "9x50:50x24", "ab", "bias"},
	};

	check_whole_points(m, problems, sizeof problems / sizeof *problems, "pairs of 16 bits");
}

/* Image tiles of whole numbers are exact, also for as many channels as they may have. */
static void check_image_tiles(const struct limits *m)
{
	static const struct whole_points problems[] = {
		{{"winograd", 4, NULL, 0}, "conv2d", "ic32ih6oc24oh6kh3ph1", "nhwc", "bias"},
		{{"winograd", 4, NULL, 0}, "conv2d", "ic64ih7iw5oc20oh7ow5kh3ph1", "nchw", "bias"},
		{{"winograd", 4, NULL, 0}, "conv2d", "mb2ic32ih8oc40oh6kh3", "nhwc", ""},
		{{"winograd", 4, NULL, 0}, "conv2d", "ic32ih8oc24oh8kh3ph2dh1", "nhwc", "bias"},
		{{"winograd", 4, "m", 4}, "conv2d", "ic96ih6oc24oh6kh3ph1", "nhwc", "bias"},
		{{"winograd", 3, "mw", 4}, "conv2d", "ic32ih9oc20oh9kh3ph1", "nhwc", "bias"},
		{{"winograd", 2, "mw", 2}, "conv2d", "ic448ih4oc16oh4kh3ph1", "nhwc", ""},
	};

	check_whole_points(m, problems, sizeof problems / sizeof *problems, "image tiles");
}

/* Depthwise convolutions multiply kernel rows in groups: some lie outside of the image, the last
 * group is not full, channels do not fill vectors. */
static void check_grouped_rows(const struct limits *m)
{
	static const char *const problems[][2] = {
		{"g40ic40ih9oc40oh9kh3ph1", "bias"},	   {"g24ic24ih11oc24oh6kh3sh2ph1", "bias"},
		{"g16ic16ih8oc16oh8kh5ph2", "bias"},	   {"g20ic20ih9oc20oh9kh2kw3ph1pw1", ""},
		{"g16ic16ih6oc16oh6kh1kw3ph0pw1", "bias"}, {"g32ic32ih9oc32oh9kh7ph3", "bias"},
		{"g32ic32ih12oc32oh12kh3ph2dh1", "bias"},  {"g16ic16ih9oc16oh7kh3", "bias"},
		{"g24ic24ih7oc24oh7kh5ph2", "bias,pad"},
	};
	static const char *const types[] = {"u8:s8:s32", "s8:s8:s32"};
	const struct shares one_in = {1, 4};
	struct tally tally = {0};

	exactly = 1;
	for (size_t i = 0; i < sizeof problems / sizeof *problems * 2; i++) {
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, "conv2d", problems[i / 2][0], "nhwc",
				       problems[i / 2][1], &e) < 0 ||
		    workload_set_dtype(&p.w, types[i % 2], strlen(types[i % 2]), &e) < 0)
			bail_out("%s", e.msg);
		check_problem(&p, m, 3, &one_in, &tally);
	}
	close_problems();
	exactly = 0;
	ok(!tally.bad && tally.compiled, "%s: kernel rows in groups: %lld interpreted", m->isa,
	   (long long)tally.candidates);
}

/* Tiles in place leave out taps beyond the image (direct), whose rows are one tile or several, and
 * the phases of dilated taps are images of their own (winograd). */
static void check_edges(const struct limits *m)
{
	static const char *const problems[][2] = {
		{"ic16ih12oc24oh12kh3ph2dh1", "bias,relu"},
		{"mb2ic8ih8iw12oc16oh8ow12kh3ph2dh1", "bias,add"},
		{"g2ic16ih9oc32oh9kh3ph3dh2", "bias"},
		{"ic8ih6iw8oc8oh6ow8kh1kw3ph0pw2dh0dw1", ""},
		{"ic3ih14oc20oh7kh3sh2ph1", "bias,relu"},
		{"ic4ih9oc6oh9kh5ph2", "add"},
		{"g3ic12ih10oc48oh5kh3sh2ph1", "bias"},
		{"g2ic8ih4iw30oc16oh4ow30kh3ph1", "relu"},
		{"ic5ih7iw9oc24oh7ow9kh1kw5ph0pw2", "bias"},
		{"ic2ih5iw3oc7oh5ow3kh3kw7ph1pw3", "bias"},
		{"ic8ih6iw3oc8oh6ow3kh1kw2ph0pw3dh0dw5", ""},
	};
	const struct shares one_in = {1, 8};
	struct tally tally = {0};

	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, "conv2d", problems[i][0], "nhwc", problems[i][1], &e) <
		    0)
			bail_out("%s: %s", problems[i][0], e.msg);
		check_problem(&p, m, 48, &one_in, &tally);
	}
	close_problems();
	ok(!tally.bad && tally.compiled, "%s: edges and phases: %lld interpreted", m->isa,
	   (long long)tally.candidates);
}

/* Points that have this value of a knob are offered. */
static void check_offered(const struct limits *m, const char *op, const char *prob,
			  const struct points *of)
{
	const struct shares one_in = {1, 4};
	struct tally tally = {0};
	struct problem p = {0};
	struct err e = ERR_INIT;

	if (workload_from_text(&p.w, op, prob, op[0] == 'm' ? "ab" : "nhwc", "bias", &e) < 0)
		bail_out("%s: %s", prob, e.msg);
	check_points(problem_of(&p), of, m, &one_in, &tally);
	close_problems();
	ok(!tally.bad && tally.candidates == of->wanted && tally.compiled,
	   "%s: %s of %s has %s %lld", m->isa, of->algo, prob, of->knob, (long long)of->value);
}

/* The last tile of a row is narrower than the others, with a vector that columns fill or not; the
 * right side is packed beforehand, on the clock, or not at all. */
static void check_trimmed(const struct limits *m)
{
	static const char *const problems[][4] = {
		{"matmul", "2x13x9:2x9x77", "ab", ""},
		{"matmul", "2x13x9:2x9x37", "ab", "add"},
		{"matmul", "7x20:20x40", "ab", "bias,relu"},
		{"matmul", "7x20:20x80", "ab", "bias,gelu"},
		{"conv2d", "ic9ih5oc77oh5kh1", "nhwc", "bias,add"},
		{"conv2d", "ic20ih4oc37oh4kh1", "nchw", "bias"},
	};
	const struct shares one_in = {1, 8};
	struct tally tally = {0};
	char text[60];

	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, problems[i][0], problems[i][1], problems[i][2],
				       problems[i][3], &e) < 0)
			bail_out("%s: %s", problems[i][1], e.msg);
		check_algorithm(problem_of(&p), "gemm", m, 24, &one_in, &tally);
	}
	close_problems();
	ok(!tally.bad && tally.compiled, "%s: narrow last tiles: %lld interpreted", m->isa,
	   (long long)tally.candidates);
	snprintf(text, sizeof text, "13x20:20x%d", 5 * m->lanes);
	check_offered(m, "matmul", text, &(struct points){"gemm", 4, "trim", 1});
}

/* Groups whose channels are woven fill vectors, or leave room behind them: the last vector is not
 * full, or has fewer inputs than outputs; taps share columns of the input, or lie apart. A group
 * that fills a vector by itself is read in place, too. */
static void check_woven(const struct limits *m)
{
	static const char *const problems[][3] = {
		{"g5ic40ih9oc40oh5kh3sh2ph1", "nhwc", "bias,relu"},
		{"g4ic64ih7iw17oc64oh4ow9kh3sh2ph1", "nhwc", "bias"},
		{"mb2g6ic24ih8oc24oh8kh3ph1", "nhwc", "bias,add"},
		{"g12ic24ih6oc48oh6kh3ph1", "nchw", "bias,mul"},
		{"g9ic18ih7oc18oh7kh3ph2dh1", "nhwc", ""},
		{"g8ic16ih9iw30oc32oh5ow15kh5kw3sh2ph2pw1", "nhwc", "relu6"},
		{"g3ic24ih8iw5oc24oh4ow2kh2kw5sh2ph0pw1", "nhwc", "bias"},
		{"g2ic32ih6iw4oc32oh6ow2kh3kw7ph1pw2sh1sw1", "nhwc", "bias"},
		{"g4ic16ih7iw3oc16oh3ow9kh3kw1ph0pw4sh2sw1", "nhwc", ""},
		{"g4ic16ih3iw1oc16oh3ow1kh1kw1sh1sw3ph0pw2", "nhwc", ""},
		/* A group fills a vector, and may be read in place. */
		{"g3ic24ih9iw10oc24oh9ow10kh3ph1", "nhwc", "bias,relu"},
		{"g2ic32ih5iw9oc32oh5ow9kh1kw3ph0pw2dh0dw1", "nhwc", "bias"},
		{"mb2g2ic32ih8iw3oc32oh4ow2kh3sh2ph1", "nchw", "bias,silu"},
		{"mb2g2ic16ih8iw3oc16oh4ow2kh3sh2ph1", "nchw", "add"},
	};
	const struct shares one_in = {1, 4};
	struct tally tally = {0};
	char text[60];

	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, "conv2d", problems[i][0], problems[i][1],
				       problems[i][2], &e) < 0)
			bail_out("%s: %s", problems[i][0], e.msg);
		check_algorithm(problem_of(&p), "grouped", m, 24, &one_in, &tally);
	}
	close_problems();
	ok(!tally.bad && tally.compiled, "%s: groups that are woven: %lld interpreted", m->isa,
	   (long long)tally.candidates);
	snprintf(text, sizeof text, "mb2g2ic%dih8iw7oc%doh4ow4kh3sh2ph1", 2 * m->lanes,
		 2 * m->lanes);
	check_offered(m, "conv2d", text, &(struct points){"grouped", 4, "copy", 0});
}

/* Pixels of few channels get more in the copy, many at a time: rows are shorter and longer than
 * that, and end within. */
static void check_pixels(const struct limits *m)
{
	static const char *const problems[][2] = {
		{"ic3ih5iw37oc16oh3ow19kh3sh2ph1", ""},
		{"ic3ih4iw16oc16oh4ow16kh3ph1", "bias"},
		{"ic3ih6iw7oc20oh2ow2kh7sh2ph1", ""},
		{"ic2ih4iw35oc16oh2ow33kh3", ""},
		{"ic6ih3iw21oc16oh3ow21kh3ph1", "bias"},
		{"ic3ih4iw41oc16oh4ow41kh3ph1", "bias,pad"},
		{"ic5ih3iw19oc16oh3ow19kh3ph1", ""},
		{"ic40ih5iw7oc16oh5ow7kh3ph1", "bias,pad"},
	};
	static const char *const types[] = {"u8:s8:s32", "s8:s8:s32", "bf16"};
	const struct shares one_in = {1, 4};
	struct tally tally = {0};

	for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
		exactly = strcmp(types[k], "bf16") != 0;
		for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
			struct problem p = {0};
			struct err e = ERR_INIT;

			if (!exactly && strstr(problems[i][1], "pad"))
				continue;
			if (workload_from_text(&p.w, "conv2d", problems[i][0], "nhwc",
					       problems[i][1], &e) < 0 ||
			    workload_set_dtype(&p.w, types[k], strlen(types[k]), &e) < 0)
				bail_out("%s: %s", problems[i][0], e.msg);
			check_problem(&p, m, 3, &one_in, &tally);
		}
		close_problems();
	}
	exactly = 0;
	ok(!tally.bad && tally.compiled, "%s: pixels that get more channels: %lld interpreted",
	   m->isa, (long long)tally.candidates);
}

/* A zero point is added behind rounding, also where it is odd and a sum lies halfway between two
 * whole numbers: all factors are 1/2, and whole sums are exact. */
static void check_halves(const struct limits *m)
{
	static const char *const problems[][4] = {
		{"conv2d", "ic8ih6oc24oh6kh3ph1", "nhwc", "bias,scale,shift"},
		{"conv2d", "ic8ih6oc20oh6kh3ph1", "nchw", "bias,scale,shift,pad"},
		{"conv2d", "ic16ih5oc40oh5kh1", "nhwc", "scale,relu,shift"},
		{"conv2d", "g24ic24ih7oc24oh7kh3ph1", "nhwc", "bias,scale,shift"},
		{"conv2d", "g24ic24ih7oc24oh7kh3ph1", "nchw", "scale,shift,relu"},
		{"matmul", "7x32:32x42", "ab", "bias,scale,shift"},
	};
	static const char *const types[] = {"u8:s8:u8", "u8:s8:s8", "s8:s8:u8", "s8", "u8:s8:s32"};
	const struct shares few = {1, 4};
	struct tally tally = {0};

	rng_seed(&rng, SEED, "halves");
	exactly = 1;
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
			struct problem p = {.halves = 1};
			struct err e = ERR_INIT;

			if (workload_from_text(&p.w, problems[i][0], problems[i][1], problems[i][2],
					       problems[i][3], &e) < 0 ||
			    workload_set_dtype(&p.w, types[k], strlen(types[k]), &e) < 0)
				bail_out("%s", e.msg);
			check_problem(&p, m, 1, &few, &tally);
		}
	close_problems();
	exactly = 0;
	ok(!tally.bad && tally.compiled,
	   "%s: halves are rounded before a zero point: %lld compiled", m->isa,
	   (long long)tally.compiled);
}

/* ---- activations ---- */

/* One post-op, alone or behind others, in each algorithm. */
static void check_activations(const struct limits *m, struct tally *tally)
{
	static const char *const posts[] = {"bias,clip(-0.5,0.75)",
					    "bias,add,leaky_relu(0.1)",
					    "leaky_relu(2)",
					    "bias,hardswish",
					    "bias,add,sigmoid",
					    "tanh,add",
					    "bias,silu,mul",
					    "mul,add",
					    "bias,silu",
					    "bias,add,gelu",
					    "gelu_tanh"};
	static const char *const problems[][3] = {
		{"conv2d", "ic8ih9oc20oh9kh3ph1", "nhwc"},
		{"conv2d", "ic8ih9oc20oh9kh3ph1", "nchw"},
		{"conv2d", "ic3ih11oc20oh6kh3sh2ph1", "nhwc"}, /* few taps and channels */
		{"conv2d", "g20ic20ih7oc20oh7kh3ph1", "nhwc"},
		{"conv2d", "g4ic16ih7oc16oh7kh3ph1", "nhwc"},
		{"conv2d", "g4ic32ih9oc32oh9kh3ph1", "nhwc"},
		{"matmul", "13x32:32x42", "ab"},
	};
	const struct shares one_in = {2 * RARER, 4 * RARER};

	for (size_t i = 0; i < sizeof posts / sizeof *posts; i++)
		for (size_t k = i % RARER; k < sizeof problems / sizeof *problems; k += RARER) {
			struct problem p = {0};
			struct err e = ERR_INIT;

			if (workload_from_text(&p.w, problems[k][0], problems[k][1], problems[k][2],
					       posts[i], &e) < 0)
				bail_out("%s", e.msg);
			check_problem(&p, m, 5, &one_in, tally);
		}
}

static double exact(enum post kind, double x)
{
	switch (kind) {
	case POST_HARDSWISH:
		return x * fmin(fmax(x / 6 + 0.5, 0), 1);
	case POST_SIGMOID:
		return 1 / (1 + exp(-x));
	case POST_TANH:
		return tanh(x);
	case POST_SILU:
		return x / (1 + exp(-x));
	case POST_GELU:
		return x / 2 * erfc(-x / sqrt(2));
	default:
		return x / (1 + exp(-2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	}
}

/* Over many magnitudes of both signs. Results are stored in single precision here, whatever the
 * activation is told. */
static void check_accuracy(enum post kind, enum elem result)
{
	static const float limits[] = {-INFINITY, INFINITY, NAN, -FLT_MAX};
	const float hard = -2.66152525F; /* GELU by tanh had its largest error here */
	enum { COUNT = 4096, LIMITS = sizeof limits / sizeof *limits };
	const struct post_op p = {.kind = kind};
	const double most = result == ELEM_F32 ? 1e-6 : 2e-4,
		     least = result == ELEM_F32 ? 0.01 : 1e-4;
	struct arena a = ARENA_INIT;
	struct nest n;
	struct err e = ERR_INIT;
	float *buffers[NEST_BUFFERS] = {0}, x[COUNT], y[COUNT];
	double worst = 0;
	int src, dst, i;

	for (int k = 0; k < COUNT; k++) {
		double size = k < 1024 ? k / 64. : pow(2, (k - 1024) * 2 / 12. - 126);

		x[k] = (float)(k % 2 ? -size : size);
		if (!isfinite(x[k]))
			x[k] = 0;
	}
	x[0] = hard;
	x[2] = -0.0F;
	memcpy(&x[COUNT - LIMITS], limits, sizeof limits);
	nest_init(&n, &a, "activation");
	src = nest_arg(&n, "src", TENSOR_SRC, COUNT, 0);
	dst = nest_arg(&n, "dst", TENSOR_DST, COUNT, 1);
	i = nest_for(&n, LOOP_PARALLEL, "i", af(0), af(COUNT));
	nest_store(&n, dst, af_var(i), NULL,
		   activation(&n, ex_load(&n, src, 1, af_var(i), NULL), &p, result));
	nest_close(&n);
	buffers[0] = x;
	buffers[1] = y;
	if (n.nslots > 2)
		buffers[2] = random_floats(operand_size(&n, 2, 1));
	if (interp_run(&n, (void **)buffers, &e) < 0)
		bail_out("%s", e.msg);
	for (int k = 0; k < COUNT - LIMITS; k++) {
		double want = exact(kind, x[k]),
		       error = fabs(y[k] - want) / fmax(fabs(want), least);

		if (!(error <= worst))
			worst = error;
	}
	ok(worst < most, "%s, %s: error %.1e", post_name(kind),
	   result == ELEM_F32 ? "single precision" : "bf16", worst);
	ok(!signbit(y[2]) == !signbit(exact(kind, -0.0)), "%s of -0 has its sign", post_name(kind));
	/* Its factors are normal numbers, then, however large |x| is. */
	if (kind == POST_GELU)
		ok(fabs(y[COUNT - 1]) > 1e-36, "%s of %g has no tail that is slow to compute: %g",
		   post_name(kind), x[COUNT - 1], y[COUNT - 1]);
	for (int k = COUNT - LIMITS; k < COUNT; k++) {
		const double want = exact(kind, x[k]);

		ok(isnan(want) ? isnan(y[k]) : (double)y[k] == want || fabs(y[k] - want) < 1e-6,
		   "%s of %g is %g: %g", post_name(kind), (double)x[k], want, (double)y[k]);
	}
	free(buffers[2]);
	arena_free(&a);
}

/* What defines softmax and the normalizations is compiled, too: results are compared with it. */
static void check_definitions(const struct limits *m)
{
	enum { PROBLEMS = 6 };
	struct tally tally = {0};

	isa = m->isa;
	rng_seed(&rng, 5, "definitions");
	for (int i = 0; i < PROBLEMS;) {
		struct problem p = {0};
		struct err e = ERR_INIT;
		struct kept *k;

		if (!random_rows(&p.w))
			continue;
		i++;
		k = keep_new();
		k->said = arena_printf(&k->a, "%s %s", p.w.op->name, p.w.prob);
		k->next = kept;
		kept = k;
		p.w.op->naive(&p.w, 1, &k->n, &e);
		add_waiting(problem_of(&p), k, c_print, &tally);
		waiting[nwaiting - 1].limit = 1e-6;
	}
	close_problems();
	ok(!tally.bad, "%s: definitions of rows, compiled: error below 1e-6", m->isa);
}

static int64_t from_env(const char *name, int64_t def)
{
	const char *s = getenv(name);

	return s ? atoll(s) : def;
}

/* Rows above the image are filled with the source's zero point, whatever blocks of channels are. */
static void check_filled(const struct limits *m, const struct shares *one_in)
{
	static const char *const problems[] = {"g5ic10ih3iw9oc10oh2ow5kh2kw2sh3sw2ph2pw0",
					       "ic12ih5oc16oh5kh3ph1", "g16ic16ih5oc16oh5kh3ph1"};
	struct tally tally = {0};

	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
		struct problem p = {0};
		struct err e = ERR_INIT;

		if (workload_from_text(&p.w, "conv2d", problems[i], "nhwc", "bias,pad", &e) < 0 ||
		    workload_set_dtype(&p.w, "s8:s8:s32", strlen("s8:s8:s32"), &e) < 0)
			bail_out("%s", e.msg);
		check_problem(&p, m, 12, one_in, &tally);
	}
	close_problems();
	ok(!tally.bad && tally.candidates, "%s: padding has the zero point: %lld interpreted",
	   m->isa, (long long)tally.candidates);
}

/* Returns the first kind of problems whose kernels differ by the machine's dots and tiles. */
static int first_kind(void)
{
	if (!machine.dots)
		return 0;
	return machine.dots >> DTYPE_BF16 & 1 ? F32_KINDS : F32_KINDS + BF16_KINDS;
}

/* Whole numbers are the same with and without instructions for bf16, but for tiles. */
static int kinds_end(void)
{
	const int has_whole = machine.tiles || !(machine.dots >> DTYPE_BF16 & 1);

	return F32_KINDS + BF16_KINDS + (has_whole ? WHOLE_KINDS : 0);
}

int main(void)
{
	static const char *const isas[] = {"avx512_amx", "avx512_bf16", "avx512_vnni",
					   "avx512",	 "avx2",	"scalar"};
	int64_t problems = from_env("TL_TEST_PROBLEMS", DRAWN);
	int64_t candidates = from_env("TL_TEST_CANDIDATES", CANDIDATES);
	struct shares one_in = {from_env("TL_TEST_ASSEMBLE", 8), from_env("TL_TEST_COMPILE", 40)};
	struct err e = ERR_INIT;

	if (!mkdtemp(dir))
		bail_out("no folder under /tmp");
	check_special();
	for (int kind = POST_HARDSWISH; kind <= POST_GELU_TANH; kind++)
		for (int rounds = 0; rounds < 2; rounds++)
			check_accuracy((enum post)kind, rounds ? ELEM_BF16 : ELEM_F32);
	for (size_t k = 0; k < sizeof isas / sizeof *isas; k++) {
		struct limits m;

		setenv("TL_ISA", isas[k], 1);
		if (target_default()->limits(&m, &e) < 0) {
			skip("%s: %s", isas[k], e.msg);
			continue;
		}
		m.l2 = m.l3 = 0; /* so that small problems may be prefetched and streamed, too */
		m.threads = 4;
		machine = m;
		memset(compiled_of, 0, sizeof compiled_of);
		if (!m.dots)
			check_definitions(&m);
		for (int op = first_kind(); op < kinds_end(); op++) {
			static const struct {
				const char *name;
				int (*draw)(struct workload *w); /* NULL: another way */
			} kind[] = {{"conv2d", random_conv},
				    {"matmul", random_matmul},
				    {"activations", NULL},
				    {"groups", random_groups},
				    {"conv2d in bf16", random_bf16_conv},
				    {"matmul in bf16", random_bf16_matmul},
				    {"conv2d in 8 bits", random_byte_conv},
				    {"matmul in 8 bits", random_byte_matmul},
				    {"matmul by groups of weights", random_group_matmul}};
			struct tally tally = {0};
			/* Parts of vectors of 8 and 16 bits take several moves there. */
			const int is_narrow = op >= F32_KINDS && m.lanes == 8;
			const struct shares often = {NARROW, 2 * NARROW},
					    *share = is_narrow ? &often : &one_in;

			rng_seed(&rng, SEED, isas[k]);
			if (!kind[op].draw)
				check_activations(&m, &tally);
			for (int64_t i = 0; kind[op].draw && i < problems;) {
				struct problem p = {0};

				if (!kind[op].draw(&p.w))
					continue;
				i++;
				check_problem(&p, &m, candidates, share, &tally);
			}
			close_problems();
			ok(tally.bad == 0 && tally.candidates >= problems && tally.compiled > 0,
			   "%s %s: %lld candidates interpreted, %lld compiled, %lld wrong", isas[k],
			   kind[op].name, (long long)tally.candidates, (long long)tally.compiled,
			   (long long)tally.bad);
			/* Where a tile takes all registers there may be none for its post-ops. */
			ok(m.lanes == 1 ? !tally.assembled
					: tally.assembled > tally.candidates * 9 / 10,
			   "%lld as assembly", (long long)tally.assembled);
		}
		check_extremes(&m);
		if (m.lanes > 1 && !m.tiles)
			check_image_tiles(&m);
		if (m.lanes > 1 && !m.dots && !m.tiles) {
			check_pairs(&m);
			check_wide_bf16(&m);
		}
		check_halves(&m);
		check_grouped_rows(&m);
		if (!m.dots)
			check_edges(&m);
		if (!m.dots && m.lanes > 1) {
			check_trimmed(&m);
			check_woven(&m);
		}
		check_pixels(&m);
		check_filled(&m, &one_in);
		if (m.lanes > 1)
			check_streams(&m);
		if (m.lanes > 1 && !m.dots)
			check_held_left(&m);
		if (!m.dots)
			check_groups_by_hand(&m);
		if (m.lanes == 16 && (m.tiles || !m.dots)) {
			check_tiles(&m);
			check_overruns(&m);
			check_merged(&m);
		}
		if (m.lanes > 1 && !m.dots) {
			struct tally tally = {0};
			const char *name;

			check_left(&m, &one_in, &tally);
			close_problems();
			name = not_compiled(&m);
			ok(!name && !tally.bad,
			   "%s: candidates of every algorithm were compiled%s%s", isas[k],
			   name ? ", but not of " : "", name ? name : "");
		}
	}
	rmdir(dir);
	return done_testing();
}
