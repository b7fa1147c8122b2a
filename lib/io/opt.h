/* The option table: from one table come parsing (getopt_long), --help, the OPTIONS section of the
 * man page and the completions of bash, zsh and fish, so that they cannot disagree.
 *
 * Every program has --help (-h) and --version without listing them. A malformed table (no help
 * text, a name or letter twice, a default that does not parse) is a bug that ends any start of the
 * program with an assertion.
 */
#ifndef TL_IO_OPT_H
#define TL_IO_OPT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

enum opt_kind {
	OPT_FLAG,	 /* int *, set to 1 */
	OPT_COUNT,	 /* int64_t *, 0 or more; accepts k and M suffixes (1000, 1000000) */
	OPT_REAL,	 /* double *, finite and >= 0 */
	OPT_TIME,	 /* double * in seconds; accepts s, m, h and ms suffixes */
	OPT_STRING,	 /* const char ** */
	OPT_FILE,	 /* const char **; completes file names */
	OPT_DIR,	 /* const char **; completes folders */
	OPT_ENUM,	 /* const char **, one of values */
	OPT_ID,		 /* const char **, 32 hexadecimal digits, or one of values */
	OPT_ENV,	 /* const char **, the first 6 hexadecimal digits of an env's id, or more */
	OPT_LIST,	 /* struct opt_list *, may be given several times */
	OPT_HIDDEN_FLAG, /* an OPT_FLAG that no help, man page or completion shows */
	OPT_QUIET,	 /* an OPT_FLAG that also silences opt_warn() and progress */
};

struct opt_list {
	const char **item; /* grows by opt_parse; lives as long as the program */
	int n;
};

struct opt {
	int letter;	  /* 0: no short form */
	const char *name; /* long form, without dashes */
	enum opt_kind kind;
	void *value;
	const char *arg;    /* what help calls the argument: "FILE", "N"; NULL for flags */
	const char *help;   /* one sentence or more, no final newline; wrapped by the printers */
	const char *values; /* OPT_ENUM: "a|b|c"; OPT_ID: the same, or NULL */
};

struct program {
	const char *name;     /* "tl-gen" */
	const char *summary;  /* the NAME line of the man page: "make candidate tensor programs" */
	const char *synopsis; /* what stands behind the name: "[OPTION...] [FILE...]" */
	const struct opt *opts; /* ends with an entry whose name is NULL */
	int min_args, max_args; /* operands allowed; max -1: any number */
	const char *operands;	/* what completion offers: "file", "none" */
};

#define OPT_END                                                                                    \
	{                                                                                          \
		0, NULL, OPT_FLAG, NULL, NULL, NULL, NULL                                          \
	}

/* -q where it means that only errors are told. more: what else it leaves out, or "". */
#define QUIET_OPTION(flag, more)                                                                   \
	{                                                                                          \
		'q', "quiet", OPT_QUIET, &(flag), NULL,                                            \
			"Say only what goes wrong: no warnings, no progress." more, NULL           \
	}

/* Parses argv, stores the values, ignores SIGPIPE, and returns the index of the first operand.
 * Prints and exits by itself for --help, --version, --help-man (the OPTIONS section in mdoc) and
 * --help-complete=bash|zsh|fish (status 0), and for usage errors (status 2, one line on stderr that
 * names --help). */
int opt_parse(const struct program *p, int argc, char **argv);

/* "tl-gen: sentence" on stderr; returns e->status, for `return opt_fail(p, &e);` in main. */
int opt_fail(const struct program *p, const struct err *e);
/* The exit status of a program that printed by stdio: a full disk shows in it, and is told. */
int opt_printed(const struct program *p);
/* "tl-gen: sentence" on stderr, for what is no warning; nothing under -q (OPT_QUIET). */
void opt_say(const struct program *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "tl-gen: warning: ..." on stderr, likewise. */
void opt_warn(const struct program *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For programs that read by libarchive, which ends the process with status 1 where it has no
 * memory: that becomes a sentence and EXIT_INPUT. Before anything else that sets an exit handler;
 * the program itself must not end with 1. */
void opt_foreign_exit(const struct program *p);
/* Ends the process by the signal that stopped the reader (status 128 + n), after clean-up. */
void opt_die_by_signal(int sig) __attribute__((noreturn));

#endif
