/* Workload records. */
#include "lib/record/schema.h"

static const struct record_word rhs_words[] = {
	{"const", "it is known ahead, and may be packed off the clock (the default)"},
	{"computed", "it is an activation"},
	{NULL, NULL},
};

static const struct record_field identity_fields[] = {
	{.name = "workload_id",
	 .kind = RECORD_ID,
	 .meaning = "The workload's id. Who writes workloads by hand may leave it out; tl-check(1) "
		    "fills it in. If it is there it must be right."},
	{.name = "op",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning =
		 "The operator: `conv2d`, `conv3d`, `matmul`, `attention`, `softmax`, `layer_norm`, "
		 "`rms_norm`, `maxpool2d`, `avgpool2d`, `maxpool3d`, `avgpool3d` or `eltwise`. See Problems below."},
	{.name = "prob",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "The problem in the notation of oneDNN's benchdnn, so that it can be pasted "
		    "there. See Problems below."},
	{.name = "dtype",
	 .kind = RECORD_TEXT,
	 .meaning = "The element type of all tensors, `f32` by default, or three types that colons "
		    "join, of what is read, of the weights, and of the result. See Element types "
		    "below."},
	{.name = "layout",
	 .kind = RECORD_TEXT,
	 .meaning =
		 "The layout of the activations in memory, outermost dimension first: for "
		 "conv2d and pools `nhwc` (the default) or `nchw`, for conv3d and pools of three "
		 "dimensions `ndhwc` (the default) or `ncdhw`, for the others `ab`, row-major matrices. "
		 "Weights have no layout here: they are constant, and each candidate packs them "
		 "ahead as it likes."},
	{.name = "post",
	 .kind = RECORD_TEXTS,
	 .meaning = "The operations fused onto the output, in their order. See Post-operations "
		    "below. By default there are none."},
	{.name = "rhs",
	 .kind = RECORD_WORD,
	 .words = rhs_words,
	 .meaning = "Only for matmul: what the right side is."},
	{.name = "flops",
	 .kind = RECORD_COUNT,
	 .unit = "FLOP",
	 .meaning =
		 "Twice the multiply-adds of one instance, without post-operations. Of an operator "
		 "without multiply-adds: the operations of its definition. See Problems below."},
	{0},
};

const struct record_object record_identity = {
	.name = "identity",
	.by = "tl-extract",
	.meaning = "The fields that make a workload's id, and `flops`.",
	.field = identity_fields,
};

static const struct record_field incumbent_fields[] = {
	{.name = "candidate_id",
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning = "The candidate."},
	{.name = "latency_s",
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .unit = "s",
	 .meaning = "Its time."},
	{.name = "algo", .kind = RECORD_TEXT, .meaning = "Its algorithm."},
	{.name = "knobs", .kind = RECORD_KNOBS, .meaning = "Its knobs."},
	{.name = "final",
	 .kind = RECORD_FLAG,
	 .meaning = "Whether it was compared with the library."},
	{.name = "at", .kind = RECORD_TIME, .meaning = "When it became the best known."},
	{0},
};
static const struct record_object incumbent = {
	.name = "incumbent", .by = "tl-prune", .field = incumbent_fields};

static const struct record_field baseline_fields[] = {
	{.name = "impl",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "The library's variant."},
	{.name = "layout", .kind = RECORD_TEXT, .need = RECORD_REQUIRED, .meaning = "Its layout."},
	{.name = "system",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "The system for which it was found to be the best."},
	{.name = "latency_s", .kind = RECORD_NUMBER, .unit = "s", .meaning = "What it took then."},
	{.name = "own_impl",
	 .kind = RECORD_TEXT,
	 .nullable = 1,
	 .meaning = "Where that layout is not the workload's: the best variant in the workload's "
		    "own layout."},
	{0},
};
static const struct record_object baseline = {
	.name = "opponent", .by = "tl-prune", .field = baseline_fields};

static const struct record_word actions[] = {
	{"tune", "measure the budget's candidates"},
	{"stop", "leave the workload out of this round"},
	{NULL, NULL},
};
static const struct record_field prune_fields[] = {
	{.name = "action",
	 .kind = RECORD_WORD,
	 .need = RECORD_REQUIRED,
	 .words = actions,
	 .meaning = "What was decided."},
	{.name = "reason",
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "Why, a sentence."},
	{0},
};
static const struct record_object prune = {
	.name = "prune", .by = "tl-prune", .field = prune_fields};

static const struct record_field workload_fields[] = {
	{.name = "count",
	 .kind = RECORD_COUNT,
	 .meaning = "How many instances there are: the number of sources."},
	{.name = "source",
	 .kind = RECORD_TEXTS,
	 .meaning =
		 "Where the workload comes from, each as `MODEL:HASH:NODE`: the model's name, "
		 "the first 12 digits of the hash of its content, and the operator's name in the "
		 "model. For lists and logs it is the file, its hash and the line. HASH:NODE is "
		 "what makes two sources the same. So extracting a model twice, or a renamed copy "
		 "of it, changes nothing."},
	{.name = "round",
	 .kind = RECORD_COUNT,
	 .by = "tl-prune",
	 .meaning = "The number of the tuning round, from 1."},
	{.name = "budget",
	 .kind = RECORD_COUNT,
	 .by = "tl-prune",
	 .meaning = "How many candidates are to be measured in the round."},
	{.name = "until",
	 .kind = RECORD_TIME,
	 .by = "tl-prune",
	 .meaning =
		 "When the time for the round, or for the finals, is over. tl-measure then begins "
		 "nothing more. Absent if there is no limit of time."},
	{.name = "incumbent",
	 .kind = RECORD_OBJECT,
	 .object = &incumbent,
	 .by = "tl-prune",
	 .meaning = "The best verified candidate so far. The round's candidates race against it."},
	{.name = "opponent",
	 .kind = RECORD_OBJECT,
	 .object = &baseline,
	 .by = "tl-prune",
	 .meaning = "The library's variant that finals were against in an earlier round. Where the "
		    "system is still the same, finals are against it again, and the library's "
		    "variants are not timed anew."},
	{.name = "unit",
	 .kind = RECORD_ID,
	 .by = "tl-store",
	 .meaning = "The unit of work that was taken (tl-store --claim)."},
	{.name = "claim",
	 .kind = RECORD_ID,
	 .by = "tl-store",
	 .meaning = "The claim under which it was taken, by which the lease can be renewed."},
	{.name = "prune",
	 .kind = RECORD_OBJECT,
	 .object = &prune,
	 .by = "tl-prune",
	 .meaning = "Whether the workload is tuned in this round."},
	{0},
};

const struct record_object record_workload = {
	.name = "workload",
	.by = "tl-extract",
	.meaning = "One operator with its exact shapes, element type, layout and fused "
		   "post-operations: what is tuned.",
	.base = &record_identity,
	.field = workload_fields,
};
