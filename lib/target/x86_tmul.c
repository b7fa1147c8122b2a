/* Operations on tiles (lib/nest/tmul.h) as instructions of AMX: AMX-TILE, AMX-BF16 and AMX-INT8.
 *
 * The sums have tile registers from 0 on, the right side those behind, one for each column of
 * tiles, and the left side the next one; or one for each row of tiles, where it is needed twice
 * and a second load costs more. A core whose other thread is busy has hardly more registers than
 * these eight, so each one that is in use makes products wait: docs/EXPERIMENTS.md, "Tile registers
 * beside a busy thread". The shapes of all registers are loaded once, where the function begins
 * (ldtilecfg), and given up at its end, so that the system need not keep them.
 */
#include "lib/nest/tmul.h"
#include "lib/target/x86_code.h"

enum { PALETTE = 1, LINE_BYTES = 64 };
enum { CHEAP_REGISTERS = 5 }; /* so many in use cost a product next to nothing */

static int right_register(const struct x86 *x, const struct node *t, int j)
{
	return (int)x->n->buffer[t->buffer].size + j;
}

static int sum_register(const struct node *t, int i, int j)
{
	return i * t->tmul->across + j;
}

/* Puts the address of an element into a register. */
static void address(struct x86 *x, int buffer, const struct affine *at, const char *reg)
{
	const struct linear l = x86_linear(x, at);

	x86_evaluate(x, &l, "%rax");
	x86_line(x, "movq %d(%%rsp), %s", x86_buffer_slot(buffer), reg);
	x86_line(x, "leaq (%s,%%rax,%d), %s", reg, x86_elem_bytes(x, buffer), reg);
}

/* Returns the bytes of so many elements of the left side, which must be a constant. */
static int64_t left_bytes(struct x86 *x, const struct tmul *m, const struct affine *elements)
{
	const struct linear l = x86_linear(x, elements);

	if (l.n)
		x86_fail(x, "the rows of a tile are no known distance apart");
	return l.c * x86_elem_bytes(x, m->left);
}

/* Does the left side stay in registers from one product to the next? It does if they are cheap, or
 * if its rows may lie in two lines, which load slowly. */
static int holds_left(struct x86 *x, const struct node *t)
{
	const struct tmul *m = t->tmul;
	const int registers = right_register(x, t, m->across) + m->down;

	if (tmul_products(m) == 1 || registers > TMUL_REGISTERS)
		return 0;
	return registers <= CHEAP_REGISTERS || left_bytes(x, m, &m->left_row) % LINE_BYTES;
}

static int left_register(struct x86 *x, const struct node *t, int i)
{
	return right_register(x, t, t->tmul->across) + (holds_left(x, t) ? i : 0);
}

static const char *product(const struct x86 *x, const struct tmul *m)
{
	switch (x->n->buffer[nest_base(x->n, m->left)].elem) {
	case ELEM_U8:
		return "tdpbusd";
	case ELEM_S8:
		return "tdpbssd";
	default:
		return "tdpbf16ps";
	}
}

static int64_t right_offset(const struct x86 *x, const struct tmul *m, int j)
{
	return m->vector * j * x86_elem_bytes(x, m->memory);
}

/* Loads tile j of the right side, which begins at `half` bytes, and prefetches what comes after it.
 */
static void load_right(struct x86 *x, const struct node *t, int j, int64_t half)
{
	const struct tmul *m = t->tmul;
	const int64_t bytes = x86_elem_bytes(x, m->memory), at = half + right_offset(x, m, j);

	x86_line(x, "tileloadd %lld(%%r10,%%r11), %%tmm%d", (long long)at, right_register(x, t, j));
	for (int i = 0; m->ahead && i < m->depth / elem_group(m->right); i++)
		x86_line(x, "prefetcht0 %lld(%%r10)",
			 (long long)(at + (m->ahead + i * m->row) * bytes));
}

static void load_left(struct x86 *x, const struct node *t, int i, int64_t half)
{
	const struct tmul *m = t->tmul;
	const int64_t row = left_bytes(x, m, &m->left_row), line = left_bytes(x, m, &m->left_line);

	x86_line(x, "tileloadd %lld(%%r8,%%r9), %%tmm%d",
		 (long long)(half + tmul_line(t, i) * line + tmul_begin(x->n, t, i) * row),
		 left_register(x, t, i));
}

