/* The shapes of what no node makes: of the inputs, what the file declares and what the options say;
 * of constants, what the file says. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/number.h"
#include "lib/extract/graph/infer.h"

struct input_shape *infer_given_shape(const struct infer_options *o, const char *name)
{
	for (int i = 0; i < o->nshape; i++)
		if (!strcmp(o->shape[i].name, name)) {
			o->shape[i].used = 1;
			return &o->shape[i];
		}
	return NULL;
}

/* The last one counts. */
int64_t infer_given_dim(const struct infer_options *o, const char *name)
{
	int64_t size = DIM_UNKNOWN;

	for (int i = 0; i < o->ndim; i++)
		if (!strcmp(o->dim[i].name, name)) {
			o->dim[i].used = 1;
			size = o->dim[i].size;
		}
	return size;
}

/* The symbol of a dimension of an input, "" where it has none that means anything. */
static const char *symbol_of(const struct value *v, int i)
{
	const char *s = v->declared && i < v->declared->shape.rank ? v->declared->symbol[i] : NULL;

	return s && strspn(s, "0123456789.-? ") != strlen(s) && strcasecmp(s, "none") != 0 ? s : "";
}

static void bind(struct infer *x, const char *symbol, int64_t size)
{
	int64_t *to = arena_new(x->g->a, int64_t);

	*to = size;
	*map_put(&x->symbols, symbol, strlen(symbol), NULL) = to;
}

static int bind_given(struct infer *x, struct value *v, struct input_shape *given, struct err *e)
{
	const struct declared *d = v->declared;

	v->shape = given->shape;
	if (!d || d->shape.rank < 0)
		return 0;
	if (d->shape.rank != v->shape.rank)
		return err_set(e, "the input '%s' has %d dimensions, not the %d given for it",
			       v->name, d->shape.rank, v->shape.rank);
	for (int i = 0; i < v->shape.rank; i++) {
		if (symbol_of(v, i)[0])
			bind(x, symbol_of(v, i), v->shape.dim[i]);
		if (d->shape.dim[i] > 0 && d->shape.dim[i] != v->shape.dim[i])
			x->reshaped = 1;
	}
	return 0;
}

static void use_name(void *ctx, const char *name, size_t len)
{
	const struct infer *x = ctx;

	for (int i = 0; i < x->options->ndim; i++) {
		struct dim_size *d = &x->options->dim[i];

		d->used |= strlen(d->name) == len && !memcmp(d->name, name, len);
	}
}

/* The size of the batch that the options tell; DIM_UNKNOWN: they tell none. */
static int64_t given_batch(const struct infer *x)
{
	return x->options->batch ? x->options->batch : infer_given_dim(x->options, "batch");
}

/* The batch, where it is open: 1, if nobody gives its size. */
static int64_t open_batch(struct infer *x, const struct value *v, int i)
{
	int64_t batch = given_batch(x);
	const char *symbol = symbol_of(v, i);

	if (batch == DIM_UNKNOWN)
		infer_count(&x->assumed, x->g->a,
			    symbol[0] ? symbol
				      : arena_printf(x->g->a, "a dimension of '%s'", v->name));
	return batch == DIM_UNKNOWN ? 1 : batch;
}

/* Is the dimension named like a batch? An N is not, where another dimension is named so in full. */
static int is_batch(const struct value *v, int i)
{
	const char *symbol = symbol_of(v, i);

	if (!symbol_is_batch(symbol))
		return 0;
	for (int k = 0; k < v->declared->shape.rank && !symbol[1]; k++)
		if (symbol_is_batch(symbol_of(v, k)) && symbol_of(v, k)[1])
			return 0;
	return 1;
}

/* Symbols that are named like a batch are the batch wherever they stand. */
static void bind_batches(struct infer *x)
{
	for (int i = 0; i < x->g->nvalue; i++) {
		const struct value *v = x->g->value[i];

		for (int k = 0; v->is_input && k < v->declared->shape.rank; k++) {
			const char *symbol = symbol_of(v, k);

			if (is_batch(v, k) && !map_get(&x->symbols, symbol, strlen(symbol)))
				bind(x, symbol, open_batch(x, v, k));
		}
	}
}

