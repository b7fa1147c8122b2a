/* Einsum: as a product of matrices, or in plain C (contract.h). */
#include <string.h>

#include "lib/run/contract.h"
#include "lib/run/lower.h"

/* Where a letter stands in a list; -1: nowhere. */
static int position(const char *letters, size_t n, char letter)
{
	const char *at = memchr(letters, letter, n);

	return at ? (int)(at - letters) : -1;
}

/* The letters of operand i of an equation, and how many they are. */
static const char *side_of(const struct einsum *s, int i, size_t *n)
{
	const char *p = s->equation;

	for (; i > 0; i--)
		p += strcspn(p, ",-") + 1;
	*n = strcspn(p, ",-");
	return p;
}

/* The stride of a letter in an operand, the sum of those of all places where it stands. */
static int64_t stride_of(const struct place *p, const char *letters, char letter)
{
	int64_t stride = 0;

	for (int i = 0; i < p->rank; i++)
		if (letters[i] == letter && p->dim[i] != 1)
			stride += p->stride[i];
	return stride;
}

static int repeats(const char *letters, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memchr(letters + i + 1, letters[i], n - i - 1))
			return 1;
	return 0;
}

/* Letters of a kind, by where they stand: bits 1 (left), 2 (right), 4 (result). */
static size_t pick(const struct einsum *s, int kind, char *to)
{
	size_t n = 0, left_n, right_n, all = strlen(s->equation);
	const char *left = side_of(s, 0, &left_n), *right = side_of(s, 1, &right_n);

	for (size_t i = 0; i < all; i++) {
		const char c = s->equation[i];
		const int is = (position(left, left_n, c) >= 0 ? 1 : 0) |
			       (position(right, right_n, c) >= 0 ? 2 : 0) |
			       (strchr(s->out, c) ? 4 : 0);

		if (c != ',' && c != '-' && c != '>' && is == kind && position(to, n, c) < 0)
			to[n++] = c;
	}
	return n;
}

/* Operand i without gaps in the order of the letters. */
static int get_side(struct lowering *l, const struct graph_node *n, const struct einsum *s, int i,
		    const char *order, size_t count, struct place *out, struct err *e)
{
	size_t size;
	const char *letters = side_of(s, i, &size);
	struct place p, turned;

	if (lower_get(l, n->in[i], &p, e))
		return -1;
	turned = p;
	turned.rank = (int)count;
	for (size_t k = 0; k < count; k++) {
		turned.dim[k] = s->size[(unsigned char)order[k]];
		turned.stride[k] = stride_of(&p, letters, order[k]);
	}
	lower_dense(l, &turned, NULL, node_label(l->g, n), out);
	return 0;
}

int lower_einsum_sides(struct lowering *l, const struct graph_node *n, int left,
		       struct place side[2], int order[PLACE_RANK], struct err *e)
{
	char batch[128], rows[128], sum[128], columns[128], all[3 * 128];
	size_t nb, nm, nk, nn, sizes[2];
	struct einsum s;

	if (einsum_resolve(l->g, n, &s) || strlen(s.out) > PLACE_RANK)
		return lower_bad(l, n, e, "has an equation that is not understood");
	for (int i = 0; i < 2; i++) {
		const char *letters = side_of(&s, i, &sizes[i]);

		if (repeats(letters, sizes[i]) || sizes[i] > PLACE_RANK)
			return lower_bad(l, n, e, "has a diagonal in a product");
	}
	nb = pick(&s, 1 | 2 | 4, batch);
	nm = pick(&s, left ? 2 | 4 : 1 | 4, rows);
	nk = pick(&s, 1 | 2, sum);
	nn = pick(&s, left ? 1 | 4 : 2 | 4, columns);
	memcpy(all, batch, nb);
	memcpy(all + nb, rows, nm);
	memcpy(all + nb + nm, sum, nk);
	if (get_side(l, n, &s, left, all, nb + nm + nk, &side[0], e))
		return -1;
	memcpy(all + nb, sum, nk);
	memcpy(all + nb + nk, columns, nn);
	if (get_side(l, n, &s, !left, all, nb + nk + nn, &side[1], e))
		return -1;
	memcpy(all + nb, rows, nm);
	memcpy(all + nb + nm, columns, nn);
	for (size_t i = 0; i < nb + nm + nn; i++)
		order[i] = position(s.out, strlen(s.out), all[i]);
	return 0;
}

