/* What is exported: of each workload the best known program for each instruction set.
 *
 * Pieces come from result and candidate records (man 5 tl-record). They stand in the order in which
 * their workloads came, of each the widest instruction set first; so the same input makes the same
 * export.
 */
#ifndef TL_EXPORT_PIECE_H
#define TL_EXPORT_PIECE_H

#include "lib/door/door.h"
#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/io/json.h"
#include "lib/record/result.h"
#include "lib/space/isa.h"

/* Text is "" and numbers are NAN where nothing was measured. */
struct piece {
	struct candidate c;
	const struct isa *isa; /* what the code needs */
	int final;	       /* it was compared with the baseline */
	double latency_s;
	struct interval ci_s;
	double ratio; /* the baseline's time over its own */
	struct interval ratio_ci;
	const char *verdict, *baseline, *cpu, *env_id, *at;
	int64_t threads; /* that it was tuned for; 0: unknown */
	int leads;	 /* it is the best known of its workload, in its env */
	/* It was measured where the CPU had, or lacked, instructions that its code lacks, or has:
	 * what was measured holds for another piece of the same program. */
	int stands_in;
};

struct pieces {
	struct arena arena, record; /* what is kept, and what is reset for each record */
	struct map map;		    /* workload and instruction set -> struct piece */
	struct map other_types;	    /* ids of workloads in types of which no kernel is exported */
	struct door door;
	int keeps; /* what is there stays: only pieces that lacked are taken */
};

/* Is a workload in types of which kernels are exported? Others are counted. */
int pieces_may_take(struct pieces *p, const struct workload *w);
/* Takes a candidate or a result: 1, 0 where the result is no program that ran well or is in other
 * types, -1 where the record is wrong. */
int pieces_take(struct pieces *p, const struct json_doc *d, int is_result, struct err *e);
/* All of them, in order; *n: how many. Lives as long as the pieces. */
struct piece **pieces_list(struct pieces *p, size_t *n);
void pieces_free(struct pieces *p);

#endif
