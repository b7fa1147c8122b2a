#include "lib/target/text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void text_indent(struct text *p)
{
	for (int i = 0; i < p->depth; i++)
		buf_ch(p->out, '\t');
}

const char *text_elem(enum elem e)
{
	static const char *const names[] = {
		[ELEM_F32] = "float", [ELEM_F64] = "double",	[ELEM_BF16] = "bf16",
		[ELEM_F16] = "f16",   [ELEM_S32] = "s32",	[ELEM_S8] = "s8",
		[ELEM_U8] = "u8",     [ELEM_BF16X2] = "bf16x2", [ELEM_S8X4] = "s8x4",
		[ELEM_U8X4] = "u8x4", [ELEM_S16X2] = "s16x2",	[ELEM_S16] = "s16"};

	return names[e];
}

/* ---- names and indices ---- */

/* v8, i8 and g8 are types of vectors. */
void text_var(struct text *p, int v)
{
	const char *name = p->n->var[v].name;

	buf_str(p->out, name);
	if (strchr("vig", name[0]) && !name[1])
		buf_ch(p->out, '_');
	buf_int(p->out, v);
}

static int is_known(const struct text *p, int v, int64_t *value)
{
	const struct var *var = &p->n->var[v];

	if (var->kind == VAR_SYMBOL && (!var->runtime || p->d->constants)) {
		*value = var->value;
		return 1;
	}
	*value = p->value[v];
	return p->known[v];
}

static void term(struct text *p, int64_t coef, int sym, int var)
{
	if (coef != 1) {
		buf_int(p->out, coef);
		buf_str(p->out, " * ");
	}
	if (sym >= 0)
		text_var(p, sym);
	if (sym >= 0 && var >= 0)
		buf_str(p->out, " * ");
	if (var >= 0)
		text_var(p, var);
}

void text_affine(struct text *p, const struct affine *a)
{
	int64_t c = a->c, v;
	int printed = 0;

	for (int i = 0; i < a->n; i++) {
		int64_t coef = a->t[i].coef;
		int sym = a->t[i].sym, var = a->t[i].var;

		if (sym >= 0 && is_known(p, sym, &v)) {
			coef *= v;
			sym = -1;
		}
		if (var >= 0 && is_known(p, var, &v)) {
			coef *= v;
			var = -1;
		}
		if (!coef)
			continue;
		if (sym < 0 && var < 0) {
			c += coef;
			continue;
		}
		if (printed)
			buf_str(p->out, " + ");
		term(p, coef, sym, var);
		printed = 1;
	}
	if (!printed)
		buf_int(p->out, c);
	else if (c)
		buf_fmt(p->out, c < 0 ? " - %lld" : " + %lld", (long long)(c < 0 ? -c : c));
}

int64_t text_constant(const struct text *p, const struct affine *a)
{
	int64_t c = a->c, v;

	for (int i = 0; i < a->n; i++) {
		int64_t t = a->t[i].coef;
		int known = 1;

		if (a->t[i].sym >= 0) {
			known &= is_known(p, a->t[i].sym, &v);
			t *= v;
		}
		if (a->t[i].var >= 0) {
			known &= is_known(p, a->t[i].var, &v);
			t *= v;
		}
		assert(known || !t);
		c += t;
	}
	return c;
}

void text_register(struct text *p, int buffer, int64_t i)
{
	const struct buffer *b = &p->n->buffer[buffer];

	buf_fmt(p->out, "%s%d_%lld_%lld", b->name, buffer, (long long)(i / b->cols),
		(long long)(i % b->cols));
}

void text_buffer(struct text *p, int buffer)
{
	buf_str(p->out, p->n->buffer[buffer].name);
	buf_int(p->out, buffer);
}

void text_place(struct text *p, int buffer, const struct affine *at)
{
	text_buffer(p, buffer);
	buf_ch(p->out, '[');
	text_affine(p, at);
	buf_ch(p->out, ']');
}

void text_element(struct text *p, int buffer, const struct affine *index)
{
	const struct swizzle_bits b = swizzle_bits(&p->n->buffer[buffer].swizzle);

	if (!b.mask) {
		text_place(p, buffer, index);
		return;
	}
	text_buffer(p, buffer);
	buf_str(p->out, "[SWIZZLED(");
	text_affine(p, index);
	buf_fmt(p->out, ", %d, %d, %d)]", b.down, b.mask, b.up);
}

