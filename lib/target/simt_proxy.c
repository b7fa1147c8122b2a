#include "lib/target/simt_proxy.h"

#include "lib/nest/mma.h"

/* Is the node, or one in it, of this kind for the buffer? */
typedef int is_it(const struct nest *n, const struct node *t, int buffer);

static int any(const struct nest *n, const struct node *t, is_it *is, int buffer)
{
	for (; t; t = t->next)
		if (is(n, t, buffer) || any(n, t->body, is, buffer) ||
		    any(n, t->orelse, is, buffer))
			return 1;
	return 0;
}

static int copies(const struct nest *n, const struct node *t, int buffer)
{
	(void)buffer;
	return t->kind == NODE_COPY && !nest_is_bulk(n, t);
}

int simt_proxy_copies(const struct nest *n)
{
	return any(n, n->body, copies, 0);
}

static int writes(const struct nest *n, const struct node *t, int buffer)
{
	return (t->kind == NODE_STORE || copies(n, t, buffer)) &&
	       nest_base(n, t->buffer) == nest_base(n, buffer);
}

/* The node is a product by groups: do threads write its sides? */
static int has_written_side(const struct nest *n, const struct node *t, int buffer)
{
	(void)buffer;
	return t->kind == NODE_MMA && t->mma->group &&
	       (any(n, n->body, writes, t->mma->a.buffer) ||
		any(n, n->body, writes, t->mma->b.buffer));
}

int simt_proxy_written(const struct nest *n)
{
	return any(n, n->body, has_written_side, 0);
}

static int loads(const struct nest *n, const struct expr *x, int buffer)
{
	return x && ((x->kind == EXPR_LOAD && nest_base(n, x->buffer) == buffer) ||
		     loads(n, x->a, buffer) || loads(n, x->b, buffer) || loads(n, x->c, buffer));
}

static int reads(const struct nest *n, const struct node *t, int buffer)
{
	if (t->kind == NODE_MMA)
		return !t->mma->group && (nest_base(n, t->mma->a.buffer) == buffer ||
					  nest_base(n, t->mma->b.buffer) == buffer);
	return t->kind == NODE_STORE && loads(n, t->value, buffer);
}

int simt_proxy_read(const struct nest *n, int buffer)
{
	return any(n, n->body, reads, nest_base(n, buffer));
}
