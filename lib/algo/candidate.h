/* Candidates: a workload, a target, an algorithm and its knobs; one tensor program that could be
 * built. */
#ifndef TL_ALGO_CANDIDATE_H
#define TL_ALGO_CANDIDATE_H

#include "lib/algo/algo.h"

struct candidate {
	struct workload w;
	const struct target *target;
	const struct algo *algo;
	int64_t knob[KNOB_MAX]; /* in the order of algo->knob */
	struct id id;
};

/* Computes c->id from the workload's id, the algorithm and the knobs. */
void candidate_identify(struct candidate *c);
/* The nest of valid knobs, by the algorithm; one that check_room() (lib/nest/check.h) refuses is an
 * error. */
int candidate_build(const struct candidate *c, struct nest *n, struct err *e);
/* From a candidate or result record. Recomputes the ids; a candidate_id that disagrees is an error
 * unless check is 0. Knobs left out take their frozen default; unknown algorithms and knobs are
 * errors. */
int candidate_from_json(struct candidate *c, const struct json_doc *d, int check, struct err *e);
/* c's knobs, of its algorithm, from an object such as {"vl":16}: what is left out is frozen. A name
 * or value that is none is an error. */
int candidate_knobs_from_json(struct candidate *c, const struct json_doc *d, const struct json *obj,
			      struct err *e);
/* The same for records one after the other: an embedded workload that reads like the last one is
 * not read again. Starts with all 0. */
struct candidate_reader {
	struct buf text;   /* of the workload read last */
	struct workload w; /* and itself */
};
int candidate_read(struct candidate_reader *r, struct candidate *c, const struct json_doc *d,
		   int check, struct err *e);
void candidate_reader_free(struct candidate_reader *r);
/* The whole record line, without newline. */
void candidate_print(const struct candidate *c, struct buf *out);
/* For printing many candidates of one workload fast: everything between the id and the target. */
void candidate_print_with(const struct candidate *c, const char *workload_json, size_t n,
			  struct buf *out);

#endif
