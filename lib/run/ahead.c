#include "lib/run/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "lib/run/constants.h"
#include "lib/run/given.h"

enum { CHANGES_MOST = 100 };

void ahead_free(struct ahead_facts *h)
{
	arena_free(&h->a);
}

void ahead_tell(const struct ahead_facts *h, const struct graph *g, int round)
{
	for (int i = 0; i < h->nfact; i++) {
		struct value *v = h->fact[i].round == round ? graph_find(g, h->fact[i].name) : NULL;

		if (v)
			v->told = &h->fact[i].told;
	}
}

/* ---- what is open ---- */

/* Keeps what is found of each value. */
struct looking {
	struct graph *g;
	unsigned char *needed; /* an output follows from it */
	unsigned char *there;  /* it can be computed now */
	unsigned char *random; /* it is made of random inputs of at most one dimension */
	unsigned char *wanted; /* a run is to tell it */
	int is_random, nwanted;
};

/* Does the node make a marked value that is not known? */
static int is_made(const struct graph *g, const struct graph_node *n, const unsigned char *marked)
{
	for (int i = 0; i < n->nout; i++)
		if (n->out[i] >= 0 && marked[n->out[i]] &&
		    !constant_is_kept(g, g->value[n->out[i]]))
			return 1;
	return 0;
}

/* Marks what marked values are computed from. What is known is computed from nothing. */
static void mark_sources(const struct graph *g, unsigned char *marked)
{
	for (int i = g->nnode; i-- > 0;) {
		const struct graph_node *n = &g->node[g->order[i]];
		const int is_read = is_made(g, n, marked);

		for (int k = 0; k < n->ndeps && is_read; k++)
			if (n->in[k] >= 0)
				marked[n->in[k]] = 1;
	}
}

static int has_graph(const struct graph_node *n)
{
	for (int i = 0; i < n->nattr; i++)
		if (n->attr[i].subgraph)
			return 1;
	return 0;
}

static void want(struct looking *k, int value)
{
	k->nwanted += !k->wanted[value];
	k->wanted[value] = 1;
}

/* Is an input whose elements lowering wants to know not known? If it is there, it is wanted. */
static int is_open(struct looking *k, const struct graph_node *n, int i)
{
	const struct value *v = node_in(k->g, n, i);

	if (!v || (v->is_const && v->producer < 0) || constant_is_kept(k->g, v) ||
	    (v->told && v->told->kept))
		return 0;
	if (k->there[n->in[i]] && v->producer >= 0 && !(k->is_random && k->random[n->in[i]]) &&
	    v->shape.rank <= 1 && shape_count(&v->shape) <= KEEP_INTS)
		want(k, n->in[i]);
	return 1;
}

/* The inputs whose elements lowering wants to know. Some of them are computed if need be. */
static unsigned wanted_inputs(const struct graph_node *n)
{
	unsigned inputs = given_matters(n);

	if (node_is(n, OP_Pad))
		inputs &= ~4U;
	if (lower_is_counted(n) || node_is(n, OP_Clip))
		inputs = 0;
	return inputs;
}

/* Can a run compute the node, whose inputs are there? */
static int is_ready(struct looking *k, const struct graph_node *n)
{
	const struct value *v = node_out(k->g, n, 0);

	if (!lower_is_counted(n) || !v || (v->told && v->told->count >= 0) ||
	    (node_is(n, OP_Compress) && constant_is_kept(k->g, node_in(k->g, n, 1))))
		return 1;
	want(k, n->out[0]);
	return 0;
}

static void look_at(struct looking *k, const struct graph_node *n)
{
	const unsigned inputs = wanted_inputs(n);
	int is_there = !has_graph(n), random = 0;

	for (int i = 0; i < n->ndeps; i++) {
		is_there &= n->in[i] < 0 || k->there[n->in[i]];
		random |= n->in[i] >= 0 && k->random[n->in[i]] && !node_is(n, OP_Shape) &&
			  !node_is(n, OP_Size);
	}
	if (is_made(k->g, n, k->needed)) {
		for (int i = 0; i < n->nin && i < 32; i++)
			is_there &= !(inputs >> i & 1 && is_open(k, n, i));
		is_there = is_there && is_ready(k, n);
	}
	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(k->g, n, i);

		if (!v)
			continue;
		k->there[n->out[i]] =
			(is_there && shape_known(&v->shape)) || constant_is_kept(k->g, v);
		k->random[n->out[i]] = random != 0;
	}
}

static void begin(struct looking *k)
{
	const size_t n = (size_t)k->g->nvalue + 1;

	k->needed = xcalloc(n, 1);
	k->there = xcalloc(n, 1);
	k->random = xcalloc(n, 1);
	k->wanted = xcalloc(n, 1);
	for (int i = 0; i < k->g->nvalue; i++) {
		const struct value *v = k->g->value[i];

		k->needed[i] = v->is_output != 0;
		k->there[i] = v->producer < 0 && shape_known(&v->shape);
		k->random[i] = v->is_input && !v->is_const && v->shape.rank <= 1;
	}
	mark_sources(k->g, k->needed);
}

static void end(struct looking *k)
{
	free(k->needed);
	free(k->there);
	free(k->random);
	free(k->wanted);
}

/* ---- the part of the graph ---- */

/* Links the nodes that are left. The number of readers stays, which says what may be fused, as does
 * which values are made of constants. */
static int link_again(struct graph *g, const struct value *was, struct err *e)
{
	int rc = graph_link(g, e);

	for (int i = 0; i < g->nvalue; i++) {
		struct value *v = g->value[i];

		v->uses = v->uses < was[i].uses ? was[i].uses : v->uses;
		if (v->producer >= 0)
			v->is_const = was[i].is_const;
	}
	return rc;
}

