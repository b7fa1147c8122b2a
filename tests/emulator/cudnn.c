/* A stand-in for cuDNN 9, libcudnn.so.9, for tests: its backend's descriptors as stores of values
 * that obey the rules of the documentation (NVIDIA, "cuDNN Backend API"), on the emulated device,
 * whose memory is the process's.
 */
#include "tests/emulator/cudnn.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/emulator/queue.h"

/* Programs declare these functions for themselves. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define API __attribute__((visibility("default")))

enum { VERSION = 90102 };
static const uint64_t MAGIC = 0x6e6e647563, HANDLE_MAGIC = 0x656c646e6168;

struct handle {
	uint64_t magic;
	void *stream;
	atomic_int busy; /* a thread makes a plan with it */
};

API size_t cudnnGetVersion(void)
{
	return VERSION;
}

API const char *cudnnGetErrorString(int status)
{
	switch ((enum status)status) {
	case SUCCESS:
		return "CUDNN_STATUS_SUCCESS";
	case NOT_INITIALIZED:
		return "CUDNN_STATUS_NOT_INITIALIZED";
	case NOT_SUPPORTED:
		return "CUDNN_STATUS_NOT_SUPPORTED";
	case EXECUTION_FAILED:
		return "CUDNN_STATUS_EXECUTION_FAILED";
	default:
		return "CUDNN_STATUS_BAD_PARAM";
	}
}

static int is_handle(const struct handle *h)
{
	return h && h->magic == HANDLE_MAGIC;
}

API int cudnnCreate(void **handle)
{
	struct handle *h = calloc(1, sizeof *h);

	if (!h)
		abort();
	h->magic = HANDLE_MAGIC;
	*handle = h;
	return SUCCESS;
}

API int cudnnDestroy(void *handle)
{
	struct handle *h = handle;

	if (!is_handle(h))
		return BAD_PARAM;
	h->magic = 0;
	free(h);
	return SUCCESS;
}

API int cudnnSetStream(void *handle, void *stream)
{
	struct handle *h = handle;

	if (!is_handle(h))
		return BAD_PARAM;
	h->stream = stream;
	return SUCCESS;
}

/* ---- stores ---- */

static int is_descriptor(const struct descriptor *d)
{
	return d && d->magic == MAGIC;
}

API int cudnnBackendCreateDescriptor(int kind, void **out)
{
	struct descriptor *d = calloc(1, sizeof *d);

	if (!d)
		abort();
	d->magic = MAGIC;
	d->kind = kind;
	*out = d;
	return SUCCESS;
}

API int cudnnBackendDestroyDescriptor(void *of)
{
	struct descriptor *d = of;

	if (!is_descriptor(d))
		return BAD_PARAM;
	for (int i = 0; i < d->nvalues; i++)
		free(d->value[i].of);
	d->magic = 0;
	free(d);
	return SUCCESS;
}

size_t size_of(int type)
{
	switch ((enum cudnn_type)type) {
	case TYPE_BOOLEAN:
		return 1;
	case TYPE_HANDLE:
	case TYPE_INT64:
	case TYPE_DOUBLE:
	case TYPE_VOID_PTR:
	case TYPE_BACKEND_DESCRIPTOR:
		return 8;
	default:
		return 4;
	}
}

const struct value *find_value(const struct descriptor *d, int attribute)
{
	for (int i = 0; i < d->nvalues; i++)
		if (d->value[i].attribute == attribute)
			return &d->value[i];
	return NULL;
}

int64_t integer(const struct descriptor *d, int attribute)
{
	const struct value *v = find_value(d, attribute);
	int64_t i = 0;

	if (v)
		memcpy(&i, v->of, size_of(v->type));
	return i;
}

const struct descriptor *linked(const struct descriptor *d, int attribute)
{
	return (const struct descriptor *)(uintptr_t)integer(d, attribute);
}

/* All that a value links to must be finished; a handle must be one. */
static enum status check_links(int type, int64_t n, const void *of)
{
	const struct descriptor *const *link = of;

	if (type == TYPE_HANDLE && !is_handle(*(const struct handle *const *)of))
		return BAD_PARAM;
	for (int64_t i = 0; type == TYPE_BACKEND_DESCRIPTOR && i < n; i++) {
		if (!is_descriptor(link[i]))
			return BAD_PARAM;
		if (!link[i]->is_finished)
			return NOT_FINALIZED;
	}
	return SUCCESS;
}

static void store(struct descriptor *d, int attribute, int type, int64_t n, const void *of)
{
	struct value *v = &d->value[d->nvalues++];
	const size_t bytes = (size_t)n * size_of(type);

	*v = (struct value){attribute, type, n, malloc(bytes)};
	if (!v->of)
		abort();
	memcpy(v->of, of, bytes);
}

