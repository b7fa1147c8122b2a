/* Channels of equal weights come out equal, to the bit, by every algorithm but those that say they
 * are uneven: where a network compares channels whose logits are large, rounding would decide. */
#include <stdio.h>

#include "tests/machines.h"
#include "tests/problems.h"

enum { CANDIDATES = 12, ALGOS = 32 };

/* Weights that are all one number; random sources. */
static void set_weights(struct problem *p)
{
	for (int64_t i = 0; i < p->size[TENSOR_WEIGHTS]; i++)
		p->tensor[TENSOR_WEIGHTS][i] = 1.0f / 3;
}

static int is_even(const float *out, int64_t size, int64_t channels)
{
	for (int64_t i = 0; i < size; i++)
		if (out[i] != out[i - i % channels])
			return 0;
	return 1;
}

/* Runs a nest on the problem's tensors: are its channels equal? */
static int runs_even(const struct problem *p, const struct nest *n, int64_t channels)
{
	float *buffers[NEST_BUFFERS];
	const float *out = NULL;
	struct err e = ERR_INIT;
	int even;

	for (int i = 0; i < n->nslots; i++) {
		const struct buffer *b = operand_buffer(n, i);

		buffers[i] = random_floats(operand_size(n, i, 1));
		if (b->kind == BUFFER_PACKED)
			packing_run(b->packing, p->tensor[b->role], buffers[i]);
		else if (b->kind == BUFFER_ARG && p->tensor[b->role])
			memcpy(buffers[i], p->tensor[b->role],
			       (size_t)p->size[b->role] * sizeof *buffers[i]);
		if (b->written)
			out = buffers[i];
	}
	if (interp_run(n, (void **)buffers, &e) < 0)
		bail_out("%s", e.msg);
	even = is_even(out, p->size[TENSOR_DST], channels);
	for (int i = 0; i < n->nslots; i++)
		free(buffers[i]);
	return even;
}

struct tally {
	int even, uneven;
};

static void try_algorithm(const struct problem *p, const struct data_env *env,
			  const struct algo *algo, int64_t channels, struct tally *tally)
{
	struct search_space space;
	struct arena state = ARENA_INIT, a = ARENA_INIT;
	uint64_t point;
	void *s;

	search_space_init(&space, &p->w, env, algo->name);
	s = search_find("random")->start(&space, 1, 0, &state);
	for (int i = 0; i < CANDIDATES && search_find("random")->propose(s, &point);) {
		struct candidate c = {.w = p->w};
		struct err e = ERR_INIT;
		struct nest n;

		if (!search_space_at(&space, point, &c))
			continue;
		i++;
		arena_reset(&a);
		nest_init(&n, &a, "kernel");
		if (candidate_build(&c, &n, &e) < 0)
			bail_out("%s: %s", algo->name, e.msg);
		if (runs_even(p, &n, channels))
			tally->even++;
		else
			tally->uneven++;
	}
	arena_free(&state);
	arena_free(&a);
}

static void try_problem(const char *op, const char *text, const char *layout,
			const struct data_env *env, struct tally *tally)
{
	struct problem p = {0};
	struct search_space space;
	struct err e = ERR_INIT;
	int64_t channels;

	if (workload_from_text(&p.w, op, text, layout, "", &e) < 0)
		bail_out("%s", e.msg);
	problem_open(&p);
	set_weights(&p);
	channels = p.w.op == &op_matmul ? p.w.dim[MATMUL_N] : p.w.dim[CONV_OC];
	search_space_init(&space, &p.w, env, NULL);
	for (int i = 0; i < space.nalgos; i++) {
		const int a = number_of(space.algo[i]);

		try_algorithm(&p, env, space.algo[i], channels, &tally[a]);
	}
	search_space_init_even(&space, &p.w, env);
	for (int i = 0; i < space.nalgos; i++)
		if (space.algo[i]->uneven)
			ok(0, "%s %s: an unmeasured choice may be %s", op, text,
			   space.algo[i]->name);
	problem_close(&p);
}

/* A machine of this instruction set, whatever this one is: programs are interpreted. */
static void check_machine(const char *isa)
{
	static const char *const problems[][3] = {
		{"conv2d", "ic32ih9oc52oh9kh1ph0", "nhwc"}, /* strassen, gemm */
		{"conv2d", "ic16ih9oc52oh9kh3ph1", "nhwc"},
		{"conv2d", "ic3ih11oc20oh6kh3sh2ph1", "nhwc"}, /* few taps and channels */
		{"conv2d", "ic8ih9oc20oh9kh5ph2", "nhwc"},
		{"matmul", "24x64:64x52", "ab"},
		{"matmul", "2x96:96x37", "ab"},
	};
	struct tally tally[ALGOS] = {{0, 0}};
	const struct data_env env = machine_of(isa);

	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		try_problem(problems[i][0], problems[i][1], problems[i][2], &env, tally);
	for (int i = 0; algo_list[i]; i++) {
		const struct tally *t = &tally[i];

		if (t->even + t->uneven)
			ok(algo_list[i]->uneven ? t->uneven > 0 : t->uneven == 0,
			   "%s: %s: %d programs treat channels alike, %d do not", isa,
			   algo_list[i]->name, t->even, t->uneven);
	}
}

int main(void)
{
	check_machine("avx512");
	check_machine("avx2");
	check_machine("scalar");
	return done_testing();
}
