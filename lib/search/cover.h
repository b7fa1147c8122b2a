/* A portfolio: the few schedules that together lose least over many workloads.
 *
 * The candidates are the fastest recorded schedules of each workload, fitted to all the others.
 * What a fitted one takes there is as recorded, where it was, else as the model says, both relative
 * to the best of the workload. Then a greedy cover: the next schedule is the one by which the sum
 * over workloads of log(least time of the portfolio / best time) falls most.
 */
#ifndef TL_SEARCH_COVER_H
#define TL_SEARCH_COVER_H

#include "lib/model/dataset.h"
#include "lib/model/model.h"

enum { PORTFOLIO_SIZE = 16 };

/* Fills m->portfolio from the groups with use[i] != 0. */
int cover_choose(const struct dataset *d, const char *use, struct model *m, struct err *e);

#endif
