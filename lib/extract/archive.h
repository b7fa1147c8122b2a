/* Inputs: what a name on the command line holds, member by member.
 *
 * A file (or "-", standard input) may be an archive of any format and compression that libarchive
 * reads, a compressed single file, or a plain file. Each comes as a sequence of members with a name
 * and a source of bytes. Plain regular files whose head says that they are no archive are read
 * directly, so that weights are passed over by lseek; everything else goes through libarchive, in
 * its own blocks, without copying.
 *
 * The one place that includes libarchive.
 */
#ifndef TL_EXTRACT_ARCHIVE_H
#define TL_EXTRACT_ARCHIVE_H

#include "lib/base/err.h"
#include "lib/extract/pull.h"

struct input;

struct member {
	const char *name;  /* the file's name within an archive, else the path */
	const char *input; /* the name on the command line */
	const char *label; /* for messages: "vgg16.tar.gz: vgg16.onnx", or the path alone */
	int alone;	   /* the input is this one member: no archive around it */
	int is_plain;	   /* its bytes are those of the file `name`, as it is on the disk */
	struct pull bytes;
};

/* is_plain says from the first bytes whether the file is certainly no archive (may be NULL). */
struct input *input_open(const char *path, int (*is_plain)(const unsigned char *head, size_t n),
			 struct err *e);
/* 1: a member, valid until the next call; 0: no more; -1: the input cannot be read on. */
int input_next(struct input *in, struct member **m, struct err *e);
void input_close(struct input *in);

#endif
