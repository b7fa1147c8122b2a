/* What is wrong with the lines of a file. A thousand lines that are wrong in the same way are told
 * as five and a count: "FILE:LINE: WHY" of the first five of a kind, and at the end of the file
 * "FILE: and 995 more errors like that of line 1".
 *
 * Two sentences are of one kind if they differ in numbers, and in what they quote, alone.
 */
#ifndef TL_IO_COMPLAINTS_H
#define TL_IO_COMPLAINTS_H

#include <stdint.h>

#include "lib/base/buf.h"

enum {
	COMPLAINTS_EACH = 5,   /* told of a kind */
	COMPLAINTS_KINDS = 16, /* told apart; all further ones are of one kind */
	COMPLAINTS_TEXT = 160, /* bytes of a sentence by which its kind is known */
};

/* Of one file. Zeroed: none yet. */
struct complaints {
	struct {
		char text[COMPLAINTS_TEXT];
		uint64_t n, line; /* how many, and the first one's line */
	} kind[COMPLAINTS_KINDS];
	int nkinds;
};

/* Counts one. 1: sentence (replaced) is to be told; 0: enough of its kind have been. "-" is called
 * the standard input. */
int complaints_add(struct complaints *c, const char *file, uint64_t line, const char *why,
		   struct buf *sentence);
/* At the end of the file, until it gives 0: 1 with a sentence that counts the rest of a kind. After
 * that there are none, as at the start. */
int complaints_rest(struct complaints *c, const char *file, struct buf *sentence);

#endif
