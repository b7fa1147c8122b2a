/* What a report says in words and in tables, whatever form it has. */
#ifndef TL_REPORT_SUMMARY_H
#define TL_REPORT_SUMMARY_H

#include "lib/report/figures.h"

/* "resnet50 and vgg16", or "14 workloads" where no model is known. */
void summary_of(const struct figures *f, struct buf *out);
/* What tuning brought, in sentences. */
void summary_result(const struct figures *f, struct buf *out);
/* What it cost, likewise. Empty where the database does not say. */
void summary_cost(const struct figures *f, struct buf *out);
/* Seconds in a unit that suits them: "12.3 us", "4.56 ms". "-": not known. */
void summary_time(double s, struct buf *out);

/* A table: a row for each operator, its cells as text. */
enum summary_column {
	SUMMARY_PROB,
	SUMMARY_POST,
	SUMMARY_COUNT,
	SUMMARY_BEFORE,
	SUMMARY_AFTER,
	SUMMARY_RATIO,
	SUMMARY_VERDICT,
	SUMMARY_GFLOPS,
	SUMMARY_ROOF,
	SUMMARY_ALGO,
	SUMMARY_COLUMNS
};
/* Begins with '>' where a column is of numbers. */
extern const char *const summary_head[SUMMARY_COLUMNS];
void summary_cell(const struct figures *f, const struct report_line *l, enum summary_column c,
		  struct arena *a, struct buf *out);

/* The env, name by name: text of entry i, NULL behind the last. */
const char *summary_env(const struct figures *f, int i, const char **name);

#endif
