/* A network: a model's graph, with shapes and weights, as a program that is ready to run.
 */
#ifndef TL_RUN_NETWORK_H
#define TL_RUN_NETWORK_H

#include "lib/base/arena.h"
#include "lib/build/cache.h"
#include "lib/extract/graph/infer.h"
#include "lib/extract/onnx/onnx.h"
#include "lib/run/ahead.h"
#include "lib/run/arrays.h"
#include "lib/run/choose.h"
#include "lib/run/lower.h"
#include "lib/run/plan.h"

struct network_options {
	const uint64_t *seed;	    /* of random weights; NULL: those of the file */
	const char *db;		    /* path of the database; NULL: none */
	const char *model;	    /* cost model, as tl-query takes it */
	int by_library;		    /* a library computes convolutions and products */
	enum dtype precision;	    /* in which operators compute that can: f32 or bf16 */
	int threads;		    /* 0: as many as the machine has for us */
	const struct arrays *given; /* inputs; NULL: none. See given.h. */
	const struct raced *raced;  /* workloads whose kernels get rivals; NULL: none */
	struct infer_options infer;
};

struct network {
	struct arena a;
	struct id id;	    /* over the operators and shapes of its nodes */
	const char *source; /* of its workloads, "MODEL:HASH12" (lib/extract/worklist.h) */
	struct onnx_model onnx;
	struct infer infer;
	struct infer_options sizes; /* the shapes of the inputs */
	struct chooser chooser;
	struct cache cache;
	struct plan plan;
	struct graph_io io;
	struct ahead_facts ahead; /* what runs of parts of the graph have told */
	uint64_t seed;
	int has_seed, has_cache, has_chooser;
	int left_out; /* each tensor of weights has one value only: they were left out of the file
		       */
};

/* Reads the first ONNX model of a file or archive, and prepares it. 0; 1: a signal stopped it; -1.
 * network_close() in any case. Where sizes follow from data, parts of it run with the inputs. */
int network_open(struct network *n, const char *path, const struct network_options *o,
		 struct err *e);
/* The same as far as its steps are known, with their workloads and kernels: nothing can run yet. */
int network_lower(struct network *n, const char *path, const struct network_options *o,
		  struct err *e);
void network_close(struct network *n);

/* Inputs: those of the arrays that are given, by name; the only array, if there is one input. -1:
 * one is missing or has another shape. Where none are given, random ones: floats between -1 and 1,
 * integers 0 or 1. */
int network_fill_inputs(struct network *n, const struct network_options *o, struct err *e);
/* Calls say with the name of each array that no input and no output of the model has. One file may
 * hold arrays for both. */
void network_strangers(const struct network *n, const struct arrays *a,
		       void (*say)(const char *what, const char *name));
/* Does each step read what was written for it (check_memory.h)? The inputs must be set. -1: no, or
 * it cannot be told. */
int network_check_memory(struct network *n, struct err *e);
/* Copies of inputs and outputs, and weights, for arrays_write(); ctx is the network. The weights
 * are those that constant_is_weights() is true for. */
arrays_next network_input, network_output, network_weights;
int network_count_weights(const struct network *n);
/* How outputs differ from what they should be. */
struct network_error {
	const char *name;
	double max;	/* largest difference over largest value */
	double l2;	/* root of the sum of squares, over that of what it should be */
	int not_finite; /* NaN or infinity is in other places than it should be */
	/* A matrix of at least two columns may be scores of classes. These count its rows, and
	 * those whose largest element is where it should be. 0: it is no such matrix. */
	int64_t rows, same_first;
};
/* The error that outputs may have, in either measure, where `single` is what they may have in
 * single precision. In bf16 networks are up to 0.05 off (PERFORMANCE.md), and wrong ones are off by
 * about 1. */
double network_error(enum dtype precision, double single);
int network_compare(const struct network *n, int output, const struct arrays *should,
		    struct network_error *out, struct err *e);

#endif
