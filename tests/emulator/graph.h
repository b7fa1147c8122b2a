/* Streams of the stand-in driver, and graphs that are captured from them: lists of launches. A
 * launch on a stream runs at once, unless the stream captures.
 */
#ifndef TL_TESTS_EMULATOR_GRAPH_H
#define TL_TESTS_EMULATOR_GRAPH_H

#include "tests/emulator/fiber.h"

enum { GRAPH_PARAMS = 64, GRAPH_PARAM_BYTES = 128 };

/* A launch, with its own copy of the parameters; or a function of this machine's. */
struct launch {
	struct launch *next;
	void (*host)(void *arg); /* NULL: a launch */
	void *arg;
	struct fiber_grid grid;
	void *param[GRAPH_PARAMS];
	_Alignas(64) char value[GRAPH_PARAMS][GRAPH_PARAM_BYTES];
};

struct stream {
	int captures;
	int is_invalid; /* what it captures: something was called that cannot be captured */
	struct launch *first, **end; /* captured so far */
};

/* Is it the default stream, or one that was made and not destroyed? */
int graph_is_stream(const void *stream);
int graph_captures(const void *stream);
/* Notes a launch whose parameters have these sizes. -1: no memory, or too many of them. */
int graph_add(struct stream *s, const struct fiber_grid *g, const unsigned *size, int n);

#endif
