/* A nest means one thing: random small nests of one to three phases, interpreted as a team of
 * threads and compiled by every printer that this CPU can run, all in one object a printer, and run
 * by the worker's own runner. All values are small integers, so that every result is exact however
 * it was rounded, and must be the same. Then nests that must be refused, with why.
 *
 * TL_TEST_NESTS (200): how many. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "lib/io/proc.h"
#include "lib/draft/draft.h"
#include "lib/draft/static.h"
#include "lib/nest/check.h"
#include "lib/nest/interp.h"
#include "lib/nest/operands.h"
#include "lib/space/isa.h"
#include "lib/target/c.h"
#include "lib/target/cpu.h"
#include "lib/target/runner.h"
#include "lib/target/x86.h"
#include "lib/trial/cell.h"
#include "tests/tap.h"

enum { THREADS = 3, SOURCES = 6, MARGIN = 64 /* floats around each operand */ };

static const int LIMIT = 8; /* no element of a matrix is larger */

static struct rng rng;

static int pick(int lo, int hi)
{
	return lo + (int)rng_below(&rng, (uint64_t)(hi - lo + 1));
}

static int one_in(int times)
{
	return pick(1, times) == 1;
}

/* ---- random nests ---- */

/* All matrices are planes x rows x width. A phase fills one of them, and reads those that are
 * filled: rows of all planes for what other threads wrote, its own place for what it wrote itself.
 */
struct drawn {
	struct nest *n;
	int lanes, nv, planes, rows, width;
	int vwidth, vplane; /* symbols: elements of a row, of a plane */
	int source[SOURCES], nsources, to;
	int acc, one, left, right, work;
	/* The open item. */
	int z, r, q;
	struct affine at;
	int whole; /* its vectors need no mask */
};

static int symbol(struct nest *n, const char *name, int value)
{
	return one_in(2) ? nest_param(n, name, value) : nest_const(n, name, value);
}

static int columns(const struct drawn *d)
{
	return d->lanes * d->nv;
}

static struct affine row_at(const struct drawn *d, struct affine row)
{
	return af_add(af_times(af_var(d->z), d->vplane), af_times(row, d->vwidth));
}

/* What is left of the row from vector v of the block on; NULL: enough. */
static const struct affine *valid(const struct drawn *d, struct affine v)
{
	if (d->whole)
		return NULL;
	return nest_keep(d->n, af_sum(af_var(d->vwidth), af_mul(af_var(d->q), -columns(d)),
				      af_mul(v, -d->lanes)));
}

static int some_source(const struct drawn *d)
{
	return d->source[pick(0, d->nsources - 1)];
}

/* Vector v of the block in a row of a matrix. */
static const struct expr *vector(struct drawn *d, int buffer, struct affine row, struct affine v)
{
	struct affine at =
		af_sum(row_at(d, row), af_mul(af_var(d->q), columns(d)), af_mul(v, d->lanes));

	return ex_load(d->n, buffer, d->lanes, at, valid(d, v));
}

/* x, with lanes moved. */
static const struct expr *moved(struct drawn *d, const struct expr *x, struct affine v)
{
	const struct expr *other;
	const int rows = pick(1, d->lanes);

	if (one_in(4))
		return ex_turn(d->n, x, rows, pick(1, d->lanes / rows));
	if (d->lanes == 1 || one_in(2))
		return ex_spread(d->n, x, pick(1, 4), pick(1, 4), af(pick(0, 2)));
	other = vector(d, some_source(d), af_var(d->r), v);
	return ex_exchange(d->n, x, other, 1 << pick(0, __builtin_ctz((unsigned)d->lanes) - 1),
			   pick(0, 1));
}

/* A value of the open row, or a few adjacent ones, again and again. */
static const struct expr *repeated(struct drawn *d)
{
	int several = 1 << pick(0, 3), at;

	if (several > d->lanes || several > d->width)
		several = 1;
	at = pick(0, d->width - several);
	return ex_bcast(d->n, d->lanes,
			ex_load(d->n, some_source(d), several,
				af_add(row_at(d, af_var(d->r)), af(at)), NULL));
}

/* A value of at most LIMIT. */
static const struct expr *leaf(struct drawn *d, struct affine v)
{
	const struct expr *x;

	switch (pick(0, 3)) {
	case 0:
		return ex_const(d->n, ELEM_F32, d->lanes, pick(-LIMIT, LIMIT));
	case 1:
		return repeated(d);
	default:
		x = vector(d, some_source(d), one_in(2) ? af_var(d->r) : af(pick(0, d->rows - 1)),
			   v);
		return one_in(3) ? moved(d, x, v) : x;
	}
}

static const struct expr *product(struct drawn *d, struct affine v, const struct expr *sum)
{
	return sum ? ex_op(d->n, EXPR_FMA, leaf(d, v), leaf(d, v), sum)
		   : ex_op(d->n, EXPR_MUL, leaf(d, v), leaf(d, v), NULL);
}

