#include "lib/op/convolution.h"

#include <string.h>

#include "lib/nest/nest.h"
#include "lib/tile/post.h"

enum { UNSET = -1 };
enum { MOST_STRIDE = 1 << 20 }; /* the product of two strides times some hundreds fits 64 bits */
/* ---- where the dimensions stand ---- */

enum { MB, G };

static int is_pool(const struct convolution *c)
{
	return c->kind != CONVOLUTION;
}

static int ic_at(const struct convolution *c)
{
	return is_pool(c) ? 1 : 2;
}

static int in_at(const struct convolution *c, int axis)
{
	return ic_at(c) + 1 + axis;
}

static int oc_at(const struct convolution *c)
{
	return is_pool(c) ? ic_at(c) : in_at(c, c->axes);
}

static int out_at(const struct convolution *c, int axis)
{
	return in_at(c, c->axes) + !is_pool(c) + axis;
}

static int kernel_at(const struct convolution *c, int axis)
{
	return out_at(c, c->axes) + axis;
}

static int stride_at(const struct convolution *c, int axis)
{
	return kernel_at(c, c->axes) + axis;
}

static int pad_at(const struct convolution *c, int axis)
{
	return stride_at(c, c->axes) + axis;
}

static int dilation_at(const struct convolution *c, int axis)
{
	return pad_at(c, c->axes) + axis;
}

static int64_t groups(const struct convolution *c, const int64_t *dim)
{
	return dim[is_pool(c) ? ic_at(c) : G];
}

/* Channels that an output reads. */
static int64_t depth(const struct convolution *c, const int64_t *dim)
{
	return dim[ic_at(c)] / groups(c, dim);
}

typedef int place(const struct convolution *c, int axis);
/* What a convolution has along each axis. */
static place *const along[] = {in_at, out_at, kernel_at, stride_at, pad_at, dilation_at};
enum { ALONG = sizeof along / sizeof *along };

/* The sizes along one axis: input, output, kernel, stride, padding before, dilation. */
struct sizes {
	int64_t i, o, k, s, p, d;
};

static struct sizes sizes_along(const struct convolution *c, const int64_t *dim, int axis)
{
	return (struct sizes){dim[in_at(c, axis)],     dim[out_at(c, axis)],
			      dim[kernel_at(c, axis)], dim[stride_at(c, axis)],
			      dim[pad_at(c, axis)],    dim[dilation_at(c, axis)]};
}

/* Extent of the window along one axis, first to last tap. */
static int64_t window(int64_t k, int64_t d)
{
	return (k - 1) * (d + 1) + 1;
}

/* The padding behind the input that the output asks for; negative where windows end before it. */
static int64_t far_pad(const struct sizes *z)
{
	return (z->o - 1) * z->s + window(z->k, z->d) - z->i - z->p; /* below 2^62 + 2^32 */
}

/* Output size with the same padding p on both sides; 0 if the window does not fit. */
static int64_t out_size(const struct sizes *z, int64_t p)
{
	int64_t room = z->i + 2 * p - window(z->k, z->d);

	return room < 0 ? 0 : room / z->s + 1;
}

/* The near-side padding that benchdnn deduces for a text without one; 0 if the output asks for
 * none. */
static int64_t deduced_pad(const struct sizes *z)
{
	int64_t all = (z->o - 1) * z->s + window(z->k, z->d) - z->i;

	return all > 0 && z->o != out_size(z, 0) ? all / 2 : 0;
}

/* ---- problem text ---- */

