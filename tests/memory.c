/* Memory of plans: what results overwrite, and the checks that hold it against the steps. Plans of
 * sums of views, each made by hand or by chance. */
#include <string.h>

#include "lib/base/rng.h"
#include "lib/run/check_memory.h"
#include "lib/run/layout.h"
#include "lib/run/overwrite.h"
#include "tests/tap.h"

enum { SIDE = 4, MOST = 3 };

static struct arena arena;

struct sum {
	int n;
	struct place in[MOST], out;
};

static int64_t element(const struct place *p, int64_t row, int64_t column)
{
	return row * p->stride[0] + column * p->stride[1];
}

/* Element by element, in the order of addresses: it goes wrong where the result overwrites what is
 * still to be read. */
static int run_sum(const void *with, float *const *buffers, int thread, int threads)
{
	const struct sum *s = with;

	(void)threads;
	for (int64_t i = 0; !thread && i < SIDE; i++)
		for (int64_t j = 0; j < SIDE; j++) {
			float x = 1;

			for (int k = 0; k < s->n; k++)
				x += buffers[k][element(&s->in[k], i, j)];
			buffers[s->n][element(&s->out, i, j)] = x;
		}
	return 0;
}

static void begin(struct plan *p)
{
	static const struct limits limits = {.threads = 1, .lanes = 4};

	plan_init(p, NULL, &limits, NULL, &arena);
}

static struct place matrix(struct plan *p)
{
	struct place m = {.rank = 2, .dim = {SIDE, SIDE}, .stride = {SIDE, 1}};

	m.memory = plan_memory(p, ELEM_F32, SIDE * SIDE);
	return m;
}

static struct place input(struct plan *p)
{
	struct place m = matrix(p);

	p->memory[m.memory].is_kept = p->memory[m.memory].is_input = 1;
	return m;
}

static struct place transposed(struct place p)
{
	int64_t row = p.stride[0];

	p.stride[0] = p.stride[1];
	p.stride[1] = row;
	return p;
}

static struct place first_row(struct place p)
{
	p.stride[0] = 0;
	return p;
}

static void add_to(struct plan *p, const struct place *in, int n, struct place out)
{
	struct sum *s = arena_new(&arena, struct sum);
	struct place operand[MOST + 1];

	*s = (struct sum){.n = n, .out = out};
	memcpy(s->in, in, sizeof *in * (size_t)n);
	memcpy(operand, in, sizeof *in * (size_t)n);
	operand[n] = out;
	plan_plain(p, "sum", "Sum", &(struct plain){run_sum, s, NULL}, operand, n + 1)
		->elementwise = n;
}

static struct place add(struct plan *p, const struct place *in, int n)
{
	struct place out = matrix(p);

	add_to(p, in, n, out);
	return out;
}

static struct place add_one(struct plan *p, struct place in)
{
	return add(p, &in, 1);
}

static void output(struct plan *p, struct place out)
{
	p->memory[out.memory].is_kept = 1;
}

/* Both checks. */
static int is_right(struct plan *p, const struct place *in)
{
	struct err e = ERR_INIT;
	int rc = layout_make(p, &e);

	for (int64_t i = 0; !rc && i < SIDE * SIDE; i++)
		plan_data(p, in->memory)[i] = (float)(i * i % 7);
	rc = rc || check_addresses(p, &e) || check_values(p, &in->memory, 1, &e);
	if (rc)
		diag("%s", e.msg);
	return !rc;
}

static int within(const struct plan *p, struct place a, struct place b)
{
	return p->memory[a.memory].within == b.memory;
}

static void test_by_hand(void)
{
	struct plan p;
	struct place x, a, b, c;

	begin(&p);
	x = input(&p);
	a = add_one(&p, x);
	b = add_one(&p, a);
	c = add(&p, (struct place[]){b, transposed(b)}, 2);
	output(&p, c);
	overwrite_operands(&p);
	ok(p.memory[a.memory].within < 0, "an input stays");
	ok(within(&p, b, a), "a result takes the place of what is read no more");
	ok(p.memory[c.memory].within < 0, "but not of what its own step reads transposed");
	ok(is_right(&p, &x), "and the plan is right");
	plan_free(&p);

	begin(&p);
	x = input(&p);
	a = add_one(&p, x);
	b = add_one(&p, a);
	c = add(&p, (struct place[]){a, b}, 2);
	output(&p, c);
	overwrite_operands(&p);
	ok(p.memory[b.memory].within < 0 && within(&p, c, a),
	   "nor of what a later step reads, but the later one may have it");
	ok(is_right(&p, &x), "and the plan is right");
	plan_free(&p);

	begin(&p);
	x = input(&p);
	a = add_one(&p, x);
	b = matrix(&p);
	plan_copy(&p, "b", &a, &b, 1);
	c = add_one(&p, b);
	output(&p, c);
	overwrite_operands(&p);
	ok(within(&p, b, a) && p.step[1].is_idle && within(&p, c, a),
	   "a copy of what is read no more is idle");
	ok(is_right(&p, &x), "and the plan is right");
	plan_free(&p);
}