/* Does another dimension of the input say that it is the batch? */
static int names_batch(const struct value *v)
{
	for (int i = 1; i < v->declared->shape.rank; i++)
		if (is_batch(v, i))
			return 1;
	return 0;
}

static void resolve_fixed(struct infer *x, struct value *v, int i)
{
	const struct declared *d = v->declared;
	int64_t batch = x->options->batch;

	v->shape.dim[i] = d->shape.dim[i];
	if (i == 0 && batch && d->shape.rank > 1 && d->shape.dim[0] != batch) {
		v->shape.dim[0] = batch;
		x->reshaped = 1;
	}
}

static void resolve_dim(struct infer *x, struct value *v, int i)
{
	const char *symbol = symbol_of(v, i);

	if (v->declared->shape.dim[i] > 0) {
		resolve_fixed(x, v, i);
		return;
	}
	symbol_names(symbol, use_name, x);
	use_name(x, symbol, strlen(symbol));
	if (symbol[0] && !symbol_size(symbol, &x->symbols, &v->shape.dim[i]))
		return;
	v->shape.dim[i] = DIM_UNKNOWN;
	if (i == 0 && !names_batch(v)) {
		v->shape.dim[i] = open_batch(x, v, i);
		if (symbol[0])
			bind(x, symbol, v->shape.dim[i]);
	} else if (symbol[0]) {
		infer_count(&x->unsized, x->g->a, symbol);
	} else {
		infer_count(&x->open, x->g->a,
			    arena_printf(x->g->a, "a dimension of '%s'", v->name));
	}
}

/* Says that the input has an open dimension, and names the option that gives the first of them a
 * size. A symbol may be an expression, which --dim does not take. */
static const char *blame_open(const struct infer *x, const struct value *v)
{
	const char *symbol = "";

	for (int k = v->shape.rank; k-- > 0;)
		if (v->shape.dim[k] == DIM_UNKNOWN)
			symbol = symbol_of(v, k);
	return symbol[0] && !strpbrk(symbol, " +-*/()")
		       ? arena_printf(x->g->a,
				      "an input with an open dimension (--dim %s=SIZE gives it)",
				      symbol)
		       : "an input with an open dimension (--shape gives it)";
}

static int check_input(const struct infer *x, struct value *v, struct err *e)
{
	if (v->shape.rank < 0)
		v->blame = "an input without a shape";
	else if (!shape_known(&v->shape))
		v->blame = blame_open(x, v);
	for (int k = 0; k < v->declared->shape.rank; k++)
		if (v->declared->shape.dim[k] < DIM_UNKNOWN)
			return err_set(e, "the input '%s' has an absurd dimension, %lld", v->name,
				       (long long)v->declared->shape.dim[k]);
	if (infer_absurd(&v->shape))
		return err_set(e, "the input '%s' is of absurd size", v->name);
	return 0;
}

/* Checks constants of the graph and of graphs inside. What computes with a known shape relies on it
 * that its elements can be counted. */
static int check_constants(const struct graph *g, struct err *e)
{
	for (int i = 0; i < g->nvalue; i++)
		if (g->value[i]->is_const && infer_absurd(&g->value[i]->shape))
			return err_set(e, "the constant '%.200s' is of absurd size",
				       g->value[i]->name);
	for (int i = 0; i < g->nnode; i++)
		for (int k = 0; k < g->node[i].nattr; k++)
			if (g->node[i].attr[k].subgraph &&
			    check_constants(g->node[i].attr[k].subgraph, e))
				return -1;
	return 0;
}

