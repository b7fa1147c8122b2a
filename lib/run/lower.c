#include "lib/run/lower.h"

#include <stdlib.h>
#include <string.h>

#include "lib/run/constants.h"

static const struct {
	const char *type;
	lower_fn *lower;
} table[] = {
	{"Abs", lower_unary},
	{"Acos", lower_scalar},
	{"Acosh", lower_scalar},
	{"Add", lower_binary},
	{"And", lower_scalar},
	{"ArgMax", lower_arg},
	{"ArgMin", lower_arg},
	{"Asin", lower_scalar},
	{"Asinh", lower_scalar},
	{"Atan", lower_scalar},
	{"Atanh", lower_scalar},
	{"Attention", lower_attention},
	{"AveragePool", lower_pool},
	{"BatchNormalization", lower_batch_norm},
	{"BitShift", lower_bits},
	{"BitwiseAnd", lower_bits},
	{"BitwiseNot", lower_bits},
	{"BitwiseOr", lower_bits},
	{"BitwiseXor", lower_bits},
	{"Cast", lower_cast},
	{"CastLike", lower_cast},
	{"Ceil", lower_scalar},
	{"Celu", lower_elu},
	{"CenterCropPad", lower_center},
	{"Clip", lower_clip},
	{"Compress", lower_compress},
	{"Concat", lower_concat},
	{"Conv", lower_taps},
	{"ConvTranspose", lower_taps},
	{"Cos", lower_scalar},
	{"Cosh", lower_scalar},
	{"CumProd", lower_cumulate},
	{"CumSum", lower_cumulate},
	{"DepthToSpace", lower_depth_to_space},
	{"DequantizeLinear", lower_quantize},
	{"Div", lower_binary},
	{"Dropout", lower_dropout},
	{"Einsum", lower_einsum},
	{"Elu", lower_elu},
	{"Equal", lower_scalar},
	{"Erf", lower_unary},
	{"Exp", lower_unary},
	{"Expand", lower_expand},
	{"EyeLike", lower_diagonal},
	{"Flatten", lower_reshape},
	{"Floor", lower_scalar},
	{"Gather", lower_gather},
	{"GatherElements", lower_elements},
	{"GatherND", lower_gather_rows},
	{"Gelu", lower_gelu},
	{"Gemm", lower_gemm},
	{"GlobalAveragePool", lower_global_pool},
	{"GlobalLpPool", lower_global_pool},
	{"GlobalMaxPool", lower_global_pool},
	{"Greater", lower_scalar},
	{"GreaterOrEqual", lower_scalar},
	{"GroupNormalization", lower_group_norm},
	{"HardSigmoid", lower_hard_sigmoid},
	{"HardSwish", lower_unary},
	{"Hardmax", lower_like_softmax},
	{"Identity", lower_alias},
	{"InstanceNormalization", lower_instance_norm},
	{"IsInf", lower_scalar},
	{"IsNaN", lower_scalar},
	{"LRN", lower_lrn},
	{"LayerNormalization", lower_layer_norm},
	{"LeakyRelu", lower_leaky_relu},
	{"Less", lower_scalar},
	{"LessOrEqual", lower_scalar},
	{"Log", lower_scalar},
	{"LogSoftmax", lower_like_softmax},
	{"LpNormalization", lower_lp_norm},
	{"LpPool", lower_pool},
	{"MatMul", lower_matmul},
	{"Max", lower_binary},
	{"MaxPool", lower_pool},
	{"Mean", lower_binary},
	{"MeanVarianceNormalization", lower_mean_variance},
	{"Min", lower_binary},
	{"Mish", lower_scalar},
	{"Mod", lower_scalar},
	{"Mul", lower_binary},
	{"Neg", lower_unary},
	{"NegativeLogLikelihoodLoss", lower_loss},
	{"Not", lower_scalar},
	{"OneHot", lower_one_hot},
	{"Or", lower_scalar},
	{"PRelu", lower_prelu},
	{"Pad", lower_pad},
	{"Pow", lower_pow},
	{"QuantizeLinear", lower_quantize},
	{"RMSNormalization", lower_layer_norm},
	{"Range", lower_range},
	{"Reciprocal", lower_unary},
	{"ReduceL1", lower_reduce},
	{"ReduceL2", lower_reduce},
	{"ReduceLogSum", lower_reduce},
	{"ReduceLogSumExp", lower_reduce},
	{"ReduceMax", lower_reduce},
	{"ReduceMean", lower_reduce},
	{"ReduceMin", lower_reduce},
	{"ReduceProd", lower_reduce},
	{"ReduceSum", lower_reduce},
	{"ReduceSumSquare", lower_reduce},
	{"Relu", lower_unary},
	{"Reshape", lower_reshape},
	{"Resize", lower_resize},
	{"ReverseSequence", lower_reversal},
	{"Round", lower_scalar},
	{"Scatter", lower_elements},
	{"ScatterElements", lower_elements},
	{"ScatterND", lower_scatter},
	{"Selu", lower_elu},
	{"Shrink", lower_scalar},
	{"Sigmoid", lower_unary},
	{"Sign", lower_scalar},
	{"SimplifiedLayerNormalization", lower_layer_norm},
	{"Sin", lower_scalar},
	{"Sinh", lower_scalar},
	{"Slice", lower_slice},
	{"Softmax", lower_softmax},
	{"SoftmaxCrossEntropyLoss", lower_loss},
	{"Softplus", lower_scalar},
	{"Softsign", lower_scalar},
	{"SpaceToDepth", lower_space_to_depth},
	{"Split", lower_split},
	{"Sqrt", lower_unary},
	{"Squeeze", lower_reshape},
	{"Sub", lower_binary},
	{"Sum", lower_binary},
	{"SwiGLU", lower_swish},
	{"Swish", lower_swish},
	{"Tan", lower_scalar},
	{"Tanh", lower_unary},
	{"ThresholdedRelu", lower_scalar},
	{"Tile", lower_tile},
	{"TopK", lower_top},
	{"Transpose", lower_transpose},
	{"Trilu", lower_triangle},
	{"Unsqueeze", lower_reshape},
	{"Upsample", lower_resize},
	{"Where", lower_scalar},
	{"Xor", lower_scalar},
};

