/* The state of the caches when a timed call begins. */
#ifndef TL_TARGET_CACHES_H
#define TL_TARGET_CACHES_H

#include "lib/target/target.h"

enum caches {
	CACHES_WARM,	     /* what the call before left there */
	CACHES_COLD,	     /* none of the operands */
	CACHES_WEIGHTS_COLD, /* no weights, as in a network of many layers; activations, as they
				come from the layer before, are as the call before left them */
	CACHES_STATES
};

const char *caches_name(enum caches c); /* "warm", "cold", "weights-cold" */
int caches_find(const char *name);	/* -1: it is none */

/* As a network has them: weights-cold. A device's caches can only be flushed as a whole, so they
 * are warm there. */
enum caches caches_default(const struct target *t);

/* Their names, for option tables. */
#define CACHES_NAMES "warm|cold|weights-cold"

/* The option of programs that predict times (lib/io/opt.h): const char *, NULL by default. */
#define CACHES_OPTION(name)                                                                         \
	{                                                                                           \
		0, "cache", OPT_ENUM, &(name), "MODE",                                              \
			"Predict times with the caches in this state before each call, as "         \
			"tl-measure times them: warm, cold, or with the weights alone cold, which " \
			"is the default on a processor.",                                           \
			CACHES_NAMES                                                                \
	}
/* The state that the option asks for. */
enum caches caches_wanted(const char *name, const struct target *t);

#endif
