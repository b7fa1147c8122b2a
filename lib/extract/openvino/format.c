/* OpenVINO IR: NAME.xml, with NAME.bin beside it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/extract/document.h"
#include "lib/extract/extract.h"
#include "lib/extract/model.h"
#include "lib/extract/openvino/openvino.h"

static int claims(const char *name, const unsigned char *head, size_t n)
{
	size_t i = n >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;

	(void)name;
	while (i < n && head[i] && strchr(" \t\r\n", head[i]))
		i++;
	return i < n && head[i] == '<' && memmem(head, n, "<net ", 5) != NULL;
}

/* Opens NAME.bin, where the member is a file NAME.xml. -1: there is none. */
static int open_weights(const struct member *m)
{
	struct buf path = BUF_INIT;
	int fd;

	if ((!m->alone && !m->is_plain) || !extract_name_ends(m->name, ".xml"))
		return -1;
	buf_add(&path, m->name, strlen(m->name) - strlen(".xml"));
	buf_str(&path, ".bin");
	fd = open(path.s, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	buf_free(&path);
	return fd;
}

/* Without NAME.bin, the values of constants are not known, and sizes may depend on them. */
static void tell_missing(struct extract *x, const struct member *m, const struct graph *g)
{
	for (int i = 0; i < g->nvalue; i++)
		if (g->value[i]->producer >= 0 && !shape_known(&g->value[i]->shape)) {
			extract_report(x,
				       "%s: values of constants, on which sizes may depend, are "
				       "in a file .bin, which is not beside it",
				       m->label);
			return;
		}
}

static int read_network(struct extract *x, struct member *m, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct buf text = BUF_INIT;
	struct ir_net *net;
	struct graph g;
	struct id hash;
	int weights = open_weights(m), r;

	graph_init(&g, &a);
	r = document_text(&text, &hash, &m->bytes, "XML", e) ||
			    ir_read(&net, text.s, text.n, &a, e) ||
			    openvino_read(&g, net, weights, e) ||
			    model_extract(x, m, &g, OPENVINO_OPSET, &hash, e)
		    ? -1
		    : 0;
	if (!r && weights < 0)
		tell_missing(x, m, &g);
	if (weights >= 0)
		close(weights);
	graph_free(&g);
	buf_free(&text);
	arena_free(&a);
	return r;
}

const struct format format_openvino = {.name = "openvino",
				       .what = "a network of OpenVINO",
				       .ending = {".xml"},
				       .claims = claims,
				       .read = read_network,
				       .by_content = 1};
