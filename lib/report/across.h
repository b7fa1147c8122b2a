/* Compares envs: the best known time of each workload in each env of a database. */
#ifndef TL_REPORT_ACROSS_H
#define TL_REPORT_ACROSS_H

#include "lib/report/totals.h"
#include "lib/store/store.h"

enum { ACROSS_ENVS = 16 }; /* that a table shows */

struct across_time {
	double s, baseline_s; /* NAN: not known */
};

struct across_line {
	struct workload w;
	int64_t count;
	struct across_time *time; /* of each env */
};

struct across {
	struct store *db;
	struct arena arena;
	struct store_env *env; /* those with results, the latest first */
	int nenv;
	struct across_line *line;
	int64_t n, cap;
};

int across_open(struct across *x, struct store *db, struct err *e);
/* Adds a workload: 1; 0: no env has a result of it; -1. */
int across_add(struct across *x, const struct workload *w, int64_t count, struct err *e);
/* Appends a table, with a column for each env, or CSV, with a row for each workload and env. */
int across_put(struct across *x, enum output_form form, const struct table_look *look,
	       struct buf *out, struct err *e);
void across_free(struct across *x);

#endif
