#include "lib/target/probe.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/sort.h"
#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/target/cpu.h"

/* What is timed: each thread runs `run` on its own memory. */
struct probe_work {
	void (*run)(const struct probe_work *w, char *memory, long rounds);
	int64_t bytes; /* a thread goes over in a round */
};

/* Every vector is a multiple of 64 bytes from the start of a page. */
typedef float vec8 __attribute__((vector_size(32)));
typedef float vec16 __attribute__((vector_size(64)));

#define NAME(x) scalar_##x
#define TARGET
#define VEC float
#define REG "x"
#include "lib/target/probe_loops.h"

#define NAME(x) avx2_##x
#define TARGET __attribute__((target("avx2,fma")))
#define VEC vec8
#define REG "x"
#include "lib/target/probe_loops.h"

#define NAME(x) avx512_##x
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma")))
#define VEC vec16
#define REG "v"
#include "lib/target/probe_loops.h"

static void flush_loop(const struct probe_work *w, char *memory, long rounds)
{
	(void)rounds;
	for (int64_t i = 0; i < w->bytes; i += 64)
		__builtin_ia32_clflush(memory + i);
	__builtin_ia32_mfence();
}

enum { L1, L2, L3, MEM, LEVELS, CACHES = MEM };
enum { STEP = 3 * 4096, CHUNK = 170 * STEP, MIN_WINDOWS = 12, MAX_SAMPLES = 1024 };

static const double FAR = 1.25; /* times the best: a window that others disturbed */

static const char *const level_name[LEVELS] = {"l1", "l2", "l3", "mem"};

typedef void (*probe_loop)(const struct probe_work *w, char *memory, long rounds);

static const struct width {
	const char *isa;
	probe_loop peak, read, triad;
	double flops; /* a round of peak */
} widths[] = {
	{"scalar", scalar_peak, scalar_read, scalar_triad, 12 * 2 * 1},
	{"avx2", avx2_peak, avx2_read, avx2_triad, 12 * 2 * 8},
	{"avx512", avx512_peak, avx512_read, avx512_triad, 12 * 2 * 16},
};

/* The team and its memory: a slice a thread, touched by the thread that owns it. */
struct team {
	const struct width *width; /* of the instruction set in use */
	int threads;
	int64_t bytes[LEVELS]; /* a thread goes over; of memory, all threads together */
	int64_t slice;
	char *memory;
};

static int64_t in_steps(double bytes)
{
	return bytes > STEP ? (int64_t)(bytes / STEP) * STEP : STEP;
}

