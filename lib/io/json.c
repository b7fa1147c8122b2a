#include "lib/io/json.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <jsmn.h>
#pragma GCC diagnostic pop

enum {
	MAX_TEXT = 1 << 30, /* jsmn counts bytes in an int */
	MAX_DEPTH = 64,
	DEEP_TEXT = 4096, /* a text this long could nest deep enough to make jsmn quadratic */
	FEW_KEYS = 32,
};

/* A second reading of the text along jsmn's tokens. jsmn finds where values begin and end; what
 * lies between them and within scalars is checked here, so that its leniency (`{"a" "b"}`, `[1
 * 2,]`, `+-1e`) never gets through. */
struct walk {
	struct json_doc *d;
	const jsmntok_t *tok;
	int ntok, i; /* i: the next token */
	const char *p, *end;
	struct err *e;
};

static int fail_at(const struct walk *w, const char *at, const char *why)
{
	return err_set(w->e, "byte %zu: %s", (size_t)(at - w->d->text), why);
}

static int unexpected(const struct walk *w, const char *wanted)
{
	unsigned char c;

	if (w->p == w->end)
		return err_set(w->e, "byte %zu: the text ends where %s should be",
			       (size_t)(w->p - w->d->text), wanted);
	c = (unsigned char)*w->p;
	if (c > ' ' && c < 0x7f)
		return err_set(w->e, "byte %zu: '%c' stands where %s should be",
			       (size_t)(w->p - w->d->text), c, wanted);
	return err_set(w->e, "byte %zu: a byte 0x%02x stands where %s should be",
		       (size_t)(w->p - w->d->text), c, wanted);
}

static int is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct walk *w)
{
	while (w->p < w->end && is_space(*w->p))
		w->p++;
}

/* Strings */

static unsigned hex4(const char *s)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		unsigned char c = (unsigned char)s[i];

		v = v << 4 | (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return v;
}

/* Length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7), 0 if there is none. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t len;

	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (n < len)
		return 0;
	if (s[0] == 0xe0)
		lo = 0xa0;
	else if (s[0] == 0xed)
		hi = 0x9f; /* no surrogates */
	else if (s[0] == 0xf0)
		lo = 0x90;
	else if (s[0] == 0xf4)
		hi = 0x8f;
	if (s[1] < lo || s[1] > hi)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

/* Bytes at s that are plain ASCII without controls and backslashes, eight at a time. */
static size_t plain_len(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t v, slash;

		memcpy(&v, s + i, 8);
		slash = v ^ (ones * '\\');
		if ((v | (v - ones * 0x20) | ((slash - ones) & ~slash)) & high)
			break;
	}
	while (i < n && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x80 && s[i] != '\\')
		i++;
	return i;
}

/* Checks the inside of a string; jsmn has checked the letters behind each backslash. */
static int check_string(struct walk *w, const char *s, size_t n, int *escaped)
{
	*escaped = 0;
	for (size_t i = plain_len(s, n); i < n; i += plain_len(s + i, n - i)) {
		unsigned char c = (unsigned char)s[i];
		size_t len;

		if (c < 0x20)
			return fail_at(w, s + i, "a control character stands bare in a string");
		if (c >= 0x80) {
			if (!(len = utf8_len((const unsigned char *)s + i, n - i)))
				return fail_at(w, s + i, "a string is not UTF-8");
			i += len;
			continue;
		}
		*escaped = 1;
		if (s[i + 1] != 'u') {
			i += 2;
			continue;
		}
		len = 6;
		if ((hex4(s + i + 2) & 0xf800) == 0xd800) {
			unsigned high = hex4(s + i + 2);

			if (high >= 0xdc00 || n - i < 12 || s[i + 6] != '\\' || s[i + 7] != 'u' ||
			    (hex4(s + i + 8) & 0xfc00) != 0xdc00)
				return fail_at(w, s + i, "half a surrogate pair stands alone");
			len = 12;
		}
		i += len;
	}
	return 0;
}

