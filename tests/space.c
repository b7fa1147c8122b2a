/* lib/space and lib/op: ids that may never change, and the notation of problems. The golden ids
 * were computed by another implementation (Python's hashlib) from the canonical text in
 * lib/space/key.h. */
#include <string.h>

#include "lib/op/op.h"
#include "lib/space/envid.h"
#include "lib/space/key.h"
#include "tests/tap.h"

static void test_key(void)
{
	struct key k = {0};
	struct buf b = BUF_INIT;

	key_str(&k, "op", "x");
	key_int(&k, "a", -5);
	key_str(&k, "z", "");
	key_int(&k, "B", 2);
	key_text(&k, &b);
	ok(!strcmp(b.s, "B=2;a=-5;op=x;z=;"), "keys stand in byte order");
	buf_free(&b);
}

static void golden(const char *op, const char *prob, const char *layout, const char *post,
		   int rhs_const, const char *id)
{
	struct workload w;
	struct err e = ERR_INIT;

	if (workload_from_text(&w, op, prob, layout, post, &e))
		bail_out("%s: %s", prob, e.msg);
	w.rhs_const = rhs_const;
	if (!ok(!workload_finish(&w, &e) && !strcmp(w.id.s, id), "the id of %s %s", op, prob))
		diag("got %s", w.id.s);
}

/* The same in other element types. */
static void golden_dtype(const char *op, const char *prob, const char *dtype, const char *post,
			 const char *id)
{
	struct workload w;
	struct err e = ERR_INIT;

	if (workload_from_text(&w, op, prob, NULL, post, &e) ||
	    workload_set_dtype(&w, dtype, strlen(dtype), &e))
		bail_out("%s: %s", prob, e.msg);
	if (!ok(!strcmp(w.id.s, id), "the id of %s %s in %s", op, prob, dtype))
		diag("got %s", w.id.s);
}

/* Parses prob, wants the canonical text, and wants the same dimensions from that text again. */
static void prints(const char *op, const char *prob, const char *want)
{
	struct workload w, again;
	struct err e = ERR_INIT;

	if (workload_from_text(&w, op, prob, NULL, NULL, &e)) {
		ok(0, "%s is written %s", prob, want);
		diag("%s", e.msg);
		return;
	}
	if (!ok(!strcmp(w.prob, want), "%s is written %s", prob, want))
		diag("got %s", w.prob);
	ok(!workload_from_text(&again, op, w.prob, NULL, NULL, &e) &&
		   !memcmp(w.dim, again.dim, sizeof w.dim) && !strcmp(w.id.s, again.id.s),
	   "%s means the same again", w.prob);
}

static void refused(const char *op, const char *prob, const char *layout, const char *post,
		    const char *why)
{
	struct workload w;
	struct err e = ERR_INIT;
	int rc = workload_from_text(&w, op, prob, layout, post, &e);

	if (!ok(rc == -1 && strstr(e.msg, why), "%s %s is refused: %s", op, prob, why))
		diag("got %d, %s", rc, e.msg);
}

