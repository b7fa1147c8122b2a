/* Record streams: newline-delimited JSON on pipes, as man 5 tl-record says.
 *
 * A reader goes through its files (or stdin, "-") line by line and knows a record's type from the
 * fixed start of the line, {"tl":1,"type":"...", without parsing the rest. So records that a
 * program only passes on move at memory speed. A writer buffers whole lines. Before a reader would
 * block, it flushes the writer tied to it, so that the next program gets all records at once.
 *
 * Bad lines are reported on stderr with file and line number, counted, and skipped; rec_status()
 * turns the counts into the exit status at the end.
 */
#ifndef TL_IO_RECORD_H
#define TL_IO_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/io/field.h"
#include "lib/io/json.h"

enum rec_type {
	REC_OTHER, /* a type this version does not know: passed through */
	REC_WORKLOAD,
	REC_CANDIDATE,
	REC_RESULT,
	REC_END,
	REC_BEGIN, /* a measuring run begins: until its done record, the stream is not whole */
	REC_DONE,
	REC_RUN,    /* what a program's run cost */
	REC_CHOICE, /* the kernel that a network runs fastest with */
};

struct rec {
	const char *s; /* the line without its newline; valid until the next rec_next() */
	size_t n;
	enum rec_type type;
	const char *file; /* "-" for stdin */
	uint64_t line;	  /* from 1 */
};

struct rec_out;
struct rec_in;

/* paths NULL or npaths 0: stdin. tied (may be NULL) is flushed before any read that would block. */
struct rec_in *rec_open(char *const *paths, int npaths, struct rec_out *tied, struct err *e);
/* Says "reading WHAT from standard input" on stderr if path is "-" and a terminal is behind it,
 * where the program would seem to hang; nothing under -q. rec_open() does it for its paths. */
void rec_tell_terminal(const char *path, const char *what);
/* For tl-check: lines that are records but do not begin as they must ("tl" and "type" first,
 * without white space) are put in order instead of refused. */
void rec_accept_any_start(struct rec_in *in);
/* 1: a record; 0: end of all input (or a stop was asked for, see rec_stop_on_signals); -1: I/O
 * error. A line that is no record is reported and skipped here; a last line without newline is a
 * bad line if it does not parse. Empty lines are skipped. */
int rec_next(struct rec_in *in, struct rec *r, struct err *e);
/* For a line that does not begin as records do: what it is, and what to do. NULL: it begins as they
 * do. d is used to parse it. */
const char *rec_strange(const char *s, size_t n, struct json_doc *d);
/* Parses the record's text into d (kept inside the reader, reused); reports a bad line and returns
 * -1. */
int rec_parse(struct rec_in *in, const struct rec *r, struct json_doc **d);
/* Reports and counts a line that parsed but makes no sense. Returns -1. */
int rec_bad(struct rec_in *in, const struct rec *r, const struct err *why);
/* Would the next rec_next() block? Leaves the last record in place. Used by programs that work
 * while they wait. */
int rec_would_block(struct rec_in *in);
/* A file descriptor to poll together with others, or -1 when buffered lines are waiting or at the
 * end. */
int rec_fd(const struct rec_in *in);
uint64_t rec_bad_count(const struct rec_in *in);
void rec_close(struct rec_in *in);

/* path NULL or "-": stdout. Otherwise a temporary file beside path, fsynced and renamed by
 * rec_commit(). */
struct rec_out *rec_create(const char *path, struct err *e);
/* The same for what is no text. A file that is there and that foreign_treasure() knows is not
 * replaced, unless is_own() (may be NULL) knows its first bytes. */
struct rec_out *rec_create_as(const char *path, int (*is_own)(const char *head, size_t n),
			      struct err *e);
int rec_put(struct rec_out *out, const char *s, size_t n, struct err *e); /* adds the newline */
int rec_flush(struct rec_out *out, struct err *e);
/* Where the records go, for what is no record: nothing may be put then. */
int rec_out_fd(const struct rec_out *out);
/* Flushes, fsyncs and renames; for stdout only flushes. After a failure the old file stands as it
 * was. */
int rec_commit(struct rec_out *out, struct err *e);
/* Closes; without a commit before it, a temporary file is removed. */
void rec_discard(struct rec_out *out);
/* Was the last failure a reader that went away (EPIPE)? SIGPIPE is ignored by opt_parse(). */
int rec_broken_pipe(const struct rec_out *out);
/* Has stdout's reader gone? Polls without blocking (POLLERR/POLLHUP), for programs that work long.
 */
int rec_reader_gone(const struct rec_out *out);

/* Group bookkeeping: feed every record, and at the end `cut` and `runs` say if the stream was cut
 * off. A group opens with a workload record and closes with its end record. Candidates or results
 * without a group are allowed (a dump), and so is a stream of workload records alone. */
struct rec_groups {
	int open; /* 1 inside a group that has seen a candidate or result */
	char id[33];
	uint64_t runs; /* measuring runs begun and not done: the measurer may die between two groups
			*/
	uint64_t cut;  /* groups that were cut off */
};
void rec_groups_feed(struct rec_groups *g, const struct rec *r, const struct json_doc *d);
void rec_groups_end(struct rec_groups *g);

/* Text of an end record: {"tl":1,"type":"end","workload_id":"..","drawn":N,"why":".."} */
void rec_end_text(struct buf *b, const char *workload_id, int64_t drawn, const char *why);

/* SIGINT, SIGTERM and SIGHUP make rec_next() return 0 and rec_stopped() the signal's number. A
 * program that has not ended half a second later, whatever it does, is ended by the signal; its
 * temporary files (lib/io/temporary.h) are removed. */
void rec_stop_on_signals(void);
/* The same without that end, for a program that looks at rec_stopped() often enough, and has to
 * write down what it did. */
void rec_stop_in_own_time(void);
/* With that end again, for a program that took its time for a part alone. */
void rec_stop_in_time(void);
/* For the last program of a pipeline. The first of these signals changes nothing, because the
 * programs before this one got it, too, and their finished records are still to come. A second
 * signal, more than half a second later, stops as with rec_stop_on_signals(). */
void rec_read_on_at_first_signal(void);
int rec_stopped(void);
/* Has any of these signals come, also one that is let pass? */
int rec_was_told(void);
/* Becomes readable with the first of these signals; -1: they are not waited for. */
int rec_stop_fd(void);

/* Times of day, as in "at": UTC, RFC 3339 with milliseconds, 24 characters and a NUL; ms from 1970.
 * rec_time_read() gives -1 for what is no such time (fractions and Z may be missing), rec_time()
 * the nearest of the years 1970 to 9999. */
void rec_now(char out[25]);
void rec_time(int64_t ms, char out[25]);
int rec_time_read(const char *at, int64_t *ms);
/* Seconds from now until the time that "until" of a workload record names; INFINITY: it has none.
 * -1: what stands there is no time. */
int rec_seconds_left(const struct json_doc *workload, double *s, struct err *e);
/* The id of a run that begins now, like no other. */
void rec_run_id(struct id *id);

#endif
