/* ONNX's Attention (attend.h). Keys and values of former calls come before those of this one.
 * Inputs 7 and 8 are onnxruntime's mask of keys and the number of each batch's last key
 * (rewrite_run_attention.c). */
#include <math.h>
#include <string.h>

#include "lib/run/attend.h"
#include "lib/run/lower.h"

/* Input i as batches x heads x rows x size; with three dimensions the last one has the heads. */
static int get_heads(struct lowering *l, const struct graph_node *n, int i, const char *heads,
		     struct place *out, struct err *e)
{
	const int64_t count = node_int(n, heads, 0);
	struct place p, split;

	if (!node_in(l->g, n, i) || lower_get(l, n->in[i], &p, e))
		return node_in(l->g, n, i) ? -1 : lower_bad(l, n, e, "lacks an operand");
	*out = p;
	if (p.rank == 4)
		return 0;
	if (p.rank != 3 || count < 1 || p.dim[2] % count)
		return lower_bad(l, n, e, "has heads that do not divide its input");
	lower_dense(l, &p, NULL, node_label(l->g, n), &p);
	place_reshape(&p, 4, (int64_t[]){p.dim[0], p.dim[1], count, p.dim[2] / count}, &split);
	*out = split;
	out->dim[1] = split.dim[2];
	out->dim[2] = split.dim[1];
	out->stride[1] = split.stride[2];
	out->stride[2] = split.stride[1];
	return 0;
}

/* Keys or values: what was kept (input `past`) and then those of this call, also as output `out`.
 */
static int get_past(struct lowering *l, const struct graph_node *n, int i, int past, int out,
		    struct place *to, struct err *e)
{
	struct place now, before, all;
	const char *name = node_label(l->g, n);

	if (get_heads(l, n, i, "kv_num_heads", &now, e))
		return -1;
	if (!node_in(l->g, n, past)) {
		lower_dense(l, &now, NULL, name, to);
	} else {
		if (lower_get(l, n->in[past], &before, e))
			return -1;
		if (before.rank != 4 || before.dim[0] != now.dim[0] ||
		    before.dim[1] != now.dim[1] || before.dim[3] != now.dim[3])
			return lower_bad(l, n, e, "has a past that does not fit its input");
		all = now;
		all.dim[2] += before.dim[2];
		place_dense(&all, 4, all.dim, NULL);
		lower_room(l, &all);
		*to = all;
		all.dim[2] = before.dim[2];
		plan_copy(l->p, name, &before, &all, 0);
		all.at += before.dim[2] * all.stride[2];
		all.dim[2] = now.dim[2];
		plan_copy(l->p, name, &now, &all, 0);
	}
	if (node_out(l->g, n, out))
		lower_put(l, n->out[out], to);
	return 0;
}

/* The mask as one of all four dimensions; its last one may be shorter than the keys. */
static int get_mask(struct lowering *l, const struct graph_node *n, struct attend *a,
		    struct place *mask, struct err *e)
{
	struct place p, wide;

	*mask = (struct place){.memory = MEMORY_NONE};
	if (!node_in(l->g, n, 3))
		return 0;
	if (lower_get(l, n->in[3], &p, e))
		return -1;
	if (p.rank < 1 || p.rank > 4)
		return lower_bad(l, n, e, "has a mask of %d dimensions", p.rank);
	a->mask_keys = p.dim[p.rank - 1] == 1 ? a->keys : p.dim[p.rank - 1];
	if (place_broadcast(&p, 4, (int64_t[]){a->batches, a->heads, a->rows, a->mask_keys},
			    &wide) ||
	    a->mask_keys > a->keys)
		return lower_bad(l, n, e, "has a mask that does not fit its input");
	memcpy(a->mask_stride, wide.stride, sizeof a->mask_stride);
	a->is_truth = l->g->value[n->in[3]]->elem == VALUE_BOOL;
	*mask = p;
	return 0;
}

/* Reads the mask of keys. It is batches x keys, batches x rows x keys, or ends, with or without
 * starts. */
static int get_hides(struct lowering *l, const struct graph_node *n, struct attend *a,
		     struct place *p, struct err *e)
{
	const int64_t keys = a->keys, rows = a->rows;
	int is_right;

	*p = (struct place){.memory = MEMORY_NONE};
	a->hidden = node_float(n, "mask_filter_value", -10000);
	if (!node_in(l->g, n, 7))
		return 0;
	if (lower_get_dense(l, n->in[7], NULL, p, e))
		return -1;
	is_right = p->rank > 0 && p->rank <= 3 && p->dim[0] == a->batches;
	if (p->rank == 1) {
		a->hides = is_right ? ATTEND_BY_END : ATTEND_BY_RANGE;
		is_right = is_right || p->dim[0] == 2 * a->batches;
	} else if (p->rank == 2) {
		is_right = is_right && p->dim[1] == keys;
		memcpy(a->hides_stride, (int64_t[]){keys, 0, 1}, sizeof a->hides_stride);
	} else if (p->rank == 3) {
		is_right = is_right && p->dim[1] == rows && p->dim[2] == keys;
		memcpy(a->hides_stride, (int64_t[]){rows * keys, keys, 1}, sizeof a->hides_stride);
	}
	return is_right ? 0 : lower_bad(l, n, e, "has a mask of keys of a kind that is not known");
}

