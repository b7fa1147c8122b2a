/* The baseline for CUDA's devices, with stand-ins for NVIDIA's libraries and an emulated
 * device (tests/emulator/): the graphs and products that it describes compute what the operator
 * says; what engines cannot do is left out; a library that is not there is missed by one that is.
 *
 * The stand-ins check what they are told by the rules of the documentation. Some of their engines
 * are wrong, fail, or write nothing. All variants have one output, which is filled with NaN, or a
 * whole number that no result is, before the run that is verified.
 */
#include <sched.h>
#include <sys/stat.h>

#include "lib/target/shared.h"
#include "lib/trial/cell.h"
#include "lib/trial/trial.h"
#include "tests/cuda_baseline.h"

static const char *const libraries[] = {"libcublasLt.so.12", "libcublasLt.so.13", "libcudnn.so.9"};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

static const struct problem problems[] = {
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
	/* So many pixels are not copied in one piece. */
	{"conv2d", "mb1_ic2ih25_oc3oh25_kh3ph1", "nhwc", "", "f32", 0, "engine 0", NULL},
};

/* ---- variants ---- */

/* What the stand-ins are known for. */
static void test_variant(struct baseline *r, int v, const struct data *d, const struct problem *p)
{
	const char *name = baseline_name(r, v);
	struct err e = ERR_INIT;
	double seconds = -1;
	struct ran x;

	ok(!is_of(name, "engine 3") && !is_of(name, "engine 7"),
	   "%s [%s]: %s, %s has a plan and a workspace", p->prob, p->post, name,
	   baseline_layout(r, v));
	x = run_behind_right(r, v, d);
	if (is_of(name, "engine 5")) {
		ok(x.rc && strstr(x.e.msg, "cuDNN fails to run a plan"), "it fails: %s", x.e.msg);
		return;
	}
	if (is_of(name, "engine 6") && d->w.dtype.dst == DTYPE_S32)
		ok(!x.rc && x.off > 100, "what is not written is far from all results: error %.1e",
		   x.off);
	else if (is_of(name, "engine 2") || is_of(name, "#2") || is_of(name, "engine 6"))
		is_wrong(&x, d);
	else
		is_right(&x, d);
	ok(baseline_has_rows(r) && !baseline_row(r, v, 3, &e) && baseline_seconds(r, &seconds) &&
		   seconds >= 0,
	   "the device tells the time of a row");
}

static void test_problem(const struct problem *p)
{
	struct err e = ERR_INIT;
	struct data d;
	struct baseline *r;

	r = open_baseline(&d, p, &e);
	if (!ok(r && baseline_variants(r), "%s [%s] has variants%s", p->prob, p->post, e.msg)) {
		drop(&d);
		return;
	}
	for (int v = 0; v < baseline_variants(r); v++)
		test_variant(r, v, &d, p);
	ok(!p->all || strstr(p->all, "cublaslt") || has(r, p->all, p->layout),
	   "in its own layout there is one of \"%s\"", p->all ? p->all : "");
	ok(!p->all || has(r, p->all, NULL), "and anywhere");
	ok(!p->parts || has(r, p->parts, NULL), "there is one of \"%s\"", p->parts ? p->parts : "");
	ok(!strcmp(p->op, "matmul") || has(r, "engine 1", "preferred"),
	   "and one in the other layout");
	ok(has(r, "engine 4", NULL) == !dtypes_are_f32(&d.w.dtype),
	   "single precision has no engine that rounds, other types do");
	ok(!baseline_write_to(r, 0, d.array[TENSOR_DST], &e),
	   "none writes to this processor's memory");
	baseline_close(r);
	drop(&d);
}

/* Another process finds the same variants by their names. */
static void test_choice(void)
{
	struct err e = ERR_INIT;
	struct baseline_choice only[2];
	struct baseline *r, *again;
	struct data d;
	int n;

	r = open_baseline(&d, &problems[0], &e);
	n = r ? baseline_variants(r) : 0;
	if (!ok(n > 2, "there are variants to choose from%s", e.msg))
		return;
	only[0] = (struct baseline_choice){baseline_name(r, n - 1), baseline_layout(r, n - 1)};
	only[1] = (struct baseline_choice){baseline_name(r, 0), baseline_layout(r, 0)};
	again = library_cuda.open(&d.w, &d.d, only, 2, &e);
	ok(again && baseline_variants(again) == 2, "two that are named are made, and no more%s",
	   e.msg);
	if (again)
		ok(!strcmp(baseline_name(again, 0), only[1].name) &&
			   !strcmp(baseline_layout(again, 1), only[0].layout),
		   "these two: %s, %s", baseline_name(again, 0), baseline_name(again, 1));
	baseline_close(again);
	baseline_close(r);
	drop(&d);
}

