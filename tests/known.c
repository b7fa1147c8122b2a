/* What need not be measured again: the decision, the journal that a death has torn, and the id of
 * settings. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "lib/measure/journal.h"
#include "lib/measure/settings.h"
#include "tests/tap.h"

/* ---- the decision ---- */

static struct known_result result(enum status status, int final, const char *run)
{
	return (struct known_result){
		.line = "", .status = status, .run = run, .at = run, .final = final};
}

/* Which of the results is the answer, as an index; -1: none. The order must not matter. */
static int answer(const struct known_result *r, int n, int final)
{
	struct known_answer a, b;
	struct known_result back[8];
	const struct known_result *x, *y;

	for (int i = 0; i < n; i++)
		back[n - 1 - i] = r[i];
	known_decide(r, n, &a);
	known_decide(back, n, &b);
	x = final ? a.final : a.result;
	y = final ? b.final : b.result;
	if (!x != !y || (x && x - r != n - 1 - (y - back)))
		return -2;
	return x ? (int)(x - r) : -1;
}

static void decision(void)
{
	static const enum status finals[] = {STATUS_OK, STATUS_WRONG, STATUS_BUILD,
					     STATUS_UNSUPPORTED};
	static const enum status again[] = {STATUS_TIMEOUT, STATUS_OOM, STATUS_CRASH};
	struct known_result r[4] = {{0}};

	ok(answer(r, 0, 0) == -1, "nothing recorded is not known");
	for (int i = 0; i < 4; i++) {
		r[0] = result(finals[i], 0, "1");
		ok(answer(r, 1, 0) == 0, "%s is known", status_name(finals[i]));
	}
	for (int i = 0; i < 3; i++) {
		r[0] = result(again[i], 0, "1");
		ok(answer(r, 1, 0) == -1, "%s gets another chance", status_name(again[i]));
		r[1] = result(again[i], 0, "1");
		ok(answer(r, 2, 0) == -1, "which the same record, twice, does not use up");
		r[1] = result(again[(i + 1) % 3], 0, "2");
		ok(answer(r, 2, 0) == 1, "but another failure does");
		r[2] = result(STATUS_OK, 0, "0");
		ok(answer(r, 3, 0) == 2, "and what was ok once is known as that");
	}
	r[0] = result(STATUS_FILTERED, 0, "1");
	ok(answer(r, 1, 0) == -1, "filtered was never tried");
	r[0] = result(STATUS_PREEMPTED, 0, "1");
	ok(answer(r, 1, 0) == 0, "who has lost its duel is known");
	r[1] = result(STATUS_CRASH, 0, "2");
	r[2] = result(STATUS_CRASH, 0, "3");
	ok(answer(r, 3, 0) == 0, "whatever became of it at other times");
	r[1] = result(STATUS_OK, 0, "0");
	ok(answer(r, 2, 0) == 1, "but a time goes before a bound");
	r[2] = result(STATUS_WRONG, 1, "0");
	ok(answer(r, 3, 0) == 2, "wrong once outweighs all");
	r[0] = result(STATUS_OK, 0, "1");
	r[1] = result(STATUS_OK, 0, "2");
	ok(answer(r, 2, 0) == 1, "of two the later");
	ok(answer(r, 2, 1) == -1, "a race is no final");
	r[2] = result(STATUS_OK, 1, "1");
	ok(answer(r, 3, 1) == 2 && answer(r, 3, 0) == 1, "a final is one");
	r[0] = result(STATUS_OK, 1, "1");
	ok(answer(r, 1, 0) == -1, "and no race");
	r[1] = result(STATUS_CRASH, 1, "2");
	r[2] = result(STATUS_CRASH, 1, "3");
	ok(answer(r + 1, 1, 1) == -1 && answer(r + 1, 2, 1) == 1,
	   "a final that failed gets another chance, too");
}

/* ---- the journal ---- */

static char path[64];

#define ENV "e1000000000000000000000000000000"
#define SETTINGS "50000000000000000000000000000000"
#define OTHER_SETTINGS "60000000000000000000000000000000"

