#include "lib/host/env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/io/json.h"
#include "lib/io/proc.h"
#include "lib/io/record.h"
#include "lib/io/seal.h"
#include "lib/host/folder.h"
#include "lib/host/lock.h"
#include "lib/host/team.h"
#include "lib/host/watch.h"
#include "lib/io/field.h"
#include "lib/space/envid.h"

static const double DISTURBED = 0.2; /* share of a probe that others may disturb */
static const double RETRY_S = 600;   /* after which it is made again if they disturbed more */

/* Ids */

static void make_ids(struct env *v)
{
	const struct limits *m = &v->limits;
	const struct envid of = {.features = v->features.s,
				 .isa = m->isa,
				 .cc = v->cc.s,
				 .libs = v->libs.s,
				 .l1d = m->l1d,
				 .l2 = m->l2,
				 .l3 = m->l3,
				 .threads = m->threads};

	envid_make(&of, &v->hw_id, &v->id);
}

/* The object in the records */

/* The few figures of the probe that others may want; the rest is in its file. */
static void put_probe(const struct env *v, struct buf *out)
{
	static const char *const field[] = {"cores",	     "peak_flops", "peak_flops_all",
					    "bandwidth_all", "forkjoin_s", "disturbed"};
	struct json_doc d = JSON_DOC_INIT;
	struct err ignored = ERR_INIT;

	if (!v->probe.n || json_parse(&d, v->probe.s, v->probe.n, &ignored) < 0) {
		field_null(out, "probe", v->unprobed);
		return;
	}
	field_object(out, "probe");
	for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
		const struct json *f = json_get(&d, d.tok, field[i]);

		if (f && f->type != JSON_NULL)
			field_copy(out, field[i], f);
	}
	json_free(&d);
	buf_ch(out, '}');
}

static void make_json(struct env *v)
{
	const struct limits *m = &v->limits;
	struct buf *out = &v->json;

	buf_clear(out);
	buf_ch(out, '{');
	field_text(out, "cpu", v->cpu.s);
	field_text(out, "isa", m->isa);
	field_text(out, "features", v->features.s);
	field_integer(out, "l1d", m->l1d);
	field_integer(out, "l2", m->l2);
	field_integer(out, "l3", m->l3);
	field_integer(out, "threads", m->threads);
	field_text(out, "cc", v->cc.s);
	field_text(out, "libs", v->libs.s);
	field_text(out, "hw_id", v->hw_id.s);
	put_probe(v, out);
	watch_put_sources("", out);
	buf_ch(out, '}');
}

/* The worker */

static int ask_worker(const struct env *v, const char *option, struct buf *out, struct err *e)
{
	struct buf path = BUF_INIT;
	char worker[64];
	int rc;

	snprintf(worker, sizeof worker, "worker-%s", v->limits.target->name);
	rc = path_libexec(&path, worker, e);
	if (rc == 0)
		rc = team_ask(path.s, option, v->limits.threads, out, e);
	buf_free(&path);
	return rc;
}

/* The probe */

static int is_off(void)
{
	const char *probe = getenv("TL_PROBE");

	return probe && !strcmp(probe, "0");
}

static int find_file(const struct env *v, struct buf *path, struct err *e)
{
	if (folder_cache("probe", path, e) < 0)
		return -1;
	buf_fmt(path, "/%s.json", v->hw_id.s);
	return 0;
}

/* Is this what a worker prints? A damaged file is not. */
static int is_probe(const char *text, size_t n)
{
	static const char *const rate[] = {"peak_flops", "peak_flops_all", "forkjoin_s"};
	struct json_doc d = JSON_DOC_INIT;
	struct err ignored = ERR_INIT;
	int good = json_parse(&d, text, n, &ignored) == 0;
	double x;

	for (size_t i = 0; good && i < sizeof rate / sizeof *rate; i++)
		good = json_num(json_get(&d, d.tok, rate[i]), &x) == 0 && x > 0;
	json_free(&d);
	return good;
}

/* 1; 0: the machine is to be probed. */
static int load(struct buf *probe, const char *path, struct err *e)
{
	struct buf text = BUF_INIT;
	int good = seal_read(path, &text, e);

	if (good > 0)
		good = is_probe(text.s, text.n);
	if (good > 0)
		buf_add(probe, text.s, text.n);
	buf_free(&text);
	return good;
}

/* Removes a pipe, a device or a link in the file's place: records would go into it, and writing to
 * a pipe would wait for a reader. */
static int clear_place(const char *path, struct err *e)
{
	struct stat st;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && unlink(path))
		return err_sys(e, "cannot remove what stands in the place of %s", path);
	return 0;
}

