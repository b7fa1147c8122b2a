/* The members of one archive, in any format and compression that libarchive reads: of a file, or of
 * a member of another archive, which is pulled through and never stored.
 *
 * A compressed file that is no archive is one member without a name. Members come in libarchive's
 * own blocks, without copying.
 */
#ifndef TL_EXTRACT_READ_UNPACK_H
#define TL_EXTRACT_READ_UNPACK_H

#include "lib/base/err.h"
#include "lib/extract/read/pull.h"

/* How much may be unpacked of one input, with all archives in it. */
struct allowance {
	uint64_t most;		   /* bytes; 0: many times what is packed */
	uint64_t packed, unpacked; /* so far */
	int is_spent;
};

struct unpack_from {
	int fd, is_regular; /* a file, from where it is; is_regular: it can be sought */
	struct pull *outer; /* or a member, where this is not NULL */
	const char *label;  /* for the line of progress; NULL: shows none */
	struct allowance *allowance;
};

struct unpack;

/* NULL: it is no archive that can be read. */
struct unpack *unpack_open(const struct unpack_from *from, struct err *e);
/* 1: a member, valid until the next call; name is NULL where there is only one, without a name. 0:
 * no more, also after a member of which reading failed. -1: it cannot be read on. */
int unpack_next(struct unpack *u, const char **name, struct pull *bytes, struct err *e);
void unpack_close(struct unpack *u);

/* Do a file's first bytes, or else its name, say that it is an archive, or compressed? */
int unpack_is_archive(const char *name, const unsigned char *head, size_t n);

#endif
