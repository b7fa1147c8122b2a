/* Every variant that oneDNN offers computes what the operator says, whatever its layout, algorithm
 * and way to add; and says the same again after many runs. Where the library is known to err, the
 * error is so large that whoever verifies a variant sees it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/nest/elem.h"
#include "tests/tap.h"
#include "tests/truth.h"

static const struct problem {
	const char *op, *prob, *layout, *post;
	int computed;
	const char *dtype; /* NULL: f32 */
} problems[] = {
	{"conv2d", "mb1_ic16ih8_oc16oh8_kh3ph1", "nhwc", "", 0},
	{"conv2d", "mb1_ic64ih14_oc64oh14_kh3ph1", "nhwc", "bias,relu", 0},
	{"conv2d", "mb2_ic32ih13_oc48oh13_kh3ph1", "nhwc", "bias,add,relu", 0},
	{"conv2d", "mb1_ic64ih14_oc64oh14_kh3ph1", "nchw", "bias,relu", 0},
	{"conv2d", "mb1_ic32ih9_oc32oh9_kh3ph1", "nchw", "add", 0},
	{"conv2d", "mb1_ic32ih7_oc64oh7_kh1", "nhwc", "bias,relu6", 0},
	{"conv2d", "mb3_ic20ih7iw5_oc36oh7ow5_kh1kw1ph0pw0", "nhwc", "bias,add,relu", 0},
	{"conv2d", "mb1_ic32ih7_oc64oh7_kh1", "nchw", "bias,add", 0},
	{"conv2d", "mb1_ic64ih14_oc32oh7_kh1sh2", "nhwc", "bias", 0},
	{"conv2d", "mb1_ic3ih35_oc24oh17_kh7sh2ph2", "nhwc", "bias,relu", 0},
	{"conv2d", "mb1_ic3ih33_oc16oh17_kh7sh2ph3", "nchw", "relu", 0},
	{"conv2d", "mb1g32_ic32ih15_oc32oh15_kh3ph1", "nhwc", "bias,relu6", 0},
	{"conv2d", "mb2g24_ic24ih15_oc24oh7_kh3sh2ph0", "nhwc", "bias,add,relu6", 0},
	{"conv2d", "mb1g16_ic16ih12_oc16oh12_kh5ph2", "nchw", "bias,relu", 0},
	{"conv2d", "mb1g4_ic32ih10_oc64oh10_kh3ph1", "nhwc", "bias,relu", 0},
	{"conv2d", "mb1g3_ic15ih10_oc21oh5_kh3sh2ph1", "nhwc", "add,relu", 0},
	{"conv2d", "mb1g8_ic8ih9_oc16oh9_kh3ph1", "nhwc", "bias", 0},
	{"conv2d", "mb1_ic32ih17_oc32oh17_kh3ph2dh1", "nhwc", "bias,relu", 0},
	{"conv2d", "mb1_ic5ih11iw18_oc7oh9ow9_kh3kw5sh1sw2ph0pw2", "nhwc", "bias,add", 0},
	/* more padding on the far side, and input that no window reaches */
	{"conv2d", "mb1_ic16ih14_oc16oh7_kh3sh2ph0", "nhwc", "bias,relu", 0},
	{"conv2d", "mb1_ic16ih16_oc32oh5_kh3sh3ph0", "nhwc", "bias,relu", 0},
	{"conv2d", "mb1_ic16ih12iw7_oc16oh12ow7_kh1kw7ph0pw3", "nhwc", "relu,add", 0},
	/* a square matrix and its transpose have one format */
	{"matmul", "1x256:256x256", "ab", "bias", 0},
	{"matmul", "32x64:64x48", "ab", "", 0},
	{"matmul", "49x64:64x80", "ab", "bias,relu", 0},
	{"matmul", "17x33:33x29", "ab", "bias,add,relu", 0},
	{"matmul", "1x256:256x100", "ab", "bias", 0},
	{"matmul", "64x1:1x64", "ab", "bias", 0},
	{"matmul", "5x7:7x1", "ab", "relu6", 0},
	{"matmul", "64x64:64x64", "ab", "add", 0},
	{"matmul", "64x64:64x64", "ab", "relu,add", 0},
	{"matmul", "33x17:17x65", "ab", "", 1},
	{"matmul", "128x96:96x128", "ab", "bias,add,relu6", 1},
	{"matmul", "1x100:100x50", "ab", "bias", 1},
	{"matmul", "12x32x64:12x64x32", "ab", "", 1},
	{"matmul", "12x33x64:12x64x33", "ab", "add", 1},
	{"matmul", "3x16x16:3x16x16", "ab", "bias,relu", 1},
	{"matmul", "4x31x20:4x20x9", "ab", "bias,add,relu", 0},
	{"matmul", "2x64x64:2x64x64", "ab", "relu6", 0},
	{"matmul", "100x3:3x7", "ab", "bias,add,relu6", 0},
	{"matmul", "2x1x8:2x8x1", "ab", "", 1},
	{"matmul", "128x256:256x128", "ab", "bias,relu", 0},
	{"matmul", "3x64:64x48", "ab", "bias,relu,groups(16)", 0, "f32:u4:f32"},
	{"matmul", "1x96:96x33", "ab", "groups(32),zeros", 0, "f32:u4:f32"},
	{"matmul", "7x512:512x33", "ab", "bias,relu6", 0},
	{"matmul", "33x64:64x48", "ab", "bias,clip(-0.5,2)", 0},
	{"matmul", "33x64:64x48", "ab", "leaky_relu(0.1)", 0},
	{"matmul", "33x64:64x48", "ab", "bias,hardswish", 0},
	{"matmul", "33x64:64x48", "ab", "bias,sigmoid", 0},
	{"conv2d", "mb1_ic8ih14_oc64oh14_kh1ph0", "nhwc", "bias,tanh", 0},
	{"conv2d", "mb1_ic64ih14_oc64oh14_kh3ph1", "nhwc", "bias,add,silu", 0},
	{"matmul", "33x64:64x48", "ab", "bias,gelu", 0},
	{"matmul", "33x64:64x48", "ab", "bias,gelu_tanh,add", 0},
	{"matmul", "33x64:64x48", "ab", "silu,mul", 0},
	{"matmul", "12x33x64:12x64x33", "ab", "mul,add", 1},
	{"conv2d", "mb1_ic64ih14_oc64oh14_kh3ph1", "nhwc", "bias,mul,add,relu", 0},
	{"conv2d", "mb1_ic32ih9_oc32oh9_kh3ph1", "nchw", "mul", 0},
	{"conv2d", "mb1_ic32ih9_oc32oh9_kh3ph1", "nhwc", "bias", 0, "u8:s8:s32"},
	{"conv2d", "mb1_ic32ih9_oc32oh9_kh3ph1", "nhwc", "bias,scale,relu", 0, "u8:s8:u8"},
	{"conv2d", "mb1_ic32ih9_oc32oh9_kh3ph1", "nchw", "bias,scale", 0, "u8:s8:s8"},
	{"conv2d", "mb1_ic64ih7_oc32oh7_kh1", "nhwc", "bias,scale,add,relu", 0, "u8:s8:u8"},
	{"conv2d", "mb1_ic64ih7_oc32oh7_kh1", "nhwc", "scale", 0, "s8"},
	{"conv2d", "mb1g32_ic32ih15_oc32oh15_kh3ph1", "nhwc", "bias,scale,relu", 0, "u8:s8:u8"},
	{"conv2d", "mb1_ic3ih33_oc16oh17_kh7sh2ph3", "nhwc", "bias,scale,relu", 0, "u8:s8:u8"},
	{"conv2d", "mb1_ic32ih9_oc32oh9_kh3ph1", "nhwc", "bias,scale,relu,shift,pad", 0,
	 "u8:s8:u8"},
	{"conv2d", "mb1_ic32ih9_oc32oh9_kh3ph1", "nchw", "bias,scale,shift,pad", 0, "s8"},
	{"conv2d", "mb1_ic32ih9_oc32oh5_kh3sh2ph1", "nhwc", "bias,pad", 0, "u8:s8:s32"},
	{"conv2d", "mb1g32_ic32ih15_oc32oh15_kh3ph1", "nhwc", "bias,scale,shift,pad", 0,
	 "u8:s8:u8"},
	{"conv2d", "mb1_ic64ih7_oc32oh7_kh1", "nhwc", "bias,scale,add,shift", 0, "u8:s8:u8"},
	{"conv2d", "mb1_ic64ih7_oc32oh7_kh1", "nhwc", "bias,scale,shift,relu", 0, "u8:s8:f32"},
	{"matmul", "33x64:64x48", "ab", "bias,scale,shift", 0, "u8:s8:u8"},
	{"matmul", "4x31x20:4x20x12", "ab", "scale,shift", 0, "u8:s8:f32"},
	{"matmul", "33x64:64x48", "ab", "bias,scale", 0, "u8:s8:f32"},
	{"matmul", "33x64:64x48", "ab", "bias,scale,gelu", 0, "s8:s8:f32"},
	{"matmul", "4x31x20:4x20x12", "ab", "bias,scale", 0, "u8:s8:s8"},
};