/* ---- nodes ---- */

int lower_is_done(const struct lowering *l, const struct graph_node *n)
{
	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(l->g, n, i);

		if (v && (v->uses || v->is_output) && !constant_is_kept(l->g, v))
			return 0;
	}
	return 1;
}

int lower_is_empty(const struct lowering *l, const struct graph_node *n)
{
	int outputs = 0;

	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(l->g, n, i);

		if (!v || (!v->uses && !v->is_output))
			continue;
		if (!shape_known(&v->shape) || shape_count(&v->shape))
			return 0;
		outputs++;
	}
	return outputs > 0;
}

/* The places of outputs without elements. */
static int make_empty(struct lowering *l, const struct graph_node *n, struct err *e)
{
	for (int i = 0; i < n->nout; i++) {
		struct place p;

		if (n->out[i] < 0)
			continue;
		if (lower_new(l, n->out[i], NULL, &p, e))
			return -1;
		lower_put(l, n->out[i], &p);
	}
	return 0;
}

static lower_fn *find_row(const struct graph_node *n)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (node_is(n, table[i].type))
			return table[i].lower;
	return NULL;
}

static int lower_node(struct lowering *l, const struct graph_node *n, struct err *e)
{
	lower_fn *row;

	if (lower_is_done(l, n))
		return 0;
	if (node_is(n, "Constant") || node_is(n, "ConstantOfShape"))
		return lower_constant_value(l, n->out[0], e);
	row = find_row(n);
	if (!row)
		return lower_bad(l, n, e, "is an operator that tl-run does not know");
	return row(l, n, e) || lower_wrap(l, n, e) ? -1 : 0;
}

/* What is wanted elsewhere goes there. */
static int settle(struct lowering *l, const struct graph_node *n, struct err *e)
{
	for (int i = 0; i < n->nout; i++) {
		int v = n->out[i];
		struct place p;

		if (v < 0 || l->want[v].memory < 0 || (l->place[v].memory < 0 && !l->waiting[v]))
			continue;
		if (lower_get(l, v, &p, e))
			return -1;
		if (place_is(&p, &l->want[v]))
			continue;
		plan_copy(l->p, l->g->value[v]->name, &p, &l->want[v], 0);
		l->place[v] = l->want[v];
	}
	return 0;
}

static int lower_at(struct lowering *l, int node, struct err *e)
{
	const struct graph_node *n = &l->g->node[node];

	if (lower_is_empty(l, n)) {
		if (make_empty(l, n, e))
			return -1;
	} else if (l->task[node] >= 0) {
		if (lower_task(l, &l->tasks[l->task[node]], e))
			return -1;
	} else if (l->norm[node] >= 0) {
		if (lower_norm(l, &l->norms[l->norm[node]], e))
			return -1;
	} else if (l->absorbed[node]) {
		return 0;
	} else if (lower_node(l, n, e)) {
		return -1;
	}
	return settle(l, n, e);
}

/* ---- the graph ---- */

/* As tl-extract makes them, channels last. A task's steps stand where its last node does. */
static int find_tasks(struct lowering *l, struct err *e)
{
	struct graph *g = l->g;

	const struct task_wanted wanted = {TASKS_RUN, LAYOUT_NHWC, l->opset};

	l->ntasks = task_find(g, &wanted, l->p->a, l->tasks, l->absorbed);
	for (int i = 0; i < l->ntasks; i++) {
		const struct task *t = &l->tasks[i];
		const struct graph_node *n = &g->node[t->node];
		int last;

		if (lower_is_done(l, n) || lower_is_empty(l, n) ||
		    ((t->why || t->part) && find_row(n)))
			continue;
		if (t->why || t->part)
			return lower_bad(l, n, e, "is not computed here: %s",
					 t->why ? t->why : "it is several products");
		last = t->ntaken ? t->taken[t->ntaken - 1].node : t->node;
		l->absorbed[t->node] = 1;
		l->task[last] = i;
	}
	return 0;
}

