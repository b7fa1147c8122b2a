/* oneDNN: the only file that knows its interface, versions 2.6 and 3.x.
 *
 * A problem is given to the library in up to two views: convolution (direct and winograd) and,
 * where it is one, matrix product; a plain matrix product also as "inner product", a primitive with
 * code of its own. Each view is asked for with the workload's own layout and with format "any",
 * which lets the library choose, and residual additions both as a binary operand and as
 * accumulation into the output ("sum"). What comes back more than once is kept once.
 */
#include "lib/baseline/baseline.h"

#include <dnnl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Two interfaces made one: descriptors are pointers that we own, as in 3.x. ---- */

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t md_t;
typedef const_dnnl_memory_desc_t const_md_t;

static void md_free(md_t md)
{
	if (md)
		dnnl_memory_desc_destroy(md);
}

static dnnl_status_t md_make(md_t *md, int n, const dnnl_dims_t dims, dnnl_data_type_t type,
			     dnnl_format_tag_t tag)
{
	return dnnl_memory_desc_create_with_tag(md, n, dims, type, tag);
}
#else
typedef dnnl_memory_desc_t *md_t;
typedef const dnnl_memory_desc_t *const_md_t;

static void md_free(md_t md)
{
	free(md);
}

static dnnl_status_t md_make(md_t *md, int n, const dnnl_dims_t dims, dnnl_data_type_t type,
			     dnnl_format_tag_t tag)
{
	*md = xcalloc(1, sizeof **md);
	return dnnl_memory_desc_init_by_tag(*md, n, dims, type, tag);
}
#endif

enum kind { CONVOLUTION, MATMUL, INNER_PRODUCT };

/* One way to put the workload to the library: how the caller's arrays lie, in the workload's types
 * and (floats) as they are, and the workload's types without a format. */
struct view {
	enum kind kind;
	int channels; /* dimension of the result that has a bias and a scale for each */
	md_t user[TENSOR_ROLES], floats[TENSOR_ROLES], any[TENSOR_ROLES];
	dnnl_dims_t stride, dilate, near, far;
};

struct question {
	const struct view *view;
	const char *name;
	dnnl_alg_kind_t alg; /* of a convolution */
	int preferred;	     /* activations in any format */
	int sum;	     /* add accumulates into dst */
	const_md_t md[TENSOR_ROLES];
	dnnl_primitive_attr_t attr;
};

/* The library's implementations for one question, its favourite first. */
struct answers {
#if DNNL_VERSION_MAJOR >= 3
	dnnl_primitive_desc_t pd;
#else
	dnnl_primitive_desc_iterator_t it;
	union { /* which it looks into at each step */
		dnnl_convolution_desc_t conv;
		dnnl_matmul_desc_t matmul;
		dnnl_inner_product_desc_t inner;
	} desc;
#endif
};

#if DNNL_VERSION_MAJOR >= 3
static dnnl_status_t answers_open(struct answers *a, const struct question *q, dnnl_engine_t engine)
{
	const struct view *v = q->view;
	const_md_t src = q->md[TENSOR_SRC], weights = q->md[TENSOR_WEIGHTS];
	const_md_t bias = q->md[TENSOR_BIAS], dst = q->md[TENSOR_DST];

	switch (v->kind) {
	case CONVOLUTION:
		return dnnl_convolution_forward_primitive_desc_create(
			&a->pd, engine, dnnl_forward_inference, q->alg, src, weights, bias, dst,
			v->stride, v->dilate, v->near, v->far, q->attr);
	case MATMUL:
		return dnnl_matmul_primitive_desc_create(&a->pd, engine, src, weights, bias, dst,
							 q->attr);
	case INNER_PRODUCT:
		break;
	}
	return dnnl_inner_product_forward_primitive_desc_create(
		&a->pd, engine, dnnl_forward_inference, src, weights, bias, dst, q->attr);
}

static dnnl_status_t answers_get(const struct answers *a, dnnl_primitive_desc_t *pd)
{
	return dnnl_primitive_desc_clone(pd, a->pd);
}

static int answers_next(struct answers *a)
{
	return dnnl_primitive_desc_next_impl(a->pd) == dnnl_success;
}

static void answers_close(struct answers *a)
{
	dnnl_primitive_desc_destroy(a->pd);
}

static dnnl_status_t add_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t alg, float alpha, float beta)
{
	return dnnl_post_ops_append_eltwise(ops, alg, alpha, beta);
}

static dnnl_status_t add_sum(dnnl_post_ops_t ops)
{
	return dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
}

/* From 3.0 on a bias is added behind the scales, which is not what a workload says. */
enum { SCALES_BIAS = 0 };
static dnnl_status_t set_scales(dnnl_primitive_attr_t attr, int64_t n, int mask, const float *scale)
{
	(void)attr, (void)n, (void)mask, (void)scale;
	return dnnl_unimplemented;
}

static dnnl_status_t set_zero_point(dnnl_primitive_attr_t attr, int arg, int32_t zero)
{
	(void)attr, (void)arg, (void)zero;
	return dnnl_unimplemented;
}
#else
enum { SCALES_BIAS = 1 };
static dnnl_status_t set_scales(dnnl_primitive_attr_t attr, int64_t n, int mask, const float *scale)
{
	return dnnl_primitive_attr_set_output_scales(attr, n, mask, scale);
}

static dnnl_status_t set_zero_point(dnnl_primitive_attr_t attr, int arg, int32_t zero)
{
	return dnnl_primitive_attr_set_zero_points(attr, arg, 1, 0, &zero);
}

