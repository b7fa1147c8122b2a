#include "lib/host/env.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/json.h"
#include "lib/io/proc.h"
#include "lib/io/record.h"
#include "lib/host/folder.h"
#include "lib/host/lock.h"
#include "lib/host/team.h"
#include "lib/host/watch.h"
#include "lib/space/key.h"
#include "lib/target/cpu.h"

enum { LOOKS = 3, LOCK_POLL_MS = 50, FRESH_MS = 60000 };

/* Beyond this factor a change of the fork-join is said; it is no drift. */
static const double FORKJOIN_FACTOR = 2;
/* A beat that is faster by less is not worth writing down. */
static const double BEAT_STEP = 0.01;

static const char *class(const struct env *v)
{
	return v->states.n ? v->states.state[v->states.now].class : NULL;
}

/* Ids */

/* A class that is not there is left out, so that an env without probe is what it was before there
 * were probes. */
static void hardware_key(const struct env *v, const char *probe_class, struct key *k)
{
	const struct limits *m = &v->limits;

	*k = (struct key){0};
	key_str(k, "features", v->features.s);
	key_str(k, "isa", m->isa);
	key_int(k, "l1d", m->l1d);
	key_int(k, "l2", m->l2);
	key_int(k, "l3", m->l3);
	key_int(k, "threads", m->threads);
	if (probe_class)
		key_str(k, "class", probe_class);
}

static void make_ids(struct env *v)
{
	struct key k;

	hardware_key(v, class(v), &k);
	key_str(&k, "type", "hw");
	key_id(&k, &v->hw_id);
	hardware_key(v, class(v), &k);
	key_str(&k, "cc", v->cc.s);
	key_str(&k, "libs", v->libs.s);
	key_str(&k, "type", "env");
	key_id(&k, &v->id);
}

/* The object in the records */

static void text_field(struct buf *out, const char *name, const char *value)
{
	buf_fmt(out, "%s\"%s\":", out->s[out->n - 1] == '{' ? "" : ",", name);
	buf_json(out, value, strlen(value));
}

static void int_field(struct buf *out, const char *name, int64_t value)
{
	buf_fmt(out, ",\"%s\":%lld", name, (long long)value);
}

/* The few figures of the probe that others may want; the rest is in its file. */
static void put_probe(const struct env *v, struct buf *out)
{
	static const char *const field[] = {"cores", "peak_flops", "peak_flops_all",
					    "bandwidth_all", "forkjoin_s"};
	const struct state *s = &v->states.state[v->states.now];
	struct json_doc d = JSON_DOC_INIT;
	struct err ignored = ERR_INIT;

	if (!v->states.n) {
		buf_str(out, ",\"probe\":null,\"probe_why\":\"TL_PROBE is 0\"");
		return;
	}
	buf_str(out, ",\"probe\":{");
	text_field(out, "class", s->class);
	if (json_parse(&d, s->probe, strlen(s->probe), &ignored) == 0)
		for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
			const struct json *f = json_get(&d, d.tok, field[i]);

			if (!f || f->type == JSON_NULL)
				continue;
			buf_fmt(out, ",\"%s\":", field[i]);
			buf_add(out, f->s, f->n);
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
	text_field(out, "cpu", v->cpu.s);
	text_field(out, "isa", m->isa);
	text_field(out, "features", v->features.s);
	int_field(out, "l1d", m->l1d);
	int_field(out, "l2", m->l2);
	int_field(out, "l3", m->l3);
	int_field(out, "threads", m->threads);
	text_field(out, "cc", v->cc.s);
	text_field(out, "libs", v->libs.s);
	text_field(out, "hw_id", v->hw_id.s);
	put_probe(v, out);
	buf_ch(out, ',');
	watch_put_sources("", out);
	buf_ch(out, '}');
}

/* The worker */

/* What the worker prints for an option. If json: an object, without what libraries may have printed
 * before it. */
static int ask_worker(const struct env *v, const char *option, int json, struct buf *out,
		      struct err *e)
{
	struct buf path = BUF_INIT, all = BUF_INIT;
	char *argv[3] = {NULL, (char *)option, NULL};
	int rc = path_libexec(&path, "worker-cpu", e);

