/* The build cache: batches, whose fault a failure is, what stays in the folder and what leaves it.
 *
 * `cache child DIR` builds the usual kernels there and says by its status whether all went well:
 * for runs beside each other, and for runs that are killed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/algo/candidate.h"
#include "lib/base/rng.h"
#include "lib/io/clock.h"
#include "lib/io/proc.h"
#include "lib/build/cache.h"
#include "lib/build/mark.h"
#include "lib/build/sweep.h"
#include "lib/search/search.h"
#include "lib/target/c.h"
#include "lib/target/runner.h"
#include "tests/tap.h"

enum { KERNELS = 24 };

static char top[] = "/tmp/tl-test-cache-XXXXXX";
static struct limits limits;
static struct buf kernel[KERNELS]; /* as candidates of a tuning run are printed */
static struct err err;

/* ---- a file system without links, when wanted ---- */

static int no_links;

int link(const char *from, const char *to)
{
	if (no_links) {
		errno = EPERM;
		return -1;
	}
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- tools ---- */

static const char *path(const char *name)
{
	static char text[4][256];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(text[turn], sizeof text[turn], "%s/%s", top, name);
	return text[turn];
}

static void write_file(const char *name, const char *text, int mode)
{
	FILE *f = fopen(name, "we");

	if (!f || fputs(text, f) < 0 || fclose(f) || chmod(name, (mode_t)mode))
		bail_out("cannot write %s", name);
}

static void open_cache(struct cache *c, const char *dir, int jobs)
{
	setenv("TL_CACHE", path(dir), 1);
	if (cache_open(c, limits.target, limits.isa, jobs, &err) < 0)
		bail_out("%s", err.msg);
}

static struct build *add(struct cache *c, int i)
{
	return cache_add(c, kernel[i].s, kernel[i].n, NULL);
}

static struct build *add_text(struct cache *c, const char *text)
{
	return cache_add(c, text, strlen(text), NULL);
}

static void wait_all(struct cache *c)
{
	if (cache_wait(c, NULL, &err) != 0)
		bail_out("%s", err.msg);
}

static struct stat stat_of(const struct build *b)
{
	struct stat st = {0};

	stat(b->object, &st);
	return st;
}

static int there(const struct build *b)
{
	return access(b->object, F_OK) == 0;
}

/* Does the object load, with the function that its runner wants? */
static int runs(const char *object)
{
	struct kernel k;
	int rc = runner_cpu.load(&k, object, &err);

	if (rc == 0)
		runner_cpu.unload(&k);
	return rc == 0;
}

static int loads(const struct build *b)
{
	return b->state == BUILD_DONE && runs(b->object);
}

static int all_load(struct build **b, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += loads(b[i]);
	return sum == n;
}

static void make_kernels(void)
{
	static const char *const problems[][2] = {
		{"conv2d", "mb1_ic8ih9_oc40oh9_kh3ph1"},
		{"matmul", "12x30:30x72"},
		{"conv2d", "mb1_ic16ih10_oc32oh5_kh3sh2ph1"},
	};
	struct arena state = ARENA_INIT, a = ARENA_INIT;
	const struct data_env env = {.limits = limits};
	int n = 0;

	for (int p = 0; p < 3; p++) {
		struct search_space space;
		struct workload w;
		uint64_t point;
		void *s;

		if (workload_from_text(&w, problems[p][0], problems[p][1], NULL, NULL, &err))
			bail_out("%s", err.msg);
		search_space_init(&space, &w, &env, NULL);
		s = search_find("random")->start(&space, 1, 0, &state);
		for (int end = (p + 1) * KERNELS / 3; n < end;) {
			struct candidate c = {.w = w};
			struct nest nest;
			int fresh = 1;

			if (!search_find("random")->propose(s, &point))
				bail_out("the space is too small");
			arena_reset(&a);
			nest_init(&nest, &a, "kernel");
			if (!search_space_at(&space, point, &c) ||
			    c.algo->build(&c.w, c.knob, &nest, &err) < 0)
				continue;
			buf_clear(&kernel[n]);
			if (n % 2)
				c_print(&nest, &kernel[n]);
			else
				limits.target->print(&nest, &limits, &kernel[n]);
			for (int i = 0; i < n; i++)
				fresh &= strcmp(kernel[i].s, kernel[n].s) != 0;
			n += fresh;
		}
	}
	/* Two that compilers see to be the same. */
	buf_clear(&kernel[KERNELS - 1]);
	buf_fmt(&kernel[KERNELS - 1], "%s/* once more */\n", kernel[KERNELS - 2].s);
	arena_free(&state);
	arena_free(&a);
}

/* A compiler whose processes share a lock while they live, and which hangs where the source says
 * so. */
static void use_compiler(void)
{
	struct buf text = BUF_INIT;

	buf_fmt(&text,
		"#!/bin/sh\nexec 9>>%s/alive\nflock -s 9\n"
		"for f; do case $f in *.c) grep -q HANG \"$f\" && { sleep 100 & sleep 100; } ;; "
		"esac; "
		"done\n"
		"exec cc \"$@\"\n",
		top);
	write_file(path("cc"), text.s, 0755);
	buf_free(&text);
	setenv("TL_CC", path("cc"), 1);
}

/* Is a compiler alive, when those that are being killed have had their time? */
static int compilers_left(void)
{
	int fd = open(path("alive"), O_RDWR | O_CREAT | O_CLOEXEC, 0666), rc = -1;

	for (int i = 0; i < 1000 && rc < 0; i++) {
		rc = flock(fd, LOCK_EX | LOCK_NB);
		if (rc < 0)
			usleep(10000);
	}
	close(fd);
	return rc < 0;
}

/* ---- batches ---- */

static void test_batches(void)
{
	struct build *b[KERNELS], *again[KERNELS];
	double seconds = 0;
	struct cache c;
	int files = 0, shares = 1;

	open_cache(&c, "a", 2);
	for (int i = 0; i < KERNELS; i++)
		b[i] = add(&c, i);
	ok(add(&c, 0) == b[0], "a text that is known is the same build");
	wait_all(&c);
	ok(c.built == KERNELS && c.calls == 2, "two compilers make %d kernels in two calls",
	   KERNELS);
	ok(all_load(b, KERNELS), "all load by their own names");
	for (int i = 0; i < KERNELS; i++) {
		int known = 0;

		for (int k = 0; k < i; k++)
			known |= stat_of(b[i]).st_ino == stat_of(b[k]).st_ino;
		files += !known;
		seconds += b[i]->seconds;
		if (known) /* a share by the length of the text */
			shares &= fabs(b[i]->seconds / (double)b[i]->n -
				       b[i - 1]->seconds / (double)b[i - 1]->n) < 1e-9;
	}
	ok(files == 2, "the objects of a batch are links to one file");
	ok(seconds > 0 && shares, "each build has its share of the CPU time");
	cache_close(&c);
	open_cache(&c, "a", 2);
	for (int i = 0; i < KERNELS; i++)
		again[i] = add(&c, i);
	ok(again[0]->cached && again[KERNELS - 1]->cached && c.waiting == 0,
	   "the next run finds them");
	write_file(again[0]->object, "no object", 0755);
	ok(!loads(again[0]) && !loads(again[1]) && loads(again[KERNELS - 1]),
	   "a damaged object does not load, nor do the links to it");
	ok(cache_rebuild(&c, again[0], &err) == 0 && loads(again[0]), "it is built anew");
	unlink(again[KERNELS - 1]->object);
	ok(cache_rebuild(&c, again[KERNELS - 1], &err) == 0 && loads(again[KERNELS - 1]),
	   "and so is one that is gone");
	cache_close(&c);
}

/* Where true answers are kept: one file for one object and one set of data. */
static void test_truth(void)
{
	struct buf name[4] = {BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};
	struct cache c;
	int apart = 1;

	open_cache(&c, "t", 1);
	cache_truth(&c, add(&c, 0), "w seed 1", &name[0]);
	cache_truth(&c, add(&c, 0), "w seed 2", &name[1]);
	cache_truth(&c, add(&c, 1), "w seed 1", &name[2]);
	cache_truth(&c, add(&c, 0), "w seed 1", &name[3]);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < i; k++)
			apart &= strcmp(name[i].s, name[k].s) != 0;
		apart &= !strncmp(name[i].s, path("t/objects/"), strlen(path("t/objects/"))) &&
			 !strcmp(name[i].s + name[i].n - 6, ".truth");
	}
	ok(apart, "each object and each set of data has a true answer of its own: %s", name[0].s);
	ok(!strcmp(name[0].s, name[3].s), "which is found again");
	for (int i = 0; i < 4; i++)
		buf_free(&name[i]);
	wait_all(&c);
	cache_close(&c);
}

