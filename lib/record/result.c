/* Result records. */
#include "lib/record/result.h"

#include <math.h>

/* Where the member of a struct is. */
#define AT(type, member) .at = offsetof(struct type, member)
#define WHY(type, member) .why_at = offsetof(struct type, member)

/* ---- parts ---- */

static const struct record_field error_fields[] = {
	{.name = "l2",
	 AT(result_error, l2),
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .meaning = "The difference, relative in the L2 norm."},
	{.name = "max",
	 AT(result_error, max),
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .meaning = "The largest difference over the largest value."},
	{0},
};
static const struct record_object error = {.name = "error", .field = error_fields};

static const struct record_field ratio_fields[] = {
	{.name = "median",
	 AT(result_ratio, median),
	 .kind = RECORD_NUMBER,
	 .need = RECORD_REQUIRED,
	 .meaning = "The geometric mean of the processes' medians over their pairs of calls."},
	{.name = "ci",
	 AT(result_ratio, ci),
	 .kind = RECORD_INTERVAL,
	 .need = RECORD_REQUIRED,
	 .meaning = "Its 95% interval by Student's t over the processes."},
	{0},
};
static const struct record_object ratio = {.name = "ratio", .field = ratio_fields};

#define LATENCY(type, subject)                                                                     \
	{                                                                                          \
		.name = "latency_s", AT(type, latency_s), .kind = RECORD_NUMBER,                   \
		.need = RECORD_REQUIRED, .unit = "s",                                              \
		.meaning = subject " median time of one call."                                     \
	}
#define SAMPLES(type)                                                                              \
	{                                                                                          \
		.name = "samples_s", AT(type, samples_s), .kind = RECORD_NUMBERS, .unit = "s",     \
		.meaning = "With --samples: the times of its calls, pair by pair."                 \
	}

static const struct record_field own_layout_fields[] = {
	{.name = "impl",
	 AT(result_rival, impl),
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "The library's variant."},
	LATENCY(result_rival, "Its"),
	{.name = "ci_s",
	 AT(result_rival, ci_s),
	 .kind = RECORD_INTERVAL,
	 .need = RECORD_REQUIRED,
	 .unit = "s",
	 .meaning = "The 95% interval of the median."},
	{.name = "ratio",
	 AT(result_rival, ratio),
	 .kind = RECORD_OBJECT,
	 .need = RECORD_REQUIRED,
	 .object = &ratio,
	 .meaning = "Its time over the candidate's."},
	SAMPLES(result_rival),
	{0},
};
static const struct record_object own_layout = {.name = "own_layout", .field = own_layout_fields};

static const struct record_field baseline_fields[] = {
	{.name = "impl",
	 AT(result_baseline, impl),
	 .kind = RECORD_TEXT,
	 .need = RECORD_REQUIRED,
	 .meaning = "The library's variant, such as `onednn 2.6.3 winograd jit:avx512_core`."},
	{.name = "layout",
	 AT(result_baseline, layout),
	 .kind = RECORD_TEXT,
	 .meaning = "Its layout: the workload's, or `preferred`, the library's own choice."},
	LATENCY(result_baseline, "Its"),
	{.name = "ci_s",
	 AT(result_baseline, ci_s),
	 .kind = RECORD_INTERVAL,
	 .unit = "s",
	 .meaning = "The 95% interval of the median."},
	{.name = "system",
	 AT(result_baseline, system),
	 .kind = RECORD_TEXT,
	 .meaning = "The kernel's name and release, for which it was found to be the best."},
	{.name = "error",
	 AT(result_baseline, error),
	 .kind = RECORD_OBJECT,
	 .object = &error,
	 .meaning = "Its error, if it was looked for in this run."},
	SAMPLES(result_baseline),
	{.name = "own_layout",
	 AT(result_baseline, own_layout),
	 WHY(result_baseline, own_layout_why),
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &own_layout,
	 .meaning = "Where its layout is not the workload's: the best that the library has in the "
		    "workload's own layout, called in the same turns. Null if there is none."},
	{0},
};
static const struct record_object baseline = {.name = "baseline", .field = baseline_fields};

