#include "lib/measure/env.h"

#include <string.h>

#include "lib/io/proc.h"
#include "lib/space/key.h"
#include "lib/target/cpu.h"

static void text_field(struct buf *out, const char *name, const char *value)
{
	buf_fmt(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
	buf_json(out, value, strlen(value));
}

static void int_field(struct buf *out, const char *name, int64_t value)
{
	buf_fmt(out, ",\"%s\":%lld", name, (long long)value);
}

int env_make(struct env *v, const char *libs, struct err *e)
{
	struct buf cpu = BUF_INIT, features = BUF_INIT, cc = BUF_INIT;
	struct limits *m = &v->limits;
	struct key k = {0};
	int rc = -1;

	memset(v, 0, sizeof *v);
	if (cpu_limits(m, e) < 0 || cpu_cc_version(&cc, e) < 0)
		goto done;
	cpu_model(&cpu);
	cpu_features(&features);
	if (!features.s)
		buf_str(&features, "");
	key_str(&k, "cc", cc.s);
	key_str(&k, "features", features.s);
	key_str(&k, "isa", m->isa);
	key_int(&k, "l1d", m->l1d);
	key_int(&k, "l2", m->l2);
	key_int(&k, "l3", m->l3);
	key_str(&k, "libs", libs);
	key_int(&k, "threads", m->threads);
	key_str(&k, "type", "env");
	key_id(&k, &v->id);
	buf_ch(&v->json, '{');
	text_field(&v->json, "cpu", cpu.s);
	text_field(&v->json, "isa", m->isa);
	text_field(&v->json, "features", features.s);
	int_field(&v->json, "l1d", m->l1d);
	int_field(&v->json, "l2", m->l2);
	int_field(&v->json, "l3", m->l3);
	int_field(&v->json, "threads", m->threads);
	text_field(&v->json, "cc", cc.s);
	text_field(&v->json, "libs", libs);
	buf_ch(&v->json, '}');
	rc = 0;
done:
	buf_free(&cpu);
	buf_free(&features);
	buf_free(&cc);
	return rc;
}

int env_here(struct env *v, struct err *e)
{
	struct buf path = BUF_INIT, out = BUF_INIT;
	char *argv[3] = {NULL, (char *)"--libs", NULL};
	int rc = -1;

	if (path_libexec(&path, "worker-cpu", e) == 0) {
		argv[0] = path.s;
		rc = proc_run(argv, 30, 4096, &out, e);
		if (rc > 0)
			rc = err_set(e, "%s --libs fails: %.200s", path.s, out.s ? out.s : "");
	}
	if (rc == 0) {
		if (!out.n)
			buf_str(&out, "none");
		out.s[strcspn(out.s, "\n")] = 0;
		rc = env_make(v, out.s, e);
	}
	buf_free(&path);
	buf_free(&out);
	return rc;
}

void env_free(struct env *v)
{
	buf_free(&v->json);
}
