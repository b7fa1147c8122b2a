/* The option table of a program: what it is made of, and what each kind of option takes as its
 * value.
 */
#ifndef TL_IO_OPTION_H
#define TL_IO_OPTION_H

#include <stddef.h>
#include <stdint.h>

struct buf;

enum opt_kind {
	OPT_FLAG,   /* int *, set to 1 */
	OPT_COUNT,  /* int64_t *, 0 or more; accepts k, M and G (1000 and its powers) */
	OPT_REAL,   /* double *, finite and >= 0 */
	OPT_TIME,   /* double * in seconds; accepts s, m, h and ms suffixes */
	OPT_STRING, /* const char ** */
	OPT_FILE,   /* const char **, not empty; completes file names */
	OPT_OUTPUT, /* an OPT_FILE that the program writes: two options may not name one file */
	OPT_DIR,    /* const char **; completes folders */
	OPT_ID,	    /* const char **, 32 hexadecimal digits, or one of values */
	OPT_ENV,    /* const char **, the id of an env that a database knows, or its first digits */
	OPT_ENV_ID, /* const char **, the same with all its digits */
	OPT_ENUM,   /* const char **, one of values */
	OPT_LIST,   /* struct opt_list *, may be given several times */
	OPT_HIDDEN_FLAG, /* an OPT_FLAG that no help, man page or completion shows */
	OPT_QUIET,	 /* an OPT_FLAG that also silences opt_warn() and progress */
	OPT_GROUP,	 /* none: its name is the title of the options that follow */
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
	const char *values; /* OPT_ENUM: "a|b|c"; OPT_ID: likewise, what there is beside ids. Of
			       other kinds: words that completion offers */
	/* More such words, of a list that only the program knows. Appends them likewise. */
	void (*words)(struct buf *out);
};

struct program {
	const char *name;    /* "tl-gen" */
	const char *summary; /* the NAME line of the man page: "make candidate tensor programs" */
	const char
		*synopsis; /* what stands behind the name: "[OPTION...] [FILE...]"; a line a use */
	const struct opt *opts; /* ends with an entry whose name is NULL */
	int min_args, max_args; /* operands allowed; max -1: any number */
	const char *operands;	/* what completion offers: "file", "none", "program" (tl-NAME) */
};

/* Programs with many options have them in groups. The first ones have no title. */
#define OPTIONS_FOR(title)                                                                         \
	{                                                                                          \
		0, title, OPT_GROUP, NULL, NULL, NULL, NULL                                        \
	}

#define OPT_END                                                                                    \
	{                                                                                          \
		0, NULL, OPT_FLAG, NULL, NULL, NULL, NULL                                          \
	}

/* -o of a program that writes records, or one text. */
#define OUTPUT_OPTION(path)                                                                        \
	{                                                                                          \
		'o', "output", OPT_OUTPUT, &(path), "FILE",                                        \
			"Write to FILE instead of standard output. FILE is replaced at the end.",  \
			NULL                                                                       \
	}

/* -q where it means that only errors are told. more: what else it leaves out, or "". */
#define QUIET_OPTION(flag, more)                                                                   \
	{                                                                                          \
		'q', "quiet", OPT_QUIET, &(flag), NULL,                                            \
			"Say only what goes wrong: no warnings, no progress." more, NULL           \
	}

int option_is_flag(const struct opt *o);
/* Does it take the id of an env? */
int option_is_env(const struct opt *o);
/* Does help show it? */
int option_is_shown(const struct opt *o);
/* Reads a number of seconds, with one of the units s, ms, m and h or with none. -1: it is none. */
int option_time(const char *text, double *s);
/* Stores a value; NULL, or what the option wants instead. text: NULL for a flag. */
const char *option_store(const struct opt *o, const char *text);
/* Finds two options that write to one file: returns the later one, and sets *other to the earlier
 * one. NULL: there are none. The values must be stored. */
const struct opt *option_same_output(const struct opt *opts, const struct opt **other);
/* Ends the program with an assertion if its table is malformed. */
void option_check(const struct program *p);

#endif
