/* Control groups (cgroups(7)) grant the process a part of the machine, as containers and batch
 * systems ask for. This reads how much. */
#ifndef TL_IO_QUOTA_H
#define TL_IO_QUOTA_H

/* Returns CPUs: the least of cpu.max (version 2) or cpu.cfs_quota_us (version 1) of the group and
 * of those above it; INFINITY without a limit. /proc and /sys are in root, which is "" for this
 * machine. */
double quota_cpus(const char *root);

#endif
