#include "lib/report/machine.h"

#include <math.h>
#include <string.h>

static const char *text_of(const struct json_doc *d, const char *key, struct arena *a)
{
	const char *s;

	return json_str(json_get(d, d->tok, key), a, &s) ? "unknown" : s;
}

static double number_of(const struct json_doc *d, const struct json *obj, const char *key)
{
	double v;

	return json_num(json_get(d, obj, key), &v) ? NAN : v;
}

int machine_read(struct machine *v, const struct store_env *env, struct arena *a, struct err *e)
{
	static const char *const level[LEVELS] = {"l1", "l2", "l3", "mem"};
	static const char *const cache[LEVEL_MEM] = {"l1d", "l2", "l3"};
	struct json_doc d = JSON_DOC_INIT;
	const struct json *probe;

	*v = (struct machine){.id = env->id,
			      .cpu = "unknown",
			      .isa = "unknown",
			      .cc = "unknown",
			      .libs = "unknown",
			      .features = "unknown",
			      .threads = -1,
			      .peak = NAN,
			      .bandwidth = {NAN, NAN, NAN, NAN}};
	if (!env->json)
		return 0;
	if (json_parse(&d, env->json, strlen(env->json), e)) {
		json_free(&d);
		return err_in(e, "an env in the database");
	}
	v->cpu = text_of(&d, "cpu", a);
	v->isa = text_of(&d, "isa", a);
	v->cc = text_of(&d, "cc", a);
	v->libs = text_of(&d, "libs", a);
	v->features = text_of(&d, "features", a);
	json_int(json_get(&d, d.tok, "threads"), &v->threads);
	probe = json_get(&d, d.tok, "probe");
	v->peak = number_of(&d, probe, "peak_flops_all");
	for (int i = 0; i < LEVELS; i++)
		v->bandwidth[i] = number_of(&d, json_get(&d, probe, "bandwidth_all"), level[i]);
	for (int i = 0; i < LEVEL_MEM; i++) /* the first two are one thread's each */
		v->holds[i] = number_of(&d, d.tok, cache[i]) *
			      (i < LEVEL_L3 && v->threads > 0 ? (double)v->threads : 1);
	v->holds[LEVEL_MEM] = INFINITY;
	json_free(&d);
	return 0;
}
