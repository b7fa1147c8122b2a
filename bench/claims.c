/* How fast units of work are taken: build/bench/claims DATABASE SECONDS
 *
 * Takes one unit after the other for so long. Prints how many that were a second, and how long the
 * median claim and the slowest of a hundred took, in seconds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/sort.h"
#include "lib/io/clock.h"
#include "lib/store/units.h"

enum { MOST = 1 << 20 };

static int ignore(void *arg, const char *s, size_t n, struct err *e)
{
	(void)arg;
	(void)s;
	(void)n;
	(void)e;
	return 0;
}

int main(int argc, char **argv)
{
	const struct units_taker t = {"e1000000000000000000000000000000", "bench", 3600};
	const double seconds = argc == 3 ? atof(argv[2]) : 0;
	double *took = xcalloc(MOST, sizeof *took), began;
	struct err e = ERR_INIT;
	struct store *s;
	int64_t taken = 1;
	size_t n = 0;

	if (seconds <= 0 || !(s = store_open(argv[1], STORE_WRITE, &e))) {
		fprintf(stderr, "claims: %s\n", *e.msg ? e.msg : "DATABASE SECONDS");
		return 2;
	}
	began = clock_now();
	while (n < MOST && clock_now() < began + seconds) {
		const double start = clock_now();

		taken = units_claim(s, &t, 1, ignore, NULL, &e);
		if (taken < 1)
			break;
		took[n++] = clock_now() - start;
	}
	if (taken < 1 || !n)
		fprintf(stderr, "claims: %s\n", *e.msg ? e.msg : "there are too few units");
	sort_numbers(took, n);
	if (n)
		printf("%.1f %.6f %.6f\n", (double)n / seconds, took[n / 2], took[n * 99 / 100]);
	store_close(s);
	free(took);
	return taken < 1;
}
