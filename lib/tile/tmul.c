/* Tiles that have tile registers (lib/nest/tmul.h): of bf16, and of whole numbers of 8 bits.
 *
 * The left side is read where it lies, a row of it as many values as a step takes. The sums begin
 * with zero or the bias. At the end they are put down in near memory, and post-ops take them from
 * there.
 */
#include "lib/nest/tmul.h"

#include "lib/tile/brgemm.h"
#include "lib/tile/tile.h"

static int64_t tiles_of(int64_t rows)
{
	return (rows + TMUL_ROWS - 1) / TMUL_ROWS;
}

int brgemm_tiles_fit(int64_t lanes, int64_t nv, int64_t rows, int64_t lines, const char **why)
{
	*why = "a knob of the tile registers is outside its range";
	if (lanes != TMUL_COLUMNS || nv < 1 || nv > BRGEMM_TILES || rows < 1 ||
	    rows > BRGEMM_TILES * TMUL_ROWS || lines < 1 || lines > BRGEMM_TILES)
		return 0;
	*why = "the sums and both sides need more tile registers than there are";
	return lines * tiles_of(rows) * nv + nv + 1 <= TMUL_REGISTERS;
}

/* Lines that are apart, and rows of each, of which a tile has `rows` results. */
static int lines_of(const struct brgemm *g)
{
	return g->lines && !g->run ? g->lines : 1;
}

static int height_of(const struct brgemm *g, int rows)
{
	return g->run ? (g->lines - 1) * g->run + rows : rows;
}

static void registers(struct nest *n, struct brgemm *g, int max_rows)
{
	static const char name[] = "sums";
	const int height = height_of(g, max_rows), down = (int)tiles_of(height);

	g->tiles = nest_tiles(n, "tile", g->tile->sum, (height + down - 1) / down,
			      down * lines_of(g), g->nv);
	g->acc = nest_near(n, name, BRGEMM_TILES * TMUL_ROWS * TMUL_COLUMNS);
	nest_elem(n, g->acc, g->tile->sum);
	g->areg = g->breg = -1;
}

static struct tmul operation(const struct nest *n, const struct brgemm *g, int rows,
			     enum tmul_op op)
{
	const int each = n->buffer[g->tiles].tile_rows, height = height_of(g, rows);

	return (struct tmul){.op = op,
			     .down = lines_of(g) * ((height + each - 1) / each),
			     .across = g->nv,
			     .lines = lines_of(g),
			     .height = height};
}

static void begin(struct nest *n, const struct brgemm *g, int rows, int bias, struct affine at)
{
	struct tmul m = operation(n, g, rows, bias < 0 ? TMUL_ZERO : TMUL_REPEAT);

	m.memory = bias;
	m.at = at;
	m.vector = g->lanes;
	nest_tmul(n, g->tiles, &m);
}

static void move(struct nest *n, const struct brgemm *g, int rows, enum tmul_op op, int memory,
		 struct affine at)
{
	struct tmul m = operation(n, g, rows, op);

	m.memory = memory;
	m.at = at;
	m.row = (int64_t)g->nv * g->lanes;
	m.vector = g->lanes;
	nest_tmul(n, g->tiles, &m);
}

static void end(struct nest *n, const struct brgemm *g, int rows)
{
	move(n, g, rows, TMUL_STORE, g->acc, af(0));
}

static void keep(struct nest *n, const struct brgemm *g, int rows, int goes_on)
{
	move(n, g, rows, goes_on ? TMUL_LOAD : TMUL_STORE, g->kept, g->kept_at);
}

/* The groups of a step stand as far apart as a panel is wide. */
static void step(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
		 struct affine b_at)
{
	struct tmul m = operation(n, g, rows, TMUL_ADD);

	m.depth = (int)g->depth;
	m.right = g->tile->right;
	m.left = g->a;
	m.left_at = a_at;
	m.left_row = g->a_row;
	m.left_line = lines_of(g) > 1 ? g->a_line : af(0);
	m.left_half = g->tile->halves ? g->a_half : 0;
	m.memory = g->b;
	m.at = b_at;
	m.row = g->b_k.c / (g->depth / g->tile->group);
	m.half = g->tile->halves ? g->b_half : 0;
	m.vector = g->b_vector;
	m.ahead = g->b_ahead;
	m.next_lines = g->next_lines;
	m.next_from = g->next_from;
	m.next = g->next;
	nest_tmul(n, g->tiles, &m);
}

/* All of them have these. */
#define TMUL                                                                                       \
	.lanes = TMUL_COLUMNS, .registers = registers, .begin = begin, .step = step, .end = end,   \
	.keep = keep

const struct tile tile_tmul_bf16 = {
	.name = "tmul_bf16",
	.group = 2,
	.most = 32,
	.type = DTYPE_BF16,
	.weights = DTYPE_BF16,
	.right = ELEM_BF16X2,
	TMUL,
};

const struct tile tile_tmul_bf16x2 = {
	.name = "tmul_bf16x2",
	.group = 2,
	.most = 32,
	.type = DTYPE_F32,
	.weights = DTYPE_F32,
	.right = ELEM_BF16X2,
	.halves = 1,
	TMUL,
};

const struct tile tile_tmul_u8 = {
	.name = "tmul_u8",
	.group = 4,
	.most = 64,
	.type = DTYPE_U8,
	.weights = DTYPE_S8,
	.sum = ELEM_S32,
	.right = ELEM_S8X4,
	TMUL,
};

const struct tile tile_tmul_s8 = {
	.name = "tmul_s8",
	.group = 4,
	.most = 64,
	.type = DTYPE_S8,
	.weights = DTYPE_S8,
	.sum = ELEM_S32,
	.right = ELEM_S8X4,
	TMUL,
};
