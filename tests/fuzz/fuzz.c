/* Harness for libFuzzer: one program, whose target is named by FUZZ in the environment.
 *
 * A format's name: the bytes are a member of that format. "hdf5": likewise, which a program of its
 * own reads. "index": they are that of a checkpoint of TensorFlow. "archive": they are a file, with
 * whatever is in it. "where", "vary", "shape", "dim": they are the text of that option. What is
 * found in hostile bytes must be records that a reader of records takes, like any others.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/extract/read/hdf5.h"
#include "lib/extract/select.h"
#include "lib/extract/tensorflow/bundle.h"
#include "lib/extract/vary.h"
#include "tests/extracting.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

struct target {
	const char *name;
	void (*run)(const unsigned char *data, size_t n);
};

static const struct format *format; /* of the target */
static const struct target *target;
static struct worklist sample; /* workloads of all operators, for the options */

static void ignore(void *ctx, int is_error, const char *sentence)
{
	(void)ctx;
	(void)is_error;
	assert(*sentence && !strchr(sentence, '\n'));
}

static void print_found(const struct worklist *l, struct buf *out)
{
	struct json_doc scratch = JSON_DOC_INIT;

	for (size_t i = 0; i < l->by_id.n; i++) {
		work_print(l->by_id.item[i].value, &scratch, out);
		buf_ch(out, '\n');
	}
	json_free(&scratch);
}

static int read_member(struct extract *x, const struct format *f, const void *data, size_t n,
		       size_t step)
{
	struct drip d = {data, n, step, 0};
	struct member m = {.name = "model", .around = "", .label = "model", .alone = 1};
	struct err e = ERR_INIT;

	m.bytes = (struct pull){.next = drip_next, .skip = step & 1 ? NULL : drip_skip, .ctx = &d};
	return f->read(x, &m, &e);
}

/* Is there little enough of it to be held three times? */
static int is_little(const struct worklist *l)
{
	size_t sources = 0;

	for (size_t i = 0; i < l->by_id.n; i++)
		sources += ((const struct work *)l->by_id.item[i].value)->source.n;
	return sources < 50000;
}

/* What was found is printed, and read again: nothing is lost. */
static void check_found(const struct extract *x)
{
	struct extract again = {.layout = LAYOUT_NHWC, .say = ignore};
	struct buf records = BUF_INIT, same = BUF_INIT;

	if (!x->found.by_id.n || !is_little(&x->found))
		return;
	print_found(&x->found, &records);
	if (read_member(&again, &format_records, records.s, records.n, 1 << 16) || again.failed)
		abort();
	print_found(&again.found, &same);
	if (records.n != same.n || memcmp(records.s, same.s, same.n))
		abort();
	extract_free(&again);
	buf_free(&records);
	buf_free(&same);
}

static void run_format(const unsigned char *data, size_t n)
{
	static const size_t steps[] = {1 << 16, 13, 4096, 1};
	struct contents contents = {MAP_INIT};
	struct buf drawing = BUF_INIT;
	struct extract x = {
		.layout = LAYOUT_NHWC, .say = ignore, .contents = &contents, .drawing = &drawing};

	x.all = n / 4 % 2 == 1;
	read_member(&x, format, data, n, steps[n % 4]);
	check_found(&x);
	extract_free(&x);
	contents_free(&contents);
	buf_free(&drawing);
}

static void run_hdf5(const unsigned char *data, size_t n)
{
	if (hdf5_claims(data, n))
		run_format(data, n);
}

/* A file with these bytes, and its name. */
static int open_file(const unsigned char *data, size_t n, char name[32])
{
	const int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	lseek(fd, 0, SEEK_SET);
	snprintf(name, 32, "/dev/fd/%d", fd);
	return fd;
}

static void run_index(const unsigned char *data, size_t n)
{
	struct map shapes = MAP_INIT;
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	char name[32];
	const int fd = open_file(data, n, name);

	if (bundle_read(&shapes, name, &a, &e) < 0)
		ignore(NULL, 1, e.msg);
	map_free(&shapes);
	arena_free(&a);
	close(fd);
}