static void test_conv2d(void)
{
	const char *op = "conv2d", *r50 = "mb1_ic64ih56_oc64oh56_kh3ph1";

	prints(op, "mb1_ic64ih56oc64oh56kh3sh1dh0ph1", r50);
	prints(op, "ic64ih56oc64oh56kh3", r50); /* as in benchdnn: padding follows from oh */
	prints(op, "kh3kw3oc64ow56oh56ic64iw56ih56ph1pw1n\"conv:1_x\"", r50);
	prints(op, "ic64ih56oc64kh3", "mb1_ic64ih56_oc64oh54_kh3");
	prints(op, "ic64ih56oc64oh56kh3ph0", "mb1_ic64ih56_oc64oh56_kh3ph0");
	prints(op, "mb2g32ic32ih112oc32kh3sh2ph1", "mb2g32_ic32ih112_oc32oh56_kh3sh2ph1");
	prints(op, "ic3ih224iw200oc8kh7sh2ph3",
	       "mb1_ic3ih224iw200_oc8oh112ow100_kh7kw7sh2sw2ph3pw3");
	prints(op, "ic8ih17oc8oh17ow17kh1kw7ph0pw3", "mb1_ic8ih17iw17_oc8oh17ow17_kh1kw7ph0pw3");
	prints(op, "ic3ih224oc64oh112kh3sh2", "mb1_ic3ih224_oc64oh112_kh3sh2"); /* far side only */
	prints(op, "ic4ih5oc4oh9kh3ph1", "mb1_ic4ih5_oc4oh9_kh3ph1");		/* 5 behind */
	prints(op, "ic4ih5oc4oh12kh3ph1", "mb1_ic4ih5_oc4oh12_kh3ph1");
	prints(op, "ic4ih9oc4kh3dh1ph2", "mb1_ic4ih9_oc4oh9_kh3ph2dh1");

	refused(op, "", NULL, NULL, "has no ic");
	refused(op, "ic64ih56oc64", NULL, NULL, "has no kh");
	refused(op, "ic64ih56oc64kh3ic64", NULL, NULL, "twice");
	refused(op, "ic64ih56oc64kh", NULL, NULL, "no number");
	refused(op, "ic64ih56oc64khx", NULL, NULL, "no dimension");
	refused(op, "ic64ih-1oc64kh3", NULL, NULL, "no dimension");
	refused(op, "ic64id5ih5oc64kh3", NULL, NULL, "3-D");
	refused(op, "ic0ih5oc6kh3", NULL, NULL, "outside 1");
	refused(op, "ic6ih0oc6kh3", NULL, NULL, "1 or more");
	refused(op, "ic6ih5oc6kh3sh0", NULL, NULL, "1 or more");
	refused(op, "ic6ih5oc6kh3sh2147483647ph1", NULL, NULL,
		"stride of the height is beyond 2^20");
	refused(op, "ic6ih2oc6kh3", NULL, NULL, "outside 1");
	refused(op, "ic6ih5oc6oh2kh3", NULL, NULL, "make more");
	refused(op, "ic6ih5oc6oh50kh3ph1", NULL, NULL,
		"a padding of 46 behind the input, more than");
	refused(op, "ic4ih5oc4oh13kh3ph1", NULL, NULL,
		"more than the input of 5 and a window of 3");
	refused(op, "g4ic6ih5oc8kh3", NULL, NULL, "do not divide");
	refused(op, "ic99999999999999999999ih5oc8kh3", NULL, NULL, "2^31-1");
	refused(op, "ic2147483647ih2147483647oc1kh1", NULL, NULL, "2^40");
	refused(op, "ic1048576ih1024oc1048576kh1", NULL, NULL, "2^53-1");
	refused(op, "ic1ih1oc1oh2147483647kh2147483647sh2147483647dh2147483647", NULL, NULL, "");
	refused(op, "ic64ih56oc64kh3", "ab", NULL, "layout");
	refused(op, "ic64ih56oc64kh3", "xyz", NULL, "no layout");
	refused(op, "ic64ih56oc64kh3", NULL, "bias,bias", "twice");
	refused(op, "ic64ih56oc64kh3", NULL, "relu,bias", "first");
	refused(op, "ic64ih56oc64kh3", NULL, "softmax", "is none");
	refused(op, "ic64ih56oc64kh3", NULL, "clip(2,1)", "lower bound above");
	refused(op, "ic64ih56oc64kh3", NULL, "clip(nan,1)", "two finite numbers");
	refused(op, "ic64ih56oc64kh3", NULL, "clip(1e39,1e39)", "two finite numbers");
	refused(op, "ic64ih56oc64kh3", NULL, "clip(1)", "two finite numbers");
	refused(op, "ic64ih56oc64kh3", NULL, "clip", "two finite numbers");
	refused(op, "ic64ih56oc64kh3", NULL, "clip(0,1", "parenthesis");
	refused(op, "ic64ih56oc64kh3", NULL, "clip(0,1,2)", "two finite numbers");
	refused(op, "ic64ih56oc64kh3", NULL, "leaky_relu()", "a finite number");
	refused(op, "ic64ih56oc64kh3", NULL, "gelu(1)", "no numbers");
	refused(op, "ic64ih56oc64kh3", NULL, "clip(0,1),clip(1,2)", "twice");
	refused("conv9d", "ic1", NULL, NULL, "no operator");
}

