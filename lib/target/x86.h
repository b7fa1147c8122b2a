/* A nest as x86-64 assembly: the same function as target/c.h prints, written without a compiler's
 * help, for AVX-512 (16 lanes) and AVX2 with FMA (8 lanes). How many registers
 * there are and what folds: lib/space/isa.h.
 *
 * Assembling takes a twentieth of the time that GNU C does, and what the register tile is made of
 * is known here, not guessed: which registers hold it, what is read as an operand, how far k is
 * unrolled. Symbols are constants: an object that costs a few milliseconds need not serve two
 * workloads. The text is a top-level asm() of GNU C, so that it goes through the same compiler call
 * as the nests that stay C.
 */
#ifndef TL_TARGET_X86_H
#define TL_TARGET_X86_H

#include "lib/base/buf.h"
#include "lib/nest/nest.h"

/* Appends the text and returns NULL; or says what the nest has that is not written here (double
 * precision, no vectors, too many registers), and out is as it was. dots: as struct limits has
 * them, of the machine that the text is for. */
const char *x86_print(const struct nest *n, unsigned dots, struct buf *out);

#endif
