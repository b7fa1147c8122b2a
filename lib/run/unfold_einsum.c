#include "lib/run/unfold_einsum.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "lib/extract/graph/formula.h"
#include "lib/extract/graph/infer.h"
#include "lib/run/contract.h"
#include "lib/run/place.h"

enum { TERMS_MOST = 16, LETTERS_MOST = GRAPH_MAX_RANK };
/* A product between two others may have so many elements. */
#define PRODUCT_MOST ((int64_t)1 << 26)

/* The operands that are left, with their letters. */
struct terms {
	const struct graph_node *n;
	struct build *b; /* NULL: nothing is made; it is only asked whether it can be */
	struct einsum s;
	char name[sizeof((struct einsum *)0)->used]; /* what a letter is called in equations */
	struct term {
		char letters[LETTERS_MOST + 1];
		int value;
	} term[TERMS_MOST];
	int count;
};

/* Letters of an ellipsis get names that no other one has. */
static int name_letters(struct terms *t)
{
	static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *next = names;

	for (int c = 0; c < (int)sizeof t->name; c++) {
		t->name[c] = (char)c;
		if (!t->s.used[c] || isalpha(c))
			continue;
		while (*next && t->s.used[(unsigned char)*next])
			next++;
		if (!*next)
			return -1;
		t->name[c] = *next++;
	}
	return 0;
}

/* -1: it is no Einsum that is understood. */
static int begin(const struct graph *g, const struct graph_node *n, struct terms *t)
{
	const char *p = t->s.equation;

	if (!node_is(n, OP_Einsum) || n->nin < 2 || n->nin > TERMS_MOST ||
	    einsum_resolve(g, n, &t->s) || name_letters(t))
		return -1;
	t->n = n;
	t->count = n->nin;
	for (int i = 0; i < n->nin; i++) {
		const size_t size = strcspn(p, ",-");

		if (size > LETTERS_MOST || !shape_count(&node_in(g, n, i)->shape))
			return -1;
		memcpy(t->term[i].letters, p, size);
		t->term[i].letters[size] = 0;
		t->term[i].value = n->in[i];
		p += size + 1;
	}
	return 0;
}

/* Is a letter part of the result, or of a term that is neither a nor b? */
static int is_needed(const struct terms *t, char letter, int a, int b)
{
	if (strchr(t->s.out, letter))
		return 1;
	for (int i = 0; i < t->count; i++)
		if (i != a && i != b && strchr(t->term[i].letters, letter))
			return 1;
	return 0;
}

/* Writes the letters of terms a and b that others need, each once. Returns how many elements the
 * product of both has; -1: too many. *all: the letters that are not needed count, too. */
static int64_t join(const struct terms *t, int a, int b, char to[LETTERS_MOST + 1], int64_t *all)
{
	int64_t elements = 1;
	int n = 0;
	char seen[2 * LETTERS_MOST + 1] = "";

	*all = 1;
	for (int k = 0; k < 2; k++)
		for (const char *c = t->term[k ? b : a].letters; *c; c++) {
			const int64_t size = t->s.size[(unsigned char)*c];

			if (strchr(seen, *c))
				continue;
			seen[strlen(seen)] = *c;
			if (__builtin_mul_overflow(*all, size, all))
				return -1;
			if (!is_needed(t, *c, a, b))
				continue;
			if (n == PLACE_RANK || __builtin_mul_overflow(elements, size, &elements))
				return -1;
			to[n++] = *c;
		}
	to[n] = 0;
	return elements > PRODUCT_MOST ? -1 : elements;
}

/* Appends letters by their names. */
static void append(const struct terms *t, char *to, const char *letters)
{
	to += strlen(to);
	while (*letters)
		*to++ = t->name[(unsigned char)*letters++];
	*to = 0;
}

/* Says the equation of the node that was added last. second: NULL: it has one operand. */
static void say(const struct terms *t, const char *first, const char *second, const char *out)
{
	char text[4 * (LETTERS_MOST + 1)] = "";

	append(t, text, first);
	if (second) {
		text[strlen(text)] = ',';
		append(t, text, second);
	}
	memcpy(text + strlen(text), "->", sizeof "->");
	append(t, text, out);
	build_str(t->b, build_last(t->b), "equation", arena_printf(t->b->a, "%s", text));
}

