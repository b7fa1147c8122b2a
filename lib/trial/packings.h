/* Packed weights, each packing once for all candidates of a session. */
#ifndef TL_TRIAL_PACKINGS_H
#define TL_TRIAL_PACKINGS_H

#include "lib/base/map.h"
#include "lib/nest/nest.h"
#include "lib/target/runner.h"
#include "lib/trial/fence.h"

/* {0}: none yet. */
struct packings {
	const struct runner *runner; /* as in crew.h */
	int threads;		     /* that pack */
	int hides;	   /* children that are forked have only those that were asked for since
			      packings_hide() */
	struct map packed; /* role and packing text -> struct fence */
	int64_t bytes;	   /* without those that others are made from */
	int64_t hidden;	   /* bytes that children do not have */
};

/* Returns what a packed buffer holds. It is packed from the plain tensor, unless it has been packed
 * before, and stays until it is forgotten. */
const struct fence *packings_of(struct packings *p, const struct buffer *b,
				const struct fence *plain);
/* From now on children that are forked have none of them, until one is asked for again. */
void packings_hide(struct packings *p);
/* Forgets all if they are too large: big weights in many packings would fill the memory. */
void packings_bound(struct packings *p);
void packings_forget(struct packings *p);
/* Finds the packing in whose memory the address lies, as fence_locate() does; NULL: none. */
const struct fence *packings_locate(const struct packings *p, const void *address, int64_t *bytes);

#endif
