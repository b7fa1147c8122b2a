#include "lib/baseline/cuda/cublaslt.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/target/shared.h"

/* ---- the library: names and numbers are cuBLAS's, without its prefixes ---- */

typedef void *handle; /* of the library, a description of a product, a matrix, or preferences */

struct algorithm {
	uint64_t data[8];
};

struct answer {
	struct algorithm algorithm;
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
};

enum compute { COMPUTE_32F = 68, COMPUTE_32I = 72, COMPUTE_32F_FAST_TF32 = 77 };
enum { R_32F = 0, R_16F = 2, R_8I = 3, R_8U = 8, R_32I = 10, R_16BF = 14 }; /* cudaDataType_t */
enum { OP_T = 1 };
enum matmul_attribute { DESC_TRANSA = 3, DESC_EPILOGUE = 7, DESC_BIAS_POINTER = 8 };
enum layout_attribute { LAYOUT_BATCH_COUNT = 5, LAYOUT_STRIDED_BATCH_OFFSET = 6 };
enum preference { PREF_MAX_WORKSPACE_BYTES = 1 };
enum epilogue { EPILOGUE_DEFAULT = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_GELU = 32 };

static struct {
	size_t (*version)(void);
	const char *(*error)(int status);
	int (*create)(handle *h);
	int (*destroy)(handle h);
	int (*make_product)(handle *d, enum compute compute, int scale_type);
	int (*free_product)(handle d);
	int (*set_product)(handle d, enum matmul_attribute a, const void *of, size_t bytes);
	int (*make_matrix)(handle *d, int type, uint64_t rows, uint64_t columns, int64_t ld);
	int (*free_matrix)(handle d);
	int (*set_matrix)(handle d, enum layout_attribute a, const void *of, size_t bytes);
	int (*make_preference)(handle *d);
	int (*free_preference)(handle d);
	int (*set_preference)(handle d, enum preference a, const void *of, size_t bytes);
	int (*ask)(handle h, handle product, handle a, handle b, handle c, handle d,
		   handle preference, int room, struct answer *answer, int *n);
	int (*multiply)(handle h, handle product, const void *alpha, const void *a, handle a_matrix,
			const void *b, handle b_matrix, const void *beta, const void *c,
			handle c_matrix, void *d, handle d_matrix,
			const struct algorithm *algorithm, void *workspace, size_t bytes,
			void *stream);
} lt;

static int open_library(struct err *e)
{
	static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
	static const struct shared_function functions[] = {
		{"cublasLtGetVersion", &lt.version},
		{"cublasLtGetStatusString", &lt.error},
		{"cublasLtCreate", &lt.create},
		{"cublasLtDestroy", &lt.destroy},
		{"cublasLtMatmulDescCreate", &lt.make_product},
		{"cublasLtMatmulDescDestroy", &lt.free_product},
		{"cublasLtMatmulDescSetAttribute", &lt.set_product},
		{"cublasLtMatrixLayoutCreate", &lt.make_matrix},
		{"cublasLtMatrixLayoutDestroy", &lt.free_matrix},
		{"cublasLtMatrixLayoutSetAttribute", &lt.set_matrix},
		{"cublasLtMatmulPreferenceCreate", &lt.make_preference},
		{"cublasLtMatmulPreferenceDestroy", &lt.free_preference},
		{"cublasLtMatmulPreferenceSetAttribute", &lt.set_preference},
		{"cublasLtMatmulAlgoGetHeuristic", &lt.ask},
		{"cublasLtMatmul", &lt.multiply},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};

	return shared_open(&library, e);
}

const char *cublaslt_version(void)
{
	static char text[48];
	struct err e = ERR_INIT;
	int v;

	text[0] = 0;
	if (open_library(&e) == 0) {
		v = (int)lt.version();
		snprintf(text, sizeof text, "cublaslt %d.%d.%d", v / 10000, v / 100 % 100, v % 100);
	}
	return text;
}

/* ---- products ---- */