/* One character of a checked string: up to 4 bytes into c; *pos moves on. */
static size_t decode_char(const char *s, size_t *pos, char c[4])
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *k;
	unsigned u;

	if (s[*pos] != '\\') {
		c[0] = s[(*pos)++];
		return 1;
	}
	if (s[*pos + 1] != 'u') {
		k = strchr(from, s[*pos + 1]);
		c[0] = k ? to[k - from] : s[*pos + 1];
		*pos += 2;
		return 1;
	}
	u = hex4(s + *pos + 2);
	*pos += 6;
	if (u < 0x80) {
		c[0] = (char)u;
		return 1;
	}
	if (u < 0x800) {
		c[0] = (char)(0xc0 | u >> 6);
		c[1] = (char)(0x80 | (u & 63));
		return 2;
	}
	if ((u & 0xfc00) == 0xd800) {
		u = 0x10000 + ((u & 0x3ff) << 10) + (hex4(s + *pos + 2) & 0x3ff);
		*pos += 6;
		c[0] = (char)(0xf0 | u >> 18);
		c[1] = (char)(0x80 | (u >> 12 & 63));
		c[2] = (char)(0x80 | (u >> 6 & 63));
		c[3] = (char)(0x80 | (u & 63));
		return 4;
	}
	c[0] = (char)(0xe0 | u >> 12);
	c[1] = (char)(0x80 | (u >> 6 & 63));
	c[2] = (char)(0x80 | (u & 63));
	return 3;
}

/* Decodes a checked string to out, which has room for v->n bytes (decoding never makes it longer).
 */
static size_t decode(const struct json *v, char *out)
{
	size_t n = 0;

	if (!v->size) {
		memcpy(out, v->s, v->n);
		return v->n;
	}
	for (size_t i = 0; i < v->n;) {
		char c[4];
		size_t k = decode_char(v->s, &i, c);

		memcpy(out + n, c, k);
		n += k;
	}
	return n;
}

/* Duplicate keys */

struct key_text {
	const char *s;
	size_t n;
};

static int key_cmp(const void *pa, const void *pb)
{
	const struct key_text *a = pa, *b = pb;
	int c = memcmp(a->s, b->s, a->n < b->n ? a->n : b->n);

	return c ? c : (a->n > b->n) - (a->n < b->n);
}

static int duplicate(struct walk *w, const struct json *key)
{
	int n = key->n < 60 ? (int)key->n : 60;

	return err_set(w->e, "byte %zu: the key \"%.*s\" stands twice in one object",
		       (size_t)(key->s - w->d->text), n, key->s);
}

/* Any number of keys, any escapes: decode and sort. */
static int check_many_keys(struct walk *w, const struct json *obj)
{
	struct key_text *k = xmalloc(sizeof *k * (size_t)obj->size);
	char *text = xmalloc(obj->n), *p = text;
	int n = 0, rc = 0;

	for (const struct json *v = json_first(w->d, obj); v; v = json_next(w->d, obj, v)) {
		k[n] = (struct key_text){p, decode(v, p)};
		p += k[n++].n;
	}
	qsort(k, (size_t)n, sizeof *k, key_cmp);
	for (int i = 1; i < n && !rc; i++)
		if (!key_cmp(&k[i - 1], &k[i]))
			rc = err_set(w->e, "byte %zu: the key \"%.*s\" stands twice in one object",
				     (size_t)(obj->s - w->d->text), k[i].n < 60 ? (int)k[i].n : 60,
				     k[i].s);
	free(k);
	free(text);
	return rc;
}

/* The usual object: a few keys, compared with one another only where a 64-bit set of their first
 * characters and lengths says that they could be equal. */
static int check_keys(struct walk *w, const struct json *obj)
{
	const struct json *key[FEW_KEYS];
	uint64_t seen = 0;
	int n = 0;

	if (obj->size > FEW_KEYS)
		return check_many_keys(w, obj);
	for (const struct json *v = json_first(w->d, obj); v; v = json_next(w->d, obj, v)) {
		uint64_t bit;

		if (v->size)
			return check_many_keys(w, obj);
		bit = (uint64_t)1 << ((v->n ? (unsigned char)v->s[0] * 5 + v->n : 0) & 63);
		if (seen & bit)
			for (int i = 0; i < n; i++)
				if (key[i]->n == v->n && !memcmp(key[i]->s, v->s, v->n))
					return duplicate(w, v);
		seen |= bit;
		key[n++] = v;
	}
	return 0;
}