static void add(struct x86 *x, const struct node *t, int i, int j)
{
	x86_line(x, "%s %%tmm%d, %%tmm%d, %%tmm%d", product(x, t->tmul), right_register(x, t, j),
		 left_register(x, t, i), sum_register(t, i, j));
}

/* Adds the product of the right side, of which a tile is loaded as it is needed first, unless all
 * are there. */
static void add_by_rows(struct x86 *x, const struct node *t, int64_t left, int64_t right,
			int is_loaded)
{
	for (int i = 0; i < t->tmul->down; i++) {
		load_left(x, t, i, left);
		for (int j = 0; j < t->tmul->across; j++) {
			if (i == 0 && !is_loaded)
				load_right(x, t, j, right);
			add(x, t, i, j);
		}
	}
}

/* The same, with the left side that is there. */
static void add_by_columns(struct x86 *x, const struct node *t, int64_t right)
{
	for (int j = 0; j < t->tmul->across; j++) {
		load_right(x, t, j, right);
		for (int i = 0; i < t->tmul->down; i++)
			add(x, t, i, j);
	}
}

/* The left side begins at %r8, its rows are %r9 apart; the right side at %r10, and %r11; what is
 * needed next, at %rsi. */
static void multiply(struct x86 *x, const struct node *t)
{
	const struct tmul *m = t->tmul;

	for (int i = 0; i < tmul_products(m); i++) {
		const int64_t left = tmul_left_half(m, i) * x86_elem_bytes(x, m->left);
		const int64_t right = tmul_right_half(m, i) * x86_elem_bytes(x, m->memory);

		if (i > 0 && right && holds_left(x, t))
			add_by_columns(x, t, right);
		else
			add_by_rows(x, t, left, right, i > 0 && !right);
	}
	for (int i = 0; i < m->next_lines; i++)
		x86_line(x, "prefetcht1 %d(%%rsi)", i * LINE_BYTES);
}

static void begin_product(struct x86 *x, const struct node *t)
{
	const struct tmul *m = t->tmul;

	address(x, m->left, &m->left_at, "%r8");
	x86_line(x, "movq $%lld, %%r9", (long long)left_bytes(x, m, &m->left_row));
	address(x, m->memory, &m->at, "%r10");
	x86_line(x, "movq $%lld, %%r11", (long long)m->row * x86_elem_bytes(x, m->memory));
	if (m->next_lines)
		address(x, m->next_from, &m->next, "%rsi");
}

static void zero(struct x86 *x, const struct node *t)
{
	for (int i = 0; i < t->tmul->down; i++)
		for (int j = 0; j < t->tmul->across; j++)
			x86_line(x, "tilezero %%tmm%d", sum_register(t, i, j));
}

/* Rows that are no bytes apart are the same. */
static void repeat(struct x86 *x, const struct node *t)
{
	const struct tmul *m = t->tmul;

	address(x, m->memory, &m->at, "%r8");
	x86_line(x, "xorl %%r9d, %%r9d");
	for (int i = 0; i < m->down; i++)
		for (int j = 0; j < m->across; j++)
			x86_line(x, "tileloadd %lld(%%r8,%%r9), %%tmm%d",
				 (long long)right_offset(x, m, j), sum_register(t, i, j));
}

/* Loads the sums, or stores them. */
static void move(struct x86 *x, const struct node *t)
{
	const struct tmul *m = t->tmul;
	const long long bytes = x86_elem_bytes(x, m->memory);

	address(x, m->memory, &m->at, "%r8");
	x86_line(x, "movq $%lld, %%r9", m->row * bytes);
	for (int i = 0; i < m->down; i++)
		for (int j = 0; j < m->across; j++) {
			const int row = tmul_line(t, i) * m->height + tmul_begin(x->n, t, i);
			const long long at = (row * m->row + m->vector * j) * bytes;

			if (m->op == TMUL_LOAD)
				x86_line(x, "tileloadd %lld(%%r8,%%r9), %%tmm%d", at,
					 sum_register(t, i, j));
			else
				x86_line(x, "tilestored %%tmm%d, %lld(%%r8,%%r9)",
					 sum_register(t, i, j), at);
		}
}

