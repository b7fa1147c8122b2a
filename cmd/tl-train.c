/* tl-train: results -> a cost model and its report card. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/extract/read/lines.h"
#include "lib/io/opt.h"
#include "lib/io/progress.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/model/train.h"
#include "lib/search/cover.h"
#include "lib/store/store.h"
#include "lib/target/target.h"

static char units[64]; /* "family|network|..." */
static const char *database, *output, *older, *target_name, *unit = "family";
static struct opt_list exclude;
static int64_t trials, seed = 1, bag = 8;
static double time_s = 120, part = 1;
static int dump, quiet;

static const struct opt opts[] = {
	{'d', "db", OPT_FILE, &database, "FILE", "Learn from this database, too.", NULL},
	{'t', "time", OPT_TIME, &time_s, "TIME",
	 "The time for choosing the model. Half of it is used for the report card. Default 2m.",
	 NULL},
	{0, "trials", OPT_COUNT, &trials, "N",
	 "The number of configurations to try in each choice, however long it takes. The same "
	 "seed and data then give the same model. Default: as many as --time allows.",
	 NULL},
	{0, "seed", OPT_COUNT, &seed, "N",
	 "The seed of the random numbers: another seed tries other configurations. Default 1.",
	 NULL},
	{0, "hold-out", OPT_ENUM, &unit, "WHAT",
	 "What the folds of the report card hold out as a whole: workloads that are equal except "
	 "for spatial size, batch and post-ops (family, the default), networks, operators, or "
	 "envs.",
	 units},
	{0, "exclude", OPT_LIST, &exclude, "FILE",
	 "Do not learn from the workloads whose records are in FILE, nor from workloads that are "
	 "equal to one of them except for spatial size, batch and post-ops. May be given several "
	 "times.",
	 NULL},
	TARGET_OPTION(target_name),
	{0, "share", OPT_REAL, &part, "SHARE",
	 "Learn only from this share of the workloads, drawn at random. Default 1.", NULL},
	{0, "bag", OPT_COUNT, &bag, "N",
	 "The number of boosters in the model. The difference between their predictions is the "
	 "model's uncertainty. Default 8, at most 16.",
	 NULL},
	{0, "update", OPT_FILE, &older, "MODEL",
	 "Go on from this model: add what is learned now to it.", NULL},
	{0, "dump-features", OPT_FLAG, &dump, NULL,
	 "Train nothing. Write the features of all results as CSV instead, one candidate on each "
	 "line, for pandas, R and the like.",
	 NULL},
	OUTPUT_OPTION(output),
	QUIET_OPTION(quiet, " No report card."),
	OPT_END,
};

