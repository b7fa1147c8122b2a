/* OpenVINO IR: NAME.xml, with NAME.bin beside it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/extract/read/document.h"
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

/* Opens NAME.bin, where the member is a file NAME.xml. There may be none. */
static int open_weights(struct ov_weights *w, const struct member *m, struct arena *a,
			struct err *e)
{
	*w = (struct ov_weights){.path = "", .fd = -1};
	if ((!m->alone && !m->is_plain) || !extract_name_ends(m->name, ".xml"))
		return 0;
	w->path = arena_printf(a, "%.*s.bin", (int)(strlen(m->name) - strlen(".xml")), m->name);
	w->fd = open(w->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (w->fd < 0 && errno != ENOENT)
		return err_sys(e, "cannot open %s", w->path);
	return 0;
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
	struct ov_weights weights;
	struct ir_net *net;
	struct graph g;
	struct id hash;
	int r;

	graph_init(&g, &a);
	r = open_weights(&weights, m, &a, e) || document_text(&text, &hash, &m->bytes, "XML", e) ||
			    ir_read(&net, text.s, text.n, &a, e) ||
			    openvino_read(&g, net, &weights, e) ||
			    model_extract(x, m, &g, OPENVINO_OPSET, &hash, e)
		    ? -1
		    : 0;
	if (!r && weights.fd < 0)
		tell_missing(x, m, &g);
	if (weights.fd >= 0)
		close(weights.fd);
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