static void test_waiting(void)
{
	struct build *b;
	struct cache c;

	open_cache(&c, "b", 2);
	b = add(&c, 0);
	b->queued = clock_now() + 1000;
	cache_poll(&c, &err);
	ok(b->state == BUILD_QUEUED, "one kernel waits for more");
	b->queued = clock_now() - 1;
	cache_poll(&c, &err);
	ok(b->state == BUILD_RUNNING, "but not for long");
	for (int i = 1; i < 9; i++)
		add(&c, i)->queued = clock_now() + 1000;
	cache_poll(&c, &err);
	ok(c.waiting == 0 && c.calls == 2, "eight start at once");
	cache_close(&c);
	ok(!compilers_left(), "closing the cache ends its compilers");
}

static void test_no_links(void)
{
	struct build *b[4];
	struct cache c;
	int apart = 1;

	no_links = 1;
	open_cache(&c, "c", 1);
	for (int i = 0; i < 4; i++)
		b[i] = add(&c, i);
	wait_all(&c);
	no_links = 0;
	for (int i = 1; i < 4; i++)
		apart &= stat_of(b[i]).st_ino != stat_of(b[0]).st_ino;
	ok(all_load(b, 4) && apart && c.calls == 1, "without links, objects are copies");
	cache_close(&c);
}