static dnnl_status_t answers_open(struct answers *a, const struct question *q, dnnl_engine_t engine)
{
	const struct view *v = q->view;
	const_md_t src = q->md[TENSOR_SRC], weights = q->md[TENSOR_WEIGHTS];
	const_md_t bias = q->md[TENSOR_BIAS], dst = q->md[TENSOR_DST];
	dnnl_status_t s = dnnl_unimplemented;

	switch (v->kind) {
	case CONVOLUTION:
		s = dnnl_dilated_convolution_forward_desc_init(
			&a->desc.conv, dnnl_forward_inference, q->alg, src, weights, bias, dst,
			v->stride, v->dilate, v->near, v->far);
		break;
	case MATMUL:
		s = dnnl_matmul_desc_init(&a->desc.matmul, src, weights, bias, dst);
		break;
	case INNER_PRODUCT:
		s = dnnl_inner_product_forward_desc_init(&a->desc.inner, dnnl_forward_inference,
							 src, weights, bias, dst);
	}
	return s ? s : dnnl_primitive_desc_iterator_create(&a->it, &a->desc, q->attr, engine, NULL);
}

static dnnl_status_t answers_get(const struct answers *a, dnnl_primitive_desc_t *pd)
{
	*pd = dnnl_primitive_desc_iterator_fetch(a->it);
	return *pd ? dnnl_success : dnnl_out_of_memory;
}

static int answers_next(struct answers *a)
{
	return dnnl_primitive_desc_iterator_next(a->it) == dnnl_success;
}

static void answers_close(struct answers *a)
{
	dnnl_primitive_desc_iterator_destroy(a->it);
}

static dnnl_status_t add_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t alg, float alpha, float beta)
{
	return dnnl_post_ops_append_eltwise(ops, 1, alg, alpha, beta);
}

static dnnl_status_t add_sum(dnnl_post_ops_t ops)
{
	return dnnl_post_ops_append_sum(ops, 1);
}
#endif

/* ---- The library ---- */

enum { MAX_VARIANTS = 16, MAX_VIEWS = 2, MAX_HELD = 4 * MAX_VARIANTS, PAGE = 4096 };

/* A filled input in one format, shared by the variants that read it so. */
struct held {
	enum tensor_role role;
	dnnl_memory_t mem;
	const struct view *view; /* as which the caller's array was read */
	int is_callers;		 /* the data are the caller's, in place */
};

struct variant {
	char name[112];
	const char *layout;
	const struct view *view;
	int is_ref; /* plain loops, of interest if there is nothing else */
	int sum;
	dnnl_primitive_t prim;
	dnnl_memory_t dst, scratchpad;
	int dst_is_callers;
	int narg;
	dnnl_exec_arg_t arg[5 + OP_MAX_POSTS];
};

struct onednn {
	struct baseline baseline; /* the first member */
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	struct workload work;
	struct baseline_data data; /* the caller's; so are, until open returns, the choices */
	const struct baseline_choice *only;
	int nonly;
	float *add;	   /* kept for variants that add into dst */
	float *bias;	   /* with the source's zero point taken out; NULL: it had none */
	float *weights;	   /* what weights of groups stand for; NULL: they are as they are */
	int shift_is_zero; /* the post-op shift is a zero point of the result */
	struct view view[MAX_VIEWS];
	int nview;
	struct held held[MAX_HELD];
	int nheld;
	struct variant variant[MAX_VARIANTS];
	int nvariant;
};

static int failed(dnnl_status_t s, const char *what, struct err *e)
{
	static const char *const text[] = {"no error", "out of memory", "invalid arguments",
					   "not implemented"};

	if (!s)
		return 0;
	if ((size_t)s < sizeof text / sizeof *text)
		return err_set(e, "oneDNN could not %s: %s", what, text[s]);
	return err_set(e, "oneDNN could not %s: status %d", what, (int)s);
}

static const char *version(void)
{
	static char text[48]; /* always written with the same characters */
	const dnnl_version_t *v = dnnl_version();

	snprintf(text, sizeof text, "onednn %d.%d.%d", v->major, v->minor, v->patch);
	return text;
}

/* ---- Views ---- */

static dnnl_data_type_t type_of(const struct workload *w, enum tensor_role role)
{
	switch (workload_dtype(w, role)) {
	case DTYPE_BF16:
		return dnnl_bf16;
	case DTYPE_S32:
		return dnnl_s32;
	case DTYPE_S8:
		return dnnl_s8;
	case DTYPE_U8:
		return dnnl_u8;
	default:
		return dnnl_f32;
	}
}

static int view_tensor(struct view *v, const struct workload *w, enum tensor_role role, int n,
		       const dnnl_dims_t dims, dnnl_format_tag_t tag, struct err *e)
{
	const dnnl_data_type_t type = type_of(w, role);

	if (failed(md_make(&v->user[role], n, dims, type, tag), "describe a tensor", e) ||
	    failed(md_make(&v->floats[role], n, dims, dnnl_f32, tag), "describe a tensor", e))
		return -1;
	return failed(md_make(&v->any[role], n, dims, type, dnnl_format_tag_any),
		      "describe a tensor", e);
}

/* Post-ops with a tensor of their own. */
enum { ADDITION, PRODUCT, SHIFTS };
static const struct {
	enum post kind;
	enum tensor_role role;
	dnnl_alg_kind_t alg;
} binaries[] = {[ADDITION] = {POST_ADD, TENSOR_ADD, dnnl_binary_add},
		[PRODUCT] = {POST_MUL, TENSOR_MUL, dnnl_binary_mul},
		[SHIFTS] = {POST_SHIFT, TENSOR_SHIFT, dnnl_binary_add}};

