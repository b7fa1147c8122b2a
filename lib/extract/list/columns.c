#include "lib/extract/list/columns.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What they are called, without underscores. */
static const char *const names[COLUMNS_COUNT] = {
	[COLUMNS_M] = "m",
	[COLUMNS_N] = "n",
	[COLUMNS_K] = "k",
	[COLUMNS_BATCH] = "b mb batch batchsize batchcount minibatch",
	[COLUMNS_GROUPS] = "g groups group groupcount",
	[COLUMNS_IC] = "c ic cin inc inchannels inputchannels channels",
	[COLUMNS_IH] = "h ih hin inh inheight inputheight height",
	[COLUMNS_IW] = "w iw win inw inwidth inputwidth width",
	[COLUMNS_OC] = "oc cout outc outchannels outputchannels filters numfilters",
	[COLUMNS_KH] = "r kh fh filterh filterheight kernelh kernelheight",
	[COLUMNS_KW] = "s kw fw filterw filterwidth kernelw kernelwidth",
	[COLUMNS_KERNEL] = "kernel kernelsize filtersize",
	[COLUMNS_SH] = "sh hstride strideh strideheight verticalstride",
	[COLUMNS_SW] = "sw wstride stridew stridewidth horizontalstride",
	[COLUMNS_STRIDE] = "stride strides",
	[COLUMNS_PH] = "ph padh hpad paddingh padheight",
	[COLUMNS_PW] = "pw padw wpad paddingw padwidth",
	[COLUMNS_PAD] = "pad padding",
	[COLUMNS_DH] = "dh dilationh hdilation",
	[COLUMNS_DW] = "dw dilationw wdilation",
	[COLUMNS_DILATION] = "dilation",
};

int columns_find(const char *name, size_t n)
{
	char plain[32];
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (name[i] == '_' || name[i] == ' ')
			continue;
		if (k == sizeof plain)
			return -1;
		plain[k++] = name[i];
	}
	for (int c = 0; k && c < COLUMNS_COUNT; c++)
		for (const char *s = names[c]; *s; s += strspn(s, " ")) {
			size_t length = strcspn(s, " ");

			if (length == k && !strncasecmp(s, plain, k))
				return c;
			s += length;
		}
	return -1;
}

const char *columns_op(const int seen[COLUMNS_COUNT])
{
	if (seen[COLUMNS_IC] && (seen[COLUMNS_IH] || seen[COLUMNS_IW]) &&
	    (seen[COLUMNS_OC] || seen[COLUMNS_K]) &&
	    (seen[COLUMNS_KH] || seen[COLUMNS_KW] || seen[COLUMNS_KERNEL]))
		return "conv2d";
	return seen[COLUMNS_M] && seen[COLUMNS_N] && seen[COLUMNS_K] ? "matmul" : NULL;
}

/* The number in the first of three columns that has one, or other. */
static int number_of(const struct buf *value, int a, int b, int c, int64_t other, int64_t *v,
		     struct err *e)
{
	const int column[] = {a, b, c};

	*v = other;
	for (int i = 0; i < 3; i++) {
		const struct buf *at = &value[column[i]];
		char *end;

		if (!at->n)
			continue;
		*v = strtoll(at->s, &end, 10);
		if (end == at->s || *end || *v < 0 || *v > INT32_MAX)
			return err_set(e, "\"%.40s\" is no size", at->s);
		return 0;
	}
	return *v < 0 ? err_set(e, "it lacks a size (%.*s)", (int)strcspn(names[a], " "), names[a])
		      : 0;
}

static int product_prob(const struct buf *value, struct buf *prob, struct err *e)
{
	int64_t b, m, n, k;

	if (number_of(value, COLUMNS_BATCH, COLUMNS_BATCH, COLUMNS_BATCH, 1, &b, e) ||
	    number_of(value, COLUMNS_M, COLUMNS_M, COLUMNS_M, -1, &m, e) ||
	    number_of(value, COLUMNS_N, COLUMNS_N, COLUMNS_N, -1, &n, e) ||
	    number_of(value, COLUMNS_K, COLUMNS_K, COLUMNS_K, -1, &k, e))
		return -1;
	buf_fmt(prob, "%lldx%lldx%lld:%lldx%lldx%lld", (long long)b, (long long)m, (long long)k,
		(long long)b, (long long)k, (long long)n);
	return 0;
}

static int conv_prob(const struct buf *value, struct buf *prob, struct err *e)
{
	static const struct {
		const char *name;
		int own, both, other; /* columns, the first that is there */
		int missing;	      /* -1: it must be there */
		int minus;
	} dims[] = {{"mb", COLUMNS_BATCH, COLUMNS_N, COLUMNS_N, 1, 0},
		    {"g", COLUMNS_GROUPS, COLUMNS_GROUPS, COLUMNS_GROUPS, 1, 0},
		    {"ic", COLUMNS_IC, COLUMNS_IC, COLUMNS_IC, -1, 0},
		    {"ih", COLUMNS_IH, COLUMNS_IW, COLUMNS_IW, -1, 0},
		    {"iw", COLUMNS_IW, COLUMNS_IH, COLUMNS_IH, -1, 0},
		    {"oc", COLUMNS_OC, COLUMNS_K, COLUMNS_K, -1, 0},
		    {"kh", COLUMNS_KH, COLUMNS_KERNEL, COLUMNS_KW, -1, 0},
		    {"kw", COLUMNS_KW, COLUMNS_KERNEL, COLUMNS_KH, -1, 0},
		    {"sh", COLUMNS_SH, COLUMNS_STRIDE, COLUMNS_SW, 1, 0},
		    {"sw", COLUMNS_SW, COLUMNS_STRIDE, COLUMNS_SH, 1, 0},
		    {"ph", COLUMNS_PH, COLUMNS_PAD, COLUMNS_PW, 0, 0},
		    {"pw", COLUMNS_PW, COLUMNS_PAD, COLUMNS_PH, 0, 0},
		    {"dh", COLUMNS_DH, COLUMNS_DILATION, COLUMNS_DW, 1, 1},
		    {"dw", COLUMNS_DW, COLUMNS_DILATION, COLUMNS_DH, 1, 1}};

	for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
		int64_t v;

		if (number_of(value, dims[i].own, dims[i].both, dims[i].other, dims[i].missing, &v,
			      e))
			return -1;
		if (v < dims[i].minus)
			return err_set(e, "a dilation of 0 is none; without gaps it is 1");
		buf_fmt(prob, "%s%lld", dims[i].name, (long long)v - dims[i].minus);
	}
	return 0;
}

int columns_prob(const char *op, const struct buf value[COLUMNS_COUNT], struct buf *prob,
		 struct err *e)
{
	return !strcmp(op, "matmul") ? product_prob(value, prob, e) : conv_prob(value, prob, e);
}
