/* The reference for CUDA's devices with a stand-in for cuDNN 7 and 8 (tests/emulator/):
 * convolutions by every algorithm, fused or with steps behind them; math that rounds no more than
 * the workload's numbers; what these versions cannot do is left out.
 */
#include "tests/vendor.h"

static const struct problem problems[] = {
	{"conv2d", "mb2_ic8ih7_oc12oh7_kh3ph1", "nhwc", "bias,add,relu", "f32", 0,
	 "algorithm 0 fma, bias and activation", "algorithm 0 fma, then post-ops"},
	{"conv2d", "mb1_ic6ih9iw8_oc8oh9ow8_kh3ph1", "nchw", "relu", "f32", 0,
	 "algorithm 7 fma, bias and activation", "algorithm 1 fma, then post-ops"},
	{"conv2d", "mb1_ic6ih9_oc8oh9_kh3ph1", "nhwc", "", "f32", 0, "algorithm 1 fma", NULL},
	{"conv2d", "mb1g2_ic8ih9_oc6oh9_kh3ph2dh1", "nchw", "bias,add", "f32", 0,
	 "algorithm 1 fma, bias and activation", "algorithm 0 fma, then post-ops"},
	{"conv2d", "mb1_ic5ih11iw18_oc7oh9ow9_kh3kw5sh1sw2ph0pw2", "nhwc", "bias,relu6", "f32", 0,
	 "algorithm 1 fma, bias and activation, then post-ops", "algorithm 0 fma, then post-ops"},
	{"conv2d", "mb1_ic4ih9_oc4oh9_kh3ph1", "nhwc", "bias,relu,mul,clip(0,2)", "f32", 0,
	 "algorithm 0 fma, bias and activation, then post-ops", "algorithm 0 fma, then post-ops"},
	{"conv2d", "mb1_ic4ih9_oc4oh9_kh3ph1", "nchw", "mul,add,tanh,sigmoid", "f32", 0, NULL,
	 "algorithm 0 fma, then post-ops"},
	{"conv2d", "mb1_ic4ih9_oc4oh9_kh3ph1", "nchw", "bias,silu", "f32", 0,
	 "algorithm 1 fma, bias and activation, then post-ops", "algorithm 0 fma, then post-ops"},
	{"conv2d", "mb1_ic8ih7_oc12oh7_kh3ph1", "nhwc", "bias,relu", "tf32", 0,
	 "algorithm 0 tensor, bias and activation", "algorithm 0 default, then post-ops"},
	{"conv2d", "mb1_ic8ih7_oc12oh7_kh3ph1", "nhwc", "bias,relu", "f16", 0,
	 "algorithm 0 tensor, bias and activation", "algorithm 0 default, then post-ops"},
	{"conv2d", "mb1_ic8ih7_oc12oh7_kh3ph1", "nchw", "bias", "bf16", 0,
	 "algorithm 1 default, bias and activation", "algorithm 0 tensor, then post-ops"},
	{"conv2d", "mb1_ic8ih7_oc12oh7_kh3ph1", "nhwc", "bias,relu,mul", "s8:s8:f32", 0,
	 "algorithm 0 tensor, bias and activation, then post-ops",
	 "algorithm 0 default, then post-ops"},
	{"conv2d", "mb2_ic20ih4_oc12oh4_kh1ph0", "nhwc", "bias,tanh", "f32", 0,
	 "algorithm 1 fma, bias and activation, then post-ops",
	 "cublaslt 12.4.1 transposed #1, then post-ops"},
	{"matmul", "17x33:33x29", "ab", "bias,tanh,mul", "f32", 0, NULL,
	 "cublaslt 12.4.1 #1, then post-ops"},
	{"matmul", "3x17x33:3x33x29", "ab", "mul,sigmoid", "f16", 0, NULL,
	 "cublaslt 12.4.1 #1, then post-ops"},
	{"matmul", "17x33:33x29", "ab", "mul,add", "f32", 0, NULL,
	 "cublaslt 12.4.1 #1, then post-ops"},
};

/* What the stand-ins are known for. */
static void test_variant(struct ref *r, int v, const struct data *d, const struct problem *p)
{
	const char *name = ref_name(r, v);
	struct err e = ERR_INIT;
	double seconds = -1;
	struct ran x;

	ok(!is_of(name, "algorithm 3") && !is_of(name, "algorithm 6"),
	   "%s [%s]: %s, %s exists, and has a workspace", p->prob, p->post, name, ref_layout(r, v));
	x = run_behind_right(r, v, d);
	if (is_of(name, "algorithm 5")) {
		ok(x.rc && strstr(x.e.msg, "cuDNN fails to run an algorithm: CUDNN_STATUS_"),
		   "it fails: %s", x.e.msg);
		return;
	}
	if (is_of(name, "algorithm 4") || is_of(name, "algorithm 2") || is_of(name, "#2"))
		is_wrong(&x, d);
	else
		is_right(&x, d);
	ok(!ref_row(r, v, 3, &e) && ref_seconds(r, &seconds) && seconds >= 0,
	   "the device tells the time of a row");
}