void x86_tmul(struct x86 *x, const struct node *t)
{
	switch (t->tmul->op) {
	case TMUL_ZERO:
		zero(x, t);
		break;
	case TMUL_REPEAT:
		repeat(x, t);
		break;
	case TMUL_ADD:
		begin_product(x, t);
		multiply(x, t);
		break;
	case TMUL_LOAD:
	case TMUL_STORE:
		move(x, t);
		break;
	}
}

/* Bytes that an address goes on by in a turn of a loop. */
static void step(struct x86 *x, const struct node *loop, int buffer, const struct affine *at,
		 const char *reg)
{
	const struct linear l = x86_linear(x, at);

	for (int i = 0; i < l.n; i++)
		if (l.t[i].var == loop->var)
			x86_line(x, "addq $%lld, %s",
				 (long long)l.t[i].coef * x86_elem_bytes(x, buffer), reg);
}

int x86_is_tmul_loop(const struct node *loop)
{
	const struct node *t = loop->body;

	return t && t->kind == NODE_TMUL && !t->next && t->tmul->op == TMUL_ADD;
}

/* The turns that are left are in %rcx, which nothing in the loop needs. */
void x86_tmul_loop(struct x86 *x, const struct node *loop)
{
	const struct node *t = loop->body;
	const int top = ++x->nlabels, end = ++x->nlabels;
	const struct linear lo = x86_linear(x, &loop->a);
	const struct linear turns = x86_plus(x86_linear(x, &loop->b), -1, &lo);

	x86_evaluate(x, &lo, "%rax");
	x86_line(x, "movq %%rax, %d(%%rsp)", x86_var_slot(loop->var));
	begin_product(x, t);
	x86_evaluate(x, &turns, "%rcx");
	x86_line(x, "testq %%rcx, %%rcx");
	x86_line(x, "jle %df", end);
	x86_label(x, top);
	multiply(x, t);
	step(x, loop, t->tmul->left, &t->tmul->left_at, "%r8");
	step(x, loop, t->tmul->memory, &t->tmul->at, "%r10");
	if (t->tmul->next_lines)
		step(x, loop, t->tmul->next_from, &t->tmul->next, "%rsi");
	x86_line(x, "decq %%rcx");
	x86_line(x, "jnz %db", top);
	x86_label(x, end);
}

/* ---- the shapes of the registers ---- */

void x86_tmul_enter(struct x86 *x)
{
	if (!tmul_first(x->n))
		return;
	if (!x->tile_shapes)
		x->tile_shapes = ++x->nlabels;
	x86_line(x, "ldtilecfg %df(%%rip)", x->tile_shapes);
}

void x86_tmul_leave(struct x86 *x)
{
	if (tmul_first(x->n))
		x86_line(x, "tilerelease");
}

struct shape {
	int rows, bytes; /* of a row */
};

/* Returns the shape of a register, which may be of sums, of the right side, or of the left side. */
static struct shape shape_of(const struct x86 *x, const struct node *t, int number)
{
	const struct buffer *sums = &x->n->buffer[t->buffer];
	const int group = elem_group(t->tmul->right);

	if (number < sums->size)
		return (struct shape){sums->tile_rows, TMUL_ROW_BYTES};
	if (number < right_register(x, t, t->tmul->across))
		return (struct shape){t->tmul->depth / group, TMUL_ROW_BYTES};
	return (struct shape){sums->tile_rows, t->tmul->depth * 4 / group};
}

/* They have 64 bytes: the palette, bytes of rows from byte 16 on, and rows from byte 48 on. */
void x86_tmul_shapes(struct x86 *x)
{
	const struct node *t = tmul_first(x->n);

	if (!x->tile_shapes)
		return;
	x86_line(x, ".p2align 6");
	x86_label(x, x->tile_shapes);
	x86_line(x, ".byte %d", PALETTE);
	x86_line(x, ".zero 15");
	for (int i = 0; i < TMUL_REGISTERS; i++)
		x86_line(x, ".word %d", shape_of(x, t, i).bytes);
	x86_line(x, ".zero 16");
	for (int i = 0; i < TMUL_REGISTERS; i++)
		x86_line(x, ".byte %d", shape_of(x, t, i).rows);
	x86_line(x, ".zero 8");
}
