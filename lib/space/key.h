/* Canonical text and ids.
 *
 * An id is the first 128 bits of SHA-256 over the text "key=value;key=value;...", keys in byte
 * order, each once, values without floats, each pair closed by its ";", the last one too. The text,
 * not the JSON that carried it, is the identity: field order, white space and defaults left out in
 * the JSON do not change it. Golden vectors are in tests/space.c.
 */
#ifndef TL_SPACE_KEY_H
#define TL_SPACE_KEY_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/hash.h"

enum { KEY_MAX = 48 };

struct key_pair {
	char name[24];
	char value[104];
};

struct key {
	int n;
	struct key_pair pair[KEY_MAX];
};

void key_str(struct key *k, const char *name, const char *value);
void key_int(struct key *k, const char *name, int64_t value);
void key_text(struct key *k, struct buf *out); /* the canonical text, sorted */
void key_id(struct key *k, struct id *id);

#endif
