#include "lib/extract/graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void graph_init(struct graph *g, struct arena *a)
{
	*g = (struct graph){.a = a, .name = ""};
}

void *value_room(struct value *v, size_t bytes)
{
	void *p = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
			: MAP_FAILED;

	if (p == MAP_FAILED)
		return NULL;
	value_drop(v);
	v->data = p;
	v->data_bytes = bytes;
	return p;
}

void value_drop(struct value *v)
{
	if (v->data)
		munmap(v->data, v->data_bytes);
	v->data = NULL;
	v->data_bytes = 0;
}

void attrs_free(const struct attr *a, int n)
{
	for (int i = 0; i < n; i++) {
		if (a[i].subgraph)
			graph_free(a[i].subgraph);
		if (a[i].tensor)
			value_drop(a[i].tensor);
	}
}

static void free_nodes(const struct graph_node *node, int n)
{
	for (int i = 0; i < n; i++)
		attrs_free(node[i].attr, node[i].nattr);
}

/* Graphs and tensors of attributes may be met twice, in old and in new nodes. */
void graph_free(struct graph *g)
{
	int n = g->nnode;

	g->nnode = 0;
	free_nodes(g->node, n);
	for (const struct replaced *r = g->replaced; r; r = r->next)
		free_nodes(r->node, r->n);
	g->replaced = NULL;
	for (int i = 0; i < g->nvalue; i++)
		value_drop(g->value[i]);
	map_free(&g->by_name);
}

/* Room for one more in an array of the arena that doubles; what it leaves behind is at most as
 * large again. */
static void *one_more(struct arena *a, void *old, int n, int *cap, size_t size)
{
	void *p;

	if (n < *cap)
		return old;
	*cap = *cap ? *cap * 2 : 16;
	p = arena_alloc(a, (size_t)*cap * size);
	if (n)
		memcpy(p, old, (size_t)n * size);
	return p;
}

int graph_value(struct graph *g, const char *name)
{
	int isnew;
	void **slot = map_put(&g->by_name, name, strlen(name), &isnew);
	struct value *v;

	if (!isnew)
		return (int)((intptr_t)*slot - 1);
	v = arena_new(g->a, struct value);
	v->name = name;
	v->shape.rank = RANK_UNKNOWN;
	v->producer = v->first = v->consumer = -1;
	g->value = one_more(g->a, g->value, g->nvalue, &g->value_cap, sizeof *g->value);
	g->value[g->nvalue] = v;
	*slot = (void *)(intptr_t)++g->nvalue;
	return g->nvalue - 1;
}

int graph_place(const struct graph *g, const char *name)
{
	return (int)((intptr_t)map_get(&g->by_name, name, strlen(name)) - 1);
}

struct value *graph_find(const struct graph *g, const char *name)
{
	const int at = graph_place(g, name);

	return at < 0 ? NULL : g->value[at];
}

void value_forget(struct value *v)
{
	v->shape.rank = RANK_UNKNOWN;
	v->elem = VALUE_UNKNOWN;
	v->kept = NULL;
	v->sequence = NULL;
	v->blame = NULL;
	v->is_const = v->quantized = 0;
}

void graph_forget(const struct graph *g)
{
	for (int i = 0; i < g->nvalue; i++)
		if (g->value[i]->producer >= 0)
			value_forget(g->value[i]);
}

void graph_add_end(struct graph *g, struct ends *list, int value)
{
	list->at = one_more(g->a, list->at, list->n, &list->cap, sizeof *list->at);
	list->at[list->n++] = value;
}

struct graph_node *graph_add_node(struct graph *g)
{
	g->node = one_more(g->a, g->node, g->nnode, &g->node_cap, sizeof *g->node);
	return &g->node[g->nnode++];
}

void graph_mark_producers(const struct graph *g)
{
	for (int i = 0; i < g->nnode; i++)
		for (int k = 0; k < g->node[i].nout; k++)
			if (g->node[i].out[k] >= 0)
				g->value[g->node[i].out[k]]->producer = i;
}

