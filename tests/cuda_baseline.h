/* What tests of CUDA's libraries share: a folder of stand-ins (tests/emulator/) that the reference
 * looks at first, and the data of problems. */
#ifndef TL_TESTS_CUDA_BASELINE_H
#define TL_TESTS_CUDA_BASELINE_H

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/nest/elem.h"
#include "tests/tap.h"
#include "tests/truth.h"

struct problem {
	const char *op, *prob, *layout, *post, *dtype;
	int computed;
	const char *all, *parts; /* parts of names of variants; NULL: there are none */
};

static char folder[PATH_MAX], stand_ins[PATH_MAX];

/* Puts a library there; `from` is below the stand-ins. */
static inline int provide_as(const char *from, const char *name)
{
	char old[2 * PATH_MAX], new[2 * PATH_MAX];

	snprintf(old, sizeof old, "%s/%s", stand_ins, from);
	snprintf(new, sizeof new, "%s/%s", folder, name);
	return symlink(old, new);
}

static inline int provide(const char *name)
{
	return provide_as(name, name);
}

static inline void withdraw(const char *name)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	unlink(path);
}

static inline void clean(void)
{
	static const char *const all[] = {"libcuda.so.1",  "libcublasLt.so.12", "libcublasLt.so.13",
					  "libcudnn.so.9", "libcudnn.so.8",	"libcudnn.so.7"};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		withdraw(all[i]);
	rmdir(folder);
}

/* Makes the folder, with the emulated device. 0: there is none. */
static inline int cuda_baseline_begin(const char *program)
{
	const char *tmp = getenv("TMPDIR");
	char here[PATH_MAX], path[2 * PATH_MAX];

	if (!realpath(program, here))
		bail_out("%s is not found", program);
	/* With SAN=1, too, the stand-ins are those of the ordinary build. */
	snprintf(path, sizeof path, "%s%s/emulator", dirname(here),
		 strstr(here, "/san/") ? "/../../tests" : "");
	snprintf(stand_ins, sizeof stand_ins, "%.*s", PATH_MAX - 1, path);
	snprintf(path, sizeof path, "%s/libcuda.so.1", stand_ins);
	if (access(path, R_OK)) {
		skip("there is no emulated device");
		return 0;
	}
	snprintf(folder, sizeof folder, "%s/tl-baseline-XXXXXX", tmp ? tmp : "/tmp");
	/* Nor may those of a person be found. */
	if (!mkdtemp(folder) || setenv("TL_CUDA_PATH", folder, 1) || setenv("HOME", folder, 1) ||
	    unsetenv("VIRTUAL_ENV") || provide("libcuda.so.1"))
		bail_out("there is no folder for the libraries");
	atexit(clean);
	return 1;
}

/* ---- a problem's data ---- */

struct data {
	struct workload w;
	float *array[TENSOR_ROLES];
	struct baseline_data d;
	double *want;
	int64_t n; /* results */
};

static inline int is_whole(const struct data *d)
{
	return dtype_is_int(d->w.dtype.src);
}

/* Makes whole numbers of what is between -1 and 1, over the whole range of 8 bits. */
static inline void make_whole(const struct workload *w, enum tensor_role role, float *array,
			      int64_t n)
{
	const enum dtype type = workload_dtype(w, role);
	const double middle = type == DTYPE_U8 ? 127.5 : 0;
	const double scale = type == DTYPE_U8 || type == DTYPE_S8 ? 128 : 16384;

	for (int64_t i = 0; i < n; i++)
		array[i] = (float)elem_round(elem_of(type), middle + scale * (double)array[i]);
}

static inline void make(struct data *d, const struct problem *p)
{
	static const char *const stream[TENSOR_ROLES] = {
		"src", "weights", "bias", "add", "mul", "scale", "shift", "pad", "zeros", "dst"};
	struct tensor tensor[OP_MAX_TENSORS];
	struct err e = ERR_INIT;

	*d = (struct data){.n = 0};
	if (workload_from_text(&d->w, p->op, p->prob, p->layout, p->post, &e) ||
	    workload_set_dtype(&d->w, p->dtype, strlen(p->dtype), &e))
		bail_out("%s: %s", p->prob, e.msg);
	d->w.rhs_const = !p->computed;
	if (workload_finish(&d->w, &e))
		bail_out("%s: %s", p->prob, e.msg);
	for (int i = d->w.op->tensors(&d->w, tensor); i--;) {
		const enum tensor_role role = tensor[i].role;

		d->array[role] = randoms(tensor[i].size, stream[role]);
		if (is_whole(d) && role != TENSOR_MUL)
			make_whole(&d->w, role, d->array[role], tensor[i].size);
	}
	d->n = workload_size(&d->w, TENSOR_DST);
	d->d = (struct baseline_data){d->array[TENSOR_SRC], d->array[TENSOR_WEIGHTS],
				      d->array[TENSOR_BIAS], d->array[TENSOR_ADD],
				      d->array[TENSOR_MUL]};
	d->want = malloc((size_t)d->n * sizeof *d->want);
	(d->w.op == &op_conv2d ? conv : matmul)(&d->w, &d->d, d->want);
}

static inline void drop(struct data *d)
{
	for (int i = 0; i < TENSOR_ROLES; i++)
		free(d->array[i]);
	free(d->want);
}

/* Is it of the engine, or the algorithm, of this name? */
static inline int is_of(const char *name, const char *engine)
{
	const char *at = strstr(name, engine);

	return at && !(at[strlen(engine)] >= '0' && at[strlen(engine)] <= '9');
}

/* Results of whole numbers are exact. */
static inline double limit_of(const struct data *d)
{
	if (d->w.dtype.dst == DTYPE_S32)
		return 0;
	if (is_whole(d))
		return 5e-7;
	return dtypes_are_f32(&d->w.dtype) ? 2e-6 : 3e-2;
}

/* Opens the reference of a problem. NULL: e says why. Then, too, d is to be dropped. */
static inline struct baseline *open_baseline(struct data *d, const struct problem *p, struct err *e)
{
	make(d, p);
	return library_cuda.open(&d->w, &d->d, NULL, 0, e);
}

/* How a variant ended, and how far its result is from the right one. */
struct ran {
	int rc;
	double off;
	struct err e;
};

/* Behind the first one, which is right: a variant that writes nothing finds that one's output. */
static inline struct ran run_behind_right(struct baseline *r, int v, const struct data *d)
{
	float *dst = d->array[TENSOR_DST];
	struct ran x = {.e = ERR_INIT};

	memset(dst, 255, (size_t)d->n * sizeof *dst);
	x.rc = baseline_run(r, 0, &x.e) || baseline_run(r, v, &x.e) ||
	       baseline_output(r, v, dst, &x.e);
	x.off = error(dst, d->want, d->n);
	return x;
}

static inline void is_right(const struct ran *x, const struct data *d)
{
	ok(!x->rc && x->off <= limit_of(d), "it is right: error %.1e%s", x->off, x->e.msg);
}

static inline void is_wrong(const struct ran *x, const struct data *d)
{
	ok(!x->rc && !(x->off <= (is_whole(d) ? limit_of(d) : 1e-2)),
	   "it is wrong, and that is seen: error %.1e%s", x->off, x->e.msg);
}

static inline int has(const struct baseline *r, const char *name, const char *layout)
{
	for (int v = 0; v < baseline_variants(r); v++)
		if (is_of(baseline_name(r, v), name) &&
		    (!layout || !strcmp(baseline_layout(r, v), layout)))
			return 1;
	return 0;
}

#endif
