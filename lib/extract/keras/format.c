/* Keras models. The archive around a .keras file is a zip file, of which config.json is this; older
 * files are HDF5. */
#include "lib/extract/document.h"
#include "lib/extract/extract.h"
#include "lib/extract/keras/hdf5.h"
#include "lib/extract/keras/keras.h"
#include "lib/extract/model.h"

enum { HDF5_START = 0x89 };

static int claims(const char *name, const unsigned char *head, size_t n)
{
	if (hdf5_claims(head, n)) /* of an archive of Keras 3 they are the weights alone */
		return !extract_name_ends(name, ".weights.h5");
	return document_begins(head, n, "\"class_name\"") &&
	       (document_begins(head, n, "\"Functional\"") ||
		document_begins(head, n, "\"Sequential\"") ||
		document_begins(head, n, "\"Model\"") || document_begins(head, n, "\"keras"));
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct document d;
	struct graph g;
	int r = pull_fill(&m->bytes, e);

	graph_init(&g, &a);
	if (r > 0 && *m->bytes.at == HDF5_START)
		r = hdf5_read(&d, m, e);
	else
		r = document_read(&d, &m->bytes, e);
	r = r || keras_read(&g, &d.json, e) || model_extract(x, m, &g, KERAS_OPSET, &d.hash, e) ? -1
												: 0;
	graph_free(&g);
	document_free(&d);
	arena_free(&a);
	return r;
}

const struct format format_keras = {
	"keras", "a Keras model, in JSON or HDF5", {".keras", ".h5", ".hdf5"}, claims, read, 1};
