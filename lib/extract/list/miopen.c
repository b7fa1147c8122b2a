#include "lib/extract/list/miopen.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/list/command.h"
#include "lib/extract/list/dialect.h"
#include "lib/extract/list/told.h"

/* Options that are of a dimension of space: depth, height, width. */
static const char *const in[] = {"-! --in_d", "-H --in_h", "-W --in_w"};
static const char *const kernel[] = {"-@ --fil_d", "-y --fil_h", "-x --fil_w"};
static const char *const stride[] = {"-# --conv_stride_d", "-u --conv_stride_h",
				     "-v --conv_stride_w"};
static const char *const padding[] = {"-$ --pad_d", "-p --pad_h", "-q --pad_w"};
static const char *const dilation[] = {"-^ --dilation_d", "-l --dilation_h", "-j --dilation_w"};
static const char mode[] = "-z --pad_mode", layout[] = "-I --in_layout";

/* The driver's defaults, for a dimension of space. */
enum { DEFAULT_BATCH = 100, DEFAULT_CHANNELS = 3, DEFAULT_FILTERS = 32, DEFAULT_SIZE = 32 };
enum { DEFAULT_WINDOW = 3 };

static char *find(char *line)
{
	char *at = strstr(line, "MIOpenDriver");

	if (!at || (at > line && !strchr(" /\t\"'`$", at[-1])))
		return NULL;
	at += strlen("MIOpenDriver");
	if (!strncmp(at, ".exe", 4))
		at += 4;
	return *at == ' ' ? line : NULL;
}

/* What the driver calls "same" makes an output as large as the input, over the stride. */
static void pad_same(struct told_conv *t, int i)
{
	int64_t s = t->stride[i], out, all;

	if (s < 1 || t->in[i] < 1 || t->kernel[i] < 1 || t->dilation[i] < 1)
		return; /* no convolution anyway */
	out = (t->in[i] + s - 1) / s;
	all = (out - 1) * s + (t->kernel[i] - 1) * t->dilation[i] + 1 - t->in[i];
	t->before[i] = all > 0 ? all / 2 : 0;
	t->after[i] = all > 0 ? all - all / 2 : 0;
}

static void understand(const struct command *c, struct told_conv *t)
{
	int same = command_is(c, mode, "same"), valid = command_is(c, mode, "valid");

	*t = told_conv_plain(command_int(c, "-_ --spatial_dim", 2) == 3 ? 3 : 2);
	t->mb = command_int(c, "-n --batchsize", DEFAULT_BATCH);
	t->groups = command_int(c, "-g --group_count", 1);
	t->ic = command_int(c, "-c --in_channels", DEFAULT_CHANNELS);
	t->oc = command_int(c, "-k --out_channels", DEFAULT_FILTERS);
	for (int i = 0; i < t->space; i++) {
		int axis = 3 - t->space + i;

		t->in[i] = command_int(c, in[axis], DEFAULT_SIZE);
		t->kernel[i] = command_int(c, kernel[axis], DEFAULT_WINDOW);
		t->stride[i] = command_int(c, stride[axis], 1);
		t->before[i] = t->after[i] = valid ? 0 : command_int(c, padding[axis], 0);
		t->dilation[i] = command_int(c, dilation[axis], 1);
		if (same)
			pad_same(t, i);
	}
}

/* The types of its convolutions by name; those of 8 bits have sums of 32. */
static const struct {
	const char *name;
	struct dtypes dtype;
} types[] = {{"conv", {DTYPE_F32, DTYPE_F32, DTYPE_F32}},
	     {"convfp16", {DTYPE_F16, DTYPE_F16, DTYPE_F16}},
	     {"convbfp16", {DTYPE_BF16, DTYPE_BF16, DTYPE_BF16}},
	     {"convint8", {DTYPE_S8, DTYPE_S8, DTYPE_S32}}};
enum { TYPES = sizeof types / sizeof *types };

static int set_type(const char *name, struct dtypes *to)
{
	for (int i = 0; i < TYPES; i++)
		if (!strcmp(types[i].name, name)) {
			*to = types[i].dtype;
			return 0;
		}
	return -1;
}

static const char *name_of_type(const struct dtypes *d)
{
	for (int i = 0; i < TYPES; i++)
		if (dtypes_equal(&types[i].dtype, d))
			return types[i].name;
	return NULL;
}