/* ---- the same code ---- */

/* The function's instructions; places of constants, which move with what else is in the object, are
 * left out. */
static void disassemble(const struct build *b, struct buf *out)
{
	struct buf command = BUF_INIT;
	char *argv[] = {(char *)"sh", (char *)"-c", NULL, NULL};

	buf_fmt(&command,
		"objdump -d --no-show-raw-insn --no-addresses --disassemble=" TARGET_PREFIX
		"%s %s | "
		"sed -n -e 's/ *#.*//' -e 's/-*0x[0-9a-f]*(%%rip)/X(%%rip)/' -e '/^\t/p'",
		b->code.s, b->object);
	argv[2] = command.s;
	if (proc_run(argv, 60, 1 << 22, out, &err) != 0)
		bail_out("objdump: %s", out->s ? out->s : err.msg);
	buf_free(&command);
}

static void test_same_code(const char *isa)
{
	struct cache batch, single;
	int same = 0, aligned = 0;

	setenv("TL_ISA", isa, 1);
	if (target_default()->limits(&limits, &err) < 0) {
		skip("%s: %s", isa, err.msg);
		return;
	}
	make_kernels();
	open_cache(&batch, "batch", 2);
	open_cache(&single, "single", 1);
	for (int i = 0; i < KERNELS; i++)
		add(&batch, i);
	wait_all(&batch);
	for (int i = 0; i < KERNELS; i++) {
		struct build *all = add(&batch, i), *one = add(&single, i);
		struct buf x = BUF_INIT, y = BUF_INIT;
		struct kernel k;

		wait_all(&single);
		disassemble(all, &x);
		disassemble(one, &y);
		same += x.n > 100 && !strcmp(x.s, y.s);
		buf_free(&x);
		buf_free(&y);
		if (runner_cpu.load(&k, all->object, &err) == 0) {
			aligned += (uintptr_t)k.entry % 64 == 0;
			runner_cpu.unload(&k);
		}
	}
	ok(batch.calls == 2 && single.calls == KERNELS && same == KERNELS && aligned == KERNELS,
	   "%s: a kernel of a batch has the code that it has alone, and its place in a cache line",
	   isa);
	if (same < KERNELS || aligned < KERNELS)
		diag("%d and %d of %d", same, aligned, KERNELS);
	cache_close(&batch);
	cache_close(&single);
}

/* ---- whose fault? ---- */

