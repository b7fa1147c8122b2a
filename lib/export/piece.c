#include "lib/export/piece.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/nest/tmul.h"

/* The instruction set of the widest vectors that the program has; with its instructions for bf16
 * or for products of four where it multiplies groups in such vectors, and with tile registers where
 * it has some. */
static const struct isa *isa_of(const struct candidate *c, struct arena *a, struct err *e)
{
	struct nest *n = arena_new(a, struct nest);
	const struct isa *isa;
	int lanes = 1, groups = 0;

	nest_init(n, a, c->algo->name);
	if (candidate_build(c, n, e))
		return NULL;
	for (int i = 0; i < n->nbuffers; i++) {
		const struct buffer *b = &n->buffer[i];

		if (b->kind != BUFFER_REG)
			continue;
		if (!b->tile_rows && b->lanes > lanes)
			lanes = b->lanes;
		groups |= 1 << b->elem;
	}
	if (tmul_first(n))
		return isa_find("avx512_amx");
	isa = isa_of_lanes(lanes);
	if (strcmp(isa->name, "avx512") != 0)
		return isa;
	return isa_find(groups >> ELEM_BF16X2 & 1 ? "avx512_bf16"
			: groups >> ELEM_U8X4 & 1 ? "avx512_vnni"
						  : "avx512");
}

/* A kernel without an instruction for groups of its types runs on all of AVX-512, and where there
 * is one, a printer may use it: to round to bf16, or to sum products of pairs. So it is two pieces,
 * each with instructions of its own. */
static const struct beside {
	const char *isa, *feature; /* as an env names it */
} beside_bf16 = {"avx512_bf16", "avx512bf16"}, beside_whole = {"avx512_vnni", "avx512vnni"};

static const struct beside *beside_of(const struct piece *x)
{
	const struct dtypes *d = &x->c.w.dtype;

	if (strcmp(x->isa->name, "avx512") != 0)
		return NULL;
	return d->src == DTYPE_BF16 ? &beside_bf16 : dtype_is_int(d->src) ? &beside_whole : NULL;
}

/* Has the CPU of the env these instructions? */
static int has_feature(const char *feature, const struct json_doc *d, struct arena *a)
{
	const struct json *env = json_get(d, d->tok, "env");
	const char *features = NULL;

	return json_str(json_get(d, env, "features"), a, &features) == 0 && features &&
	       strstr(features, feature);
}

static void measured(const struct json_doc *d, struct arena *a, struct piece *x)
{
	const struct json *env = json_get(d, d->tok, "env");
	struct result s;

	result_read(&s, d, a);
	x->final = s.stage == STAGE_FINAL;
	x->latency_s = s.latency_s;
	x->ci_s = s.ci_s;
	x->ratio = s.ratio.median;
	x->ratio_ci = s.ratio.ci;
	x->verdict = s.verdict ? s.verdict : "";
	x->baseline = s.baseline.impl ? s.baseline.impl : "";
	json_str(json_get(d, env, "cpu"), a, &x->cpu);
	x->env_id = s.env_id ? s.env_id : "";
	x->at = s.at ? s.at : "";
	json_int(json_get(d, env, "threads"), &x->threads);
	x->leads = s.incumbent;
}

/* What was measured goes before what was not, and a stand-in is taken where there is nothing else.
 * The last one that led is the best known; where none did, the quickest. */
static int is_better(const struct piece *x, const struct piece *than)
{
	if (isnan(x->latency_s) != isnan(than->latency_s))
		return isnan(than->latency_s);
	if (x->stands_in != than->stands_in)
		return than->stands_in;
	if (x->leads != than->leads)
		return x->leads;
	if (x->leads)
		return strcmp(x->at, than->at) >= 0;
	return x->latency_s < than->latency_s;
}

