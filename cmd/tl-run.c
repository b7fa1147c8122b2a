/* tl-run: a model on tuned kernels: its outputs, and how long it takes.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/baseline/baseline.h"
#include "lib/host/lock.h"
#include "lib/host/scratch.h"
#include "lib/host/team.h"
#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/io/opt.h"
#include "lib/io/proc.h"
#include "lib/io/progress.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/run/exec.h"
#include "lib/run/inplace.h"
#include "lib/run/network.h"
#include "lib/run/profile.h"
#include "lib/run/workloads.h"
#include "lib/space/strict.h"
#include "lib/store/store.h"
#include "lib/target/target.h"
#include "lib/trial/stat.h"

static const char *db, *model, *input, *output, *compare, *save_weights, *save_inputs, *trace,
	*seed_text, *precision_text, *workloads;
static int64_t threads, batch = -1;
static double bench_s, tune_s, in_place_s = -1, tolerance = -1;
static int race_all, no_db, library, profile, json, turns, check_memory, compare_single, quiet,
	strict;
static struct opt_list shapes, dims;

static const struct opt opts[] = {
	OPTIONS_FOR("The model and its inputs"),
	{'i', "input", OPT_FILE, &input, "FILE",
	 "The inputs: an .npz with a named array for each, or an .npy for a model with one "
	 "input. By default inputs are random: floats between -1 and 1, integers 0 or 1.",
	 NULL},
	{0, "batch", OPT_COUNT, &batch, "N",
	 "The batch size, which is the first dimension of inputs. By default the model's, or 1.",
	 NULL},
	{'s', "shape", OPT_LIST, &shapes, "NAME:DIMS",
	 "The shape of an input, such as input:1,3,224,224; may be given several times.", NULL},
	{0, "dim", OPT_LIST, &dims, "NAME=SIZE",
	 "The size of an open dimension, by the name that the model gives it, such as seq=128; may "
	 "be given several times.",
	 NULL},
	{0, "random-weights", OPT_STRING, &seed_text, "SEED",
	 "Use random weights of this seed instead of the file's, for models whose weights were "
	 "left out. Constants of one element stay.",
	 NULL},
	OPTIONS_FOR("Kernels"),
	{'d', "db", OPT_FILE, &db, "FILE",
	 "The database of the best kernels; by default $TL_DB, else tl/tl.db in $XDG_DATA_HOME "
	 "or ~/.local/share. A workload that it does not know gets the kernel that tl-query "
	 "predicts.",
	 NULL},
	{0, "no-db", OPT_FLAG, &no_db, NULL, "Use no database: predict all kernels.", NULL},
	{'m', "model", OPT_FILE, &model, "FILE",
	 "The cost model that predicts kernels; by default $TL_MODEL, else the one that came "
	 "with the programs.",
	 "pretrained"},
	{0, "precision", OPT_ENUM, &precision_text, "TYPE",
	 "What convolutions and products compute in: f32 (the default), or bf16 where there are "
	 "kernels in it, with sums in f32. Other operators compute in f32.",
	 "f32|bf16"},
	STRICT_OPTION(strict),
	{0, "workloads", OPT_OUTPUT, &workloads, "FILE",
	 "Write the workloads of the model's convolutions and products to FILE as records, in the "
	 "types that they are computed in, for tl-tune. The model does not run then, "
	 "but for what its sizes follow from.",
	 NULL},
	{0, "tune", OPT_TIME, &tune_s, "TIME",
	 "First let tl-tune tune the model's operators for this time (30s, 2m), with the same "
	 "database, and then race in place for up to half of this time (see --in-place).",
	 NULL},
	{0, "in-place", OPT_TIME, &in_place_s, "TIME",
	 "Let whole runs of the model choose among the best kernels of the steps that take most "
	 "beyond their time alone, for at most this time (20s), and store what they choose in the "
	 "database. 0 leaves it out.",
	 NULL},
	{0, "race-all", OPT_HIDDEN_FLAG, &race_all, NULL, NULL, NULL}, /* for tests */
	{0, "library", OPT_FLAG, &library, NULL,
	 "Use oneDNN for convolutions and products instead, in the same layouts and memory. This "
	 "shows what the model takes without tuned kernels.",
	 NULL},
	{'t', "threads", OPT_COUNT, &threads, "N",
	 "The number of threads; by default $OMP_NUM_THREADS, else one for each CPU that the "
	 "process may use.",
	 NULL},
	OPTIONS_FOR("Outputs"),
	{'o', "output", OPT_OUTPUT, &output, "FILE", "Write the outputs to this .npz or .npy.",
	 NULL},
	{'c', "compare", OPT_FILE, &compare, "FILE",
	 "Compare the outputs with the arrays in this .npz or .npy; exit with status 1 if one "
	 "differs by more than --tolerance.",
	 NULL},
	{0, "tolerance", OPT_REAL, &tolerance, "X",
	 "The difference from --compare that outputs may have. It limits the largest difference "
	 "over the largest value, and the relative L2 norm. Default 1e-4, and 0.1 in bf16.",
	 NULL},
	{0, "compare-single", OPT_FLAG, &compare_single, NULL,
	 "With --precision=bf16: compare the outputs likewise with those in f32, of the same "
	 "inputs and weights. Of a matrix of scores also in how many rows the largest one is the "
	 "same.",
	 NULL},
	{0, "save-weights", OPT_OUTPUT, &save_weights, "FILE",
	 "Write these weights to an .npz, by their names in the model.", NULL},
	{0, "save-inputs", OPT_OUTPUT, &save_inputs, "FILE",
	 "Write the inputs to this .npz or .npy.", NULL},
	OPTIONS_FOR("Times"),
	{'b', "bench", OPT_TIME, &bench_s, "TIME",
	 "Run the model repeatedly for this time (2s, 1m), and print the median time of a run "
	 "with its 95% interval.",
	 NULL},
	{0, "turns", OPT_FLAG, &turns, NULL,
	 "With --bench: measure once for each line of standard input, for comparisons in turns "
	 "with other programs.",
	 NULL},
	{'p', "profile", OPT_FLAG, &profile, NULL,
	 "Print the time of each operator, and beside it the time that the database has for its "
	 "kernel alone.",
	 NULL},
	{0, "trace", OPT_OUTPUT, &trace, "FILE",
	 "Write the times at which each operator of a run began and ended, in the format of "
	 "Chrome's trace viewer.",
	 NULL},
	{0, "json", OPT_FLAG, &json, NULL, "Print the figures of --bench as a line of JSON.", NULL},
	OPTIONS_FOR("Checks and messages"),
	{0, "check-memory", OPT_FLAG, &check_memory, NULL,
	 "Before the run, check that each step reads what was written for it, though results share "
	 "memory: by the addresses, and by runs in which all memory that nobody needs holds NaN. A "
	 "plan that fails is a fault of tl-run; it ends with status 3 and names the step.",
	 NULL},
	QUIET_OPTION(quiet, ""),
	OPT_END,
};