/* x with something done to it. */
static const struct expr *changed(struct drawn *d, const struct expr *x, struct affine v)
{
	static const enum expr_kind kinds[] = {EXPR_ADD, EXPR_SUB, EXPR_MAX, EXPR_MIN};
	const struct expr *other;

	if (one_in(4))
		return product(d, v, x);
	other = one_in(3) ? product(d, v, NULL) : leaf(d, v);
	return one_in(3) ? ex_op(d->n, kinds[pick(0, 3)], other, x, NULL)
			 : ex_op(d->n, kinds[pick(0, 3)], x, other, NULL);
}

static struct affine each_vector(struct drawn *d)
{
	return af_var(nest_for(d->n, LOOP_UNROLL, "v", af(0), af(d->nv)));
}

/* A copy of the item's part of a matrix in the workspace, by runs. */
static void stage(struct drawn *d)
{
	struct nest *n = d->n;
	int v = nest_for(n, LOOP_SERIAL, "v", af(0), af(d->nv));
	const struct affine *left;

	d->whole = 0; /* runs are always masked */
	left = valid(d, af_var(v));
	nest_store(n, d->work, af_mul(af_var(v), d->lanes), left,
		   one_in(4) ? ex_const(n, ELEM_F32, d->lanes, 0)
			     : ex_load(n, some_source(d), d->lanes,
				       af_add(d->at, af_mul(af_var(v), d->lanes)), left));
	nest_close(n);
}

/* acc = something. */
static void begin_sum(struct drawn *d)
{
	int staged = one_in(3), whole = d->whole, view = -1;
	struct affine v;

	if (staged)
		stage(d);
	else if (one_in(3))
		view = nest_view(d->n, "view", some_source(d), d->at);
	v = each_vector(d);
	if (staged || view >= 0)
		nest_store(d->n, d->acc, v, NULL,
			   ex_load(d->n, staged ? d->work : view, d->lanes, af_mul(v, d->lanes),
				   valid(d, v)));
	else
		nest_store(d->n, d->acc, v, NULL, leaf(d, v));
	nest_close(d->n);
	d->whole = whole;
}

/* acc += a column of one matrix times rows of another. */
static void sum_rows(struct drawn *d)
{
	struct nest *n = d->n;
	int unroll = one_in(4), a = some_source(d), b = some_source(d),
	    column = pick(0, d->width - 1);
	int k = nest_for(n, unroll ? LOOP_UNROLL : LOOP_SERIAL, "k", af(0),
			 unroll ? af(d->rows) : af_var(symbol(n, "rows", d->rows)));
	struct affine v;

	if (!unroll)
		nest_unroll_hint(n, pick(0, 3));
	nest_store(n, d->one, af(0), NULL,
		   ex_bcast(n, d->lanes,
			    ex_load(n, a, 1, af_add(row_at(d, af_var(k)), af(column)), NULL)));
	if (one_in(3))
		nest_prefetch(n, b, af_add(d->at, af(64)));
	else if (one_in(3))
		nest_prefetch_far(n, b, af_add(d->at, af(640)));
	v = each_vector(d);
	nest_store(n, d->acc, v, NULL,
		   ex_op(n, EXPR_FMA, ex_reg(n, d->one, af(0)), vector(d, b, af_var(k), v),
			 ex_reg(n, d->acc, v)));
	nest_close(n);
	nest_close(n);
}

/* acc changed, by way of registers that live in this branch alone. */
static void change(struct drawn *d, int own)
{
	struct nest *n = d->n;
	struct affine v = each_vector(d);

	if (one_in(2)) {
		nest_store(n, own, v, NULL, leaf(d, v));
		nest_store(n, d->acc, v, NULL,
			   ex_op(n, EXPR_SUB, ex_reg(n, own, v), ex_reg(n, d->acc, v), NULL));
	} else {
		nest_store(n, d->acc, v, NULL, changed(d, ex_reg(n, d->acc, v), v));
	}
	nest_close(n);
}

static void branch(struct drawn *d)
{
	if (one_in(2))
		nest_if_less(d->n, af_var(d->q), af(1));
	else
		nest_if_less(d->n, af_mul(af_var(d->r), 2), af_add(af_var(d->q), af(pick(0, 4))));
	change(d, d->left);
	if (one_in(2)) {
		nest_else(d->n);
		change(d, d->right);
	}
	nest_close(d->n);
}

static const struct expr *clamped(struct nest *n, const struct expr *x)
{
	x = ex_op(n, EXPR_MIN, x, ex_const(n, ELEM_F32, x->lanes, LIMIT), NULL);
	return ex_op(n, EXPR_MAX, x, ex_const(n, ELEM_F32, x->lanes, -LIMIT), NULL);
}

static void vector_item(struct drawn *d)
{
	struct affine v, at;

	begin_sum(d);
	if (one_in(2))
		sum_rows(d);
	if (one_in(2))
		branch(d);
	v = each_vector(d);
	at = af_add(d->at, af_mul(v, d->lanes));
	nest_store(d->n, d->to, at, valid(d, v),
		   clamped(d->n, changed(d, ex_reg(d->n, d->acc, v), v)));
	nest_close(d->n);
	if (!one_in(4)) /* in place */
		return;
	v = each_vector(d);
	at = af_add(d->at, af_mul(v, d->lanes));
	nest_store(d->n, d->to, at, valid(d, v),
		   ex_op(d->n, EXPR_SUB, ex_const(d->n, ELEM_F32, d->lanes, 0),
			 ex_load(d->n, d->to, d->lanes, at, valid(d, v)), NULL));
	nest_close(d->n);
}