/* A convolution by gemm in nhwc to which another tensor is added: until 2.7.1 oneDNN adds the first
 * pixel of that tensor to every pixel of the output, on every instruction set; from 2.7.2 it does
 * not offer this ("cpu: gemm conv: disable unsupported binary po bcasts"). On AVX-512 other
 * implementations come first. Its winograd in 8 bits rounds what it transforms. */
static int library_errs(const char *name, const char *layout, const struct problem *p)
{
	if (strstr(name, "jit_int8_wino"))
		return 1;
	return !strncmp(name, "onednn 2.", 9) && strstr(name, " direct ") &&
	       strstr(name, "gemm:jit") && !strstr(name, " sum") && !strcmp(layout, "nhwc") &&
	       (strstr(p->post, "add") || strstr(p->post, "mul"));
}

static void test_variant(struct baseline *r, int v, const struct problem *p, enum dtype dst,
			 const double *want, float *got, int64_t n)
{
	double limit = strstr(baseline_name(r, v), "winograd") ? 1e-4 : 2e-6, first, again;
	const char *layout = baseline_layout(r, v);
	struct err e = ERR_INIT;
	int bad;

	limit = dtype_error(dst, limit);
	memset(got, 255, (size_t)n * sizeof *got);
	bad = baseline_run(r, v, &e) || baseline_output(r, v, got, &e);
	first = error(got, want, n);
	for (int i = 0; i < 3 && !bad; i++)
		bad = baseline_run(r, v, &e);
	memset(got, 255, (size_t)n * sizeof *got);
	bad = bad || baseline_output(r, v, got, &e);
	again = error(got, want, n);
	if (library_errs(baseline_name(r, v), layout, p))
		ok(!bad && first > 0.01 && again > 0.01,
		   "%s %s [%s] %s, %s is known to be wrong, and far off: error %.1e, %.1e%s",
		   p->prob, p->layout, p->post, baseline_name(r, v), layout, first, again, e.msg);
	else
		ok(!bad && first <= limit && again <= limit,
		   "%s %s [%s] %s, %s: error %.1e, %.1e%s", p->prob, p->layout, p->post,
		   baseline_name(r, v), layout, first, again, e.msg);
	ok(!strcmp(layout, p->layout) || !strcmp(layout, "preferred"), "its layout is %s", layout);
	for (int i = 0; i < v; i++)
		if (!strcmp(baseline_name(r, i), baseline_name(r, v)) &&
		    !strcmp(baseline_layout(r, i), layout))
			ok(!strcmp(layout, "preferred"), "a second %s in the same layout",
			   baseline_name(r, v));
}

