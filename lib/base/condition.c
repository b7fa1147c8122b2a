#include "lib/base/condition.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "lib/base/nearest.h"
#include "lib/base/number.h"

/* Both bound the recursion. */
enum { TEXT_MAX = 4096, DEPTH_MAX = 100 };

enum what {
	NUMBER,
	WORD,
	NAME,
	NOT,
	MINUS,
	MULTIPLY,
	DIVIDE,
	REMAINDER,
	ADD,
	SUBTRACT,
	LESS,
	LESS_EQUAL,
	MORE,
	MORE_EQUAL,
	EQUAL,
	UNEQUAL,
	AND,
	OR
};

struct condition {
	enum what what;
	enum condition_kind kind;
	int at; /* where it begins in the text */
	double number;
	const char *word;
	int name;
	int bare; /* a word without quotes */
	struct condition *left, *right;
};

/* The operators of two sides, the longer ones first; level: the higher binds the closer. */
static const struct operator
{
	const char *text;
	enum what what;
	int level;
}
operators[] = {
	{"||", OR, 1},	       {"&&", AND, 2},	      {"==", EQUAL, 3},	  {"!=", UNEQUAL, 3},
	{"<=", LESS_EQUAL, 4}, {">=", MORE_EQUAL, 4}, {"<", LESS, 4},	  {">", MORE, 4},
	{"+", ADD, 5},	       {"-", SUBTRACT, 5},    {"*", MULTIPLY, 6}, {"/", DIVIDE, 6},
	{"%", REMAINDER, 6},
};
enum { LEVELS = 6 };

struct parser {
	const char *text, *s;
	const struct condition_name *names;
	int nnames, depth;
	struct arena *a;
	struct err *e;
};

static struct condition *refuse(struct parser *p, int at, const char *why)
{
	err_status(p->e, EXIT_USAGE, "column %d: %s", at + 1, why);
	return NULL;
}

static struct condition *make(struct parser *p, enum what what, enum condition_kind kind, int at)
{
	struct condition *c = arena_new(p->a, struct condition);

	c->what = what;
	c->kind = kind;
	c->at = at;
	return c;
}

static int skip(struct parser *p)
{
	p->s += strspn(p->s, " \t\n");
	return (int)(p->s - p->text);
}

static struct condition *no_name(struct parser *p, const struct condition *word)
{
	struct nearest near;

	nearest_begin(&near, word->word, strlen(word->word));
	for (int i = 0; i < p->nnames; i++)
		nearest_try(&near, p->names[i].name);
	return refuse(p, word->at,
		      arena_printf(p->a, "there is no name \"%.60s\"%s", word->word,
				   nearest_hint(&near)));
}

/* A number where one is wanted, a truth where that is. */
static int is_kind(struct parser *p, const struct condition *c, enum condition_kind kind)
{
	if (c->kind == kind)
		return 1;
	if (c->what == WORD && c->bare)
		no_name(p, c);
	else
		refuse(p, c->at,
		       kind == CONDITION_NUMBER ? "a number is wanted here"
						: "a comparison is wanted here, such as flops>1e8");
	return 0;
}

static struct condition *number(struct parser *p, int at)
{
	struct condition *c = make(p, NUMBER, CONDITION_NUMBER, at);
	const char *end;

	if (number_real(p->s, &end, &c->number) || isalnum((unsigned char)*end) || *end == '_' ||
	    *end == '.')
		return refuse(p, at, "this is no number");
	p->s = end;
	return c;
}

static struct condition *quoted(struct parser *p, int at)
{
	struct condition *c = make(p, WORD, CONDITION_TEXT, at);
	const char *end = strchr(p->s + 1, *p->s);

	if (!end)
		return refuse(p, at, "the quotation mark has no partner");
	c->word = arena_strndup(p->a, p->s + 1, (size_t)(end - p->s - 1));
	p->s = end + 1;
	return c;
}

static struct condition *name(struct parser *p, int at)
{
	struct condition *c = make(p, WORD, CONDITION_TEXT, at);
	size_t n = 0;

	while (isalnum((unsigned char)p->s[n]) || p->s[n] == '_')
		n++;
	c->word = arena_strndup(p->a, p->s, n);
	c->bare = 1;
	p->s += n;
	for (int i = 0; i < p->nnames; i++)
		if (!strcmp(p->names[i].name, c->word)) {
			c->what = NAME;
			c->kind = p->names[i].kind;
			c->name = i;
		}
	return c;
}

static struct condition *parse_level(struct parser *p, int level);

/* One side of an operator: a number, name or word, something in parentheses, or ! or - before one.
 */
static struct condition *operand(struct parser *p)
{
	int at = skip(p);
	struct condition *c = NULL, *in;

	if (isdigit((unsigned char)*p->s) || *p->s == '.')
		return number(p, at);
	if (isalpha((unsigned char)*p->s) || *p->s == '_')
		return name(p, at);
	if (*p->s == '"' || *p->s == '\'')
		return quoted(p, at);
	if (!*p->s || !strchr("(!-", *p->s))
		return refuse(p, at,
			      *p->s ? "a number or a name is wanted here"
				    : "it ends where a number or a name is wanted");
	if (++p->depth > DEPTH_MAX)
		return refuse(p, at, "it is nested too deeply");
	if (*p->s++ == '(') {
		c = parse_level(p, 1);
		at = skip(p);
		if (c && *p->s != ')')
			c = refuse(p, at, "the parenthesis is not closed");
		p->s += c != NULL;
	} else if ((in = operand(p))) {
		int is_not = p->text[at] == '!';

		if (!is_kind(p, in, is_not ? CONDITION_TRUTH : CONDITION_NUMBER))
			return NULL;
		c = make(p, is_not ? NOT : MINUS, in->kind, at);
		c->left = in;
	}
	p->depth--;
	return c;
}

