/* The database against brute force: results in any order, with duplicates, conflicts, ties and
 * candidates that are wrong only once, must give the same best, top, incumbent and dump as a plain
 * array that is sorted. */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/map.h"
#include "lib/base/rng.h"
#include "lib/policy/history.h"
#include "lib/store/pages.h"
#include "lib/store/store.h"
#include "tests/tap.h"

enum { WORKLOADS = 3, ENVS = 2, CANDIDATES = 9, RUNS = 3, RECORDS = 700, LATENCIES = 5, TIMES = 4 };

struct made {
	int workload, env, candidate, run, final, ok, wrong;
	double latency_s, core_s;
	char at[25];
	struct id id;
	char *text;
};

static struct workload workload[WORKLOADS];
static struct made made[RECORDS], *kept[RECORDS];
static int nkept;
static char path[] = "/tmp/tl-store-XXXXXX";
static struct json_doc doc;

static void make_workloads(void)
{
	static const char *const prob[WORKLOADS] = {"ic8ih8oc8oh8kh3ph1", "ic16ih8oc8oh8kh1",
						    "g8ic8ih9oc8oh4kh3sh2"};
	struct err e = ERR_INIT;

	for (int i = 0; i < WORKLOADS; i++)
		if (workload_from_text(&workload[i], "conv2d", prob[i], NULL, "relu", &e))
			bail_out("%s", e.msg);
}

/* The id of env or run number i. */
#define NUMBERED "e%031d"

/* Candidate number i of a workload: each is unrolled and ordered in another way. */
static void make_candidate(int w, int i, struct candidate *c)
{
	const char *why;

	c->w = workload[w];
	c->target = target_find("cpu", 3);
	c->algo = algo_find("direct", 6);
	for (int k = 0; k < c->algo->nknobs; k++) {
		const char *name = c->algo->knob[k].name;

		c->knob[k] = !strcmp(name, "unroll")  ? 1 + i % 3
			     : !strcmp(name, "order") ? i / 3 % 2
			     : !strcmp(name, "par")   ? i / 6
						      : c->algo->knob[k].frozen;
	}
	if (!algo_valid(c->algo, &c->w, c->knob, &why))
		bail_out("%s", why);
	candidate_identify(c);
}

static void make_record(struct rng *r, struct made *m)
{
	static const char *const failed[] = {"preempted", "build", "wrong", "timeout"};
	struct buf b = BUF_INIT, text = BUF_INIT;
	struct candidate c;
	int why = (int)rng_below(r, 4);

	m->workload = (int)rng_below(r, WORKLOADS);
	m->env = (int)rng_below(r, ENVS);
	m->candidate = (int)rng_below(r, CANDIDATES);
	m->run = (int)rng_below(r, RUNS);
	m->final = rng_below(r, 5) == 0;
	m->ok = rng_below(r, 3) > 0;
	m->wrong = !m->ok && why == 2;
	m->latency_s = (double)(1 + rng_below(r, LATENCIES)) / 10000;
	m->core_s = (double)rng_below(r, 10000000) / 1e7; /* finer than what is counted */
	snprintf(m->at, sizeof m->at, "2026-11-21T09:00:0%d.000Z", (int)rng_below(r, TIMES));
	make_candidate(m->workload, m->candidate, &c);
	m->id = c.id;
	candidate_print(&c, &text);
	buf_fmt(&b, "{\"tl\":1,\"type\":\"result\"%s", strstr(text.s, ",\"candidate_id\""));
	buf_free(&text);
	b.n--; /* the brace */
	buf_fmt(&b,
		",\"status\":\"%s\",\"stage\":\"%s\",\"latency_s\":", m->ok ? "ok" : failed[why],
		m->final ? "final" : "race");
	if (m->ok || !why)
		buf_num(&b, m->latency_s);
	else
		buf_str(&b, "null,\"latency_why\":\"w\"");
	buf_str(&b, m->ok ? ",\"error\":{\"l2\":0,\"max\":0}" : ",\"why\":\"w\"");
	buf_str(&b, m->ok || why ? "" : ",\"bound\":\"lower\"");
	buf_str(&b, ",\"cost\":{\"core_s\":");
	buf_num(&b, m->core_s);
	buf_fmt(&b,
		"},\"env_id\":\"" NUMBERED "\",\"run\":\"" NUMBERED "\",\"at\":\"%s\",\"x\":%d}",
		m->env, m->run, m->at, (int)rng_below(r, 100));
	m->text = b.s;
}