/* All sequences are whole: the last key of each, of which the number is given, is the last of all.
 */
static int check_last(struct lowering *l, const struct graph_node *n, const struct attend *a,
		      struct err *e)
{
	const struct plain check = {attend_check, a, "a sequence is shorter than its keys"};
	struct place operand[2];

	if (!node_in(l->g, n, 8))
		return 0;
	if (lower_get_dense(l, n->in[8], NULL, &operand[0], e))
		return -1;
	if (place_count(&operand[0]) != a->batches)
		return lower_bad(l, n, e, "has sequences that do not fit its batches");
	place_dense(&operand[1], 1, (int64_t[]){1}, NULL);
	lower_room(l, &operand[1]);
	plan_plain(l->p, node_label(l->g, n), n->type, &check, operand, 2);
	return 0;
}

static int read(struct lowering *l, const struct graph_node *n, struct attend *a,
		struct place operand[ATTEND_TO + 1], struct err *e)
{
	struct place *q = &operand[ATTEND_Q], *k = &operand[ATTEND_K];
	struct place *v = &operand[ATTEND_V];

	if (get_heads(l, n, 0, "q_num_heads", q, e) || get_past(l, n, 1, 4, 1, k, e) ||
	    get_past(l, n, 2, 5, 2, v, e))
		return -1;
	lower_dense(l, q, NULL, node_label(l->g, n), q);
	if (q->dim[0] != k->dim[0] || q->dim[3] != k->dim[3] || k->dim[0] != v->dim[0] ||
	    k->dim[1] != v->dim[1] || k->dim[2] != v->dim[2] || !k->dim[1] || q->dim[1] % k->dim[1])
		return lower_bad(l, n, e, "has queries, keys and values that do not fit");
	*a = (struct attend){.batches = q->dim[0],
			     .lanes = l->lanes,
			     .heads = q->dim[1],
			     .kv_heads = k->dim[1],
			     .rows = q->dim[2],
			     .keys = k->dim[2],
			     .size = q->dim[3],
			     .value_size = v->dim[3],
			     .scale = (double)node_float(n, "scale", 0),
			     .cap = (double)node_float(n, "softcap", 0),
			     .is_causal = (int)node_int(n, "is_causal", 0),
			     .left = node_int(n, "left_window_size", -1),
			     .right = node_int(n, "right_window_size", -1)};
	if (!node_attr(n, "scale"))
		a->scale = 1 / sqrt((double)a->size);
	if (node_in(l->g, n, 4))
		a->past = k->dim[2] -
			  l->g->value[n->in[1]]->shape.dim[l->g->value[n->in[1]]->shape.rank - 2];
	operand[ATTEND_LENGTHS] = (struct place){.memory = MEMORY_NONE};
	if (node_in(l->g, n, 6) && lower_get_dense(l, n->in[6], NULL, &operand[ATTEND_LENGTHS], e))
		return -1;
	if (get_hides(l, n, a, &operand[ATTEND_HIDES], e) || check_last(l, n, a, e))
		return -1;
	return get_mask(l, n, a, &operand[ATTEND_MASK], e);
}

int lower_attention(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct attend *a = arena_new(l->p->a, struct attend);
	struct attend *b = arena_new(l->p->a, struct attend);
	const struct plain plain = {attend_run, a, "there is no memory"};
	const struct plain product = {attend_run, b, "there is no memory"};
	const int64_t mode = node_int(n, "qk_matmul_output_mode", 0);
	struct place operand[ATTEND_TO + 1], *to = &operand[ATTEND_TO];

	if (read(l, n, a, operand, e) || lower_shape(l, n->out[0], to, e))
		return -1;
	a->result = ATTEND_OUTPUT;
	a->head_stride = to->rank == 4 ? a->rows * a->value_size : a->value_size;
	a->row_stride = to->rank == 4 ? a->value_size : a->heads * a->value_size;
	lower_room(l, to);
	lower_put(l, n->out[0], to);
	plan_plain(l->p, node_label(l->g, n), n->type, &plain, operand, ATTEND_TO + 1);
	if (!node_out(l->g, n, 3))
		return 0;
	if (mode < 0 || mode >= ATTEND_RESULTS)
		return lower_bad(l, n, e, "gives a product of a kind that is not known");
	*b = *a;
	b->result = (enum attend_result)mode;
	if (lower_shape(l, n->out[3], to, e))
		return -1;
	lower_room(l, to);
	lower_put(l, n->out[3], to);
	plan_plain(l->p, node_label(l->g, n), n->type, &product, operand, ATTEND_TO + 1);
	return 0;
}
