#include "lib/model/card.h"

#include <stdio.h>
#include <string.h>

#include "lib/io/field.h"

static void add_machine(struct card *c, const struct limits *m, const struct dtypes *d)
{
	struct model_machine *k = c->machine;

	while (k < c->machine + c->nmachines && !model_is_machine(k, m))
		k++;
	if (k == c->machine + MODEL_MACHINES)
		return;
	if (k == c->machine + c->nmachines) {
		*k = (struct model_machine){.l1d = m->l1d, .l2 = m->l2};
		snprintf(k->isa, sizeof k->isa, "%s", m->isa);
		c->nmachines++;
	}
	k->bits |= dtype_bits(d->src);
}

void card_count(struct card *c, const struct dataset *d, const char *use)
{
	*c = (struct card){.features = dataset_features(d)};
	for (size_t i = 0; i < d->groups.n; i++) {
		const struct data_group *g = dataset_group(d, i);
		const struct data_use *u = dataset_use(d, &g->w);

		if (!use[i])
			continue;
		c->workloads++;
		c->candidates += g->n;
		map_put(&c->families, g->family, strlen(g->family), NULL);
		map_put(&c->envs, g->env->id, strlen(g->env->id), NULL);
		add_machine(c, &g->env->limits, &g->w.dtype);
		for (int k = 0; u && k < u->nnetworks; k++)
			map_put(&c->networks, u->network[k], strlen(u->network[k]), NULL);
	}
}

void card_free(struct card *c)
{
	map_free(&c->families);
	map_free(&c->networks);
	map_free(&c->envs);
	buf_free(&c->failure);
}

/* ---- JSON ---- */

static void put_top(const char *name, int top, double v, struct buf *out)
{
	char key[16];

	snprintf(key, sizeof key, "%s%d", name, top);
	field_fmt(out, key, "%.4f", v);
}

static void print_tops(const char *name, const struct score *s, int random, struct buf *out)
{
	const double n = (double)s->groups;

	field_object(out, name);
	for (int i = 0; i < SCORE_TOPS; i++)
		put_top("top", score_tops[i], random ? score_random(s, i) : score_top(s, i), out);
	for (int i = 0; i < SCORE_TOPS; i++)
		put_top("mean", score_tops[i], (random ? s->random_ratio[i] : s->ratio[i]) / n,
			out);
	if (!random) {
		field_fmt(out, "ndcg8", "%.4f", s->ndcg / n);
		field_fmt(out, "spearman", "%.4f", s->spearman / n);
		field_fmt(out, "pairwise", "%.4f", s->pairwise / n);
	}
	buf_ch(out, '}');
}

static void print_params(const struct feature_list *l, const struct fit_params *p, struct buf *out)
{
	const struct boost_params *t = &p->trees;
	const char *group;

	field_object(out, NULL);
	field_text(out, "objective", fit_objective_name[p->objective]);
	field_fmt(out, "emphasis", "%g", p->emphasis);
	field_fmt(out, "beta", "%g", p->beta);
	field_integer(out, "rows", p->rows);
	field_integer(out, "rounds", t->rounds);
	field_integer(out, "depth", t->depth);
	field_fmt(out, "eta", "%.4g", t->eta);
	field_fmt(out, "min_child", "%.4g", t->min_child);
	field_fmt(out, "subsample", "%.4g", t->subsample);
	field_fmt(out, "colsample", "%.4g", t->colsample);
	field_fmt(out, "lambda", "%.4g", t->lambda);
	field_list(out, "left_out");
	for (int i = 0; (group = fit_group(l, i)); i++)
		if (p->leave_out >> i & 1)
			field_text(out, NULL, group);
	buf_str(out, "]}");
}

static void print_chosen(const struct feature_list *l, const struct automl *a, struct buf *out)
{
	field_list(out, "chosen");
	for (int i = 0; i < a->members; i++)
		print_params(l, &a->member[i], out);
	buf_ch(out, ']');
}

static void print_names(const char *key, const struct map *names, struct buf *out)
{
	field_list(out, key);
	for (size_t i = 0; i < names->n; i++)
		field_text(out, NULL, names->item[i].key);
	buf_ch(out, ']');
}

/* Each kind of machine once (lib/model/model.h). */
static void print_machines(const struct card *c, struct buf *out)
{
	field_list(out, "machines");
	for (int i = 0; i < c->nmachines; i++) {
		field_object(out, NULL);
		field_text(out, "isa", c->machine[i].isa);
		field_integer(out, "l1d", c->machine[i].l1d);
		field_integer(out, "l2", c->machine[i].l2);
		field_integer(out, "bits", c->machine[i].bits);
		buf_ch(out, '}');
	}
	buf_ch(out, ']');
}

static void print_trained_on(const struct card *c, struct buf *out)
{
	field_object(out, "trained_on");
	field_integer(out, "candidates", c->candidates);
	field_integer(out, "workloads", c->workloads);
	field_integer(out, "families", (int64_t)c->families.n);
	print_names("networks", &c->networks, out);
	print_names("envs", &c->envs, out);
	print_machines(c, out);
	buf_ch(out, '}');
}