API int cudnnBackendSetAttribute(void *to, int attribute, int type, int64_t n, const void *of)
{
	struct descriptor *d = to;
	enum status s;

	if (!is_descriptor(d) || d->is_finished || find_value(d, attribute) || !of)
		return BAD_PARAM;
	s = check_value(d, attribute, type, n);
	if (!s)
		s = check_links(type, n, of);
	if (!s)
		store(d, attribute, type, n, of);
	return s;
}

/* ---- what descriptors tell ---- */

/* Makes an empty descriptor an engine of a graph. */
static void fill_engine(struct descriptor *d, const struct descriptor *graph, int64_t number)
{
	store(d, ATTR_ENGINE_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, 1, &graph);
	store(d, ATTR_ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, &number);
	d->is_finished = 1;
}

/* The engine itself, or (of a configuration that a heuristic made) its number and its graph. */
static enum status get_engine(const struct descriptor *config, void *out)
{
	struct descriptor *d = *(struct descriptor **)out;
	const struct descriptor *engine = linked(config, ATTR_ENGINECFG_ENGINE);

	if (!is_descriptor(d) || d->kind != KIND_ENGINE || d->is_finished)
		return BAD_PARAM;
	if (engine)
		fill_engine(d, linked(engine, ATTR_ENGINE_OPERATION_GRAPH),
			    integer(engine, ATTR_ENGINE_GLOBAL_INDEX));
	else
		fill_engine(d, linked(config, ATTR_ENGINE_OPERATION_GRAPH), config->engine[0]);
	return SUCCESS;
}

/* The knobs of a configuration are 2=1 and 7=4. */
static enum status get_knobs(const struct descriptor *config, int64_t room, int64_t *n, void *out)
{
	struct descriptor **d = out;

	*n = config->has_knobs ? 2 : 0;
	for (int64_t i = 0; i < *n && i < room; i++) {
		if (!is_descriptor(d[i]) || d[i]->kind != KIND_KNOB_CHOICE)
			return BAD_PARAM;
		d[i]->knob = (int)i;
		d[i]->is_finished = 1;
	}
	return SUCCESS;
}

/* The configurations that a heuristic proposes: the first of them has knobs. */
static enum status get_results(const struct descriptor *h, int64_t room, int64_t *n, void *out)
{
	const struct descriptor *graph = linked(h, ATTR_ENGINEHEUR_OPERATION_GRAPH);
	struct descriptor **d = out;

	*n = h->nengines;
	for (int64_t i = 0; i < *n && i < room; i++) {
		if (!is_descriptor(d[i]) || d[i]->kind != KIND_ENGINECFG)
			return BAD_PARAM;
		d[i]->engine[0] = h->engine[i];
		store(d[i], ATTR_ENGINE_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, 1, &graph);
		d[i]->has_knobs = i == 0;
		d[i]->is_finished = 1;
	}
	return SUCCESS;
}

