/* NVIDIA's management library, NVML: what it tells of a GPU (NVIDIA, "NVML API Reference"). It is
 * loaded at run time, never linked, and asked to change nothing. A GPU need not tell everything.
 */
#ifndef TL_HOST_NVML_H
#define TL_HOST_NVML_H

#include <stdint.h>

enum nvml_fact { NVML_CLOCK, NVML_TEMPERATURE, NVML_THROTTLE, NVML_LIMIT };

enum { NVML_IDLE = 1 }; /* a bit of throttle */

struct nvml {
	void *handle, *gpu; /* NULL: not open */
	int (*energy)(void *gpu, unsigned long long *millijoules);
	int (*clock)(void *gpu, int kind, unsigned *mhz);
	int (*temperature)(void *gpu, int sensor, unsigned *celsius);
	int (*throttle)(void *gpu, unsigned long long *reasons);
	int (*limit)(void *gpu, unsigned *milliwatts);
};

struct nvml_look {
	unsigned has; /* bits 1 << fact */
	double clock_hz;
	int temperature_C;
	uint64_t throttle; /* why the clock is below its highest, in NVML's bits */
	double limit_W;
};

/* Loads the library $TL_NVML, by default libnvidia-ml.so.1, and finds the GPU at this PCI address
 * ("0000:3b:00.0"; NULL: the first). -1 with a sentence in why. */
int nvml_open(struct nvml *n, const char *pci, char *why, int size);
void nvml_close(struct nvml *n);
/* Takes up to a millisecond. */
void nvml_look(const struct nvml *n, struct nvml_look *out);

#endif