static int is_runtime_type(int elem)
{
	return elem == VALUE_F32 || elem_is_int(elem) || elem == VALUE_F64 || elem == VALUE_UNKNOWN;
}

static int make_inputs(struct lowering *l, struct graph_io *io, struct err *e)
{
	struct graph *g = l->g;

	io->input = arena_array(l->p->a, int, g->nvalue);
	io->input_at = arena_array(l->p->a, int, g->nvalue);
	for (int v = 0; v < g->nvalue; v++) {
		struct place p;

		if (!g->value[v]->is_input || g->value[v]->is_const)
			continue;
		if (!is_runtime_type(g->value[v]->elem))
			return err_set(e, "the input '%s' is %s, which tl-run does not take",
				       g->value[v]->name, elem_name(g->value[v]->elem));
		if (lower_shape(l, v, &p, e))
			return -1;
		lower_room(l, &p);
		l->p->memory[p.memory].is_kept = l->p->memory[p.memory].is_input = 1;
		lower_put(l, v, &p);
		io->input[io->ninputs] = v;
		io->input_at[io->ninputs++] = p.memory;
	}
	return 0;
}

static int make_outputs(struct lowering *l, struct graph_io *io, struct err *e)
{
	struct graph *g = l->g;

	io->output = arena_array(l->p->a, int, g->nvalue);
	io->output_at = arena_array(l->p->a, int, g->nvalue);
	for (int v = 0; v < g->nvalue; v++) {
		struct place p, whole;

		if (!g->value[v]->is_output)
			continue;
		if (lower_get(l, v, &p, e))
			return -1;
		if (!place_is_dense(&p, NULL) || p.at ||
		    l->p->memory[p.memory].size != place_count(&p)) {
			place_dense(&whole, p.rank, p.dim, NULL);
			lower_room(l, &whole);
			plan_copy(l->p, g->value[v]->name, &p, &whole, 0);
			p = whole;
		}
		l->p->memory[p.memory].is_kept = 1;
		l->p->memory[p.memory].readers++;
		io->output[io->noutputs] = v;
		io->output_at[io->noutputs++] = p.memory;
	}
	return 0;
}

static void begin(struct lowering *l)
{
	struct graph *g = l->g;
	size_t nv = (size_t)g->nvalue, nn = (size_t)g->nnode;

	l->place = xcalloc(nv, sizeof *l->place);
	l->want = xcalloc(nv, sizeof *l->want);
	l->waiting = xcalloc(nv, sizeof *l->waiting);
	l->absorbed = xcalloc(nn, sizeof *l->absorbed);
	l->task = xcalloc(nn, sizeof *l->task);
	l->norm = xcalloc(nn, sizeof *l->norm);
	l->whole = xcalloc(nn, sizeof *l->whole);
	l->tasks = xcalloc(TASK_PARTS * nn, sizeof *l->tasks);
	l->norms = xcalloc(nn, sizeof *l->norms);
	for (int v = 0; v < g->nvalue; v++)
		l->place[v].memory = l->want[v].memory = MEMORY_NONE;
	for (int i = 0; i < g->nnode; i++)
		l->task[i] = l->norm[i] = l->whole[i].memory = MEMORY_NONE;
}

static void end(struct lowering *l)
{
	free(l->place);
	free(l->want);
	free(l->waiting);
	free(l->absorbed);
	free(l->task);
	free(l->norm);
	free(l->whole);
	free(l->tasks);
	free(l->norms);
	free(l->copy);
}

int lower_graph(struct graph *g, int64_t opset, struct plan *p, struct chooser *c,
		const uint64_t *seed, struct graph_io *io, struct err *e)
{
	struct lowering l = {.g = g,
			     .p = p,
			     .opset = opset,
			     .chooser = c,
			     .seed = seed,
			     .lanes = p->limits.lanes};
	int rc;

	*io = (struct graph_io){0};
	begin(&l);
	rc = lower_begin_attributes(&l, e);
	if (!rc)
		rc = find_tasks(&l, e);
	if (!rc) {
		lower_find_norms(&l);
		rc = make_inputs(&l, io, e);
	}
	if (!rc)
		rc = lower_plan_concats(&l, e);
	for (int i = 0; !rc && i < g->nnode; i++)
		rc = lower_at(&l, g->order[i], e);
	if (!rc)
		rc = lower_left_attributes(&l, e);
	if (!rc)
		rc = make_outputs(&l, io, e);
	end(&l);
	return rc;
}
