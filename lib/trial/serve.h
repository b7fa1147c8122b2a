/* The worker's protocol: one JSON line in, one out.
 *
 *   {"cmd":"open","workload":{..},"naive":PATH,"truth":PATH,"threads":N,"seed":N,"caches":TEXT,
 *    "max_error":E,"memory":BYTES,"timeout_s":T}                    -> {"status":"ok"}
 *   {"cmd":"baseline","timeout_s":T}                                -> baseline and rejected
 *   {"cmd":"race","candidate":{..},"object":PATH[,"incumbent":{..},"incumbent_object":PATH],
 *    "whole":B,"budget_s":T,"timeout_s":T}                          -> outcome
 *   {"cmd":"final","candidate":{..},"object":PATH[,"impl":"..","layout":".."[,"own_impl":".."]],
 *    "pairs":N[,"limit_s":T],"budget_s":T,"timeout_s":T}            -> outcome
 *   {"cmd":"canary","timeout_s":T}                                  -> {"status":"ok"}
 *
 * An answer has fields of a result (lib/record/result.h). In that of a final, duel is the one with
 * the baseline, and baseline has the samples of the library's best in the workload's own layout,
 * which the answer to "baseline" names where the baseline is in another. The status may also be
 * "unloadable": an object is damaged. An answer whose error is a text means that the worker cannot
 * go on. Everything runs in forked cells, so that this process, the zygote, lives on.
 */
#ifndef TL_TRIAL_SERVE_H
#define TL_TRIAL_SERVE_H

#include <stdio.h>

#include "lib/trial/trial.h"

/* What a worker runs candidates with, and compares them with. */
struct serve {
	const struct runner *runner;
	const struct library *compared; /* NULL: nothing */
};

/* Answers the requests of standard input until it ends. -1: the reader of the answers is gone. */
int serve(const struct serve *with, FILE *answers);

#endif
