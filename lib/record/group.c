/* Records that enclose others, end, begin and done, and what a run cost. */
#include "lib/record/schema.h"

static const struct record_field end_fields[] = {
	{.name = "workload_id",
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning = "The workload whose group ends here."},
	{.name = "drawn",
	 .kind = RECORD_COUNT,
	 .need = RECORD_REQUIRED,
	 .meaning = "How many candidates were proposed."},
	{.name = "why",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning =
		 "Why there are no more: `n reached`, `space exhausted`, `no more proposed` "
		 "(another program decided, and stopped), `no algorithm applies`, `stopped`, "
		 "`end of input` or `out of time` (tl-gen, or tl-measure, had no time for all of them)."},
	{.name = "passed_over",
	 .kind = RECORD_COUNT,
	 .by = "tl-gen",
	 .meaning = "With --search=exec: how many proposals became no candidate. Absent if there "
		    "are none."},
	{.name = "search_s",
	 .kind = RECORD_NUMBER,
	 .unit = "s",
	 .by = "tl-gen",
	 .meaning = "With --cost: the CPU time that the group took."},
	{.name = "unit",
	 .kind = RECORD_ID,
	 .by = "tl-gen",
	 .meaning = "The workload's unit of work, if it has one: tl-store sets it to done."},
	{.name = "claim",
	 .kind = RECORD_ID,
	 .by = "tl-gen",
	 .meaning = "The claim under which it was taken."},
	{.name = "kept",
	 .kind = RECORD_COUNT,
	 .by = "tl-filter",
	 .meaning = "How many candidates were passed on."},
	{.name = "refused",
	 .kind = RECORD_COUNT,
	 .by = "tl-filter",
	 .meaning = "How many were not."},
	{.name = "inference_s",
	 .kind = RECORD_NUMBER,
	 .unit = "s",
	 .by = "tl-filter",
	 .meaning = "With --cost: the CPU time that the group took."},
	{.name = "measured",
	 .kind = RECORD_COUNT,
	 .by = "tl-measure",
	 .meaning = "How many candidates are ok."},
	{.name = "preempted",
	 .kind = RECORD_COUNT,
	 .by = "tl-measure",
	 .meaning = "How many lost their duel."},
	{.name = "failed",
	 .kind = RECORD_COUNT,
	 .by = "tl-measure",
	 .meaning = "How many have another status."},
	{.name = "built",
	 .kind = RECORD_COUNT,
	 .by = "tl-measure",
	 .meaning = "How many objects were compiled. Those from the build cache are not counted."},
	{.name = "known",
	 .kind = RECORD_COUNT,
	 .by = "tl-measure",
	 .meaning =
		 "How many candidates have a result of an earlier run, which was passed on. They "
		 "are counted nowhere else. Absent if there are none."},
	{.name = "run", .kind = RECORD_ID, .by = "tl-measure", .meaning = "The measuring run."},
	{.name = "audited",
	 .kind = RECORD_COUNT,
	 .by = "tl-measure",
	 .meaning = "With --audit: how many of those that lost had a second duel."},
	{.name = "false_kills",
	 .kind = RECORD_COUNT,
	 .by = "tl-measure",
	 .meaning = "With --audit: how many of these won it."},
	{.name = "unknown",
	 .kind = RECORD_COUNT,
	 .by = "tl-replay",
	 .meaning = "How many candidates have no result, because nothing was recorded of them."},
	{.name = "replayed",
	 .kind = RECORD_FLAG,
	 .by = "tl-replay",
	 .meaning = "True: the group was simulated."},
	{0},
};

const struct record_object record_end = {
	.name = "end",
	.by = "tl-gen",
	.meaning = "Closes a workload's group.",
	.field = end_fields,
};

static const struct record_field run_fields[] = {
	{.name = "run", .kind = RECORD_ID, .need = RECORD_REQUIRED, .meaning = "The run's id."},
	{.name = "program",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "The program that ran."},
	{.name = "part_of", .kind = RECORD_ID, .meaning = "The run that this one is a part of."},
	{.name = "why",
	 .kind = RECORD_TEXT,
	 .meaning = "A sentence, if the run was not done: it was stopped by a signal, or the "
		    "machine was at fault."},
	{.name = "stop",
	 .kind = RECORD_TEXT,
	 .by = "tl-tune",
	 .meaning = "Why the rounds of the run ended, as tl-prune --why tells it."},
	{.name = "at", .kind = RECORD_TIME, .need = RECORD_REQUIRED, .meaning = "When it ended."},
	{.name = "wall_s",
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .unit = "s",
	 .meaning = "How long it took."},
	{.name = "waited_s",
	 .kind = RECORD_NUMBER,
	 .unit = "s",
	 .meaning = "How long it waited for other runs on the machine, beside wall_s. Absent if it "
		    "did not."},
	{.name = "cores",
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .meaning = "How many cores it held."},
	{.name = "parts_s",
	 .kind = RECORD_NUMBER,
	 .unit = "s",
	 .meaning = "The part of wall_s that belongs to its parts, which have run records of their "
		    "own."},
	{.name = "cost",
	 .kind = RECORD_AMOUNTS,
	 .need = RECORD_REQUIRED,
	 .unit = "core-s",
	 .meaning =
		 "Core-seconds by purpose: `search`, `inference` (predicting candidates to "
		 "choose among them), `training` (of what predicts), `build`, `verify`, "
		 "`baseline`, `time`, `audit` (timing to the end what was preempted), `probe` "
		 "(what the machine can do), `store`, `other`, and `idle` (held and not used). "
		 "What took nothing is left out. They sum to (wall_s - parts_s) x cores. While a "
		 "candidate or the library runs, it is charged with all cores, even those that "
		 "it leaves idle. Compilers, and the programs of the pipeline, are charged with "
		 "the CPU time that they took."},
	{.name = "energy_J",
	 .kind = RECORD_NUMBER,
	 .nullable = 1,
	 .unit = "J",
	 .meaning = "The energy of the run, as in a result. Absent if the parts "
		    "tell it."},
	{.name = "replayed",
	 .kind = RECORD_FLAG,
	 .by = "tl-replay",
	 .meaning = "True: the run was simulated. The recorded costs add up to what it tells; "
		    "nobody has paid it."},
	{0},
};

const struct record_object record_run = {
	.name = "run",
	.by = "tl-measure, tl-tune, tl-replay",
	.meaning = "What a run of a program cost.",
	.field = run_fields,
};

static const struct record_field mark_fields[] = {
	{.name = "run",
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning = "The measuring run, the same in all of its records."},
	{0},
};

const struct record_object record_begin = {
	.name = "begin",
	.by = "tl-measure",
	.meaning = "What follows, up to the done record of the same run, was written by that run.",
	.field = mark_fields,
};

const struct record_object record_done = {
	.name = "done",
	.by = "tl-measure",
	.meaning = "The run has ended well. A begin record without its done record tells of a run "
		   "that was killed.",
	.field = mark_fields,
};
