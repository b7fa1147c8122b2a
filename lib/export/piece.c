#include "lib/export/piece.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/nest/tmul.h"

/* The instruction set of the widest vectors that the program has; with its instructions for bf16
 * where it multiplies groups in such vectors, and with tile registers where it has some. */
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

		if (b->kind == BUFFER_REG && !b->tile_rows && b->lanes > lanes)
			lanes = b->lanes;
		groups |= b->kind == BUFFER_REG && b->elem == ELEM_BF16X2;
	}
	if (tmul_first(n))
		return isa_find("avx512_amx");
	isa = isa_of_lanes(lanes);
	return groups && !strcmp(isa->name, "avx512") ? isa_find("avx512_bf16") : isa;
}

/* Has the CPU of the env AVX512_BF16? */
static int has_bf16(const struct json_doc *d, const struct json *env, struct arena *a)
{
	const char *features = NULL;

	return json_str(json_get(d, env, "features"), a, &features) == 0 && features &&
	       strstr(features, "avx512bf16");
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

/* A stand-in is taken where there is nothing else. The last one that led is the best known;
 * where none did, the quickest. */
static int is_better(const struct piece *x, const struct piece *than)
{
	if (x->stands_in != than->stands_in)
		return than->stands_in;
	if (x->leads != than->leads)
		return x->leads;
	if (x->leads)
		return strcmp(x->at, than->at) >= 0;
	if (isnan(x->latency_s) != isnan(than->latency_s))
		return isnan(than->latency_s);
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

static int has_types(const struct dtypes *d)
{
	return dtypes_are_f32(d) || (d->src == DTYPE_BF16 && d->wei == DTYPE_BF16 &&
				     (d->dst == DTYPE_BF16 || d->dst == DTYPE_F32));
}

/* A kernel in bf16 that multiplies in single precision runs on all of AVX-512, and where there is
 * AVX512_BF16 it rounds by that: so it is two pieces, each with instructions of its own. One of
 * them was measured, and the other stands in where no other kernel is known. */
static void put_both(struct pieces *p, const struct piece *x, int with_bf16)
{
	struct piece plain = *x, other = *x;

	plain.stands_in = with_bf16;
	put(p, &plain);
	other.isa = isa_find("avx512_bf16");
	other.stands_in = !with_bf16;
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
	if (x.c.w.dtype.src == DTYPE_BF16 && !strcmp(x.isa->name, "avx512"))
		put_both(p, &x, is_result && has_bf16(d, json_get(d, d->tok, "env"), &p->record));
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
