/* Parameters whose shapes a file does not tell, because they follow from the data: of Keras' layers
 * only the number of filters or units is known.
 *
 * A node says it by an attribute that ONNX does not have: "filters" of Conv and
 * ConvTranspose, "units" of MatMul, whose right side is rows x units, "units_like" with the value
 * whose last dimension is their number, "is_bias" of Add and Mul, whose right side has so many of
 * the last dimensions, "sizes" of Einsum, which are the last ones of what it makes, or 0, and
 * "hidden_size" of a recurrent network, which ONNX has, too.
 */
#include <ctype.h>
#include <string.h>

#include "lib/extract/graph/infer.h"

enum { MOST = 1 << 24 };

/* Input i, if it is a constant of unknown shape. */
static struct value *unknown(const struct infer *x, const struct graph_node *n, int i)
{
	struct value *v = i < n->nin && n->in[i] >= 0 ? x->g->value[n->in[i]] : NULL;

	return v && v->is_const && v->shape.rank < 0 ? v : NULL;
}

static int is_size(int64_t n)
{
	return n > 0 && n <= MOST;
}

/* Reals of the type of the data, if the file does not tell it. */
static void set(struct value *v, const struct value *data, int rank, const int64_t *dim)
{
	if (!v)
		return;
	v->shape.rank = rank;
	memcpy(v->shape.dim, dim, sizeof *dim * (size_t)rank);
	if (v->elem == VALUE_UNKNOWN)
		v->elem = elem_is_real(data->elem) ? data->elem : VALUE_F32;
}

static void filters(struct infer *x, const struct graph_node *n, const struct value *data)
{
	const struct attr *kernel = node_attr(n, "kernel_shape");
	const int is_transposed = node_is(n, OP_ConvTranspose), rank = data->shape.rank;
	int64_t count = node_int(n, "filters", 0), groups = node_int(n, "group", 1),
		dim[GRAPH_MAX_RANK];
	int64_t channels = rank > 2 ? data->shape.dim[node_channel(n, rank)] : -1;

	if (!kernel || kernel->nints != rank - 2 || !is_size(channels) || n->filter)
		return;
	if (!groups) /* depthwise: each channel has `count` filters */
		groups = channels;
	if (!node_int(n, "group", 1))
		count = is_size(count) ? count * channels : 0;
	if (!is_size(count) || groups < 1 || channels % groups || count % groups)
		return;
	dim[0] = is_transposed ? channels : count;
	dim[1] = is_transposed ? count / groups : channels / groups;
	memcpy(dim + 2, kernel->ints, sizeof *dim * (size_t)(rank - 2));
	set(unknown(x, n, 1), data, rank, dim);
	set(unknown(x, n, 2), data, 1, &count);
}

static void units(struct infer *x, const struct graph_node *n, const struct value *data)
{
	const int like = (int)node_int(n, "units_like", -1);
	const struct shape *other =
		like >= 0 && like < x->g->nvalue ? &x->g->value[like]->shape : NULL;
	int64_t count =
		other && other->rank > 0 ? other->dim[other->rank - 1] : node_int(n, "units", 0);
	const int64_t rows = data->shape.rank > 0 ? data->shape.dim[data->shape.rank - 1] : -1;
	const int64_t dim[] = {rows, count};

	if (is_size(count) && is_size(rows))
		set(unknown(x, n, 1), data, 2, dim);
}

static void bias(struct infer *x, const struct graph_node *n, const struct value *data)
{
	const int rank = data->shape.rank;
	const int64_t dims = node_int(n, "is_bias", 0), *last;

	if (dims < 1 || dims > rank)
		return;
	last = &data->shape.dim[rank - dims];
	for (int64_t i = 0; i < dims; i++)
		if (!is_size(last[i]))
			return;
	set(unknown(x, n, 1), data, (int)dims, last);
}

/* The size of a letter among n of an equation, which are the last dimensions. 0: not told. */
static int64_t letter(char c, const char *letters, size_t n, int rank, const int64_t *dim)
{
	const char *at = memchr(letters, c, n);
	const int64_t behind = at ? letters + n - 1 - at : rank;

	return behind < rank && !memchr(at, '.', (size_t)behind + 1) ? dim[rank - 1 - behind] : 0;
}

/* The letters of the right side have the sizes of the left side, or those of what is made. */
static void einsum(struct infer *x, const struct graph_node *n, const struct value *data)
{
	const char *left = node_str(n, "equation", ""), *right = strchr(left, ',');
	const char *arrow = right ? strstr(right, "->") : NULL;
	const struct attr *sizes = node_attr(n, "sizes");
	int64_t dim[GRAPH_MAX_RANK];
	int rank = 0;

	if (!arrow || !sizes)
		return;
	for (const char *c = right + 1; c < arrow; c++) {
		if (!isalpha((unsigned char)*c) || rank == GRAPH_MAX_RANK)
			return;
		dim[rank] =
			letter(*c, left, (size_t)(right - left), data->shape.rank, data->shape.dim);
		if (!is_size(dim[rank]))
			dim[rank] =
				letter(*c, arrow + 2, strlen(arrow + 2), sizes->nints, sizes->ints);
		if (!is_size(dim[rank++]))
			return;
	}
	set(unknown(x, n, 1), data, rank, dim);
}

static void recurrent(struct infer *x, const struct graph_node *n, const struct value *data)
{
	const int64_t hidden = node_int(n, "hidden_size", 0);
	const int64_t gates = node_is(n, OP_LSTM) ? 4 : node_is(n, OP_GRU) ? 3 : 1;
	const int64_t dirs = strcmp(node_str(n, "direction", "forward"), "bidirectional") ? 1 : 2;

	if (!is_size(hidden) || data->shape.rank != 3 || !is_size(data->shape.dim[2]))
		return;
	set(unknown(x, n, 1), data, 3, (const int64_t[]){dirs, gates * hidden, data->shape.dim[2]});
	set(unknown(x, n, 2), data, 3, (const int64_t[]){dirs, gates * hidden, hidden});
}

void infer_parameters(struct infer *x, const struct graph_node *n)
{
	const struct value *data = node_in(x->g, n, 0);

	if (!data || data->shape.rank < 0)
		return;
	if (node_is(n, OP_Conv) || node_is(n, OP_ConvTranspose))
		filters(x, n, data);
	else if (node_is(n, OP_MatMul))
		units(x, n, data);
	else if (node_is(n, OP_Add) || node_is(n, OP_Mul))
		bias(x, n, data);
	else if (node_is(n, OP_Einsum))
		einsum(x, n, data);
	else if (node_is(n, OP_LSTM) || node_is(n, OP_GRU) || node_is(n, OP_RNN))
		recurrent(x, n, data);
}
