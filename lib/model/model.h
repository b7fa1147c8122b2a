/* A trained cost model, as a file and in memory.
 *
 * The file is text, a record a line: the model's own with its report card ("type":"model"), the
 * portfolio's schedules, the trees ("type":"trees", the bytes of trees.h in base64), and at the
 * end a "done" with a hash over all before it. So a file that is damaged, cut off, of another
 * version of the features, or of those of other kernels, or trained on nothing is refused, with the
 * reason, before any of it is used.
 *
 * The trees are stages, each a bag of boosters: a candidate's value is the sum over the stages of
 * the mean over the bag, and its uncertainty comes from the differences within the bag of the first
 * stage. A value is log2 of the expected speed, up to a constant for each workload, so only values
 * of one workload can be compared. On a CPU that the model has not learned from, the analytic draft
 * has a share in the value. A candidate that is likely to fail has a lower value (failure.h,
 * "type":"failure").
 *
 * Cold operands. The draft assumes that data which fit a cache are there, but it is told which
 * operands are in no cache when a kernel starts (--cache of tl-gen, tl-filter and tl-query; the
 * weights by default, as tl-measure times them). A thread brings what it touches of these from
 * memory once, through all levels, if the warm draft does not move them anyway. The draft's time
 * with cold operands over that without is the last feature (cold). No tree splits by it as long as
 * all recordings are warm. The model takes its logarithm off the value of its trees (count_cold()
 * in lib/model/model.c), and training on cold results puts it into the priors. So one model serves
 * both modes, and recordings of both can be learned from. Results with different cache are
 * different groups of a dataset.
 */
#ifndef TL_MODEL_MODEL_H
#define TL_MODEL_MODEL_H

#include <stddef.h>

#include "lib/algo/algo.h"
#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/features/feature_list.h"
#include "lib/model/seen.h"
#include "lib/model/trees.h"
#include "lib/space/limits.h"

enum { MODEL_STAGES = 4, MODEL_BAG = 16, MODEL_PORTFOLIO = 64, MODEL_MACHINES = 32 };

static const double MODEL_HOME = 0.1;	 /* the draft's share on a CPU that it learned from, */
static const double MODEL_ABROAD = 0.25; /* on any other one, */
static const double MODEL_DOUBTED = 0.5; /* and where there is reason to doubt the model */

/* These numbers tell one kind of CPU from another in the records. The third-level cache does not:
 * virtual machines are told of different parts of it. */
struct model_machine {
	char isa[16];
	int64_t l1d, l2; /* bytes */
	int64_t bits;	 /* the sum of those that elements of sources had there: 8, 16, 32 */
};

/* Knobs of an algorithm, which can be fitted to any workload. */
struct schedule {
	const struct algo *algo;
	int64_t knob[KNOB_MAX];
	char isa[16]; /* of the machines that it was chosen for */
};

struct model {
	struct arena arena;
	const char *path;
	const struct feature_list *features; /* that it was trained on */
	struct id id;			     /* of the file's content */
	const char *card;		     /* the model's record, a JSON object */
	double scale;			     /* what a bag's standard deviation is multiplied by */
	double scale_abroad; /* on a CPU that it did not learn from; 0: the file does not say */
	struct seen seen;    /* the features of what it learned from */
	int nstages;
	struct model_stage {
		int n;
		struct trees *bag[MODEL_BAG];
	} stage[MODEL_STAGES];
	struct trees *failure; /* NULL: nothing ever failed */
	int nmachines;	       /* that it learned from; 0: the file does not say */
	int64_t bits;	       /* of the machine to predict for, as there; model_new(): all */
	struct model_machine machine[MODEL_MACHINES];
	double draft_share; /* in the value of the first `shared` stages: 0 to 1 */
	int shared;
	int nportfolio;
	struct schedule portfolio[MODEL_PORTFOLIO];
};

/* wanted: the features that it must have been trained on. NULL with e filled (status EXIT_INPUT).
 */
struct model *model_load(const char *path, const struct feature_list *wanted, struct err *e);
void model_free(struct model *m);
struct model *model_new(const struct feature_list *l); /* without any trees */

/* The draft's share in the value of all stages so far; later ones correct the whole. */
void model_share(struct model *m, double draft_share);
/* Fits the model to the machine to predict for. Of the portfolio the schedules stay that were
 * chosen for its instruction set, or all, if there are none. Sets the draft's share: MODEL_HOME for
 * a CPU that it learned from, or if the file does not say; MODEL_ABROAD for any other one, and
 * there the scale of deviations, too. Where each CPU of the recordings was left out, this ranked
 * better than the model alone (docs/EXPERIMENTS.md, "A CPU left out"). */
void model_meet(struct model *m, const struct limits *here);
/* The same machine as far as model_meet() can tell? */
int model_is_machine(const struct model_machine *k, const struct limits *m);
/* Did it learn from such a machine? 0, too, if the file does not say from which it did. */
int model_has_seen(const struct model *m, const struct limits *here);
/* Can it rank candidates in these types? In others than single precision it must have learned from
 * some of such a machine, whose instructions make the difference: the draft ranks others. */
int model_knows(const struct model *m, const struct dtypes *d);

/* For rows of FEATURES floats: values, and their standard deviations (NULL: not wanted). */
void model_predict(const struct model *m, const float *x, size_t rows, double *value,
		   double *deviation);
/* Values by the first member of each bag alone. This takes a fraction of the time, and is accurate
 * enough to discard candidates. */
void model_predict_first(const struct model *m, const float *x, size_t rows, double *value);

/* Gives the draft half of the values that model_predict() has set, where it has less. */
void model_doubt(const struct model *m, const float *x, size_t rows, double *value);
/* Returns a value as a choice counts it: of two candidates with the same value that one is better
 * which the model knows better. The best of many values is likely to be one that the model gets
 * wrong. */
double model_cautious(double value, double deviation);

/* The file's text. card: the fields of the model's record behind "features" and "scale". The trees
 * are those of m's stages. */
void model_print(const struct model *m, const char *card, struct buf *out);

#endif