/* Leaves the nodes that make marked values. What another node makes and is known is a constant. */
static int cut(struct graph *g, const unsigned char *marked, struct err *e)
{
	const int *order = g->order;
	struct value *was = xcalloc((size_t)g->nvalue + 1, sizeof *was);
	unsigned char *stays = xcalloc((size_t)g->nnode + 1, 1);
	const struct graph_node *old;
	int n, rc;

	for (int i = 0; i < g->nnode; i++)
		stays[i] = (unsigned char)is_made(g, &g->node[i], marked);
	for (int i = 0; i < g->nvalue; i++) {
		struct value *v = g->value[i];
		const int producer = v->producer, is_known = constant_is_kept(g, v);

		was[i] = *v;
		v->is_output = marked[i] > 1;
		v->uses = v->asked = 0;
		v->first = v->consumer = v->producer = -1;
		if (producer >= 0)
			v->is_const = !stays[producer] && is_known;
		v->is_fixed |= producer >= 0 && v->is_const;
	}
	old = graph_start_over(g, &n);
	for (int i = 0; i < n; i++)
		if (stays[order[i]])
			*graph_add_node(g) = old[order[i]];
	rc = link_again(g, was, e);
	free(stays);
	free(was);
	return rc;
}

int ahead_cut(struct graph *g, int is_random, struct err *e)
{
	struct looking k = {.g = g, .is_random = is_random};
	int rc = 0;

	begin(&k);
	for (int i = 0; i < g->nnode; i++)
		look_at(&k, &g->node[g->order[i]]);
	if (k.nwanted) {
		unsigned char *marked = xcalloc((size_t)g->nvalue + 1, 1);

		memcpy(marked, k.wanted, (size_t)g->nvalue);
		mark_sources(g, marked);
		for (int i = 0; i < g->nvalue; i++)
			marked[i] += k.wanted[i];
		rc = cut(g, marked, e) ? -1 : 1;
		free(marked);
	}
	end(&k);
	return rc;
}

/* ---- facts ---- */

static const struct counted *find_counted(const struct plan *p, const char *name)
{
	for (int i = 0; i < p->ncounted; i++)
		if (!strcmp(p->counted[i]->name, name))
			return p->counted[i];
	return NULL;
}

static void read_elements(struct ahead_facts *h, const struct value *v, const float *from,
			  struct told_value *to)
{
	const int64_t n = shape_count(&v->shape);

	to->elem = v->elem;
	to->shape = v->shape;
	to->kept = arena_array(&h->a, union scalar, n + 1);
	for (int64_t i = 0; i < n; i++)
		if (elem_is_int(v->elem))
			to->kept[i].i = given_whole(from[i]);
		else
			to->kept[i].f = (double)from[i];
}

/* Was this told before? A round that tells nothing new would have no end. */
static int is_known(const struct ahead_facts *h, const char *name, int is_count)
{
	for (int i = 0; i < h->nfact; i++)
		if (!strcmp(h->fact[i].name, name) && is_count == !h->fact[i].told.kept)
			return 1;
	return 0;
}

/* A round tells how many items a node makes. A later one, if need be, tells their elements. */
int ahead_read(struct ahead_facts *h, const struct graph *g, const struct plan *p,
	       const struct graph_io *io, struct err *e)
{
	if (h->rounds == AHEAD_ROUNDS)
		return err_set(e,
			       "more than %d sizes, branches and turns follow from data one after "
			       "the other",
			       AHEAD_ROUNDS);
	h->rounds++;
	for (int i = 0; i < io->noutputs; i++) {
		const struct value *v = g->value[io->output[i]];
		const struct counted *c = find_counted(p, v->name);
		const int is_count = c && c->told < 0;
		struct ahead_fact *f;

		if (is_known(h, v->name, is_count) || (c && c->found < 0))
			return err_set(e, "the size of '%s' was not found", v->name);
		f = arena_add(&h->a, &h->fact, &h->nfact, sizeof *f);
		*f = (struct ahead_fact){.name = arena_strdup(&h->a, v->name),
					 .round = h->rounds,
					 .told.count = is_count ? c->found
						       : c	? c->told
								: DIM_UNKNOWN};
		if (!is_count)
			read_elements(h, v, plan_data(p, io->output_at[i]), &f->told);
	}
	return 0;
}

/* The fact that tells a count otherwise than a run found it; NULL: there is none. */
static struct ahead_fact *find_wrong(const struct ahead_facts *h, const struct counted *c)
{
	if (c->told < 0 || c->found < 0 || c->told == c->found)
		return NULL;
	for (int i = 0; i < h->nfact; i++)
		if (!strcmp(h->fact[i].name, c->name) && !h->fact[i].told.kept)
			return &h->fact[i];
	return NULL;
}

int ahead_mend(struct ahead_facts *h, const struct plan *p, struct err *e)
{
	int first = 0, n = 0;

	for (int i = 0; i < p->ncounted; i++) {
		const struct ahead_fact *f = find_wrong(h, p->counted[i]);

		if (f && (!first || f->round < first))
			first = f->round;
	}
	if (!first)
		return 0;
	if (++h->changed > CHANGES_MOST)
		return err_set(e, "the sizes that follow from data differ from run to run");
	for (int i = 0; i < p->ncounted; i++) {
		struct ahead_fact *f = find_wrong(h, p->counted[i]);

		if (f && f->round == first)
			f->told.count = p->counted[i]->found;
	}
	h->rounds = first;
	while (n < h->nfact && h->fact[n].round <= h->rounds)
		n++;
	h->nfact = n;
	return 1;
}