/* Numbers */

/* The value of a checked number. Fewer than 16 digits and a small power of ten make one exact
 * product or quotient (Clinger, "How to read floating point numbers accurately", 1990); the rest
 * goes to strtod. */
static double number_value(const char *s, size_t n)
{
	static const double ten[] = {1e0,  1e1,	 1e2,  1e3,  1e4,  1e5,	 1e6,  1e7,
				     1e8,  1e9,	 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	const char *p = s, *end = s + n;
	int negative = *p == '-', digits = 0, exp10 = 0, fraction = 0;
	char small[128], *copy = small;
	uint64_t m = 0;
	double v;

	for (p += negative; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.') {
			fraction = 1;
			continue;
		}
		if (digits > 18)
			break;
		m = m * 10 + (uint64_t)(*p - '0');
		digits += m != 0;
		exp10 -= fraction;
	}
	if (p < end && (*p == 'e' || *p == 'E') && end - p <= 5) {
		int sign = p[1] == '-' ? -1 : 1, x = 0;

		for (p += 1 + (p[1] == '-' || p[1] == '+'); p < end; p++)
			x = x * 10 + (*p - '0');
		exp10 += sign * x;
	}
	if (p == end && m < (uint64_t)1 << 53 && exp10 >= -22 && exp10 <= 22) {
		v = exp10 < 0 ? (double)m / ten[-exp10] : (double)m * ten[exp10];
		return negative ? -v : v;
	}
	if (n >= sizeof small)
		copy = xmalloc(n + 1);
	memcpy(copy, s, n);
	copy[n] = 0;
	v = strtod(copy, NULL);
	if (copy != small)
		free(copy);
	return v;
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Grammar of a number and its range; NULL, or what is wrong with it. */
static const char *check_number(const char *s, size_t n, int foreign, enum json_type *type)
{
	const char *end = s + n, *first = s + (*s == '-'), *p = skip_digits(first, end), *digits;
	size_t whole = (size_t)(p - first);
	int zero = 1;
	double v;

	*type = JSON_INT;
	if (!whole)
		return "a number has no digits";
	if (*first == '0' && whole > 1)
		return "a number begins with a zero too many";
	if (p == end) {
		uint64_t u = 0;

		if (whole <= 15)
			return NULL;
		for (p = first; whole <= 16 && p < end; p++)
			u = u * 10 + (uint64_t)(*p - '0');
		if (whole <= 16 && u <= (uint64_t)JSON_MOST_INT)
			return NULL;
		*type = JSON_REAL;
		return foreign && n < 128 ? NULL : "an integer is beyond 2^53-1";
	}
	*type = JSON_REAL;
	if (*p == '.') {
		digits = p + 1;
		p = skip_digits(digits, end);
		if (p == digits)
			return "a number has no digits behind its point";
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		digits = p + 1 + (p + 1 < end && (p[1] == '+' || p[1] == '-'));
		p = skip_digits(digits, end);
		if (p == digits)
			return "a number has no digits in its exponent";
		if (p == end && p - digits <= 2 && n < 128)
			return NULL; /* cannot leave the range */
	} else if (p == end && n < 128) {
		return NULL;
	}
	if (p != end)
		return "this is not a number";
	for (p = first; p < end && *p != 'e' && *p != 'E'; p++)
		zero &= *p == '0' || *p == '.';
	v = number_value(s, n);
	if (!isfinite(v) || (v == 0 && !zero))
		return "a number is outside the range of a double";
	return NULL;
}

static int check_scalar(struct walk *w, struct json *v)
{
	const char *why;

	switch (v->s[0]) {
	case 't':
		v->type = JSON_TRUE;
		if (v->n == 4 && !memcmp(v->s, "true", 4))
			return 0;
		break;
	case 'f':
		v->type = JSON_FALSE;
		if (v->n == 5 && !memcmp(v->s, "false", 5))
			return 0;
		break;
	case 'n':
		v->type = JSON_NULL;
		if (v->n == 4 && !memcmp(v->s, "null", 4))
			return 0;
		break;
	default:
		if ((why = check_number(v->s, v->n, w->d->foreign, &v->type)))
			return fail_at(w, v->s, why);
		return 0;
	}
	return fail_at(w, v->s, "only true, false and null are words of JSON");
}

/* The walk */

static int check_value(struct walk *w, int depth);

static int check_object(struct walk *w, struct json *obj, int depth)
{
	skip_space(w);
	while (*w->p != '}') {
		if (obj->size) {
			if (*w->p != ',')
				return unexpected(w, "',' or '}'");
			w->p++;
			skip_space(w);
		}
		if (*w->p != '"')
			return unexpected(w, "a key");
		if (check_value(w, depth))
			return -1;
		skip_space(w);
		if (*w->p != ':')
			return unexpected(w, "':'");
		w->p++;
		skip_space(w);
		if (check_value(w, depth))
			return -1;
		skip_space(w);
		obj->size++;
	}
	w->p++;
	obj->next = w->i;
	return check_keys(w, obj);
}

static int check_array(struct walk *w, struct json *arr, int depth)
{
	skip_space(w);
	while (*w->p != ']') {
		if (arr->size) {
			if (*w->p != ',')
				return unexpected(w, "',' or ']'");
			w->p++;
			skip_space(w);
		}
		if (check_value(w, depth))
			return -1;
		skip_space(w);
		arr->size++;
	}
	w->p++;
	arr->next = w->i;
	return 0;
}

/* Checks the value of the next token, which must begin at w->p. A container that jsmn accepted has
 * its closing bracket in the text, so that reading *w->p inside of it stays in bounds. */
static int check_value(struct walk *w, int depth)
{
	const jsmntok_t *t = &w->tok[w->i];
	struct json *v = &w->d->tok[w->i];

	if (w->i == w->ntok || w->p != w->d->text + t->start - (t->type == JSMN_STRING))
		return unexpected(w, "a value");
	w->i++;
	v->s = w->d->text + t->start;
	v->n = (size_t)(t->end - t->start);
	v->size = 0;
	v->next = w->i;
	switch (t->type) {
	case JSMN_STRING:
		v->type = JSON_STR;
		w->p = v->s + v->n + 1;
		return check_string(w, v->s, v->n, &v->size);
	case JSMN_PRIMITIVE:
		w->p = v->s + v->n;
		return check_scalar(w, v);
	default:
		if (depth == MAX_DEPTH)
			return fail_at(w, w->p, "arrays and objects are nested too deep");
		w->p++;
		v->type = t->type == JSMN_OBJECT ? JSON_OBJ : JSON_ARR;
		return v->type == JSON_OBJ ? check_object(w, v, depth + 1)
					   : check_array(w, v, depth + 1);
	}
}

/* jsmn closes a bracket by climbing from the last token, which costs the square of the depth:
 * refuse depth first. */
static int too_deep(const char *s, size_t n)
{
	int depth = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"') {
			for (i++; i < n && s[i] != '"'; i++)
				i += s[i] == '\\';
		} else if (s[i] == '[' || s[i] == '{') {
			if (++depth > MAX_DEPTH)
				return 1;
		} else if (s[i] == ']' || s[i] == '}') {
			depth--;
		}
	}
	return 0;
}

