/* What the tensors of a model multiply. The names are those of llama.cpp (gguf-py, constants.py).
 *
 * A matrix of weights is a linear layer, whose rows are the words, the parts of an image or the
 * moments of audio that are computed at once. Attention has two products, of as many heads as the
 * keys tell. Of experts, each word uses some; all words together use them evenly. The head makes
 * what comes after the last word of each sequence.
 */
#include "lib/extract/gguf/gguf.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/graph/build.h"

#define GGUF_DOMAIN "gguf"

enum {
	LONGEST = 4200,	  /* characters of names that are made */
	AUDIO_STRIDE = 2, /* of the second convolution, as Whisper's */
};

struct network {
	struct build b;
	const struct gguf *f;
	const struct gguf_sizes *s;
	int64_t patches, image_rows; /* of one image; with a class */
	int64_t merged;		     /* rows behind a projection that joins several; 0: none yet */
};

/* ---- nodes ---- */

/* A value of that shape; a constant, or what comes from elsewhere. rank RANK_UNKNOWN: unknown. */
static int value(struct network *n, const char *name, int is_const, int rank, const int64_t *dim)
{
	const int i = build_value(&n->b, name);
	struct value *v = n->b.g->value[i];
	struct declared *d = arena_new(n->b.a, struct declared);

	d->elem = VALUE_F32;
	d->shape.rank = rank;
	for (int k = 0; k < rank; k++)
		d->shape.dim[k] = dim[k];
	v->declared = d;
	v->elem = VALUE_F32;
	v->is_const = is_const;
	v->is_input = !is_const;
	v->shape = d->shape;
	return i;
}

static const char *joined(struct network *n, const char *name, const char *more)
{
	return arena_printf(n->b.a, "%s%s", name, more);
}

static struct graph_node *node(struct network *n, const char *type, const char *name, int a, int b)
{
	const int in[] = {a, b}, out = build_value(&n->b, joined(n, name, ".out"));
	struct graph_node *made = build_node(&n->b, type, in, 2, &out, 1);

	made->name = name;
	return made;
}

/* A bias of that many elements, if there is a tensor of that name. */
static void add_bias(struct network *n, const char *name, int64_t size)
{
	const struct gguf_tensor *t = gguf_tensor(n->f, joined(n, name, ".bias"));
	const int from = n->b.g->node[n->b.g->nnode - 1].out[0];

	if (t && t->dim[0] == size && t->dim[1] == 1)
		node(n, "Add", joined(n, name, ".bias"), from, value(n, t->name, 1, 1, &size));
}

/* rows x k by k x cols. */
static void linear(struct network *n, const char *name, int64_t rows, int64_t k, int64_t cols)
{
	const int64_t data[] = {rows, k}, weights[] = {cols, k};
	const int x = value(n, joined(n, name, ".in"), 0, 2, data);
	const int w = value(n, joined(n, name, ".weight"), 1, 2, weights);

	build_int(&n->b, node(n, "MatMul", name, x, w), "transB", 1);
	add_bias(n, name, cols);
}

/* batch times m x k by k x cols, of two computed sides, or one of weights. */
static void product(struct network *n, const char *name, const int64_t size[4], int is_const)
{
	const int64_t left[] = {size[0], size[1], size[2]}, right[] = {size[0], size[2], size[3]};

	node(n, "MatMul", name, value(n, joined(n, name, ".left"), 0, 3, left),
	     value(n, joined(n, name, ".right"), is_const, 3, right));
}

/* Something of which not all sizes are known. */
static void unknown(struct network *n, const char *type, const char *name)
{
	node(n, type, name, value(n, joined(n, name, ".in"), 0, RANK_UNKNOWN, NULL),
	     value(n, joined(n, name, ".weight"), 1, RANK_UNKNOWN, NULL));
}

/* ---- rows ---- */

static int ends(const char *s, const char *with)
{
	const size_t n = strlen(s), k = strlen(with);

	return n >= k && !strcmp(s + n - k, with);
}

static int64_t times(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_mul_overflow(a, b, &r) || r > MAX_ELEMENTS ? MAX_ELEMENTS : r;
}

