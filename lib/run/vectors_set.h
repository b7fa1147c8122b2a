/* The loops of vectors.c for one instruction set, included once for each: LANES is how many numbers
 * a register has, NAME(x) a name for this set. PANELS_BY_1, PANELS_BY_2, PANELS_BY_4 and
 * PANELS_BY_8 are the panels that registers hold beside so many rows; 0: so many rows do not fit.
 */

typedef float NAME(vector)
	__attribute__((vector_size(LANES * sizeof(float)), may_alias, aligned(4)));
typedef int32_t NAME(whole)
	__attribute__((vector_size(LANES * sizeof(int32_t)), may_alias, aligned(4)));
#define vector NAME(vector)
#define whole NAME(whole)

/* ---- products ---- */

/* So many panels by so many rows: both are constants where this is called. */
ALWAYS void NAME(add_block)(const struct vectors_product *p, int64_t panel, int64_t row,
			    const int panels, const int rows)
{
	enum { PARTS = VECTORS_PANEL / LANES };
	const float *by = p->panel + panel * p->rows * VECTORS_PANEL, *x = p->row + row * p->x;
	float *to = p->sum + row * p->to + panel * VECTORS_PANEL;
	vector sum[8][4][PARTS];

#define EACH                                                                                       \
	_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                     \
		_Pragma("GCC unroll 4") for (int i = 0; i < panels; i++)                           \
			_Pragma("GCC unroll 8") for (int k = 0; k < PARTS; k++)
	EACH sum[r][i][k] = *(vector *)(to + r * p->to + i * VECTORS_PANEL + k * LANES);
	for (int64_t j = 0; j < p->rows; j++, by += VECTORS_PANEL)
		EACH sum[r][i][k] +=
			x[r * p->x + j] *
			*(const vector *)(by + i * p->rows * VECTORS_PANEL + k * LANES);
	EACH *(vector *)(to + r * p->to + i * VECTORS_PANEL + k * LANES) = sum[r][i][k];
#undef EACH
}

/* Multiplies the panels from `first` to `end`. */
ALWAYS void NAME(add_rows)(const struct vectors_product *p, int64_t first, int64_t end, int64_t row,
			   const int panels, const int rows)
{
	int64_t i = first;

	for (; i + panels <= end; i += panels)
		NAME(add_block)(p, i, row, panels, rows);
	for (; i < end; i++)
		NAME(add_block)(p, i, row, 1, rows);
}

/* Multiplies a few panels by all rows, and then the next ones, so that panels come from memory
 * once. */
static void NAME(product)(const struct vectors_product *p)
{
	for (int64_t i = 0, end; i < p->panels; i = end) {
		int64_t r = 0;

		end = i + 4 < p->panels ? i + 4 : p->panels;
		for (; PANELS_BY_8 && r + 8 <= p->n; r += 8)
			NAME(add_rows)(p, i, end, r, PANELS_BY_8, 8);
		for (; PANELS_BY_4 && r + 4 <= p->n; r += 4)
			NAME(add_rows)(p, i, end, r, PANELS_BY_4, 4);
		for (; PANELS_BY_2 && r + 2 <= p->n; r += 2)
			NAME(add_rows)(p, i, end, r, PANELS_BY_2, 2);
		for (; r < p->n; r++)
			NAME(add_rows)(p, i, end, r, PANELS_BY_1, 1);
	}
}

/* ---- rows ---- */

ALWAYS float NAME(sum_of)(vector x)
{
	const whole at = *(const whole *)numbers;

#pragma GCC unroll 4
	for (int k = LANES / 2; k; k /= 2)
		x += __builtin_shuffle(x, at ^ k);
	return x[0];
}

ALWAYS float NAME(dot)(const float *x, const float *y, int64_t n)
{
	vector sum = {0};
	float all = 0;
	int64_t i = 0;

	for (; i + LANES <= n; i += LANES)
		sum += *(const vector *)(x + i) * *(const vector *)(y + i);
	for (; i < n; i++)
		all += x[i] * y[i];
	return all + NAME(sum_of)(sum);
}

static void NAME(dots)(const float *x, const float *y, int64_t rows, int64_t n, float *to)
{
	for (int64_t j = 0; j < rows; j++)
		to[j] = NAME(dot)(x, y + j * n, n);
}

/* So many registers of sums, from the i-th on. */
ALWAYS void NAME(weigh_block)(const float *x, const float *y, int64_t rows, int64_t n, float *to,
			      const int registers)
{
	vector sum[4];

#define EACH _Pragma("GCC unroll 4") for (int k = 0; k < registers; k++)
	EACH sum[k] = *(const vector *)(to + k * LANES);
	for (int64_t j = 0; j < rows; j++) {
		if (x[j] == 0)
			continue;
		EACH sum[k] += x[j] * *(const vector *)(y + j * n + k * LANES);
	}
	EACH *(vector *)(to + k * LANES) = sum[k];
#undef EACH
}

