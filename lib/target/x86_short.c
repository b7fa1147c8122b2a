/* AVX2 has no masks for elements of 8 or 16 bits: as many elements of a vector as are valid go in
 * pieces of 4, 2 and 1, or, if all are, as one. */
#include "lib/target/x86_block.h"

enum { LANES = 8 };

/* A part has `count` valid elements of so many bytes each, or, count -1, as many as %rdx says,
 * times 4. */
struct part {
	struct x86 *x;
	int64_t count;
	int bytes;
	struct operand v; /* the elements, one after the other from the lowest on */
};

/* Returns the number of valid lanes if it is known, else -1, and %rdx has four times as many. */
static int64_t count_lanes(struct block *b, const struct affine *valid)
{
	const struct linear l = x86_linear(b->x, valid);

	if (!l.n)
		return l.c < 0 ? 0 : l.c > LANES ? LANES : l.c;
	/* The mask's register is as far before the end of its table's first half. */
	x86_line(b->x, "leaq 32+%df(%%rip), %%rdx", b->x->mask_table);
	x86_line(b->x, "subq %s, %%rdx", block_mask(b, valid, LANES)->reg);
	return -1;
}

/* Opens code for a piece of so many elements. Returns whether there may be one, and in *skip the
 * label behind it, or 0: there is one. */
static int open_piece(const struct part *p, int elements, int *skip)
{
	*skip = 0;
	if (p->count >= 0)
		return (p->count & elements) != 0;
	*skip = ++p->x->nlabels;
	x86_line(p->x, "testb $%d, %%dl", 4 * elements);
	x86_line(p->x, "jz %df", *skip);
	return 1;
}

static void close_piece(const struct part *p, int skip)
{
	if (skip)
		x86_label(p->x, skip);
}

/* %rcx = behind the valid elements that begin there. */
static void point_behind(const struct part *p, struct operand from)
{
	if (p->count >= 0) {
		x86_line(p->x, "leaq %s, %%rcx", from.text);
		x86_line(p->x, "addq $%lld, %%rcx", (long long)p->count * p->bytes);
		return;
	}
	x86_line(p->x, "movq %%rdx, %%rax");
	x86_line(p->x, "shrq $%d, %%rax", p->bytes == 1 ? 2 : 1);
	x86_line(p->x, "leaq %s, %%rcx", from.text);
	x86_line(p->x, "addq %%rax, %%rcx");
}

/* Loads the pieces from the last on: those before are put below it. */
static void load_pieces(const struct part *p, struct operand from)
{
	const char *const v = p->v.text;
	int skip;

	point_behind(p, from);
	x86_line(p->x, "vpxor %s, %s, %s", v, v, v);
	if (open_piece(p, 1, &skip)) {
		x86_line(p->x, "subq $%d, %%rcx", p->bytes);
		x86_line(p->x, "vpinsr%c $0, (%%rcx), %s, %s", p->bytes == 1 ? 'b' : 'w', v, v);
		close_piece(p, skip);
	}
	if (open_piece(p, 2, &skip)) {
		x86_line(p->x, "subq $%d, %%rcx", 2 * p->bytes);
		x86_line(p->x, "vpslldq $%d, %s, %s", 2 * p->bytes, v, v);
		x86_line(p->x, "vpinsr%c $0, (%%rcx), %s, %s", p->bytes == 1 ? 'w' : 'd', v, v);
		close_piece(p, skip);
	}
	if (open_piece(p, 4, &skip)) {
		x86_line(p->x, "subq $%d, %%rcx", 4 * p->bytes);
		x86_line(p->x, "vpslldq $%d, %s, %s", 4 * p->bytes, v, v);
		x86_line(p->x, "vpinsr%c $0, (%%rcx), %s, %s", p->bytes == 1 ? 'd' : 'q', v, v);
		close_piece(p, skip);
	}
}

/* Moves the whole if all lanes are valid. Returns the label behind the pieces that follow, or 0:
 * there are none. */
static int move_whole(const struct part *p, struct operand memory, int is_load)
{
	const char *move = p->bytes == 1 ? "vmovq" : "vmovups";
	int skip, end = 0;

	if (!open_piece(p, LANES, &skip))
		return ++p->x->nlabels;
	x86_line(p->x, "%s %s, %s", move, is_load ? memory.text : p->v.text,
		 is_load ? p->v.text : memory.text);
	if (skip) {
		end = ++p->x->nlabels;
		x86_line(p->x, "jmp %df", end);
	}
	close_piece(p, skip);
	return end;
}

void short_load(struct block *b, const struct affine *valid, struct operand from, int bytes, int to)
{
	const struct part p = {b->x, count_lanes(b, valid), bytes, x86_vector(4, to)};
	const int end = move_whole(&p, from, 1);

	if (!end)
		return;
	load_pieces(&p, from);
	x86_label(b->x, end);
}

/* Stores the pieces from the first on: each time the others move down. */
static void store_pieces(const struct part *p, struct operand to)
{
	const char *const v = p->v.text;

	x86_line(p->x, "leaq %s, %%rcx", to.text);
	for (int elements = LANES / 2; elements; elements /= 2) {
		const int bytes = elements * p->bytes;
		int skip;

		if (!open_piece(p, elements, &skip))
			continue;
		if (bytes <= 2)
			x86_line(p->x, "vpextr%c $0, %s, (%%rcx)", bytes == 1 ? 'b' : 'w', v);
		else
			x86_line(p->x, "%s %s, (%%rcx)", bytes == 4 ? "vmovd" : "vmovq", v);
		if (elements > 1) {
			x86_line(p->x, "vpsrldq $%d, %s, %s", bytes, v, v);
			x86_line(p->x, "addq $%d, %%rcx", bytes);
		}
		close_piece(p, skip);
	}
}

void short_store(struct block *b, const struct affine *valid, int bytes, int from,
		 struct operand to)
{
	const struct part p = {b->x, count_lanes(b, valid), bytes, x86_vector(4, from)};
	const int end = move_whole(&p, to, 0);

	if (!end)
		return;
	store_pieces(&p, to);
	x86_label(b->x, end);
}
