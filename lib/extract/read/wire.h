/* The protobuf wire format, read from a stream.
 *
 * Why not protobuf-c: it wants a whole message in memory and makes objects of all of it; a model is
 * one message of which 99.9 % are weights. This reader hands out one field after the other and
 * passes over what nobody asks for in the source's own blocks, so that a model of any size takes
 * the memory of its graph. Format: protobuf.dev, "Encoding". Groups (wire types 3 and 4) are
 * refused; no model has one.
 *
 * Messages are read by tables (proto.h). Every field must be consumed by exactly one of the readers
 * below; a field of an unexpected wire type is an error there. Positions are absolute, so nested
 * messages need no state but their end.
 *
 * Everything read goes into a running digest, but of fields passed over by wire_drop() only the
 * first bytes.
 */
#ifndef TL_EXTRACT_READ_WIRE_H
#define TL_EXTRACT_READ_WIRE_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/extract/read/pull.h"

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct wire {
	struct pull *in;
	const char *what; /* it is to be, for messages: "ONNX model" */
	struct arena *a;  /* what is read is kept there */
	uint64_t longest; /* bytes of a text */
	void *reader;	  /* whose the wire is, for functions that get no more than it */
	struct buf seen;  /* bytes not yet in the digest; at first none */
	struct id digest;
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t end; /* WIRE_BYTES: where the field ends */
};

#define WIRE_TO_THE_END UINT64_MAX /* end of the outermost message */

void wire_free(struct wire *w);
/* Digest of all that was read; the reader must not be used after it. */
void wire_digest(struct wire *w, struct id *id);

/* 1: a field of the message that ends at end; 0: its end; -1. Reads the length of a WIRE_BYTES
 * field. */
int wire_field(struct wire *w, uint64_t end, struct wire_field *f, struct err *e);

int wire_int(struct wire *w, const struct wire_field *f, int64_t *out, struct err *e);
int wire_float(struct wire *w, const struct wire_field *f, float *out, struct err *e);
/* A string in the arena, NUL-terminated; a longer one is an error. */
int wire_text(struct wire *w, const struct wire_field *f, const char **out, struct err *e);
/* The bytes of the field, appended to b. */
int wire_bytes(struct wire *w, const struct wire_field *f, struct buf *b, struct err *e);
/* The bytes of the field, as many as there is room for at `to`; digested as by wire_bytes() up to
 * `most` bytes, beyond these as by wire_drop(). */
int wire_copy(struct wire *w, const struct wire_field *f, void *to, size_t most, struct err *e);
/* Checks that the field is a nested message; read it until f->end. */
int wire_message(struct wire *w, const struct wire_field *f, struct err *e);
/* 1: a repeated field is packed; 0: it is one number, of this wire type; -1: it is neither. */
int wire_packed(struct wire *w, const struct wire_field *f, enum wire_type one, struct err *e);
/* Gives each number of a repeated field, packed or not, to add(), until that returns -1. */
int wire_ints(struct wire *w, const struct wire_field *f,
	      int (*add)(struct wire *w, int64_t v, void *to, struct err *e), void *to,
	      struct err *e);
/* Passes over a field, all of it digested. */
int wire_skip(struct wire *w, const struct wire_field *f, struct err *e);
/* The same for weights: only the first bytes and the length are digested. */
int wire_drop(struct wire *w, const struct wire_field *f, struct err *e);

#endif