/* The test forces what the pass refuses: each of these went wrong once. */
static void test_refusals(void)
{
	static const char *const name[] = {"c + transpose(c)", "c - c[0]", "a later reader"};

	for (int i = 0; i < 3; i++) {
		struct plan p;
		struct place x, a, b, other;

		begin(&p);
		x = input(&p);
		a = add_one(&p, x);
		other = i == 0 ? transposed(a) : i == 1 ? first_row(a) : a;
		b = add(&p, (struct place[]){a, other}, 2);
		output(&p, i < 2 ? b : add(&p, (struct place[]){a, b}, 2));
		p.memory[b.memory].within = a.memory;
		p.memory[a.memory].last = p.nstep - 1;
		p.memory[a.memory].is_kept = 1;
		ok(!is_right(&p, &x), "%s over c is refused", name[i]);
		plan_free(&p);
	}
}

/* Sums of up to three of what there is, as it lies, transposed, or one row of it again and again.
 * Some results are pieces of a larger memory, as those of concatenations are. */
static struct place random_plan(struct plan *p, struct rng *r)
{
	enum { STEPS = 12 };
	struct place there[STEPS + 1], in[MOST], whole;
	int n = 0;

	begin(p);
	whole = (struct place){.rank = 2, .dim = {SIDE, SIDE}, .stride = {2 * SIDE, 1}};
	whole.memory = plan_memory(p, ELEM_F32, 2 * SIDE * SIDE);
	there[n++] = input(p);
	for (int i = 0; i < STEPS; i++) {
		int count = 1 + (int)rng_below(r, MOST);

		for (int k = 0; k < count; k++) {
			int back = (int)rng_below(r, 4);

			in[k] = there[back < n ? n - 1 - back : 0];
			switch (rng_below(r, 6)) {
			case 0:
				in[k] = transposed(in[k]);
				break;
			case 1:
				in[k] = first_row(in[k]);
			}
		}
		if (i == 3 || i == 5) {
			there[n] = whole;
			there[n].at = i == 3 ? 0 : SIDE;
			add_to(p, in, count, there[n++]);
		} else if (rng_below(r, 5)) {
			there[n++] = add(p, in, count);
		} else {
			there[n] = matrix(p);
			plan_copy(p, "copy", &in[0], &there[n++], 1);
		}
	}
	for (int i = n - 2; i < n; i++)
		output(p, there[i]);
	return there[0];
}

/* Copies that are not idle have no kernel here: they become sums. */
static void make_copies(struct plan *p)
{
	static const struct plain plain = {run_sum, NULL, NULL};

	for (int i = 0; i < p->nstep; i++) {
		struct step *s = &p->step[i];
		struct sum *with;
		struct plain *kept;

		if (!s->is_copy || s->is_idle)
			continue;
		with = arena_new(&arena, struct sum);
		*with = (struct sum){.n = 1, .in = {s->operand[0]}, .out = s->operand[1]};
		kept = arena_new(&arena, struct plain);
		*kept = plain;
		kept->with = with;
		s->plain = kept;
		s->threads = 1;
	}
}

/* Puts a result over an operand by chance, whoever else reads it. 0: there is none to put. */
static int force(struct plan *p, struct rng *r)
{
	for (int tries = 0; tries < 20; tries++) {
		struct step *s = &p->step[rng_below(r, (uint32_t)p->nstep)];
		int k = (int)rng_below(r, (uint32_t)s->nslots - 1), m = s->operand[k].memory;
		struct memory *to = &p->memory[s->operand[s->result].memory];

		if (to->within >= 0 || p->memory[m].within >= 0 || p->memory[m].is_input ||
		    to->size > p->memory[m].size || to == &p->memory[m])
			continue;
		to->within = m;
		to->offset = 0;
		p->memory[m].is_kept = 1;
		return 1;
	}
	return 0;
}

static void test_random(void)
{
	enum { PLANS = 400 };
	int right = 0, taken = 0, refused = 0, forced = 0, agree = 0;
	struct rng r;

	rng_seed(&r, 38, "memory");
	for (int i = 0; i < PLANS; i++) {
		struct err e = ERR_INIT;
		struct plan p;
		struct place x = random_plan(&p, &r);

		overwrite_operands(&p);
		make_copies(&p);
		for (int m = 0; m < p.nmemory; m++)
			taken += p.memory[m].within >= 0;
		right += is_right(&p, &x);
		plan_unmap(p.block, p.block_size);
		p.block = NULL;
		if (force(&p, &r) && !layout_make(&p, &e)) {
			int by_address = check_addresses(&p, &e) != 0;

			forced++;
			refused += by_address;
			agree += by_address || !check_values(&p, &x.memory, 1, &e);
		}
		plan_free(&p);
		arena_reset(&arena);
	}
	ok(right == PLANS, "%d of %d plans are right", right, PLANS);
	ok(taken > PLANS, "%d results took the place of an operand", taken);
	ok(refused > forced / 2, "%d of %d plans with a result put over an operand are refused",
	   refused, forced);
	ok(agree == forced, "and those that are not refused give the right values");
}

int main(void)
{
	test_by_hand();
	test_refusals();
	test_random();
	arena_free(&arena);
	return done_testing();
}