static void test_blame(void)
{
	struct build *b[7], *broken, *hangs;
	struct cache c;

	open_cache(&c, "e", 1);
	for (int i = 0; i < 3; i++)
		b[i] = add(&c, i);
	broken = add_text(&c, "void KERNEL(void) { int x = nonsense; }\n");
	for (int i = 3; i < 7; i++)
		b[i] = add(&c, i);
	wait_all(&c);
	ok(broken->state == BUILD_FAILED && broken->fault == FAULT_SOURCE &&
		   strstr(broken->why, "nonsense"),
	   "a source with an error fails, with its message: %s", broken->why ? broken->why : "");
	ok(all_load(b, 7), "the others of its batch do not");
	ok(c.calls == 9 && c.built == 7, "being built one by one");
	c.timeout_s = 1;
	hangs = add_text(&c, "/* HANG */ void KERNEL(void) { }\n");
	b[0] = add(&c, 7);
	wait_all(&c);
	ok(hangs->state == BUILD_FAILED && hangs->fault == FAULT_LATE,
	   "a compiler that hangs is late");
	ok(loads(b[0]), "the other of its batch is built");
	cache_close(&c);
	ok(!compilers_left(), "nothing of the compiler is left");
}

static void test_machine(void)
{
	struct cache c;
	int rc;

	setenv("TL_CACHE", path("f"), 1);
	setenv("TL_CC", "/nonexistent/cc", 1);
	rc = cache_open(&c, limits.target, limits.isa, 1, &err);
	cache_close(&c);
	ok(rc < 0 && err.status == EXIT_INPUT && strstr(err.msg, "nonexistent"), "no compiler: %s",
	   err.msg);
	use_compiler();
	open_cache(&c, "f", 1);
	add_text(&c, "void KERNEL(void) { int x = nonsense; }\n");
	write_file(path("cc"), "#!/bin/sh\necho 'cc: error: all is broken' >&2; exit 1\n", 0755);
	rc = cache_wait(&c, NULL, &err);
	ok(rc < 0 && strstr(err.msg, "cannot build anything"), "the compiler breaks: %s", err.msg);
	cache_close(&c);
	use_compiler();
	open_cache(&c, "f", 1);
	add(&c, 0);
	write_file(path("cc"),
		   "#!/bin/sh\ncase $* in *canary*) exec cc \"$@\" ;; esac\n"
		   "echo 'as: error: x.o: No space left on device' >&2; exit 1\n",
		   0755);
	rc = cache_wait(&c, NULL, &err);
	ok(rc < 0 && strstr(err.msg, "No space left"), "the disk is full: %s", err.msg);
	cache_close(&c);
	use_compiler();
}

/* ---- the folder ---- */

static void test_bound(void)
{
	static const struct {
		const char *text;
		int64_t bytes; /* -1: refused */
	} cases[] = {{"", 1 << 30},	 {"0", 0},	  {"123", 123},
		     {"2k", 2048},	 {"3M", 3 << 20}, {"5G", (int64_t)5 << 30},
		     {"x", -1},		 {"-1", -1},	  {"1GB", -1},
		     {"1.5G", -1},	 {" 1", -1},	  {"99999999999999999999", -1},
		     {"9999999999G", -1}};
	int right = 0, n = sizeof cases / sizeof *cases;

	for (int i = 0; i < n; i++) {
		struct err e = ERR_INIT;
		int64_t bytes;
		int rc;

		setenv("TL_CACHE_SIZE", cases[i].text, 1);
		rc = sweep_bound(&bytes, &e);
		if (cases[i].bytes < 0 ? rc < 0 && e.status == EXIT_USAGE
				       : rc == 0 && bytes == cases[i].bytes)
			right++;
		else
			diag("TL_CACHE_SIZE=%s", cases[i].text);
	}
	unsetenv("TL_CACHE_SIZE");
	ok(right == n, "sizes that TL_CACHE_SIZE may be");
}

#define SOME "cc23456789abcdef0123456789abcdef"
#define OTHER "0123456789abcdef0123456789abcdef"

/* Used so many hours ago. */
static void age_file(const char *file, int hours)
{
	struct timespec t[2];

	clock_gettime(CLOCK_REALTIME, &t[0]);
	t[0].tv_sec -= hours * 3600L;
	t[1] = t[0];
	utimensat(AT_FDCWD, file, t, 0);
}

static void age(const struct build *b, int hours)
{
	age_file(b->object, hours);
}

