/* The door: what a file, a database or another program says is believed if it passes here.
 *
 * A record passes if its fields are those of its type, of their kinds (lib/record/check.h), its ids
 * are what its fields make, its algorithm and knobs are of this version, and it contradicts neither
 * itself nor its checksum. A result of a program that was built passes only if its knobs make a
 * program. tl-check and tl-store ask for every record; programs that use results of a database, a
 * journal or a stream ask for those that they use. What does not pass is unknown to them.
 *
 * The nest of a candidate is not built here. candidate_build() (lib/algo/candidate.h) checks it.
 *
 * Nothing is believed because it is stored. Whatever a file, a database, a journal or a stream
 * says passes one door, which decides for tl-check and tl-store, and for each program that uses
 * results: fields and their kinds, ids, knobs, and whether the record contradicts itself or its
 * checksum. What does not pass is unknown, and is said once. Of the results that only count, such
 * as the thousands that a workload's history has, the records are not read again: tl-store has let
 * them in. The nest of a candidate is checked where it is built (candidate_build()).
 */
#ifndef TL_DOOR_DOOR_H
#define TL_DOOR_DOOR_H

#include "lib/algo/candidate.h"

/* For one record after the other: equal parts of neighbours are read once. Zeroed at the start. */
struct door {
	struct candidate_reader reader;
	struct buf env; /* the env and env_id that were found to agree last */
};

/* 0; -1 with the sentence for a record that does not pass. Of a type that no version knew, all
 * pass, but for those that contradict their checksum. */
int door_record(struct door *g, const struct json_doc *d, struct err *e);
/* The same for a record that must be a result; c gets its candidate. */
int door_result(struct door *g, const struct json_doc *d, struct candidate *c, struct err *e);
/* The same for the text of a record; d gets the parse. */
int door_result_text(struct door *g, const char *line, size_t n, struct json_doc *d,
		     struct candidate *c, struct err *e);
void door_free(struct door *g);

/* Counts the records that did not pass. Programs say it once, at their end. Zeroed at the start. */
struct door_refused {
	int64_t n;
	char first[200]; /* the sentence for the first */
};
void door_refuse(struct door_refused *r, const struct err *why);
/* Adds what another one counts. */
void door_refuse_all(struct door_refused *r, const struct door_refused *more);
/* The sentence on it, in text; NULL: nothing was left out. */
enum { DOOR_SENTENCE = 320 };
const char *door_sentence(const struct door_refused *r, char text[DOOR_SENTENCE]);

#endif
