/* Workloads in the words of others: as a list with commas, as command lines of benchdnn or as those
 * of MIOpen's driver; tl-extract reads all three. Counts are kept; of the sources only the first
 * one's model is, where there is a place for a name. */
#ifndef TL_EXTRACT_LIST_EMIT_H
#define TL_EXTRACT_LIST_EMIT_H

#include "lib/extract/worklist.h"

/* The forms, for an option. */
#define EMIT_FORMS "benchdnn|miopen|csv"

/* Appends n workloads in one of the forms. How many were left out, for the form has no words for
 * them. */
int64_t emit(const char *form, struct work *const *w, int64_t n, struct buf *out);

#endif
