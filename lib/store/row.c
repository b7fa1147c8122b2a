#include "lib/store/row.h"

#include <string.h>

static int check_text(const char *text, const char *key, struct err *e)
{
	return text && *text ? 0 : err_set(e, "\"%s\" is missing or not a text", key);
}

static int check_id(const char *text, const char *key, struct err *e)
{
	if (text && strlen(text) == ID_HEX && hash_is_hex(text, ID_HEX))
		return 0;
	return err_set(e, "\"%s\" is not %d hexadecimal digits", key, ID_HEX);
}

int row_text(const struct json_doc *d, const struct json *obj, const char *key, struct arena *a,
	     const char **out, struct err *e)
{
	*out = NULL;
	json_str(json_get(d, obj, key), a, out);
	return check_text(*out, key, e);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int row_id(const struct json_doc *d, const struct json *obj, const char *key, struct arena *a,
	   const char **out, struct err *e)
{
	return row_text(d, obj, key, a, out, e) || check_id(*out, key, e) ? -1 : 0;
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

int row_from_json(struct row *w, const struct json_doc *d, struct arena *a, struct err *e)
{
	struct result *r = &w->r;

	result_read(r, d, a);
	if (check_id(r->candidate_id, "candidate_id", e) ||
	    check_id(r->workload_id, "workload_id", e) || check_text(r->env_id, "env_id", e) ||
	    check_text(r->run, "run", e) || check_text(r->at, "at", e))
		return -1;
	if (!r->status)
		return err_set(e, "\"status\" is not the name of a status");
	if (r->status == STATUS_OK && !(r->latency_s > 0))
		return err_set(e, "the status is ok, but \"latency_s\" is not a positive number");
	row_unhex(r->candidate_id, w->candidate);
	w->since = r->incumbent ? r->at : NULL;
	return result_ratio(r, &w->ratio, e);
}
