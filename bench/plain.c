/* plain: measures candidates the plain way, for bench/measure.sh to compare tl-measure with. One
 * compiler call and one process a candidate, 20 repeats each, and the median of them.
 *
 *   plain build FOLDER JOBS HOW < candidates
 *                                            an object for each, JOBS compilers at once; HOW: "c",
 *                                            as GNU C, or "cpu", as tl-measure builds them
 *   plain run FOLDER < candidates            "candidate_id median_s" lines, one process after the
 *                                            other
 *
 * It is no weakened baseline: inputs and the true answer are made once a workload and mapped by
 * each process, an object is built without asking for its like, and a process does what it must:
 * map, pack, load, run once and compare, repeat. `plain one` is such a process.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/algo/candidate.h"
#include "lib/base/rng.h"
#include "lib/io/clock.h"
#include "lib/io/proc.h"
#include "lib/io/seal.h"
#include "lib/trial/stat.h"
#include "lib/nest/operands.h"
#include "lib/target/c.h"
#include "lib/target/runner.h"

enum { REPEATS = 20, MAX_JOBS = 64 };

static void die(const char *what, const struct err *e)
{
	fprintf(stderr, "plain: %s%s%s\n", what, e ? ": " : "", e ? e->msg : "");
	exit(EXIT_INPUT);
}

/* The next candidate on stdin, and its line; 0 at the end. Lines of other types are left out. */
static int next(struct candidate *c, char **line, size_t *cap)
{
	static struct json_doc d = JSON_DOC_INIT;
	ssize_t n;

	while ((n = getline(line, cap, stdin)) > 0) {
		struct err e = ERR_INIT;

		if (json_parse(&d, *line, (size_t)n, &e) < 0)
			die("a bad line", &e);
		if (!json_is(json_get(&d, d.tok, "type"), "candidate"))
			continue;
		if (candidate_from_json(c, &d, 1, &e) < 0)
			die("a bad candidate", &e);
		return 1;
	}
	return 0;
}

static char *path(const char *folder, const char *id, const char *suffix)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%s/%s%s", folder, id, suffix);
	return b.s;
}

/* ---- building ---- */

typedef void printing(const struct nest *n, struct buf *out);

static void print_source(const struct nest *n, printing *print, const char *id, const char *file)
{
	struct buf text = BUF_INIT;
	FILE *f = fopen(file, "we");

	buf_str(&text, c_prelude());
	buf_fmt(&text, "#define KERNEL " TARGET_PREFIX "%s\n", id);
	print(n, &text);
	if (!f || fwrite(text.s, 1, text.n, f) != text.n || fclose(f))
		die("cannot write a source", NULL);
	buf_free(&text);
}

static void start_compiler(struct proc *p, const char *isa, const char *source, const char *object)
{
	char *argv[TARGET_ARGS];
	struct err e = ERR_INIT;

	target_default()->compile(isa, source, object, argv);
	if (proc_start(p, argv, PROC_GROUP | PROC_DIE_WITH_PARENT, -1, -1, &e) < 0)
		die("no compiler", &e);
}

static void end_compiler(struct proc *p)
{
	struct err e = ERR_INIT;
	int status;

	if (!p->pid)
		return;
	if (proc_wait(p, -1, &status, &e) < 0 || status)
		die("a build fails", &e);
	proc_close(p);
}

static void build_nest(struct proc *p, const char *isa, const char *folder, const char *id,
		       const struct nest *n, printing *print)
{
	char *source = path(folder, id, ".c"), *object = path(folder, id, ".so");

	print_source(n, print, id, source);
	end_compiler(p);
	start_compiler(p, isa, source, object);
	free(source);
	free(object);
}

static int build(const char *folder, int jobs, printing *print)
{
	struct proc job[MAX_JOBS] = {{0}};
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct limits limits;
	struct candidate c;
	char *line = NULL, last[ID_HEX + 1] = "";
	size_t cap = 0;
	int k = 0;

	if (target_default()->limits(&limits, &e) < 0)
		die("this machine", &e);
	while (next(&c, &line, &cap)) {
		struct nest n;

		nest_init(&n, &a, "naive");
		if (strcmp(last, c.w.id.s) != 0 && c.w.op->naive(&c.w, 1, &n, &e) == 0)
			build_nest(&job[k++ % jobs], limits.isa, folder, c.w.id.s, &n, print);
		snprintf(last, sizeof last, "%s", c.w.id.s);
		arena_reset(&a);
		nest_init(&n, &a, "kernel");
		if (c.algo->build(&c.w, c.knob, &n, &e) < 0)
			die("a nest", &e);
		build_nest(&job[k++ % jobs], limits.isa, folder, c.id.s, &n, print);
		arena_reset(&a);
	}
	for (int i = 0; i < jobs; i++)
		end_compiler(&job[i]);
	return 0;
}

