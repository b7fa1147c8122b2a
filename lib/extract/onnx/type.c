/* TypeProto: element type and shape as a file declares them. */
#include "lib/extract/onnx/parse.h"

struct dim {
	int64_t value;
	const char *symbol;
};

/* TensorShapeProto.Dimension */
PROTO_TABLE(dim, NULL, {1, PROTO_INT, PROTO_AT(dim, value)},
	    {2, PROTO_TEXT, PROTO_AT(dim, symbol)});

static int read_dim(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct declared *d = to;
	struct dim is = {.symbol = NULL};

	if (proto_inside(w, f, &dim, &is, e))
		return -1;
	if (d->shape.rank == GRAPH_MAX_RANK)
		return err_set(e, "it declares a tensor of more than %d dimensions",
			       GRAPH_MAX_RANK);
	d->symbol[d->shape.rank] = is.symbol;
	d->shape.dim[d->shape.rank++] = is.symbol ? 0 : is.value;
	return 0;
}

static int begin_shape(struct wire *w, void *to, struct err *e)
{
	struct declared *d = to;

	(void)w;
	(void)e;
	d->shape.rank = 0;
	return 0;
}

static int element(int64_t type)
{
	return type > 0 && type < 64 ? (int)type : VALUE_UNKNOWN;
}

PROTO_TABLE(shape, begin_shape, {1, PROTO_BY, .fn = read_dim});
/* TypeProto.Tensor; sequences, maps and sparse tensors stay unknown. */
PROTO_TABLE(tensor_type, NULL, {1, PROTO_MAP, PROTO_AT(declared, elem), .map = element},
	    {2, PROTO_INSIDE, .table = &shape});
PROTO_TABLE(type, NULL, {1, PROTO_INSIDE, .table = &tensor_type});

int parse_type(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	return proto_inside(w, f, &type, to, e);
}
