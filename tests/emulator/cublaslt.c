/* A stand-in for cuBLASLt, libcublasLt.so.12, for tests: plain loops over the emulated device's
 * memory. Its heuristic answers with three algorithms: one is right, one is wrong, and one is right
 * and has a workspace.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/emulator/number.h"
#include "tests/emulator/queue.h"

/* Programs declare these functions for themselves. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define API __attribute__((visibility("default")))

enum status { SUCCESS = 0, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum { VERSION = 120401, WORKSPACE = 4096 };
enum { RIGHT, WRONG, WITH_WORKSPACE, ALGORITHMS };
enum { F32 = 0, F16 = 2, S8 = 3, S32 = 10, BF16 = 14 };
enum { SUM_F32 = 68, SUM_S32 = 72, SUM_TF32 = 77 };

static int handle;

struct matrix {
	int type;
	int64_t rows, columns, ld, offset;
	int32_t batch;
};

struct product {
	int compute;
	int32_t is_transposed;
	uint32_t epilogue;
	const void *bias;
};

struct answer {
	uint64_t algorithm[8];
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
};

API size_t cublasLtGetVersion(void)
{
	return VERSION;
}

API const char *cublasLtGetStatusString(int status)
{
	return status == SUCCESS	 ? "success"
	       : status == NOT_SUPPORTED ? "not supported"
					 : "invalid";
}

API int cublasLtCreate(void **h)
{
	*h = &handle;
	return SUCCESS;
}

API int cublasLtDestroy(void *h)
{
	return h == &handle ? SUCCESS : INVALID_VALUE;
}

API int cublasLtMatmulDescCreate(void **out, int compute, int scale)
{
	struct product *p = calloc(1, sizeof *p);

	if (!p)
		abort();
	p->compute = compute;
	p->epilogue = 1;
	*out = p;
	if (compute == SUM_S32)
		return scale == S32 ? SUCCESS : NOT_SUPPORTED;
	return (compute == SUM_F32 || compute == SUM_TF32) && scale == F32 ? SUCCESS
									   : NOT_SUPPORTED;
}

API int cublasLtMatmulDescDestroy(void *p)
{
	free(p);
	return SUCCESS;
}

API int cublasLtMatmulDescSetAttribute(void *of, int attribute, const void *from, size_t bytes)
{
	struct product *p = of;
	const struct {
		int attribute;
		void *to;
		size_t bytes;
	} all[] = {{3, &p->is_transposed, sizeof p->is_transposed},
		   {7, &p->epilogue, sizeof p->epilogue},
		   {8, &p->bias, sizeof p->bias}};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].attribute == attribute && all[i].bytes == bytes) {
			memcpy(all[i].to, from, bytes);
			return SUCCESS;
		}
	return INVALID_VALUE;
}

API int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t columns,
				   int64_t ld)
{
	struct matrix *m = calloc(1, sizeof *m);

	if (!m)
		abort();
	*m = (struct matrix){.type = type,
			     .rows = (int64_t)rows,
			     .columns = (int64_t)columns,
			     .ld = ld,
			     .batch = 1};
	*out = m;
	return ld >= (int64_t)rows ? SUCCESS : INVALID_VALUE;
}

API int cublasLtMatrixLayoutDestroy(void *m)
{
	free(m);
	return SUCCESS;
}

API int cublasLtMatrixLayoutSetAttribute(void *of, int attribute, const void *from, size_t bytes)
{
	struct matrix *m = of;

	if (attribute == 5 && bytes == sizeof m->batch)
		memcpy(&m->batch, from, bytes);
	else if (attribute == 6 && bytes == sizeof m->offset)
		memcpy(&m->offset, from, bytes);
	else
		return INVALID_VALUE;
	return SUCCESS;
}

API int cublasLtMatmulPreferenceCreate(void **out)
{
	*out = calloc(1, sizeof(uint64_t));
	return *out ? SUCCESS : INVALID_VALUE;
}

API int cublasLtMatmulPreferenceDestroy(void *p)
{
	free(p);
	return SUCCESS;
}

API int cublasLtMatmulPreferenceSetAttribute(void *p, int attribute, const void *from, size_t bytes)
{
	if (attribute != 1 || bytes != sizeof(uint64_t))
		return INVALID_VALUE;
	memcpy(p, from, bytes);
	return SUCCESS;
}

/* Does the library multiply these types? Whole numbers: where the left side alone is transposed,
 * rows lie at multiples of 4, and nothing comes behind the sums. */
static int has_types(const struct product *p, const struct matrix *a, const struct matrix *b,
		     const struct matrix *c)
{
	if (a->type != b->type)
		return 0;
	if (a->type != S8)
		return p->compute != SUM_S32 && a->type == c->type;
	return c->type == (p->compute == SUM_S32 ? S32 : F32) && p->compute != SUM_TF32 &&
	       p->is_transposed && p->epilogue == 1 && a->ld % 4 == 0 && b->ld % 4 == 0 &&
	       c->ld % 4 == 0;
}