static const struct record_field rejected_fields[] = {
	{.name = "impl", .kind = RECORD_TEXT, .need = RECORD_REQUIRED, .meaning = "The variant."},
	{.name = "layout", .kind = RECORD_TEXT, .meaning = "Its layout."},
	{.name = "error",
	 .kind = RECORD_OBJECT,
	 .object = &error,
	 .meaning = "Its error. Absent if a value of its result is NaN or infinite."},
	{.name = "why",
	 .kind = RECORD_TEXT,
	 .meaning = "How it failed when it was timed, though its answer is right."},
	{0},
};
static const struct record_object rejected = {.name = "rejected", .field = rejected_fields};

static const struct record_word ends[] = {
	{"won", "the candidate is faster, by a 90% interval"},
	{"lost", "it is slower"},
	{"even",
	 "neither was clear until the candidate could hardly be better by much, or the time "
	 "was up; the incumbent stays"},
	{NULL, NULL},
};
#define PAIRED_RATIO(type, needed)                                                                 \
	{.name = "ratio",                                                                          \
	 AT(type, ratio),                                                                          \
	 .kind = RECORD_NUMBER,                                                                    \
	 .need = needed,                                                                           \
	 .meaning = "The median of the incumbent's time over the candidate's, pair by "            \
		    "pair. Above 1 the candidate is faster."},                                     \
	{                                                                                          \
		.name = "ci", AT(type, ci), .kind = RECORD_INTERVAL, .need = needed,               \
		.meaning = "Its 95% interval."                                                     \
	}

static const struct record_field first_fields[] = {
	{.name = "challenger_s",
	 AT(result_first, challenger_s),
	 .kind = RECORD_NUMBERS,
	 .need = RECORD_REQUIRED,
	 .unit = "s",
	 .meaning = "The candidate's times, pair by pair."},
	{.name = "incumbent_s",
	 AT(result_first, incumbent_s),
	 .kind = RECORD_NUMBERS,
	 .need = RECORD_REQUIRED,
	 .unit = "s",
	 .meaning = "The incumbent's times in the same pairs."},
	{0},
};
static const struct record_object first = {.name = "first", .field = first_fields};

static const struct record_field duel_fields[] = {
	{.name = "against",
	 AT(result_duel, against),
	 .kind = RECORD_ID,
	 .need = RECORD_REQUIRED,
	 .meaning = "The incumbent's candidate_id."},
	PAIRED_RATIO(result_duel, RECORD_REQUIRED),
	LATENCY(result_duel, "The incumbent's"),
	{.name = "end",
	 AT(result_duel, end),
	 .as = RECORD_AS_ENUM,
	 .kind = RECORD_WORD,
	 .need = RECORD_REQUIRED,
	 .words = ends,
	 .meaning = "How the duel ended."},
	SAMPLES(result_duel),
	{.name = "first",
	 AT(result_duel, first),
	 .kind = RECORD_OBJECT,
	 .object = &first,
	 .meaning = "With --samples: the pairs of calls that won the duel. As many new pairs then "
		    "confirm it, and all other fields are of these alone."},
	{0},
};
static const struct record_object duel = {.name = "duel", .field = duel_fields};

static const struct record_field again_fields[] = {
	PAIRED_RATIO(result_again, RECORD_OPTIONAL),
	{.name = "status",
	 AT(result_again, status),
	 .kind = RECORD_TEXT,
	 .meaning = "The status of a process that did not end well. There is no ratio then."},
	{.name = "ahead",
	 AT(result_again, ahead),
	 .kind = RECORD_FLAG,
	 .need = RECORD_REQUIRED,
	 .meaning = "Whether the ratio is above 1 there, too."},
	{0},
};
static const struct record_object again = {.name = "again", .field = again_fields};