static void NAME(weigh)(const float *x, const float *y, int64_t rows, int64_t n, float *to)
{
	int64_t i = 0;

	for (; i + 4 * LANES <= n; i += 4 * LANES)
		NAME(weigh_block)(x, y + i, rows, n, to + i, 4);
	for (; i + LANES <= n; i += LANES)
		NAME(weigh_block)(x, y + i, rows, n, to + i, 1);
	for (int64_t j = 0; i < n && j < rows; j++)
		for (int64_t k = i; x[j] != 0 && k < n; k++)
			to[k] += x[j] * y[j * n + k];
}

/* ---- functions ---- */

ALWAYS vector NAME(choose)(whole which, vector a, vector b)
{
	return (vector)(((whole)a & which) | ((whole)b & ~which));
}

ALWAYS vector NAME(between)(vector x, float least, float most)
{
	const vector low = {0}, high = low + most;

	x = NAME(choose)(x > most, high, x);
	return NAME(choose)(x < least, low + least, x);
}

/* e to the power x, which is -87 to 88 or NaN: 2 to a whole power, times a polynomial of what is
 * left (Cephes). */
ALWAYS vector NAME(power)(vector x)
{
	const float magic = 12582912; /* the unit of the last place is 1 there */
	const vector n = x * 1.44269504F + magic, all = n - magic;
	const vector r = x - all * 0.693359375F + all * 2.12194440e-4F;
	vector p = 1.9875691500e-4F * r + 1.3981999507e-3F;

	p = p * r + 8.3334519073e-3F;
	p = p * r + 4.1665795894e-2F;
	p = p * r + 1.6666665459e-1F;
	p = p * r + 5.0000001201e-1F;
	p = p * r * r + r + 1;
	return p * (vector)(((whole)n + 127) << 23);
}

/* e to the power x, which is 0 at most; 0 where that is below all normal numbers. */
ALWAYS vector NAME(small_power)(vector x)
{
	const vector zero = {0};

	return NAME(choose)(x < -87, zero, NAME(power)(NAME(between)(x, -87, 88)));
}

static float NAME(most)(const float *x, int64_t n)
{
	vector most = {0};
	float all = -INFINITY;
	int64_t i = 0;

	most -= INFINITY;
	for (; i + LANES <= n; i += LANES) {
		const vector here = *(const vector *)(x + i);

		most = NAME(choose)(here > most, here, most);
	}
	for (; i < n; i++)
		all = x[i] > all ? x[i] : all;
#pragma GCC unroll 16
	for (int k = 0; k < LANES; k++)
		all = most[k] > all ? most[k] : all;
	return all;
}

static void NAME(scale)(float *x, float by, int64_t n)
{
	for (; n >= LANES; n -= LANES, x += LANES)
		*(vector *)x *= by;
	for (int64_t i = 0; i < n; i++)
		x[i] *= by;
}

static float NAME(exps)(float *x, float most, int64_t n)
{
	vector sum = {0}, last = sum - INFINITY;

	for (; n >= LANES; n -= LANES, x += LANES)
		sum += *(vector *)x = NAME(small_power)(*(const vector *)x - most);
	memcpy(&last, x, (size_t)n * sizeof *x);
	last = NAME(small_power)(last - most);
	memcpy(x, &last, (size_t)n * sizeof *x);
	return NAME(sum_of)(sum + last);
}

ALWAYS vector NAME(sigmoid_of)(vector x)
{
	return 1 / (1 + NAME(power)(NAME(between)(-x, -87, 88)));
}

/* Near 0 by a polynomial (Cephes), so that small numbers keep all their digits. */
ALWAYS vector NAME(tanh_of)(vector x)
{
	const vector s = x * x;
	const vector far = 1 - 2 / (1 + NAME(power)(NAME(between)(2 * x, -87, 88)));
	vector near = -5.70498872745e-3F * s + 2.06390887954e-2F;

	near = near * s - 5.37397155531e-2F;
	near = near * s + 1.33314422036e-1F;
	near = near * s - 3.33332819422e-1F;
	return NAME(choose)(s < 0.390625F, near * s * x + x, far);
}

#define EACH(function)                                                                             \
	vector last = {0};                                                                         \
	for (; n >= LANES; n -= LANES, x += LANES)                                                 \
		*(vector *)x = function(*(vector *)x);                                             \
	memcpy(&last, x, (size_t)n * sizeof *x);                                                   \
	last = function(last);                                                                     \
	memcpy(x, &last, (size_t)n * sizeof *x)

static void NAME(sigmoid)(float *x, int64_t n)
{
	EACH(NAME(sigmoid_of));
}

static void NAME(tanh)(float *x, int64_t n)
{
	EACH(NAME(tanh_of));
}

#undef EACH
#undef vector
#undef whole
