/* Candidate records. */
#include "lib/record/schema.h"

static const struct record_field score_fields[] = {
	{.name = "draft_s",
	 .kind = RECORD_NUMBER,
	 .unit = "s",
	 .meaning = "The time that the analytic draft expects."},
	{.name = "model",
	 .kind = RECORD_REAL,
	 .meaning = "The model's value: the binary logarithm of the speed, without what all "
		    "candidates of the workload have in common."},
	{.name = "deviation",
	 .kind = RECORD_NUMBER,
	 .meaning = "The standard deviation of that value. It is left out where only a part of the "
		    "model was asked."},
	{.name = "random",
	 .kind = RECORD_FLAG,
	 .meaning = "True: the candidate was drawn at random from those that ranked too low."},
	{.name = "audit",
	 .kind = RECORD_FLAG,
	 .meaning = "True: the candidate was drawn from the refused, to see what was lost."},
	{0},
};
static const struct record_object score = {
	.name = "score", .by = "tl-filter", .field = score_fields};

static const struct record_word matches[] = {
	{"exact", "measured for this workload in this env"},
	{"env", "the best of the same workload in another env"},
	{"nearest", "the best of the nearest workload"},
	{"portfolio", "a schedule that the model brings, fitted to the workload"},
	{"draft", "the first by the analytic draft of many at random"},
	{"model", "the candidate that the model predicts to be the best"},
	{"default", "the best by the analytic draft, where there is no model"},
	{NULL, NULL},
};

static const struct record_field candidate_fields[] = {
	{.name = "candidate_id",
	 .kind = RECORD_ID,
	 .meaning = "The candidate's id. tl-check(1) fills it in where it is missing."},
	{.name = "workload",
	 .kind = RECORD_OBJECT,
	 .need = RECORD_REQUIRED,
	 .object = &record_identity,
	 .meaning = "The fields of the workload that make its id, and `flops`."},
	{.name = "target",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "What code is made for: `cpu`, `cuda` (NVIDIA's GPUs) or `opencl` (GPUs of all "
		    "makers, and processors by PoCL)."},
	{.name = "algo",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "The algorithm. See ALGORITHMS AND KNOBS below."},
	{.name = "knobs",
	 .kind = RECORD_KNOBS,
	 .need = RECORD_REQUIRED,
	 .meaning =
		 "Integers by name. A knob that is left out has its frozen value: the value that "
		 "it had in effect before the knob was invented. See ALGORITHMS AND KNOBS below."},
	{.name = "score",
	 .kind = RECORD_OBJECT,
	 .object = &score,
	 .by = "tl-filter",
	 .meaning = "What the candidate was judged by."},
	{.name = "match",
	 .kind = RECORD_WORD,
	 .words = matches,
	 .by = "tl-gen, tl-query",
	 .meaning = "What was known of the candidate before it was measured here."},
	{.name = "confidence",
	 .kind = RECORD_NUMBER,
	 .nullable = 1,
	 .by = "tl-query",
	 .meaning = "With --predict: the chance that the model is off by less than 10%."},
	{0},
};

const struct record_object record_candidate = {
	.name = "candidate",
	.by = "tl-gen",
	.meaning = "One tensor program that could be built: a workload, a target, an algorithm and "
		   "its knobs.",
	.field = candidate_fields,
};
