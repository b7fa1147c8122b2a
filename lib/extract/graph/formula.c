#include "lib/extract/graph/formula.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 24, MOST_ENDS = 16, MOST_OUTPUTS = 4, LONGEST = 1000 };

struct named {
	const char *s;
	size_t n;
	int value;
};

struct reading {
	const struct formula *f;
	const char *at;
	struct named name[MOST_NAMES];
	int nnames;
	int unread[MOST_OUTPUTS]; /* the value + 1 that stands for an output that is left out */
};

/* Is this sign next? Then it is passed. */
static int takes(struct reading *r, char sign)
{
	r->at += strspn(r->at, " ");
	if (*r->at != sign)
		return 0;
	r->at++;
	return 1;
}

static size_t word(const struct reading *r)
{
	size_t n = 0;

	while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
		n++;
	assert(n);
	return n;
}

static int64_t whole(struct reading *r)
{
	char *end;
	const int64_t v = strtoll(r->at, &end, 10);

	assert(end > r->at);
	r->at = end;
	return v;
}

/* Makes a value between, and names it by the n letters without their digits. */
static int between(const struct reading *r, const char *s, size_t n)
{
	char *name;

	while (n > 1 && isdigit((unsigned char)s[n - 1]))
		n--;
	name = arena_strndup(r->f->b->a, s, n);
	for (char *c = name; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return r->f->between(r->f, name);
}

static int output(struct reading *r)
{
	const int i = (int)whole(r), may_lack = takes(r, '?');
	const int value = i < r->f->nout ? r->f->out[i] : -1;

	assert(i < MOST_OUTPUTS);
	if (value >= 0 || may_lack)
		return value;
	if (!r->unread[i])
		r->unread[i] = between(r, "unread", strlen("unread")) + 1;
	return r->unread[i] - 1;
}

/* Reads what stands in the place of a value, but for names. 0: it is a name. */
static int is_sign(struct reading *r, int *value)
{
	char *end;

	*value = -1;
	if (takes(r, '-'))
		return 1;
	if (takes(r, '@')) {
		*value = (int)whole(r);
	} else if (takes(r, '$')) {
		*value = output(r);
	} else if (takes(r, '#')) {
		*value = build_number(r->f->b, strtod(r->at, &end));
		r->at = end;
	} else if (isdigit((unsigned char)*r->at)) {
		const int64_t i = whole(r);

		*value = i < r->f->nin ? r->f->in[i] : -1;
	} else {
		return 0;
	}
	return 1;
}

static int argument(struct reading *r)
{
	int value;

	if (is_sign(r, &value))
		return value;
	for (int i = r->nnames, n = (int)word(r); i-- > 0;)
		if (r->name[i].n == (size_t)n && !memcmp(r->name[i].s, r->at, (size_t)n)) {
			r->at += n;
			return r->name[i].value;
		}
	assert(!"a value that no statement makes");
	return -1;
}

/* Reads what the statement makes. A new name counts from the next statement on. */
static int target(struct reading *r, struct named *made)
{
	int value;

	*made = (struct named){NULL, 0, -1};
	if (is_sign(r, &value))
		return value;
	made->s = r->at;
	made->n = word(r);
	r->at += made->n;
	made->value = between(r, made->s, made->n);
	return made->value;
}

static void list(struct reading *r, struct graph_node *n, const char *name)
{
	int64_t v[2 * GRAPH_MAX_RANK];
	int count = 0;

	while (!takes(r, ']')) {
		assert(count < 2 * GRAPH_MAX_RANK);
		v[count++] = whole(r);
		takes(r, ',');
	}
	build_ints(r->f->b, n, name, v, count);
}

/* Copies the operator's attributes: all, all but those whose names begin so, or that one. */
static void copy_attributes(struct reading *r, struct graph_node *n, const char *only)
{
	const size_t but = !only && takes(r, '-') ? word(r) : 0;

	for (int i = 0; i < r->f->nattr; i++)
		if (only ? !strcmp(r->f->attr[i].name, only)
			 : !but || strncmp(r->f->attr[i].name, r->at, but) != 0)
			build_attr(r->f->b, n, &r->f->attr[i]);
	r->at += but;
}

static void attribute(struct reading *r, struct graph_node *n)
{
	struct arena *a = r->f->b->a;
	const char *name, *text;
	size_t length;

	if (takes(r, '*')) {
		copy_attributes(r, n, NULL);
		return;
	}
	length = takes(r, '/') ? 0 : word(r);
	name = arena_strndup(a, r->at, length);
	r->at += length;
	if (length && !takes(r, '=')) {
		copy_attributes(r, n, name);
		return;
	}
	if (length && takes(r, '[')) {
		list(r, n, name);
		return;
	}
	text = arena_strndup(a, r->at, strcspn(r->at, " ;"));
	r->at += strlen(text);
	if (!length)
		n->name = r->f->name && r->f->name[0] ? arena_printf(a, "%s/%s", r->f->name, text)
						      : "";
	else if (!text[strspn(text, "-0123456789")])
		build_int(r->f->b, n, name, strtoll(text, NULL, 10));
	else if (isdigit((unsigned char)text[0]) || text[0] == '-')
		build_float(r->f->b, n, name, strtof(text, NULL));
	else
		build_str(r->f->b, n, name, text);
}

/* Adds a node. Returns the first value that it makes. */
static int statement(struct reading *r)
{
	int in[MOST_ENDS], out[MOST_ENDS], nin = 0, nout = 0, is_own = 1;
	struct named made[MOST_ENDS];
	struct graph_node *n;
	const char *type;

	for (; !takes(r, '='); nout++) {
		assert(nout < MOST_ENDS);
		out[nout] = target(r, &made[nout]);
	}
	r->at += strspn(r->at, " ");
	type = arena_strndup(r->f->b->a, r->at, word(r));
	r->at += strlen(type);
	for (takes(r, '('); !takes(r, ')'); nin++) {
		assert(nin < MOST_ENDS);
		in[nin] = argument(r);
	}
	for (int i = 0; i < nout; i++)
		if (made[i].s) {
			assert(r->nnames < MOST_NAMES);
			r->name[r->nnames++] = made[i];
			is_own = 0;
		}
	while (nin && in[nin - 1] < 0)
		nin--;
	while (nout > 1 && out[nout - 1] < 0)
		nout--;
	n = build_node(r->f->b, type, in, nin, out, nout);
	n->name = r->f->name ? r->f->name : "";
	n->is_told = r->f->is_told && is_own; /* of values in between the file tells nothing */
	while (!takes(r, ';') && *r->at)
		attribute(r, n);
	return out[0];
}

int formula_build(struct formula f, const char *fmt, ...)
{
	char text[LONGEST];
	struct reading r = {.f = &f, .at = text};
	int n, value = -1;
	va_list ap;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	assert(n > 0 && n < LONGEST);
	while (*r.at)
		value = statement(&r);
	return value;
}

/* A name is cut: a body may be copied a million times. */
static int between_nodes(const struct formula *f, const char *name)
{
	return build_value(f->b, arena_printf(f->b->a, "%.200s/%s", (const char *)f->ctx, name));
}

struct formula formula_node(struct build *b, const struct graph_node *n)
{
	return (struct formula){.b = b,
				.in = n->in,
				.out = n->out,
				.nin = n->nin,
				.nout = n->nout,
				.attr = n->attr,
				.nattr = n->nattr,
				.between = between_nodes,
				.ctx = (void *)node_label(b->g, n)};
}
