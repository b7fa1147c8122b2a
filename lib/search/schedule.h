/* Schedules that travel: an algorithm's knobs as they were good for one workload, fitted to
 * another. */
#ifndef TL_SEARCH_SCHEDULE_H
#define TL_SEARCH_SCHEDULE_H

#include "lib/model/model.h"
#include "lib/search/search.h"

/* Each knob gets the nearest value of the workload's list, by ratio; 0, which means all of an
 * extent, stays 0. Where these make no program the nearest ones that do are taken: one knob
 * changed, then two. 1, with the candidate identified; 0: the algorithm does not apply, or nothing
 * near makes a program. */
int schedule_fit(const struct search_space *space, const struct schedule *s, struct candidate *c);

/* The same of the record of a result or candidate. 0, too: this version does not understand it. */
int schedule_fit_record(const struct search_space *space, const char *record, size_t n,
			struct candidate *c);

#endif
