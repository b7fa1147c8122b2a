/* Fenced memory: an array with guards, so that out-of-bounds accesses are noticed.
 *
 * In front of the array and behind it lie guard areas; an access to them kills the process. The
 * bytes between the array's end and the next page hold canaries, which are checked after the run.
 * The array begins at a page. The operating system provides pages at their first use, so a process
 * that only hands a fence on to its children pays nothing for it.
 */
#ifndef TL_TRIAL_FENCE_H
#define TL_TRIAL_FENCE_H

#include <stddef.h>
#include <stdint.h>

struct fence {
	const char *name; /* for sentences: "the output" */
	void *data;
	int hidden;  /* children that are forked do not have it */
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
/* From now on writing kills the process. This holds for its later children, too. */
void fence_freeze(const struct fence *f);
/* Writing is allowed again, in this process. */
void fence_thaw(const struct fence *f);
/* Gets all pages from the operating system at once, ready for writing; fence_populate_part() those
 * that have elements first to end - 1. */
void fence_populate(const struct fence *f);
void fence_populate_part(const struct fence *f, int64_t first, int64_t end);
/* Decides whether children that are forked from now on have it. A fork copies the page tables of
 * all that they have. */
void fence_inherit(struct fence *f, int inherited);
/* Puts the pages of `from`, which is frozen, in the place of those of f, which is as large. This
 * process has no `from` any more, and may not close it either. */
void fence_replace(const struct fence *f, const struct fence *from);
/* fence_arm() writes the canaries; fence_broken() checks if any was overwritten. */
void fence_arm(const struct fence *f);
int fence_broken(const struct fence *f);
/* Bytes from the array's nearer end if the address lies in this fence's memory: below 0 before it,
 * 0 inside, above 0 behind it. 1: it lies there; 0: elsewhere. */
int fence_locate(const struct fence *f, const void *address, int64_t *bytes);
void fence_close(struct fence *f);

#endif
