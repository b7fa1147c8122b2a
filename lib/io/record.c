#include "lib/io/record.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/io/beside.h"
#include "lib/io/clock.h"
#include "lib/io/complaints.h"
#include "lib/io/foreign.h"
#include "lib/io/progress.h"
#include "lib/io/temporary.h"
#include "lib/io/terminal.h"

enum {
	IN_SIZE = 256 * 1024, /* grows when a line is longer */
	LINE_MAX_BYTES = 64 * 1024 * 1024,
	OUT_SIZE = 64 * 1024, /* a full pipe */
};

static const char START[] = "{\"tl\":1,\"type\":\"";
enum { START_LEN = sizeof START - 1 };

/* Writing */

struct rec_out {
	int fd;
	int broken;
	char *path, *tmp;	/* NULL: written directly */
	struct temporary *held; /* tmp, which must not outlive the process */
	size_t n;
	char data[OUT_SIZE];
};

/* The temporary file is there no more. */
static void forget_tmp(struct rec_out *out)
{
	temporary_forget(out->held);
	out->held = NULL;
	free(out->tmp);
	out->tmp = NULL;
}

/* Opens the temporary file beside path, with the permissions that the file has or would get. */
static int open_tmp(struct rec_out *out, const char *path, struct err *e)
{
	struct stat st;
	struct buf tmp = BUF_INIT;
	char *real = realpath(path, NULL); /* so that a symbolic link stays one */

	if (!real && errno != ENOENT)
		return err_sys(e, "cannot find %s", path);
	out->path = real ? real : xstrdup(path);
	out->fd = beside_open(out->path, &tmp, e);
	if (out->fd < 0) {
		buf_free(&tmp);
		return -1;
	}
	out->held = temporary_add(tmp.s);
	out->tmp = tmp.s;
	if (stat(out->path, &st) ? errno != ENOENT : fchmod(out->fd, st.st_mode & 07777))
		return err_sys(e, "cannot set the permissions of %s", out->tmp);
	return 0;
}

/* Is the file of a kind that nobody means to replace by records or the like? A wrong name behind -o
 * must not cost a database. is_own: may be NULL. */
static int check_kind(const char *path, int (*is_own)(const char *head, size_t n), struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *hint = NULL;
	char head[300];
	ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof head, 0);

	if (fd >= 0)
		close(fd);
	if (n > 0 && !(is_own && is_own(head, (size_t)n)))
		hint = foreign_treasure(head, (size_t)n);
	return hint ? err_set(e, "%s is there and is not replaced: %s", path, hint) : 0;
}

struct rec_out *rec_create(const char *path, struct err *e)
{
	return rec_create_as(path, NULL, e);
}

struct rec_out *rec_create_as(const char *path, int (*is_own)(const char *head, size_t n),
			      struct err *e)
{
	struct rec_out *out = xmalloc(sizeof *out);
	struct stat st;
	int rc = 0, there;

	out->fd = -1;
	out->broken = 0;
	out->path = out->tmp = NULL;
	out->held = NULL;
	out->n = 0;
	if (!path || !strcmp(path, "-")) {
		out->fd = STDOUT_FILENO;
		return out;
	}
	there = !stat(path, &st);
	if (!there && errno != ENOENT) {
		rc = err_sys(e, "cannot find %s", path);
	} else if (there && !S_ISREG(st.st_mode)) { /* cannot be renamed over */
		out->path = xstrdup(path);
		out->fd = open(path, O_WRONLY | O_CLOEXEC);
		if (out->fd < 0)
			rc = err_sys(e, "cannot open %s", path);
	} else {
		rc = (there && check_kind(path, is_own, e)) || open_tmp(out, path, e) ? -1 : 0;
	}
	if (rc) {
		rec_discard(out);
		return NULL;
	}
	return out;
}

