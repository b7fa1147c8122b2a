/* The reference for CUDA's devices, with stand-ins for the vendor's libraries and an emulated
 * device (tests/emulator/): the graphs and products that it describes compute what the operator
 * says; what engines cannot do is left out; a library that is not there is missed by one that is.
 */
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/target/shared.h"
#include "lib/trial/cell.h"
#include "lib/trial/trial.h"
#include "tests/tap.h"
#include "tests/truth.h"

enum { DRIVER, CUBLASLT, CUBLASLT_NEW, CUDNN, LIBRARIES };

static const char *const file[LIBRARIES] = {"libcuda.so.1", "libcublasLt.so.12",
					    "libcublasLt.so.13", "libcudnn.so.9"};

static const struct problem {
	const char *op, *prob, *layout, *post, *dtype;
	int computed;
	const char *all, *parts; /* names of a graph, and of two calls; NULL: there are none */
} problems[] = {
	{"conv2d", "mb2_ic8ih7_oc12oh7_kh3ph1", "nhwc", "bias,add,relu", "f32", 0, "add and bias",
	 "then post-ops"},
	{"conv2d", "mb1_ic8ih7_oc12oh7_kh3ph1", "nchw", "bias,add,relu", "f32", 0, "add and bias",
	 "then post-ops"},
	{"conv2d", "mb1_ic6ih9iw8_oc8oh9ow8_kh3ph1", "nchw", "bias,relu", "f32", 0, "add and bias",
	 "then post-ops"},
	{"conv2d", "mb1_ic6ih9_oc8oh9_kh3ph1", "nhwc", "", "f32", 0, "engine 0", NULL},
	{"conv2d", "mb1_ic6ih9_oc8oh9_kh3ph1", "nhwc", "relu", "f32", 0, "add and bias",
	 "then post-ops"},
	{"conv2d", "mb1_ic3ih15_oc8oh8_kh7sh2ph3", "nhwc", "bias,relu6", "f32", 0, "engine 0",
	 "then post-ops"},
	{"conv2d", "mb2g8_ic8ih9_oc8oh5_kh3sh2ph1", "nhwc", "bias,silu", "f32", 0, NULL,
	 "then post-ops"},
	{"conv2d", "mb1g2_ic8ih9_oc6oh9_kh3ph2dh1", "nchw", "bias,hardswish", "f32", 0, NULL,
	 "then post-ops"},
	{"conv2d", "mb1_ic5ih11iw18_oc7oh9ow9_kh3kw5sh1sw2ph0pw2", "nhwc", "bias,add", "f32", 0,
	 "engine 0", "then post-ops"},
	{"conv2d", "mb1_ic4ih14_oc4oh7_kh3sh2ph0", "nhwc", "mul,leaky_relu(0.1)", "f32", 0,
	 "engine 0", "then post-ops"},
	{"conv2d", "mb1_ic4ih16_oc4oh5_kh3sh3ph0", "nchw", "clip(-0.5,2),tanh,sigmoid", "f32", 0,
	 NULL, "then post-ops"},
	{"conv2d", "mb2_ic20ih4iw5_oc12oh4ow5_kh1kw1ph0pw0", "nhwc", "bias,add,relu", "f32", 0,
	 "cublaslt 12.4.1 transposed #1", "then post-ops"},
	{"matmul", "17x33:33x29", "ab", "bias,gelu", "f32", 0, NULL, "cublaslt 12.4.1 #1, then"},
	{"matmul", "17x33:33x29", "ab", "bias,gelu_tanh", "f32", 0, "cublaslt 12.4.1 #3",
	 "cublaslt 12.4.1 transposed #1, then"},
	{"matmul", "16x16:16x16", "ab", "bias,add,relu,mul", "f32", 0, "product engine 0",
	 "cublaslt 12.4.1 #1, then"},
	{"matmul", "12x7x5:12x5x9", "ab", "", "f32", 1, "cublaslt 12.4.1 #1", NULL},
	{"matmul", "3x7x5:3x5x9", "ab", "bias,add", "f32", 0, "cublaslt 12.4.1 transposed #1",
	 "then post-ops"},
	{"conv2d", "mb1_ic8ih7_oc12oh7_kh3ph1", "nhwc", "bias,relu", "f16", 0, "engine 4",
	 "then post-ops"},
	{"matmul", "17x33:33x29", "ab", "bias,relu", "bf16", 0, "cublaslt 12.4.1 #1",
	 "then post-ops"},
	{"conv2d", "mb2_ic8ih7_oc12oh7_kh3ph1", "nhwc", "bias,add,relu", "s8:s8:s32", 0,
	 "add and bias", "then post-ops"},
	{"conv2d", "mb1_ic6ih7_oc12oh7_kh3ph1", "nchw", "bias,relu", "s8:s8:f32", 0, "add and bias",
	 "then post-ops"},
	{"conv2d", "mb1g2_ic6ih9_oc8oh9_kh3ph1", "nhwc", "", "u8:s8:s32", 0, "engine 0", NULL},
	{"conv2d", "mb1_ic6ih9_oc8oh5_kh3sh2ph1", "nhwc", "bias,mul", "u8:s8:f32", 0, "engine 0",
	 "then post-ops"},
	{"conv2d", "mb2_ic20ih4_oc12oh4_kh1ph0", "nhwc", "bias,hardswish", "s8:s8:f32", 0, NULL,
	 "cublaslt 12.4.1 transposed #1, then post-ops"},
	{"matmul", "16x32:32x24", "ab", "", "s8:s8:s32", 0, "cublaslt 12.4.1 transposed #1", NULL},
	{"matmul", "16x32:32x24", "ab", "bias,add,relu", "s8:s8:s32", 0, "product engine 0",
	 "cublaslt 12.4.1 transposed #1, then post-ops"},
	{"matmul", "16x32:32x24", "ab", "add", "s8:s8:s32", 0, "cublaslt 12.4.1 transposed #1",
	 "product engine 0, then post-ops"},
	{"matmul", "16x32:32x24", "ab", "add", "s8:s8:f32", 0,
	 "cublaslt 12.4.1 transposed summed in f32 #1",
	 "cublaslt 12.4.1 transposed #1, then post-ops"},
	{"matmul", "3x16x32:3x32x24", "ab", "", "s8:s8:f32", 0,
	 "cublaslt 12.4.1 transposed summed in f32 #1",
	 "cublaslt 12.4.1 transposed #1, then conversion"},
	{"matmul", "17x33:33x29", "ab", "gelu", "s8:s8:f32", 0, NULL,
	 "product transposed engine 0, then post-ops"},
	{"matmul", "16x32:32x24", "ab", "", "s8:s8:f32", 1, "product engine 0", NULL},
};