static int view_tensors(struct view *v, const struct workload *w, int n, const dnnl_dims_t src,
			const dnnl_dims_t dst, dnnl_format_tag_t tag, int nbias,
			const dnnl_dims_t bias, struct err *e)
{
	static const dnnl_format_tag_t row[] = {0, dnnl_a, dnnl_ab, dnnl_abc};
	dnnl_dims_t channels = {1, 1, 1, 1};

	channels[v->channels] = dst[v->channels];
	if (view_tensor(v, w, TENSOR_SRC, n, src, tag, e) ||
	    view_tensor(v, w, TENSOR_DST, n, dst, tag, e))
		return -1;
	for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
		if (workload_has_post(w, binaries[i].kind) &&
		    view_tensor(v, w, binaries[i].role, n, i == SHIFTS ? channels : dst, tag, e))
			return -1;
	if (workload_has_post(w, POST_BIAS))
		return view_tensor(v, w, TENSOR_BIAS, nbias, bias, row[nbias], e);
	return 0;
}

/* Padding on the far side, which the output size implies. */
static int64_t far_pad(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d)
{
	int64_t far = (o - 1) * s + (k - 1) * (d + 1) + 1 - i - p;

	return far > 0 ? far : 0; /* input that no window reaches */
}

static int view_conv(struct onednn *r, const struct workload *w, struct err *e)
{
	struct view *v = &r->view[r->nview++];
	const int64_t *d = w->dim;
	dnnl_format_tag_t tag = w->layout == LAYOUT_NCHW ? dnnl_nchw : dnnl_nhwc;
	dnnl_dims_t src = {d[CONV_MB], d[CONV_IC], d[CONV_IH], d[CONV_IW]};
	dnnl_dims_t dst = {d[CONV_MB], d[CONV_OC], d[CONV_OH], d[CONV_OW]};
	dnnl_dims_t bias = {d[CONV_OC]};
	dnnl_dims_t weights = {d[CONV_G], d[CONV_OC] / d[CONV_G], d[CONV_IC] / d[CONV_G],
			       d[CONV_KH], d[CONV_KW]};
	dnnl_dims_t whole = {weights[1], weights[2], weights[3], weights[4]};

	v->kind = CONVOLUTION;
	v->channels = 1;
	for (int a = 0; a < 2; a++) {
		v->stride[a] = d[CONV_SH + a];
		v->dilate[a] = d[CONV_DH + a];
		v->near[a] = d[CONV_PH + a];
		v->far[a] = far_pad(d[CONV_IH + a], d[CONV_OH + a], d[CONV_KH + a], d[CONV_SH + a],
				    d[CONV_PH + a], d[CONV_DH + a]);
	}
	if (view_tensors(v, w, 4, src, dst, tag, 1, bias, e))
		return -1;
	return d[CONV_G] > 1 ? view_tensor(v, w, TENSOR_WEIGHTS, 5, weights, dnnl_goihw, e)
			     : view_tensor(v, w, TENSOR_WEIGHTS, 4, whole, dnnl_oihw, e);
}

/* A convolution by 1x1 over NHWC pixels is a product of matrices. */
static int is_product(const struct workload *w)
{
	const int64_t *d = w->dim;

	return w->layout == LAYOUT_NHWC && d[CONV_G] == 1 && d[CONV_KH] == 1 && d[CONV_KW] == 1 &&
	       d[CONV_SH] == 1 && d[CONV_SW] == 1 && d[CONV_PH] == 0 && d[CONV_PW] == 0 &&
	       d[CONV_OH] == d[CONV_IH] && d[CONV_OW] == d[CONV_IW];
}

static int view_conv_matmul(struct onednn *r, const struct workload *w, struct err *e)
{
	struct view *v = &r->view[r->nview++];
	const int64_t *d = w->dim;
	int64_t m = d[CONV_MB] * d[CONV_IH] * d[CONV_IW];
	dnnl_dims_t src = {m, d[CONV_IC]}, weights = {d[CONV_IC], d[CONV_OC]};
	dnnl_dims_t dst = {m, d[CONV_OC]}, bias = {1, d[CONV_OC]};

	v->kind = MATMUL;
	v->channels = 1;
	return view_tensors(v, w, 2, src, dst, dnnl_ab, 2, bias, e) ||
			       view_tensor(v, w, TENSOR_WEIGHTS, 2, weights, dnnl_ba, e)
		       ? -1
		       : 0;
}

static int view_matmul(struct onednn *r, const struct workload *w, struct err *e)
{
	struct view *v = &r->view[r->nview++];
	int64_t b = w->dim[MATMUL_B], m = w->dim[MATMUL_M], k = w->dim[MATMUL_K];
	int64_t n = w->dim[MATMUL_N];
	int flat = b == 1, rank = flat ? 2 : 3;
	dnnl_dims_t src = {b, m, k}, weights = {b, k, n}, dst = {b, m, n}, bias = {1, 1, n};
	dnnl_format_tag_t tag = flat ? dnnl_ab : dnnl_abc;

	v->kind = MATMUL;
	v->channels = rank - 1;
	if (flat) {
		memmove(src, src + 1, 2 * sizeof *src);
		memmove(weights, weights + 1, 2 * sizeof *weights);
		memmove(dst, dst + 1, 2 * sizeof *dst);
		memmove(bias, bias + 1, 2 * sizeof *bias);
	}
	return view_tensors(v, w, rank, src, dst, tag, rank, bias, e) ||
			       view_tensor(v, w, TENSOR_WEIGHTS, rank, weights, tag, e)
		       ? -1
		       : 0;
}

