/* The status of a result: what happened to the candidate. Records have its name, programs the
 * number.
 */
#ifndef TL_RECORD_STATUS_H
#define TL_RECORD_STATUS_H

#include "lib/io/json.h"
#include "lib/record/schema.h"

/* A candidate's best status is the first in this order. */
enum status {
	STATUS_NONE, /* nothing is known, or it is the name of no status */
	STATUS_OK,
	STATUS_PREEMPTED,
	STATUS_BUILD,
	STATUS_TIMEOUT,
	STATUS_CRASH,
	STATUS_OOM,
	STATUS_WRONG,
	STATUS_UNSUPPORTED,
	STATUS_FILTERED,
	STATUS_RECORDED,   /* no status: no record has those that follow */
	STATUS_UNLOADABLE, /* a worker's answer: an object is damaged or gone, and the candidate is
			      not at fault */
	STATUS_FAILED,	   /* the machine is at fault; it has no name */
};

/* The names and meanings, by status; no word stands at STATUS_RECORDED. */
extern const struct record_word status_words[];

/* The name, as in records. s must have one. */
const char *status_name(enum status s);
/* The status of this name that records may have. STATUS_NONE: there is none. */
enum status status_find(const char *name);
/* The same for the member "status" of an object; STATUS_NONE also if it is not there. */
enum status status_get(const struct json_doc *d, const struct json *obj);
/* The same for a worker's answer, which may also be STATUS_UNLOADABLE. */
enum status status_answered(const struct json_doc *answer);

/* Was the candidate timed, to the end or until it had lost? */
int status_is_timed(enum status s);
/* May it have been the machine's doing, so that the candidate gets another chance? */
int status_may_pass(enum status s);

#endif
