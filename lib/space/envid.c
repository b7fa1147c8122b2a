#include "lib/space/envid.h"

#include <stdio.h>
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

int envid_of(const struct json_doc *d, const struct json *env, struct id *id)
{
	struct arena a = ARENA_INIT;
	struct envid v;
	struct id hw_id;
	int rc = env && !json_get(d, json_get(d, env, "probe"), "class") &&
		 json_get(d, env, "hw_id") && read_env(d, env, &a, &v) == 0;

	if (rc)
		envid_make(&v, &hw_id, id);
	arena_free(&a);
	return rc;
}

/* An object that is a part of a record, with some of its fields changed. */
static void rewrite_part(const struct json *object, const struct json_field *f, int n,
			 struct buf *out)
{
	struct json_doc part = JSON_DOC_INIT;
	struct err ignored = ERR_INIT;

	if (json_parse(&part, object->s, object->n, &ignored) == 0)
		json_rewrite(&part, f, n, out);
	json_free(&part);
}

int envid_renew(const struct json_doc *d, const struct json *env, struct id *id, struct buf *out)
{
	static const struct json_field no_class = {"class", NULL};
	const struct json *old = json_get(d, env, "probe");
	struct arena a = ARENA_INIT;
	struct buf probe = BUF_INIT;
	struct envid v;
	struct id hw_id;
	char quoted[ID_HEX + 3];
	int rc = 0;

	if (json_get(d, old, "class") && read_env(d, env, &a, &v) == 0) {
		envid_make(&v, &hw_id, id);
		rewrite_part(old, &no_class, 1, &probe);
		snprintf(quoted, sizeof quoted, "\"%s\"", hw_id.s);
		buf_clear(out);
		rewrite_part(env,
			     (const struct json_field[]){{"hw_id", quoted}, {"probe", probe.s}}, 2,
			     out);
		rc = 1;
	}
	arena_free(&a);
	buf_free(&probe);
	return rc;
}

void envid_rewrite(const struct json_doc *d, const char *id, const char *env, struct buf *out)
{
	char quoted[ID_HEX + 3];
	/* The checksum was over what it replaces. */
	const struct json_field field[] = {{"env_id", quoted}, {"checksum", NULL}, {"env", env}};

	snprintf(quoted, sizeof quoted, "\"%s\"", id);
	buf_clear(out);
	json_rewrite(d, field, env ? 3 : 2, out);
}

const char *envids_today(const struct envids *k, const struct json *was)
{
	return was ? map_get(&k->today, was->s, was->n) : NULL;
}

void envids_learn(struct envids *k, const struct json *was, const char *today)
{
	*map_put(&k->today, was->s, was->n, NULL) = arena_strdup(&k->arena, today);
}

int envids_renew(struct envids *k, const struct json_doc *d, struct buf *out)
{
	const struct json *was = json_get(d, d->tok, "env_id"), *env = json_get(d, d->tok, "env");
	const char *today = NULL;
	struct buf object = BUF_INIT;
	struct id id;

	if (!was || was->type != JSON_STR)
		return 0;
	if (envid_renew(d, env, &id, &object)) {
		today = id.s;
		if (!envids_today(k, was))
			envids_learn(k, was, today);
	} else if (!env) {
		today = envids_today(k, was);
	}
	if (today)
		envid_rewrite(d, today, env ? object.s : NULL, out);
	buf_free(&object);
	return today != NULL;
}

void envids_free(struct envids *k)
{
	map_free(&k->today);
	arena_free(&k->arena);
}