static void run_archive(const unsigned char *data, size_t n)
{
	struct extract x = {.layout = LAYOUT_NHWC, .say = ignore};
	char name[32];
	const int fd = open_file(data, n, name);

	extract_input(&x, name);
	check_found(&x);
	extract_free(&x);
	close(fd);
}

static void run_where(const unsigned char *data, size_t n)
{
	struct arena a = ARENA_INIT;
	const char *text = arena_strndup(&a, (const char *)data, n);
	struct work **w = select_all(&sample);
	struct selected told = {0};
	struct err e = ERR_INIT;

	if (select_where(NULL, 0, text, &a, &told, &e) >= 0)
		select_where(w, (int64_t)sample.by_id.n, text, &a, &told, &e);
	free(w);
	arena_free(&a);
}

static void run_vary(const unsigned char *data, size_t n)
{
	struct arena a = ARENA_INIT;
	const char *text = arena_strndup(&a, (const char *)data, n);
	struct extract made = {0};
	struct varied told = {0};
	struct err e = ERR_INIT;
	struct vary v;

	if (!vary_parse(&v, text, &a, &e)) {
		vary_run(&v, &sample, &made.found, &a, &told);
		if (made.found.by_id.n < 100)
			check_found(&made);
	}
	extract_free(&made);
	arena_free(&a);
}

static void run_words(const unsigned char *data, size_t n, int is_dim)
{
	struct arena a = ARENA_INIT;
	const char *text = arena_strndup(&a, (const char *)data, n);
	struct infer_options o = {0};
	struct infer_words w = {.batch = -1};
	struct err e = ERR_INIT;

	if (is_dim) {
		w.dim = &text;
		w.ndim = 1;
	} else {
		w.shape = &text;
		w.nshape = 1;
	}
	infer_options_read(&o, &w, &e);
	infer_options_free(&o);
	arena_free(&a);
}

static void run_shape(const unsigned char *data, size_t n)
{
	run_words(data, n, 0);
}

static void run_dim(const unsigned char *data, size_t n)
{
	run_words(data, n, 1);
}

static const struct target others[] = {
	{"archive", run_archive}, {"hdf5", run_hdf5},	{"index", run_index}, {"where", run_where},
	{"vary", run_vary},	  {"shape", run_shape}, {"dim", run_dim},
};

static const struct target *find_target(const char *name)
{
	static struct target of_format = {.run = run_format};

	for (const struct format *const *f = format_list; *f; f++)
		if (!strcmp((*f)->name, name)) {
			format = *f;
			of_format.name = name;
			return &of_format;
		}
	format = &format_keras; /* of HDF5 */
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(others[i].name, name))
			return &others[i];
	return NULL;
}

static void make_sample(void)
{
	static const char list[] = "op,prob,layout,post\n"
				   "matmul,32x64:64x16,,\n"
				   "matmul,2x32x64:2x64x16,,relu\n"
				   "conv2d,mb1_ic8ih14_oc16oh14_kh3ph1,nhwc,bias+relu\n"
				   "conv2d,mb1_g8ic8ih14_oc8oh14_kh3ph1,nchw,\n";
	struct extract x = {.layout = LAYOUT_NHWC, .say = ignore};

	if (read_member(&x, &format_csv, list, sizeof list - 1, 1 << 16) || x.found.by_id.n != 4)
		abort();
	sample = x.found;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ");

	(void)argc;
	target = name ? find_target(name) : NULL;
	if (!target) {
		fprintf(stderr,
			"%s: FUZZ in the environment names no target: a format, hdf5, index, "
			"archive, where, vary, shape or dim\n",
			(*argv)[0]);
		exit(EXIT_USAGE);
	}
	make_sample();
	return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	target->run(data, n);
	return 0;
}