static int write_all(struct rec_out *out, const char *s, size_t n, struct err *e)
{
	while (n) {
		ssize_t k = write(out->fd, s, n);

		if (k >= 0) {
			s += k;
			n -= (size_t)k;
		} else if (errno ==
			   EAGAIN) { /* a non-blocking terminal or pipe that we were given */
			struct pollfd p = {out->fd, POLLOUT, 0};

			poll(&p, 1, -1);
		} else if (errno != EINTR) {
			out->broken = errno == EPIPE;
			return err_sys(e, "cannot write %s",
				       out->path ? out->path : "standard output");
		}
	}
	return 0;
}

int rec_flush(struct rec_out *out, struct err *e)
{
	size_t n = out->n;

	out->n = 0; /* what failed once is not written again, half of it twice */
	return write_all(out, out->data, n, e);
}

int rec_out_fd(const struct rec_out *out)
{
	return out->fd;
}

int rec_put(struct rec_out *out, const char *s, size_t n, struct err *e)
{
	if (n >= OUT_SIZE - out->n) {
		if (rec_flush(out, e))
			return -1;
		if (n >= OUT_SIZE)
			return write_all(out, s, n, e) || write_all(out, "\n", 1, e) ? -1 : 0;
	}
	memcpy(out->data + out->n, s, n);
	out->data[out->n + n] = '\n';
	out->n += n + 1;
	return 0;
}

/* A rename is only safe from a power cut once the folder is on the disk, too. */
static void sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path + 1)) : strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(dir);
}

int rec_commit(struct rec_out *out, struct err *e)
{
	if (rec_flush(out, e))
		return -1;
	if (!out->tmp)
		return 0;
	if (fsync(out->fd))
		return err_sys(e, "cannot write %s to the disk", out->tmp);
	if (rename(out->tmp, out->path))
		return err_sys(e, "cannot rename %s to %s", out->tmp, out->path);
	forget_tmp(out);
	sync_folder(out->path);
	return 0;
}

void rec_discard(struct rec_out *out)
{
	if (!out)
		return;
	if (out->tmp) {
		unlink(out->tmp);
		forget_tmp(out);
	}
	if (out->fd >= 0 && out->fd != STDOUT_FILENO)
		close(out->fd);
	free(out->path);
	free(out);
}

int rec_broken_pipe(const struct rec_out *out)
{
	return out->broken;
}

int rec_reader_gone(const struct rec_out *out)
{
	struct pollfd p = {out->fd, 0, 0};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP));
}

/* Reading */

struct rec_in {
	char *const *paths;
	int npaths, ipath; /* ipath: the file that is open, or the next one */
	int fd;		   /* -1: none open */
	int any_start;
	struct rec_out *tied;
	char *data;
	size_t start, scanned, end, cap; /* data[start..scanned) has no newline */
	int eof, skipping;		 /* skipping: inside a line that is too long */
	uint64_t line, bad;
	int foreign;		      /* the open file is something else: see foreign.h */
	struct complaints complaints; /* about the open file */
	struct json_doc doc;
	struct buf retyped, sentence;
};

void rec_tell_terminal(const char *path, const char *what)
{
	if (strcmp(path, "-") != 0 || !isatty(STDIN_FILENO) || progress_is_silent())
		return;
	progress_clear();
	fprintf(stderr, "%s: reading %s from standard input\n", program_invocation_short_name,
		what);
}

static char *const stdin_only[] = {(char *)"-"};

struct rec_in *rec_open(char *const *paths, int npaths, struct rec_out *tied, struct err *e)
{
	struct rec_in *in = xcalloc(1, sizeof *in);

	if (!paths || !npaths) {
		paths = stdin_only;
		npaths = 1;
	}
	in->paths = paths;
	in->npaths = npaths;
	in->fd = -1;
	in->tied = tied;
	for (int i = 0; i < npaths; i++) /* a wrong name ends the program before it has done half */
		if (strcmp(paths[i], "-") != 0 && access(paths[i], R_OK)) {
			err_sys(e, "cannot read %s", paths[i]);
			free(in);
			return NULL;
		}
	for (int i = 0; i < npaths; i++)
		rec_tell_terminal(paths[i], "records");
	in->cap = IN_SIZE;
	in->data = xmalloc(in->cap);
	return in;
}