/* Element by element. */
static void scalar_item(struct drawn *d)
{
	struct nest *n = d->n;
	int end = nest_let_min(n, "end", af(columns(d)),
			       af_sub(af_var(d->vwidth), af_mul(af_var(d->q), columns(d))));
	int i = nest_for(n, LOOP_SERIAL, "i", af(0), af_var(end));
	struct affine at = af_add(d->at, af_var(i));

	nest_store(n, d->to, at, NULL,
		   clamped(n, ex_op(n, EXPR_ADD, ex_load(n, some_source(d), 1, at, NULL),
				    ex_load(n, some_source(d), 1, at, NULL), NULL)));
	nest_close(n);
}

/* Returns the same index, by a quotient and what is left. */
static struct affine divided(struct nest *n, struct affine at)
{
	const int64_t by = pick(1, 9);
	const int whole = nest_let_div(n, "whole", at, by), rest = nest_let_mod(n, "rest", at, by);

	return af_add(af_mul(af_var(whole), by), af_var(rest));
}

/* One region of parallel loops, whose items fill the matrix `to`. */
static void phase(struct drawn *d)
{
	struct nest *n = d->n;
	int blocks = (d->width + columns(d) - 1) / columns(d), depth = n->depth;
	int q_inside = one_in(8), r_first = one_in(2);

	d->z = nest_for(n, LOOP_PARALLEL, "z", af(0), af(d->planes));
	if (r_first || q_inside)
		d->r = nest_for(n, LOOP_PARALLEL, "r", af(0), af(d->rows));
	d->q = nest_for(n, q_inside ? LOOP_SERIAL : LOOP_PARALLEL, "q", af(0),
			af_var(symbol(n, "blocks", blocks)));
	if (!r_first && !q_inside)
		d->r = nest_for(n, LOOP_PARALLEL, "r", af(0), af(d->rows));
	d->whole = d->width % columns(d) == 0 && one_in(2);
	d->at = af_add(row_at(d, af_var(d->r)), af_mul(af_var(d->q), columns(d)));
	if (one_in(2))
		d->at = af_var(nest_let(n, "at", d->at));
	if (one_in(4))
		d->at = divided(n, d->at);
	if (one_in(6))
		scalar_item(d);
	else
		vector_item(d);
	while (n->depth > depth)
		nest_close(n);
}

/* Those that a phase may read are all that are filled, but what it fills itself. */
static void fill_matrix(struct drawn *d, int to)
{
	d->to = to;
	for (int i = 0; i < d->nsources; i++)
		if (d->source[i] == to)
			d->source[i--] = d->source[--d->nsources];
	phase(d);
	d->source[d->nsources++] = to;
}

/* Returns the number of phases. */
static int draw(struct nest *n, int lanes, uint64_t seed)
{
	struct drawn d = {.n = n, .lanes = lanes};
	int phases, size, team[2], out;

	rng_seed(&rng, seed, "nest");
	d.nv = pick(1, 3);
	d.planes = pick(1, 2);
	d.rows = pick(1, 5);
	d.width = one_in(2) ? columns(&d) * pick(1, 3) : pick(1, 3 * columns(&d));
	d.vwidth = symbol(n, "width", d.width);
	d.vplane = symbol(n, "plane", d.rows * d.width);
	size = d.planes * d.rows * d.width;
	phases = pick(1, 3);
	for (int i = 0; i < 2; i++)
		d.source[d.nsources++] = nest_arg(n, i ? "b" : "a", i, size, 0);
	out = nest_arg(n, "out", 4, size, 1);
	for (int i = 0; i < 2; i++)
		team[i] = nest_team(n, i ? "second" : "first", size);
	d.work = nest_work(n, "work", columns(&d));
	d.acc = nest_reg(n, "acc", ELEM_F32, lanes, 1, d.nv);
	d.one = nest_reg(n, "one", ELEM_F32, lanes, 1, 1);
	d.left = nest_reg(n, "left", ELEM_F32, lanes, 1, d.nv);
	d.right = nest_reg(n, "right", ELEM_F32, lanes, 1, d.nv);
	for (int i = 0; i < phases; i++) {
		if (i)
			nest_sync(n);
		fill_matrix(&d, i == phases - 1 || one_in(4) ? out : team[pick(0, 1)]);
	}
	return phases;
}

/* ---- operands ---- */

static const float CANARY = -777;

static float *operand(const struct nest *n, int slot, uint64_t seed)
{
	const struct buffer *b = operand_buffer(n, slot);
	int64_t size = operand_size(n, slot, THREADS);
	float *f = xmalloc((size_t)(size + 2 * MARGIN) * sizeof *f);

	rng_seed(&rng, seed + (uint64_t)slot, "operand");
	for (int64_t i = 0; i < size + 2 * MARGIN; i++)
		f[i] = CANARY;
	f += MARGIN;
	for (int64_t i = 0; i < size; i++)
		f[i] = b->kind == BUFFER_ARG && !b->written ? (float)pick(-LIMIT, LIMIT) : NAN;
	return f;
}

