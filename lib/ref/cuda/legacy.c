#include "lib/ref/cuda/legacy.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/ref/cuda/legacy_steps.h"

static const size_t MOST_WORKSPACE = (size_t)1 << 30; /* bytes */
static const float one = 1, zero = 0;

/* A convolution as the library has it. */
struct convolution {
	void *x, *w, *y, *how; /* descriptors */
	const void *x_at, *w_at;
	const char *math; /* in names of variants */
};

/* What is computed with the convolution: the first post-ops of a workload. */
struct head {
	int posts; /* so many; 0: it is the convolution alone */
	int adds;  /* z */
	void *z, *bias, *activation;
	const void *z_at, *bias_at;
	int is_identity;
};

/* What is executed: an algorithm, and steps behind it; or steps alone, from the middle. */
struct plan {
	struct plan *next;
	struct legacy *l;
	int has_convolution;
	struct convolution convolution;
	struct head head;
	int algorithm;
	size_t workspace;
	struct legacy_steps steps;
};

struct legacy {
	struct legacy_kit kit;
	struct plan *plans;
	struct finisher finisher;
};

const char *legacy_version(void)
{
	static char text[48];
	struct err e = ERR_INIT;
	const struct legacy_api *api = legacy_api_open(&e);
	int v = api ? (int)api->version() : 0;

	text[0] = 0;
	if (api)
		snprintf(text, sizeof text, "cudnn %d.%d.%d", v / 1000, v / 100 % 10, v % 100);
	return text;
}

static struct call make_rest(void *of, const struct problem *p, int post);

struct legacy *legacy_open(struct stage *s, struct err *e)
{
	struct legacy *l = xcalloc(1, sizeof *l);

	l->finisher = (struct finisher){.make = make_rest, .of = l};
	if (legacy_kit_open(&l->kit, s, e) == 0)
		return l;
	free(l);
	return NULL;
}

