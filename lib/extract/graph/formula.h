/* A formula says nodes as a text, where several stand for one operator, or one that is called
 * otherwise:
 *
 *   scores = MatMul(0 1) transB=1; soft = Softmax(scores) axis=-1; $0 = MatMul(soft 2)
 *
 * A statement is a node: what it makes, its type, what it reads, and its attributes.
 *
 *   0, 1     inputs of the operator, by their numbers
 *   $0, $1   its outputs; one that is left out becomes a value that nothing reads, or, as $1?,
 *            stays left out
 *   scores   a new value; digits at the end of its name tell values of one name apart here, and a
 *            '_' stands for a blank
 *   @12      a value of the graph; @-1 is left out, as is '-'
 *   #0.5     a constant of one element
 *   axis=1   an attribute: an integer, a real, which has a point, a list of integers, as
 *            perm=[0,2,1], or a text
 *   axis     the operator's own attribute, if it has it
 *   *        all of them; *-name: but those whose names begin so
 *   /scores  the node's name is that of the operator with this behind it
 *
 * A node has no inputs and no outputs behind the last one that is not left out. A
 * formula is part of the program, and false ones fail an assertion: nothing of a file may stand in
 * one but numbers.
 */
#ifndef TL_EXTRACT_GRAPH_FORMULA_H
#define TL_EXTRACT_GRAPH_FORMULA_H

#include "lib/extract/graph/build.h"

/* The nodes stand for this operator. */
struct formula {
	struct build *b;
	const char *name; /* of the nodes; NULL: they have none */
	const int *in, *out;
	int nin, nout;
	const struct attr *attr;
	int nattr;
	int is_told;
	/* Makes a value between the nodes. */
	int (*between)(const struct formula *f, const char *name);
	void *ctx; /* the caller's own */
};

/* Adds the nodes, whose text is printed first. Returns the value that the last one makes first;
 * others that it makes come behind that in the graph. */
int formula_build(struct formula f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds nodes that stand for a node of the graph. They have no names, and values between them have
 * the node's before their own. */
struct formula formula_node(struct build *b, const struct graph_node *n);
#define formula_of_node(b, n, ...) formula_build(formula_node(b, n), __VA_ARGS__)

#endif