/* The stand-in refuses the plans of a thread that waits for others in vain. */
static void test_together(int cpus)
{
	struct err e = ERR_INIT;
	char text[16];
	struct data d;
	struct baseline *r;

	snprintf(text, sizeof text, "%d", cpus < 3 ? cpus : 3);
	setenv("TL_EMULATOR_TOGETHER", text, 1);
	r = open_baseline(&d, &problems[3], &e);
	unsetenv("TL_EMULATOR_TOGETHER");
	ok(r && has(r, "engine 1", "nhwc"), "with %d CPUs %s plans are made at once%s", cpus, text,
	   e.msg);
	baseline_close(r);
	drop(&d);
}

/* ---- a trial: in a process of its own, and the first to open the device ---- */

static void test_trial(const struct problem *p)
{
	struct fence tensor[TENSOR_ROLES] = {{.map = NULL}};
	struct trial t = {.runner = &runner_cuda,
			  .compared = &library_cuda,
			  .tensor = tensor,
			  .max_error = 1e-4,
			  .rules = {DUEL_RACE, 0.01, 0}};
	const struct cell cell = {.timeout_s = 60, .threads = 1, .has_driver = 1};
	struct baseline_found *b = calloc(1, sizeof *b);
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
	end = cell_run(&cell, trial_baseline, &t, b, sizeof *b, &fault, why);
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
	struct baseline *r;

	if (is_here("libcudnn.so.9") || is_here("libcudnn.so.8") || is_here("libcudnn.so.7") ||
	    is_here("libcublasLt.so.13") || is_here("libcublasLt.so.12")) {
		skip("this machine has libraries of NVIDIA's");
		provide(libraries[0]);
		provide(libraries[1]);
		return;
	}
	r = open_baseline(&d, &conv3, &e);
	ok(!r && strstr(e.msg, "the library libcudnn.so.9 is not found") &&
		   strstr(e.msg, "the library libcublasLt.so.13 is not found"),
	   "without both libraries: %s", e.msg);
	provide(libraries[0]);
	provide(libraries[1]);
	ok(!strcmp(library_cuda.version(), "cublaslt 12.4.1"), "one of them is there: %s",
	   library_cuda.version());
	r = library_cuda.open(&d.w, &d.d, NULL, 0, &e);
	ok(r && !baseline_variants(r), "a convolution has no variants without cuDNN");
	baseline_close(r);
	drop(&d);
	r = open_baseline(&d, &product, &e);
	ok(r && baseline_variants(r) == 6, "a product has cuBLASLt's three, in both forms");
	baseline_close(r);
	drop(&d);
}

static void test_others(void)
{
	const struct problem softmax = {"softmax", "8x8", NULL, "", "f32", 0, NULL, NULL};
	struct err e = ERR_INIT;
	struct workload w;
	struct baseline_data none = {NULL, NULL, NULL, NULL, NULL};
	struct baseline *r;

	if (workload_from_text(&w, softmax.op, softmax.prob, NULL, NULL, &e))
		bail_out("%s", e.msg);
	r = library_cuda.open(&w, &none, NULL, 0, &e);
	ok(r && !baseline_variants(r), "an operator that these libraries lack has no variants%s",
	   e.msg);
	baseline_close(r);
}

/* Types that both libraries refuse. */
static void test_refused(void)
{
	const struct problem product = {"matmul", "16x32:32x24", "ab", "", "u8:s8:s32",
					0,	  NULL,		 NULL};
	struct err e = ERR_INIT;
	struct data d;
	struct baseline *r;

	r = open_baseline(&d, &product, &e);
	ok(r && !baseline_variants(r), "a product of whole numbers without sign has no variants%s",
	   e.msg);
	baseline_close(r);
	drop(&d);
}

/* Begins anew, as workers do: OpenMP binds the first thread to one CPU. Returns the CPUs that there
 * were before. */
static int bind_as_workers(int argc, char **argv)
{
	cpu_set_t set;
	char text[16];

	if (argc > 1)
		return atoi(argv[1]);
	if (sched_getaffinity(0, sizeof set, &set))
		bail_out("the system does not tell which CPUs this process may use");
	snprintf(text, sizeof text, "%d", CPU_COUNT(&set));
	setenv("OMP_PROC_BIND", "true", 1);
	execl(argv[0], argv[0], text, NULL);
	bail_out("%s does not begin anew", argv[0]);
	return 0;
}

int main(int argc, char **argv)
{
	const int cpus = bind_as_workers(argc, argv);

	if (!cuda_baseline_begin(argv[0]))
		return done_testing();
	for (int i = 0; i < LIBRARIES; i++)
		provide(libraries[i]);
	test_trial(&problems[0]);
	test_trial(&problems[12]);
	for (int i = 0; i < LIBRARIES; i++)
		withdraw(libraries[i]);
	test_missing();
	provide("libcudnn.so.9");
	ok(!strcmp(library_cuda.version(), "cudnn 9.1.2, cublaslt 12.4.1"), "both are there: %s",
	   library_cuda.version());
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		test_problem(&problems[i]);
	test_choice();
	test_together(cpus);
	test_others();
	test_refused();
	return done_testing();
}
