#include "lib/target/runner.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/target/c.h"
#include "lib/target/cpu.h"
#include "lib/target/probe.h"

static int read_all(int fd, void *to, size_t n)
{
	size_t at = 0;
	ssize_t r = 1;

	while (at < n && r) {
		r = read(fd, (char *)to + at, n - at);
		if (r < 0 && errno != EINTR)
			return -1;
		at += r > 0 ? (size_t)r : 0;
	}
	return at == n;
}

/* Is the object file complete? dlopen() loads a file that was cut off, and calling it kills the
 * process. The table of sections lies at the end of the file. 1; 0: the file is cut off, or not
 * there; -1: it cannot be read. */
static int is_whole(const char *object)
{
	int fd = open(object, O_RDONLY | O_CLOEXEC), whole;
	struct stat st;
	Elf64_Ehdr h;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	whole = fstat(fd, &st) ? -1 : read_all(fd, &h, sizeof h);
	if (whole > 0)
		whole = !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_shoff <= (uint64_t)st.st_size &&
			h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize <= (uint64_t)st.st_size;
	close(fd);
	return whole;
}

static void unload(struct kernel *k)
{
	if (k->handle)
		dlclose(k->handle);
	k->handle = NULL;
}

static int load(struct kernel *k, const char *object, struct err *e)
{
	const char *slash = strrchr(object, '/'), *file = slash ? slash + 1 : object;
	int whole = is_whole(object);
	char name[64];
	void *symbol;

	if (whole < 0)
		return err_sys(e, "cannot read the object %s", object);
	if (!whole)
		return err_set(e, "the object %s is damaged or gone", object);
	snprintf(name, sizeof name, TARGET_PREFIX "%.*s", (int)strcspn(file, "."), file);

	k->handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	if (!k->handle)
		return err_set(e, "the kernel does not load: %s", dlerror());
	symbol = dlsym(k->handle, name);
	if (!symbol) {
		unload(k);
		return err_set(e, "the object %s has no function %s", object, name);
	}
	*(void **)&k->entry = symbol;
	return 0;
}

static void team_barrier(void)
{
#pragma omp barrier
}

static void part(const struct kernel *k, const long *params, void *const *buffers, int thread,
		 int threads, void (*barrier)(void))
{
	((c_kernel)k->entry)(params, buffers, thread, threads, barrier);
}

static int run(const struct kernel *k, const long *params, void *const *buffers, int threads,
	       struct err *e)
{
	c_kernel call = (c_kernel)k->entry;

	(void)e;
	if (threads == 1) {
		call(params, buffers, 0, 1, team_barrier);
		return 0;
	}
#pragma omp parallel num_threads(threads)
	call(params, buffers, omp_get_thread_num(), omp_get_num_threads(), team_barrier);
	return 0;
}

static void team(int threads)
{
#pragma omp parallel num_threads(threads)
	team_barrier();
}

const struct runner runner_cpu = {
	.target = &target_cpu,
	.load = load,
	.unload = unload,
	.params = c_params,
	.run = run,
	.part = part,
	.team = team,
	.probe = probe_run,
};
