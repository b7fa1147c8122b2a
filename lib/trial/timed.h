/* What is timed in a trial (trial.h): a candidate's kernel, or a variant of the library's. */
#ifndef TL_TRIAL_TIMED_H
#define TL_TRIAL_TIMED_H

#include "lib/trial/trial.h"

struct timed {
	const struct trial *t;
	struct baseline *baseline; /* NULL: the kernel below */
	int variant;
	const struct entrant *in;
	struct kernel kernel;
	int row;	  /* calls that are timed together; 0: each by itself */
	int row_is_graph; /* the device goes through them without this machine */
};

/* Loads a kernel. -1: the object is damaged or gone. */
int timed_load(struct timed *x, struct err *e);
/* Puts its operands, as they are now, where it finds them. -1: the device has no memory for them.
 */
int timed_put(struct timed *x, struct err *e);
/* Gives a kernel and its memory on a device back. On this processor they end with the process. */
void timed_unload(struct timed *x);
/* What its calls ask of a device. -1: it does not tell, or there is none. */
int timed_use(const struct timed *x, struct device_use *u);
/* A call, timed. On this processor a kernel's cannot fail. */
int timed_call(struct timed *x, double *seconds, struct err *e);
/* What errno says of a kernel whose call, or whose operands' move, failed on a device. Where it
 * says nothing, it is `otherwise`. */
enum status timed_failure(enum status otherwise);

/* The participants of a duel. */
struct duellists {
	struct timed x, y; /* the challenger and the incumbent */
	int alone;	   /* there is no incumbent */
	struct timed own;  /* of the library, called with each pair; baseline NULL: none */
	double own_s[DUEL_MAX];
	int npairs;		    /* so far */
	const struct timed *failed; /* whose call it was that failed */
};
/* To start a kernel takes a device longer than a short kernel takes. So the duellists are called in
 * rows of the same length, if all of them can be, and operands are to be found in the caches: as
 * many calls as make at least 100 us, but hardly more than 5 ms of the slower one. The time of a
 * call then is the mean of a row. Calls each of them a few times, before the first pair.
 *
 * The rows of all are started alike. If the device can go through all of them without this machine,
 * it does. If it cannot do so with one of them (a library may wait for the device in its calls),
 * this machine starts each call of all of them: what it takes to start calls would else be counted
 * against that one alone. */
int timed_choose_row(struct duellists *d, struct err *e);
/* The same for one by itself, whose calls take so long. */
void timed_set_row(struct timed *x, double seconds);
/* The time of a call: of one, or in a row of x->row calls. */
int timed_row(struct timed *x, double *seconds, struct err *e);
/* A pair of calls of a struct duellists, for duel_run(). Each timed call follows an untimed one,
 * which brings its operands back into the caches. */
int timed_pair(void *duellists, int turn, double *x, double *y, struct err *e);

/* The implementations that the library has of the trial's workload, or (n > 0) only those that are
 * named; NULL with e filled. */
struct baseline *timed_baseline(const struct trial *t, const struct baseline_choice *only, int n,
				struct err *e);

#endif
