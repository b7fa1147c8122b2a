#include "lib/io/opt.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/hash.h"
#include "lib/base/nearest.h"
#include "lib/io/progress.h"

#ifndef TL_VERSION
#define TL_VERSION "unknown"
#endif

enum {
	MAX_OPTS = 64,
	WIDTH = 80,
	HELP_COLUMN = 26,
	/* Long options without a letter get a number beyond all letters: this and their place in
	   the table. */
	LONG_ONLY = 256,
	HELP = 100000,
	VERSION,
	HELP_MAN,
	HELP_COMPLETE,
};

static int is_flag(const struct opt *o)
{
	return o->kind == OPT_FLAG || o->kind == OPT_HIDDEN_FLAG || o->kind == OPT_QUIET;
}

static int is_shown(const struct opt *o)
{
	return o->kind != OPT_HIDDEN_FLAG;
}

/* Values */

struct unit {
	const char *name;
	double factor;
};

/* A number with one of the units, or none; 0, or -1 if the text is no such number. */
static int parse_real(const char *text, const struct unit *units, double *out)
{
	char *end;
	double v;

	if ((*text < '0' || *text > '9') && *text != '.') /* strtod knows "inf", "0x", blanks */
		return -1;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -1;
	v = strtod(text, &end);
	if (end == text)
		return -1;
	if (*end) {
		for (; units && units->name && strcmp(units->name, end); units++)
			;
		if (!units || !units->name)
			return -1;
		v *= units->factor;
	}
	if (!isfinite(v))
		return -1;
	*out = v;
	return 0;
}

static int parse_count(const char *text, int64_t *out)
{
	const char *p = text;
	int64_t v = 0, factor = 1;

	if (*p < '0' || *p > '9')
		return -1;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
			return -1;
	if (*p == 'k' || *p == 'M')
		factor = *p++ == 'k' ? 1000 : 1000000;
	if (*p || __builtin_mul_overflow(v, factor, &v))
		return -1;
	*out = v;
	return 0;
}

/* Is text one of "a|b|c"? 0, or -1. */
static int parse_enum(const char *text, const char *values)
{
	size_t n = strlen(text);

	for (const char *p = values;; p++) {
		size_t k = strcspn(p, "|");

		if (n && k == n && !memcmp(p, text, n))
			return 0;
		p += k;
		if (!*p)
			return -1;
	}
}

/* 0, or -1. */
static int parse_id(const char *text, size_t least)
{
	size_t n = strlen(text);

	return n >= least && n <= ID_HEX && strspn(text, "0123456789abcdef") == n ? 0 : -1;
}

static void add_item(struct opt_list *l, const char *text)
{
	l->item = xrealloc(l->item, sizeof *l->item * (size_t)(l->n + 1));
	l->item[l->n++] = text;
}

