#include "lib/io/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/io/mdoc.h"

enum {
	WIDTH = 80,
	HELP_COLUMN = 26,
};

/* Prints text in words from column to WIDTH; the cursor stands at `at`. */
static void wrap(const char *text, int column, int at)
{
	int first = 1;

	while (*text) {
		int n = (int)strcspn(text, " \n");

		if (!first && at + 1 + n > WIDTH) {
			putchar('\n');
			at = 0;
			first = 1;
		}
		if (first && at < column) {
			printf("%*s", column - at, "");
			at = column;
		} else if (!first) {
			putchar(' ');
			at++;
		}
		printf("%.*s", n, text);
		at += n;
		first = 0;
		text += n;
		text += strspn(text, " \n");
	}
	putchar('\n');
}

static void help_line(int letter, const char *name, const char *arg, const char *help)
{
	int n = letter ? printf("  -%c, --%s", letter, name) : printf("      --%s", name);

	if (arg)
		n += printf("=%s", arg);
	if (n + 2 > HELP_COLUMN) {
		putchar('\n');
		n = 0;
	}
	wrap(help, HELP_COLUMN, n);
}

/* The help text, and for an OPT_ENUM the words there are. */
static const char *full_help(const struct opt *o, struct buf *text)
{
	if (o->kind != OPT_ENUM)
		return o->help;
	buf_clear(text);
	buf_str(text, o->help);
	buf_str(text, " One of ");
	for (const char *s = o->values; *s; s++)
		buf_str(text, *s == '|' ? ", " : (char[]){*s, 0});
	buf_ch(text, '.');
	return text->s;
}

/* The uses, a line each or more. */
static void synopsis(const struct program *p)
{
	const char *s = p->synopsis, *before = "Usage";
	struct buf use = BUF_INIT;

	for (;; s++, before = "   or") {
		const int n = printf("%s: %s ", before, p->name);

		buf_clear(&use);
		buf_add(&use, s, strcspn(s, "\n"));
		wrap(use.s, n, n);
		s += use.n;
		if (!*s)
			break;
	}
	buf_free(&use);
}

void help_text(const struct program *p)
{
	struct buf text = BUF_INIT;

	synopsis(p);
	buf_str(&text, p->summary);
	text.s[0] = (char)toupper((unsigned char)text.s[0]);
	buf_ch(&text, '.');
	wrap(text.s, 0, 0);
	putchar('\n');
	for (const struct opt *o = p->opts; o->name; o++)
		if (o->kind == OPT_GROUP)
			printf("%s%s:\n", o > p->opts ? "\n" : "", o->name);
		else if (option_is_shown(o))
			help_line(o->letter, o->name, o->arg, full_help(o, &text));
	help_line('h', "help", NULL, "Print this help and exit.");
	help_line(0, "version", NULL, "Print the version and exit.");
	printf("\nSee also: man %s\n", p->name);
	buf_free(&text);
}

static void man_item(int letter, const char *name, const char *arg, const char *help)
{
	struct buf text = BUF_INIT;

	fputs(".It Fl ", stdout);
	if (letter)
		printf("%c , Fl ", letter);
	printf("-%s", name);
	if (arg)
		printf(" Ns = Ns Ar %s", arg);
	putchar('\n');
	mdoc_text(help, &text);
	fputs(text.s, stdout);
	buf_free(&text);
}

#define BEGIN_LIST ".Bl -tag -width Ds"

void help_man(const struct program *p)
{
	struct buf text = BUF_INIT;

	if (p->opts->kind != OPT_GROUP)
		puts(BEGIN_LIST);
	for (const struct opt *o = p->opts; o->name; o++)
		if (o->kind == OPT_GROUP)
			printf("%s%s:\n%s\n", o > p->opts ? ".El\n.Pp\n" : "", o->name, BEGIN_LIST);
		else if (option_is_shown(o))
			man_item(o->letter, o->name, o->arg, full_help(o, &text));
	man_item('h', "help", NULL, "Print a summary of the options and exit.");
	man_item(0, "version", NULL, "Print the version and exit.");
	puts(".El");
	buf_free(&text);
}
