/* tl: the other programs by their short names (tl measure is tl-measure), and what there is.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/arena.h"
#include "lib/io/descriptors.h"
#include "lib/io/opt.h"
#include "lib/io/proc.h"

enum { MOST = 256, HELP_BYTES = 1 << 16 };
static const double PATIENCE_S = 10; /* with a program that is asked for its help */

static const struct opt opts[] = {OPT_END};

static const struct program program = {
	.name = "tl",
	.summary = "run a program of Tensor Lathe, or list them",
	.synopsis = "[NAME [ARGUMENT...]]",
	.opts = opts,
	.min_args = 0,
	.max_args = 0,
	.operands = "program",
};

/* Becomes tl-NAME, the one beside this program or else one in PATH. */
static int become(const char *name, char **argv, struct err *e)
{
	struct buf path = BUF_INIT, file = BUF_INIT;

	buf_fmt(&file, "tl-%s", name);
	errno = 0;
	if (path_bin(&path, file.s, e) == 0) {
		argv[0] = path.s;
		execv(path.s, argv);
	}
	if (errno == ENOENT) {
		argv[0] = file.s;
		execvp(file.s, argv);
	}
	if (errno == ENOENT)
		err_status(e, EXIT_USAGE, "there is no program %s; `tl` lists those that there are",
			   file.s);
	else
		err_sys(e, "cannot run %s", file.s);
	buf_free(&path);
	buf_free(&file);
	return -1;
}

/* ---- the list ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of the programs in a folder, sorted. */
static int find_programs(const char *folder, struct arena *a, const char **name, struct err *e)
{
	DIR *d = opendir(folder);
	const struct dirent *f;
	int n = 0;

	if (!d)
		return err_sys(e, "cannot read the folder %s", folder);
	while ((f = readdir(d)) && n < MOST)
		if (!strncmp(f->d_name, "tl-", 3) && !strchr(f->d_name, '.'))
			name[n++] = arena_strdup(a, f->d_name);
	closedir(d);
	qsort(name, (size_t)n, sizeof *name, by_name);
	return n;
}

/* What a program's --help says first, behind the usage: its summary, without the full stop. */
static void summary(const char *path, struct buf *out)
{
	char *argv[] = {(char *)path, (char *)"--help", NULL};
	struct buf help = BUF_INIT, log = BUF_INIT;
	struct err ignored = ERR_INIT;
	const char *s, *end;

	if (proc_ask(argv, 0, PATIENCE_S, HELP_BYTES, &help, &log, &ignored) == 0 && help.n) {
		s = strchr(help.s, '\n');
		while (s && s[1] == ' ') /* the usage goes on */
			s = strchr(s + 1, '\n');
		end = s ? strstr(s, "\n\n") : NULL;
		for (s = s ? s + 1 : NULL; end && s < end; s++)
			buf_ch(out, *s == '\n' ? ' ' : *s);
		if (out->n && out->s[out->n - 1] == '.')
			out->s[--out->n] = 0;
	}
	buf_free(&help);
	buf_free(&log);
}

static int list(struct err *e)
{
	const char *name[MOST];
	struct arena a = ARENA_INIT;
	struct buf folder = BUF_INIT, path = BUF_INIT, text = BUF_INIT;
	int n = path_bin(&folder, "", e) < 0 ? -1 : find_programs(folder.s, &a, name, e);

	if (n >= 0)
		printf("Usage: tl NAME [ARGUMENT...]\n\n");
	for (int i = 0; i < n; i++) {
		buf_clear(&path);
		buf_clear(&text);
		buf_str(&text, "");
		if (path_bin(&path, name[i], e) == 0)
			summary(path.s, &text);
		printf("  %-9s %s\n", name[i] + 3, text.s);
	}
	if (n >= 0)
		printf("\n`tl help NAME` tells the options of one; man 7 tl tells how they work "
		       "together.\n");
	buf_free(&folder);
	buf_free(&path);
	buf_free(&text);
	arena_free(&a);
	return n < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	static char help_option[] = "--help";
	char *help[] = {argv[0], help_option, NULL};
	struct err e = ERR_INIT;
	int asks = argc > 1 && !strcmp(argv[1], "help"), rc;

	descriptors_open();
	if (argc > 1 && *argv[1] == '-')
		opt_parse(&program, argc, argv);
	if (argc > 2 && asks)
		rc = become(argv[2], help, &e);
	else if (argc > 1 && !asks)
		rc = become(argv[1], argv + 1, &e);
	else
		rc = list(&e);
	return rc ? opt_fail(&program, &e) : opt_printed(&program);
}
