/* A plan: the steps that compute a graph, and the memory that they work in.
 *
 * Lowering a graph makes it (lower.h): steps are added in their order, and name the memory that
 * they read and write. A step with only constant operands runs once, when the plan is prepared.
 * prepare_plan() (prepare.h) builds and loads the kernels, fills constant memory and lays out the
 * rest. Two pieces of memory that are never needed at the same time may have the same place.
 *
 * Elements are single-precision floats, or bf16 where a place says so (place.h). Integers of a
 * graph that steps compute with (indices, masks) are stored as floats, too. They are exact up to
 * 2^24.
 *
 * Concatenations get their memory before anything is lowered. The step that makes a part writes it
 * there, with gaps between its rows where it must (lib/nest/nest.h, pitch), or a copy follows. The
 * last concatenation is planned first: if its parts are neighbours in a later one, it is a view of
 * that. So a dense block of DenseNet has one buffer, and its 58 concatenations cost nothing.
 */
#ifndef TL_RUN_PLAN_H
#define TL_RUN_PLAN_H

#include "lib/algo/candidate.h"
#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/build/cache.h"
#include "lib/nest/operands.h"
#include "lib/run/dequantize.h"
#include "lib/run/place.h"
#include "lib/space/limits.h"
#include "lib/target/runner.h"

enum { WEIGHTS_CHANGES = 24 };

enum weights_kind {
	WEIGHTS_BIAS,  /* the operator's own bias, or one that is added: a = bias */
	WEIGHTS_SCALE, /* a = factor */
	WEIGHTS_NORM,  /* a, b, c, d = scale, shift, mean, variance */
};

/* A change of the sums. Its vectors have one element for each channel, or one element. */
struct weights_change {
	enum weights_kind kind;
	int a, b, c, d;		/* numbers of constant memory */
	double epsilon, factor; /* factor: of a bias */
};

/* A product in 8 bits has these numbers in constant memory, or MEMORY_NONE. Source, weights and
 * result stand for their scale times what is left without their zero point. */
struct weights_scales {
	int is;
	int x_scale, x_zero, w_scale, y_scale, y_zero;
	int bias; /* whole numbers */
};

/* Weights of few bits in groups stay packed. Their scales and zero points (MEMORY_NONE: there are
 * none) are in constant memory. */
struct weights_groups {
	const struct dequantize_packed *packed; /* NULL: weights are as they are */
	int scales, zeros;
};

struct weights_plan {
	int memory;	/* of the weights; -1: they are no constant */
	int64_t at;	/* their first element there */
	int transposed; /* of a matrix: k x n is stored as n x k */
	double alpha;	/* a factor of all */
	int64_t channels;
	/* Channel c takes element c / (times * run) * run + c % run of the vectors of changes: a
	 * run of elements serves so many runs of channels. Both are 1 where each channel has its
	 * own element. */
	int64_t times, run;
	int nchange;
	struct weights_change change[WEIGHTS_CHANGES];
	struct weights_scales scales;
	struct weights_groups groups;
};

typedef void plan_fill(void *with, float *to, int64_t n);

struct memory {
	int64_t size; /* elements */
	enum elem elem;
	int is_const;
	int is_kept;  /* of the whole run: inputs and outputs */
	int is_input; /* the caller writes it */
	float *data;  /* where it is, if it is not in the plan's block */
	int owned;    /* data was mapped for it */
	/* Does a step that runs once write to it? Does a step of every run? If both do, it is no
	 * constant, but no other memory may have its place, because the first contents must stay.
	 */
	int written_once, written_again;
	int readers; /* of a constant: readers that are not done; at 0 it is freed */
	/* Of a constant: fill() makes its elements when they are needed; drop() frees memory that
	 * is not owned. */
	plan_fill *fill;
	void *fill_with;
	void (*drop)(void *with);
	void *drop_with;
	int first, last; /* steps that use it; first is -1 if none does */
	/* Other memory that it lies in, offset floats from its start: results take the place of
	 * what nobody reads any more (overwrite.h). -1: it has a place of its own. */
	int within;
	int64_t offset;
	int64_t at; /* in the plan's block */
};

enum { MEMORY_NONE = -1, MEMORY_SCRATCH = -2 };

