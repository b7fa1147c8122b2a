/* Fits schedules to workloads: an algorithm's knobs that were good for one workload are changed to
 * values that are valid for another one. */
#ifndef TL_SEARCH_SCHEDULE_H
#define TL_SEARCH_SCHEDULE_H

#include "lib/model/model.h"
#include "lib/search/search.h"

/* Each knob gets the nearest value of the workload's list, by ratio; 0, which means all of an
 * extent, stays 0. If these values make no program, the nearest ones that do are taken: first with
 * one knob changed, then with two. 1, and the candidate has its id; 0: the algorithm does not
 * apply, or nothing near makes a program. */
int schedule_fit(const struct search_space *space, const struct schedule *s, struct candidate *c);

/* The same with the record of a result or candidate. It is also 0 if this version does not
 * understand the record. */
int schedule_fit_record(const struct search_space *space, const char *record, size_t n,
			struct candidate *c);

#endif
