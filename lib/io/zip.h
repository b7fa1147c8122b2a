/* Writing a zip whose members are stored as they are, as NumPy's .npz wants it.
 *
 * Format: PKWARE, APPNOTE.TXT 6.3.9: local headers (4.3.7), the central directory (4.3.12), and
 * their forms for more than 4 GiB (4.3.14, 4.5.3). The stream is written from front to end and
 * never sought. libarchive, which reads zips here, does not survive a lack of memory while it
 * writes them.
 */
#ifndef TL_IO_ZIP_H
#define TL_IO_ZIP_H

#include <stdio.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct zip {
	FILE *f; /* the caller's */
	uint64_t at, members;
	struct buf directory;
	uint32_t sums[256]; /* checksums of bytes */
};

/* A piece of a member. */
struct zip_part {
	const void *bytes;
	size_t n;
};

void zip_begin(struct zip *z, FILE *f);
/* Writes a member of that name, whose bytes are these parts, one behind the other. 0, or -1. */
int zip_add(struct zip *z, const char *name, const struct zip_part *part, int parts, struct err *e);
/* Writes the directory. 0, or -1. */
int zip_end(struct zip *z, struct err *e);
void zip_free(struct zip *z);

#endif
