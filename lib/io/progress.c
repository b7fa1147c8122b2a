#include "lib/io/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/terminal.h"

static const char WHOLE[] = "TL_PROGRESS"; /* START LIMIT WORDS */
static const double INTERVAL_s = 0.1;

/* The one line of the terminal that this process may own. */
static struct {
	int shown, silent;
	double last;
	const char *what; /* shown last: another one is shown at once */
	struct buf text;
} line;

void progress_time(double s, struct buf *out)
{
	long long t = s > 0 ? (long long)(s + 0.5) : 0;

	if (t >= 3600)
		buf_fmt(out, "%lld:%02lld:%02lld", t / 3600, t / 60 % 60, t % 60);
	else
		buf_fmt(out, "%lld:%02lld", t / 60, t % 60);
}

void progress_set_whole(const char *words, double started, double limit_s)
{
	char text[128];

	snprintf(text, sizeof text, "%.3f %.3f %s", started, limit_s, words);
	setenv(WHOLE, text, 1);
}

/* "round 3, 1:07 of 5:00: " */
static void put_whole(double now, struct buf *out)
{
	const char *text = getenv(WHOLE);
	double started, limit_s;
	int n = 0;

	if (!text || sscanf(text, "%lf %lf %n", &started, &limit_s, &n) != 2 || !n || !text[n])
		return;
	buf_fmt(out, "%s, ", text + n);
	progress_time(now - started, out);
	if (limit_s > 0) {
		buf_str(out, " of ");
		progress_time(limit_s, out);
	}
	buf_str(out, ": ");
}

/* Seconds that are left, by the rate so far; NAN: not known. */
static double left(const struct progress *p, double elapsed)
{
	double s = NAN;

	if (p->all > 0 && p->done > 0 && p->done <= p->all)
		s = elapsed * (double)(p->all - p->done) / (double)p->done;
	return p->limit_s > 0 ? fmin(s, fmax(p->limit_s - elapsed, 0)) : s;
}

void progress_line(const struct progress *p, const char *detail, double now, struct buf *out)
{
	double elapsed = now - p->started, rest = left(p, elapsed);

	put_whole(now, out);
	buf_fmt(out, "%s ", p->what);
	if (p->all > 0)
		buf_fmt(out, "%lld of %lld%s, ", (long long)p->done, (long long)p->all,
			p->unit ? p->unit : "");
	progress_time(elapsed, out);
	if (!isnan(rest)) {
		buf_str(out, ", ");
		progress_time(rest, out);
		buf_str(out, " left");
	}
	if (p->better)
		buf_fmt(out, ", %lld better", (long long)p->better);
	if (p->ratio > 0)
		buf_fmt(out, ", %.2f x library", p->ratio);
	if (detail && *detail)
		buf_fmt(out, ", %s", detail);
}

/* Bytes of at most n characters. */
static size_t bytes_of(const char *s, int n)
{
	size_t i = 0;

	for (; s[i]; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80 && n-- == 0)
			break;
	return i;
}

void progress_show(const struct progress *p, const char *detail)
{
	double now = clock_now();
	const struct buf *text = &line.text;
	struct buf raw = BUF_INIT;

	if (line.silent || (now - line.last < INTERVAL_s && p->what == line.what) ||
	    !isatty(STDERR_FILENO))
		return;
	line.last = now;
	line.what = p->what;
	buf_clear(&line.text);
	progress_line(p, detail, now, &raw);
	terminal_text(raw.s, raw.n, &line.text);
	buf_free(&raw);
	/* A line that wraps cannot be rewritten in place: not even the last column is written. */
	fprintf(stderr, "\r%.*s\033[K", (int)bytes_of(text->s, terminal_width(STDERR_FILENO) - 1),
		text->s);
	fflush(stderr);
	line.shown = 1;
}

void progress_clear(void)
{
	if (!line.shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line.shown = 0;
	line.last = 0;
	line.what = NULL;
}

void progress_silence(void)
{
	progress_clear();
	line.silent = 1;
}

int progress_is_silent(void)
{
	return line.silent;
}
