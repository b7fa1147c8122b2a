/* Activations that are written out in several nodes, where several inputs read a value: SiLU and
 * hardswish by their gates, GELU by erf or by tanh.
 *
 * A pattern is what the last node makes, as an expression of the value, x. A number is a constant
 * of one element. The order of a sum and of a product does not matter, and a product with a number
 * may be a quotient. Nothing else reads what is in between.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/graph/element.h"
#include "lib/extract/task/task.h"

enum { NODES = 10 };

#define ROOT "0.70710678118654752"  /* of 1/2 */
#define SLOPE "0.79788456080286536" /* the root of 2/pi */
#define SIXTH "0.16666666666666667"
#define ERF "Add(Erf(Mul(x " ROOT ")) 1)"
#define ERF_NEGATIVE "Sub(1 Erf(Mul(Neg(x) " ROOT ")))" /* as TensorFlow has it */
#define TANH(y) "Add(Tanh(Mul(" y " " SLOPE ")) 1)"
#define TANH_POW TANH("Add(x Mul(Pow(x 3) 0.044715))")
#define TANH_MUL TANH("Add(x Mul(Mul(x Mul(x x)) 0.044715))")
#define TANH_FAST "Add(Tanh(Mul(Mul(x " SLOPE ") Add(Mul(Mul(x 0.044715) x) 1))) 1)"

/* GELU is as operator sets before 20 have to write it; TensorFlow takes x times 1 first. */
static const struct {
	const char *text;
	enum post kind;
} patterns[] = {
	{"Mul(x Sigmoid(x))", POST_SILU},
	{"Mul(x Sigmoid(Mul(x 1)))", POST_SILU},
	{"Mul(x HardSigmoid(x))", POST_HARDSWISH},
	{"Mul(x HardSigmoid(Mul(x 1)))", POST_HARDSWISH},
	{"Mul(Mul(x Clip(Add(x 3))) " SIXTH ")", POST_HARDSWISH},
	{"Mul(x Mul(Clip(Add(x 3)) " SIXTH "))", POST_HARDSWISH},
	{"Mul(Mul(x " ERF ") 0.5)", POST_GELU},
	{"Mul(x Mul(" ERF " 0.5))", POST_GELU},
	{"Mul(Mul(x 0.5) " ERF ")", POST_GELU},
	{"Mul(Mul(x " ERF_NEGATIVE ") 0.5)", POST_GELU},
	{"Mul(x Mul(" ERF_NEGATIVE " 0.5))", POST_GELU},
	{"Mul(Mul(x 0.5) " ERF_NEGATIVE ")", POST_GELU},
	{"Mul(Mul(x 0.5) " TANH_POW ")", POST_GELU_TANH},
	{"Mul(Mul(x " TANH_POW ") 0.5)", POST_GELU_TANH},
	{"Mul(Mul(x 0.5) " TANH_MUL ")", POST_GELU_TANH},
	{"Mul(Mul(x " TANH_MUL ") 0.5)", POST_GELU_TANH},
	{"Mul(Mul(x 0.5) " TANH_FAST ")", POST_GELU_TANH},
};

struct match {
	const struct graph *g;
	int x;
	int node[NODES], n; /* so far, the last of them first */
};

/* Is it the number that a program writes for this one? Halves and whole numbers are exact. Others
 * are as near as single precision, or what half precision or bf16 makes of them. */
static int is_written(double is, double want)
{
	const union scalar exact = {.f = want};

	if (nearbyint(2 * want) == 2 * want)
		return is == want;
	return fabs(is / want - 1) < 1e-6 || is == element_fit(VALUE_F16, exact).f ||
	       is == element_fit(VALUE_BF16, exact).f;
}

/* Is the number this one? is_inverse: is it one over it? */
static int is_number(const struct match *m, int value, const char **text, int is_inverse)
{
	char *end;
	const double want = strtod(*text, &end);
	double is;

	*text = end;
	return value >= 0 && value_real(m->g->value[value], &is) &&
	       is_written(is, is_inverse ? 1 / want : want);
}

