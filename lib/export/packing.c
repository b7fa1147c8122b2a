#include "lib/export/packing.h"

#include <assert.h>

/* Elements from one index of dimension d to the next. */
static int64_t stride_of(const struct packing *p, int d)
{
	int64_t stride = 1;

	for (int i = d + 1; i < p->rank; i++)
		stride *= p->extent[i];
	return stride;
}

static const struct packing_map *map_of(const struct packing *p, int d)
{
	for (int i = 0; i < p->nmaps; i++)
		if (p->map[i].dim == d)
			return &p->map[i];
	return NULL;
}

/* Is the dimension gone through by a map of another one? */
static int is_joined(const struct packing *p, int d)
{
	for (int i = 0; i < p->nmaps; i++)
		if (p->map[i].with == d && p->map[i].dim != d)
			return 1;
	return 0;
}

static void print_matrices(const struct packing *p, struct buf *out)
{
	for (int i = 0; i < p->nmaps; i++) {
		const struct packing_map *m = &p->map[i];

		buf_fmt(out, "\tstatic const double m%d[%d][%d] = {\n", i, m->rows, m->cols);
		for (int r = 0; r < m->rows; r++) {
			buf_str(out, "\t\t{");
			for (int c = 0; c < m->cols; c++)
				buf_fmt(out, "%s%.17g", c ? ", " : "", m->m[r][c]);
			buf_str(out, "},\n");
		}
		buf_str(out, "\t};\n");
	}
}

/* The logical index of dimension d, by the positions along its axes. */
static void print_index(const struct packing *p, int d, struct buf *out)
{
	buf_fmt(out, "\t\tconst long i%d = 0", d);
	for (int i = 0; i < p->naxes; i++)
		if (p->axis[i].dim == d)
			buf_fmt(out, " + %lld * a%d", (long long)p->axis[i].step, i);
	buf_str(out, ";\n");
}

/* What lies inside the tensor; the rest is padding. */
static void print_inside(const struct packing *p, struct buf *out)
{
	const char *and = "";

	for (int d = 0; d < p->rank; d++) {
		const struct packing_map *m = map_of(p, d);

		if (is_joined(p, d))
			continue;
		buf_fmt(out, "%si%d < %lld", and, d, (long long)(m ? m->rows : p->extent[d]));
		and = " && ";
	}
	if (!*and)
		buf_ch(out, '1');
}

/* The loops over what the maps combine, and the sum. */
static void print_sum(const struct packing *p, struct buf *out)
{
	for (int i = 0; i < p->nmaps; i++)
		buf_fmt(out, "\t\t\tfor (long j%d = 0; j%d < %d; j%d++)\n", i, i, p->map[i].cols,
			i);
	buf_str(out, "\t\t\t\tx += ");
	for (int i = 0; i < p->nmaps; i++)
		buf_fmt(out, "m%d[i%d][j%d] * ", i, p->map[i].dim, i);
	buf_str(out, "from[0");
	for (int d = 0; d < p->rank; d++)
		if (!map_of(p, d) && !is_joined(p, d))
			buf_fmt(out, " + %lld * i%d", (long long)stride_of(p, d), d);
	for (int i = 0; i < p->nmaps; i++) {
		const struct packing_map *m = &p->map[i];
		long long inner = m->with == m->dim ? 1 : (long long)p->extent[m->with];

		buf_fmt(out, " + %lld * (j%d / %lld)", (long long)stride_of(p, m->dim), i, inner);
		if (inner > 1)
			buf_fmt(out, " + %lld * (j%d %% %lld)", (long long)stride_of(p, m->with), i,
				inner);
	}
	buf_str(out, "];\n");
}

/* Returns the axis of halves; -1: there is none. */
static int axis_of_halves(const struct packing *p)
{
	int i = p->naxes - 1;

	while (i >= 0 && p->axis[i].dim != PACKING_HALVES)
		i--;
	return i;
}

/* The function that rounds a value to bf16, as packing_run() does. */
static void print_nearest(const char *name, struct buf *out)
{
	buf_fmt(out,
		"static float %s_nearest(float x)\n{\n"
		"\tunion { float f; unsigned u; } y = {x};\n\n"
		"\ty.u = x != x ? y.u | 0x400000 : y.u + 0x7fff + (y.u >> 16 & 1);\n"
		"\ty.u &= 0xffff0000;\n"
		"\treturn y.f;\n}\n\n",
		name);
}

/* The function that takes a half of a value; the first one is finite. */
static void print_half(const char *name, struct buf *out)
{
	buf_fmt(out,
		"static float %s_half(float x, long second)\n{\n"
		"\tfloat first = %s_nearest(x);\n\n"
		"\tif (x != x)\n\t\treturn x;\n"
		"\tif (x > 0x1.fep127F || x < -0x1.fep127F)\n"
		"\t\tfirst = x > 0 ? 0x1.fep127F : -0x1.fep127F;\n"
		"\treturn second ? x - first : first;\n}\n\n",
		name, name);
}

static void print_value(const struct packing *p, const char *name, struct buf *out)
{
	const int halves = axis_of_halves(p);

	if (halves >= 0)
		buf_fmt(out, "%s_half((float)x, a%d)", name, halves);
	else
		buf_fmt(out, p->rounds ? "%s_nearest((float)x)" : "(float)x", name);
}

void packing_print(const struct packing *p, const char *name, struct buf *out)
{
	assert(!p->swizzle.row); /* of GPUs alone */
	if (axis_of_halves(p) >= 0 || p->rounds)
		print_nearest(name, out);
	if (axis_of_halves(p) >= 0)
		print_half(name, out);
	buf_fmt(out, "static void %s(const float *from, float *to)\n{\n", name);
	print_matrices(p, out);
	for (int i = 0; i < p->naxes; i++)
		buf_fmt(out, "\tfor (long a%d = 0; a%d < %lld; a%d++)\n", i, i,
			(long long)p->axis[i].n, i);
	buf_str(out, "\t{\n");
	for (int d = 0; d < p->rank; d++)
		if (!is_joined(p, d))
			print_index(p, d, out);
	buf_str(out, "\t\tdouble x = 0;\n\n\t\tif (");
	print_inside(p, out);
	buf_str(out, ") {\n");
	print_sum(p, out);
	buf_str(out, "\t\t}\n\t\t*to++ = ");
	print_value(p, name, out);
	buf_str(out, ";\n\t}\n}\n");
}
