#include "lib/extract/list/benchdnn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/list/benchdnn_batch.h"
#include "lib/extract/list/benchdnn_problem.h"
#include "lib/extract/list/continued.h"
#include "lib/extract/list/dialect.h"

struct batch_file {
	int driver; /* BENCHDNN_NONE: none is named */
	int folder; /* the driver that the file's folder names, likewise */
	int is_begun;
	int is_of_command; /* of a script or a log, which may have run elsewhere */
	struct benchdnn_options options;
	struct benchdnn_batch batch;
};

static const char blanks[] = " \t\r\n\v\f";

/* Does a word begin with an option, "--conv" or "--mb=2"? */
static int is_option(const char *s)
{
	return s[0] == '-' && s[1] == '-' && s[2] >= 'a' && s[2] <= 'z';
}

/* Does it begin like a problem: "mb1_ic..", "ic3ih..", "g32ic..", "128x768:.."? */
static int is_problem(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");

	if (n == 0)
		return isdigit((unsigned char)s[0]) && s[strspn(s, "0123456789")] == 'x' &&
		       strchr(s, ':');
	return n <= 2 && isdigit((unsigned char)s[n]) && strstr(s, "ic") && strstr(s, "oc");
}

/* These words stand before the options, in a script or in benchdnn's own output. */
static const char *const commands[] = {"benchdnn ", "__REPRO: "};

static char *find_command(char *line)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		char *at = strstr(line, commands[i]);

		if (at && (at == line || strchr(" \t/", at[-1])) &&
		    is_option(at + strlen(commands[i]) + strspn(at + strlen(commands[i]), blanks)))
			return at;
	}
	return NULL;
}

int benchdnn_names(const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

	return words_begin("harness_ option_set_ perf_ set_ shapes_ test_", file) &&
	       !strchr(file, '.');
}

static char *find(char *line)
{
	char *s = line + strspn(line, blanks);

	return is_option(s) || is_problem(s) ? s : NULL;
}

/* benchdnn's own files do not name their driver: their folder does. */
static void look_around(struct batch_file *b, const struct member *m)
{
	char *real = m->is_on_disk ? realpath(m->name, NULL) : NULL;

	b->is_begun = 1;
	benchdnn_batch_begin(&b->batch, m);
	b->folder = benchdnn_driver_of_path(real ? real : m->name);
	free(real);
}

static void follow(struct listing *l, struct batch_file *b, const char *name, size_t n);

static void read_option(struct listing *l, struct batch_file *b, const char *s, size_t n)
{
	int driver = benchdnn_driver(s + 2, n - 2);

	if (driver)
		b->driver = driver;
	else if (words_have("--reset", s, n))
		benchdnn_options_reset(&b->options);
	else if (n > 8 && !memcmp(s, "--batch=", 8))
		follow(l, b, s + 8, n - 8);
	else if (benchdnn_options_read(&b->options, s, n) < 0)
		listing_leave(l, "an option", "its value is too long", 1, 0);
}

static int read_problem(struct listing *l, const struct batch_file *b, const char *s, size_t n,
			struct err *e)
{
	int driver = b->driver;

	if (!driver && b->folder >= BENCHDNN_OTHER)
		driver = b->folder;
	else if (!driver)
		driver = benchdnn_driver_of_problem(s);
	return benchdnn_problem(l, &b->options, driver, s, n, e);
}

/* Where a line was continued, a list goes on: what belongs to it is joined to it. */
static void join(char *s)
{
	for (char *end; (end = strchr(s, '\n'));) {
		char *from = end, *to = end + strspn(end, blanks);

		while (from > s && strchr(blanks, from[-1]))
			from--;
		if (from > s && (strchr(",+:=", from[-1]) || (*to && strchr(",+:", *to))))
			memmove(from, to, strlen(to) + 1);
		else
			*end = ' ';
		s = from;
	}
}

/* Is the word an option of one letter, "-v1"? */
static int is_to_pass(const char *s)
{
	return s[0] == '-' && isalpha((unsigned char)s[1]);
}

static char *begin_command(struct batch_file *b, char *s)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		size_t n = strlen(commands[i]);

		if (strncmp(s, commands[i], n) != 0)
			continue;
		benchdnn_options_reset(&b->options);
		b->driver = BENCHDNN_NONE;
		b->is_of_command = 1;
		return s + n;
	}
	return s;
}

/* A problem that makes no sense. */
static void bad(struct listing *l, struct batch_file *b, struct err *e)
{
	const struct benchdnn_file *in = benchdnn_batch_inner(&b->batch);

	if (in)
		err_in(e, "%s:%lld", in->path, (long long)in->line);
	listing_bad(l, e);
}

static void read_words(struct listing *l, struct batch_file *b, char *s)
{
	struct err e = ERR_INIT;

	join(s);
	s = begin_command(b, s);
	while (*(s += strspn(s, blanks))) {
		size_t quote = strspn(s, "\"'"), n = strcspn(s, blanks);

		if (*s == '#')
			return;
		if (is_option(s + quote)) {
			read_option(l, b, s + quote, n - quote - (quote && s[n - 1] == *s));
		} else if (!is_to_pass(s) && read_problem(l, b, s, n, &e)) {
			bad(l, b, &e);
			return;
		}
		s += n;
	}
}

/* The lines of a file that --batch names. */
static void read_lines(struct listing *l, struct batch_file *b, char *line)
{
	struct benchdnn_file *in = benchdnn_batch_inner(&b->batch);
	struct buf text = BUF_INIT;

	for (char *end; *line; line = end) {
		const size_t n = strcspn(line, "\n");

		end = line + n + (line[n] != 0);
		line[n] = 0;
		in->line++;
		if (continued_add(&text, line, n, NULL) && *end)
			continue;
		buf_reserve(&text, 0);
		if (!continued_is_silent(text.s))
			read_words(l, b, text.s);
		buf_clear(&text);
	}
	buf_free(&text);
}

/* A file counts as if its lines stood in the line that names it. The file's lines count for
 * the list's hash, too. */
static void follow(struct listing *l, struct batch_file *b, const char *name, size_t n)
{
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;

	if (!b->batch.depth) {
		listing_leave(l, "--batch", "looked for beside a list on the disk alone", 1, 0);
	} else if (!benchdnn_batch_enter(&b->batch, name, n, &text, &e)) {
		buf_reserve(&text, 0);
		collect_bytes(&l->found, text.s, text.n);
		read_lines(l, b, text.s);
		benchdnn_batch_leave(&b->batch);
	} else if (b->is_of_command) {
		listing_leave(l, "--batch", e.msg, 1, 0);
	} else {
		bad(l, b, &e);
	}
	buf_free(&text);
}

static void read(struct listing *l, void *state, char *s)
{
	struct batch_file *b = state;

	if (!b->is_begun)
		look_around(b, l->m);
	read_words(l, b, s);
}

static void end(struct listing *l, void *state)
{
	struct batch_file *b = state;

	(void)l;
	benchdnn_options_free(&b->options);
	while (b->batch.depth)
		benchdnn_batch_leave(&b->batch);
}

const struct dialect dialect_benchdnn = {find, read, end, sizeof(struct batch_file), 1, 1};
const struct dialect dialect_benchdnn_command = {
	find_command, read, end, sizeof(struct batch_file), 0, 1};
