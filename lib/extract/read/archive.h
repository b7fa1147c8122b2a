/* Inputs: what a name on the command line holds, member by member.
 *
 * A file (or "-", standard input) may be an archive of any format and compression that libarchive
 * reads, a compressed single file, or a plain file; or it may be a folder, whose files are members
 * (walk.h). Each comes as a sequence of members with a name and a source of bytes. Plain regular
 * files whose head says that they are no archive are read directly, so that weights are passed over
 * by lseek; everything else goes through unpack.h.
 *
 * A member may be an archive itself: input_enter() goes into it. An input is a stack of layers: a
 * file, or an archive over a file or over the member that the layer below has at hand. libarchive
 * pulls through them, so nothing is stored; inside of another archive it cannot seek, and zip is
 * read by its streaming reader. What is unpacked of one input has an allowance, and what is passed
 * over counts where it must be unpacked for that.
 */
#ifndef TL_EXTRACT_READ_ARCHIVE_H
#define TL_EXTRACT_READ_ARCHIVE_H

#include "lib/base/err.h"
#include "lib/extract/read/pull.h"

struct input;

struct member {
	const char *name;   /* the file's name within an archive, else the path */
	const char *around; /* the archives, and the folder, that it is in, as a path; else "" */
	const char *label;  /* for messages: "nets.tar: vgg16.zip: vgg16.onnx", or the path alone */
	int alone;	    /* the input is this one member: no archive or folder around it */
	int is_plain;	    /* its bytes are those of the file `name`, as it is on the disk */
	int is_on_disk; /* `name` is such a file, maybe a packed one: others may lie beside it */
	struct pull bytes;
};

struct input_how {
	/* Says from the first bytes whether a file is certainly no archive (may be NULL). */
	int (*is_plain)(const unsigned char *head, size_t n);
	int folders;	    /* folders are inputs, too */
	uint64_t max_bytes; /* to unpack; 0: many times what is packed (unpack.c) */
	int is_silent;	    /* shows no progress */
};

struct input *input_open_as(const char *path, const struct input_how *how, struct err *e);
/* A file, as far as it can be unpacked without harm. */
struct input *input_open(const char *path, int (*is_plain)(const unsigned char *head, size_t n),
			 struct err *e);
/* 1: a member, valid until the next call; 0: no more; -1: a part of the input cannot be read on.
 * After that, a further call goes on behind that part. */
int input_next(struct input *in, struct member **m, struct err *e);
/* The members of the member at hand come next, if it is an archive. 1: they do; 0: it is none, and
 * is as before; -1: it cannot be read, and the member after it follows. Archives that are nested
 * too deep are an error once, and none from then on. To be called after pull_head(), whose answer
 * is given, and before anything else is read. */
int input_enter(struct input *in, const unsigned char *head, size_t n, struct err *e);
void input_close(struct input *in);

#endif
