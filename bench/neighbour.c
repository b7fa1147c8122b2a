/* A neighbour: takes half of a core on average, in bursts of 10 ms to 10 s, as other users of a
 * shared machine do. Ends with its parent, or after the seconds that it is given.
 *
 *     build/bench/neighbour [SECONDS [SEED]] &
 *
 * Lengths of bursts and of the pauses between them are drawn alike, evenly on a logarithmic scale,
 * so that half of the time is taken. It walks over 4 MiB as it computes, so that it also takes its
 * part of the caches.
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "lib/base/rng.h"
#include "lib/io/clock.h"

static const double SHORTEST_S = 0.01, LONGEST_S = 10;

enum { FLOATS = 1 << 20 };

static volatile float data[FLOATS];

static void work_until(double end)
{
	for (unsigned i = 0; clock_now() < end; i += 256)
		for (unsigned j = 0; j < 256; j++)
			data[(i + j) % FLOATS] = data[(i + j) % FLOATS] * 0.5f + 1;
}

static void sleep_until(double end)
{
	double left = end - clock_now();
	struct timespec t;

	if (left <= 0)
		return;
	t.tv_sec = (time_t)left;
	t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static double draw(struct rng *r)
{
	return SHORTEST_S * pow(LONGEST_S / SHORTEST_S, rng_unit(r));
}

int main(int argc, char **argv)
{
	double end = clock_now() + (argc > 1 ? atof(argv[1]) : 3600);
	struct rng r;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	rng_seed(&r, argc > 2 ? (uint64_t)atoi(argv[2]) : 1, "neighbour");
	for (double at = clock_now(); at < end;) {
		work_until(fmin(end, at += draw(&r)));
		sleep_until(fmin(end, at += draw(&r)));
	}
	return 0;
}
