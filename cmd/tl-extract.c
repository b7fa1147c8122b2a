/* tl-extract: models, archives of models, lists and logs -> workload records, each once. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/extract/list/emit.h"
#include "lib/extract/extract.h"
#include "lib/extract/select.h"
#include "lib/extract/vary.h"
#include "lib/io/opt.h"
#include "lib/io/progress.h"
#include "lib/io/record.h"
#include "lib/io/table.h"
#include "lib/io/terminal.h"

enum { MAX_JOBS = 256 };

static const char *format, *layout = "nhwc", *output, *variation, *condition, *key,
			   *form = "records", *ops = "products";
static int64_t batch = -1, max_bytes, jobs;
static struct opt_list shapes, dims;
static int quiet, reverse, list, as_csv, wide, dot;

static const struct opt opts[] = {
	OPTIONS_FOR("What is read"),
	{'f', "format", OPT_ENUM, &format, "FORMAT",
	 "Read the files in this format only. Without it, tl-extract recognises the format by "
	 "names and first bytes.",
	 "onnx|tflite|tensorflow|torch|keras|openvino|gguf|records|csv|log|trace"},
	{'b', "batch", OPT_COUNT, &batch, "N",
	 "The size of the first dimension of the models' inputs. Without it, a symbolic size "
	 "becomes 1, and a fixed size stays.",
	 NULL},
	{'s', "shape", OPT_LIST, &shapes, "NAME:1,3,224,224",
	 "The shape of an input, for models that leave it open, or to replace it. Symbols in it "
	 "have the same value in other inputs. May be given several times.",
	 NULL},
	{0, "dim", OPT_LIST, &dims, "NAME=SIZE",
	 "The size of an open dimension, by the name that the model gives it, such as seq=128. "
	 "batch=8 also means an open first dimension without a size. May be given several times.",
	 NULL},
	{0, "layout", OPT_ENUM, &layout, "LAYOUT",
	 "The layout of the activations of convolutions, if the input does not tell it. Default "
	 "nhwc.",
	 "nhwc|nchw"},
	{0, "ops", OPT_ENUM, &ops, "WHICH",
	 "The operators to take out of models: those that multiply and add (products), or all. "
	 "With all, attention is one operator, and softmax, normalizations, pools and chains of "
	 "element-wise operators are taken, too. Default products.",
	 "products|all"},
	{'j', "jobs", OPT_COUNT, &jobs, "N",
	 "Read up to N files at once. What is written is the same for any N. Default: as many as "
	 "there are CPUs to run on.",
	 NULL},
	{0, "max-bytes", OPT_COUNT, &max_bytes, "SIZE",
	 "The most bytes to unpack of one input. Without it, this is 4 GiB, or 200 times what is "
	 "packed, if that is more.",
	 NULL},
	OPTIONS_FOR("What is written"),
	{0, "vary", OPT_STRING, &variation, "TERMS",
	 "Write variations of each operator instead of the operator itself. mb=1,2,4,8; ih,iw*=2 "
	 "makes all combinations. See Variations.",
	 NULL},
	{0, "where", OPT_STRING, &condition, "CONDITION",
	 "Write only operators that meet this condition, such as flops>1e8 && kh==3. See "
	 "Conditions.",
	 NULL},
	{0, "sort", OPT_ENUM, &key, "KEY",
	 "Write the largest operators first. The key is the operations or bytes of one instance, "
	 "the number of instances (count), or the operations of all instances (total). Equal "
	 "operators stay in the order in which they occur.",
	 "flops|bytes|count|total"},
	{'r', "reverse", OPT_FLAG, &reverse, NULL,
	 "With --sort: write the smallest operators first.", NULL},
	{0, "emit", OPT_ENUM, &form, "FORM",
	 "Write records, command lines of oneDNN's benchdnn or of MIOpen's driver, or a list with "
	 "commas. tl-extract reads all four. Default records.",
	 "records|" EMIT_FORMS},
	{'l', "list", OPT_FLAG, &list, NULL,
	 "Instead of records, write a table of what is in the inputs: operators by type, their "
	 "shares of the multiply-adds, and what becomes of them.",
	 NULL},
	{0, "csv", OPT_FLAG, &as_csv, NULL, "With --list: write the table as CSV, without sums.",
	 NULL},
	WIDE_OPTION(wide),
	{0, "dot", OPT_FLAG, &dot, NULL,
	 "Instead of records, write the models' graphs in the language of Graphviz. Green nodes "
	 "are workloads, and pale nodes are parts of one. Orange nodes have multiply-adds, but "
	 "belong to no workload.",
	 NULL},
	OUTPUT_OPTION(output),
	OPTIONS_FOR("What is said"),
	QUIET_OPTION(quiet, " What was not extracted is not told."),
	OPT_END,
};

static const struct program program = {
	.name = "tl-extract",
	.summary = "take the operators out of models as workload records",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

static void say(void *ctx, int is_error, const char *sentence)
{
	(void)ctx;
	if (quiet && !is_error)
		return;
	progress_clear();
	terminal_say("%s: %s\n", program.name, sentence);
}

static int read_options(struct extract *x, struct err *e)
{
	x->layout = (enum layout)layout_find(layout, strlen(layout));
	x->all = !strcmp(ops, "all");
	x->format = format;
	x->max_bytes = (uint64_t)max_bytes;
	if (jobs > MAX_JOBS)
		return err_status(e, EXIT_USAGE, "--jobs is %lld, more than %d", (long long)jobs,
				  MAX_JOBS);
	return infer_options_read(
		&x->infer, &(struct infer_words){batch, shapes.item, dims.item, shapes.n, dims.n},
		e);
}

static void warn_unused(const char *what, const char *name)
{
	opt_warn(&program, "no model has an %s \"%s\"", what, name);
}

/* The CPUs that the process may use. */
static int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

