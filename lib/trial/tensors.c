#include "lib/trial/tensors.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/rng.h"
#include "lib/nest/elem.h"
#include "lib/trial/crew.h"

static const char *const tensor_name[TENSOR_ROLES] = {
	"the input",  "the weights", "the bias",    "the residual",    "the factor",
	"the scales", "the shifts",  "the padding", "the zero points", "the output"};

/* Values lie around the middle, at most so far from it. */
struct spread {
	double middle, scale;
	double step; /* between whole numbers; 0: one */
};

enum { PIECE = 1 << 16 }; /* values of one stream of random numbers */

struct filling {
	const struct fence *f;
	struct spread s;
	enum elem elem;
	uint64_t seed;
	const char *name;
};

static double random_value(const struct spread *s, struct rng *rng)
{
	return s->middle + s->scale * (int32_t)(uint32_t)rng_u64(rng) * 0x1p-31;
}

/* Values that elements of this type have. */
static void fill_piece(const struct filling *f, int64_t piece)
{
	const int64_t first = piece * PIECE, n = f->f->n - first;
	const int64_t end = n < PIECE ? first + n : first + PIECE;
	const double step = f->s.step > 0 ? f->s.step : 1;
	float *to = f->f->data;
	struct rng rng;

	fence_populate_part(f->f, first, end);
	rng_seed(&rng, f->seed + (uint64_t)piece, f->name);
	if (f->elem == ELEM_F32)
		for (int64_t j = first; j < end; j++)
			to[j] = (float)random_value(&f->s, &rng);
	else
		for (int64_t j = first; j < end; j++)
			to[j] = (float)(step *
					elem_round(f->elem, random_value(&f->s, &rng) / step));
}

static void fill_pieces(void *filling, int64_t first, int64_t end)
{
	for (int64_t piece = first; piece < end; piece++)
		fill_piece(filling, piece);
}

/* Sums become numbers that 8 bits have room for: a product of such numbers is as large as 5400,
 * root mean square. */
static struct spread spread_of_scales(const struct workload *w)
{
	const double terms = (double)w->flops / 2 / (double)workload_size(w, TENSOR_DST);
	const double middle = 50 / (5400 * sqrt(terms));

	return (struct spread){middle, middle / 2};
}

/* Whole numbers of 8 bits are over their whole range, but weights are even and have seven bits:
 * where there is no VNNI, oneDNN adds pairs of products in 16 bits, which saturate beyond, and
 * halves weights if the source has a sign (its developer guide, "Nuances of int8 Computations").
 * An operand that is added is as large as a few products; factors are small. All is exact in the
 * session's arrays. */
static struct spread spread_of_wholes(const struct workload *w, enum tensor_role role)
{
	if (role == TENSOR_SCALE)
		return spread_of_scales(w);
	if (role == TENSOR_SHIFT) /* one zero point for all, as models have it */
		return (struct spread){3, 0};
	if (role == TENSOR_PAD)
		return (struct spread){w->dtype.src == DTYPE_U8 ? 114 : -5, 0};
	switch (role == TENSOR_MUL ? DTYPE_F32 : workload_dtype(w, role)) {
	case DTYPE_S8:
		return role == TENSOR_WEIGHTS ? (struct spread){0, 63, 2} : (struct spread){0, 128};
	case DTYPE_U8:
		return (struct spread){127.5, 128};
	default:
		return (struct spread){0, role == TENSOR_MUL ? 4 : 16384};
	}
}

/* Weights of groups go over their whole range, zero points over the middle of it. A product is
 * about as large as one input, as below. */
static struct spread spread_of_groups(const struct workload *w, enum tensor_role role)
{
	const double values = ldexp(1, dtype_bits(w->dtype.wei));
	const double middle = sqrt(12 / (double)w->dim[MATMUL_K]) / values;

	if (role == TENSOR_SCALE)
		return (struct spread){middle, middle / 2};
	if (role == TENSOR_ZEROS)
		return (struct spread){values / 2, values / 5};
	return (struct spread){(values - 1) / 2, values / 2};
}

/* Weights of reals are scaled so that a sum of products is about as large as one input, whatever
 * the number of products: else relu6 would make the same of most outputs. */
static struct spread spread_of(const struct workload *w, enum tensor_role role)
{
	const double outputs = (double)workload_size(w, TENSOR_DST);

	if (dtype_is_int(w->dtype.src))
		return spread_of_wholes(w, role);
	if (role == TENSOR_SCALE || role == TENSOR_ZEROS ||
	    (role == TENSOR_WEIGHTS && workload_group(w)))
		return spread_of_groups(w, role);
	return (struct spread){0, role == TENSOR_WEIGHTS ? 1 / sqrt((double)w->flops / 2 / outputs)
							 : 1};
}

/* The threads of a crew fill the tensors of this workload. */
struct fillers {
	const struct workload *w;
	uint64_t seed;
	const struct runner *runner;
	int threads;
};

/* name: what the fence is called. Another use gives the same tensor other data. */
static void open_filled(const struct fillers *by, const struct tensor *t, struct fence *f,
			const char *name, const char *use)
{
	const enum dtype type = workload_dtype(by->w, t->role);
	char stream[ID_HEX + 32];
	struct filling x = {.f = f,
			    .s = spread_of(by->w, t->role),
			    .elem = elem_of(type == DTYPE_U4 ? DTYPE_U8 : type),
			    .seed = by->seed,
			    .name = stream};

	fence_open(f, name, t->size, sizeof(float));
	snprintf(stream, sizeof stream, "%s %d %s", by->w->id.s, (int)t->role, use);
	crew_run(by->runner, crew_size(by->threads, f->n), (f->n + PIECE - 1) / PIECE, fill_pieces,
		 &x);
	fence_arm(f);
	fence_freeze(f);
}

static int is_renewed(enum tensor_role role)
{
	return role == TENSOR_SRC || role == TENSOR_ADD || role == TENSOR_MUL;
}

void tensors_open(const struct workload *w, uint64_t seed, const struct runner *runner, int threads,
		  struct fence tensor[TENSOR_ROLES], struct fence fresh[TENSOR_ROLES])
{
	const struct fillers by = {w, seed, runner, threads};
	struct tensor t[OP_MAX_TENSORS];
	const int n = w->op->tensors(w, t);

	for (int i = 0; i < n; i++) {
		enum tensor_role role = t[i].role;

		if (role == TENSOR_DST)
			fence_open(&tensor[role], tensor_name[role], t[i].size, sizeof(float));
		else
			open_filled(&by, &t[i], &tensor[role], tensor_name[role], "first");
		if (is_renewed(role))
			open_filled(&by, &t[i], &fresh[role], "fresh data", "fresh");
	}
}
