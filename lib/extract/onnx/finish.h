/* What is done with the graphs of an ONNX model once the whole file is read: calls of the model's
 * own functions are replaced by their nodes, operators that stand for several by those (rewrite.h),
 * and values are linked, from the innermost graphs outwards.
 */
#ifndef TL_EXTRACT_ONNX_FINISH_H
#define TL_EXTRACT_ONNX_FINISH_H

#include "lib/base/map.h"
#include "lib/extract/graph/copy.h"

struct function {
	struct graph body; /* its nodes and the values between them */
	struct ends in, out;
	struct attr *attr; /* what attributes are where a call does not give them */
	int nattr;
};

struct finish {
	struct arena *a;
	const struct map *functions; /* "DOMAIN:NAME:OVERLOAD" -> struct function * */
	int rewrites;		     /* the graph is not to be run */
	struct copies copies;	     /* of what is in functions */
	int64_t fresh;		     /* numbers that make their names unique */
};

/* Bytes of a function's domain, name and overload, each; and of the three as a key. */
enum { FUNCTION_NAME_MOST = 300, FUNCTION_KEY_BYTES = 3 * FUNCTION_NAME_MOST + 3 };

/* The key of a function in the map. -1: one of its names is too long. */
int function_key(char key[FUNCTION_KEY_BYTES], const char *domain, const char *name,
		 const char *overload);
int onnx_finish(struct finish *f, struct graph *g, struct err *e);

#endif
