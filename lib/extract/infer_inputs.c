/* The shapes of the inputs: what the file declares, what the options say. */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/infer.h"

static struct input_shape *given_shape(const struct infer *x, const char *name)
{
	for (int i = 0; i < x->options->nshape; i++)
		if (!strcmp(x->options->shape[i].name, name))
			return &x->options->shape[i];
	return NULL;
}

static int bind_given(struct infer *x, struct value *v, struct input_shape *given, struct err *e)
{
	const struct declared *d = v->declared;

	given->used = 1;
	v->shape = given->shape;
	if (!d || d->shape.rank < 0)
		return 0;
	if (d->shape.rank != v->shape.rank)
		return err_set(e, "the input '%s' has %d dimensions, not the %d given for it",
			       v->name, d->shape.rank, v->shape.rank);
	for (int i = 0; i < v->shape.rank; i++) {
		const char *symbol = d->symbol[i];

		if (symbol && symbol[0])
			*map_put(&x->symbols, symbol, strlen(symbol), NULL) = &v->shape.dim[i];
		if (d->shape.dim[i] && d->shape.dim[i] != v->shape.dim[i])
			x->reshaped = 1;
	}
	return 0;
}

static void resolve_dim(struct infer *x, struct value *v, int i)
{
	const struct declared *d = v->declared;
	const char *symbol = d->symbol[i] ? d->symbol[i] : "";
	const int64_t *bound = map_get(&x->symbols, symbol, strlen(symbol));
	int64_t batch = x->options->batch;

	if (d->shape.dim[i]) {
		v->shape.dim[i] = d->shape.dim[i];
		if (i == 0 && batch && d->shape.rank > 1 && d->shape.dim[0] != batch) {
			v->shape.dim[0] = batch;
			x->reshaped = 1;
		}
		return;
	}
	v->shape.dim[i] = bound ? *bound : i == 0 ? (batch ? batch : 1) : DIM_UNKNOWN;
	if (v->shape.dim[i] < 0) {
		char *text = arena_printf(x->g->a, "%s of '%s'", symbol[0] ? symbol : "a dimension",
					  v->name);

		infer_count(&x->open, x->g->a, text);
	}
}

int infer_inputs(struct infer *x, struct err *e)
{
	for (int i = 0; i < x->g->nvalue; i++) {
		struct value *v = x->g->value[i];
		struct input_shape *given =
			v->is_input && !x->g->is_shaped ? given_shape(x, v->name) : NULL;

		if (given && bind_given(x, v, given, e))
			return -1;
	}
	for (int i = 0; i < x->g->nvalue; i++) {
		struct value *v = x->g->value[i];

		if (!v->is_input)
			continue;
		v->elem = v->declared->elem;
		if (x->g->is_shaped) {
			v->shape = v->declared->shape;
		} else if (!given_shape(x, v->name)) {
			v->shape.rank = v->declared->shape.rank;
			for (int k = 0; k < v->shape.rank; k++)
				resolve_dim(x, v, k);
		}
		if (v->shape.rank < 0)
			v->blame = "an input without a shape";
		else if (!shape_known(&v->shape))
			v->blame = "an input with an open dimension";
		for (int k = 0; k < v->shape.rank; k++)
			if (v->declared->shape.rank > k && v->declared->shape.dim[k] < 0 &&
			    v->shape.dim[k] < 0)
				return err_set(e, "the input '%s' has an absurd dimension, %lld",
					       v->name, (long long)v->declared->shape.dim[k]);
		if (infer_absurd(&v->shape))
			return err_set(e, "the input '%s' is of absurd size", v->name);
	}
	return 0;
}

/* "name:1,3,224,224"; the name is a copy. */
static int read_shape(struct input_shape *s, const char *text, struct err *e)
{
	const char *colon = strrchr(text, ':');
	const char *p = colon ? colon + 1 : "";

	*s = (struct input_shape){0};
	while (*p) {
		char *end;
		long long v = strtoll(p, &end, 10);

		if (end == p || (*end && *end != ',') || v < 1 || v > MAX_ELEMENTS ||
		    s->shape.rank == GRAPH_MAX_RANK)
			break;
		s->shape.dim[s->shape.rank++] = v;
		p = *end ? end + 1 : end;
	}
	if (!colon || colon == text || *p || colon[1] == 0 || colon[strlen(colon) - 1] == ',')
		return err_status(
			e, EXIT_USAGE,
			"--shape wants NAME:1,3,224,224 (sizes of 1 and more), not \"%s\"", text);
	s->name = strndup(text, (size_t)(colon - text));
	if (!s->name)
		die_no_memory();
	return 0;
}

int infer_options_read(struct infer_options *o, int64_t batch, const char *const *shape, int n,
		       struct err *e)
{
	if (batch == 0)
		return err_status(e, EXIT_USAGE, "--batch is 0: a batch has 1 or more");
	o->batch = batch < 0 ? 0 : batch;
	o->nshape = n;
	o->shape = xcalloc((size_t)n, sizeof *o->shape);
	for (int i = 0; i < n; i++)
		if (read_shape(&o->shape[i], shape[i], e))
			return -1;
	return 0;
}

void infer_options_free(struct infer_options *o)
{
	for (int i = 0; i < o->nshape; i++)
		free(o->shape[i].name);
	free(o->shape);
	*o = (struct infer_options){0};
}