/* The rules, as plainly as they can be said. */

static int same_key(const struct made *a, const struct made *b)
{
	return a->workload == b->workload && a->env == b->env && a->candidate == b->candidate &&
	       a->run == b->run && a->final == b->final;
}

static int is_later(const struct made *a, const struct made *b)
{
	int order = strcmp(a->at, b->at);

	return (order ? order : strcmp(a->text, b->text)) > 0;
}

static int by_merit(const void *pa, const void *pb)
{
	const struct made *a = *(struct made *const *)pa, *b = *(struct made *const *)pb;
	int order;

	if (a->final != b->final)
		return b->final - a->final;
	if (a->latency_s != b->latency_s)
		return a->latency_s < b->latency_s ? -1 : 1;
	order = strcmp(a->id.s, b->id.s);
	return order ? order : a->run - b->run;
}

static void keep(void)
{
	nkept = 0;
	for (int i = 0; i < RECORDS; i++) {
		int k = 0;

		while (k < nkept && !same_key(kept[k], &made[i]))
			k++;
		if (k == nkept)
			kept[nkept++] = &made[i];
		else if (is_later(&made[i], kept[k]))
			kept[k] = &made[i];
	}
}

static int was_wrong(const struct made *m)
{
	for (int i = 0; i < nkept; i++)
		if (kept[i]->wrong && kept[i]->workload == m->workload && kept[i]->env == m->env &&
		    kept[i]->candidate == m->candidate)
			return 1;
	return 0;
}

/* The best distinct candidates of workload w in env v. */
static int best_of(int w, int v, struct made **out)
{
	int n = 0, distinct = 0;

	for (int i = 0; i < nkept; i++)
		if (kept[i]->workload == w && kept[i]->env == v && kept[i]->ok &&
		    !was_wrong(kept[i]))
			out[n++] = kept[i];
	qsort(out, (size_t)n, sizeof *out, by_merit);
	for (int i = 0; i < n; i++) {
		int k = 0;

		while (k < distinct && out[k]->candidate != out[i]->candidate)
			k++;
		if (k == distinct)
			out[distinct++] = out[i];
	}
	return distinct;
}

/* Storing */

static enum store_put put(struct store *s, const char *text, struct err *e)
{
	struct rec r = {text, strlen(text), REC_RESULT, "-", 1};

	if (strstr(text, "\"type\":\"end\""))
		r.type = REC_END;
	if (strstr(text, "\"type\":\"workload\""))
		r.type = REC_WORKLOAD;
	if (json_parse(&doc, r.s, r.n, e))
		return STORE_BAD;
	return store_put(s, &r, &doc, e);
}

static struct store *open_new(void)
{
	struct err e = ERR_INIT;
	struct store *s;

	unlink(path);
	s = store_open(path, STORE_WRITE, &e);
	if (!s)
		bail_out("%s", e.msg);
	return s;
}

/* Stores all in the order given; batches of random length, some rolled back and stored again. */
static void store_all(struct store *s, struct rng *r, const int *order)
{
	struct err e = ERR_INIT;

	for (int i = 0; i < RECORDS;) {
		int n = 1 + (int)rng_below(r, 40), give_up = rng_below(r, 6) == 0, j;

		if (store_begin(s, &e))
			bail_out("%s", e.msg);
		for (j = i; j < i + n && j < RECORDS; j++)
			if (put(s, made[order[j]].text, &e) < 0)
				bail_out("%s", e.msg);
		if (give_up) {
			store_rollback(s);
			continue;
		}
		if (store_commit(s, &e))
			bail_out("%s", e.msg);
		i = j;
	}
}

