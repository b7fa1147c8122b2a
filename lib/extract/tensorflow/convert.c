/* What conversions have in common: attributes and nodes. */

#include "lib/extract/tensorflow/convert.h"

int convert_in(const struct tensorflow_node *n, int i)
{
	return i < n->nin ? n->in[i] : -1;
}

int64_t convert_int(const struct tensorflow_node *n, const char *name, int64_t otherwise)
{
	const struct message_attr *a = message_attr(n->m, name);

	return a ? a->i : otherwise;
}

float convert_real(const struct tensorflow_node *n, const char *name, float otherwise)
{
	const struct message_attr *a = message_attr(n->m, name);

	return a ? a->f : otherwise;
}

const char *convert_text(const struct tensorflow_node *n, const char *name)
{
	const struct message_attr *a = message_attr(n->m, name);

	return a && a->s ? a->s : "";
}

struct graph_node *convert_node(const struct tensorflow_node *n, const char *type, const int *from,
				int count)
{
	return build_node(n->b, type, from, count, n->out, n->nout);
}

struct graph_node *convert_own(const struct tensorflow_node *n)
{
	struct graph_node *to = convert_node(n, n->m->type, n->in, n->nin);

	to->domain = TENSORFLOW_DOMAIN;
	return to;
}

void convert_same(const struct tensorflow_node *n, const char *onnx)
{
	convert_node(n, onnx, n->in, n->nin);
}

/* A node for each result, which reads the input in the same place. */
void convert_each(const struct tensorflow_node *n, const char *onnx)
{
	if (n->nout > n->nin) {
		convert_own(n);
		return;
	}
	for (int i = 0; i < n->nout; i++)
		build_node(n->b, onnx, &n->in[i], 1, &n->out[i], 1);
}

/* Converts a node of which the first input alone counts. */
void convert_first(const struct tensorflow_node *n, const char *onnx)
{
	convert_node(n, onnx, n->in, n->nin ? 1 : 0);
}

void convert_unless(int failed, const struct tensorflow_node *n)
{
	if (failed)
		convert_own(n);
}