/* Values between -1 and 1 become whole numbers, or scales of their sums. Weights are even
 * and have seven bits: without VNNI the library adds pairs of products in 16 bits, which saturate
 * beyond, and halves weights if the source has a sign. */
static void make_whole(const struct workload *w, enum tensor_role role, float *array, int64_t n)
{
	const enum dtype type = workload_dtype(w, role);
	const int is_grouped = workload_group(w) > 0;
	const double middle = type == DTYPE_U8 ? 127.5 : 0;
	const double scale = role == TENSOR_SCALE     ? 0x1p-10
			     : type == DTYPE_S32      ? 16384
			     : type == DTYPE_F32      ? 1
			     : role == TENSOR_WEIGHTS ? 63
						      : 128;

	const double step = type == DTYPE_S8 && role == TENSOR_WEIGHTS ? 2 : 1;

	for (int64_t i = 0; i < n && is_grouped; i++)
		if (role == TENSOR_WEIGHTS || role == TENSOR_ZEROS)
			array[i] = nearbyintf(7.5F + 7.5F * array[i]);
	for (int64_t i = 0; i < n && !is_grouped; i++)
		if (role == TENSOR_PAD || (role == TENSOR_SHIFT && dtype_is_int(w->dtype.dst)))
			array[i] = role == TENSOR_SHIFT ? -11 : type == DTYPE_U8 ? 120 : -7;
		else
			array[i] = (float)(step *
					   elem_round(elem_of(type),
						      (middle + scale * (double)array[i]) / step));
}

