#include "lib/op/op.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/base/nearest.h"
#include "lib/io/field.h"
#include "lib/nest/nest.h"
#include "lib/space/key.h"
#include "lib/tile/post.h"

void op_names(struct buf *out)
{
	for (const struct op *const *op = op_list; *op; op++)
		buf_fmt(out, "%s%s", op == op_list ? "" : "|", (*op)->name);
}

const struct op *op_find(const char *name, size_t n)
{
	for (const struct op *const *op = op_list; *op; op++)
		if (strlen((*op)->name) == n && !memcmp((*op)->name, name, n))
			return *op;
	return NULL;
}

int64_t op_product(const int64_t *factor, int n, int64_t limit)
{
	int64_t r = 1;

	for (int i = 0; i < n; i++)
		if (factor[i] < 0 || __builtin_mul_overflow(r, factor[i], &r) || r > limit)
			return -1;
	return r;
}

int op_check_dims(const struct workload *w, int n, struct err *e)
{
	for (int i = 0; i < n; i++)
		if (w->dim[i] < 1 || w->dim[i] > OP_MOST_DIM)
			return err_set(e, "the dimension %s is %lld, outside 1 to 2^31-1",
				       w->op->dim[i], (long long)w->dim[i]);
	return 0;
}

int op_is_label(const char *s)
{
	return s[0] == 'n' && (s[1] == '"' || !s[1]);
}

int workload_has_post(const struct workload *w, enum post p)
{
	return post_has(w->npost, w->post, p);
}

int64_t workload_group(const struct workload *w)
{
	for (int i = 0; i < w->npost; i++)
		if (w->post[i].kind == POST_GROUPS)
			return (int64_t)w->post[i].a;
	return 0;
}

int64_t workload_size(const struct workload *w, enum tensor_role role)
{
	struct tensor t[OP_MAX_TENSORS];
	int n = w->op->tensors(w, t);

	for (int i = 0; i < n; i++)
		if (t[i].role == role)
			return t[i].size;
	return 0;
}

int workload_post_tensors(const struct workload *w, int64_t channels, int64_t outputs,
			  struct tensor *t)
{
	int n = 0;

	if (workload_has_post(w, POST_BIAS))
		t[n++] = (struct tensor){TENSOR_BIAS, channels, 1};
	if (workload_has_post(w, POST_ADD))
		t[n++] = (struct tensor){TENSOR_ADD, outputs, 0};
	if (workload_has_post(w, POST_MUL))
		t[n++] = (struct tensor){TENSOR_MUL, outputs, 0};
	if (workload_has_post(w, POST_SCALE))
		t[n++] = (struct tensor){TENSOR_SCALE, channels, 1};
	if (workload_has_post(w, POST_SHIFT))
		t[n++] = (struct tensor){TENSOR_SHIFT, channels, 1};
	return n;
}

static int post_arg(const struct workload *w, enum post kind, const char *name,
		    enum tensor_role role, int64_t size, struct nest *n)
{
	return workload_has_post(w, kind) ? nest_arg(n, name, role, size, 0) : -1;
}

void workload_post_naive(const struct workload *w, int64_t channels, int64_t outputs,
			 struct nest *n, struct post_naive *p)
{
	p->bias = post_arg(w, POST_BIAS, "bias", TENSOR_BIAS, channels, n);
	p->add = post_arg(w, POST_ADD, "add", TENSOR_ADD, outputs, n);
	p->mul = post_arg(w, POST_MUL, "mul", TENSOR_MUL, outputs, n);
	p->scale = post_arg(w, POST_SCALE, "scale", TENSOR_SCALE, channels, n);
	p->shift = post_arg(w, POST_SHIFT, "shift", TENSOR_SHIFT, channels, n);
	p->dst = nest_arg(n, "dst", TENSOR_DST, outputs, 1);
	p->result = elem_of(w->dtype.dst);
	p->npost = w->npost;
	p->post = w->post;
}

int64_t workload_bytes(const struct workload *w)
{
	struct tensor t[OP_MAX_TENSORS];
	int n = w->op->tensors(w, t);
	int64_t size = 0;

	for (int i = 0; i < n; i++)
		size += workload_tensor_bytes(w, t[i].role, t[i].size);
	return size; /* at most 6 x 2^42 */
}

