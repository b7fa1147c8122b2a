#include "lib/report/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io/proc.h"
#include "lib/report/series.h"

enum { FRAME_ROWS = 7 };	  /* a title, the frame, an axis and its name */
static const double LIMIT_s = 20; /* for gnuplot to end in */

/* A string of gnuplot in single quotes; a quote in it is doubled. */
static void quoted(struct buf *out, const char *s)
{
	buf_ch(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_ch(out, '\'');
		buf_ch(out, *s);
	}
	buf_ch(out, '\'');
}

static void head(enum plot p, int columns, int rows, const char *x_name, struct buf *out)
{
	buf_fmt(out, "set terminal dumb size %d, %d\nset tmargin 2\nset bmargin 3\nset title ",
		columns, rows);
	quoted(out, plot_title(p));
	buf_str(out, "\nset xlabel ");
	quoted(out, x_name);
	buf_str(out, "\nset encoding utf8\n");
}

/* ---- convergence ---- */

static void convergence(const struct figures *f, const struct gnuplot_size *size, struct buf *out)
{
	head(PLOT_CONVERGENCE, size->columns, size->rows, "core-seconds spent on candidates", out);
	buf_str(out, "set ylabel 'ms'\n$tuned << END\n");
	for (int64_t i = 0; i < f->nmoments; i++)
		buf_fmt(out, "%.6g %.6g\n", f->moment[i].core_s, f->moment[i].s * 1e3);
	buf_fmt(out,
		"END\nplot %.6g with lines dashtype 2 title 'the library', "
		"$tuned with steps title 'all operators'\n",
		f->total.before_s * 1e3);
}

/* ---- the roofline ---- */

static void points(const struct figures *f, const char *name, int tuned, struct buf *out)
{
	buf_fmt(out, "$%s << END\n", name);
	for (int64_t i = 0; i < f->lines->n; i++) {
		const struct report_line *l = &f->lines->line[i];
		double flops = (double)l->w.flops;

		if (series_has_times(l))
			buf_fmt(out, "%.6g %.6g\n", flops / figures_bytes(&l->w),
				flops / 1e9 / (tuned ? l->tuned_s : l->baseline_s));
	}
	buf_str(out, "END\n");
}

static void roofline(const struct figures *f, const struct gnuplot_size *size, struct buf *out)
{
	double memory = f->env.bandwidth[LEVEL_MEM];

	head(PLOT_ROOFLINE, size->columns, size->rows, "FLOP a byte of operands", out);
	buf_str(out, "set ylabel 'GFLOP/s'\nset logscale xy\nset key right bottom\n");
	points(f, "library", 0, out);
	points(f, "tuned", 1, out);
	buf_fmt(out, "peak = %.6g\nplot peak with lines title 'peak', ", f->env.peak / 1e9);
	if (!isnan(memory))
		buf_fmt(out, "x * %.6g < peak ? x * %.6g : NaN with lines title 'memory', ",
			memory / 1e9, memory / 1e9);
	buf_str(out, "$library with points pointtype 'o' title 'the library', "
		     "$tuned with points pointtype '*' title 'tuned'\n");
}

/* ---- a line each ---- */

/* Rows with names at the left, from the top down. */
static void named_rows(int n, struct buf *out)
{
	buf_fmt(out, "set yrange [%d.5:-0.5] noextend\nset ytics scale 0\n", n - 1);
}

static void operators(const struct figures *f, const struct gnuplot_size *size, struct buf *out)
{
	struct operator_times *o = xcalloc((size_t)f->lines->n + 1, sizeof *o);
	int n = (int)series_operators(f, o);
	char name[SERIES_NAME];

	head(PLOT_OPERATORS, size->columns, n + FRAME_ROWS,
	     "us, count x time (o the library, * tuned)", out);
	named_rows(n, out);
	buf_str(out, "set xrange [0:*]\n$operators << END\n");
	for (int i = 0; i < n; i++) {
		series_name(o[i].line, name);
		buf_fmt(out, "\"%s\" %.6g %.6g\n", name, o[i].before_s * 1e6, o[i].after_s * 1e6);
	}
	buf_str(out, "END\nplot $operators using 2:0:ytic(1) with points pointtype 'o' notitle, "
		     "'' using 3:0 with points pointtype '*' notitle\n");
	free(o);
}