/* One "name123" of the text; moves *s behind it. */
static int parse_dim(const struct convolution *c, const char **s, int64_t *dim, struct err *e)
{
	const char *p = *s, *const *names = c->op->dim;
	size_t n = strcspn(p, "0123456789_");
	int64_t v = 0;
	int i = 0;

	while (i < c->op->ndims && (strlen(names[i]) != n || memcmp(names[i], p, n) != 0))
		i++;
	if (i == c->op->ndims) {
		if (c->axes == 2 && n == 2 && p[1] == 'd')
			return err_set(e,
				       "\"%.2s\" belongs to a 3-D operator; %s has two dimensions",
				       p, c->op->name);
		return err_set(e, "\"%.20s\" is no dimension of %s", p, c->op->name);
	}
	if (dim[i] != UNSET)
		return err_set(e, "the dimension %s is given twice", names[i]);
	p += n;
	if (*p < '0' || *p > '9')
		return err_set(e, "the dimension %s has no number", names[i]);
	for (; *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (*p - '0');
		if (v > OP_MOST_DIM)
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

/* Fills in what the text left out along one axis. */
static int complete_axis(const struct convolution *c, int64_t *dim, int axis, struct err *e)
{
	int64_t *o = &dim[out_at(c, axis)], *p = &dim[pad_at(c, axis)];
	struct sizes z;

	set_default(&dim[stride_at(c, axis)], 1);
	set_default(&dim[dilation_at(c, axis)], 0);
	z = sizes_along(c, dim, axis);
	if (z.i < 1 || z.k < 1 || z.s < 1)
		return err_set(e,
			       "the %s of the input, the kernel and the stride must be 1 or more",
			       c->axis[axis]);
	if (*o == UNSET) {
		set_default(p, 0);
		*o = z.o = out_size(&z, *p);
	}
	if (*p == UNSET)
		*p = *o > 0 ? deduced_pad(&z) : 0;
	return 0;
}

/* What the text does not say of an axis is as along the axis before it. An output size follows from
 * the other sizes of its axis where there are any. */
static void copy_axis(const struct convolution *c, int64_t *dim, int axis)
{
	int said = 0;

	for (int i = 0; i < ALONG; i++)
		said |= dim[along[i](c, axis)] != UNSET;
	for (int i = 0; i < ALONG; i++) {
		int64_t before = dim[along[i](c, axis - 1)];

		if (!said || (along[i] != out_at && before != UNSET))
			set_default(&dim[along[i](c, axis)], before);
	}
}

int convolution_parse(const struct op *op, const char *prob, int64_t *dim, struct err *e)
{
	const struct convolution *c = op->form;
	const int needed[] = {ic_at(c), oc_at(c), in_at(c, 0), kernel_at(c, 0)};
	const char *s = prob;

	for (int i = 0; i < c->op->ndims; i++)
		dim[i] = UNSET;
	while (*s && !op_is_label(s)) {
		if (*s == '_')
			s++;
		else if (parse_dim(c, &s, dim, e))
			return -1;
	}
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (dim[needed[i]] == UNSET)
			return err_set(e, "the problem \"%.60s\" has no %s", prob,
				       c->op->dim[needed[i]]);
	set_default(&dim[MB], 1);
	if (!is_pool(c))
		set_default(&dim[G], 1);
	for (int axis = 1; axis < c->axes; axis++)
		copy_axis(c, dim, axis);
	for (int axis = 0; axis < c->axes; axis++)
		if (complete_axis(c, dim, axis, e))
			return -1;
	return 0;
}

/* n axes of what stands at `at`. */
static void put(const struct convolution *c, struct buf *out, const int64_t *dim, int at, int n)
{
	for (int i = at; i < at + n; i++) {
		buf_str(out, c->op->dim[i]);
		buf_int(out, dim[i]);
	}
}

/* Is any of n sizes another one than this? */
static int differ(const int64_t *dim, int n, int64_t from)
{
	for (int i = 0; i < n; i++)
		if (dim[i] != from)
			return 1;
	return 0;
}

void convolution_print(const struct op *op, const int64_t *dim, struct buf *out)
{
	const struct convolution *c = op->form;
	int n = 1, pad = differ(&dim[pad_at(c, 0)], c->axes, 0);

	for (int i = 0; i < ALONG; i++)
		if (differ(&dim[along[i](c, 0)], c->axes, dim[along[i](c, 0)]))
			n = c->axes;
	for (int axis = 0; axis < c->axes; axis++) {
		struct sizes z = sizes_along(c, dim, axis);

		/* No padding where its absence would mean some. */
		pad |= deduced_pad(&z) != 0;
	}
	put(c, out, dim, MB, 1);
	if (!is_pool(c) && dim[G] > 1)
		put(c, out, dim, G, 1);
	buf_ch(out, '_');
	put(c, out, dim, ic_at(c), 1);
	put(c, out, dim, in_at(c, 0), n);
	buf_ch(out, '_');
	if (!is_pool(c))
		put(c, out, dim, oc_at(c), 1);
	put(c, out, dim, out_at(c, 0), n);
	buf_ch(out, '_');
	put(c, out, dim, kernel_at(c, 0), n);
	if (differ(&dim[stride_at(c, 0)], c->axes, 1))
		put(c, out, dim, stride_at(c, 0), n);
	if (pad)
		put(c, out, dim, pad_at(c, 0), n);
	if (differ(&dim[dilation_at(c, 0)], c->axes, 0))
		put(c, out, dim, dilation_at(c, 0), n);
}

/* ---- is it a problem at all? ---- */

/* a x b, or -1 if it passes the limit, or a did. Factors are not negative. */
static int64_t times(int64_t a, int64_t b, int64_t limit)
{
	return op_product((int64_t[]){a, b}, 2, limit);
}

static int check_axis(const struct convolution *c, const int64_t *dim, int axis, struct err *e)
{
	struct sizes z = sizes_along(c, dim, axis);
	const char *name = c->axis[axis];
	int64_t far;

	if (z.p < 0 || z.d < 0 || z.p > OP_MOST_DIM || z.d > OP_MOST_DIM)
		return err_set(e, "padding or dilation of the %s lies outside 0 to 2^31-1", name);
	if (z.s > MOST_STRIDE)
		return err_set(e, "the stride of the %s is beyond 2^20", name);
	if (window(z.k, z.d) > OP_MOST_DIM || z.i + 2 * z.p > OP_MOST_DIM)
		return err_set(e, "the padded %s is beyond 2^31-1", name);
	far = far_pad(&z);
	if (far <= -z.s)
		return err_set(e, "the output %s is %lld, but input, kernel and padding make more",
			       name, (long long)z.o);
	/* More zeros behind than there is image are a mistake. */
	if (far > z.p && far >= window(z.k, z.d) + z.s && far > z.i + window(z.k, z.d))
		return err_set(
			e,
			"the output %s of %lld needs a padding of %lld behind the input, more "
			"than the input of %lld and a window of %lld",
			name, (long long)z.o, (long long)far, (long long)z.i,
			(long long)window(z.k, z.d));
	if (z.i + z.p + far > OP_MOST_DIM)
		return err_set(e, "the padded %s is beyond 2^31-1", name);
	return 0;
}

static int check_size(const struct convolution *c, const int64_t *d, struct err *e)
{
	int64_t weights = times(d[oc_at(c)], depth(c, d), OP_MOST_ELEMENTS), work = 2 * d[MB];
	int64_t src = times(d[MB], d[ic_at(c)], OP_MOST_ELEMENTS),
		dst = times(d[MB], d[oc_at(c)], OP_MOST_ELEMENTS);

	for (int axis = 0; axis < c->axes; axis++) {
		struct sizes z = sizes_along(c, d, axis);

		weights = times(weights, z.k, OP_MOST_ELEMENTS);
		src = times(src, z.i + z.p + (far_pad(&z) > z.p ? far_pad(&z) : z.p),
			    OP_MOST_ELEMENTS);
		dst = times(dst, z.o, OP_MOST_ELEMENTS);
		work = times(work, z.o, OP_MOST_FLOPS);
	}
	if (weights < 0 || src < 0 || dst < 0)
		return err_set(e, "a tensor has more than 2^40 elements");
	if (times(work, weights, OP_MOST_FLOPS) < 0)
		return err_set(e, "the problem has more than 2^53-1 operations");
	return 0;
}

/* Does a window read outside of the image? */
static int is_padded(const struct convolution *c, const int64_t *d)
{
	int is = 0;

	for (int axis = 0; axis < c->axes; axis++) {
		const struct sizes z = sizes_along(c, d, axis);

		is |= z.p > 0 || far_pad(&z) > 0;
	}
	return is;
}

int convolution_check(const struct workload *w, struct err *e)
{
	const struct convolution *c = w->op->form;
	const int64_t *d = w->dim;

	if (op_check_dims(w, pad_at(c, 0), e))
		return -1;
	if (d[ic_at(c)] % groups(c, d) || d[oc_at(c)] % groups(c, d))
		return err_set(e, "%lld groups do not divide %lld and %lld channels",
			       (long long)groups(c, d), (long long)d[ic_at(c)],
			       (long long)d[oc_at(c)]);
	if (w->layout != c->last && w->layout != c->first)
		return err_set(e, "%s has no layout %s", c->op->name, layout_name(w->layout));
	if (!w->rhs_const)
		return err_set(e, "%s has constant weights only", c->op->name);
	for (int axis = 0; axis < c->axes; axis++)
		if (check_axis(c, d, axis, e))
			return -1;
	if (workload_has_post(w, POST_PAD) && !is_padded(c, d))
		return err_set(e, "the post-op pad needs padding");
	return check_size(c, d, e);
}

/* The output size, from the padding on both sides that there was. An output that equal padding
 * makes is taken to have had that: what lies beyond the last step of the window cannot be seen. */
static void follow_axis(const struct convolution *c, const int64_t *from, const char *set,
			int64_t *dim, int axis)
{
	struct sizes was = sizes_along(c, from, axis), is;
	int64_t far = (was.o - 1) * was.s + window(was.k, was.d) - was.i - was.p, room;
	int is_set = 0;

	for (int i = 0; i < ALONG; i++)
		is_set |= set[along[i](c, axis)];
	if (set[out_at(c, axis)] || !is_set)
		return;
	if (was.o == out_size(&was, was.p))
		far = dim[pad_at(c, axis)];
	for (int i = 0; i < ALONG; i++)
		if (dim[along[i](c, axis)] > OP_MOST_DIM)
			return; /* no problem, and too large to compute with */
	is = sizes_along(c, dim, axis);
	room = is.i + is.p + far - window(is.k, is.d);
	dim[out_at(c, axis)] = room < 0 || is.s < 1 ? 0 : room / is.s + 1;
}

void convolution_follow(const struct op *op, const int64_t *from, const char *set, int64_t *dim)
{
	const struct convolution *c = op->form;

	for (int axis = 0; axis < c->axes; axis++)
		follow_axis(c, from, set, dim, axis);
}

/* ---- sizes ---- */

static int64_t along_all(const struct convolution *c, const int64_t *dim, place *at)
{
	int64_t n = 1;

	for (int axis = 0; axis < c->axes; axis++)
		n *= dim[at(c, axis)];
	return n;
}

int64_t convolution_flops(const struct workload *w)
{
	const struct convolution *c = w->op->form;
	const int64_t *d = w->dim;

	return (is_pool(c) ? 1 : 2) * d[MB] * d[oc_at(c)] * along_all(c, d, out_at) * depth(c, d) *
	       along_all(c, d, kernel_at);
}

int convolution_tensors(const struct workload *w, struct tensor t[OP_MAX_TENSORS])
{
	const struct convolution *c = w->op->form;
	const int64_t *d = w->dim;
	int64_t dst = d[MB] * d[oc_at(c)] * along_all(c, d, out_at);
	int n = 0;

	t[n++] = (struct tensor){TENSOR_SRC, d[MB] * d[ic_at(c)] * along_all(c, d, in_at), 0};
	if (!is_pool(c))
		t[n++] = (struct tensor){TENSOR_WEIGHTS,
					 d[oc_at(c)] * depth(c, d) * along_all(c, d, kernel_at), 1};
	n += workload_post_tensors(w, d[oc_at(c)], dst, t + n);
	if (workload_has_post(w, POST_PAD))
		t[n++] = (struct tensor){TENSOR_PAD, d[ic_at(c)], 1};
	t[n++] = (struct tensor){TENSOR_DST, dst, 0};
	return n;
}

/* ---- the definition ---- */

/* Strides of an activation tensor in elements, by layout: image, channel, and along each axis; all
 * of them symbols. */
struct strides {
	int n, c, axis[CONVOLUTION_AXES];
};

static struct strides strides_of(struct nest *n, const struct convolution *c, int is_last,
				 const int64_t *dim, place *size, int64_t channels)
{
	static const char *const name[] = {"sd", "sh", "sw"};
	int64_t pixels = along_all(c, dim, size), step = is_last ? channels : 1;
	int64_t stride[CONVOLUTION_AXES];
	struct strides s;

	for (int axis = c->axes; axis-- > 0;) {
		stride[axis] = step;
		step *= dim[size(c, axis)];
	}
	s.n = nest_param(n, "sn", channels * pixels);
	s.c = nest_param(n, "sc", is_last ? 1 : pixels);
	for (int axis = 0; axis < c->axes; axis++)
		s.axis[axis] = nest_param(n, name[CONVOLUTION_AXES - c->axes + axis], stride[axis]);
	return s;
}

/* Where a value of image b and channel (variables) is, at the coordinates along the axes. */
static struct affine value_at(const struct convolution *c, const struct strides *s, int b,
			      int channel, const int *axis)
{
	struct affine at = af_add(af_times(af_var(b), s->n), af_times(af_var(channel), s->c));

	for (int i = 0; i < c->axes; i++)
		at = af_add(at, af_times(af_var(axis[i]), s->axis[i]));
	return at;
}

/* The tap's input coordinate, o * stride - pad + k * (dilation + 1), guarded by two ifs that the
 * caller closes. */
static int open_guard(struct nest *n, int o, int k, const struct sizes *z)
{
	struct affine at = af_sum(af_times(af_var(o), nest_param(n, "s", z->s)),
				  af_times(af_var(k), nest_param(n, "d", z->d + 1)),
				  af_mul(af_var(nest_param(n, "p", z->p)), -1));
	int i = nest_let(n, "i", at);

	nest_if_less(n, af(-1), af_var(i));
	nest_if_less(n, af_var(i), af_var(nest_param(n, "extent", z->i)));
	return i;
}

/* Loops of a convolution's definition and the coordinates that they make. */
struct loops {
	int b, g, o, i;
	int64_t together; /* output channels whose sums are made side by side */
	int out[CONVOLUTION_AXES], tap[CONVOLUTION_AXES], in[CONVOLUTION_AXES];
};

/* Opens the loops over outputs. */
static void open_outputs(struct nest *n, const struct convolution *c, const int64_t *d,
			 struct loops *l)
{
	l->b = nest_for(n, LOOP_PARALLEL, "b", af(0), af_var(nest_param(n, "MB", d[MB])));
	for (int axis = 0; axis < c->axes; axis++)
		l->out[axis] = nest_for(n, LOOP_PARALLEL, c->op->dim[out_at(c, axis)], af(0),
					af_var(nest_param(n, "O", d[out_at(c, axis)])));
	l->g = nest_for(n, LOOP_PARALLEL, "g", af(0), af_var(nest_param(n, "G", groups(c, d))));
}

/* A definition's sum has buffers, places of values in them, a first output channel (a variable) and
 * something that becomes of it. pad is -1 where zeros lie outside of the image. */
struct sum {
	int src, wei, pad, oc;
	const struct strides *s;
	struct post_naive *end;
};

/* The loops over taps and their channels, around a multiply-add of each output channel. With pad,
 * each value of the source is counted from that of its channel; outside, too: for all taps, the
 * sum is of what lies outside. */
static void sum_taps(struct nest *n, const struct convolution *c, const struct workload *w,
		     struct loops *l, const struct sum *sum, int outside)
{
	const int64_t *d = w->dim;
	int64_t taps = along_all(c, d, kernel_at);
	int icg = nest_param(n, "ICG", depth(c, d)), before = n->depth;
	int wo = nest_param(n, "wo", depth(c, d) * taps), u;
	struct affine weight = af_times(af_var(sum->oc), wo);
	const struct expr *x, *y, *pad = NULL;
	int wi = nest_param(n, "wi", taps), channel;

	for (int axis = 0; axis < c->axes; axis++) {
		struct sizes z = sizes_along(c, d, axis);

		taps /= z.k;
		l->tap[axis] = nest_for(n, LOOP_SERIAL, c->op->dim[kernel_at(c, axis)], af(0),
					af_var(nest_param(n, "K", z.k)));
		if (!outside)
			l->in[axis] = open_guard(n, l->out[axis], l->tap[axis], &z);
		weight = af_add(weight, af_times(af_var(l->tap[axis]), nest_param(n, "wk", taps)));
	}
	l->i = nest_for(n, LOOP_SERIAL, "i", af(0), af_var(icg));
	channel = nest_let(n, "c", af_add(af_times(af_var(l->g), icg), af_var(l->i)));
	u = post_open(n, sum->end, l->together);
	if (sum->pad >= 0)
		pad = ex_load(n, sum->pad, 1, af_var(channel), NULL);
	x = outside ? pad
		    : ex_load(n, sum->src, 1, value_at(c, sum->s, l->b, channel, l->in), NULL);
	if (pad && !outside)
		x = ex_op(n, EXPR_SUB, x, pad, NULL);
	y = ex_load(n, sum->wei, 1,
		    af_sum(weight, af_times(af_var(l->i), wi), af_times(af_var(u), wo)), NULL);
	post_accumulate(n, sum->end, x, y);
	while (n->depth > before)
		nest_close(n);
}

/* For each output value the sum over taps and channels, then the post-ops. */
int convolution_naive(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	const struct convolution *c = w->op->form;
	const int64_t *d = w->dim;
	const enum elem elem = wide ? ELEM_F64 : ELEM_F32;
	struct tensor t[OP_MAX_TENSORS];
	int count = convolution_tensors(w, t), is_last = w->layout == c->last;
	int src = nest_arg(n, "src", TENSOR_SRC, t[0].size, 0);
	int wei = nest_arg(n, "wei", TENSOR_WEIGHTS, t[1].size, 0);
	const int64_t ocg = d[oc_at(c)] / groups(c, d), together = post_together(ocg);
	struct post_naive end = {.wide = wide,
				 .sum = nest_reg(n, "acc", elem, 1, (int)together, 1)};
	struct strides si = strides_of(n, c, is_last, d, in_at, d[ic_at(c)]);
	struct strides so = strides_of(n, c, is_last, d, out_at, d[oc_at(c)]);
	struct loops l = {.together = together};
	struct sum sum = {src, wei, -1, -1, &si, &end};
	int channel, u;

	(void)e;
	if (workload_has_post(w, POST_PAD))
		sum.pad = nest_arg(n, "pad", TENSOR_PAD, d[ic_at(c)], 0);
	open_outputs(n, c, d, &l);
	l.o = nest_for(n, LOOP_SERIAL, "o", af(0), af_var(nest_param(n, "OCB", ocg / together)));
	sum.oc = nest_let(n, "oc",
			  af_add(af_times(af_var(l.g), nest_param(n, "OCG", ocg)),
				 af_mul(af_var(l.o), together)));
	workload_post_naive(w, d[oc_at(c)], t[count - 1].size, n, &end);
	post_begin(n, &end, together);
	if (sum.pad >= 0)
		sum_taps(n, c, w, &l, &sum, 1);
	sum_taps(n, c, w, &l, &sum, 0);

	u = post_open(n, &end, together);
	channel = nest_let(n, "oc", af_add(af_var(sum.oc), af_var(u)));
	end.bias_at = af_var(channel);
	end.at = value_at(c, &so, l.b, channel, l.out);
	post_finish(n, &end);
	while (n->depth)
		nest_close(n);
	return 0;
}

/* One more value of the window; count: a register. */
static void take_value(struct nest *n, const struct convolution *c, const struct post_naive *end,
		       int count, const struct expr *x)
{
	const struct expr *one = ex_const(n, ELEM_F64, 1, 1);

	x = ex_op(n, EXPR_WIDEN, x, NULL, NULL);
	nest_store(n, end->sum, af(0), NULL,
		   ex_op(n, c->kind == CONVOLUTION_MAX ? EXPR_MAX : EXPR_ADD,
			 ex_reg(n, end->sum, af(0)), x, NULL));
	if (c->kind == CONVOLUTION_MEAN)
		nest_store(n, count, af(0), NULL,
			   ex_op(n, EXPR_ADD, ex_reg(n, count, af(0)), one, NULL));
}

int convolution_naive_pool(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	const struct convolution *c = w->op->form;
	const int64_t *d = w->dim;
	const double least = c->kind == CONVOLUTION_MAX ? -1e300 : 0;
	struct tensor t[OP_MAX_TENSORS];
	int count = convolution_tensors(w, t), is_last = w->layout == c->last;
	int src = nest_arg(n, "src", TENSOR_SRC, t[0].size, 0), before;
	int taps = nest_reg(n, "taps", ELEM_F64, 1, 1, 1);
	struct post_naive end = {.wide = 1, .sum = nest_reg(n, "acc", ELEM_F64, 1, 1, 1)};
	struct strides si = strides_of(n, c, is_last, d, in_at, d[ic_at(c)]);
	struct strides so = strides_of(n, c, is_last, d, out_at, d[ic_at(c)]);
	struct loops l;

	(void)wide;
	(void)e;
	open_outputs(n, c, d, &l);
	workload_post_naive(w, d[ic_at(c)], t[count - 1].size, n, &end);
	nest_store(n, end.sum, af(0), NULL, ex_const(n, ELEM_F64, 1, least));
	nest_store(n, taps, af(0), NULL, ex_const(n, ELEM_F64, 1, 0));
	before = n->depth;
	for (int axis = 0; axis < c->axes; axis++) {
		struct sizes z = sizes_along(c, d, axis);

		l.tap[axis] = nest_for(n, LOOP_SERIAL, c->op->dim[kernel_at(c, axis)], af(0),
				       af_var(nest_param(n, "K", z.k)));
		l.in[axis] = open_guard(n, l.out[axis], l.tap[axis], &z);
	}
	take_value(n, c, &end, taps, ex_load(n, src, 1, value_at(c, &si, l.b, l.g, l.in), NULL));
	while (n->depth > before)
		nest_close(n);

	if (c->kind == CONVOLUTION_MEAN)
		nest_store(n, end.sum, af(0), NULL,
			   ex_op(n, EXPR_DIV, ex_reg(n, end.sum, af(0)), ex_reg(n, taps, af(0)),
				 NULL));
	end.bias_at = af_var(l.g);
	end.at = value_at(c, &so, l.b, l.g, l.out);
	post_finish(n, &end);
	while (n->depth)
		nest_close(n);
	return 0;
}