static const struct program program = {
	.name = "tl-train",
	.summary = "learn a cost model from results",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

static struct {
	struct dataset data, excluded;
	struct rec_out *out;
	struct model *model;	     /* NULL: none yet */
	int64_t bad;		     /* lines */
	struct door_refused refused; /* records of databases */
} train;

/* ---- reading ---- */

static int take_line(void *arg, const char *line, size_t n, struct err *why)
{
	(void)arg;
	return dataset_add(&train.data, line, n, why);
}

static void say(void *arg, const char *sentence)
{
	(void)arg;
	progress_clear();
	terminal_say("%s: %s\n", program.name, sentence);
}

/* A record of a database that does not pass the door is left out. */
static int take_stored(void *arg, const char *line, size_t n, struct err *e)
{
	struct err why = ERR_INIT;

	(void)e;
	if (take_line(arg, line, n, &why) < 0)
		door_refuse(&train.refused, &why);
	return 0;
}

static int read_store(const char *path, struct err *e)
{
	struct store *s = store_open(path, STORE_READ, e);
	int rc = s ? store_dump(s, STORE_RESULTS | STORE_WORKLOADS, take_stored, NULL, e) : -1;

	store_close(s);
	return rc;
}

/* -d: one that is not there yet is empty. */
static int read_database(struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = store_find(database, &path, e);

	if (!rc)
		opt_warn(&program, "the database %s is not there: nothing is known yet", path.s);
	else if (rc > 0)
		rc = read_store(path.s, e);
	buf_free(&path);
	return rc;
}

static int read_all(char **files, int n, struct err *e)
{
	const struct lines lines = {take_line, say, NULL, &train.bad};
	char text[DOOR_SENTENCE];
	int rc = database ? read_database(e) : 0;

	for (int i = 0; i < n && rc == 0; i++)
		rc = lines_is_database(files[i]) ? read_store(files[i], e)
						 : lines_each(files[i], &lines, e);
	if (rc == 0 && !n && !database)
		rc = lines_each("-", &lines, e);
	if (door_sentence(&train.refused, text))
		opt_warn(&program, "%s", text);
	return rc ? rc : dataset_finish(&train.data, e);
}

/* ---- the features as CSV ---- */

static int put_heading(struct err *e)
{
	const struct feature_list *l = dataset_features(&train.data);
	struct buf line = BUF_INIT;
	int rc;

	buf_str(&line,
		"env_id,workload_id,op,prob,family,candidate_id,algo,latency_s,bound_s,draft_s");
	for (int i = 0; i < l->n; i++)
		buf_fmt(&line, ",%s", l->name[i]);
	rc = rec_put(train.out, line.s, line.n, e);
	buf_free(&line);
	return rc;
}

static void put_number(struct buf *line, double v)
{
	buf_ch(line, ',');
	if (v == v)
		buf_fmt(line, "%.6g", v);
}

/* No text here has a comma, a quote or a newline in it. */
static int put_row(const struct data_group *g, const struct data_row *r, struct buf *line,
		   struct err *e)
{
	buf_clear(line);
	buf_fmt(line, "%s,%s,%s,%s,%s,%s,%s", g->env->id, g->w.id.s, g->w.op->name, g->w.prob,
		g->family, r->candidate_id.s, r->algo->name);
	put_number(line, r->latency_s > 0 ? r->latency_s : __builtin_nan(""));
	put_number(line, r->bound_s > 0 ? r->bound_s : __builtin_nan(""));
	put_number(line, r->draft_s);
	for (int i = 0; i < dataset_features(&train.data)->n; i++)
		put_number(line, r->f[i]);
	return rec_put(train.out, line->s, line->n, e);
}

static int dump_features(struct err *e)
{
	struct buf line = BUF_INIT;
	int rc = put_heading(e);

	for (size_t i = 0; i < train.data.groups.n; i++) {
		const struct data_group *g = dataset_group(&train.data, i);

		for (int64_t k = 0; k < g->n && rc == 0; k++)
			rc = put_row(g, &g->row[k], &line, e);
	}
	buf_free(&line);
	return rc || rec_commit(train.out, e) ? -1 : 0;
}

/* ---- the model ---- */

static int take_excluded(void *arg, const char *line, size_t n, struct err *why)
{
	(void)arg;
	return dataset_add(&train.excluded, line, n, why);
}

static int is_excluded(const struct data_group *g)
{
	const struct map *uses = &train.excluded.uses;

	for (size_t i = 0; i < uses->n; i++) {
		const struct data_use *u = uses->item[i].value;

		if (!strcmp(u->family, g->family))
			return 1;
	}
	return 0;
}

/* Which groups to learn from. Returns how many. */
static int64_t choose_groups(char *use)
{
	int64_t n = 0;

	for (size_t i = 0; i < train.data.groups.n; i++) {
		const struct data_group *g = dataset_group(&train.data, i);
		struct rng rng;

		rng_seed(&rng, (uint64_t)seed, g->w.id.s);
		use[i] = g->best_s > 0 && !is_excluded(g) && rng_unit(&rng) < part;
		n += use[i];
	}
	return n;
}

static enum automl_unit unit_of(const char *name)
{
	int i = 0;

	while (strcmp(automl_unit_name[i], name) != 0)
		i++;
	return (enum automl_unit)i;
}

static int put_model(const struct model *m, const struct card *card, struct err *e)
{
	struct buf text = BUF_INIT, fields = BUF_INIT;
	int rc;

	card_print(card, &fields);
	model_print(m, fields.s, &text);
	rc = rec_put(train.out, text.s, text.n - 1, e);
	buf_free(&fields);
	buf_free(&text);
	return rc ? -1 : rec_commit(train.out, e);
}

/* What will be done, before it is. */
static void say_plan(const struct card *c)
{
	opt_say(&program,
		"learning from %lld candidates of %lld workload%s, %zu famil%s, %zu env%s",
		(long long)c->candidates, (long long)c->workloads, c->workloads == 1 ? "" : "s",
		c->families.n, c->families.n == 1 ? "y" : "ies", c->envs.n,
		c->envs.n == 1 ? "" : "s");
	if (trials)
		opt_say(&program,
			"%lld configuration%s tried for each of %d folds that are held out, for "
			"the report card; then for the model",
			(long long)trials, trials == 1 ? " is" : "s are", AUTOML_FOLDS);
	else
		opt_say(&program,
			"%.0f s for the report card, by %d folds that are held out; then %.0f s "
			"for the model",
			time_s / 2, AUTOML_FOLDS, time_s / 2);
}

/* The report card goes to standard error: the model may go to standard output. */
static void show_card(const struct card *c)
{
	const struct table_look look = {.width = terminal_width(STDERR_FILENO)};
	struct buf text = BUF_INIT;
	const char *warning;

	card_table(c, &look, &text);
	if (!quiet)
		fputs(text.s, stderr);
	if ((warning = card_warning(c, &text)))
		opt_warn(&program, "%s", warning);
	buf_free(&text);
}

static int no_result(struct err *e)
{
	if (train.data.others)
		return err_set(e,
			       "there is no result to learn from for the target %s; %lld are for "
			       "others (--target), or of types that models do not know",
			       train.data.target->name, (long long)train.data.others);
	return err_set(e, "there is no result to learn from");
}

static int train_all(struct err *e)
{
	const struct train_rules rules = {
		.time_s = trials ? 0 : time_s,
		.trials = trials,
		.seed = (uint64_t)seed,
		.unit = unit_of(unit),
		.bag = (int)bag,
	};
	char *use = xcalloc(train.data.groups.n + 1, 1);
	struct model *m = train.model;
	struct card card = {.candidates = 0};
	int rc;

	if (!choose_groups(use)) {
		rc = no_result(e);
	} else {
		card_count(&card, &train.data, use);
		say_plan(&card);
		rc = train_model(&train.data, use, &rules, m, &card, e);
	}
	if (rc == 0) {
		cover_choose(&train.data, use, m);
		rc = put_model(m, &card, e);
	}
	if (rc == 0)
		show_card(&card);
	card_free(&card);
	free(use);
	return rc;
}

static int exclude_all(struct err *e)
{
	const struct lines lines = {take_excluded, say, NULL, &train.bad};
	int rc = 0;

	for (int i = 0; i < exclude.n && rc == 0; i++)
		rc = lines_each(exclude.item[i], &lines, e);
	return rc;
}

static int run(char **files, int n)
{
	const struct target *t = target_named(target_name);
	struct err e = ERR_INIT;
	struct limits here; /* no device is needed to learn from what was measured on one */

	if (bag < 1 || bag > MODEL_BAG)
		err_status(&e, EXIT_USAGE, "--bag wants 1 to %d boosters", MODEL_BAG);
	else if (part <= 0 || part > 1)
		err_status(&e, EXIT_USAGE, "--share wants more than 0 and at most 1");
	if (e.status)
		return opt_fail(&program, &e);
	if (target_default()->limits(&here, &e) < 0 || !(train.out = rec_create(output, &e)))
		return opt_fail(&program, &e);
	dataset_open(&train.data, t, &here);
	dataset_open(&train.excluded, t, &here);
	train.model = older ? model_load(older, features_list(t), &e) : model_new(features_list(t));
	if (!train.model || exclude_all(&e) || read_all(files, n, &e))
		return opt_fail(&program, &e);
	if (rec_stopped())
		return EXIT_DONE;
	if (dump ? dump_features(&e) : train_all(&e))
		return opt_fail(&program, &e);
	return train.bad ? EXIT_INPUT : EXIT_DONE;
}

static void list_units(void)
{
	size_t n = 0;

	for (int i = 0; i < AUTOML_UNITS; i++)
		n += (size_t)snprintf(units + n, sizeof units - n, "%s%s", i ? "|" : "",
				      automl_unit_name[i]);
}

int main(int argc, char **argv)
{
	int first, status;

	list_units();
	first = opt_parse(&program, argc, argv);
	rec_stop_on_signals();
	status = run(argv + first, argc - first);
	rec_discard(train.out);
	model_free(train.model);
	dataset_close(&train.data);
	dataset_close(&train.excluded);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
