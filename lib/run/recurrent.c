#include "lib/run/recurrent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- functions ---- */

static float relu(float x, float a, float b)
{
	(void)a;
	(void)b;
	return x < 0 ? 0 : x;
}

static float tangent(float x, float a, float b)
{
	(void)a;
	(void)b;
	return tanhf(x);
}

static float sigmoid(float x, float a, float b)
{
	(void)a;
	(void)b;
	return 1 / (1 + expf(-x));
}

static float affine(float x, float a, float b)
{
	return a * x + b;
}

static float leaky_relu(float x, float a, float b)
{
	(void)b;
	return x < 0 ? a * x : x;
}

static float thresholded_relu(float x, float a, float b)
{
	(void)b;
	return x > a ? x : 0;
}

static float scaled_tangent(float x, float a, float b)
{
	return a * tanhf(b * x);
}

static float hard_sigmoid(float x, float a, float b)
{
	return fminf(fmaxf(a * x + b, 0), 1);
}

static float elu(float x, float a, float b)
{
	(void)b;
	return x < 0 ? a * expm1f(x) : x;
}

static float softsign(float x, float a, float b)
{
	(void)a;
	(void)b;
	return x / (1 + fabsf(x));
}

static float softplus(float x, float a, float b)
{
	(void)a;
	(void)b;
	return fmaxf(x, 0) + log1pf(expf(-fabsf(x)));
}

int recurrent_function(const char *name, struct recurrent_function *f, int *parameters)
{
	static const struct {
		const char *name;
		struct recurrent_function is;
		int parameters;
	} table[] = {
		{"Affine", {affine, NAN, NAN}, 2},
		{"Elu", {elu, 1, 0}, 1},
		{"HardSigmoid", {hard_sigmoid, 0.2F, 0.5F}, 2},
		{"LeakyRelu", {leaky_relu, 0.01F, 0}, 1},
		{"Relu", {relu, 0, 0}, 0},
		{"ScaledTanh", {scaled_tangent, NAN, NAN}, 2},
		{"Sigmoid", {sigmoid, 0, 0}, 0},
		{"Softplus", {softplus, 0, 0}, 0},
		{"Softsign", {softsign, 0, 0}, 0},
		{"Tanh", {tangent, 0, 0}, 0},
		{"ThresholdedRelu", {thresholded_relu, 1, 0}, 1},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcasecmp(name, table[i].name)) {
			*f = table[i].is;
			*parameters = table[i].parameters;
			return 0;
		}
	return -1;
}

int recurrent_gates(enum recurrent_kind kind)
{
	return kind == RECURRENT_LSTM ? 4 : kind == RECURRENT_GRU ? 3 : 1;
}

int recurrent_functions(enum recurrent_kind kind)
{
	return kind == RECURRENT_LSTM ? 3 : kind == RECURRENT_GRU ? 2 : 1;
}

/* ---- one step ---- */

/* Sums are made of so many columns at once, as vectors that every x86 and ARM has registers for. */
enum { LANES = 4, VECTORS = 8, BLOCK = LANES * VECTORS };
typedef float vector __attribute__((vector_size(LANES * sizeof(float)), may_alias));

/* One sequence in one direction. Each gate has `wide` floats, a multiple of BLOCK. */
struct work {
	const struct recurrent *r;
	int64_t direction, batch, wide;
	vector *weights; /* gates x wide / BLOCK x hidden x VECTORS */
	float *gate;	 /* gates x wide */
	float *more;	 /* wide */
	float *state, *cell;
	const float *bias, *peephole; /* NULL: there are none */
};

/* Adds the product of a state with the weights of gates from `first` to `end`. */
static void add_product(const struct work *w, const float *state, int first, int end, float *sum)
{
	const vector *by = w->weights + first * w->wide / LANES * w->r->hidden;

	for (int64_t j = 0; j < (end - first) * w->wide; j += BLOCK) {
		vector made[VECTORS], *const to = (vector *)(sum + j);

#pragma GCC unroll 8
		for (int i = 0; i < VECTORS; i++)
			made[i] = to[i];
		for (int64_t k = 0; k < w->r->hidden; k++, by += VECTORS)
#pragma GCC unroll 8
			for (int i = 0; i < VECTORS; i++)
				made[i] += state[k] * by[i];
#pragma GCC unroll 8
		for (int i = 0; i < VECTORS; i++)
			to[i] = made[i];
	}
}

