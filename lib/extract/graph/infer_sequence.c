/* Sequences of tensors, as far as their lengths are known. */
#include "lib/extract/graph/infer.h"

enum { ITEMS_MOST = 4096 };

/* Output 0 as a sequence with room for n items. NULL: it is left out, or would be too long. */
static struct sequence *new_sequence(struct infer *x, const struct graph_node *n, int64_t count)
{
	struct value *v = node_out(x->g, n, 0);
	struct sequence *s;

	if (!v || count < 0 || count > ITEMS_MOST || x->kept > KEEP_ALL)
		return NULL;
	x->kept += count;
	s = arena_new(x->g->a, struct sequence);
	s->item = arena_array(x->g->a, const struct value *, count + 1);
	s->n = count;
	v->sequence = s;
	return s;
}

int64_t infer_place(const struct graph *g, const struct graph_node *n, int i, int64_t count,
		    int64_t otherwise)
{
	const int64_t *list;
	int len, r = infer_list(g, n, NULL, i, &len, &list);
	int64_t at = r == 1 && len == 1 ? list[0] : r ? INT_UNKNOWN : otherwise;

	if (at == INT_UNKNOWN || at < -count || at > count)
		return -1;
	return at < 0 ? at + count : at;
}

/* Inference changes a value of a body in its next turn: a list keeps what it was. */
static const struct value *copy_of(struct infer *x, const struct value *v)
{
	struct value *copy = arena_new(x->g->a, struct value);

	x->kept += (int64_t)(sizeof *v / sizeof(union scalar));
	*copy = *v;
	return copy;
}

INFER(sequence_construct)
{
	struct sequence *s = new_sequence(x, n, n->nin);

	for (int i = 0; s && i < n->nin; i++)
		if (!node_in(x->g, n, i))
			return infer_lacks(x, n, e);
		else
			s->item[i] = copy_of(x, node_in(x->g, n, i));
	return 0;
}

/* The same without item `at`, or with one before it. */
static int change(struct infer *x, const struct graph_node *n, const struct sequence *from,
		  const struct value *add, int64_t at)
{
	struct sequence *s;

	if (at < 0 || (!add && at >= from->n))
		return 0;
	s = new_sequence(x, n, from->n + (add ? 1 : -1));
	add = s && add ? copy_of(x, add) : add;
	for (int64_t i = 0; s && i < s->n; i++)
		s->item[i] = add && i == at ? add
			     : add	    ? from->item[i - (i > at)]
					    : from->item[i + (i >= at)];
	return 0;
}

INFER(sequence_insert)
{
	const struct sequence *from = in ? in->sequence : NULL;

	return from ? change(x, n, from, node_in(x->g, n, 1),
			     infer_place(x->g, n, 2, from->n, from->n))
		    : 0;
}

INFER(sequence_erase)
{
	const struct sequence *from = in ? in->sequence : NULL;

	return from ? change(x, n, from, NULL, infer_place(x->g, n, 1, from->n, from->n - 1)) : 0;
}

INFER(sequence_at)
{
	const struct sequence *from = in ? in->sequence : NULL;
	int64_t at = from ? infer_place(x->g, n, 1, from->n, 0) : -1;
	struct value *v = node_out(x->g, n, 0);

	if (!v || at < 0 || at >= from->n)
		return 0;
	v->elem = from->item[at]->elem;
	v->kept = from->item[at]->kept;
	v->quantized = from->item[at]->quantized;
	return infer_set(x, n, 0, &from->item[at]->shape, e);
}

INFER(sequence_length)
{
	const struct sequence *from = in ? in->sequence : NULL;
	const struct shape scalar = {0};
	union scalar *to;

	infer_elem(x, n, 0, VALUE_I64);
	if (infer_set(x, n, 0, &scalar, e))
		return -1;
	if ((to = infer_keep(x, n, 0)))
		to[0].i = from ? from->n : INT_UNKNOWN;
	return 0;
}

/* Are the parts together as long as all? Yes, as far as they are known. */
static int is_whole(const int64_t *sizes, int n, int64_t all)
{
	int is_open = 0;

	for (int i = 0; i < n; i++) {
		is_open |= sizes[i] == INT_UNKNOWN;
		if (sizes[i] == INT_UNKNOWN)
			continue;
		if (sizes[i] < 0 || sizes[i] > all)
			return 0;
		all -= sizes[i];
	}
	return is_open || !all;
}

