/* Pipelines of programs: a | b | c, started, watched and ended together, and printed as a shell
 * would be told. */
#ifndef TL_IO_PIPELINE_H
#define TL_IO_PIPELINE_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/io/proc.h"

enum { PIPELINE_STAGES = 6 };

struct pipeline {
	int n;
	struct {
		char **argv; /* argv[0]: the program's name, found beside this program; ends in NULL
			      */
		int argc, cap;
		int status;   /* as by waitpid, after pipeline_run() */
		double ended; /* clock_now(); proc.started is when it began */
		struct proc proc;
	} stage[PIPELINE_STAGES];
	const char *stdin_path, *stdout_path; /* NULL: ours */
	int finish; /* run to the end also after a stop was asked for: what writes out the results
		     */
	double limit_s; /* it is stopped after so long, whatever it waits for; 0: never */
	int is_late;	/* it was */
};

/* Adds a stage, or an argument to the last one. Strings are kept, not copied. */
void pipeline_stage(struct pipeline *p, const char *program);
void pipeline_arg(struct pipeline *p, const char *arg);
void pipeline_arg2(struct pipeline *p, const char *option,
		   const char *value); /* skipped if value is NULL */

/* Runs it to its end. SIGINT, SIGTERM and SIGHUP (rec_stop_on_signals) are handed on to the first
 * stages; the last one ends with its input. All stages end if this process dies, the last one after
 * it has read what was written to it. Nothing runs here while they do. Returns EXIT_BUSY if any
 * stage's exit status is that, else the first one that is neither 0 nor EXIT_INEXACT (128 + n for a
 * signal), else EXIT_INEXACT if there is one, else 0; -1 with e filled if the pipeline could not be
 * started. */
int pipeline_run(struct pipeline *p, struct err *e);
void pipeline_free(struct pipeline *p);
/* As a line of shell. */
void pipeline_print(const struct pipeline *p, struct buf *out);
/* One word, quoted for the shell where it must be. */
void shell_quote(const char *s, struct buf *out);

#endif
