/* How stand-ins for NVIDIA's libraries put work on a stream of the emulated device. */
#ifndef TL_TESTS_EMULATOR_QUEUE_H
#define TL_TESTS_EMULATOR_QUEUE_H

#include <stddef.h>

/* Runs run() with a copy of these bytes when the stream comes to it: at once, or, while the stream
 * is captured, whenever the graph is started. 0, or a result of the driver's. With
 * TL_EMULATOR_WAITS=LIBRARY its calls wait for the stream, which cannot be captured. */
int queue_put(const char *library, void *stream, void (*run)(void *), const void *arg,
	      size_t bytes);
/* Has this thread a context of the device? 1 as well where there is no device. */
int queue_has_context(void);

#endif