static char folder[PATH_MAX], stand_ins[PATH_MAX];

/* Puts a library where the reference looks first. */
static int provide(int library)
{
	char from[2 * PATH_MAX], to[2 * PATH_MAX];

	snprintf(from, sizeof from, "%s/%s", stand_ins, file[library]);
	snprintf(to, sizeof to, "%s/%s", folder, file[library]);
	return symlink(from, to);
}

static void withdraw(int library)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", folder, file[library]);
	unlink(path);
}

static void clean(void)
{
	for (int i = 0; i < LIBRARIES; i++)
		withdraw(i);
	rmdir(folder);
}

/* ---- a problem's data ---- */

struct data {
	struct workload w;
	float *array[TENSOR_ROLES];
	struct ref_data d;
	double *want;
	int64_t n; /* results */
};

static int is_whole(const struct data *d)
{
	return dtype_is_int(d->w.dtype.src);
}

/* Makes whole numbers of what is between -1 and 1, over the whole range of 8 bits. */
static void make_whole(const struct workload *w, enum tensor_role role, float *array, int64_t n)
{
	const enum dtype type = workload_dtype(w, role);
	const double middle = type == DTYPE_U8 ? 127.5 : 0;
	const double scale = type == DTYPE_U8 || type == DTYPE_S8 ? 128 : 16384;

	for (int64_t i = 0; i < n; i++)
		array[i] = (float)elem_round(elem_of(type), middle + scale * (double)array[i]);
}

