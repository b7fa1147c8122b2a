/* Logs of programs and lists of command lines: each line is read by the dialect that knows it, and
 * other lines are passed over. */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/list/benchdnn.h"
#include "lib/extract/list/continued.h"
#include "lib/extract/list/dialect.h"

static const struct dialect *const dialects[] = {
	&dialect_verbose, &dialect_calls,   &dialect_cublaslt, &dialect_miopen,
	&dialect_rocblas, &dialect_autotvm, &dialect_lorien,   &dialect_benchdnn_command,
	&dialect_benchdnn};

enum { DIALECTS = sizeof dialects / sizeof *dialects };

static const struct dialect *dialect_of(char *line, char **at)
{
	for (int i = 0; i < DIALECTS; i++)
		if ((*at = dialects[i]->find(line)))
			return dialects[i];
	return NULL;
}

static size_t byte_order_mark(const char *s, size_t n)
{
	return n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* Does one of the first lines belong to a dialect? The last of them may be cut off. Of lines that
 * other texts have, too, the first that is no comment must be one. */
static int claims(const char *name, const unsigned char *head, size_t n)
{
	char text[PULL_HEAD + 1], *line = text, *end, *at;
	int first = 1;

	for (size_t i = 0; i < n; i++)
		if (!head[i] || (head[i] < ' ' && !strchr("\t\r\n\033", head[i])))
			return 0;
	memcpy(text, head, n);
	text[n] = 0;
	line += byte_order_mark(text, n);
	do {
		const struct dialect *d;

		end = strchr(line, '\n');
		if (end)
			*end = 0;
		d = dialect_of(line, &at);
		if (d && (first || !d->is_common))
			return 1;
		first &= continued_is_silent(line) || (!end && n == PULL_HEAD);
		line = end ? end + 1 : NULL;
	} while (line);
	return first && n == PULL_HEAD && benchdnn_names(name);
}

/* Lines that are read as one. */
static void one_text(struct listing *l, void **state, struct buf *text)
{
	char *at;

	if (memchr(text->s, 0, text->n)) {
		listing_leave(l, "other lines", "", 1, 0);
		return;
	}
	for (int i = 0; i < DIALECTS; i++) {
		if (!(at = dialects[i]->find(text->s)))
			continue;
		if (!state[i])
			state[i] = xcalloc(1, dialects[i]->size + 1);
		dialects[i]->read(l, state[i], at);
		return;
	}
	if (!continued_is_silent(text->s))
		listing_leave(l, "other lines", "", 1, 0);
}

static int may_go_on(char *text)
{
	char *at;
	const struct dialect *d = dialect_of(text, &at);

	return d && d->goes_on;
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	void *state[DIALECTS] = {NULL};
	struct buf line = BUF_INIT, text = BUF_INIT;
	struct listing l;
	int s;

	listing_begin(&l, x, m);
	while ((s = pull_line(&m->bytes, &line, e)) > 0) {
		size_t mark;

		buf_reserve(&line, 0);
		collect_bytes(&l.found, line.s, line.n);
		collect_bytes(&l.found, "\n", 1);
		mark = l.line++ ? 0 : byte_order_mark(line.s, line.n);
		if (continued_add(&text, line.s + mark, line.n - mark, may_go_on))
			continue;
		one_text(&l, state, &text);
		buf_clear(&text);
	}
	if (text.n)
		one_text(&l, state, &text);
	for (int i = 0; i < DIALECTS; i++) {
		if (state[i] && dialects[i]->end)
			dialects[i]->end(&l, state[i]);
		free(state[i]);
	}
	listing_end(&l);
	buf_free(&line);
	buf_free(&text);
	return s;
}

const struct format format_log = {"log", "a log", {".log"}, claims, read};