static int check_top(struct store *s, int w, int v, int n)
{
	struct made *want[RECORDS];
	struct arena a = ARENA_INIT;
	struct store_result *got;
	struct err e = ERR_INIT;
	char env[ID_HEX + 1];
	int nwant = best_of(w, v, want), good;
	int64_t ngot;

	if (nwant > n)
		nwant = n;
	snprintf(env, sizeof env, NUMBERED, v);
	good = store_top(s, workload[w].id.s, env, n, &a, &got, &ngot, &e) == (nwant > 0) &&
	       ngot == nwant;
	for (int i = 0; good && i < nwant; i++)
		good = !strcmp(got[i].record, want[i]->text) &&
		       !strcmp(got[i].candidate_id.s, want[i]->id.s) &&
		       got[i].latency_s == want[i]->latency_s && got[i].final == want[i]->final;
	arena_free(&a);
	return good;
}

static int take_line(void *arg, const char *s, size_t n, struct err *e)
{
	struct map *lines = arg;

	(void)e;
	map_put(lines, s, n, NULL);
	return 0;
}

static int check_dump(struct store *s)
{
	struct map lines = MAP_INIT;
	struct err e = ERR_INIT;
	int good = !store_dump(s, STORE_RESULTS, take_line, &lines, &e) && lines.n == (size_t)nkept;

	for (int i = 0; good && i < nkept; i++) {
		int isnew;

		map_put(&lines, kept[i]->text, strlen(kept[i]->text), &isnew);
		good = !isnew;
	}
	map_free(&lines);
	return good;
}

/* The counts of a workload in an env; a candidate counts where its best result does. */
static int check_tally(struct store *s, int w, int v)
{
	int64_t results = 0, good = 0, stopped = 0, us = 0;
	int seen[CANDIDATES] = {0};
	struct store_tally t;
	struct err e = ERR_INIT;
	char env[ID_HEX + 1];

	snprintf(env, sizeof env, NUMBERED, v);
	for (int i = 0; i < nkept; i++) {
		const struct made *m = kept[i];
		int rank = m->ok ? 2 : strstr(m->text, "\"preempted\"") ? 1 : 0;

		if (m->workload != w || m->env != v)
			continue;
		results++;
		us += llround(m->core_s * 1e6);
		if (rank > seen[m->candidate])
			seen[m->candidate] = rank;
	}
	for (int i = 0; i < CANDIDATES; i++) {
		good += seen[i] == 2;
		stopped += seen[i] == 1;
	}
	return store_tally(s, workload[w].id.s, env, &t, &e) == 1 && t.results == results &&
	       t.ok == good && t.stopped == stopped && fabs(t.core_s - (double)us / 1e6) < 1e-9;
}

/* And those of all. */
static int check_stats(struct store *s)
{
	struct arena a = ARENA_INIT;
	struct store_stats st;
	struct buf report = BUF_INIT;
	struct err e = ERR_INIT;
	int seen[WORKLOADS][CANDIDATES] = {{0}}, good;
	int64_t candidates = 0, sum = 0;

	for (int i = 0; i < nkept; i++)
		candidates += !seen[kept[i]->workload][kept[i]->candidate]++;
	good = !store_stats(s, &a, &st, &e) && st.candidates == candidates && st.results == nkept;
	for (int i = 0; good && i < st.nstatus; i++) {
		int64_t n = 0;
		char text[40];

		snprintf(text, sizeof text, "\"status\":\"%s\"", st.status[i].name);
		for (int j = 0; j < nkept; j++)
			n += strstr(kept[j]->text, text) != NULL;
		good = n == st.status[i].n && n;
		sum += n;
	}
	good = good && sum == nkept && store_check(s, &report, &e) == 1;
	buf_free(&report);
	arena_free(&a);
	return good;
}

static int check_history(struct store *s, int w, int v)
{
	struct arena a = ARENA_INIT;
	struct store_result *got;
	struct err e = ERR_INIT;
	char env[ID_HEX + 1];
	int64_t ngot, nwant = 0;
	int good;

	snprintf(env, sizeof env, NUMBERED, v);
	for (int i = 0; i < nkept; i++)
		nwant += kept[i]->workload == w && kept[i]->env == v;
	good = store_history(s, workload[w].id.s, env, &a, &got, &ngot, &e) == 1 && ngot == nwant;
	for (int64_t i = 1; good && i < ngot; i++)
		good = strcmp(got[i - 1].at, got[i].at) <= 0;
	arena_free(&a);
	return good;
}