static void test_conv3d(void)
{
	const char *op = "conv3d", *stem = "mb1_ic3id16ih112iw112_oc64od8oh56ow56_kd3kh7kw7"
					   "sd2sh2sw2pd1ph3pw3";

	prints(op, "ic3id16ih112iw112oc64od8oh56ow56kd3kh7kw7sd2sh2sw2pd1ph3pw3n\"stem\"", stem);
	prints(op, "ic3id16ih112oc64kd3kh7sd2pd1ph3sh2", stem); /* the width is as the height */
	prints(op, "ic4id8oc6od8kd3", "mb1_ic4id8_oc6od8_kd3pd1");
	prints(op, "mb2g4ic4id9oc8kd3sd2dd1", "mb2g4_ic4id9_oc8od3_kd3sd2dd1");
	prints(op, "ic4id1ih5iw7oc6kd1kh3kw3ph1pw1",
	       "mb1_ic4id1ih5iw7_oc6od1oh5ow7_kd1kh3kw3pd0ph1pw1");

	refused(op, "ic64ih56oc64kh3", NULL, NULL, "has no id");
	refused(op, "ic64id5oc64kd3ke3", NULL, NULL, "no dimension of conv3d");
	refused(op, "ic6id2oc6kd3", NULL, NULL, "outside 1");
	refused(op, "ic6id5ih0iw5oc6kd3", NULL, NULL, "the height");
	refused(op, "ic6id5oc6od2kd3", NULL, NULL, "the output depth is 2, but");
	refused(op, "ic65536id2048oc1kd1", NULL, NULL, "2^40");
	refused(op, "ic1024id1024oc1048576kd1", NULL, NULL, "2^40");
	refused(op, "ic1048576id64oc1048576kd1", NULL, NULL, "2^53-1");
	refused(op, "ic4id8oc6kd3", "nhwc", NULL, "no layout nhwc");
	ok(op_conv3d.ndims == CONV3D_DW + 1 && op_conv2d.ndims == CONV_DW + 1,
	   "dimensions have the names that they are counted by");
}

/* Operators of which kernels are not made yet. */
static void test_others(void)
{
	prints("softmax", "1536x128n\"x\"", "1536x128");
	refused("softmax", "1536", NULL, NULL, "not RxC");
	refused("softmax", "0x5", NULL, NULL, "outside 1");
	refused("softmax", "2x3x4", NULL, NULL, "stands behind");
	refused("softmax", "2147483647x2147483647", NULL, NULL, "2^40");
	refused("softmax", "2x3", "nhwc", NULL, "no layout");
	refused("eltwise", "2x3", NULL, NULL, "does nothing");
	prints("layer_norm", "128x768", "128x768");
	prints("rms_norm", "128x768", "128x768");
	prints("maxpool2d", "mb1ic64ih112kh3sh2ph1", "mb1_ic64ih112_oh56_kh3sh2ph1");
	prints("avgpool2d", "ic2048ih7kh7n\"last\"", "mb1_ic2048ih7_oh1_kh7");
	refused("maxpool2d", "ic64ih112oc3kh3", NULL, NULL, "no dimension of maxpool2d");
	prints("maxpool3d", "mb1ic64id8ih112iw112kd1kh3kw3sd1sh2sw2pd0ph1pw1",
	       "mb1_ic64id8ih112iw112_od8oh56ow56_kd1kh3kw3sd1sh2sw2pd0ph1pw1");
	prints("avgpool3d", "ic512id2kd2", "mb1_ic512id2_od1_kd2");
	refused("maxpool3d", "ic64id8oc3kd3", NULL, NULL, "no dimension of maxpool3d");
	refused("maxpool3d", "ic64id8kd3", "nhwc", NULL, "no layout");
	refused("maxpool2d", "ic64ih2kh3", NULL, NULL, "outside 1");
	prints("attention", "b1h12m128n128k64v64", "b1h12_m128n128_k64v64");
	prints("attention", "m4n5k6n\"x\"", "b1h1_m4n5_k6v6");
	prints("attention", "b2_h3_m4_n5_k6_v7_mask1", "b2h3_m4n5_k6v7_mask1");
	refused("attention", "m4k6", NULL, NULL, "has no n");
	refused("attention", "m4n5k6m4", NULL, NULL, "twice");
	refused("attention", "m4n5k6x7", NULL, NULL, "no dimension");
	refused("attention", "m4n5k6mask2", NULL, NULL, "neither 0 nor 1");
	refused("attention", "m0n5k6", NULL, NULL, "outside 1");
	refused("attention", "h1024m1048576n1048576k64", NULL, NULL, "2^40");
	refused("attention", "m4n5k6", NULL, "relu", "no post-operations");
}

