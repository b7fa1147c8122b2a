/* Candidates. A candidate is a workload, a target, an algorithm and its knobs: one tensor program
 * that could be built. */
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
/* The algorithm builds the nest, whose pitch may be set. It is an error, with the reason, if the
 * knobs make no program (algo_valid()) or if check_nest() (lib/nest/check.h) refuses the nest. So
 * whatever builds programs may be given the knobs of any record. */
int candidate_build(const struct candidate *c, struct nest *n, struct err *e);
/* May rows of its result lie apart (lib/nest/nest.h, pitch)? */
int candidate_pitches(const struct candidate *c);
/* Reads a candidate or result record. Recomputes the ids; a candidate_id that disagrees is an error
 * unless check is 0. Missing knobs take their frozen default; unknown algorithms and knobs are
 * errors. */
int candidate_from_json(struct candidate *c, const struct json_doc *d, int check, struct err *e);
/* Reads c's knobs, of its algorithm, from an object such as {"vl":16}. Missing knobs take their
 * frozen default. A wrong name or value is an error. */
int candidate_knobs_from_json(struct candidate *c, const struct json_doc *d, const struct json *obj,
			      struct err *e);
/* The same for many records: a workload object with the same text as the last one is not read
 * again. Zeroed at the start. */
struct candidate_reader {
	struct buf text;   /* of the workload read last */
	struct workload w; /* and itself */
};
int candidate_read(struct candidate_reader *r, struct candidate *c, const struct json_doc *d,
		   int check, struct err *e);
void candidate_reader_free(struct candidate_reader *r);
/* The whole record line, without newline. */
void candidate_print(const struct candidate *c, struct buf *out);
/* The same, faster for many candidates of one workload. workload_json: the fields of the "workload"
 * object, without braces. */
void candidate_print_with(const struct candidate *c, const char *workload_json, size_t n,
			  struct buf *out);

#endif
