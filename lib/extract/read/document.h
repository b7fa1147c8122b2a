/* A member that is one document of JSON or XML: all of it in memory, and JSON parsed. */
#ifndef TL_EXTRACT_READ_DOCUMENT_H
#define TL_EXTRACT_READ_DOCUMENT_H

#include "lib/base/buf.h"
#include "lib/base/hash.h"
#include "lib/extract/read/pull.h"
#include "lib/io/json.h"

struct document {
	struct buf text;
	struct json_doc json; /* its tokens point into the text */
	struct id hash;
};

/* All of a member, at most 64 MB, and its hash. what: "JSON", for the sentence. */
int document_text(struct buf *text, struct id *hash, struct pull *in, const char *what,
		  struct err *e);
/* document_free() in any case. */
int document_read(struct document *d, struct pull *in, struct err *e);
/* The hash of the text that is there already, which it parses. */
int document_parse(struct document *d, struct err *e);
void document_free(struct document *d);

/* Do the first bytes of a member look like those of an object that holds this text? */
int document_begins(const unsigned char *head, size_t n, const char *text);

#endif
