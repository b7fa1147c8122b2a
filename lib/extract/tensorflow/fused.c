/* Operators that TensorFlow's optimizer joined: a convolution or a product, and in fused_ops what
 * comes behind it. They are taken apart again, so that fusing sees what it knows.
 */
#include <string.h>

#include "lib/extract/tensorflow/convert.h"

enum {
	OPERANDS = 2,	   /* of the first operator */
	MOST_OPERANDS = 5, /* of one behind it: a normalization */
};

/* How many inputs of the joined operator go to this one, besides what comes before it. */
static int operands(const char *type)
{
	static const struct {
		const char *type;
		int count;
	} rows[] = {{"BiasAdd", 1}, {"Add", 1}, {"FusedBatchNorm", 4}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].type, type))
			return rows[i].count;
	return 0;
}

/* One of them. All have the attributes of the whole, so a joined operator among them would hold
 * itself; TensorFlow makes none. */
static void put(const struct tensorflow_node *whole, const char *type, int *in, int nin, int out)
{
	struct message_node m = *whole->m;
	struct tensorflow_node n = {
		.b = whole->b, .m = &m, .in = in, .nin = nin, .out = &out, .nout = 1};

	m.type = type;
	if (!strncmp(type, "_Fused", strlen("_Fused")))
		convert_own(&n);
	else
		tensorflow_operator(&n);
}

void tensorflow_fused(const struct tensorflow_node *n, const char *first)
{
	const struct message_attr *list = message_attr(n->m, "fused_ops");
	const int count = list ? list->ntexts : 0;
	int *pair = arena_array(n->b->a, int, OPERANDS), used = OPERANDS, value;

	for (int i = 0; i < OPERANDS; i++)
		pair[i] = i < n->nin ? n->in[i] : -1;
	value = count ? build_between(n->b, n->out[0]) : n->out[0];
	put(n, first, pair, n->nin < OPERANDS ? n->nin : OPERANDS, value);
	for (int i = 0; i < count; i++) {
		int *in = arena_array(n->b->a, int, MOST_OPERANDS), nin = 1;

		in[0] = value;
		for (int k = operands(list->texts[i]); k && used < n->nin; k--)
			in[nin++] = n->in[used++];
		value = i + 1 < count ? build_between(n->b, n->out[0]) : n->out[0];
		put(n, list->texts[i], in, nin, value);
	}
}
