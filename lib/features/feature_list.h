/* What lists of features have in common: the list itself, what its features are relative to, and
 * their forms. Each kind of nest has a list of its own (features.h, features_blocks.h), so a
 * feature that is added for one does not invalidate the models of the other.
 */
#ifndef TL_FEATURES_FEATURE_LIST_H
#define TL_FEATURES_FEATURE_LIST_H

#include <math.h>

struct feature_list {
	const char *of; /* the kind of kernel, as sentences name it */
	int revision;	/* raised when a feature of the same name begins to mean another thing */
	int n;
	/* n of them. Training may leave out a whole group. */
	const char *const *name, *const *group;
};

#define FEATURE_NAME(name, group) #name,
#define FEATURE_GROUP(name, group) #group,

/* Rates that were probed on the machine (or come from its limits, see features_rates). */
struct rates {
	double flops;	       /* a second, all threads */
	double l2, l3, memory; /* bytes a second, all threads */
	double fork_s;
};

static const double FEATURE_NOTHING = 1.0 / (1 << 20); /* what a ratio is no longer told from 0 */

static inline float feature_ratio(double a, double b)
{
	return b > 0 ? (float)log2(a / b + FEATURE_NOTHING) : NAN;
}

static inline float feature_share(double a, double b)
{
	return b > 0 ? (float)(a / b) : NAN;
}

#endif