void text_pointee(struct text *p, int buffer)
{
	const struct buffer *b = &p->n->buffer[nest_base(p->n, buffer)];
	int is_input = b->kind == BUFFER_PACKED || (b->kind == BUFFER_ARG && !b->written);

	buf_fmt(p->out, "%s%s%s ", p->d->space(p->n, buffer), is_input ? "const " : "",
		text_elem(b->elem));
}

void text_declare_registers(struct text *p, int buffer)
{
	const struct buffer *b = &p->n->buffer[buffer];

	if (b->lanes == 1)
		buf_fmt(p->out, "\t%s ", text_elem(b->elem));
	else
		buf_fmt(p->out, "\t%c%d ",
			elem_is_float(b->elem)	  ? 'v'
			: elem_group(b->elem) > 1 ? 'g'
						  : 'i',
			b->lanes);
	for (int64_t r = 0; r < b->size; r++) {
		if (r)
			buf_str(p->out, ", ");
		text_register(p, buffer, r);
	}
	buf_str(p->out, ";\n");
}

/* ---- expressions ---- */

static void expr(struct text *p, const struct expr *x);

static void call(struct text *p, const char *f, const struct expr *x)
{
	const char kind = x->elem == ELEM_F64	    ? 'd'
			  : elem_group(x->elem) > 1 ? 'g'
			  : x->elem == ELEM_S32	    ? 'i'
						    : 'v';

	buf_fmt(p->out, "%s_%c%d(", f, kind, x->lanes);
	expr(p, x->a);
	if (x->b) {
		buf_str(p->out, ", ");
		expr(p, x->b);
	}
	if (x->c) {
		buf_str(p->out, ", ");
		expr(p, x->c);
	}
	buf_ch(p->out, ')');
}

/* "load_v4(&", "loadn_v4(&" or, for elements that C does not compute with, "load_v4_bf16(&"; of
 * whole numbers that stay such "load_i4_u8(&". x: the value. */
static void access(struct text *p, const char *what, int buffer, const struct expr *x, int masked)
{
	enum elem elem = p->n->buffer[nest_base(p->n, buffer)].elem;

	buf_fmt(p->out, "%s%s_%c%d%s%s(&", what, masked ? "n" : "", x->elem == ELEM_S32 ? 'i' : 'v',
		x->lanes, elem_is_float(elem) ? "" : "_",
		elem_is_float(elem) ? "" : text_elem(elem));
}

static int is_other(const struct text *p, int buffer)
{
	return !elem_is_float(p->n->buffer[nest_base(p->n, buffer)].elem);
}

/* Is this value, in a register or for one, whole there and single precision as it is used? */
static int is_converted(const struct text *p, int buffer, const struct expr *x)
{
	return p->n->buffer[buffer].elem == ELEM_S32 && x->elem != ELEM_S32;
}

/* "apart_g16_u8(&first, how far apart, the first member, behind the last, bits, valid lanes)" */
static void load_members(struct text *p, const struct expr *x)
{
	const struct affine first = ex_member_at(x, x->members->from);

	buf_fmt(p->out, "apart_g%d_%s(&", x->lanes,
		text_elem(p->n->buffer[nest_base(p->n, x->buffer)].elem));
	text_element(p, x->buffer, &first);
	buf_str(p->out, ", ");
	text_affine(p, &x->members->apart);
	buf_fmt(p->out, ", %d, %d, %d, ", x->members->from, x->members->to,
		32 / elem_group(x->elem));
	if (x->valid)
		text_affine(p, x->valid);
	else
		buf_fmt(p->out, "%d", x->lanes);
	buf_ch(p->out, ')');
}

/* Groups of s16 come from elements of 8 and of 16 bits. */
static void load_groups(struct text *p, const struct expr *x)
{
	const enum elem from = p->n->buffer[nest_base(p->n, x->buffer)].elem;

	if (x->members) {
		load_members(p, x);
		return;
	}
	buf_fmt(p->out, "%s_g%d", x->elem == ELEM_S16X2 ? "pairs" : "load", x->lanes);
	if (x->elem != ELEM_BF16X2)
		buf_fmt(p->out, "_%s", text_elem(from));
	buf_str(p->out, "(&");
	text_element(p, x->buffer, &x->index);
	buf_ch(p->out, ')');
}