/* ---- one process ---- */

static float *floats(int64_t n)
{
	size_t bytes = ((size_t)n * sizeof(float) + 4095) & ~(size_t)4095;
	float *p = aligned_alloc(4096, bytes ? bytes : 4096);

	if (!p)
		die_no_memory();
	return p;
}

/* The tensors of a workload by role, and behind them the true output, in one array. */
struct data {
	float *tensor[TENSOR_ROLES], *expected;
	int64_t size[TENSOR_ROLES], floats;
};

static void lay_out(struct data *d, const struct workload *w, float *all)
{
	struct tensor t[OP_MAX_TENSORS];
	int n = w->op->tensors(w, t);

	memset(d, 0, sizeof *d);
	for (int i = 0; i < n; i++) {
		d->tensor[t[i].role] = all + d->floats;
		d->size[t[i].role] = t[i].size;
		d->floats += (t[i].size + 1023) / 1024 * 1024;
	}
	d->expected = all + d->floats;
	d->floats += d->size[TENSOR_DST];
}

static void run_kernel(const struct kernel *k, const struct nest *n, float *const *buffers)
{
	struct err e = ERR_INIT;
	struct limits limits;
	long params[NEST_PARAMS];

	if (target_default()->limits(&limits, &e) < 0)
		die("this machine", &e);
	c_params(n, params);
	runner_cpu.run(k, params, (void *const *)buffers, limits.threads, NULL);
}

/* The object of a file that no cache made. */
static void load(struct kernel *k, const char *object)
{
	struct err e = ERR_INIT;

	if ((!seal_seems_whole(object) && seal_file(object, &e) < 0) ||
	    runner_cpu.load(k, object, &e) < 0)
		die(object, &e);
}

/* plain data FOLDER < one candidate: makes its workload's inputs and true answer. */
static int make_data(const char *folder)
{
	char *line = NULL, *file, *object;
	float *all, *buffers[NEST_BUFFERS];
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct candidate c;
	struct kernel k;
	struct data d;
	struct nest n;
	struct rng rng;
	size_t cap = 0;
	FILE *f;

	if (!next(&c, &line, &cap))
		return EXIT_INPUT;
	lay_out(&d, &c.w, NULL);
	all = floats(d.floats);
	lay_out(&d, &c.w, all);
	rng_seed(&rng, 1, c.w.id.s);
	for (int64_t i = 0; i < d.floats; i++)
		all[i] = (float)(int32_t)(uint32_t)rng_u64(&rng) * 0x1p-31f;
	nest_init(&n, &a, "naive");
	object = path(folder, c.w.id.s, ".so");
	if (c.w.op->naive(&c.w, 1, &n, &e) < 0)
		die("the reference", &e);
	load(&k, object);
	d.tensor[TENSOR_DST] = d.expected;
	for (int i = 0; i < n.nslots; i++)
		buffers[i] = d.tensor[operand_buffer(&n, i)->role];
	run_kernel(&k, &n, buffers);
	file = path(folder, c.w.id.s, ".data");
	f = fopen(file, "we");
	if (!f || fwrite(all, sizeof *all, (size_t)d.floats, f) != (size_t)d.floats || fclose(f))
		die("cannot write data", NULL);
	return EXIT_DONE;
}

static double relative_error(const float *out, const float *expected, int64_t n)
{
	double diff = 0, norm = 0;

	for (int64_t i = 0; i < n; i++) {
		double x = (double)expected[i], y = (double)out[i];

		diff += (x - y) * (x - y);
		norm += x * x;
	}
	return sqrt(diff / norm);
}

