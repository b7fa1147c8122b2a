/* lib/io/record.c: streams, flushing, bad lines, replaced files, groups. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/arena.h"
#include "lib/io/record.h"
#include "tests/tap.h"

static char dir[] = "/tmp/tl-record-XXXXXX";

static struct arena paths_made;

static char *path_of(const char *name)
{
	return arena_printf(&paths_made, "%s/%s", dir, name);
}

static void spew(const char *path, const char *s, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(s, 1, n, f) != n || fclose(f))
		bail_out("cannot write %s", path);
}

static int holds(const char *path, const char *want)
{
	char s[256] = "";
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(s, 1, sizeof s - 1, f) : 0;

	if (f)
		fclose(f);
	return f && n == strlen(want) && !memcmp(s, want, n);
}

static void test_reading(void)
{
	static const char text[] = "{\"tl\":1,\"type\":\"workload\",\"a\":1}\n"
				   "\n\r\n"
				   "not a record\n"
				   "{\"tl\":2,\"type\":\"workload\"}\n"
				   "{\"tl\":1,\"type\":\"novel\"}\n"
				   "{\"tl\":1,\"type\":\"resultx\"}\n"
				   "{\"tl\":1,\"type\":\"result\",oops}\n"
				   "{\"tl\":1,\"type\":\"end\"}\n"
				   "{\"tl\":1,\"type\":\"candidate\"}";
	static const enum rec_type types[] = {REC_WORKLOAD, REC_OTHER, REC_OTHER,
					      REC_RESULT,   REC_END,   REC_CANDIDATE};
	static const uint64_t lines[] = {1, 6, 7, 8, 9, 10};
	char *paths[1] = {path_of("in")};
	struct err e = ERR_INIT;
	struct json_doc *d;
	struct rec_in *in;
	struct rec r;
	int n = 0, right = 1;

	spew(paths[0], text, sizeof text - 1);
	in = rec_open(paths, 1, NULL, &e);
	while (in && rec_next(in, &r, &e) == 1) {
		right &= n < 6 && r.type == types[n] && r.line == lines[n];
		if (r.type == REC_RESULT)
			ok(rec_parse(in, &r, &d) == -1, "a line that is no JSON is bad");
		n++;
	}
	ok(n == 6 && right, "types and line numbers");
	ok(in && rec_bad_count(in) == 3, "bad lines are counted");
	rec_close(in);
	spew(paths[0], text, sizeof text - 3);
	in = rec_open(paths, 1, NULL, &e);
	for (n = 0; in && rec_next(in, &r, &e) == 1; n++)
		;
	ok(n == 5 && rec_bad_count(in) == 3, "a last line that is cut off is bad");
	rec_close(in);
	paths[0] = path_of("missing");
	ok(!rec_open(paths, 1, NULL, &e) && strstr(e.msg, "missing"), "a missing file is named");
}

/* Lines of all lengths, some longer than every buffer, come out byte for byte. */
static void test_copy(void)
{
	struct buf text = BUF_INIT, got = BUF_INIT;
	char *in_path[1] = {path_of("long")}, *out_path = path_of("copy"), chunk[4096];
	struct err e = ERR_INIT;
	struct rec_out *out;
	struct rec_in *in;
	struct rec r;
	ssize_t n;
	int fd;

	for (int i = 0; i < 3000; i++) {
		buf_str(&text, "{\"tl\":1,\"type\":\"novel\",\"s\":\"");
		for (int k = i % 1000 == 999 ? 900000 : i % 700; k; k--)
			buf_ch(&text, (char)('a' + k % 26));
		buf_str(&text, "\"}\n");
	}
	spew(in_path[0], text.s, text.n);
	out = rec_create(out_path, &e);
	in = rec_open(in_path, 1, out, &e);
	while (in && out && rec_next(in, &r, &e) == 1)
		if (rec_put(out, r.s, r.n, &e))
			break;
	ok(out && !rec_commit(out, &e), "rec_commit");
	rec_close(in);
	rec_discard(out);
	fd = open(out_path, O_RDONLY);
	while (fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0)
		buf_add(&got, chunk, (size_t)n);
	close(fd);
	ok(got.n == text.n && !memcmp(got.s, text.s, got.n), "lines of any length are copied");
	buf_free(&text);
	buf_free(&got);
}

