/* A stand-in for NVML, libnvidia-ml.so.1, for tests: the GPU of the stand-in driver (cuda.c). Its
 * energy grows with the time, by 100 W. It is never idle.
 */
#include <stdint.h>
#include <string.h>
#include <time.h>

/* Programs declare these functions for themselves. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define API __attribute__((visibility("default")))

enum result { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6 };

static int started;
static char gpu;

API int nvmlInit_v2(void)
{
	started++;
	return SUCCESS;
}

API int nvmlShutdown(void)
{
	return started-- > 0 ? SUCCESS : UNINITIALIZED;
}

API int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device)
{
	if (!started)
		return UNINITIALIZED;
	*device = &gpu;
	return strcmp(address, "0000:2a:00.0") == 0 ? SUCCESS : NOT_FOUND;
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
	return i ? INVALID_ARGUMENT : nvmlDeviceGetHandleByPciBusId_v2("0000:2a:00.0", device);
}

static int ready(const void *device)
{
	return !started ? UNINITIALIZED : device == &gpu ? SUCCESS : INVALID_ARGUMENT;
}

API int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	*millijoules =
		100000ULL * (unsigned long long)t.tv_sec + (unsigned long long)t.tv_nsec / 10000;
	return ready(device);
}

API int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz)
{
	enum { SM = 1 };

	*mhz = 1000;
	return kind == SM ? ready(device) : INVALID_ARGUMENT;
}

API int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	*celsius = 41;
	return sensor ? INVALID_ARGUMENT : ready(device);
}

/* The power limit. */
API int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	*reasons = 4;
	return ready(device);
}

API int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
	*milliwatts = 300000;
	return ready(device);
}
