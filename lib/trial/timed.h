/* What is timed in a trial (trial.h): a candidate's kernel, or a variant of the library's. */
#ifndef TL_TRIAL_TIMED_H
#define TL_TRIAL_TIMED_H

#include "lib/trial/trial.h"
#include "lib/target/kernel.h"

struct timed {
	const struct trial *t;
	struct ref *ref; /* NULL: the kernel below */
	int variant;
	const struct entrant *in;
	struct kernel kernel;
};

/* A call of a struct timed, as race_run() wants it. A kernel's cannot fail. */
int timed_call(void *timed, double *seconds, struct err *e);
/* Has all threads run a beat (target/probe.h), the first time some of them, and takes note of it.
 * 1: nobody disturbs the machine. */
int timed_look(const struct trial *t, struct quiet *q);
/* Waits until nobody disturbs the machine: as long as the trial has patience; by default usual_s,
 * if that is worth it at all. 1: it is quiet. */
int timed_wait(const struct trial *t, struct quiet *q, double usual_s);

/* All implementations that the library has of the trial's workload; NULL with e filled. */
struct ref *timed_library(const struct trial *t, struct err *e);

#endif
