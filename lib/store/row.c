#include "lib/store/row.h"

#include <math.h>
#include <string.h>

#include "lib/io/record.h"

int row_text(const struct json_doc *d, const struct json *obj, const char *key, struct arena *a,
	     const char **out, struct err *e)
{
	if (json_str(json_get(d, obj, key), a, out) || !**out)
		return err_set(e, "\"%s\" is missing or not a text", key);
	return 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int row_id(const struct json_doc *d, const struct json *obj, const char *key, struct arena *a,
	   const char **out, struct err *e)
{
	if (row_text(d, obj, key, a, out, e))
		return -1;
	if (strlen(*out) == ID_HEX && hash_is_hex(*out, ID_HEX))
		return 0;
	return err_set(e, "\"%s\" is not %d hexadecimal digits", key, ID_HEX);
}

void row_unhex(const char *hex, unsigned char *out)
{
	for (int i = 0; i < ID_HEX / 2; i++)
		out[i] = (unsigned char)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
}

void row_hex(const unsigned char *p, struct id *id)
{
	static const char digit[] = "0123456789abcdef";

	for (int i = 0; i < ID_HEX / 2; i++) {
		id->s[2 * i] = digit[p[i] >> 4];
		id->s[2 * i + 1] = digit[p[i] & 15];
	}
	id->s[ID_HEX] = 0;
}

/* A number or null; a missing one is null, too. */
static int get_seconds(const struct json_doc *d, const struct json *obj, const char *key,
		       double *out, struct err *e)
{
	const struct json *v = json_get(d, obj, key);

	*out = NAN;
	if (!v || v->type == JSON_NULL)
		return 0;
	if (json_num(v, out) || *out < 0)
		return err_set(e, "\"%s\" is not a number of seconds", key);
	return 0;
}

/* What compares the candidate with another one, or with the library. */
static int get_duel(struct row *w, const struct json_doc *d, struct err *e)
{
	const struct json *rec = d->tok;
	int is_incumbent = 0;

	json_bool(json_get(d, rec, "incumbent"), &is_incumbent);
	w->since = is_incumbent ? w->at : NULL;
	return w->final ? rec_ratio(d, json_get(d, rec, "ratio"), "median", &w->ratio, e)
			: rec_duel_ratio(d, &w->ratio, e);
}

int row_from_json(struct row *w, const struct json_doc *d, struct arena *a, struct err *e)
{
	const struct json *rec = d->tok, *stage = json_get(d, rec, "stage");
	const char *candidate, *status;

	if (row_id(d, rec, "candidate_id", a, &candidate, e) ||
	    row_id(d, json_get(d, rec, "workload"), "workload_id", a, &w->workload_id, e) ||
	    row_text(d, rec, "env_id", a, &w->env_id, e) ||
	    row_text(d, rec, "run", a, &w->run, e) || row_text(d, rec, "at", a, &w->at, e) ||
	    row_text(d, rec, "status", a, &status, e) ||
	    get_seconds(d, rec, "latency_s", &w->latency_s, e) ||
	    get_seconds(d, json_get(d, rec, "baseline"), "latency_s", &w->baseline_s, e) ||
	    get_seconds(d, json_get(d, rec, "cost"), "core_s", &w->core_s, e))
		return -1;
	row_unhex(candidate, w->candidate);
	if (!(w->status = status_find(status)))
		return err_set(e, "\"%s\" is no status", status);
	if (w->status == STATUS_OK && !(w->latency_s > 0))
		return err_set(e, "the status is ok, but \"latency_s\" is not a positive number");
	w->final = json_is(stage, "final");
	if (stage && stage->type != JSON_NULL && !w->final && !json_is(stage, "race"))
		return err_set(e, "\"stage\" is neither race nor final");
	return get_duel(w, d, e);
}
