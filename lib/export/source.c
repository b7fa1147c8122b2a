#include "lib/export/source.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/export/packing.h"
#include "lib/io/field.h"
#include "lib/nest/nest.h"
#include "lib/target/target.h"

enum { DIGITS = 12 }; /* of an id, in names */

/* ---- names ---- */

void source_name(const struct piece *p, struct buf *out)
{
	buf_fmt(out, "%s_%.*s", p->isa->name, DIGITS, p->c.id.s);
}

void source_definition_name(const struct workload *w, struct buf *out)
{
	buf_fmt(out, "definition_%.*s", DIGITS, w->id.s);
}

static void upper(const char *s, struct buf *out)
{
	for (; *s; s++)
		buf_ch(out, (char)toupper((unsigned char)*s));
}

/* PREFIX_WORD */
static void constant(const char *prefix, const char *word, struct buf *out)
{
	upper(prefix, out);
	buf_ch(out, '_');
	upper(word, out);
}

/* ---- what is told of a kernel ---- */

static void workload_text(const struct workload *w, struct buf *out)
{
	buf_fmt(out, "%s %s %s", w->op->name, w->prob, layout_name(w->layout));
	if (!dtypes_are_f32(&w->dtype))
		buf_fmt(out, " %s", w->dtype_text);
	if (w->npost)
		buf_ch(out, ' ');
	workload_posts(w, out);
}

static void knobs_text(const struct candidate *c, struct buf *out)
{
	buf_str(out, c->algo->name);
	for (int i = 0; i < c->algo->nknobs; i++)
		if (!c->algo->knob[i].is_rare || c->knob[i] != c->algo->knob[i].frozen)
			buf_fmt(out, " %s=%lld", c->algo->knob[i].name, (long long)c->knob[i]);
}

/* Text of a record inside a comment, which it must not end. */
static void foreign_text(const char *s, struct buf *out)
{
	for (; *s; s++)
		buf_ch(out, isprint((unsigned char)*s) && *s != '*' && *s != '\\' ? *s : '?');
}

/* "VALUE (LO to HI)", the interval where it is known. */
static void quantity_text(double value, const struct interval *ci, double unit, struct buf *out)
{
	buf_fmt(out, "%.4g", value / unit);
	if (!isnan(ci->lo))
		buf_fmt(out, " (%.4g to %.4g)", ci->lo / unit, ci->hi / unit);
}

static void comment(const struct piece *p, struct buf *out)
{
	buf_str(out, "/* ");
	workload_text(&p->c.w, out);
	buf_str(out, "\n *\n * ");
	knobs_text(&p->c, out);
	buf_fmt(out, "\n * candidate %s", p->c.id.s);
	if (p->stands_in && !isnan(p->latency_s)) {
		buf_str(out, "\n * its program was measured by other instructions than these */\n");
		return;
	}
	if (!isnan(p->latency_s)) {
		buf_str(out, "\n * ");
		quantity_text(p->latency_s, &p->ci_s, 1e-6, out);
		buf_fmt(out, " us in %lld threads of ", (long long)p->threads);
		foreign_text(p->cpu, out);
		buf_str(out, ", env ");
		foreign_text(p->env_id, out);
	}
	if (!isnan(p->ratio)) {
		buf_str(out, "\n * ");
		quantity_text(p->ratio, &p->ratio_ci, 1, out);
		buf_str(out, " times as fast as ");
		foreign_text(p->baseline, out);
		buf_str(out, ": ");
		foreign_text(p->verdict, out);
	}
	if (*p->at) {
		buf_str(out, "\n * measured ");
		foreign_text(p->at, out);
	}
	buf_str(out, "\n */\n");
}

/* ---- a kernel ---- */

static const char *const slot_kind[TENSOR_ROLES] = {"src",   "weights", "bias", "add",	 "mul",
						    "scale", "shift",	"pad",	"zeros", "dst"};