/* Parts along an axis: of one size (a scalar), of several, or of 1, whose dimension may go. */
INFER(split_to_sequence)
{
	const struct value *split = node_in(x->g, n, 1);
	int axis, count = 0, given, drop = !split && !node_int(n, "keepdims", 1);
	const int64_t *sizes = NULL;
	int64_t all, one = 1, parts;
	struct sequence *s;

	given = infer_list(x->g, n, NULL, 1, &count, &sizes);
	axis = in->shape.rank < 0 ? -1 : infer_axis(node_int(n, "axis", 0), in->shape.rank);
	if (in->shape.rank >= 0 && axis < 0)
		return infer_bad(x, n, e, "splits a dimension that is not there");
	all = axis < 0 ? DIM_UNKNOWN : in->shape.dim[axis];
	if (given < 0 || all < 0)
		return 0;
	if (split && split->shape.rank == 0)
		one = sizes[0];
	if (one < 1)
		return one == INT_UNKNOWN ? 0 : infer_bad(x, n, e, "splits into parts of nothing");
	if (split && split->shape.rank == 1 && !is_whole(sizes, count, all))
		return infer_bad(x, n, e, "splits %lld into parts that do not fit", (long long)all);
	parts = split && split->shape.rank == 1 ? count : all / one + !!(all % one);
	if (!(s = new_sequence(x, n, parts)))
		return 0;
	for (int64_t i = 0; i < parts; i++) {
		const struct value part = {.name = "", .elem = in->elem, .shape = in->shape};
		struct value *v = (struct value *)copy_of(x, &part);
		int64_t size = split && split->shape.rank == 1 ? sizes[i]
			       : all - i * one < one	       ? all - i * one
							       : one;

		v->shape.dim[axis] = size < 0 || size > all ? DIM_UNKNOWN : size;
		if (drop)
			shape_drop(&v->shape, axis);
		s->item[i] = v;
	}
	return 0;
}

INFER(concat_from_sequence)
{
	const struct sequence *from = in ? in->sequence : NULL;
	int add = node_int(n, "new_axis", 0) != 0, axis;
	int64_t along;

	if (!from || !from->n || from->item[0]->shape.rank < 0)
		return 0;
	*made = from->item[0]->shape;
	if (add && made->rank == GRAPH_MAX_RANK)
		return 0;
	if (infer_required(x, n, "axis", &along, e))
		return -1;
	axis = infer_axis(along, made->rank + add);
	if (axis < 0)
		return infer_bad(x, n, e, "joins along a dimension that is not there");
	infer_elem(x, n, 0, from->item[0]->elem);
	if (add) {
		shape_insert(made, axis, from->n);
		return 1;
	}
	for (int64_t i = 1; i < from->n; i++) {
		const struct shape *more = &from->item[i]->shape;

		if (more->rank != made->rank)
			return 0;
		if (made->dim[axis] < 0 || more->dim[axis] < 0)
			made->dim[axis] = DIM_UNKNOWN;
		else if (__builtin_add_overflow(made->dim[axis], more->dim[axis], &made->dim[axis]))
			return infer_bad(x, n, e, "makes a tensor of absurd size");
	}
	return 1;
}

/* Not of ONNX: such a list as a tensor. Input 1 tells the shape of its items, in part, which counts
 * where the list has its length alone. */
INFER(list_items)
{
	const struct value *told = node_in(x->g, n, 1);
	int64_t stride[GRAPH_MAX_RANK], rank;

	if (made->rank != 1 || !told || !told->kept || told->shape.rank != 1 ||
	    !elem_is_int(told->elem) || !shape_count(&told->shape)) {
		if (infer_set(x, n, 0, made, e))
			return -1;
		infer_strides(made, stride);
		infer_view(x, n, 0, in, 0, stride);
		return 0;
	}
	rank = 1 + shape_count(&told->shape);
	if (rank > GRAPH_MAX_RANK)
		return 0;
	made->rank = (int)rank;
	for (int i = 1; i < made->rank; i++)
		made->dim[i] = told->kept[i - 1].i < 0 ? DIM_UNKNOWN : told->kept[i - 1].i;
	return 1;
}

/* Not of ONNX: a list of items of one shape, along the first dimension of a tensor, in which item 2
 * takes the place that input 1 counts. A list that has no items yet has that dimension alone. */
INFER(set_item)
{
	const struct value *item = node_in(x->g, n, 2);
	struct value *v = node_out(x->g, n, 0);

	if (!v)
		return 0;
	v->elem = item->elem;
	if (item->shape.rank < 0 || item->shape.rank == GRAPH_MAX_RANK)
		return 0;
	*made = item->shape;
	shape_insert(made, 0, in->shape.rank > 0 ? in->shape.dim[0] : DIM_UNKNOWN);
	return 1;
}
