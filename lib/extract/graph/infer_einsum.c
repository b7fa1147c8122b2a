/* Einsum: products that are written as an equation. */
#include <ctype.h>
#include <string.h>

#include "lib/extract/graph/infer.h"

/* Sizes of the letters of one operand, "bij". -1: they do not fit. */
static int letters(struct einsum *s, const char *p, size_t len, const struct shape *shape)
{
	if (shape->rank != (int)len)
		return -1;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)p[i];
		int64_t d = shape->dim[i];

		if (c >= sizeof s->used || d < 0)
			return -1;
		if (s->used[c] && s->size[c] != d && s->size[c] != 1 && d != 1)
			return -1;
		if (!s->used[c] || d > s->size[c])
			s->size[c] = d;
		s->used[c] = 1;
	}
	return 0;
}

enum { EQUATION_MAX = 256, ELLIPSIS = GRAPH_MAX_RANK };

/* The equation without blanks; an ellipsis becomes letters 1 to 12, the last of which is 1, as many
 * as the operand has dimensions there; without "->" the letters that occur once are put out, in
 * alphabetical order. -1: there is no sense in it. */
static int write_out(const struct graph *g, const struct graph_node *n, char *to)
{
	const char *text = node_str(n, "equation", "");
	int operand = 0, most = 0, times[128] = {0}, arrow = 0;
	size_t len = 0;

	for (; *text; text++) {
		const struct value *v = node_in(g, n, operand);
		size_t letters = 0;

		if (len + ELLIPSIS + 2 > EQUATION_MAX || (*text & 0x80) || *text < ' ')
			return -1;
		if (*text == '.') {
			if (strncmp(text, "...", 3) != 0)
				return -1;
			text += 2;
			for (const char *c = text + 1; *c && *c != ',' && *c != '-'; c++)
				letters += *c != ' ';
			for (size_t i = len; i-- > 0 && to[i] != ',';)
				letters++;
			if (!arrow && (!v || v->shape.rank < (int)letters))
				return -1;
			for (int i = arrow ? most : v->shape.rank - (int)letters; i > 0; i--) {
				most = i > most ? i : most;
				to[len++] = (char)i;
			}
			continue;
		}
		if (*text == ',')
			operand++;
		arrow |= *text == '>';
		if (isalpha((unsigned char)*text))
			times[(unsigned char)*text]++;
		if (*text != ' ')
			to[len++] = *text;
	}
	if (!arrow) {
		if (len + 2 + (size_t)most + 128 > EQUATION_MAX)
			return -1;
		to[len++] = '-';
		to[len++] = '>';
		for (int i = most; i > 0; i--)
			to[len++] = (char)i;
		for (int c = 'A'; c <= 'z'; c++)
			if (times[c] == 1)
				to[len++] = (char)c;
	}
	to[len] = 0;
	return 0;
}

int einsum_resolve(const struct graph *g, const struct graph_node *n, struct einsum *s)
{
	char *eq = s->equation;
	const char *p = eq, *arrow;

	*s = (struct einsum){0};
	if (write_out(g, n, eq))
		return -1;
	arrow = strstr(eq, "->");
	if (!arrow || strlen(arrow + 2) > GRAPH_MAX_RANK)
		return -1;
	for (int i = 0; i < n->nin; i++) {
		const struct value *v = node_in(g, n, i);
		size_t k = strcspn(p, ",-");

		if (!v || letters(s, p, k, &v->shape))
			return -1;
		p += k + (p[k] == ',');
	}
	if (p != arrow)
		return -1;
	for (size_t i = 0; arrow[2 + i]; i++) {
		unsigned char c = (unsigned char)arrow[2 + i];

		if (c >= sizeof s->used || !s->used[c])
			return -1;
		s->out[i] = (char)c;
	}
	return 0;
}

INFER(einsum)
{
	struct shape s = {0};
	struct einsum sum;

	if (!node_str(n, "equation", NULL))
		return infer_bad(x, n, e, "has no equation");
	if (einsum_resolve(x->g, n, &sum))
		return 0;
	for (; sum.out[s.rank]; s.rank++)
		s.dim[s.rank] = sum.size[(unsigned char)sum.out[s.rank]];
	return infer_set(x, n, 0, &s, e);
}
