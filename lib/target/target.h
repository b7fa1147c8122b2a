/* Targets: what code is made for, each a file lib/target/NAME.c that defines `const struct target
 * target_NAME`.
 *
 * A target says what it can do, prints a nest as source text, and names the command that makes an
 * object of it. What runs such objects is the target's runner (runner.h), which workers alone link.
 * No other code compares a target's name: algorithms say what they need, and the other folders of
 * lib/ call the functions here.
 *
 * A target is a file lib/target/NAME.c with a const struct target target_NAME; the Makefile makes
 * the list. The target provides its limits on this machine and for each of its instruction sets,
 * what it can do (enum target_can), the device's model and features, and the parts that make
 * source text: a prelude, a printer, the command that compiles, the compiler's version. No other
 * file knows its name. An algorithm says what it needs, and is asked only where the target can do
 * that. A candidate carries its target, whose name is part of its id. The code that runs objects
 * starts threads or a driver, so it is another object, the runner (runner_NAME,
 * lib/target/runner.h: load, run, params, team, probe), and only libexec/worker-NAME.c links it.
 * So a new target is such a file with its runner, rows in lib/space/isa.c, and the worker with a
 * baseline in lib/baseline/. What a nest cannot express yet becomes a bit of target_can, together
 * with the node that expresses it. tests/floors.t refuses other headers of lib/target/ elsewhere.
 */
#ifndef TL_TARGET_TARGET_H
#define TL_TARGET_TARGET_H

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/space/limits.h"

struct nest;

enum { TARGET_ARGS = 32 };

/* The function of an object PATH/NAME.so is TARGET_PREFIX NAME. */
#define TARGET_PREFIX "k_"

/* What a nest may ask of a target. */
enum target_can {
	TARGET_VECTORS = 1, /* registers that are vectors, and accesses with lanes left out */
	TARGET_TEAM = 2,    /* parallel loops over threads that share memory, each with a workspace,
			     * and a barrier between phases */
	TARGET_BLOCKS = 4,  /* blocks of threads with memory of their own */
	TARGET_MMA = 8,	    /* products of tiles by warps, of the kinds that limits say */
};

struct target {
	const char *name;
	unsigned can; /* target_can */
	int alone;    /* its compiler gets one kernel at a time: what it makes is compiled again */
	/* This machine's limits; the instruction set and the caches may be told by the environment.
	 */
	int (*limits)(struct limits *m, struct err *e);
	/* Those of an instruction set, as isa_limits() (lib/space/isa.h); -1 for an unknown name.
	 */
	int (*isa_limits)(const char *isa, struct limits *m);
	/* The device's name ("unknown" where it does not tell), and the features that matter,
	 * comma-separated. */
	int (*model)(struct buf *out, struct err *e);
	void (*features)(const struct limits *m, struct buf *out);
	/* The PCI address of an NVIDIA GPU, by which NVML knows it (lib/host/nvml.h). NULL: the
	 * target is none. */
	int (*pci)(struct buf *out, struct err *e);
	/* What has to stand once before all functions in a source. */
	const char *(*prelude)(void);
	/* Appends a nest as the function KERNEL, a macro, for a machine that can do so much. NULL;
	 * or why it is not in the form that the target likes best. */
	const char *(*print)(const struct nest *n, const struct limits *m, struct buf *out);
	/* The command that makes an object of a source for an instruction set. Points into static
	 * text and the strings given; ends with NULL. */
	void (*compile)(const char *isa, const char *source, const char *object,
			char *argv[TARGET_ARGS]);
	/* "gcc 12.2.0": its compiler, asked once. errno tells why not: ENOENT, or ENOEXEC if it is
	 * no compiler. */
	int (*compiler)(struct buf *out, struct err *e);
};

/* Options of the programs that make candidates and judge them (lib/io/opt.h): the target's name and
 * an architecture, both const char *, NULL by default. */
#define TARGET_OPTION(name)                                                                        \
	{                                                                                          \
		0, "target", OPT_ENUM, &(name), "NAME",                                            \
			"What kernels are made for: this machine's processor (cpu, the default), " \
			"an NVIDIA GPU (cuda), or a device of OpenCL.",                            \
			"cpu|cuda|opencl"                                                          \
	}
#define ARCH_OPTION(name)                                                                                                \
	{                                                                                                                \
		0, "arch", OPT_STRING, &(name), "ARCH",                                                                  \
			"For a machine of this architecture instead of the one at hand: "                                \
			"avx512_amx, avx512_bf16, avx512_vnni, avx512, avx2 or scalar; with --target=cuda sm_80, sm_90 " \
			"and so on.",                                                                                    \
			"avx512_amx|avx512_bf16|avx512_vnni|avx512|avx2|scalar"                                          \
	}

extern const struct target *const target_list[]; /* NULL at the end; made from the file list */
const struct target *target_find(const char *name, size_t n);
/* The target of programs that are told of none: the first. */
const struct target *target_default(void);
/* The one that an option names; NULL: the default. */
const struct target *target_named(const char *name);
/* 0; -1 with the sentence for a candidate of a target that is not the one wanted. */
int target_is(const struct target *t, const struct target *wanted, struct err *e);
/* The machine's limits, or (arch not NULL) those of an architecture that it need not have. */
int target_limits(const struct target *t, const char *arch, struct limits *m, struct err *e);
/* Limits of an instruction set of any target; -1 for an unknown name. */
int target_isa_limits(const char *isa, struct limits *m);
/* The compiler's command for an instruction set, joined, without the file names: for hashing. */
void target_command(const struct target *t, const char *isa, struct buf *out);

#endif