/* Stores one value; NULL, or what the option wants instead. */
static const char *store(const struct opt *o, const char *text)
{
	static const struct unit times[] = {
		{"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}, {NULL, 0}};

	switch (o->kind) {
	case OPT_QUIET:
		progress_silence();
		*(int *)o->value = 1;
		return NULL;
	case OPT_FLAG:
	case OPT_HIDDEN_FLAG:
		*(int *)o->value = 1;
		return NULL;
	case OPT_COUNT:
		return parse_count(text, o->value) ? "a whole number, such as 64, 10k or 1M" : NULL;
	case OPT_REAL:
		return parse_real(text, NULL, o->value) ? "a number, 0 or more" : NULL;
	case OPT_TIME:
		return parse_real(text, times, o->value) ? "a time, such as 30s, 5m, 2h or 10ms"
							 : NULL;
	case OPT_ENUM:
		if (parse_enum(text, o->values))
			return o->values;
		*(const char **)o->value = text;
		return NULL;
	case OPT_ID:
		if (parse_id(text, ID_HEX) && (!o->values || parse_enum(text, o->values)))
			return "an id of 32 hexadecimal digits";
		*(const char **)o->value = text;
		return NULL;
	case OPT_ENV:
		if (parse_id(text, ID_PREFIX))
			return "an id of 32 hexadecimal digits, or its first 6 or more";
		*(const char **)o->value = text;
		return NULL;
	case OPT_LIST:
		add_item(o->value, text);
		return NULL;
	default:
		*(const char **)o->value = text;
		return NULL;
	}
}

/* A table is right or the program never starts. */
static void check_table(const struct program *p)
{
	assert(p->name && p->summary && p->synopsis && p->opts && p->operands);
	assert(p->max_args < 0 || p->min_args <= p->max_args);
	for (const struct opt *o = p->opts; o->name; o++) {
		assert(o->value && *o->name);
		assert(!is_shown(o) || (o->help && *o->help));
		assert(is_flag(o) == !o->arg);
		assert(o->kind == OPT_ENUM ? o->values != NULL : !o->values || o->kind == OPT_ID);
		assert(o->letter != 'h' && strcmp(o->name, "help") != 0);
		assert(strcmp(o->name, "version") != 0);
		assert(!o->letter ||
		       (o->letter > ' ' && o->letter < 127 && !strchr("?:-+", o->letter)));
		if (o->kind == OPT_ENUM && *(const char **)o->value)
			assert(!parse_enum(*(const char **)o->value, o->values));
		if (o->kind == OPT_COUNT)
			assert(*(int64_t *)o->value >= -1); /* -1: not given */
		for (const struct opt *q = p->opts; q < o; q++) {
			assert(strcmp(q->name, o->name) != 0);
			assert(!o->letter || q->letter != o->letter);
		}
	}
}

/* Help */

/* Prints text in words from column to WIDTH; the cursor stands at `at`. */
static void wrap(const char *text, int column, int at)
{
	int first = 1;

	while (*text) {
		int n = (int)strcspn(text, " \n");

		if (!first && at + 1 + n > WIDTH) {
			putchar('\n');
			at = 0;
			first = 1;
		}
		if (first && at < column) {
			printf("%*s", column - at, "");
			at = column;
		} else if (!first) {
			putchar(' ');
			at++;
		}
		printf("%.*s", n, text);
		at += n;
		first = 0;
		text += n;
		text += strspn(text, " \n");
	}
	putchar('\n');
}

static void help_line(int letter, const char *name, const char *arg, const char *help)
{
	int n = letter ? printf("  -%c, --%s", letter, name) : printf("      --%s", name);

	if (arg)
		n += printf("=%s", arg);
	if (n + 2 > HELP_COLUMN) {
		putchar('\n');
		n = 0;
	}
	wrap(help, HELP_COLUMN, n);
}

/* The help text, and for an OPT_ENUM the words there are. */
static const char *full_help(const struct opt *o, struct buf *text)
{
	if (o->kind != OPT_ENUM)
		return o->help;
	buf_clear(text);
	buf_str(text, o->help);
	buf_str(text, " One of ");
	for (const char *s = o->values; *s; s++)
		buf_str(text, *s == '|' ? ", " : (char[]){*s, 0});
	buf_ch(text, '.');
	return text->s;
}

static void print_help(const struct program *p)
{
	int n = printf("Usage: %s ", p->name);
	struct buf text = BUF_INIT;

	wrap(p->synopsis, n, n);
	buf_str(&text, p->summary);
	text.s[0] = (char)toupper((unsigned char)text.s[0]);
	buf_ch(&text, '.');
	wrap(text.s, 0, 0);
	putchar('\n');
	for (const struct opt *o = p->opts; o->name; o++)
		if (is_shown(o))
			help_line(o->letter, o->name, o->arg, full_help(o, &text));
	help_line('h', "help", NULL, "Print this help and exit.");
	help_line(0, "version", NULL, "Print the version and exit.");
	printf("\nSee also: man %s\n", p->name);
	buf_free(&text);
}

/* Text for mdoc: a line that begins with '.' or "'" would be a request, a backslash an escape. */
static void put_mdoc(const char *s)
{
	int start = 1;

	for (; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			fputs("\\&", stdout);
		start = *s == '\n';
		if (*s == '\\')
			fputs("\\e", stdout);
		else
			putchar(*s);
	}
}

static void man_item(int letter, const char *name, const char *arg, const char *help)
{
	fputs(".It Fl ", stdout);
	if (letter)
		printf("%c , Fl ", letter);
	printf("-%s", name);
	if (arg)
		printf(" Ns = Ns Ar %s", arg);
	putchar('\n');
	put_mdoc(help);
	putchar('\n');
}

static void print_man(const struct program *p)
{
	struct buf text = BUF_INIT;

	puts(".Bl -tag -width Ds");
	for (const struct opt *o = p->opts; o->name; o++)
		if (is_shown(o))
			man_item(o->letter, o->name, o->arg, full_help(o, &text));
	man_item('h', "help", NULL, "Print a summary of the options and exit.");
	man_item(0, "version", NULL, "Print the version and exit.");
	puts(".El");
	buf_free(&text);
}

/* Completion. Each shell gets one small function a program, made from the same table. */

/* Shell names of functions have no hyphens everywhere. */
static void put_identifier(const char *name)
{
	for (; *name; name++)
		putchar(*name == '-' ? '_' : *name);
}

static void bash_case(const struct opt *o)
{
	if (o->letter)
		printf("\t-%c|--%s) ", o->letter, o->name);
	else
		printf("\t--%s) ", o->name);
	if (o->kind == OPT_ENUM) {
		fputs("COMPREPLY=($(compgen -W '", stdout);
		for (const char *s = o->values; *s; s++)
			putchar(*s == '|' ? ' ' : *s);
		puts("' -- \"$cur\")); return ;;");
	} else if (o->kind == OPT_DIR) {
		puts("COMPREPLY=($(compgen -d -- \"$cur\")); return ;;");
	} else if (o->kind == OPT_FILE) {
		puts("COMPREPLY=($(compgen -f -- \"$cur\")); return ;;");
	} else {
		puts("return ;;");
	}
}

static void complete_bash(const struct program *p)
{
	putchar('_');
	put_identifier(p->name);
	puts("()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}");
	/* bash splits words at '=': --name = value */
	puts("\tif [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then "
	     "prev=${COMP_WORDS[COMP_CWORD-2]}; fi");
	puts("\tcase $prev in");
	for (const struct opt *o = p->opts; o->name; o++)
		if (!is_flag(o))
			bash_case(o);
	puts("\tesac\n\tif [[ $cur == -* ]]; then");
	fputs("\t\tCOMPREPLY=($(compgen -W '", stdout);
	for (const struct opt *o = p->opts; o->name; o++)
		if (is_shown(o))
			printf("--%s ", o->name);
	puts("--help --version' -- \"$cur\"))");
	if (!strcmp(p->operands, "file"))
		puts("\telse\n\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))");
	fputs("\tfi\n}\ncomplete -o filenames -F _", stdout);
	put_identifier(p->name);
	printf(" %s\n", p->name);
}

/* The first sentence, with what a shell's single quotes and the completion's own syntax cannot hold
 * left out. */
static void put_first_sentence(const char *help, const char *unwanted)
{
	for (; *help; help++) {
		if (help[0] == '.' && (!help[1] || help[1] == ' '))
			return;
		if (!strchr(unwanted, *help))
			putchar(*help);
	}
}

static void zsh_action(const struct opt *o)
{
	if (is_flag(o))
		return;
	printf(":%s:", o->arg);
	if (o->kind == OPT_ENUM) {
		putchar('(');
		for (const char *s = o->values; *s; s++)
			putchar(*s == '|' ? ' ' : *s);
		putchar(')');
	} else if (o->kind == OPT_FILE) {
		fputs("_files", stdout);
	} else if (o->kind == OPT_DIR) {
		fputs("_files -/", stdout);
	}
}

static void complete_zsh(const struct program *p)
{
	printf("#compdef %s\n_arguments -s \\\n", p->name);
	for (const struct opt *o = p->opts; o->name; o++) {
		const char *many = o->kind == OPT_LIST ? "*" : "";

		if (!is_shown(o))
			continue;
		for (int form = o->letter ? 0 : 1; form < 2; form++) {
			if (form)
				printf("\t'%s--%s%s[", many, o->name, is_flag(o) ? "" : "=");
			else
				printf("\t'%s-%c%s[", many, o->letter, is_flag(o) ? "" : "+");
			put_first_sentence(o->help, "'[]:\\");
			putchar(']');
			zsh_action(o);
			puts("' \\");
		}
	}
	puts("\t'(- *)'{-h,--help}'[print help]' \\");
	fputs("\t'(- *)--version[print the version]'", stdout);
	puts(!strcmp(p->operands, "file") ? " \\\n\t'*:file:_files'" : "");
}

static void complete_fish(const struct program *p)
{
	if (strcmp(p->operands, "file") != 0)
		printf("complete -c %s -f\n", p->name);
	for (const struct opt *o = p->opts; o->name; o++) {
		if (!is_shown(o))
			continue;
		printf("complete -c %s", p->name);
		if (o->letter)
			printf(" -s %c", o->letter);
		printf(" -l %s", o->name);
		if (o->kind == OPT_ENUM) {
			fputs(" -x -a '", stdout);
			for (const char *s = o->values; *s; s++)
				putchar(*s == '|' ? ' ' : *s);
			putchar('\'');
		} else if (o->kind == OPT_FILE) {
			fputs(" -r -F", stdout);
		} else if (o->kind == OPT_DIR) {
			fputs(" -x -a '(__fish_complete_directories)'", stdout);
		} else if (!is_flag(o)) {
			fputs(" -x", stdout);
		}
		fputs(" -d '", stdout);
		put_first_sentence(o->help, "'\\");
		puts("'");
	}
	printf("complete -c %s -s h -l help -d 'Print help'\n", p->name);
	printf("complete -c %s -l version -d 'Print the version'\n", p->name);
}

static int print_completion(const struct program *p, const char *shell)
{
	if (!strcmp(shell, "bash"))
		complete_bash(p);
	else if (!strcmp(shell, "zsh"))
		complete_zsh(p);
	else if (!strcmp(shell, "fish"))
		complete_fish(p);
	else
		return -1;
	return 0;
}

/* Parsing */

static void usage(const struct program *p, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

static void usage(const struct program *p, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", p->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (see %s --help)\n", p->name);
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
	static const struct option always[] = {
		{"help", no_argument, NULL, HELP},
		{"version", no_argument, NULL, VERSION},
		{"help-man", no_argument, NULL, HELP_MAN},
		{"help-complete", required_argument, NULL, HELP_COMPLETE},
		{NULL, 0, NULL, 0}};
	char *letter = t->letters;
	int n = 0;

	*letter++ = ':'; /* missing arguments are told from unknown options, and nothing printed */
	*letter++ = 'h';
	for (const struct opt *o = p->opts; o->name; o++, n++) {
		int arg = is_flag(o) ? no_argument : required_argument;

		assert(n < MAX_OPTS);
		t->longs[n] = (struct option){o->name, arg, NULL, LONG_ONLY + n};
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
		begin_so += !strncmp(name, word, n);
		if (o->kind != OPT_HIDDEN_FLAG)
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
		print_help(p);
		finish(p);
	case VERSION:
		printf("%s (Tensor Lathe) %s\n", p->name, TL_VERSION);
		finish(p);
	case HELP_MAN:
		print_man(p);
		finish(p);
	case HELP_COMPLETE:
		if (print_completion(p, optarg))
			usage(p, "--help-complete wants bash, zsh or fish, not \"%s\"", optarg);
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
		if ((wanted = store(o, optarg)))
			usage(p, "--%s wants %s%s%s, not \"%s\"", o->name, wanted,
			      o->kind == OPT_ID && o->values ? " or " : "",
			      o->kind == OPT_ID && o->values ? o->values : "", optarg);
	}
}

int opt_parse(const struct program *p, int argc, char **argv)
{
	struct getopt_table t;
	int c, n;

	check_table(p);
	signal(SIGPIPE, SIG_IGN);
	make_table(p, &t);
	optind = 0; /* glibc: starts afresh */
	opterr = 0;
	while ((c = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1)
		handle(p, c, argv);
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
	fprintf(stderr, "%s: %s\n", p->name, e->msg);
	return e->status ? e->status : EXIT_INPUT;
}

static void say(const struct program *p, const char *kind, const char *fmt, va_list ap)
{
	if (progress_is_silent())
		return;
	progress_clear();
	fprintf(stderr, "%s: %s", p->name, kind);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
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