int infer_inputs(struct infer *x, struct err *e)
{
	for (int i = 0; i < x->options->ndim; i++)
		bind(x, x->options->dim[i].name, x->options->dim[i].size);
	for (int i = 0; i < x->g->nvalue; i++) {
		struct value *v = x->g->value[i];
		struct input_shape *given = v->is_input && !x->g->is_shaped
						    ? infer_given_shape(x->options, v->name)
						    : NULL;

		if (given && bind_given(x, v, given, e))
			return -1;
	}
	bind_batches(x);
	for (int i = 0; i < x->g->nvalue; i++) {
		struct value *v = x->g->value[i];

		if (!v->is_input)
			continue;
		v->elem = v->declared->elem;
		if (x->g->is_shaped) {
			v->shape = v->declared->shape;
		} else if (!infer_given_shape(x->options, v->name)) {
			v->shape.rank = v->declared->shape.rank;
			for (int k = 0; k < v->shape.rank; k++)
				resolve_dim(x, v, k);
		}
		if (check_input(x, v, e))
			return -1;
	}
	return check_constants(x->g, e);
}

/* "name:1,3,224,224"; the name is a copy. */
static int read_shape(struct input_shape *s, const char *text, struct err *e)
{
	const char *colon = strrchr(text, ':');
	const char *p = colon ? colon + 1 : "";

	*s = (struct input_shape){0};
	while (*p) {
		const char *end;
		int64_t v;

		if (number_whole(p, &end, &v) || (*end && *end != ',') || v > MAX_ELEMENTS ||
		    s->shape.rank == GRAPH_MAX_RANK)
			break;
		s->shape.dim[s->shape.rank++] = v;
		p = *end ? end + 1 : end;
	}
	if (!colon || colon == text || *p || colon[1] == 0 || colon[strlen(colon) - 1] == ',')
		return err_status(
			e, EXIT_USAGE,
			"--shape wants NAME:1,3,224,224 (sizes of 0 and more), not \"%s\"", text);
	s->name = strndup(text, (size_t)(colon - text));
	if (!s->name)
		die_no_memory();
	return 0;
}

/* "seq=128"; the name is a copy. */
static int read_dim(struct dim_size *d, const char *text, struct err *e)
{
	const char *equals = strrchr(text, '=');

	*d = (struct dim_size){0};
	if (!equals || equals == text || number_whole(equals + 1, NULL, &d->size) ||
	    d->size > MAX_ELEMENTS)
		return err_status(e, EXIT_USAGE,
				  "--dim wants NAME=SIZE (a size of 0 and more), not \"%s\"", text);
	d->name = strndup(text, (size_t)(equals - text));
	if (!d->name)
		die_no_memory();
	return 0;
}

int infer_options_read(struct infer_options *o, const struct infer_words *w, struct err *e)
{
	if (w->batch == 0)
		return err_status(e, EXIT_USAGE, "--batch is 0: a batch has 1 or more");
	o->batch = w->batch < 0 ? 0 : w->batch;
	o->nshape = w->nshape;
	o->shape = xcalloc((size_t)w->nshape, sizeof *o->shape);
	o->ndim = w->ndim;
	o->dim = xcalloc((size_t)w->ndim, sizeof *o->dim);
	for (int i = 0; i < w->nshape; i++)
		if (read_shape(&o->shape[i], w->shape[i], e))
			return -1;
	for (int i = 0; i < w->ndim; i++)
		if (read_dim(&o->dim[i], w->dim[i], e))
			return -1;
	return 0;
}

void infer_options_unused(const struct infer_options *o,
			  void (*say)(const char *what, const char *name))
{
	for (int i = 0; i < o->nshape; i++)
		if (!o->shape[i].used)
			say("input", o->shape[i].name);
	for (int i = 0; i < o->ndim; i++)
		if (!o->dim[i].used)
			say("open dimension", o->dim[i].name);
}

void infer_options_free(struct infer_options *o)
{
	for (int i = 0; i < o->nshape; i++)
		free(o->shape[i].name);
	for (int i = 0; i < o->ndim; i++)
		free(o->dim[i].name);
	free(o->shape);
	free(o->dim);
	*o = (struct infer_options){0};
}
