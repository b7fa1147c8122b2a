/* The policy "random", a rival to compare with: each operator gets a fixed number of candidates
 * that are drawn uniformly and ranked by nobody. What it reaches shows what the other policies,
 * their search and their models are worth.
 */
#include "lib/policy/trials.h"

const struct policy policy_random = {
	.name = "random",
	.summary = "each operator gets a fixed number of candidates, drawn at random",
	.setting = {[TRIALS] = {"trials", 64, 1, 1000000}},
	.search = "random",
	.filter = "none",
	.budget = trials_budget,
	.decide = trials_decide,
};
