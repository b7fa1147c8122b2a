#include "lib/target/c_tmul.h"

#include "lib/nest/tmul.h"

/* These are for sums of one type. */
static const char words[] =
	"#ifndef TILE_WORDS\n"
	"#define TILE_WORDS\n"
	"#define TILES(T) \\\n"
	"RUN void tile_zero_##T(T *t, long rows) { for (long i = 0; i < 16 * rows; i++) t[i] = 0; "
	"} \\\n"
	"RUN void tile_repeat_##T(T *t, long rows, const T *from) \\\n"
	"{ for (long i = 0; i < 16 * rows; i++) t[i] = from[i % 16]; } \\\n"
	"RUN void tile_load_##T(T *t, long rows, const T *from, long row) \\\n"
	"{ for (long i = 0; i < 16 * rows; i++) t[i] = from[i / 16 * row + i % 16]; } \\\n"
	"RUN void tile_store_##T(const T *t, long rows, T *to, long row) \\\n"
	"{ for (long i = 0; i < 16 * rows; i++) to[i / 16 * row + i % 16] = t[i]; }\n"
	/* Adds a row of the left side times groups of G values of the right side. */
	"#define TILE_PRODUCTS(T, A, B, G, VALUE) \\\n"
	"RUN void tile_add_##T##_##A(T *t, long rows, long depth, const A *a, long a_row, \\\n"
	"const B *b, long b_row) \\\n"
	"{ for (long r = 0; r < rows; r++) for (long k = 0; k < depth; k++) { \\\n"
	"  const T x = VALUE(&a[r * a_row + k]); const B *y = &b[k / G * b_row + k % G]; \\\n"
	"  for (long c = 0; c < 16; c++) t[16 * r + c] += x * VALUE(&y[G * c]); } }\n"
	"#define WHOLE(p) (*(p))\n"
	"#endif\n";

static const struct {
	enum elem left;
	const char *words;
} products[] = {
	{ELEM_BF16, "#ifndef TILE_BF16\n#define TILE_BF16\n"
		    "TILES(float) TILE_PRODUCTS(float, bf16, bf16, 2, load_v1_bf16)\n#endif\n"},
	{ELEM_S8, "#ifndef TILE_S32\n#define TILE_S32\nTILES(s32)\n#endif\n"
		  "#ifndef TILE_S8\n#define TILE_S8\n"
		  "TILE_PRODUCTS(s32, s8, s8, 4, WHOLE)\n#endif\n"},
	{ELEM_U8, "#ifndef TILE_S32\n#define TILE_S32\nTILES(s32)\n#endif\n"
		  "#ifndef TILE_U8\n#define TILE_U8\n"
		  "TILE_PRODUCTS(s32, u8, s8, 4, WHOLE)\n#endif\n"},
};

static enum elem elem_at(const struct nest *n, int buffer)
{
	return n->buffer[nest_base(n, buffer)].elem;
}

void c_tmul_words(const struct nest *n, struct buf *out)
{
	const struct node *t = tmul_first(n);

	if (!t)
		return;
	buf_str(out, words);
	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		if (products[i].left == elem_at(n, t->tmul->left))
			buf_str(out, products[i].words);
}

void c_tmul_declare(struct text *p, int tiles)
{
	const struct buffer *b = &p->n->buffer[tiles];

	buf_fmt(p->out, "\t%s ", text_elem(b->elem));
	text_buffer(p, tiles);
	buf_fmt(p->out, "[%lld][%d];\n", (long long)b->size, b->lanes);
}

/* "tile_WORD_TYPE", of the sums' type. */
static void word(struct text *p, const struct node *t)
{
	static const char *const words_of[] = {[TMUL_ZERO] = "zero",
					       [TMUL_REPEAT] = "repeat",
					       [TMUL_LOAD] = "load",
					       [TMUL_ADD] = "add",
					       [TMUL_STORE] = "store"};

	buf_fmt(p->out, "tile_%s_%s", words_of[t->tmul->op],
		text_elem(p->n->buffer[t->buffer].elem));
	if (t->tmul->op == TMUL_ADD)
		buf_fmt(p->out, "_%s", text_elem(elem_at(p->n, t->tmul->left)));
}

/* ", &ELEMENT" */
static void pointer(struct text *p, int buffer, struct affine at)
{
	buf_str(p->out, ", &");
	text_element(p, buffer, &at);
}

/* product: which one of those that are added. */
static void tile(struct text *p, const struct node *t, int i, int j, int product)
{
	const struct tmul *m = t->tmul;
	struct affine at = af_add(m->at, af(m->vector * j + tmul_right_half(m, product)));

	text_indent(p);
	word(p, t);
	buf_ch(p->out, '(');
	text_buffer(p, t->buffer);
	buf_fmt(p->out, "[%d], %d", i * m->across + j, p->n->buffer[t->buffer].tile_rows);
	if (m->op == TMUL_ADD) {
		buf_fmt(p->out, ", %d", m->depth);
		pointer(p, m->left, af_add(tmul_left(p->n, t, i), af(tmul_left_half(m, product))));
		buf_str(p->out, ", ");
		text_affine(p, &m->left_row);
	}
	if (m->op == TMUL_LOAD || m->op == TMUL_STORE)
		at = af_add(at,
			    af(m->row * (tmul_line(t, i) * m->height + tmul_begin(p->n, t, i))));
	if (m->op != TMUL_ZERO)
		pointer(p, m->memory, at);
	if (m->op != TMUL_ZERO && m->op != TMUL_REPEAT)
		buf_fmt(p->out, ", %lld", (long long)m->row);
	buf_str(p->out, ");\n");
}

void c_tmul(struct text *p, const struct node *t)
{
	for (int product = 0; product < tmul_products(t->tmul); product++)
		for (int i = 0; i < t->tmul->down; i++)
			for (int j = 0; j < t->tmul->across; j++)
				tile(p, t, i, j, product);
}