static void flops_are(const char *op, const char *prob, const char *post, int64_t want)
{
	struct workload w;
	struct err e = ERR_INIT;

	if (workload_from_text(&w, op, prob, NULL, post, &e))
		bail_out("%s %s: %s", op, prob, e.msg);
	if (!ok(w.flops == want, "the operations of %s %s", op, prob))
		diag("got %lld", (long long)w.flops);
}

static void test_flops(void)
{
	flops_are("softmax", "3x4", NULL, 5 * 12);
	flops_are("layer_norm", "3x4", "bias", 7 * 12);
	flops_are("rms_norm", "3x4", NULL, 4 * 12);
	flops_are("eltwise", "3x4", "mul,relu", 2 * 12);
	flops_are("maxpool2d", "ic3ih8oh4kh2sh2", NULL, 3 * 16 * 4);
	flops_are("maxpool3d", "ic3id8od4kd2sd2", NULL, 3 * 64 * 8);
	flops_are("attention", "b2h3m4n5k6v7", NULL, 2 * 2 * 3 * 4 * 5 * (6 + 7));
	flops_are("conv3d", "ic2id4oc3od4kd3", NULL, 2 * 2 * 3 * 64 * 27);
}

/* As the element types of a product of 2x3 and 3x4, and the bytes of its tensors. */
static void bytes(const char *dtype, const char *post, int64_t want)
{
	struct workload w;
	struct err e = ERR_INIT;

	if (workload_from_text(&w, "matmul", "2x3:3x4", NULL, post, &e) ||
	    workload_set_dtype(&w, dtype, strlen(dtype), &e))
		bail_out("%s: %s", dtype, e.msg);
	if (!ok(workload_bytes(&w) == want && !strcmp(w.dtype_text, dtype), "bytes in %s", dtype))
		diag("got %lld in %s", (long long)workload_bytes(&w), w.dtype_text);
}

static void no_dtype(const char *dtype, const char *why)
{
	struct workload w;
	struct err e = ERR_INIT;

	if (workload_from_text(&w, "matmul", "2x3:3x4", NULL, NULL, &e))
		bail_out("%s", e.msg);
	if (!ok(workload_set_dtype(&w, dtype, strlen(dtype), &e) == -1 && strstr(e.msg, why),
		"the element type %s is refused: %s", dtype, why))
		diag("got %s", e.msg);
}

/* Is a sum of so many products taken in these types, and one of one more refused? */
static void sums_at_most(const char *op, const char *most, const char *more, const char *dtype)
{
	struct workload w, x;
	struct err e = ERR_INIT, why = ERR_INIT;

	if (workload_from_text(&w, op, most, NULL, NULL, &e) ||
	    workload_from_text(&x, op, more, NULL, NULL, &e))
		bail_out("%s", e.msg);
	if (!ok(!workload_set_dtype(&w, dtype, strlen(dtype), &e) &&
			workload_set_dtype(&x, dtype, strlen(dtype), &why) == -1 &&
			strstr(why.msg, "32 bits"),
		"%s in %s is taken, %s refused", most, dtype, more))
		diag("got %s; %s", e.msg, why.msg);
}

static void test_sums(void)
{
	struct workload w;
	struct err e = ERR_INIT;

	sums_at_most("matmul", "2x65793:65793x3", "2x65794:65794x3", "u8:s8:f32");
	sums_at_most("matmul", "2x131071:131071x3", "2x131072:131072x3", "s8");
	sums_at_most("matmul", "2x33025:33025x3", "2x33026:33026x3", "u8:u8:s32");
	sums_at_most("matmul", "2x1052688:1052688x3", "2x1052689:1052689x3", "u8:s4:f32");
	sums_at_most("conv2d", "g2ic14620ih9oc4kh3", "g2ic14622ih9oc4kh3", "u8:s8:u8");
	ok(!workload_from_text(&w, "matmul", "2x999999:999999x3", NULL, NULL, &e) &&
		   !workload_set_dtype(&w, "bf16", 4, &e) &&
		   !workload_set_dtype(&w, "f32:s8:f32", 10, &e),
	   "sums of reals have any length %s", e.msg);
}