/* Names that people and other programs give their files. */
static const char *const foreign[] = {"README",	    "truth",	  "mine.c",
				      "0000-1.tmp", "cc123.o",	  "batch-1-a.c",
				      "canary.so",  "libmine.so", NULL};

static const char *in_cache(const char *cache, const char *name)
{
	char below[64];

	snprintf(below, sizeof below, "%s/objects/%s", cache, name);
	return path(below);
}

static void test_eviction(void)
{
	struct build *b[4], *x;
	struct cache c, other;
	char size[32];
	int stays = 1;

	open_cache(&c, "g", 1);
	for (int i = 0; i < 3; i++) {
		b[i] = add(&c, i);
		wait_all(&c);
		age(b[i], 10 - i);
	}
	add(&c, 3);
	x = add(&c, 4); /* two links */
	wait_all(&c);
	age(x, 5);
	snprintf(size, sizeof size, "%lld",
		 (long long)(stat_of(b[0]).st_blocks + stat_of(b[2]).st_blocks) * 512 + 4096 + 100);
	write_file(path("g/objects/" SOME ".truth"), "just used", 0644);
	write_file(path("g/objects/" OTHER ".truth"), "used long ago", 0644);
	write_file(path("g/objects/" OTHER ".truth.1.tmp"), "", 0644);
	age_file(path("g/objects/" OTHER ".truth"), 40);
	mkdir(path("g/objects/work-1-ab"), 0700);
	write_file(path("g/objects/work-1-ab/cc123.o"), "", 0644);
	write_file(path("g/objects/work-1-ab/batch-0.c"), "", 0644);
	for (int i = 0; foreign[i]; i++)
		write_file(in_cache("g", foreign[i]), "", 0644);
	mkdir(path("g/objects/work-1-xy"), 0700);
	write_file(path("g/objects/cccccccccccccccccccccccccccccccc.so"), "", 0644);
	setenv("TL_CACHE_SIZE", size, 1);
	open_cache(&other, "g", 1);
	add(&other, 0);
	cache_close(&other);
	ok(there(b[1]) && access(path("g/objects/work-1-ab/cc123.o"), F_OK) == 0,
	   "nothing leaves while another run is at work");
	open_cache(&other, "g", 1);
	x = add(&other, 3);
	age(x, 5);
	age(add(&other, 1), 30);
	age(add(&other, 2), 2);
	cache_close(&c); /* it had no bound, and other holds the folder */
	cache_close(&other);
	open_cache(&other, "g", 1);
	for (int i = 0; i < 4; i++)
		b[i] = add(&other, i);
	ok(b[0]->cached && b[2]->cached, "what was used last stays: a hit counts as use");
	ok(!b[1]->cached && !b[3]->cached && !add(&other, 4)->cached,
	   "the others leave, links of one file together");
	ok(access(path("g/objects/" SOME ".truth"), F_OK) == 0 &&
		   access(path("g/objects/" OTHER ".truth"), F_OK) < 0,
	   "so do true answers: one just used stays, one that was not leaves");
	ok(access(path("g/objects/work-1-ab"), F_OK) < 0 &&
		   access(path("g/objects/" OTHER ".truth.1.tmp"), F_OK) < 0,
	   "what dead runs left is removed");
	for (int i = 0; foreign[i]; i++)
		stays &= access(in_cache("g", foreign[i]), F_OK) == 0;
	ok(stays && access(path("g/objects/work-1-xy"), F_OK) == 0 &&
		   access(path("g/objects/cccccccccccccccccccccccccccccccc.so"), F_OK) == 0,
	   "and what is none of it is not");
	unsetenv("TL_CACHE_SIZE");
	cache_close(&other);
}