/* x is kept, and the text that it points to is copied. */
static void put(struct pieces *p, const struct piece *x)
{
	char key[ID_HEX + 16];
	struct piece *kept;
	void **place;

	snprintf(key, sizeof key, "%s %s", x->c.w.id.s, x->isa->name);
	place = map_put(&p->map, key, strlen(key), NULL);
	kept = *place;
	if (kept && (!is_better(x, kept) || (p->keeps && x->stands_in == kept->stands_in)))
		return;
	if (!kept)
		kept = *place = arena_new(&p->arena, struct piece);
	*kept = *x;
	kept->verdict = arena_strdup(&p->arena, x->verdict);
	kept->baseline = arena_strdup(&p->arena, x->baseline);
	kept->cpu = arena_strdup(&p->arena, x->cpu);
	kept->env_id = arena_strdup(&p->arena, x->env_id);
	kept->at = arena_strdup(&p->arena, x->at);
}

/* Processors have kernels in bf16, but none in the other types of 16 bits. */
static int has_types(const struct dtypes *d)
{
	return d->src != DTYPE_F16 && d->wei != DTYPE_F16 && d->dst != DTYPE_F16 &&
	       d->src != DTYPE_TF32;
}

/* One of them was measured, and the other stands in where no other kernel is known. */
static void put_both(struct pieces *p, const struct piece *x, const char *isa, int was_beside)
{
	struct piece plain = *x, other = *x;

	plain.stands_in = was_beside;
	put(p, &plain);
	other.isa = isa_find(isa);
	other.stands_in = !was_beside;
	put(p, &other);
}

int pieces_may_take(struct pieces *p, const struct workload *w)
{
	if (has_types(&w->dtype))
		return 1;
	map_put(&p->other_types, w->id.s, ID_HEX, NULL);
	return 0;
}

int pieces_take(struct pieces *p, const struct json_doc *d, int is_result, struct err *e)
{
	struct piece x = {.latency_s = NAN,
			  .ci_s = {NAN, NAN},
			  .ratio = NAN,
			  .ratio_ci = {NAN, NAN},
			  .verdict = "",
			  .baseline = "",
			  .cpu = "",
			  .env_id = "",
			  .at = ""};
	const struct beside *beside;

	if (is_result && status_get(d, d->tok) != STATUS_OK)
		return 0;
	if (is_result ? door_result(&p->door, d, &x.c, e)
		      : candidate_read(&p->door.reader, &x.c, d,
				       json_get(d, d->tok, "candidate_id") != NULL, e))
		return -1;
	if (!pieces_may_take(p, &x.c.w))
		return 0;
	arena_reset(&p->record);
	x.isa = isa_of(&x.c, &p->record, e);
	if (!x.isa)
		return -1;
	if (is_result)
		measured(d, &p->record, &x);
	beside = beside_of(&x);
	if (beside)
		put_both(p, &x, beside->isa,
			 is_result && has_feature(beside->feature, d, &p->record));
	else
		put(p, &x);
	return 1;
}

static int are_alike(const struct piece *x, const struct piece *y)
{
	return !strcmp(x->c.w.id.s, y->c.w.id.s);
}

/* Has an earlier piece the same workload? */
static int is_seen(const struct map *m, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (are_alike(m->item[j].value, m->item[i].value))
			return 1;
	return 0;
}

struct piece **pieces_list(struct pieces *p, size_t *n)
{
	struct piece **list = arena_array(&p->arena, struct piece *, p->map.n + 1);
	const struct map *m = &p->map;

	*n = 0;
	for (size_t i = 0; i < m->n; i++) {
		if (is_seen(m, i))
			continue;
		for (const struct isa *isa = isa_list; isa->name; isa++)
			for (size_t j = i; j < m->n; j++) {
				struct piece *x = m->item[j].value;

				if (x->isa == isa && are_alike(x, m->item[i].value))
					list[(*n)++] = x;
			}
	}
	return list;
}

void pieces_free(struct pieces *p)
{
	door_free(&p->door);
	map_free(&p->map);
	map_free(&p->other_types);
	arena_free(&p->record);
	arena_free(&p->arena);
}
