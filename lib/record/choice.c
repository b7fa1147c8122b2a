/* Choice records: the kernel with which whole runs of a network are fastest. */
#include "lib/record/schema.h"

static const struct record_word ends[] = {
	{"won", "the candidate was the choice from then on"},
	{"even", "it was not clear that it is faster"},
	{"lost", "it was slower, or other steps were, by more than it saved"},
	{"differs", "with it the network has other outputs"},
	{NULL, NULL},
};

static const struct record_field over_fields[] = {
	{.name = "candidate_id",
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning = "The candidate that stood against another one in the network."},
	{.name = "algo", .kind = RECORD_TEXT, .need = RECORD_REQUIRED, .meaning = "Its algorithm."},
	{.name = "ratio",
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .meaning = "The time of the steps in a run with the kernel that was the choice until "
		    "then, over their time in the run beside it with this candidate: the median "
		    "of the pairs. Above 1 this candidate was faster."},
	{.name = "ci",
	 .kind = RECORD_INTERVAL,
	 .need = RECORD_REQUIRED,
	 .meaning = "The 95% interval of the ratio."},
	{.name = "pairs",
	 .kind = RECORD_COUNT,
	 .need = RECORD_REQUIRED,
	 .meaning = "How many pairs of runs there were."},
	{.name = "end",
	 .kind = RECORD_WORD,
	 .need = RECORD_REQUIRED,
	 .words = ends,
	 .meaning = "How the duel ended."},
	{0},
};
static const struct record_field again_fields[] = {
	{.name = "candidate_id",
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning = "The candidate that had won."},
	{.name = "ratio",
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .meaning = "As in `over`."},
	{.name = "ci",
	 .kind = RECORD_INTERVAL,
	 .need = RECORD_REQUIRED,
	 .meaning = "The 95% interval of the ratio."},
	{.name = "pairs",
	 .kind = RECORD_COUNT,
	 .need = RECORD_REQUIRED,
	 .meaning = "How many pairs of runs there were."},
	{.name = "ahead",
	 .kind = RECORD_FLAG,
	 .need = RECORD_REQUIRED,
	 .meaning = "True: it was faster again."},
	{0},
};
static const struct record_object again = {
	.name = "choice_again", .by = "tl-run", .field = again_fields};

static const struct record_object over = {
	.name = "choice_over", .by = "tl-run", .field = over_fields};

static const struct record_field choice_fields[] = {
	{.name = "network",
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning =
		 "The network: an id over the operators and shapes of its nodes, in their order. "
		 "Weights and names do not count."},
	{.name = "model",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "The name of the model's file."},
	{.name = "steps",
	 .kind = RECORD_COUNT,
	 .need = RECORD_REQUIRED,
	 .meaning = "How many steps of the network compute the workload."},
	{.name = "step_s",
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .unit = "s",
	 .meaning = "The time of one of them in the network with this kernel, in the mean."},
	{.name = "alone_s",
	 .kind = RECORD_NUMBER,
	 .unit = "s",
	 .meaning = "The kernel's time alone, as the database had it."},
	{.name = "over",
	 .kind = RECORD_OBJECTS,
	 .need = RECORD_REQUIRED,
	 .object = &over,
	 .meaning = "The duels in the network, in their order. The first of them was against the "
		    "candidate `first`."},
	{.name = "again",
	 .kind = RECORD_OBJECT,
	 .object = &again,
	 .meaning = "If a candidate of `over` won: its duel with `first` when the network had been "
		    "opened anew, with its memory in another place. It is the choice if it was "
		    "ahead again."},
	{.name = "first",
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning = "The candidate that was the choice before: the best known alone, or an earlier "
		    "choice."},
	{.name = "env_id",
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning = "The env, as in a result."},
	{.name = "at",
	 .kind = RECORD_TIME,
	 .need = RECORD_REQUIRED,
	 .meaning = "When it was measured."},
	{.name = "checksum", .kind = RECORD_CHECKSUM, .meaning = "As in a result."},
	{0},
};

const struct record_object record_choice = {
	.name = "choice",
	.by = "tl-run",
	.meaning = "The kernel of a workload with which whole runs of a network were fastest, in "
		   "turns with others that the database knew. tl-run(1) uses it for this network "
		   "as long as nothing better than the candidates that took part is known.",
	.base = &record_candidate,
	.field = choice_fields,
};