static void open_operands(const struct nest *n, uint64_t seed, float **buffers)
{
	for (int i = 0; i < n->nslots; i++)
		buffers[i] = operand(n, i, seed);
}

/* Nobody wrote beside an operand. */
static int are_fenced(const struct nest *n, float *const *buffers)
{
	for (int s = 0; s < n->nslots; s++) {
		int64_t size = operand_size(n, s, THREADS);

		for (int i = 1; i <= MARGIN; i++)
			if (buffers[s][-i] != CANARY || buffers[s][size + i - 1] != CANARY)
				return 0;
	}
	return 1;
}

static void close_operands(const struct nest *n, float *const *buffers)
{
	for (int i = 0; i < n->nslots; i++)
		free(buffers[i] - MARGIN);
}

static const float *output(const struct nest *n, float *const *buffers, size_t *bytes)
{
	for (int i = 0; i < n->nslots; i++)
		if (operand_buffer(n, i)->written) {
			*bytes = (size_t)operand_buffer(n, i)->size * sizeof(float);
			return buffers[i];
		}
	return NULL;
}

/* Equal values; -0 is 0, and NaN is nothing. */
static int are_same(const float *a, const float *b, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof *a; i++)
		if (!(a[i] == b[i]))
			return 0;
	return 1;
}

/* ---- interpreted ---- */

struct sample {
	struct arena arena;
	struct nest n;
	uint64_t seed;
	float *expected;
	size_t bytes;
};

static int interpret(struct sample *s, int threads, struct err *e)
{
	float *buffers[NEST_BUFFERS];
	const float *out;
	int rc;

	open_operands(&s->n, s->seed, buffers);
	rc = interp_team(&s->n, threads, (void **)buffers, e);
	out = output(&s->n, buffers, &s->bytes);
	if (rc == 0 && !s->expected) {
		s->expected = xmalloc(s->bytes);
		memcpy(s->expected, out, s->bytes);
	} else if (rc == 0 && !are_same(s->expected, out, s->bytes)) {
		rc = err_set(e, "one thread makes something else than %d", THREADS);
	}
	if (rc == 0 && !are_fenced(&s->n, buffers))
		rc = err_set(e, "the interpreter wrote beside an operand");
	close_operands(&s->n, buffers);
	return rc;
}

/* Lanes of the sample's vectors: AVX-512's, AVX2's or those of neither in turn. */
static int lanes_of(int i)
{
	static const int lanes[] = {16, 8, 16, 8, 4};

	return lanes[i % 5];
}

static void draw_all(struct sample *sample, int n)
{
	struct limits m;
	int right = 0, phases_seen = 0, phased = 0;

	isa_limits("scalar", &m);
	m.threads = THREADS;
	for (int i = 0; i < n; i++) {
		struct sample *s = &sample[i];
		struct err e = ERR_INIT;
		static struct draft draft;
		int64_t registers;
		int phases;

		s->seed = (uint64_t)i;
		nest_init(&s->n, &s->arena, "nest");
		phases = draw(&s->n, lanes_of(i), s->seed);
		static_check(&s->n, &m, &registers, NULL);
		draft_predict(&s->n, &m, registers, 0, &draft);
		phases_seen += draft.walk.nphases == phases && isfinite(draft.seconds);
		phased += phases > 1;
		if (interpret(s, THREADS, &e) == 0 && interpret(s, 1, &e) == 0)
			right++;
		else
			diag("nest %d: %s", i, e.msg);
	}
	ok(right == n, "%d of %d nests are the same with 1 and %d threads", right, n, THREADS);
	ok(phased * 2 > n, "%d have more than one phase", phased);
	ok(phases_seen == n, "the draft sees all phases of %d", phases_seen);
}

/* ---- compiled ---- */

typedef const char *printing(const struct nest *n, struct buf *out);

static const char *print_c(const struct nest *n, struct buf *out)
{
	c_print(n, out);
	return NULL;
}

static const char *print_assembly(const struct nest *n, struct buf *out)
{
	const struct limits m = {.lanes = 0};

	return x86_print(n, &m, out);
}

struct object {
	struct sample *sample;
	int n;
	void *handle;
};

struct ran {
	int kernels, wrong, first;
};

static void run_object(void *arg, void *answer)
{
	const struct object *o = arg;
	struct ran *ran = answer;

	for (int i = 0; i < o->n; i++) {
		struct sample *s = &o->sample[i];
		float *buffers[NEST_BUFFERS];
		long params[NEST_PARAMS];
		struct kernel k = {.handle = o->handle};
		char name[32];
		const float *out;

		snprintf(name, sizeof name, "k_%d", i);
		*(void **)&k.entry = dlsym(o->handle, name);
		if (!k.entry)
			continue;
		ran->first = ran->wrong ? ran->first : i; /* of a crash, too */
		open_operands(&s->n, s->seed, buffers);
		c_params(&s->n, params);
		runner_cpu.run(&k, params, (void **)buffers, i % THREADS + 1, NULL);
		out = output(&s->n, buffers, &s->bytes);
		ran->kernels++;
		if (!are_same(out, s->expected, s->bytes) || !are_fenced(&s->n, buffers))
			ran->wrong++;
		close_operands(&s->n, buffers);
	}
}