static int64_t audio_rows(const struct network *n)
{
	return (n->s->frames + AUDIO_STRIDE - 1) / AUDIO_STRIDE;
}

/* What joins images or audio to words may first join several rows to one: k is so many times what
 * a row has. */
static int64_t projected(struct network *n, int64_t rows, const char *width, int64_t k)
{
	const int64_t row = gguf_number(n->f, width, -1, 0);

	if (!n->merged)
		n->merged = row > 0 && k >= row && k % row == 0 && rows % (k / row) == 0
				    ? rows / (k / row)
				    : rows;
	return n->merged;
}

/* How many rows the data of a tensor have in one sequence. */
static int64_t rows_of(struct network *n, const struct gguf_tensor *t)
{
	if (words_begin("v.", t->name))
		return n->image_rows;
	if (words_begin("a.", t->name))
		return audio_rows(n);
	if (words_begin("mm.a.", t->name))
		return projected(n, audio_rows(n), "clip.audio.embedding_length", t->dim[0]);
	if (words_begin("mm. resampler.", t->name))
		return projected(n, n->patches, "clip.vision.embedding_length", t->dim[0]);
	if (!strcmp(t->name, "output.weight") || words_begin("cls.", t->name))
		return 1;
	return n->s->seq;
}

/* ---- tensors ---- */

/* Matrices that are looked up, added or multiplied element by element. */
static int is_table(const char *name)
{
	return words_in("token_embd position_embd pos_embd class_embd token_types embedding "
			"embed_tokens rel_b. rel_pos norm lerp time_mix_first decay. time_mix_r_k "
			"gamma query pos_h pos_w scale rope_ sinks pos_bias correct_coef",
			name) != NULL;
}

/* A convolution over time, of stride 1 and as long as its data; that over the last words of each
 * channel (ssm_conv1d) has a state before them. */
static void convolution_1d(struct network *n, const struct gguf_tensor *t, const char *name)
{
	const int by_channel = t->rank == 2, is_second = ends(name, "conv1d.1");
	const int64_t ic = t->dim[1], oc = by_channel ? ic : t->dim[2];
	const int64_t k = t->dim[0],
		      stride = is_second && words_begin("a.", name) ? AUDIO_STRIDE : 1;
	const int64_t length =
		words_begin("a.", name) ? n->s->frames : n->s->seq + (by_channel ? k - 1 : 0);
	const int64_t data[] = {n->s->batch, ic, length}, weights[] = {oc, by_channel ? 1 : ic, k};
	const int64_t pads[] = {(k - 1) / 2, k / 2};
	struct graph_node *made =
		node(n, "Conv", name, value(n, joined(n, name, ".in"), 0, 3, data),
		     value(n, joined(n, name, ".weight"), 1, 3, weights));

	build_ints(&n->b, made, "strides", &stride, 1);
	build_int(&n->b, made, "group", by_channel ? ic : 1);
	if (!by_channel)
		build_ints(&n->b, made, "pads", pads, 2);
}

/* The parts of an image: a convolution whose stride is its kernel. */
static void patches(struct network *n, const struct gguf_tensor *t, const char *name)
{
	const int64_t side = gguf_number(n->f, "clip.vision.image_size", -1, 0);
	const int64_t data[] = {n->s->batch, t->dim[2], side, side};
	const int64_t weights[] = {t->dim[3], t->dim[2], t->dim[1], t->dim[0]};
	struct graph_node *made;

	if (side < t->dim[0] || side < t->dim[1] || side > 1 << 16 || !t->dim[0] || !t->dim[1]) {
		unknown(n, "Conv", name);
		return;
	}
	made = node(n, "Conv", name, value(n, joined(n, name, ".in"), 0, 4, data),
		    value(n, joined(n, name, ".weight"), 1, 4, weights));
	build_ints(&n->b, made, "strides", weights + 2, 2);
}

