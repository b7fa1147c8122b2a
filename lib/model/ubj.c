#include "lib/model/ubj.h"

#include <string.h>

enum { DEEPEST = 16 };

/* Bytes of a number of this type; 0: it is none. */
static size_t size_of(char type)
{
	switch (type) {
	case 'i':
	case 'U':
		return 1;
	case 'I':
		return 2;
	case 'l':
	case 'd':
		return 4;
	case 'L':
	case 'D':
		return 8;
	default:
		return 0;
	}
}

static int has(const struct ubj *u, size_t at, size_t bytes)
{
	return at <= u->n && bytes <= u->n - at;
}

static uint64_t bytes_at(const struct ubj *u, size_t at, size_t n)
{
	uint64_t x = 0;

	for (size_t i = 0; i < n; i++)
		x = x << 8 | (unsigned char)u->s[at + i];
	return x;
}

static struct ubj_value value_at(const struct ubj *u, size_t at)
{
	return has(u, at, 1) ? (struct ubj_value){u->s[at], at + 1} : (struct ubj_value){0, u->n};
}

/* A length at *at, which goes behind it; -1: there is none. */
static int64_t length_at(const struct ubj *u, size_t *at)
{
	struct ubj_value v = value_at(u, *at);
	int64_t n;

	if (ubj_int(u, v, &n) < 0 || n < 0)
		return -1;
	*at = v.at + size_of(v.type);
	return n;
}

/* ---- passing over ---- */

static int skip(const struct ubj *u, struct ubj_value v, size_t *end, int depth);

/* A name, or the text of a value, at *at. */
static int skip_text(const struct ubj *u, size_t *at, const char **s, size_t *n)
{
	int64_t length = length_at(u, at);

	if (length < 0 || !has(u, *at, (size_t)length))
		return -1;
	*s = u->s + *at;
	*n = (size_t)length;
	*at += *n;
	return 0;
}

static int skip_object(const struct ubj *u, size_t *at, int depth)
{
	const char *name;
	size_t n;

	while (has(u, *at, 1) && u->s[*at] != '}') {
		if (skip_text(u, at, &name, &n) < 0 || skip(u, value_at(u, *at), at, depth + 1) < 0)
			return -1;
	}
	return has(u, (*at)++, 1) ? 0 : -1;
}

static int skip_array(const struct ubj *u, struct ubj_value v, size_t *end, int depth)
{
	struct ubj_list l;

	if (ubj_list(u, v, &l) < 0)
		return -1;
	if (l.type) {
		*end = l.at + (size_t)l.left * size_of(l.type);
		return 0;
	}
	for (;; l.left -= l.left > 0) {
		if (!l.left || (l.left < 0 && has(u, l.at, 1) && u->s[l.at] == ']'))
			break;
		if (skip(u, value_at(u, l.at), &l.at, depth + 1) < 0)
			return -1;
	}
	*end = l.at + (l.left < 0);
	return 0;
}

static int skip(const struct ubj *u, struct ubj_value v, size_t *end, int depth)
{
	const char *s;
	size_t n, at = v.at;

	if (depth > DEEPEST)
		return -1;
	if (size_of(v.type)) {
		*end = v.at + size_of(v.type);
		return has(u, v.at, size_of(v.type)) ? 0 : -1;
	}
	switch (v.type) {
	case 'Z':
	case 'T':
	case 'F':
		*end = v.at;
		return 0;
	case 'S':
		if (skip_text(u, &at, &s, &n) < 0)
			return -1;
		*end = at;
		return 0;
	case '{':
		if (skip_object(u, &at, depth) < 0)
			return -1;
		*end = at;
		return 0;
	case '[':
		return skip_array(u, v, end, depth);
	default:
		return -1;
	}
}

/* ---- looking for ---- */

struct ubj_value ubj_root(const struct ubj *u)
{
	return value_at(u, 0);
}

struct ubj_value ubj_get(const struct ubj *u, struct ubj_value object, const char *name)
{
	const struct ubj_value none = {0, u->n};
	struct ubj_value found = none;
	size_t at = object.at, n;
	const char *s;

