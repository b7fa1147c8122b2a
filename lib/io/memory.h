/* The machine's memory: what is free, and whether the system had to kill for it. */
#ifndef TL_IO_MEMORY_H
#define TL_IO_MEMORY_H

/* Bytes that can be had without swapping; below 0: not known. */
double memory_available(void);
/* Bytes that the machine has at all, with those to swap to; below 0: not known. */
double memory_total(void);
/* How many processes the system has killed for want of memory since it started; below 0: not known.
 */
long memory_kills(void);
/* If one must be killed, let it be this one (0: no matter .. 1000: before all others). Children
 * inherit it. */
void memory_kill_first(int score);

#endif