static const struct program program = {
	.name = "tl-run",
	.summary = "run a model on tuned kernels",
	.synopsis = "[OPTION...] MODEL",
	.opts = opts,
	.min_args = 1,
	.max_args = 1,
	.operands = "file",
};

static void warn_unused(const char *what, const char *name)
{
	opt_warn(&program, "the model has no %s \"%s\"", what, name);
}

enum { WARM_RUNS = 3, PROFILED_RUNS = 20, MOST_RUNS = 1 << 20 };

/* ---- options ---- */

static void usage(const char *why)
{
	fprintf(stderr, "%s: %s; see %s --help\n", program.name, why, program.name);
	_exit(EXIT_USAGE);
}

static enum dtype precision(void)
{
	return precision_text && !strcmp(precision_text, "bf16") ? DTYPE_BF16 : DTYPE_F32;
}

static void check_usage(uint64_t *seed)
{
	const int64_t most_threads = 1024;
	char *end;

	if (seed_text) {
		errno = 0;
		*seed = strtoull(seed_text, &end, 10);
		if (*seed_text < '0' || *seed_text > '9' || *end || errno)
			usage("--random-weights wants a number of 0 to 18446744073709551615");
	}
	if (save_weights && !seed_text)
		usage("--save-weights belongs to --random-weights");
	if (turns && bench_s <= 0)
		usage("--turns belongs to --bench");
	if (check_memory && library)
		usage("--check-memory and --library do not go together: the library's code is bound "
		      "to addresses");
	if (compare_single && precision() == DTYPE_F32)
		usage("--compare-single belongs to --precision=bf16");
	if (library && precision() != DTYPE_F32)
		usage("--library computes in f32: it does not go with --precision=bf16");
	if (workloads && library)
		usage("--workloads and --library contradict each other");
	if (workloads && (tune_s > 0 || in_place_s > 0))
		usage("--workloads runs nothing: --tune and --in-place contradict it");
	if (json && bench_s <= 0)
		usage("--json belongs to --bench");
	if (no_db && db)
		usage("--db and --no-db contradict each other");
	if (no_db && tune_s > 0)
		usage("--tune wants a database");
	if (in_place_s > 0 && no_db)
		usage("--in-place wants a database");
	if (in_place_s > 0 && library)
		usage("--in-place and --library contradict each other");
	if (threads > most_threads)
		usage("--threads wants at most 1024");
}