static int feed(struct history *h, const char *text, struct err *e)
{
	struct rec r = {text, strlen(text), REC_RESULT, "-", 1};

	return json_parse(&doc, r.s, r.n, e) || history_add_record(h, &r, &doc, e);
}

/* Does a record give way to another of the same millisecond? Only the database tells these apart.
 */
static int is_tied(const struct made *m)
{
	for (int i = 0; i < nkept; i++)
		if (kept[i] != m && same_key(kept[i], m))
			return !strcmp(kept[i]->at, m->at);
	return 0;
}

/* tl-prune's incumbent, from the database, from records in their order, or from both. */
static int check_incumbent(struct store *s, const int *order, int w, int v)
{
	struct made *want[RECORDS];
	struct err e = ERR_INIT;
	char env[ID_HEX + 1];
	int n = best_of(w, v, want), good = 1;

	snprintf(env, sizeof env, NUMBERED, v);
	for (int from = 1; from <= 3; from++) {
		struct history h = {.env = env};
		const struct history_item *it;

		good &= !history_add_workload(&h, from & 1 ? s : NULL, workload[w].id.s, &e);
		for (int i = 0; from & 2 && good && i < RECORDS; i++)
			good = is_tied(&made[order[i]]) || !feed(&h, made[order[i]].text, &e);
		history_finish(&h, NULL);
		it = history_get(&h, workload[w].id.s);
		good = good && !it->best == !n;
		if (good && n)
			good = !strcmp(it->best->candidate_id.s, want[0]->id.s) &&
			       it->best->latency_s == want[0]->latency_s &&
			       it->best->final == want[0]->final;
		history_free(&h);
	}
	return good;
}

static void test_orders(void)
{
	struct rng r;
	int order[RECORDS];

	rng_seed(&r, 20261121, "store");
	for (int i = 0; i < RECORDS; i++) {
		make_record(&r, &made[i]);
		order[i] = i;
	}
	keep();
	for (int round = 0; round < 6; round++) {
		struct store *s = open_new();
		int top = 1, history = 1, incumbent = 1, tally = 1;

		for (int i = RECORDS - 1; i > 0; i--) {
			int j = (int)rng_below(&r, (uint64_t)i + 1), t = order[i];

			order[i] = order[j];
			order[j] = t;
		}
		store_all(s, &r, order);
		if (round == 3) /* all of it again: nothing may change */
			store_all(s, &r, order);
		for (int w = 0; w < WORKLOADS; w++)
			for (int v = 0; v < ENVS; v++) {
				top &= check_top(s, w, v, 1) && check_top(s, w, v, 3) &&
				       check_top(s, w, v, 1000);
				history &= check_history(s, w, v);
				incumbent &= check_incumbent(s, order, w, v);
				tally &= check_tally(s, w, v);
			}
		ok(top, "order %d: the best and the top are those of brute force", round);
		ok(incumbent, "order %d: so is the incumbent", round);
		ok(tally && check_stats(s), "order %d: so are the counts", round);
		ok(history, "order %d: the history is whole and in order", round);
		ok(check_dump(s), "order %d: the dump holds what is to be kept, byte for byte",
		   round);
		store_close(s);
	}
}

/* Records that make no sense */

static void test_bad(void)
{
	struct store *s = open_new();
	struct err e = ERR_INIT;
	struct buf b = BUF_INIT;
	static const struct {
		const char *from, *to, *what;
	} change[] = {
		{"\"status\":\"ok\"", "\"status\":\"good\"", "an unknown status"},
		{"\"latency_s\":0.0", "\"latency_s\":-0.0", "a negative latency"},
		{"\"stage\":\"", "\"stage\":\"x", "an unknown stage"},
		{"\"candidate_id\":\"", "\"candidate_id\":\"x", "an id that is none"},
		{"\"run\":", "\"ran\":", "a missing run"},
		{"ic8", "ic9", "a workload whose id is not that of its fields"},
	};
	const char *good = NULL;

	for (int i = 0; i < RECORDS && !good; i++)
		if (made[i].ok && made[i].workload == 0)
			good = made[i].text;
	store_begin(s, &e);
	for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
		const char *at = strstr(good, change[i].from);

		buf_clear(&b);
		buf_add(&b, good, (size_t)(at - good));
		buf_str(&b, change[i].to);
		buf_str(&b, at + strlen(change[i].from));
		ok(put(s, b.s, &e) == STORE_BAD, "%s is refused: %s", change[i].what, e.msg);
	}
	ok(put(s, good, &e) == STORE_NEW && put(s, good, &e) == STORE_KNOWN,
	   "a good one is new once");
	store_commit(s, &e);
	store_close(s);
	buf_free(&b);
}

