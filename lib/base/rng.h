/* Random numbers that are the same on every machine: xoshiro256** seeded by SplitMix64
 * (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018). */
#ifndef TL_BASE_RNG_H
#define TL_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

/* stream (may be NULL) separates uses of one seed: a workload id, a purpose. */
void rng_seed(struct rng *r, uint64_t seed, const char *stream);
uint64_t rng_u64(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* uniform in [0, n), without modulo bias; n > 0 */
double rng_unit(struct rng *r);		       /* uniform in [0, 1) */

#endif