static const struct record_field audit_fields[] = {
	PAIRED_RATIO(result_audit, RECORD_REQUIRED),
	{.name = "false_kill",
	 AT(result_audit, false_kill),
	 .kind = RECORD_FLAG,
	 .need = RECORD_REQUIRED,
	 .meaning = "Whether the candidate won."},
	{0},
};
static const struct record_object audit = {.name = "audit", .field = audit_fields};

static const struct record_field watch_fields[] = {
	{.name = "steal_s",
	 .kind = RECORD_NUMBER,
	 .unit = "s",
	 .meaning = "CPU seconds that the hypervisor gave to others, in ticks of 10 ms, over all "
		    "CPUs."},
	{.name = "nivcsw", .kind = RECORD_COUNT, .meaning = "Involuntary context switches."},
	{.name = "throttled",
	 .kind = RECORD_COUNT,
	 .meaning = "How many times a CPU was throttled."},
	{.name = "freq_hz",
	 .kind = RECORD_NUMBER,
	 .unit = "Hz",
	 .meaning = "The lowest frequency seen."},
	{.name = "gpu_freq_hz",
	 .kind = RECORD_NUMBER,
	 .unit = "Hz",
	 .meaning = "The lowest clock of the GPU's processors that NVML told while it was not "
		    "idle; it is asked 20 times a second. The same holds for the others."},
	{.name = "gpu_temperature_C",
	 .kind = RECORD_NUMBER,
	 .unit = "C",
	 .meaning = "The GPU's highest temperature."},
	{.name = "gpu_throttle",
	 .kind = RECORD_COUNT,
	 .meaning = "Why the GPU's clock was not higher, in the bits of NVML's clock event "
		    "reasons: 4 is the power limit, 32 and 64 are heat."},
	{.name = "gpu_limit_W",
	 .kind = RECORD_NUMBER,
	 .unit = "W",
	 .meaning = "The GPU's power limit."},
	{0},
};
static const struct record_object watch = {.name = "watch", .field = watch_fields};

#define SECONDS(field, text)                                                                       \
	{                                                                                          \
		.name = #field, AT(result_cost, field), .kind = RECORD_NUMBER, .unit = "s",        \
		.meaning = text                                                                    \
	}
static const struct record_field cost_fields[] = {
	SECONDS(build_s, "The time that building took."),
	{.name = "build_core_s",
	 AT(result_cost, build_core_s),
	 .kind = RECORD_NUMBER,
	 .unit = "core-s",
	 .meaning = "The CPU time of the compiler."},
	SECONDS(verify_s, "The time that verification took."),
	SECONDS(run_s, "The time that the timed calls took."),
	SECONDS(audit_s, "The time that an audit took."),
	SECONDS(baseline_s, "The time that the workload's data took, its true answer unless that "
			    "was kept, and a look at the library's variants."),
	{.name = "core_s",
	 AT(result_cost, core_s),
	 .kind = RECORD_NUMBER,
	 .unit = "core-s",
	 .meaning = "build_core_s, and the others times the threads."},
	{.name = "energy_J",
	 AT(result_cost, energy_J),
	 WHY(result_cost, energy_why),
	 .kind = RECORD_NUMBER,
	 .nullable = 1,
	 .unit = "J",
	 .meaning = "The energy of the machine's processor packages and memory since the result "
		    "before this one, with all that ran meanwhile; for the target cuda that of the "
		    "GPU. Null where no counter can be read."},
	{0},
};
static const struct record_object cost = {.name = "result_cost", .field = cost_fields};

/* ---- the env ---- */

#define BANDWIDTH(level, text)                                                                     \
	{                                                                                          \
		.name = level, .kind = RECORD_NUMBER, .unit = "byte/s", .meaning = text            \
	}
static const struct record_field bandwidth_fields[] = {
	BANDWIDTH("l1", "From their first caches."),
	BANDWIDTH("l2", "From the second caches."),
	BANDWIDTH("l3", "From the third cache."),
	BANDWIDTH("mem", "From memory."),
	{0},
};
static const struct record_object bandwidth = {.name = "bandwidth", .field = bandwidth_fields};