/* The file is replaced whole or not at all. */
static int save(const struct buf *probe, const char *path, struct err *e)
{
	struct rec_out *out = NULL;
	struct buf text = BUF_INIT;
	int rc = -1;

	if (clear_place(path, e) == 0)
		out = rec_create(path, e);
	buf_add(&text, probe->s, probe->n);
	seal_put(&text);
	if (out && rec_put(out, text.s, text.n - 1, e) == 0) /* a newline follows */
		rc = rec_commit(out, e);
	rec_discard(out);
	buf_free(&text);
	return rc;
}

/* Which share of it others disturbed; 0: it does not say. */
static double disturbed(const struct buf *probe)
{
	struct json_doc d = JSON_DOC_INIT;
	struct err ignored = ERR_INIT;
	double share = 0;

	if (probe->n && json_parse(&d, probe->s, probe->n, &ignored) == 0)
		json_num(json_get(&d, d.tok, "disturbed"), &share);
	json_free(&d);
	return share;
}

/* Is a probe that others disturbed old enough that they may be gone? Where they never are, the
 * probe costs no more than a second in that time. */
static int is_due(const struct buf *probe, const char *path)
{
	struct stat st;
	double age_s;

	if (disturbed(probe) <= DISTURBED || stat(path, &st))
		return 0;
	age_s = difftime(time(NULL), st.st_mtime);
	return age_s >= RETRY_S || age_s < 0; /* a clock was set back */
}

static int ask_probe(const struct env *v, struct buf *probe, struct err *e)
{
	if ((v->limits.target == target_default() &&
	     team_check(v->limits.threads, "OMP_NUM_THREADS", e)) ||
	    ask_worker(v, "--probe", probe, e) < 0)
		return -1;
	if (!is_probe(probe->s, probe->n))
		return err_set(e, "the probe's figures make no sense: %.200s", probe->s);
	return 0;
}

/* Under the lock. Another program may have been here first. */
static int probe_now(struct env *v, const char *path, int reprobe, struct err *e)
{
	struct buf probe = BUF_INIT;
	int known = reprobe ? 0 : load(&v->probe, path, e), rc;

	if (known < 0)
		return -1;
	if (known && !is_due(&v->probe, path))
		return 0;
	rc = ask_probe(v, &probe, e);
	if (rc == 0 && !(known && disturbed(&probe) > disturbed(&v->probe))) {
		buf_clear(&v->probe);
		buf_add(&v->probe, probe.s, probe.n);
	}
	buf_free(&probe);
	return rc ? -1 : save(&v->probe, path, e); /* also to be looked at later again */
}

/* Nobody waits for the lock here: the env's id needs no probe, and who measures makes it. The
 * lock's holder may even wait for records from this very program. */
static int probe_if_free(struct env *v, const char *path, struct err *e)
{
	int rc = load(&v->probe, path, e);
	struct err busy = ERR_INIT;
	struct lock lock;

	if (rc)
		return rc < 0 ? -1 : 0;
	if (!lock_take(&lock, v->limits.target->name, LOCK_TRY, &busy)) {
		rc = probe_now(v, path, 0, e);
		lock_drop(&lock);
		return rc;
	}
	if (busy.status != EXIT_BUSY)
		return err_set(e, "%s", busy.msg);
	v->unprobed = "another run is timing on this machine, which was not probed before";
	return 0;
}

/* Making one */

static int begin(struct env *v, const struct target *target, struct err *e)
{
	memset(v, 0, sizeof *v);
	if (target->limits(&v->limits, e) < 0 || target->compiler(&v->cc, e) < 0)
		return -1;
	if (target->model(&v->cpu, e) < 0)
		return -1;
	buf_str(&v->features, ""); /* there may be none */
	target->features(&v->limits, &v->features);
	return 0;
}

static int finish(struct env *v, int locked, int reprobe, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = 0;

	make_ids(v);
	v->unprobed = "TL_PROBE is 0";
	if (!is_off() && (rc = find_file(v, &path, e)) == 0)
		rc = locked ? probe_now(v, path.s, reprobe, e) : probe_if_free(v, path.s, e);
	buf_free(&path);
	if (rc == 0)
		make_json(v);
	return rc;
}

int env_make(struct env *v, const struct target *target, const char *libs, int reprobe,
	     struct err *e)
{
	if (begin(v, target, e) < 0)
		return -1;
	buf_str(&v->libs, libs);
	return finish(v, 1, reprobe, e);
}

/* After a failure: was something not there that it takes? */
static int is_lack(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ENOEXEC;
}

int env_here(struct env *v, const struct target *target, struct err *e)
{
	errno = 0;
	if (begin(v, target, e) < 0 || ask_worker(v, "--libs", &v->libs, e) < 0)
		return is_lack() ? 1 : -1;
	return finish(v, 0, 0, e);
}

void env_free(struct env *v)
{
	buf_free(&v->json);
	buf_free(&v->cpu);
	buf_free(&v->features);
	buf_free(&v->cc);
	buf_free(&v->libs);
	buf_free(&v->probe);
}