static void test_problem(const struct problem *p)
{
	struct tensor tensor[OP_MAX_TENSORS];
	float *array[TENSOR_ROLES] = {NULL}, *got;
	struct err e = ERR_INIT;
	struct baseline_data data;
	struct workload w;
	struct baseline *r;
	double *want;
	int64_t n = 0;

	if (workload_from_text(&w, p->op, p->prob, p->layout, p->post, &e) ||
	    (p->dtype && workload_set_dtype(&w, p->dtype, strlen(p->dtype), &e)))
		bail_out("%s: %s", p->prob, e.msg);
	w.rhs_const = !p->computed;
	if (workload_finish(&w, &e))
		bail_out("%s: %s", p->prob, e.msg);
	for (int i = w.op->tensors(&w, tensor); i--;) {
		static const char *const stream[] = {"src",   "weights", "bias", "add",	  "mul",
						     "scale", "shift",	 "pad",	 "zeros", "dst"};

		array[tensor[i].role] = randoms(tensor[i].size, stream[tensor[i].role]);
		if (p->dtype)
			make_whole(&w, tensor[i].role, array[tensor[i].role], tensor[i].size);
		if (tensor[i].role == TENSOR_DST)
			n = tensor[i].size;
	}
	data = (struct baseline_data){
		array[TENSOR_SRC],   array[TENSOR_WEIGHTS], array[TENSOR_BIAS],
		array[TENSOR_ADD],   array[TENSOR_MUL],	    array[TENSOR_SCALE],
		array[TENSOR_SHIFT], array[TENSOR_PAD],	    array[TENSOR_ZEROS]};
	got = array[TENSOR_DST];
	want = malloc((size_t)n * sizeof *want);
	(w.op == &op_conv2d ? conv : matmul)(&w, &data, want);
	for (int64_t i = 0; p->dtype && i < n; i++)
		want[i] = elem_round(elem_of(w.dtype.dst), want[i]);
	r = library_onednn.open(&w, &data, NULL, 0, &e);
	if (ok(r && baseline_variants(r) > 0, "%s has variants%s", p->prob, e.msg)) {
		for (int t = 0; t < TENSOR_DST; t++) { /* these of the caller's no longer matter */
			if (t == TENSOR_SRC || t == TENSOR_MUL ||
			    (t == TENSOR_WEIGHTS && p->computed))
				continue;
			free(array[t]);
			array[t] = NULL;
		}
		for (int v = 0; v < baseline_variants(r); v++)
			test_variant(r, v, p, w.dtype.dst, want, got, n);
	}
	baseline_close(r);
	free(want);
	for (int t = 0; t < TENSOR_ROLES; t++)
		free(array[t]);
}

/* stdout is for records, whatever the environment asks of the library. The first use in the
 * process: it reads the environment once. */
static void test_quiet(void)
{
	static const float data[4] = {1, 2, 3, 4};
	struct baseline_data d = {.src = data, .weights = data};
	struct err e = ERR_INIT;
	FILE *f = tmpfile();
	int out = dup(1), bad;
	struct workload w;
	struct baseline *r;

	setenv("DNNL_VERBOSE", "2", 1);
	setenv("ONEDNN_VERBOSE", "2", 1);
	fflush(stdout);
	if (!f || out < 0 || dup2(fileno(f), 1) < 0)
		bail_out("stdout cannot be put aside");
	bad = workload_from_text(&w, "matmul", "2x2:2x2", NULL, NULL, &e);
	r = bad ? NULL : library_onednn.open(&w, &d, NULL, 0, &e);
	bad = !r || !baseline_variants(r) || baseline_run(r, 0, &e);
	baseline_close(r);
	fflush(stdout);
	dup2(out, 1);
	close(out);
	ok(!bad, "a product runs%s", e.msg);
	ok(lseek(fileno(f), 0, SEEK_END) == 0, "nothing of it is on stdout");
	fclose(f);
}

int main(void)
{
	test_quiet();
	ok(!strncmp(library_onednn.version(), "onednn ", 7), "this is %s",
	   library_onednn.version());
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		test_problem(&problems[i]);
	return done_testing();
}
