/* What is in models, lists and logs, for people: for each kind of operator how often it occurs, its
 * share of the model's multiply-adds, and what became of it.
 */
#ifndef TL_EXTRACT_CONTENTS_H
#define TL_EXTRACT_CONTENTS_H

#include <stdint.h>

#include "lib/base/map.h"
#include "lib/extract/task/fate.h"
#include "lib/io/table.h"

/* A zeroed struct is empty. */
struct contents {
	struct map model; /* struct content_model * */
};

struct content_model {
	struct map row;	     /* struct content_row * */
	int64_t macs, taken; /* known ones, and those of workloads */
	int64_t n;
};

/* A row counts the operators of a type in a model that became the same. */
struct content_row {
	char *type, *why;
	enum fate fate;
	int64_t n, macs; /* macs: -1: that of at least one of them is not known */
	double time_s;	 /* that they took, as a log tells; 0: not told */
	size_t at;
};

/* a + b, or the largest number. */
int64_t contents_plus(int64_t a, int64_t b);
/* n operators of a type in a model. macs: the multiply-adds of all of them; 0: they do none, -1:
 * they are not known. why: why they became nothing, or "". */
struct content_row *contents_add(struct contents *c, const char *model, const char *type,
				 enum fate fate, const char *why, int64_t n, int64_t macs);
/* Returns how long the operators of a model took, or those of them that became workloads. */
double contents_time(const struct content_model *m, int of_workloads);
/* n workloads. */
void contents_add_work(struct contents *c, const char *model, const struct workload *w, int64_t n);
/* All nodes of a graph, and those inside of its subgraphs. */
void contents_add_graph(struct contents *c, const char *model, const struct fates *f);
/* All of another one, as if it had been added here. */
void contents_merge(struct contents *to, const struct contents *from);
/* Tables: a row for each type and fate, the most multiply-adds first; for people a sum for each
 * model, too. */
void contents_text(const struct contents *c, const struct table_look *look, struct buf *out);
void contents_csv(const struct contents *c, struct buf *out);
void contents_free(struct contents *c);

#endif
