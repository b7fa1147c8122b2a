#include "lib/io/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number behind a word at the beginning of a line; -1: it is not there. */
static double find(const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	size_t n = strlen(word);
	double v = -1, x;
	char line[200];

	while (f && v < 0 && fgets(line, sizeof line, f))
		if (!strncmp(line, word, n) && sscanf(line + n, "%lf", &x) == 1)
			v = x;
	if (f)
		fclose(f);
	return v;
}

double memory_available(void)
{
	return 1024 * find("/proc/meminfo", "MemAvailable:");
}

double memory_total(void)
{
	const double swap = find("/proc/meminfo", "SwapTotal:");

	return 1024 * (find("/proc/meminfo", "MemTotal:") + (swap > 0 ? swap : 0));
}

long memory_kills(void)
{
	return (long)find("/proc/vmstat", "oom_kill ");
}

void memory_kill_first(int score)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	char text[16];

	if (fd < 0)
		return;
	/* It is a wish. */
	if (write(fd, text, (size_t)snprintf(text, sizeof text, "%d", score)) < 0)
		text[0] = 0;
	close(fd);
}
