#include "lib/io/complete.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/buf.h"

/* The words that an option may be given, with blanks between them; "" if none are known. */
static const char *words_of(const struct opt *o, struct buf *out)
{
	buf_clear(out);
	buf_str(out, o->values ? o->values : "");
	if (o->words) {
		if (out->n)
			buf_ch(out, '|');
		o->words(out);
	}
	for (size_t i = 0; i < out->n; i++)
		if (out->s[i] == '|')
			out->s[i] = ' ';
	return out->s;
}

/* The length of a help text's first sentence, without its full stop. */
static int first_sentence(const char *help)
{
	int n = 0;

	while (help[n] && !(help[n] == '.' && (!help[n + 1] || help[n + 1] == ' ')))
		n++;
	return n;
}

static void put_traits(const struct opt *o, const char *words)
{
	fputs(option_is_flag(o) ? "flag" : "value", stdout);
	if (o->letter)
		fputs(" letter", stdout);
	if (o->kind == OPT_LIST)
		fputs(" many", stdout);
	if (*words)
		fputs(" words", stdout);
	if (o->kind == OPT_FILE || o->kind == OPT_OUTPUT)
		fputs(" file", stdout);
	if (o->kind == OPT_DIR)
		fputs(" dir", stdout);
	if (option_is_env(o))
		fputs(" env", stdout);
}

void complete_print(const struct program *p)
{
	struct buf text = BUF_INIT;

	printf("program\t%s\t%s\n", p->name, strcmp(p->operands, "file") ? "" : "files");
	for (const struct opt *o = p->opts; o->name; o++) {
		const char *words = words_of(o, &text);
		char letter[] = {(char)o->letter, 0};

		if (!option_is_shown(o))
			continue;
		put_traits(o, words);
		printf("\t%s\t%s\t%s\t%s\t%.*s\n", letter, o->name, o->arg ? o->arg : "", words,
		       first_sentence(o->help), o->help);
	}
	buf_free(&text);
}