/* Sources and counts */

static void put_ok(struct store *s, const char *text)
{
	struct err e = ERR_INIT;

	if (put(s, text, &e) < 0)
		bail_out("%s", e.msg);
}

static void test_counts(void)
{
	struct store *s = open_new();
	struct err e = ERR_INIT;
	struct store_tally t;
	struct buf b = BUF_INIT;
	int64_t n;
	char env1[ID_HEX + 1];
	static const char *const lists[] = {"\"a\",\"b\"", "\"b\",\"c\"", "\"a\",\"b\""};

	store_begin(s, &e);
	for (int i = 0; i < 3; i++) {
		buf_clear(&b);
		buf_str(&b, "{\"tl\":1,\"type\":\"workload\",");
		workload_fields(&workload[0], &b);
		buf_fmt(&b, ",\"source\":[%s]}", lists[i]);
		put_ok(s, b.s);
	}
	for (int i = 0; i < 2; i++) /* the same twice, then another run */
		for (int run = 0; run < 2; run++) {
			buf_clear(&b);
			buf_fmt(&b,
				"{\"tl\":1,\"type\":\"end\",\"workload_id\":\"%s\",\"drawn\":%d,"
				"\"why\":\"n "
				"reached\",\"measured\":5,\"built\":2,\"run\":\"" NUMBERED "\"}",
				workload[0].id.s, 10 + run, run);
			put_ok(s, b.s);
		}
	store_commit(s, &e);
	ok(store_sources(s, workload[0].id.s, &n, &e) == 1 && n == 3,
	   "sources are a union, and the count is their number");
	store_begin(s, &e);
	for (int i = 0; i < RECORDS; i++)
		if (made[i].workload == 0)
			put_ok(s, made[i].text);
	ok(check_tally(s, 0, 0), "counts are of what is not committed, too");
	store_commit(s, &e);
	snprintf(env1, sizeof env1, NUMBERED, 1);
	if (store_tally(s, workload[0].id.s, env1, &t, &e) != 1)
		bail_out("%s", e.msg);
	for (int i = n = 0; i < nkept; i++)
		n += kept[i]->workload == 0 && kept[i]->env == 1;
	ok(t.results == n, "results are counted in their env");
	ok(t.preempted == -1 && t.refused == -1, "what no end record said is unknown, not 0");
	store_close(s);
	buf_free(&b);
}

static void test_ends(void)
{
	struct store *s = open_new();
	struct err e = ERR_INIT;
	struct store_tally t;
	struct buf b = BUF_INIT;

	store_begin(s, &e);
	put_ok(s, made[0].text);
	for (int i = 0; i < 4; i++) {
		buf_clear(&b);
		buf_fmt(&b,
			"{\"tl\":1,\"type\":\"end\",\"workload_id\":\"%s\",\"drawn\":%d,"
			"\"why\":\"n reached\",\"measured\":%d,\"run\":\"" NUMBERED "\"}",
			workload[made[0].workload].id.s, 10 + i % 2, i % 2 ? 0 : 5, 100 + i % 2);
		put_ok(s, b.s);
	}
	store_commit(s, &e);
	b.n = 0;
	buf_fmt(&b, NUMBERED, made[0].env);
	store_tally(s, workload[made[0].workload].id.s, b.s, &t, &e);
	ok(t.drawn == 21 && t.measured == 5, "end records add up, replays do not");
	ok(t.exhausted, "the last end told of no candidate");
	store_close(s);
	buf_free(&b);
}