enum { MOST_ANSWERS = 32 };
static const uint64_t MOST_WORKSPACE = (uint64_t)1 << 30; /* bytes */

/* How products are summed, and what comes of that. */
struct sum {
	enum compute compute;
	enum dtype dst;
	const char *name; /* in a variant's name */
};

/* A product as the library has it. Its matrices lie column by column, so it is asked for the
 * transpose of what is wanted: of the right side times the left side. */
struct product {
	struct product *next;
	int is_whole; /* factors are whole numbers */
	handle product, right, left, dst;
	const void *right_at, *left_at, *add_at; /* add_at NULL: nothing is added */
	void *dst_at;
};

/* One with an algorithm. */
struct plan {
	struct plan *next;
	const struct cublaslt *c;
	const struct product *product;
	struct algorithm algorithm;
	size_t workspace;
};

struct cublaslt {
	handle handle;
	struct stage *stage;
	struct product *products;
	struct plan *plans;
};

struct cublaslt *cublaslt_open(struct stage *s, struct err *e)
{
	struct cublaslt *c;
	handle h;
	int status;

	if (open_library(e) < 0)
		return NULL;
	status = lt.create(&h);
	if (status) {
		err_set(e, "cuBLASLt fails to start: %s", lt.error(status));
		return NULL;
	}
	c = xcalloc(1, sizeof *c);
	c->handle = h;
	c->stage = s;
	return c;
}

static void free_product(struct product *p)
{
	handle const matrix[] = {p->right, p->left, p->dst};

	for (int i = 0; i < 3; i++)
		if (matrix[i])
			lt.free_matrix(matrix[i]);
	if (p->product)
		lt.free_product(p->product);
	free(p);
}