	if (object.type != '{')
		return none;
	while (has(u, at, 1) && u->s[at] != '}') {
		struct ubj_value v;

		if (skip_text(u, &at, &s, &n) < 0)
			return none;
		v = value_at(u, at);
		if (skip(u, v, &at, 0) < 0)
			return none;
		if (n != strlen(name) || memcmp(s, name, n) != 0)
			continue;
		if (found.type)
			return none;
		found = v;
	}
	return found;
}

int ubj_int(const struct ubj *u, struct ubj_value v, int64_t *x)
{
	size_t n = size_of(v.type);

	if (!n || v.type == 'd' || v.type == 'D' || !has(u, v.at, n))
		return -1;
	switch (v.type) {
	case 'i':
		*x = (int8_t)bytes_at(u, v.at, n);
		break;
	case 'I':
		*x = (int16_t)bytes_at(u, v.at, n);
		break;
	case 'l':
		*x = (int32_t)bytes_at(u, v.at, n);
		break;
	default:
		*x = (int64_t)bytes_at(u, v.at, n);
	}
	return 0;
}

int ubj_float(const struct ubj *u, struct ubj_value v, float *x)
{
	uint32_t bits;

	if (v.type != 'd' || !has(u, v.at, sizeof bits))
		return -1;
	bits = (uint32_t)bytes_at(u, v.at, sizeof bits);
	memcpy(x, &bits, sizeof *x);
	return 0;
}

int ubj_text(const struct ubj *u, struct ubj_value v, const char **s, size_t *n)
{
	size_t at = v.at;

	return v.type == 'S' ? skip_text(u, &at, s, n) : -1;
}

int ubj_list(const struct ubj *u, struct ubj_value v, struct ubj_list *l)
{
	*l = (struct ubj_list){.u = u, .left = -1, .at = v.at};
	if (v.type != '[')
		return -1;
	if (has(u, l->at, 2) && u->s[l->at] == '$') {
		l->type = u->s[l->at + 1];
		l->at += 2;
		if (!size_of(l->type) || !has(u, l->at, 1) || u->s[l->at] != '#')
			return -1;
	}
	if (has(u, l->at, 1) && u->s[l->at] == '#') {
		l->at++;
		l->left = length_at(u, &l->at);
		if (l->left < 0)
			return -1;
	}
	if (!l->type)
		return 0;
	return l->left >= 0 && (uint64_t)l->left <= u->n &&
			       has(u, l->at, (size_t)l->left * size_of(l->type))
		       ? 0
		       : -1;
}

int ubj_next(struct ubj_list *l, struct ubj_value *v)
{
	if (!l->left || (l->left < 0 && has(l->u, l->at, 1) && l->u->s[l->at] == ']'))
		return 0;
	if (l->type) { /* all of them are there */
		*v = (struct ubj_value){l->type, l->at};
		l->at += size_of(l->type);
		l->left--;
		return 1;
	}
	*v = value_at(l->u, l->at);
	if (l->is_damaged || skip(l->u, *v, &l->at, 0) < 0) {
		l->is_damaged = 1;
		return 0;
	}
	l->left -= l->left > 0;
	return 1;
}

/* ---- writing ---- */

void ubj_put_bytes(struct buf *out, uint64_t x, int bytes)
{
	char big[8];

	for (int i = 0; i < bytes; i++)
		big[i] = (char)(x >> 8 * (bytes - 1 - i));
	buf_add(out, big, (size_t)bytes);
}

static void put_length(struct buf *out, size_t n)
{
	buf_ch(out, 'L');
	ubj_put_bytes(out, n, 8);
}

void ubj_put_name(struct buf *out, const char *name)
{
	put_length(out, strlen(name));
	buf_str(out, name);
}

void ubj_put_text(struct buf *out, const char *text)
{
	buf_ch(out, 'S');
	ubj_put_name(out, text);
}

void ubj_put_array(struct buf *out, char type, size_t n)
{
	buf_str(out, "[$");
	buf_ch(out, type);
	buf_ch(out, '#');
	put_length(out, n);
}

void ubj_put_float(struct buf *out, float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	ubj_put_bytes(out, bits, sizeof bits);
}