enum dtype workload_dtype(const struct workload *w, enum tensor_role role)
{
	if (role == TENSOR_SRC || role == TENSOR_PAD)
		return w->dtype.src;
	if (role == TENSOR_WEIGHTS || role == TENSOR_ZEROS)
		return w->dtype.wei;
	if (role == TENSOR_SCALE || role == TENSOR_SHIFT)
		return DTYPE_F32;
	return role == TENSOR_BIAS && dtype_is_int(w->dtype.src) ? DTYPE_S32 : w->dtype.dst;
}

int64_t workload_tensor_bytes(const struct workload *w, enum tensor_role role, int64_t elements)
{
	return (elements * dtype_bits(workload_dtype(w, role)) + 7) / 8;
}

/* A sum of products of the source and the weights? Attention puts a softmax between two. */
static int is_one_product(const struct op *op)
{
	return op->is_product && op != &op_attention;
}

int workload_define(const struct workload *w, int wide, struct nest *n, struct err *e)
{
	if (!workload_group(w) && !dtypes_are_one_real(&w->dtype) &&
	    !(is_one_product(w->op) && (dtypes_are_whole(&w->dtype) ||
					dtypes_are_bytes(&w->dtype) || dtypes_widen(&w->dtype))))
		return err_set(e, "nothing defines %s in %s yet", w->op->name, w->dtype_text);
	return w->op->naive(w, wide, n, e);
}

/* Weights of few bits stand for reals by the scales of their groups. */
static int check_groups(const struct workload *w, struct err *e)
{
	const int zeros = workload_has_post(w, POST_ZEROS), at = w->npost - 1 - zeros;
	const enum dtype wei = w->dtype.wei;

	if (!zeros && !workload_has_post(w, POST_GROUPS))
		return 0;
	if (at < 0 || w->post[at].kind != POST_GROUPS ||
	    (zeros && w->post[w->npost - 1].kind != POST_ZEROS))
		return err_set(e, "the post-op groups must be the last, but for zeros behind it");
	if (w->op != &op_matmul || !w->rhs_const || w->dim[MATMUL_B] != 1)
		return err_set(e, "the post-op groups is of matmul by one constant matrix only");
	if ((dtype_is_int(wei) && wei != DTYPE_U4 && wei != DTYPE_U8) || dtype_is_int(w->dtype.src))
		return err_set(e,
			       "the post-op groups is of weights in u4, u8 or reals and of "
			       "activations of reals, and the element type is %s",
			       w->dtype_text);
	if (w->post[at].a < 1 || fmod((double)w->dim[MATMUL_K], w->post[at].a) != 0)
		return err_set(e, "groups of %g weights do not divide the %lld values of k",
			       w->post[at].a, (long long)w->dim[MATMUL_K]);
	if (workload_has_post(w, POST_SCALE) || workload_has_post(w, POST_SHIFT))
		return err_set(e, "the post-op groups has the scales of weights, and no others");
	return 0;
}

static int check_posts(const struct workload *w, struct err *e)
{
	for (int i = 0; i < w->npost; i++) {
		for (int j = 0; j < i; j++)
			if (w->post[i].kind == w->post[j].kind)
				return err_set(e, "the post-op %s stands twice in the list",
					       post_name(w->post[i].kind));
		if (w->post[i].kind == POST_BIAS && i)
			return err_set(e, "the post-op bias must be the first");
		if (w->post[i].kind == POST_SCALE && i != workload_has_post(w, POST_BIAS))
			return err_set(e, "the post-op scale must be the first behind the bias");
		if (w->post[i].kind == POST_PAD &&
		    (i < w->npost - 1 || w->post[0].kind != POST_BIAS))
			return err_set(e, "the post-op pad must be the last, and have a bias");
	}
	if (workload_has_post(w, POST_PAD) && w->op != &op_conv2d && w->op != &op_conv3d)
		return err_set(e, "the post-op pad is of convolutions only");
	return 0;
}

void workload_posts(const struct workload *w, struct buf *out)
{
	char text[POST_TEXT];

	buf_str(out, "");
	for (int i = 0; i < w->npost; i++) {
		post_print(&w->post[i], text);
		buf_fmt(out, "%s%s", i ? "," : "", text);
	}
}

static void make_id(struct workload *w)
{
	struct key k = {0};
	struct buf posts = BUF_INIT;

	workload_posts(w, &posts);
	key_str(&k, "type", "workload");
	key_int(&k, "tl", 1);
	key_str(&k, "op", w->op->name);
	key_str(&k, "dtype", w->dtype_text);
	key_str(&k, "layout", layout_name(w->layout));
	key_str(&k, "post", posts.s);
	if (w->op == &op_matmul)
		key_str(&k, "rhs", w->rhs_const ? "const" : "computed");
	for (int i = 0; i < w->op->ndims; i++)
		key_int(&k, w->op->dim[i], w->dim[i]);
	key_id(&k, &w->id);
	buf_free(&posts);
}

