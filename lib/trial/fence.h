/* Fenced memory: an array that a kernel cannot leave unseen.
 *
 * In front of it and behind it lie guard areas that no one may touch: whoever does dies of it. The
 * stretch between the array's end and the next page holds canaries, which are looked at after the
 * run. The array begins at a page. Pages come from the kernel when they are first touched, so that
 * a process that only hands a fence on to its children pays nothing for it.
 */
#ifndef TL_TRIAL_FENCE_H
#define TL_TRIAL_FENCE_H

#include <stddef.h>
#include <stdint.h>

struct fence {
	const char *name; /* for sentences: "the output" */
	void *data;
	int64_t n;   /* elements */
	size_t size; /* bytes of one */
	char *map;   /* guards included; NULL: none */
	size_t map_bytes;
};

/* n elements of so many bytes, all 0. Ends the program as die_no_memory() does if there is no
 * memory. */
void fence_open(struct fence *f, const char *name, int64_t n, size_t size);
/* Bytes of the array. */
size_t fence_bytes(const struct fence *f);
/* Writing kills from here on, in this process and its later children. */
void fence_freeze(const struct fence *f);
/* Writing is allowed again, in this process. */
void fence_thaw(const struct fence *f);
/* Has the pages ready for writing, at once and not one by one. */
void fence_populate(const struct fence *f);
/* Writes the canaries; and looks whether they all live. */
void fence_arm(const struct fence *f);
int fence_broken(const struct fence *f);
/* Bytes from the array's nearer end if the address lies in this fence's memory: below 0 before it,
 * 0 inside, above 0 behind it. 1: it lies there; 0: elsewhere. */
int fence_locate(const struct fence *f, const void *address, int64_t *bytes);
void fence_close(struct fence *f);

#endif
