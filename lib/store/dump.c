/* Dumps: pages of records, read with the lock held and given out without it. */
#include <stdlib.h>

#include "lib/io/field.h"
#include "lib/store/db.h"

enum { PAGE_RECORDS = 1000, PAGE_BYTES = 4 * 1024 * 1024 };

struct page {
	struct buf text;
	size_t stop[PAGE_RECORDS]; /* where each record ends in text */
	int n;
	int64_t last; /* row number of the page's last record */
};

/* Writes the text of the record in the statement's row behind the page's text. */
typedef int print_fn(struct store *s, struct stmt *q, struct buf *out, struct err *e);

/* q selects rows with numbers above ?1 up to ?2 in order, the number in column 0. */
static int read_page(struct store *s, struct stmt *q, print_fn *print, int64_t end, struct page *p,
		     struct err *e)
{
	int rc = 0;

	db_bind_int(q, 1, p->last);
	db_bind_int(q, 2, end);
	p->n = 0;
	buf_clear(&p->text);
	while (p->n < PAGE_RECORDS && p->text.n < PAGE_BYTES && (rc = db_step(q, e)) > 0) {
		p->last = db_int(q, 0);
		if (print(s, q, &p->text, e)) {
			rc = -1;
			break;
		}
		p->stop[p->n++] = p->text.n;
	}
	db_reset(q);
	return rc < 0 ? -1 : 0;
}

static int give_page(const struct page *p, store_line_fn *line, void *arg, struct err *e)
{
	for (int i = 0; i < p->n; i++) {
		size_t start = i ? p->stop[i - 1] : 0;

		if (line(arg, p->text.s + start, p->stop[i] - start, e))
			return -1;
	}
	return 0;
}

static int print_text(struct store *s, struct stmt *q, struct buf *out, struct err *e)
{
	size_t n;
	const char *text = db_given(q, 1, &n, e);

	(void)s;
	if (!text)
		return -1;
	buf_add(out, text, n);
	return 0;
}

/* The workload's fields, and the union of what was seen of its sources. */
static int print_workload(struct store *s, struct stmt *q, struct buf *out, struct err *e)
{
	struct stmt *sources;
	int64_t n = 0;
	int rc;

	sources = db_sql(s, "SELECT source FROM sources WHERE workload = ? ORDER BY source", e);
	if (!sources)
		return -1;
	buf_clear(&s->text);
	db_bind_int(sources, 1, db_int(q, 0));
	while ((rc = db_step(sources, e)) > 0) {
		size_t length;
		const char *source = db_given(sources, 0, &length, e);

		if (!source)
			return -1;
		buf_str(&s->text, n++ ? "," : "");
		buf_json(&s->text, source, length);
	}
	field_record(out, "workload");
	buf_ch(out, ',');
	if (print_text(s, q, out, e) < 0)
		return -1;
	if (n) {
		field_integer(out, "count", n);
		field_fmt(out, "source", "[%s]", s->text.s);
	}
	buf_ch(out, '}');
	return rc;
}

static const struct dumped {
	int kind;
	const char *last, *page; /* the last row's number; rows behind one, up to another */
	print_fn *print;
	int64_t since; /* the version of the tables that had them first */
} all[] = {
	{STORE_RESULTS, "SELECT max(num) FROM records",
	 "SELECT num, record FROM records WHERE num > ? AND num <= ? ORDER BY num LIMIT 1000",
	 print_text},
	{STORE_WORKLOADS, "SELECT max(num) FROM workloads",
	 "SELECT num, record FROM workloads WHERE num > ? AND num <= ? ORDER BY num LIMIT 1000",
	 print_workload},
	{STORE_ENDS, "SELECT max(num) FROM ends",
	 "SELECT num, record FROM ends WHERE num > ? AND num <= ? ORDER BY num LIMIT 1000",
	 print_text},
	{STORE_RUNS, "SELECT max(num) FROM costs",
	 "SELECT num, record FROM costs WHERE num > ? AND num <= ? ORDER BY num LIMIT 1000",
	 print_text},
	{STORE_CHOICES, "SELECT max(num) FROM choices",
	 "SELECT num, record FROM choices WHERE num > ? AND num <= ? ORDER BY num LIMIT 1000",
	 print_text, 3},
};

static int dump(struct store *s, const struct dumped *of, store_line_fn *line, void *arg,
		struct err *e)
{
	struct stmt *max = db_sql(s, of->last, e), *q = db_sql(s, of->page, e);
	struct page *p;
	int64_t end;
	int rc;

	if (!max || !q || db_step(max, e) < 0)
		return -1;
	end = db_int(max, 0);
	db_reset(max);
	p = xcalloc(1, sizeof *p);
	do {
		rc = read_page(s, q, of->print, end, p, e);
		if (!rc)
			rc = give_page(p, line, arg, e);
	} while (!rc && p->n);
	buf_free(&p->text);
	free(p);
	return rc;
}

int store_dump(struct store *s, int kinds, store_line_fn *line, void *arg, struct err *e)
{
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (kinds & all[i].kind && all[i].since <= s->version &&
		    dump(s, &all[i], line, arg, e))
			return -1;
	return 0;
}

int store_newest(struct store *s, const char *env_id, int64_t n, int64_t among, store_line_fn *line,
		 void *arg, struct err *e)
{
	struct stmt *q;
	int64_t env;

	if (db_env(s, env_id, &env, e))
		return -1;
	if (!env) /* then there is none, however long one looks */
		return 0;
	q = db_sql(s,
		   "SELECT record FROM results JOIN records USING(num)"
		   " WHERE num > (SELECT max(num) FROM results) - ?1 AND env = ?2"
		   " AND status IN ('ok', 'preempted') ORDER BY num DESC LIMIT ?3",
		   e);
	if (!q)
		return -1;
	db_bind_int(q, 1, among);
	db_bind_int(q, 2, env);
	db_bind_int(q, 3, n);
	return db_each(q, line, arg, e);
}