static void grow_scratch(struct json_doc *d, int cap)
{
	if (d->scratch_cap >= cap)
		return;
	d->scratch_cap = cap;
	d->scratch = xrealloc(d->scratch, (size_t)cap * sizeof(jsmntok_t));
}

static int tokenize(struct walk *w, size_t n)
{
	struct json_doc *d = w->d;
	jsmn_parser parser;
	int rc;

	grow_scratch(d, 256);
	jsmn_init(&parser);
	while ((rc = jsmn_parse(&parser, d->text, n, d->scratch, (unsigned)d->scratch_cap)) ==
	       JSMN_ERROR_NOMEM)
		grow_scratch(d, d->scratch_cap * 2);
	w->p = d->text + parser.pos;
	if (rc == JSMN_ERROR_PART && parser.pos < n)
		return fail_at(w, w->p, "the value that begins here does not end");
	if (rc == JSMN_ERROR_PART)
		return fail_at(w, w->p, "the text ends inside an array or object");
	if (rc < 0)
		return unexpected(w, "JSON");
	w->tok = d->scratch;
	w->ntok = (int)parser.toknext;
	w->p = d->text;
	return 0;
}

/* jsmn in strict mode knows no scalar on its own, so that one is made into a token by hand. */
static int lone_scalar(struct walk *w)
{
	jsmntok_t *t;
	const char *stop = w->end;

	grow_scratch(w->d, 256);
	while (is_space(stop[-1]))
		stop--;
	t = w->d->scratch;
	*t = (jsmntok_t){JSMN_PRIMITIVE, (int)(w->p - w->d->text), (int)(stop - w->d->text), 0, -1};
	w->tok = t;
	w->ntok = 1;
	return 0;
}