void rec_accept_any_start(struct rec_in *in)
{
	in->any_start = 1;
}

static void print_complaint(const struct rec_in *in)
{
	progress_clear();
	terminal_say("%s: %s\n", program_invocation_short_name, in->sentence.s);
}

static void print_rest(struct rec_in *in, const char *file)
{
	while (complaints_rest(&in->complaints, file, &in->sentence))
		print_complaint(in);
}

static int report(struct rec_in *in, const char *file, uint64_t line, const char *why)
{
	in->bad++;
	if (complaints_add(&in->complaints, file, line, why, &in->sentence))
		print_complaint(in);
	return -1;
}

void rec_close(struct rec_in *in)
{
	if (!in)
		return;
	if (in->fd >= 0)
		print_rest(in, in->paths[in->ipath]);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	json_free(&in->doc);
	buf_free(&in->retyped);
	buf_free(&in->sentence);
	free(in->data);
	free(in);
}

int rec_bad(struct rec_in *in, const struct rec *r, const struct err *why)
{
	return report(in, r->file, r->line, why->msg);
}

uint64_t rec_bad_count(const struct rec_in *in)
{
	return in->bad;
}

static int open_next(struct rec_in *in, struct err *e)
{
	const char *path = in->paths[in->ipath];

	do /* a pipe may wait for its writer */
		in->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	while (in->fd < 0 && errno == EINTR && !rec_stopped());
	if (in->fd < 0)
		return rec_stopped() ? 0 : err_sys(e, "cannot open %s", path);
	in->eof = in->skipping = in->foreign = 0;
	in->line = 0;
	in->start = in->scanned = in->end = 0;
	return 0;
}

static void close_file(struct rec_in *in)
{
	print_rest(in, in->paths[in->ipath]);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->fd = -1;
	in->ipath++;
}

static int readable(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	int n;

	do /* a failure is left to the read that follows, but an interruption would let it block */
		n = poll(&p, 1, 0);
	while (n < 0 && errno == EINTR && !rec_stopped());
	return n != 0;
}

/* Waits for input or a stop. What is finished goes to the next program before. */
static int wait_input(struct rec_in *in, struct err *e)
{
	struct pollfd p[2] = {{in->fd, POLLIN, 0}, {rec_stop_fd(), POLLIN, 0}};

	if (readable(in->fd))
		return 0;
	if (in->tied && rec_flush(in->tied, e))
		return -1;
	while (!rec_stopped() && poll(p, 2, -1) < 0)
		if (errno != EINTR)
			return err_sys(e, "cannot wait for %s",
				       complaints_name(in->paths[in->ipath]));
	return 0;
}

/* Room behind the data: by moving the unfinished line to the front, then by growing. */
static void make_room(struct rec_in *in)
{
	if (in->end < in->cap)
		return;
	if (in->start) {
		memmove(in->data, in->data + in->start, in->end - in->start);
		in->scanned -= in->start;
		in->end -= in->start;
		in->start = 0;
	}
	if (in->end - in->start < in->cap / 2)
		return;
	in->cap *= 2;
	in->data = xrealloc(in->data, in->cap);
}

static int read_more(struct rec_in *in, struct err *e)
{
	ssize_t n;

	do
		n = read(in->fd, in->data + in->end, in->cap - in->end);
	while (n < 0 && errno == EINTR && !rec_stopped());
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0)
		return err_sys(e, "cannot read %s", complaints_name(in->paths[in->ipath]));
	in->eof = n == 0;
	in->end += (size_t)n;
	return 0;
}

/* The newline that ends the line at start, NULL if it has not come yet. */
static char *find_newline(struct rec_in *in)
{
	char *nl = memchr(in->data + in->scanned, '\n', in->end - in->scanned);

	in->scanned = nl ? (size_t)(nl - in->data) : in->end;
	return nl;
}

