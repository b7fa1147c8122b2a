/* Models: what all formats of models have in common, once their graph has been read. Shapes are
 * inferred, the operators found and fused; workloads go to the result, and what is left out is
 * said.
 */
#ifndef TL_EXTRACT_MODEL_H
#define TL_EXTRACT_MODEL_H

#include "lib/extract/read/document.h"
#include "lib/extract/extract.h"
#include "lib/extract/graph/graph.h"

/* The graph is linked; opset: whose rules hold for it. The hash stands for the model in sources. */
int model_extract(struct extract *x, const struct member *m, struct graph *g, int64_t opset,
		  const struct id *hash, struct err *e);

/* Makes the graph of a document, and links it. */
typedef int model_reader(struct graph *g, const struct json_doc *d, const struct infer_options *o,
			 struct err *e);
/* The same for a format whose models are a document, which has been read. */
int model_extract_document(struct extract *x, const struct member *m, const struct document *d,
			   int64_t opset, model_reader *read, struct err *e);

#endif