/* Does a team of so many threads start here? */
static int check_team(struct err *e)
{
	struct limits here;

	if (target_default()->limits(&here, e))
		return -1;
	if (threads)
		here.threads = (int)threads;
	return team_check(here.threads, threads ? "--threads" : "OMP_NUM_THREADS", e) ||
			       team_variables(here.threads, e)
		       ? -1
		       : 0;
}

/* ---- tuning ---- */

static const double TUNE_LOOK_S = 0.1; /* between looks at signals while tl-tune runs */

/* Writes the workloads of the model's steps; which kernels they have does not matter. */
static int write_workloads(const char *path, const struct network_options *options, const char *to,
			   struct err *e)
{
	struct network_options o = *options;
	struct network n = {0};
	int rc;

	o.db = NULL;
	o.model = "none";
	rc = network_lower(&n, path, &o, e);
	if (!rc)
		rc = workloads_write(&n.plan, n.source, to, e);
	network_close(&n);
	return rc;
}

/* Waits for tl-tune. What stops this program stops that one, which then writes what it has. */
static int wait_for_tune(struct proc *p, int *status, struct err *e)
{
	int rc, told = 0;

	rec_stop_in_own_time();
	while (!(rc = proc_wait(p, TUNE_LOOK_S, status, e))) {
		if (!told && (told = rec_stopped()))
			kill(p->pid, SIGTERM);
	}
	rec_stop_in_time();
	return rc < 0 ? -1 : 0;
}

/* tl-tune with the same database and threads, for a file of workloads. Its table goes to standard
 * error: what is measured here goes to standard output. */
static int tune(const char *path, struct err *e)
{
	char time[32], count[32], *argv[16];
	struct buf file = BUF_INIT;
	struct proc p;
	int n = 0, status = 0, rc = path_bin(&file, "tl-tune", e);

	snprintf(time, sizeof time, "--time=%.3fs", tune_s);
	if (threads) {
		snprintf(count, sizeof count, "%lld", (long long)threads);
		setenv("OMP_NUM_THREADS", count, 1);
	}
	argv[n++] = file.s;
	argv[n++] = time;
	if (quiet)
		argv[n++] = (char *)"--quiet";
	if (db) {
		argv[n++] = (char *)"-d";
		argv[n++] = (char *)db;
	}
	argv[n++] = (char *)path;
	argv[n] = NULL;
	if (!rc)
		rc = proc_start(&p, argv, PROC_TERM_WITH_PARENT, -1, -1, e);
	if (!rc)
		rc = wait_for_tune(&p, &status, e);
	if (!rc && !rec_stopped() && (!WIFEXITED(status) || WEXITSTATUS(status) >= EXIT_USAGE))
		rc = err_set(e, "tl-tune did not end well");
	buf_free(&file);
	return rc;
}

/* A model without convolutions and products has no workloads. */
static int is_empty(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !st.st_size;
}

/* Lowering a model opens the build cache, which names compilers a folder of its own to work in
 * (TMPDIR). What runs behind it has the user's again. */
