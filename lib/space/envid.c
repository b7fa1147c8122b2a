#include "lib/space/envid.h"

#include <string.h>

#include "lib/space/key.h"

static void hardware_key(const struct envid *v, struct key *k)
{
	*k = (struct key){0};
	key_str(k, "features", v->features);
	key_str(k, "isa", v->isa);
	key_int(k, "l1d", v->l1d);
	key_int(k, "l2", v->l2);
	key_int(k, "l3", v->l3);
	key_int(k, "threads", v->threads);
}

void envid_make(const struct envid *v, struct id *hw_id, struct id *env_id)
{
	struct key k;

	hardware_key(v, &k);
	key_str(&k, "type", "hw");
	key_id(&k, hw_id);
	hardware_key(v, &k);
	key_str(&k, "cc", v->cc);
	key_str(&k, "libs", v->libs);
	key_str(&k, "type", "env");
	key_id(&k, env_id);
}

/* A text that may stand in a key. */
static int get_text(const struct json_doc *d, const struct json *env, const char *name,
		    struct arena *a, const char **out)
{
	const size_t room = sizeof((struct key_pair *)NULL)->value;

	return json_str(json_get(d, env, name), a, out) || strlen(*out) >= room ||
	       strpbrk(*out, "=;");
}

static int read_env(const struct json_doc *d, const struct json *env, struct arena *a,
		    struct envid *v)
{
	return get_text(d, env, "features", a, &v->features) ||
			       get_text(d, env, "isa", a, &v->isa) ||
			       get_text(d, env, "cc", a, &v->cc) ||
			       get_text(d, env, "libs", a, &v->libs) ||
			       json_int(json_get(d, env, "l1d"), &v->l1d) ||
			       json_int(json_get(d, env, "l2"), &v->l2) ||
			       json_int(json_get(d, env, "l3"), &v->l3) ||
			       json_int(json_get(d, env, "threads"), &v->threads)
		       ? -1
		       : 0;
}

int envid_of(const struct json_doc *d, const struct json *env, struct id *hw_id, struct id *id)
{
	struct arena a = ARENA_INIT;
	struct envid v;
	int rc = env && json_get(d, env, "hw_id") && read_env(d, env, &a, &v) == 0;

	if (rc)
		envid_make(&v, hw_id, id);
	arena_free(&a);
	return rc;
}
