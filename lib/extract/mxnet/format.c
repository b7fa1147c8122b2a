/* Networks of MXNet. Their parameters, in a file NAME-0000.params, are not read. */
#include "lib/extract/extract.h"
#include "lib/extract/model.h"
#include "lib/extract/mxnet/mxnet.h"

/* Nodes without inputs, which are variables, come first. */
static int claims(const char *name, const unsigned char *head, size_t n)
{
	(void)name;
	return document_begins(head, n, "\"nodes\"") && document_begins(head, n, "\"op\"") &&
	       document_begins(head, n, "\"null\"");
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct document d;
	int r = document_read(&d, &m->bytes, e);

	if (!r)
		r = model_extract_document(x, m, &d, MXNET_OPSET, mxnet_read, e);
	document_free(&d);
	return r;
}

const struct format format_mxnet = {"mxnet", "an MXNet symbol", {"-symbol"}, claims, read,
				    1}; /* NAME-symbol.json */