static void make(struct data *d, const struct problem *p)
{
	static const char *const stream[] = {"src", "weights", "bias", "add", "mul", "dst"};
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
	d->d = (struct ref_data){d->array[TENSOR_SRC], d->array[TENSOR_WEIGHTS],
				 d->array[TENSOR_BIAS], d->array[TENSOR_ADD], d->array[TENSOR_MUL]};
	d->want = malloc((size_t)d->n * sizeof *d->want);
	(d->w.op == &op_conv2d ? conv : matmul)(&d->w, &d->d, d->want);
}

static void drop(struct data *d)
{
	for (int i = 0; i < TENSOR_ROLES; i++)
		free(d->array[i]);
	free(d->want);
}

/* ---- variants ---- */

/* Is it of the engine, or the algorithm, of this name? */
static int is_of(const char *name, const char *engine)
{
	const char *at = strstr(name, engine);

	return at && !(at[strlen(engine)] >= '0' && at[strlen(engine)] <= '9');
}

/* Results of whole numbers are exact. */
static double limit_of(const struct data *d)
{
	if (d->w.dtype.dst == DTYPE_S32)
		return 0;
	if (is_whole(d))
		return 5e-7;
	return dtypes_are_f32(&d->w.dtype) ? 2e-6 : 3e-2;
}

/* What the stand-ins are known for. */
static void test_variant(struct ref *r, int v, const struct data *d, const struct problem *p)
{
	const char *name = ref_name(r, v);
	const int is_wrong = is_of(name, "engine 2") || is_of(name, "#2");
	const double limit = limit_of(d);
	struct err e = ERR_INIT;
	double seconds = -1, off;
	int rc;

	ok(!is_of(name, "engine 3") && !is_of(name, "engine 7"),
	   "%s [%s]: %s, %s has a plan and a workspace", p->prob, p->post, name, ref_layout(r, v));
	memset(d->array[TENSOR_DST], 255, (size_t)d->n * sizeof(float));
	/* An engine that writes nothing finds the output of one that is right. */
	rc = ref_run(r, 0, &e) || ref_run(r, v, &e) || ref_output(r, v, d->array[TENSOR_DST], &e);
	if (is_of(name, "engine 5")) {
		ok(rc && strstr(e.msg, "cuDNN fails to run a plan"), "it fails: %s", e.msg);
		return;
	}
	off = error(d->array[TENSOR_DST], d->want, d->n);
	if (is_of(name, "engine 6") && d->w.dtype.dst == DTYPE_S32)
		ok(!rc && off > 100, "what is not written is far from all results: error %.1e",
		   off);
	else if (is_wrong || is_of(name, "engine 6"))
		ok(!rc && !(off <= (is_whole(d) ? limit : 1e-2)),
		   "it is wrong, and that is seen: error %.1e%s", off, e.msg);
	else
		ok(!rc && off <= limit, "it is right: error %.1e%s", off, e.msg);
	ok(ref_has_rows(r) && !ref_row(r, v, 3, &e) && ref_seconds(r, &seconds) && seconds >= 0,
	   "the device tells the time of a row");
}

static int has(const struct ref *r, const char *name, const char *layout)
{
	for (int v = 0; v < ref_variants(r); v++)
		if (is_of(ref_name(r, v), name) && (!layout || !strcmp(ref_layout(r, v), layout)))
			return 1;
	return 0;
}

static void test_problem(const struct problem *p)
{
	struct err e = ERR_INIT;
	struct data d;
	struct ref *r;

	make(&d, p);
	r = ref_cuda.open(&d.w, &d.d, NULL, 0, &e);
	if (!ok(r && ref_variants(r), "%s [%s] has variants%s", p->prob, p->post, e.msg)) {
		drop(&d);
		return;
	}
	for (int v = 0; v < ref_variants(r); v++)
		test_variant(r, v, &d, p);
	ok(!p->all || strstr(p->all, "cublaslt") || has(r, p->all, p->layout),
	   "in its own layout there is one of \"%s\"", p->all ? p->all : "");
	ok(!p->all || has(r, p->all, NULL), "and anywhere");
	ok(!p->parts || has(r, p->parts, NULL), "there is one of \"%s\"", p->parts ? p->parts : "");
	ok(!strcmp(p->op, "matmul") || has(r, "engine 1", "preferred"),
	   "and one in the other layout");
	ok(has(r, "engine 4", NULL) == !dtypes_are_f32(&d.w.dtype),
	   "single precision has no engine that rounds, other types do");
	ok(!ref_write_to(r, 0, d.array[TENSOR_DST], &e), "none writes to this processor's memory");
	ref_close(r);
	drop(&d);
}