static int view_inner(struct onednn *r, const struct workload *w, struct err *e)
{
	struct view *v = &r->view[r->nview++];
	int64_t m = w->dim[MATMUL_M], k = w->dim[MATMUL_K], n = w->dim[MATMUL_N];
	dnnl_dims_t src = {m, k}, weights = {n, k}, dst = {m, n}, bias = {n};

	v->kind = INNER_PRODUCT;
	v->channels = 1;
	return view_tensors(v, w, 2, src, dst, dnnl_ab, 1, bias, e) ||
			       view_tensor(v, w, TENSOR_WEIGHTS, 2, weights, dnnl_ba, e)
		       ? -1
		       : 0;
}

/* ---- Filling tensors ---- */

static const float *user_data(const struct baseline_data *d, enum tensor_role role)
{
	switch (role) {
	case TENSOR_SRC:
		return d->src;
	case TENSOR_WEIGHTS:
		return d->weights;
	case TENSOR_BIAS:
		return d->bias;
	case TENSOR_ADD:
		return d->add;
	case TENSOR_MUL:
		return d->mul;
	case TENSOR_SHIFT:
		return d->shift;
	default:
		return NULL;
	}
}

static dnnl_status_t reorder(struct onednn *r, dnnl_memory_t from, dnnl_memory_t to)
{
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t prim = NULL;
	dnnl_exec_arg_t arg[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
	const_md_t a, b;
	dnnl_status_t s = dnnl_memory_get_memory_desc(from, &a);

	if (!s)
		s = dnnl_memory_get_memory_desc(to, &b);
	if (!s)
		s = dnnl_reorder_primitive_desc_create(&pd, a, r->engine, b, r->engine, NULL);
	if (!s)
		s = dnnl_primitive_create(&prim, pd);
	if (!s)
		s = dnnl_primitive_execute(prim, r->stream, 2, arg);
	if (!s)
		s = dnnl_stream_wait(r->stream);
	if (prim)
		dnnl_primitive_destroy(prim);
	if (pd)
		dnnl_primitive_desc_destroy(pd);
	return s;
}

/* Copies an array of ours, described by md, into mem, or back from it. */
static dnnl_status_t copy(struct onednn *r, const_md_t md, float *array, dnnl_memory_t mem,
			  int back)
{
	dnnl_memory_t ours;
	dnnl_status_t s = dnnl_memory_create(&ours, md, r->engine, array);

	if (s)
		return s;
	s = back ? reorder(r, mem, ours) : reorder(r, ours, mem);
	dnnl_memory_destroy(ours);
	return s;
}

/* ---- Memory ---- */

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* Begins at a page of its own, as a candidate's operands do. */
static dnnl_status_t memory_make(struct onednn *r, const_md_t md, dnnl_memory_t *mem)
{
	size_t bytes = whole_pages(dnnl_memory_desc_get_size(md));
	void *p = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0)
			: NULL;
	dnnl_status_t s;

	*mem = NULL;
	if (p == MAP_FAILED)
		return dnnl_out_of_memory;
	s = dnnl_memory_create(mem, md, r->engine, p);
	if (s && p)
		munmap(p, bytes);
	return s;
}

static void memory_free(dnnl_memory_t mem)
{
	const_md_t md;
	void *p;
	size_t bytes;

	if (!mem)
		return;
	if (!dnnl_memory_get_data_handle(mem, &p) && !dnnl_memory_get_memory_desc(mem, &md)) {
		bytes = whole_pages(dnnl_memory_desc_get_size(md));
		if (p && bytes)
			munmap(p, bytes);
	}
	dnnl_memory_destroy(mem);
}

/* Activations that the variant reads as the caller has them are read there: so a kernel and the
 * library, called in turns, find one source in the caches, as both would in a network. */
static int is_in_place(const struct onednn *r, const struct view *v, enum tensor_role role,
		       const_md_t md)
{
	return (role == TENSOR_SRC || role == TENSOR_MUL ||
		(role == TENSOR_WEIGHTS && !r->work.rhs_const)) &&
	       dnnl_memory_desc_equal(v->floats[role], md);
}

/* The input of this role in format md, made and filled unless it is there. */
static int hold(struct onednn *r, const struct view *v, enum tensor_role role, const_md_t md,
		dnnl_memory_t *mem, struct err *e)
{
	struct held *h = r->held;
	const_md_t there;

	/* A square matrix and its transpose have the same format, and other elements. */
	for (; h < r->held + r->nheld; h++)
		if (h->role == role && dnnl_memory_desc_equal(h->view->user[role], v->user[role]) &&
		    !dnnl_memory_get_memory_desc(h->mem, &there) &&
		    dnnl_memory_desc_equal(there, md)) {
			*mem = h->mem;
			return 0;
		}
	if (r->nheld == MAX_HELD)
		return err_set(e, "a problem needs more than %d packed tensors", MAX_HELD);
	h->is_callers = is_in_place(r, v, role, md);
	if (failed(h->is_callers ? dnnl_memory_create(&h->mem, md, r->engine,
						      (float *)user_data(&r->data, role))
				 : memory_make(r, md, &h->mem),
		   "allocate a tensor", e))
		return -1;
	h->role = role;
	h->view = v;
	*mem = h->mem;
	r->nheld++;
	if (h->is_callers)
		return 0;
	return failed(copy(r, v->floats[role], (float *)user_data(&r->data, role), h->mem, 0),
		      "reorder a tensor", e);
}

/* ---- Questions ---- */

static dnnl_status_t add_binary(const struct question *q, dnnl_post_ops_t ops, int i)
{
	return dnnl_post_ops_append_binary(ops, binaries[i].alg, q->md[binaries[i].role]);
}

