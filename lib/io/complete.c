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

static int has_env(const struct program *p)
{
	for (const struct opt *o = p->opts; o->name; o++)
		if (option_is_env(o))
			return 1;
	return 0;
}

static int reads_files(const struct program *p)
{
	return !strcmp(p->operands, "file");
}

static int takes_program(const struct program *p)
{
	return !strcmp(p->operands, "program");
}

/* Appends the name as that of a function: not every shell has hyphens there. */
static void put_identifier(const char *name)
{
	for (; *name; name++)
		putchar(*name == '-' ? '_' : *name);
}

/* The length of a help text's first sentence, without its full stop. */
static size_t first_sentence(const char *help)
{
	size_t n = 0;

	while (help[n] && !(help[n] == '.' && (!help[n + 1] || help[n + 1] == ' ')))
		n++;
	return n;
}

/* Text inside single quotes: a backslash goes before each special character, and a single quote
 * becomes quote. */
static void put_quoted(const char *s, size_t n, const char *special, const char *quote)
{
	for (; n; s++, n--) {
		if (*s == '\'') {
			fputs(quote, stdout);
			continue;
		}
		if (strchr(special, *s))
			putchar('\\');
		putchar(*s);
	}
}

/* bash */

/* The database that the command line names, as a shell would read it. */
static const char bash_envs[] =
	"()\n"
	"{\n"
	"\tlocal i db=()\n"
	"\tfor ((i = 1; i < COMP_CWORD - 1; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == -d || ${COMP_WORDS[i]} == --db ]]; then\n"
	"\t\t\tdb=${COMP_WORDS[i + 1]}\n"
	"\t\t\t[[ $db == = ]] && db=${COMP_WORDS[i + 2]}\n"
	"\t\t\tdb=${db//[\\\\\\'\\\"]/}\n"
	"\t\t\tdb=(-d \"${db/#\\~/$HOME}\")\n"
	"\t\tfi\n"
	"\tdone\n"
	"\ttl-query --env-ids \"${db[@]}\" 2>/dev/null\n"
	"}\n";

static void bash_case(const struct program *p, const struct opt *o, struct buf *text)
{
	const char *words = words_of(o, text);

	if (o->letter)
		printf("\t-%c|--%s) ", o->letter, o->name);
	else
		printf("\t--%s) ", o->name);
	if (o->kind == OPT_FILE && *words)
		printf("mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\"; compgen -f -- "
		       "\"$cur\")\n\t\tcompopt -o filenames -o default; return ;;\n",
		       words);
	else if (*words)
		printf("COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", words);
	else if (o->kind == OPT_FILE)
		puts("compopt -o default; return ;;");
	else if (o->kind == OPT_DIR)
		puts("compopt -o dirnames; return ;;");
	else if (option_is_env(o)) {
		fputs("COMPREPLY=($(compgen -W \"$(_", stdout);
		put_identifier(p->name);
		puts("_envs)\" -- \"$cur\")); return ;;");
	} else
		puts("return ;;");
}