static void *compile(const struct buf *text, const char *isa, const char *dir, struct err *e)
{
	char source[256], object[256], *argv[TARGET_ARGS];
	struct buf log = BUF_INIT;
	void *handle = NULL;
	FILE *f;

	snprintf(source, sizeof source, "%s/k.c", dir);
	snprintf(object, sizeof object, "%s/k.so", dir);
	f = fopen(source, "we");
	if (!f || fwrite(text->s, 1, text->n, f) != text->n || fclose(f))
		bail_out("cannot write %s", source);
	target_cpu.compile(isa, source, object, argv);
	if (proc_run(argv, 120, 10000, &log, e) == 0)
		handle = dlopen(object, RTLD_NOW);
	if (!handle)
		diag("cc: %.800s", log.s ? log.s : "");
	unlink(source);
	unlink(object);
	buf_free(&log);
	return handle;
}

/* lanes: of the nests that the printer is asked for; 0: all. */
static void check_printer(struct sample *sample, int n, const char *what, printing *print,
			  const char *isa, int lanes, const char *dir)
{
	const struct cell cell = {.timeout_s = 60, .threads = THREADS};
	struct object o = {sample, n, NULL};
	struct buf text = BUF_INIT;
	struct ran ran = {0, 0, -1};
	struct cell_fault fault;
	struct err e = ERR_INIT;
	char why[CELL_WHY] = "";
	int asked = 0, printed = 0;

	if (!cpu_has_isa(isa)) {
		skip("this CPU has no %s, for %s", isa, what);
		return;
	}
	buf_str(&text, c_prelude());
	for (int i = 0; i < n; i++) {
		const char *refused;

		if (lanes && lanes_of(i) != lanes)
			continue;
		asked++;
		buf_fmt(&text, "\n#undef KERNEL\n#define KERNEL k_%d\n", i);
		refused = print(&sample[i].n, &text);
		printed += !refused;
		if (refused && getenv("TL_TEST_WHY"))
			diag("nest %d: %s", i, refused);
	}
	ok(printed * 10 > asked * 7, "%s: %d of %d nests are printed", what, printed, asked);
	o.handle = compile(&text, isa, dir, &e);
	buf_free(&text);
	if (o.handle && cell_run(&cell, run_object, &o, &ran, sizeof ran, &fault, why) != CELL_DONE)
		ran.wrong++;
	if (!ok(o.handle && ran.kernels == printed && !ran.wrong,
		"%s: %d kernels run as interpreted", what, ran.kernels))
		diag("%d are wrong, nest %d is the first: %s%s", ran.wrong, ran.first, why, e.msg);
	if (o.handle)
		dlclose(o.handle);
}

/* ---- a barrier in earnest ---- */

enum { PARTS = 64, LONG = 300000 };

/* Phase 1: part[i] = i, the first half after a long time. Phase 2: out[i] = part[PARTS - 1 - i],
 * which another thread wrote. */
static void draw_exchange(struct nest *n)
{
	int in = nest_arg(n, "in", 0, PARTS, 0), out = nest_arg(n, "out", 4, PARTS, 1);
	int part = nest_team(n, "part", PARTS), acc = nest_reg(n, "acc", ELEM_F32, 8, 1, 1), i, j;
	const struct expr *zero = ex_const(n, ELEM_F32, 8, 0);

	nest_for(n, LOOP_PARALLEL, "one", af(0), af(1));
	i = nest_for(n, LOOP_PARALLEL, "i", af(0), af(PARTS));
	nest_if_less(n, af_var(i), af(1));
	nest_for(n, LOOP_SERIAL, "late", af(0), af(LONG));
	nest_store(n, acc, af(0), NULL, zero);
	nest_store(n, part, af(0), NULL, ex_load(n, in, 1, af(0), NULL));
	nest_close(n);
	nest_close(n);
	nest_store(n, part, af_var(i), NULL, ex_load(n, in, 1, af_var(i), NULL));
	nest_close(n);
	nest_close(n);
	nest_sync(n);
	nest_for(n, LOOP_PARALLEL, "one", af(0), af(1));
	j = nest_for(n, LOOP_PARALLEL, "j", af(0), af(PARTS));
	nest_store(n, out, af_var(j), NULL,
		   ex_load(n, part, 1, af_sub(af(PARTS - 1), af_var(j)), NULL));
	nest_close(n);
	nest_close(n);
}

static void exchange(void *arg, void *answer)
{
	struct object *o = arg;
	struct nest *n = &o->sample->n;
	struct ran *ran = answer;
	float *buffers[NEST_BUFFERS];
	long params[NEST_PARAMS];
	struct kernel k = {.handle = o->handle};

	*(void **)&k.entry = dlsym(o->handle, "exchange");
	open_operands(n, 0, buffers);
	c_params(n, params);
	for (int i = 0; i < 20; i++) {
		for (int p = 0; p < PARTS; p++)
			buffers[2][p] = NAN;
		runner_cpu.run(&k, params, (void **)buffers, 2, NULL);
		for (int p = 0; p < PARTS; p++)
			ran->wrong += !(buffers[1][p] == buffers[0][PARTS - 1 - p]);
		ran->kernels++;
	}
	close_operands(n, buffers);
}