static enum rec_type type_of(const char *s, size_t n)
{
	static const struct {
		const char *name;
		size_t n;
		enum rec_type type;
	} types[] = {
		{"candidate", 9, REC_CANDIDATE},
		{"result", 6, REC_RESULT},
		{"workload", 8, REC_WORKLOAD},
		{"end", 3, REC_END},
		{"begin", 5, REC_BEGIN},
		{"done", 4, REC_DONE},
		{"run", 3, REC_RUN},
		{"choice", 6, REC_CHOICE},
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (n == types[i].n && !memcmp(s, types[i].name, n))
			return types[i].type;
	return REC_OTHER;
}

static const char no_fields[] =
	"this is JSON, but no record: it has no \"tl\" or no \"type\" (man 5 tl-record)";

/* A record that begins otherwise, for tl-check: moves "tl" and "type" to the front. */
static int retype(struct rec_in *in, struct rec *r, struct err *e)
{
	static const struct json_field none[] = {{"tl", NULL}, {"type", NULL}};
	const struct json *tl, *type;
	struct buf rest = BUF_INIT;
	int64_t version;

	if (json_parse(&in->doc, r->s, r->n, e))
		return -1;
	tl = json_get(&in->doc, in->doc.tok, "tl");
	type = json_get(&in->doc, in->doc.tok, "type");
	if (json_int(tl, &version) || !type || type->type != JSON_STR || type->size)
		return err_set(e, "%s", no_fields);
	if (version != TL_FORMAT)
		return err_set(e, "format version %lld is not known here", (long long)version);
	json_rewrite(&in->doc, none, 2, &rest);
	buf_clear(&in->retyped);
	buf_add(&in->retyped, START, START_LEN);
	buf_add(&in->retyped, type->s, type->n);
	buf_ch(&in->retyped, '"');
	if (in->doc.tok->size > 2)
		buf_ch(&in->retyped, ',');
	buf_add(&in->retyped, rest.s + 1, rest.n - 1);
	buf_free(&rest);
	r->s = in->retyped.s;
	r->n = in->retyped.n;
	r->type = type_of(r->s + START_LEN, type->n);
	return 0;
}

/* Is it a record, but for white space, as JSON printers put it? */
static int is_spaced(const char *s, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n && k < START_LEN; i++)
		if (s[i] == START[k])
			k++;
		else if (s[i] != ' ' && s[i] != '\t')
			return 0;
	return k == START_LEN;
}

const char *rec_strange(const char *s, size_t n, struct json_doc *d)
{
	struct err ignored = ERR_INIT;
	const struct json *v;
	int64_t version;

	if (n > START_LEN && !memcmp(s, START, START_LEN))
		return NULL;
	if (is_spaced(s, n))
		return "this record has blanks between its fields; tl-check --fix puts it in order";
	if (!n || (*s != '{' && *s != '[') || json_parse(d, s, n, &ignored))
		return "this is no record of format 1: it does not begin with "
		       "{\"tl\":1,\"type\":\"";
	v = json_get(d, d->tok, "tl");
	if (v && json_int(v, &version) == 0 && version != TL_FORMAT)
		return "this is no record of format 1, which alone is known here: its \"tl\" is another";
	if (v && json_get(d, d->tok, "type"))
		return "this record does not begin with \"tl\":1 and \"type\"; tl-check --fix puts "
		       "them first";
	return no_fields;
}

/* Is the file something else? Told at its first line, by what has been read so far. */
static int is_foreign(struct rec_in *in, const char *s)
{
	const char *hint = foreign_to_records(s, (size_t)(in->data + in->end - s));

	if (hint)
		report(in, in->paths[in->ipath], 1, hint);
	return in->foreign = hint != NULL;
}

