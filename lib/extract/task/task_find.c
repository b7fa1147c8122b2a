/* All tasks of a graph. */
#include <limits.h>
#include <string.h>

#include "lib/extract/task/task.h"

/* tl-run computes in 8 bits where its scales are such, else in single precision, where
 * the graph has reals. NULL, or why in nothing. */
static const char *set_running(const struct graph *g, const struct task_wanted *wanted,
			       struct arena *a, struct task *t)
{
	const struct graph_node *n = &g->node[t->node];
	const struct value *data = node_in(g, n, 0), *weights = node_in(g, n, 1);

	if (t->w.op == &op_conv3d) {
		if (!dtypes_are_f32(&t->w.dtype) || task_volume(t))
			return "3-D";
	} else if (dtypes_are_f32(&t->w.dtype) && node_is(n, OP_Conv)) {
		task_crop(t);
	}
	if (dtypes_are_f32(&t->w.dtype) || (wanted->in_bytes && task_runs_scaled(g, t)))
		return NULL;
	if (!data || !weights || data->elem != VALUE_F32 || weights->elem != VALUE_F32)
		return arena_printf(a, "%s, not f32", t->w.dtype_text);
	t->w.dtype = (struct dtypes){DTYPE_F32, DTYPE_F32, DTYPE_F32};
	return NULL;
}

void task_add_groups(const struct graph *g, struct task *t)
{
	const struct graph_node *n = &g->node[t->node];
	const int64_t group = node_is(n, OP_MatMul) ? node_int(n, "block_size", 0) : 0;
	const int zeros = node_int(n, "zeros", 0) != 0;

	if (group < 1 || t->w.op != &op_matmul || !dtype_is_int(t->w.dtype.wei) || task_is_int(t))
		return;
	if (t->w.npost + 1 + zeros > OP_MAX_POSTS) {
		t->why = "more post-ops than there is room for";
		return;
	}
	t->w.post[t->w.npost++] = (struct post_op){.kind = POST_GROUPS, .a = (double)group};
	if (zeros)
		t->w.post[t->w.npost++] = (struct post_op){.kind = POST_ZEROS};
}

static void finish(const struct graph *g, const struct task_wanted *wanted, struct arena *a,
		   struct task *t, unsigned char *absorbed)
{
	struct err e = ERR_INIT;

	/* Before anything is taken into it: what is no workload must leave its followers to
	 * others. */
	if (workload_finish(&t->w, &e))
		t->why = arena_strdup(a, e.msg);
	else if (wanted->kinds == TASKS_RUN)
		t->why = set_running(g, wanted, a, t);
	if (t->why || t->part || t->w.op == &op_attention)
		return;
	t->is_run = wanted->kinds == TASKS_RUN;
	task_fuse(g, t, absorbed);
	if (task_is_int(t)) {
		task_scale(g, t);
		/* tl-run reads a bias as a real. */
		task_take_dequantizers(g, t, wanted->kinds == TASKS_RUN ? 2 : INT_MAX, absorbed);
	}
	task_add_groups(g, t);
	if (workload_finish(&t->w, &e))
		t->why = arena_strdup(a, e.msg);
}

/* Adds the other operators' tasks, in topological order, to n tasks. How many there are then. */
static int add_others(const struct graph *g, const struct task_wanted *wanted, struct arena *a,
		      struct task *t, int n, unsigned char *absorbed)
{
	struct task *had = arena_array(a, struct task, n + 1);
	struct task **norm = task_norms(g, absorbed, a);
	int next = 0, made = 0;

	memcpy(had, t, sizeof *t * (size_t)n);
	for (int i = 0; i < g->nnode; i++) {
		int node = g->order[i], has = next < n && had[next].node == node;

		while (next < n && had[next].node == node)
			t[made++] = had[next++];
		if (has || absorbed[node])
			continue;
		if (norm[node])
			t[made] = *norm[node];
		else if (!task_other(g, node, wanted, a, &t[made]))
			continue;
		if (!t[made].why)
			finish(g, wanted, a, &t[made], absorbed);
		made++;
	}
	return made;
}

/* tl-run computes a product of constants once, and what reads it may take it as weights. */
static int is_wanted(const struct graph *g, int node, const struct task_wanted *wanted)
{
	const struct value *out = g->node[node].nout ? node_out(g, &g->node[node], 0) : NULL;

	return wanted->kinds != TASKS_RUN || !out || !out->is_const;
}

int64_t task_room(const struct graph *g, const struct task_wanted *wanted)
{
	int64_t n = 1;

	for (int i = 0; i < g->nnode; i++)
		if (wanted->kinds == TASKS_ALL || g->node[i].weighs ||
		    operator_multiplies(g->node[i].op))
			n += TASK_PARTS;
	return n;
}

int task_find(const struct graph *g, const struct task_wanted *wanted, struct arena *a,
	      struct task *t, unsigned char *absorbed)
{
	const int all = wanted->kinds == TASKS_ALL;
	int n = 0;

	for (int i = 0; i < g->nnode; i++)
		if (is_wanted(g, g->order[i], wanted))
			n += task_make(g, g->order[i], wanted->layout, a, &t[n]);
	if (all)
		n = task_attention(g, t, n, absorbed);
	for (int i = n; i-- > 0;)
		if (!t[i].why)
			finish(g, wanted, a, &t[i], absorbed);
	return all ? add_others(g, wanted, a, t, n, absorbed) : n;
}
