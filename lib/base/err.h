/* Errors: one sentence for a person, and the exit status it deserves.
 *
 * A function that can fail takes a `struct err *` as its last argument and returns 0, or -1 after
 * filling it with a complete sentence (no trailing newline, no program name). Only cmd/ prints
 * errors and exits. The struct owns its text; there is nothing to free.
 */
#ifndef TL_BASE_ERR_H
#define TL_BASE_ERR_H

#include <stddef.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_NO = 1,	  /* an honest "no": nothing known, nothing worth more */
	EXIT_USAGE = 2,	  /* the command line is wrong */
	EXIT_INPUT = 3,	  /* bad input or I/O */
	EXIT_INEXACT = 4, /* an answer, but nearest, predicted, or of another env */
	EXIT_BUSY = 75,	  /* the device or the database is held by another run */
};

struct err {
	int status; /* an exit_status; err_set() makes it EXIT_INPUT unless it was set before */
	char msg[1000];
};

#define ERR_INIT                                                                                   \
	{                                                                                          \
		0, ""                                                                              \
	}

/* Fills e (which may be NULL) and returns -1, so that `return err_set(e, ...)` reads as it acts. */
int err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with ": " and strerror(errno) behind it. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts context before the sentence that is there ("line 3: ..."). Returns -1. */
int err_in(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same as err_set with another exit status. */
int err_status(struct err *e, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The one way out when memory is gone: says so on stderr and ends the process with EXIT_INPUT.
 * Nothing that was acknowledged is lost by it: outputs are committed or temporary files, which
 * exit handlers remove. */
void die_no_memory(void) __attribute__((noreturn));
void *xmalloc(size_t n) __attribute__((malloc, alloc_size(1)));
void *xcalloc(size_t n, size_t size) __attribute__((malloc));
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);

#endif
