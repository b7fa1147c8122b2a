#include "lib/host/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK_SM = 1, SENSOR_GPU = 0 };

/* A function of the library; NULL: it has none of that name. */
static void *symbol(const struct nvml *n, const char *name)
{
	return dlsym(n->handle, name);
}

static int find_gpu(struct nvml *n, const char *pci)
{
	int (*init)(void);
	int (*first)(unsigned, void **);
	int (*at)(const char *, void **);

	*(void **)&init = symbol(n, "nvmlInit_v2");
	*(void **)&first = symbol(n, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&at = symbol(n, "nvmlDeviceGetHandleByPciBusId_v2");
	if (!init || (pci ? !at : !first) || init())
		return -1;
	return pci ? at(pci, &n->gpu) : first(0, &n->gpu);
}

int nvml_open(struct nvml *n, const char *pci, char *why, int size)
{
	const char *told = getenv("TL_NVML");

	memset(n, 0, sizeof *n);
	n->handle = dlopen(told && *told ? told : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!n->handle) {
		snprintf(why, (size_t)size, "no NVML: %.150s", dlerror());
		return -1;
	}
	if (find_gpu(n, pci) || !n->gpu) {
		snprintf(why, (size_t)size, "NVML finds no GPU");
		nvml_close(n);
		return -1;
	}
	*(void **)&n->energy = symbol(n, "nvmlDeviceGetTotalEnergyConsumption");
	*(void **)&n->clock = symbol(n, "nvmlDeviceGetClockInfo");
	*(void **)&n->temperature = symbol(n, "nvmlDeviceGetTemperature");
	*(void **)&n->throttle = symbol(n, "nvmlDeviceGetCurrentClocksThrottleReasons");
	*(void **)&n->limit = symbol(n, "nvmlDeviceGetEnforcedPowerLimit");
	return 0;
}

void nvml_close(struct nvml *n)
{
	int (*end)(void);

	if (!n->handle)
		return;
	*(void **)&end = symbol(n, "nvmlShutdown");
	if (end)
		end();
	dlclose(n->handle);
	memset(n, 0, sizeof *n);
}

void nvml_look(const struct nvml *n, struct nvml_look *out)
{
	unsigned value;
	unsigned long long reasons;

	*out = (struct nvml_look){0};
	if (n->clock && !n->clock(n->gpu, CLOCK_SM, &value)) {
		out->has |= 1U << NVML_CLOCK;
		out->clock_hz = 1e6 * value;
	}
	if (n->temperature && !n->temperature(n->gpu, SENSOR_GPU, &value)) {
		out->has |= 1U << NVML_TEMPERATURE;
		out->temperature_C = (int)value;
	}
	if (n->throttle && !n->throttle(n->gpu, &reasons)) {
		out->has |= 1U << NVML_THROTTLE;
		out->throttle = reasons;
	}
	if (n->limit && !n->limit(n->gpu, &value)) {
		out->has |= 1U << NVML_LIMIT;
		out->limit_W = 1e-3 * value;
	}
}
