/* Two-dimensional convolution, with groups (and so depthwise), strides, dilation and any padding.
 *
 * The problem is written as oneDNN's benchdnn writes it. Like benchdnn, and unlike other readers of
 * the notation, a text with an output size but without padding means the padding that makes this
 * size. */
#include "lib/op/op.h"

#include <assert.h>
#include <string.h>

#include "lib/nest/nest.h"
#include "lib/tile/post.h"

enum { UNSET = -1 };
static const int64_t DIM_LIMIT = INT32_MAX;
static const int64_t SIZE_LIMIT = (int64_t)1 << 40;
static const int64_t FLOPS_LIMIT = ((int64_t)1 << 53) - 1; /* what a record can say */

static const char *const names[] = {"mb", "g",	"ic", "ih", "iw", "oc", "oh", "ow",
				    "kh", "kw", "sh", "sw", "ph", "pw", "dh", "dw"};

/* Extent of the window along one axis, first to last tap. */
static int64_t window(int64_t k, int64_t d)
{
	return (k - 1) * (d + 1) + 1;
}

/* Output size with the same padding p on both sides; 0 if the window does not fit. */
static int64_t out_size(int64_t i, int64_t k, int64_t s, int64_t p, int64_t d)
{
	int64_t room = i + 2 * p - window(k, d);

	return room < 0 ? 0 : room / s + 1;
}

/* The near-side padding that benchdnn deduces for a text without one; 0 if the output asks for
 * none. */
static int64_t deduced_pad(int64_t i, int64_t o, int64_t k, int64_t s, int64_t d)
{
	int64_t all = (o - 1) * s + window(k, d) - i;

	return all > 0 && o != out_size(i, k, s, 0, d) ? all / 2 : 0;
}

/* One "name123" of the text; moves *s behind it. */
static int parse_dim(const char **s, int64_t *dim, struct err *e)
{
	const char *p = *s;
	size_t n = strcspn(p, "0123456789_");
	int64_t v = 0;
	int i = 0;

	while (i < CONV_DW + 1 && (strlen(names[i]) != n || memcmp(names[i], p, n) != 0))
		i++;
	if (i == CONV_DW + 1) {
		if (n == 2 && p[1] == 'd')
			return err_set(e, "\"%.2s\" belongs to a 3-D convolution; conv2d has two",
				       p);
		return err_set(e, "\"%.20s\" is no dimension of conv2d", p);
	}
	if (dim[i] != UNSET)
		return err_set(e, "the dimension %s is given twice", names[i]);
	p += n;
	if (*p < '0' || *p > '9')
		return err_set(e, "the dimension %s has no number", names[i]);
	for (; *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (*p - '0');
		if (v > DIM_LIMIT)
			return err_set(e, "the dimension %s is beyond 2^31-1", names[i]);
	}
	dim[i] = v;
	*s = p;
	return 0;
}

static void set_default(int64_t *dim, int64_t value)
{
	if (*dim == UNSET)
		*dim = value;
}

/* Fills in what the text left out along one axis (0: height, 1: width). */
static int complete_axis(int64_t *dim, int w, struct err *e)
{
	int64_t *i = &dim[CONV_IH + w], *o = &dim[CONV_OH + w], *k = &dim[CONV_KH + w];
	int64_t *s = &dim[CONV_SH + w], *p = &dim[CONV_PH + w], *d = &dim[CONV_DH + w];

	set_default(s, 1);
	set_default(d, 0);
	if (*i < 1 || *k < 1 || *s < 1)
		return err_set(e,
			       "the %s of the input, the kernel and the stride must be 1 or more",
			       w ? "width" : "height");
	if (*o == UNSET) {
		set_default(p, 0);
		*o = out_size(*i, *k, *s, *p, *d);
	}
	if (*p == UNSET)
		*p = *o > 0 ? deduced_pad(*i, *o, *k, *s, *d) : 0;
	return 0;
}

static int parse(const char *prob, int64_t *dim, struct err *e)
{
	static const int both[] = {CONV_IH, CONV_OH, CONV_KH, CONV_SH, CONV_PH, CONV_DH};
	static const int needed[] = {CONV_IC, CONV_OC, CONV_IH, CONV_KH};
	const char *s = prob;
	int square = 1;

	for (int i = 0; i <= CONV_DW; i++)
		dim[i] = UNSET;
	while (*s && *s != 'n') { /* n"name" ends the text */
		if (*s == '_')
			s++;
		else if (parse_dim(&s, dim, e))
			return -1;
	}
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (dim[needed[i]] == UNSET)
			return err_set(e, "the problem \"%.60s\" has no %s", prob,
				       names[needed[i]]);
	set_default(&dim[CONV_MB], 1);
	set_default(&dim[CONV_G], 1);
	for (size_t i = 0; i < sizeof both / sizeof *both; i++)
		square &= dim[both[i] + 1] == UNSET;
	for (size_t i = 0; i < sizeof both / sizeof *both; i++)
		/* An output width follows from the other widths where there are any. */
		if (square || (both[i] != CONV_OH && dim[both[i]] != UNSET))
			set_default(&dim[both[i] + 1], dim[both[i]]);
	return complete_axis(dim, 0, e) || complete_axis(dim, 1, e) ? -1 : 0;
}