static const struct record_field probe_fields[] = {
	{.name = "cores",
	 .kind = RECORD_COUNT,
	 .nullable = 1,
	 .meaning = "How many different cores the threads stand on, where the kernel tells."},
	{.name = "peak_flops",
	 .kind = RECORD_NUMBER,
	 .unit = "FLOP/s",
	 .meaning = "The speed of one thread at the instruction set in use."},
	{.name = "peak_flops_all",
	 .kind = RECORD_NUMBER,
	 .unit = "FLOP/s",
	 .meaning = "The speed of all threads together."},
	{.name = "bandwidth_all",
	 .kind = RECORD_OBJECT,
	 .object = &bandwidth,
	 .meaning = "Bytes that all threads together read in a second."},
	{.name = "forkjoin_s",
	 .kind = RECORD_NUMBER,
	 .unit = "s",
	 .meaning = "The time of an empty parallel region."},
	{.name = "disturbed",
	 .kind = RECORD_NUMBER,
	 .meaning = "The share of the probe that other programs disturbed."},
	{0},
};
static const struct record_object probe = {.name = "probe", .field = probe_fields};

static const struct record_field env_fields[] = {
	{.name = "cpu",
	 .kind = RECORD_TEXT,
	 .meaning = "The processor's model. On a virtual machine it says little."},
	{.name = "isa", .kind = RECORD_TEXT, .meaning = "The instruction set in use."},
	{.name = "features", .kind = RECORD_TEXT, .meaning = "The processor's features."},
	{.name = "l1d",
	 .kind = RECORD_COUNT,
	 .unit = "bytes",
	 .meaning = "The size of the first data cache."},
	{.name = "l2",
	 .kind = RECORD_COUNT,
	 .unit = "bytes",
	 .meaning = "The size of the second cache."},
	{.name = "l3",
	 .kind = RECORD_COUNT,
	 .unit = "bytes",
	 .meaning = "The size of the third cache."},
	{.name = "threads", .kind = RECORD_COUNT, .meaning = "The threads of a kernel."},
	{.name = "cc", .kind = RECORD_TEXT, .meaning = "The compiler and its version."},
	{.name = "libs", .kind = RECORD_TEXT, .meaning = "The library and its version."},
	{.name = "hw_id",
	 .kind = RECORD_ID,
	 .meaning = "The hardware: an id over isa, features, l1d, l2, l3 and threads."},
	{.name = "probe",
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &probe,
	 .meaning = "What was measured of the hardware before anything was timed. Null if nothing "
		    "was."},
	{.name = "watch",
	 .kind = RECORD_TEXTS,
	 .meaning = "What the kernel shows of disturbances: steal time, involuntary context "
		    "switches, throttling, the clock's frequency."},
	{.name = "watch_why", .kind = RECORD_TEXT, .meaning = "What it does not show."},
	{0},
};
const struct record_object record_machine = {.name = "machine", .field = env_fields};

/* ---- the record ---- */

static const struct record_word stages[] = {
	{"race", "a duel with the incumbent"},
	{"final", "a duel with the baseline"},
	{NULL, NULL},
};
static const struct record_word bounds[] = {{"lower", NULL}, {NULL, NULL}};
static const struct record_word printers[] = {
	{"assembly", "x86-64 assembly"}, {"c", "GNU C"}, {"cuda", "CUDA C"},
	{"opencl", "OpenCL C"},		 {NULL, NULL},
};
static const struct record_field use_fields[] = {
	{.name = "registers",
	 AT(result_use, registers),
	 .kind = RECORD_COUNT,
	 .need = RECORD_REQUIRED,
	 .meaning = "Registers of a thread."},
	{.name = "spilled_bytes",
	 AT(result_use, spilled_bytes),
	 .kind = RECORD_COUNT,
	 .need = RECORD_REQUIRED,
	 .unit = "bytes",
	 .meaning = "Memory of a thread that is used where registers do not suffice."},
	{.name = "block_bytes",
	 AT(result_use, block_bytes),
	 .kind = RECORD_COUNT,
	 .need = RECORD_REQUIRED,
	 .unit = "bytes",
	 .meaning = "Memory of a block."},
	{.name = "blocks",
	 AT(result_use, blocks),
	 .kind = RECORD_COUNT,
	 .need = RECORD_REQUIRED,
	 .meaning = "Blocks that a processor of the device holds at a time."},
	{0},
};
static const struct record_object use = {.name = "use", .field = use_fields};

