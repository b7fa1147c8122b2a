#include "lib/run/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/rng.h"
#include "lib/extract/graph/names.h"
#include "lib/extract/read/archive.h"
#include "lib/extract/extract.h"
#include "lib/run/unfold.h"
#include "lib/io/file.h"
#include "lib/io/foreign.h"
#include "lib/run/check_memory.h"
#include "lib/run/constants.h"
#include "lib/run/exec.h"
#include "lib/run/given.h"
#include "lib/run/prepare.h"

/* ---- the model ---- */

/* The folder that a file is in; the caller frees it. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = xstrdup(slash ? path : ".");

	if (slash)
		folder[slash == path ? 1 : slash - path] = 0;
	return folder;
}

static void name_source(struct network *n, const struct member *m)
{
	struct buf stem = BUF_INIT;

	extract_stem(m, &stem);
	n->source = arena_printf(&n->a, "%s:%.12s", stem.s, n->onnx.hash.s);
	buf_free(&stem);
}

/* The first member that is a model. 1 with the graph read; 0: there is none. */
static int read_member(struct network *n, struct member *m, struct err *e)
{
	const struct format *format;
	const unsigned char *head;
	const char *hint;
	char *folder;
	size_t size;
	int rc, named = extract_name_ends(m->name, ".onnx");

	if (pull_head(&m->bytes, &head, &size, e))
		return -1;
	hint = named || m->alone ? foreign_hint((const char *)head, size) : NULL;
	if (hint)
		return err_set(e, "%s: %s", m->label, hint);
	format = extract_recognise(m->name, head, size);
	if (m->alone && format && format != &format_onnx)
		return err_set(e,
			       "%s: this is %s; tl-run runs ONNX models, which PyTorch and "
			       "tf2onnx write",
			       m->label, format->what);
	if (format != &format_onnx)
		return 0;
	folder = m->alone ? folder_of(m->name) : NULL;
	rc = onnx_read_weights(&n->onnx, &m->bytes, n->has_seed ? ONNX_ALL_BUT_WEIGHTS : ONNX_ALL,
			       folder, &n->a, e);
	free(folder);
	if (rc)
		err_in(e, "%s", m->label);
	else
		name_source(n, m);
	return rc ? -1 : 1;
}

static int read_model(struct network *n, const char *path, struct err *e)
{
	struct input *in =
		file_check("the network", path, e) ? NULL : input_open(path, onnx_claims, e);
	const char *hint = NULL;
	struct member *m;
	int rc = in ? 0 : -1, more = 0;

	while (!rc && (more = input_next(in, &m, e)) > 0) {
		rc = read_member(n, m, e);
		hint = foreign_member(m->name, hint);
	}
	input_close(in);
	if (rc < 0 || more < 0)
		return -1;
	return rc ? 0 : err_set(e, "%s: %s", path, hint ? hint : "it holds no ONNX model");
}

static int is_uniform(const struct value *v)
{
	return v->data_bytes <= sizeof(float) ||
	       !memcmp(v->data, (const char *)v->data + sizeof(float),
		       v->data_bytes - sizeof(float));
}

static int are_left_out(const struct graph *g)
{
	int n = 0;

	for (int i = 0; i < g->nvalue; i++) {
		const struct value *v = g->value[i];

		if (!constant_is_weights(g, i) || !v->data)
			continue;
		if (!is_uniform(v))
			return 0;
		n++;
	}
	return n > 0;
}

static int open_machine(struct network *n, const struct network_options *o, struct limits *m,
			struct err *e)
{
	int rc = target_default()->limits(m, e);

	if (rc < 0)
		return -1;
	if (o->threads)
		m->threads = o->threads;
	if (n->has_cache) /* of a run ahead */
		return 0;
	n->has_cache = 1; /* also of one that fails: it is to be closed */
	return cache_open(&n->cache, target_default(), m->isa, m->threads, e);
}

/* Infers shapes until nothing is left to unfold: a body that was unfolded may have others inside.
 */
static int infer_all(struct network *n, struct unfolded *all, struct err *e)
{
	struct graph *g = &n->onnx.graph;
	int more, rc = infer_run(&n->infer, g, n->onnx.opset, &n->sizes, e);

	while (!rc && (more = unfold(g, n->onnx.opset, all, e))) {
		infer_free(&n->infer);
		rc = more < 0 ? -1 : infer_run(&n->infer, g, n->onnx.opset, &n->sizes, e);
	}
	return rc;
}