static int write_and_tune(const char *path, const struct network_options *o, const char *folder,
			  struct err *e)
{
	const char *was = getenv("TMPDIR");
	char *kept = was ? xstrdup(was) : NULL;
	struct buf file = BUF_INIT;
	int rc;

	buf_fmt(&file, "%s/workloads", folder);
	rc = write_workloads(path, o, file.s, e);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
	if (!rc && !is_empty(file.s))
		rc = tune(file.s, e);
	buf_free(&file);
	return rc;
}

/* tl-tune gets what the model's steps compute: in their types and shapes, and some of them, such as
 * those of convolutions over volumes, are made here alone. */
static int tune_model(const char *path, const struct network_options *o, struct err *e)
{
	struct scratch s;
	int rc;

	if (scratch_open(&s, "tl-run", e))
		return -1;
	rc = write_and_tune(path, o, s.path, e);
	return scratch_remove(&s, e) || rc ? -1 : 0;
}

/* ---- races in place ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int set_inputs(struct network *n, const struct network_options *o, struct err *e)
{
	return network_fill_inputs(n, o, e) ? err_in(e, "%s", input) : 0;
}

static void say_choice(const struct inplace_said *s)
{
	if (quiet)
		return;
	progress_clear();
	fprintf(stderr, "%s, %d step%s: %s", s->workload->prob, s->steps, s->steps == 1 ? "" : "s",
		s->first->algo->name);
	if (strcmp(s->first->id.s, s->now->id.s) == 0)
		fputs(" stays\n", stderr);
	else
		fprintf(stderr, " to %s, %.3f [%.3f, %.3f]\n", s->now->algo->name, s->ratio.median,
			s->ratio.lo, s->ratio.hi);
}

static void say_whole(const char *path, const struct inplace *how)
{
	struct buf name = BUF_INIT;

	terminal_text(base_name(path), strlen(base_name(path)), &name);
	if (!quiet && how->whole.n)
		fprintf(stderr, "%s: %.3f ms to %.3f ms in place, %.3f [%.3f, %.3f]\n", name.s,
			how->before_s.median * 1e3, how->after_s.median * 1e3, how->whole.median,
			how->whole.lo, how->whole.hi);
	buf_free(&name);
}

static int open_with_inputs(struct network *n, const char *path, const struct network_options *o,
			    struct err *e)
{
	return network_open(n, path, o, e) || set_inputs(n, o, e) ? -1 : 0;
}

/* Which workloads are worth a race? */
static int find_in_place(const char *path, const struct network_options *o, struct inplace *how,
			 struct err *e)
{
	struct network n = {0};
	int rc = open_with_inputs(&n, path, o, e);

	if (!rc)
		rc = inplace_find(&n, race_all, how, e);
	network_close(&n);
	return rc;
}

/* One of the two, in a network that is opened for it. */
static int race_opened(const char *path, const struct network_options *options, struct inplace *how,
		       double until, int again, struct err *e)
{
	struct raced raced = {how->n, how->id, race_all, again ? how->won : NULL, how->before};
	struct network_options o = *options;
	struct network n = {0};
	int rc;

	o.raced = &raced;
	how->until = until;
	rc = open_with_inputs(&n, path, &o, e);
	if (!rc)
		rc = again ? inplace_confirm(&n, how, e) : inplace_race(&n, how, e);
	network_close(&n);
	return rc;
}

/* Nothing else may be timed meanwhile. */
static int race_in_place(const char *path, const struct network_options *o, struct err *e)
{
	struct inplace how = {
		.db = o->db, .model = base_name(path), .stopped = rec_stopped, .say = say_choice};
	struct lock lock = {.fd = -1};
	int rc = lock_take(&lock, "cpu", LOCK_WAIT, e);
	const double start = clock_now();

	if (!rc)
		rc = find_in_place(path, o, &how, e);
	if (!rc && how.n && !rec_stopped())
		rc = race_opened(path, o, &how, start + 0.7 * in_place_s, 0, e);
	if (!rc && how.nwon && !rec_stopped())
		rc = race_opened(path, o, &how, start + in_place_s, 1, e);
	if (!rc)
		say_whole(path, &how);
	inplace_free(&how);
	lock_drop(&lock);
	return rc;
}