static const char *elem_name(enum elem e)
{
	static const char *const name[] = {
		[ELEM_F32] = "f32", [ELEM_BF16] = "bf16", [ELEM_S32] = "s32",
		[ELEM_S16] = "s16", [ELEM_S8] = "s8",	  [ELEM_U8] = "u8"};

	assert((size_t)e < sizeof name / sizeof *name && name[e]); /* others are of GPUs alone */
	return name[e];
}

/* The buffer of a slot. */
static const struct buffer *slot(const struct nest *n, int i)
{
	const struct buffer *b = n->buffer;

	while (b->slot != i)
		b++;
	return b;
}

static void slots(const struct nest *n, const char *prefix, struct buf *out)
{
	buf_fmt(out, "\nstatic const struct %s_slot slots[] = {\n", prefix);
	for (int i = 0; i < n->nslots; i++) {
		const struct buffer *b = slot(n, i);

		buf_str(out, "\t{");
		constant(prefix,
			 b->kind == BUFFER_WORK	  ? "workspace"
			 : b->kind == BUFFER_TEAM ? "team"
						  : slot_kind[b->role],
			 out);
		buf_fmt(out, ", %lld, ", (long long)b->size);
		if (b->kind == BUFFER_PACKED)
			buf_fmt(out, "pack%d", i);
		else
			buf_str(out, "NULL");
		if (b->elem != ELEM_F32) {
			buf_str(out, ", ");
			constant(prefix, elem_name(b->elem), out);
		}
		buf_str(out, "},\n");
	}
	buf_str(out, "};\n");
}

static void packings(const struct nest *n, struct buf *out)
{
	for (int i = 0; i < n->nslots; i++) {
		const struct buffer *b = slot(n, i);
		char name[16];

		if (b->kind != BUFFER_PACKED)
			continue;
		snprintf(name, sizeof name, "pack%d", i);
		buf_ch(out, '\n');
		packing_print(b->packing, name, out);
	}
}

/* The run-time symbols, and the sizes of workspaces. */
static void params(const struct nest *n, struct buf *out)
{
	int64_t value[NEST_PARAMS + 1] = {0};

	for (int i = 0; i < n->nvars; i++)
		if (n->var[i].kind == VAR_SYMBOL && n->var[i].runtime)
			value[n->var[i].param] = n->var[i].value;
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_WORK)
			value[n->buffer[i].stride_param] = n->buffer[i].size;
	buf_str(out, "\nstatic const long params[] = {");
	for (int i = 0; i < n->nparams || !i; i++)
		buf_fmt(out, "%s%lld", i ? ", " : "", (long long)value[i]);
	buf_str(out, "};\n");
}

/* What GNU C needs to be told of an instruction set; assembly needs nothing. */
static void pragma(const char *isa, struct buf *out)
{
	if (!strncmp(isa, "avx512", strlen("avx512")))
		buf_str(out, "#pragma GCC target(\"avx512f,avx512vl,avx512dq,avx512bw,fma,"
			     "prefer-vector-width=512\")\n");
	else if (!strcmp(isa, "avx2"))
		buf_str(out, "#pragma GCC target(\"avx2,fma\")\n");
}

/* The parts of a kernel's source behind its comment. isa: what it needs of the CPU, or
 * "definition". p: what was measured; NULL: nothing. */
static void body(const struct nest *n, const char *isa, const char *name, const char *label,
		 const struct piece *p, const char *prefix, struct buf *out)
{
	struct buf code = BUF_INIT;
	struct limits m = {0}; /* of a definition: nothing is known */

	isa_limits(isa, &m);
	if (target_default()->print(n, &m, &code))
		pragma(isa, out);
	buf_fmt(out,
		"#include \"%s_prelude.h\"\n#include \"%s_kernels.h\"\n\n"
		"#define KERNEL %s_k_%s\n%s_function KERNEL;\n",
		prefix, prefix, prefix, name, prefix);
	buf_add(out, code.s, code.n);
	buf_free(&code);
	packings(n, out);
	slots(n, prefix, out);
	params(n, out);
	buf_fmt(out, "\nconst struct %s_kernel %s_kernel_%s = {\n\t\"%s\",\n\t", prefix, prefix,
		name, label);
	constant(prefix, isa, out);
	buf_fmt(out, ", KERNEL, params, %d, slots, %d, %d, ", n->nslots, nest_threads(n, 2) == 1,
		n->nphases);
	if (p && !p->stands_in && !isnan(p->latency_s))
		buf_fmt(out, "%.9g, %lld};\n", p->latency_s, (long long)p->threads);
	else
		buf_str(out, "0, 0};\n");
}

