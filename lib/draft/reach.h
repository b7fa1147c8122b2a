/* The elements that a block's threads may touch: intervals in which variables and forms lie, in all
 * turns of a block's loops and for all of its threads. A let whose operands are not known to lie
 * closer together may be wider than it is.
 */
#ifndef TL_DRAFT_REACH_H
#define TL_DRAFT_REACH_H

#include "lib/nest/nest.h"

struct interval {
	int64_t low, high; /* both are in it */
};

struct reach {
	struct interval var[NEST_VARS]; /* 0 until they are set */
};

void reach_set(struct reach *r, int var, int64_t low, int64_t high);
/* The node is a let. What it is made of has been set. */
void reach_let(struct reach *r, const struct nest *n, const struct node *let);
struct interval reach_of(const struct reach *r, const struct nest *n, const struct affine *a);

/* Elements of a buffer, as intervals that do not touch each other, in order. Where there is no room
 * for another one, the nearest one grows, with what lies between. */
enum { REACH_RUNS = 32 };
struct runs {
	int n;
	struct interval at[REACH_RUNS];
};

void runs_add(struct runs *r, struct interval at);
int64_t runs_elements(const struct runs *r);
/* Adds the elements at so many lanes from the form's value plus what lies in `from`, for turns of
 * the loops one by one, where they are few and their variables do not differ from thread to thread.
 */
void reach_add(const struct reach *r, const struct nest *n, const char differs[NEST_VARS],
	       const struct affine *a, struct interval from, int lanes, struct runs *to);

#endif