static void load(struct text *p, const struct expr *x)
{
	if (p->n->buffer[x->buffer].kind == BUFFER_REG) {
		if (is_converted(p, x->buffer, x))
			buf_fmt(p->out, "floats_v%d(", x->lanes);
		text_register(p, x->buffer, text_constant(p, &x->index));
		buf_str(p->out, is_converted(p, x->buffer, x) ? ")" : "");
	} else if (elem_group(x->elem) > 1) {
		load_groups(p, x);
	} else if (x->valid) {
		access(p, "load", x->buffer, x, 1);
		text_element(p, x->buffer, &x->index);
		buf_str(p->out, ", ");
		text_affine(p, x->valid);
		buf_ch(p->out, ')');
	} else if ((x->lanes > 1 && p->d->calls) || is_other(p, x->buffer)) {
		access(p, "load", x->buffer, x, 0);
		text_element(p, x->buffer, &x->index);
		buf_ch(p->out, ')');
	} else {
		if (x->lanes > 1)
			buf_fmt(p->out, "*(const v%du *)&", x->lanes);
		text_element(p, x->buffer, &x->index);
	}
}

static void infix(struct text *p, const struct expr *a, const char *op, const struct expr *b)
{
	expr(p, a);
	buf_str(p->out, op);
	expr(p, b);
}

static void constant_expr(struct text *p, const struct expr *x)
{
	const int is_zero = x->value == 0, is_negative = signbit(x->value) != 0;

	if (x->elem == ELEM_S32)
		buf_fmt(p->out, "bcast_i%d(%d)", x->lanes, (int)x->value);
	else if (elem_group(x->elem) > 1)
		buf_fmt(p->out, "(g%d){0}", x->lanes);
	else if (isinf(x->value))
		buf_fmt(p->out, "bcast_v%d(%s__builtin_inff())", x->lanes, is_negative ? "-" : "");
	else if (isnan(x->value))
		buf_fmt(p->out, "bcast_v%d(__builtin_nanf(\"\"))", x->lanes);
	else if (is_zero && is_negative)
		buf_fmt(p->out, "bcast_v%d(-0.0F)", x->lanes);
	else if (x->lanes == 1)
		buf_fmt(p->out, x->elem == ELEM_F64 ? "%.17g" : "(float)%.17g", x->value);
	else if (is_zero && !p->d->calls)
		buf_fmt(p->out, "(v%d){0}", x->lanes);
	else
		buf_fmt(p->out, "bcast_v%d((float)%.17g)", x->lanes, x->value);
}

/* Lanes that come from elsewhere: all from one or a few, or each from its own. */
static void moved(struct text *p, const struct expr *x)
{
	int64_t index = x->kind == EXPR_SPREAD ? text_constant(p, &x->index) : 0;

	if (x->lanes == 1 || (x->kind == EXPR_BCAST && x->a->lanes == x->lanes)) {
		expr(p, x->a);
		return;
	}
	if (p->d->calls && x->kind == EXPR_SPREAD && x->per >= x->lanes) {
		buf_fmt(p->out, "bcast_v%d(lane(", x->lanes);
		expr(p, x->a);
		buf_fmt(p->out, ", %d))", ex_spread_from(x, index, 0));
		return;
	}
	buf_str(p->out, "__builtin_shufflevector(");
	expr(p, x->a);
	buf_str(p->out, ", ");
	if (x->kind == EXPR_EXCHANGE)
		expr(p, x->b);
	else
		buf_fmt(p->out, "(%c%d){0}", elem_group(x->elem) > 1 ? 'g' : 'v', x->a->lanes);
	for (int i = 0; i < x->lanes; i++)
		buf_fmt(p->out, ", %d",
			x->kind == EXPR_SPREAD	? ex_spread_from(x, index, i)
			: x->kind == EXPR_BCAST ? i % x->a->lanes
						: ex_exchange_from(x, i));
	buf_ch(p->out, ')');
}

static void picked(struct text *p, const struct expr *x)
{
	buf_str(p->out, "lane(");
	expr(p, x->a);
	buf_fmt(p->out, ", %lld)", (long long)text_constant(p, &x->index));
}

