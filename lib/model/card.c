#include "lib/model/card.h"

#include <string.h>

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

static void print_tops(const char *name, const struct score *s, int random, struct buf *out)
{
	buf_fmt(out, "\"%s\":{", name);
	for (int i = 0; i < SCORE_TOPS; i++)
		buf_fmt(out, "%s\"top%d\":%.4f", i ? "," : "", score_tops[i],
			random ? score_random(s, i) : score_top(s, i));
	for (int i = 0; i < SCORE_TOPS; i++)
		buf_fmt(out, ",\"mean%d\":%.4f", score_tops[i],
			(random ? s->random_ratio[i] : s->ratio[i]) / (double)s->groups);
	if (!random)
		buf_fmt(out, ",\"ndcg8\":%.4f,\"spearman\":%.4f,\"pairwise\":%.4f",
			s->ndcg / (double)s->groups, s->spearman / (double)s->groups,
			s->pairwise / (double)s->groups);
	buf_ch(out, '}');
}

static void print_params(const struct feature_list *l, const struct fit_params *p, struct buf *out)
{
	const struct boost_params *t = &p->trees;
	const char *group;

	buf_fmt(out,
		"{\"objective\":\"%s\",\"emphasis\":%g,\"beta\":%g,\"rows\":%lld,\"rounds\":%d,"
		"\"depth\":%d,\"eta\":%.4g,\"min_child\":%.4g,\"subsample\":%.4g,"
		"\"colsample\":%.4g,\"lambda\":%.4g,\"left_out\":[",
		fit_objective_name[p->objective], p->emphasis, p->beta, (long long)p->rows,
		t->rounds, t->depth, t->eta, t->min_child, t->subsample, t->colsample, t->lambda);
	for (int i = 0, n = 0; (group = fit_group(l, i)); i++)
		if (p->leave_out >> i & 1)
			buf_fmt(out, "%s\"%s\"", n++ ? "," : "", group);
	buf_str(out, "]}");
}

static void print_chosen(const struct feature_list *l, const struct automl *a, struct buf *out)
{
	for (int i = 0; i < a->members; i++) {
		buf_str(out, i ? "," : ",\"chosen\":[");
		print_params(l, &a->member[i], out);
	}
	buf_ch(out, ']');
}

static void print_names(const struct map *names, struct buf *out)
{
	buf_ch(out, '[');
	for (size_t i = 0; i < names->n; i++) {
		buf_str(out, i ? "," : "");
		buf_json(out, names->item[i].key, names->item[i].len);
	}
	buf_ch(out, ']');
}

static void print_trained_on(const struct card *c, struct buf *out)
{
	buf_fmt(out, ",\"trained_on\":{\"candidates\":%lld,\"workloads\":%lld,\"families\":%zu,",
		(long long)c->candidates, (long long)c->workloads, c->families.n);
	buf_str(out, "\"networks\":");
	print_names(&c->networks, out);
	buf_str(out, ",\"envs\":");
	print_names(&c->envs, out);
	buf_ch(out, '}');
}

static void print_report(const struct card *c, struct buf *out)
{
	if (!c->model.groups) {
		buf_str(out, ",\"report\":null,\"report_why\":\"there is too little to hold any of "
			     "it out\"");
		return;
	}
	buf_fmt(out, ",\"report\":{\"held_out\":\"%s\",\"folds\":%d,\"workloads\":%lld,",
		automl_unit_name[c->unit], c->folds, (long long)c->model.groups);
	print_tops("model", &c->model, 0, out);
	buf_ch(out, ',');
	print_tops("draft", &c->draft, 0, out);
	buf_ch(out, ',');
	print_tops("random", &c->model, 1, out);
	buf_fmt(out, ",\"uncertainty\":{\"errors\":%lld,\"within_2\":%.4f}}", (long long)c->errors,
		c->errors ? (double)c->within / (double)c->errors : 0);
}

void card_print(const struct card *c, struct buf *out)
{
	print_trained_on(c, out);
	print_chosen(c->features, &c->chosen, out);
	buf_fmt(out, ",\"tried\":%lld,\"bag\":%d,\"seed\":%llu,\"seconds\":%.1f",
		(long long)c->tried, c->bag, (unsigned long long)c->seed, c->seconds);
	print_report(c, out);
	buf_add(out, c->failure.s, c->failure.n);
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
	table_note(look, out,
		   "Trained on %lld candidates of %lld workloads in %zu env%s, in %.0f s; %lld "
		   "configuration%s tried.",
		   (long long)c->candidates, (long long)c->workloads, c->envs.n,
		   c->envs.n == 1 ? "" : "s", c->seconds, (long long)c->tried,
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