/* A step in plain C instead of a nest, because it depends on data in a way that nests cannot
 * express, or because it is rare. */
struct plain {
	/* The part of thread `thread` of `threads`. -1: an operand has an element that it must not
	 * have. */
	int (*run)(const void *with, float *const *buffers, int thread, int threads);
	const void *with;
	const char *bad; /* what -1 means: "an index lies outside"; NULL: it never fails */
	int is_scan;	 /* each part looks through all operands */
	int is_typed;	 /* the buffers have elements of the operands' types */
	/* Instead of run: so many turns, each of which begins when all threads have done the one
	 * before. */
	int (*turn)(const void *with, float *const *buffers, int turn, int thread, int threads);
	int turns;
};

static inline int plain_turns(const struct plain *c)
{
	return c->turn ? c->turns : 1;
}
/* The part of a thread in one turn. */
static inline int plain_part(const struct plain *c, void *const *buffers, int turn, int thread,
			     int threads)
{
	float *const *b = (float *const *)buffers;

	return c->turn ? c->turn(c->with, b, turn, thread, threads)
		       : c->run(c->with, b, thread, threads);
}

/* Counts the items of an operator that makes as many as its data say (counted.h). */
struct counted {
	const char *name;     /* of its first output */
	int64_t told;	      /* so many must come out; -1: they are only counted */
	int64_t found;	      /* in the last run; -1: it was not reached */
	int is_tried;	      /* so many come out, whatever is found (ahead.h) */
	int64_t outer, inner; /* the result is outer x items x inner */
};

/* The items were counted, and as many as there is room for are in `to`. -1: they must be as many as
 * was told, and are not. If it is tried, the last one stands for those that are missing. */
int counted_end(struct counted *c, float *to, int64_t found);

struct step {
	const char *name; /* of the node */
	const char *what; /* its type, and those of what was fused into it: "Conv+Relu" */
	int is_constant;  /* it runs once */
	/* A copy of operand 0 to operand 1, which has the same dimensions, and maybe another type
	 * of elements. Its kernel is made when it is known that the elements must be moved
	 * (plan_make_copies()); it is idle if both places are the same, as is a step of another
	 * kind whose result nobody reads. */
	int is_copy, is_idle;
	struct place *operand; /* nslots of them; a workspace has its memory and start alone */
	int nslots;
	int result; /* the operand that it writes */
	/* It reads element i of its first operands, or row i, before it writes that of its result.
	 * So the result may lie where one of so many operands does, element for element. */
	int elementwise;
	int adds; /* what the result's place held before is added to the result */
	/* A kernel: */
	struct build *build;
	struct kernel kernel;
	long params[NEST_PARAMS];
	int threads;		     /* that run it */
	int phases;		     /* between which they meet */
	void *buffers[NEST_BUFFERS]; /* the operands, once the plan is prepared */
	int64_t own[NEST_BUFFERS];   /* bytes that each thread has of it; 0: it is for all */
	int64_t scratch;	     /* floats that it takes of the scratch memory */
	/* If it is the kernel of a workload: */
	const struct workload *workload;
	const struct place *by_role; /* TENSOR_ROLES of them */
	struct baseline *baseline;   /* the library's code instead of the kernel */
	int variant;
	const struct candidate *candidate;
	int64_t pitch; /* of its result (lib/nest/nest.h) */
	const struct weights_plan *weights;
	const char *match;  /* how the kernel was found: "exact", "nearest", .. */
	double predicted_s; /* its time by the database; NAN: not known */
	int is_decided;	    /* by whole runs of this network (inplace.h) */
	/* Or no kernel: */
	const struct plain *plain;
};

/* Another kernel for a step, which may take its place between two runs (plan_take()). While it has
 * the place, `with` is the kernel that stood there before. */
struct rival {
	int step, number; /* from 1 on */
	int is_in;
	struct step with;
};

struct plan {
	struct arena *a;
	const struct runner *runner;
	struct limits limits;
	struct cache *cache;
	int threads;
	int by_library;	      /* workloads are computed by a library (library.h) */
	enum dtype precision; /* of operators that can: DTYPE_BF16, or DTYPE_F32 */
	struct memory *memory;
	int nmemory, memory_cap;
	struct step *step;
	int nstep, step_cap;
	struct rival *rival;
	int nrival, rival_cap;
	struct counted **counted; /* in the order of their steps */
	int ncounted;
	struct map packed; /* constant memory, by what is packed there and how (weights.c) */
	float *block, *scratch;
	int64_t block_size, scratch_size; /* floats */
	struct parts *team;		  /* the threads that run it (parts.h) */
	struct nest *nest;		  /* the one at hand */
	struct arena nest_arena;
};

