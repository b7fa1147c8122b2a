/* tl-doctor: what a run would find on this machine: tools, probe, noise, lock, cache, database; and
 * what to do where something is amiss. What a bug report needs.
 */
#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/sort.h"
#include "lib/build/mark.h"
#include "lib/build/sweep.h"
#include "lib/host/energy.h"
#include "lib/host/env.h"
#include "lib/host/folder.h"
#include "lib/host/lock.h"
#include "lib/host/system.h"
#include "lib/host/team.h"
#include "lib/host/watch.h"
#include "lib/io/clock.h"
#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/measure/worker.h"
#include "lib/model/default.h"
#include "lib/features/features.h"
#include "lib/model/model.h"
#include "lib/store/store.h"

static const char *database;
static double noise_s = 2;

static const struct opt opts[] = {
	{'d', "db", OPT_FILE, &database, "FILE",
	 "The database; by default $TL_DB, else tl/tl.db in $XDG_DATA_HOME or ~/.local/share.",
	 NULL},
	{0, "noise", OPT_TIME, &noise_s, "TIME",
	 "Watch for this time how steadily the machine runs; 0: do not watch. Default 2s.", NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-doctor",
	.summary = "say what a run would find on this machine, and what is amiss",
	.synopsis = "[OPTION...]",
	.opts = opts,
	.min_args = 0,
	.max_args = 0,
	.operands = "none",
};

static int amiss; /* things that want doing */

/* A line: what is looked at, and how it is. */
static void tell(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void tell(const char *what, const char *fmt, ...)
{
	struct buf raw = BUF_INIT, text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&raw, fmt, ap);
	va_end(ap);
	terminal_text(raw.s, raw.n, &text);
	printf("%-10s %s\n", what, text.s);
	buf_free(&raw);
	buf_free(&text);
}

/* What to do about the line before. */
static void mend(const char *sentence)
{
	printf("           -> %s\n", sentence);
	amiss++;
}

/* ---- the machine ---- */

static void tell_probe(const struct env *v)
{
	struct buf path = BUF_INIT;
	struct json_doc d = JSON_DOC_INIT;
	struct err e = ERR_INIT;
	double peak = NAN, memory = NAN, disturbed = 0;
	struct stat st;

	if (!v->probe.n) {
		tell("probe", "none: %s", v->unprobed);
		return;
	}
	if (!json_parse(&d, v->probe.s, v->probe.n, &e)) {
		json_num(json_get(&d, d.tok, "peak_flops_all"), &peak);
		json_num(json_get(&d, json_get(&d, d.tok, "bandwidth_all"), "mem"), &memory);
		json_num(json_get(&d, d.tok, "disturbed"), &disturbed);
	}
	tell("probe", "%.0f GFLOP/s, %.1f GB/s from memory", peak / 1e9, memory / 1e9);
	if (disturbed > 0)
		tell("",
		     "other programs disturbed %.0f%% of it; if that is much, a later run "
		     "makes it again",
		     100 * disturbed);
	if (!folder_cache("probe", &path, &e)) {
		buf_fmt(&path, "/%s.json", v->hw_id.s);
		if (!stat(path.s, &st))
			tell("", "%s, %.1f days old; tl-tune --reprobe makes it anew", path.s,
			     fmax(0, difftime(time(NULL), st.st_mtime)) / 86400);
	}
	json_free(&d);
	buf_free(&path);
}

/* 1: there is an env. */
static int tell_machine(struct env *v)
{
	struct err e = ERR_INIT;
	int rc = env_here(v, target_default(), &e);

	tell("version", "%s on %s", TL_VERSION, system_name());
	if (rc) {
		tell("machine", "%s", e.msg);
		mend("nothing can be measured before this works; `make deps` installs what is "
		     "wanted");
		return 0;
	}
	tell("CPU", "%s", v->cpu.s);
	tell("", "%s, %d threads; caches %lld KB, %lld KB, %lld KB", v->limits.isa,
	     v->limits.threads, (long long)v->limits.l1d / 1024, (long long)v->limits.l2 / 1024,
	     (long long)v->limits.l3 / 1024);
	if (team_check(v->limits.threads, "OMP_NUM_THREADS", &e)) {
		tell("", "%s", e.msg);
		mend("without OMP_NUM_THREADS there is a thread for each CPU");
	}
	tell("", "%s", v->features.s);
	tell("compiler", "%s", v->cc.s);
	tell("library", "%s", v->libs.s);
	tell("env", "%s, hardware %s", v->id.s, v->hw_id.s);
	tell_probe(v);
	return 1;
}

/* The libraries that kernels for a device are compared with. */
static void tell_libraries(const struct target *t)
{
	struct buf libs = BUF_INIT;
	struct worker w = {.threads = 1};
	struct err e = ERR_INIT;

	if (worker_open(&w, t, 1, &e) < 0 || worker_libs(&w, &libs, &e) < 0)
		tell("", "%s", e.msg);
	else
		tell("", "compared with %s",
		     libs.s && strcmp(libs.s, "none") ? libs.s : "no library");
	worker_close(&w);
	buf_free(&libs);
}

/* What kernels can be made for beside the processor. That a device is not there is no fault. */
static void tell_devices(void)
{
	for (const struct target *const *t = target_list; *t; t++) {
		struct buf name = BUF_INIT, compiler = BUF_INIT;
		struct err e = ERR_INIT;

		if (*t == target_default())
			continue;
		if ((*t)->model(&name, &e) < 0) {
			tell((*t)->name, "%s", e.msg);
		} else {
			tell((*t)->name, "%s, by %s", name.s,
			     (*t)->compiler(&compiler, &e) < 0 ? e.msg : compiler.s);
			tell_libraries(*t);
		}
		buf_free(&name);
		buf_free(&compiler);
	}
}

/* ---- noise ---- */

enum { TURNS = 20000, MOST = 4096 };

/* Seconds of some arithmetic that nothing but the core is needed for. */
static double one_turn(void)
{
	double start = clock_now();
	volatile double x = 1;

	for (int i = 0; i < TURNS; i++)
		x = x * 0.999 + 0.001;
	return clock_now() - start;
}

static void tell_noise(void)
{
	double s[MOST], end = clock_now() + noise_s, late;
	struct watched seen;
	struct watch w;
	int n = 0, slow = 0;

	if (noise_s <= 0)
		return;
	watch_open(&w, "", NULL, 0);
	watch_begin(&w);
	for (int i = 0; clock_now() < end && !rec_stopped(); i++) {
		double turn = one_turn();

		if (n < MOST)
			s[n++] = turn;
		else
			s[i % MOST] = turn;
	}
	watch_end(&w, &seen);
	watch_close(&w);
	if (!n)
		return;
	sort_numbers(s, (size_t)n);
	for (int i = 0; i < n; i++)
		slow += s[i] > 1.1 * s[n / 2];
	late = 100. * slow / n;
	tell("noise",
	     "%.1f%% of equal turns took 10%% longer than the median, the slowest %.1f times "
	     "as long",
	     late, s[n - 1] / s[n / 2]);
	if (seen.has & 1u << WATCH_STEAL)
		tell("", "%.2f s of %.1f s were given to others by the hypervisor", seen.steal_s,
		     noise_s);
	if (late > 5)
		tell("", "other programs disturb timings now; verdicts take longer, and hold all "
			 "the same");
}

static void tell_energy(void)
{
	struct energy g;

	energy_open(&g, ENERGY_CPU, NULL);
	tell("energy", "%s", *g.why ? g.why : "can be read");
	energy_close(&g);
}

static void tell_lock(void)
{
	struct err e = ERR_INIT;
	struct lock lock;

	tell("lock", "%s", lock_take(&lock, target_default()->name, LOCK_TRY, &e) ? e.msg : "free");
	lock_drop(&lock);
}

/* ---- what is kept ---- */

static void tell_cache(void)
{
	struct buf path = BUF_INIT;
	struct err e = ERR_INIT;
	long long bytes = 0, files = 0;
	const struct dirent *f;
	int64_t bound = 0;
	struct stat st;
	DIR *d;

	if (folder_cache("objects", &path, &e) || sweep_bound(&bound, &e)) {
		tell("cache", "%s", e.msg);
		mend("kernels cannot be kept there");
		buf_free(&path);
		return;
	}
	d = opendir(path.s);
	while (d && (f = readdir(d)))
		if (!fstatat(dirfd(d), f->d_name, &st, 0) && S_ISREG(st.st_mode)) {
			bytes += st.st_size / (long long)st.st_nlink;
			files++;
		}
	if (d)
		closedir(d);
	tell("cache", "%s: %lld files, %lld MB", path.s, files, bytes >> 20);
	if (files && !mark_is_there(path.s))
		tell("", "it has no mark of ours (CACHEDIR.TAG), so nothing is removed from it");
	else if (bound > 0)
		tell("", "of at most %lld MB; TL_CACHE_SIZE says otherwise",
		     (long long)bound >> 20);
	buf_free(&path);
}

static void tell_database(const struct env *v)
{
	struct buf path = BUF_INIT, report = BUF_INIT;
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct store_stats st;
	struct store_env *env;
	struct store *s = NULL;
	int there = store_find(database, &path, &e), n = 0, ours = 0;

	if (!there) {
		tell("database", "%s is not there yet: nothing is known", path.s);
	} else if (there < 0 || !(s = store_open(path.s, STORE_READ, &e)) ||
		   store_stats(s, &a, &st, &e) || store_envs(s, &a, &env, &n, &e)) {
		tell("database", "%s", e.msg);
		mend("name another one by -d or TL_DB");
	} else {
		for (int i = 0; i < n; i++)
			ours |= v && !strcmp(env[i].id, v->id.s);
		tell("database", "%s: %lld results of %lld workloads in %d envs%s",
		     store_shown(path.s, &a), (long long)st.results, (long long)st.workloads, n,
		     ours ? ", this one among them" : "");
		if (store_check(s, &report, &e) < 1) {
			tell("", "it is damaged: %s", report.s ? report.s : e.msg);
			mend("keep what can be read: tl-query --dump=all | tl-store -d NEW");
		}
	}
	store_close(s);
	arena_free(&a);
	buf_free(&path);
	buf_free(&report);
}

/* Is this machine like one that the model learned from? */
static const char *acquaintance(const struct model *m)
{
	struct limits here;
	struct err e = ERR_INIT;

	if (!m->nmachines || target_default()->limits(&here, &e) < 0)
		return "";
	return model_has_seen(m, &here) ? "; it learned from such a CPU"
					: "; it never saw such a CPU, and the draft has a share";
}

static void tell_model(void)
{
	struct buf path = BUF_INIT;
	struct err e = ERR_INIT;
	struct model *m = NULL;
	int rc = model_default(NULL, 1, target_default(), &path, &e);

	if (rc > 0)
		m = model_load(path.s, features_list(target_default()), &e);
	if (m)
		tell("model", "%s%s", path.s, acquaintance(m));
	else
		tell("model", "%s", *e.msg ? e.msg : "none: the analytic draft ranks");
	if (*e.msg)
		mend("name another one by TL_MODEL, or none");
	model_free(m);
	buf_free(&path);
}

int main(int argc, char **argv)
{
	struct env v = {0};
	int has_env;

	opt_parse(&program, argc, argv);
	rec_stop_on_signals();
	has_env = tell_machine(&v);
	tell_devices();
	tell_lock();
	tell_noise();
	tell_energy();
	tell_cache();
	tell_database(has_env ? &v : NULL);
	tell_model();
	env_free(&v);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	if (opt_printed(&program))
		return EXIT_INPUT;
	return amiss ? EXIT_NO : EXIT_DONE;
}
