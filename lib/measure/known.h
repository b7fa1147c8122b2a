/* Finds results of earlier runs, in the same env and with the same settings, so that a candidate
 * need not be measured again (--skip-known, --journal).
 *
 * Results come from sources: a database, a journal. If a candidate was found wrong once, it is
 * wrong. Otherwise these statuses are known: ok; preempted, because the candidate lost a duel, and
 * the incumbent of today is no slower than that one; build and unsupported; timeout, oom and crash
 * if two runs had them, because such candidates get a second chance. A final is known if it was ok,
 * or failed in two runs.
 *
 * Nothing is measured twice. A journal, which is synced after each result, and the database are
 * two sources for one decision: is the recorded result of this env and these settings final?
 * Settings that change an outcome are hashed into each result. A candidate that lost a duel is
 * known to be slower: today's incumbent is no slower than the one that it lost to. The record of
 * the last incumbent says so, so that a resumed run has the same incumbent.
 */
#ifndef TL_MEASURE_KNOWN_H
#define TL_MEASURE_KNOWN_H

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/door/door.h"
#include "lib/io/json.h"
#include "lib/record/result.h"

/* Takes one recorded line, which need not stay in place. */
typedef int known_take(void *to, const char *line, size_t n, struct err *e);
struct known_source {
	/* Gives all result records of a candidate to take(), in any order. */
	int (*look)(void *from, const char *workload_id, const char *candidate_id, known_take *take,
		    void *to, struct err *e);
	void *from;
};

enum { KNOWN_SOURCES = 2 };
struct known {
	struct id env, settings;
	struct known_source source[KNOWN_SOURCES];
	int nsources;
	struct json_doc doc;
	struct door door;
	struct door_refused refused; /* results that did not pass it */
	struct arena scratch;	     /* of one record */
};
void known_add_source(struct known *k, const struct known_source *s);
void known_free(struct known *k); /* not the sources */

struct known_result {
	const char *line;
	size_t n;
	enum status status;
	const char *run, *at;
	int final;
	int became_incumbent; /* it became the best known then */
};
struct known_answer {
	const struct known_result *result, *final; /* NULL: not known */
};
/* The decision, for results in any order. */
void known_decide(const struct known_result *r, int n, struct known_answer *out);

/* Looks a candidate up: 1 if its result is known, 0 if not, -1. Texts live in a. */
int known_find(struct known *k, const char *workload_id, const char *candidate_id, struct arena *a,
	       struct known_answer *out, struct err *e);

#endif