/* All words together use so many experts, each for so many words. */
static void experts(struct network *n, const struct gguf_tensor *t, const char *name)
{
	const int64_t rows = times(n->s->batch, n->s->seq), all = t->dim[2];
	const int64_t used = gguf_own(n->f, "expert_used_count", -1, 0);
	const int64_t pairs = times(rows, used), active = pairs < all ? pairs : all;
	struct network body = *n;
	struct graph *sub;
	struct graph_node *loop;

	if (used < 1 || used > all) {
		unknown(n, "MatMul", name);
		return;
	}
	sub = arena_new(n->b.a, struct graph);
	graph_init(sub, n->b.a);
	body.b = (struct build){.a = n->b.a, .g = sub};
	linear(&body, name, (pairs + active - 1) / active, t->dim[0], t->dim[1]);
	sub->times = active > TIMES_MOST ? TIMES_MOST : active;
	graph_link(sub, NULL);
	loop = build_node(&n->b, "Experts", NULL, 0, NULL, 0);
	loop->name = name;
	loop->domain = GGUF_DOMAIN;
	loop->attr = arena_new(n->b.a, struct attr);
	*loop->attr = (struct attr){.name = "expert", .subgraph = sub};
	loop->nattr = 1;
}

static void add_tensor(struct network *n, const struct gguf_tensor *t)
{
	const size_t length = strlen(t->name), ending = strlen(".weight");
	const char *name;

	/* The filters of two images that follow each other (Qwen2-VL). */
	if (!strcmp(t->name, "v.patch_embd.weight.1") && t->rank == 4)
		patches(n, t, "v.patch_embd.1");
	if (!ends(t->name, ".weight") || t->rank < 2 || is_table(t->name))
		return;
	name = arena_strndup(n->b.a, t->name, length - ending);
	if (strstr(name, ".nextn."))
		unknown(n, "MatMul", name); /* it guesses further words, if at all */
	else if (ends(name, "patch_embd") && t->rank == 4)
		patches(n, t, name);
	else if (t->rank < 4 && strstr(name, "conv1d"))
		convolution_1d(n, t, name);
	else if (t->rank == 2 && ends(name, "shortconv.conv"))
		convolution_1d(n, t, name);
	else if (t->rank == 4 || strstr(name, "conv"))
		unknown(n, "Conv", name);
	else if (t->rank == 3 && ends(name, "exps"))
		experts(n, t, name);
	else if (t->rank == 3)
		product(n, name,
			(int64_t[]){t->dim[2], times(n->s->batch, n->s->seq), t->dim[0], t->dim[1]},
			1);
	else
		linear(n, name, times(n->s->batch, rows_of(n, t)), t->dim[0], t->dim[1]);
}

/* ---- attention ---- */

/* Where blocks of a kind have their names and numbers. */
struct stack {
	const char *prefix; /* of its blocks, before their number */
	const char *keys;   /* what the keys begin with; NULL: with the architecture */
};

static int64_t number(const struct network *n, const struct stack *s, const char *what, int layer)
{
	char key[80];

	snprintf(key, sizeof key, "%sattention.%s", s->keys ? s->keys : "", what);
	return s->keys ? gguf_number(n->f, key, layer, 0) : gguf_own(n->f, key, layer, 0);
}

static const struct gguf_tensor *part(const struct network *n, const char *block, const char *what)
{
	char name[LONGEST];

	snprintf(name, sizeof name, "%s.%s.weight", block, what);
	return gguf_tensor(n->f, name);
}

/* Elements of a head's key and value; 0: not known. */
static void head_sizes(const struct network *n, const struct stack *s, const char *block, int layer,
		       int64_t heads, int64_t *key, int64_t *value_size)
{
	const struct gguf_tensor *q = part(n, block, "attn_q"),
				 *out = part(n, block, "attn_output");

	if (!out)
		out = part(n, block, "attn_out");
	if (!out)
		out = part(n, block, "attn_o");
	*key = number(n, s, "key_length", layer);
	*value_size = number(n, s, "value_length", layer);
	if (q && *key <= 0 && q->dim[1] % heads == 0)
		*key = q->dim[1] / heads;
	if (out && *value_size <= 0 && out->dim[0] % heads == 0)
		*value_size = out->dim[0] / heads;
	if (*key <= 0)
		*key = *value_size;
	if (*value_size <= 0)
		*value_size = *key;
}

