/* Rows of a result that lie apart: every algorithm that allows it computes the same as without
 * gaps, to the bit, and writes nothing between the rows. */
#include <stdio.h>

#include "tests/machines.h"
#include "tests/problems.h"

enum { CANDIDATES = 10, ALGOS = 32, GAP = 5 };

/* This number fills the gaps between rows. */
static const float nothing = 12345;

/* Elements of a result that has these gaps: its rows, and what it began with. */
struct result {
	int64_t rows, columns, pitch;
	float *data;
};

static struct result result_of(const struct problem *p, int64_t columns, int64_t gap)
{
	struct result r = {p->size[TENSOR_DST] / columns, columns, columns + gap, NULL};
	const float *add = p->tensor[TENSOR_ADD];

	r.data = random_floats(r.rows * r.pitch);
	for (int64_t i = 0; i < r.rows * r.pitch; i++)
		r.data[i] = i % r.pitch >= columns ? nothing
			    : add		   ? add[i / r.pitch * columns + i % r.pitch]
						   : 0;
	return r;
}

/* Runs a candidate's nest on the problem's tensors. */
static void run(const struct problem *p, const struct candidate *c, struct arena *a,
		const struct result *out)
{
	void *buffers[NEST_BUFFERS];
	struct err e = ERR_INIT;
	struct nest n;

	arena_reset(a);
	nest_init(&n, a, "kernel");
	n.pitch = out->pitch == out->columns ? 0 : out->pitch;
	if (candidate_build(c, &n, &e) < 0)
		bail_out("%s: %s", c->algo->name, e.msg);
	for (int i = 0; i < n.nslots; i++) {
		const struct buffer *b = operand_buffer(&n, i);
		float *x = random_floats(operand_size(&n, i, 1));

		if (b->kind == BUFFER_PACKED)
			packing_run(b->packing, p->tensor[b->role], x);
		buffers[i] = b->written ? out->data
			     : b->kind == BUFFER_ARG
				     ? memcpy(x, p->tensor[b->role], (size_t)b->size * sizeof *x)
				     : x;
		if (b->written)
			free(x);
	}
	if (interp_run(&n, buffers, &e) < 0)
		bail_out("%s: %s", c->algo->name, e.msg);
	for (int i = 0; i < n.nslots; i++)
		if (buffers[i] != out->data)
			free(buffers[i]);
}

static int is_same(const struct result *dense, const struct result *apart)
{
	for (int64_t i = 0; i < apart->rows * apart->pitch; i++) {
		const int64_t row = i / apart->pitch, column = i % apart->pitch;
		const float want = column < apart->columns
					   ? dense->data[row * dense->pitch + column]
					   : nothing;

		if (memcmp(&want, &apart->data[i], sizeof want) != 0)
			return 0;
	}
	return 1;
}

static int candidate_is_same(const struct problem *p, const struct candidate *c, int64_t columns,
			     struct arena *a)
{
	struct result dense = result_of(p, columns, 0), apart = result_of(p, columns, GAP);
	int same;

	run(p, c, a, &dense);
	run(p, c, a, &apart);
	same = is_same(&dense, &apart);
	free(dense.data);
	free(apart.data);
	return same;
}

struct tally {
	int same, tried;
};

static void try_algorithm(const struct problem *p, const struct data_env *env,
			  const struct algo *algo, int64_t columns, struct tally *tally)
{
	struct arena state = ARENA_INIT, a = ARENA_INIT;
	struct search_space space;
	uint64_t point;
	void *s;

	search_space_init(&space, &p->w, env, algo->name);
	s = search_find("random")->start(&space, 1, 0, &state);
	for (int i = 0; i < CANDIDATES && search_find("random")->propose(s, &point);) {
		struct candidate c = {.w = p->w};

		if (!search_space_at(&space, point, &c) || !candidate_pitches(&c))
			continue;
		i++;
		tally->tried++;
		tally->same += candidate_is_same(p, &c, columns, &a);
	}
	arena_free(&state);
	arena_free(&a);
}

static void try_problem(const char *const text[3], const struct data_env *env, struct tally *tally)
{
	struct search_space space;
	struct err e = ERR_INIT;
	struct problem p = {0};

	if (workload_from_text(&p.w, text[0], text[1], strcmp(text[0], "matmul") ? "nhwc" : "ab",
			       text[2], &e) < 0)
		bail_out("%s", e.msg);
	problem_open(&p);
	search_space_init(&space, &p.w, env, NULL);
	for (int i = 0; i < space.nalgos; i++) {
		const int a = number_of(space.algo[i]);

		if (algo_list[a]->pitches)
			try_algorithm(&p, env, space.algo[i],
				      p.w.op == &op_matmul ? p.w.dim[MATMUL_N] : p.w.dim[CONV_OC],
				      &tally[a]);
	}
	problem_close(&p);
}

static void try_machine(const char *isa)
{
	static const char *const problems[][3] = {
		{"conv2d", "mb2ic32ih9oc52oh9kh1ph0", "bias,relu"},
		{"conv2d", "ic32ih9oc64oh5kh1sh2ph0", "bias"},
		{"conv2d", "mb2ic16ih9oc52oh9kh3ph1", "bias,add,relu"},
		{"conv2d", "ic16ih9oc32oh9kh3ph2dh1", ""},
		{"conv2d", "ic3ih11oc20oh6kh3sh2ph1", "bias,relu"},
		{"conv2d", "g4ic32ih9oc32oh9kh3ph1", "bias"},
		{"conv2d", "g20ic20ih9oc20oh9kh3ph1", "bias,relu6"},
		{"matmul", "24x64:64x52", "bias,add"},
		{"matmul", "2x9x96:2x96x37", ""},
	};
	struct tally tally[ALGOS] = {{0, 0}};
	const struct data_env env = machine_of(isa);

	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		try_problem(problems[i], &env, tally);
	for (int i = 0; algo_list[i]; i++)
		if (tally[i].tried)
			ok(tally[i].same == tally[i].tried,
			   "%s: %s: %d of %d programs leave gaps between rows and are right", isa,
			   algo_list[i]->name, tally[i].same, tally[i].tried);
}

/* A program that cannot leave gaps is refused. */
static void refuses(const char *layout, const char *post)
{
	struct arena state = ARENA_INIT, a = ARENA_INIT;
	const struct data_env env = machine_of("avx2");
	struct candidate c = {0};
	struct search_space space;
	struct err e = ERR_INIT;
	struct nest n;
	uint64_t point;
	void *s;

	if (workload_from_text(&c.w, "conv2d", "ic32ih9oc32oh9kh3ph1", layout, post, &e) < 0)
		bail_out("%s", e.msg);
	search_space_init(&space, &c.w, &env, "direct");
	s = search_find("random")->start(&space, 1, 0, &state);
	do {
		if (!search_find("random")->propose(s, &point))
			bail_out("there is no candidate");
	} while (!search_space_at(&space, point, &c));
	nest_init(&n, &a, "kernel");
	n.pitch = 40;
	ok(candidate_build(&c, &n, &e) < 0 && strstr(e.msg, "cannot lie apart"),
	   "%s %s: rows of the result do not lie apart", layout, post);
	arena_free(&state);
	arena_free(&a);
}

int main(void)
{
	try_machine("avx512");
	try_machine("avx2");
	try_machine("scalar");
	refuses("nchw", "bias");
	refuses("nhwc", "mul");
	return done_testing();
}
