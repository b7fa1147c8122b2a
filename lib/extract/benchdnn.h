/* Command lines of oneDNN's benchdnn, and its batch files: read and written.
 *
 *   --conv --dir=FWD_B --stag=axb --attr-post-ops=sum+relu mb1_ic64ih56_oc64oh56_kh3ph1n"a*3"
 *
 * Driver and options hold for what follows, until --reset. Options whose value is a list with
 * commas make an instance of each combination. Read are --dir (FWD_B: with a bias; where there is
 * none, without), --dt and --cfg, --stag, --wtag (of a product: a right side in a given layout is
 * computed, one in any is constant), --bia_dt, --bia_mask, --mb and --attr-post-ops. *N at the end
 * of a problem's name is how often the operator occurs, as in oneDNN's own lists.
 */
#ifndef TL_EXTRACT_BENCHDNN_H
#define TL_EXTRACT_BENCHDNN_H

#include "lib/op/op.h"

enum benchdnn_driver { BENCHDNN_NONE, BENCHDNN_CONV, BENCHDNN_MATMUL, BENCHDNN_IP, BENCHDNN_OTHER };
enum benchdnn_option {
	BENCHDNN_DIR,
	BENCHDNN_DT,
	BENCHDNN_STAG,
	BENCHDNN_WTAG,
	BENCHDNN_BIA_DT,
	BENCHDNN_BIA_MASK,
	BENCHDNN_MB,
	BENCHDNN_POSTS,
	BENCHDNN_OPTIONS
};

/* Set layout (of convolutions, where a line does not say it) and the functions; the rest is zero.
 */
struct benchdnn {
	enum layout layout;
	void (*take)(void *arg, const struct workload *w, const char *name, size_t n,
		     int64_t count);
	void (*leave)(void *arg, const char *what); /* of a problem that is none of ours */
	void *arg;
	enum benchdnn_driver driver;
	struct buf value[BENCHDNN_OPTIONS]; /* as last said */
};

/* Does a line begin like a problem: "mb1_..", "ic3ih..", "g32ic..", "128x768:.."? */
int benchdnn_is_problem(const char *s);
/* Reads a line. -1: it holds something that is no problem. */
int benchdnn_line(struct benchdnn *b, const char *s, struct err *e);
void benchdnn_free(struct benchdnn *b);
/* A command line for a workload, without its newline. name: letters that need no quotes in C. */
void benchdnn_print(const struct workload *w, const char *name, int64_t count, struct buf *out);

#endif
