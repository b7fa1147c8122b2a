/* Shape rules: on the models of the ONNX specification's own tests, a node or a few each
 * (onnx-rules.py), the shapes are those of the results there. */
#include <stdio.h>
#include <string.h>

#include "lib/extract/read/archive.h"
#include "lib/extract/graph/infer.h"
#include "lib/extract/onnx/onnx.h"
#include "tests/tap.h"

struct told {
	int models, outputs, wrong, open, refused;
};

/* The shape that an output's name ends with, against the one that was found. */
static void compare(const char *model, const struct value *v, struct told *t)
{
	const char *want = strrchr(v->name, ':');
	struct buf got = BUF_INIT;

	if (!want)
		return;
	t->outputs++;
	shape_print(&v->shape, &got);
	if (!shape_known(&v->shape)) {
		t->open++;
		diag("open: %s: %s is %s", model, v->name, got.s);
	} else if (strcmp(got.s, want + 1) != 0) {
		t->wrong++;
		diag("wrong: %s: %s is %s", model, v->name, got.s);
	}
	buf_free(&got);
}

static void visit(struct member *m, struct told *t)
{
	struct infer_options none = {0};
	struct arena a = ARENA_INIT;
	struct onnx_model model;
	struct err e = ERR_INIT;
	struct infer x = {0};

	t->models++;
	if (onnx_read(&model, &m->bytes, &a, &e) ||
	    infer_run(&x, &model.graph, model.opset, &none, &e)) {
		t->refused++;
		diag("refused: %s: %s", m->name, e.msg);
	} else {
		for (int i = 0; i < model.graph.nvalue; i++)
			if (model.graph.value[i]->is_output)
				compare(m->name, model.graph.value[i], t);
	}
	infer_free(&x);
	onnx_free(&model);
	arena_free(&a);
}

int main(void)
{
	struct told t = {0};
	struct err e = ERR_INIT;
	struct input *in = input_open("tests/onnx-rules.tar.zst", NULL, &e);
	struct member *m;

	if (!in)
		bail_out("%s", e.msg);
	while (input_next(in, &m, &e) > 0)
		visit(m, &t);
	input_close(in);
	ok(t.models > 1400, "%d models of the specification", t.models);
	ok(!t.refused, "none is refused (%d are)", t.refused);
	ok(!t.wrong, "none of %d shapes is wrong (%d are)", t.outputs, t.wrong);
	ok(!t.open, "and all are known (%d are not)", t.open);
	return done_testing();
}