static int nest_of(const struct piece *p, struct nest *n, struct arena *a, struct err *e)
{
	nest_init(n, a, p->c.algo->name);
	return candidate_build(&p->c, n, e);
}

int source_kernel(const struct piece *p, const char *prefix, struct buf *out, struct err *e)
{
	struct buf name = BUF_INIT, label = BUF_INIT;
	struct arena a = ARENA_INIT;
	struct nest *n = arena_new(&a, struct nest);
	int rc = nest_of(p, n, &a, e);

	if (!rc) {
		comment(p, out);
		source_name(p, &name);
		buf_fmt(&label, "%s: ", p->isa->name);
		knobs_text(&p->c, &label);
		body(n, p->isa->name, name.s, label.s, p, prefix, out);
	}
	buf_free(&name);
	buf_free(&label);
	arena_free(&a);
	return rc;
}

/* Definitions are of floats. Here they read and write what the kernels do, which take the bias in
 * single precision, and weights of few bits likewise. */
static void set_types(struct nest *n, const struct workload *w)
{
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_ARG && n->buffer[i].role != TENSOR_BIAS)
			nest_elem(n, i, elem_of(workload_dtype(w, n->buffer[i].role)));
}

int source_definition(const struct workload *w, const char *prefix, struct buf *out, struct err *e)
{
	struct buf name = BUF_INIT;
	struct arena a = ARENA_INIT;
	struct nest *n = arena_new(&a, struct nest);
	int rc;

	nest_init(n, &a, w->op->name);
	rc = workload_define(w, dtype_is_int(w->dtype.src), n,
			     e); /* sums of whole numbers are exact */
	if (!rc) {
		set_types(n, w);
		buf_str(out, "/* ");
		workload_text(w, out);
		buf_str(out, "\n *\n * The definition: right on any CPU, and slow.\n */\n");
		source_definition_name(w, &name);
		body(n, "definition", name.s, "definition", NULL, prefix, out);
	}
	buf_free(&name);
	arena_free(&a);
	return rc;
}

void source_prelude(struct buf *out)
{
	buf_str(out, "/* Vector types and what vectors need beyond C's operators, as Tensor Lathe "
		     "writes kernels in GNU C. */\n");
	buf_str(out, target_default()->prelude());
}

/* ---- the table ---- */

/* Pieces i, i + 1, .. that are of one workload. */
static size_t alike(struct piece *const *list, size_t n, size_t i)
{
	size_t j = i;

	while (j < n && !strcmp(list[j]->c.w.id.s, list[i]->c.w.id.s))
		j++;
	return j - i;
}

static void operator_text(const struct workload *w, const char *prefix, struct buf *out)
{
	struct tensor t[OP_MAX_TENSORS];
	int64_t size[TENSOR_ROLES] = {0};
	int n = w->op->tensors(w, t);

	for (int i = 0; i < n; i++)
		size[t[i].role] = t[i].size;
	buf_fmt(out, "\t{{\"%s\", \"%s\", \"%s\", \"", w->op->name, w->prob,
		layout_name(w->layout));
	workload_posts(w, out);
	buf_str(out, "\"");
	for (int i = 0; i < TENSOR_ROLES; i++)
		if (i < TENSOR_SCALE || i > TENSOR_ZEROS)
			buf_fmt(out, ", %lld", (long long)size[i]);
	buf_fmt(out, ", %d, \"%s\", ", !w->rhs_const, w->dtype_text);
	constant(prefix, dtype_name(w->dtype.src), out);
	buf_str(out, ", ");
	constant(prefix, dtype_name(w->dtype.wei), out);
	buf_str(out, ", ");
	constant(prefix, dtype_name(w->dtype.dst), out);
	for (int i = TENSOR_SCALE; i <= TENSOR_ZEROS; i++)
		buf_fmt(out, ", %lld", (long long)size[i]);
	buf_ch(out, '}');
}

