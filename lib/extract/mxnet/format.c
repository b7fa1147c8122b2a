/* Networks of MXNet. */
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
	struct document d;
	int r = document_read(&d, &m->bytes, e);

	if (!r)
		r = model_extract_document(x, m, &d, MXNET_OPSET, mxnet_read, e);
	document_free(&d);
	return r;
}

const struct format format_mxnet = {
	"mxnet", "a network of MXNet", {"-symbol", ".symbol"}, claims, read, 1};
