#include "lib/target/cpu.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/io/keep.h"
#include "lib/io/quota.h"
#include "lib/space/isa.h"
#include "lib/space/strict.h"
#include "lib/target/c.h"
#include "lib/target/target.h"
#include "lib/target/x86.h"

static const char *const common_flags[] = {
	"-O2",
	"-std=gnu11",
	/* Vectors are written out in the source. These take a sixth of the compiler's time and
	 * do nothing for it (docs/EXPERIMENTS.md, "What builds cost"). */
	"-fno-tree-vectorize",
	"-fno-schedule-insns2",
	"-fno-tree-vrp",
	"-fno-thread-jumps",
	"-ffp-contract=fast",
	"-falign-loops=64",
	/* A function is then the same whether it is compiled alone or with others. */
	"-falign-functions=64",
	"-fno-ipa-icf",
	"-fno-stack-protector",
	"-w",
	"-fPIC",
	"-shared",
	"-nostdlib",
};
_Static_assert(sizeof common_flags / sizeof *common_flags + ISA_FLAGS + 5 <= TARGET_ARGS,
	       "room for the compiler, its flags, -o, two files and the end");

/* May this process use tile registers? The system gives them to who asks, once and for all its
 * threads (Linux, "Documentation/arch/x86/xstate.rst"). */
static int may_use_tiles(void)
{
	enum { REQUEST = 0x1023, TILE_DATA = 18 };
	static int asked, granted;

	if (!asked++)
		granted = syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
	return granted;
}

int cpu_has_isa(const char *isa)
{
	__builtin_cpu_init();
	if (!strcmp(isa, "avx512_amx"))
		return cpu_has_isa("avx512_bf16") && __builtin_cpu_supports("amx-bf16") &&
		       __builtin_cpu_supports("amx-int8") && may_use_tiles();
	if (!strcmp(isa, "avx512_bf16"))
		return cpu_has_isa("avx512_vnni") && __builtin_cpu_supports("avx512bf16");
	if (!strcmp(isa, "avx512_vnni"))
		return cpu_has_isa("avx512") && __builtin_cpu_supports("avx512vnni");
	if (!strcmp(isa, "avx512"))
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
	if (!strcmp(isa, "avx2"))
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	return isa_find(isa) != NULL;
}

/* The first line of a file of the kernel's. 1; 0: this machine has none; -1: it cannot be read, and
 * to go on without would make another machine of this one. */
static int kernel_line(const char *path, char *line, int size, struct err *e)
{
	FILE *f = fopen(path, "re");
	int rc = 1;

	line[0] = 0;
	if (!f && (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EPERM))
		return 0;
	if (!f || (!fgets(line, size, f) && ferror(f)))
		rc = err_sys(e, "cannot read %s", path);
	if (f)
		fclose(f);
	return rc;
}

/* Bytes of a data cache by level, from the kernel; *bytes stays where it does not say. */
static int cache_bytes(int level, int64_t *bytes, struct err *e)
{
	static const char *const file[] = {"level", "type", "size"};

	for (int i = 0; i < 6; i++) {
		char path[96], text[3][64];
		char unit = 0;
		long size = 0;

		for (int j = 0; j < 3; j++) {
			int rc;

			snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s",
				 i, file[j]);
			if ((rc = kernel_line(path, text[j], sizeof text[j], e)) <= 0)
				return rc;
		}
		if (strtol(text[0], NULL, 10) != level || !strncmp(text[1], "Instruction", 11) ||
		    sscanf(text[2], "%ld%c", &size, &unit) < 1 || size <= 0)
			continue;
		*bytes = size * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
		return 0;
	}
	return 0;
}

/* OpenMP's, where the program has OpenMP. */
extern int omp_get_num_procs(void) __attribute__((weak));

/* Returns the number of CPUs that this process may run on, or that its control groups grant, if
 * that is less; a part of a CPU counts as one. */
static int granted_cpus(void)
{
	double quota = ceil(quota_cpus(""));
	cpu_set_t set;
	int cpus = 1;

	if (!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 0)
		cpus = CPU_COUNT(&set);
	/* With OMP_PROC_BIND OpenMP binds this thread to one CPU, but knows what there was before.
	 */
	if (omp_get_num_procs && omp_get_num_procs() > cpus)
		cpus = omp_get_num_procs();
	return quota < cpus ? (int)quota : cpus;
}

/* OMP_NUM_THREADS, of whose list the first number counts, or the CPUs that this process has. */
static int usable_cpus(int *threads, struct err *e)
{
	const char *text = getenv("OMP_NUM_THREADS");
	const long most = 1 << 16;
	char *end;
	long n;

	if (text && *text) {
		n = strtol(text, &end, 10);
		if (end == text || (*end && *end != ',') || n < 1 || n > most)
			return err_status(
				e, EXIT_USAGE,
				"OMP_NUM_THREADS is \"%s\", which is no number of threads", text);
		*threads = (int)n;
	} else {
		*threads = granted_cpus();
	}
	return 0;
}