static void check_exchange(const char *what, printing *print, const char *isa, const char *dir)
{
	const struct cell cell = {.timeout_s = 60, .threads = 2};
	struct sample *s = xcalloc(1, sizeof *s);
	struct object o = {s, 1, NULL};
	struct buf text = BUF_INIT;
	struct ran ran = {0, 0, 0};
	struct cell_fault fault;
	struct err e = ERR_INIT;
	char why[CELL_WHY] = "";

	if (!cpu_has_isa(isa)) {
		skip("this CPU has no %s, for a barrier in %s", isa, what);
		free(s);
		return;
	}
	nest_init(&s->n, &s->arena, "exchange");
	draw_exchange(&s->n);
	buf_fmt(&text, "%s\n#define KERNEL exchange\n", c_prelude());
	if (print(&s->n, &text))
		bail_out("%s", print(&s->n, &text));
	o.handle = compile(&text, isa, dir, &e);
	if (o.handle)
		cell_run(&cell, exchange, &o, &ran, sizeof ran, &fault, why);
	if (!ok(ran.kernels == 20 && !ran.wrong, "%s: two threads meet at the barrier", what))
		diag("%d runs, %d values wrong: %s%s", ran.kernels, ran.wrong, why, e.msg);
	if (o.handle)
		dlclose(o.handle);
	buf_free(&text);
	arena_free(&s->arena);
	free(s);
}

/* ---- ends of whole numbers ---- */

enum { ENDS = 16 };

/* Numbers in u8 and s8, vectors of so many lanes: at the ends of these types, and far beyond. */
static void draw_ends(struct nest *n, int lanes)
{
	static const enum elem elem[] = {ELEM_U8, ELEM_S8, ELEM_S16};
	static const char *const name[] = {"u8", "s8", "s16"};
	const int from = nest_arg(n, "from", 0, ENDS, 0);
	const int x = nest_reg(n, "x", ELEM_F32, lanes, 1, 1);
	int v;

	nest_for(n, LOOP_PARALLEL, "one", af(0), af(1));
	v = nest_for(n, LOOP_PARALLEL, "v", af(0), af(ENDS / lanes));
	nest_store(n, x, af(0), NULL, ex_load(n, from, lanes, af_mul(af_var(v), lanes), NULL));
	for (int i = 0; i < 3; i++) {
		const int to = nest_arg(n, name[i], 4, ENDS, 1);

		nest_elem(n, to, elem[i]);
		nest_store(n, to, af_mul(af_var(v), lanes), NULL, ex_reg(n, x, af(0)));
	}
	nest_close(n);
	nest_close(n);
}

static int ends_at(float x, int least, int most)
{
	if (!(x > (float)least))
		return least; /* NaN, too */
	return x > (float)most ? most : (int)lrintf(x);
}

static void store_ends(void *arg, void *answer)
{
	static const float from[ENDS] = {NAN,	 INFINITY, -INFINITY, 3e38F,  -3e38F, 2147483648.F,
					 -3e9F,	 5e9F,	   255,	      255.6F, 254.5F, 127.5F,
					 -0.75F, -128.6F,  128,	      -129};
	struct object *o = arg;
	struct ran *ran = answer;
	unsigned char u8[ENDS];
	signed char s8[ENDS];
	short s16[ENDS];
	const void *buffers[] = {from, u8, s8, s16};
	long params[NEST_PARAMS];
	struct kernel k = {.handle = o->handle};

	*(void **)&k.entry = dlsym(o->handle, "ends");
	c_params(&o->sample->n, params);
	runner_cpu.run(&k, params, (void **)buffers, 1, NULL);
	for (int i = 0; i < ENDS; i++) {
		ran->wrong += u8[i] != ends_at(from[i], 0, 255);
		ran->wrong += s8[i] != ends_at(from[i], -128, 127);
		ran->wrong += s16[i] != ends_at(from[i], INT16_MIN, INT16_MAX);
	}
	ran->kernels++;
}

static void check_ends(const char *what, printing *print, const char *isa, int lanes,
		       const char *dir)
{
	const struct cell cell = {.timeout_s = 60, .threads = 1};
	struct sample *s = xcalloc(1, sizeof *s);
	struct object o = {s, 1, NULL};
	struct buf text = BUF_INIT;
	struct ran ran = {0, 0, 0};
	struct cell_fault fault;
	struct err e = ERR_INIT;
	char why[CELL_WHY] = "";

	if (!cpu_has_isa(isa)) {
		skip("this CPU has no %s, for the ends of whole numbers in %s", isa, what);
		free(s);
		return;
	}
	nest_init(&s->n, &s->arena, "ends");
	draw_ends(&s->n, lanes);
	buf_fmt(&text, "%s\n#define KERNEL ends\n", c_prelude());
	if (print(&s->n, &text))
		bail_out("%s", print(&s->n, &text));
	o.handle = compile(&text, isa, dir, &e);
	if (o.handle)
		cell_run(&cell, store_ends, &o, &ran, sizeof ran, &fault, why);
	if (!ok(ran.kernels == 1 && !ran.wrong, "%s: whole numbers end where their types do", what))
		diag("%d values wrong: %s%s", ran.wrong, why, e.msg);
	if (o.handle)
		dlclose(o.handle);
	buf_free(&text);
	arena_free(&s->arena);
	free(s);
}

