/* What the process's control groups grant it of the machine (cgroups(7)), as containers and batch
 * systems limit it. */
#ifndef TL_IO_QUOTA_H
#define TL_IO_QUOTA_H

/* CPUs: the least of cpu.max (version 2) or cpu.cfs_quota_us (version 1) of the group and of those
 * above it; INFINITY without a limit. root: where /proc and /sys are, "" for this machine. */
double quota_cpus(const char *root);

#endif
