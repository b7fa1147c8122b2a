/* Time: durations from the monotonic clock, CPU time from the kernel. Seconds as double. */
#ifndef TL_IO_CLOCK_H
#define TL_IO_CLOCK_H

double clock_now(void); /* monotonic */
double clock_cpu(void); /* user + system time of this process and its waited-for children */

#endif
