/* What moves elements, picks some of them, or makes them of sizes. */
#include "lib/extract/tflite/rewrite.h"

enum { CONCATENATION_AXIS = 0 };
enum { PACK_AXIS = 1 };
enum { GATHER_AXIS, GATHER_BATCH };
enum { BEGIN_MASK, END_MASK, ELLIPSIS_MASK, NEW_AXIS_MASK, SHRINK_MASK, IS_OFFSET };

static int64_t option(const struct operation *o, int i, int64_t otherwise)
{
	return o->options ? flat_int(o->flat, o->options, i, otherwise) : otherwise;
}

void rewrite_concatenation(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	build_int(b, n, "axis", option(o, CONCATENATION_AXIS, 0));
}

/* Joins along a dimension that is added to each. */
void rewrite_pack(struct build *b, const struct operation *o, const char *onnx)
{
	int64_t axis = option(o, PACK_AXIS, 0);
	int *part = arena_array(b->a, int, o->nin);
	struct graph_node *n;

	(void)onnx;
	for (int i = 0; i < o->nin; i++) {
		if (o->in[i] < 0) {
			rewrite_own(b, o);
			return;
		}
		part[i] = build_part(b, o->in[i], "part");
		n = build_node(b, "Unsqueeze", &o->in[i], 1, &part[i], 1);
		build_ints(b, n, "axes", &axis, 1);
	}
	n = build_node(b, "Concat", part, o->nin, o->out, o->nout);
	build_int(b, n, "axis", axis);
}

/* Splits, and drops the dimension of 1 from each part. */
void rewrite_unpack(struct build *b, const struct operation *o, const char *onnx)
{
	int64_t axis = option(o, PACK_AXIS, 0);
	int *part = arena_array(b->a, int, o->nout);
	struct graph_node *n;

	(void)onnx;
	for (int i = 0; i < o->nout; i++) {
		part[i] = -1;
		if (o->out[i] < 0)
			continue;
		part[i] = build_part(b, o->out[i], "part");
		n = build_node(b, "Squeeze", &part[i], 1, &o->out[i], 1);
		build_ints(b, n, "axes", &axis, 1);
	}
	n = build_node(b, "Split", o->in, o->nin, part, o->nout);
	build_int(b, n, "axis", axis);
}

/* The one integer of an input. 0: it is not known. */
static int one(const struct build *b, int value, int64_t *v)
{
	int64_t count;
	const union scalar *s = build_elements(b, value, &count);

	if (!s || count != 1)
		return 0;
	*v = s->i;
	return 1;
}

void rewrite_split(struct build *b, const struct operation *o, const char *onnx)
{
	int data = rewrite_in(o, 1);
	int64_t axis;

	if (!one(b, rewrite_in(o, 0), &axis))
		rewrite_own(b, o);
	else
		build_int(b, build_node(b, onnx, &data, 1, o->out, o->nout), "axis", axis);
}

/* A size of -1 is what the others leave, which ONNX does not have. */
void rewrite_split_v(struct build *b, const struct operation *o, const char *onnx)
{
	int64_t axis, count = 0;
	const union scalar *size = build_elements(b, rewrite_in(o, 1), &count);
	struct graph_node *n;

	if (!one(b, rewrite_in(o, 2), &axis))
		size = NULL;
	for (int64_t i = 0; size && i < count; i++)
		if (size[i].i < 0)
			size = NULL;
	if (!size || count != o->nout) {
		rewrite_own(b, o);
		return;
	}
	n = build_node(b, onnx, o->in, 2, o->out, o->nout);
	build_int(b, n, "axis", axis);
}

/* The list that begins the options. Returns how many there are; -1: more than a tensor can have
 * dimensions. */
static int list(const struct operation *o, int64_t v[GRAPH_MAX_RANK])
{
	struct flat_list l = flat_list(o->flat, o->options, 0, 4);

	if (l.n > GRAPH_MAX_RANK)
		return -1;
	for (uint32_t i = 0; i < l.n; i++)
		v[i] = flat_list_int(o->flat, &l, i);
	return (int)l.n;
}

/* The new shape is an input, or else an option. */
void rewrite_reshape(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);
	int64_t shape[GRAPH_MAX_RANK];
	int count;

	build_int(b, n, "allowzero", 1);
	if (rewrite_in(o, 1) >= 0 || !o->options)
		return;
	count = list(o, shape);
	if (count < 0)
		n->domain = TFLITE_DOMAIN;
	else
		build_ints(b, n, "shape", shape, count);
}

void rewrite_squeeze(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);
	int64_t axes[GRAPH_MAX_RANK];
	int count = o->options ? list(o, axes) : 0;

	if (count < 0)
		n->domain = TFLITE_DOMAIN;
	else if (count)
		build_ints(b, n, "axes", axes, count);
}

