/* exec: another program decides. `tl-gen --search=exec:COMMAND` runs COMMAND by the shell once for
 * each workload. On its standard input are records:
 *
 *     {"tl":1,"type":"workload",...}                            what is wanted
 *     {"tl":1,"type":"space","algo":"gemm","knobs":{"vl":[16,8],...}}   one an algorithm
 *     {"tl":1,"type":"observed","algo":"gemm","knobs":{...},"latency_s":1e-4}   what is known
 *     {"tl":1,"type":"ask","n":64,"seed":1,"round":0}           and the end of its input
 *
 * On its standard output it proposes, a line each: {"algo":"gemm","knobs":{"vl":16,...}}; knobs
 * left out are at their frozen values. What is no candidate of the space is passed over and
 * counted, as is what came before; so it may propose more than was asked for, and is stopped when
 * there are enough.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/map.h"
#include "lib/io/field.h"
#include "lib/io/json.h"
#include "lib/io/keep.h"
#include "lib/search/search.h"

struct asked {
	const struct search_space *s;
	uint64_t seed;
	int64_t round;
	FILE *request; /* NULL: it could not be made */
	struct proc proc;
	FILE *answers; /* NULL: not begun, or ended */
	int ended;
	struct map seen; /* points */
	struct search_passed passed;
	struct buf line;
	struct json_doc doc;
	struct err e;
};

static void print_space(const struct search_space *s, int a, struct buf *out)
{
	field_record(out, "space");
	field_text(out, "algo", s->algo[a]->name);
	field_object(out, "knobs");
	for (int k = 0; k < s->space[a].n; k++) {
		field_list(out, s->algo[a]->knob[k].name);
		for (int i = 0; i < s->space[a].knob[k].n; i++)
			field_integer(out, NULL, s->space[a].knob[k].value[i]);
		buf_ch(out, ']');
	}
	buf_str(out, "}}\n");
}

static void write_request(struct asked *x)
{
	if (x->request && fwrite(x->line.s, 1, x->line.n, x->request) != x->line.n && !*x->e.msg)
		err_sys(&x->e, "cannot write what %s is asked", x->s->command);
}

static void *start(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a)
{
	struct asked *x = arena_new(a, struct asked);

	x->s = s;
	x->seed = seed;
	x->round = round;
	x->e = (struct err)ERR_INIT;
	x->request = tmpfile();
	if (!x->request)
		err_sys(&x->e, "cannot make a temporary file");
	field_record(&x->line, "workload");
	workload_fields(s->w, &x->line);
	buf_str(&x->line, "}\n");
	for (int i = 0; i < s->nalgos; i++)
		print_space(s, i, &x->line);
	write_request(x);
	return x;
}

static void observe(void *state, const struct candidate *c, double latency_s)
{
	struct asked *x = state;

	buf_clear(&x->line);
	field_record(&x->line, "observed");
	algo_put(c->algo, c->knob, &x->line);
	field_number(&x->line, "latency_s", latency_s);
	buf_str(&x->line, "}\n");
	write_request(x);
}

static int begin(struct asked *x)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)x->s->command, NULL};

	buf_clear(&x->line);
	field_record(&x->line, "ask");
	field_integer(&x->line, "n", x->s->wanted);
	field_fmt(&x->line, "seed", "%llu", (unsigned long long)x->seed);
	field_integer(&x->line, "round", x->round);
	buf_str(&x->line, "}\n");
	write_request(x);
	if (!*x->e.msg && (fflush(x->request) || fseek(x->request, 0, SEEK_SET)))
		err_sys(&x->e, "cannot write what %s is asked", x->s->command);
	if (*x->e.msg)
		return -1;
	/* Kept, so that none of its children outlives us, however we end. */
	if (keep_start(&x->proc, &(const struct keep){0}, argv, PROC_STDOUT, fileno(x->request), -1,
		       &x->e) < 0)
		return -1;
	x->answers = fdopen(x->proc.out, "r");
	if (!x->answers)
		return err_sys(&x->e, "cannot read from %s", x->s->command);
	x->proc.out = -1;
	return 0;
}

/* The program has no more to say: did it end well? */
static int end(struct asked *x)
{
	int status;

	x->ended = 1;
	if (ferror(x->answers))
		return err_sys(&x->e, "cannot read from %s", x->s->command);
	if (proc_wait(&x->proc, -1, &status, &x->e) < 0)
		return -1;
	if (status)
		return err_set(&x->e, "%s ended with status %d", x->s->command,
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

/* Counts a proposal that is not in the space, and remembers why the first is not. */
static int is_outside(struct asked *x, const struct err *why)
{
	if (!x->passed.outside++)
		x->passed.first_outside = *why;
	return 0;
}

/* 1 with the point; 0: the line proposes nothing of the space; -1: it is no proposal at all. */
static int read_line(struct asked *x, const char *line, size_t n, uint64_t *point)
{
	struct candidate c = {.w = *x->s->w};
	const struct json *name, *knobs;
	struct err why = ERR_INIT;

	if (json_parse(&x->doc, line, n, &x->e) < 0)
		return err_in(&x->e, "%s proposes", x->s->command);
	name = json_get(&x->doc, x->doc.tok, "algo");
	knobs = json_get(&x->doc, x->doc.tok, "knobs");
	if (!name || name->type != JSON_STR || !knobs || knobs->type != JSON_OBJ)
		return err_set(&x->e, "%s proposes what has no algorithm or no knobs: %.*s",
			       x->s->command, n < 80 ? (int)n : 80, line);
	c.algo = algo_find(name->s, name->n);
	if (!c.algo)
		return err_set(&x->e, "%s proposes the unknown algorithm \"%.*s\"%s", x->s->command,
			       (int)name->n, name->s, algo_hint(name->s, name->n));
	x->passed.proposed++;
	if (candidate_knobs_from_json(&c, &x->doc, knobs, &why) < 0)
		return is_outside(x, &why);
	if (search_space_point(x->s, &c, point))
		return 1;
	search_space_lacks(x->s, &c, &why);
	return is_outside(x, &why);
}

static int propose(void *state, uint64_t *point)
{
	struct asked *x = state;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int found = 0, isnew;

	if (x->ended || (!x->answers && begin(x) < 0))
		return *x->e.msg ? -1 : 0;
	while (!found && (n = getline(&line, &cap, x->answers)) > 0) {
		if (line[n - 1] == '\n')
			n--;
		found = n ? read_line(x, line, (size_t)n, point) : 0;
		if (found > 0) {
			map_put(&x->seen, (const char *)point, sizeof *point, &isnew);
			x->passed.repeated += !isnew;
			found = isnew;
		}
	}
	free(line);
	return found ? found : end(x);
}

static const struct search_passed *passed(const void *state)
{
	return &((const struct asked *)state)->passed;
}

static int exhausted(const void *state)
{
	const struct asked *x = state;

	return x->seen.n == x->s->start[x->s->nalgos];
}

static void stop(void *state)
{
	struct asked *x = state;

	if (x->answers)
		fclose(x->answers);
	proc_kill(&x->proc);
	proc_close(&x->proc);
	if (x->request)
		fclose(x->request);
	map_free(&x->seen);
	json_free(&x->doc);
	buf_free(&x->line);
}

static const struct err *error(const void *state)
{
	return &((const struct asked *)state)->e;
}

const struct search search_exec = {
	.name = "exec",
	.summary = "what another program proposes",
	.start = start,
	.propose = propose,
	.observe = observe,
	.stop = stop,
	.error = error,
	.passed = passed,
	.exhausted = exhausted,
};
