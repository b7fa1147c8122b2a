#include "lib/run/recurrent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/run/vectors.h"

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
	const float y = a * x + b;

	return y < 0 ? 0 : y > 1 ? 1 : y; /* NaN stays */
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

/* Sequences of one direction that go together: SEQUENCES at most, so that weights are read once for
 * all of them. Each has `wide` floats for each gate and state, whole panels. Columns from `first`
 * to `end` of the state are computed. */
enum { SEQUENCES = 8 };
struct work {
	const struct recurrent *r;
	int64_t direction, batch, n, wide, first, end;
	const float *weights, *bias, *peephole; /* NULL: there are none */
	/* They belong to the first sequence: its gates, the operand or product of a GRU's third
	 * gate, its state before the step and behind it, which may be the same, and its cell. */
	float *gate, *more, *state, *next, *cell;
};

/* Returns the work of sequence i alone. */
static struct work one_of(const struct work *w, int64_t i)
{
	struct work one = *w;

	one.batch += i;
	one.n = 1;
	one.gate += i * recurrent_gates(w->r->kind) * w->wide;
	one.more += i * w->wide;
	one.state += i * w->wide;
	one.next += i * w->wide;
	one.cell += i * w->wide;
	return one;
}

/* Adds the products of all states with the weights of gates from `first` to `end`: in one go where
 * all columns are computed. */
static void add_product(const struct work *w, const float *state, int first, int end, float *sum,
			int64_t apart)
{
	const int64_t columns = (w->end - w->first + VECTORS_PANEL - 1) / VECTORS_PANEL;
	const int is_whole = columns * VECTORS_PANEL == w->wide;

	for (int g = first; g < end; g += is_whole ? end - first : 1) {
		const struct vectors_product p = {
			.panels = is_whole ? (end - first) * columns : columns,
			.rows = w->r->hidden,
			.panel = w->weights + (g * w->wide + w->first) * w->r->hidden,
			.n = w->n,
			.row = state,
			.x = w->wide,
			.sum = sum + (g - first) * w->wide + w->first,
			.to = apart,
		};

		vectors_product(w->r->lanes, &p);
	}
}

/* Gates begin with the input's products and its bias, and with the state's bias but for those from
 * `own` on. */
static void begin_gates(const struct work *w, const float *input, int own)
{
	const int64_t hidden = w->r->hidden;
	const int gates = recurrent_gates(w->r->kind);

	for (int g = 0; g < gates; g++) {
		float *const to = w->gate + g * w->wide;

		memcpy(to + w->first, input + g * hidden + w->first,
		       (size_t)(w->end - w->first) * sizeof *to);
		for (int64_t k = w->first; w->bias && k < w->end; k++)
			to[k] += w->bias[g * hidden + k];
		for (int64_t k = w->first; w->bias && g < own && k < w->end; k++)
			to[k] += w->bias[(gates + g) * hidden + k];
	}
}

/* Applies function i to the columns of a row, with limits where `is_limited`. */
static void apply(const struct work *w, int i, float *row, int is_limited)
{
	float *const x = row + w->first;
	const int64_t n = w->end - w->first;
	const struct recurrent_function *f = &w->r->function[w->direction][i];
	const float limit = is_limited ? w->r->limit : 0;

	for (int64_t k = 0; limit > 0 && k < n; k++)
		x[k] = x[k] < -limit ? -limit : x[k] > limit ? limit : x[k];
	if (f->fn == sigmoid)
		vectors_sigmoid(w->r->lanes, x, n);
	else if (f->fn == tangent)
		vectors_tanh(w->r->lanes, x, n);
	else
		for (int64_t k = 0; k < n; k++)
			x[k] = f->fn(x[k], f->alpha, f->beta);
}

static void peep(const struct work *w, int gate)
{
	for (int64_t k = w->first; w->peephole && k < w->end; k++)
		w->gate[gate * w->wide + k] += w->peephole[gate * w->r->hidden + k] * w->cell[k];
}

/* Does the rest of a step for one sequence, behind the product. The gates are input, output, forget
 * and cell. */
static void end_lstm(const struct work *w)
{
	float *const in = w->gate, *const out = in + w->wide, *const kept = out + w->wide;
	float *const made = kept + w->wide;

	peep(w, 0);
	peep(w, 2);
	apply(w, 0, in, 1);
	apply(w, 0, kept, 1);
	apply(w, 1, made, 1);
	for (int64_t k = w->first; k < w->end; k++)
		w->cell[k] = (w->r->couples ? 1 - in[k] : kept[k]) * w->cell[k] + in[k] * made[k];
	peep(w, 1);
	apply(w, 0, out, 1);
	memcpy(made + w->first, w->cell + w->first, (size_t)(w->end - w->first) * sizeof *made);
	apply(w, 2, made, 0);
	for (int64_t k = w->first; k < w->end; k++)
		w->next[k] = out[k] * made[k];
}