int json_parse(struct json_doc *d, const char *s, size_t n, struct err *e)
{
	struct walk w = {d, NULL, 0, 0, s, s + n, e};

	d->text = s;
	d->n = 0;
	if (n > MAX_TEXT)
		return err_set(e, "the text is longer than 1 GiB");
	if (n > DEEP_TEXT && too_deep(s, n))
		return err_set(e, "arrays and objects are nested too deep");
	skip_space(&w);
	if (w.p == w.end)
		return unexpected(&w, "a value");
	if (*w.p == '{' || *w.p == '[' || *w.p == '"' ? tokenize(&w, n) : lone_scalar(&w))
		return -1;
	skip_space(&w);
	if (w.ntok > d->cap) {
		d->cap = w.ntok * 2;
		d->tok = xrealloc(d->tok, (size_t)d->cap * sizeof *d->tok);
	}
	if (check_value(&w, 0))
		return -1;
	skip_space(&w);
	if (w.p != w.end || w.i != w.ntok)
		return unexpected(&w, "the end");
	d->n = w.ntok;
	return 0;
}

void json_free(struct json_doc *d)
{
	free(d->tok);
	free(d->scratch);
	*d = (struct json_doc)JSON_DOC_INIT;
}

/* Looking things up */

const struct json *json_first(const struct json_doc *d, const struct json *v)
{
	if (!v || (v->type != JSON_ARR && v->type != JSON_OBJ) || !v->size)
		return NULL;
	return d->tok + (v - d->tok) + 1;
}

const struct json *json_next(const struct json_doc *d, const struct json *parent,
			     const struct json *v)
{
	const struct json *next = d->tok + v->next;

	if (parent->type == JSON_OBJ) /* v is a key: step over its value */
		next = d->tok + next->next;
	return next == d->tok + parent->next ? NULL : next;
}

const struct json *json_get(const struct json_doc *d, const struct json *obj, const char *key)
{
	const struct json *v, *end;
	size_t n = strlen(key);

	if (!obj || obj->type != JSON_OBJ)
		return NULL;
	end = d->tok + obj->next;
	for (v = d->tok + (obj - d->tok) + 1; v < end; v = d->tok + v[1].next)
		if (v->size ? json_is(v, key)
			    : v->n == n && (!n || *v->s == *key) && !memcmp(v->s, key, n))
			return v + 1;
	return NULL;
}

int json_int(const struct json *v, int64_t *out)
{
	int64_t x = 0;

	if (!v || v->type != JSON_INT)
		return -1;
	for (const char *p = v->s + (v->s[0] == '-'); p < v->s + v->n; p++)
		x = x * 10 + (*p - '0');
	*out = v->s[0] == '-' ? -x : x;
	return 0;
}

int json_num(const struct json *v, double *out)
{
	if (!v || (v->type != JSON_INT && v->type != JSON_REAL))
		return -1;
	*out = number_value(v->s, v->n);
	return 0;
}

int json_bool(const struct json *v, int *out)
{
	if (!v || (v->type != JSON_TRUE && v->type != JSON_FALSE))
		return -1;
	*out = v->type == JSON_TRUE;
	return 0;
}

int json_str(const struct json *v, struct arena *a, const char **out)
{
	char *s;
	size_t n;

	if (!v || v->type != JSON_STR)
		return -1;
	s = arena_alloc(a, v->n + 1);
	n = decode(v, s);
	s[n] = 0;
	if (memchr(s, 0, n))
		return -1; /* \u0000: not to be cut off silently */
	*out = s;
	return 0;
}