/* Whose folder it is: CACHEDIR.TAG tells. */
static void test_mark(void)
{
	struct build *b;
	struct cache c;
	int stays = 1;
	char *object;

	setenv("TL_CACHE_SIZE", "1", 1);
	open_cache(&c, "m", 1);
	b = add(&c, 0);
	wait_all(&c);
	object = xstrdup(b->object);
	stays = there(b);
	cache_close(&c);
	ok(mark_is_there(path("m/objects")) && stays && access(object, F_OK) < 0,
	   "a folder that we made is marked, and swept");
	free(object);
	mkdir(path("n"), 0700);
	mkdir(path("n/objects"), 0700);
	for (int i = 0; foreign[i]; i++)
		write_file(in_cache("n", foreign[i]), "", 0644);
	write_file(in_cache("n", SOME ".so"), "not of this run", 0644);
	open_cache(&c, "n", 1);
	b = add(&c, 0);
	wait_all(&c);
	ok(loads(b), "a folder that had files is used");
	cache_close(&c);
	for (int i = 0; foreign[i]; i++)
		stays &= access(in_cache("n", foreign[i]), F_OK) == 0;
	ok(stays && access(in_cache("n", SOME ".so"), F_OK) == 0 &&
		   !mark_is_there(path("n/objects")),
	   "and nothing is removed from it");
	write_file(path("n/objects/CACHEDIR.TAG"),
		   "Signature: 8a477f597d28d172789f06886806bc55\n# Another program's\n", 0644);
	ok(!mark_is_there(path("n/objects")), "nor if another program marked it");
	unsetenv("TL_CACHE_SIZE");
}

/* ---- whose code? ---- */

/* Does the cache in this folder open? If not, is this the reason? */
static int refused(const char *dir, const char *why)
{
	struct err e = ERR_INIT;
	struct cache c;
	int rc;

	setenv("TL_CACHE", path(dir), 1);
	rc = cache_open(&c, limits.target, limits.isa, 1, &e);
	cache_close(&c);
	if (!why ? rc == 0 : rc < 0 && strstr(e.msg, why))
		return 1;
	diag("%s: %s", dir, rc ? e.msg : "is used");
	return 0;
}

static void test_folder(void)
{
	static const char others[] = "other users may write";

	mkdir(path("w"), 0700);
	mkdir(path("w/objects"), 0700);
	ok(refused("w", NULL), "a folder of our own is used");
	chmod(path("w/objects"), 0777);
	ok(refused("w", others), "one that all may write is not");
	chmod(path("w/objects"), 01777);
	ok(refused("w", others), "nor with the sticky bit");
	chmod(path("w/objects"), 0700);
	chmod(path("w"), 0777);
	ok(refused("w", others), "nor one that all may replace");
	chmod(path("w"), 01777);
	ok(refused("w", NULL), "which the sticky bit forbids");
	chmod(path("w"), 0700);
	ok(symlink(path("w"), path("link")) == 0 && refused("link", NULL), "a link to it is used");
	chmod(path("w"), 0777);
	ok(refused("link", others), "and not where its end is not");
	chmod(path("w"), 0700);
	if (geteuid() || chown(path("w/objects"), 1, 1)) {
		skip("a folder of another user: only root can make one");
		skip("a folder of another group: the same");
		return;
	}
	ok(refused("w", "belongs to user 1"), "root does not use a folder of another user");
	if (chown(path("w/objects"), 0, 1) || chmod(path("w/objects"), 0770))
		bail_out("cannot change the folder");
	ok(refused("w", others), "nor one that a group of others may write");
}

/* ---- objects that are not what was written ---- */

static void flip(const char *file, size_t bit)
{
	int fd = open(file, O_RDWR | O_CLOEXEC);
	char c;

	if (fd < 0 || pread(fd, &c, 1, (off_t)(bit / 8)) != 1)
		bail_out("cannot read %s", file);
	c ^= (char)(1 << bit % 8);
	if (pwrite(fd, &c, 1, (off_t)(bit / 8)) != 1 || close(fd))
		bail_out("cannot write %s", file);
}

/* A sample; TL_TEST_FLIPS=N flips so many, 0 all. */
static void test_flips(void)
{
	const char *told = getenv("TL_TEST_FLIPS");
	int64_t n = told && *told ? atoi(told) : 1000, taken = 0, bits;
	struct rng rng;
	struct cache c;
	struct build *b;

	open_cache(&c, "flips", 1);
	b = add(&c, 0);
	wait_all(&c);
	bits = stat_of(b).st_size * 8;
	if (n <= 0 || n > bits)
		n = bits;
	rng_seed(&rng, 1, "flips");
	for (int64_t i = 0; i < n; i++) {
		size_t bit = n == bits ? (size_t)i : (size_t)rng_below(&rng, (uint64_t)bits);

		flip(b->object, bit);
		taken += loads(b);
		flip(b->object, bit);
	}
	ok(taken == 0 && loads(b), "no object with one of %lld flipped bits is loaded",
	   (long long)n);
	cache_close(&c);
}

