/* What the printer of GNU C (c.h) says with elements of bf16. The text may stand in a source more
 * than once, behind the prelude.
 */
#ifndef TL_TARGET_C_BF16_H
#define TL_TARGET_C_BF16_H

const char *c_bf16_words(void);

#endif