/* begin and size; a size of -1 goes to the end. */
void rewrite_slice(struct build *b, const struct operation *o, const char *onnx)
{
	int64_t nbegin, nsize, start[GRAPH_MAX_RANK], end[GRAPH_MAX_RANK];
	const union scalar *begin = build_elements(b, rewrite_in(o, 1), &nbegin);
	const union scalar *size = build_elements(b, rewrite_in(o, 2), &nsize);
	struct graph_node *n;

	if (!begin || !size || nbegin != nsize || nbegin > GRAPH_MAX_RANK) {
		rewrite_own(b, o);
		return;
	}
	for (int64_t i = 0; i < nbegin; i++) {
		start[i] = begin[i].i;
		end[i] = INT64_MAX;
		if (size[i].i >= 0 && __builtin_add_overflow(start[i], size[i].i, &end[i]))
			end[i] = INT64_MAX;
	}
	n = build_node(b, onnx, o->in, 1, o->out, o->nout);
	build_ints(b, n, "starts", start, (int)nbegin);
	build_ints(b, n, "ends", end, (int)nbegin);
}

/* What the masks of a STRIDED_SLICE make of its three lists. */
struct strided {
	int64_t start[GRAPH_MAX_RANK], end[GRAPH_MAX_RANK], step[GRAPH_MAX_RANK];
	int64_t axis[GRAPH_MAX_RANK], drop[GRAPH_MAX_RANK];
	int n, ndrop;
};

static int has(const struct operation *o, int mask, int i)
{
	return (int)(option(o, mask, 0) >> i & 1);
}

/* -1: the lists are not known, or ask for what ONNX does not have. */
static int read_strided(struct build *b, const struct operation *o, struct strided *s)
{
	int64_t count, ends, steps;
	const union scalar *begin = build_elements(b, rewrite_in(o, 1), &count);
	const union scalar *end = build_elements(b, rewrite_in(o, 2), &ends);
	const union scalar *step = build_elements(b, rewrite_in(o, 3), &steps);
	int rank = build_shape(b, rewrite_in(o, 0))->rank, axis = 0;

	*s = (struct strided){0};
	if (!begin || !end || !step || count != ends || count != steps || count > GRAPH_MAX_RANK ||
	    option(o, NEW_AXIS_MASK, 0) ||
	    (o->options && flat_ubyte(o->flat, o->options, IS_OFFSET, 0)))
		return -1;
	for (int i = 0; i < (int)count; i++, axis++) {
		int backward = step[i].i < 0, k = s->n;

		if (has(o, ELLIPSIS_MASK, i)) {
			if (rank < 0)
				return -1;
			axis = rank - (int)count + i;
			continue;
		}
		s->axis[k] = axis;
		s->step[k] = step[i].i;
		s->start[k] = begin[i].i;
		s->end[k] = end[i].i;
		if (has(o, SHRINK_MASK, i)) {
			s->step[k] = 1;
			s->end[k] = s->start[k] == -1 || s->start[k] == INT64_MAX ? INT64_MAX
										  : s->start[k] + 1;
			s->drop[s->ndrop++] = axis;
		} else {
			if (has(o, BEGIN_MASK, i))
				s->start[k] = backward ? INT64_MAX : 0;
			if (has(o, END_MASK, i))
				s->end[k] = backward ? -INT64_MAX : INT64_MAX;
		}
		s->n++;
	}
	return 0;
}

void rewrite_strided_slice(struct build *b, const struct operation *o, const char *onnx)
{
	int out = rewrite_out(o, 0), to = out;
	struct graph_node *n;
	struct strided s;

	if (out < 0 || rewrite_in(o, 0) < 0 || read_strided(b, o, &s)) {
		rewrite_own(b, o);
		return;
	}
	if (s.ndrop)
		to = build_part(b, out, "slice");
	n = build_node(b, onnx, o->in, 1, &to, 1);
	build_ints(b, n, "starts", s.start, s.n);
	build_ints(b, n, "ends", s.end, s.n);
	build_ints(b, n, "axes", s.axis, s.n);
	build_ints(b, n, "steps", s.step, s.n);
	if (s.ndrop)
		build_ints(b, build_node(b, "Squeeze", &to, 1, &out, 1), "axes", s.drop, s.ndrop);
}

void rewrite_gather(struct build *b, const struct operation *o, const char *onnx)
{
	if (option(o, GATHER_BATCH, 0))
		rewrite_own(b, o);
	else
		build_int(b, build_node(b, onnx, o->in, o->nin, o->out, o->nout), "axis",
			  option(o, GATHER_AXIS, 0));
}

void rewrite_embedding(struct build *b, const struct operation *o, const char *onnx)
{
	const int in[] = {rewrite_in(o, 1), rewrite_in(o, 0)};

	build_node(b, onnx, in, 2, o->out, o->nout);
}

void rewrite_fill(struct build *b, const struct operation *o, const char *onnx)
{
	rewrite_embedding(b, o, onnx); /* the value second here, too */
}

/* The size of the list of sizes. */
void rewrite_rank(struct build *b, const struct operation *o, const char *onnx)
{
	int out = rewrite_out(o, 0), sizes;

	(void)onnx;
	if (out < 0) {
		rewrite_own(b, o);
		return;
	}
	sizes = build_part(b, out, "sizes");
	build_node(b, "Shape", o->in, o->nin, &sizes, 1);
	build_node(b, "Size", &sizes, 1, &out, 1);
}

void rewrite_one_hot(struct build *b, const struct operation *o, const char *onnx)
{
	int n = o->nin < 3 ? o->nin : 3;

	build_int(b, build_node(b, onnx, o->in, n, o->out, o->nout), "axis", option(o, 0, -1));
}
