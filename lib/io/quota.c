#include "lib/io/quota.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a file of one line. 0: it is not there. */
static int line_of(const char *folder, const char *file, char *line, int size)
{
	char path[2 * PATH_MAX];
	FILE *f;
	int rc;

	snprintf(path, sizeof path, "%s/%s", folder, file);
	f = fopen(path, "re");
	rc = f && fgets(line, size, f);
	if (f)
		fclose(f);
	return rc;
}

static double share(double quota, double period)
{
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

static double version_2(const char *group)
{
	char line[64];
	double quota, period;

	return line_of(group, "cpu.max", line, sizeof line) &&
			       sscanf(line, "%lf %lf", &quota, &period) == 2
		       ? share(quota, period)
		       : INFINITY;
}

static double version_1(const char *group)
{
	char quota[64], period[64];

	return line_of(group, "cpu.cfs_quota_us", quota, sizeof quota) &&
			       line_of(group, "cpu.cfs_period_us", period, sizeof period)
		       ? share(atof(quota), atof(period))
		       : INFINITY;
}

/* Returns the least of a group and those above it. In a container the path may be the host's, and
 * only the topmost folder is there. */
static double least(const char *root, const char *mount, const char *path,
		    double (*of)(const char *))
{
	char group[PATH_MAX];
	size_t top = (size_t)snprintf(group, sizeof group, "%s/sys/fs/cgroup%s", root, mount);
	double cpus = INFINITY;

	if (top + strlen(path) >= sizeof group)
		return INFINITY;
	memcpy(group + top, path, strlen(path) + 1);
	for (;;) {
		char *slash = strrchr(group + top, '/');

		cpus = fmin(cpus, of(group));
		if (!slash)
			return cpus;
		*slash = 0;
	}
}

static int names_cpu(const char *controllers)
{
	for (const char *p = controllers; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
		if (strcspn(p, ",") == 3 && !strncmp(p, "cpu", 3))
			return 1;
	return 0;
}

/* A line is "0::/path" in version 2, and "4:cpu,cpuacct:/path" in version 1. */
static double of_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':'),
	     *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return INFINITY;
	*path++ = 0;
	path[strcspn(path, "\n")] = 0;
	controllers++;
	if (!*controllers)
		return least(root, "", path, version_2);
	return names_cpu(controllers) ? fmin(least(root, "/cpu", path, version_1),
					     least(root, "/cpu,cpuacct", path, version_1))
				      : INFINITY;
}

double quota_cpus(const char *root)
{
	char name[PATH_MAX], line[PATH_MAX];
	double cpus = INFINITY;
	FILE *f;

	snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof line, f))
		cpus = fmin(cpus, of_line(root, line));
	if (f)
		fclose(f);
	return cpus;
}