static void put(struct buf *out, const int64_t *dim, int h, int wide)
{
	buf_str(out, names[h]);
	buf_int(out, dim[h]);
	if (wide) {
		buf_str(out, names[h + 1]);
		buf_int(out, dim[h + 1]);
	}
}

static void print(const int64_t *dim, struct buf *out)
{
	int wide = 0, pad = dim[CONV_PH] || dim[CONV_PW];

	for (int h = CONV_IH; h <= CONV_DH; h += h == CONV_IH ? 3 : 2)
		wide |= dim[h] != dim[h + 1];
	for (int w = 0; w < 2; w++) /* no padding where its absence would mean some */
		pad |= deduced_pad(dim[CONV_IH + w], dim[CONV_OH + w], dim[CONV_KH + w],
				   dim[CONV_SH + w], dim[CONV_DH + w]) != 0;
	put(out, dim, CONV_MB, 0);
	if (dim[CONV_G] > 1)
		put(out, dim, CONV_G, 0);
	buf_ch(out, '_');
	put(out, dim, CONV_IC, 0);
	put(out, dim, CONV_IH, wide);
	buf_ch(out, '_');
	put(out, dim, CONV_OC, 0);
	put(out, dim, CONV_OH, wide);
	buf_ch(out, '_');
	put(out, dim, CONV_KH, wide);
	if (dim[CONV_SH] != 1 || dim[CONV_SW] != 1)
		put(out, dim, CONV_SH, wide);
	if (pad)
		put(out, dim, CONV_PH, wide);
	if (dim[CONV_DH] || dim[CONV_DW])
		put(out, dim, CONV_DH, wide);
}

/* a x b x c x d, or -1 if it passes the limit. Factors are not negative. */
static int64_t product(int64_t a, int64_t b, int64_t c, int64_t d, int64_t limit)
{
	int64_t r;

	if (__builtin_mul_overflow(a, b, &r) || __builtin_mul_overflow(r, c, &r) ||
	    __builtin_mul_overflow(r, d, &r) || r > limit)
		return -1;
	return r;
}

static int check_axis(const int64_t *dim, int w, struct err *e)
{
	int64_t i = dim[CONV_IH + w], o = dim[CONV_OH + w], k = dim[CONV_KH + w];
	int64_t s = dim[CONV_SH + w], p = dim[CONV_PH + w], d = dim[CONV_DH + w], far;
	const char *axis = w ? "width" : "height";

	if (p < 0 || d < 0 || p > DIM_LIMIT || d > DIM_LIMIT)
		return err_set(e, "padding or dilation of the %s lies outside 0 to 2^31-1", axis);
	if (window(k, d) > DIM_LIMIT || i + 2 * p > DIM_LIMIT)
		return err_set(e, "the padded %s is beyond 2^31-1", axis);
	far = (o - 1) * s + window(k, d) - i - p; /* below 2^62 + 2^32 */
	if (far <= -s)
		return err_set(e, "the output %s is %lld, but input, kernel and padding make more",
			       axis, (long long)o);
	if (far > p && far >= window(k, d) + s)
		return err_set(e, "the output %s is %lld, more than input, kernel and padding make",
			       axis, (long long)o);
	if (i + p + far > DIM_LIMIT)
		return err_set(e, "the padded %s is beyond 2^31-1", axis);
	return 0;
}

static int check(const struct workload *w, struct err *e)
{
	const int64_t *d = w->dim;
	int64_t weights;

	for (int i = 0; i <= CONV_SW; i++)
		if (d[i] < 1 || d[i] > DIM_LIMIT)
			return err_set(e, "the dimension %s is %lld, outside 1 to 2^31-1", names[i],
				       (long long)d[i]);
	if (d[CONV_IC] % d[CONV_G] || d[CONV_OC] % d[CONV_G])
		return err_set(e, "%lld groups do not divide %lld and %lld channels",
			       (long long)d[CONV_G], (long long)d[CONV_IC], (long long)d[CONV_OC]);
	if (w->layout != LAYOUT_NHWC && w->layout != LAYOUT_NCHW)
		return err_set(e, "conv2d has no layout %s", layout_name(w->layout));
	if (!w->rhs_const)
		return err_set(e, "conv2d has constant weights only");
	if (check_axis(d, 0, e) || check_axis(d, 1, e))
		return -1;
	weights = product(d[CONV_OC], d[CONV_IC] / d[CONV_G], d[CONV_KH], d[CONV_KW], SIZE_LIMIT);
	if (weights < 0 ||
	    product(d[CONV_MB], d[CONV_IC], d[CONV_IH] + 2 * d[CONV_PH],
		    d[CONV_IW] + 2 * d[CONV_PW], SIZE_LIMIT) < 0 ||
	    product(d[CONV_MB], d[CONV_OC], d[CONV_OH], d[CONV_OW], SIZE_LIMIT) < 0)
		return err_set(e, "a tensor has more than 2^40 elements");
	if (product(2 * d[CONV_MB], d[CONV_OH], d[CONV_OW], weights, FLOPS_LIMIT) < 0)
		return err_set(e, "the problem has more than 2^53-1 operations");
	return 0;
}

