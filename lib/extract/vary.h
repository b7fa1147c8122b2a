/* Variations of workloads: the same operators at other sizes.
 *
 * A text such as "mb=1,2,4,8; ih,iw*=2" has a term for each thing that varies: names, joined by
 * commas; = or *=, /=, += or -=; and values, joined by commas. The names are dimensions of
 * operators, or layout or dtype, which only = sets. Every combination of the terms' values is made.
 *
 * A term none of whose names an operator has leaves its workloads alone. Sizes that follow from
 * others follow anew where no term sets them (op->follow). What is no problem is dropped, as is a
 * division with a rest. A variation has the sources of what it was made from: the same node of the
 * same model at another size. So two of them that turn out equal are counted once for each node.
 */
#ifndef TL_EXTRACT_VARY_H
#define TL_EXTRACT_VARY_H

#include "lib/base/arena.h"
#include "lib/extract/worklist.h"

enum { VARY_TERMS = 16, VARY_NAMES = 8, VARY_VALUES = 256, VARY_PRODUCT = 10000 };

struct vary {
	struct vary_term {
		const char *name[VARY_NAMES];
		int nnames;
		char how;		    /* '=', '*', '/', '+' or '-' */
		int64_t value[VARY_VALUES]; /* of words: see vary.c */
		int nvalues;
	} * term;
	int nterms;
};

struct varied {
	int64_t dropped;   /* combinations that are no problem */
	const char *why;   /* of the first of them, the arena's */
	int64_t untouched; /* workloads that no term says anything of */
};

/* All is the arena's. -1 with EXIT_USAGE where it makes no sense. */
int vary_parse(struct vary *v, const char *text, struct arena *a, struct err *e);
/* Adds the variations of all works of a list to another. */
void vary_run(const struct vary *v, const struct worklist *from, struct worklist *to,
	      struct arena *a, struct varied *told);

#endif
