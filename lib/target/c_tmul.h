/* The printer of GNU C (c.h) says operations on tiles (lib/nest/tmul.h) with this text: loops, for
 * machines that have no tiles. */
#ifndef TL_TARGET_C_TMUL_H
#define TL_TARGET_C_TMUL_H

#include "lib/target/text.h"

/* The words that the nest's types need; it stands behind theirs (c_bf16.h, c_whole.h). */
void c_tmul_words(const struct nest *n, struct buf *out);
/* An array of tiles, and an operation on it. */
void c_tmul_declare(struct text *p, int tiles);
void c_tmul(struct text *p, const struct node *t);

#endif