static void test_dtypes(void)
{
	struct workload w;
	struct err e = ERR_INIT;

	bytes("f32", "bias", 4 * (6 + 12 + 4 + 8));
	bytes("bf16", "bias", 2 * (6 + 12 + 4 + 8));
	bytes("u8:s8:f32", "bias,add", 6 + 12 + 4 * (4 + 8 + 8));
	bytes("s8", "bias", 6 + 12 + 4 * 4 + 8);
	bytes("f16:s4:f16", NULL, 2 * 6 + 6 + 2 * 8);
	if (workload_from_text(&w, "matmul", "2x3:3x4", NULL, NULL, &e) ||
	    workload_set_dtype(&w, "s8:s8:s8", 8, &e))
		bail_out("%s", e.msg);
	ok(!strcmp(w.dtype_text, "s8"), "one type thrice is written once");
	no_dtype("", "is none");
	no_dtype("f64", "is none");
	no_dtype("u8:s8", "two types");
	no_dtype("u8:s8:", "is none");
	no_dtype("u8:s8:f32:f32", "more than three");
	no_dtype("s32", "only results");
	no_dtype("f32:s32:f32", "only results");
	no_dtype("u8:s8:s4", "4 bits");
	no_dtype("u8:f32:f32", "whole numbers");
	no_dtype("f32:f32:s8", "makes whole numbers");
}

static void test_matmul(void)
{
	const char *op = "matmul";

	prints(op, "49x512:512x1000", "49x512:512x1000");
	prints(op, "1x2x3:1x3x4", "2x3:3x4");
	prints(op, "8x2x3:8x3x4_n\"x\"", "8x2x3:8x3x4");
	refused(op, "2x3:4x5", NULL, NULL, "differ");
	refused(op, "8x2x3:7x3x4", NULL, NULL, "batches");
	refused(op, "2x3", NULL, NULL, "':'");
	refused(op, "2x3:3", NULL, NULL, "not MxK:KxN");
	refused(op, "2:2", NULL, NULL, "not MxK:KxN");
	refused(op, "2x3:3x4x5x6", NULL, NULL, "at most 3");
	refused(op, "2x3:3x4junk", NULL, NULL, "behind");
	refused(op, "0x3:3x4", NULL, NULL, "outside 1");
	refused(op, "2147483648x3:3x4", NULL, NULL, "2^31-1");
	refused(op, "2147483647x2147483647:2147483647x1", NULL, NULL, "2^40");
}

static void test_workload(void)
{
	static const char *const bad[][2] = {
		{"{\"op\":\"conv2d\"}", "no \"prob\""},
		{"{\"op\":1,\"prob\":\"\"}", "plain string"},
		{"{\"op\":\"matmul\",\"prob\":\"2x3:3x4\",\"flops\":47}", "flops"},
		{"{\"op\":\"matmul\",\"prob\":\"2x3:3x4\",\"workload_id\":\"0\"}", "workload_id"},
		{"{\"op\":\"matmul\",\"prob\":\"2x3:3x4\",\"dtype\":\"f64\"}", "element type"},
		{"{\"op\":\"matmul\",\"prob\":\"2x3:3x4\",\"post\":\"relu\"}", "array"},
		{"{\"op\":\"matmul\",\"prob\":\"2x3:3x4\",\"rhs\":\"x\"}", "rhs"},
		{"{\"op\":\"conv2d\",\"prob\":\"ic1ih1oc1kh1\",\"rhs\":\"const\"}", "matmul only"},
		{"[]", "not an object"},
	};
	struct json_doc d = JSON_DOC_INIT;
	struct workload w, again;
	struct tensor t[OP_MAX_TENSORS];
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;

	if (workload_from_text(&w, "conv2d", "g2ic4ih5oc6kh3ph1", "nchw", "bias,add,relu6", &e))
		bail_out("%s", e.msg);
	ok(w.flops == 2 * 6 * 5 * 5 * 2 * 9, "flops count each multiply-add twice");
	ok(w.op->tensors(&w, t) == 5 && t[1].size == 6 * 2 * 9 && t[1].is_const, "five tensors");
	ok(workload_bytes(&w) == 4 * (4 * 25 + 108 + 6 + 2 * 150), "bytes count each tensor once");
	buf_ch(&b, '{');
	workload_fields(&w, &b);
	buf_ch(&b, '}');
	ok(!json_parse(&d, b.s, b.n, &e) && !workload_from_json(&again, &d, d.tok, &e) &&
		   !strcmp(again.id.s, w.id.s) && again.layout == LAYOUT_NCHW && again.npost == 3,
	   "a workload comes back from its own fields");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int rc;

		if (json_parse(&d, bad[i][0], strlen(bad[i][0]), &e))
			bail_out("%s", e.msg);
		rc = workload_from_json(&again, &d, d.tok, &e);
		if (!ok(rc == -1 && strstr(e.msg, bad[i][1]), "%s is refused", bad[i][0]))
			diag("got %s", e.msg);
	}
	json_free(&d);
	buf_free(&b);
}