/* The sizes of inputs are those of the command line, else those of the arrays that are given. */
static int infer_shapes(struct network *n, const struct network_options *o, struct err *e)
{
	const struct arrays none = {0};
	struct graph *g = &n->onnx.graph;
	struct unfolded all = {0};
	int rc;

	n->sizes = given_shapes(g, o->given ? o->given : &none, &o->infer);
	rc = infer_all(n, &all, e);
	for (int round = 1; !rc && round <= n->ahead.rounds; round++) {
		ahead_tell(&n->ahead, g, round);
		graph_forget(g);
		infer_free(&n->infer);
		rc = infer_all(n, &all, e);
	}
	for (int i = 0; i < o->infer.nshape; i++)
		o->infer.shape[i].used |= n->sizes.shape[i].used;
	return rc;
}

static void put_shapes(const struct graph *g, const int *value, int n, struct buf *out)
{
	for (int i = 0; i < n; i++) {
		buf_ch(out, ' ');
		if (value[i] >= 0)
			shape_print(&g->value[value[i]]->shape, out);
	}
}

/* By what a network does, and not by its names and weights. */
static void identify(struct network *n)
{
	const struct graph *g = &n->onnx.graph;
	struct buf text = BUF_INIT;

	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *k = &g->node[i];

		buf_str(&text, k->type);
		put_shapes(g, k->in, k->nin, &text);
		buf_str(&text, " ->");
		put_shapes(g, k->out, k->nout, &text);
		buf_ch(&text, '\n');
	}
	hash_id(&n->id, text.s ? text.s : "", text.n);
	buf_free(&text);
}

/* Reads the graph, and infers its shapes by what is told so far. */
static int read_graph(struct network *n, const char *path, const struct network_options *o,
		      struct err *e)
{
	struct graph *g = &n->onnx.graph;
	int rc;

	n->has_seed = o->seed != NULL;
	n->seed = o->seed ? *o->seed : 0;
	rc = read_model(n, path, e);
	n->left_out = !rc && are_left_out(g);
	if (!rc)
		names_tell_apart(g);
	if (!rc && o->given)
		rc = given_replace(g, o->given, n->has_seed, e) || given_fix(g, o->given, e) ? -1
											     : 0;
	if (!rc)
		rc = infer_shapes(n, o, e);
	if (!rc && n->has_seed)
		constants_draw(g);
	return rc;
}

static int lower_known(struct network *n, const struct network_options *o,
		       const struct raced *raced, struct err *e)
{
	struct limits m;
	int rc = open_machine(n, o, &m, e);

	if (!rc && !n->has_chooser) { /* of a run ahead */
		n->has_chooser = 1;
		rc = chooser_open(&n->chooser, o->db, o->model, &m, e);
	}
	if (!rc) {
		identify(n);
		n->chooser.network = &n->id;
		n->chooser.raced = raced;
		n->chooser.refused = (struct door_refused){0};
		plan_init(&n->plan, &runner_cpu, &m, &n->cache, &n->a);
		n->plan.by_library = o->by_library;
		n->plan.precision = o->precision;
		rc = lower_graph(&n->onnx.graph, n->onnx.opset, &n->plan, &n->chooser,
				 n->has_seed ? &n->seed : NULL, &n->io, e);
	}
	return rc;
}

static int prepare(struct network *n, struct err *e)
{
	int rc = prepare_plan(&n->plan, e);

	return rc ? rc : exec_team(&n->plan, e);
}

/* Closes all but what is told, and what later runs need, too: the cache, which compiles a kernel
 * where it is opened, and the chooser, which has searched. */
static void close_all(struct network *n)
{
	const struct ahead_facts told = n->ahead;
	const struct cache cache = n->cache;
	const struct chooser chooser = n->chooser;
	const int has_cache = n->has_cache, has_chooser = n->has_chooser;

	exec_end(&n->plan);
	plan_free(&n->plan);
	infer_free(&n->infer);
	free(n->sizes.shape);
	onnx_free(&n->onnx);
	arena_free(&n->a);
	*n = (struct network){.ahead = told,
			      .cache = cache,
			      .chooser = chooser,
			      .has_cache = has_cache,
			      .has_chooser = has_chooser};
}

/* try_whole() returns this where sizes must be found again. */
enum { AGAIN = 2 };

/* Runs the plan of a part, or the whole one. */
static int try_once(struct network *n, const struct network_options *o, struct err *e)
{
	int rc = network_fill_inputs(n, o, e);

	for (int i = 0; i < n->plan.ncounted; i++)
		n->plan.counted[i]->is_tried = 1;
	if (!rc)
		rc = exec_run(&n->plan, NULL, e);
	for (int i = 0; i < n->plan.ncounted; i++)
		n->plan.counted[i]->is_tried = 0;
	return rc;
}

/* Tries the whole plan. AGAIN: it counts otherwise than it was told. */
static int try_whole(struct network *n, const struct network_options *o, struct err *e)
{
	struct err why = ERR_INIT;
	const int rc = try_once(n, o, &why), changed = ahead_mend(&n->ahead, &n->plan, e);

	if (!changed && rc)
		*e = why;
	return changed ? changed < 0 ? -1 : AGAIN : rc;
}