/* Do the attributes of a node make it what hardswish is made of? */
static int is_right(const struct graph *g, const struct graph_node *n)
{
	double low, high;

	if (node_is(n, OP_HardSigmoid))
		return fabs((double)node_float(n, "alpha", 0.2F) * 6 - 1) < 1e-6 &&
		       node_float(n, "beta", 0.5F) == 0.5F;
	return !node_is(n, OP_Clip) || (task_clip(g, n, &low, &high) && low == 0 && high == 6);
}

static int is_made(struct match *m, int value, const char **text);

/* Are its two operands these, the first of them input `first`? */
static int reads(struct match *m, const struct graph_node *n, int first, int is_inverse,
		 const char **text)
{
	const int had = m->n;
	const char *at = *text;
	int fits = is_made(m, n->in[first], &at);

	at += *at == ' ';
	if (fits && isdigit((unsigned char)*at))
		fits = is_number(m, n->in[!first], &at, is_inverse);
	else
		fits = fits && !is_inverse && is_made(m, n->in[!first], &at);
	if (fits)
		*text = at + 1;
	else
		m->n = had;
	return fits;
}

/* Is the value what the text says? Then that is passed. */
static int is_made(struct match *m, int value, const char **text)
{
	const size_t length = strcspn(*text, "( )");
	const struct value *v = value < 0 ? NULL : m->g->value[value];
	const char *inside = *text + length + 1;
	const struct graph_node *n;
	int divides, fits;

	if (!v || **text == 'x') {
		*text += 1;
		return value == m->x;
	}
	if (isdigit((unsigned char)**text))
		return is_number(m, value, text, 0);
	if (v->producer < 0 || m->n == NODES || (m->n && (v->uses != 1 || v->is_output)))
		return 0;
	n = &m->g->node[v->producer];
	divides = node_is(n, OP_Div) && !strncmp(*text, "Mul", length);
	if (n->nout != 1 || n->nin != n->ndeps || !n->nin || !is_right(m->g, n) ||
	    (!divides && (strlen(operator_rows[n->op].name) != length ||
			  strncmp(*text, operator_rows[n->op].name, length) != 0)))
		return 0;
	m->node[m->n++] = v->producer;
	if (n->nin == 1 || node_is(n, OP_Clip)) {
		fits = is_made(m, n->in[0], &inside);
		inside++;
	} else {
		fits = n->nin == 2 && (reads(m, n, 0, divides, &inside) ||
				       (!divides && !node_is(n, OP_Sub) && !node_is(n, OP_Pow) &&
					reads(m, n, 1, 0, &inside)));
	}
	*text = inside;
	return fits;
}

/* Finds the pattern that ends with this node; -1: none does. */
static int ends(struct match *m, int node)
{
	for (int i = 0; i < (int)(sizeof patterns / sizeof *patterns); i++) {
		const char *text = patterns[i].text;

		m->n = 0;
		if (m->g->node[node].nout && is_made(m, m->g->node[node].out[0], &text))
			return i;
	}
	return -1;
}

/* Does nothing but the nodes read x? */
static int reads_all(const struct match *m)
{
	int reads = 0;

	for (int k = 0; k < m->n; k++)
		for (int i = 0; i < m->g->node[m->node[k]].nin; i++)
			reads += m->g->node[m->node[k]].in[i] == m->x;
	return reads == m->g->value[m->x]->uses;
}

int task_take_pattern(const struct graph *g, struct task *t, int cur, unsigned char *absorbed)
{
	struct match m = {.g = g, .x = cur};
	int node = g->value[cur]->first;

	for (int steps = 0; node >= 0 && steps < NODES; steps++) {
		const struct value *out = node_out(g, &g->node[node], 0);
		const int pattern = ends(&m, node);
		int taken = 0;

		for (int k = 0; pattern >= 0 && k < m.n; k++)
			taken |= absorbed[m.node[k]];
		if (pattern >= 0 && !taken && reads_all(&m) &&
		    shape_equal(&g->value[cur]->shape, &out->shape) &&
		    task_push(t, patterns[pattern].kind)) {
			for (int k = 1; k < m.n; k++)
				absorbed[m.node[k]] = 1;
			return node;
		}
		node = out && out->uses == 1 && !out->is_output ? out->consumer : -1;
	}
	return -1;
}
