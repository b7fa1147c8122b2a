#include "lib/export/piece.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/nest/nest.h"

static const char *text(struct pieces *p, const struct json *v)
{
	const char *s = "";

	json_str(v, &p->arena, &s);
	return s;
}

static double number(const struct json *v)
{
	double x = NAN;

	json_num(v, &x);
	return x;
}

static void interval(const struct json_doc *d, const struct json *v, double ci[2])
{
	const struct json *lo = v && v->type == JSON_ARR ? json_first(d, v) : NULL;

	ci[0] = number(lo);
	ci[1] = lo ? number(json_next(d, v, lo)) : NAN;
}

/* Instruction set of the widest vectors that the program has. */
static const struct isa *isa_of(const struct candidate *c, struct arena *a, struct err *e)
{
	struct nest *n = arena_new(a, struct nest);
	int lanes = 1;

	nest_init(n, a, c->algo->name);
	if (candidate_build(c, n, e))
		return NULL;
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_REG && n->buffer[i].lanes > lanes)
			lanes = n->buffer[i].lanes;
	return isa_of_lanes(lanes);
}

static void measured(struct pieces *p, const struct json_doc *d, struct piece *x)
{
	const struct json *env = json_get(d, d->tok, "env"), *ratio = json_get(d, d->tok, "ratio");

	x->final = json_is(json_get(d, d->tok, "stage"), "final");
	x->latency_s = number(json_get(d, d->tok, "latency_s"));
	interval(d, json_get(d, d->tok, "ci_s"), x->ci_s);
	x->ratio = number(json_get(d, ratio, "median"));
	interval(d, json_get(d, ratio, "ci"), x->ratio_ci);
	x->verdict = text(p, json_get(d, d->tok, "verdict"));
	x->library = text(p, json_get(d, json_get(d, d->tok, "baseline"), "impl"));
	x->cpu = text(p, json_get(d, env, "cpu"));
	x->env_id = text(p, json_get(d, d->tok, "env_id"));
	x->at = text(p, json_get(d, d->tok, "at"));
	json_int(json_get(d, env, "threads"), &x->threads);
	json_bool(json_get(d, d->tok, "incumbent"), &x->leads);
}

/* The last one that led is the best known; where none did, the quickest. */
static int is_better(const struct piece *x, const struct piece *than)
{
	if (x->leads != than->leads)
		return x->leads;
	if (x->leads)
		return strcmp(x->at, than->at) >= 0;
	if (isnan(x->latency_s) != isnan(than->latency_s))
		return isnan(than->latency_s);
	return x->latency_s < than->latency_s;
}

static void put(struct pieces *p, const struct piece *x)
{
	const char *key = arena_printf(&p->arena, "%s %s", x->c.w.id.s, x->isa->name);
	void **place = map_put(&p->map, key, strlen(key), NULL);

	if (!*place)
		*place = arena_new(&p->arena, struct piece);
	else if (!is_better(x, *place))
		return;
	*(struct piece *)*place = *x;
}

int pieces_take(struct pieces *p, const struct json_doc *d, int is_result, struct err *e)
{
	struct piece x = {.latency_s = NAN,
			  .ci_s = {NAN, NAN},
			  .ratio = NAN,
			  .ratio_ci = {NAN, NAN},
			  .verdict = "",
			  .library = "",
			  .cpu = "",
			  .env_id = "",
			  .at = ""};
	struct arena scratch = ARENA_INIT;

	if (is_result && !json_is(json_get(d, d->tok, "status"), "ok"))
		return 0;
	if (candidate_read(&p->reader, &x.c, d, 0, e))
		return -1;
	x.isa = isa_of(&x.c, &scratch, e);
	arena_free(&scratch);
	if (!x.isa)
		return -1;
	if (is_result)
		measured(p, d, &x);
	put(p, &x);
	return 1;
}

/* Where the workload of piece i was first seen. */
static size_t first_of(const struct map *m, size_t i)
{
	const struct piece *x = m->item[i].value;

	for (size_t j = 0; j < i; j++)
		if (!strcmp(((struct piece *)m->item[j].value)->c.w.id.s, x->c.w.id.s))
			return j;
	return i;
}

struct piece **pieces_list(struct pieces *p, size_t *n)
{
	struct piece **list = arena_array(&p->arena, struct piece *, p->map.n + 1);

	*n = 0;
	for (size_t i = 0; i < p->map.n; i++) {
		if (first_of(&p->map, i) != i)
			continue;
		for (const struct isa *isa = isa_list; isa->name; isa++)
			for (size_t j = i; j < p->map.n; j++) {
				struct piece *x = p->map.item[j].value;

				if (x->isa == isa && first_of(&p->map, j) == i)
					list[(*n)++] = x;
			}
	}
	return list;
}

void pieces_free(struct pieces *p)
{
	candidate_reader_free(&p->reader);
	map_free(&p->map);
	arena_free(&p->arena);
}