/* Another process finds the same variants by their names. */
static void test_choice(void)
{
	struct err e = ERR_INIT;
	struct ref_choice only[2];
	struct ref *r, *again;
	struct data d;
	int n;

	make(&d, &problems[0]);
	r = ref_cuda.open(&d.w, &d.d, NULL, 0, &e);
	n = r ? ref_variants(r) : 0;
	if (!ok(n > 2, "there are variants to choose from%s", e.msg))
		return;
	only[0] = (struct ref_choice){ref_name(r, n - 1), ref_layout(r, n - 1)};
	only[1] = (struct ref_choice){ref_name(r, 0), ref_layout(r, 0)};
	again = ref_cuda.open(&d.w, &d.d, only, 2, &e);
	ok(again && ref_variants(again) == 2, "two that are named are made, and no more%s", e.msg);
	if (again)
		ok(!strcmp(ref_name(again, 0), only[1].name) &&
			   !strcmp(ref_layout(again, 1), only[0].layout),
		   "these two: %s, %s", ref_name(again, 0), ref_name(again, 1));
	ref_close(again);
	ref_close(r);
	drop(&d);
}

/* ---- a trial: in a process of its own, and the first to open the device ---- */

static void test_trial(const struct problem *p)
{
	struct fence tensor[TENSOR_ROLES] = {{.map = NULL}};
	struct trial t = {.runner = &runner_cuda,
			  .vendor = &ref_cuda,
			  .tensor = tensor,
			  .max_error = 1e-4,
			  .rules = {DUEL_RACE, 0.01, 0}};
	const struct cell cell = {.timeout_s = 60, .threads = 1, .has_driver = 1};
	struct library *b = calloc(1, sizeof *b);
	char why[CELL_WHY] = "";
	struct cell_fault fault;
	enum cell_end end;
	float *expected;
	struct data d;

	make(&d, p);
	t.w = &d.w;
	for (int i = 0; i < TENSOR_ROLES; i++)
		if (d.array[i]) {
			fence_open(&tensor[i], "a tensor", workload_size(&d.w, i), sizeof(float));
			memcpy(tensor[i].data, d.array[i], fence_bytes(&tensor[i]));
		}
	expected = malloc((size_t)d.n * sizeof *expected);
	for (int64_t i = 0; i < d.n; i++)
		expected[i] = (float)d.want[i];
	t.expected = expected;
	end = cell_run(&cell, trial_library, &t, b, sizeof *b, &fault, why);
	ok(end == CELL_DONE, "the trial ends by itself: %s", why);
	ok(b->known && b->best.error_max <= 1e-4, "%s [%s]: the best is right: %s%s", p->prob,
	   p->post, b->best.impl, b->why);
	ok(!strstr(b->best.impl, "engine 2") && !strstr(b->best.impl, "engine 6"),
	   "and none of those that are not");
	ok(b->wrong > 0 && *b->rejected[0].impl, "wrong ones are rejected: %d, the first is %s",
	   b->wrong, b->rejected[0].impl);
	ok(!strcmp(b->best.layout, p->layout) || b->own_known, "its own layout has one as well");
	for (int i = 0; i < TENSOR_ROLES; i++)
		fence_close(&tensor[i]);
	free(expected);
	free(b);
	drop(&d);
}

/* ---- libraries that are not there ---- */

/* Does this machine have a library, whatever is provided? The reference does not open it by this.
 */
static int is_here(const char *name)
{
	static const struct shared_function none = {NULL, NULL};
	const char *const names[] = {name, NULL};
	struct shared library = {names, &none, 0};
	struct err e = ERR_INIT;

	return shared_open(&library, &e) == 0;
}

