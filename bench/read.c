/* read: how fast a team reads memory that is in no cache, for bench/four-bits.sh to compare a
 * kernel with.
 *
 *   read BYTES    the median of 15 readings, in seconds: each thread reads its part, line by line,
 *                 and nothing else
 *
 * OMP_NUM_THREADS says how many threads there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/io/clock.h"
#include "lib/trial/stat.h"

enum { READINGS = 15, LINE = 64 };

static double read_once(const char *memory, long bytes)
{
	double start;

	for (long i = 0; i < bytes; i += LINE)
		__builtin_ia32_clflush(memory + i);
	__builtin_ia32_mfence();
	start = clock_now();
#pragma omp parallel for schedule(static)
	for (long i = 0; i < bytes / LINE; i++)
		(void)*(const volatile long *)(memory + i * LINE);
	return clock_now() - start;
}

int main(int argc, char **argv)
{
	const long bytes = argc == 2 ? atol(argv[1]) / LINE * LINE : 0;
	double s[READINGS];
	char *memory;

	if (bytes <= 0) {
		fprintf(stderr, "read: it wants a number of bytes\n");
		return 2;
	}
	memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED) {
		fprintf(stderr, "read: there is no memory\n");
		return 3;
	}
	memset(memory, 1, (size_t)bytes);
	read_once(memory, bytes);
	for (int i = 0; i < READINGS; i++)
		s[i] = read_once(memory, bytes);
	printf("%.9g\n", stat_median(s, READINGS).median);
	return 0;
}
