#include "lib/model/boost.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

#include "lib/model/trees.h"

struct boost {
	BoosterHandle handle;
};

/* ---- the library ---- */

/* It is loaded when it is needed, not with the program: it brings OpenMP, which supervisors must
 * not have, and takes longer to load than most programs run. */
#define FUNCTIONS(X)                                                                               \
	X(XGBGetLastError)                                                                         \
	X(XGBRegisterLogCallback)                                                                  \
	X(XGBoosterSetParam)                                                                       \
	X(XGDMatrixCreateFromMat)                                                                  \
	X(XGDMatrixSetFloatInfo)                                                                   \
	X(XGDMatrixFree)                                                                           \
	X(XGBoosterCreate)                                                                         \
	X(XGBoosterFree)                                                                           \
	X(XGBoosterUpdateOneIter)                                                                  \
	X(XGBoosterBoostOneIter)                                                                   \
	X(XGBoosterPredict)                                                                        \
	X(XGBoosterPredictFromDense)                                                               \
	X(XGBoosterSaveModelToBuffer)                                                              \
	X(XGBoosterLoadModelFromBuffer)

#define MEMBER(name) __typeof__(name) *name;
static struct {
	pthread_once_t once;
	struct err why; /* why it could not be loaded */
	FUNCTIONS(MEMBER)
} xgb = {.once = PTHREAD_ONCE_INIT};
#undef MEMBER

static void say_nothing(const char *text)
{
	(void)text;
}

