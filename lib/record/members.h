/* Records as structs. A row of the schema tells where in a struct its field is held; these
 * functions go by the rows, so that a new field is a row and a member.
 *
 * By the kind of the field the member is
 *   a text, word, id or time     const char *         NULL
 *   a flag                       int                  0
 *   a count                      int64_t              0
 *   a number                     double               NAN
 *   an interval                  struct interval      NAN
 *   numbers                      struct numbers       n is 0
 *   an object                    a struct that begins with "int is_there"
 * and has the value behind it where there is no field, or no value of that kind: check.h refuses
 * those. A word may also be held as an enum, whose values are the places of the words from 1 on,
 * and anything as the text of its JSON. Where a field is null the reason may be held beside it.
 */
#ifndef TL_RECORD_MEMBERS_H
#define TL_RECORD_MEMBERS_H

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/io/json.h"
#include "lib/record/schema.h"

struct interval {
	double lo, hi;
};
struct numbers {
	const double *v;
	int n;
};

/* Makes a struct one without any field. It must be zeroed. */
void members_clear(const struct record_object *o, void *to);
/* Reads an object into a struct that was cleared. Texts and numbers live in a. */
void members_read(const struct record_object *o, const struct json_doc *d, const struct json *obj,
		  struct arena *a, void *to);
/* Appends the fields, in the order of the rows, to the object that the text ends in. Flags and
 * counts that are 0 are written if they are required. */
void members_write(const struct record_object *o, const void *from, struct buf *out);

#endif
