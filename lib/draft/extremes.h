/* The greater and the lesser of two numbers. fmax() and fmin() are calls: they care for NaN. */
#ifndef TL_DRAFT_EXTREMES_H
#define TL_DRAFT_EXTREMES_H

static inline double max(double a, double b)
{
	return a > b ? a : b;
}

static inline double min(double a, double b)
{
	return a < b ? a : b;
}

#endif