const struct graph_node *graph_start_over(struct graph *g, int *n)
{
	struct replaced *r = arena_new(g->a, struct replaced);

	*r = (struct replaced){g->node, g->nnode, g->replaced};
	g->replaced = r;
	g->node = NULL;
	g->nnode = g->node_cap = 0;
	*n = r->n;
	return r->node;
}

static int link_outputs(struct graph *g, int i, struct err *e)
{
	const struct graph_node *n = &g->node[i];

	for (int k = 0; k < n->nout; k++) {
		struct value *v = n->out[k] >= 0 ? g->value[n->out[k]] : NULL;

		if (!v)
			continue;
		if (v->producer >= 0 || v->is_const || v->is_input || v->is_captured)
			return err_set(e, "the value '%s' is made twice", v->name);
		v->producer = i;
	}
	return 0;
}

static int link_inputs(struct graph *g, int i, struct err *e)
{
	const struct graph_node *n = &g->node[i];

	for (int k = 0; k < n->ndeps; k++) {
		struct value *v = n->in[k] >= 0 ? g->value[n->in[k]] : NULL;

		if (!v)
			continue;
		if (v->producer < 0 && !v->is_const && !v->is_input && !v->is_captured)
			return err_set(e, "the node %s (%s) reads '%s', which nothing makes",
				       node_label(g, n), n->type, v->name);
		if (node_is(n, OP_Shape) || node_is(n, OP_Size)) {
			v->asked++;
			continue;
		}
		if (!v->uses++)
			v->first = i;
		v->consumer = i;
	}
	return 0;
}

enum mark { WHITE, GREY, BLACK };

/* Depth first from node i, without recursion: a graph may be as deep as it is long. */
static int visit(struct graph *g, int i, unsigned char *mark, int *next_in, int *stack, int *n,
		 struct err *e)
{
	int depth = 0;

	stack[depth++] = i;
	mark[i] = GREY;
	while (depth) {
		int at = stack[depth - 1];
		const struct graph_node *nd = &g->node[at];
		int v, p;

		if (next_in[at] == nd->ndeps) {
			mark[at] = BLACK;
			g->order[(*n)++] = at;
			depth--;
			continue;
		}
		v = nd->in[next_in[at]++];
		p = v < 0 ? -1 : g->value[v]->producer;
		if (p < 0 || mark[p] == BLACK)
			continue;
		if (mark[p] == GREY)
			return err_set(e, "the graph has a cycle through the node %s (%s)",
				       node_label(g, &g->node[p]), g->node[p].type);
		mark[p] = GREY;
		stack[depth++] = p;
	}
	return 0;
}

static int sort(struct graph *g, struct err *e)
{
	size_t n = (size_t)g->nnode;
	unsigned char *mark = xcalloc(n, 1);
	int *next_in = xcalloc(n, sizeof *next_in), *stack = xcalloc(n, sizeof *stack);
	int done = 0, r = 0;

	g->order = arena_array(g->a, int, n);
	for (int i = 0; i < g->nnode && !r; i++)
		if (mark[i] == WHITE)
			r = visit(g, i, mark, next_in, stack, &done, e);
	free(mark);
	free(next_in);
	free(stack);
	return r;
}

int graph_link(struct graph *g, struct err *e)
{
	for (int i = 0; i < g->nnode; i++) {
		struct graph_node *n = &g->node[i];

		n->op = !n->domain[0] || !strcmp(n->domain, "ai.onnx") ? operator_find(n->type)
								       : OP_NONE;
		if (link_outputs(g, i, e))
			return -1;
	}
	for (int i = 0; i < g->nnode; i++)
		if (link_inputs(g, i, e))
			return -1;
	for (int i = 0; i < g->nvalue; i++) {
		const struct value *v = g->value[i];

		if (v->is_output && v->producer < 0 && !v->is_const && !v->is_input &&
		    !v->is_captured)
			return err_set(e, "nothing makes the output '%s'", v->name);
	}
	return sort(g, e);
}

