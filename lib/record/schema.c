#include "lib/record/schema.h"

#include <string.h>

const struct record_object *const record_list[] = {
	&record_workload, &record_candidate, &record_result, &record_end,
	&record_run,	  &record_choice,    &record_begin,  &record_done,
	&record_space,	  &record_observed,  &record_ask,    &record_stats,
	&record_cost,	  &record_env,	     &record_fleet,  NULL,
};

const struct record_object *record_find(const char *type, size_t n)
{
	for (const struct record_object *const *r = record_list; *r; r++)
		if (strlen((*r)->name) == n && !memcmp((*r)->name, type, n))
			return *r;
	return NULL;
}

/* Most are told apart by their first characters. */
static int is_named(const struct json *key, const char *name)
{
	return (key->size || !key->n || *key->s == *name) && json_is(key, name);
}

int record_find_field(const struct record_object *o, const struct json *key, int from)
{
	const struct record_field *f = o->field;
	int i;

	for (i = from; f[i].name; i++)
		if (is_named(key, f[i].name))
			return i;
	for (i = 0; i < from; i++)
		if (is_named(key, f[i].name))
			return i;
	return -1;
}

static void add_reason(struct record_reasons *r, const char *name, size_t n, const char *end)
{
	memcpy(r->name[r->n], name, n);
	memcpy(r->name[r->n] + n, end, strlen(end) + 1);
	r->n++;
}

void record_reasons(const char *name, size_t n, struct record_reasons *r)
{
	r->n = 0;
	if (n + sizeof "_why" > RECORD_NAME)
		return;
	add_reason(r, name, n, "_why");
	while (n && name[n - 1] != '_')
		n--;
	if (n)
		add_reason(r, name, n, "why");
}