/* Tells the type by the start of the line; 1, or 0 after a report. */
static int accept_line(struct rec_in *in, struct rec *r, int unfinished)
{
	struct err e = ERR_INIT;
	const char *type = r->s + START_LEN, *quote = NULL;

	if (r->n > START_LEN && !memcmp(r->s, START, START_LEN))
		quote = memchr(type, '"', r->n - START_LEN);
	if (!quote && r->line == 1 && is_foreign(in, r->s))
		return 0;
	if (unfinished && json_parse(&in->doc, r->s, r->n, &e)) {
		report(in, r->file, r->line, "the last line is cut off");
		return 0;
	}
	if (quote) {
		r->type = type_of(type, (size_t)(quote - type));
		return 1;
	}
	if (in->any_start && !retype(in, r, &e))
		return 1;
	report(in, r->file, r->line, in->any_start ? e.msg : rec_strange(r->s, r->n, &in->doc));
	return 0;
}

/* in->line lines stand before it. */
static void refuse_long_line(struct rec_in *in)
{
	if (in->line || !is_foreign(in, in->data + in->start))
		report(in, in->paths[in->ipath], in->line + 1, "the line is longer than 64 MiB");
}

/* Takes the line that ends at stop out of the buffer. 1: it is a record; 0: it was skipped. */
static int take_line(struct rec_in *in, size_t stop, int unfinished, struct rec *r)
{
	int is_long = !in->skipping && stop - in->start > LINE_MAX_BYTES;

	if (is_long) /* and it fitted into the buffer */
		refuse_long_line(in);
	r->s = in->data + in->start;
	r->n = stop - in->start;
	r->file = in->paths[in->ipath];
	r->line = ++in->line;
	in->start = in->scanned = stop + !unfinished;
	if (in->skipping) {
		in->skipping = 0;
		return 0;
	}
	if (is_long || !r->n || (r->n == 1 && r->s[0] == '\r'))
		return 0;
	return accept_line(in, r, unfinished);
}

static void skip_long_line(struct rec_in *in)
{
	if (!in->skipping)
		refuse_long_line(in);
	in->skipping = 1;
	in->start = in->scanned = in->end = 0;
}

int rec_next(struct rec_in *in, struct rec *r, struct err *e)
{
	while (!rec_stopped()) {
		char *nl;

		if (in->fd < 0) {
			if (in->ipath == in->npaths)
				return 0;
			if (open_next(in, e))
				return -1;
		}
		if ((nl = find_newline(in))) {
			if (take_line(in, (size_t)(nl - in->data), 0, r))
				return 1;
			if (in->foreign)
				close_file(in);
			continue;
		}
		if (in->eof) {
			int found = in->end > in->start && take_line(in, in->end, 1, r);

			if (found)
				return 1;
			close_file(in);
			continue;
		}
		if (in->end - in->start > LINE_MAX_BYTES)
			skip_long_line(in);
		if (in->foreign) {
			close_file(in);
			continue;
		}
		if (in->start == in->end)
			in->start = in->scanned = in->end = 0;
		make_room(in);
		if (wait_input(in, e) || (!rec_stopped() && read_more(in, e)))
			return -1;
	}
	return 0;
}

int rec_parse(struct rec_in *in, const struct rec *r, struct json_doc **d)
{
	struct err e = ERR_INIT;

	*d = &in->doc;
	if (json_parse(&in->doc, r->s, r->n, &e))
		return rec_bad(in, r, &e);
	return 0;
}

int rec_would_block(struct rec_in *in)
{
	/* Only reads behind the data: the record given out last must stay where it is. */
	while (!rec_stopped() && in->fd >= 0 && !find_newline(in) && !in->eof) {
		if (!readable(in->fd))
			return 1;
		if (in->end == in->cap || read_more(in, NULL))
			return 0;
	}
	if (in->fd < 0 && in->ipath < in->npaths && !strcmp(in->paths[in->ipath], "-"))
		return !rec_stopped() && !readable(STDIN_FILENO);
	return 0;
}

int rec_fd(const struct rec_in *in)
{
	if (in->fd < 0)
		return in->ipath < in->npaths && !strcmp(in->paths[in->ipath], "-") ? STDIN_FILENO
										    : -1;
	if (in->eof || memchr(in->data + in->scanned, '\n', in->end - in->scanned))
		return -1;
	return in->fd;
}