static void savings(const struct figures *f, const struct gnuplot_size *size, struct buf *out)
{
	struct share s[SERIES_SHARES];
	int n = series_shares(f, s);
	double most = 0, least = INFINITY;

	for (int i = 0; i < n; i++) {
		most = fmax(most, s[i].core_s);
		least = fmin(least, s[i].core_s);
	}
	least = fmax(least, most / 1e6) / 2;
	head(PLOT_SAVINGS, size->columns, n + FRAME_ROWS, "core-seconds", out);
	named_rows(n, out);
	buf_fmt(out, "set logscale x\nset xrange [%.6g:*]\n$shares << END\n", least);
	for (int i = 0; i < n; i++)
		buf_fmt(out, "\"%s\" %.6g\n", s[i].name, s[i].core_s);
	buf_fmt(out,
		"END\nplot $shares using (%.6g):0:($2 - %.6g):(0):ytic(1) "
		"with vectors nohead notitle\n",
		least, least);
}

/* ---- all of them ---- */

void gnuplot_script(enum plot p, const struct figures *f, const struct gnuplot_size *size,
		    struct buf *out)
{
	static void (*const script[PLOTS])(const struct figures *, const struct gnuplot_size *,
					   struct buf *) = {
		[PLOT_OPERATORS] = operators,
		[PLOT_CONVERGENCE] = convergence,
		[PLOT_ROOFLINE] = roofline,
		[PLOT_SAVINGS] = savings,
	};

	script[p](f, size, out);
}

/* The script in memory that gnuplot can read as its stdin. -1 on an error. */
static int script_file(const struct buf *script, struct err *e)
{
	int fd = memfd_create("plot", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "cannot make a file in memory");
	for (size_t at = 0; at < script->n;) {
		ssize_t n = pwrite(fd, script->s + at, script->n - at, (off_t)at);

		if (n < 0) {
			err_sys(e, "cannot write to a file in memory");
			close(fd);
			return -1;
		}
		at += (size_t)n;
	}
	return fd;
}

static int read_all(int fd, struct buf *out, struct err *e)
{
	ssize_t n;

	do {
		buf_reserve(out, 4096);
		n = read(fd, out->s + out->n, 4096);
		if (n > 0)
			out->n += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? err_sys(e, "cannot read from gnuplot") : 0;
}

/* Adds the lines without the page break before them, and without spaces and blank lines at their
 * ends. */
static void trim(const struct buf *drawn, struct buf *out)
{
	for (size_t i = 0; i < drawn->n; i++) {
		char c = drawn->s[i];

		if (c == '\n')
			while (out->n && out->s[out->n - 1] == ' ')
				out->n--;
		if (c != '\f' && (c != '\n' || out->n))
			buf_ch(out, c);
	}
}

int gnuplot_draw(const struct buf *script, struct buf *out, struct err *e)
{
	static char program[] = "gnuplot", no_settings[] = "-d", from_stdin[] = "-";
	char *argv[] = {program, no_settings, from_stdin, NULL};
	int fd = script_file(script, e), status = 0, rc;
	struct buf drawn = BUF_INIT;
	struct proc p;

	if (fd < 0)
		return -1;
	/* In a locale without a degree sign, such as that of a system without any, it complains. */
	setenv("LC_ALL", "C.UTF-8", 1);
	rc = proc_start(&p, argv, PROC_STDOUT | PROC_DIE_WITH_PARENT, fd, -1, e);
	close(fd);
	if (rc)
		return err_in(e, "gnuplot draws plots as text; -o FILE.svg needs none");
	rc = read_all(p.out, &drawn, e);
	if (!rc && (rc = proc_wait(&p, LIMIT_s, &status, e)) == 0)
		rc = err_set(e, "gnuplot does not end");
	proc_kill(&p);
	proc_close(&p);
	if (rc > 0 && status)
		rc = err_set(e, "gnuplot failed; its message is above");
	if (rc > 0)
		trim(&drawn, out);
	buf_free(&drawn);
	return rc > 0 ? 0 : -1;
}
