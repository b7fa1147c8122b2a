/* Disturbances of a timing, as far as the kernel shows them: time that the hypervisor gave to other
 * machines, involuntary context switches, thermal throttling, the clock's frequency; and those of a
 * GPU, as far as NVML does.
 *
 * Files are opened once and then read in place, a few microseconds each. Sources that a machine
 * lacks are left out of its results, and the env names them once (watch_put_sources).
 */
#ifndef TL_HOST_WATCH_H
#define TL_HOST_WATCH_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/host/nvml.h"

enum { WATCH_MAX_CPUS = 256 };

enum watch_source { WATCH_STEAL, WATCH_SWITCHES, WATCH_THROTTLE, WATCH_FREQUENCY, WATCH_SOURCES };

struct watched {
	unsigned has;	   /* bits 1 << source */
	double steal_s;	   /* of all CPUs of this machine together; in ticks of 10 ms */
	int64_t nivcsw;	   /* of this process and its children that have ended */
	int64_t throttled; /* times, over the CPUs watched */
	double freq_hz;	   /* the lowest of any of them at the beginning or the end */
	/* Of a GPU: the lowest clock, the highest temperature, and all reasons of throttling that
	 * were seen while it was not idle; and the last power limit. */
	struct nvml_look gpu;
};

struct watch {
	int stat, ncpu; /* stat: a file descriptor or -1, as in the arrays */
	int throttle[WATCH_MAX_CPUS], freq[WATCH_MAX_CPUS];
	struct watched begun;
	struct nvml nvml;
	struct nvml_look gpu; /* since watch_begin() */
};

/* cpu: the CPUs that are timed on; NULL: those that this process may run on. root is "" but in
 * tests. A source that is not there is no error. */
void watch_open(struct watch *w, const char *root, const int *cpu, int n);
void watch_close(struct watch *w);
/* Watches the GPU at this PCI address, too, if NVML is there. */
void watch_gpu(struct watch *w, const char *pci);
/* Looks at the GPU, if one is watched: to be called again and again meanwhile. */
void watch_tick(struct watch *w);
void watch_begin(struct watch *w);
/* What happened since watch_begin(). */
void watch_end(struct watch *w, struct watched *out);
/* The "watch" object of a result: {"steal_s":0.01,"nivcsw":3}. */
void watch_put(const struct watched *d, struct buf *out);
/* The env's fields: "watch":["steal_s","nivcsw"],"watch_why":"no ...". */
void watch_put_sources(const char *root, struct buf *out);

#endif
