#include "lib/extract/call/compose.h"

int compose_integer(const struct build *b, int value, int64_t *v)
{
	int64_t count;
	const union scalar *s = build_elements(b, value, &count);

	if (!s || count != 1)
		return 0;
	*v = s->i;
	return 1;
}

/* ---- joining and splitting ---- */

int compose_pack(struct build *b, const int *in, int n, int out, int64_t axis)
{
	int *part = arena_array(b->a, int, n);

	for (int i = 0; i < n; i++)
		if (in[i] < 0)
			return -1;
	for (int i = 0; i < n; i++) {
		part[i] = build_part(b, in[i], "part");
		build_ints(b, build_node(b, "Unsqueeze", &in[i], 1, &part[i], 1), "axes", &axis, 1);
	}
	build_int(b, build_node(b, "Concat", part, n, &out, 1), "axis", axis);
	return 0;
}

/* Parts that nothing reads take no memory: their number is an attribute, as in ONNX since 18. */
static void split(struct build *b, const int *in, int nin, int64_t parts, const int *out, int n,
		  int64_t axis)
{
	struct graph_node *node = build_node(b, "Split", in, nin, out, n);

	build_int(b, node, "axis", axis);
	if (parts > n)
		build_int(b, node, "num_outputs", parts);
}

void compose_unpack(struct build *b, int in, int64_t parts, const int *out, int n, int64_t axis)
{
	int *part = arena_array(b->a, int, n);

	for (int i = 0; i < n; i++) {
		part[i] = -1;
		if (out[i] < 0)
			continue;
		part[i] = build_part(b, out[i], "part");
		build_ints(b, build_node(b, "Squeeze", &part[i], 1, &out[i], 1), "axes", &axis, 1);
	}
	split(b, &in, 1, parts, part, n, axis);
}

/* A size of -1 is what the others leave, which ONNX does not have. */
int compose_split(struct build *b, int data, int axis, int size, int64_t parts, const int *out,
		  int n)
{
	const int in[] = {data, size};
	int64_t dim, count = parts;
	const union scalar *s = build_elements(b, size, &count);

	if (!compose_integer(b, axis, &dim) || (size >= 0 && !s) || count != parts)
		return -1;
	for (int64_t i = 0; s && i < count; i++)
		if (s[i].i < 0)
			return -1;
	split(b, in, size < 0 ? 1 : 2, parts, out, n, dim);
	return 0;
}

/* ---- parts ---- */

/* What the masks make of the three lists. */
struct strided {
	int64_t start[GRAPH_MAX_RANK], end[GRAPH_MAX_RANK], step[GRAPH_MAX_RANK];
	int64_t axis[GRAPH_MAX_RANK], drop[GRAPH_MAX_RANK], add[GRAPH_MAX_RANK];
	int n, ndrop, nadd;
};

static int has(int64_t mask, int64_t i)
{
	return (int)(mask >> i & 1);
}

/* Entry i of the lists, which is about this axis. */
static void add_entry(struct strided *s, const struct compose_masks *m, int64_t i, int axis,
		      const int64_t entry[3])
{
	const int backward = entry[2] < 0, k = s->n++;

	s->axis[k] = axis;
	s->start[k] = entry[0];
	s->end[k] = entry[1];
	s->step[k] = entry[2];
	if (has(m->shrink, i)) {
		s->step[k] = 1;
		s->end[k] = entry[0] == -1 || entry[0] == INT64_MAX ? INT64_MAX : entry[0] + 1;
		s->drop[s->ndrop++] = axis;
		return;
	}
	if (has(m->begin, i))
		s->start[k] = backward ? INT64_MAX : 0;
	if (has(m->end, i))
		s->end[k] = backward ? -INT64_MAX : INT64_MAX;
}

/* Counts how many of the entries from i on are about dimensions of the input, and how many
 * dimensions of the output they leave. */
static void count_entries(const struct compose_masks *m, int64_t i, int64_t count, int *in,
			  int *out)
{
	*in = *out = 0;
	for (; i < count; i++) {
		*in += !has(m->new_axis, i);
		*out += has(m->new_axis, i) || !has(m->shrink, i);
	}
}

/* -1: the lists are not known. Behind an ellipsis, dimensions count from the last one. */
static int read_strided(struct build *b, const int list[3], const struct compose_masks *m,
			struct strided *s)
{
	const union scalar *v[3];
	int64_t count = 0, n;
	int axis = 0, place = 0, later;

	*s = (struct strided){.n = 0};
	for (int i = 0; i < 3; i++) {
		v[i] = build_elements(b, list[i], &n);
		if (!v[i] || n > GRAPH_MAX_RANK || (i && n != count))
			return -1;
		count = n;
	}
	for (int64_t i = 0; i < count; i++) {
		const int64_t entry[] = {v[0][i].i, v[1][i].i, v[2][i].i};

		if (has(m->ellipsis, i)) {
			count_entries(m, i + 1, count, &axis, &later);
			axis = -axis;
			place = -later;
		} else if (has(m->new_axis, i)) {
			s->add[s->nadd++] = place++;
		} else {
			add_entry(s, m, i, axis++, entry);
			place += !has(m->shrink, i);
		}
	}
	return 0;
}

int compose_strided_slice(struct build *b, int data, const int list[3], int out,
			  const struct compose_masks *m)
{
	struct graph_node *n;
	struct strided s;
	int at = data, to;

	if (out < 0 || data < 0 || read_strided(b, list, m, &s))
		return -1;
	to = s.ndrop || s.nadd ? build_part(b, out, "slice") : out;
	n = build_node(b, "Slice", &at, 1, &to, 1);
	build_ints(b, n, "starts", s.start, s.n);
	build_ints(b, n, "ends", s.end, s.n);
	build_ints(b, n, "axes", s.axis, s.n);
	build_ints(b, n, "steps", s.step, s.n);
	if (s.ndrop) {
		at = to;
		to = s.nadd ? build_part(b, out, "squeezed") : out;
		build_ints(b, build_node(b, "Squeeze", &at, 1, &to, 1), "axes", s.drop, s.ndrop);
	}
	if (s.nadd)
		build_ints(b, build_node(b, "Unsqueeze", &to, 1, &out, 1), "axes", s.add, s.nadd);
	return 0;
}

/* ---- products ---- */

void compose_linear(struct build *b, int x, int weights, int bias, int out, int is_transposed)
{
	const int in[] = {x, weights};
	int sum[] = {out, bias};

	if (bias >= 0 && out >= 0)
		sum[0] = build_between(b, out);
	build_int(b, build_node(b, "MatMul", in, 2, sum, 1), "transB", is_transposed);
	if (sum[0] != out)
		build_node(b, "Add", sum, 2, &out, 1);
}
