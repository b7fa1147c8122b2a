/* Workloads in the words of others: as a list with commas that tl-extract reads, and as command
 * lines of benchdnn. Counts are kept in both; of the sources only the first one's model is. */
#ifndef TL_EXTRACT_LIST_EMIT_H
#define TL_EXTRACT_LIST_EMIT_H

#include "lib/extract/worklist.h"

void emit_csv(struct work *const *w, int64_t n, struct buf *out);
void emit_benchdnn(struct work *const *w, int64_t n, struct buf *out);

#endif
