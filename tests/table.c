/* lib/io/table.c: tables that fit, and what is shortened. */
#include <string.h>

#include "lib/io/table.h"
#include "tests/tap.h"

static const char *const head[] = {"problem", ">us", "verdict", ">measured"};
static const signed char leave[] = {3, 2, -1};

static void fill(struct table *t, int width)
{
	table_init(t, head, 4);
	t->look.width = width;
	t->leave = leave;
	t->shorten = 0;
	table_row(t);
	table_cell(t, 0, "ic64ih56oc64oh56kh3ph1");
	table_cell(t, 1, "12.5");
	table_cell(t, 2, "faster");
	table_mark(t, 2, TABLE_GOOD);
	table_cell(t, 3, "7");
	table_row(t);
	table_cell(t, 0, "1x512:512x1000");
	table_cell(t, 1, "-");
}

static int prints(int width, int left, const char *want)
{
	struct buf b = BUF_INIT;
	struct table t;
	int n, same;

	fill(&t, width);
	n = table_text(&t, &b);
	same = !strcmp(b.s, want) && n == left;
	if (!same)
		diag("%d left:\n%s", n, b.s);
	table_free(&t);
	buf_free(&b);
	return same;
}

static void test_fit(void)
{
	ok(prints(0, 0,
		  "problem                   us  verdict  measured\n"
		  "ic64ih56oc64oh56kh3ph1  12.5  faster          7\n"
		  "1x512:512x1000             -\n"),
	   "as wide as it takes");
	ok(prints(47, 0,
		  "problem                   us  verdict  measured\n"
		  "ic64ih56oc64oh56kh3ph1  12.5  faster          7\n"
		  "1x512:512x1000             -\n"),
	   "no wider than it takes");
	ok(prints(46, 0,
		  "problem                  us verdict measured\n"
		  "ic64ih56oc64oh56kh3ph1 12.5 faster         7\n"
		  "1x512:512x1000            -\n"),
	   "a little wider than it may be: columns move together");
	ok(prints(43, 0,
		  "problem                 us verdict measured\n"
		  "ic64ih56oc64..kh3ph1  12.5 faster         7\n"
		  "1x512:512x1000           -\n"),
	   "wider than that: a text is shortened");
	ok(prints(40, 1,
		  "problem                   us  verdict\n"
		  "ic64ih56oc64oh56kh3ph1  12.5  faster\n"
		  "1x512:512x1000             -\n"),
	   "a column leaves, and its room is used");
	ok(prints(10, 2,
		  "problem            us\n"
		  "ic64ih56..kh3ph1 12.5\n"
		  "1x512:512x1000      -\n"),
	   "what is left is never shorter than can be read");
}

static void test_colors(void)
{
	struct buf b = BUF_INIT;
	struct table t;

	fill(&t, 47);
	t.look.colors = 1;
	table_text(&t, &b);
	ok(strstr(b.s, "  \033[32mfaster\033[0m          7\n") != NULL, "colours take no room");
	table_free(&t);
	buf_free(&b);
}

static int shortens(const char *s, int n, const char *want)
{
	struct buf b = BUF_INIT;
	int same;

	table_shorten(s, n, &b);
	same = !strcmp(b.s, want) && (int)strlen(b.s) <= n;
	if (!same)
		diag("%s", b.s);
	buf_free(&b);
	return same;
}

static void test_shorten(void)
{
	ok(shortens("ic64ih56", 8, "ic64ih56"), "what fits stays");
	ok(shortens("mb16_ic512ih14_oc512oh14_kh3ph1", 24, "mb16_ic512ih14..kh3ph1"),
	   "between a name and another");
	ok(shortens("1024x4096:4096x16384", 16, "1024x4096..16384"), "no number is cut in two");
	ok(shortens("abcdefghijklmnopqrstuvwxyz", 12, "abcdef..wxyz"), "one word is, all the same");
}

static void test_note(void)
{
	const struct table_look look = {.width = 20}, any = {.width = 0};
	struct buf b = BUF_INIT;

	table_note(&look, &b, "Times are in us, of %d pairs.", 100);
	ok(!strcmp(b.s, "Times are in us, of\n100 pairs.\n"), "a note is wrapped");
	buf_clear(&b);
	table_note(&any, &b, "Times are in us, of %d pairs.", 100);
	ok(!strcmp(b.s, "Times are in us, of 100 pairs.\n"), "or not");
	buf_free(&b);
}

int main(void)
{
	test_fit();
	test_colors();
	test_shorten();
	test_note();
	return done_testing();
}
