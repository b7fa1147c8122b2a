/* Where the team stands. What the probe finds is looked at by tests/probe.t. */
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/target/probe.h"
#include "tests/tap.h"

static char folder[] = "/tmp/tl-probe-XXXXXX";

static void siblings(int cpu, const char *list)
{
	static const char *const dir[] = {"sys", "devices", "system", "cpu", NULL, "topology"};
	char path[256];
	size_t n = (size_t)snprintf(path, sizeof path, "%s", folder);
	FILE *f;

	for (size_t i = 0; i < sizeof dir / sizeof *dir; i++) {
		if (dir[i])
			n += (size_t)snprintf(path + n, sizeof path - n, "/%s", dir[i]);
		else
			n += (size_t)snprintf(path + n, sizeof path - n, "/cpu%d", cpu);
		mkdir(path, 0777);
	}
	snprintf(path + n, sizeof path - n, "/thread_siblings_list");
	f = fopen(path, "we");
	if (!f)
		bail_out("cannot write %s", path);
	fprintf(f, "%s\n", list);
	fclose(f);
}

int main(void)
{
	const int cpu[] = {0, 1, 2, 3}, twice[] = {1, 1}, unknown[] = {0, 9};
	struct err e = ERR_INIT;
	int team[PROBE_MAX_CPUS];
	char command[64];
	FILE *p;
	int n;

	if (!mkdtemp(folder))
		bail_out("no folder");
	siblings(0, "0,2");
	siblings(2, "0,2");
	siblings(1, "1,3");
	siblings(3, "1,3");
	ok(probe_cores(folder, cpu, 4, &e) == 2, "four hardware threads of two cores");
	ok(probe_cores(folder, cpu, 2, &e) == 2, "two threads on two cores");
	ok(probe_cores(folder, twice, 2, &e) == 1, "two threads on one CPU");
	ok(probe_cores(folder, unknown, 2, &e) == 0 && strstr(e.msg, "cpu9"),
	   "what the kernel does not say is not guessed: %s", e.msg);
	n = probe_team(1, team);
	ok(n == 1 && team[0] >= 0 && team[0] < CPU_SETSIZE, "a team of one stands on CPU %d",
	   team[0]);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	p = popen(command, "re");
	if (p)
		pclose(p);
	return done_testing();
}