void legacy_close(struct legacy *l)
{
	if (!l)
		return;
	for (struct plan *p = l->plans, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	legacy_kit_close(&l->kit);
	free(l);
}

/* ---- plans ---- */

static struct plan *keep(struct legacy *l, const struct plan *p)
{
	struct plan *kept = xmalloc(sizeof *kept);

	*kept = *p;
	kept->l = l;
	kept->next = l->plans;
	l->plans = kept;
	return kept;
}

static int convolve(const struct plan *p, void *y_at)
{
	const struct legacy_kit *k = &p->l->kit;
	const struct convolution *c = &p->convolution;
	const struct head *h = &p->head;
	void *workspace = stage_workspace(k->stage);

	if (!h->posts)
		return k->api->convolve(k->handle, &one, c->x, c->x_at, c->w, c->w_at, c->how,
					p->algorithm, workspace, p->workspace, &zero, c->y, y_at);
	/* With factor 0 the library does not read what it adds: the result stands in for it. */
	return k->api->convolve_all(k->handle, &one, c->x, c->x_at, c->w, c->w_at, c->how,
				    p->algorithm, workspace, p->workspace, h->adds ? &one : &zero,
				    h->adds ? h->z : c->y, h->adds ? h->z_at : y_at, h->bias,
				    h->bias_at, h->activation, c->y, y_at);
}

static int run(void *arg, void *stream, struct err *e)
{
	const struct plan *p = arg;
	struct legacy_kit *k = &p->l->kit;
	void *at = stage_middle(k->stage);

	if (legacy_kit_take_stream(k, stream, e) < 0)
		return -1;
	if (p->has_convolution) {
		at = legacy_steps_begin(k, &p->steps);
		if (legacy_kit_check(k, convolve(p, at), "run an algorithm", e) < 0)
			return -1;
	}
	return legacy_steps_run(k, &p->steps, at, e);
}

/* ---- variants ---- */

/* 1; 0: the library refuses it, or (e filled) the device has no memory. */
static int describe(struct legacy *l, const struct problem *p, enum legacy_math math,
		    struct convolution *c, struct err *e)
{
	c->x = legacy_kit_tensor(&l->kit, p, TENSOR_SRC);
	c->w = legacy_kit_filter(&l->kit, p);
	c->y = legacy_kit_tensor(&l->kit, p, TENSOR_DST);
	c->how = legacy_kit_convolution(&l->kit, p, math);
	if (!c->x || !c->w || !c->y || !c->how)
		return 0;
	c->x_at = stage_input(l->kit.stage, &p->tensor[TENSOR_SRC], e);
	c->w_at = stage_input(l->kit.stage, &p->tensor[TENSOR_WEIGHTS], e);
	return c->x_at && c->w_at;
}

/* The first post-ops as far as they are relu(convolution + z + bias), and the operands of that. 1;
 * 0: there are none, or (e filled) the device has no memory. */
static int make_head(struct legacy *l, const struct problem *p, struct head *h, struct err *e)
{
	const struct workload *w = &l->kit.stage->w;
	const struct placed *bias = &p->tensor[TENSOR_BIAS];
	int has_bias = 0;

	*h = (struct head){.is_identity = 1};
	for (; h->posts < w->npost; h->posts++) {
		const enum post kind = w->post[h->posts].kind;

		if (kind == POST_BIAS && !has_bias)
			has_bias = 1;
		else if (kind == POST_ADD && !h->adds)
			h->adds = 1;
		else
			break;
	}
	if (h->posts < w->npost && w->post[h->posts].kind == POST_RELU) {
		h->is_identity = 0;
		h->posts++;
	}
	if (!h->posts)
		return 0;
	h->bias = legacy_kit_tensor(&l->kit, p, TENSOR_BIAS);
	h->bias_at =
		has_bias ? stage_input(l->kit.stage, bias, e) : stage_zeros(l->kit.stage, bias, e);
	h->activation = legacy_kit_activation(
		&l->kit, h->is_identity ? ACTIVATION_IDENTITY : ACTIVATION_RELU, 0);
	if (h->adds) {
		h->z = legacy_kit_tensor(&l->kit, p, TENSOR_ADD);
		h->z_at = stage_input(l->kit.stage, &p->tensor[TENSOR_ADD], e);
	}
	return h->bias && h->bias_at && h->activation && (!h->adds || (h->z && h->z_at));
}

static void offer(struct legacy *l, const struct problem *p, struct plan *plan, struct variants *to)
{
	struct variant v = {.layout = p->layout, .dst = p->tensor[TENSOR_DST]};
	const struct convolution *c = &plan->convolution;
	struct legacy_kit *k = &l->kit;

	/* The library knows the identity with this algorithm only. */
	if (plan->head.posts && plan->head.is_identity &&
	    plan->algorithm != ALGO_IMPLICIT_PRECOMP_GEMM)
		return;
	snprintf(v.name, sizeof v.name, "%s algorithm %d %s%s%s", legacy_version(), plan->algorithm,
		 c->math, plan->head.posts ? ", bias and activation" : "",
		 plan->steps.n ? ", then post-ops" : "");
	if (!variants_want(to, v.name, v.layout) ||
	    k->api->workspace(k->handle, c->x, c->w, c->how, c->y, plan->algorithm,
			      &plan->workspace) ||
	    plan->workspace > MOST_WORKSPACE)
		return;
	stage_want(k->stage, plan->workspace);
	v.call[v.ncalls++] = (struct call){run, keep(l, plan)};
	variants_add(to, &v);
}

/* Offers every algorithm, with what is in the plan but for that. */
static void offer_all(struct legacy *l, const struct problem *p, struct plan plan,
		      struct variants *to)
{
	for (plan.algorithm = 0; plan.algorithm < ALGO_COUNT; plan.algorithm++)
		offer(l, p, &plan, to);
}

static int offer_math(struct legacy *l, const struct problem *p, enum legacy_math math,
		      const char *name, struct variants *to, struct err *e)
{
	struct plan plan = {.has_convolution = 1, .convolution.math = name};

	*e = (struct err)ERR_INIT;
	if (!describe(l, p, math, &plan.convolution, e))
		return e->msg[0] ? -1 : 0;
	if (make_head(l, p, &plan.head, e) &&
	    legacy_steps_make(&l->kit, p, plan.head.posts, &plan.steps, e))
		offer_all(l, p, plan, to);
	plan.head = (struct head){.posts = 0};
	if (legacy_steps_make(&l->kit, p, 0, &plan.steps, e))
		offer_all(l, p, plan, to);
	return e->msg[0] ? -1 : 0;
}

int legacy_offer(struct legacy *l, const struct problem *p, struct variants *to, struct err *e)
{
	static const struct {
		enum legacy_math math;
		const char *name;
	} all[] = {{FMA_MATH, "fma"}, {DEFAULT_MATH, "default"}, {TENSOR_OP_MATH, "tensor"}};
	const struct numbers *n = &l->kit.stage->numbers;
	const int has_fma = l->kit.api->version() >= LEGACY_FMA;

	if (p->is_product || (n->is_tf32 && !has_fma))
		return 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const int is_exact = all[i].math == (has_fma ? FMA_MATH : DEFAULT_MATH);

		if (n->is_strict ? !is_exact : all[i].math == FMA_MATH)
			continue;
		if (offer_math(l, p, all[i].math, all[i].name, to, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- post-ops of another library's products ---- */

/* Sums of whole numbers have another type than these versions' functions take. */
static struct call make_rest(void *of, const struct problem *p, int post)
{
	struct legacy *l = of;
	struct plan plan = {.has_convolution = 0};
	struct err e = ERR_INIT;

	if (l->kit.stage->numbers.is_whole ||
	    !legacy_steps_make(&l->kit, p, post, &plan.steps, &e) ||
	    !legacy_steps_from_middle(&l->kit, &plan.steps))
		return (struct call){NULL, NULL};
	return (struct call){run, keep(l, &plan)};
}

struct finisher *legacy_finisher(struct legacy *l)
{
	return l ? &l->finisher : NULL;
}
