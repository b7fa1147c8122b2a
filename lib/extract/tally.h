/* Counts by name, in order of first appearance: "Conv 3, MaxPool 1". A zeroed struct is an empty
 * tally. */
#ifndef TL_EXTRACT_TALLY_H
#define TL_EXTRACT_TALLY_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/map.h"

struct tally {
	struct map m; /* int64_t * */
};

void tally_add(struct tally *t, const char *name);
int64_t tally_sum(const struct tally *t);
void tally_print(const struct tally *t, struct buf *out);
void tally_free(struct tally *t);

#endif