/* Scores of all words before and at hand, and what they weigh. */
static void attend(struct network *n, const char *block, const char *what, int64_t heads,
		   int64_t rows, int64_t columns, int64_t key, int64_t value_size)
{
	const int64_t batch = times(n->s->batch, heads);

	product(n, arena_printf(n->b.a, "%s.%s.scores", block, what),
		(int64_t[]){batch, rows, key, columns}, 0);
	product(n, arena_printf(n->b.a, "%s.%s.values", block, what),
		(int64_t[]){batch, rows, columns, value_size}, 0);
}

static void add_block(struct network *n, const struct stack *s, const char *block, int layer,
		      const struct gguf_tensor *query)
{
	int64_t heads = number(n, s, "head_count", layer), key = 0, value_size = 0, rows, columns;

	if (heads > 0)
		head_sizes(n, s, block, layer, heads, &key, &value_size);
	if (key < 1) {
		unknown(n, "MatMul", joined(n, block, ".attn.scores"));
		unknown(n, "MatMul", joined(n, block, ".attn.values"));
		return;
	}
	rows = rows_of(n, query);
	columns = !s->keys && !words_begin("enc.", s->prefix) ? rows + n->s->past : rows;
	attend(n, block, "attn", heads, rows, columns, key, value_size);
	if (part(n, block, "cross_attn_q"))
		attend(n, block, "cross_attn", heads, rows, n->s->seq, key, value_size);
}

/* The number of the block that begins so, if the tensor makes its queries; -1: it does not. */
static int queries_of(const char *name, const char *prefix)
{
	int layer = 0, digits = 0;

	if (!words_begin(prefix, name))
		return -1;
	for (name += strlen(prefix); *name >= '0' && *name <= '9' && digits < 6; name++, digits++)
		layer = 10 * layer + *name - '0';
	return digits && words_are(".attn_q.weight .attn_qkv.weight .attn_q_b.weight", name) ? layer
											     : -1;
}

static void add_attention(struct network *n)
{
	static const struct stack stacks[] = {{"blk.", NULL},
					      {"enc.blk.", NULL},
					      {"dec.blk.", NULL},
					      {"v.blk.", "clip.vision."},
					      {"a.blk.", "clip.audio."}};

	for (int i = 0; i < n->f->ntensor; i++)
		for (size_t k = 0; k < sizeof stacks / sizeof *stacks; k++) {
			const struct gguf_tensor *t = &n->f->tensor[i];
			const int layer = queries_of(t->name, stacks[k].prefix);

			if (layer >= 0)
				add_block(n, &stacks[k],
					  arena_strndup(
						  n->b.a, t->name,
						  (size_t)(strstr(t->name, ".attn_q") - t->name)),
					  layer, t);
		}
}

/* ---- the whole ---- */

/* Without a head of its own, a model that writes uses the table of its words as one. */
static void add_tied_head(struct network *n)
{
	const struct gguf_tensor *words = gguf_tensor(n->f, "token_embd.weight");

	if (words && words->rank == 2 && !gguf_tensor(n->f, "output.weight") &&
	    gguf_tensor(n->f, "output_norm.weight") && gguf_own(n->f, "pooling_type", -1, -1) < 0 &&
	    gguf_own(n->f, "attention.causal", -1, 1))
		linear(n, "output", n->s->batch, words->dim[0], words->dim[1]);
}

static void measure_image(struct network *n)
{
	const int64_t side = gguf_number(n->f, "clip.vision.image_size", -1, 0);
	const int64_t patch = gguf_number(n->f, "clip.vision.patch_size", -1, 0);

	n->patches =
		patch > 0 && side >= patch && side <= 1 << 16 ? (side / patch) * (side / patch) : 1;
	n->image_rows = n->patches + (gguf_tensor(n->f, "v.class_embd") != NULL);
}

int gguf_network(struct graph *g, const struct gguf *f, const struct gguf_sizes *s, struct err *e)
{
	struct network n = {.b = {.a = g->a, .g = g}, .f = f, .s = s};

	g->is_shaped = 1;
	measure_image(&n);
	for (int i = 0; i < f->ntensor; i++)
		add_tensor(&n, &f->tensor[i]);
	add_attention(&n);
	add_tied_head(&n);
	return graph_link(g, e);
}
