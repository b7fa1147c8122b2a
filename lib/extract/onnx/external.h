/* Elements of ONNX tensors that are in a file beside the model (data_location EXTERNAL). */
#ifndef TL_EXTRACT_ONNX_EXTERNAL_H
#define TL_EXTRACT_ONNX_EXTERNAL_H

#include "lib/extract/onnx/parse.h"

struct external {
	const char *location;	/* NULL: not given */
	int64_t offset, length; /* bytes; length -1: to the end of the tensor */
};

/* An entry (StringStringEntryProto) of external_data, into a struct external. */
int external_parse(struct wire *w, const struct wire_field *f, void *external, struct err *e);
/* All elements of v, whose shape and type are set, into value.data. The location is relative to the
 * model's folder, and stays inside it. must: it is an error if there is no such file; otherwise v
 * stays without elements then. */
int external_read(const struct external *x, const char *folder, int must, struct value *v,
		  struct err *e);

#endif