static dnnl_status_t add_posts(const struct onednn *r, const struct question *q,
			       dnnl_post_ops_t ops)
{
	dnnl_status_t s = dnnl_success;

	for (int i = 0; i < r->work.npost && !s; i++) {
		const struct post_op *p = &r->work.post[i];

		switch (p->kind) {
		case POST_ADD:
			s = q->sum ? add_sum(ops) : add_binary(q, ops, ADDITION);
			break;
		case POST_MUL:
			s = add_binary(q, ops, PRODUCT);
			break;
		case POST_SHIFT:
			s = r->shift_is_zero ? s : add_binary(q, ops, SHIFTS);
			break;
		case POST_RELU:
			s = add_eltwise(ops, dnnl_eltwise_relu, 0, 0);
			break;
		case POST_RELU6:
			s = add_eltwise(ops, dnnl_eltwise_clip, 0, 6);
			break;
		case POST_CLIP:
			s = add_eltwise(ops, dnnl_eltwise_clip, (float)p->a, (float)p->b);
			break;
		case POST_LEAKY_RELU:
			s = add_eltwise(ops, dnnl_eltwise_relu, (float)p->a, 0);
			break;
		case POST_HARDSWISH:
			s = add_eltwise(ops, dnnl_eltwise_hardswish, 1.F / 6,
					0.5F); /* 2: ignored */
			break;
		case POST_SIGMOID:
			s = add_eltwise(ops, dnnl_eltwise_logistic, 0, 0);
			break;
		case POST_TANH:
			s = add_eltwise(ops, dnnl_eltwise_tanh, 0, 0);
			break;
		case POST_SILU:
			s = add_eltwise(ops, dnnl_eltwise_swish, 1, 0);
			break;
		case POST_GELU:
			s = add_eltwise(ops, dnnl_eltwise_gelu_erf, 0, 0);
			break;
		case POST_GELU_TANH:
			s = add_eltwise(ops, dnnl_eltwise_gelu_tanh, 0, 0);
			break;
		case POST_BIAS:	 /* native, always the first */
		case POST_SCALE: /* the same: make_attr() */
		case POST_PAD:	 /* the same */
		case POST_GROUPS:
		case POST_ZEROS:
		case POSTS:
			break;
		}
	}
	return s;
}

static int make_attr(const struct onednn *r, struct question *q, struct err *e)
{
	dnnl_post_ops_t ops;
	dnnl_status_t s;

	if (failed(dnnl_primitive_attr_create(&q->attr), "make attributes", e))
		return -1;
	s = dnnl_post_ops_create(&ops);
	if (!s) {
		s = add_posts(r, q, ops);
		if (!s)
			s = dnnl_primitive_attr_set_post_ops(q->attr, ops);
		dnnl_post_ops_destroy(ops);
	}
	if (!s && workload_has_post(&r->work, POST_SCALE))
		s = set_scales(q->attr, workload_size(&r->work, TENSOR_SCALE),
			       1 << q->view->channels, r->data.scale);
	if (!s && workload_has_post(&r->work, POST_PAD))
		s = set_zero_point(q->attr, DNNL_ARG_SRC, (int32_t)r->data.pad[0]);
	if (!s && r->shift_is_zero)
		s = set_zero_point(q->attr, DNNL_ARG_DST, (int32_t)r->data.shift[0]);
	/* The environment may allow less than f32. */
	if (!s)
		s = dnnl_primitive_attr_set_fpmath_mode(q->attr, dnnl_fpmath_mode_strict);
	/* So that it is ours to place, and to flush. */
	if (!s)
		s = dnnl_primitive_attr_set_scratchpad_mode(q->attr, dnnl_scratchpad_mode_user);
	return failed(s, "describe post-ops", e);
}

/* Is it in the list of post-ops that the library gets? */
static int is_post_of_library(const struct onednn *r, enum post kind)
{
	return kind != POST_BIAS && kind != POST_SCALE && kind != POST_PAD &&
	       !(kind == POST_SHIFT && r->shift_is_zero);
}

/* The arguments of a primitive, inputs filled. */
static int bind(struct onednn *r, struct variant *v, const struct question *q,
		dnnl_primitive_desc_t pd, struct err *e)
{
	static const struct {
		enum tensor_role role;
		int arg;
	} input[] = {{TENSOR_SRC, DNNL_ARG_SRC},
		     {TENSOR_WEIGHTS, DNNL_ARG_WEIGHTS},
		     {TENSOR_BIAS, DNNL_ARG_BIAS}};
	int post = 0;

	for (size_t i = 0; i < sizeof input / sizeof *input; i++) {
		if (!q->md[input[i].role])
			continue;
		v->arg[v->narg].arg = input[i].arg;
		if (hold(r, q->view, input[i].role,
			 dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, input[i].arg),
			 &v->arg[v->narg++].memory, e))
			return -1;
	}
	for (int i = 0; i < r->work.npost; i++) {
		int arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post) | DNNL_ARG_SRC_1;
		enum post kind = r->work.post[i].kind;

		post += is_post_of_library(r, kind);
		if (kind != POST_MUL && (kind != POST_ADD || q->sum) &&
		    (kind != POST_SHIFT || r->shift_is_zero))
			continue;
		v->arg[v->narg].arg = arg;
		if (hold(r, q->view,
			 kind == POST_ADD   ? TENSOR_ADD
			 : kind == POST_MUL ? TENSOR_MUL
					    : TENSOR_SHIFT,
			 dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, arg),
			 &v->arg[v->narg++].memory, e))
			return -1;
	}
	if (failed(memory_make(r, dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0), &v->dst),
		   "allocate the output", e) ||
	    failed(memory_make(r,
			       dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md,
							    DNNL_ARG_SCRATCHPAD),
			       &v->scratchpad),
		   "allocate the scratchpad", e))
		return -1;
	v->arg[v->narg++] = (dnnl_exec_arg_t){DNNL_ARG_DST, v->dst};
	v->arg[v->narg++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, v->scratchpad};
	return q->sum ? failed(copy(r, v->view->floats[TENSOR_ADD], r->add, v->dst, 0),
			       "fill the output", e)
		      : 0;
}

