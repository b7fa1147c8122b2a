/* TypeProto: element type and shape as a file declares them. */
#include "lib/extract/onnx/parse.h"

/* TensorShapeProto.Dimension */
static int parse_dim(struct parse *p, uint64_t end, struct declared *d, struct err *e)
{
	struct wire_field f;
	int64_t value = 0;
	const char *symbol = NULL;
	int r;

	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		if (f.number == 1)
			r = wire_int(&p->wire, &f, &value, e);
		else if (f.number == 2)
			r = parse_name(p, &f, &symbol, e);
		else
			r = wire_skip(&p->wire, &f, e);
		if (r)
			return -1;
	}
	if (d->shape.rank == GRAPH_MAX_RANK)
		return err_set(e, "it declares a tensor of more than %d dimensions",
			       GRAPH_MAX_RANK);
	d->symbol[d->shape.rank] = symbol;
	d->shape.dim[d->shape.rank++] = symbol ? 0 : value;
	return r;
}

/* Reads field 1 of a message, which is a message itself, as often as it is there. */
static int each_first(struct parse *p, uint64_t end, struct declared *d,
		      int (*read)(struct parse *p, uint64_t end, struct declared *d, struct err *e),
		      struct err *e)
{
	struct wire_field f;
	int r;

	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		if (f.number != 1)
			r = wire_skip(&p->wire, &f, e);
		else if (!(r = wire_message(&p->wire, &f, e)))
			r = read(p, f.end, d, e);
		if (r)
			return -1;
	}
	return r;
}

static int parse_shape(struct parse *p, uint64_t end, struct declared *d, struct err *e)
{
	d->shape.rank = 0;
	return each_first(p, end, d, parse_dim, e);
}

/* TypeProto.Tensor; sequences, maps and sparse tensors stay unknown. */
static int parse_tensor_type(struct parse *p, uint64_t end, struct declared *d, struct err *e)
{
	struct wire_field f;
	int r;

	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		int64_t elem;

		if (f.number == 1) {
			r = wire_int(&p->wire, &f, &elem, e);
			if (!r)
				d->elem = elem > 0 && elem < 64 ? (int)elem : VALUE_UNKNOWN;
		} else if (f.number == 2) {
			r = wire_message(&p->wire, &f, e);
			if (!r)
				r = parse_shape(p, f.end, d, e);
		} else {
			r = wire_skip(&p->wire, &f, e);
		}
		if (r)
			return -1;
	}
	return r;
}

int parse_type(struct parse *p, uint64_t end, struct declared *d, struct err *e)
{
	return each_first(p, end, d, parse_tensor_type, e);
}
