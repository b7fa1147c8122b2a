/* Models: what all formats of models have in common, once their graph has been read. Shapes are
 * inferred, the operators found and fused; workloads go to the result, and what is left out is
 * said.
 *
 * A node says where it differs from ONNX: channels last, the order of a filter's dimensions, a
 * right side that is transposed. A reader makes several nodes of an operator where ONNX has
 * several (an activation that is an option of a convolution), so that fusing sees what it knows.
 * An operator without a counterpart keeps its name, and the shape that the file declares.
 *
 * A value's declared shape fills in what inference leaves open. A format that tells the shape of
 * every tensor marks its nodes is_told, and then no rule is asked (lib/extract/torch/, where shapes
 * are expressions of symbols and the reader gives the symbols their sizes).
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
