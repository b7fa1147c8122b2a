/* True answers in files: what was saved comes back; what is damaged, cut off, or the answer to
 * something else does not. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/trial/kept.h"
#include "tests/tap.h"

enum { N = 300 };

static char dir[] = "/tmp/tl-test-kept-XXXXXX", path[64], missing[64];
static float saved[N], got[2 * N];

static void make_floats(void)
{
	for (int i = 0; i < N; i++)
		saved[i] = (float)(i * 37 % 101) / 7 - 3;
	saved[5] = -0.0F;
}

static int loads(size_t n)
{
	memset(got, 0x55, sizeof got);
	return kept_load(path, got, n);
}

static int comes_back(void)
{
	return loads(N) && !memcmp(got, saved, sizeof saved);
}

static long size_of(const char *name)
{
	struct stat st;

	return stat(name, &st) ? -1 : (long)st.st_size;
}

/* Are there no other files in the folder than so many? */
static int files(int n)
{
	char command[80];
	FILE *f;
	int found = -1;

	snprintf(command, sizeof command, "ls -A %s | wc -l", dir);
	f = popen(command, "r");
	if (!f || fscanf(f, "%d", &found) != 1)
		bail_out("cannot list %s", dir);
	pclose(f);
	return found == n;
}

static void test_roundtrip(void)
{
	kept_save(path, saved, N);
	ok(comes_back() && files(1), "what was saved comes back, and is all that is there");
	saved[0] += 1;
	kept_save(path, saved, N);
	ok(comes_back() && files(1), "what is saved later takes its place");
	kept_save("", saved, N);
	ok(!kept_load("", got, N), "without a path nothing is kept");
	ok(!kept_load(missing, got, N), "a file that is not there");
}

static void test_other(void)
{
	ok(!loads(N - 1) && !loads(N + 1) && !loads(2 * N), "the answer to another size is none");
	ok(comes_back(), "and is left as it was");
}

static void flip(long at)
{
	FILE *f = fopen(path, "r+e");
	int c = -1;

	if (f && fseek(f, at, SEEK_SET) == 0 && (c = getc(f)) >= 0 && fseek(f, at, SEEK_SET) == 0)
		putc(c ^ 0x10, f);
	if (!f || c < 0 || fclose(f))
		bail_out("cannot damage %s", path);
}

static void test_damage(void)
{
	long n = size_of(path), taken = 0;

	for (long at = 0; at < n; at++) {
		flip(at);
		if (loads(N) && memcmp(got, saved, sizeof saved) != 0)
			taken++;
		flip(at);
	}
	ok(n > (long)sizeof saved && taken == 0 && comes_back(),
	   "no bit of %ld bytes may be another", n);
	for (long at = n - 1; at >= 0; at--) {
		if (truncate(path, at))
			bail_out("cannot cut %s", path);
		taken += loads(N);
	}
	ok(taken == 0, "cut off anywhere it is no answer");
	kept_save(path, saved, N);
	ok(comes_back(), "and is saved anew");
	if (unlink(path) || mkfifo(path, 0666))
		bail_out("cannot make the pipe %s", path);
	ok(!loads(N), "a pipe in its place is no answer, and is not waited for");
	kept_save(path, saved, N);
	ok(comes_back(), "and is replaced");
}

/* A folder that takes no files: of nobody, or of a file's name. */
static void test_unwritable(void)
{
	char below[96];
	struct rlimit old, small;

	kept_save(missing, saved, N);
	ok(size_of(missing) < 0, "no folder: not kept, and no error");
	snprintf(below, sizeof below, "%s/x.truth", path);
	kept_save(below, saved, N);
	ok(comes_back() && files(1), "a folder that is a file: neither");
	if (getrlimit(RLIMIT_FSIZE, &old))
		bail_out("no limits");
	small = old;
	small.rlim_cur = sizeof saved / 2;
	setrlimit(RLIMIT_FSIZE, &small);
	got[0] = saved[0];
	saved[0] += 1;
	kept_save(path, saved, N);
	setrlimit(RLIMIT_FSIZE, &old);
	saved[0] = got[0];
	ok(comes_back() && files(1), "a full disk: the old file stands, and no other is left");
}

static void test_use(void)
{
	const struct timespec past[2] = {{1000, 0}, {1000, 0}};
	struct stat st;

	utimensat(AT_FDCWD, path, past, 0);
	ok(comes_back() && stat(path, &st) == 0 && st.st_mtim.tv_sec > 1000,
	   "that it was used shows, so that it stays");
	utimensat(AT_FDCWD, path, past, 0);
	ok(!loads(N + 1) && stat(path, &st) == 0 && st.st_mtim.tv_sec == 1000,
	   "that it was looked at in vain does not");
}

int main(void)
{
	if (!mkdtemp(dir))
		bail_out("no folder under /tmp");
	snprintf(path, sizeof path, "%s/x.truth", dir);
	snprintf(missing, sizeof missing, "%s/nothing/x.truth", dir);
	signal(SIGXFSZ, SIG_IGN);
	make_floats();
	test_roundtrip();
	test_other();
	test_damage();
	test_unwritable();
	test_use();
	unlink(path);
	rmdir(dir);
	return done_testing();
}