/* A line above 64 MiB is bad wherever its end lies in the buffer; the next one is read. */
static void test_long(void)
{
	static const char start[] = "{\"tl\":1,\"type\":\"novel\",\"s\":\"",
			  good[] = "{\"tl\":1,\"type\":\"novel\"}";
	char *path[1] = {path_of("long")};
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;

	for (size_t n = (size_t)65 << 20; n <= (size_t)130 << 20; n *= 2) {
		struct rec_in *in;
		struct rec r = {0};

		buf_clear(&text);
		buf_str(&text, start);
		buf_reserve(&text, n);
		memset(text.s + text.n, 'x', n);
		text.n += n;
		buf_str(&text, "\"}\n");
		buf_str(&text, good);
		buf_ch(&text, '\n');
		spew(path[0], text.s, text.n);
		in = rec_open(path, 1, NULL, &e);
		ok(in && rec_next(in, &r, &e) == 1 && r.line == 2 && r.n == sizeof good - 1 &&
			   rec_bad_count(in) == 1,
		   "a line of %zu MiB is bad, and the next one is read", n >> 20);
		rec_close(in);
	}
	buf_free(&text);
}

static void test_output(void)
{
	char *path = path_of("out"), *link = path_of("link"), tmp[200];
	struct err e = ERR_INIT;
	struct rec_out *out;
	struct stat st;

	spew(path, "old\n", 4);
	chmod(path, 0640);
	out = rec_create(path, &e);
	ok(!rec_put(out, "new", 3, &e) && !rec_flush(out, &e) && holds(path, "old\n"),
	   "the old file stands until the commit");
	rec_discard(out);
	ok(holds(path, "old\n"), "and for ever without one");
	snprintf(tmp, sizeof tmp, "%s.%ld.tmp", path, (long)getpid());
	ok(access(tmp, F_OK) == -1, "the temporary file goes with it");
	ok(symlink("out", link) == 0, "a symbolic link");
	out = rec_create(link, &e);
	ok(!rec_put(out, "new", 3, &e) && !rec_commit(out, &e) && holds(path, "new\n"),
	   "the commit replaces it, through a link");
	rec_discard(out);
	ok(!lstat(link, &st) && S_ISLNK(st.st_mode), "the link stays one");
	ok(!stat(path, &st) && (st.st_mode & 07777) == 0640, "permissions stay as they were");
	ok(!rec_create(path_of("no/such"), &e) && strstr(e.msg, "cannot create"),
	   "a folder that is not there");
	if ((out = rec_create("/dev/full", &e))) {
		ok(!rec_put(out, "x", 1, &e) && rec_commit(out, &e) == -1,
		   "a full disk is an error");
		rec_discard(out);
	}
}

static int readable(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, 0) > 0;
}

static void *copy_thread(void *paths)
{
	char **path = paths;
	struct err e = ERR_INIT;
	struct rec_out *out = rec_create(path[1], &e);
	struct rec_in *in = rec_open(path, 1, out, &e);
	struct rec r;

	while (rec_next(in, &r, &e) == 1)
		rec_put(out, r.s, r.n, &e);
	rec_commit(out, &e);
	rec_close(in);
	rec_discard(out);
	return NULL;
}

/* A thread copies from one FIFO to another; what it got must come out while it waits for more. */
static void test_flush(void)
{
	static const char line[] = "{\"tl\":1,\"type\":\"novel\"}\n";
	char *path[2] = {path_of("to"), path_of("from")}, got[100];
	pthread_t thread;
	int to, from;
	ssize_t n;

	if (mkfifo(path[0], 0600) || mkfifo(path[1], 0600) ||
	    (from = open(path[1], O_RDONLY | O_NONBLOCK)) < 0 ||
	    pthread_create(&thread, NULL, copy_thread, path))
		bail_out("no FIFO");
	to = open(path[0], O_WRONLY);
	if (write(to, line, sizeof line - 1) < 0)
		bail_out("no write");
	for (int i = 0; i < 1000 && !readable(from); i++)
		usleep(10000);
	n = read(from, got, sizeof got);
	ok(n == sizeof line - 1 && !memcmp(got, line, (size_t)n),
	   "flushed before the read that blocks");
	close(to);
	pthread_join(thread, NULL);
	ok(read(from, got, sizeof got) == 0, "the end of input ends the output");
	close(from);
}

