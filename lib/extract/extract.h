/* Extraction: operators of models, lists and logs as workloads.
 *
 * An input (see archive.h) holds members; each is read by the format that claims it. A format is a
 * file here that defines `const struct format format_NAME` and stands in the table in extract.c.
 * What goes wrong with one member is said and counted, and the others still go on.
 *
 * Several inputs at once (jobs.c). A reader has no state but its struct extract, so each input has
 * one of its own, in a thread. They are merged in the order of the inputs, and no more than twice
 * as many as there are threads wait for that, which bounds the memory. A pipe is read when its
 * turn comes, for two names may mean the same one.
 */
#ifndef TL_EXTRACT_EXTRACT_H
#define TL_EXTRACT_EXTRACT_H

#include "lib/base/err.h"
#include "lib/extract/read/archive.h"
#include "lib/extract/contents.h"
#include "lib/extract/graph/infer.h"
#include "lib/extract/worklist.h"
#include "lib/io/complaints.h"
#include "lib/op/op.h"

struct extract {
	/* Options. */
	enum layout layout; /* of conv2d, where the input does not say it */
	int all;	    /* operators that multiply and add nothing, too; attention as one */
	struct infer_options infer;
	const char *format; /* name of the only format to use; NULL: whichever claims a member */
	uint64_t max_bytes; /* to unpack of an input; 0: many times what is packed */
	int is_silent;	    /* no progress is shown */
	/* Called with one sentence: an error, or (is_error 0) what there is to report. */
	void (*say)(void *ctx, int is_error, const char *sentence);
	void *ctx;

	/* Results. */
	struct worklist found;
	struct contents *contents; /* what is in the inputs; NULL: it is not asked for */
	struct buf *drawing;	   /* their graphs, likewise */
	int64_t failed;		   /* inputs and members that could not be read, and bad lines */

	struct complaints complaints; /* private: about the lines of the member that is read */
};

enum { FORMAT_ENDINGS = 4 };

struct format {
	const char *name, *what;	    /* "onnx", "an ONNX model" */
	const char *ending[FORMAT_ENDINGS]; /* of names of its files, such as ".onnx" */
	/* Does a member whose name ends in none of these look like it, by its name or its first
	 * bytes? NULL: the endings tell, and is_plain(). */
	int (*claims)(const char *name, const unsigned char *head, size_t n);
	int (*read)(struct extract *x, struct member *m, struct err *e);
	int by_content; /* many files have such an ending: only claims() tells */
	/* Do the first bytes alone tell that it is certainly one, and no archive? NULL: never. */
	int (*is_plain)(const unsigned char *head, size_t n);
};

extern const struct format format_onnx, format_tflite, format_tensorflow, format_torch,
	format_keras, format_openvino, format_gguf, format_csv, format_trace, format_log,
	format_records;
extern const struct format *const format_list[]; /* in the order they are asked; NULL at the end */

/* The format of a member, by its name and first bytes; NULL: none. */
const struct format *extract_recognise(const char *name, const unsigned char *head, size_t n);
/* Reads one input; errors are said, and counted in failed. */
void extract_input(struct extract *x, const char *path);
/* Reads several, so many at once. What is found and said, and in which order, is the same for any
 * number of jobs; only progress is shown with one alone. */
void extract_inputs(struct extract *x, const char *const *path, int n, int jobs);
void extract_free(struct extract *x);

/* Shared by the formats. */
int extract_name_ends(const char *name, const char *suffix); /* case does not matter */
/* The model's part of a source: the name of the member without folder, endings and colons. A name
 * that says nothing, such as "model.onnx", gives way to that of its folder, or of the archive. */
void extract_stem(const struct member *m, struct buf *out);
/* Appends text as valid UTF-8, '?' for what is none. */
void extract_utf8(struct buf *out, const char *s);
void extract_report(struct extract *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Says and counts a bad line of a member. */
void extract_bad_line(struct extract *x, const struct member *m, int64_t line, const struct err *e);

/* For the contents and the drawing, where they are asked for: a graph with its tasks. */
void extract_show(struct extract *x, const char *model, const struct fates *f);

/* Workloads of a list or log, whose hash is known only at its end: they are collected with their
 * labels (":" and the NODE of a source), then moved to the result. */
struct collected {
	struct worklist list;
	struct buf all; /* bytes to hash */
	struct id hash;
};
void collect_bytes(struct collected *c, const char *s, size_t n);
void collect_finish(struct extract *x, struct collected *c, const struct member *m);

#endif