/* The candidates by their names here, each with another unrolling and order of one product. */
static void candidate_named(const char *name, struct candidate *c)
{
	static const char *const names[] = {"ca",   "cb",    "cc",    "cd",    "ce",  "new",
					    "held", "never", "twice", "other", "none"};
	struct err e = ERR_INIT;
	int i = 0;

	while (strcmp(names[i], name) != 0)
		i++;
	c->target = target_find("cpu", 3);
	c->algo = algo_find("gemm", 4);
	if (workload_from_text(&c->w, "matmul", "64x64:64x64", NULL, NULL, &e) < 0)
		bail_out("%s", e.msg);
	for (int k = 0; k < c->algo->nknobs; k++) {
		c->knob[k] = c->algo->knob[k].frozen;
		if (!strcmp(c->algo->knob[k].name, "unroll"))
			c->knob[k] = 1 + i % 8;
		if (!strcmp(c->algo->knob[k].name, "order"))
			c->knob[k] = i / 8;
	}
	candidate_identify(c);
}

/* run: a digit. */
static void line(struct buf *b, const char *name, const char *settings, char run)
{
	struct candidate c;
	struct buf text = BUF_INIT;

	candidate_named(name, &c);
	candidate_print(&c, &text);
	buf_fmt(b, "{\"tl\":1,\"type\":\"result\"%s", strstr(text.s, ",\"candidate_id\""));
	b->n--; /* the brace */
	buf_fmt(b,
		",\"status\":\"ok\",\"stage\":\"race\",\"latency_s\":0.5,\"error\":{\"l2\":0,"
		"\"max\":0},\"env_id\":\"" ENV "\",\"settings\":\"%s\",\"run\":\"%031d%c\","
		"\"at\":\"2026-11-21T09:00:0%c.000Z\"}",
		settings, 0, run, run);
	buf_free(&text);
}

static void put_file(const char *s, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(s, 1, n, f) != n || fclose(f))
		bail_out("cannot write %s", path);
}

static size_t file_size(void)
{
	struct stat st;

	return stat(path, &st) ? 0 : (size_t)st.st_size;
}

/* What is known of the candidate by the journal: 1, 0 or -1. */
static int look(struct journal *j, struct arena *a, const char *name, struct known_answer *answer)
{
	struct known k = {.env = {ENV}, .settings = {SETTINGS}};
	const struct known_source source = {journal_look, j};
	struct err e = ERR_INIT;
	struct candidate c;
	int rc;

	candidate_named(name, &c);
	known_add_source(&k, &source);
	rc = known_find(&k, c.w.id.s, c.id.s, a, answer, &e);
	known_free(&k);
	return rc;
}

/* The digit of the run of what is known of it; 0 if nothing is. */
static char known_run(struct journal *j, struct arena *a, const char *name)
{
	struct known_answer answer;
	int rc = look(j, a, name, &answer);

	return rc < 0 ? -1 : rc ? answer.result->run[ID_HEX - 1] : 0;
}

/* Whatever is left of a journal, it opens, holds the whole lines, and goes on with whole lines. */
static int torn_at(const struct buf *text, size_t n, const size_t *stop, int lines)
{
	struct arena a = ARENA_INIT;
	struct buf more = BUF_INIT;
	struct err e = ERR_INIT;
	struct journal j;
	size_t whole = 0;
	int bad = 0, kept = 0;

	for (int i = 0; i < lines && stop[i] <= n; i++, kept++)
		whole = stop[i];
	put_file(text->s, n);
	if (journal_open(&j, path, &e) < 0)
		return 1;
	bad |= file_size() != whole || j.torn != (int64_t)(n - whole) || j.bad;
	for (int i = 0; i < lines; i++) {
		char id[4] = {'c', (char)('a' + i), 0};

		bad |= !known_run(&j, &a, id) != (i >= kept);
	}
	line(&more, "new", SETTINGS, '9');
	bad |= journal_add(&j, more.s, more.n, &e) < 0 || file_size() != whole + more.n + 1;
	journal_close(&j);
	bad |= journal_open(&j, path, &e) < 0 || j.torn || known_run(&j, &a, "new") != '9';
	journal_close(&j);
	buf_free(&more);
	arena_free(&a);
	return bad;
}

static void torn(void)
{
	struct buf text = BUF_INIT;
	size_t stop[5], bad = 0;

	for (int i = 0; i < 5; i++) {
		char id[4] = {'c', (char)('a' + i), 0};

		line(&text, id, SETTINGS, '1');
		buf_ch(&text, '\n');
		stop[i] = text.n;
	}
	for (size_t n = 0; n <= text.n; n++)
		bad += (size_t)torn_at(&text, n, stop, 5);
	ok(!bad, "cut off after any of %zu bytes, a journal goes on from its last whole line",
	   text.n);
	buf_free(&text);
}

