/* Energy counters: the joules of the whole machine's packages and memory (RAPL), or of a GPU
 * (NVML). They include everything that runs there at the time.
 *
 * Counters wrap. Each read adds what came since the read before, so there must be a read at least
 * every minute. A program that waits for longer calls energy_tick(). Files stay open and are read
 * in place, which takes a few microseconds for each domain. NVML is loaded at run time if there is
 * a GPU to read, and never linked. If nothing can be read, `why` says why, and all amounts are NAN.
 */
#ifndef TL_HOST_ENERGY_H
#define TL_HOST_ENERGY_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/host/nvml.h"

enum { ENERGY_DOMAINS = 32 };

enum energy_device { ENERGY_CPU, ENERGY_GPU };

struct energy {
	char why[200]; /* empty: it can be read */
	int n;
	struct energy_domain {
		int fd;
		uint64_t last, range; /* microjoules; the counter wraps at range */
	} domain[ENERGY_DOMAINS];
	struct nvml nvml; /* of a GPU */
	uint64_t gpu_start;
	double joules, lap,
		ticked; /* since energy_open(); at the last lap; the time of the last read */
	double paused, skipped; /* joules at the last pause, and in all pauses so far */
};

/* Never fails; see `why`. For the CPU it reads the tree below $TL_POWERCAP, by default
 * /sys/class/powercap; for a GPU it asks NVML (nvml_open()). */
void energy_open(struct energy *g, enum energy_device device, const char *pci);
void energy_close(struct energy *g);
/* Joules since energy_open(); NAN if they cannot be read. */
double energy_read(struct energy *g);
/* Joules since the last lap, or since energy_open(). */
double energy_lap(struct energy *g);
/* From a pause until its end another program spends the energy, and it is not counted here. */
void energy_pause(struct energy *g);
void energy_resume(struct energy *g);
/* Reads the counters if the last read was half a minute ago. */
void energy_tick(struct energy *g);
/* Writes the field "energy_J", or null and "energy_why". */
void energy_put(const struct energy *g, double joules, struct buf *out);

#endif
