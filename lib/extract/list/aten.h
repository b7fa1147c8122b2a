/* Operators of PyTorch as its profiler tells them: a name such as aten::conv2d, and the shapes,
 * types and numbers of its arguments. */
#ifndef TL_EXTRACT_LIST_ATEN_H
#define TL_EXTRACT_LIST_ATEN_H

#include "lib/io/json.h"
#include "lib/op/op.h"

enum aten_kind {
	ATEN_OTHER,  /* multiplies nothing, or is made of others */
	ATEN_UNTOLD, /* multiplies, but what it is made of may tell more; why is set */
	ATEN_LEFT,   /* multiplies, and is no workload; why is set */
	ATEN_WORK,
};

struct aten {
	enum aten_kind kind;
	const char *why; /* in words that stay */
	int64_t macs;	 /* -1: not known */
	int n;		 /* workloads */
	struct workload w[2];
};

/* args: the object "args" of an event, or NULL. */
void aten_read(const struct json_doc *d, const char *name, const struct json *args,
	       struct aten *to);

#endif