/* Do the matrices make a product? */
static int is_product(const struct product *p, const struct matrix *a, const struct matrix *b,
		      const struct matrix *c)
{
	const int64_t rows = p->is_transposed ? a->columns : a->rows;
	const int64_t inner = p->is_transposed ? a->rows : a->columns;

	return rows == c->rows && inner == b->rows && b->columns == c->columns &&
	       a->batch == c->batch && b->batch == c->batch;
}

API int cublasLtMatmulAlgoGetHeuristic(void *h, void *product, void *a, void *b, void *c, void *d,
				       void *preference, int room, struct answer *answer, int *n)
{
	const uint64_t *most = preference;

	*n = 0;
	if (h != &handle || !is_product(product, a, b, c) || memcmp(c, d, sizeof(struct matrix)))
		return INVALID_VALUE;
	if (!has_types(product, a, b, c))
		return NOT_SUPPORTED;
	for (int i = 0; i < ALGORITHMS && *n < room; i++) {
		answer[*n] = (struct answer){.algorithm = {(uint64_t)i},
					     .workspace = i == WITH_WORKSPACE ? WORKSPACE : 0};
		*n += answer[*n].workspace <= *most;
	}
	return *n ? SUCCESS : NOT_SUPPORTED;
}

/* ---- products ---- */

static enum number number_of(int type)
{
	switch (type) {
	case F16:
		return NUMBER_F16;
	case BF16:
		return NUMBER_BF16;
	case S8:
		return NUMBER_S8;
	case S32:
		return NUMBER_S32;
	default:
		return NUMBER_F32;
	}
}

static int64_t place(const struct matrix *m, int64_t batch, int64_t row, int64_t column)
{
	return batch * m->offset + column * m->ld + row;
}

static double finish(const struct product *p, const struct matrix *d, double x, int64_t row)
{
	if (p->epilogue & 4)
		x += number_get(number_of(d->type), p->bias, row);
	if (p->epilogue & 2)
		x = fmax(x, 0);
	if (p->epilogue & 32)
		x *= (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
	return x;
}

/* A product, and what it is made of. */
struct work {
	struct product product;
	struct matrix am, bm, cm, dm;
	double alpha, beta;
	const void *a, *b, *c;
	void *d, *workspace;
	uint64_t algorithm;
};

static double sum(const struct work *w, int64_t batch, int64_t row, int64_t column)
{
	double x = 0;

	for (int64_t k = 0; k < w->bm.rows; k++)
		x += number_get(number_of(w->am.type), w->a,
				w->product.is_transposed ? place(&w->am, batch, k, row)
							 : place(&w->am, batch, row, k)) *
		     number_get(number_of(w->bm.type), w->b, place(&w->bm, batch, k, column));
	x *= w->alpha;
	if (w->beta != 0)
		x += w->beta *
		     number_get(number_of(w->cm.type), w->c, place(&w->cm, batch, row, column));
	return x;
}

static void run(void *arg)
{
	const struct work *w = arg;

	if (w->algorithm == WITH_WORKSPACE)
		memset(w->workspace, 1, WORKSPACE);
	for (int64_t i = 0; i < w->dm.batch; i++)
		for (int64_t column = 0; column < w->dm.columns; column++)
			for (int64_t row = 0; row < w->dm.rows; row++)
				number_put(
					number_of(w->dm.type), w->d, place(&w->dm, i, row, column),
					finish(&w->product, &w->dm, sum(w, i, row, column), row) +
						(w->algorithm == WRONG));
}

/* A factor has the type in which products are summed. */
static double factor(const struct product *p, const void *of)
{
	return number_get(p->compute == SUM_S32 ? NUMBER_S32 : NUMBER_F32, of, 0);
}

API int cublasLtMatmul(void *h, const struct product *p, const void *alpha, const void *a,
		       const struct matrix *am, const void *b, const struct matrix *bm,
		       const void *beta, const void *c, const struct matrix *cm, void *d,
		       const struct matrix *dm, const uint64_t *algorithm, void *workspace,
		       size_t bytes, void *stream)
{
	struct work w;

	if (h != &handle || !is_product(p, am, bm, dm) || !has_types(p, am, bm, dm) ||
	    (*algorithm == WITH_WORKSPACE && bytes < WORKSPACE))
		return INVALID_VALUE;
	w = (struct work){*p, *am, *bm, *cm, *dm,	factor(p, alpha), factor(p, beta),
			  a,  b,   c,	d,   workspace, *algorithm};
	return queue_put("cublaslt", stream, run, &w, sizeof w) ? EXECUTION_FAILED : SUCCESS;
}