/* Groups of weights: which lists of post-ops, and which problems, have them. */
static void test_groups(void)
{
	static const struct {
		const char *op, *prob, *dtype, *post, *says;
	} bad[] = {
		{"matmul", "2x96:96x5", "f32:u4:f32", "groups(33)", "do not divide the 96 values"},
		{"matmul", "2x96:96x5", "f32:u4:f32", "groups(0)", "do not divide"},
		{"matmul", "2x96:96x5", "f32:u4:f32", "groups(1.5e)", "needs a number"},
		{"matmul", "2x96:96x5", "f32:u4:f32", "groups", "needs a number"},
		{"matmul", "2x96:96x5", "f32:u4:f32", "zeros", "must be the last"},
		{"matmul", "2x96:96x5", "f32:u4:f32", "groups(32),relu", "must be the last"},
		{"matmul", "2x96:96x5", "f32:u4:f32", "zeros,groups(32)", "must be the last"},
		{"matmul", "2x96:96x5", "f32:u4:f32", "scale,groups(32)", "and no others"},
		{"matmul", "3x2x96:3x96x5", "f32:u4:f32", "groups(32)", "one constant matrix"},
		{"matmul", "2x96:96x5", "u8:s8:f32", "groups(32)", "activations of reals"},
		{"matmul", "2x96:96x5", "f32:s8:f32", "groups(32)", "weights in u4, u8 or reals"},
		{"conv2d", "ic32ih4oc8oh4kh1", "f32:u4:f32", "groups(32)", "of matmul"},
	};
	struct workload w;
	struct err e = ERR_INIT;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		e = (struct err)ERR_INIT;
		if (!ok((workload_from_text(&w, bad[i].op, bad[i].prob, NULL, bad[i].post, &e) ||
			 workload_set_dtype(&w, bad[i].dtype, strlen(bad[i].dtype), &e)) &&
				strstr(e.msg, bad[i].says),
			"%s of %s in %s is refused", bad[i].post, bad[i].prob, bad[i].dtype))
			diag("got %s", e.msg);
	}
	if (workload_from_text(&w, "matmul", "2x96:96x5", NULL, "relu,groups(32),zeros", &e) ||
	    workload_set_dtype(&w, "f32:u4:f32", 10, &e))
		bail_out("%s", e.msg);
	ok(workload_size(&w, TENSOR_SCALE) == 15 && workload_size(&w, TENSOR_ZEROS) == 15 &&
		   workload_group(&w) == 32,
	   "each group of a column has a scale and a zero point");
	ok(workload_bytes(&w) == 4 * (2 * 96 + 15 + 10) + 96 * 5 / 2 + 8,
	   "weights and zero points of 4 bits are half a byte each");
}

/* Envs */

static int envid_is(const struct envid *v, const char *hw_id, const char *env_id)
{
	struct id hw, env;

	envid_make(v, &hw, &env);
	return !strcmp(hw.s, hw_id) + 2 * !strcmp(env.s, env_id);
}

static void test_envid(void)
{
	static const char hw[] = "065798f6f1e51f9d65293df36067ee4b",
			  env[] = "5c1f8a680275cd3fb51a73147dd49ea3";
	const struct envid was = {.features = "avx2,fma,avx512f,avx512bw,avx512vl,avx512vnni,"
					      "avx512bf16,amx-tile,amx-bf16",
				  .isa = "avx512",
				  .cc = "gcc 12.2.0",
				  .libs = "onednn 2.6.3",
				  .l1d = 49152,
				  .l2 = 2097152,
				  .l3 = 503316480,
				  .threads = 2};
	struct envid is = was;

	ok(envid_is(&is, hw, env) == 3, "golden: an env and its hardware");
	is.threads = 1;
	ok(envid_is(&is, hw, env) == 0, "threads are hardware");
	is = was;
	is.isa = "avx2";
	ok(envid_is(&is, hw, env) == 0, "so is the instruction set");
	is = was;
	is.cc = "gcc 12.2.1";
	ok(envid_is(&is, hw, env) == 1, "another compiler is another env of it");
	is = was;
	is.libs = "onednn 2.6.2";
	ok(envid_is(&is, hw, env) == 1, "and so is another library");
}