static const struct record_word rows[] = {
	{"graph", "the device goes through them without its host, so that short kernels are timed "
		  "without what it takes to start them; with CUDA from 11.4 on"},
	{"calls",
	 "the host starts each, for the driver, or one of those that were compared, cannot "
	 "do otherwise: times of short kernels have gaps between calls in them"},
	{NULL, NULL},
};
static const struct record_word caches[] = {
	{"cold", "operands were flushed from the caches before each call"},
	{"weights-cold", "weights and bias were"},
	{NULL, NULL},
};
static const struct record_word verdicts[] = {
	{"faster", "by more than 1%"},
	{"same", "within 2%"},
	{"slower", "by more than 1%"},
	{"undecided", "the interval does not tell"},
	{NULL, NULL},
};

static const struct record_field result_fields[] = {
	{.name = "status",
	 AT(result, status),
	 .as = RECORD_AS_ENUM,
	 .kind = RECORD_WORD,
	 .need = RECORD_REQUIRED,
	 .words = &status_words[STATUS_OK],
	 .meaning = "What happened. ok, preempted, build, wrong and unsupported are final for an "
		    "env. timeout, crash and oom get one more chance."},
	{.name = "why",
	 AT(result, why),
	 .kind = RECORD_TEXT,
	 .need = RECORD_UNLESS_OK,
	 .meaning = "A sentence on the status. In an answer of tl-query(1): why the answer is not "
		    "exact."},
	{.name = "printer",
	 AT(result, printer),
	 .kind = RECORD_WORD,
	 .words = printers,
	 .meaning = "The language in which the kernel was written. Absent if none was."},
	{.name = "printer_why",
	 AT(result, printer_why),
	 .kind = RECORD_TEXT,
	 .meaning = "Why it is GNU C."},
	{.name = "stage",
	 AT(result, stage),
	 .as = RECORD_AS_ENUM,
	 .kind = RECORD_WORD,
	 .need = RECORD_IF_OK,
	 .words = stages,
	 .meaning =
		 "What the candidate was timed for. The best candidate of a workload has a result "
		 "of each stage; the final counts more than the race."},
	{.name = "cache",
	 AT(result, cache),
	 .kind = RECORD_WORD,
	 .words = caches,
	 .meaning = "Whether something was flushed from the caches. Absent: they were warm."},
	{.name = "latency_s",
	 AT(result, latency_s),
	 WHY(result, latency_why),
	 .kind = RECORD_NUMBER,
	 .need = RECORD_IF_OK,
	 .nullable = 1,
	 .unit = "s",
	 .meaning = "The median time of one call. Times of two results come from two moments, in "
		    "which the machine may have been slow or quick. Which candidate is faster is "
		    "told by duel and ratio."},
	{.name = "bound",
	 AT(result, bound),
	 .kind = RECORD_WORD,
	 .words = bounds,
	 .meaning = "`lower` for a preempted candidate, whose latency_s is the lower end of its "
		    "interval."},
	{.name = "ci_s",
	 AT(result, ci_s),
	 .kind = RECORD_INTERVAL,
	 .nullable = 1,
	 .unit = "s",
	 .meaning = "The 95% confidence interval of the median. It is wider where neighbouring "
		    "calls depend on each other."},
	{.name = "reps",
	 AT(result, reps),
	 .kind = RECORD_COUNT,
	 .nullable = 1,
	 .meaning =
		 "The number of calls timed; of a duel or a final, of pairs of calls. Calls that "
		 "only bring operands back into the caches, one before each, are not counted."},
	{.name = "processes",
	 AT(result, processes),
	 .kind = RECORD_COUNT,
	 .meaning =
		 "Stage final: in how many processes the duel was made. Each has its own place in "
		 "memory and its own moment, which is worth a per cent or two."},
	{.name = "row",
	 AT(result, row),
	 .kind = RECORD_COUNT,
	 .meaning = "Each sample is the mean of so many calls in a row; in a final, of at least so "
		    "many. Without this field calls were timed by themselves."},
	{.name = "row_by",
	 AT(result, row_by),
	 .kind = RECORD_WORD,
	 .words = rows,
	 .meaning =
		 "How the calls of a row were started, those of the candidate, the incumbent and "
		 "the baseline alike. A final has `graph` if all of its processes had."},
	{.name = "use",
	 AT(result, use),
	 .kind = RECORD_OBJECT,
	 .object = &use,
	 .meaning = "What a kernel asks of a device, as CUDA's driver tells of it once it is "
		    "compiled: of its phases the most, and the fewest blocks."},
	{.name = "watch",
	 AT(result, watch),
	 .as = RECORD_AS_JSON,
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &watch,
	 .meaning = "What disturbed the trial, as far as the kernel shows it. Absent in replays."},
	{.name = "samples_s",
	 AT(result, samples_s),
	 .kind = RECORD_NUMBERS,
	 .nullable = 1,
	 .unit = "s",
	 .meaning = "With --samples: the times of the calls, in their order."},
	{.name = "duel",
	 AT(result, duel),
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &duel,
	 .meaning = "Stage race: what came of the duel with the incumbent. Both were called in "
		    "turns, so that what disturbs the machine disturbs both alike. Absent if there "
		    "was no incumbent, or if the process of the duel died and the candidate then "
		    "ran alone."},
	{.name = "audit",
	 AT(result, audit),
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &audit,
	 .meaning = "Of a preempted candidate that had a second duel, to the end, in a new "
		    "process."},
	{.name = "again",
	 AT(result, again),
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &again,
	 .meaning =
		 "Of a candidate that won its duel: a second one in a new process. A candidate "
		 "that is wrong there is wrong. Absent where it won by more than 10%, and in a run "
		 "with --no-preempt. Two processes "
		 "place their memory differently, and that alone can decide a duel. How much "
		 "faster a winner is, for training and for progress, is the geometric mean of "
		 "both ratios."},
	{.name = "baseline",
	 AT(result, baseline),
	 WHY(result, baseline_why),
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &baseline,
	 .meaning = "Stage final: the best that the library has for the same problem, in "
		    "the duel with this candidate. Null if the library has none."},
	{.name = "ratio",
	 AT(result, ratio),
	 WHY(result, ratio_why),
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &ratio,
	 .meaning =
		 "Stage final: the baseline's time over the candidate's. Above 1 the candidate is "
		 "faster."},
	{.name = "verdict",
	 AT(result, verdict),
	 .kind = RECORD_WORD,
	 .nullable = 1,
	 .words = verdicts,
	 .meaning = "Stage final: what the candidate is compared with the library, from the "
		    "interval of the ratio."},
	{.name = "rejected",
	 AT(result, rejected),
	 .as = RECORD_AS_JSON,
	 .kind = RECORD_OBJECTS,
	 .object = &rejected,
	 .meaning = "Stage final: variants of the library whose answer is wrong by the limit that "
		    "holds for candidates (--max-error), or that failed when they were timed. They "
		    "are no baseline. Absent if there is none; at most four are listed."},
	{.name = "error",
	 AT(result, error),
	 .kind = RECORD_OBJECT,
	 .need = RECORD_IF_OK,
	 .nullable = 1,
	 .object = &error,
	 .meaning = "Against the reference in double precision, on the data that the candidate was "
		    "verified with last."},
	{.name = "incumbent",
	 AT(result, incumbent),
	 .kind = RECORD_FLAG,
	 .meaning = "True if the candidate is the best known from here on: it won its duel and was "
		    "ahead in the second, or there was no incumbent; or this is its final. "
		    "Otherwise absent, as it is in a run with --no-preempt. The last one of a "
		    "workload and env is its best."},
	{.name = "cost",
	 AT(result, cost),
	 .kind = RECORD_OBJECT,
	 .nullable = 1,
	 .object = &cost,
	 .meaning =
		 "What the result took. A cost that several candidates share, such as a compiled "
		 "object, the reference or the baseline, is charged to the first of them."},
	{.name = "env_id",
	 AT(result, env_id),
	 .kind = RECORD_ID,
	 .need = RECORD_IF_OK,
	 .meaning =
		 "What the latency depends on beside the program: an id over what hw_id is over, "
		 "and cc and libs. Times of two envs are never compared."},
	{.name = "code_hash",
	 AT(result, code_hash),
	 WHY(result, code_hash_why),
	 .kind = RECORD_ID,
	 .nullable = 1,
	 .meaning = "The hash of the source, the compiler and its command. Candidates that differ "
		    "only in what is passed at run time share it. Null if nothing was built."},
	{.name = "settings",
	 AT(result, settings),
	 .kind = RECORD_ID,
	 .meaning =
		 "An id of the settings of tl-measure(1) that change what a measurement comes to. "
		 "See IDS below."},
	{.name = "run",
	 AT(result, run),
	 .kind = RECORD_ID,
	 .meaning = "The measuring run, the same in all of its records."},
	{.name = "at",
	 AT(result, at),
	 .kind = RECORD_TIME,
	 .need = RECORD_REQUIRED,
	 .meaning = "When it was measured."},
	{.name = "replayed",
	 AT(result, replayed),
	 .kind = RECORD_FLAG,
	 .by = "tl-replay",
	 .meaning = "True: the result was not measured, but comes from a recording. Then at is a "
		    "simulated time, run a simulated run, settings is absent, and in a final that "
		    "was not recorded ratio is null."},
	{.name = "env",
	 AT(result, env),
	 .as = RECORD_AS_JSON,
	 .kind = RECORD_OBJECT,
	 .object = &record_machine,
	 .meaning = "The env itself. See Envs below."},
	{.name = "checksum",
	 .kind = RECORD_CHECKSUM,
	 .meaning =
		 "A checksum of the record's fields. See CHECKSUMS below. A record that has another "
		 "one than its fields make was damaged, and no program uses it. It may be left out."},
	{0},
};

