/* The parts of a stand-in for cuDNN, libcudnn.so.9: its descriptors (cudnn.c), the rules that they
 * obey (cudnn_rules.c), and its engines (cudnn_engines.c).
 */
#ifndef TL_TESTS_EMULATOR_CUDNN_H
#define TL_TESTS_EMULATOR_CUDNN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/baseline/cuda/cudnn.h"

enum status {
	SUCCESS = 0,
	NOT_INITIALIZED = 1001,
	BAD_PARAM = 2000,
	NOT_FINALIZED = 2004,
	SIZE_INSUFFICIENT = 2006,
	SHAPE_MISMATCH = 2008,
	ATTRIBUTE_TYPE = 2010,
	NOT_SUPPORTED = 3000,
	EXECUTION_FAILED = 5000,
};

enum { VALUES = 8, RANK = 4 };

/* A value of an attribute: a copy of what the caller gave. */
struct value {
	int attribute, type;
	int64_t n;
	void *of;
};

struct descriptor {
	uint64_t magic;
	int kind, is_finished;
	struct value value[VALUES];
	int nvalues;
	int has_knobs;	    /* of an engine's configuration: those that heuristics propose */
	int64_t engine[3];  /* of a heuristic: the engines that it proposes */
	int nengines, knob; /* of a choice: which of both */
};

size_t size_of(int type);
/* A value of a descriptor; NULL: there is none. */
const struct value *find_value(const struct descriptor *d, int attribute);
/* Its first element. */
int64_t integer(const struct descriptor *d, int attribute);
const struct descriptor *linked(const struct descriptor *d, int attribute);

/* May a descriptor have this value? */
enum status check_value(const struct descriptor *d, int attribute, int type, int64_t n);
/* May it be finished? */
enum status check_finish(const struct descriptor *d);

enum { ENGINES = 8 };
/* What an engine tells of its numbers; how many notes. */
int engine_notes(int64_t engine, int note[2]);
/* 0: it makes no plan. */
int engine_plans(int64_t engine);
int64_t engine_workspace(int64_t engine);
/* Can it run? All tensors of the graph that are in memory need an address. */
enum status engine_check(int64_t engine, const struct descriptor *graph,
			 const struct descriptor *pack);
enum status engine_run(int64_t engine, const struct descriptor *graph,
		       const struct descriptor *pack);

#endif