/* Computes the gates update and reset, and the operand of the third one. */
static void middle_gru(const struct work *w)
{
	const float *const own = w->bias ? w->bias + 5 * w->r->hidden : NULL;
	float *const reset = w->gate + w->wide;

	apply(w, 0, w->gate, 1);
	apply(w, 0, reset, 1);
	for (int64_t k = w->first; k < w->end; k++)
		w->more[k] = w->r->resets_behind ? own ? own[k] : 0 : reset[k] * w->state[k];
}

static void end_gru(const struct work *w)
{
	float *const g = w->gate, *const reset = g + w->wide, *const made = reset + w->wide;

	for (int64_t k = w->first; w->r->resets_behind && k < w->end; k++)
		made[k] += reset[k] * w->more[k];
	apply(w, 1, made, 1);
	for (int64_t k = w->first; k < w->end; k++)
		w->next[k] = (1 - g[k]) * made[k] + g[k] * w->state[k];
}

static void end_simple(const struct work *w)
{
	memcpy(w->next + w->first, w->gate + w->first,
	       (size_t)(w->end - w->first) * sizeof *w->next);
	apply(w, 0, w->next, 1);
}

/* ---- sequences ---- */

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

static int64_t length_of(const struct work *w, float *const *buffers)
{
	const float *lengths = buffers[RECURRENT_LENGTHS];

	return lengths ? (int64_t)fmaxf(0, fminf(lengths[w->batch], (float)w->r->steps))
		       : w->r->steps;
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

static void end_sequence(const struct work *w, float *const *buffers, int64_t length)
{
	const struct recurrent *r = w->r;
	const int64_t ends = r->directions * r->batch * r->hidden;
	const size_t bytes = (size_t)r->hidden * sizeof(float);
	float *const to = buffers[RECURRENT_TO], *const last = to + r->steps * ends;

	for (int64_t step = length; step < r->steps; step++)
		memset(states_at(w, to, step), 0, bytes);
	memcpy(last + ends_at(w), w->state, bytes);
	if (r->kind == RECURRENT_LSTM)
		memcpy(last + ends + ends_at(w), w->cell, bytes);
}

/* All sequences do the step, the last ones of them with what nobody reads, if they have ended. */
static void run_step(const struct work *w, const struct work *each, float *const *buffers,
		     int64_t i, const int64_t *length)
{
	const struct recurrent *r = w->r;
	const int gates = recurrent_gates(r->kind), is_gru = r->kind == RECURRENT_GRU;
	const float *input = buffers[w->direction ? RECURRENT_BACK : RECURRENT_FORTH];
	const int64_t row = gates * r->hidden, apart = gates * w->wide;

	for (int64_t s = 0; s < w->n; s++) {
		const int64_t step = r->is_backward[w->direction] ? length[s] - 1 - i : i;

		if (i < length[s])
			begin_gates(&each[s], input + row_of(r, step, each[s].batch) * row,
				    is_gru && r->resets_behind ? 2 : gates);
	}
	add_product(w, w->state, 0, is_gru ? 2 : gates, w->gate, apart);
	for (int64_t s = 0; is_gru && s < w->n; s++)
		middle_gru(&each[s]);
	if (is_gru && r->resets_behind)
		add_product(w, w->state, 2, 3, w->more, w->wide);
	else if (is_gru)
		add_product(w, w->more, 2, 3, w->gate + 2 * w->wide, apart);
	for (int64_t s = 0; s < w->n; s++) {
		const int64_t step = r->is_backward[w->direction] ? length[s] - 1 - i : i;

		if (i >= length[s])
			continue;
		(is_gru ? end_gru : r->kind == RECURRENT_LSTM ? end_lstm : end_simple)(&each[s]);
		memcpy(states_at(&each[s], buffers[RECURRENT_TO], step) + w->first,
		       each[s].next + w->first, (size_t)(w->end - w->first) * sizeof(float));
	}
}

static void run_sequences(const struct work *w, float *const *buffers)
{
	struct work each[SEQUENCES];
	int64_t length[SEQUENCES], most = 0;

	for (int64_t s = 0; s < w->n; s++) {
		each[s] = one_of(w, s);
		length[s] = length_of(&each[s], buffers);
		most = length[s] > most ? length[s] : most;
		begin_sequence(&each[s], buffers, length[s]);
	}
	for (int64_t i = 0; i < most; i++)
		run_step(w, each, buffers, i, length);
	for (int64_t s = 0; s < w->n; s++)
		end_sequence(&each[s], buffers, length[s]);
}

/* ---- all of them ---- */

int64_t recurrent_wide(const struct recurrent *r)
{
	return (r->hidden + VECTORS_PANEL - 1) / VECTORS_PANEL * VECTORS_PANEL;
}

int recurrent_pack(const void *with, float *const *buffers, int thread, int threads)
{
	const struct recurrent *r = with;
	const int64_t hidden = r->hidden, wide = recurrent_wide(r);
	const int64_t all = r->directions * recurrent_gates(r->kind);
	const int64_t first = all * thread / threads, end = all * (thread + 1) / threads;
	const float *from = buffers[0];
	float *const to = buffers[1];

	memset(to + first * wide * hidden, 0, (size_t)((end - first) * wide * hidden) * sizeof *to);
	for (int64_t g = first; g < end; g++)
		for (int64_t j = 0; j < hidden; j++) {
			float *const column =
				to + (g * wide + j / VECTORS_PANEL * VECTORS_PANEL) * hidden +
				j % VECTORS_PANEL;

			for (int64_t k = 0; k < hidden; k++)
				column[k * VECTORS_PANEL] = from[(g * hidden + j) * hidden + k];
		}
	return 0;
}

/* Room for all that a thread works with, zeros behind the elements of each gate. */
static void *make_room(struct work *w)
{
	const size_t gates = (size_t)recurrent_gates(w->r->kind), wide = (size_t)w->wide;
	float *room = calloc((gates + 3) * wide * SEQUENCES, sizeof *room);

	w->gate = room;
	w->more = w->gate + gates * wide * SEQUENCES;
	w->state = w->next = w->more + wide * SEQUENCES;
	w->cell = w->state + wide * SEQUENCES;
	return room;
}

/* The direction's weights. */
static void set_direction(struct work *w, float *const *buffers, int64_t direction)
{
	const int64_t gates = recurrent_gates(w->r->kind), hidden = w->r->hidden;

	w->direction = direction;
	w->weights = buffers[RECURRENT_WEIGHTS] + direction * gates * w->wide * hidden;
	w->bias = buffers[RECURRENT_BIAS];
	if (w->bias)
		w->bias += direction * 2 * gates * hidden;
	w->peephole = buffers[RECURRENT_PEEPHOLES];
	if (w->peephole)
		w->peephole += direction * 3 * hidden;
}

/* How many sequences go together: fewer than possible, if threads would have nothing to do. */
static int64_t together(const struct recurrent *r, int threads)
{
	const int64_t share = r->directions * r->batch / threads;

	return share < 1 ? 1 : share > SEQUENCES ? SEQUENCES : share;
}

int recurrent_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct recurrent *r = with;
	const int64_t most = together(r, threads), groups = (r->batch + most - 1) / most;
	const int64_t all = r->directions * groups;
	const int64_t first = all * thread / threads, end = all * (thread + 1) / threads;
	struct work w = {.r = r, .wide = recurrent_wide(r), .end = r->hidden};
	void *room = first < end ? make_room(&w) : NULL;

	if (first < end && !room)
		return -1;
	for (int64_t i = first; i < end; i++) {
		set_direction(&w, buffers, i / groups);
		w.batch = i % groups * most;
		w.n = r->batch - w.batch < most ? r->batch - w.batch : most;
		run_sequences(&w, buffers);
	}
	free(room);
	return 0;
}