static void print_scores(const struct score *model, const struct score *draft, struct buf *out)
{
	field_integer(out, "workloads", model->groups);
	print_tops("model", model, 0, out);
	print_tops("draft", draft, 0, out);
	print_tops("random", model, 1, out);
}

/* Prints the scores on CPUs that were left out as a whole. */
static void print_abroad(const struct card *c, struct buf *out)
{
	field_object(out, "cpus_left_out");
	field_integer(out, "cpus", c->ncpus);
	print_scores(&c->abroad, &c->draft_abroad, out);
	buf_ch(out, '}');
}

static void print_report(const struct card *c, struct buf *out)
{
	if (!c->model.groups) {
		field_null(out, "report", "there is too little to hold any of it out");
		return;
	}
	field_object(out, "report");
	field_text(out, "held_out", automl_unit_name[c->unit]);
	field_integer(out, "folds", c->folds);
	print_scores(&c->model, &c->draft, out);
	field_object(out, "uncertainty");
	field_integer(out, "errors", c->errors);
	field_fmt(out, "within_2", "%.4f", c->errors ? (double)c->within / (double)c->errors : 0);
	buf_str(out, "}}");
	if (c->abroad.groups)
		print_abroad(c, out);
}

void card_print(const struct card *c, struct buf *out)
{
	print_trained_on(c, out);
	print_chosen(c->features, &c->chosen, out);
	field_integer(out, "tried", c->tried);
	field_integer(out, "bag", c->bag);
	field_fmt(out, "seed", "%llu", (unsigned long long)c->seed);
	field_fmt(out, "seconds", "%.1f", c->seconds);
	print_report(c, out);
	if (c->failure.n)
		buf_fmt(out, ",%s", c->failure.s);
}

/* ---- a table ---- */

enum { K_BY, K_TOP, K_SPEARMAN = K_TOP + SCORE_TOPS, K_PAIRS, K_COLUMNS };

/* random: what candidates drawn blindly reach, where these were ranked. */
static void put_row(struct table *t, const char *by, const struct score *s, int random)
{
	table_row(t);
	table_cell(t, K_BY, "%s", by);
	for (int i = 0; i < SCORE_TOPS; i++)
		table_cell(t, K_TOP + i, "%.3f", random ? score_random(s, i) : score_top(s, i));
	table_cell(t, K_SPEARMAN, "%.2f", random ? 0 : s->spearman / (double)s->groups);
	table_cell(t, K_PAIRS, "%.0f%%", random ? 50 : 100 * s->pairwise / (double)s->groups);
}

void card_table(const struct card *c, const struct table_look *look, struct buf *out)
{
	/* The heads of the tops are those of score_tops. */
	static const char *const head[K_COLUMNS] = {"ranked by",	 ">first",
						    ">best of 5",	 ">best of 8",
						    ">rank correlation", ">pairs in order"};
	static const signed char leave[] = {K_PAIRS, K_SPEARMAN, -1};
	struct table t;

	if (c->model.groups) {
		table_init(&t, head, K_COLUMNS);
		t.look = *look;
		t.leave = leave;
		put_row(&t, "model", &c->model, 0);
		put_row(&t, "draft", &c->draft, 0);
		put_row(&t, "chance", &c->model, 1);
		table_text(&t, out);
		table_free(&t);
		table_note(look, out,
			   "Shares of the best's speed that the first candidates reach, over %lld "
			   "workloads that were held out, each %s as a whole, in %d folds.",
			   (long long)c->model.groups, automl_unit_name[c->unit], c->folds);
	}
	if (c->abroad.groups)
		table_note(look, out,
			   "With each of %d CPUs left out in turn, the model's first candidates "
			   "reach %.3f, %.3f, %.3f there, the draft's %.3f, %.3f, %.3f (%lld "
			   "workloads of families that were held out, too).",
			   c->ncpus, score_top(&c->abroad, 0), score_top(&c->abroad, 1),
			   score_top(&c->abroad, 2), score_top(&c->draft_abroad, 0),
			   score_top(&c->draft_abroad, 1), score_top(&c->draft_abroad, 2),
			   (long long)c->abroad.groups);
	table_note(look, out,
		   "Trained on %lld candidates of %lld workload%s in %zu env%s, in %.0f s; %lld "
		   "configuration%s tried.",
		   (long long)c->candidates, (long long)c->workloads, c->workloads == 1 ? "" : "s",
		   c->envs.n, c->envs.n == 1 ? "" : "s", c->seconds, (long long)c->tried,
		   c->tried == 1 ? "" : "s");
}

const char *card_warning(const struct card *c, struct buf *text)
{
	const double SURE = 2; /* deviations */

	buf_clear(text);
	if (!c->model.groups)
		buf_fmt(text,
			"nothing could be held out, of %lld workloads: how well the model ranks is "
			"not known",
			(long long)c->workloads);
	else if (score_above_chance(&c->model) < SURE)
		buf_fmt(text,
			"the model ranks no better than chance: its rank correlation is %.2f over "
			"%lld workloads that were held out. Give it more results, of more "
			"workloads",
			c->model.spearman / (double)c->model.groups, (long long)c->model.groups);
	else
		return NULL;
	return text->s;
}
