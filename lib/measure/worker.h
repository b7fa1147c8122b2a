/* The supervisor's side of a worker process: requests with a time limit, killing, and replacing.
 */
#ifndef TL_MEASURE_WORKER_H
#define TL_MEASURE_WORKER_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/io/json.h"
#include "lib/io/proc.h"
#include "lib/target/target.h"

enum ask_result { ASK_OK, ASK_TIMEOUT, ASK_CRASH, ASK_OOM, ASK_STOPPED, ASK_FAILED };

struct worker {
	struct proc proc; /* pid 0: not running */
	struct buf path, line;
	struct json_doc answer; /* of the last ASK_OK */
	int threads;
	long kills;    /* memory_kills() before the last question */
	char why[200]; /* for everything but ASK_OK: a sentence */
};

int worker_open(struct worker *w, const struct target *target, int threads, struct err *e);
/* "onednn 2.6.3", from the worker program. */
int worker_libs(struct worker *w, struct buf *out, struct err *e);
/* Sends a line and waits for the answer, at most timeout_s; starts the process if there is none.
 * After anything but ASK_OK the process is gone. ASK_STOPPED: a signal asked this program to stop
 * (rec_stopped). ASK_FAILED: the worker could not be started or said that it cannot go on. */
enum ask_result worker_ask(struct worker *w, const char *line, size_t n, double timeout_s);
void worker_kill(struct worker *w);
void worker_close(struct worker *w);

#endif
