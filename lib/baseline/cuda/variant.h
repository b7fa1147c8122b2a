/* Variants of a workload on the device: one call of a library, or two, one after the other. */
#ifndef TL_BASELINE_CUDA_VARIANT_H
#define TL_BASELINE_CUDA_VARIANT_H

#include "lib/baseline/cuda/stage.h"
#include "lib/target/device.h"

enum { VARIANT_NAME = 112, VARIANT_CALLS = 2 };

/* Puts its work on the stream, and does not wait. The library that made it owns arg. */
struct call {
	int (*run)(void *arg, void *stream, struct err *e);
	void *arg;
};

struct variant {
	char name[VARIANT_NAME];
	const char *layout;
	struct placed dst;
	struct call call[VARIANT_CALLS];
	int ncalls;
	struct cuda_row row;
};

struct variants {
	struct variant *v;
	int n, room;
	const struct baseline_choice *only; /* these alone are wanted, if there are any */
	int nonly;
};

/* Is a variant of this name asked for, and not there yet? It is made only then. */
int variants_want(const struct variants *all, const char *name, const char *layout);
void variants_add(struct variants *all, const struct variant *v);

#endif
