/* tl-extract: models, archives of models, lists and logs -> workload records, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/extract/extract.h"
#include "lib/io/opt.h"
#include "lib/io/progress.h"
#include "lib/io/record.h"

static const char *format, *layout = "nhwc", *output;
static int64_t batch = -1;
static struct opt_list shapes;
static int quiet;

static const struct opt opts[] = {
	{'b', "batch", OPT_COUNT, &batch, "N",
	 "Size of the first dimension of the models' inputs. Without it, a symbolic one is 1, and "
	 "a "
	 "fixed one stays.",
	 NULL},
	{'s', "shape", OPT_LIST, &shapes, "NAME:1,3,224,224",
	 "Shape of an input, for models that leave it open or to replace it. Symbols in it hold "
	 "for "
	 "the other inputs too. May be given several times.",
	 NULL},
	{0, "layout", OPT_ENUM, &layout, "LAYOUT",
	 "Layout of the activations of convolutions, where the input does not say it. Default nhwc.",
	 "nhwc|nchw"},
	{'f', "format", OPT_ENUM, &format, "FORMAT",
	 "Read the files as this and nothing else. Without it, names and first bytes tell.",
	 "onnx|records|csv|log"},
	{'o', "output", OPT_FILE, &output, "FILE",
	 "Write to FILE instead of standard output. FILE is replaced at the end.", NULL},
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
	fprintf(stderr, "%s: %s\n", program.name, sentence);
}

static int read_options(struct extract *x, struct err *e)
{
	x->layout = (enum layout)layout_find(layout, strlen(layout));
	x->format = format;
	return infer_options_read(&x->infer, batch, shapes.item, shapes.n, e);
}

static void read_one(struct extract *x, const char *path)
{
	rec_tell_terminal(path, "a model");
	extract_input(x, path);
}

static int write_all(const struct extract *x, struct rec_out *out, struct err *e)
{
	struct json_doc scratch = JSON_DOC_INIT;
	struct buf line = BUF_INIT;
	int r = 0;

	for (size_t i = 0; i < x->found.by_id.n && !r; i++) {
		buf_clear(&line);
		work_print(x->found.by_id.item[i].value, &scratch, &line);
		r = rec_put(out, line.s, line.n, e);
	}
	buf_free(&line);
	json_free(&scratch);
	return r ? r : rec_commit(out, e);
}

int main(int argc, char **argv)
{
	static struct extract x = {.say = say};
	struct err e = ERR_INIT;
	int first = opt_parse(&program, argc, argv), r;
	struct rec_out *out;

	opt_foreign_exit(&program);
	if (read_options(&x, &e) || !(out = rec_create(output, &e))) {
		extract_free(&x);
		return opt_fail(&program, &e);
	}
	if (first == argc)
		read_one(&x, "-");
	for (int i = first; i < argc; i++)
		read_one(&x, argv[i]);
	progress_clear();
	for (int i = 0; i < x.infer.nshape; i++)
		if (!x.infer.shape[i].used)
			opt_warn(&program, "no model has an input \"%s\"", x.infer.shape[i].name);
	r = write_all(&x, out, &e);
	if (r && !rec_broken_pipe(out))
		opt_fail(&program, &e);
	rec_discard(out);
	extract_free(&x);
	infer_options_free(&x.infer);
	return r || x.failed ? EXIT_INPUT : EXIT_DONE;
}
