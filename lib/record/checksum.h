/* The checksum of a result: 64 bits over what the record says, so that a changed bit is noticed.
 *
 * It is a function of the fields' names and values, and not of their text: the order of the fields,
 * white space, escapes and the way in which a number is written change nothing. It leaves out the
 * field "checksum" itself and "x", which is the user's. A record without the field is believed:
 * people write none. It protects against faults of disks and memory, and not
 * against somebody who computes it anew.
 */
#ifndef TL_RECORD_CHECKSUM_H
#define TL_RECORD_CHECKSUM_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/io/json.h"

#define CHECKSUM_FIELD "checksum"
enum { CHECKSUM_HEX = 16 };

/* Is this the text of a checksum? */
int checksum_is(const struct json *v);
/* 0: the record has none, or the one that its fields make; -1 with the sentence. */
int checksum_check(const struct json_doc *d, struct err *e);
/* Gives the record in line, one object, the checksum that its fields make, in the place of the one
 * that it may have. */
void checksum_put(struct buf *line);
/* The same, if the record `from`, of which line was made, has one. */
void checksum_renew(const struct json_doc *from, struct buf *line);

#endif
