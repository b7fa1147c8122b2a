/* Attempts: one candidate's trial in the worker, with what it needs (a session, a kernel that
 * loads) and what it costs. Each trial runs in a process of its own, whose death costs that
 * candidate alone.
 */
#ifndef TL_MEASURE_ATTEMPT_H
#define TL_MEASURE_ATTEMPT_H

#include "lib/measure/result.h"

/* Opens the group in the worker, a new one if need be. Where the workload cannot be run, *status
 * says what happened. Returns as ask_open() does. */
int attempt_open(struct measure *m, struct group *g, const char **status, struct err *e);
/* Finds which of the library's variants the group's final is against, unless it is known. A library
 * that fails is no fault: candidates can be measured without it. */
int attempt_opponent(struct measure *m, struct group *g, struct err *e);
/* Charges an item with the builds that it was the first to want. */
void attempt_charge_build(struct group *g, struct item *it, struct counts *n);
void attempt_take_cost(struct build *b, struct item *it);
/* 1, with v filled: the candidate needs no trial, for it was refused or did not build. */
int attempt_settled(const struct item *it, struct verdict *v);
/* A race with v->holder (NULL: alone), or a process of a final, with v filled. An object that does
 * not load was damaged or is gone: it is built anew, once. 0, ASKED_STOPPED or -1. */
int attempt_run(struct measure *m, struct group *g, struct item *it, struct verdict *v,
		struct err *e);
/* What a trial took, into v and the ledger. Whatever of it is not timing is verifying: a process,
 * its data, the comparison. answer: the worker's; NULL: it died. */
void attempt_charge_trial(struct measure *m, struct verdict *v, const struct json_doc *answer,
			  double elapsed_s);
/* After more than `most` failures in a row something known to be good has to run before any of them
 * is written: if it fails, too, the machine is at fault and no candidate. */
int attempt_suspect(struct measure *m, struct group *g, int most, struct err *e);

#endif
