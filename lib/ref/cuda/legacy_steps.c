#include "lib/ref/cuda/legacy_steps.h"

static const float one = 1, zero = 0;

/* The activation of a post-op; 0: there is none. */
static int find_activation(const struct legacy_kit *k, const struct post_op *p,
			   enum legacy_activation *mode, double *ceiling)
{
	*ceiling = 0;
	switch (p->kind) {
	case POST_RELU:
		*mode = ACTIVATION_RELU;
		return 1;
	case POST_RELU6:
		*mode = ACTIVATION_CLIPPED_RELU;
		*ceiling = 6;
		return 1;
	case POST_CLIP:
		*mode = ACTIVATION_CLIPPED_RELU;
		*ceiling = p->b;
		return p->a == 0;
	case POST_SIGMOID:
		*mode = ACTIVATION_SIGMOID;
		return 1;
	case POST_TANH:
		*mode = ACTIVATION_TANH;
		return 1;
	case POST_SILU:
		*mode = ACTIVATION_SWISH;
		return k->api->version() >= LEGACY_SWISH;
	default:
		return 0;
	}
}

static int with_operand(struct legacy_kit *k, const struct problem *p, enum tensor_role role,
			struct legacy_step *s, struct err *e)
{
	s->operand = legacy_kit_tensor(k, p, role);
	s->operand_at = s->operand ? stage_input(k->stage, &p->tensor[role], e) : NULL;
	return s->operand_at != NULL;
}

static int multiply(struct legacy_kit *k, const struct problem *p, struct legacy_step *s,
		    struct err *e)
{
	s->moves = 1;
	s->op = legacy_kit_op(k, OP_TENSOR_MUL);
	return s->op && with_operand(k, p, TENSOR_MUL, s, e);
}

static int make_step(struct legacy_kit *k, const struct problem *p, const struct post_op *post,
		     struct legacy_step *s, struct err *e)
{
	enum legacy_activation mode;
	double ceiling;

	*s = (struct legacy_step){.moves = 0};
	if (post->kind == POST_BIAS)
		return with_operand(k, p, TENSOR_BIAS, s, e);
	if (post->kind == POST_ADD)
		return with_operand(k, p, TENSOR_ADD, s, e);
	if (post->kind == POST_MUL)
		return multiply(k, p, s, e);
	if (!find_activation(k, post, &mode, &ceiling))
		return 0;
	s->activation = legacy_kit_activation(k, mode, ceiling);
	return s->activation != NULL;
}

int legacy_steps_make(struct legacy_kit *k, const struct problem *p, int from,
		      struct legacy_steps *s, struct err *e)
{
	const struct workload *w = &k->stage->w;

	*s = (struct legacy_steps){.dst = legacy_kit_tensor(k, p, TENSOR_DST)};
	for (int i = from; i < w->npost && s->dst; i++, s->n++) {
		if (!make_step(k, p, &w->post[i], &s->step[s->n], e))
			return 0;
		s->moves += s->step[s->n].moves;
	}
	return s->dst != NULL;
}

int legacy_steps_from_middle(struct legacy_kit *k, struct legacy_steps *s)
{
	for (int i = 0; i < s->n && s->moves % 2 == 0; i++) {
		struct legacy_step *t = &s->step[i];

		if (t->moves)
			continue;
		if (!t->activation && !(t->op = legacy_kit_op(k, OP_TENSOR_ADD)))
			return 0;
		t->moves = 1;
		s->moves++;
	}
	return s->moves % 2;
}

void *legacy_steps_begin(const struct legacy_kit *k, const struct legacy_steps *s)
{
	return s->moves % 2 ? stage_middle(k->stage) : stage_dst(k->stage);
}

static int run_step(const struct legacy_kit *k, const struct legacy_step *s, void *dst, void *from,
		    void *to)
{
	if (s->activation)
		return k->api->activate(k->handle, s->activation, &one, dst, from, &zero, dst, to);
	if (s->op)
		return k->api->combine(k->handle, s->op, &one, dst, from, &one, s->operand,
				       s->operand_at, &zero, dst, to);
	return k->api->add(k->handle, &one, s->operand, s->operand_at, &one, dst, to);
}

int legacy_steps_run(const struct legacy_kit *k, const struct legacy_steps *s, void *at,
		     struct err *e)
{
	void *const place[] = {stage_dst(k->stage), stage_middle(k->stage)};

	for (int i = 0; i < s->n; i++) {
		void *to = s->step[i].moves ? place[at == place[0]] : at;

		if (legacy_kit_check(k, run_step(k, &s->step[i], s->dst, at, to), "run a post-op",
				     e) < 0)
			return -1;
		at = to;
	}
	return 0;
}