/* The cache and the arena must outlive it. */
void plan_init(struct plan *p, const struct runner *r, const struct limits *limits, struct cache *c,
	       struct arena *a);
void plan_free(struct plan *p);

int plan_memory(struct plan *p, enum elem elem, int64_t size);
/* The floats that memory takes, whatever its elements are. */
int64_t memory_floats(const struct memory *m);
/* A constant whose elements are there already; owned: 0 by the caller. */
int plan_const(struct plan *p, float *data, int64_t size);
/* One whose elements fill() makes when they are needed. */
int plan_filled(struct plan *p, plan_fill *fill, void *with, int64_t size);
/* An empty nest to be filled for the next plan_kernel(). */
struct nest *plan_nest(struct plan *p, const char *name);
/* A step writes memory that no step before it has written, or other elements of it; only a
 * workload's kernel that adds to its result finds there what a step before it wrote.
 *
 * Adds the kernel of the nest at hand; operand[i] is that of slot i, for arguments. Workspace is
 * found by itself. Valid until the next step is added. NULL: it cannot be printed. */
struct step *plan_kernel(struct plan *p, const char *name, const char *what,
			 const struct place *operand, struct err *e);
/* Plain C; with lives as long as the plan. The last of n operands is what it writes. */
struct step *plan_plain(struct plan *p, const char *name, const char *what, const struct plain *c,
			const struct place *operand, int n);
/* Moves elements; both places have the same dimensions. each_time: something else will be written
 * there later, so that constants must be copied again in each run. */
void plan_copy(struct plan *p, const char *name, const struct place *from, const struct place *to,
	       int each_time);
/* The kernels of copies that are not idle. */
int plan_make_copies(struct plan *p, struct err *e);
/* The kernel of a workload; by_role: of the tensors that are no constants. w lives as long as the
 * plan. Rows of the result lie `pitch` elements apart; 0: without gaps. */
struct step *plan_candidate(struct plan *p, const char *name, const char *what,
			    const struct candidate *c, const struct weights_plan *w,
			    const struct place by_role[TENSOR_ROLES], int64_t pitch, struct err *e);
/* Adds another kernel to the workload's step that was added last: its next rival. NULL: it cannot
 * be printed. */
struct step *plan_rival(struct plan *p, const struct candidate *c, struct err *e);
/* Gives a step of a prepared plan the kernel of its rival of that number; 0: its first one. No
 * thread may be at work (exec_rest()). */
void plan_take(struct plan *p, int step, int number);
/* All steps, and behind them those of rivals. */
int plan_count_kernels(const struct plan *p);
struct step *plan_kernel_at(const struct plan *p, int i);
/* Does it run each time? */
static inline int step_is_live(const struct step *s)
{
	return !s->is_constant && !s->is_idle;
}

/* A reader of a constant is done. After the last one the constant is freed. */
void plan_leave(struct plan *p, int memory);
/* What a plan of weights reads: the i-th memory, MEMORY_SCRATCH for one left out, or MEMORY_NONE
 * behind the last. */
int plan_weights_read(const struct weights_plan *w, int i);
/* Does the machine have memory for so many floats? The system would give more, and kill the
 * program, or another one, when they are written. */
int plan_has_room(int64_t n);
/* Floats, mapped; huge pages where there are many. NULL: there is no memory. */
float *plan_map(int64_t n);
void plan_unmap(float *x, int64_t n);
/* n, up to a cache line. */
int64_t plan_round(int64_t n);
/* Gives memory its elements, if it has none yet. */
int plan_alloc(struct plan *p, int memory, struct err *e);
/* Does a constant have only one reader left, the caller? */
int plan_is_spent(const struct plan *p, int memory);
/* Where the memory is, then; and the first element of a place. */
float *plan_data(const struct plan *p, int memory);
void *plan_address(const struct plan *p, const struct place *o);

#endif