static void variant_free(struct variant *v)
{
	if (v->prim)
		dnnl_primitive_destroy(v->prim);
	if (v->dst_is_callers)
		dnnl_memory_destroy(v->dst);
	else
		memory_free(v->dst);
	memory_free(v->scratchpad);
}

/* Formats decide whether a variant is new: the name alone does not tell nhwc from blocked. */
static int is_known(const struct onednn *r, const struct variant *v, dnnl_primitive_desc_t pd)
{
	static const dnnl_query_t what[] = {dnnl_query_src_md, dnnl_query_weights_md,
					    dnnl_query_dst_md};
	static const int arg[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};

	for (const struct variant *o = r->variant; o < r->variant + r->nvariant; o++) {
		int same = !strcmp(o->name, v->name);

		for (int t = 0; t < 3 && same; t++) {
			const_md_t there = NULL;

			for (int i = 0; i < o->narg; i++)
				if (o->arg[i].arg == arg[t])
					dnnl_memory_get_memory_desc(o->arg[i].memory, &there);
			same = there && dnnl_memory_desc_equal(there, dnnl_primitive_desc_query_md(
									      pd, what[t], 0));
		}
		if (same)
			return 1;
	}
	return 0;
}

static int has_own_layout(const struct onednn *r, const struct view *v, dnnl_primitive_desc_t pd)
{
	static const struct {
		enum tensor_role role;
		dnnl_query_t what;
	} t[] = {{TENSOR_SRC, dnnl_query_src_md},
		 {TENSOR_DST, dnnl_query_dst_md},
		 {TENSOR_WEIGHTS, dnnl_query_weights_md}};

	for (int i = 0; i < 3 - r->work.rhs_const; i++)
		if (!dnnl_memory_desc_equal(v->user[t[i].role],
					    dnnl_primitive_desc_query_md(pd, t[i].what, 0)))
			return 0;
	return 1;
}

static int is_wanted(const struct onednn *r, const struct variant *v)
{
	for (int i = 0; i < r->nonly; i++)
		if (!strcmp(r->only[i].name, v->name) && !strcmp(r->only[i].layout, v->layout))
			return 1;
	return !r->nonly;
}

static int offer(struct onednn *r, const struct question *q, dnnl_primitive_desc_t pd,
		 const char *impl, struct err *e)
{
	struct variant *v = &r->variant[r->nvariant];

	*v = (struct variant){.view = q->view, .sum = q->sum};
	snprintf(v->name, sizeof v->name, "%s %s %s%s%s", version(), q->name, impl,
		 q->sum ? " sum" : "", r->weights ? " dequantized" : "");
	v->is_ref = !strncmp(impl, "ref", 3);
	v->layout = has_own_layout(r, q->view, pd) ? layout_name(r->work.layout) : "preferred";
	if (!is_wanted(r, v) || is_known(r, v, pd))
		return 0;
	if (bind(r, v, q, pd, e) ||
	    failed(dnnl_primitive_create(&v->prim, pd), "make a primitive", e)) {
		variant_free(v);
		return -1;
	}
	r->nvariant++;
	return 0;
}

/* Later implementations are worth a run if they are of another kind (brgemm, jit) for the same
 * instructions; the product by gemm only where it is not a detour by im2col. */
static int is_rival(const struct question *q, const char *first, const char *impl)
{
	const char *isa = strrchr(impl, ':'), *best = strrchr(first, ':');

	if (!strncmp(impl, "ref", 3) || !strcmp(impl, first))
		return 0;
	if (!strncmp(impl, "gemm:", 5) || strstr(impl, ":gemm:"))
		return q->view->kind != CONVOLUTION;
	return isa && best && !strcmp(isa, best);
}

static int take_answers(struct onednn *r, const struct question *q, struct answers *a,
			struct err *e)
{
	enum { MAX_TAKEN = 2 };
	char first[64] = "";
	int taken = 0, bad = 0;

	do {
		dnnl_primitive_desc_t pd;
		const char *impl;

		if (failed(answers_get(a, &pd), "fetch an implementation", e))
			return -1;
		bad = failed(dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &impl),
			     "name an implementation", e);
		if (!bad && (!taken || is_rival(q, first, impl))) {
			if (!taken++)
				snprintf(first, sizeof first, "%s", impl);
			bad = offer(r, q, pd, impl, e);
		}
		dnnl_primitive_desc_destroy(pd);
	} while (!bad && taken < MAX_TAKEN && r->nvariant < MAX_VARIANTS && answers_next(a));
	return bad;
}

static int ask(struct onednn *r, struct question q, struct err *e)
{
	const struct view *v = q.view;
	struct answers a;
	dnnl_status_t s;
	int bad;

	if (r->nvariant == MAX_VARIANTS)
		return 0;
	for (int t = 0; t < TENSOR_ROLES; t++)
		q.md[t] = q.preferred && t != TENSOR_BIAS && t != TENSOR_SHIFT ? v->any[t]
									       : v->user[t];
	if (r->work.rhs_const)
		q.md[TENSOR_WEIGHTS] = v->any[TENSOR_WEIGHTS];
	bad = make_attr(r, &q, e);
	if (!bad) {
		s = answers_open(&a, &q, r->engine);
		if (!s) {
			bad = take_answers(r, &q, &a, e);
			answers_close(&a);
		} else if (s != dnnl_unimplemented) {
			bad = failed(s, "describe the problem", e);
		}
	}
	if (q.attr)
		dnnl_primitive_attr_destroy(q.attr);
	return bad;
}