static int find(struct err *e)
{
	static const char *const names[] = {"libxgboost.so.0", "libxgboost.so"};
	void *library = NULL;

	/* Threads that spin while they wait lose whole time slices to other threads. */
	setenv("OMP_WAIT_POLICY", "passive", 0);
	for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return err_set(e, "XGBoost cannot be loaded: %s", dlerror());
#define FIND(name)                                                                                 \
	if (!(*(void **)&xgb.name = dlsym(library, #name)))                                        \
		return err_set(e, "XGBoost lacks " #name);
	FUNCTIONS(FIND)
#undef FIND
	/* It prints on stdout, which is for records. */
	xgb.XGBRegisterLogCallback(say_nothing);
	return 0;
}

static void find_once(void)
{
	find(&xgb.why);
}

static int load(struct err *e)
{
	pthread_once(&xgb.once, find_once);
	if (!*xgb.why.msg)
		return 0;
	*e = xgb.why;
	return -1;
}

static int failed(struct err *e, const char *what)
{
	const char *why = xgb.XGBGetLastError();
	/* "[12:00:00] ./src/x.cc:123: Check failed: ..." and a stack trace follows. */
	const char *start = strstr(why, ": ");

	start = start ? start + 2 : why;
	return err_set(e, "%s: XGBoost: %.*s", what, (int)strcspn(start, "\n"), start);
}

static int set(struct boost *b, const char *name, const char *value, struct err *e)
{
	return xgb.XGBoosterSetParam(b->handle, name, value) ? failed(e, name) : 0;
}

static int set_number(struct boost *b, const char *name, double v, struct err *e)
{
	char text[40];

	snprintf(text, sizeof text, "%.9g", v);
	return set(b, name, text, e);
}

static int set_params(struct boost *b, const struct boost_params *p, struct err *e)
{
	return set(b, "objective", p->objective, e) || set(b, "tree_method", "hist", e) ||
	       set(b, "verbosity", "0", e) || set_number(b, "max_depth", p->depth, e) ||
	       set_number(b, "eta", p->eta, e) ||
	       set_number(b, "min_child_weight", p->min_child, e) ||
	       set_number(b, "subsample", p->subsample, e) ||
	       set_number(b, "colsample_bytree", p->colsample, e) ||
	       set_number(b, "lambda", p->lambda, e) || set_number(b, "base_score", 0.5, e) ||
	       set_number(b, "seed", (double)(p->seed % 1000000007), e);
}

static int set_info(DMatrixHandle m, const struct boost_data *d, struct err *e)
{
	if (d->label && xgb.XGDMatrixSetFloatInfo(m, "label", d->label, d->rows))
		return failed(e, "labels");
	if (d->weight && xgb.XGDMatrixSetFloatInfo(m, "weight", d->weight, d->rows))
		return failed(e, "weights");
	if (d->margin && xgb.XGDMatrixSetFloatInfo(m, "base_margin", d->margin, d->rows))
		return failed(e, "margins");
	return 0;
}

static int check(const struct boost_params *p, const struct boost_data *d, struct err *e)
{
	if (!d->rows)
		return err_set(e, "there is nothing to learn from");
	for (size_t i = 0; i < d->rows; i++)
		if (!isfinite(d->label[i]))
			return err_set(e, "a label is not finite");
	if (p->rounds < 1 || p->depth < 1 || p->depth > 16 || !(p->eta > 0) || p->eta > 1 ||
	    !(p->subsample > 0) || p->subsample > 1 || !(p->colsample > 0) || p->colsample > 1 ||
	    !(p->lambda >= 0) || !(p->min_child >= 0))
		return err_set(e, "a parameter of the trees is outside its range");
	return 0;
}

static int rounds(struct boost *b, const struct boost_params *p, DMatrixHandle m, struct err *e)
{
	for (int i = 0; i < p->rounds; i++)
		if (xgb.XGBoosterUpdateOneIter(b->handle, i, m))
			return failed(e, "training");
	return 0;
}

static int rounds_by_gradient(struct boost *b, const struct boost_params *p, DMatrixHandle m,
			      size_t rows, struct err *e)
{
	float *grad = xmalloc(sizeof *grad * rows), *hess = xmalloc(sizeof *hess * rows);
	const float *sum;
	bst_ulong n;
	int rc = 0;

	for (int i = 0; i < p->rounds && rc == 0; i++) {
		/* 1: the sum itself, as training sees it. */
		if (xgb.XGBoosterPredict(b->handle, m, 1, 0, 1, &n, &sum)) {
			rc = failed(e, "training");
			break;
		}
		p->gradient(p->arg, sum, grad, hess, rows);
		if (xgb.XGBoosterBoostOneIter(b->handle, m, grad, hess, rows))
			rc = failed(e, "training");
	}
	free(hess);
	free(grad);
	return rc;
}

struct boost *boost_train(const struct boost_params *p, const struct boost_data *d, struct err *e)
{
	struct boost *b = NULL;
	DMatrixHandle m = NULL;
	int rc;

	if (check(p, d, e) < 0 || load(e) < 0)
		return NULL;
	if (xgb.XGDMatrixCreateFromMat(d->x, d->rows, d->columns, NAN, &m)) {
		failed(e, "the training data");
		return NULL;
	}
	b = xcalloc(1, sizeof *b);
	rc = set_info(m, d, e);
	if (rc == 0 && xgb.XGBoosterCreate(&m, 1, &b->handle))
		rc = failed(e, "the booster");
	if (rc == 0)
		rc = set_params(b, p, e);
	/* Training takes one thread. A round is thousands of short loops, in which several threads
	 * wait for each other as long as they save, and the sums depend on the number of threads.
	 * Callers train several boosters side by side instead. */
	if (rc == 0)
		rc = boost_threads(b, 1, e);
	if (rc == 0)
		rc = p->gradient ? rounds_by_gradient(b, p, m, d->rows, e) : rounds(b, p, m, e);
	if (rc == 0)
		rc = boost_threads(b, 0, e); /* to predict with: all */
	xgb.XGDMatrixFree(m);
	if (rc == 0)
		return b;
	boost_free(b);
	return NULL;
}

struct boost *boost_load(const void *bytes, size_t n, size_t columns, struct err *e)
{
	struct buf anew = BUF_INIT;
	struct boost *b = NULL;

	if (trees_write_anew(bytes, n, columns, &anew, e) == 0 && load(e) == 0) {
		b = xcalloc(1, sizeof *b);
		if (xgb.XGBoosterCreate(NULL, 0, &b->handle) ||
		    xgb.XGBoosterLoadModelFromBuffer(b->handle, anew.s, anew.n)) {
			failed(e, "loading the trees");
			boost_free(b);
			b = NULL;
		}
	}
	buf_free(&anew);
	return b;
}

int boost_save(struct boost *b, struct buf *out, struct err *e)
{
	const char *bytes;
	bst_ulong n;

	if (xgb.XGBoosterSaveModelToBuffer(b->handle, "{\"format\":\"ubj\"}", &n, &bytes))
		return failed(e, "saving the trees");
	buf_add(out, bytes, n);
	return 0;
}

int boost_predict(struct boost *b, const float *x, size_t rows, size_t columns, float *out,
		  struct err *e)
{
	static const char config[] = "{\"type\":1,\"training\":false,\"iteration_begin\":0,"
				     "\"iteration_end\":0,\"strict_shape\":false,"
				     "\"missing\":NaN,\"cache_id\":0}";
	char array[160];
	const bst_ulong *shape;
	const float *result;
	bst_ulong dim;

	if (!rows)
		return 0;
	snprintf(array, sizeof array,
		 "{\"data\":[%zu,true],\"shape\":[%zu,%zu],\"typestr\":\"<f4\",\"version\":3}",
		 (size_t)x, rows, columns);
	if (xgb.XGBoosterPredictFromDense(b->handle, array, config, NULL, &shape, &dim, &result))
		return failed(e, "predicting");
	if (dim < 1 || shape[0] != rows)
		return err_set(e, "predicting: XGBoost answered for another number of rows");
	memcpy(out, result, rows * sizeof *out);
	return 0;
}

int boost_threads(struct boost *b, int n, struct err *e)
{
	return set_number(b, "nthread", n, e);
}

void boost_free(struct boost *b)
{
	if (!b)
		return;
	if (b->handle)
		xgb.XGBoosterFree(b->handle);
	free(b);
}
