/* A nest as x86-64 assembly: the same function as target/c.h prints, written without a compiler's
 * help, for AVX-512 (16 lanes) and AVX2 with FMA (8 lanes). How many registers
 * there are and what folds: lib/space/isa.h.
 *
 * Assembling takes a twentieth of the time that GNU C does, and what the register tile is made of
 * is known here, not guessed: which registers hold it, what is read as an operand, how far k is
 * unrolled. Symbols are constants: an object that costs a few milliseconds need not serve two
 * workloads. The text is a top-level asm() of GNU C, so that it goes through the same compiler call
 * as the nests that stay C.
 *
 * The target cpu has two printers (lib/target/cpu.c chooses). Vector nests are printed as x86-64
 * assembly for AVX-512 and AVX2 (lib/target/x86*.c): compiling was half of what tuning cost, and
 * assembling takes a twentieth of it, for code that is as fast (EXPERIMENTS.md). A straight run of
 * stores is a block. Each pair of a buffer and the variable part of an index in it gets a register
 * for its address, and the loop around the block adds to these registers. Register arrays that a
 * block reads before it writes (the tile) keep their registers; the others live from write to last
 * read. A broadcast becomes an operand where no register is left. A register is free again after
 * the last read of the value in it, and constants of post-ops wait in registers that nothing else
 * needs. Integers live in the frame. Everything else, which includes definitions and machines
 * without AVX2, is GNU C with vector extensions (lib/target/c.c). The record says which printer
 * wrote a kernel, and why the other did not. The system's cc compiles GNU C with flags that keep
 * it from rearranging the register tile (lib/target/cpu.c). Both kinds of text go through the same
 * call of cc, the same batches and the same cache. tests/kernels.c compares candidates in both
 * with the interpreter; their operands lie between pages that nothing may touch. tests/nest.c does
 * the same with random nests of one to three phases, which have features that no algorithm uses
 * yet.
 */
#ifndef TL_TARGET_X86_H
#define TL_TARGET_X86_H

#include "lib/base/buf.h"
#include "lib/nest/nest.h"
#include "lib/space/limits.h"

/* Appends the text and returns NULL; or says what the nest has that is not written here (double
 * precision, no vectors, too many registers), and out is as it was. m: of the machine that the text
 * is for; its dots and tiles are looked at. */
const char *x86_print(const struct nest *n, const struct limits *m, struct buf *out);

#endif