/* `tl NAME`: the names, and behind one the completion of tl-NAME. */
static const char bash_programs[] =
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\tCOMPREPLY=($(compgen -W \"help $(compgen -c tl- | sed 's/^tl-//')\" -- \"$cur\"))\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tlocal of=_tl_${COMP_WORDS[1]//-/_}\n"
	"\tdeclare -F \"$of\" >/dev/null ||\n"
	"\t\tsource \"${BASH_SOURCE[0]%/*}/tl-${COMP_WORDS[1]}\" 2>/dev/null || return\n"
	"\tCOMP_WORDS=(\"tl-${COMP_WORDS[1]}\" \"${COMP_WORDS[@]:2}\")\n"
	"\t((COMP_CWORD--))\n"
	"\t\"$of\"\n";

static void bash_options(const struct program *p)
{
	struct buf text = BUF_INIT;

	/* bash splits words at '=': --name = value */
	puts("\tif [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then "
	     "prev=${COMP_WORDS[COMP_CWORD-2]}; fi");
	puts("\tcase $prev in");
	for (const struct opt *o = p->opts; o->name; o++)
		if (!option_is_flag(o))
			bash_case(p, o, &text);
	puts("\tesac\n\tif [[ $cur == -* ]]; then");
	fputs("\t\tCOMPREPLY=($(compgen -W '", stdout);
	for (const struct opt *o = p->opts; o->name; o++)
		if (option_is_shown(o))
			printf("--%s%s ", o->name, option_is_flag(o) ? "" : "=");
	puts("--help --version' -- \"$cur\"))");
	puts("\t\t[[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace");
	if (reads_files(p))
		puts("\telse\n\t\tcompopt -o default");
	puts("\tfi");
	buf_free(&text);
}

static void complete_bash(const struct program *p)
{
	if (has_env(p)) {
		putchar('_');
		put_identifier(p->name);
		fputs("_envs", stdout);
		fputs(bash_envs, stdout);
	}
	putchar('_');
	put_identifier(p->name);
	puts("()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}");
	if (takes_program(p))
		fputs(bash_programs, stdout);
	else
		bash_options(p);
	fputs("}\ncomplete -F _", stdout);
	put_identifier(p->name);
	printf(" %s\n", p->name);
}

/* zsh */

static const char zsh_quote[] = "'\\''";

static const char zsh_envs[] =
	"_tl_env_ids()\n"
	"{\n"
	"\tlocal -a db ids\n"
	"\tlocal file=${opt_args[-d]:-$opt_args[--db]}\n"
	"\tfile=${(Q)${(Q)file}}\n" /* quoted as it was typed, and again by _arguments */
	"\t[[ -n $file ]] && db=(-d ${file/#\\~/$HOME})\n"
	"\tids=(${(f)\"$(tl-query --env-ids $db 2>/dev/null)\"})\n"
	"\tcompadd -a ids\n"
	"}\n";

static const char zsh_programs[] =
	"_arguments '1:program:(help ${${(k)commands[(I)tl-*]}#tl-})' \\\n"
	"\t'*::argument:{ words[1]=tl-$words[1]; _normal }'\n";

/* ":MESSAGE:ACTION" of an option's value, inside single quotes. */
static void zsh_action(const struct opt *o, struct buf *text)
{
	const char *words = words_of(o, text);

	if (option_is_flag(o))
		return;
	putchar(':');
	put_quoted(o->arg, strlen(o->arg), ":\\", zsh_quote);
	putchar(':');
	if (o->kind == OPT_FILE && *words) {
		fputs("{ _alternative \"words\\:word\\:(", stdout);
		put_quoted(words, strlen(words), ":", zsh_quote);
		fputs(")\" files\\:file\\:_files }", stdout);
	} else if (*words) {
		putchar('(');
		put_quoted(words, strlen(words), ":", zsh_quote);
		putchar(')');
	} else if (o->kind == OPT_FILE)
		fputs("_files", stdout);
	else if (o->kind == OPT_DIR)
		fputs("_files -/", stdout);
	else if (option_is_env(o))
		fputs("_tl_env_ids", stdout);
}

static void complete_zsh(const struct program *p)
{
	struct buf text = BUF_INIT;

	printf("#compdef %s\n", p->name);
	if (has_env(p))
		fputs(zsh_envs, stdout);
	if (takes_program(p)) {
		fputs(zsh_programs, stdout);
		return;
	}
	puts("_arguments -s \\");
	for (const struct opt *o = p->opts; o->name; o++) {
		const char *many = o->kind == OPT_LIST ? "*" : "";

		if (!option_is_shown(o))
			continue;
		for (int form = o->letter ? 0 : 1; form < 2; form++) {
			if (form)
				printf("\t'%s--%s%s[", many, o->name, option_is_flag(o) ? "" : "=");
			else
				printf("\t'%s-%c%s[", many, o->letter,
				       option_is_flag(o) ? "" : "+");
			put_quoted(o->help, first_sentence(o->help), "[]:\\", zsh_quote);
			putchar(']');
			zsh_action(o, &text);
			puts("' \\");
		}
	}
	puts("\t'(- *)'{-h,--help}'[print help]' \\");
	fputs("\t'(- *)--version[print the version]'", stdout);
	puts(reads_files(p) ? " \\\n\t'*:file:_files'" : "");
	buf_free(&text);
}

/* fish */

static const char fish_envs[] = "function __tl_env_ids\n"
				"    set -l db\n"
				"    set -l before\n"
				"    for word in (commandline -opc)\n"
				"        switch $before\n"
				"            case -d --db\n"
				"                set db -d $word\n"
				"        end\n"
				"        string match -q -- '--db=*' $word\n"
				"        and set db -d (string replace -- --db= '' $word)\n"
				"        set before $word\n"
				"    end\n"
				"    tl-query --env-ids $db 2>/dev/null\n"
				"end\n";

static const char fish_programs[] =
	"function __tl_rest\n"
	"    complete -C (commandline -cp | string replace -r '^\\s*tl\\s+' tl-)\n"
	"end\n"
	"complete -c tl -f\n"
	"complete -c tl -n __fish_use_subcommand -a 'help (complete -C tl- | string replace -r "
	"\"^tl-(\\S+).*\" \"\\$1\")'\n"
	"complete -c tl -n 'not __fish_use_subcommand' -a '(__tl_rest)'\n";

static void fish_value(const struct opt *o, struct buf *text)
{
	const char *words = words_of(o, text);

	if (o->kind == OPT_FILE && *words)
		printf(" -r -F -a '%s'", words);
	else if (*words)
		printf(" -x -a '%s'", words);
	else if (o->kind == OPT_FILE)
		fputs(" -r -F", stdout);
	else if (o->kind == OPT_DIR)
		fputs(" -x -a '(__fish_complete_directories)'", stdout);
	else if (option_is_env(o))
		fputs(" -x -a '(__tl_env_ids)'", stdout);
	else if (!option_is_flag(o))
		fputs(" -x", stdout);
}

static void complete_fish(const struct program *p)
{
	struct buf text = BUF_INIT;

	if (has_env(p))
		fputs(fish_envs, stdout);
	if (takes_program(p))
		fputs(fish_programs, stdout);
	else if (!reads_files(p))
		printf("complete -c %s -f\n", p->name);
	for (const struct opt *o = p->opts; o->name; o++) {
		if (!option_is_shown(o))
			continue;
		printf("complete -c %s", p->name);
		if (o->letter)
			printf(" -s %c", o->letter);
		printf(" -l %s", o->name);
		fish_value(o, &text);
		fputs(" -d '", stdout);
		put_quoted(o->help, first_sentence(o->help), "\\", "\\'");
		puts("'");
	}
	printf("complete -c %s -s h -l help -d 'Print help'\n", p->name);
	printf("complete -c %s -l version -d 'Print the version'\n", p->name);
	buf_free(&text);
}

int complete_print(const struct program *p, const char *shell)
{
	if (!strcmp(shell, "bash"))
		complete_bash(p);
	else if (!strcmp(shell, "zsh"))
		complete_zsh(p);
	else if (!strcmp(shell, "fish"))
		complete_fish(p);
	else
		return -1;
	return 0;
}
