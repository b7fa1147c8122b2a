/* Statistics of timings: medians with distribution-free intervals, nothing that assumes a normal
 * distribution.
 *
 * The interval of the median is the pair of order statistics at ranks n/2 -+ z sqrt(n)/2 (Conover,
 * "Practical Nonparametric Statistics", section 3.2), z = 1.96; with fewer than 6 samples, the
 * whole range. Where neighbours in a series depend on each other, that interval would be too
 * narrow: there the ranks move out by the square root of how much more the signs of blocks of about
 * sqrt(n) values vary than independent ones would (batch means; Law and Kelton, "Simulation
 * Modeling and Analysis", section 9.5).
 */
#ifndef TL_TRIAL_STAT_H
#define TL_TRIAL_STAT_H

struct stat_median {
	double median, lo, hi;
	int n;
};

/* The geometric mean of n > 1 positive values, with the 95% interval of Student's t for their
 * logarithms. */
struct stat_median stat_mean(const double *x, int n);

/* Sorts x in place. n > 0. */
struct stat_median stat_median(double *x, int n);
/* Of values in the order in which they came, which may depend on each other; z: the normal quantile
 * of the interval, 1.96 for 95%. Sorts x in place. n > 0. */
struct stat_median stat_series(double *x, int n, double z);

/* Between the two nearest of the values. Sorts x in place. n > 0. */
double stat_quantile(double *x, int n, double q);

enum stat_verdict { STAT_FASTER, STAT_SAME, STAT_SLOWER, STAT_UNDECIDED };
/* From the interval of paired ratios baseline / candidate: faster if all of it lies above 1.01,
 * slower if below 0.99; else same if it lies between 0.98 and 1.02, else undecided. Two processes
 * that run the same code differ by a per cent, so that less is no difference to be found again. */
enum stat_verdict stat_verdict(struct stat_median ratio);
const char *stat_verdict_name(enum stat_verdict v);

#endif