/* plain one FOLDER < one candidate: verifies, repeats, prints the median. */
static int measure_one(const char *folder)
{
	char *line = NULL, *file, *object;
	float *all, *buffers[NEST_BUFFERS];
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct limits limits;
	double x[REPEATS];
	struct candidate c;
	struct kernel k;
	struct data d;
	struct nest n;
	struct stat st;
	size_t cap = 0;
	int fd;

	if (!next(&c, &line, &cap) || target_default()->limits(&limits, &e) < 0)
		die("no candidate", &e);
	file = path(folder, c.w.id.s, ".data");
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		die("no data", NULL);
	all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (all == MAP_FAILED)
		die("no data", NULL);
	lay_out(&d, &c.w, all);
	nest_init(&n, &a, "kernel");
	object = path(folder, c.id.s, ".so");
	if (c.algo->build(&c.w, c.knob, &n, &e) < 0)
		die("a kernel", &e);
	load(&k, object);
	for (int i = 0; i < n.nslots; i++) {
		const struct buffer *b = operand_buffer(&n, i);

		buffers[i] = d.tensor[b->role];
		if (b->kind == BUFFER_PACKED || b->kind == BUFFER_WORK || b->kind == BUFFER_TEAM ||
		    b->role == TENSOR_DST)
			buffers[i] = floats(operand_size(&n, i, limits.threads));
		if (b->kind == BUFFER_PACKED)
			packing_run(b->packing, d.tensor[b->role], buffers[i]);
		if (b->kind == BUFFER_ARG && b->role == TENSOR_DST) {
			d.tensor[TENSOR_DST] = buffers[i];
			if (d.tensor[TENSOR_ADD])
				memcpy(buffers[i], d.tensor[TENSOR_ADD],
				       (size_t)d.size[TENSOR_DST] * sizeof *buffers[i]);
		}
	}
	run_kernel(&k, &n, buffers);
	if (!(relative_error(d.tensor[TENSOR_DST], d.expected, d.size[TENSOR_DST]) < 1e-5))
		die("a wrong answer", NULL);
	for (int i = 0; i < REPEATS; i++) {
		double start = clock_now();

		run_kernel(&k, &n, buffers);
		x[i] = clock_now() - start;
	}
	printf("%s %.9g\n", c.id.s, stat_median(x, REPEATS).median);
	return EXIT_DONE;
}

/* Runs `plain WHAT FOLDER` with the line on its stdin. */
static void process(const char *self, const char *what, const char *folder, const char *line)
{
	char *argv[] = {(char *)self, (char *)what, (char *)folder, NULL};
	struct err e = ERR_INIT;
	struct proc p;
	int status;

	if (proc_start(&p, argv, PROC_STDIN | PROC_GROUP | PROC_DIE_WITH_PARENT, -1, STDOUT_FILENO,
		       &e) < 0)
		die("no process", &e);
	if (write(p.in, line, strlen(line)) < 0)
		die("a process ends early", NULL);
	close(p.in);
	p.in = -1;
	if (proc_wait(&p, -1, &status, &e) < 0 || status)
		die("a process fails", &e);
	proc_close(&p);
}

static int run(const char *self, const char *folder)
{
	struct candidate c;
	char *line = NULL, last[ID_HEX + 1] = "";
	size_t cap = 0;

	while (next(&c, &line, &cap)) {
		if (strcmp(last, c.w.id.s) != 0)
			process(self, "data", folder, line);
		snprintf(last, sizeof last, "%s", c.w.id.s);
		process(self, "one", folder, line);
	}
	return EXIT_DONE;
}

static void print(const struct nest *n, struct buf *out)
{
	const struct limits m = {0}; /* nests in single precision need no more */

	target_default()->print(n, &m, out);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "build") && atoi(argv[3]) > 0 &&
	    atoi(argv[3]) <= MAX_JOBS && (!strcmp(argv[4], "c") || !strcmp(argv[4], "cpu")))
		return build(argv[2], atoi(argv[3]), strcmp(argv[4], "c") ? print : c_print);
	if (argc == 3 && !strcmp(argv[1], "run"))
		return run(argv[0], argv[2]);
	if (argc == 3 && !strcmp(argv[1], "data"))
		return make_data(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "one"))
		return measure_one(argv[2]);
	fputs("usage: plain build FOLDER JOBS c|cpu | plain run FOLDER\n", stderr);
	return EXIT_USAGE;
}
