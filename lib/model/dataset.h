/* A dataset: results as rows of features, by workload and env, for training and scoring models.
 *
 * A group is a workload in an env, timed with caches in one state: latencies compare only within
 * one. A family is a workload without its spatial size, batch and post-ops. Two workloads of one
 * family are too similar for one to be a fair test of what was learned from the other.
 *
 * Record lines come in any order. A candidate counts once in a group, with its lowest verified
 * latency. Workload records hold counts and networks. Everything belongs to the dataset.
 *
 * A result's time is the median of its samples, in a duel by the ratios of its pairs, unless they
 * disagree: unless more than half of them, and at least three, lie within 15%. Then it is the
 * slowest of them but for a fifth. A neighbour may disturb the opponent in two pairs of three, and
 * the median be the fastest time of its workload: then everything else is learned and scored
 * against it. To leave such results out is worse: slow candidates scatter more than fast ones, and
 * nobody would tell the model how slow they are (EXPERIMENTS.md, "Times whose samples disagree").
 *
 * Labels are ratios. When each candidate was timed once, for a millisecond, a model that finds 92%
 * of the best speed appeared to find 84%, because its data were wrong; and the best of thousands of
 * absolute times are those that fell into a quiet moment (EXPERIMENTS.md). In a recorded space each
 * candidate's time is the reference's time over the ratio of their duel. In a tuning run it is the
 * incumbent's time over their ratio, from duel to duel. A winner's ratio is the geometric mean of
 * its two duels (rec_duel_ratio()), because it was chosen for the first of them alone.
 */
#ifndef TL_MODEL_DATASET_H
#define TL_MODEL_DATASET_H

#include "lib/door/door.h"
#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/io/json.h"
#include "lib/features/candidate_features.h"

struct data_row {
	struct id candidate_id;
	const struct algo *algo;
	int64_t knob[KNOB_MAX];
	double latency_s; /* 0: it failed, or was preempted */
	double bound_s;	  /* preempted: its lower bound */
	int failed;	  /* it failed through its own fault */
	int chained;	  /* its time was told by a duel with another one */
	double draft_s;
	double prior; /* what is known of its value: an older model's, to learn its errors, or what
			 cold operands cost */
	float *f;     /* FEATURES of them; NULL before dataset_finish() */
};

struct data_group {
	struct workload w;
	const struct data_env *env;
	const char *family;
	double best_s;	 /* 0: no row has a latency */
	double native_s; /* the baseline's; 0: not known */
	int64_t n, cap;
	int64_t described; /* rows that have features: the first ones */
	struct data_row *row;
	struct map ids; /* candidate -> index + 1 */
};

/* What workload records say about a workload, in any env. */
struct data_use {
	const char *family;
	int64_t count; /* over all networks */
	int nnetworks;
	const char *network[16]; /* names, without the hash */
	int64_t times[16];	 /* in each */
};

struct dataset {
	struct arena arena, scratch;
	struct json_doc doc;
	struct map envs, groups, uses; /* by id and caches; these and workload id; workload id */
	struct limits here;	       /* for envs that no record describes */
	const struct target *target;   /* results of others are passed over */
	int64_t nrows, others;	       /* others: passed over for their target, or their types */
	struct door door;
};

/* here: limits to use for an env that no record describes, if they are of the target. */
void dataset_open(struct dataset *d, const struct target *t, const struct limits *here);
/* The list that describes its rows. */
const struct feature_list *dataset_features(const struct dataset *d);
void dataset_close(struct dataset *d);
/* Takes a workload record or a result of the target, and ignores other records. -1: it makes no
 * sense. */
int dataset_add(struct dataset *d, const char *line, size_t n, struct err *e);
/* Computes the features of the rows that have come, in threads (featurizer.h). Rows of
 * which no program can be made here are taken out. To be called behind the last dataset_add(),
 * before anything is read of the rows. */
int dataset_finish(struct dataset *d, struct err *e);
static inline struct data_group *dataset_group(const struct dataset *d, size_t i)
{
	return d->groups.item[i].value;
}
/* The features of a group's rows, side by side: FEATURES of each. */
void dataset_matrix(const struct data_group *g, float *x);
/* NULL: no workload record came. */
const struct data_use *dataset_use(const struct dataset *d, const struct workload *w);
/* "conv2d 64>64 3x3/1x1 g1 f32": appended. */
void workload_family(const struct workload *w, struct buf *out);

#endif