static void test_problem(const struct problem *p)
{
	struct err e = ERR_INIT;
	struct data d;
	struct ref *r;

	r = open_ref(&d, p, &e);
	if (ok(r && ref_variants(r), "%s [%s] in %s has variants%s", p->prob, p->post, p->dtype,
	       e.msg)) {
		for (int v = 0; v < ref_variants(r); v++)
			test_variant(r, v, &d, p);
		ok(!p->all || has(r, p->all, NULL), "there is one of \"%s\"", p->all ? p->all : "");
		ok(!p->parts || has(r, p->parts, NULL), "there is one of \"%s\"",
		   p->parts ? p->parts : "");
		ok(is_whole(&d) || d.w.op != &op_conv2d ||
			   (has(r, "algorithm 0", p->layout) && has(r, "algorithm 0", "preferred")),
		   "in both layouts");
		ok(has(r, "fma", NULL) == (dtypes_are_f32(&d.w.dtype) && d.w.op == &op_conv2d),
		   "single precision has the math of its class, other types have others");
	}
	ref_close(r);
	drop(&d);
}

/* How many variants there are. */
static int count(const struct problem *p, const char *name)
{
	struct err e = ERR_INIT;
	struct data d;
	struct ref *r;
	int n = 0;

	r = open_ref(&d, p, &e);
	for (int v = 0; r && v < ref_variants(r); v++)
		n += strstr(ref_name(r, v), name) != NULL;
	if (!r)
		n = -1;
	ref_close(r);
	drop(&d);
	return n;
}

static void test_refused(void)
{
	static const struct problem all[] = {
		{"conv2d", "ic8ih7oc8oh7kh3ph1", "nhwc", "gelu", "f32", 0, NULL, NULL},
		{"conv2d", "ic8ih7oc8oh7kh3ph1", "nhwc", "bias,clip(-1,1)", "f32", 0, NULL, NULL},
		{"conv2d", "ic8ih14oc8oh7kh3sh2ph0", "nhwc", "", "f32", 0, NULL, NULL},
		{"conv2d", "ic8ih7oc8oh7kh3ph1", "nhwc", "", "s8:s8:s32", 0, NULL, NULL},
		{"conv2d", "ic8ih7oc8oh7kh3ph1", "nhwc", "", "u8:s8:f32", 0, NULL, NULL},
		{"matmul", "16x32:32x24", "ab", "relu", "s8:s8:f32", 0, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		ok(count(&all[i], "") == 0,
		   "%s [%s] in %s is left out: no function, unlike ends, or no such types",
		   all[i].prob, all[i].post, all[i].dtype);
}

/* The same library as an older one. */
static void test_versions(void)
{
	const struct problem silu = {
		"conv2d", "ic8ih7oc8oh7kh3ph1", "nhwc", "bias,silu", "f32", 0, NULL, NULL};
	const struct problem bf16 = {
		"conv2d", "ic8ih7oc8oh7kh3ph1", "nhwc", "bias,relu", "bf16", 0, NULL, NULL};
	const struct problem tf32 = {
		"conv2d", "ic8ih7oc8oh7kh3ph1", "nhwc", "bias,relu", "tf32", 0, NULL, NULL};
	struct problem seven = problems[0];

	setenv("TL_EMULATOR_CUDNN", "8104", 1);
	ok(count(&silu, "") == 0, "silu is from version 8.2 on");
	setenv("TL_EMULATOR_CUDNN", "7605", 1);
	ok(!strcmp(ref_cuda.version(), "cudnn 7.6.5, cublaslt 12.4.1"), "version 7 serves: %s",
	   ref_cuda.version());
	ok(count(&problems[0], "default") > 0 && count(&problems[0], "fma") == 0 &&
		   count(&problems[0], "tensor") == 0,
	   "its default math is single precision");
	ok(count(&bf16, "") == 0 && count(&tf32, "") == 0, "it has neither bf16 nor tf32");
	seven.all = "algorithm 0 default, bias and activation";
	seven.parts = "algorithm 0 default, then post-ops";
	seven.dtype = "f16";
	test_problem(&seven);
	setenv("TL_EMULATOR_CUDNN", "7501", 1);
	ok(count(&bf16, "cudnn") == 0 && !strcmp(ref_cuda.version(), "cublaslt 12.4.1"),
	   "version 7.5 does not serve");
	unsetenv("TL_EMULATOR_CUDNN");
}

int main(int argc, char **argv)
{
	(void)argc;
	if (!vendor_begin(argv[0]))
		return done_testing();
	provide("libcublasLt.so.12");
	provide("libcublasLt.so.13");
	provide_as("legacy/libcudnn.so.8", "libcudnn.so.8");
	ok(!strcmp(ref_cuda.version(), "cudnn 8.9.7, cublaslt 12.4.1"), "both are there: %s",
	   ref_cuda.version());
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		test_problem(&problems[i]);
	test_refused();
	test_versions();
	return done_testing();
}
