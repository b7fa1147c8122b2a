/* Programs of torch.export. The archive around them is a zip file, of which one member is this. */
#include "lib/extract/extract.h"
#include "lib/extract/model.h"
#include "lib/extract/torch/torch.h"

static int claims(const char *name, const unsigned char *head, size_t n)
{
	return (extract_name_ends(name, "/models/model.json") ||
		extract_name_ends(name, "serialized_exported_program.json")) &&
	       document_begins(head, n, "\"graph_module\"");
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct document d;
	int r = document_read(&d, &m->bytes, e);

	if (!r)
		r = model_extract_document(x, m, &d, TORCH_OPSET, torch_read, e);
	document_free(&d);
	return r;
}

const struct format format_torch = {"torch", "a program of torch.export", {".pt2"}, claims, read,
				    1};