	if (rc == 0) {
		argv[0] = path.s;
		team_environment(v->limits.threads);
		rc = proc_run(argv, 60, 1 << 16, &all, e);
		if (rc > 0) { /* 3: no memory or the like; else it lacks a library */
			errno = rc == EXIT_INPUT ? 0 : ENOEXEC;
			rc = err_set(e, "%s %s fails: %.200s", path.s, option, all.s ? all.s : "");
		}
	}
	if (rc == 0) {
		const char *s = all.s ? all.s : "", *object = json ? strchr(s, '{') : s;

		if (object)
			buf_add(out, object, strcspn(object, "\n"));
		if (!out->n)
			rc = err_set(e, "%s %s prints nothing", path.s, option);
	}
	buf_free(&path);
	buf_free(&all);
	return rc;
}

static int look(const struct env *v, int effort, struct figures *f, struct err *e)
{
	struct buf out = BUF_INIT;
	char option[32];
	int rc;

	snprintf(option, sizeof option, "--sentinel=%d", effort);
	rc = ask_worker(v, option, 1, &out, e);
	if (rc == 0)
		rc = figures_read(out.s, f, e);
	buf_free(&out);
	return rc;
}

/* The probe */

static int is_off(void)
{
	const char *probe = getenv("TL_PROBE");

	return probe && !strcmp(probe, "0");
}

/* The file is named by the hardware without its class. */
static int find_file(struct env *v, struct err *e)
{
	struct key k;
	struct id id;

	hardware_key(v, NULL, &k);
	key_str(&k, "type", "hw");
	key_id(&k, &id);
	if (folder_cache("probe", &v->file, e) < 0)
		return -1;
	buf_fmt(&v->file, "/%s.json", id.s);
	return 0;
}

/* Takes up a state from a full probe. */
static int add_state(struct env *v, const char *probe, struct err *e)
{
	char now[25];

	rec_now(now);
	if (states_add(&v->states, probe, now, e) < 0)
		return -1;
	return states_save(&v->states, v->file.s, e);
}

/* Under the lock. Another program may have been here first. */
static int probe_now(struct env *v, struct err *e)
{
	struct buf probe = BUF_INIT;
	int rc = states_load(&v->states, v->file.s, e);

	if (rc == 0 && (rc = ask_worker(v, "--probe", 1, &probe, e)) == 0)
		rc = add_state(v, probe.s, e);
	buf_free(&probe);
	return rc < 0 ? -1 : 0;
}

/* Looks for the file again and again: the lock's holder may wait for records from this very program
 * while it keeps the lock, but has probed before. */
static int probe_when_free(struct env *v, struct err *e)
{
	int rc;

	while ((rc = states_load(&v->states, v->file.s, e)) == 0) {
		struct err busy = ERR_INIT;
		int lock = lock_device("cpu", 1, &busy);

		if (lock >= 0) {
			rc = probe_now(v, e);
			close(lock);
			return rc;
		}
		if (busy.status != EXIT_BUSY)
			return err_set(e, "%s", busy.msg);
		if (rec_stopped())
			return err_set(e, "stopped while another run was timing");
		poll(NULL, 0, LOCK_POLL_MS);
	}
	return rc < 0 ? -1 : 0;
}

/* Making one */

static int begin(struct env *v, struct err *e)
{
	memset(v, 0, sizeof *v);
	if (cpu_limits(&v->limits, e) < 0 || cpu_cc_version(&v->cc, e) < 0)
		return -1;
	if (cpu_model(&v->cpu, e) < 0)
		return -1;
	buf_str(&v->features, ""); /* there may be none */
	cpu_features(&v->features);
	return 0;
}

static int finish(struct env *v, int locked, struct err *e)
{
	if (!is_off() &&
	    (find_file(v, e) < 0 || (locked ? probe_now(v, e) : probe_when_free(v, e)) < 0))
		return -1;
	make_ids(v);
	make_json(v);
	return 0;
}

int env_make(struct env *v, const char *libs, struct err *e)
{
	if (begin(v, e) < 0)
		return -1;
	buf_str(&v->libs, libs);
	return finish(v, 1, e);
}

/* After a failure: was something not there that it takes? */
static int is_lack(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ENOEXEC;
}

int env_here(struct env *v, struct err *e)
{
	errno = 0;
	if (begin(v, e) < 0 || ask_worker(v, "--libs", 0, &v->libs, e) < 0)
		return is_lack() ? 1 : -1;
	return finish(v, 0, e);
}

/* Drift */

static void say_rate(struct buf *said, const char *what, double is, double was, const char *unit)
{
	buf_fmt(said, "%s %.4g %s (%+.1f%%)", what, is / 1e9, unit, (is / was - 1) * 100);
}