/* ---- what is asked ---- */

/* Before the first run: a program may compute over its inputs. */
static int save_before(struct network *n, struct err *e)
{
	if (save_weights &&
	    arrays_write(save_weights, network_count_weights(n), network_weights, n, e))
		return -1;
	if (save_inputs && arrays_write(save_inputs, n->io.ninputs, network_input, n, e))
		return -1;
	return 0;
}

static void say_error(const struct network_error *d, int is_f32, int wrong)
{
	struct buf name = BUF_INIT;

	terminal_text(d->name, strlen(d->name), &name);
	printf("%s: %s%s: largest difference %.2g of the largest value, relative L2 %.2g%s", name.s,
	       is_f32 ? "from f32: " : "", wrong ? "differs" : "equal", d->max, d->l2,
	       d->not_finite ? ", NaN or infinity in other places" : "");
	if (is_f32 && d->rows)
		printf(", the largest of a row is the same in %lld of %lld",
		       (long long)d->same_first, (long long)d->rows);
	putchar('\n');
	buf_free(&name);
}

/* Sizes that follow from data may be others in f32. */
static int is_of_other_size(const struct network *n, int i, const struct array *f32, struct err *e)
{
	struct array a;
	struct buf name = BUF_INIT;

	if (network_output((void *)n, i, &a, e) || a.size == f32->size)
		return 0;
	terminal_text(a.name, strlen(a.name), &name);
	printf("%s: from f32: differs: its size follows from data, and it has %lld elements "
	       "instead of %lld\n",
	       name.s, (long long)a.size, (long long)f32->size);
	buf_free(&name);
	return 1;
}

/* from: the file of the arrays; NULL: they are the outputs in f32. 1: an output differs. */
static int compare_with(const struct network *n, const struct arrays *should, const char *from,
			struct err *e)
{
	const double most = tolerance < 0 ? network_error(n->plan.precision, 1e-4) : tolerance;
	int differs = 0;

	for (int i = 0; i < n->io.noutputs; i++) {
		struct network_error d;
		int wrong;

		if (!from && is_of_other_size(n, i, &should->array[i], e)) {
			differs = 1;
			continue;
		}
		if (network_compare(n, i, should, &d, e))
			return from ? err_in(e, "%s", from) : -1;
		wrong = d.not_finite || d.max > most || d.l2 > most;
		differs |= wrong;
		if (!quiet || wrong)
			say_error(&d, !from, wrong);
	}
	return differs;
}

/* Says how --strict may help, where outputs in single precision differ. */
static void say_strict(const struct plan *p)
{
	int halves = 0;

	for (int i = 0; i < p->nstep; i++)
		halves += step_is_live(&p->step[i]) && p->step[i].candidate &&
			  p->step[i].candidate->algo->halves;
	if (halves)
		opt_warn(&program,
			 "%d of the kernels compute by halves of bf16; --strict leaves them out",
			 halves);
}

static int compare_outputs(const struct network *n, struct err *e)
{
	struct arrays should;
	int differs = arrays_read(&should, compare, e);

	if (!differs) {
		network_strangers(n, &should, warn_unused);
		differs = compare_with(n, &should, compare, e);
		if (differs > 0)
			say_strict(&n->plan);
	}
	arrays_free(&should);
	return differs;
}

/* The outputs of the same model in f32, as arrays in its memory. */
static void outputs_of(struct network *n, struct arrays *out, struct err *e)
{
	*out = (struct arrays){.n = n->io.noutputs, .is_named = 1};
	out->array = xcalloc((size_t)out->n + 1, sizeof *out->array);
	for (int i = 0; i < out->n; i++)
		network_output(n, i, &out->array[i], e);
}

/* Runs the model in f32, too, with the same inputs. */
static int compare_to_f32(struct network *n, const char *path,
			  const struct network_options *options, struct err *e)
{
	struct network_options o = *options;
	struct network single = {0};
	struct arrays should = {0};
	int rc;

	o.precision = DTYPE_F32;
	exec_rest(&n->plan);
	rc = open_with_inputs(&single, path, &o, e);
	if (!rc)
		rc = exec_run(&single.plan, NULL, e);
	if (!rc) {
		outputs_of(&single, &should, e);
		rc = compare_with(n, &should, NULL, e);
	}
	free(should.array);
	network_close(&single);
	return rc;
}

