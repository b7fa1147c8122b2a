/* Keras models. The archive around a .keras file is a zip file, of which config.json is this. */
#include "lib/extract/document.h"
#include "lib/extract/extract.h"
#include "lib/extract/keras/keras.h"
#include "lib/extract/model.h"

static int claims(const char *name, const unsigned char *head, size_t n)
{
	(void)name;
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
	int r;

	graph_init(&g, &a);
	r = document_read(&d, &m->bytes, e) || keras_read(&g, &d.json, e) ||
			    model_extract(x, m, &g, KERAS_OPSET, &d.hash, e)
		    ? -1
		    : 0;
	graph_free(&g);
	document_free(&d);
	arena_free(&a);
	return r;
}

const struct format format_keras = {"keras", {NULL}, claims, read};
