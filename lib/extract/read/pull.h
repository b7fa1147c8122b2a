/* A source of bytes, pulled block by block: a file, a pipe, or a member of an archive.
 *
 * Whoever opens a source fills next (and skip, if it can move ahead without reading). Blocks belong
 * to the source and are valid until the next call, so that what nobody looks at is never copied.
 * Errors stick: after -1 the source must not be used again.
 *
 * False files. Each length is checked against what is there before anything is allocated by it.
 * References that may lead to the same bytes again and again (FlatBuffers) are read out of an
 * allowance in proportion to the file. Elements that are kept, for shapes are computed from them,
 * have a bound for each tensor and one for the graph. tests/fuzz/ has a harness for libFuzzer with
 * a target for each format, for HDF5, indexes of checkpoints, archives and the options that take
 * an expression; make fuzz FUZZ=onnx SECONDS=60 runs one. Inputs that it found are kept in
 * tests/fuzz/found/, and tests/fuzz.t reads them again. tests/fuzz/corpus.tar.zst has inputs that
 * reach code which the seeds do not: so the second that tests/fuzz.t gives each target begin where
 * longer runs ended. sh tests/fuzz/corpus.sh makes it anew.
 */
#ifndef TL_EXTRACT_READ_PULL_H
#define TL_EXTRACT_READ_PULL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

enum { PULL_HEAD = 512 }; /* bytes that pull_head() can look at */

struct pull {
	/* 1: a block of at least one byte; 0: the end; -1: failed. */
	int (*next)(void *ctx, const unsigned char **block, size_t *n, struct err *e);
	/* Moves n bytes ahead; -1 if so many are not there. NULL: blocks are read and dropped. */
	int (*skip)(void *ctx, uint64_t n, struct err *e);
	void *ctx;

	/* Private: the block at hand, what waits behind it, and how much of the source lies before
	 * its end. */
	const unsigned char *at, *end;
	const unsigned char *later, *later_end;
	uint64_t read;
	unsigned char head[PULL_HEAD];
};

/* Offset of the next byte. */
static inline uint64_t pull_offset(const struct pull *p)
{
	return p->read - (uint64_t)(p->end - p->at);
}

/* Makes at least one byte available at p->at. 1, 0 at the end, -1. */
int pull_fill(struct pull *p, struct err *e);
/* Copies n bytes; an end before that is an error. */
int pull_copy(struct pull *p, void *to, size_t n, struct err *e);
/* Appends n bytes to b, growing it no faster than they arrive: a false length allocates nothing. */
int pull_append(struct pull *p, struct buf *b, uint64_t n, struct err *e);
int pull_skip(struct pull *p, uint64_t n, struct err *e);
/* The first bytes of the source, at most PULL_HEAD, without consuming them; before anything else is
 * read. */
int pull_head(struct pull *p, const unsigned char **head, size_t *n, struct err *e);
/* The next line without its newline (and without a carriage return) in b. 1, 0 at the end, -1. */
int pull_line(struct pull *p, struct buf *b, struct err *e);

#endif