const char *node_label(const struct graph *g, const struct graph_node *n)
{
	if (n->name[0])
		return n->name;
	return n->nout && n->out[0] >= 0 ? g->value[n->out[0]]->name : "without a name";
}

const struct attr *node_attr(const struct graph_node *n, const char *name)
{
	for (int i = 0; i < n->nattr; i++)
		if (!strcmp(n->attr[i].name, name)) {
			n->attr[i].taken = 1;
			return &n->attr[i];
		}
	return NULL;
}

int64_t node_int(const struct graph_node *n, const char *name, int64_t otherwise)
{
	const struct attr *a = node_attr(n, name);

	return a ? a->i : otherwise;
}

float node_float(const struct graph_node *n, const char *name, float otherwise)
{
	const struct attr *a = node_attr(n, name);

	return a ? a->f : otherwise;
}

const char *node_str(const struct graph_node *n, const char *name, const char *otherwise)
{
	const struct attr *a = node_attr(n, name);

	return a && a->s ? a->s : otherwise;
}

const struct graph *graph_unwalked(const struct attr *a)
{
	return a->subgraph && !a->subgraph->times && !a->subgraph->is_dead ? a->subgraph : NULL;
}

int node_is_walked(const struct graph_node *n)
{
	for (int i = 0; i < n->nattr; i++)
		if (n->attr[i].subgraph && !graph_unwalked(&n->attr[i]))
			return 1;
	return 0;
}

int node_channel(const struct graph_node *n, int rank)
{
	return n->channels_last ? rank - 1 : 1;
}

int node_space(const struct graph_node *n)
{
	return n->channels_last ? 1 : 2;
}

struct shape node_filter(const struct graph_node *n, const struct shape *s)
{
	const char *to = node_is(n, OP_ConvTranspose) ? "io" : "oi";
	struct shape out = *s;
	int at = 2;

	if (!n->filter || s->rank != (int)strlen(n->filter))
		return out;
	for (int i = 0; i < s->rank; i++) {
		const char *c = strchr(to, n->filter[i]);

		out.dim[c ? c - to : at++] = s->dim[i];
	}
	return out;
}

int64_t node_groups(const struct graph *g, const struct graph_node *n, int weights)
{
	const struct value *data = node_in(g, n, 0), *w = node_in(g, n, weights);
	int64_t group = node_int(n, "group", 1), all, read;
	struct shape f;

	if (group || !data || !w || data->shape.rank < 2 || w->shape.rank < 2)
		return group ? group : 1;
	f = node_filter(n, &w->shape);
	all = data->shape.dim[node_channel(n, data->shape.rank)];
	read = f.dim[1];
	return all > 0 && read > 0 && all % read == 0 ? all / read : 1;
}

struct value *node_in(const struct graph *g, const struct graph_node *n, int i)
{
	return i < n->nin && n->in[i] >= 0 ? g->value[n->in[i]] : NULL;
}

struct value *node_out(const struct graph *g, const struct graph_node *n, int i)
{
	return i < n->nout && n->out[i] >= 0 ? g->value[n->out[i]] : NULL;
}

void shape_insert(struct shape *s, int at, int64_t size)
{
	memmove(s->dim + at + 1, s->dim + at, sizeof *s->dim * (size_t)(s->rank++ - at));
	s->dim[at] = size;
}

void shape_drop(struct shape *s, int at)
{
	memmove(s->dim + at, s->dim + at + 1, sizeof *s->dim * (size_t)(--s->rank - at));
}

int shape_known(const struct shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] < 0)
			return 0;
	return s->rank >= 0;
}

