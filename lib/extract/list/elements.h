/* The objects of a JSON document that stand in a list, "[{..},{..}]" or "{"events":[{..},{..}]}",
 * one after the other, however long the document is. */
#ifndef TL_EXTRACT_LIST_ELEMENTS_H
#define TL_EXTRACT_LIST_ELEMENTS_H

#include "lib/base/buf.h"
#include "lib/extract/read/pull.h"

enum { ELEMENTS_LONGEST = 1 << 20 }; /* bytes of an object */

/* A zeroed struct is at the start. */
struct elements {
	struct buf object; /* the last object's text */
	int64_t too_long;  /* objects that were passed over */

	/* Private. */
	int64_t depth, from; /* from: the depth at which the object began, 0: there is none */
	char outer[2];	     /* what the two outermost levels are: '{' or '[' */
	int in_string, escaped, drop;
};

/* Is told all bytes that are read. */
typedef void elements_seen(void *ctx, const void *bytes, size_t n);
/* 1: the next object; 0: the end; -1: cannot be read, or is cut off. */
int elements_next(struct elements *s, struct pull *in, elements_seen *seen, void *ctx,
		  struct err *e);
void elements_free(struct elements *s);

#endif
