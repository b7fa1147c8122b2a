/* Axes: values to coordinates, with ticks at round numbers. */
#ifndef TL_REPORT_AXIS_H
#define TL_REPORT_AXIS_H

/* lo is drawn at `from`, hi at `to`. log: by logarithm, and lo > 0. */
struct axis {
	double lo, hi, from, to;
	int log;
};

/* An axis that has all values from lo to hi, and begins and ends at round ones. An empty range is
 * made wider. */
struct axis axis_linear(double lo, double hi, double from, double to);
struct axis axis_log(double lo, double hi, double from, double to);
double axis_at(const struct axis *a, double value);
/* The tick behind `last` (NAN: the first). 1; 0: there is none. */
int axis_tick(const struct axis *a, double last, double *tick);

#endif
