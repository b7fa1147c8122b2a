/* Packing: the order of axes, padding, and maps along one dimension and along two at once. */
#include <math.h>
#include <string.h>

#include "lib/space/layout.h"
#include "tests/tap.h"

enum { ROWS = 4, COLUMNS = 6 };

static float source[ROWS * COLUMNS];

static void fill(void)
{
	for (int i = 0; i < ROWS * COLUMNS; i++)
		source[i] = (float)(i + 1);
}

static void test_panels(void)
{
	struct packing p = {0};
	int r = packing_dim(&p, ROWS), c = packing_dim(&p, COLUMNS), same = 1;
	float out[2 * ROWS * 4];

	packing_axis(&p, c, 2, 4);
	packing_axis(&p, r, ROWS, 1);
	packing_axis(&p, c, 4, 1);
	packing_run(&p, source, out);
	for (int j = 0; j < 2; j++)
		for (int i = 0; i < ROWS; i++)
			for (int v = 0; v < 4; v++) {
				int column = j * 4 + v;
				float is = column < COLUMNS ? source[i * COLUMNS + column] : 0;

				same &= out[(j * ROWS + i) * 4 + v] == is;
			}
	ok(packing_size(&p) == 2 * ROWS * 4 && same, "panels of columns, padded with zeros");
}

static void test_map(void)
{
	struct packing p = {0};
	int r = packing_dim(&p, ROWS), c = packing_dim(&p, COLUMNS), same = 1;
	struct packing_map *m = packing_map(&p, r, r, 2, ROWS);
	float out[COLUMNS * 2];

	m->m[0][1] = 1;
	m->m[1][0] = 0.5;
	m->m[1][3] = -1;
	packing_axis(&p, c, COLUMNS, 1);
	packing_axis(&p, r, 2, 1);
	packing_run(&p, source, out);
	for (int i = 0; i < COLUMNS; i++) {
		same &= out[i * 2] == source[COLUMNS + i];
		same &= out[i * 2 + 1] == 0.5F * source[i] - source[3 * COLUMNS + i];
	}
	ok(same, "a map along one dimension");
}

/* The sum of two quadrants of a matrix, and the difference of the others. */
static void test_joint_map(void)
{
	enum { R2 = ROWS / 2, C2 = COLUMNS / 2 };
	struct packing p = {0};
	int i = packing_dim(&p, 2), r = packing_dim(&p, R2);
	int j = packing_dim(&p, 2), c = packing_dim(&p, C2), same = 1;
	struct packing_map *m = packing_map(&p, i, j, 2, 4);
	struct buf one = BUF_INIT, other = BUF_INIT;
	float out[2 * R2 * C2];

	m->m[0][0] = m->m[0][3] = 1;
	m->m[1][1] = 1;
	m->m[1][2] = -1;
	packing_axis(&p, i, 2, 1);
	packing_axis(&p, r, R2, 1);
	packing_axis(&p, c, C2, 1);
	packing_run(&p, source, out);
	for (int y = 0; y < R2; y++)
		for (int x = 0; x < C2; x++) {
			const float *q = source + y * COLUMNS + x, *to = out + y * C2 + x;

			same &= to[0] == q[0] + q[R2 * COLUMNS + C2];
			same &= to[R2 * C2] == q[C2] - q[R2 * COLUMNS];
		}
	ok(same, "a map along two dimensions");
	packing_text(&p, &one);
	m->with = r;
	packing_text(&p, &other);
	ok(strcmp(one.s, other.s) != 0, "the text tells which two");
	buf_free(&one);
	buf_free(&other);
}

/* More panels than are filled together, whole and in parts that end between them. */
static void test_many_panels(void)
{
	enum { PANELS = 37, WIDE = 4, DEEP = 5, ALL = PANELS * WIDE, PART = 20 };
	struct packing p = {0};
	int r = packing_dim(&p, DEEP), c = packing_dim(&p, ALL - 1), same = 1;
	float from[DEEP * (ALL - 1)], whole[DEEP * ALL], parts[DEEP * ALL];

	for (int i = 0; i < DEEP * (ALL - 1); i++)
		from[i] = (float)(i + 1);
	packing_axis(&p, c, PANELS, WIDE);
	packing_axis(&p, r, DEEP, 1);
	packing_axis(&p, c, WIDE, 1);
	packing_run(&p, from, whole);
	for (int j = 0; j < PANELS; j += PART)
		packing_run_part(&p, from, NULL, j, j + PART < PANELS ? j + PART : PANELS,
				 parts + j * DEEP * WIDE);
	for (int i = 0; i < DEEP * ALL; i++) {
		int column = i / (DEEP * WIDE) * WIDE + i % WIDE, row = i / WIDE % DEEP;

		same &= whole[i] == (column < ALL - 1 ? from[row * (ALL - 1) + column] : 0);
	}
	ok(same, "many panels");
	ok(!memcmp(whole, parts, sizeof whole), "and the same in parts");
}

/* Maps along two dimensions, and columns behind them in runs longer than what is mapped at once,
 * the last of which is padding. */