static void test_waiting(void)
{
	static const char text[] = "{\"tl\":1,\"type\":\"a\"}\n{\"tl\":1,\"type\":\"b\"}\n{\"tl\"";
	int p[2], saved = dup(0);
	struct err e = ERR_INIT;
	struct rec_in *in;
	struct rec r;

	if (pipe(p) || dup2(p[0], 0) < 0)
		bail_out("no pipe");
	in = rec_open(NULL, 0, NULL, &e);
	ok(rec_would_block(in), "an empty pipe would block");
	if (write(p[1], text, sizeof text - 1) < 0)
		bail_out("no write");
	ok(!rec_would_block(in) && rec_next(in, &r, &e) == 1, "a line would not");
	ok(!rec_would_block(in) && rec_fd(in) == -1, "nor would the line behind it");
	ok(!memcmp(r.s, text, r.n), "asking leaves the record in place");
	ok(rec_next(in, &r, &e) == 1 && rec_would_block(in) && rec_fd(in) == 0,
	   "half a line would block");
	close(p[1]);
	ok(!rec_would_block(in) && rec_next(in, &r, &e) == 0 && rec_bad_count(in) == 1,
	   "the end does not block");
	rec_close(in);
	dup2(saved, 0);
	close(saved);
	close(p[0]);
}

#define A "00000000000000000000000000000000"
#define B "11111111111111111111111111111111"

/* Feeds a group per letter: w, c, r, e of workload A; upper case of B. */
static uint64_t cut_in(const char *letters)
{
	struct rec_groups g = {0};
	struct json_doc d = JSON_DOC_INIT;
	struct err e = ERR_INIT;
	char text[200];

	for (; *letters; letters++) {
		int lower = *letters | 0x20;
		const char *id = *letters == lower ? A : B;
		struct rec r = {text, 0,
				lower == 'w'   ? REC_WORKLOAD
				: lower == 'c' ? REC_CANDIDATE
				: lower == 'r' ? REC_RESULT
					       : REC_END,
				"-", 1};

		r.n = (size_t)snprintf(text, sizeof text,
				       lower == 'c' || lower == 'r'
					       ? "{\"workload\":{\"workload_id\":\"%s\"}}"
					       : "{\"workload_id\":\"%s\"}",
				       id);
		if (json_parse(&d, text, r.n, &e))
			bail_out("%s", e.msg);
		rec_groups_feed(&g, &r, &d);
	}
	rec_groups_end(&g);
	json_free(&d);
	return g.cut;
}

static void test_groups(void)
{
	ok(cut_in("") == 0 && cut_in("wW") == 0, "workloads alone are whole");
	ok(cut_in("wcceWRE") == 0, "groups that end are whole");
	ok(cut_in("ccrR") == 0, "a dump is whole");
	ok(cut_in("Rwce") == 0, "so are results before a group");
	ok(cut_in("wc") == 1, "a group without its end is cut off");
	ok(cut_in("wcWCE") == 1, "by the next workload, too");
	ok(cut_in("wcEWR") == 2, "or by another's end");
	ok(cut_in("weWE") == 0, "an empty group is whole");
}

static void test_texts(void)
{
	struct buf b = BUF_INIT;
	char now[25];
	int y, mo, d, h, mi, s, ms;

	rec_end_text(&b, A, 12, "n \"reached\"");
	ok(!strcmp(b.s, "{\"tl\":1,\"type\":\"end\",\"workload_id\":\"" A
			"\",\"drawn\":12,\"why\":\"n \\\"reached\\\"\"}"),
	   "rec_end_text");
	rec_now(now);
	ok(strlen(now) == 24 &&
		   sscanf(now, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &y, &mo, &d, &h, &mi, &s, &ms) == 7,
	   "rec_now is %s", now);
	buf_free(&b);
}

int main(void)
{
	if (!mkdtemp(dir))
		bail_out("no temporary folder");
	test_reading();
	test_copy();
	test_long();
	test_output();
	test_flush();
	test_waiting();
	test_groups();
	test_texts();
	for (const char *const *name =
		     (const char *const[]){"in", "long", "copy", "out", "link", "to", "from", NULL};
	     *name; name++)
		unlink(path_of(*name));
	ok(!rmdir(dir), "no temporary file is left");
	return done_testing();
}