/* ---- in plain C ---- */

static int emit(struct lowering *l, const struct graph_node *n, struct contract *c,
		const struct place *side, struct err *e)
{
	struct place operand[CONTRACT_SIDES + 1];
	struct place to;

	if (lower_shape(l, n->out[0], &to, e))
		return -1;
	lower_room(l, &to);
	for (int i = 0; i < c->sides; i++)
		operand[i] = side[i];
	operand[c->sides] = to;
	lower_put(l, n->out[0], &to);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){contract_run, c, NULL},
		   operand, c->sides + 1);
	return 0;
}

/* The letters of the result come first. */
static void all_letters(const struct einsum *s, char *to)
{
	size_t n = strlen(s->out);

	memcpy(to, s->out, n);
	for (const char *c = s->equation; *c; c++)
		if (*c != ',' && *c != '-' && *c != '>' && position(to, n, *c) < 0)
			to[n++] = *c;
}

int lower_einsum(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct contract *c = arena_new(l->p->a, struct contract);
	struct place side[CONTRACT_SIDES];
	char letters[128] = {0};
	struct einsum s;
	size_t size;

	if (einsum_resolve(l->g, n, &s))
		return lower_bad(l, n, e, "has an equation that is not understood");
	all_letters(&s, letters);
	c->sides = n->nin;
	c->kept = (int)strlen(s.out);
	c->letters = (int)strlen(letters);
	if (n->nin > CONTRACT_SIDES || c->letters > CONTRACT_LETTERS)
		return lower_bad(l, n, e, "has more than %d operands or %d letters", CONTRACT_SIDES,
				 CONTRACT_LETTERS);
	for (int i = 0; i < c->sides; i++) {
		const char *of = side_of(&s, i, &size);

		if (lower_get(l, n->in[i], &side[i], e))
			return -1;
		for (int k = 0; k < c->letters; k++) {
			c->size[k] = s.size[(unsigned char)letters[k]];
			c->stride[i][k] = stride_of(&side[i], of, letters[k]);
		}
	}
	return emit(l, n, c, side, e);
}

/* A MatMul of other numbers than single-precision floats: the letters are those of the batch, the
 * row, the column and the sum. A vector lacks the row or the column. */
int lower_matmul(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct contract *c = arena_new(l->p->a, struct contract);
	struct place side[2], shape;
	int batch, is_vector[2];

	if (lower_shape(l, n->out[0], &shape, e) || lower_get(l, n->in[0], &side[0], e) ||
	    lower_get(l, n->in[1], &side[1], e))
		return -1;
	is_vector[0] = side[0].rank == 1;
	is_vector[1] = side[1].rank == 1;
	batch = shape.rank - !is_vector[0] - !is_vector[1];
	c->sides = 2;
	c->kept = shape.rank;
	c->letters = shape.rank + 1;
	for (int k = 0; k < shape.rank; k++)
		c->size[k] = shape.dim[k];
	c->size[shape.rank] = side[0].dim[side[0].rank - 1];
	for (int i = 0; i < 2; i++) {
		const struct place *p = &side[i];
		const int own = p->rank - 2; /* dimensions of its batch */

		for (int k = 0; k < batch; k++) {
			const int at = k - (batch - own);

			c->stride[i][k] = at < 0 || p->dim[at] == 1 ? 0 : p->stride[at];
		}
		c->stride[i][shape.rank] = p->stride[is_vector[i] ? 0 : i ? own : own + 1];
		if (!is_vector[i])
			c->stride[i][i ? shape.rank - 1 : batch] = p->stride[own + i];
	}
	return emit(l, n, c, side, e);
}