static void read_all(struct extract *x, const char *const *path, int n)
{
	static const char *const standard_input[] = {"-"};

	if (!n)
		path = standard_input;
	n += !n;
	for (int i = 0; i < n; i++)
		rec_tell_terminal(path[i], "a model");
	extract_inputs(x, path, n, jobs ? (int)jobs : cpus());
}

/* What is asked of the workloads found, read before any file is. */
static int check_choice(struct vary *v, struct arena *a, struct err *e)
{
	struct selected none = {0};

	if (variation && vary_parse(v, variation, a, e))
		return err_in(e, "--vary");
	if (condition && select_where(NULL, 0, condition, a, &none, e) < 0)
		return err_in(e, "--where");
	return 0;
}

static void check_usage(void)
{
	const char *why = NULL;

	if (reverse && !key)
		why = "--reverse belongs to --sort";
	else if (list && dot)
		why = "--list and --dot exclude each other";
	else if ((list || dot) && (variation || condition || key))
		why = "--vary, --where and --sort are of records, not of --list or --dot";
	else if ((list || dot) && strcmp(form, "records") != 0)
		why = "--emit is of workloads, not of --list or --dot";
	else if ((as_csv || wide) && !list)
		why = "--csv and --wide belong to --list";
	if (!why)
		return;
	fprintf(stderr, "%s: %s; see %s --help\n", program.name, why, program.name);
	_exit(EXIT_USAGE);
}

static void replace_by_variations(const struct vary *v, struct extract *x, struct arena *a)
{
	struct worklist made = {MAP_INIT};
	struct varied told = {0};

	vary_run(v, &x->found, &made, a, &told);
	opt_say(&program, "--vary made %zu workload%s of %zu", made.by_id.n,
		made.by_id.n == 1 ? "" : "s", x->found.by_id.n);
	if (told.dropped == 1)
		opt_say(&program, "--vary dropped 1 variation, which is no workload, %s", told.why);
	else if (told.dropped)
		opt_say(&program,
			"--vary dropped %lld variations, which are no workloads, the first %s",
			(long long)told.dropped, told.why);
	if (told.untouched == 1)
		opt_say(&program,
			"1 workload stays as it is: it has no dimension that --vary names");
	else if (told.untouched)
		opt_say(&program,
			"%lld workloads stay as they are: they have no dimension that --vary names",
			(long long)told.untouched);
	worklist_free(&x->found);
	x->found = made;
}

/* The works to write, in order; the array is the caller's to free. */
static struct work **chosen(const struct extract *x, struct arena *a, int64_t *n)
{
	struct work **w = select_all(&x->found);
	struct selected told = {0};
	struct err e = ERR_INIT;