/* Of a result that became the incumbent, and when, the contest must hear. */
static void incumbents(void)
{
	struct arena a = ARENA_INIT;
	struct buf text = BUF_INIT;
	struct known_answer held, never;
	struct err e = ERR_INIT;
	struct journal j;

	line(&text, "held", SETTINGS, '1');
	text.n--; /* the brace */
	buf_str(&text, ",\"incumbent\":true}\n");
	line(&text, "never", SETTINGS, '2');
	buf_ch(&text, '\n');
	put_file(text.s, text.n);
	ok(journal_open(&j, path, &e) == 0 && look(&j, &a, "held", &held) == 1 &&
		   look(&j, &a, "never", &never) == 1,
	   "two are known");
	ok(held.result->became_incumbent && !strcmp(held.result->at, "2026-11-21T09:00:01.000Z") &&
		   !never.result->became_incumbent,
	   "which of them held the place, and since when");
	journal_close(&j);
	buf_free(&text);
	arena_free(&a);
}

static void contents(void)
{
	struct arena a = ARENA_INIT;
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	struct journal j, other;
	int rc;

	buf_str(&text, "{\"tl\":1,\"type\":\"begin\",\"run\":\"r1\"}\n");
	line(&text, "twice", SETTINGS, '1');
	buf_str(&text, "\nnot a record\n\n{\"tl\":1}\n");
	line(&text, "other", OTHER_SETTINGS, '1');
	buf_ch(&text, '\n');
	line(&text, "twice", SETTINGS, '2');
	buf_ch(&text, '\n');
	line(&text, "twice", SETTINGS, '1');
	buf_ch(&text, '\n');
	put_file(text.s, text.n);
	rc = journal_open(&j, path, &e);
	ok(rc == 0 && !j.torn, "opens: %s", e.msg);
	ok(j.bad == 2 && j.bad_line == 3, "lines that are no records are counted, and passed over");
	ok(known_run(&j, &a, "twice") == '2', "of several results the last is known");
	ok(!known_run(&j, &a, "other"), "one of other settings is not");
	ok(!known_run(&j, &a, "none"), "nor one that is not there");
	ok(journal_open(&other, path, &e) < 0 && e.status == EXIT_BUSY,
	   "a second run is refused: %s", e.msg);
	journal_close(&other);
	journal_close(&j);
	e = (struct err)ERR_INIT;
	ok(journal_open(&other, path, &e) == 0, "until the first has ended");
	journal_close(&other);
	ok(journal_open(&other, "/dev/null", &e) < 0, "what is no file is refused: %s", e.msg);
	journal_close(&other);
	buf_free(&text);
	arena_free(&a);
}

/* ---- settings ---- */

static void settings(void)
{
	const struct measure_rules rules = {.max_error = 1e-5,
					    .timeout_s = 20,
					    .race_s = 0.1,
					    .memory = 1e9,
					    .preempt = 1,
					    .finals = 3,
					    .seed = 1};
	struct measure_rules other[7];
	struct buf text = BUF_INIT;
	struct id id, same;
	int alike = 0;

	settings_text(&rules, &text);
	ok(!strcmp(text.s,
		   "cache=warm;max_error=1e-05;memory=half;preempt=1;race_s=0.1;rev=3;seed=1;"
		   "timeout_s=20;tl=1;type=settings;"),
	   "the canonical text: %s", text.s);
	settings_id(&rules, &id);
	for (int i = 0; i < 7; i++)
		other[i] = rules;
	other[0].caches = CACHES_COLD;
	other[1].max_error = 1e-4;
	other[2].memory_asked = 1;
	other[3].preempt = 0;
	other[4].race_s = 0.2;
	other[5].seed = 2;
	other[6].timeout_s = 10;
	for (int i = 0; i < 7; i++) {
		settings_id(&other[i], &same);
		alike += !strcmp(id.s, same.s);
	}
	ok(!alike, "every setting that changes the outcome changes the id");
	other[0] = rules;
	other[0].finals = 5;
	other[0].audit = 0.1;
	other[0].samples = 1;
	other[0].memory = 2e9;
	settings_id(&other[0], &same);
	ok(!strcmp(id.s, same.s), "others, and the machine's memory, do not");
	buf_free(&text);
}

int main(void)
{
	snprintf(path, sizeof path, "/tmp/tl-known-XXXXXX");
	if (close(mkstemp(path)))
		bail_out("cannot make a file");
	decision();
	incumbents();
	contents();
	torn();
	settings();
	unlink(path);
	return done_testing();
}