/* Can the model be read several times? */
static int check_again(const char *path, struct err *e)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	return err_set(e,
		       "%s: sizes of this model follow from data, so that it is read several "
		       "times: it must be a file, and no pipe",
		       path);
}

/* Lowers the whole graph, behind as many runs ahead as it takes. */
static int lower_behind(struct network *n, const char *path, const struct network_options *o,
			struct err *e)
{
	for (;;) {
		int cut, rc = read_graph(n, path, o, e);

		if (rc)
			return rc;
		cut = ahead_cut(&n->onnx.graph, !o->given, e);
		if (cut <= 0)
			return cut ? -1 : lower_known(n, o, o->raced, e);
		rc = check_again(path, e);
		if (!rc)
			rc = lower_known(n, o, NULL, e);
		if (!rc)
			rc = prepare(n, e);
		if (!rc)
			rc = try_once(n, o, e);
		if (!rc)
			rc = ahead_read(&n->ahead, &n->onnx.graph, &n->plan, &n->io, e);
		if (rc)
			return rc;
		close_all(n);
	}
}

int network_lower(struct network *n, const char *path, const struct network_options *o,
		  struct err *e)
{
	memset(n, 0, sizeof *n);
	return lower_behind(n, path, o, e);
}

int network_open(struct network *n, const char *path, const struct network_options *o,
		 struct err *e)
{
	memset(n, 0, sizeof *n);
	for (;;) {
		int rc = lower_behind(n, path, o, e);

		if (!rc)
			rc = prepare(n, e);
		if (!rc && n->ahead.rounds)
			rc = try_whole(n, o, e);
		if (rc != AGAIN)
			return rc;
		close_all(n);
	}
}

void network_close(struct network *n)
{
	close_all(n);
	if (n->has_cache)
		cache_close(&n->cache);
	if (n->has_chooser)
		chooser_close(&n->chooser);
	n->has_cache = n->has_chooser = 0;
	ahead_free(&n->ahead);
}

/* ---- arrays ---- */

static struct array array_of(const struct network *n, int value, int memory)
{
	const struct value *v = n->onnx.graph.value[value];
	struct array a = {.name = (char *)v->name,
			  .rank = v->shape.rank,
			  .size = shape_count(&v->shape),
			  .elem = v->elem,
			  .data = plan_data(&n->plan, memory)};

	memcpy(a.dim, v->shape.dim, sizeof *a.dim * (size_t)a.rank);
	return a;
}

int network_input(void *ctx, int i, struct array *a, struct err *e)
{
	const struct network *n = ctx;

	(void)e;
	*a = array_of(n, n->io.input[i], n->io.input_at[i]);
	return 0;
}

int network_output(void *ctx, int i, struct array *a, struct err *e)
{
	const struct network *n = ctx;

	(void)e;
	*a = array_of(n, n->io.output[i], n->io.output_at[i]);
	return 0;
}

/* The array for a value, and does it fit? */
static const struct array *fitting(const struct network *n, int value, int count,
				   const struct arrays *all, struct err *e)
{
	const struct value *v = n->onnx.graph.value[value];
	const struct array *a = given_for(&n->onnx.graph, all, v->name, count);
	struct buf shape = BUF_INIT;

	if (!a) {
		err_set(e, "there is no array '%s'", v->name);
	} else if (a->rank != v->shape.rank ||
		   memcmp(a->dim, v->shape.dim, sizeof *a->dim * (size_t)a->rank) != 0) {
		shape_print(&v->shape, &shape);
		err_set(e, "the array '%s' has another shape than the model's %s", a->name,
			shape.s);
		a = NULL;
	}
	buf_free(&shape);
	return a;
}

static int is_end(const struct graph *g, const struct ends *list, const char *name)
{
	for (int i = 0; i < list->n; i++)
		if (!strcmp(g->value[list->at[i]]->name, name))
			return 1;
	return 0;
}

void network_strangers(const struct network *n, const struct arrays *a,
		       void (*say)(const char *what, const char *name))
{
	const struct graph *g = &n->onnx.graph;

	for (int i = 0; i < a->n && a->is_named; i++)
		if (!is_end(g, &g->inputs, a->array[i].name) &&
		    !is_end(g, &g->outputs, a->array[i].name))
			say("input or output", a->array[i].name);
}

