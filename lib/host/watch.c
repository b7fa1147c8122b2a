#include "lib/host/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/io/field.h"

static const struct source {
	const char *field, *missing;
} sources[WATCH_SOURCES] = {
	[WATCH_STEAL] = {"steal_s", "no steal time in /proc/stat"},
	[WATCH_SWITCHES] = {"nivcsw", "no getrusage"},
	[WATCH_THROTTLE] = {"throttled", "no thermal_throttle in /sys/devices/system/cpu"},
	[WATCH_FREQUENCY] = {"freq_hz", "no cpufreq in /sys/devices/system/cpu"},
};

static int open_cpu(const char *root, int cpu, const char *file)
{
	char path[512];

	snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/%s", root, cpu, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int own_cpus(int *cpu)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return 0;
	for (int i = 0; i < CPU_SETSIZE && n < WATCH_MAX_CPUS; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = i;
	return n;
}

void watch_open(struct watch *w, const char *root, const int *cpu, int n)
{
	int own[WATCH_MAX_CPUS];
	char path[512];

	if (!cpu) {
		n = own_cpus(own);
		cpu = own;
	}
	memset(w, 0, sizeof *w);
	w->ncpu = n < WATCH_MAX_CPUS ? n : WATCH_MAX_CPUS;
	snprintf(path, sizeof path, "%s/proc/stat", root);
	w->stat = open(path, O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < w->ncpu; i++) {
		w->throttle[i] = open_cpu(root, cpu[i], "thermal_throttle/core_throttle_count");
		w->freq[i] = open_cpu(root, cpu[i], "cpufreq/scaling_cur_freq");
	}
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

void watch_close(struct watch *w)
{
	close_file(w->stat);
	for (int i = 0; i < w->ncpu; i++) {
		close_file(w->throttle[i]);
		close_file(w->freq[i]);
	}
	w->stat = -1;
	w->ncpu = 0;
	nvml_close(&w->nvml);
}

void watch_gpu(struct watch *w, const char *pci)
{
	char why[200];

	nvml_open(&w->nvml, pci, why, sizeof why);
}

void watch_tick(struct watch *w)
{
	struct nvml_look now, *seen = &w->gpu;

	if (!w->nvml.gpu)
		return;
	nvml_look(&w->nvml, &now);
	if ((now.has & 1U << NVML_THROTTLE) && (now.throttle & NVML_IDLE))
		return;
	if ((now.has & 1U << NVML_CLOCK) && (seen->has & 1U << NVML_CLOCK))
		now.clock_hz = fmin(now.clock_hz, seen->clock_hz);
	if (seen->temperature_C > now.temperature_C)
		now.temperature_C = seen->temperature_C;
	if (~now.has & seen->has & 1U << NVML_CLOCK)
		now.clock_hz = seen->clock_hz;
	if (~now.has & seen->has & 1U << NVML_LIMIT)
		now.limit_W = seen->limit_W;
	now.throttle |= seen->throttle;
	now.has |= seen->has;
	*seen = now;
}

/* The k-th number (from 0) of a file's beginning. 0, or -1 if it is not there. */
static int read_number(int fd, int k, int64_t *out)
{
	char text[256], *s = text, *end;
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;

	if (n <= 0)
		return -1;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	while (*s && (*s < '0' || *s > '9')) /* "cpu  1 2 ..." */
		s++;
	for (;; k--, s = end) {
		errno = 0;
		*out = strtoll(s, &end, 10);
		if (end == s || errno)
			return -1;
		if (!k)
			return 0;
	}
}

static void look_at_cpus(const struct watch *w, struct watched *d)
{
	int64_t v;

	d->freq_hz = INFINITY;
	for (int i = 0; i < w->ncpu; i++) {
		if (read_number(w->throttle[i], 0, &v) == 0) {
			d->has |= 1U << WATCH_THROTTLE;
			d->throttled += v;
		}
		if (read_number(w->freq[i], 0, &v) == 0) { /* kHz */
			d->has |= 1U << WATCH_FREQUENCY;
			d->freq_hz = fmin(d->freq_hz, 1e3 * (double)v);
		}
	}
}

static void look(const struct watch *w, struct watched *d)
{
	struct rusage own, children;
	int64_t v;

	*d = (struct watched){0};
	if (read_number(w->stat, 7, &v) == 0) {
		d->has |= 1U << WATCH_STEAL;
		d->steal_s = (double)v / (double)sysconf(_SC_CLK_TCK);
	}
	if (!getrusage(RUSAGE_SELF, &own) && !getrusage(RUSAGE_CHILDREN, &children)) {
		d->has |= 1U << WATCH_SWITCHES;
		d->nivcsw = own.ru_nivcsw + children.ru_nivcsw;
	}
	look_at_cpus(w, d);
}

void watch_begin(struct watch *w)
{
	look(w, &w->begun);
	w->gpu = (struct nvml_look){0};
}

void watch_end(struct watch *w, struct watched *out)
{
	const struct watched *b = &w->begun;

	watch_tick(w);
	look(w, out);
	out->has &= b->has;
	/* Steal time has been seen to run backwards, where a machine was moved. */
	out->steal_s = fmax(0, out->steal_s - b->steal_s);
	out->nivcsw -= b->nivcsw;
	out->throttled -= b->throttled;
	out->freq_hz = fmin(out->freq_hz, b->freq_hz);
	out->gpu = w->gpu;
}

static void put_gpu(const struct nvml_look *g, struct buf *out)
{
	static const char *const field[] = {
		[NVML_CLOCK] = "gpu_freq_hz",
		[NVML_TEMPERATURE] = "gpu_temperature_C",
		[NVML_THROTTLE] = "gpu_throttle",
		[NVML_LIMIT] = "gpu_limit_W",
	};
	const double value[] = {g->clock_hz, g->temperature_C, (double)g->throttle, g->limit_W};

	for (size_t i = 0; i < sizeof field / sizeof *field; i++)
		if (g->has & 1U << i)
			field_number(out, field[i], value[i]);
}

void watch_put(const struct watched *d, struct buf *out)
{
	const double value[WATCH_SOURCES] = {d->steal_s, (double)d->nivcsw, (double)d->throttled,
					     d->freq_hz};

	field_object(out, NULL);
	for (int i = 0; i < WATCH_SOURCES; i++)
		if (d->has & 1U << i)
			field_number(out, sources[i].field, value[i]);
	put_gpu(&d->gpu, out);
	buf_ch(out, '}');
}

void watch_put_sources(const char *root, struct buf *out)
{
	struct buf missing = BUF_INIT;
	struct watch w;
	struct watched d;

	watch_open(&w, root, NULL, 0);
	look(&w, &d);
	watch_close(&w);
	field_list(out, "watch");
	for (int i = 0; i < WATCH_SOURCES; i++)
		if (d.has & 1U << i)
			field_text(out, NULL, sources[i].field);
		else
			buf_fmt(&missing, "%s%s", missing.n ? "; " : "", sources[i].missing);
	buf_ch(out, ']');
	field_text(out, "watch_why", missing.s);
	buf_free(&missing);
}