/* ---- steps that threads share ---- */

int recurrent_shares(const struct recurrent *r, int threads, int64_t l2)
{
	const int is_two = r->kind == RECURRENT_GRU && !r->resets_behind; /* products in turn */
	const int64_t weights = recurrent_gates(r->kind) * recurrent_wide(r) * r->hidden;
	const int64_t most = together(r, threads), groups = (r->batch + most - 1) / most;
	const int64_t least = (r->batch + SEQUENCES - 1) / SEQUENCES;

	return !is_two && r->steps < INT32_MAX && weights * (int64_t)sizeof(float) > l2 / 2 &&
	       (r->directions * groups < threads || groups > least);
}

/* Turns keep so many rows of each sequence, and its gates behind these. */
enum { SHARED_STATES = 2, SHARED_ROWS = SHARED_STATES + 2 }; /* with cells, and a GRU's product */

int64_t recurrent_room(const struct recurrent *r)
{
	return (SHARED_ROWS + recurrent_gates(r->kind)) * r->directions * r->batch *
	       recurrent_wide(r);
}

int64_t recurrent_turns(const struct recurrent *r)
{
	return r->steps + 1;
}

/* Sets the numbers of sequences from w->batch on, for a turn. */
static void place_shared(struct work *w, float *room, int turn)
{
	const struct recurrent *r = w->r;
	const int64_t all = r->directions * r->batch;
	const int64_t at = (w->direction * r->batch + w->batch) * w->wide;

	w->next = room + turn % 2 * all * w->wide + at;
	w->state = room + !(turn % 2) * all * w->wide + at;
	w->cell = room + SHARED_STATES * all * w->wide + at;
	w->more = w->cell + all * w->wide;
	w->gate = room + SHARED_ROWS * all * w->wide + recurrent_gates(r->kind) * at;
}

