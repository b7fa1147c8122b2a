/* A block's threads in groups of a power of two: what each thread of a group has is joined into one
 * number, which all of them get, by way of the block's memory. In each step some threads join
 * `fan` numbers each, and the others wait (Harris, "Optimizing parallel reduction in CUDA", 2007).
 * In the last one every thread joins those that are left.
 */
#ifndef TL_SCHEDULE_JOIN_H
#define TL_SCHEDULE_JOIN_H

#include "lib/nest/nest.h"

struct join {
	struct nest *n;
	int threads; /* of the block */
	int group;   /* threads of a group: a power of two, as is fan */
	int fan;
	enum expr_kind kind; /* of an operation on two numbers, in any order */
	int memory;	     /* of the block; -1: groups have one thread */
	int to;		     /* a scalar register */
};

void join_declare(struct join *s, const char *name);
/* In a loop over threads: what this thread has, a vector or a scalar. */
void join_put(const struct join *s, int thread, const struct expr *x);
/* Behind that loop: the steps, each a loop over threads. */
void join_steps(const struct join *s);
/* In the next loop over threads: joins what is left into the register. */
void join_get(const struct join *s, int thread);

#endif
