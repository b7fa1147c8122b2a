#include "lib/extract/list/blas.h"

#include <string.h>

#include "lib/extract/list/told.h"

/* What comes behind the product. -1: something else than we have. */
static int add_posts(const struct blas_product *p, struct workload *w)
{
	static const struct {
		const char *name;
		int bias, act; /* POSTS: none */
	} known[] = {{"DEFAULT", 0, POSTS},
		     {"NONE", 0, POSTS},
		     {"BIAS", 1, POSTS},
		     {"RELU", 0, POST_RELU},
		     {"RELU_BIAS", 1, POST_RELU},
		     {"GELU", 0, POST_GELU_TANH},
		     {"GELU_BIAS", 1, POST_GELU_TANH}};
	const char *name = p->epilogue ? p->epilogue : "NONE";

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		if (known[i].bias)
			w->post[w->npost++].kind = POST_BIAS;
		if (p->is_added)
			w->post[w->npost++].kind = POST_ADD;
		if (known[i].act != POSTS)
			w->post[w->npost++].kind = (enum post)known[i].act;
		return 0;
	}
	return -1;
}

void blas_types(struct blas_product *p, int a, int b, int d)
{
	p->is_other = a < 0 || b < 0 || d < 0;
	if (!p->is_other)
		p->dtype = (struct dtypes){(enum dtype)b, (enum dtype)a, (enum dtype)d};
}

void blas_take(struct listing *l, const struct blas_product *p, int64_t count)
{
	int64_t macs = told_product_macs(p->batch, p->m, p->k, p->n), batch = p->batch, rows = p->n;
	struct err e = ERR_INIT;
	struct workload w;
	const char *why = NULL;

	if (p->is_shared && !__builtin_mul_overflow(rows, batch, &rows))
		batch = 1;
	if (p->is_other)
		why = "of other types";
	else if (told_product(batch, rows, p->k, p->m, batch == 1, &p->dtype, &w, &e))
		why = macs < 0 ? "without sizes" : e.msg;
	else if (add_posts(p, &w))
		why = "with another epilogue";
	else if (workload_finish(&w, &e))
		why = e.msg;
	if (why)
		listing_leave(l, p->name, why, count, macs);
	else
		listing_take(l, &w, "", 0, count);
}
