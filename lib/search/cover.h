/* Chooses a portfolio for each instruction set: the few schedules that together lose least over
 * many workloads.
 *
 * The candidates are the fastest recorded schedules of each workload, fitted to all other
 * workloads. The time of a fitted schedule is the recorded one, if there is one, and else the
 * model's; both are relative to the best of the workload. The choice is greedy: the next schedule
 * is the one that lowers the sum over workloads of log(least time of the portfolio / best time)
 * most.
 */
#ifndef TL_SEARCH_COVER_H
#define TL_SEARCH_COVER_H

#include "lib/model/dataset.h"
#include "lib/model/model.h"

enum { PORTFOLIO_SIZE = 16 }; /* of each */

/* Fills m->portfolio from the groups with use[i] != 0. */
void cover_choose(const struct dataset *d, const char *use, struct model *m);

#endif
