/* What differs between two envs, as they stand in records: which fields, and in words. "There" is
 * the env that a result comes from, "here" the one that is asked for.
 */
#ifndef TL_STORE_DIFFER_H
#define TL_STORE_DIFFER_H

#include "lib/base/buf.h"
#include "lib/io/json.h"

struct differ {
	int n;		 /* fields that differ */
	int hardware;	 /* there is other hardware */
	struct buf what; /* "1 thread there and 2 here, ...": of the hardware, if that differs, else
			    of compiler and library; no text where nothing differs */
};

/* The objects are the documents' outermost values. */
void differ_envs(struct differ *d, const struct json_doc *there, const struct json_doc *here);
void differ_free(struct differ *d);

#endif
