/* Tasks of TVM: what an operator is called, and with which arguments. */
#ifndef TL_EXTRACT_LIST_TVM_H
#define TL_EXTRACT_LIST_TVM_H

#include "lib/extract/list/listing.h"
#include "lib/io/json.h"

/* Takes or leaves an operator of AutoTVM, once in a listing however often it stands there. name:
 * "conv2d_NCHWc.x86"; args: the array [["TENSOR", [1, 3, 224, 224], "float32"], ...]. */
void tvm_task(struct listing *l, const struct json_doc *d, const char *name,
	      const struct json *args);

#endif
