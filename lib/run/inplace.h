/* Races in place: which of a workload's kernels whole runs of a network are fastest with.
 *
 * A kernel alone finds its operands where the mode of its race puts them. In a network it finds
 * what the steps before it left in the caches, beside what else the network needs. So the steps
 * that take most beyond their races are raced again, where they run: whole runs with one kernel
 * and with another take turns, and a duel (lib/trial/duel.h) decides by the time of the steps
 * themselves and of those right behind them, which find what these leave. Each timed run follows
 * one that is not. A winner must not make whole runs slower, nor change the network's outputs, and
 * it must be ahead again when the network has been opened anew: where memory came to lie is worth
 * several per cent of a step. What was decided is stored at once, also that the kernel stays, so
 * that a run that was stopped goes on where it was.
 *
 * A step may have rivals (plan_rival()): other kernels with the same operands and weights of their
 * own, which take its place between two runs, when no thread looks at a step (parts_rest()). The
 * network is opened once to find the workloads, and once more with rivals for them, so that memory
 * is needed for their weights alone. If something won, it is opened a third time, where the winner
 * must be ahead again: in one opening a winograd of 512 channels was 1.18 times as fast as another,
 * and in others both were equal. Whole runs vary by more than a step saves, so they only have a
 * veto, as have the network's outputs.
 *
 * tl-query, training and races know nothing of a choice. Its key is (network, workload, env), where
 * the network is an id over the operators and shapes of its nodes. A choice names all that took
 * part. As long as the best known is among them, it counts; a better one that is found later was
 * never compared, and makes it void.
 */
#ifndef TL_RUN_INPLACE_H
#define TL_RUN_INPLACE_H

#include "lib/run/choose.h"
#include "lib/run/network.h"
#include "lib/trial/stat.h"

enum { INPLACE_WORKLOADS = 8 };

/* What came of a workload. */
struct inplace_said {
	const struct workload *workload;
	int steps;
	const struct candidate *first, *now; /* the kernel before, and the choice */
	struct stat_median ratio;	     /* of the steps' times in the duel that it won last */
};

struct inplace {
	const char *db;	   /* path of the database */
	const char *model; /* the name of the model's file */
	double until;	   /* by clock_now() */
	int (*stopped)(void);
	void (*say)(const struct inplace_said *said); /* NULL: nobody listens */
	/* The workloads, and what the races found: */
	int n, nwon;
	struct id id[INPLACE_WORKLOADS];
	struct chosen won[INPLACE_WORKLOADS]; /* match NULL: nothing did */
	struct chosen before[INPLACE_WORKLOADS];
	struct buf over[INPLACE_WORKLOADS], again[INPLACE_WORKLOADS]; /* as records have it */
	/* Whole runs with the first kernels over whole runs with the choices, in turns; n is 0:
	 * they are the same kernels, or there was no time. */
	struct stat_median whole, before_s, after_s;
};

/* The inputs must be set. All return -1 if a step cannot be computed, or the database not be
 * written. */

/* Finds the workloads to race: those that take most beyond what the database says of their kernels
 * alone, and are not decided yet; or (all) any that are not. */
int inplace_find(struct network *n, int all, struct inplace *how, struct err *e);
/* Races the workloads for which the network's chooser has rivals. Stores the choices that are as
 * before; others are to be confirmed. */
int inplace_race(struct network *n, struct inplace *how, struct err *e);
/* In a network that was opened anew, with what won and what was before (struct raced): a choice
 * must be ahead again, for memory is in another place now. Stores the choices. */
int inplace_confirm(struct network *n, struct inplace *how, struct err *e);
void inplace_free(struct inplace *how);

#endif