/* Sums of whole numbers have 32 bits, whatever is computed by (lib/nest/elem.h). */
static int check_sums(const struct workload *w, struct err *e)
{
	int64_t summed, most;

	if (!is_one_product(w->op) || !dtype_is_int(w->dtype.src) || !dtype_is_int(w->dtype.wei))
		return 0;
	summed = w->flops / 2 / workload_size(w, TENSOR_DST);
	most = INT32_MAX / (dtype_most(w->dtype.src) * dtype_most(w->dtype.wei));
	if (summed > most)
		return err_set(e,
			       "a result sums %lld products of %s and %s, which may not fit into "
			       "32 bits; up to %lld do",
			       (long long)summed, dtype_name(w->dtype.src),
			       dtype_name(w->dtype.wei), (long long)most);
	return 0;
}

int workload_finish(struct workload *w, struct err *e)
{
	struct buf prob = BUF_INIT;

	const char *why = dtypes_check(&w->dtype);

	dtypes_print(&w->dtype, w->dtype_text);
	if (why)
		return err_set(e, "the element type %s %s", w->dtype_text, why);
	if (check_posts(w, e) || w->op->check(w, e) || check_groups(w, e))
		return -1;
	w->op->print(w->op, w->dim, &prob);
	assert(prob.n < sizeof w->prob); /* 22 numbers of at most 10 digits, and their names */
	memcpy(w->prob, prob.s, prob.n + 1);
	buf_free(&prob);
	w->flops = w->op->flops(w);
	make_id(w);
	return check_sums(w, e);
}

static int add_post(struct workload *w, const char *s, size_t n, struct err *e)
{
	struct post_op p;
	const char *why = post_parse(&p, s, n);

	if (why)
		return err_set(e, "the post-op \"%.*s\" %s", n < 40 ? (int)n : 40, s, why);
	if (w->npost == OP_MAX_POSTS)
		return err_set(e, "there are more than %d post-ops", OP_MAX_POSTS);
	w->post[w->npost++] = p;
	return 0;
}

static int set_layout(struct workload *w, const char *s, size_t n, struct err *e)
{
	int l = layout_find(s, n);

	if (l < 0)
		return err_set(e,
			       "\"%.*s\" is no layout; there are nhwc, nchw, ndhwc, ncdhw and ab",
			       n < 40 ? (int)n : 40, s);
	w->layout = (enum layout)l;
	return 0;
}

static int read_dtype(struct workload *w, const char *s, size_t n, struct err *e)
{
	const char *why = dtypes_parse(&w->dtype, s, n);

	return why ? err_set(e, "the element type \"%.*s\" %s", n < 40 ? (int)n : 40, s, why) : 0;
}

int workload_set_dtype(struct workload *w, const char *s, size_t n, struct err *e)
{
	return read_dtype(w, s, n, e) || workload_finish(w, e) ? -1 : 0;
}

static const char *hint(const char *name, size_t n)
{
	struct nearest near;

	nearest_begin(&near, name, n);
	for (const struct op *const *op = op_list; *op; op++)
		nearest_try(&near, (*op)->name);
	return nearest_hint(&near);
}

static int set_op(struct workload *w, const char *s, size_t n, struct err *e)
{
	*w = (struct workload){.op = op_find(s, n), .rhs_const = 1};
	if (!w->op)
		return err_set(e, "there is no operator \"%.*s\"%s", n < 40 ? (int)n : 40, s,
			       hint(s, n));
	w->layout = w->op->layout;
	return 0;
}

int workload_from_text(struct workload *w, const char *op, const char *prob, const char *layout,
		       const char *post, struct err *e)
{
	if (set_op(w, op, strlen(op), e) || w->op->parse(w->op, prob, w->dim, e))
		return -1;
	if (layout && set_layout(w, layout, strlen(layout), e))
		return -1;
	while (post && *post) {
		size_t n = post_span(post);

		if (add_post(w, post, n, e))
			return -1;
		post += n + (post[n] == ',');
	}
	return workload_finish(w, e);
}

