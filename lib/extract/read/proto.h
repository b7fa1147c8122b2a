/* Tables describe messages of protobuf: a row tells a field, and the member of a struct that it
 * becomes.
 *
 * A field that a message may repeat goes into a list that grows in the arena of the wire. A row
 * names a function where a member is not enough. Fields without a row are passed over.
 */
#ifndef TL_EXTRACT_READ_PROTO_H
#define TL_EXTRACT_READ_PROTO_H

#include <stddef.h>

#include "lib/extract/read/wire.h"

enum proto_kind {
	PROTO_TEXT,   /* const char * */
	PROTO_TEXTS,  /* a list of them */
	PROTO_INT,    /* int64_t */
	PROTO_REAL,   /* float */
	PROTO_MAP,    /* int, which a function makes of the number */
	PROTO_INSIDE, /* a message; its fields are those of a part of the same thing, or of all */
	PROTO_EACH,   /* a message, which becomes an item of a list */
	PROTO_BY,     /* what a function reads */
	PROTO_DROP,   /* bytes, which are passed over (wire_drop) */
};

struct proto_field {
	uint32_t number;
	enum proto_kind kind;
	size_t at;	    /* of the member */
	size_t count, size; /* of a list: of the number of its items; of one of them */
	const struct proto *table;
	int (*fn)(struct wire *w, const struct wire_field *f, void *to, struct err *e);
	int (*map)(int64_t number);
};

struct proto {
	const struct proto_field *field;
	size_t n;
	int (*begin)(struct wire *w, void *to, struct err *e); /* NULL: nothing is to be done */
};

/* Where a member of struct type stands, and where a list and the number of its items do. */
#define PROTO_AT(type, member) offsetof(struct type, member)
#define PROTO_LIST(type, list, n)                                                                  \
	PROTO_AT(type, list), PROTO_AT(type, n), sizeof *((const struct type *)NULL)->list
#define PROTO_TABLE(name, begin, ...)                                                              \
	static const struct proto_field name##_fields[] = {__VA_ARGS__};                           \
	static const struct proto name = {name##_fields,                                           \
					  sizeof name##_fields / sizeof *name##_fields, begin}

/* Reads the fields of the message that ends at end. */
int proto_read(struct wire *w, uint64_t end, const struct proto *t, void *to, struct err *e);
/* Reads the message that a field is. */
int proto_inside(struct wire *w, const struct wire_field *f, const struct proto *t, void *to,
		 struct err *e);

/* An entry of a map from texts to texts; one that is left out is "". */
struct proto_pair {
	const char *key, *value;
};
int proto_pair(struct wire *w, const struct wire_field *f, struct proto_pair *pair, struct err *e);

#endif