/* The output size, from the padding on both sides that there was. An output that equal padding
 * makes is taken to have had that: what lies beyond the last step of the window cannot be seen. */
static void follow(const int64_t *from, const char *set, int64_t *dim)
{
	for (int w = 0; w < 2; w++) {
		int64_t i = from[CONV_IH + w], o = from[CONV_OH + w], k = from[CONV_KH + w];
		int64_t s = from[CONV_SH + w], p = from[CONV_PH + w], d = from[CONV_DH + w];
		int64_t far = (o - 1) * s + window(k, d) - i - p, room;

		if (set[CONV_OH + w] || !(set[CONV_IH + w] || set[CONV_KH + w] ||
					  set[CONV_SH + w] || set[CONV_PH + w] || set[CONV_DH + w]))
			continue;
		if (o == out_size(i, k, s, p, d))
			far = dim[CONV_PH + w];
		for (int at = CONV_IH + w; at <= CONV_DH + w; at += at < CONV_OH ? 3 : 2)
			if (dim[at] > DIM_LIMIT)
				return; /* no problem, and too large to compute with */
		room = dim[CONV_IH + w] + dim[CONV_PH + w] + far -
		       window(dim[CONV_KH + w], dim[CONV_DH + w]);
		dim[CONV_OH + w] =
			room < 0 || dim[CONV_SH + w] < 1 ? 0 : room / dim[CONV_SH + w] + 1;
	}
}

static int64_t flops(const struct workload *w)
{
	const int64_t *d = w->dim;

	return 2 * d[CONV_MB] * d[CONV_OC] * d[CONV_OH] * d[CONV_OW] * (d[CONV_IC] / d[CONV_G]) *
	       d[CONV_KH] * d[CONV_KW];
}

static int tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS])
{
	const int64_t *d = w->dim;
	int64_t dst = d[CONV_MB] * d[CONV_OC] * d[CONV_OH] * d[CONV_OW];
	int n = 0;

	t[n++] = (struct tensor){TENSOR_SRC, d[CONV_MB] * d[CONV_IC] * d[CONV_IH] * d[CONV_IW], 0};
	t[n++] = (struct tensor){
		TENSOR_WEIGHTS, d[CONV_OC] * (d[CONV_IC] / d[CONV_G]) * d[CONV_KH] * d[CONV_KW], 1};
	n += workload_post_tensors(w, d[CONV_OC], dst, t + n);
	t[n++] = (struct tensor){TENSOR_DST, dst, 0};
	return n;
}

/* Strides of an activation tensor in elements, by layout: image, channel, row, column. */
struct strides {
	int n, c, h, w; /* symbols */
};

static struct strides strides_of(struct nest *n, enum layout layout, int64_t c, int64_t h,
				 int64_t w)
{
	struct strides s;

	s.n = nest_param(n, "sn", c * h * w);
	s.c = nest_param(n, "sc", layout == LAYOUT_NHWC ? 1 : h * w);
	s.h = nest_param(n, "sh", layout == LAYOUT_NHWC ? w * c : w);
	s.w = nest_param(n, "sw", layout == LAYOUT_NHWC ? c : 1);
	return s;
}

/* The tap's input coordinate, o * stride - pad + k * (dilation + 1), guarded by two ifs that the
 * caller closes. */
static int open_guard(struct nest *n, int o, int k, int64_t stride, int64_t pad, int64_t dilation,
		      int64_t extent)
{
	struct affine at = af_sum(af_times(af_var(o), nest_param(n, "s", stride)),
				  af_times(af_var(k), nest_param(n, "d", dilation + 1)),
				  af_mul(af_var(nest_param(n, "p", pad)), -1));
	int i = nest_let(n, "i", at);

	nest_if_less(n, af(-1), af_var(i));
	nest_if_less(n, af_var(i), af_var(nest_param(n, "extent", extent)));
	return i;
}