/* A view with every choice of layout and addition, the likeliest best first. */
static int ask_all(struct onednn *r, const struct view *v, const char *name, dnnl_alg_kind_t alg,
		   struct err *e)
{
	int sums = workload_has_post(&r->work, POST_ADD);

	for (int preferred = 0; preferred < 2; preferred++)
		for (int sum = sums; sum >= 0; sum--)
			if (ask(r,
				(struct question){.view = v,
						  .name = name,
						  .alg = alg,
						  .preferred = preferred,
						  .sum = sum},
				e))
				return -1;
	return 0;
}

static int ask_conv(struct onednn *r, struct err *e)
{
	const struct view *conv = &r->view[r->nview];

	if (view_conv(r, &r->work, e) ||
	    ask_all(r, conv, "winograd", dnnl_convolution_winograd, e) ||
	    ask_all(r, conv, "direct", dnnl_convolution_direct, e))
		return -1;
	if (!is_product(&r->work))
		return 0;
	conv = &r->view[r->nview];
	return view_conv_matmul(r, &r->work, e) ||
			       ask_all(r, conv, "matmul", dnnl_alg_kind_undef, e)
		       ? -1
		       : 0;
}

static int ask_matmul(struct onednn *r, struct err *e)
{
	const struct view *v = &r->view[r->nview];

	if (view_matmul(r, &r->work, e) || ask_all(r, v, "matmul", dnnl_alg_kind_undef, e))
		return -1;
	if (r->work.dim[MATMUL_B] != 1 || !r->work.rhs_const)
		return 0;
	v = &r->view[r->nview];
	return view_inner(r, &r->work, e) || ask_all(r, v, "inner-product", dnnl_alg_kind_undef, e)
		       ? -1
		       : 0;
}

/* Plain loops take seconds where the rest takes microseconds: kept only if alone. */
static void drop_refs(struct onednn *r)
{
	int n = 0;

	for (int i = 0; i < r->nvariant; i++)
		n += !r->variant[i].is_ref;
	if (!n)
		return;
	n = 0;
	for (int i = 0; i < r->nvariant; i++) {
		if (r->variant[i].is_ref)
			variant_free(&r->variant[i]);
		else
			r->variant[n++] = r->variant[i];
	}
	r->nvariant = n;
}

static void keep_add(struct onednn *r)
{
	struct tensor t[OP_MAX_TENSORS];
	int n = r->work.op->tensors(&r->work, t);

	for (int i = 0; i < n; i++)
		if (t[i].role == TENSOR_ADD) {
			r->add = xmalloc((size_t)t[i].size * sizeof *r->add);
			memcpy(r->add, r->data.add, (size_t)t[i].size * sizeof *r->add);
		}
}

static int are_equal(const float *x, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		if (!(x[i] == x[0]))
			return 0;
	return 1;
}

/* A workload's bias has the source's zero point in it already. The library's has not. */
static void keep_bias(struct onednn *r)
{
	const int64_t n = workload_size(&r->work, TENSOR_BIAS);
	const int64_t terms = workload_size(&r->work, TENSOR_WEIGHTS) / n;

	r->bias = xmalloc((size_t)n * sizeof *r->bias);
	for (int64_t i = 0; i < n; i++) {
		double sum = 0;

		for (int64_t j = 0; j < terms; j++)
			sum += (double)r->data.weights[i * terms + j];
		r->bias[i] = (float)((double)r->data.bias[i] + sum * (double)r->data.pad[0]);
	}
	r->data.bias = r->bias;
}

/* The library has no weights of groups (oneDNN 2), or none that this file asks it for: it gets what
 * they stand for, in single precision, and the variant's name says so. */
static void dequantize(struct onednn *r)
{
	const int64_t group = workload_group(&r->work), columns = r->work.dim[MATMUL_N];
	const int64_t n = workload_size(&r->work, TENSOR_WEIGHTS);
	const float middle = (float)dtype_middle(r->work.dtype.wei);

	r->weights = xmalloc((size_t)n * sizeof *r->weights);
	for (int64_t i = 0; i < n; i++) {
		const int64_t at = i / columns / group * columns + i % columns;

		r->weights[i] =
			(r->data.weights[i] - (r->data.zeros ? r->data.zeros[at] : middle)) *
			r->data.scale[at];
	}
	r->data.weights = r->weights;
	r->work.npost -= 1 + workload_has_post(&r->work, POST_ZEROS);
	r->work.dtype.wei = r->work.dtype.src;
}

/* A whole number that all channels share is a zero point of the library's. Returns 0 if it
 * has no such numbers. */
static int take_zero_points(struct onednn *r)
{
	const struct workload *w = &r->work;
	const int pads = workload_has_post(w, POST_PAD), last = w->npost - 1 - pads;

	if (pads) {
		if (!are_equal(r->data.pad, workload_size(w, TENSOR_PAD)))
			return 0;
		keep_bias(r);
	}
	r->shift_is_zero =
		last >= 0 && w->post[last].kind == POST_SHIFT && dtype_is_int(w->dtype.dst) &&
		are_equal(r->data.shift, workload_size(w, TENSOR_SHIFT)) &&
		fabsf(r->data.shift[0]) < 0x1p24F && r->data.shift[0] == rintf(r->data.shift[0]);
	return 1;
}

/* Can this version say what the workload multiplies, adds and pads? */
static int has_numbers(const struct workload *w)
{
	return SCALES_BIAS || !(workload_has_post(w, POST_SCALE) ||
				workload_has_post(w, POST_SHIFT) || workload_has_post(w, POST_PAD));
}

