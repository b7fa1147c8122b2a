#include "lib/target/x86.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/nest/tmul.h"
#include "lib/target/x86_code.h"

/* The frame: thread and threads, then a slot for each buffer's address, each variable, and the end
 * of each variable's loop, and room for a vector. Where there are phases, the barrier's address,
 * too. %rsp is a multiple of 16 below that, as the call of the barrier wants it. */
enum {
	SLOT = 8,
	THREAD = 0,
	THREADS = SLOT,
	BUFFERS = 2 * SLOT,
	VARS = BUFFERS + NEST_BUFFERS * SLOT,
	ENDS = VARS + NEST_VARS * SLOT,
	VECTOR = ENDS + NEST_VARS * SLOT,
	FRAME = VECTOR + 64,
	BARRIER = FRAME,
};

/* ---- text ---- */

void x86_fail(struct x86 *x, const char *why)
{
	if (!x->why)
		x->why = why;
}

void x86_line(struct x86 *x, const char *fmt, ...)
{
	char line[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	buf_fmt(x->out, "\t\"%s\\n\"\n", line);
}

void x86_label(struct x86 *x, int label)
{
	x86_line(x, "%d:", label);
}

int x86_elem_bytes(const struct x86 *x, int buffer)
{
	return elem_size(x->n->buffer[buffer].elem);
}

int x86_buffer_slot(int buffer)
{
	return BUFFERS + buffer * SLOT;
}

int x86_var_slot(int var)
{
	return VARS + var * SLOT;
}

int x86_vector_slot(void)
{
	return VECTOR;
}

/* ---- integers ---- */

static int is_known(const struct x86 *x, int v, int64_t *value)
{
	*value = x->n->var[v].kind == VAR_SYMBOL ? x->n->var[v].value : x->value[v];
	return x->n->var[v].kind == VAR_SYMBOL || x->known[v];
}

static void add_term(struct linear *l, int64_t coef, int var)
{
	int i = 0;

	while (i < l->n && l->t[i].var != var)
		i++;
	if (i == l->n) {
		l->t[l->n].var = var;
		l->t[l->n++].coef = 0;
	}
	l->t[i].coef += coef;
	if (!l->t[i].coef)
		l->t[i] = l->t[--l->n];
}

struct linear x86_linear(const struct x86 *x, const struct affine *a)
{
	struct linear l = {.c = a->c};

	for (int i = 0; i < a->n; i++) {
		int64_t coef = a->t[i].coef, v;

		if (a->t[i].sym >= 0 && is_known(x, a->t[i].sym, &v))
			coef *= v;
		if (a->t[i].var >= 0 && is_known(x, a->t[i].var, &v))
			l.c += coef * v;
		else if (a->t[i].var >= 0)
			add_term(&l, coef, a->t[i].var);
		else
			l.c += coef;
	}
	return l;
}

int x86_is_multiple(const struct linear *l, int64_t of)
{
	for (int i = 0; i < l->n; i++)
		if (l->t[i].coef % of)
			return 0;
	return l->c % of == 0;
}

struct linear x86_plus(struct linear a, int64_t times, const struct linear *b)
{
	a.c += times * b->c;
	for (int i = 0; i < b->n; i++)
		add_term(&a, times * b->t[i].coef, b->t[i].var);
	return a;
}

static int is_small(int64_t v)
{
	return v == (int32_t)v;
}

static void add_constant(struct x86 *x, int64_t c, const char *reg)
{
	if (is_small(c)) {
		x86_line(x, "addq $%lld, %s", (long long)c, reg);
	} else {
		x86_line(x, "movabsq $%lld, %%rdx", (long long)c);
		x86_line(x, "addq %%rdx, %s", reg);
	}
}

/* reg = coef * the variable's slot. */
static void multiply(struct x86 *x, int64_t coef, int var, const char *reg)
{
	int slot = x86_var_slot(var);

	if (coef == 1) {
		x86_line(x, "movq %d(%%rsp), %s", slot, reg);
	} else if (is_small(coef)) {
		x86_line(x, "imulq $%lld, %d(%%rsp), %s", (long long)coef, slot, reg);
	} else {
		x86_line(x, "movabsq $%lld, %s", (long long)coef, reg);
		x86_line(x, "imulq %d(%%rsp), %s", slot, reg);
	}
}

void x86_evaluate(struct x86 *x, const struct linear *l, const char *reg)
{
	if (!l->n) {
		x86_line(x, is_small(l->c) ? "movq $%lld, %s" : "movabsq $%lld, %s",
			 (long long)l->c, reg);
		return;
	}
	multiply(x, l->t[0].coef, l->t[0].var, reg);
	for (int i = 1; i < l->n; i++) {
		if (l->t[i].coef == 1) {
			x86_line(x, "addq %d(%%rsp), %s", x86_var_slot(l->t[i].var), reg);
			continue;
		}
		multiply(x, l->t[i].coef, l->t[i].var, "%rdx");
		x86_line(x, "addq %%rdx, %s", reg);
	}
	if (l->c)
		add_constant(x, l->c, reg);
}

static void set_var(struct x86 *x, int var, const char *reg)
{
	x86_line(x, "movq %s, %d(%%rsp)", reg, x86_var_slot(var));
}

/* ---- register arrays ---- */

/* The arrays that live in this loop or branch begin or cease to. */
static void set_alive(struct x86 *x, const struct node *t, int alive)
{
	for (int i = 0; i < x->n->nbuffers; i++)
		if (x->n->buffer[i].kind == BUFFER_REG && x->scope[i] == t)
			x->alive[i] = alive;
}

int x86_is_home(const struct x86 *x, int buffer)
{
	return !x->looking && x->kept[buffer] && x->alive[buffer];
}

int x86_homes(const struct x86 *x)
{
	int end = 0;

	for (int i = 0; i < x->n->nbuffers; i++)
		if (x86_is_home(x, i) && x->home[i] + (int)x->n->buffer[i].size > end)
			end = x->home[i] + (int)x->n->buffer[i].size;
	return end;
}

/* ---- nodes ---- */

static void nodes(struct x86 *x, const struct node *t);

static void know(struct x86 *x, int var, int64_t value)
{
	x->known[var] = 1;
	x->value[var] = value;
}

static void unrolled(struct x86 *x, const struct node *t)
{
	struct linear lo = x86_linear(x, &t->a), hi = x86_linear(x, &t->b);

	for (int64_t i = lo.c; i < hi.c; i++) {
		know(x, t->var, i);
		nodes(x, t->body);
	}
	x->known[t->var] = 0;
}

static void serial(struct x86 *x, const struct node *t)
{
	struct linear lo = x86_linear(x, &t->a), hi = x86_linear(x, &t->b);
	int top = ++x->nlabels, end = ++x->nlabels, slot = x86_var_slot(t->var);
	struct x86_pixels pixels;

	if (!lo.n && !hi.n && hi.c <= lo.c)
		return;
	if (!lo.n && !hi.n && hi.c == lo.c + 1) { /* one turn is no loop */
		know(x, t->var, lo.c);
		nodes(x, t->body);
		x->known[t->var] = 0;
		return;
	}
	if (nest_is_run(x->n, t)) {
		x86_run(x, t);
		return;
	}
	if (x86_is_pixels(x, t, &pixels)) {
		x86_copy_pixels(x, t, &pixels);
		return;
	}
	if (x86_is_straight(t->body)) {
		x86_block(x, t->body, NULL, t);
		return;
	}
	if (x86_is_tmul_loop(t)) {
		x86_tmul_loop(x, t);
		return;
	}
	x86_evaluate(x, &hi, "%rax");
	x86_line(x, "movq %%rax, %d(%%rsp)", slot + ENDS - VARS);
	x86_evaluate(x, &lo, "%rax");
	set_var(x, t->var, "%rax");
	x86_label(x, top);
	x86_line(x, "movq %d(%%rsp), %%rax", slot);
	x86_line(x, "cmpq %d(%%rsp), %%rax", slot + ENDS - VARS);
	x86_line(x, "jge %df", end);
	nodes(x, t->body);
	x86_line(x, "incq %d(%%rsp)", slot);
	x86_line(x, "jmp %db", top);
	x86_label(x, end);
}

static int is_parallel(const struct node *t)
{
	return t && t->kind == NODE_FOR && t->loop == LOOP_PARALLEL && !t->next;
}

/* Which turn of each loop the work item in %rax is; the last loop goes fastest. */
static void split_item(struct x86 *x, const struct node **loop, const int64_t *turns, int n)
{
	for (int i = n - 1; i >= 0; i--) {
		struct linear lo = x86_linear(x, &loop[i]->a);

		if (turns[i] == 1) {
			know(x, loop[i]->var, lo.c);
			continue;
		}
		x86_line(x, "movq $%lld, %%rcx", (long long)turns[i]);
		x86_line(x, "cqto");
		x86_line(x, "idivq %%rcx");
		if (lo.c)
			x86_line(x, "addq $%lld, %%rdx", (long long)lo.c);
		set_var(x, loop[i]->var, "%rdx");
	}
}

/* thread's (and the next one's) share of the work begins here: %rax. */
static void share(struct x86 *x, int64_t work, int next)
{
	x86_line(x, "movq %d(%%rsp), %%rax", THREAD);
	if (next)
		x86_line(x, "incq %%rax");
	x86_line(x, "movq $%lld, %%rcx", (long long)work);
	x86_line(x, "imulq %%rcx, %%rax");
	x86_line(x, "cqto");
	x86_line(x, "idivq %d(%%rsp)", THREADS);
}

/* Parallel loops nested directly: one iteration space, a contiguous stretch of it for each thread.
 * The work item has the outermost loop's end for a slot, its end the next one's. */
static void parallel(struct x86 *x, const struct node *t)
{
	enum { MOST = 8 };
	const struct node *loop[MOST], *last = t;
	int64_t turns[MOST], work = 1;
	int n = 0, item = x86_var_slot(t->var) + ENDS - VARS, end;
	int top = ++x->nlabels, out = ++x->nlabels;

	do {
		struct linear lo = x86_linear(x, &last->a), hi = x86_linear(x, &last->b);

		if (n == MOST || lo.n || hi.n || !is_small(hi.c - lo.c)) {
			x86_fail(x, "the range of a parallel loop is not known, or too large");
			return;
		}
		turns[n] = hi.c - lo.c;
		work *= turns[n];
		loop[n++] = last;
		last = last->body;
	} while (is_parallel(last));
	end = x86_var_slot(loop[n - 1]->var) + (n > 1 ? ENDS - VARS : 0);
	if (work <= 0 || work >> 40 || n < 2) {
		x86_fail(x, n < 2 ? "there are not two parallel loops, one directly in the other"
				  : "the parallel loops have no turns, or too many");
		return;
	}
	share(x, work, 1);
	x86_line(x, "movq %%rax, %d(%%rsp)", end);
	share(x, work, 0);
	x86_line(x, "movq %%rax, %d(%%rsp)", item);
	x86_label(x, top);
	x86_line(x, "movq %d(%%rsp), %%rax", item);
	x86_line(x, "cmpq %d(%%rsp), %%rax", end);
	x86_line(x, "jge %df", out);
	split_item(x, loop, turns, n);
	for (int i = 1; i < n; i++)
		set_alive(x, loop[i], 1);
	nodes(x, loop[n - 1]->body);
	x86_line(x, "incq %d(%%rsp)", item);
	x86_line(x, "jmp %db", top);
	x86_label(x, out);
	for (int i = 0; i < n; i++) {
		x->known[loop[i]->var] = 0;
		set_alive(x, loop[i], 0);
	}
}

static void branch(struct x86 *x, const struct node *t)
{
	struct linear a = x86_linear(x, &t->a), b = x86_linear(x, &t->b), d = x86_plus(a, -1, &b);
	int other = ++x->nlabels, end = ++x->nlabels;

	if (!d.n) {
		nodes(x, d.c < 0 ? t->body : t->orelse);
		return;
	}
	x86_evaluate(x, &d, "%rax");
	x86_line(x, "testq %%rax, %%rax");
	x86_line(x, "jns %df", other);
	nodes(x, t->body);
	if (t->orelse)
		x86_line(x, "jmp %df", end);
	x86_label(x, other);
	if (!t->orelse)
		return;
	nodes(x, t->orelse);
	x86_label(x, end);
}

static void let(struct x86 *x, const struct node *t)
{
	const int divides = t->let == LET_DIV || t->let == LET_MOD;
	struct linear a = x86_linear(x, &t->a), b = t->let == LET_IS ? a : x86_linear(x, &t->b);

	if (t->let == LET_IN) {
		x->why = "it compares";
		return;
	}
	if (!a.n && !b.n) {
		know(x, t->var, nest_let_value(t->let, a.c, b.c));
		return;
	}
	x->known[t->var] = 0;
	x86_evaluate(x, &a, "%rax");
	if (divides) {
		x86_evaluate(x, &b, "%rcx");
		x86_line(x, "cqto");
		x86_line(x, "idivq %%rcx");
		set_var(x, t->var, t->let == LET_DIV ? "%rax" : "%rdx");
		return;
	}
	if (t->let == LET_MIN) {
		x86_evaluate(x, &b, "%rcx");
		x86_line(x, "cmpq %%rax, %%rcx");
		x86_line(x, "cmovlq %%rcx, %%rax");
	}
	set_var(x, t->var, "%rax");
}

static void view(struct x86 *x, const struct node *t)
{
	struct linear l = x86_linear(x, &t->a);
	int base = x->n->buffer[t->buffer].base;
	/* A vector of single precision has so many elements of this type: two vectors that are
	 * rounded to bf16 are stored as one. */
	const int whole = x->lanes * (int)sizeof(float) / x86_elem_bytes(x, base);

	x->aligned[t->buffer] = x->aligned[base] && x86_is_multiple(&l, whole);
	x86_evaluate(x, &l, "%rax");
	x86_line(x, "movq %d(%%rsp), %%rcx", x86_buffer_slot(base));
	x86_line(x, "leaq (%%rcx,%%rax,%d), %%rax", x86_elem_bytes(x, t->buffer));
	x86_line(x, "movq %%rax, %d(%%rsp)", x86_buffer_slot(t->buffer));
}

/* No vector register outlives it: see nest.h. */
static void barrier(struct x86 *x)
{
	int alone = ++x->nlabels;

	x86_line(x, "cmpq $1, %d(%%rsp)", THREADS);
	x86_line(x, "je %df", alone);
	if (x->streams)
		x86_line(x, "sfence");
	x86_line(x, "vzeroupper");
	x86_line(x, "call *%d(%%rsp)", BARRIER);
	x86_label(x, alone);
}

static void loop(struct x86 *x, const struct node *t)
{
	if (t->loop == LOOP_UNROLL)
		unrolled(x, t);
	else if (t->loop == LOOP_PARALLEL)
		parallel(x, t);
	else
		serial(x, t);
}

static int is_straight(const struct node *t)
{
	return t->kind == NODE_STORE || t->kind == NODE_PREFETCH ||
	       (t->kind == NODE_FOR && t->loop == LOOP_UNROLL && x86_is_straight(t->body));
}

int x86_is_straight(const struct node *t)
{
	while (t && is_straight(t))
		t = t->next;
	return !t;
}

static void nodes(struct x86 *x, const struct node *t)
{
	while (t && !x->why) {
		const struct node *end = t;

		while (end && is_straight(end))
			end = end->next;
		if (end != t) {
			x86_block(x, t, end, NULL);
			t = end;
			continue;
		}
		set_alive(x, t, 1);
		if (t->kind == NODE_FOR)
			loop(x, t);
		else if (t->kind == NODE_IF)
			branch(x, t);
		else if (t->kind == NODE_LET)
			let(x, t);
		else if (t->kind == NODE_VIEW)
			view(x, t);
		else if (t->kind == NODE_TMUL)
			x86_tmul(x, t);
		else
			barrier(x);
		set_alive(x, t, 0);
		t = t->next;
	}
}

/* ---- the function ---- */

static const char *const saved[] = {"%rbx", "%rbp", "%r12", "%r13", "%r14", "%r15"};
enum { SAVED = sizeof saved / sizeof *saved };

static int frame_bytes(const struct x86 *x)
{
	_Static_assert((SAVED + 1 + FRAME / SLOT) % 2 == 1, "a barrier's slot aligns %rsp");
	return x->n->nphases > 1 ? FRAME + SLOT : FRAME;
}

static void enter(struct x86 *x)
{
	for (int i = 0; i < SAVED; i++)
		x86_line(x, "pushq %s", saved[i]);
	x86_line(x, "subq $%d, %%rsp", frame_bytes(x));
	x86_line(x, "movq %%rdx, %d(%%rsp)", THREAD);
	x86_line(x, "movq %%rcx, %d(%%rsp)", THREADS);
	if (x->n->nphases > 1)
		x86_line(x, "movq %%r8, %d(%%rsp)", BARRIER);
	for (int i = 0; i < x->n->nbuffers; i++) {
		const struct buffer *b = &x->n->buffer[i];

		if (b->kind == BUFFER_REG || b->kind == BUFFER_VIEW)
			continue;
		x86_line(x, "movq %d(%%rsi), %%rax", b->slot * 8);
		if (b->kind == BUFFER_WORK) {
			x86_line(x, "movabsq $%lld, %%rcx", (long long)buffer_bytes(b));
			x86_line(x, "imulq %%rdx, %%rcx");
			x86_line(x, "addq %%rcx, %%rax");
		}
		x86_line(x, "movq %%rax, %d(%%rsp)", x86_buffer_slot(i));
	}
	x86_tmul_enter(x);
}

static void leave(struct x86 *x)
{
	if (x->streams)
		x86_line(x, "sfence");
	x86_tmul_leave(x);
	x86_line(x, "addq $%d, %%rsp", frame_bytes(x));
	for (int i = SAVED - 1; i >= 0; i--)
		x86_line(x, "popq %s", saved[i]);
	x86_line(x, "vzeroupper");
	x86_line(x, "ret");
}

/* A number beyond single precision is infinite in it: the assembler would refuse it. */
static void constant_line(struct x86 *x, double number)
{
	const double value = (double)(float)number;

	if (isinf(value))
		x86_line(x, ".long %s", value < 0 ? "0xff800000" : "0x7f800000");
	else if (isnan(value))
		x86_line(x, ".long 0x7fc00000");
	else
		x86_line(x, ".float %.9g", value);
}

static void constants(struct x86 *x)
{
	x86_tmul_shapes(x);
	if (x->nconstants || x->mask_table || x->turn_table || x->nspreads)
		x86_line(x, ".p2align 5");
	for (int i = 0; i < x->nconstants; i++) {
		x86_label(x, x->constant[i].label);
		for (int j = 0; j < 8; j++)
			constant_line(x, x->constant[i].value);
	}
	for (int i = 0; i < x->nspreads; i++) {
		x86_label(x, x->spread[i].label);
		for (int j = 0; j < x->lanes; j++)
			x86_line(x, ".long %d",
				 ex_spread_from(x->spread[i].expr, x->spread[i].index, j));
	}
	x86_turn_table(x);
	x86_pixel_table(x);
	if (!x->mask_table)
		return;
	x86_label(x, x->mask_table);
	x86_line(x, ".fill 8, 4, -1");
	x86_line(x, ".fill 8, 4, 0");
}

static void body(struct x86 *x)
{
	enter(x);
	nodes(x, x->n->body);
	leave(x);
}

/* A body that streams, for a result that begins at a line, and one that does not. */
static void bodies(struct x86 *x)
{
	int plain = ++x->nlabels;

	for (int i = 0; i < x->n->nbuffers; i++) {
		const struct buffer *b = &x->n->buffer[i];

		x->aligned[i] = b->kind == BUFFER_ARG && b->written;
		if (!x->aligned[i])
			continue;
		x86_line(x, "testb $63, %d(%%rsi)", b->slot * 8);
		x86_line(x, "jne %df", plain);
	}
	x->streams = 1;
	body(x);
	x->streams = 0;
	x86_label(x, plain);
	body(x);
}

static void function(struct x86 *x)
{
	x->nlabels = x->nconstants = x->mask_table = x->turn_table = x->pixel_table = x->nspreads =
		x->tile_shapes = 0;
	memset(x->known, 0, sizeof x->known);
	memset(x->alive, 0, sizeof x->alive);
	set_alive(x, NULL, 1);
	buf_str(x->out, "\n__asm__(\n"
			"\t\".pushsection .text\\n\"\n"
			"\t\".p2align 6\\n\"\n"
			"\t\".globl \" STRING(KERNEL) \"\\n\"\n"
			"\t\".type \" STRING(KERNEL) \", @function\\n\"\n"
			"\tSTRING(KERNEL) \":\\n\"\n");
	if (x->n->streams)
		bodies(x);
	else
		body(x);
	constants(x);
	buf_str(x->out, "\t\".size \" STRING(KERNEL) \", . - \" STRING(KERNEL) \"\\n\"\n"
			"\t\".popsection\\n\");\n");
}

/* Lanes of the register arrays, which must be one kind; tiles are rows of vectors. */
static int vector_lanes(const struct nest *n)
{
	int lanes = 0, of_array;

	for (int i = 0; i < n->nbuffers; i++) {
		const struct buffer *b = &n->buffer[i];

		if (b->elem == ELEM_F64 || b->elem == ELEM_F16)
			return 0;
		if (b->kind != BUFFER_REG)
			continue;
		of_array = b->tile_rows ? b->lanes / b->tile_rows : b->lanes;
		if (lanes && of_array != lanes)
			return 0;
		lanes = of_array;
	}
	return lanes == 8 || lanes == 16 ? lanes : 0;
}

/* Homes for what outlives a block. Arrays that do not live at the same time share theirs. */
static void give_homes(struct x86 *x)
{
	for (int i = 0; i < x->n->nbuffers; i++) {
		x->home[i] = 0;
		for (int j = 0; j < i && x->kept[i]; j++) {
			int end = x->home[j] + (int)x->n->buffer[j].size;

			if (x->kept[j] && end > x->home[i] &&
			    (nest_holds(x->scope[i], x->scope[j]) ||
			     nest_holds(x->scope[j], x->scope[i])))
				x->home[i] = end;
		}
	}
}

const char *x86_print(const struct nest *n, const struct limits *m, struct buf *out)
{
#ifdef __x86_64__
	struct x86 x = {.n = n, .out = out, .lanes = vector_lanes(n), .dots = m->dots};
	size_t before = out->n;

	if (n->block_threads)
		return "it has blocks of threads";
	if (!m->tiles && tmul_first(n))
		return "it has tile registers, which this machine lacks";
	if (!x.lanes)
		return "its registers are no single-precision vectors of 8 or 16 lanes";
	x.isa = isa_of_lanes(x.lanes);
	nest_register_scopes(n, x.scope);
	x.looking = 1; /* which registers outlive a block */
	function(&x);
	x.looking = 0;
	give_homes(&x);
	out->n = before;
	arena_reset(&x.arena);
	if (!x.why)
		function(&x);
	arena_free(&x.arena);
	if (!x.why)
		return NULL;
	out->n = before;
	if (out->s)
		out->s[before] = 0;
	return x.why;
#else
	(void)n, (void)m;
	(void)out;
	return "this is no x86-64";
#endif
}
