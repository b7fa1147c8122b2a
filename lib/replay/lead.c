#include "lib/replay/lead.h"

#include <math.h>

/* Times on the clock at which each of the stages has done what came so far. */
struct stages {
	double cores;
	double gen_s, filter_s, built_s;
	int has_started;	   /* tl-measure, with the first group that came */
	double group_s, longest_s; /* builds of the group that is being read, one after the other */
};

static void count_build(struct lead *p, struct stages *s, const struct recorded *x)
{
	struct recorded_code *code = x ? x->code : NULL;

	if (!code || code->built || code->planned)
		return;
	code->planned = 1;
	p->build_core_s += code->build_core_s;
	s->group_s += code->build_s;
	s->longest_s = fmax(s->longest_s, code->build_s);
}

static void end_group(struct lead *p, struct stages *s, double search_s, double inference_s)
{
	p->search_s += search_s;
	p->inference_s += inference_s;
	s->gen_s += search_s;
	s->filter_s = fmax(s->filter_s, s->gen_s) + inference_s;
	if (!s->has_started)
		s->built_s = s->filter_s + p->start_s;
	s->has_started = 1;
	s->built_s = fmax(s->built_s, s->filter_s) + fmax(s->group_s / s->cores, s->longest_s);
	s->group_s = s->longest_s = 0;
}

static int read_end(struct lead *p, struct stages *s, struct json_doc *d, const struct rec *r,
		    struct err *e)
{
	double search_s = 0, inference_s = 0;

	if (json_parse(d, r->s, r->n, e))
		return -1;
	json_num(json_get(d, d->tok, "search_s"), &search_s);
	json_num(json_get(d, d->tok, "inference_s"), &inference_s);
	end_group(p, s, fmax(search_s, 0), fmax(inference_s, 0));
	return 0;
}

int lead_make(struct lead *p, const struct whole *in, const struct recorded_env *v, struct err *e)
{
	struct stages s = {.cores = (double)v->threads};
	struct json_doc d = JSON_DOC_INIT;
	int rc = 0;

	for (size_t i = 0; i < in->n && rc == 0; i++) {
		const struct whole_record *x = &in->record[i];

		if (x->r.type == REC_CANDIDATE)
			count_build(p, &s, recording_race(v, x->candidate.s));
		else if (x->r.type == REC_END)
			rc = read_end(p, &s, &d, &x->r, e);
	}
	end_group(p, &s, 0, 0); /* candidates without an end */
	json_free(&d);
	p->wait_s = fmax(s.built_s, (p->search_s + p->inference_s + p->build_core_s) / s.cores);
	return rc;
}
