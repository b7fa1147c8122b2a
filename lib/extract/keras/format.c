/* Keras models. The archive around a .keras file is a zip file, of which config.json is this; older
 * files are HDF5. */
#include "lib/extract/extract.h"
#include "lib/extract/read/hdf5.h"
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
	struct document d;
	int r = pull_fill(&m->bytes, e);

	if (r < 0)
		return -1;
	if (r > 0 && *m->bytes.at == HDF5_START)
		r = hdf5_read(&d, m, e);
	else
		r = document_read(&d, &m->bytes, e);
	if (!r)
		r = model_extract_document(x, m, &d, KERAS_OPSET, keras_read, e);
	document_free(&d);
	return r;
}

const struct format format_keras = {
	"keras",    "a Keras model, in JSON or HDF5", {".keras", ".h5", ".hdf5"}, claims, read, 1,
	hdf5_claims};
