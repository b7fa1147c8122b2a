/* lib/io/progress.c: what the line says, and how it lies on a terminal of some width. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/io/progress.h"
#include "tests/tap.h"

static int says(const struct progress *p, const char *detail, double now, const char *want)
{
	struct buf b = BUF_INIT;
	int same;

	progress_line(p, detail, now, &b);
	same = !strcmp(b.s, want);
	if (!same)
		diag("%s", b.s);
	buf_free(&b);
	return same;
}

static void test_time(void)
{
	static const struct {
		double s;
		const char *text;
	} of[] = {{0, "0:00"},	   {7.4, "0:07"},     {59.6, "1:00"}, {754, "12:34"},
		  {3599, "59:59"}, {3723, "1:02:03"}, {-1, "0:00"},   {360000, "100:00:00"}};
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		buf_clear(&b);
		progress_time(of[i].s, &b);
		ok(!strcmp(b.s, of[i].text), "%g s are %s", of[i].s, b.s);
	}
	buf_free(&b);
}

static void test_line(void)
{
	struct progress p = {.what = "measuring", .started = 100};

	ok(says(&p, NULL, 107, "measuring 0:07"), "what, and since when");
	p.all = 40;
	ok(says(&p, NULL, 107, "measuring 0 of 40, 0:07"), "before the first nobody knows the end");
	p.done = 10;
	ok(says(&p, "conv2d x", 130, "measuring 10 of 40, 0:30, 1:30 left, conv2d x"),
	   "done of all, elapsed, left");
	p.limit_s = 60;
	ok(says(&p, NULL, 130, "measuring 10 of 40, 0:30, 0:30 left"), "no longer than the limit");
	p.limit_s = 0;
	p.better = 2;
	p.ratio = 1.2345;
	ok(says(&p, NULL, 130, "measuring 10 of 40, 0:30, 1:30 left, 2 better, 1.23 x library"),
	   "how many were better, and the best against the library");
	p.unit = " MB";
	p.better = 0;
	p.ratio = 0;
	ok(says(&p, NULL, 130, "measuring 10 of 40 MB, 0:30, 1:30 left"), "with a unit");
}

static void test_whole(void)
{
	const struct progress p = {.what = "measuring", .started = 100};

	progress_set_whole("round 3", 40, 300);
	ok(says(&p, NULL, 107, "round 3, 1:07 of 5:00: measuring 0:07"), "a part of a run");
	progress_set_whole("finals", 40, 0);
	ok(says(&p, NULL, 107, "finals, 1:07: measuring 0:07"), "of one without a limit");
	setenv("TL_PROGRESS", "nonsense", 1);
	ok(says(&p, NULL, 107, "measuring 0:07"), "what is no such thing says nothing");
	unsetenv("TL_PROGRESS");
}

/* ---- on a terminal ---- */

static void set_width(int fd, int columns)
{
	const struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};

	if (ioctl(fd, TIOCSWINSZ, &size) < 0)
		bail_out("cannot set the terminal's size");
}

/* What has come to the terminal; waits no longer than a moment. */
static size_t shown(int terminal, char *text, size_t size)
{
	struct pollfd p = {terminal, POLLIN, 0};
	size_t n = 0;
	ssize_t r;

	while (n + 1 < size && poll(&p, 1, 50) > 0 &&
	       (r = read(terminal, text + n, size - n - 1)) > 0)
		n += (size_t)r;
	text[n] = 0;
	return n;
}

/* Characters between the carriage return and the escape sequence that clears the rest. */
static int columns(const char *text)
{
	const char *end = strstr(text, "\033[K");
	int n = 0;

	if (text[0] != '\r' || !end)
		return -1;
	for (const char *s = text + 1; s < end; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void show(const struct progress *p)
{
	usleep(120000); /* not more often than ten times a second */
	progress_show(p, "conv2d \303\274\303\274\303\274 and a long text that fits on no terminal "
			 "whatsoever, for it has far more than a hundred characters");
}

static void test_terminal(void)
{
	const struct progress p = {.what = "measuring", .done = 1, .all = 9};
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), fd, saved = dup(STDERR_FILENO);
	const char *name;
	char text[4096];

	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal) ||
	    !(name = ptsname(terminal)) || (fd = open(name, O_RDWR | O_NOCTTY)) < 0) {
		skip("there are no pseudo-terminals here");
		return;
	}
	dup2(fd, STDERR_FILENO);
	set_width(fd, 60);
	show(&p);
	shown(terminal, text, sizeof text);
	ok(columns(text) == 59 && strstr(text, "measuring 1 of 9, "), "a line of a terminal of 60");
	set_width(fd, 30);
	show(&p);
	shown(terminal, text, sizeof text);
	ok(columns(text) == 29, "and of 30, when the window has changed");
	progress_show(&p, NULL);
	ok(shown(terminal, text, sizeof text) == 0, "not twice in a moment");
	progress_clear();
	shown(terminal, text, sizeof text);
	ok(!strcmp(text, "\r\033[K"), "it is cleared");
	progress_clear();
	ok(shown(terminal, text, sizeof text) == 0, "once");
	progress_silence();
	show(&p);
	ok(shown(terminal, text, sizeof text) == 0, "-q silences it");
	dup2(saved, STDERR_FILENO);
	close(fd);
	close(saved);
	close(terminal);
}

int main(void)
{
	unsetenv("TL_PROGRESS");
	test_time();
	test_line();
	test_whole();
	test_terminal();
	return done_testing();
}
