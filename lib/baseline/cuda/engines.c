#include "lib/baseline/cuda/engines.h"

#include "lib/base/buf.h"
#include "lib/base/hash.h"

enum { MOST_ANSWERS = 256, MOST_NOTES = 32, MOST_KNOBS = 32, MOST_NAME = 40 };

/* Does it compute as exactly as the workload's numbers ask? What cannot be told is no. A graph
 * without products is never strict: its engines have the note of tensor cores for what they could
 * do. */
static int is_exact(int is_strict, void *engine)
{
	struct err e = ERR_INIT;
	int note[MOST_NOTES];
	int64_t n;

	if (cudnn_get(engine, ATTR_ENGINE_NUMERICAL_NOTE, TYPE_NUMERICAL_NOTE, MOST_NOTES, &n, note,
		      &e) < 0)
		return 0;
	for (int64_t i = 0; i < n && i < MOST_NOTES; i++) {
		if (note[i] == NOTE_REDUCED_PRECISION_REDUCTION)
			return 0;
		if (is_strict &&
		    (note[i] == NOTE_TENSOR_CORE || note[i] == NOTE_DOWN_CONVERT_INPUTS))
			return 0;
	}
	return 1;
}

/* Appends "2=1,7=4": the numbers of knobs, and their values. */
static void list_knobs(void *config, struct buf *out)
{
	void *choice[MOST_KNOBS] = {NULL};
	struct err e = ERR_INIT;
	int64_t n = 0, value, one;
	int made = 0, type;

	while (made < MOST_KNOBS && cudnn_make(KIND_KNOB_CHOICE, &choice[made], &e) == 0)
		made++;
	if (cudnn_get(config, ATTR_ENGINECFG_KNOB_CHOICES, TYPE_BACKEND_DESCRIPTOR, made, &n,
		      choice, &e) < 0)
		n = 0;
	for (int64_t i = 0; i < n && i < made; i++)
		if (cudnn_get(choice[i], ATTR_KNOB_CHOICE_KNOB_TYPE, TYPE_KNOB_TYPE, 1, &one, &type,
			      &e) == 0 &&
		    cudnn_get(choice[i], ATTR_KNOB_CHOICE_KNOB_VALUE, TYPE_INT64, 1, &one, &value,
			      &e) == 0)
			buf_fmt(out, "%s%d=%lld", out->n ? "," : "", type, (long long)value);
	while (made)
		cudnn_free(choice[--made]);
}

/* A long list is told by its hash. */
static void name_knobs(void *config, struct buf *out)
{
	struct buf knobs = BUF_INIT;

	list_knobs(config, &knobs);
	if (knobs.n > MOST_NAME)
		buf_fmt(out, " knobs %016llx", (unsigned long long)hash64(knobs.s, knobs.n));
	else if (knobs.n)
		buf_fmt(out, " %s", knobs.s);
	buf_free(&knobs);
}

/* Visits an engine with its knobs, if it is exact, and frees what is left of it. */
static int see(const struct graph *g, struct engine e, int has_knobs, engines_visit *visit,
	       void *arg)
{
	struct buf name = BUF_INIT;
	struct err ignored = ERR_INIT;
	int64_t index = 0, n;
	void *engine = NULL;
	int stop = 0;

	if (cudnn_make(KIND_ENGINE, &engine, &ignored) == 0 &&
	    cudnn_get(e.config, ATTR_ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR, 1, &n, &engine,
		      &ignored) == 0 &&
	    cudnn_get(engine, ATTR_ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, &n, &index, &ignored) == 0 &&
	    is_exact(g->part != GRAPH_REST && g->stage->numbers.is_strict, engine)) {
		buf_fmt(&name, "engine %lld", (long long)index);
		if (has_knobs)
			name_knobs(e.config, &name);
		stop = visit(arg, &e, name.s);
	}
	cudnn_free(engine);
	cudnn_free(e.config);
	cudnn_free(e.engine);
	buf_free(&name);
	return stop;
}

/* Makes empty configurations, and fills them with what a heuristic proposes; how many of them. */
static int64_t get_results(void *heuristic, void *config[MOST_ANSWERS], int *made)
{
	struct err e = ERR_INIT;
	int64_t n = 0;

	*made = 0;
	if (cudnn_get(heuristic, ATTR_ENGINEHEUR_RESULTS, TYPE_BACKEND_DESCRIPTOR, 0, &n, NULL,
		      &e) < 0)
		return 0;
	while (*made < n && *made < MOST_ANSWERS &&
	       cudnn_make(KIND_ENGINECFG, &config[*made], &e) == 0)
		++*made;
	if (!*made || cudnn_get(heuristic, ATTR_ENGINEHEUR_RESULTS, TYPE_BACKEND_DESCRIPTOR, *made,
				&n, config, &e) < 0)
		return 0;
	return n < *made ? n : *made;
}

/* Those that a heuristic proposes, the likeliest best first. */
static int visit_proposed(const struct graph *g, int mode, engines_visit *visit, void *arg)
{
	const struct cudnn_value value[] = {
		{ATTR_ENGINEHEUR_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, 1, &g->whole},
		{ATTR_ENGINEHEUR_MODE, TYPE_HEUR_MODE, 1, &mode},
	};
	void *heuristic, *config[MOST_ANSWERS];
	struct err e = ERR_INIT;
	int made, stop = 0;
	int64_t n;

	if (cudnn_describe(KIND_ENGINEHEUR, value, 2, &heuristic, &e) < 0)
		return 0;
	n = get_results(heuristic, config, &made);
	for (int i = 0; i < made; i++)
		if (i < n && !stop)
			stop = see(g, (struct engine){.config = config[i]}, 1, visit, arg);
		else
			cudnn_free(config[i]);
	cudnn_free(heuristic);
	return stop;
}

/* The engine of a number, with its default knobs. */
static int visit_numbered(const struct graph *g, int64_t number, engines_visit *visit, void *arg)
{
	struct engine e = {NULL, NULL};
	const struct cudnn_value of_graph[] = {
		{ATTR_ENGINE_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, 1, &g->whole},
		{ATTR_ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, &number},
	};
	const struct cudnn_value of_engine[] = {
		{ATTR_ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR, 1, &e.engine},
	};
	struct err ignored = ERR_INIT;

	if (cudnn_describe(KIND_ENGINE, of_graph, 2, &e.engine, &ignored) < 0)
		return 0;
	if (cudnn_describe(KIND_ENGINECFG, of_engine, 1, &e.config, &ignored) == 0)
		return see(g, e, 0, visit, arg);
	cudnn_free(e.engine);
	return 0;
}

void engines_each(const struct graph *g, engines_visit *visit, void *arg)
{
	static const int modes[] = {HEUR_MODE_A, HEUR_MODE_B, HEUR_MODE_FALLBACK};
	struct err e = ERR_INIT;
	int64_t count = 0, n;
	int stop = 0;

	for (size_t i = 0; i < sizeof modes / sizeof *modes && !stop; i++)
		stop = visit_proposed(g, modes[i], visit, arg);
	if (cudnn_get(g->whole, ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, TYPE_INT64, 1, &n, &count,
		      &e) < 0)
		count = 0;
	for (int64_t i = 0; i < count && !stop; i++)
		stop = visit_numbered(g, i, visit, arg);
}
