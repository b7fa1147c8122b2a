#include "lib/trial/compare.h"

#include <math.h>
#include <string.h>

enum { LANES = 2, CHAINS = 4, BLOCK = LANES * CHAINS }; /* chains of sums hide their latency */

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t masks __attribute__((vector_size(LANES * sizeof(int64_t))));

/* A NaN that no arithmetic makes. */
static const uint32_t POISON = 0x7fd0dead;

/* Of squares, lane by lane. */
struct sums {
	doubles diff, norm, worst, largest;
};

void compare_poison(float *out, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		memcpy(&out[i], &POISON, sizeof POISON);
}

/* The greater of each; what is no number loses. */
static doubles greater(doubles a, doubles b)
{
	masks m = a > b;

	return (doubles)(((masks)a & m) | ((masks)b & ~m));
}

static doubles load(const float *p, int64_t n)
{
	floats v = {0};

	memcpy(&v, p, (size_t)n * sizeof *p);
	return __builtin_convertvector(v, doubles);
}

static void add(struct sums *s, doubles out, doubles truth)
{
	doubles d = out - truth, d2 = d * d, t2 = truth * truth;

	s->diff += d2;
	s->norm += t2;
	s->worst = greater(d2, s->worst);
	s->largest = greater(t2, s->largest);
}

/* What all chains have come to. */
static struct sums join(const struct sums *chain)
{
	struct sums all = chain[0];

	for (int i = 1; i < CHAINS; i++) {
		all.diff += chain[i].diff;
		all.norm += chain[i].norm;
		all.worst = greater(chain[i].worst, all.worst);
		all.largest = greater(chain[i].largest, all.largest);
	}
	return all;
}

static void count_strange(const float *out, int64_t n, struct comparison *c)
{
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(out[i])) {
			int is_poison = !memcmp(&out[i], &POISON, sizeof POISON);

			c->unwritten += is_poison;
			c->strange += !is_poison;
		}
	c->max = INFINITY;
}

struct comparison compare(const float *out, const float *truth, int64_t n)
{
	struct sums chain[CHAINS] = {0}, all;
	struct comparison c = {0};
	double diff, norm, largest;
	int64_t i = 0;

	for (; i + BLOCK <= n; i += BLOCK)
		for (int k = 0; k < CHAINS; k++)
			add(&chain[k], load(out + i + LANES * k, LANES),
			    load(truth + i + LANES * k, LANES));
	for (; i < n; i++)
		add(&chain[0], load(out + i, 1), load(truth + i, 1));
	all = join(chain);
	diff = all.diff[0] + all.diff[1];
	norm = all.norm[0] + all.norm[1];
	largest = sqrt(fmax(all.largest[0], all.largest[1]));
	c.l2 = norm > 0 ? sqrt(diff / norm) : sqrt(diff);
	c.max = sqrt(fmax(all.worst[0], all.worst[1])) / (largest > 0 ? largest : 1);
	if (!isfinite(diff))
		count_strange(out, n, &c);
	return c;
}
