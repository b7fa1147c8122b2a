/* The worker's protocol: one JSON line in, one out.
 *
 *   {"cmd":"open","workload":{..},"naive":PATH,"truth":PATH,"threads":N,"seed":N,"caches":TEXT,
 *    "max_error":E,"memory":BYTES,"timeout_s":T}                    -> {"status":"ok"}
 *   {"cmd":"library","timeout_s":T}    -> {"baseline":{..}} or {"baseline":null,"why":".."},
 *                                         "own_layout":{..}, the best in the workload's layout
 *                                         where the baseline has another, and
 *                                         "rejected":[{..},..] if variants are wrong, or fail
 *   {"cmd":"race","candidate":{..},"object":PATH[,"holder":{..},"holder_object":PATH],"whole":B,
 *    "budget_s":T,"timeout_s":T}                                    -> outcome
 *   {"cmd":"final","candidate":{..},"object":PATH[,"impl":"..","layout":".."[,"own_impl":".."]],
 *    "pairs":N[,"limit_s":T],"budget_s":T,"timeout_s":T}            -> outcome
 *   {"cmd":"canary","timeout_s":T}                                  -> {"status":"ok"}
 *
 * An outcome's status is a result's, or "unloadable" where an object is damaged. An answer
 * {"error":".."} means that the worker cannot go on. Everything runs in forked cells, so that this
 * process, the zygote, lives on.
 */
#ifndef TL_TRIAL_SERVE_H
#define TL_TRIAL_SERVE_H

#include <stdio.h>

#include "lib/trial/trial.h"

/* What a worker runs candidates with, and compares them with. */
struct serve {
	const struct runner *runner;
	const struct reference *vendor; /* NULL: nothing */
};

/* Answers the requests of standard input until it ends. -1: the reader of the answers is gone. */
int serve(const struct serve *with, FILE *answers);

#endif
