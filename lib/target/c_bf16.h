/* The printer of GNU C (c.h) says groups, and elements of bf16, with these texts. They may stand
 * in a source more than once, behind the prelude; that of groups first.
 */
#ifndef TL_TARGET_C_BF16_H
#define TL_TARGET_C_BF16_H

const char *c_group_words(void);
const char *c_bf16_words(void);

#endif
