/* Logs of tuning by TVM, a JSON object each line for each trial:
 *
 *   {"input": ["llvm -keys=cpu", "conv2d_NCHWc.x86", [["TENSOR", [1, 3, 224, 224], "float32"],
 * ...],
 *       {}], "config": ...}
 *     is AutoTVM's ("i" in versions before 0.7);
 *   {"i": [["[\"0523205b02615ce0..\", 1, 14, 14, 480]", "llvm"], [[], [...]]], "r": ...}
 *     is of its auto-scheduler (Ansor), which tells an operator by a hash of its program, or by the
 *     name of a function of the user's;
 *   ["3245234232", "base64.."]
 *     is of MetaSchedule's database of workloads, which are programs in the form of TVM's own
 *     objects; its trials name them by their numbers.
 */
#include <string.h>

#include "lib/extract/list/dialect.h"
#include "lib/extract/list/tvm.h"

/* A line of a database of MetaSchedule's: ["12345", "base64.."] is a workload, [0, [[[.. a trial.
 */
static int is_workload(const char *line)
{
	size_t n;

	if (strncmp(line, "[\"", 2) != 0)
		return 0;
	line += 2;
	n = strspn(line, "-0123456789abcdef");
	return n >= 8 && (!strncmp(line + n, "\", \"", 4) || !strncmp(line + n, "\",\"", 3));
}

static int is_trial(const char *line)
{
	size_t n;

	if (*line != '[')
		return 0;
	n = strspn(line + 1, "0123456789");
	line += 1 + n;
	return n && line[0] == ',' && !strncmp(line + 1 + (line[1] == ' '), "[[[", 3);
}

static char *find(char *line)
{
	static const char *const marks[] = {"{\"input\": [", "{\"i\": [", "{\"input\":[",
					    "{\"i\":["};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (!strncmp(line, marks[i], strlen(marks[i])))
			return line;
	return is_workload(line) || is_trial(line) ? line : NULL;
}

/* A key such as ["0523205b..", 1, 14, 14, 480] or ["matmul_add", 1024, 1024]. */
static void leave_ansor(struct listing *l, const struct json_doc *d, const struct json *task,
			struct arena *a)
{
	const struct json *key = json_first(d, task);
	const char *text, *name;
	size_t n;

	if (!key || json_str(key, a, &text)) {
		listing_leave(l, "trials", "without a task", 1, 0);
		return;
	}
	name = text + strspn(text, "[ \"");
	n = strcspn(name, "\"");
	if (hash_is_hex(name, n) && n >= 32)
		listing_leave_once(l, "tasks of Ansor's", "known by a hash alone", text,
				   strlen(text), -1);
	else
		listing_leave_once(l, arena_strndup(a, name, n),
				   "a function that the log does not tell", text, strlen(text), -1);
}

static int read_trial(struct listing *l, const struct json_doc *d, struct arena *a, struct err *e)
{
	const struct json *input = json_get(d, d->tok, "input"), *first, *name, *args;
	const char *text;

	if (!input)
		input = json_get(d, d->tok, "i");
	first = input ? json_first(d, input) : NULL;
	if (first && input->type == JSON_ARR && first->type == JSON_ARR) {
		leave_ansor(l, d, first, a);
		return 0;
	}
	name = first && input->type == JSON_ARR ? json_next(d, input, first) : NULL;
	args = name ? json_next(d, input, name) : NULL;
	if (!args || args->type != JSON_ARR || json_str(name, a, &text))
		return err_set(e, "this trial of AutoTVM's names no task with its arguments");
	tvm_task(l, d, text, args);
	return 0;
}

static void read(struct listing *l, void *state, char *line)
{
	struct json_doc d = JSON_DOC_INIT;
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;

	(void)state;
	d.foreign = 1;
	if (is_workload(line))
		listing_leave_once(l, "tasks of MetaSchedule's", "a program that only TVM reads",
				   line, strlen(line), -1);
	else if (is_trial(line))
		listing_leave(l, "trials of MetaSchedule's", "", 1, 0);
	else if (json_parse(&d, line, strlen(line), &e) || read_trial(l, &d, &a, &e))
		listing_bad(l, &e);
	json_free(&d);
	arena_free(&a);
}

const struct dialect dialect_autotvm = {find, read, NULL, 0, 0};
