#include "lib/model/boost.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

#include "lib/model/trained.h"

/* ---- the library ---- */

/* It is loaded when something is trained, not with the program: it brings OpenMP, which supervisors
 * must not have, and takes longer to load than most programs run. */
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
	X(XGBoosterSaveModelToBuffer)

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

static int set(BoosterHandle b, const char *name, const char *value, struct err *e)
{
	return xgb.XGBoosterSetParam(b, name, value) ? failed(e, name) : 0;
}

static int set_number(BoosterHandle b, const char *name, double v, struct err *e)
{
	char text[40];

	snprintf(text, sizeof text, "%.9g", v);
	return set(b, name, text, e);
}

/* Training takes one thread. A round is thousands of short loops, in which several threads wait for
 * each other as long as they save, and the sums depend on the number of threads. Callers train
 * several boosters side by side instead. */
static int set_params(BoosterHandle b, const struct boost_params *p, struct err *e)
{
	return set(b, "objective", p->objective, e) || set(b, "tree_method", "hist", e) ||
	       set(b, "verbosity", "0", e) || set_number(b, "nthread", 1, e) ||
	       set_number(b, "max_depth", p->depth, e) || set_number(b, "eta", p->eta, e) ||
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

static int rounds(BoosterHandle b, const struct boost_params *p, DMatrixHandle m, struct err *e)
{
	for (int i = 0; i < p->rounds; i++)
		if (xgb.XGBoosterUpdateOneIter(b, i, m))
			return failed(e, "training");
	return 0;
}

static int rounds_by_gradient(BoosterHandle b, const struct boost_params *p, DMatrixHandle m,
			      size_t rows, struct err *e)
{
	float *grad = xmalloc(sizeof *grad * rows), *hess = xmalloc(sizeof *hess * rows);
	const float *sum;
	bst_ulong n;
	int rc = 0;

	for (int i = 0; i < p->rounds && rc == 0; i++) {
		/* 1: the sum itself, as training sees it. */
		if (xgb.XGBoosterPredict(b, m, 1, 0, 1, &n, &sum)) {
			rc = failed(e, "training");
			break;
		}
		p->gradient(p->arg, sum, grad, hess, rows);
		if (xgb.XGBoosterBoostOneIter(b, m, grad, hess, rows))
			rc = failed(e, "training");
	}
	free(hess);
	free(grad);
	return rc;
}

static struct trees *take(BoosterHandle b, size_t columns, struct err *e)
{
	const char *bytes;
	bst_ulong n;

	if (xgb.XGBoosterSaveModelToBuffer(b, "{\"format\":\"json\"}", &n, &bytes)) {
		failed(e, "saving the trees");
		return NULL;
	}
	return trained_read(bytes, n, columns, e);
}

struct trees *boost_train(const struct boost_params *p, const struct boost_data *d, struct err *e)
{
	struct trees *t = NULL;
	BoosterHandle b = NULL;
	DMatrixHandle m = NULL;
	int rc;

	if (check(p, d, e) < 0 || load(e) < 0)
		return NULL;
	if (xgb.XGDMatrixCreateFromMat(d->x, d->rows, d->columns, NAN, &m)) {
		failed(e, "the training data");
		return NULL;
	}
	rc = set_info(m, d, e);
	if (rc == 0 && xgb.XGBoosterCreate(&m, 1, &b))
		rc = failed(e, "the booster");
	if (rc == 0)
		rc = set_params(b, p, e);
	if (rc == 0)
		rc = p->gradient ? rounds_by_gradient(b, p, m, d->rows, e) : rounds(b, p, m, e);
	if (rc == 0)
		t = take(b, d->columns, e);
	if (b)
		xgb.XGBoosterFree(b);
	xgb.XGDMatrixFree(m);
	return t;
}