static double clamp(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* Half of a cache, so that nothing else drives the data out; of the third level, which others
 * share, no more than surely exceeds the second. Memory is read chunk by chunk, each flushed from
 * the caches before, whatever their size. */
static void team_sizes(struct team *t, const struct limits *m)
{
	double l3 = (double)m->l3 / m->threads / 2;

	t->bytes[L1] = in_steps((double)m->l1d / 2);
	t->bytes[L2] = in_steps((double)m->l2 / 2);
	t->bytes[L3] = in_steps(clamp(l3, 2.0 * (double)m->l2, 4.0 * (double)m->l2));
	t->slice = (t->bytes[L3] / CHUNK + 1) * CHUNK;
	t->bytes[MEM] = t->slice * m->threads;
}

static int team_open(struct team *t, const struct limits *m, struct err *e)
{
	*t = (struct team){.threads = m->threads, .width = widths};
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
		if (!strcmp(widths[i].isa, m->isa))
			t->width = &widths[i];
	team_sizes(t, m);
	t->memory = mmap(NULL, (size_t)t->bytes[MEM], PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->memory == MAP_FAILED)
		return err_sys(e, "no memory for the probe");
#pragma omp parallel num_threads(t->threads)
	for (int64_t i = 0; i < t->slice; i += 4096)
		((volatile char *)t->memory)[omp_get_thread_num() * t->slice + i] = 1;
	return 0;
}

static void team_close(struct team *t)
{
	munmap(t->memory, (size_t)t->bytes[MEM]);
}

/* Seconds of one window: every thread at its place in its slice, from the first thread's start to
 * the last one's end. One thread is the calling one, alone. */
static double window(const struct team *t, int threads, const struct probe_work *w, int64_t place,
		     long rounds)
{
	double first = INFINITY, last = 0, start = clock_now();

	if (threads == 1) {
		w->run(w, t->memory + place, rounds);
		return clock_now() - start;
	}
#pragma omp parallel num_threads(threads) reduction(min : first) reduction(max : last)
	{
		char *memory = t->memory + omp_get_thread_num() * t->slice + place;

#pragma omp barrier
		first = clock_now();
		w->run(w, memory, rounds);
		last = clock_now();
	}
	return last - first;
}

/* How many rounds make a window of about half a millisecond: short beside what a scheduler gives to
 * others in one piece. Counted with one thread, which starts at once. */
static long window_rounds(const struct team *t, const struct probe_work *w)
{
	const double length_s = 5e-4;
	double best = 0;
	long rounds = 1;

	while (best < length_s / 2) {
		rounds *= 2;
		best = INFINITY;
		for (int i = 0; i < 3 && best >= length_s / 2; i++)
			best = fmin(best, window(t, 1, w, 0, rounds));
	}
	return rounds;
}

/* Seconds of a round at best. disturbed (may be NULL): which share of the windows took far longer.
 */
static double best_round(const struct team *t, int threads, const struct probe_work *w,
			 double budget_s, double *disturbed)
{
	long rounds = window_rounds(t, w);
	double s[MAX_SAMPLES], best = INFINITY, start = clock_now();
	int n = 0, late = 0;

	for (; n < MAX_SAMPLES && (n < MIN_WINDOWS || clock_now() - start < budget_s); n++) {
		s[n] = window(t, threads, w, 0, rounds);
		best = fmin(best, s[n]);
	}
	for (int i = 0; i < n; i++)
		late += s[i] > FAR * best;
	if (disturbed)
		*disturbed = (double)late / n;
	return best / (double)rounds;
}

static double peak(const struct team *t, const struct width *width, int threads, double budget_s,
		   double *disturbed)
{
	struct probe_work w = {width->peak, 0};

	return width->flops * threads / best_round(t, threads, &w, budget_s, disturbed);
}

static double cache_rate(const struct team *t, probe_loop run, int level, int threads,
			 double budget_s)
{
	struct probe_work w = {run, t->bytes[level]};

	return (double)w.bytes * threads / best_round(t, threads, &w, budget_s, NULL);
}

static double median(double *x, int n)
{
	sort_numbers(x, (size_t)n);
	return x[n / 2];
}

/* The chunks of each slice in turns, flushed out of all caches ahead of the clock. Memory is shared
 * with what else is in the machine, so that the best window is luck: this is the median of those
 * that no scheduler disturbed, which costs far more than a quarter. */
static double memory_rate(const struct team *t, probe_loop run, int threads, double budget_s)
{
	struct probe_work w = {run, CHUNK}, flush = {flush_loop, CHUNK};
	double s[MAX_SAMPLES], start = clock_now();
	int64_t place = 0;
	int n = 0, quiet;

	while (n < MAX_SAMPLES && (n < MIN_WINDOWS || clock_now() - start < budget_s)) {
		window(t, threads, &flush, place, 1);
		s[n++] = window(t, threads, &w, place, 1);
		place = (place + CHUNK) % t->slice;
	}
	sort_numbers(s, (size_t)n);
	for (quiet = 1; quiet < n && s[quiet] < FAR * s[0]; quiet++)
		;
	return (double)CHUNK * threads / s[quiet / 2];
}

static double forkjoin(const struct team *t, double budget_s)
{
	double s[MAX_SAMPLES], begin = clock_now();
	int n = 0;

	for (int i = -20; n < MAX_SAMPLES && (n < 3 || clock_now() - begin < budget_s); i++) {
		double start = clock_now();

#pragma omp parallel num_threads(t->threads)
		asm volatile("");
		if (i >= 0)
			s[n++] = clock_now() - start;
	}
	return median(s, n);
}

static double barrier(const struct team *t, double budget_s)
{
	enum { TIMES = 10 };
	double s[MAX_SAMPLES], begin = clock_now();
	int n = 0;

	while (n < MAX_SAMPLES && (n < 3 || clock_now() - begin < budget_s)) {
		double took = 0;

#pragma omp parallel num_threads(t->threads)
		{
			double start;

#pragma omp barrier
			start = clock_now();
			for (int i = 0; i < TIMES; i++) {
#pragma omp barrier
			}
#pragma omp master
			took = clock_now() - start;
		}
		s[n++] = took / TIMES;
	}
	return median(s, n);
}

/* Where the team stands */

int probe_team(int threads, int cpu[PROBE_MAX_CPUS])
{
	int n = threads < PROBE_MAX_CPUS ? threads : PROBE_MAX_CPUS;

#pragma omp parallel num_threads(threads)
	if (omp_get_thread_num() < n)
		cpu[omp_get_thread_num()] = sched_getcpu();
	return n;
}

/* The hardware threads of a core are listed in the same words by each of them. */
int probe_cores(const char *root, const int *cpu, int n, struct err *why)
{
	char seen[PROBE_MAX_CPUS][64], path[512];
	int cores = 0;

	for (int i = 0; i < n; i++) {
		int known = 0, got;
		FILE *f;

		snprintf(path, sizeof path,
			 "%s/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", root,
			 cpu[i]);
		f = fopen(path, "re");
		got = f && fgets(seen[cores], sizeof seen[cores], f);
		if (f)
			fclose(f);
		if (!got) {
			err_set(why, "cannot read %s", path);
			return 0;
		}
		for (int j = 0; j < cores && !known; j++)
			known = !strcmp(seen[j], seen[cores]);
		cores += !known;
	}
	return cores;
}

/* What is printed */

static void put_rates(const struct team *t, const char *name, probe_loop run, int threads,
		      struct buf *out)
{
	field_object(out, name);
	for (int i = 0; i < LEVELS; i++)
		field_number(out, level_name[i],
			     i < CACHES ? cache_rate(t, run, i, threads, 0.02)
					: memory_rate(t, run, threads, 0.05));
	buf_ch(out, '}');
}

static void put_team(const struct team *t, struct buf *out)
{
	int cpu[PROBE_MAX_CPUS];
	struct err why = ERR_INIT;
	int cores = probe_cores("", cpu, probe_team(t->threads, cpu), &why);

	field_object(out, NULL);
	field_text(out, "isa", t->width->isa);
	field_integer(out, "threads", t->threads);
	if (cores)
		field_integer(out, "cores", cores);
	else
		field_null(out, "cores", why.msg);
}

/* By width, and at the width in use. */
static void put_peaks(const struct team *t, struct buf *out)
{
	double one[3] = {0}, all[3] = {0}, disturbed[3] = {0};
	int n = sizeof widths / sizeof *widths;

	for (int i = 0; i < n; i++)
		if (cpu_has_isa(widths[i].isa)) {
			one[i] = peak(t, &widths[i], 1, 0.04, NULL);
			all[i] = peak(t, &widths[i], t->threads, 0.04, &disturbed[i]);
		}
	field_number(out, "peak_flops", one[t->width - widths]);
	field_number(out, "peak_flops_all", all[t->width - widths]);
	field_number(out, "disturbed", disturbed[t->width - widths]);
	field_object(out, "width");
	for (int i = 0; i < n; i++) {
		if (one[i] <= 0)
			continue;
		field_object(out, widths[i].isa);
		field_number(out, "peak_flops", one[i]);
		field_number(out, "peak_flops_all", all[i]);
		buf_ch(out, '}');
	}
	buf_ch(out, '}');
}

int probe_run(const struct limits *m, struct buf *out, struct err *e)
{
	struct team t;

	if (team_open(&t, m, e) < 0)
		return -1;
	put_team(&t, out);
	put_peaks(&t, out);
	field_object(out, "bytes");
	for (int i = 0; i < LEVELS; i++)
		field_number(out, level_name[i], (double)t.bytes[i]);
	buf_ch(out, '}');
	put_rates(&t, "bandwidth", t.width->read, 1, out);
	put_rates(&t, "bandwidth_all", t.width->read, t.threads, out);
	put_rates(&t, "triad", t.width->triad, 1, out);
	put_rates(&t, "triad_all", t.width->triad, t.threads, out);
	field_number(out, "forkjoin_s", forkjoin(&t, 0.02));
	field_number(out, "barrier_s", barrier(&t, 0.02));
	buf_ch(out, '}');
	team_close(&t);
	return 0;
}
