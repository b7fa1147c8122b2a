/* Finds impossible results: a record is checked against itself, without a look at the machine. */
#ifndef TL_DOOR_PLAUSIBLE_H
#define TL_DOOR_PLAUSIBLE_H

#include "lib/base/err.h"
#include "lib/io/json.h"

/* 0; -1 with the sentence for a result record whose figures contradict each other: a time outside
 * its interval, a ratio outside of its own or far from that of the times, a verdict against the
 * ratio, status ok with an error of all of the result, or more operations a second than the env's
 * probe found by far (or than any machine does). Fields that are not there contradict nothing. */
int plausible_result(const struct json_doc *d, struct err *e);
/* The same of its "env" and "env_id": the id is made from the env's fields (lib/space/envid.h). */
int plausible_env(const struct json_doc *d, struct err *e);

#endif
