/* Room for the stacks of a program and of its threads.
 *
 * A thread's stack is as large as `ulimit -s` says when the program starts, and the largest of our
 * functions and of the libraries' want more than some shells and batch systems give.
 */
#ifndef TL_BASE_STACK_H
#define TL_BASE_STACK_H

#include "lib/base/err.h"

/* Raises a limit below the usual 8 MB as far as it may be raised, for this program, its threads and
 * the programs that it starts. -1: it stays below 1 MB, which is too little. */
int stack_prepare(struct err *e);

#endif
