/* TensorFlow's graphs. */
#include <string.h>

#include "lib/extract/extract.h"
#include "lib/extract/model.h"
#include "lib/extract/tensorflow/tensorflow.h"

enum { SAVED_MODEL_START = 0x08 }; /* its version; a GraphDef has no such field */

/* Beside a saved_model.pb lie fingerprint.pb and keras_metadata.pb, and beside an ONNX model its
 * inputs and outputs as .pb. */
static int claims(const char *name, const unsigned char *head, size_t n)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(slash ? slash + 1 : name, "saved_model.pb") ||
	       tensorflow_claims(head, n) != TENSORFLOW_NONE;
}

/* Where a SavedModel is a file in a folder, the variables that it leaves open are in another one.
 */
static int restore(const struct member *m, const struct message_graph *messages, struct arena *a,
		   struct err *e)
{
	const char *slash = strrchr(m->name, '/');

	if (!m->is_plain)
		return 0;
	return tensorflow_restore(messages,
				  arena_printf(a, "%.*svariables/variables.index",
					       slash ? (int)(slash + 1 - m->name) : 0, m->name),
				  a, e);
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct message_graph messages;
	struct graph g;
	struct id hash;
	int64_t loops = 0;
	int r, is_saved_model;

	graph_init(&g, &a);
	r = pull_fill(&m->bytes, e);
	is_saved_model = r > 0 && *m->bytes.at == SAVED_MODEL_START;
	r = r < 0 || message_read(&messages, &m->bytes, is_saved_model, &a, &hash, e) ||
			    (is_saved_model && restore(m, &messages, &a, e)) ||
			    tensorflow_build(&g, &messages, &loops, e) ||
			    model_extract(x, m, &g, TENSORFLOW_OPSET, &hash, e)
		    ? -1
		    : 0;
	if (!r && loops)
		extract_report(x, "%s: operators inside of its %lld loops are counted once",
			       m->label, (long long)loops);
	graph_free(&g);
	arena_free(&a);
	return r;
}

static int is_plain(const unsigned char *head, size_t n)
{
	return tensorflow_claims(head, n) != TENSORFLOW_NONE;
}

const struct format format_tensorflow = {
	"tensorflow", "a TensorFlow model", {".pb"}, claims, read, 1, is_plain};
