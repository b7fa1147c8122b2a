/* Recurrent networks: LSTM (Hochreiter & Schmidhuber, 1997), GRU (Cho et al., 2014) and simple
 * ones, as ONNX's operators of those names have them, in C (vectors.h). The product of the inputs
 * is made before, by the kernel of a workload; here are the steps in time, each of which needs the
 * one before it. Sequences, a few at a time, and the two directions of one are shared among
 * threads; or, where weights are large and sequences few, each step is (recurrent_shares()).
 */
#ifndef TL_RUN_RECURRENT_H
#define TL_RUN_RECURRENT_H

#include <stdint.h>

enum {
	RECURRENT_FORTH,   /* input times weights, of the first direction */
	RECURRENT_BACK,	   /* and of the second */
	RECURRENT_WEIGHTS, /* of the state, as recurrent_pack() makes them */
	RECURRENT_BIAS, /* directions x 2 * gates * hidden; NULL: there is none, as of what follows
			 */
	RECURRENT_LENGTHS, /* of sequences */
	RECURRENT_STATE,   /* before the first step */
	RECURRENT_CELL,
	RECURRENT_PEEPHOLES, /* directions x 3 * hidden */
	RECURRENT_TO, /* all states, then the last ones, then the last cells; then recurrent_room()
		       */
};

enum { RECURRENT_GATES = 4, RECURRENT_FUNCTIONS = 3, RECURRENT_DIRECTIONS = 2 };

enum recurrent_kind { RECURRENT_LSTM, RECURRENT_GRU, RECURRENT_SIMPLE };

/* A function of one number, as ONNX numbers its parameters. */
struct recurrent_function {
	float (*fn)(float x, float alpha, float beta);
	float alpha, beta;
};

struct recurrent {
	enum recurrent_kind kind;
	int64_t steps, batch, hidden, directions;
	int lanes; /* of registers, as struct limits has them */
	int is_backward[RECURRENT_DIRECTIONS];
	int is_batch_first; /* of data and states: batch x steps, else steps x batch */
	int resets_behind;  /* GRU: the reset gate stands behind the product */
	int couples;	    /* LSTM: what is not forgotten is let in */
	float limit;	    /* of what functions are given, on both sides of 0; 0: there is none */
	struct recurrent_function function[RECURRENT_DIRECTIONS][RECURRENT_FUNCTIONS];
};

/* How many gates and functions one has. */
int recurrent_gates(enum recurrent_kind kind);
int recurrent_functions(enum recurrent_kind kind);
/* Finds a function by its name, with the parameters that it has by default (NAN: it has none), and
 * says how many of them it has. -1: there is no such function. */
int recurrent_function(const char *name, struct recurrent_function *f, int *parameters);
/* Returns how many columns a gate has in the weights. They fill whole panels; those beyond the
 * state's are 0. */
int64_t recurrent_wide(const struct recurrent *r);
/* Writes the part of thread `thread` of `threads`: buffers[1], directions x gates x wide /
 * VECTORS_PANEL panels of `hidden` rows, of the weights of buffers[0], directions x gates * hidden
 * x hidden. */
int recurrent_pack(const void *with, float *const *buffers, int thread, int threads);
/* Do all threads take each step together, some columns of the state each? They do where weights
 * have more than half of a core's second cache, of so many bytes, and some thread would have
 * nothing to do, or several would read the same weights in each step. */
int recurrent_shares(const struct recurrent *r, int threads, int64_t l2);
/* Return how many elements turns keep for the next ones, and how many turns there are. */
int64_t recurrent_room(const struct recurrent *r);
int64_t recurrent_turns(const struct recurrent *r);
/* The part of a thread in a turn, if threads share steps. 0. */
int recurrent_step(const void *with, float *const *buffers, int turn, int thread, int threads);
/* The part of thread `thread` of `threads` of a struct recurrent, if they do not share steps. -1:
 * there is no memory. */
int recurrent_run(const void *with, float *const *buffers, int thread, int threads);

#endif
