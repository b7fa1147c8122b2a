/* The input of a replay as a whole: records in memory, for what has to know all of them before it
 * answers the first. Records that make no sense are reported by the reader (lib/io/record.h) and
 * left out.
 */
#ifndef TL_REPLAY_WHOLE_H
#define TL_REPLAY_WHOLE_H

#include "lib/algo/candidate.h"
#include "lib/base/arena.h"
#include "lib/io/record.h"

struct whole_record {
	struct rec r;
	struct id candidate, workload; /* empty where the record has none */
};

struct whole {
	struct arena arena;
	struct candidate_reader reader;
	struct whole_record *record;
	size_t n, cap;
	size_t next; /* which whole_next() gives */
};

/* Reads to the end, or until a stop is asked for. */
int whole_read(struct whole *in, struct rec_in *from, struct err *e);
/* 1; 0: there are no more, or a stop was asked for. */
int whole_next(struct whole *in, struct rec *r);
void whole_free(struct whole *in);

#endif
