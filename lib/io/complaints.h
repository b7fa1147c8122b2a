/* Collects errors in the lines of a file. The first five errors of a kind are printed as
 * "FILE:LINE: WHY". The others are counted, and at the end of the file there is one line for them:
 * "FILE: and 995 more errors like that of line 1".
 *
 * Two errors are of one kind if their sentences differ only in numbers and in quoted text.
 */
#ifndef TL_IO_COMPLAINTS_H
#define TL_IO_COMPLAINTS_H

#include <stdint.h>

#include "lib/base/buf.h"

enum {
	COMPLAINTS_EACH = 5,   /* printed of a kind */
	COMPLAINTS_KINDS = 16, /* kinds that are distinguished; all others are one kind */
	COMPLAINTS_TEXT = 160, /* bytes of a sentence that decide its kind */
};

/* Of one file. Zeroed: none yet. */
struct complaints {
	struct {
		char text[COMPLAINTS_TEXT];
		uint64_t n, line; /* how many, and the first one's line */
	} kind[COMPLAINTS_KINDS];
	int nkinds;
};

/* What a file is called: its path, and "(standard input)" for "-". */
const char *complaints_name(const char *file);
/* Counts an error. 1: print sentence, which is replaced; 0: enough of its kind were printed. "-" is
 * called the standard input. */
int complaints_add(struct complaints *c, const char *file, uint64_t line, const char *why,
		   struct buf *sentence);
/* Call it at the end of the file until it returns 0. 1: sentence counts the rest of a kind. After 0
 * there are no errors, as at the start. */
int complaints_rest(struct complaints *c, const char *file, struct buf *sentence);

#endif
