#include "lib/extract/vary.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/nearest.h"

static int is_layout(const char *name)
{
	return !strcmp(name, "layout");
}

static int is_dtype(const char *name)
{
	return !strcmp(name, "dtype");
}

/* Names whose values are words: of layout an enum layout, of dtype the three of a workload. */
static int is_word(const char *name)
{
	return is_layout(name) || is_dtype(name);
}

enum { DTYPE_BITS = 8 };

static int64_t pack_dtypes(const struct dtypes *d)
{
	return (int64_t)d->src | (int64_t)d->wei << DTYPE_BITS | (int64_t)d->dst << 2 * DTYPE_BITS;
}

static struct dtypes unpack_dtypes(int64_t v)
{
	const int64_t mask = (1 << DTYPE_BITS) - 1;

	return (struct dtypes){(enum dtype)(v & mask), (enum dtype)(v >> DTYPE_BITS & mask),
			       (enum dtype)(v >> 2 * DTYPE_BITS & mask)};
}

/* A dimension's number, -1 if the operator has none of this name. */
static int dim_of(const struct op *op, const char *name)
{
	for (int d = 0; d < op->ndims; d++)
		if (!strcmp(op->dim[d], name))
			return d;
	return -1;
}

static int check_name(const char *name, struct err *e)
{
	struct nearest near;

	nearest_begin(&near, name, strlen(name));
	nearest_try(&near, "layout");
	nearest_try(&near, "dtype");
	for (const struct op *const *op = op_list; *op; op++) {
		if (dim_of(*op, name) >= 0)
			return 0;
		for (int d = 0; d < (*op)->ndims; d++)
			nearest_try(&near, (*op)->dim[d]);
	}
	return is_word(name) ? 0
			     : err_status(e, EXIT_USAGE, "no operator has a dimension \"%.40s\"%s",
					  name, nearest_hint(&near));
}

/* The next piece of a list with commas, without blanks; moves *s behind it and its comma. */
static char *next_piece(const char **s, const char *end, struct arena *a)
{
	const char *stop = memchr(*s, ',', (size_t)(end - *s));
	const char *from = *s, *to = stop ? stop : end;

	*s = stop ? stop + 1 : end + 1;
	while (from < to && *from == ' ')
		from++;
	while (to > from && to[-1] == ' ')
		to--;
	return arena_strndup(a, from, (size_t)(to - from));
}

static int add_name(struct vary *v, struct vary_term *t, const char *name, struct err *e)
{
	if (check_name(name, e))
		return -1;
	for (const struct vary_term *u = v->term; u <= t; u++)
		for (int i = 0; i < u->nnames; i++)
			if (!strcmp(u->name[i], name))
				return err_status(e, EXIT_USAGE, "%s is varied twice", name);
	if (t->nnames == VARY_NAMES)
		return err_status(e, EXIT_USAGE, "a term has more than %d names", VARY_NAMES);
	t->name[t->nnames++] = name;
	return 0;
}

/* The value that a word stands for. */
static int read_word(const char *name, const char *text, int64_t *value, struct err *e)
{
	struct dtypes d;
	const char *why;

	if (is_layout(name)) {
		*value = layout_find(text, strlen(text));
		return *value < 0 ? err_status(e, EXIT_USAGE, "there is no layout \"%.40s\"", text)
				  : 0;
	}
	why = dtypes_parse(&d, text, strlen(text));
	if (!why)
		why = dtypes_check(&d);
	if (why)
		return err_status(e, EXIT_USAGE, "the element type \"%.40s\" %s", text, why);
	*value = pack_dtypes(&d);
	return 0;
}

static int add_value(struct vary_term *t, const char *text, struct err *e)
{
	int of_word = is_word(t->name[0]);
	char *end;
	int64_t value = of_word ? 0 : strtoll(text, &end, 10);

	if (of_word && read_word(t->name[0], text, &value, e))
		return -1;
	if (!of_word && (text[strspn(text, "0123456789")] || !*text || value > INT32_MAX ||
			 (!value && t->how == '/')))
		return err_status(e, EXIT_USAGE, "\"%.40s\" is no size from %d to 2^31-1", text,
				  t->how == '/');
	if (t->nvalues == VARY_VALUES)
		return err_status(e, EXIT_USAGE, "a term has more than %d values", VARY_VALUES);
	t->value[t->nvalues++] = value;
	return 0;
}

/* One term, of n characters. */
static int read_term(struct vary *v, const char *s, size_t n, struct arena *a, struct err *e)
{
	const char *equals = memchr(s, '=', n), *end = s + n, *names_end = equals;
	struct vary_term *t = &v->term[v->nterms];

	if (!equals || equals == s)
		return err_status(e, EXIT_USAGE,
				  "\"%.*s\" is no variation such as mb=1,2,4 or ih,iw*=2",
				  n < 60 ? (int)n : 60, s);
	t->how = '=';
	if (strchr("*/+-", equals[-1]))
		t->how = *--names_end;
	while (s <= names_end)
		if (add_name(v, t, next_piece(&s, names_end, a), e))
			return -1;
	for (int i = 0; i < t->nnames; i++)
		if (is_word(t->name[i]) && (t->nnames > 1 || t->how != '='))
			return err_status(e, EXIT_USAGE, "%s is set alone, as in %s", t->name[i],
					  is_layout(t->name[i]) ? "layout=nhwc,nchw"
								: "dtype=f32,bf16");
	for (s = equals + 1; s <= end;)
		if (add_value(t, next_piece(&s, end, a), e))
			return -1;
	return 0;
}