void cublaslt_close(struct cublaslt *c)
{
	if (!c)
		return;
	for (struct plan *p = c->plans, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	for (struct product *p = c->products, *next; p; p = next) {
		next = p->next;
		free_product(p);
	}
	lt.destroy(c->handle);
	free(c);
}

static int run(void *arg, void *stream, struct err *e)
{
	const struct plan *p = arg;
	const struct product *t = p->product;
	static const float factor[] = {0, 1};
	static const int32_t whole[] = {0, 1};
	const int adds = t->add_at != NULL;
	const void *alpha = t->is_whole ? (const void *)&whole[1] : &factor[1];
	const void *beta = t->is_whole ? (const void *)&whole[adds] : &factor[adds];
	int status =
		lt.multiply(p->c->handle, t->product, alpha, t->right_at, t->right, t->left_at,
			    t->left, beta, adds ? t->add_at : t->dst_at, t->dst, t->dst_at, t->dst,
			    &p->algorithm, stage_workspace(p->c->stage), p->workspace, stream);

	return status ? err_set(e, "cuBLASLt fails to multiply: %s", lt.error(status)) : 0;
}

static int number_of(enum dtype t)
{
	switch (t) {
	case DTYPE_F16:
		return R_16F;
	case DTYPE_BF16:
		return R_16BF;
	case DTYPE_S8:
		return R_8I;
	case DTYPE_U8:
		return R_8U;
	case DTYPE_S32:
		return R_32I;
	default:
		return R_32F;
	}
}

/* The matrix whose columns are the rows of t, in a batch; NULL: refused. */
static handle matrix(const struct placed *t, enum dtype type, int is_transposed)
{
	const uint64_t rows = (uint64_t)t->size[is_transposed ? 1 : 2];
	const uint64_t columns = (uint64_t)t->size[is_transposed ? 2 : 1];
	const int32_t batch = (int32_t)t->size[0];
	handle m;

	if (lt.make_matrix(&m, number_of(type), rows, columns, (int64_t)rows))
		return NULL;
	if (batch == 1 ||
	    (!lt.set_matrix(m, LAYOUT_BATCH_COUNT, &batch, sizeof batch) &&
	     !lt.set_matrix(m, LAYOUT_STRIDED_BATCH_OFFSET, &t->stride[0], sizeof t->stride[0])))
		return m;
	lt.free_matrix(m);
	return NULL;
}

/* What is offered of a product. */
struct offer {
	struct cublaslt *c;
	const struct problem *problem;
	struct sum sum;
	const struct product *product;
	struct finisher *rest; /* does the post-ops from this one on, or converts the sums;
				* NULL: there is nothing left to do */
	int post;
	struct variants *to;
};

/* What the library does after the product: the first post-ops of a workload. */
struct tail {
	int bias, add;
	enum epilogue activation; /* 0: none */
	int posts;		  /* so many */
};

/* has_activation: with the activation, if the library has it. It computes GELU by tanh. A tensor is
 * added in the sum's own type. Behind sums of whole numbers the library does nothing else. */
static struct tail find_tail(const struct workload *w, const struct sum *s, int has_activation)
{
	const int is_whole = s->compute == COMPUTE_32I;
	struct tail t = {0};

	for (; t.posts < w->npost; t.posts++) {
		const enum post kind = w->post[t.posts].kind;

		if (kind == POST_BIAS && !t.bias && !is_whole)
			t.bias = 1;
		else if (kind == POST_ADD && !t.add && s->dst == w->dtype.dst)
			t.add = 1;
		else
			break;
	}
	if (!has_activation || is_whole || t.posts == w->npost)
		return t;
	if (w->post[t.posts].kind == POST_RELU)
		t.activation = EPILOGUE_RELU;
	else if (w->post[t.posts].kind == POST_GELU_TANH)
		t.activation = EPILOGUE_GELU;
	t.posts += t.activation != 0;
	return t;
}

/* 1; 0: the library refuses this. */
static int describe(const struct offer *o, const struct tail *t, const void *bias,
		    struct product *out)
{
	const struct problem *p = o->problem;
	const struct stage *s = o->c->stage;
	const int factor = out->is_whole ? R_32I : R_32F;
	const uint32_t epilogue =
		t->bias || t->activation
			? (uint32_t)t->activation | (t->bias ? (uint32_t)EPILOGUE_BIAS : 0)
			: (uint32_t)EPILOGUE_DEFAULT;
	const int32_t transposed = OP_T;

	if (lt.make_product(&out->product, o->sum.compute, factor) ||
	    lt.set_product(out->product, DESC_EPILOGUE, &epilogue, sizeof epilogue))
		return 0;
	if (p->is_transposed &&
	    lt.set_product(out->product, DESC_TRANSA, &transposed, sizeof transposed))
		return 0;
	if (t->bias && lt.set_product(out->product, DESC_BIAS_POINTER, &bias, sizeof bias))
		return 0;
	out->right =
		matrix(&p->tensor[TENSOR_WEIGHTS], stage_type(s, TENSOR_WEIGHTS), p->is_transposed);
	out->left = matrix(&p->tensor[TENSOR_SRC], stage_type(s, TENSOR_SRC), 0);
	out->dst = matrix(&p->tensor[TENSOR_DST], o->sum.dst, 0);
	return out->right && out->left && out->dst;
}

/* NULL: refused, or (e filled) the device has no memory. */
static const struct product *make_product(const struct offer *o, const struct tail *t,
					  struct err *e)
{
	struct product *out = xcalloc(1, sizeof *out);
	const struct problem *p = o->problem;
	struct stage *s = o->c->stage;
	void *bias = NULL;

	*e = (struct err)ERR_INIT;
	out->next = o->c->products;
	o->c->products = out;
	out->is_whole = o->sum.compute == COMPUTE_32I;
	out->right_at = stage_input(s, &p->tensor[TENSOR_WEIGHTS], e);
	out->left_at = stage_input(s, &p->tensor[TENSOR_SRC], e);
	if (t->add)
		out->add_at = stage_input(s, &p->tensor[TENSOR_ADD], e);
	if (t->bias)
		bias = stage_input(s, &p->tensor[TENSOR_BIAS], e);
	out->dst_at = o->rest ? stage_middle(s) : stage_dst(s);
	if (e->msg[0])
		return NULL;
	return describe(o, t, bias, out) ? out : NULL;
}

static int ask(const struct cublaslt *c, const struct product *t, struct answer answer[])
{
	handle preference;
	int n = 0;

	if (lt.make_preference(&preference))
		return 0;
	if (lt.set_preference(preference, PREF_MAX_WORKSPACE_BYTES, &MOST_WORKSPACE,
			      sizeof MOST_WORKSPACE) ||
	    lt.ask(c->handle, t->product, t->right, t->left, t->dst, t->dst, preference,
		   MOST_ANSWERS, answer, &n))
		n = 0;
	lt.free_preference(preference);
	return n;
}

static const char *how_rest(const struct offer *o)
{
	if (!o->rest)
		return "";
	return o->post < o->c->stage->w.npost ? ", then post-ops" : ", then conversion";
}

static void offer(const struct offer *o, int number, const struct answer *a)
{
	const struct problem *p = o->problem;
	struct variant v = {.layout = p->layout, .dst = p->tensor[TENSOR_DST]};
	const struct call *rest = NULL;
	struct plan *plan;

	snprintf(v.name, sizeof v.name, "%s%s%s #%d%s", cublaslt_version(),
		 p->is_transposed ? " transposed" : "", o->sum.name, number, how_rest(o));
	if (a->status || a->workspace > MOST_WORKSPACE || !variants_want(o->to, v.name, v.layout))
		return;
	if (o->rest && !(rest = finisher_rest(o->rest, p, o->post)))
		return;
	plan = xcalloc(1, sizeof *plan);
	*plan = (struct plan){.next = o->c->plans,
			      .c = o->c,
			      .product = o->product,
			      .algorithm = a->algorithm,
			      .workspace = a->workspace};
	o->c->plans = plan;
	stage_want(o->c->stage, a->workspace);
	v.call[v.ncalls++] = (struct call){run, plan};
	if (rest)
		v.call[v.ncalls++] = *rest;
	variants_add(o->to, &v);
}

/* Adds all variants of a way to sum. With has_activation the library does it, if it can. */
static int offer_sum(struct offer o, struct finisher *rest, int has_activation, struct err *e)
{
	const struct stage *s = o.c->stage;
	const struct tail t = find_tail(&s->w, &o.sum, has_activation);
	const int is_all = t.posts == s->w.npost && o.sum.dst == s->w.dtype.dst;
	struct answer answer[MOST_ANSWERS];

	if (!is_all && (!rest || o.sum.dst != s->numbers.middle))
		return 0;
	o.rest = is_all ? NULL : rest;
	o.post = t.posts;
	o.product = make_product(&o, &t, e);
	if (!o.product && e->msg[0])
		return -1;
	for (int i = 0, n = o.product ? ask(o.c, o.product, answer) : 0; i < n; i++)
		offer(&o, i + 1, &answer[i]);
	return 0;
}

/* Whole numbers may be summed in single precision, too, if the result is of that. */
static int list_sums(const struct stage *s, struct sum sum[2])
{
	const enum dtype dst = s->w.dtype.dst;

	if (!s->numbers.is_whole) {
		sum[0] = (struct sum){s->numbers.is_tf32 ? COMPUTE_32F_FAST_TF32 : COMPUTE_32F, dst,
				      ""};
		return 1;
	}
	sum[0] = (struct sum){COMPUTE_32I, DTYPE_S32, ""};
	sum[1] = (struct sum){COMPUTE_32F, DTYPE_F32, " summed in f32"};
	return dst == DTYPE_F32 ? 2 : 1;
}

int cublaslt_offer(struct cublaslt *c, const struct problem *p, struct finisher *rest,
		   struct variants *to, struct err *e)
{
	struct sum sum[2];
	const int n = list_sums(c->stage, sum);

	for (int i = 0; i < n; i++)
		for (int fused = 1; fused >= 0; fused--) {
			const struct offer o = {.c = c, .problem = p, .sum = sum[i], .to = to};

			if (offer_sum(o, rest, fused, e) < 0)
				return -1;
		}
	return 0;
}
