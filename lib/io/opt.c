#include "lib/io/opt.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/nearest.h"
#include "lib/base/stack.h"
#include "lib/io/complete.h"
#include "lib/io/descriptors.h"
#include "lib/io/help.h"
#include "lib/io/progress.h"
#include "lib/io/terminal.h"

#ifndef TL_VERSION
#define TL_VERSION "unknown"
#endif

enum {
	MAX_OPTS = 64,
	/* Long options without a letter get a number beyond all letters: this and their place in
	   the table. */
	LONG_ONLY = 256,
	HELP = 100000,
	VERSION,
	HELP_MAN,
	HELP_OPTIONS,
};

static void usage(const struct program *p, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

static void usage(const struct program *p, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&text, fmt, ap);
	va_end(ap);
	terminal_say("%s: %s (see %s --help)\n", p->name, text.s, p->name);
	buf_free(&text);
	exit(EXIT_USAGE);
}

/* Ends after an informative option. */
static void finish(const struct program *p) __attribute__((noreturn));

static void finish(const struct program *p)
{
	exit(opt_printed(p));
}

struct getopt_table {
	struct option longs[MAX_OPTS + 5];
	char letters[2 * MAX_OPTS + 3];
};

static void make_table(const struct program *p, struct getopt_table *t)
{
	static const struct option always[] = {{"help", no_argument, NULL, HELP},
					       {"version", no_argument, NULL, VERSION},
					       {"help-man", no_argument, NULL, HELP_MAN},
					       {"help-options", no_argument, NULL, HELP_OPTIONS},
					       {NULL, 0, NULL, 0}};
	char *letter = t->letters;
	int n = 0;

	*letter++ = ':'; /* missing arguments are told from unknown options, and nothing printed */
	*letter++ = 'h';
	for (const struct opt *o = p->opts; o->name; o++) {
		int arg = option_is_flag(o) ? no_argument : required_argument;

		if (o->kind == OPT_GROUP)
			continue;
		assert(n < MAX_OPTS);
		t->longs[n++] = (struct option){o->name, arg, NULL, LONG_ONLY + (int)(o - p->opts)};
		if (o->letter) {
			*letter++ = (char)o->letter;
			if (arg)
				*letter++ = ':';
		}
	}
	*letter = 0;
	memcpy(t->longs + n, always, sizeof always);
}

static const struct opt *find_opt(const struct program *p, int c)
{
	if (c >= LONG_ONLY)
		return &p->opts[c - LONG_ONLY];
	for (const struct opt *o = p->opts; o->name; o++)
		if (o->letter == c)
			return o;
	assert(!"getopt knows a letter that the table does not");
	return NULL;
}

static void no_option(const struct program *p, const char *word) __attribute__((noreturn));

static void no_option(const struct program *p, const char *word)
{
	const size_t n = strcspn(word, "=");
	struct nearest near;
	char name[64];
	int begin_so = 0;

	nearest_begin(&near, word, n);
	for (const struct opt *o = p->opts; o->name; o++) {
		snprintf(name, sizeof name, "--%s", o->name);
		if (o->kind != OPT_GROUP)
			begin_so += !strncmp(name, word, n);
		if (option_is_shown(o))
			nearest_try(&near, name);
	}
	if (begin_so > 1)
		usage(p, "%.*s is not the only option that begins so", (int)n, word);
	usage(p, "there is no option %.*s%s", (int)n, word, nearest_hint(&near));
}

static void handle(const struct program *p, int c, char **argv)
{
	const char *word = argv[optind - 1], *wanted;
	const struct opt *o;

	switch (c) {
	case 'h':
	case HELP:
		help_text(p);
		finish(p);
	case VERSION:
		printf("%s (Tensor Lathe) %s\n", p->name, TL_VERSION);
		finish(p);
	case HELP_MAN:
		help_man(p);
		finish(p);
	case HELP_OPTIONS:
		complete_print(p);
		finish(p);
	case ':':
		if (optopt && optopt < LONG_ONLY)
			usage(p, "-%c wants an argument", optopt);
		usage(p, "%s wants an argument", word);
	case '?':
		if (optopt && optopt < LONG_ONLY)
			usage(p, "there is no option -%c", optopt);
		if (optopt)
			usage(p, "%.*s takes no argument", (int)strcspn(word, "="), word);
		no_option(p, word);
	default:
		o = find_opt(p, c);
		if ((wanted = option_store(o, optarg)))
			usage(p, "--%s wants %s%s%s, not \"%s\"", o->name, wanted,
			      o->kind == OPT_ID && o->values ? " or " : "",
			      o->kind == OPT_ID && o->values ? o->values : "", optarg);
	}
}

int opt_parse(const struct program *p, int argc, char **argv)
{
	const struct opt *same, *other;
	struct getopt_table t;
	struct err e = ERR_INIT;
	int c, n;

	descriptors_open();
	if (stack_prepare(&e))
		exit(opt_fail(p, &e));
	option_check(p);
	/* A reader that went away and a file that may not grow are errors of write(). */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* A program that is started with this signal ignored would lose the status of each child.
	 */
	signal(SIGCHLD, SIG_DFL);
	make_table(p, &t);
	optind = 0; /* glibc: starts afresh */
	opterr = 0;
	while ((c = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1)
		handle(p, c, argv);
	if ((same = option_same_output(p->opts, &other)))
		usage(p, "--%s and --%s write to the same file", other->name, same->name);
	n = argc - optind;
	if (n < p->min_args)
		usage(p, "an operand is missing");
	if (p->max_args >= 0 && n > p->max_args)
		usage(p, "\"%s\" is an operand too many", argv[optind + p->max_args]);
	return optind;
}

int opt_printed(const struct program *p)
{
	struct err e = ERR_INIT;

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_DONE;
	if (errno)
		err_sys(&e, "cannot write standard output");
	else
		err_set(&e, "cannot write standard output");
	return opt_fail(p, &e);
}

int opt_fail(const struct program *p, const struct err *e)
{
	progress_clear();
	if (*e->msg)
		terminal_say("%s: %s\n", p->name, e->msg);
	return e->status ? e->status : EXIT_INPUT;
}

static void say(const struct program *p, const char *kind, const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT;

	if (progress_is_silent())
		return;
	progress_clear();
	buf_vfmt(&text, fmt, ap);
	terminal_say("%s: %s%s\n", p->name, kind, text.s);
	buf_free(&text);
}

void opt_say(const struct program *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(p, "", fmt, ap);
	va_end(ap);
}

void opt_warn(const struct program *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(p, "warning: ", fmt, ap);
	va_end(ap);
}

static void on_foreign_exit(int status, void *p)
{
	const struct program *program = p;

	if (status != EXIT_NO)
		return;
	fprintf(stderr, "%s: out of memory\n", program->name);
	_exit(EXIT_INPUT);
}

void opt_foreign_exit(const struct program *p)
{
	/* The first to be set is the last to be called. */
	if (on_exit(on_foreign_exit, (void *)p))
		die_no_memory();
}

void opt_die_by_signal(int sig)
{
	struct sigaction sa = {.sa_handler = SIG_DFL};
	sigset_t set;

	progress_clear();
	sigaction(sig, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	_exit(128 + sig); /* a signal that does not kill */
}