	*n = (int64_t)x->found.by_id.n;
	if (condition)
		*n = select_where(w, *n, condition, a, &told, &e);
	if (told.out)
		opt_say(&program, "--where left out %lld of %zu workloads", (long long)told.out,
			x->found.by_id.n);
	if (told.unknown)
		opt_say(&program,
			"for %lld of these it is unknown whether the condition holds: %s has no %s",
			(long long)told.unknown, told.op, told.lacks);
	if (key)
		select_sort(w, *n, key, reverse);
	return w;
}

/* Writes text instead of records. */
static int write_text(const struct buf *text, struct rec_out *out, struct err *e)
{
	struct buf valid = BUF_INIT;
	int r = 0;

	if (text->n)
		extract_utf8(&valid, text->s);
	if (valid.n)
		r = rec_put(out, valid.s, valid.n - 1, e); /* it ends its last line itself */
	buf_free(&valid);
	return r ? r : rec_commit(out, e);
}

/* In the words of others. */
static int write_emitted(struct work *const *w, int64_t n, struct rec_out *out, struct err *e)
{
	struct buf text = BUF_INIT;
	int64_t left = emit(form, w, n, &text);
	int r = write_text(&text, out, e);

	if (left)
		opt_say(&program, "--emit=%s has no words for %lld of %lld workload%s", form,
			(long long)left, (long long)n, n == 1 ? "" : "s");
	buf_free(&text);
	return r;
}

static int write_all(struct work *const *w, int64_t n, struct rec_out *out, struct err *e)
{
	struct json_doc scratch = JSON_DOC_INIT;
	struct buf line = BUF_INIT;
	int r = 0;

	for (int64_t i = 0; i < n && !r; i++) {
		buf_clear(&line);
		work_print(w[i], &scratch, &line);
		r = rec_put(out, line.s, line.n, e);
	}
	buf_free(&line);
	json_free(&scratch);
	return r ? r : rec_commit(out, e);
}

static int write_shown(const struct extract *x, struct rec_out *out, struct err *e)
{
	const struct table_look look =
		table_look("never", wide, output && strcmp(output, "-") != 0);
	struct buf text = BUF_INIT;
	int r;

	if (x->drawing)
		return write_text(x->drawing, out, e);
	if (as_csv)
		contents_csv(x->contents, &text);
	else
		contents_text(x->contents, &look, &text);
	r = write_text(&text, out, e);
	buf_free(&text);
	return r;
}

static int write_chosen(struct extract *x, const struct vary *v, struct arena *a,
			struct rec_out *out, struct err *e)
{
	struct work **works;
	int64_t n;
	int r;

	if (variation)
		replace_by_variations(v, x, a);
	works = chosen(x, a, &n);
	r = strcmp(form, "records") ? write_emitted(works, n, out, e) : write_all(works, n, out, e);
	free(works);
	return r;
}

int main(int argc, char **argv)
{
	static struct extract x = {.say = say};
	struct err e = ERR_INIT;
	int first = opt_parse(&program, argc, argv), r;
	struct arena a = ARENA_INIT;
	struct rec_out *out;
	struct contents contents = {MAP_INIT};
	struct buf drawing = BUF_INIT;
	struct vary vary;

	check_usage();
	opt_foreign_exit(&program);
	rec_stop_on_signals();
	if (check_choice(&vary, &a, &e) || read_options(&x, &e) ||
	    !(out = rec_create(output, &e))) {
		extract_free(&x);
		infer_options_free(&x.infer);
		arena_free(&a);
		return opt_fail(&program, &e);
	}
	x.contents = list ? &contents : NULL;
	x.drawing = dot ? &drawing : NULL;
	read_all(&x, (const char *const *)argv + first, argc - first);
	progress_clear();
	infer_options_unused(&x.infer, warn_unused);
	r = rec_stopped() ? 0
	    : list || dot ? write_shown(&x, out, &e)
			  : write_chosen(&x, &vary, &a, out, &e);
	if (r && !rec_broken_pipe(out))
		opt_fail(&program, &e);
	rec_discard(out);
	extract_free(&x);
	infer_options_free(&x.infer);
	arena_free(&a);
	contents_free(&contents);
	buf_free(&drawing);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return r || x.failed ? EXIT_INPUT : EXIT_DONE;
}