static void say(struct buf *said, const struct figures *was, const struct figures *is)
{
	say_rate(said, "one thread does", is->peak_flops, was->peak_flops, "GFLOP/s");
	say_rate(said, ", all do", is->peak_flops_all, was->peak_flops_all, "GFLOP/s");
	say_rate(said, ", memory gives", is->memory, was->memory, "GB/s");
}

static void say_forkjoin(struct buf *said, double was, double is)
{
	if (is > FORKJOIN_FACTOR * was || is < was / FORKJOIN_FACTOR)
		buf_fmt(said, "%sa fork-join takes %.3g us, not %.3g as when it was probed",
			said->n ? "; " : "", is * 1e6, was * 1e6);
}

/* The machine has drifted, as it seems: f is the best of all looks. */
static int change_state(struct env *v, double max_drift, struct figures *f, struct err *e)
{
	int was = v->states.now, found = states_match(&v->states, f, max_drift), rc = 0;
	struct buf probe = BUF_INIT;
	struct figures full;

	if (found < 0) {
		rc = ask_worker(v, "--probe", 1, &probe, e);
		if (rc == 0)
			rc = figures_read(probe.s, &full, e);
		if (rc == 0) {
			figures_best(f, &full);
			found = states_match(&v->states, f, max_drift);
		}
	}
	if (rc == 0 && found < 0) {
		rc = add_state(v, probe.s, e);
	} else if (rc == 0 && found != was) {
		v->states.now = found;
		rc = states_save(&v->states, v->file.s, e);
	}
	buf_free(&probe);
	return rc;
}

double env_beat(const struct env *v)
{
	return states_beat(&v->states);
}

/* A faster beat than ever before is kept. */
static int keep_beat(struct env *v, double beat_s, struct err *e)
{
	double best = states_beat(&v->states);

	if (beat_s <= 0 || (best > 0 && beat_s > (1 - BEAT_STEP) * best))
		return 0;
	states_set_beat(&v->states, beat_s);
	return states_save(&v->states, v->file.s, e);
}

/* Was it looked so lately that it need not be again? The rounds of a tuning run follow each other
 * within seconds. */
static int is_fresh(const struct states *s)
{
	int64_t then, now;
	char at[25];

	rec_now(at);
	return rec_time_read(s->looked, &then) == 0 && rec_time_read(at, &now) == 0 &&
	       now >= then && now - then < FRESH_MS;
}

/* env_check() when it is time to look. */
static int find_drift(struct env *v, double max_drift, struct buf *said, struct err *e)
{
	struct states *s = &v->states;
	const struct state old = s->state[s->now];
	int known = s->n, was = s->now;
	struct figures f, more;

	for (int i = 0; i < LOOKS; i++) {
		if (i)
			poll(NULL, 0, 100 << i);
		if (look(v, 1 << 2 * i, &more, e) < 0 || keep_beat(v, more.beat_s, e) < 0)
			return -1;
		if (i)
			figures_best(&f, &more);
		else
			f = more;
		if (figures_drift(&old.f, &f) <= max_drift) {
			say_forkjoin(said, old.f.forkjoin_s, f.forkjoin_s);
			return 0;
		}
	}
	if (change_state(v, max_drift, &f, e) < 0)
		return -1;
	if (s->now == was && figures_drift(&old.f, &f) <= max_drift)
		return 0; /* the probe, which takes longer, found it as it was */
	buf_str(said, "the machine has drifted: ");
	say(said, &old.f, &f);
	say_forkjoin(said, old.f.forkjoin_s, f.forkjoin_s);
	buf_fmt(said, "; it is taken %s \"%s\", not \"%s\"",
		s->n > known	? "for a new one,"
		: s->now == was ? "all the same for the nearest of those known,"
				: "for one known before,",
		class(v), old.class);
	make_ids(v);
	make_json(v);
	return s->now != was;
}

int env_check(struct env *v, double max_drift, struct buf *said, struct err *e)
{
	struct states *s = &v->states;
	int rc;

	if (!s->n || max_drift <= 0 || is_fresh(s))
		return 0;
	rc = find_drift(v, max_drift, said, e);
	if (rc < 0)
		return -1;
	rec_now(s->looked);
	return states_save(s, v->file.s, e) < 0 ? -1 : rc;
}

void env_free(struct env *v)
{
	buf_free(&v->json);
	buf_free(&v->cpu);
	buf_free(&v->features);
	buf_free(&v->cc);
	buf_free(&v->libs);
	buf_free(&v->file);
	states_free(&v->states);
}
