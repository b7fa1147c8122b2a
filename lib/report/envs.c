#include "lib/report/envs.h"

#include <string.h>

#include "lib/answer/differ.h"
#include "lib/io/field.h"
#include "lib/report/machine.h"

/* An env of the database. */
struct listed {
	const struct store_env *env;
	const struct store_env_count *count;
	struct machine machine;
	struct differ differ;
	const char *
		state; /* "here", "stale", "foreign"; "unknown": it, or this one, says too little */
};

enum {
	E_ID,
	E_STATE,
	E_ISA,
	E_THREADS,
	E_RESULTS,
	E_WORKLOADS,
	E_NEWEST,
	E_CPU,
	E_CC,
	E_LIBS,
	E_COLUMNS
};

/* Digits of an id that a table shows, and of a time: its day. */
enum { ID_SHOWN = 12, DAY = 10 };

static int parse(struct json_doc *d, const char *json)
{
	struct err ignored = ERR_INIT;

	return json && json_parse(d, json, strlen(json), &ignored) == 0 && d->tok->type == JSON_OBJ;
}

static void compare(struct listed *l, const struct store_env *here)
{
	struct json_doc theirs = JSON_DOC_INIT, ours = JSON_DOC_INIT;

	l->state = "unknown";
	if (here->id && !strcmp(l->env->id, here->id)) {
		l->state = "here";
	} else if (parse(&theirs, l->env->json) && parse(&ours, here->json)) {
		differ_envs(&l->differ, &theirs, &ours);
		l->state = l->differ.hardware ? "foreign" : "stale";
	}
	json_free(&theirs);
	json_free(&ours);
}

/* ---- forms ---- */

static void put_record(const struct listed *l, struct buf *out)
{
	field_record(out, "env");
	field_text(out, "env_id", l->env->id);
	field_integer(out, "results", l->count->results);
	field_integer(out, "workloads", l->count->workloads);
	field_text(out, "newest", l->count->newest);
	field_text(out, "state", l->state);
	if (l->differ.what.n)
		field_text(out, "differs", l->differ.what.s);
	if (l->env->json)
		field_json(out, "env", l->env->json);
	else
		field_null(out, "env", "no result of it tells");
	buf_str(out, "}\n");
}

static void put_row(struct table *t, const struct listed *l, enum output_form form)
{
	const int all = form == OUTPUT_CSV || !t->look.width;

	table_row(t);
	table_cell(t, E_ID, "%.*s", all ? 400 : ID_SHOWN, l->env->id);
	table_cell(t, E_STATE, "%s", l->state);
	table_cell(t, E_ISA, "%s", l->machine.isa);
	if (l->machine.threads >= 0)
		table_cell(t, E_THREADS, "%lld", (long long)l->machine.threads);
	table_cell(t, E_RESULTS, "%lld", (long long)l->count->results);
	table_cell(t, E_WORKLOADS, "%lld", (long long)l->count->workloads);
	table_cell(t, E_NEWEST, "%.*s", all ? 400 : DAY, l->count->newest);
	table_cell(t, E_CPU, "%s", l->machine.cpu);
	table_cell(t, E_CC, "%s", l->machine.cc);
	table_cell(t, E_LIBS, "%s", l->machine.libs);
}

static void put_table(const struct listed *l, int n, enum output_form form,
		      const struct table_look *look, struct buf *out)
{
	static const char *const head[E_COLUMNS] = {"env",	"state",      "isa",	">threads",
						    ">results", ">workloads", "newest", "cpu",
						    "cc",	"libs"};
	static const signed char leave[] = {E_LIBS, E_CC, E_WORKLOADS, E_CPU, E_NEWEST, -1};
	struct table t;

	table_init(&t, head, E_COLUMNS);
	t.look = *look;
	t.leave = leave;
	t.shorten = E_CPU;
	for (int i = 0; i < n; i++)
		put_row(&t, &l[i], form);
	if (form == OUTPUT_CSV)
		table_csv(&t, out);
	else
		table_text(&t, out);
	for (int i = 0; i < n && form == OUTPUT_TEXT; i++)
		if (l[i].differ.what.n)
			table_note(look, out, "%.*s: %s.", ID_SHOWN, l[i].env->id,
				   l[i].differ.what.s);
	table_free(&t);
}

/* ---- all of them ---- */

static int list(struct store *s, const struct store_env *here, struct arena *a, struct listed **out,
		int *n, struct err *e)
{
	struct store_env_count *count;
	struct store_env *env;
	int nenv, ncount;

	*n = 0;
	if (store_envs(s, a, &env, &nenv, e) || store_env_counts(s, a, &count, &ncount, e))
		return -1;
	*out = arena_array(a, struct listed, nenv + 1);
	for (int i = 0; i < nenv; i++) {
		struct listed *l = &(*out)[*n];

		*l = (struct listed){.env = &env[i]};
		for (int k = 0; k < ncount; k++)
			if (!strcmp(count[k].id, env[i].id))
				l->count = &count[k];
		if (!l->count) /* a run without results */
			continue;
		if (machine_read(&l->machine, l->env, a, e))
			return -1;
		compare(l, here);
		++*n;
	}
	return 0;
}

int envs_put(struct store *s, const struct store_env *here, enum output_form form,
	     const struct table_look *look, struct buf *out, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct listed *l = NULL;
	int n, rc = list(s, here, &a, &l, &n, e);

	if (rc == 0 && form != OUTPUT_RECORD)
		put_table(l, n, form, look, out);
	for (int i = 0; i < n; i++) {
		if (rc == 0 && form == OUTPUT_RECORD)
			put_record(&l[i], out);
		differ_free(&l[i].differ);
	}
	arena_free(&a);
	return rc;
}