static void expr(struct text *p, const struct expr *x)
{
	switch (x->kind) {
	case EXPR_CONST:
		constant_expr(p, x);
		return;
	case EXPR_LOAD:
		load(p, x);
		return;
	case EXPR_BCAST:
		if (x->a->lanes > 1)
			moved(p, x);
		else
			call(p, "bcast", x);
		return;
	case EXPR_SPREAD:
	case EXPR_EXCHANGE:
		moved(p, x);
		return;
	case EXPR_PICK:
		picked(p, x);
		return;
	case EXPR_MAX:
		call(p, "max", x);
		return;
	case EXPR_MIN:
		call(p, "min", x);
		return;
	case EXPR_NAN:
		call(p, "nan", x);
		return;
	case EXPR_SQRT:
		call(p, "root", x);
		return;
	case EXPR_POWER:
		call(p, "power", x);
		return;
	case EXPR_EXP:
	case EXPR_ERFC:
		buf_str(p->out, x->kind == EXPR_EXP ? "__builtin_exp(" : "__builtin_erfc(");
		expr(p, x->a);
		buf_ch(p->out, ')');
		return;
	case EXPR_ROUND:
		if (x->lanes > 1) {
			call(p, "round", x);
			return;
		}
		buf_str(p->out, x->elem == ELEM_F64 ? "__builtin_rint(" : "__builtin_rintf(");
		expr(p, x->a);
		buf_ch(p->out, ')');
		return;
	case EXPR_WIDEN:
		buf_str(p->out, "(double)");
		expr(p, x->a);
		return;
	case EXPR_NARROW:
		buf_str(p->out, "(float)(");
		expr(p, x->a);
		buf_ch(p->out, ')');
		return;
	case EXPR_TIMES:
		buf_fmt(p->out, "times_%c%d(", elem_group(x->elem) > 1 ? 'g' : 'i', x->lanes);
		expr(p, x->a);
		buf_fmt(p->out, ", %lld)", (long long)x->value);
		return;
	case EXPR_HALVES:
		buf_ch(p->out, '(');
		expr(p, x->a);
		buf_fmt(p->out, " >> %d)", (int)x->value);
		return;
	case EXPR_ADD:
	case EXPR_SUB:
		if (!elem_is_float(x->elem)) { /* C has no sums that wrap, nor such of halves */
			call(p, x->kind == EXPR_ADD ? "add" : "sub", x);
			return;
		}
		/* fallthrough */
	case EXPR_MUL:
	case EXPR_DIV:
		buf_ch(p->out, '(');
		infix(p, x->a,
		      x->kind == EXPR_ADD   ? " + "
		      : x->kind == EXPR_SUB ? " - "
		      : x->kind == EXPR_DIV ? " / "
					    : " * ",
		      x->b);
		buf_ch(p->out, ')');
		return;
	case EXPR_LOW4:
	case EXPR_HIGH4:
		buf_ch(p->out, '(');
		expr(p, x->a);
		buf_str(p->out, x->kind == EXPR_LOW4 ? " & 0x0f0f0f0f)" : " >> 4 & 0x0f0f0f0f)");
		return;
	case EXPR_DOT:
		call(p,
		     x->a->elem == ELEM_BF16X2	? "dot_bf16"
		     : x->a->elem == ELEM_S16X2 ? "dot_s16"
						: "dot_u8",
		     x);
		return;
	case EXPR_FMA:
		buf_ch(p->out, '(');
		infix(p, x->a, " * ", x->b);
		buf_str(p->out, " + ");
		expr(p, x->c);
		buf_ch(p->out, ')');
		return;
	}
}

/* ---- statements ---- */

/* Of lanes in memory: store_v4(&a0[i], x) or, where some are left out, storen_v4(&a0[i], x, n). */
static void store_call(struct text *p, const struct node *t)
{
	if (elem_group(t->value->elem) > 1)
		buf_fmt(p->out, "store_g%d(&", t->value->lanes);
	else
		access(p, "store", t->buffer, t->value, t->valid != NULL);
	text_element(p, t->buffer, &t->a);
	buf_str(p->out, ", ");
	expr(p, t->value);
	if (t->valid) {
		buf_str(p->out, ", ");
		text_affine(p, t->valid);
	}
	buf_ch(p->out, ')');
}

static void store(struct text *p, const struct node *t)
{
	const struct buffer *b = &p->n->buffer[t->buffer];

	text_indent(p);
	if (b->kind == BUFFER_REG) {
		text_register(p, t->buffer, text_constant(p, &t->a));
		buf_str(p->out, " = ");
		if (is_converted(p, t->buffer, t->value))
			buf_fmt(p->out, "wholes_v%d(", t->value->lanes);
		expr(p, t->value);
		buf_str(p->out, is_converted(p, t->buffer, t->value) ? ")" : "");
	} else if (t->valid || (t->value->lanes > 1 && p->d->calls) || is_other(p, t->buffer)) {
		store_call(p, t);
	} else {
		if (t->value->lanes > 1)
			buf_fmt(p->out, "*(v%du *)&", t->value->lanes);
		text_element(p, t->buffer, &t->a);
		buf_str(p->out, " = ");
		expr(p, t->value);
	}
	buf_str(p->out, ";\n");
}

/* Does the body declare names, which would be there twice after the next copy of it? */
static int declares(const struct node *t)
{
	for (; t; t = t->next)
		if (t->kind == NODE_LET || t->kind == NODE_VIEW)
			return 1;
	return 0;
}

