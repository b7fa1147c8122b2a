#include "lib/report/fleet.h"

#include <math.h>
#include <string.h>

#include "lib/io/field.h"
#include "lib/store/units.h"

struct fleet {
	struct units_count *count;
	struct units_holder *holder;
	int counts, holders;
	struct arena arena;
};

static int read_fleet(struct fleet *f, struct store *db, struct err *e)
{
	return units_count(db, &f->arena, &f->count, &f->counts, e) ||
			       units_holders(db, &f->arena, &f->holder, &f->holders, e)
		       ? -1
		       : 0;
}

static const char *env_of(const struct units_count *c)
{
	return c->env_id ? c->env_id : "any";
}

static int64_t left(const struct units_count *c)
{
	return c->open + c->leased + c->lapsed;
}

/* ---- records ---- */

static void put_record(const struct fleet *f, struct buf *out)
{
	field_record(out, "fleet");
	field_list(out, "units");
	for (int i = 0; i < f->counts; i++) {
		const struct units_count *c = &f->count[i];

		field_object(out, NULL);
		field_text(out, "env_id", env_of(c));
		field_integer(out, "open", c->open);
		field_integer(out, "leased", c->leased);
		field_integer(out, "lapsed", c->lapsed);
		field_integer(out, "done", c->done);
		if (isnan(c->rate)) {
			field_null(out, "left_s", "no unit was done within the last hour");
		} else {
			field_number(out, "rate_per_s", c->rate);
			field_number(out, "left_s", (double)left(c) / c->rate);
		}
		buf_ch(out, '}');
	}
	buf_ch(out, ']');
	field_list(out, "holders");
	for (int i = 0; i < f->holders; i++) {
		const struct units_holder *h = &f->holder[i];

		field_object(out, NULL);
		field_text(out, "holder", h->name);
		field_integer(out, "leased", h->leased);
		field_integer(out, "lapsed", h->lapsed);
		field_number(out, "silent_s", h->silent_s);
		buf_ch(out, '}');
	}
	buf_str(out, "]}");
}

/* ---- tables ---- */

static void put_duration(struct table *t, int column, double s)
{
	if (isnan(s))
		table_cell(t, column, "-");
	else if (s < 3600)
		table_cell(t, column, "%.0f min", ceil(s / 60));
	else
		table_cell(t, column, "%.1f h", s / 3600);
}

static void put_tables(const struct fleet *f, enum output_form form, const struct table_look *look,
		       struct buf *out)
{
	static const char *const units[] = {"env",   ">open",	 ">leased", ">lapsed",
					    ">done", ">an hour", ">to go"};
	static const char *const holders[] = {"holder", ">leased", ">lapsed", ">silent for"};
	struct table t;

	table_init(&t, units, 7);
	for (int i = 0; i < f->counts; i++) {
		const struct units_count *c = &f->count[i];

		table_row(&t);
		table_cell(&t, 0, "%s", env_of(c));
		table_cell(&t, 1, "%lld", (long long)c->open);
		table_cell(&t, 2, "%lld", (long long)c->leased);
		table_cell(&t, 3, "%lld", (long long)c->lapsed);
		table_cell(&t, 4, "%lld", (long long)c->done);
		table_cell(&t, 5, "%.0f", isnan(c->rate) ? 0 : c->rate * 3600);
		put_duration(&t, 6, (double)left(c) / c->rate);
	}
	totals_table(&t, form, look, out);
	if (form == OUTPUT_CSV || !f->holders)
		return;
	buf_ch(out, '\n');
	table_init(&t, holders, 4);
	for (int i = 0; i < f->holders; i++) {
		const struct units_holder *h = &f->holder[i];

		table_row(&t);
		table_cell(&t, 0, "%s", h->name);
		table_cell(&t, 1, "%lld", (long long)h->leased);
		table_cell(&t, 2, "%lld", (long long)h->lapsed);
		put_duration(&t, 3, h->lapsed ? h->silent_s : NAN);
	}
	totals_table(&t, form, look, out);
}

int fleet_put(struct store *db, enum output_form form, const struct table_look *look,
	      struct buf *out, struct err *e)
{
	struct fleet f = {0};
	int rc = read_fleet(&f, db, e);

	if (rc == 0 && form == OUTPUT_RECORD)
		put_record(&f, out);
	else if (rc == 0)
		put_tables(&f, form, look, out);
	arena_free(&f.arena);
	return rc;
}

/* ---- metrics ---- */

/* A label's value: backslash, quote and newline are escaped. */
static void put_label(struct buf *out, const char *text)
{
	buf_ch(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_ch(out, '\\');
		if (*text == '\n')
			buf_str(out, "\\n");
		else
			buf_ch(out, *text);
	}
	buf_ch(out, '"');
}

static void put_metric(struct buf *out, const char *name, const char *label, const char *value,
		       const char *state, double v)
{
	buf_fmt(out, "%s{%s=", name, label);
	put_label(out, value);
	if (state)
		buf_fmt(out, ",state=\"%s\"", state);
	buf_fmt(out, "} %.9g\n", v);
}

static void put_metrics(const struct fleet *f, struct buf *out)
{
	buf_str(out, "# HELP tl_units Units of work.\n# TYPE tl_units gauge\n");
	for (int i = 0; i < f->counts; i++) {
		const struct units_count *c = &f->count[i];

		put_metric(out, "tl_units", "env", env_of(c), "open", (double)c->open);
		put_metric(out, "tl_units", "env", env_of(c), "leased", (double)c->leased);
		put_metric(out, "tl_units", "env", env_of(c), "lapsed", (double)c->lapsed);
		put_metric(out, "tl_units", "env", env_of(c), "done", (double)c->done);
	}
	buf_str(out, "# HELP tl_units_done_per_second Units done a second, of the last hour.\n"
		     "# TYPE tl_units_done_per_second gauge\n");
	for (int i = 0; i < f->counts; i++)
		put_metric(out, "tl_units_done_per_second", "env", env_of(&f->count[i]), NULL,
			   isnan(f->count[i].rate) ? 0 : f->count[i].rate);
	buf_str(out, "# HELP tl_holder_units Units that a machine has taken.\n"
		     "# TYPE tl_holder_units gauge\n");
	for (int i = 0; i < f->holders; i++) {
		const struct units_holder *h = &f->holder[i];

		put_metric(out, "tl_holder_units", "holder", h->name, "leased", (double)h->leased);
		put_metric(out, "tl_holder_units", "holder", h->name, "lapsed", (double)h->lapsed);
	}
}

int fleet_metrics(struct store *db, struct buf *out, struct err *e)
{
	struct fleet f = {0};
	int rc = read_fleet(&f, db, e);

	if (rc == 0)
		put_metrics(&f, out);
	arena_free(&f.arena);
	return rc;
}