/* Groups */

/* Is the record's workload the open group's? Without a parse, or an id, it is taken for it. */
static int same_group(const struct rec_groups *g, const struct rec *r, const struct json_doc *d)
{
	const struct json *v = d ? d->tok : NULL;

	if (r->type == REC_CANDIDATE || r->type == REC_RESULT)
		v = v ? json_get(d, v, "workload") : NULL;
	v = v ? json_get(d, v, "workload_id") : NULL;
	return !v || json_is(v, g->id);
}

static void close_group(struct rec_groups *g)
{
	g->cut += (uint64_t)g->open;
	g->open = 0;
	memset(g->id, 0, sizeof g->id);
}

void rec_groups_feed(struct rec_groups *g, const struct rec *r, const struct json_doc *d)
{
	const struct json *v;

	switch (r->type) {
	case REC_WORKLOAD:
		close_group(g);
		v = d ? json_get(d, d->tok, "workload_id") : NULL;
		if (v && v->n == sizeof g->id - 1)
			memcpy(g->id, v->s, v->n);
		else
			g->id[0] = '?'; /* a group all the same */
		break;
	case REC_CANDIDATE:
	case REC_RESULT:
		if (g->id[0] && (g->id[0] == '?' || same_group(g, r, d)))
			g->open = 1;
		break;
	case REC_BEGIN:
		g->runs++;
		break;
	case REC_DONE:
		g->runs -= g->runs > 0;
		break;
	case REC_END:
		if (g->open && g->id[0] != '?' && !same_group(g, r, d))
			g->cut++;
		g->open = 0;
		g->id[0] = 0;
		break;
	default:
		break;
	}
}

void rec_groups_end(struct rec_groups *g)
{
	close_group(g);
}

void rec_end_text(struct buf *b, const char *workload_id, int64_t drawn, const char *why)
{
	field_record(b, "end");
	field_text(b, "workload_id", workload_id);
	field_integer(b, "drawn", drawn);
	field_text(b, "why", why);
	buf_ch(b, '}');
}

void rec_time(int64_t ms, char out[25])
{
	const int64_t most = 253402300799999; /* the last of 9999 */
	const int64_t in = ms < 0 ? 0 : ms > most ? most : ms;
	const time_t t = (time_t)(in / 1000);
	struct tm tm;
	size_t n;

	gmtime_r(&t, &tm);
	n = strftime(out, 25, "%Y-%m-%dT%H:%M:%S", &tm);
	assert(n == 19);
	snprintf(out + n, 25 - n, ".%03uZ", (unsigned)(in % 1000));
}

void rec_now(char out[25])
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	rec_time((int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000, out);
}

int rec_time_read(const char *at, int64_t *ms)
{
	struct tm tm = {0};
	const char *rest = strptime(at, "%Y-%m-%dT%H:%M:%S", &tm);

	if (!rest)
		return -1;
	*ms = (int64_t)timegm(&tm) * 1000;
	if (*rest == '.')
		*ms += (int64_t)(strtod(rest, NULL) * 1000 + 0.5);
	return 0;
}

int rec_seconds_left(const struct json_doc *workload, double *s, struct err *e)
{
	const struct json *v = json_get(workload, workload->tok, "until");
	int64_t ms, now_ms;
	char at[32], now[25];

	*s = INFINITY;
	if (!v)
		return 0;
	snprintf(at, sizeof at, "%.*s", (int)v->n, v->s);
	rec_now(now);
	if (v->type != JSON_STR || rec_time_read(at, &ms) < 0 || rec_time_read(now, &now_ms) < 0)
		return err_set(e, "\"until\" is no time such as 2026-11-21T09:00:00.000Z");
	*s = (double)(ms - now_ms) / 1000;
	return 0;
}

void rec_run_id(struct id *id)
{
	char text[96], now[25];

	rec_now(now);
	snprintf(text, sizeof text, "%s %d %.9f", now, (int)getpid(), clock_now());
	hash_id(id, text, strlen(text));
}
