/* Operators that onnxruntime fuses become nodes that say all that it computes, in graphs that are
 * run. */
#include "lib/extract/onnx/rewrite.h"

#include <string.h>

/* x * sigmoid(alpha * x) */
void rewrite_quick_gelu(struct rewrite *r)
{
	rewrite_make(r, "$0 = Swish(0)");
	build_float(&r->b, build_last(&r->b), "alpha", node_float(r->n, "alpha", 1.702F));
}

/* Has an input one dimension, as the file says? A vector is not transposed. */
static int is_vector(const struct rewrite *r, int i)
{
	const int in = rewrite_in(r, i);

	return in >= 0 && (r->b.g->value[in]->shape.rank == 1 || build_shape(&r->b, in)->rank == 1);
}

/* The letters of a side, of which the dimensions are `first` and `last` in the product: batches may
 * stand between them in the file, instead of before. */
static const char *letters(const struct rewrite *r, const char *turns, const char *splits,
			   char first, char last)
{
	const int turned = node_int(r->n, turns, 0) != 0, split = node_int(r->n, splits, 0) != 0;

	return arena_printf(r->b.a, split ? "%c...%c" : "...%c%c", turned ? last : first,
			    turned ? first : last);
}

/* alpha * A B, where matrices may be transposed: letters say that of any number of batches, which
 * are not known here. */
void rewrite_run_matmul(struct rewrite *r)
{
	const int lacks_i = is_vector(r, 0), lacks_k = is_vector(r, 1);
	const char *a = lacks_i ? "j" : letters(r, "transA", "transBatchA", 'i', 'j');
	const char *b = lacks_k ? "j" : letters(r, "transB", "transBatchB", 'j', 'k');
	const int is_plain = (lacks_i || !strcmp(a, "...ij")) && (lacks_k || !strcmp(b, "...jk"));
	const float alpha = node_float(r->n, "alpha", 1);
	const int out = rewrite_make(r, "%s = %s(0 1)", alpha == 1 ? "$0" : "product",
				     is_plain ? "MatMul" : "Einsum");

	if (!is_plain)
		build_str(&r->b, build_last(&r->b), "equation",
			  arena_printf(r->b.a, "%s,%s->...%s%s", a, b, lacks_i ? "" : "i",
				       lacks_k ? "" : "k"));
	if (alpha != 1)
		rewrite_make(r, "$0 = Mul(@%d @%d)", out, build_number(&r->b, (double)alpha));
}
