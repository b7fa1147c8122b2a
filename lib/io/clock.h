/* Time: durations from the monotonic clock, CPU time from the kernel. Seconds as double. */
#ifndef TL_IO_CLOCK_H
#define TL_IO_CLOCK_H

#include <sys/resource.h>

/* The monotonic clock, less the time that it stood in this program. */
double clock_now(void);
double clock_cpu(void);				/* user + system time of this process */
double clock_rusage(const struct rusage *used); /* the same of *used */

/* The time that a program waits for others (lib/host/lock.h) counts for nothing that it measures or
 * has a limit for: its clock stands for s seconds. Only programs of one thread call it. */
void clock_stand(double s);
double clock_stood(void); /* in all */

/* clock_cpu() minus *told; sets *told to clock_cpu(). */
double clock_cpu_since(double *told);

#endif