static void brace(struct text *p, const char *text)
{
	text_indent(p);
	buf_str(p->out, text);
}

static void unrolled(struct text *p, const struct node *t)
{
	int64_t lo = text_constant(p, &t->a), hi = text_constant(p, &t->b);
	int braces = declares(t->body);

	p->known[t->var] = 1;
	for (int64_t i = lo; i < hi; i++) {
		if (braces)
			brace(p, "{\n");
		p->value[t->var] = i;
		text_nodes(p, t->body);
		if (braces)
			brace(p, "}\n");
	}
	p->known[t->var] = 0;
}

void text_loop_open(struct text *p, const struct node *t)
{
	text_indent(p);
	buf_fmt(p->out, "for (%s ", p->d->integer);
	text_var(p, t->var);
	buf_str(p->out, " = ");
	text_affine(p, &t->a);
	buf_str(p->out, "; ");
	text_var(p, t->var);
	buf_str(p->out, " < ");
	text_affine(p, &t->b);
	buf_str(p->out, "; ");
	text_var(p, t->var);
	buf_str(p->out, "++) {\n");
	p->depth++;
}

void text_loop_close(struct text *p)
{
	p->depth--;
	text_indent(p);
	buf_str(p->out, "}\n");
}

void text_loop(struct text *p, const struct node *t)
{
	text_loop_open(p, t);
	text_nodes(p, t->body);
	text_loop_close(p);
}

static void loop(struct text *p, const struct node *t)
{
	switch (t->loop) {
	case LOOP_UNROLL:
		unrolled(p, t);
		return;
	case LOOP_PARALLEL:
		p->d->parallel(p, t);
		return;
	case LOOP_THREAD:
		p->d->thread(p, t);
		return;
	case LOOP_SERIAL:
		p->d->serial(p, t);
		return;
	}
}

static void branch(struct text *p, const struct node *t)
{
	text_indent(p);
	buf_str(p->out, "if (");
	text_affine(p, &t->a);
	buf_str(p->out, " < ");
	text_affine(p, &t->b);
	buf_str(p->out, ") {\n");
	p->depth++;
	text_nodes(p, t->body);
	p->depth--;
	if (t->orelse) {
		text_indent(p);
		buf_str(p->out, "} else {\n");
		p->depth++;
		text_nodes(p, t->orelse);
		p->depth--;
	}
	text_indent(p);
	buf_str(p->out, "}\n");
}

static void let(struct text *p, const struct node *t)
{
	text_indent(p);
	buf_fmt(p->out, "const %s ", p->d->integer);
	text_var(p, t->var);
	buf_str(p->out, " = ");
	if (t->let == LET_DIV || t->let == LET_MOD || t->let == LET_IN)
		buf_ch(p->out, '(');
	text_affine(p, &t->a);
	if (t->let == LET_IN) {
		buf_str(p->out, ") >= 0 && (");
		text_affine(p, &t->a);
		buf_str(p->out, ") < ");
		text_affine(p, &t->b);
	}
	if (t->let == LET_DIV || t->let == LET_MOD) {
		buf_str(p->out, t->let == LET_DIV ? ") / " : ") % ");
		text_affine(p, &t->b);
	}
	if (t->let == LET_MIN) {
		buf_str(p->out, " < ");
		text_affine(p, &t->b);
		buf_str(p->out, " ? ");
		text_affine(p, &t->a);
		buf_str(p->out, " : ");
		text_affine(p, &t->b);
	}
	buf_str(p->out, ";\n");
}

static void view(struct text *p, const struct node *t)
{
	text_indent(p);
	text_pointee(p, t->buffer);
	buf_str(p->out, "*const ");
	text_buffer(p, t->buffer);
	buf_str(p->out, " = &");
	text_element(p, p->n->buffer[t->buffer].base, &t->a);
	buf_str(p->out, ";\n");
}

void text_nodes(struct text *p, const struct node *t)
{
	for (; t; t = t->next) {
		switch (t->kind) {
		case NODE_FOR:
			loop(p, t);
			break;
		case NODE_IF:
			branch(p, t);
			break;
		case NODE_LET:
			let(p, t);
			break;
		case NODE_VIEW:
			view(p, t);
			break;
		case NODE_STORE:
			store(p, t);
			break;
		case NODE_PREFETCH:
			p->d->prefetch(p, t);
			break;
		case NODE_SYNC:
			p->d->sync(p);
			break;
		case NODE_COPY:
		case NODE_WAIT:
		case NODE_MMA:
		case NODE_TMUL:
			p->d->tile(p, t);
			break;
		}
	}
}