/* Why a convolution that the driver is told to do is no workload, or NULL. type: "conv", or
 * "convfp16" and the like. */
static const char *refuse(const struct command *c, const char *type, const char *line,
			  struct told_conv *t)
{
	int64_t forward = command_int(c, "-F --forw", 0);

	if (set_type(type, &t->dtype))
		return "of other types";
	if (strstr(line, "[LogCmdFind"))
		return "a search for an algorithm";
	if (forward > 0 && !(forward & 1))
		return "backward";
	return NULL;
}

static void take_conv(struct listing *l, const char *type, const char *line, const char *options)
{
	struct err e = ERR_INIT;
	struct told_conv t;
	struct workload w;
	struct command c;
	const char *why;
	int64_t macs;

	if (command_read(&c, options) < 0) {
		listing_leave(l, type, "more options than are read", 1, -1);
		return;
	}
	understand(&c, &t);
	macs = told_conv_macs(&t);
	why = refuse(&c, type, line, &t);
	if (command_is(&c, "-m --mode", "trans")) {
		listing_leave(l, type, "transposed", 1, -1);
	} else if (why) {
		listing_leave(l, type, why, 1, strstr(why, "search") ? 0 : macs);
	} else if (told_conv(&t, command_is(&c, layout, "NHWC") || command_is(&c, layout, "NDHWC"),
			     &w, &e)) {
		listing_bad(l, &e);
	} else {
		if (command_int(&c, "-b --bias", 0) > 0)
			w.post[w.npost++].kind = POST_BIAS;
		if (workload_finish(&w, &e))
			listing_bad(l, &e);
		else
			listing_take(l, &w, "", 0, 1);
	}
}

static void read(struct listing *l, void *state, char *line)
{
	char *type = strstr(line, "MIOpenDriver"), *end;

	(void)state;
	type += strcspn(type, " ");
	type += strspn(type, " ");
	end = type + strcspn(type, " \t\"'");
	if (*end)
		*end++ = 0;
	if (!strncmp(type, "conv", 4)) {
		*(type - 1) = 0; /* what stands before is the log's */
		take_conv(l, type, line, end);
		return;
	}
	listing_leave(l, type, "", 1, words_begin("CBAInfer rnn gemm", type) ? -1 : 0);
}

const struct dialect dialect_miopen = {find, read, NULL, 0, 0, 1};

/* Its padding is the same on both sides, and where that makes another output there are no words. */
static int is_symmetric(const int64_t *d)
{
	for (int a = 0; a < 2; a++) {
		int64_t room = d[CONV_IH + a] + 2 * d[CONV_PH + a] -
			       ((d[CONV_KH + a] - 1) * (d[CONV_DH + a] + 1) + 1);

		if (room < 0 || room / d[CONV_SH + a] + 1 != d[CONV_OH + a])
			return 0;
	}
	return 1;
}

int miopen_print(const struct workload *w, struct buf *out)
{
	static const struct {
		const char *option;
		int dim, plus;
	} told[] = {{"-n", CONV_MB, 0}, {"-c", CONV_IC, 0}, {"-H", CONV_IH, 0}, {"-W", CONV_IW, 0},
		    {"-k", CONV_OC, 0}, {"-y", CONV_KH, 0}, {"-x", CONV_KW, 0}, {"-p", CONV_PH, 0},
		    {"-q", CONV_PW, 0}, {"-u", CONV_SH, 0}, {"-v", CONV_SW, 0}, {"-l", CONV_DH, 1},
		    {"-j", CONV_DW, 1}};
	int bias = workload_has_post(w, POST_BIAS);

	const char *type = name_of_type(&w->dtype);

	if (w->op != &op_conv2d || w->npost > bias || !is_symmetric(w->dim) || !type)
		return -1;
	buf_fmt(out, "./bin/MIOpenDriver %s", type);
	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		buf_fmt(out, " %s %lld", told[i].option,
			(long long)w->dim[told[i].dim] + told[i].plus);
	if (w->layout == LAYOUT_NHWC)
		buf_str(out, " --in_layout NHWC --fil_layout NHWC --out_layout NHWC");
	buf_fmt(out, " -m conv -g %lld%s -F 1 -t 1", (long long)w->dim[CONV_G],
		bias ? " -b 1" : "");
	return 0;
}
