/* The policy "lorien", a rival to compare with: each operator gets a fixed number of trials, one
 * operator after another, in the order in which they came. Nothing else stops an operator.
 *
 * So Lorien (Yu et al., SoCC 2021) tunes a workload: its option --ntrial is "number of tuning
 * trials for each workload" (3000 by default there, in lorien/dialect/tvm_dial/job.py), and it
 * calls the tuner with early_stopping=None (autotvm_dial/job.py). Lorien's workers take jobs off
 * one list; here one machine does.
 *
 * The tuner is Ansor's search, as Lorien may be told, by a model that learns from the run's own
 * results after each batch. Nothing filters its candidates, and they are timed to the end; race=1
 * stops early what loses, as our measuring does.
 */
#include "lib/policy/trials.h"

const struct policy policy_lorien = {
	.name = "lorien",
	.summary = "each operator gets a fixed number of trials, one operator after another",
	.setting = {[TRIALS] = {"trials", 64, 1, 1000000},
		    [BATCH] = {"batch", 16, 1, 4096},
		    [POLICY_RACE] = {"race", 0, 0, 1}},
	.search = "evolution",
	.filter = "none",
	.races = policy_races,
	.budget = trials_budget,
	.decide = trials_decide,
};