static void kernel_names(struct piece *const *list, size_t n, const char *before, const char *after,
			 struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		buf_str(out, before);
		source_name(list[i], out);
		buf_str(out, after);
	}
	buf_str(out, before);
	source_definition_name(&list[0]->c.w, out);
	buf_str(out, after);
}

void source_table(struct piece *const *list, size_t n, const char *prefix, struct buf *out)
{
	struct buf before = BUF_INIT, rows = BUF_INIT;

	buf_fmt(out, "/* The operators and their kernels. */\n#include \"%s_kernels.h\"\n\n",
		prefix);
	for (size_t i = 0, m, row = 0; i < n; i += m, row++) {
		m = alike(list, n, i);
		buf_clear(&before);
		buf_fmt(&before, "extern const struct %s_kernel %s_kernel_", prefix, prefix);
		kernel_names(list + i, m, before.s, ";\n", out);
		buf_fmt(out, "static const struct %s_kernel *const of%zu[] = {", prefix, row);
		buf_clear(&before);
		buf_fmt(&before, "&%s_kernel_", prefix);
		kernel_names(list + i, m, before.s, ", ", out);
		buf_str(out, "NULL};\n");
		operator_text(&list[i]->c.w, prefix, &rows);
		buf_fmt(&rows, ", of%zu},\n", row);
	}
	buf_fmt(out, "\nconst struct %s_entry %s_table[] = {\n%s};\n", prefix, prefix,
		rows.s ? rows.s : "");
	buf_fmt(out, "const size_t %s_table_size = sizeof %s_table / sizeof *%s_table;\n", prefix,
		prefix, prefix);
	buf_free(&before);
	buf_free(&rows);
}

/* ---- the manifest ---- */

static void member(const char *name, const char *value, struct buf *out)
{
	if (*value)
		field_text(out, name, value);
}

static void quantity(const char *name, double value, const struct interval *ci, struct buf *out)
{
	char ci_name[32];

	if (isnan(value))
		return;
	field_number(out, name, value);
	if (isnan(ci->lo))
		return;
	snprintf(ci_name, sizeof ci_name, "%s_ci", name);
	field_interval(out, ci_name, ci->lo, ci->hi);
}

static void kernel_record(const struct piece *p, const char *prefix, struct buf *out)
{
	struct buf name = BUF_INIT;

	source_name(p, &name);
	buf_ch(out, '{');
	field_fmt(out, "file", "\"kernels/%s.c\"", name.s);
	field_fmt(out, "function", "\"%s_k_%s\"", prefix, name.s);
	field_text(out, "isa", p->isa->name);
	workload_fields(&p->c.w, out);
	field_text(out, "candidate_id", p->c.id.s);
	algo_put(p->c.algo, p->c.knob, out);
	if (p->stands_in) {
		buf_ch(out, '}');
		buf_free(&name);
		return;
	}
	quantity("latency_s", p->latency_s, &p->ci_s, out);
	quantity("ratio", p->ratio, &p->ratio_ci, out);
	member("verdict", p->verdict, out);
	member("baseline", p->baseline, out);
	member("cpu", p->cpu, out);
	member("env_id", p->env_id, out);
	member("at", p->at, out);
	buf_ch(out, '}');
	buf_free(&name);
}

void source_manifest(struct piece *const *list, size_t n, const char *prefix, struct buf *out)
{
	buf_str(out, "[\n");
	for (size_t i = 0; i < n; i++) {
		kernel_record(list[i], prefix, out);
		buf_str(out, i + 1 < n ? ",\n" : "\n");
	}
	buf_str(out, "]\n");
}
