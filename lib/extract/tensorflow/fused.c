/* Operators that TensorFlow's optimizer joined: a convolution or a product, and in fused_ops what
 * comes behind it. They are taken apart again, so that fusing sees what it knows.
 */
#include <string.h>

#include "lib/extract/tensorflow/tensorflow.h"

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
static void put(const struct call *whole, const char *type, int *in, int nin, int out)
{
	struct call c = *whole;

	c.type = type;
	c.in = in;
	c.nin = nin;
	c.out = &out;
	c.nout = 1;
	if (!strncmp(type, "_Fused", strlen("_Fused")))
		call_own(&c);
	else
		tensorflow_operator(&c);
}

void tensorflow_fused(const struct call *c, const char *first)
{
	const struct message_attr *list = message_attr(c->at, "fused_ops");
	const int count = list ? list->ntexts : 0;
	int *pair = arena_array(c->b->a, int, OPERANDS), used = OPERANDS, value;

	for (int i = 0; i < OPERANDS; i++)
		pair[i] = i < c->nin ? c->in[i] : -1;
	value = count ? build_between(c->b, c->out[0]) : c->out[0];
	put(c, first, pair, c->nin < OPERANDS ? c->nin : OPERANDS, value);
	for (int i = 0; i < count; i++) {
		int *in = arena_array(c->b->a, int, MOST_OPERANDS), nin = 1;

		in[0] = value;
		for (int k = operands(list->texts[i]); k && used < c->nin; k--)
			in[nin++] = c->in[used++];
		value = i + 1 < count ? build_between(c->b, c->out[0]) : c->out[0];
		put(c, list->texts[i], in, nin, value);
	}
}
