/* TFLite models. */
#include "lib/extract/extract.h"
#include "lib/extract/model.h"
#include "lib/extract/tflite/tflite.h"

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct tflite_model model;
	int r = tflite_read(&model, &m->bytes, &a, e);

	if (!r)
		r = model_extract(x, m, &model.graph, TFLITE_OPSET, &model.hash, e);
	if (!r && model.read < model.graphs)
		extract_report(x, "%s: of its %lld graphs the first was read%s", m->label,
			       (long long)model.graphs,
			       model.read > 1 ? ", with those of its loops" : "");
	tflite_free(&model);
	arena_free(&a);
	return r;
}

const struct format format_tflite = {"tflite", "a TFLite model",	 {".tflite"}, NULL,
				     read,     .is_plain = tflite_claims};
