/* Conditions over the named values of something, as --where has them:
 *
 *   flops > 1e8 && (kh == 3 || op == matmul)
 *
 * Numbers (also 1e8), names, words in quotes; + - * / %, == != < <= > >=, ! && ||, parentheses,
 * with C's precedence. Arithmetic is in doubles, so 7/2 is 3.5. A word beside == or != may lack its
 * quotes where it is no name.
 *
 * What is asked may lack a value: the kernel height of a matrix product. Then a comparison with it
 * is neither true nor false, and so is what depends on it (Kleene, "Introduction to
 * Metamathematics", 1952, section 64): false && unknown is false, true || unknown is true. So
 * !(kh==3) does not select the matrix products.
 *
 * The parser knows whether an expression is a number, a text or a truth, and refuses what makes no
 * sense before anything is read. Limits of a run (--until) are no conditions: they are numbers that
 * the loop must know, because it shows how near it is to them.
 */
#ifndef TL_BASE_CONDITION_H
#define TL_BASE_CONDITION_H

#include "lib/base/arena.h"
#include "lib/base/err.h"

enum condition_kind { CONDITION_NONE, CONDITION_NUMBER, CONDITION_TEXT, CONDITION_TRUTH };

/* A name that conditions may use. is_word: is it one of the values that a text can have? NULL: any
 * word is. */
struct condition_name {
	const char *name;
	enum condition_kind kind; /* CONDITION_NUMBER or CONDITION_TEXT */
	int (*is_word)(const char *s, size_t n);
};

/* The value of a name; CONDITION_NONE where the subject has none. */
struct condition_value {
	enum condition_kind kind;
	double number;
	const char *text;
};
typedef struct condition_value condition_look(const void *subject, int name);

struct condition;

/* names: n of them, which must live as long as the condition; the rest is the arena's. NULL with
 * EXIT_USAGE and a sentence that begins with the column, from 1. */
struct condition *condition_parse(const char *text, const struct condition_name *names, int n,
				  struct arena *a, struct err *e);
/* 1: it holds; 0: it does not; -1: that depends on a value which the subject lacks. The number of
 * its name is in *lacks then. */
int condition_holds(const struct condition *c, condition_look *look, const void *subject,
		    int *lacks);

#endif
