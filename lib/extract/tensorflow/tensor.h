/* Shapes and constants of TensorFlow's messages; shared by the files that read them. */
#ifndef TL_EXTRACT_TENSORFLOW_TENSOR_H
#define TL_EXTRACT_TENSORFLOW_TENSOR_H

#include "lib/extract/graph/graph.h"
#include "lib/extract/read/wire.h"

enum { LIST_MAX = 1 << 16 }; /* entries of a list of an attribute that are kept */

/* Whose the wire of these files is. */
struct reader {
	struct wire wire;
	int nodes;    /* so far */
	int64_t kept; /* elements of constants */
	int words;    /* the same of those that are texts */
};

/* value_elem of a DataType. */
int tensor_element(int64_t type);
/* TensorShapeProto; 0: an open dimension. */
int tensor_shape(struct wire *w, const struct wire_field *field, struct shape *s, struct err *e);
/* TensorProto into elem, shape and kept of v; a list of texts into words. */
int tensor_read(struct wire *w, const struct wire_field *field, struct value *v,
		const char ***words, int *nwords, struct err *e);

#endif
