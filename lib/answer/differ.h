/* Compares two envs of records, and describes in words which fields differ. "There" is the env of a
 * result, "here" the env of the query.
 */
#ifndef TL_ANSWER_DIFFER_H
#define TL_ANSWER_DIFFER_H

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
