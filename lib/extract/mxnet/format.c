/* Networks of MXNet. */
#include "lib/extract/document.h"
#include "lib/extract/extract.h"
#include "lib/extract/model.h"
#include "lib/extract/mxnet/mxnet.h"

static int claims(const char *name, const unsigned char *head, size_t n)
{
	(void)name;
	return document_begins(head, n, "\"nodes\"") && document_begins(head, n, "\"op\"") &&
	       document_begins(head, n, "\"null\"");
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct document d;
	struct graph g;
	int r;

	graph_init(&g, &a);
	r = document_read(&d, &m->bytes, e) || mxnet_read(&g, &d.json, &x->infer, e) ||
			    model_extract(x, m, &g, MXNET_OPSET, &d.hash, e)
		    ? -1
		    : 0;
	graph_free(&g);
	document_free(&d);
	arena_free(&a);
	return r;
}

const struct format format_mxnet = {
	"mxnet", "a network of MXNet", {"-symbol", ".symbol"}, claims, read, 1};