static int64_t number_of(const struct descriptor *plan, const struct descriptor **graph)
{
	const struct descriptor *config = linked(plan, ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
	const struct descriptor *engine = linked(config, ATTR_ENGINECFG_ENGINE);

	*graph = linked(engine ? engine : config, ATTR_ENGINE_OPERATION_GRAPH);
	return engine ? integer(engine, ATTR_ENGINE_GLOBAL_INDEX) : config->engine[0];
}

static enum status get_notes(const struct descriptor *engine, int64_t room, int64_t *n, void *out)
{
	int note[2];

	*n = engine_notes(integer(engine, ATTR_ENGINE_GLOBAL_INDEX), note);
	memcpy(out, note, (size_t)(*n < room ? *n : room) * sizeof *note);
	return SUCCESS;
}

static enum status get_number(int64_t number, int type, int asked, void *out)
{
	const int narrow = (int)number;

	if (asked != type)
		return ATTRIBUTE_TYPE;
	memcpy(out, size_of(type) == 8 ? (const void *)&number : &narrow, size_of(type));
	return SUCCESS;
}

API int cudnnBackendGetAttribute(const void *from, int attribute, int type, int64_t room,
				 int64_t *n, void *out)
{
	static const int64_t knob[2][2] = {{2, 1}, {7, 4}};
	const struct descriptor *d = from, *graph;

	if (!is_descriptor(d) || !n)
		return BAD_PARAM;
	if (!d->is_finished)
		return NOT_FINALIZED;
	*n = 1;
	switch ((enum cudnn_attribute)attribute) {
	case ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
		return get_number(ENGINES, TYPE_INT64, type, out);
	case ATTR_ENGINEHEUR_RESULTS:
		return get_results(d, room, n, out);
	case ATTR_ENGINECFG_ENGINE:
		return get_engine(d, out);
	case ATTR_ENGINECFG_KNOB_CHOICES:
		return get_knobs(d, room, n, out);
	case ATTR_KNOB_CHOICE_KNOB_TYPE:
		return get_number(knob[d->knob][0], TYPE_KNOB_TYPE, type, out);
	case ATTR_KNOB_CHOICE_KNOB_VALUE:
		return get_number(knob[d->knob][1], TYPE_INT64, type, out);
	case ATTR_ENGINE_GLOBAL_INDEX:
		return get_number(integer(d, ATTR_ENGINE_GLOBAL_INDEX), TYPE_INT64, type, out);
	case ATTR_ENGINE_NUMERICAL_NOTE:
		return get_notes(d, room, n, out);
	case ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
		return get_number(engine_workspace(number_of(d, &graph)), TYPE_INT64, type, out);
	default:
		return NOT_SUPPORTED;
	}
}

/* ---- finishing and running ---- */

/* Those that the mode proposes. The neural net of mode B knows no groups, and no dilation. */
static enum status propose(struct descriptor *h)
{
	switch (integer(h, ATTR_ENGINEHEUR_MODE)) {
	case HEUR_MODE_A:
		h->engine[h->nengines++] = 0;
		h->engine[h->nengines++] = 4;
		return SUCCESS;
	case HEUR_MODE_B:
		return NOT_SUPPORTED;
	case HEUR_MODE_FALLBACK:
		h->engine[h->nengines++] = 1;
		return SUCCESS;
	default:
		return BAD_PARAM;
	}
}

static struct handle *handle_of(const struct descriptor *plan)
{
	return (struct handle *)(uintptr_t)integer(plan, ATTR_EXECUTION_PLAN_HANDLE);
}

/* With TL_EMULATOR_TOGETHER=N the first plan takes more than a second. Those behind it are made by
 * N threads together, or refused where the others do not come. */
static int is_together(void)
{
	enum { TRY_US = 1000, SLOW = 1200, TRIES = 20000 };
	static atomic_int begun, here, met; /* 1: they met; -1: they did not */
	const char *wanted = getenv("TL_EMULATOR_TOGETHER");

	if (!wanted)
		return 1;
	if (atomic_fetch_add(&begun, 1) == 0) {
		usleep(SLOW * TRY_US);
		return 1;
	}
	atomic_fetch_add(&here, 1);
	for (int i = 0; i < TRIES && !met; i++) {
		if (here >= atoi(wanted))
			met = 1;
		usleep(TRY_US);
	}
	atomic_fetch_sub(&here, 1);
	if (!met)
		met = -1;
	return met == 1;
}

/* Takes a while. Two threads may not do it with one handle. */
static enum status make_plan(const struct descriptor *plan)
{
	enum { MAKING_US = 200 };
	struct handle *h = handle_of(plan);
	const struct descriptor *graph;
	enum status s = NOT_SUPPORTED;

	if (atomic_exchange(&h->busy, 1))
		abort();
	if (!queue_has_context())
		s = NOT_INITIALIZED;
	else if (is_together() && engine_plans(number_of(plan, &graph)))
		s = SUCCESS;
	usleep(MAKING_US);
	h->busy = 0;
	return s;
}

API int cudnnBackendFinalize(void *of)
{
	struct descriptor *d = of;
	enum status s;

	if (!is_descriptor(d) || d->is_finished)
		return BAD_PARAM;
	s = check_finish(d);
	if (!s && d->kind == KIND_ENGINEHEUR)
		s = propose(d);
	if (!s && d->kind == KIND_EXECUTION_PLAN)
		s = make_plan(d);
	d->is_finished = !s;
	return s;
}

/* A run of an engine. */
struct work {
	int64_t engine;
	const struct descriptor *graph, *pack;
};

static void run(void *arg)
{
	const struct work *w = arg;

	if (engine_run(w->engine, w->graph, w->pack))
		abort();
}

API int cudnnBackendExecute(void *handle, void *plan, void *pack)
{
	const struct handle *h = handle;
	struct work w = {.pack = pack};
	enum status s;

	if (!is_handle(h) || !is_descriptor(plan) || !is_descriptor(pack))
		return BAD_PARAM;
	if (!((struct descriptor *)plan)->is_finished || !((struct descriptor *)pack)->is_finished)
		return NOT_FINALIZED;
	/* cuDNN does not promise that another handle may run it. */
	if (handle_of(plan) != h)
		return BAD_PARAM;
	w.engine = number_of(plan, &w.graph);
	s = engine_check(w.engine, w.graph, pack);
	if (s)
		return s;
	return queue_put("cudnn", h->stream, run, &w, sizeof w) ? EXECUTION_FAILED : SUCCESS;
}
