/* Time: durations from the monotonic clock, CPU time from the kernel. Seconds as double. */
#ifndef TL_IO_CLOCK_H
#define TL_IO_CLOCK_H

#include <sys/resource.h>

double clock_now(void);				/* monotonic */
double clock_cpu(void);				/* user + system time of this process */
double clock_rusage(const struct rusage *used); /* the same of *used */

/* clock_cpu() minus *told; sets *told to clock_cpu(). */
double clock_cpu_since(double *told);

#endif