const struct record_object record_result = {
	.name = "result",
	.by = "tl-measure",
	.meaning = "A candidate with what happened to it.",
	.base = &record_candidate,
	.field = result_fields,
};

/* ---- the struct ---- */

void result_clear(struct result *r)
{
	*r = (struct result){0};
	members_clear(&record_result, r);
}

void result_read(struct result *r, const struct json_doc *d, struct arena *a)
{
	const struct json *workload = json_get(d, d->tok, "workload");

	result_clear(r);
	r->is_there = 1;
	members_read(&record_result, d, d->tok, a, r);
	json_str(json_get(d, d->tok, "candidate_id"), a, &r->candidate_id);
	json_str(json_get(d, workload, "workload_id"), a, &r->workload_id);
}

void result_write(const struct result *r, struct buf *out)
{
	members_write(&record_result, r, out);
}

int result_ratio(const struct result *r, double *out, struct err *e)
{
	*out = r->stage == STAGE_FINAL ? r->ratio.median : r->duel.ratio;
	if (!isnan(*out) && !(*out > 0))
		return err_set(e, "a ratio is not above 0");
	if (r->stage == STAGE_FINAL || isnan(r->again.ratio))
		return 0;
	if (!(r->again.ratio > 0))
		return err_set(e, "the ratio of the second duel is not above 0");
	*out = r->again.ahead ? fmax(1, r->again.ci.lo) : sqrt(*out * r->again.ratio);
	return 0;
}