static void begin_columns(const struct work *w, float *const *buffers, int64_t length)
{
	const size_t bytes = (size_t)(w->end - w->first) * sizeof(float);

	memset(w->next + w->first, 0, bytes);
	memset(w->cell + w->first, 0, bytes);
	if (length && buffers[RECURRENT_STATE])
		memcpy(w->next + w->first, buffers[RECURRENT_STATE] + ends_at(w) + w->first, bytes);
	if (length && buffers[RECURRENT_CELL])
		memcpy(w->cell + w->first, buffers[RECURRENT_CELL] + ends_at(w) + w->first, bytes);
}

/* Behind a step of all sequences: those that had ended keep their state. */
static void end_columns(const struct work *w, float *const *buffers, int64_t step, int64_t length)
{
	const struct recurrent *r = w->r;
	const int64_t ends = r->directions * r->batch * r->hidden;
	const size_t bytes = (size_t)(w->end - w->first) * sizeof(float);
	float *const to = buffers[RECURRENT_TO], *const last = to + r->steps * ends + ends_at(w);

	if (step >= 0 && step >= length) {
		memcpy(w->next + w->first, w->state + w->first, bytes);
		memset(states_at(w, to, step) + w->first, 0, bytes);
	}
	if (step + 1 < r->steps)
		return;
	memcpy(last + w->first, w->next + w->first, bytes);
	if (r->kind == RECURRENT_LSTM)
		memcpy(last + ends + w->first, w->cell + w->first, bytes);
}

/* A turn of all sequences of one direction, for the columns of w. */
static void share_turn(struct work *w, float *const *buffers, int turn)
{
	const struct recurrent *r = w->r;
	float *const room =
		buffers[RECURRENT_TO] + (r->steps + 2) * r->directions * r->batch * r->hidden;
	struct work each[SEQUENCES];
	int64_t length[SEQUENCES];

	for (w->batch = 0; w->batch < r->batch; w->batch += w->n) {
		w->n = r->batch - w->batch < SEQUENCES ? r->batch - w->batch : SEQUENCES;
		place_shared(w, room, turn);
		for (int64_t s = 0; s < w->n; s++) {
			each[s] = one_of(w, s);
			length[s] = length_of(&each[s], buffers);
		}
		for (int64_t s = 0; !turn && s < w->n; s++)
			begin_columns(&each[s], buffers, length[s]);
		if (turn)
			run_step(w, each, buffers, turn - 1, length);
		for (int64_t s = 0; s < w->n; s++)
			end_columns(&each[s], buffers, turn - 1, length[s]);
	}
}

int recurrent_step(const void *with, float *const *buffers, int turn, int thread, int threads)
{
	const struct recurrent *r = with;
	struct work w = {.r = r, .wide = recurrent_wide(r)};
	const int64_t panels = w.wide / VECTORS_PANEL, all = r->directions * panels;
	const int64_t end = all * (thread + 1) / threads;

	for (int64_t i = all * thread / threads, next; i < end; i = next) {
		const int64_t direction = i / panels, of = direction * panels;

		next = end < of + panels ? end : of + panels;
		w.first = (i - of) * VECTORS_PANEL;
		w.end = (next - of) * VECTORS_PANEL;
		w.end = w.end < r->hidden ? w.end : r->hidden;
		set_direction(&w, buffers, direction);
		share_turn(&w, buffers, turn);
	}
	return 0;
}