/* The limits that TL_LIMITS tells of. */
static int told_limits(struct limits *m, struct err *e)
{
	const int64_t bytes = (int64_t)1 << 40, turns = 2, most_rate = 64;
	int64_t wide = m->wide_turns, rate = m->l3_rate;
	const struct {
		const char *name;
		int64_t *value, least, most;
	} limit[] = {{"l1d=", &m->l1d, 1, bytes},
		     {"l2=", &m->l2, 1, bytes},
		     {"l3=", &m->l3, 1, bytes},
		     {"wide=", &wide, 1, turns},
		     {"l3rate=", &rate, 0, most_rate}};
	const char *told = getenv("TL_LIMITS");

	for (const char *p = told; p && *p;) {
		size_t i = 0, n = sizeof limit / sizeof *limit;
		char *end;

		while (i < n && strncmp(p, limit[i].name, strlen(limit[i].name)) != 0)
			i++;
		if (i == n || !isdigit((unsigned char)*(p = strchr(p, '=') + 1)) ||
		    (*limit[i].value = strtoll(p, &end, 10)) < limit[i].least ||
		    *limit[i].value > limit[i].most || (*end && (*end != ',' || !end[1])))
			return err_status(e, EXIT_USAGE,
					  "TL_LIMITS is \"%s\"; it wants bytes, turns of the "
					  "widest vectors, and bytes a cycle of the third level, "
					  "such as "
					  "\"l1d=32768,l2=1048576,l3=33554432,wide=1,l3rate=10\"",
					  told);
		p = end + (*end == ',');
	}
	m->wide_turns = (int)wide;
	m->l3_rate = (int)rate;
	return 0;
}

/* Sets what is known of this kind of CPU. AMD's with AVX-512 have a third level of a few cores, and
 * those of family 25 (Zen 4) units of half a vector. See isa_wide_turns() and isa_l3_rate(). */
static void set_kind(struct limits *m)
{
	__builtin_cpu_init();
	m->wide_turns = m->lanes == 16 && __builtin_cpu_is("amdfam19h") ? 2 : 1;
	m->l3_rate = __builtin_cpu_is("amd") && cpu_has_isa("avx512") ? ISA_L3_NEAR : 0;
}

static int set_isa(const char *isa, struct limits *m)
{
	if (isa_limits(isa, m) < 0)
		return -1;
	m->target = &target_cpu;
	return 0;
}

/* The machine's limits, or a lower instruction set's by TL_ISA=avx512_amx|avx512_bf16|avx512_vnni|
 * avx512|avx2|scalar (asking for more than the CPU has is an error). Caches as the kernel tells
 * them, or as TL_LIMITS does: l1d=BYTES,l2=BYTES,l3=BYTES,wide=1|2 (turns of the widest
 * vectors),l3rate=N (bytes a cycle that a core has from the third level; 0: not known), or some of
 * these. Threads: OMP_NUM_THREADS, else the CPUs that this process may run on, and its control
 * groups grant. */
static int limits(struct limits *m, struct err *e)
{
	const char *want = getenv("TL_ISA");
	const struct isa *isa = isa_list;

	if (want && *want) {
		isa = isa_find(want);
		if (!isa)
			return err_status(e, EXIT_USAGE,
					  "TL_ISA is \"%s\", which is none of " ISA_NAMES, want);
		if (!cpu_has_isa(want))
			return err_set(e, "TL_ISA asks for %s, which this CPU does not have", want);
	}
	while (!cpu_has_isa(isa->name))
		isa++;
	set_isa(isa->name, m);
	if (usable_cpus(&m->threads, e))
		return -1;
	if (cache_bytes(1, &m->l1d, e) || cache_bytes(2, &m->l2, e) || cache_bytes(3, &m->l3, e))
		return -1;
	set_kind(m);
	return told_limits(m, e) < 0 || strict_check(e) < 0 ? -1 : 0;
}

static const char *compiler(void)
{
	const char *cc = getenv("TL_CC");

	return cc && *cc ? cc : "cc";
}

/* The compiler is $TL_CC, else cc. */
static void compile(const char *isa, const char *source, const char *object,
		    char *argv[TARGET_ARGS])
{
	const struct isa *row = isa_find(isa);
	int n = 0;

	argv[n++] = (char *)compiler();
	for (size_t j = 0; j < sizeof common_flags / sizeof *common_flags; j++)
		argv[n++] = (char *)common_flags[j];
	for (int j = 0; row && j < ISA_FLAGS && row->flags[j]; j++)
		argv[n++] = (char *)row->flags[j];
	argv[n++] = (char *)"-o";
	argv[n++] = (char *)object;
	argv[n++] = (char *)source;
	argv[n] = NULL;
}