/* ---- what is refused ---- */

/* A nest with two inputs and an output of 8 elements, team memory, workspace and a register. */
static struct nest nest;
static struct arena arena;
static int in, out, team, work, reg;

static void begin(void)
{
	arena_reset(&arena);
	nest_init(&nest, &arena, "bad");
	in = nest_arg(&nest, "in", 0, 8, 0);
	out = nest_arg(&nest, "out", 4, 8, 1);
	team = nest_team(&nest, "team", 8);
	work = nest_work(&nest, "work", 8);
	reg = nest_reg(&nest, "reg", ELEM_F32, 1, 1, 2);
}

static struct affine loop(enum loop_kind kind, const char *name)
{
	return af_var(nest_for(&nest, kind, name, af(0), af(8)));
}

static void copy(int to, struct affine at, int from, struct affine from_at)
{
	nest_store(&nest, to, at, NULL, ex_load(&nest, from, 1, from_at, NULL));
}

/* for i: to[i] = from[i], shared */
static void share(int to, int from)
{
	struct affine i = loop(LOOP_PARALLEL, "i");

	copy(to, i, from, i);
	nest_close(&nest);
}

static void gives(int rc, const struct err *e, const char *why, const char *what)
{
	if (!ok(why ? rc == -1 && strstr(e->msg, why) : rc == 0, "%s: %s", what,
		why ? why : "fine"))
		diag("got %d %s", rc, e->msg);
}

static void interpreted(const char *what, const char *why)
{
	float *buffers[NEST_BUFFERS];
	struct err e = ERR_INIT;

	open_operands(&nest, 1, buffers);
	gives(interp_team(&nest, THREADS, (void **)buffers, &e), &e, why, what);
	close_operands(&nest, buffers);
}

static void test_races(void)
{
	struct affine i;

	begin();
	share(team, in);
	nest_sync(&nest);
	i = loop(LOOP_PARALLEL, "i");
	copy(out, i, team, af_sub(af(7), i));
	nest_close(&nest);
	interpreted("what others wrote is read behind the barrier", NULL);

	begin();
	i = loop(LOOP_PARALLEL, "i");
	copy(team, i, in, i);
	copy(out, i, team, af(0));
	nest_close(&nest);
	interpreted("and before it",
		    "a race in phase 1: thread 1 reads team[0], which thread 0 writes");

	begin();
	i = loop(LOOP_PARALLEL, "i");
	copy(out, af(3), in, af(3));
	nest_close(&nest);
	interpreted("the same is written twice",
		    "a race in phase 1: thread 1 writes out[3], which thread 0 writes");

	begin();
	share(team, in);
	nest_sync(&nest);
	i = loop(LOOP_PARALLEL, "i");
	copy(out, i, team, af(7));
	copy(team, i, in, i);
	nest_close(&nest);
	interpreted("what others read is written",
		    "a race in phase 2: thread 2 writes team[7], which thread 1 reads");
}

static void test_unwritten(void)
{
	begin();
	share(out, team);
	interpreted("team memory that nobody wrote", "team[0] is read unwritten");

	begin();
	share(out, work);
	interpreted("workspace that nobody wrote", "work[0] is read unwritten");

	begin();
	copy(reg, af(1), in, af(0));
	nest_sync(&nest);
	loop(LOOP_PARALLEL, "i");
	copy(out, af(0), reg, af(1));
	nest_close(&nest);
	interpreted("a register behind a barrier", "reg[1] is read unwritten");

	begin();
	loop(LOOP_PARALLEL, "i");
	loop(LOOP_SERIAL, "j");
	nest_if_less(&nest, af_var(nest.open->outer->var), af(1));
	copy(reg, af(0), in, af(0));
	nest_close(&nest);
	copy(out, af(0), reg, af(0));
	nest_close(&nest);
	nest_close(&nest);
	interpreted("a register of the last turn", "reg[0] is read unwritten");
}

static void refused(const char *what, const char *why)
{
	struct err e = ERR_INIT;

	while (nest.depth)
		nest_close(&nest);
	gives(check_nest(&nest, &e), &e, why, what);
}

/* Loads groups of two members that lie apart, so many times. */
static void load_apart(enum elem group, int times)
{
	const struct members two = {af(1), 0, 2};
	const int to = nest_reg(&nest, "group", group, 1, 1, 1);

	for (int i = 0; i < times; i++)
		nest_store(&nest, to, af(0), NULL,
			   ex_load_apart(&nest, in, group, 1, af(0), &two, NULL));
}

static void test_shape(void)
{
	begin();
	loop(LOOP_SERIAL, "i");
	nest_sync(&nest);
	refused("a barrier in a loop", "a barrier stands in a loop or branch");

	begin();
	share(team, in);
	share(out, in);
	refused("two regions", "the parallel loop i is the second one of its phase");

	begin();
	loop(LOOP_SERIAL, "j");
	share(out, in);
	refused("a region in a loop", "the parallel loop i stands neither at the top level nor");

	begin();
	copy(team, af(0), in, af(0));
	refused("a store by all", "all threads store the same to team");

	begin();
	share(in, out);
	refused("a store to an input", "it stores to in, which is an input");

	begin();
	copy(reg, loop(LOOP_SERIAL, "j"), in, af(0));
	refused("a register by a variable", "reg needs a constant, which j is not");

	begin();
	nest_store(&nest, reg, af(0), nest_keep(&nest, af(1)), ex_const(&nest, ELEM_F32, 1, 0));
	refused("a masked register", "the register reg is read or written in part");

	begin();
	load_apart(ELEM_U8X4, 1);
	refused("groups of floats", "groups are loaded from in, which has other elements");

	begin();
	nest_elem(&nest, in, ELEM_BF16);
	load_apart(ELEM_S8X4, 1);
	refused("groups of bytes from bf16", "groups are loaded from in, which has other elements");
}

