/* The probe of a device (device.h): its peak of multiply-adds, its memory's rate, and what a launch
 * takes; the best of many launches. */
#ifndef TL_TARGET_DEVICE_PROBE_H
#define TL_TARGET_DEVICE_PROBE_H

#include "lib/space/limits.h"
#include "lib/target/device.h"

/* The kernels that are timed, behind a prelude of simt.h. */
extern const char device_probe_source[];
/* object: what the target's compiler makes of them. One JSON object, of the fields of
 * lib/target/probe.h that there are: peak_flops is of one processor of the device, peak_flops_all
 * of all, a multiply-add counted as two; bandwidth_all.mem bytes a second, read and written;
 * forkjoin_s an empty kernel's launch and end, by the host's clock. */
int device_probe(const struct driver *driver, struct device *d, const struct limits *m,
		 const char *object, size_t n, struct buf *out, struct err *e);

#endif