/* Holds what a benchmark of the whole model found. */
struct bench {
	const char *model;
	struct stat_median time;
	int threads;
	int kernels, tuned;
	double tuned_s; /* the sum of the tuned kernels alone */
};

static void bench_object(const struct bench *x, struct buf *out)
{
	field_object(out, NULL);
	field_text(out, "model", x->model);
	field_number(out, "latency_s", x->time.median);
	field_interval(out, "ci_s", x->time.lo, x->time.hi);
	field_integer(out, "runs", x->time.n);
	field_integer(out, "threads", x->threads);
	field_integer(out, "kernels", x->kernels);
	field_integer(out, "tuned", x->tuned);
	field_number(out, "tuned_s", x->tuned_s);
	buf_ch(out, '}');
}

static void bench_sentence(const struct bench *x, struct buf *out)
{
	terminal_text(x->model, strlen(x->model), out);
	buf_fmt(out, ": %.3f ms [%.3f, %.3f], %d runs, %d threads; ", x->time.median * 1e3,
		x->time.lo * 1e3, x->time.hi * 1e3, x->time.n, x->threads);
	if (library)
		buf_fmt(out, "convolutions and products by %s", library_onednn.version());
	else
		buf_fmt(out, "%d of %d kernels are tuned", x->tuned, x->kernels);
	if (x->tuned && !library)
		buf_fmt(out, " and take %.3f ms alone", x->tuned_s * 1e3);
}

static int print_bench(const struct network *n, const char *path, const struct stat_median *m,
		       struct err *e)
{
	struct bench x = {.model = base_name(path), .time = *m, .threads = n->plan.threads};
	struct buf text = BUF_INIT;

	x.tuned_s = profile_predicted(&n->plan, &x.tuned, &x.kernels);
	if (json)
		bench_object(&x, &text);
	else
		bench_sentence(&x, &text);
	puts(text.s);
	buf_free(&text);
	return fflush(stdout) ? err_sys(e, "cannot write standard output") : 0;
}

static int measure(struct network *n, const char *path, struct err *e)
{
	double *x = xmalloc(MOST_RUNS * sizeof *x), start = clock_now();
	struct stat_median m;
	int runs = 0, rc = 0;

	for (int i = 0; !rc && i < WARM_RUNS; i++)
		rc = exec_run(&n->plan, NULL, e);
	while (!rc && !rec_stopped() && runs < MOST_RUNS &&
	       (runs < 3 || clock_now() - start < bench_s)) {
		double from = clock_now();

		rc = exec_run(&n->plan, NULL, e);
		x[runs++] = clock_now() - from;
	}
	if (!rc && runs) {
		m = stat_series(x, runs, 1.96);
		rc = print_bench(n, path, &m, e);
	}
	free(x);
	return rc;
}

static int measure_in_turns(struct network *n, const char *path, struct err *e)
{
	int c, rc = 0;

	while (!rc && !rec_stopped() && (c = getchar()) != EOF)
		if (c == '\n')
			rc = measure(n, path, e);
	return rc;
}

static int write_trace(const struct buf *text, struct err *e)
{
	struct rec_out *out = rec_create(trace, e);
	int rc = !out || rec_put(out, text->s, text->n - 1, e) || rec_commit(out, e) ? -1 : 0;

	rec_discard(out);
	return rc;
}

static int print_profile(struct network *n, struct err *e)
{
	size_t each = (size_t)n->plan.nstep + 1;
	double *ended = xcalloc(PROFILED_RUNS * each, sizeof *ended);
	struct buf text = BUF_INIT;
	int rc = 0;

	for (int i = 0; !rc && i < WARM_RUNS; i++)
		rc = exec_run(&n->plan, NULL, e);
	for (int i = 0; !rc && i < PROFILED_RUNS; i++)
		rc = exec_run(&n->plan, ended + (size_t)i * each, e);
	if (!rc && profile) {
		profile_table(&n->plan, ended, PROFILED_RUNS, &text);
		fputs(text.s, stdout);
	}
	if (!rc && trace) {
		buf_clear(&text);
		profile_trace(&n->plan, ended + (PROFILED_RUNS - 1) * each, &text);
		rc = write_trace(&text, e);
	}
	buf_free(&text);
	free(ended);
	return rc;
}