static void many(int times, void (*add)(void), const char *why)
{
	begin();
	for (int i = 0; i < times; i++)
		add();
	refused("too many", why);
}

static void add_variable(void)
{
	nest_const(&nest, "x", 1);
}

static void add_parameter(void)
{
	nest_param(&nest, "x", 1);
}

static void add_buffer(void)
{
	nest_work(&nest, "x", 1);
}

static void add_sync(void)
{
	nest_sync(&nest);
}

static void add_loop(void)
{
	loop(LOOP_SERIAL, "x");
	nest_close(&nest);
}

static void open_loop(void)
{
	loop(LOOP_SERIAL, "x");
}

static void open_parallel(void)
{
	loop(LOOP_PARALLEL, "x");
}

static void open_branch(void)
{
	nest_if_less(&nest, af(0), af(1));
}

static void add_load(void)
{
	copy(reg, af(0), in, af(0));
}

/* A team is started only for what it can share. */
static void test_threads(void)
{
	begin();
	copy(out, af(0), in, af(0));
	ok(nest_threads(&nest, 4) == 1, "a nest without parallel loops is run by one thread");
	begin();
	nest_for(&nest, LOOP_PARALLEL, "one", af(0), af_var(nest_param(&nest, "N", 1)));
	nest_for(&nest, LOOP_PARALLEL, "one", af(0), af(1));
	copy(out, af(0), in, af(0));
	nest_close(&nest);
	nest_close(&nest);
	ok(nest_threads(&nest, 4) == 1, "as is one whose loops have one turn");
	nest_sync(&nest);
	share(out, team);
	ok(nest_threads(&nest, 4) == 4 && nest_threads(&nest, 1) == 1,
	   "all run a nest that has items to share in some phase");
}

static void test_limits(void)
{
	many(NEST_VARS + 1, add_variable, "more than 640 variables");
	many(NEST_PARAMS + 1, add_parameter, "more than 80 parameters");
	many(NEST_BUFFERS + 1, add_buffer, "more than 60 buffers");
	many(NEST_PHASES - 1, add_sync, NULL);
	many(NEST_PHASES, add_sync, "more than 8 phases");
	many(NEST_LOOPS, add_loop, NULL);
	many(NEST_LOOPS + 1, add_loop, "more than 384 loops");
	many(NEST_LOOP_DEPTH, open_loop, NULL);
	many(NEST_LOOP_DEPTH + 1, open_loop, "more than 20 loops in each other");
	many(NEST_PARALLEL + 1, open_parallel, "more than 8 parallel loops in each other");
	many(NEST_DEPTH, open_branch, NULL);
	many(NEST_DEPTH + 1, open_branch, "more than 32 loops and branches in each other");
	many(NEST_SITES, add_load, NULL);
	many(NEST_SITES + 1, add_load, "more than 384 loads and stores of memory");

	for (int more = 0; more < 2; more++) { /* each member is a load */
		begin();
		nest_elem(&nest, in, ELEM_U8);
		load_apart(ELEM_U8X4, NEST_SITES / 2 + more);
		refused("members", more ? "more than 384 loads and stores of memory" : NULL);
	}
}

int main(void)
{
	const char *asked = getenv("TL_TEST_NESTS"), *best;
	int n = asked ? atoi(asked) : 200;
	struct sample *sample = xcalloc((size_t)n, sizeof *sample);
	char dir[] = "/tmp/tl-test-nest-XXXXXX";

	if (!mkdtemp(dir))
		bail_out("no folder under /tmp");
	test_races();
	test_unwritten();
	test_shape();
	test_threads();
	test_limits();
	arena_free(&arena);
	best = cpu_has_isa("avx512") ? "avx512" : cpu_has_isa("avx2") ? "avx2" : "scalar";
	draw_all(sample, n);
	check_printer(sample, n, "GNU C", print_c, best, 0, dir);
	check_printer(sample, n, "assembly for AVX2", print_assembly, "avx2", 8, dir);
	check_printer(sample, n, "assembly for AVX-512", print_assembly, "avx512", 16, dir);
	check_exchange("GNU C", print_c, best, dir);
	check_exchange("assembly", print_assembly, "avx2", dir);
	check_ends("GNU C", print_c, best, 8, dir);
	check_ends("assembly for AVX2", print_assembly, "avx2", 8, dir);
	check_ends("assembly for AVX-512", print_assembly, "avx512", 16, dir);
	for (int i = 0; i < n; i++) {
		free(sample[i].expected);
		arena_free(&sample[i].arena);
	}
	free(sample);
	rmdir(dir);
	return done_testing();
}