/* A string field without escapes, NULL if it is absent; anything else is an error. */
static int text_field(const struct json_doc *d, const struct json *obj, const char *key,
		      const struct json **v, struct err *e)
{
	*v = json_get(d, obj, key);
	if (*v && ((*v)->type != JSON_STR || (*v)->size))
		return err_set(e, "\"%s\" is not a plain string", key);
	return 0;
}

static int read_posts(struct workload *w, const struct json_doc *d, const struct json *list,
		      struct err *e)
{
	if (!list)
		return 0;
	if (list->type != JSON_ARR)
		return err_set(e, "\"post\" is not an array");
	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v)) {
		if (v->type != JSON_STR)
			return err_set(e, "\"post\" holds something that is not a string");
		if (add_post(w, v->s, v->n, e))
			return -1;
	}
	return 0;
}

static int read_prob(struct workload *w, const struct json *prob, struct err *e)
{
	char text[2 * PROB_MAX];

	if (prob->n >= sizeof text)
		return err_set(e, "\"prob\" is longer than %zu characters", sizeof text - 1);
	memcpy(text, prob->s, prob->n);
	text[prob->n] = 0;
	return w->op->parse(w->op, text, w->dim, e);
}

static int read_fields(struct workload *w, const struct json_doc *d, const struct json *obj,
		       struct err *e)
{
	const struct json *op, *prob, *dtype, *layout, *rhs;

	if (!obj || obj->type != JSON_OBJ)
		return err_set(e, "the workload is missing or not an object");
	if (text_field(d, obj, "op", &op, e) || text_field(d, obj, "prob", &prob, e) ||
	    text_field(d, obj, "dtype", &dtype, e) || text_field(d, obj, "layout", &layout, e) ||
	    text_field(d, obj, "rhs", &rhs, e))
		return -1;
	if (!op || !prob)
		return err_set(e, "the workload has no \"%s\"", op ? "prob" : "op");
	if (set_op(w, op->s, op->n, e) || read_prob(w, prob, e) ||
	    read_posts(w, d, json_get(d, obj, "post"), e))
		return -1;
	if (layout && set_layout(w, layout->s, layout->n, e))
		return -1;
	if (dtype && read_dtype(w, dtype->s, dtype->n, e))
		return -1;
	if (rhs && w->op != &op_matmul)
		return err_set(e, "\"rhs\" belongs to matmul only");
	if (rhs && !json_is(rhs, "const") && !json_is(rhs, "computed"))
		return err_set(e, "\"rhs\" is neither \"const\" nor \"computed\"");
	w->rhs_const = !rhs || json_is(rhs, "const");
	return 0;
}

/* Checks the numbers of a workload record that are no part of the workload itself. */
static int check_counts(const struct json_doc *d, const struct json *obj, struct err *e)
{
	static const char *const names[] = {"count", "round", "budget"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct json *v = json_get(d, obj, names[i]);
		int64_t n;

		if (v && (json_int(v, &n) || n < 0))
			return err_set(e, "\"%s\" is no count", names[i]);
	}
	return 0;
}

int workload_from_json(struct workload *w, const struct json_doc *d, const struct json *obj,
		       struct err *e)
{
	const struct json *id, *flops;
	int64_t n;

	if (read_fields(w, d, obj, e) || check_counts(d, obj, e) || workload_finish(w, e))
		return -1;
	flops = json_get(d, obj, "flops");
	if (flops && (json_int(flops, &n) || n != w->flops))
		return err_set(e, "\"flops\" is %.*s, but %s makes %lld",
			       flops->n < 40 ? (int)flops->n : 40, flops->s, w->prob,
			       (long long)w->flops);
	id = json_get(d, obj, "workload_id");
	if (id && !json_is(id, w->id.s))
		return err_set(e, "\"workload_id\" is %.*s, but the workload's id is %s",
			       id->n < 40 ? (int)id->n : 40, id->s, w->id.s);
	return 0;
}

void workload_fields(const struct workload *w, struct buf *out)
{
	char text[POST_TEXT];

	field_text(out, "workload_id", w->id.s);
	field_text(out, "op", w->op->name);
	field_text(out, "prob", w->prob);
	field_text(out, "dtype", w->dtype_text);
	field_text(out, "layout", layout_name(w->layout));
	field_list(out, "post");
	for (int i = 0; i < w->npost; i++) {
		post_print(&w->post[i], text);
		field_text(out, NULL, text);
	}
	buf_ch(out, ']');
	if (w->op == &op_matmul)
		field_text(out, "rhs", w->rhs_const ? "const" : "computed");
	field_integer(out, "flops", w->flops);
}