/* Gates begin with the input's products and its bias, and with the state's bias but for those from
 * `own` on. */
static void begin_gates(const struct work *w, const float *input, int own)
{
	const int64_t hidden = w->r->hidden;
	const int gates = recurrent_gates(w->r->kind);

	for (int g = 0; g < gates; g++)
		for (int64_t k = 0; k < hidden; k++) {
			float x = input[g * hidden + k];

			if (w->bias)
				x += w->bias[g * hidden + k];
			if (w->bias && g < own)
				x += w->bias[(gates + g) * hidden + k];
			w->gate[g * w->wide + k] = x;
		}
}

static float function(const struct work *w, int i, float x)
{
	const struct recurrent_function *f = &w->r->function[w->direction][i];
	const float limit = w->r->limit;

	if (limit > 0)
		x = x < -limit ? -limit : x > limit ? limit : x;
	return f->fn(x, f->alpha, f->beta);
}

static float peep(const struct work *w, int gate, int64_t k)
{
	return w->peephole ? w->peephole[gate * w->r->hidden + k] * w->cell[k] : 0;
}

/* Gates: input, output, forget, cell. */
static void step_lstm(const struct work *w, const float *input)
{
	const float *g = w->gate;
	const int64_t wide = w->wide;

	begin_gates(w, input, 4);
	add_product(w, w->state, 0, 4, w->gate);
	for (int64_t k = 0; k < w->r->hidden; k++) {
		const float in = function(w, 0, g[k] + peep(w, 0, k));
		const float kept =
			w->r->couples ? 1 - in : function(w, 0, g[2 * wide + k] + peep(w, 2, k));
		const struct recurrent_function *last = &w->r->function[w->direction][2];

		w->cell[k] = kept * w->cell[k] + in * function(w, 1, g[3 * wide + k]);
		w->state[k] = function(w, 0, g[wide + k] + peep(w, 1, k)) *
			      last->fn(w->cell[k], last->alpha, last->beta);
	}
}

/* Gates: update, reset, hidden. */
static void step_gru(const struct work *w, const float *input)
{
	const int64_t hidden = w->r->hidden, wide = w->wide;
	const float *const own = w->bias ? w->bias + 5 * hidden : NULL;
	float *const g = w->gate, *const reset = g + wide, *const more = w->more;

	begin_gates(w, input, w->r->resets_behind ? 2 : 3);
	add_product(w, w->state, 0, 2, g);
	for (int64_t k = 0; k < hidden; k++) {
		g[k] = function(w, 0, g[k]);
		reset[k] = function(w, 0, reset[k]);
		more[k] = w->r->resets_behind ? own ? own[k] : 0 : reset[k] * w->state[k];
	}
	if (w->r->resets_behind)
		add_product(w, w->state, 2, 3, more);
	else
		add_product(w, more, 2, 3, g + 2 * wide);
	for (int64_t k = 0; k < hidden; k++) {
		const float add = w->r->resets_behind ? reset[k] * more[k] : 0;
		const float x = function(w, 1, g[2 * wide + k] + add);

		w->state[k] = (1 - g[k]) * x + g[k] * w->state[k];
	}
}

static void step_simple(const struct work *w, const float *input)
{
	begin_gates(w, input, 1);
	add_product(w, w->state, 0, 1, w->gate);
	for (int64_t k = 0; k < w->r->hidden; k++)
		w->state[k] = function(w, 0, w->gate[k]);
}

/* ---- a sequence ---- */

/* Where something of this step is, in units of what a step and a batch have together. */
static int64_t row_of(const struct recurrent *r, int64_t step, int64_t batch)
{
	return r->is_batch_first ? batch * r->steps + step : step * r->batch + batch;
}

/* The states of a step: steps x directions x batch, or batch x steps x directions. */
static float *states_at(const struct work *w, float *to, int64_t step)
{
	const struct recurrent *r = w->r;
	const int64_t at = r->is_batch_first
				   ? (w->batch * r->steps + step) * r->directions + w->direction
				   : (step * r->directions + w->direction) * r->batch + w->batch;

	return to + at * r->hidden;
}

/* The first or last states: directions x batch, or batch x directions. */
static int64_t ends_at(const struct work *w)
{
	const struct recurrent *r = w->r;

	return (r->is_batch_first ? w->batch * r->directions + w->direction
				  : w->direction * r->batch + w->batch) *
	       r->hidden;
}

