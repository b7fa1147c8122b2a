/* What is in the caches when a timed call begins. */
#ifndef TL_TRIAL_CACHES_H
#define TL_TRIAL_CACHES_H

enum caches {
	CACHES_WARM,	     /* what the call before left there */
	CACHES_COLD,	     /* none of the operands */
	CACHES_WEIGHTS_COLD, /* no weights, as in a network of many layers; activations, as they
				come from the layer before, are as the call before left them */
};

const char *caches_name(enum caches c); /* "warm", "cold", "weights-cold" */
int caches_find(const char *name);	/* -1: it is none */

/* Their names, for option tables. */
#define CACHES_NAMES "warm|cold|weights-cold"

#endif