int vary_parse(struct vary *v, const char *text, struct arena *a, struct err *e)
{
	int64_t product = 1;

	*v = (struct vary){.term = arena_array(a, struct vary_term, VARY_TERMS)};
	while (*(text += strspn(text, "; "))) {
		size_t n = strcspn(text, ";");

		if (v->nterms == VARY_TERMS)
			return err_status(e, EXIT_USAGE, "there are more than %d terms",
					  VARY_TERMS);
		if (read_term(v, text, n, a, e))
			return -1;
		product *= v->term[v->nterms++].nvalues;
		if (product > VARY_PRODUCT)
			return err_status(e, EXIT_USAGE,
					  "it makes more than %d variations of each workload",
					  VARY_PRODUCT);
		text += n;
	}
	return v->nterms ? 0 : err_status(e, EXIT_USAGE, "it names nothing that varies");
}

/* Products have one layout only; all operators have element types. */
static int touches(const struct vary_term *t, const struct op *op)
{
	for (int i = 0; i < t->nnames; i++)
		if (is_dtype(t->name[i]) ||
		    (is_layout(t->name[i]) ? op->layout != LAYOUT_AB : dim_of(op, t->name[i]) >= 0))
			return 1;
	return 0;
}

/* -1: there is no such size. */
static int64_t change(int64_t size, char how, int64_t by)
{
	int64_t r = -1;

	switch (how) {
	case '=':
		return by;
	case '*': /* a size is below 2^31, and so is by */
		return size * by;
	case '/':
		return size % by ? r : size / by;
	case '+':
		return size + by;
	default:
		return size - by;
	}
}

/* Sets what a term says; of each dimension set, a byte in set. -1: there is no such size. */
static int apply(const struct vary_term *t, int64_t value, struct workload *w, char *set)
{
	for (int i = 0; i < t->nnames; i++) {
		int d = dim_of(w->op, t->name[i]);

		if (is_layout(t->name[i]))
			w->layout = (enum layout)value;
		if (is_dtype(t->name[i]))
			w->dtype = unpack_dtypes(value);
		if (d < 0)
			continue;
		set[d] = 1;
		w->dim[d] = change(w->dim[d], t->how, value);
		if (w->dim[d] < 0)
			return -1;
	}
	return 0;
}

static void drop(struct varied *told, const struct workload *w, const char *why, struct arena *a)
{
	if (!told->dropped++)
		told->why = arena_printf(a, "of %s: %s", w->prob, why);
}

/* The combination in which term i has its value number at[i]. */
static void make_one(const struct vary *v, const int *at, const struct work *from,
		     struct worklist *to, struct arena *a, struct varied *told)
{
	struct workload w = from->w;
	char set[OP_MAX_DIMS] = {0};
	struct err e = ERR_INIT;
	struct work *k;
	int same;

	for (int i = 0; i < v->nterms; i++)
		if (touches(&v->term[i], w.op) &&
		    apply(&v->term[i], v->term[i].value[at[i]], &w, set)) {
			drop(told, &from->w, "a size is below 0, or no whole number", a);
			return;
		}
	if (w.op->follow)
		w.op->follow(w.op, from->w.dim, set, w.dim);
	if (workload_finish(&w, &e)) {
		drop(told, &from->w, e.msg, a);
		return;
	}
	same = !strcmp(w.id.s, from->w.id.s);
	k = worklist_put(to, &w, same ? from->line : NULL,
			 same && from->line ? strlen(from->line) : 0);
	for (size_t i = 0; i < from->source.n; i++)
		work_add_source(k, from->source.item[i].value);
}

/* Counts on as an odometer does, the last term fastest. 0: it went through all. */
static int next_combination(const struct vary *v, const struct op *op, int *at)
{
	for (int i = v->nterms; i-- > 0;) {
		if (!touches(&v->term[i], op))
			continue;
		if (++at[i] < v->term[i].nvalues)
			return 1;
		at[i] = 0;
	}
	return 0;
}

void vary_run(const struct vary *v, const struct worklist *from, struct worklist *to,
	      struct arena *a, struct varied *told)
{
	for (size_t i = 0; i < from->by_id.n; i++) {
		const struct work *k = from->by_id.item[i].value;
		int at[VARY_TERMS] = {0}, touched = 0;

		for (int t = 0; t < v->nterms; t++)
			touched |= touches(&v->term[t], k->w.op);
		told->untouched += !touched;
		do {
			make_one(v, at, k, to, a, told);
		} while (next_combination(v, k->w.op, at));
	}
}