static void run_step(const struct work *w, const float *input)
{
	if (w->r->kind == RECURRENT_LSTM)
		step_lstm(w, input);
	else if (w->r->kind == RECURRENT_GRU)
		step_gru(w, input);
	else
		step_simple(w, input);
}

/* A sequence without steps ends with zeros, as in onnxruntime. */
static void begin_sequence(const struct work *w, float *const *buffers, int64_t length)
{
	const size_t bytes = (size_t)w->r->hidden * sizeof(float);

	memset(w->state, 0, bytes);
	memset(w->cell, 0, bytes);
	if (length && buffers[RECURRENT_STATE])
		memcpy(w->state, buffers[RECURRENT_STATE] + ends_at(w), bytes);
	if (length && buffers[RECURRENT_CELL])
		memcpy(w->cell, buffers[RECURRENT_CELL] + ends_at(w), bytes);
}

static void run_sequence(const struct work *w, float *const *buffers)
{
	const struct recurrent *r = w->r;
	const int64_t row = recurrent_gates(r->kind) * r->hidden;
	const int64_t ends = r->directions * r->batch * r->hidden;
	const size_t bytes = (size_t)r->hidden * sizeof(float);
	const float *input = buffers[w->direction ? RECURRENT_BACK : RECURRENT_FORTH];
	float *const to = buffers[RECURRENT_TO], *const last = to + r->steps * ends;
	int64_t length = r->steps;

	if (buffers[RECURRENT_LENGTHS])
		length = (int64_t)fmaxf(
			0, fminf(buffers[RECURRENT_LENGTHS][w->batch], (float)r->steps));
	begin_sequence(w, buffers, length);
	for (int64_t i = 0; i < length; i++) {
		const int64_t step = r->is_backward[w->direction] ? length - 1 - i : i;

		run_step(w, input + row_of(r, step, w->batch) * row);
		memcpy(states_at(w, to, step), w->state, bytes);
	}
	for (int64_t step = length; step < r->steps; step++)
		memset(states_at(w, to, step), 0, bytes);
	memcpy(last + ends_at(w), w->state, bytes);
	if (r->kind == RECURRENT_LSTM)
		memcpy(last + ends + ends_at(w), w->cell, bytes);
}

/* ---- all of them ---- */

/* The weights of the direction, in the order in which they are read. */
static void turn_weights(const struct work *w, const float *from)
{
	const int64_t hidden = w->r->hidden, gates = recurrent_gates(w->r->kind);
	float *to = (float *)w->weights;

	from += w->direction * gates * hidden * hidden;
	for (int64_t g = 0; g < gates; g++)
		for (int64_t j = 0; j < hidden; j++)
			for (int64_t k = 0; k < hidden; k++)
				to[((g * w->wide + j) / BLOCK * hidden + k) * BLOCK + j % BLOCK] =
					from[(g * hidden + j) * hidden + k];
}

/* Room for all that a thread works with, zeros behind the elements of each gate. */
static void *make_room(struct work *w)
{
	const size_t gates = (size_t)recurrent_gates(w->r->kind);
	const size_t wide = (size_t)w->wide, hidden = (size_t)w->r->hidden;
	float *room = calloc((hidden * gates + gates + 3) * wide, sizeof *room);

	w->weights = (vector *)room;
	w->gate = room + hidden * gates * wide;
	w->more = w->gate + gates * wide;
	w->state = w->more + wide;
	w->cell = w->state + wide;
	return room;
}

int recurrent_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct recurrent *r = with;
	const int64_t all = r->directions * r->batch, gates = recurrent_gates(r->kind);
	const int64_t first = all * thread / threads, end = all * (thread + 1) / threads;
	struct work w = {.r = r, .direction = -1};
	void *room = NULL;

	w.wide = (r->hidden + BLOCK - 1) / BLOCK * BLOCK;
	if (first < end && !(room = make_room(&w)))
		return -1;
	for (int64_t i = first; i < end; i++) {
		const int64_t direction = i / r->batch;

		w.batch = i % r->batch;
		if (direction != w.direction) {
			w.direction = direction;
			turn_weights(&w, buffers[RECURRENT_WEIGHTS]);
			w.bias = buffers[RECURRENT_BIAS];
			if (w.bias)
				w.bias += direction * 2 * gates * r->hidden;
			w.peephole = buffers[RECURRENT_PEEPHOLES];
			if (w.peephole)
				w.peephole += direction * 3 * r->hidden;
		}
		run_sequence(&w, buffers);
	}
	free(room);
	return 0;
}