static int repeats(const char *letters)
{
	for (; *letters; letters++)
		if (strchr(letters + 1, *letters))
			return 1;
	return 0;
}

/* Adds a sum over the dimensions whose letters are not in `to`. */
static void add_sum(const struct terms *t, struct term *x, const char *to)
{
	int64_t axes[LETTERS_MOST];
	int n = 0;

	for (int i = 0; x->letters[i]; i++)
		if (!strchr(to, x->letters[i]))
			axes[n++] = i;
	x->value = formula_of_node(t->b, t->n, "sum = ReduceSum(@%d) keepdims=0", x->value);
	build_ints(t->b, build_last(t->b), "axes", axes, n);
}

/* Leaves a term only the letters that others need. Returns whether it had more; -1: there would be
 * too many. */
static int simplify(struct terms *t, int i)
{
	struct term *x = &t->term[i];
	char to[LETTERS_MOST + 1];
	int64_t all;

	if (join(t, i, i, to, &all) < 0)
		return -1;
	if (!strcmp(to, x->letters))
		return 0;
	if (t->b && !repeats(x->letters)) {
		add_sum(t, x, to);
	} else if (t->b) {
		x->value = formula_of_node(t->b, t->n, "diagonal = Einsum(@%d)", x->value);
		say(t, x->letters, NULL, to);
	}
	memcpy(x->letters, to, sizeof to);
	return 1;
}

/* Finds the pair whose product is smallest, and of these the one that computes least. -1: there is
 * none. */
static int find_pair(const struct terms *t, int pair[2])
{
	int64_t least = -1, work = -1;

	for (int a = 0; a < t->count; a++)
		for (int b = a + 1; b < t->count; b++) {
			char to[LETTERS_MOST + 1];
			int64_t all;
			const int64_t elements = join(t, a, b, to, &all);

			if (elements < 0 || (least >= 0 && elements > least) ||
			    (elements == least && all >= work))
				continue;
			least = elements;
			work = all;
			pair[0] = a;
			pair[1] = b;
		}
	return least < 0 ? -1 : 0;
}

/* Puts the product of a pair in the place of its first term. -1: there is none. */
static int multiply(struct terms *t)
{
	char to[LETTERS_MOST + 1];
	int pair[2];
	int64_t all;
	struct term *a, *b;

	if (find_pair(t, pair))
		return -1;
	a = &t->term[pair[0]];
	b = &t->term[pair[1]];
	join(t, pair[0], pair[1], to, &all);
	if (t->b) {
		a->value = formula_of_node(t->b, t->n, "product = Einsum(@%d @%d)", a->value,
					   b->value);
		say(t, a->letters, b->letters, to);
	}
	memcpy(a->letters, to, sizeof to);
	*b = t->term[--t->count];
	return 0;
}

/* Reduces the terms to two. Returns whether that changes anything; -1: it cannot be done. */
static int reduce(struct terms *t)
{
	int changes = 0;

	for (int i = 0; i < t->count; i++) {
		const int r = simplify(t, i);

		if (r < 0)
			return -1;
		changes |= r;
	}
	for (; t->count > 2; changes = 1)
		if (multiply(t))
			return -1;
	return changes;
}

/* Is it of integers that are summed exactly in one step (contract.h)? Steps between would have to
 * hold sums that the result does not have. */
static int is_exact(const struct graph *g, const struct graph_node *n)
{
	return n->nin > 0 && n->nin <= CONTRACT_SIDES && node_in(g, n, 0) &&
	       elem_is_int(node_in(g, n, 0)->elem);
}

int unfold_has_einsum(const struct graph *g, const struct graph_node *n)
{
	struct terms t = {0};

	return !is_exact(g, n) && !begin(g, n, &t) && reduce(&t) > 0;
}

void unfold_einsum(struct build *b, const struct graph_node *n)
{
	struct terms t = {0};
	int rc = begin(b->g, n, &t);

	t.b = b;
	rc = rc ? rc : reduce(&t);
	assert(rc > 0);
	(void)rc;
	formula_of_node(b, n, "$0 = Einsum(@%d @%d)", t.term[0].value, t.term[1].value);
	build_last(b)->name = n->name;
	say(&t, t.term[0].letters, t.term[1].letters, t.s.out);
}
