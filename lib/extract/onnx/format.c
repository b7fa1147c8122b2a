/* ONNX models. */
#include "lib/extract/extract.h"
#include "lib/extract/model.h"
#include "lib/extract/onnx/onnx.h"

static int claims(const char *name, const unsigned char *head, size_t n)
{
	(void)name;
	return onnx_claims(head, n);
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct onnx_model model;
	int r = onnx_read(&model, &m->bytes, &a, e);

	if (!r)
		r = model_extract(x, m, &model.graph, model.opset, &model.hash, e);
	onnx_free(&model);
	arena_free(&a);
	return r;
}

const struct format format_onnx = {"onnx", {".onnx"}, claims, read};