static void test_missing(void)
{
	const struct problem conv3 = {"conv2d", "ic8ih7oc8oh7kh3ph1", "nhwc", "", "f32", 0, NULL,
				      NULL};
	const struct problem product = {"matmul", "8x8:8x8", "ab", "bias", "f32", 0, NULL, NULL};
	struct err e = ERR_INIT;
	struct data d;
	struct ref *r;

	if (is_here("libcudnn.so.9") || is_here("libcublasLt.so.13") ||
	    is_here("libcublasLt.so.12")) {
		skip("this machine has libraries of the vendor's");
		provide(CUBLASLT);
		provide(CUBLASLT_NEW);
		return;
	}
	make(&d, &conv3);
	r = ref_cuda.open(&d.w, &d.d, NULL, 0, &e);
	ok(!r && strstr(e.msg, "the library libcudnn.so.9 is not found") &&
		   strstr(e.msg, "the library libcublasLt.so.13 is not found"),
	   "without both libraries: %s", e.msg);
	provide(CUBLASLT);
	provide(CUBLASLT_NEW);
	ok(!strcmp(ref_cuda.version(), "cublaslt 12.4.1"), "one of them is there: %s",
	   ref_cuda.version());
	r = ref_cuda.open(&d.w, &d.d, NULL, 0, &e);
	ok(r && !ref_variants(r), "a convolution has no variants without cuDNN");
	ref_close(r);
	drop(&d);
	make(&d, &product);
	r = ref_cuda.open(&d.w, &d.d, NULL, 0, &e);
	ok(r && ref_variants(r) == 6, "a product has cuBLASLt's three, in both forms");
	ref_close(r);
	drop(&d);
}

static void test_others(void)
{
	const struct problem softmax = {"softmax", "8x8", NULL, "", "f32", 0, NULL, NULL};
	struct err e = ERR_INIT;
	struct workload w;
	struct ref_data none = {NULL, NULL, NULL, NULL, NULL};
	struct ref *r;

	if (workload_from_text(&w, softmax.op, softmax.prob, NULL, NULL, &e))
		bail_out("%s", e.msg);
	r = ref_cuda.open(&w, &none, NULL, 0, &e);
	ok(r && !ref_variants(r), "an operator that these libraries lack has no variants%s", e.msg);
	ref_close(r);
}

/* Types that both libraries refuse. */
static void test_refused(void)
{
	const struct problem product = {"matmul", "16x32:32x24", "ab", "", "u8:s8:s32",
					0,	  NULL,		 NULL};
	struct err e = ERR_INIT;
	struct data d;
	struct ref *r;

	make(&d, &product);
	r = ref_cuda.open(&d.w, &d.d, NULL, 0, &e);
	ok(r && !ref_variants(r), "a product of whole numbers without sign has no variants%s",
	   e.msg);
	ref_close(r);
	drop(&d);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char here[PATH_MAX], path[2 * PATH_MAX];

	(void)argc;
	if (!realpath(argv[0], here))
		bail_out("%s is not found", argv[0]);
	/* With SAN=1, too, the stand-ins are those of the ordinary build. */
	snprintf(path, sizeof path, "%s%s/emulator", dirname(here),
		 strstr(here, "/san/") ? "/../../tests" : "");
	snprintf(stand_ins, sizeof stand_ins, "%.*s", PATH_MAX - 1, path);
	snprintf(path, sizeof path, "%s/%s", stand_ins, file[DRIVER]);
	if (access(path, R_OK)) {
		skip("there is no emulated device");
		return done_testing();
	}
	snprintf(folder, sizeof folder, "%s/tl-vendor-XXXXXX", tmp ? tmp : "/tmp");
	/* Nor may those of a person be found. */
	if (!mkdtemp(folder) || setenv("TL_CUDA_PATH", folder, 1) || setenv("HOME", folder, 1) ||
	    unsetenv("VIRTUAL_ENV") || provide(DRIVER))
		bail_out("there is no folder for the libraries");
	atexit(clean);
	for (int i = CUBLASLT; i < LIBRARIES; i++)
		provide(i);
	test_trial(&problems[0]);
	test_trial(&problems[12]);
	for (int i = CUBLASLT; i < LIBRARIES; i++)
		withdraw(i);
	test_missing();
	provide(CUDNN);
	ok(!strcmp(ref_cuda.version(), "cudnn 9.1.2, cublaslt 12.4.1"), "both are there: %s",
	   ref_cuda.version());
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		test_problem(&problems[i]);
	test_choice();
	test_others();
	test_refused();
	return done_testing();
}
