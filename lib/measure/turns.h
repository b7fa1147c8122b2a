/* Which final has the next process, and how long it may take.
 *
 * A burst of other work on the machine may last for seconds, as long as several processes of one
 * final. So the finals take turns. Each has its first process, then each the second that an
 * interval needs; where time is too short for that, those that were begun have their second one
 * first, so that some verdicts have an interval and not all have none. Further processes go where
 * a verdict is open, and first to operators on which much of the time depends; the same final has
 * two in a row only if no other is open, or if there is no time for more. No process begins that
 * would end after the run's time, as far as the last one of the same final tells, or the first
 * ones of others.
 *
 * The functions are pure.
 */
#ifndef TL_MEASURE_TURNS_H
#define TL_MEASURE_TURNS_H

struct turn {
	int processes;
	int owes;      /* it has less than an interval needs */
	int wants;     /* its verdict is open */
	int may_more;  /* it may have more than it owes, if its verdict is open then */
	double weight; /* seconds of the models: count x time */
	double last_s; /* what its last process took; before its first, what others' took; 0: not
			  known */
};

/* This counts what the processes of all finals took. */
struct turns_spent {
	double first_s; /* the longest first one, with all that comes before it */
	double asked_s; /* those that were asked for */
	double more_s;	/* those beyond, of open verdicts */
};

/* Adds what a process took: the next one of a final that had so many, where so many are asked for
 * of each. */
void turns_add(struct turns_spent *s, int processes, int asked, double took_s);
/* May a final have another process, if its last one took last_s? Ties may stay open for ever, so
 * those beyond what was asked for take half the time of these at most. */
int turns_may_more(const struct turns_spent *s, int processes, int asked, double last_s);

/* The final that has the next process; -1: none. last: the one that had the last; -1: none. left_s:
 * the time that is left; INFINITY: there is no limit. */
int turns_next(const struct turn *t, int n, int last, double left_s);
/* The limit of the timed calls of the process that final `next` has: an even share of the time, and
 * little where it is owed and more may follow, for most verdicts are clear then. It never depends
 * on what the calls have said. 0: no limit. */
double turns_limit(const struct turn *t, int n, int next, double left_s);

#endif
