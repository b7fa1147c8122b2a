/* Lists of workloads in YAML as Lorien writes them, one a line:
 *
 *   - '!!python/object:lorien.workload.Workload {args: [[TENSOR, [1, 64, 73, 73], float32], ...],
 *       lib: topi, target: llvm -keys=cpu, task_name: conv2d_NCHWc.x86}'
 *
 * The arguments are those of a task of AutoTVM, in YAML's words, which become JSON's here.
 */
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/list/dialect.h"
#include "lib/extract/list/tvm.h"

static char *find(char *line)
{
	char *at = line + strspn(line, " ");

	return !strncmp(at, "- ", 2) && strstr(at, "Workload {") ? at : NULL;
}

/* Is a word of YAML the same in JSON? */
static int is_same(const char *s, size_t n)
{
	if (words_have("null true false", s, n))
		return 1;
	return strspn(s, "0123456789") == n ||
	       (n > 1 && *s == '-' && strspn(s + 1, "0123456789") == n);
}

/* Appends the list that begins at s as JSON: words that are no numbers get quotes. -1: it has no
 * end. */
static int put_json(const char *s, struct buf *out)
{
	int depth = 0;

	do {
		size_t n = strcspn(s, "[]{},: '\"");

		if (n) {
			if (is_same(s, n))
				buf_add(out, s, n);
			else
				buf_json(out, s, n);
			s += n;
			continue;
		}
		if (!*s)
			return -1;
		depth += *s == '[' ? 1 : *s == ']' ? -1 : 0;
		if (strchr("[],", *s))
			buf_ch(out, *s);
		s++;
	} while (depth);
	return 0;
}

static void read(struct listing *l, void *state, char *line)
{
	char *args = strstr(line, "args: ["), *name = strstr(line, "task_name: ");
	struct json_doc d = JSON_DOC_INIT;
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;

	(void)state;
	if (name) {
		name += strlen("task_name: ");
		name += strspn(name, "'\" ");
	}
	if (strstr(line, "workload_key: ")) {
		listing_leave(l, "tasks of Ansor's", "known by a hash alone", 1, -1);
	} else if (!args || !name || put_json(args + 6, &text)) {
		err_set(&e, "this workload of Lorien's has no args and task_name in one line");
		listing_bad(l, &e);
	} else {
		name[strcspn(name, ",}'\" ")] = 0;
		d.foreign = 1;
		if (json_parse(&d, text.s, text.n, &e))
			listing_bad(l, &e);
		else
			tvm_task(l, &d, name, d.tok);
	}
	json_free(&d);
	buf_free(&text);
}

const struct dialect dialect_lorien = {find, read, NULL, 0, 0};
