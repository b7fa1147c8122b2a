#include "lib/schedule/staged.h"

/* A loop over threads that copies chunk q. */
static void copy(const struct staged *s, int q)
{
	int thread;

	s->open(s->arg, q);
	thread = nest_for_threads(s->n, "t", s->threads);
	s->fetch(s->arg, thread);
	s->put(s->arg, thread, af(0));
	nest_close(s->n);
}

static void in_one_stage(const struct staged *s)
{
	struct nest *n = s->n;

	copy(s, nest_for(n, LOOP_SERIAL, "q", s->first, s->end));
	s->multiply(s->arg, nest_for_threads(n, "t", s->threads), af(0));
	nest_close(n);
	nest_close(n);
}

static void in_two_stages(const struct staged *s)
{
	struct nest *n = s->n;
	int q, next, stage, thread;

	copy(s, nest_let(n, "q", s->first));
	q = nest_for(n, LOOP_SERIAL, "q", s->first, s->end);
	next = nest_let(n, "next", af_add(af_var(q), af(1)));
	stage = nest_let_mod(n, "stage", af_sub(af_var(q), s->first), 2);
	s->open(s->arg, next);
	thread = nest_for_threads(n, "t", s->threads);
	nest_if_less(n, af_var(next), s->end);
	s->fetch(s->arg, thread);
	nest_close(n);
	s->multiply(s->arg, thread, af_var(stage));
	nest_if_less(n, af_var(next), s->end);
	s->put(s->arg, thread, af_sub(af(1), af_var(stage)));
	nest_close(n);
	nest_close(n);
	nest_close(n);
}

void staged_run(const struct staged *s)
{
	if (s->stages > 1)
		in_two_stages(s);
	else
		in_one_stage(s);
}