/* The post-ops as they are given and in the canonical text. */
static void written(const char *post, const char *want)
{
	struct workload w;
	struct err e = ERR_INIT;
	struct buf text = BUF_INIT;

	if (workload_from_text(&w, "matmul", "2x3:3x4", NULL, post, &e))
		bail_out("%s: %s", post, e.msg);
	workload_posts(&w, &text);
	if (!ok(!strcmp(text.s, want), "%s is written %s", post, want))
		diag("got %s", text.s);
	buf_free(&text);
}

static void test_posts(void)
{
	written("bias,clip(-1.0,+1e10),add", "bias,clip(-1,1e10),add");
	written("leaky_relu(0.1)", "leaky_relu(0.1)");
	written("leaky_relu(0.0099999998)", "leaky_relu(0.01)");
	written("clip(-0,5)", "clip(0,5)");
	written("clip(-3.40282347e38,3.40282347e38)", "clip(-3.4028235e38,3.4028235e38)");
	written("clip(0,6.0)", "relu6");
	written("leaky_relu(0)", "relu");
	written("tanh,sigmoid,silu,gelu,gelu_tanh,hardswish",
		"tanh,sigmoid,silu,gelu,gelu_tanh,hardswish");
}

int main(void)
{
	test_posts();
	test_key();
	test_envid();
	golden("conv2d", "ic64ih56oc64kh3ph1", NULL, "bias,relu", 1,
	       "4c37ef429432a06ac4502501a1f8777a");
	golden("conv2d", "g64ic64ih56oc64kh3ph1", "nchw", NULL, 1,
	       "ce7327cb520e259ef69fd43e95085528");
	golden("matmul", "49x512:512x1000", NULL, NULL, 1, "f0b6c2f5d7fa21638b4b570435ec1e4e");
	golden("matmul", "8x2x3:8x3x4", NULL, "relu6", 0, "47c326ba174d219b70c043c06cf3d537");
	golden("conv3d", "ic3id16ih112iw112oc64od8oh56ow56kd3kh7kw7sd2sh2sw2pd1ph3pw3", NULL,
	       "bias,relu", 1, "56025e95a488f100a8dc8c23b0fd6d0b");
	golden("softmax", "1536x128", NULL, NULL, 1, "e242cc66fcb2afe8d05555db89fcb8ec");
	golden("layer_norm", "128x768", NULL, "bias", 1, "0efb84d52a77d720bd51bb8dc2ca9ae0");
	golden("rms_norm", "128x768", NULL, NULL, 1, "5ddd67aaede378d8becdab057751f9e4");
	golden("eltwise", "128x3072", NULL, "gelu", 1, "a1998ec897d3937455b771aef658178d");
	golden("attention", "b1h12m128n128k64v64", NULL, NULL, 1,
	       "c51da2b552769adb3446ce437be989f0");
	golden("maxpool2d", "ic64ih112kh3sh2ph1", NULL, NULL, 1,
	       "1a05209b03b224145079b58536099d5e");
	golden("avgpool2d", "ic2048ih7kh7", NULL, NULL, 1, "d128f613cab92f832fdc5107f135c987");
	golden_dtype("matmul", "49x512:512x1000", "bf16", NULL, "ce722de1115698a65209f5cef70cc36e");
	golden_dtype("conv2d", "ic64ih56oc64oh56kh3", "u8:s8:f32", "bias,relu",
		     "146b0303bb594d0d60863867ff667bae");
	golden_dtype("matmul", "1x4096:4096x4096", "f32:u4:f32", "bias,groups(32),zeros",
		     "24856f748ddec83f133c8722755c9433");
	test_conv2d();
	test_conv3d();
	test_groups();
	test_dtypes();
	test_sums();
	test_others();
	test_flops();
	test_matmul();
	test_workload();
	return done_testing();
}