static void test_other_files(void)
{
	struct err e = ERR_INIT;
	FILE *f;

	unlink(path);
	ok(!store_open(path, STORE_READ, &e), "reading makes no file: %s", e.msg);
	f = fopen(path, "w");
	if (!f)
		bail_out("cannot write %s", path);
	for (int i = 0; i < 2000; i++)
		fputs("this is no database ", f);
	fclose(f);
	ok(!store_open(path, STORE_WRITE, &e), "another file is left alone: %s", e.msg);
}

enum { PAGE = 4096 };

/* Reads the table that test_spilled_pages() made. */
static int read_all_pages(void)
{
	sqlite3 *db;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, pages_vfs());

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "SELECT max(x) FROM t", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		rc = sqlite3_extended_errcode(db);
	sqlite3_close(db);
	return rc;
}

/* A cache of ten pages is full long before the transaction ends, and the first page is written
 * last.
 */
static void test_spilled_pages(void)
{
	static const char fill[] =
		"PRAGMA cache_size=10; BEGIN; CREATE TABLE t(x);"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
		" INSERT INTO t SELECT printf('%0200d', i) FROM n; COMMIT";
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	sqlite3 *db;
	int rc;

	unlink(path);
	rc = sqlite3_open_v2(path, &db, flags, pages_vfs());
	pages_reserve(db);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, fill, NULL, NULL, NULL);
	ok(rc == SQLITE_OK, "a transaction that is larger than the cache: %s", sqlite3_errmsg(db));
	sqlite3_close(db);
	ok(read_all_pages() == SQLITE_OK, "all of its pages have checksums");
}

/* Swaps two pages of the file. */
static void swap_pages(int i, int k)
{
	char page[2][PAGE];
	FILE *f = fopen(path, "r+e");

	for (int at = 0; at < 2; at++)
		if (!f || fseek(f, (long)PAGE * (at ? k : i), SEEK_SET) ||
		    fread(page[at], 1, PAGE, f) != PAGE)
			bail_out("cannot read %s", path);
	for (int at = 0; at < 2; at++)
		if (fseek(f, (long)PAGE * (at ? i : k), SEEK_SET) ||
		    fwrite(page[at], 1, PAGE, f) != PAGE)
			bail_out("cannot write %s", path);
	fclose(f);
}

/* Takes the places out of the checksums, which had none once. */
static void forget_places(void)
{
	FILE *f = fopen(path, "r+e");
	uint64_t sum;

	for (long i = 0; f && !fseek(f, PAGE * (i + 1) - (long)sizeof sum, SEEK_SET) &&
			 fread(&sum, sizeof sum, 1, f) == 1;
	     i++) {
		sum = htole64(le64toh(sum) - (uint64_t)(i + 1) * 0x9e3779b97f4a7c15);
		if (fseek(f, -(long)sizeof sum, SEEK_CUR) || fwrite(&sum, sizeof sum, 1, f) != 1)
			bail_out("cannot write %s", path);
	}
	fclose(f);
}

static void test_places_of_pages(void)
{
	swap_pages(5, 9);
	ok(read_all_pages() == SQLITE_IOERR_DATA, "pages that were swapped are noticed");
	swap_pages(5, 9);
	ok(read_all_pages() == SQLITE_OK, "and are sound where they belong");
	forget_places();
	ok(read_all_pages() == SQLITE_OK, "as are those whose checksums have no place");
	swap_pages(5, 9);
	ok(read_all_pages() != SQLITE_IOERR_DATA, "which tell nothing of it");
}

/* No journal is left. */
static void remove_files(void)
{
	struct buf journal = BUF_INIT;

	buf_fmt(&journal, "%s-journal", path);
	unlink(path);
	unlink(journal.s);
	buf_free(&journal);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		bail_out("cannot make %s", path);
	close(fd);
	make_workloads();
	test_orders();
	test_bad();
	test_counts();
	test_ends();
	test_spilled_pages();
	test_places_of_pages();
	test_other_files();
	remove_files();
	for (int i = 0; i < RECORDS; i++)
		free(made[i].text);
	json_free(&doc);
	return done_testing();
}