/* Each is built anew with the others, and not where it is loaded. */
static void test_strange(void)
{
	struct build *b[3];
	struct cache c;

	open_cache(&c, "strange", 1);
	for (int i = 0; i < 3; i++) {
		b[i] = add(&c, i);
		wait_all(&c);
	}
	if (rename(b[0]->object, path("elsewhere")) || symlink(path("elsewhere"), b[0]->object) ||
	    unlink(b[1]->object) || mkfifo(b[1]->object, 0666) ||
	    truncate(b[2]->object, stat_of(b[2]).st_size - 1))
		bail_out("cannot damage the cache");
	cache_close(&c);
	open_cache(&c, "strange", 1);
	for (int i = 0; i < 3; i++) {
		b[i] = add(&c, i);
		ok(!b[i]->cached && !runs(b[i]->object), "%s is not loaded",
		   (const char *const[]){"a link", "a pipe", "what lacks its last byte"}[i]);
	}
	wait_all(&c);
	ok(all_load(b, 3) && c.calls == 1 && access(path("elsewhere"), F_OK) == 0,
	   "all are built anew, in one call");
	cache_close(&c);
}

/* ---- several runs ---- */

static int child(const char *dir)
{
	struct build *b[KERNELS];
	struct cache c;
	int good;

	if (target_default()->limits(&limits, &err) < 0)
		bail_out("%s", err.msg);
	make_kernels();
	setenv("TL_CACHE", dir, 1);
	if (cache_open(&c, limits.target, limits.isa, 2, &err) < 0)
		return 1;
	for (int i = 0; i < KERNELS; i++)
		b[i] = add(&c, i);
	good = cache_wait(&c, NULL, &err) == 0 && all_load(b, KERNELS);
	cache_close(&c);
	if (!good)
		diag("%s", err.msg);
	return !good;
}

static void start_child(struct proc *p, char *self, const char *dir)
{
	char *argv[] = {self, (char *)"child", (char *)path(dir), NULL};

	if (proc_start(p, argv, 0, -1, -1, &err) < 0)
		bail_out("%s", err.msg);
}

static void test_runs(char *self)
{
	struct rng rng;
	struct proc p[4];
	int good = 0, status, left = 0;

	for (int i = 0; i < 4; i++)
		start_child(&p[i], self, "h");
	for (int i = 0; i < 4; i++)
		good += proc_wait(&p[i], -1, &status, &err) == 1 && status == 0;
	ok(good == 4, "four runs at once on one folder");
	rng_seed(&rng, (uint64_t)(clock_now() * 1e9), "kill");
	for (int i = 0; i < 10; i++) {
		start_child(&p[0], self, "i");
		usleep((useconds_t)rng_below(&rng, 300000));
		proc_kill(&p[0]);
		left += compilers_left();
	}
	ok(left == 0, "killed at 10 random moments, a run leaves no compiler");
	start_child(&p[0], self, "i");
	ok(proc_wait(&p[0], -1, &status, &err) == 1 && status == 0,
	   "and a folder that can be used");
}

int main(int argc, char **argv)
{
	static const char *const isas[] = {"avx512", "avx2", "scalar"};
	char *rm[] = {(char *)"rm", (char *)"-rf", top, NULL};
	struct buf log = BUF_INIT;

	unsetenv("TL_CACHE_SIZE");
	if (argc == 3)
		return child(argv[2]);
	if (!mkdtemp(top))
		bail_out("no folder under /tmp");
	use_compiler();
	for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
		test_same_code(isas[i]);
	unsetenv("TL_ISA");
	if (target_default()->limits(&limits, &err) < 0)
		bail_out("%s", err.msg);
	make_kernels();
	test_batches();
	test_truth();
	test_waiting();
	test_no_links();
	test_blame();
	test_machine();
	test_bound();
	test_eviction();
	test_mark();
	test_folder();
	test_flips();
	test_strange();
	test_runs(argv[0]);
	for (int i = 0; i < KERNELS; i++)
		buf_free(&kernel[i]);
	proc_run(rm, 60, 1000, &log, &err);
	buf_free(&log);
	return done_testing();
}