/* As assembly (x86.h); or, where that cannot be, as GNU C (c.h), and why. */
static const char *print(const struct nest *n, const struct limits *m, struct buf *out)
{
	const char *why = x86_print(n, m, out);

	if (why)
		c_print(n, out);
	return why;
}

/* The line of --version that has the version. A wrapper may print lines before it. */
static const char *version_line(const char *text)
{
	static const char *const next[] = {"\nCopyright", "\nTarget:"};
	const char *end = NULL, *line;

	for (size_t i = 0; i < sizeof next / sizeof *next && !end; i++)
		end = strstr(text, next[i]);
	line = end ? end : text;
	while (line > text && line[-1] != '\n')
		line--;
	return line;
}

/* "cc (Debian 12.2.0-14) 12.2.0" or "Debian clang version 14.0.6": the last word of the line. */
static int read_version(const char *text, struct buf *out)
{
	const char *line = version_line(text), *end = line + strcspn(line, "\n"), *version = end;

	while (version > line && !isspace((unsigned char)version[-1]))
		version--;
	for (const char *c = version; c < end; c++)
		if (!isgraph((unsigned char)*c))
			return -1;
	if (strcspn(version, "0123456789") >= (size_t)(end - version))
		return -1;
	buf_fmt(out, "%s %.*s", strstr(text, "clang") ? "clang" : "gcc", (int)(end - version),
		version);
	return 0;
}

static int compiler_version(struct buf *out, struct err *e)
{
	char *argv[] = {(char *)compiler(), (char *)"--version", NULL};
	struct buf text = BUF_INIT, log = BUF_INIT;
	const struct keep keep = {.no_network = 1};
	int rc = keep_ask(&keep, argv, 0, 20, 4096, &text, &log, e);

	if (rc > 0)
		rc = err_set(e, "the compiler %s fails at --version (status %d): %.*s", argv[0], rc,
			     (int)strcspn(log.s ? log.s : "", "\n"), log.s ? log.s : "");
	else if (rc == 0 && read_version(text.s ? text.s : "", out) < 0)
		rc = err_set(e, "the compiler %s tells no version at --version: %.100s", argv[0],
			     text.s ? text.s : "");
	else
		goto done;
	errno = ENOEXEC;
done:
	buf_free(&text);
	buf_free(&log);
	return rc;
}

static int model(struct buf *out, struct err *e)
{
	static const char path[] = "/proc/cpuinfo";
	FILE *f = fopen(path, "re");
	char line[512];
	int rc = 0;

	if (!f && errno != ENOENT && errno != EACCES)
		return err_sys(e, "cannot read %s", path);
	while (f && fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !colon)
			continue;
		line[strcspn(line, "\n")] = 0;
		buf_str(out, colon + 2);
		break;
	}
	if (f && ferror(f))
		rc = err_sys(e, "cannot read %s", path);
	if (f)
		fclose(f);
	if (!out->n)
		buf_str(out, "unknown");
	return rc;
}

/* Leaves out what TL_ISA, or the system, withholds of groups and tiles: kernels that were measured
 * with these are not for such an env. (Kernels for AVX2 never had any.) */
static void features(const struct limits *m, struct buf *out)
{
	const int is_narrow = m->lanes < 16, has_tiles = m->tiles || is_narrow;
	const int has_fours = m->dots >> DTYPE_U8 & 1 || is_narrow;
	const int has_pairs = m->dots >> DTYPE_BF16 & 1 || is_narrow;

	__builtin_cpu_init();
#define FEATURE(name)                                                                              \
	if (__builtin_cpu_supports(name))                                                          \
	buf_fmt(out, "%s%s", out->n ? "," : "", name)
	FEATURE("avx2");
	FEATURE("fma");
	FEATURE("avx512f");
	FEATURE("avx512bw");
	FEATURE("avx512vl");
	if (has_fours)
		FEATURE("avx512vnni");
	if (has_pairs)
		FEATURE("avx512bf16");
	if (has_tiles) {
		FEATURE("amx-tile");
		FEATURE("amx-bf16");
	}
#undef FEATURE
}

const struct target target_cpu = {
	.name = "cpu",
	.can = TARGET_VECTORS | TARGET_TEAM,
	.limits = limits,
	.isa_limits = set_isa,
	.model = model,
	.features = features,
	.prelude = c_prelude,
	.print = print,
	.compile = compile,
	.compiler = compiler_version,
};