static void test_long_runs(void)
{
	enum { A = 2, B = 3, LONG = 150, PADDED = 160 };
	struct packing p = {0};
	int c = packing_dim(&p, LONG), a = packing_dim(&p, A), b = packing_dim(&p, B), same = 1;
	struct packing_map *outer = packing_map(&p, a, a, 1, A);
	struct packing_map *inner = packing_map(&p, b, b, 2, B);
	float from[LONG * A * B], out[2 * PADDED];

	for (int i = 0; i < LONG * A * B; i++)
		from[i] = (float)(i % 97);
	outer->m[0][0] = 2;
	outer->m[0][1] = -1;
	inner->m[0][0] = inner->m[1][1] = 1;
	inner->m[1][2] = 0.25;
	packing_axis(&p, b, 2, 1);
	packing_axis(&p, c, PADDED, 1);
	packing_run(&p, from, out);
	for (int i = 0; i < PADDED; i++) {
		const float *x = from + (i < LONG ? i : 0) * A * B;
		float first = i < LONG ? 2 * x[0] - x[B] : 0;
		float second =
			i < LONG ? 2 * (x[1] + 0.25F * x[2]) - (x[B + 1] + 0.25F * x[B + 2]) : 0;

		same &= out[i] == first && out[PADDED + i] == second;
	}
	ok(same, "maps along two dimensions, and long runs behind them");
}

/* From the order in which their runs are contiguous: columns of a map's values, in blocks with
 * padding, behind an axis of one position. */
static void test_turned(void)
{
	enum { C = 21, BLOCK = 8, BLOCKS = 3, TAPS = 6, VALUES = BLOCKS * BLOCK * TAPS };
	struct packing p = {0}, turned;
	int c = packing_dim(&p, C), t = packing_dim(&p, TAPS), one = packing_dim(&p, 1);
	struct packing_map *m = packing_map(&p, t, t, TAPS, TAPS);
	float from[C * TAPS], between[C * TAPS], want[VALUES], got[VALUES];
	int64_t stride[LAYOUT_RANK];

	for (int i = 0; i < C * TAPS; i++)
		from[i] = (float)(i % 31);
	for (int i = 0; i < TAPS * TAPS; i++)
		m->m[i / TAPS][i % TAPS] = i % 5 - 2;
	packing_axis(&p, one, 1, 1);
	packing_axis(&p, c, BLOCKS, BLOCK);
	packing_axis(&p, t, TAPS, 1);
	packing_axis(&p, c, BLOCK, 1);
	packing_run(&p, from, want);
	ok(packing_outer(&p) == 1, "the outer axis is the first of several positions");
	ok(packing_turned(&p, &turned, stride), "runs across the order are turned");
	packing_run(&turned, from, between);
	ok(between[0] == from[0] && between[1] == from[TAPS] && between[C] == from[1],
	   "so that they are contiguous");
	for (int i = 0; i < BLOCKS; i++)
		packing_run_part(&p, between, stride, i, i + 1, got + i * BLOCK * TAPS);
	ok(!memcmp(want, got, sizeof want), "and give the same");
}

/* The first half is of bf16, and both are the value but for 2^-17 of it. */
static void test_halves(void)
{
	static const float special[] = {1.00390625F, -3.14159265F, 0,	      3.4028235e38F,
					INFINITY,    -INFINITY,	   3.39e-30F, -7};
	enum { N = sizeof special / sizeof *special };
	struct packing p = {0};
	const int d = packing_dim(&p, N);
	float out[2 * N];
	int is_bf16 = 1, is_sum = 1;

	packing_halves(&p);
	packing_axis(&p, d, N, 1);
	packing_run(&p, special, out);
	for (int i = 0; i < N; i++) {
		const double x = (double)special[i], sum = (double)out[i] + (double)out[N + i];
		uint32_t bits;

		memcpy(&bits, &out[i], sizeof bits);
		is_bf16 &= (bits & 0xffff) == 0 && isfinite(out[i]);
		is_sum &= sum == x && (isinf(x) || fabs((double)out[N + i]) <= fabs(x) * 0x1p-8);
	}
	ok(is_bf16 && is_sum, "halves: the first is a finite bf16 number, and both are the value");
	p.extent[d] = 1;
	packing_run(&p, (const float[]){NAN}, out);
	ok(isnan(out[0]) && isnan(out[N]) && out[1] == 0 && out[N + 1] == 0,
	   "both halves of NaN are NaN, and those of padding are zero");
}

/* Values half way between two bf16 numbers go to the even one, and large ones to infinity. */
static void test_rounds(void)
{
	enum { N = 8, NUMBERS = N - 3 };
	static const uint32_t nan[N - NUMBERS] = {0x7fffffff, 0x7f800001, 0xffffffff};
	static const float nearest[NUMBERS] = {1, 0x1.04p0F, -0x1.02p0F, INFINITY, INFINITY};
	float is[N] = {0x1.01p0F, 0x1.03p0F, -0x1.0101p0F, 0x1.fffp127F, INFINITY};
	struct packing p = {.rounds = 1};
	const int d = packing_dim(&p, N);
	int same = 1;
	float out[N + 2];

	memcpy(&is[NUMBERS], nan, sizeof nan);
	packing_axis(&p, d, N + 2, 1);
	packing_run(&p, is, out);
	for (int i = 0; i < NUMBERS; i++)
		same &= out[i] == nearest[i];
	ok(same && out[N] == 0 && out[N + 1] == 0, "values that are rounded to bf16 stay floats");
	for (int i = NUMBERS; i < N; i++) {
		uint32_t bits;

		memcpy(&bits, &out[i], sizeof bits);
		same &= isnan(out[i]) && !(bits & 0xffff);
	}
	ok(same, "NaN becomes one that bf16 has");
}

int main(void)
{
	fill();
	test_panels();
	test_many_panels();
	test_map();
	test_joint_map();
	test_halves();
	test_rounds();
	test_long_runs();
	test_turned();
	return done_testing();
}