int json_is(const struct json *v, const char *s)
{
	size_t n, at = 0;

	if (!v || v->type != JSON_STR)
		return 0;
	if (!v->size && v->n && v->s[0] != *s) /* most are told apart so */
		return 0;
	n = strlen(s);
	if (!v->size)
		return v->n == n && !memcmp(v->s, s, n);
	for (size_t i = 0; i < v->n;) {
		char c[4];
		size_t k = decode_char(v->s, &i, c);

		if (n - at < k || memcmp(s + at, c, k))
			return 0;
		at += k;
	}
	return at == n;
}

/* Writing */

static void put_field(struct buf *out, const struct json_field *f)
{
	buf_json(out, f->key, strlen(f->key));
	buf_ch(out, ':');
	buf_str(out, f->value);
}

static const struct json_field *find_field(const struct json_field *f, int nf,
					   const struct json *key)
{
	for (int i = 0; i < nf; i++)
		if (json_is(key, f[i].key))
			return &f[i];
	return NULL;
}

void json_rewrite(const struct json_doc *d, const struct json_field *f, int nf, struct buf *out)
{
	const struct json *obj = d->tok;
	const char *mark = obj->s + 1; /* end of the field before */
	int any = 0;

	assert(d->n && obj->type == JSON_OBJ);
	buf_reserve(out, obj->n + 64);
	buf_ch(out, '{');
	for (const struct json *k = json_first(d, obj); k; k = json_next(d, obj, k)) {
		const struct json *v = k + 1;
		const char *start = k->s - 1, *stop = v->s + v->n + (v->type == JSON_STR);
		const struct json_field *g = find_field(f, nf, k);

		if (g && !g->value) {
			mark = stop;
			continue;
		}
		if (any || mark == obj->s + 1) /* else the separator of a removed first field */
			buf_add(out, mark, (size_t)(start - mark));
		if (g) {
			buf_add(out, start, (size_t)(v->s - (v->type == JSON_STR) - start));
			buf_str(out, g->value);
		} else {
			buf_add(out, start, (size_t)(stop - start));
		}
		mark = stop;
		any = 1;
	}
	for (int i = 0; i < nf; i++) {
		if (!f[i].value || json_get(d, obj, f[i].key))
			continue;
		if (any)
			buf_ch(out, ',');
		put_field(out, &f[i]);
		any = 1;
	}
	buf_add(out, mark, (size_t)(obj->s + obj->n - mark));
}

static void canonical_string(const struct json *v, struct buf *out)
{
	static const char from[] = "\b\f\n\r\t\"\\", to[] = "bfnrt\"\\";

	buf_ch(out, '"');
	if (!v->size)
		buf_add(out, v->s, v->n);
	for (size_t i = 0; v->size && i < v->n;) {
		char c[4];
		size_t k = decode_char(v->s, &i, c);
		const char *short_form = k == 1 && c[0] ? strchr(from, c[0]) : NULL;

		if (short_form)
			buf_fmt(out, "\\%c", to[short_form - from]);
		else if (k == 1 && (unsigned char)c[0] < 0x20)
			buf_fmt(out, "\\u%04x", (unsigned)c[0]);
		else
			buf_add(out, c, k);
	}
	buf_ch(out, '"');
}

void json_canonical(const struct json_doc *d, const struct json *v, struct buf *out)
{
	const char *separator = "";
	int64_t i;
	double x;

	switch (v->type) {
	case JSON_STR:
		canonical_string(v, out);
		return;
	case JSON_INT:
		json_int(v, &i);
		buf_int(out, i);
		return;
	case JSON_REAL:
		json_num(v, &x);
		buf_num(out, x == 0 ? 0 : x); /* no -0: it would read back as an integer */
		return;
	case JSON_ARR:
		buf_ch(out, '[');
		for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k)) {
			buf_str(out, separator);
			json_canonical(d, k, out);
			separator = ",";
		}
		buf_ch(out, ']');
		return;
	case JSON_OBJ:
		buf_ch(out, '{');
		for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k)) {
			buf_str(out, separator);
			canonical_string(k, out);
			buf_ch(out, ':');
			json_canonical(d, k + 1, out);
			separator = ",";
		}
		buf_ch(out, '}');
		return;
	default:
		buf_add(out, v->s, v->n);
	}
}
