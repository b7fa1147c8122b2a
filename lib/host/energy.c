#include "lib/host/energy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/field.h"

static const double TICK_S = 30;

static const char *setting(const char *name, const char *def)
{
	const char *value = getenv(name);

	return value && *value ? value : def;
}

/* RAPL */

static int read_counter(int fd, uint64_t *out)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return -1;
	text[n] = 0;
	*out = strtoull(text, NULL, 10);
	return 0;
}

static int open_in(const char *root, const char *domain, const char *file)
{
	char path[600];

	snprintf(path, sizeof path, "%s/%s/%s", root, domain, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Packages and their memory. "core" and "uncore" are parts of a package, "psys" holds it. */
static int counts(const char *root, const char *domain)
{
	int fd = open_in(root, domain, "name");
	char name[32] = "";
	ssize_t n = fd >= 0 ? read(fd, name, sizeof name - 1) : -1;

	if (fd >= 0)
		close(fd);
	return n > 0 && (!strncmp(name, "package", 7) || !strncmp(name, "dram", 4));
}

static int add_domain(struct energy *g, const char *root, const char *domain)
{
	struct energy_domain *d = &g->domain[g->n];
	int range = open_in(root, domain, "max_energy_range_uj"), bad;

	d->fd = open_in(root, domain, "energy_uj");
	if (d->fd < 0 && (errno == EACCES || errno == EPERM))
		snprintf(g->why, sizeof g->why,
			 "RAPL is readable by root only: %.80s/%.60s/energy_uj", root, domain);
	else if (d->fd < 0)
		snprintf(g->why, sizeof g->why, "cannot open %.80s/%.60s/energy_uj: %.30s", root,
			 domain, strerror(errno));
	bad = d->fd < 0 || range < 0 || read_counter(range, &d->range) < 0 ||
	      read_counter(d->fd, &d->last) < 0;
	if (bad && !g->why[0])
		snprintf(g->why, sizeof g->why, "cannot read the counter in %.80s/%.60s", root,
			 domain);
	if (range >= 0)
		close(range);
	if (!bad)
		g->n++;
	else if (d->fd >= 0)
		close(d->fd);
	return bad ? -1 : 0;
}

static void open_rapl(struct energy *g)
{
	const char *root = setting("TL_POWERCAP", "/sys/class/powercap");
	DIR *dir = opendir(root);
	struct dirent *f;

	if (!dir) {
		snprintf(g->why, sizeof g->why, "no RAPL: %.150s is missing", root);
		return;
	}
	/* intel-rapl:0 is a package, intel-rapl:0:0 a part of it. The same counters are listed
	 * again as intel-rapl-mmio. */
	while ((f = readdir(dir)) && g->n < ENERGY_DOMAINS)
		if (!strncmp(f->d_name, "intel-rapl:", 11) && counts(root, f->d_name) &&
		    add_domain(g, root, f->d_name) < 0)
			break; /* a sum with a part left out would be no energy */
	closedir(dir);
	if (!g->n && !g->why[0])
		snprintf(g->why, sizeof g->why, "no RAPL: %.150s has no package", root);
}

static int read_rapl(struct energy *g)
{
	for (int i = 0; i < g->n; i++) {
		struct energy_domain *d = &g->domain[i];
		uint64_t now;

		if (read_counter(d->fd, &now) < 0) {
			snprintf(g->why, sizeof g->why, "a RAPL counter could not be read: %s",
				 strerror(errno));
			return -1;
		}
		g->joules += 1e-6 *
			     (double)(now >= d->last ? now - d->last : now + (d->range - d->last));
		d->last = now;
	}
	return 0;
}

/* NVML */

static void open_nvml(struct energy *g, const char *pci)
{
	unsigned long long now;

	if (nvml_open(&g->nvml, pci, g->why, sizeof g->why) < 0)
		return;
	if (!g->nvml.energy || g->nvml.energy(g->nvml.gpu, &now))
		snprintf(g->why, sizeof g->why, "the GPU does not count its energy");
	else
		g->gpu_start = now;
}

static int read_nvml(struct energy *g)
{
	unsigned long long now;

	if (g->nvml.energy(g->nvml.gpu, &now)) {
		snprintf(g->why, sizeof g->why, "the GPU's energy could not be read");
		return -1;
	}
	g->joules = 1e-3 * (double)(now - g->gpu_start);
	return 0;
}

/* Either */

static void close_domains(struct energy *g)
{
	for (int i = 0; i < g->n; i++)
		close(g->domain[i].fd);
	g->n = 0;
}

void energy_open(struct energy *g, enum energy_device device, const char *pci)
{
	memset(g, 0, sizeof *g);
	if (device == ENERGY_GPU)
		open_nvml(g, pci);
	else
		open_rapl(g);
	if (g->why[0])
		close_domains(g);
	g->ticked = clock_now();
}

void energy_close(struct energy *g)
{
	close_domains(g);
	nvml_close(&g->nvml);
	snprintf(g->why, sizeof g->why, "the counters have been closed");
}

double energy_read(struct energy *g)
{
	g->ticked = clock_now();
	if (g->why[0] || (g->nvml.gpu ? read_nvml(g) : read_rapl(g)) < 0)
		return NAN;
	return g->joules - g->skipped;
}

void energy_pause(struct energy *g)
{
	g->paused = energy_read(g);
}

void energy_resume(struct energy *g)
{
	g->skipped += energy_read(g) - g->paused;
}

double energy_lap(struct energy *g)
{
	double now = energy_read(g), since = now - g->lap;

	g->lap = now;
	return since;
}

void energy_tick(struct energy *g)
{
	if (clock_now() - g->ticked > TICK_S)
		energy_read(g);
}

void energy_put(const struct energy *g, double joules, struct buf *out)
{
	if (isfinite(joules))
		field_number(out, "energy_J", joules);
	else
		field_null(out, "energy_J", g->why);
}