/* Is the word one of those that the name can have? */
static int is_word_of(struct parser *p, const struct condition *name, const struct condition *word)
{
	const struct condition_name *n;

	if (name->what != NAME || word->what != WORD)
		return 1;
	n = &p->names[name->name];
	if (!n->is_word || n->is_word(word->word, strlen(word->word)))
		return 1;
	refuse(p, word->at, arena_printf(p->a, "there is no %s \"%.60s\"", n->name, word->word));
	return 0;
}

static struct condition *join(struct parser *p, const struct operator* o, struct condition *left,
			      struct condition *right)
{
	int logic = o->what == AND || o->what == OR,
	    equals = o->what == EQUAL || o->what == UNEQUAL;
	enum condition_kind of = logic ? CONDITION_TRUTH : CONDITION_NUMBER;
	struct condition *c;

	if (equals && (left->kind == CONDITION_TEXT || right->kind == CONDITION_TEXT)) {
		/* A word alone names nothing; beside a text it is one. */
		if (left->what == WORD && right->what == WORD)
			return no_name(p, left->bare ? left : right);
		if (left->kind != right->kind) {
			const struct condition *text = left->kind == CONDITION_TEXT ? left : right;

			if (text->what == WORD && text->bare)
				return no_name(p, text);
			return refuse(p, left->at, "a text and a number are never equal");
		}
		if (!is_word_of(p, left, right) || !is_word_of(p, right, left))
			return NULL;
	} else if (!is_kind(p, left, of) || !is_kind(p, right, of)) {
		return NULL;
	}
	c = make(p, o->what, o->level < 5 ? CONDITION_TRUTH : CONDITION_NUMBER, left->at);
	c->left = left;
	c->right = right;
	return c;
}

/* The operator that comes next. */
static const struct operator* next_operator(struct parser *p)
{
	skip(p);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (!strncmp(p->s, operators[i].text, strlen(operators[i].text)))
			return &operators[i];
	return NULL;
}

static struct condition *parse_level(struct parser *p, int level)
{
	struct condition *left = level > LEVELS ? operand(p) : parse_level(p, level + 1);
	const struct operator* o;

	while (left && level <= LEVELS && (o = next_operator(p)) && o->level == level) {
		struct condition *right;

		p->s += strlen(o->text);
		right = parse_level(p, level + 1);
		left = right ? join(p, o, left, right) : NULL;
	}
	return left;
}

struct condition *condition_parse(const char *text, const struct condition_name *names, int n,
				  struct arena *a, struct err *e)
{
	struct parser p = {.text = text, .s = text, .names = names, .nnames = n, .a = a, .e = e};
	struct condition *c;
	int at;

	if (strlen(text) > TEXT_MAX)
		return refuse(&p, TEXT_MAX, "it is too long");
	c = parse_level(&p, 1);
	at = skip(&p);
	if (c && *p.s)
		return refuse(&p, at, "an operator is wanted here, such as && or <");
	return c && is_kind(&p, c, CONDITION_TRUTH) ? c : NULL;
}

struct asked {
	condition_look *look;
	const void *subject;
	int *lacks;
};

/* Of two values that are there. */
static int compare(enum what what, const struct condition_value *a, const struct condition_value *b)
{
	if (a->kind == CONDITION_TEXT)
		return !strcmp(a->text, b->text) == (what == EQUAL);
	switch (what) {
	case LESS:
		return a->number < b->number;
	case LESS_EQUAL:
		return a->number <= b->number;
	case MORE:
		return a->number > b->number;
	case MORE_EQUAL:
		return a->number >= b->number;
	case EQUAL:
		return a->number == b->number;
	default:
		return a->number != b->number;
	}
}

static double compute(enum what what, double a, double b)
{
	switch (what) {
	case ADD:
		return a + b;
	case SUBTRACT:
		return a - b;
	case MULTIPLY:
		return a * b;
	case DIVIDE:
		return a / b;
	default:
		return fmod(a, b);
	}
}

static struct condition_value value_of(const struct condition *c, const struct asked *q)
{
	struct condition_value a = {.kind = c->kind}, b;

	if (c->what == NUMBER) {
		a.number = c->number;
	} else if (c->what == WORD) {
		a.text = c->word;
	} else if (c->what == NAME) {
		a = q->look(q->subject, c->name);
		if (a.kind == CONDITION_NONE)
			*q->lacks = c->name;
	} else {
		a = value_of(c->left, q);
		if (c->what == MINUS) {
			a.number = -a.number;
			return a;
		}
		b = value_of(c->right, q);
		a.number = compute(c->what, a.number, b.number);
		if (b.kind == CONDITION_NONE)
			a.kind = CONDITION_NONE;
	}
	return a;
}

/* 1, 0, or -1 for unknown. */
static int logic(const struct condition *c, const struct asked *q)
{
	struct condition_value a, b;
	int left, right;

	if (c->what == AND || c->what == OR) {
		int decides = c->what == OR;

		left = logic(c->left, q);
		if (left == decides)
			return decides;
		right = logic(c->right, q);
		return right == decides ? decides : left < 0 ? -1 : right;
	}
	if (c->what == NOT) {
		left = logic(c->left, q);
		return left < 0 ? -1 : !left;
	}
	a = value_of(c->left, q);
	b = value_of(c->right, q);
	return a.kind == CONDITION_NONE || b.kind == CONDITION_NONE ? -1 : compare(c->what, &a, &b);
}

int condition_holds(const struct condition *c, condition_look *look, const void *subject,
		    int *lacks)
{
	const struct asked q = {look, subject, lacks};

	return logic(c, &q);
}
