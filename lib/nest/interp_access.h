/* Accesses of the interpreter (interp.h), for lib/nest alone: where an element is, which thread
 * touched it last, and whether that is a race.
 */
#ifndef TL_NEST_INTERP_ACCESS_H
#define TL_NEST_INTERP_ACCESS_H

#include "lib/base/err.h"
#include "lib/nest/nest.h"

/* The last accesses to an element, by access_turn(); 0: none. */
struct touch {
	int64_t writer, reader;
	int64_t other_reader; /* before that, another thread */
};

/* What the threads have in common. */
struct team {
	const struct nest *n;
	void *const *buffers;
	int threads, phase; /* phases from 0 */
	struct err *e;
	const struct node *scope[NEST_BUFFERS];
	struct touch *touch[NEST_BUFFERS];    /* ARG, TEAM: if there is more than one thread */
	unsigned char *written[NEST_BUFFERS]; /* WORK (all threads'), TEAM */
};

/* A thread of the team; or, of a nest with blocks, what executes some of the blocks, one after the
 * other, and in each of them its threads. */
struct interp {
	struct team *team;
	const struct nest *n;
	int thread;
	int inner;		   /* of a block's threads, the one at work, from 0 */
	int in_threads;		   /* a loop over them is open */
	int64_t step;		   /* how many such loops have ended */
	int64_t first_step;	   /* of this block */
	double *reg[NEST_BUFFERS]; /* register arrays, lanes apart; of a block's threads in turn */
	unsigned char *written[NEST_BUFFERS]; /* registers, and memory of a block */
	void *block[NEST_BUFFERS];	      /* memory of a block */
	struct touch *touch[NEST_BUFFERS];    /* of it */
	int64_t offset[NEST_BUFFERS];	      /* of views */
	int64_t var[NEST_VARS];		      /* symbols, too */
	struct copies *copies;		      /* interp_block.h */
	struct err *e;
};

/* Where an access goes. */
struct place {
	const struct buffer *buffer;
	int64_t index;
	void *memory; /* element `index` of it is the first one; NULL: a register */
	double *r;    /* a register */
	unsigned char *written;
	struct touch *touch;
};

/* The element was copied there, but no thread has waited for that yet: what `written` says of it.
 */
enum { WRITTEN = 1, UNDER_WAY };

/* The number of this thread's turn at this point: the next that touches is told apart by it. */
int64_t access_turn(const struct interp *s);
/* How many loops over threads had ended before a turn, as struct interp's `step` counts them. */
int64_t access_step(int64_t turn);
int64_t access_eval(const struct interp *s, const struct affine *a);
/* How many of so many lanes are valid. */
int access_valid(const struct interp *s, const struct affine *valid, int lanes);
/* Finds the memory of buffer[index .. index + lanes), or the register. -1: it is outside. */
int access_locate(struct interp *s, int buffer, int64_t index, int lanes, struct place *p);
/* Blocks read and write whole vectors at multiples of their lanes alone. */
int access_aligned(const struct interp *s, const struct place *p, int lanes);
/* The values of so many lanes. */
void access_get(const struct place *p, int lanes, double *x);
void access_set(const struct place *p, int lanes, const double *x);
/* The thread reads or writes so many lanes: -1 for a race, or what was never written. */
int access_read(struct interp *s, const struct place *p, int lanes);
int access_write(struct interp *s, const struct place *p, int lanes);

#endif
