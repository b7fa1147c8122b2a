/* ONNX models. */
#include <string.h>

#include "lib/extract/extract.h"
#include "lib/extract/model.h"
#include "lib/extract/onnx/onnx.h"

/* A model of classical machine learning: the first of its operators that is none of tensors; NULL
 * if it has none, or if it multiplies matrices beside. */
static const char *classical(const struct graph *g)
{
	const char *first = NULL;

	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[i];

		if (!strcmp(n->domain, "ai.onnx.ml"))
			first = first ? first : n->type;
		else if (strstr(n->type, "Conv") || strstr(n->type, "MatMul") ||
			 strstr(n->type, "Gemm"))
			return NULL;
	}
	return first;
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct onnx_model model;
	int r = onnx_read(&model, &m->bytes, &a, e);
	const char *type = r ? NULL : classical(&model.graph);

	if (type)
		r = err_set(e,
			    "it is a model of classical machine learning (%s of ai.onnx.ml), which "
			    "has no convolutions or matrix products to tune",
			    type);
	if (!r)
		r = model_extract(x, m, &model.graph, model.opset, &model.hash, e);
	onnx_free(&model);
	arena_free(&a);
	return r;
}

const struct format format_onnx = {"onnx", "an ONNX model",	   {".onnx"}, NULL,
				   read,   .is_plain = onnx_claims};
