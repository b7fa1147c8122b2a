/* What onnxruntime fuses in graphs that are run: nodes that say all that it computes. */
#include "lib/extract/onnx/rewrite.h"

void rewrite_gelu(struct rewrite *r)
{
	const int in = rewrite_in(r, 0);

	rewrite_node(r, "Gelu", &in, 1, rewrite_made(r, 0));
}

/* x * sigmoid(alpha * x) */
void rewrite_quick_gelu(struct rewrite *r)
{
	const int in = rewrite_in(r, 0);

	build_float(&r->b, rewrite_node(r, "Swish", &in, 1, rewrite_made(r, 0)), "alpha",
		    node_float(r->n, "alpha", 1.702F));
}

/* alpha * A B, where matrices may be transposed: letters say that of any number of batches, which
 * are not known here. Batches that are transposed with their matrices are left to the node. */
void rewrite_run_matmul(struct rewrite *r)
{
	const int a = node_int(r->n, "transA", 0) != 0, b = node_int(r->n, "transB", 0) != 0;
	const float alpha = node_float(r->n, "alpha", 1);
	const int in[] = {rewrite_in(r, 0), rewrite_in(r, 1)};
	const int out = alpha == 1 ? rewrite_made(r, 0) : rewrite_between(r, "product");
	struct graph_node *n;

	if (node_int(r->n, "transBatchA", 0) || node_int(r->n, "transBatchB", 0)) {
		rewrite_keep(r);
		return;
	}
	n = rewrite_node(r, a || b ? "Einsum" : "MatMul", in, 2, out);
	if (a || b)
		build_str(&r->b, n, "equation",
			  arena_printf(r->b.a, "...%s,...%s->...ik", a ? "ji" : "ij",
				       b ? "kj" : "jk"));
	if (alpha != 1) {
		const int scaled[] = {out, build_number(&r->b, (double)alpha)};

		rewrite_node(r, "Mul", scaled, 2, rewrite_made(r, 0));
	}
}
