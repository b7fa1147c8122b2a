#include "lib/io/option.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/base/number.h"
#include "lib/io/json.h"
#include "lib/io/progress.h"

int option_is_flag(const struct opt *o)
{
	return o->kind == OPT_FLAG || o->kind == OPT_HIDDEN_FLAG || o->kind == OPT_QUIET;
}

int option_is_env(const struct opt *o)
{
	return o->kind == OPT_ENV || o->kind == OPT_ENV_ID;
}

int option_is_shown(const struct opt *o)
{
	return o->kind != OPT_HIDDEN_FLAG && o->kind != OPT_GROUP;
}

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {{"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}, {NULL, 0}};

/* A number with one of the units, or none; 0, or -1 if the text is no such number. */
static int parse_real(const char *text, const struct unit *units, double *out)
{
	const char *end;
	double v;

	if (number_real(text, &end, &v))
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
	const char *p;
	int64_t v, factor = 1;

	if (number_whole(text, &p, &v))
		return -1;
	if (*p == 'k' || *p == 'M' || *p == 'G') {
		factor = *p == 'k' ? 1000 : *p == 'M' ? 1000000 : 1000000000;
		p++;
	}
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

	return n >= least && n <= ID_HEX && hash_is_hex(text, n) ? 0 : -1;
}

static void add_item(struct opt_list *l, const char *text)
{
	l->item = xrealloc(l->item, sizeof *l->item * (size_t)(l->n + 1));
	l->item[l->n++] = text;
}

/* Thirty years: its milliseconds behind any time of day are whole numbers. */
static const double MOST_TIME = 1e9;

int option_time(const char *text, double *s)
{
	return parse_real(text, times, s);
}

const char *option_store(const struct opt *o, const char *text)
{
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
		if (parse_count(text, o->value))
			return "a whole number, such as 64, 10k or 1M";
		return *(const int64_t *)o->value > JSON_MOST_INT ? "a number below 2^53" : NULL;
	case OPT_REAL:
		return parse_real(text, NULL, o->value) ? "a number, 0 or more" : NULL;
	case OPT_TIME:
		if (parse_real(text, times, o->value))
			return "a time, such as 30s, 5m, 2h or 10ms";
		return *(const double *)o->value > MOST_TIME ? "a time of 1e9 s or less" : NULL;
	case OPT_ENUM:
		if (parse_enum(text, o->values))
			return o->values;
		*(const char **)o->value = text;
		return NULL;
	case OPT_ID:
	case OPT_ENV_ID:
		if (parse_id(text, ID_HEX) && (!o->values || parse_enum(text, o->values)))
			return "an id of 32 hexadecimal digits";
		*(const char **)o->value = text;
		return NULL;
	case OPT_ENV:
		if (parse_id(text, ID_PREFIX) && (!o->values || parse_enum(text, o->values)))
			return "an id of 32 hexadecimal digits, or its first 6 or more";
		*(const char **)o->value = text;
		return NULL;
	case OPT_LIST:
		add_item(o->value, text);
		return NULL;
	case OPT_FILE:
	case OPT_OUTPUT:
		if (!*text)
			return "the name of a file";
		*(const char **)o->value = text;
		return NULL;
	default:
		*(const char **)o->value = text;
		return NULL;
	}
}

static const char *output_of(const struct opt *o)
{
	const char *path = o->kind == OPT_OUTPUT ? *(const char *const *)o->value : NULL;

	return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Are both paths names of one file? Two outputs may go to one device or pipe. */
static int is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	if (stat(a, &x) || stat(b, &y))
		return !strcmp(a, b);
	return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

const struct opt *option_same_output(const struct opt *opts, const struct opt **other)
{
	for (const struct opt *o = opts; o->name; o++)
		for (*other = opts; *other < o; ++*other)
			if (output_of(o) && output_of(*other) &&
			    is_same_file(output_of(o), output_of(*other)))
				return o;
	return NULL;
}

/* Does the text behind the word "default" name the number? With a unit it is a time. */
static int tells_number(const char *help, double wanted)
{
	const char *s = strstr(help, "efault");

	while (s && *s) {
		char *end;
		double v;

		s += strcspn(s, "0123456789.");
		v = strtod(s, &end);
		for (const struct unit *u = times; end > s && u->name; u++)
			if (!strncmp(end, u->name, strlen(u->name)) &&
			    !isalpha((unsigned char)end[strlen(u->name)]))
				v *= u->factor;
		if (end > s && fabs(v - wanted) <= 0.01 * wanted)
			return 1;
		s = end > s ? end : s + (*s != 0);
	}
	return 0;
}

/* Where an option has a default value, its help names it. 0 and -1 are no values, but "not given".
 */
static int tells_default(const struct opt *o)
{
	const char *word;
	double number = 0;

	switch (o->kind) {
	case OPT_COUNT:
		number = (double)*(const int64_t *)o->value;
		break;
	case OPT_REAL:
	case OPT_TIME:
		number = *(const double *)o->value;
		break;
	case OPT_STRING:
	case OPT_ENUM:
		word = *(const char *const *)o->value;
		return !word || (strstr(o->help, "efault") && strstr(o->help, word));
	default:
		break;
	}
	return !(number > 0) || tells_number(o->help, number);
}

void option_check(const struct program *p)
{
	assert(p->name && p->summary && p->synopsis && p->opts && p->operands);
	assert(p->max_args < 0 || p->min_args <= p->max_args);
	for (const struct opt *o = p->opts; o->name; o++) {
		if (o->kind == OPT_GROUP)
			continue;
		assert(o->value && *o->name);
		assert(!option_is_shown(o) || (o->help && *o->help));
		assert(option_is_flag(o) == !o->arg);
		assert(o->kind != OPT_ENUM || (o->values && !o->words));
		assert(o->letter != 'h' && strcmp(o->name, "help") != 0);
		assert(strcmp(o->name, "version") != 0);
		assert(!o->letter ||
		       (o->letter > ' ' && o->letter < 127 && !strchr("?:-+", o->letter)));
		if (o->kind == OPT_ENUM && *(const char **)o->value)
			assert(!parse_enum(*(const char **)o->value, o->values));
		assert(tells_default(o));
		if (o->kind == OPT_COUNT)
			assert(*(int64_t *)o->value >= -1); /* -1: not given */
		for (const struct opt *q = p->opts; q < o; q++) {
			assert(strcmp(q->name, o->name) != 0);
			assert(!o->letter || q->letter != o->letter);
		}
	}
}
