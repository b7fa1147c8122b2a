#include "lib/extract/list/benchdnn_match.h"

#include <string.h>

enum { PARTS_MAX = 120 };

/* A letter, '.' or a set, and how often it may come. */
struct part {
	const char *s; /* of a set: behind its '[' */
	int is_set, is_any, is_optional, repeats;
};

/* Reads one part; moves *s behind it. -1: it is none. */
static int read_part(const char **s, struct part *p)
{
	const char *end;

	*p = (struct part){.s = *s};
	if (strchr("()|{}^$*+?", **s))
		return -1;
	if (**s == '\\') {
		p->s = ++*s;
	} else if (**s == '.') {
		p->is_any = 1;
	} else if (**s == '[') {
		p->is_set = 1;
		p->s = *s + 1;
		end = strchr(p->s + (*p->s == '^') + 1, ']'); /* a first ']' is a letter */
		*s = end ? end : "";
	}
	if (!**s)
		return -1;
	++*s;
	p->is_optional = **s == '*' || **s == '?';
	p->repeats = **s == '*' || **s == '+';
	*s += p->is_optional || p->repeats;
	return 0;
}

static int is_in_set(const char *s, char c)
{
	const int is_other = *s == '^';
	int found = 0;

	s += is_other;
	for (int first = 1; first || *s != ']'; first = 0) {
		if (s[1] == '-' && s[2] != ']') {
			found |= c >= s[0] && c <= s[2];
			s += 3;
		} else {
			found |= c == *s++;
		}
	}
	return found != is_other;
}

static int is_one(const struct part *p, char c)
{
	return p->is_any || (p->is_set ? is_in_set(p->s, c) : *p->s == c);
}

/* Also marks the parts that are reached by leaving out optional ones. */
static void reach(const struct part *p, int n, char *at, int i)
{
	at[i] = 1;
	while (i < n && p[i].is_optional)
		at[++i] = 1;
}

int benchdnn_match(const char *pattern, const char *text)
{
	struct part p[PARTS_MAX];
	char now[PARTS_MAX + 1] = {0};
	int n = 0;

	for (const char *s = pattern; *s; n++)
		if (n == PARTS_MAX || read_part(&s, &p[n]))
			return -1;
	reach(p, n, now, 0);
	for (; *text; text++) {
		char next[PARTS_MAX + 1] = {0};

		for (int i = 0; i < n; i++) {
			if (!now[i] || !is_one(&p[i], *text))
				continue;
			if (p[i].repeats)
				reach(p, n, next, i);
			reach(p, n, next, i + 1);
		}
		memcpy(now, next, sizeof now);
	}
	return now[n];
}
