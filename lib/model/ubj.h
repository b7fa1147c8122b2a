/* Universal binary JSON (https://ubjson.org), as XGBoost writes its models: a reader that believes
 * nothing, and a writer.
 *
 * A value is a place in the bytes. Looking for something goes through the bytes anew, and never
 * beyond their end. What is damaged looks as if it were not there.
 */
#ifndef TL_MODEL_UBJ_H
#define TL_MODEL_UBJ_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

struct ubj {
	const char *s;
	size_t n;
};

struct ubj_value {
	char type; /* 0: there is none */
	size_t at; /* behind the type */
};

/* The elements of an array, one after the other. */
struct ubj_list {
	const struct ubj *u;
	char type;	/* of all elements; 0: each has its own */
	int64_t left;	/* elements; -1: until a bracket */
	size_t at;	/* of the next */
	int is_damaged; /* it broke off */
};

struct ubj_value ubj_root(const struct ubj *u);
/* A member of an object. A name that is there twice is not there. */
struct ubj_value ubj_get(const struct ubj *u, struct ubj_value object, const char *name);
/* 0; -1: the value is no number or the like. A number with a decimal point is no int. */
int ubj_int(const struct ubj *u, struct ubj_value v, int64_t *x);
int ubj_float(const struct ubj *u, struct ubj_value v, float *x);
int ubj_text(const struct ubj *u, struct ubj_value v, const char **s, size_t *n);
/* -1: it is no array. */
int ubj_list(const struct ubj *u, struct ubj_value v, struct ubj_list *l);
/* 1; 0: there are no more, or the rest is damaged. */
int ubj_next(struct ubj_list *l, struct ubj_value *v);

/* Writing. Braces and brackets are the caller's. */
void ubj_put_name(struct buf *out, const char *name);
void ubj_put_text(struct buf *out, const char *text);
/* The head of an array of n elements of a type, which follow. */
void ubj_put_array(struct buf *out, char type, size_t n);
void ubj_put_bytes(struct buf *out, uint64_t x, int bytes); /* big-endian */
void ubj_put_float(struct buf *out, float x);

#endif
