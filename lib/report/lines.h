/* What is known of a list of workloads, as a table for people or as CSV: the times of the vendor's
 * library and of the best candidate, what was generated, built and measured for it, and the sum
 * over the list, weighed by count. Only exact answers have times: those of another env or workload
 * are named as such. A line's times, ratio and verdict are of one result. Every figure comes from
 * the database; what is unknown is "-" (empty in CSV).
 */
#ifndef TL_STORE_REPORT_H
#define TL_STORE_REPORT_H

#include "lib/store/match.h"

struct report_line {
	struct workload w;
	int64_t count;
	enum match_how how;
	int rank;  /* 0 for the best; further candidates repeat the workload */
	int final; /* stage: its ratio was measured in pairs */
	const char *algo, *verdict, *candidate_id; /* NULL if not known */
	double baseline_s, tuned_s, ratio;	   /* NAN if not known */
	struct store_tally tally;
};

struct report {
	struct arena arena;
	struct json_doc doc;
	struct report_line *line;
	int64_t n, cap;
};

/* Adds the lines of one workload. */
int report_add(struct report *r, const struct workload *w, int64_t count, const struct match *m,
	       const struct store_tally *t, struct err *e);
void report_text(const struct report *r, struct buf *out);
void report_csv(const struct report *r, struct buf *out);
void report_free(struct report *r);

#endif