static struct onednn *of(struct baseline *r)
{
	return (struct onednn *)r;
}

static const struct variant *variant_of(const struct baseline *r, int variant)
{
	return &((const struct onednn *)r)->variant[variant];
}

static struct baseline *open_library(const struct workload *w, const struct baseline_data *data,
				     const struct baseline_choice *only, int n, struct err *e)
{
	struct onednn *r = xcalloc(1, sizeof *r);
	int bad;

	r->baseline.of = &library_onednn;
	dnnl_set_verbose(0); /* stdout is for records, whatever the environment says */
	r->work = *w;
	r->data = *data;
	r->only = only;
	r->nonly = n;
	keep_add(r);
	if (workload_group(w))
		dequantize(r);
	bad = failed(dnnl_engine_create(&r->engine, dnnl_cpu, 0), "make an engine", e) ||
	      failed(dnnl_stream_create(&r->stream, r->engine, dnnl_stream_default_flags),
		     "make a stream", e);
	if (!bad && has_numbers(&r->work) && take_zero_points(r))
		bad = w->op == &op_conv2d   ? ask_conv(r, e)
		      : w->op == &op_matmul ? ask_matmul(r, e)
					    : 0;
	if (bad) {
		baseline_close(&r->baseline);
		return NULL;
	}
	drop_refs(r);
	memset(&r->data, 0, sizeof r->data);
	r->only = NULL;
	return &r->baseline;
}

static int variants(const struct baseline *r)
{
	return ((const struct onednn *)r)->nvariant;
}

static const char *name(const struct baseline *r, int variant)
{
	return variant_of(r, variant)->name;
}

static const char *layout(const struct baseline *r, int variant)
{
	return variant_of(r, variant)->layout;
}

static int run(struct baseline *baseline, int variant, struct err *e)
{
	struct onednn *r = of(baseline);
	struct variant *v = &r->variant[variant];
	dnnl_status_t s = dnnl_primitive_execute(v->prim, r->stream, v->narg, v->arg);

	if (!s)
		s = dnnl_stream_wait(r->stream);
	return failed(s, "run a primitive", e);
}

static int write_to(struct baseline *baseline, int variant, float *dst, struct err *e)
{
	struct onednn *r = of(baseline);
	struct variant *v = &r->variant[variant];
	dnnl_memory_t there;
	const_md_t md; /* lives as long as the memory it was asked of */

	if (!strcmp(v->layout, "preferred") || (workload_has_post(&r->work, POST_ADD) && !v->sum))
		return 0;
	if (failed(dnnl_memory_get_memory_desc(v->dst, &md), "place the output", e) ||
	    failed(dnnl_memory_create(&there, md, r->engine, dst), "place the output", e))
		return -1;
	if (v->dst_is_callers)
		dnnl_memory_destroy(v->dst);
	else
		memory_free(v->dst);
	v->dst = there;
	v->dst_is_callers = 1;
	for (int i = 0; i < v->narg; i++)
		if (v->arg[i].arg == DNNL_ARG_DST)
			v->arg[i].memory = v->dst;
	return 1;
}

static int output(struct baseline *baseline, int variant, float *dst, struct err *e)
{
	struct onednn *r = of(baseline);
	struct variant *v = &r->variant[variant];

	/* Timed runs have piled up in dst: once more, from the start. */
	if (v->sum && (failed(copy(r, v->view->floats[TENSOR_ADD], r->add, v->dst, 0),
			      "fill the output", e) ||
		       run(baseline, variant, e)))
		return -1;
	return failed(copy(r, v->view->floats[TENSOR_DST], dst, v->dst, 1), "read the output", e);
}

static int memory(const struct baseline *r, int variant, int i, const void **data, size_t *bytes)
{
	const struct variant *v = variant_of(r, variant);
	const_md_t md;
	void *p;

	if (i >= v->narg || dnnl_memory_get_data_handle(v->arg[i].memory, &p) ||
	    dnnl_memory_get_memory_desc(v->arg[i].memory, &md))
		return 0;
	*data = p;
	*bytes = dnnl_memory_desc_get_size(md);
	return 1;
}

static int is_weights(const struct baseline *r, int variant, int i)
{
	int arg = variant_of(r, variant)->arg[i].arg;

	return ((const struct onednn *)r)->work.rhs_const &&
	       (arg == DNNL_ARG_WEIGHTS || arg == DNNL_ARG_BIAS);
}

static void close_library(struct baseline *baseline)
{
	struct onednn *r = of(baseline);

	for (int i = 0; i < r->nvariant; i++)
		variant_free(&r->variant[i]);
	for (int i = 0; i < r->nheld; i++)
		if (r->held[i].is_callers)
			dnnl_memory_destroy(r->held[i].mem);
		else
			memory_free(r->held[i].mem);
	for (int i = 0; i < r->nview; i++)
		for (int t = 0; t < TENSOR_ROLES; t++) {
			md_free(r->view[i].user[t]);
			md_free(r->view[i].floats[t]);
			md_free(r->view[i].any[t]);
		}
	if (r->stream)
		dnnl_stream_destroy(r->stream);
	if (r->engine)
		dnnl_engine_destroy(r->engine);
	free(r->bias);
	free(r->weights);
	free(r->add);
	free(r);
}

const struct library library_onednn = {
	.open = open_library,
	.variants = variants,
	.name = name,
	.layout = layout,
	.run = run,
	.write_to = write_to,
	.output = output,
	.memory = memory,
	.is_weights = is_weights,
	.close = close_library,
	.version = version,
};