int64_t shape_count(const struct shape *s)
{
	int64_t n = 1;

	for (int i = 0; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

int shape_equal(const struct shape *a, const struct shape *b)
{
	return shape_known(a) && a->rank == b->rank &&
	       !memcmp(a->dim, b->dim, sizeof a->dim[0] * (size_t)a->rank);
}

void shape_print(const struct shape *s, struct buf *out)
{
	if (s->rank < 0)
		buf_str(out, "an unknown shape");
	else if (s->rank == 0)
		buf_str(out, "a scalar");
	for (int i = 0; i < s->rank; i++) {
		if (i)
			buf_ch(out, 'x');
		if (s->dim[i] < 0)
			buf_ch(out, '?');
		else
			buf_int(out, s->dim[i]);
	}
}

static int has_one(const struct value *v)
{
	return v && v->kept && shape_known(&v->shape) && shape_count(&v->shape) == 1;
}

int value_real(const struct value *v, double *out)
{
	if (!has_one(v) || !elem_is_real(v->elem) || isnan(v->kept[0].f))
		return 0;
	*out = v->kept[0].f;
	return 1;
}

int value_whole(const struct value *v, int64_t *out)
{
	if (!has_one(v) || !elem_is_int(v->elem) || v->kept[0].i == INT_UNKNOWN)
		return 0;
	*out = v->kept[0].i;
	return 1;
}

int value_is_zero(const struct value *v)
{
	const unsigned char *data;

	if (!v)
		return 1;
	if (!shape_known(&v->shape))
		return -1;
	if (v->kept) {
		for (int64_t i = 0; i < shape_count(&v->shape); i++)
			if (v->kept[i].i)
				return 0;
		return 1;
	}
	if (!v->data)
		return -1;
	data = v->data;
	for (size_t i = 0; i < v->data_bytes; i++)
		if (data[i])
			return 0;
	return 1;
}

int value_is_along(const struct value *v, const struct shape *s, int dim, int dims)
{
	const int offset = s->rank - v->shape.rank;
	int ones = 0;

	if (!v->is_const || !shape_known(&v->shape) || offset < 0)
		return 0;
	for (int i = 0; i < v->shape.rank; i++) {
		const int inside = i + offset >= dim && i + offset < dim + dims;

		if (v->shape.dim[i] != 1 && (!inside || v->shape.dim[i] != s->dim[i + offset]))
			return 0;
		ones += inside && v->shape.dim[i] == 1 && s->dim[i + offset] != 1;
	}
	/* All of several dimensions, or none. */
	return dims == 1 || shape_count(&v->shape) == 1 || (!ones && offset <= dim);
}

const char *elem_name(int elem)
{
	static const char *const name[] = {
		"unknown type", "f32",	  "u8",		"i8",	"u16",	"i16",
		"i32",		"i64",	  "string",	"bool", "f16",	"f64",
		"u32",		"u64",	  "c64",	"c128", "bf16", "f8e4m3fn",
		"f8e4m3fnuz",	"f8e5m2", "f8e5m2fnuz", "u4",	"i4"};

	if (elem < 0 || elem >= (int)(sizeof name / sizeof *name))
		return "another type";
	return name[elem];
}

int elem_is_int(int elem)
{
	return (elem >= VALUE_U8 && elem <= VALUE_I64) || elem == VALUE_BOOL || elem == VALUE_U32 ||
	       elem == VALUE_U64 || elem == VALUE_U4 || elem == VALUE_I4;
}

size_t value_elem_size(int elem)
{
	static const unsigned char size[] = {
		[VALUE_F32] = 4, [VALUE_U8] = 1,    [VALUE_I8] = 1,   [VALUE_U16] = 2,
		[VALUE_I16] = 2, [VALUE_I32] = 4,   [VALUE_I64] = 8,  [VALUE_BOOL] = 1,
		[VALUE_F16] = 2, [VALUE_F64] = 8,   [VALUE_U32] = 4,  [VALUE_U64] = 8,
		[VALUE_C64] = 8, [VALUE_C128] = 16, [VALUE_BF16] = 2,
	};

	return elem >= 0 && elem < (int)sizeof size ? size[elem] : 0;
}

size_t value_elems_size(int elem, int64_t n)
{
	if (elem == VALUE_U4 || elem == VALUE_I4)
		return (size_t)(n / 2 + n % 2);
	return (size_t)n * value_elem_size(elem);
}

int elem_is_real(int elem)
{
	return elem == VALUE_F32 || elem == VALUE_F64 || elem == VALUE_F16 || elem == VALUE_BF16;
}
