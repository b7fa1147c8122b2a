#include "lib/io/clock.h"

#include <time.h>

static double stood_s;

void clock_stand(double s)
{
	stood_s += s;
}

double clock_stood(void)
{
	return stood_s;
}

double clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - stood_s;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

double clock_rusage(const struct rusage *used)
{
	return seconds(used->ru_utime) + seconds(used->ru_stime);
}

double clock_cpu(void)
{
	struct rusage self;

	getrusage(RUSAGE_SELF, &self);
	return clock_rusage(&self);
}

double clock_cpu_since(double *told)
{
	double now = clock_cpu(), since = now - *told;

	*told = now;
	return since;
}
