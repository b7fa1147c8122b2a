/* lib/base/condition.c: what conditions mean, what they do where a value is missing, and how they
 * are refused. */
#include <string.h>

#include "lib/base/condition.h"
#include "tests/tap.h"

/* A subject: kh is 0 where it has none. */
struct subject {
	double flops, kh;
	const char *op;
};

static int is_op(const char *s, size_t n)
{
	return (n == 6 && !memcmp(s, "conv2d", n)) || (n == 6 && !memcmp(s, "matmul", n));
}

static const struct condition_name names[] = {{"flops", CONDITION_NUMBER, NULL},
					      {"kh", CONDITION_NUMBER, NULL},
					      {"op", CONDITION_TEXT, is_op},
					      {"note", CONDITION_TEXT, NULL}};
enum { NAMES = sizeof names / sizeof *names };

static struct condition_value look(const void *subject, int name)
{
	const struct subject *s = subject;

	if (name == 0)
		return (struct condition_value){CONDITION_NUMBER, s->flops, NULL};
	if (name == 2)
		return (struct condition_value){CONDITION_TEXT, 0, s->op};
	if (name == 1 && s->kh > 0)
		return (struct condition_value){CONDITION_NUMBER, s->kh, NULL};
	return (struct condition_value){CONDITION_NONE, 0, NULL};
}

static const struct subject conv = {2e8, 3, "conv2d"}, product = {2e8, 0, "matmul"};

static void holds(const char *text, const struct subject *s, int want)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	const struct condition *c = condition_parse(text, names, NAMES, &a, &e);
	int lacks = -1, got = c ? condition_holds(c, look, s, &lacks) : -9;

	ok(got == want && (got != -1 || lacks == 1 || lacks == 3), "%s of %s is %d", text, s->op,
	   want);
	if (!c)
		diag("%s", e.msg);
	arena_free(&a);
}

static void refused(const char *text, const char *want)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	const struct condition *c = condition_parse(text, names, NAMES, &a, &e);

	if (!ok(!c && e.status == EXIT_USAGE && !strcmp(e.msg, want), "\"%.40s\" is refused", text))
		diag("got  %s\nwant %s", e.msg, want);
	arena_free(&a);
}

static void test_meaning(void)
{
	holds("flops>1e8 && kh==3", &conv, 1);
	holds("flops > 1e+9", &conv, 0);
	holds("flops<=2e8&&flops>=2E8", &conv, 1);
	holds("1+2*3==7", &conv, 1);
	holds("(1+2)*3==9", &conv, 1);
	holds("10-2-3==5", &conv, 1);
	holds("7/2==3.5 && 7%4==3", &conv, 1);
	holds("-kh+5 == 2 && - -1==1", &conv, 1);
	holds("kh==1 || kh==3 && flops<1", &conv, 0);
	holds("(kh==1 || kh==3) && flops>1", &conv, 1);
	holds("!(kh==3) || !(kh!=3)", &conv, 1);
	holds("op==conv2d", &conv, 1);
	holds("op == \"matmul\" || 'conv2d' != op", &conv, 0);
	holds("op==conv2d", &product, 0);
	holds("kh/0 > 1e300 && kh%0 != kh%0", &conv, 1); /* as IEEE 754 has it */
}

static void test_missing(void)
{
	holds("kh==3", &product, -1);
	holds("!(kh==3)", &product, -1);
	holds("kh*2+1 > 3 || note==x", &product, -1);
	holds("op==conv2d && kh==3", &product, 0);
	holds("kh==3 && op==conv2d", &product, 0);
	holds("kh==3 || flops>1e8", &product, 1);
	holds("flops>1e8 && kh==3", &product, -1);
}

static void test_refused(void)
{
	char deep[300];

	refused("", "column 1: it ends where a number or a name is wanted");
	refused("flops >", "column 8: it ends where a number or a name is wanted");
	refused("flops > 1e8 &&", "column 15: it ends where a number or a name is wanted");
	refused("flop > 1", "column 1: there is no name \"flop\"; did you mean flops?");
	refused("flops == hk", "column 10: there is no name \"hk\"; did you mean kh?");
	refused("op == conv", "column 7: there is no op \"conv\"");
	refused("conv2d == matmul", "column 1: there is no name \"conv2d\"");
	refused("op < conv2d", "column 1: a number is wanted here");
	refused("op == 3", "column 1: a text and a number are never equal");
	refused("flops", "column 1: a comparison is wanted here, such as flops>1e8");
	refused("!flops", "column 2: a comparison is wanted here, such as flops>1e8");
	refused("kh == 3 && 1", "column 12: a comparison is wanted here, such as flops>1e8");
	refused("1 < 2 == 1", "column 1: a number is wanted here"); /* a truth is none */
	refused("1 < kh < 5", "column 1: a number is wanted here");
	refused("(kh == 3", "column 9: the parenthesis is not closed");
	refused("kh == 3)", "column 8: an operator is wanted here, such as && or <");
	refused("kh = 3", "column 4: an operator is wanted here, such as && or <");
	refused("op == \"conv2d", "column 7: the quotation mark has no partner");
	refused("kh == 1e", "column 7: this is no number");
	refused("kh == 3x", "column 7: this is no number");
	refused("kh == 0x3", "column 7: this is no number");
	refused("kh == 1e999", "column 7: this is no number");
	refused("kh == 1.2.3", "column 7: this is no number");
	refused("kh == $", "column 7: a number or a name is wanted here");
	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = 0;
	refused(deep, "column 101: it is nested too deeply");
}

int main(void)
{
	test_meaning();
	test_missing();
	test_refused();
	return done_testing();
}
