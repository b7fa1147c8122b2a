/* An output against the truth: errors as their definitions give them, and whatever is no number. */
#include "lib/trial/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/rng.h"
#include "tests/tap.h"

enum { N = 1003 };

static float truth[N], out[N];

static void fill(double error)
{
	struct rng r;

	rng_seed(&r, 1, "compare");
	for (int i = 0; i < N; i++) {
		truth[i] = (float)(2 * rng_unit(&r) - 1);
		out[i] = truth[i] + (float)(error * (2 * rng_unit(&r) - 1));
	}
}

/* By the definitions, one after the other. */
static int is_right(int n)
{
	const struct comparison c = compare(out, truth, n);
	double diff = 0, norm = 0, worst = 0, largest = 0;

	for (int i = 0; i < n; i++) {
		double x = (double)truth[i], d = (double)out[i] - x;

		diff += d * d;
		norm += x * x;
		worst = fmax(worst, fabs(d));
		largest = fmax(largest, fabs(x));
	}
	return fabs(c.l2 - sqrt(diff / norm)) <= 1e-12 * c.l2 &&
	       fabs(c.max - worst / largest) <= 1e-12 * c.max && !c.unwritten && !c.strange;
}

/* One value spoils an output wherever it stands. */
static int is_strange_at(int i, float value, int unwritten)
{
	struct comparison c;

	fill(0);
	out[i] = value;
	c = compare(out, truth, N);
	return !(c.l2 < 1e30) && !(c.max < 1e30) && c.unwritten == unwritten &&
	       c.strange == !unwritten;
}

int main(void)
{
	float poisoned;
	int right = 1, strange = 1;

	fill(1e-3);
	for (int n = 1; n <= N; n++)
		right &= is_right(n);
	ok(right, "errors as their definitions give them, at any length");
	fill(0);
	ok(compare(out, truth, N).l2 == 0 && compare(out, truth, N).max == 0, "none");
	out[N - 1] += 0.5f;
	ok(is_right(N) && compare(out, truth, N).max > 0.4, "the last value counts");
	fill(0);
	memset(truth, 0, sizeof truth);
	memset(out, 0, sizeof out);
	out[5] = 2;
	ok(compare(out, truth, N).l2 == 2 && compare(out, truth, N).max == 2,
	   "where the truth is 0, errors are absolute");
	compare_poison(&poisoned, 1);
	ok(isnan(poisoned), "poison is no number");
	for (int i = 0; i < N; i += i < 20 ? 1 : 97)
		strange &= is_strange_at(i, NAN, 0) && is_strange_at(i, INFINITY, 0) &&
			   is_strange_at(i, -INFINITY, 0) && is_strange_at(i, poisoned, 1);
	ok(strange, "what is no number is counted, and what was not written apart");
	fill(0);
	compare_poison(out, N);
	ok(compare(out, truth, N).unwritten == N, "nothing was written");
	return done_testing();
}