static int set_inputs(struct network *n, const struct arrays *all, struct err *e)
{
	for (int i = 0; i < n->io.ninputs; i++) {
		const struct value *v = n->onnx.graph.value[n->io.input[i]];
		const struct array *a = fitting(n, n->io.input[i], n->io.ninputs, all, e);

		if (!a)
			return -1;
		for (int64_t k = 0; k < a->size && elem_is_int(v->elem); k++)
			if (!isfinite(a->data[k]))
				return err_set(e,
					       "the input '%s' is of integers, and has NaN or "
					       "infinity at element %lld",
					       v->name, (long long)k);
		if (a->size) /* else it has no data */
			memcpy(plan_data(&n->plan, n->io.input_at[i]), a->data,
			       (size_t)a->size * sizeof(float));
	}
	return 0;
}

static void network_random_inputs(struct network *n, uint64_t seed)
{
	for (int i = 0; i < n->io.ninputs; i++) {
		const struct value *v = n->onnx.graph.value[n->io.input[i]];
		float *to = plan_data(&n->plan, n->io.input_at[i]);
		struct rng r;

		rng_seed(&r, seed, v->name);
		for (int64_t k = 0; k < shape_count(&v->shape); k++)
			to[k] = elem_is_int(v->elem) ? (float)rng_below(&r, 2)
						     : (float)(2 * rng_unit(&r) - 1);
	}
}

int network_fill_inputs(struct network *n, const struct network_options *o, struct err *e)
{
	if (o->given)
		return set_inputs(n, o->given, e);
	network_random_inputs(n, 1);
	return 0;
}

int network_check_memory(struct network *n, struct err *e)
{
	return check_addresses(&n->plan, e) ||
			       check_values(&n->plan, n->io.input_at, n->io.ninputs, e)
		       ? -1
		       : 0;
}

int network_count_weights(const struct network *n)
{
	int count = 0;

	for (int v = 0; v < n->onnx.graph.nvalue; v++)
		count += constant_is_weights(&n->onnx.graph, v) && n->onnx.graph.value[v]->uses > 0;
	return count;
}

/* Made once more: the program has packed them and given them back. */
int network_weights(void *ctx, int i, struct array *a, struct err *e)
{
	struct network *n = ctx;
	struct graph *g = &n->onnx.graph;
	struct random_fill f;
	int value = 0;

	for (int k = -1; value < g->nvalue; value++) {
		k += constant_is_weights(g, value) && g->value[value]->uses > 0;
		if (k == i)
			break;
	}
	*a = (struct array){.name = (char *)g->value[value]->name,
			    .rank = g->value[value]->shape.rank,
			    .size = shape_count(&g->value[value]->shape)};
	memcpy(a->dim, g->value[value]->shape.dim, sizeof *a->dim * (size_t)a->rank);
	if (!n->has_seed)
		return err_set(e, "only random weights are saved");
	value_drop(g->value[value]);
	a->data = value_room(g->value[value], (size_t)a->size * sizeof(float));
	if (!a->data)
		return err_sys(e, "there is no memory for the weights '%s'", a->name);
	f = constant_random(g, value, n->seed);
	constant_fill(&f, a->data, a->size);
	return 0;
}

/* Where the largest element is of a row of scores; -1: one is NaN. */
static int64_t largest_at(const float *x, int64_t n)
{
	int64_t at = 0;

	for (int64_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			return -1;
		at = x[i] > x[at] ? i : at;
	}
	return at;
}

/* Rows of scores: the class that each names first. */
static void count_first(const struct array *is, const struct array *should,
			struct network_error *out)
{
	if (!elem_is_real(is->elem) || is->rank != 2 || is->dim[1] < 2)
		return;
	out->rows = is->dim[0];
	for (int64_t i = 0; i < is->size; i += is->dim[1])
		out->same_first += largest_at(is->data + i, is->dim[1]) ==
				   largest_at(should->data + i, is->dim[1]);
}

double network_error(enum dtype precision, double single)
{
	const double bf16 = 0.1;

	return precision == DTYPE_BF16 ? fmax(single, bf16) : single;
}

int network_compare(const struct network *n, int output, const struct arrays *should,
		    struct network_error *out, struct err *e)
{
	struct array is = array_of(n, n->io.output[output], n->io.output_at[output]);
	const struct array *a = fitting(n, n->io.output[output], n->io.noutputs, should, e);
	double worst = 0, largest = 0, sum = 0, all = 0;

	if (!a)
		return -1;
	*out = (struct network_error){.name = is.name};
	for (int64_t i = 0; i < is.size; i++) {
		double x = (double)is.data[i], y = (double)a->data[i];

		if (!isfinite(x) || !isfinite(y)) {
			out->not_finite |= isnan(x) != isnan(y) || (!isnan(x) && x != y);
			continue;
		}
		worst = fmax(worst, fabs(x - y));
		largest = fmax(largest, fabs(y));
		sum += (x - y) * (x - y);
		all += y * y;
	}
	count_first(&is, a, out);
	out->max = largest > 0 ? worst / largest : worst;
	out->l2 = all > 0 ? sqrt(sum / all) : sqrt(sum);
	return 0;
}