/* The definition: for each output value the sum over taps and channels, then the post-ops. */
static int naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	const int64_t *d = w->dim;
	int64_t icg = d[CONV_IC] / d[CONV_G], ocg = d[CONV_OC] / d[CONV_G];
	int64_t dst_size = d[CONV_MB] * d[CONV_OC] * d[CONV_OH] * d[CONV_OW];
	enum elem elem = wide ? ELEM_F64 : ELEM_F32;
	int src = nest_arg(n, "src", TENSOR_SRC, d[CONV_MB] * d[CONV_IC] * d[CONV_IH] * d[CONV_IW],
			   0);
	int wei = nest_arg(n, "wei", TENSOR_WEIGHTS, d[CONV_OC] * icg * d[CONV_KH] * d[CONV_KW], 0);
	struct post_naive end = {.wide = wide, .sum = nest_reg(n, "acc", elem, 1, 1, 1)};
	struct strides si = strides_of(n, w->layout, d[CONV_IC], d[CONV_IH], d[CONV_IW]);
	struct strides so = strides_of(n, w->layout, d[CONV_OC], d[CONV_OH], d[CONV_OW]);
	int vicg = nest_param(n, "ICG", icg), vocg = nest_param(n, "OCG", ocg);
	int vkh = nest_param(n, "KH", d[CONV_KH]), vkw = nest_param(n, "KW", d[CONV_KW]);
	int vwo = nest_param(n, "wo", icg * d[CONV_KH] * d[CONV_KW]);
	int vwi = nest_param(n, "wi", d[CONV_KH] * d[CONV_KW]);
	int b = nest_for(n, LOOP_PARALLEL, "b", af(0), af_var(nest_param(n, "MB", d[CONV_MB])));
	int oh = nest_for(n, LOOP_PARALLEL, "oh", af(0), af_var(nest_param(n, "OH", d[CONV_OH])));
	int ow = nest_for(n, LOOP_PARALLEL, "ow", af(0), af_var(nest_param(n, "OW", d[CONV_OW])));
	int g = nest_for(n, LOOP_PARALLEL, "g", af(0), af_var(nest_param(n, "G", d[CONV_G])));
	int o = nest_for(n, LOOP_SERIAL, "o", af(0), af_var(vocg));
	struct affine channel = af_add(af_times(af_var(g), vocg), af_var(o)), from;
	const struct expr *x, *y;
	int kh, kw, ih, iw, i;

	(void)e;
	workload_post_naive(w, d[CONV_OC], dst_size, n, &end);
	nest_store(n, end.sum, af(0), NULL, ex_const(n, elem, 1, 0));
	kh = nest_for(n, LOOP_SERIAL, "kh", af(0), af_var(vkh));
	ih = open_guard(n, oh, kh, d[CONV_SH], d[CONV_PH], d[CONV_DH], d[CONV_IH]);
	kw = nest_for(n, LOOP_SERIAL, "kw", af(0), af_var(vkw));
	iw = open_guard(n, ow, kw, d[CONV_SW], d[CONV_PW], d[CONV_DW], d[CONV_IW]);
	i = nest_for(n, LOOP_SERIAL, "i", af(0), af_var(vicg));
	from = af_sum(
		af_times(af_var(b), si.n), af_times(af_var(ih), si.h), af_times(af_var(iw), si.w),
		af_times(af_var(nest_let(n, "c", af_add(af_times(af_var(g), vicg), af_var(i)))),
			 si.c));
	x = ex_load(n, src, 1, from, NULL);
	y = ex_load(n, wei, 1,
		    af_sum(af_times(af_var(nest_let(n, "oc", channel)), vwo),
			   af_times(af_var(i), vwi), af_times(af_var(kh), vkw), af_var(kw)),
		    NULL);
	post_accumulate(n, &end, x, y);
	for (int depth = 0; depth < 7; depth++) /* i, two guards, kw, two guards, kh */
		nest_close(n);

	end.bias_at = channel;
	end.at = af_sum(af_times(af_var(b), so.n), af_times(af_var(oh), so.h),
			af_times(af_var(ow), so.w),
			af_times(af_var(nest_let(n, "oc", channel)), so.c));
	post_finish(n, &end);
	while (n->depth)
		nest_close(n);
	return 0;
}

const struct op op_conv2d = {
	.name = "conv2d",
	.summary = "two-dimensional convolution",
	.ndims = CONV_DW + 1,
	.dim = {"mb", "g", "ic", "ih", "iw", "oc", "oh", "ow", "kh", "kw", "sh", "sw", "ph", "pw",
		"dh", "dw"},
	.parse = parse,
	.print = print,
	.check = check,
	.follow = follow,
	.flops = flops,
	.tensors = tensors,
	.naive = naive,
};