/* 1: what came out differs from --compare. */
static int run(struct network *n, const char *path, const struct network_options *o,
	       const struct arrays *given, struct err *e)
{
	int rc = set_inputs(n, o, e), differs = 0;

	if (!rc)
		network_strangers(n, given, warn_unused);
	if (!rc && n->left_out)
		opt_warn(&program, "all weights of the model are the same: they were left out; "
				   "--random-weights 1 takes others");

	if (!rc)
		rc = save_before(n, e);
	if (!rc && check_memory)
		rc = network_check_memory(n, e);
	if (!rc)
		rc = exec_run(&n->plan, NULL, e);
	if (!rc && output)
		rc = arrays_write(output, n->io.noutputs, network_output, n, e);
	if (!rc && compare) {
		differs = compare_outputs(n, e);
		rc = differs < 0 ? -1 : 0;
	}
	if (!rc && compare_single) {
		const int more = compare_to_f32(n, path, o, e);

		differs |= more;
		rc = more < 0 ? -1 : 0;
	}
	if (!rc && bench_s > 0)
		rc = turns ? measure_in_turns(n, path, e) : measure(n, path, e);
	if (!rc && (profile || trace))
		rc = print_profile(n, e);
	return rc ? -1 : differs;
}

/* Opens the model, tuned and raced as asked, and runs it. path: of the database. */
static int open_and_run(struct network *n, const char *path, struct network_options *o,
			const struct arrays *given, struct buf *database, struct err *e)
{
	char doubt[DOOR_SENTENCE];
	int rc = tune_s > 0 ? tune_model(path, o, e) : 0;

	if (!rc && !no_db) {
		rc = store_find(db, database, e);
		o->db = rc > 0 ? database->s : NULL;
		rc = rc < 0 ? -1 : 0;
	}
	if (in_place_s < 0)
		in_place_s = o->by_library ? 0 : tune_s / 2;
	if (!rc && o->db && in_place_s > 0)
		rc = race_in_place(path, o, e);
	if (!rc)
		rc = network_open(n, path, o, e);
	progress_clear();
	if (chooser_doubt(&n->chooser, doubt))
		opt_warn(&program, "%s", doubt);
	if (n->chooser.useless[0])
		opt_warn(&program, "%s: it predicts nothing", n->chooser.useless);
	if (!rc)
		infer_options_unused(&o->infer, warn_unused);
	return rc ? rc : run(n, path, o, given, e);
}

int main(int argc, char **argv)
{
	int first, rc;
	struct network_options o = {0};
	struct buf path = BUF_INIT;
	struct err e = ERR_INIT;
	struct network n = {0};
	struct arrays given = {0};
	uint64_t seed = 0;

	opt_foreign_exit(&program);
	first = opt_parse(&program, argc, argv);
	check_usage(&seed);
	if (strict)
		strict_set();
	rec_stop_on_signals();
	o.seed = seed_text ? &seed : NULL;
	o.by_library = library;
	o.precision = precision();
	o.model = model;
	o.threads = (int)threads;
	rc = infer_options_read(
		&o.infer, &(struct infer_words){batch, shapes.item, dims.item, shapes.n, dims.n},
		&e);
	if (!rc)
		rc = check_team(&e);
	if (!rc && input) {
		rc = arrays_read(&given, input, &e);
		o.given = &given;
	}
	if (!rc && workloads)
		rc = write_workloads(argv[first], &o, workloads, &e);
	else if (!rc)
		rc = open_and_run(&n, argv[first], &o, &given, &path, &e);
	network_close(&n);
	infer_options_free(&o.infer);
	arrays_free(&given);
	buf_free(&path);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	if (rc < 0)
		return opt_fail(&program, &e);
	if (opt_printed(&program))
		return EXIT_INPUT;
	if (rc)
		_exit(EXIT_NO); /* to exit() with 1 is libarchive's way to say something else */
	return EXIT_DONE;
}
