/* The printer of GNU C (c.h) says whole numbers of 8 and 32 bits with this text. It may stand in a
 * source more than once, behind the words of groups (c_bf16.h).
 */
#ifndef TL_TARGET_C_WHOLE_H
#define TL_TARGET_C_WHOLE_H

const char *c_whole_words(void);

#endif
