/* Extraction from records; and what is shown of models. */
#include "lib/base/rng.h"
#include "lib/extract/contents.h"
#include "tests/onnx.h"

static void test_records(void)
{
	struct extract x = {.layout = LAYOUT_NHWC}, y = {.layout = LAYOUT_NHWC};
	struct json_doc scratch = JSON_DOC_INIT;
	struct buf m = BUF_INIT, line = BUF_INIT, again = BUF_INIT;

	a_model(&m);
	extract_bytes(&x, m.s, m.n);
	for (size_t i = 0; i < x.found.by_id.n; i++) {
		work_print(x.found.by_id.item[i].value, &scratch, &line);
		buf_ch(&line, '\n');
	}
	line.n -= 2; /* a field that is not ours */
	buf_str(&line, ",\"x\":{\"note\":7}}\n");
	extract_bytes(&y, line.s, line.n);
	extract_bytes(&y, m.s, m.n);
	extract_bytes(&y, line.s, line.n);
	for (size_t i = 0; i < y.found.by_id.n; i++) {
		work_print(y.found.by_id.item[i].value, &scratch, &again);
		buf_ch(&again, '\n');
	}
	ok(line.n && !strcmp(line.s, again.s),
	   "records, merged with the model they came from, stay as they are");
	extract_bytes(&y, "{\"tl\":1,\"type\":\"end\"}\n", 22);
	ok(y.failed == 1, "other records are refused");
	extract_free(&x);
	extract_free(&y);
	json_free(&scratch);
	buf_free(&m);
	buf_free(&line);
	buf_free(&again);
}

/* What is in a model */

/* A convolution with relu, one by filters that come in, which is no workload, and sizes that are
 * known. */
static void a_mixed_model(struct buf *m)
{
	struct buf g = image();

	input(&g, "q", "8,8,1,1");
	conv(&g, "Conv x w -> a");
	node(&g, "Relu a -> r", "");
	node(&g, "Conv r q -> t", "");
	node(&g, "Shape t -> u", "");
	node(&g, "Reshape t u -> y", "");
	output(&g, "y");
	model(m, &g, 13);
}

static void test_contents(void)
{
	/* 14x14 pixels of 8 channels from 9 taps of 8, and from one. */
	static const char want[] = "model,operator,count,multiply_adds,share,becomes,why\n"
				   "net,Conv,1,112896,0.9,workload,\n"
				   "net,Conv,1,12544,0.1,none,computed weights\n"
				   "net,Relu,1,0,0,fused,\n"
				   "net,Shape,1,0,0,constant,\n"
				   "net,Reshape,1,0,0,none,\n";
	struct contents c = {MAP_INIT};
	struct buf drawing = BUF_INIT, m = BUF_INIT, got = BUF_INIT;
	struct extract x = {.layout = LAYOUT_NHWC, .contents = &c, .drawing = &drawing};

	a_mixed_model(&m);
	extract_bytes(&x, m.s, m.n);
	contents_csv(&c, &got);
	if (!ok(!strcmp(got.s, want), "contents of a model: what became of each operator"))
		diag("got  %s\nwant %s\nsaid %s", got.s, want, said.s);
	ok(strstr(drawing.s, "digraph \"net\" {\n") == drawing.s &&
		   strstr(drawing.s, "n0 [label=\"Conv\", fillcolor=palegreen3") &&
		   strstr(drawing.s, "n1 [label=\"Relu\", fillcolor=darkseagreen1") &&
		   strstr(drawing.s, "n2 [label=\"Conv\", fillcolor=orange") &&
		   strstr(drawing.s, "n4 [label=\"Reshape\", fillcolor=white"),
	   "its drawing: colours tell what is covered");
	ok(strstr(drawing.s, "n1 -> n2 [label=\"1x8x14x14\"];") &&
		   strstr(drawing.s, "n2 -> n4 [label=\"1x8x14x14\"];") &&
		   strstr(drawing.s, "i0 -> n0 ") && strstr(drawing.s, "n4 -> o") &&
		   !strstr(drawing.s, "n3 ["),
	   "arrows have shapes, and nodes of sizes are left out");
	if (tap_failed)
		diag("%s", drawing.s);
	contents_free(&c);
	extract_free(&x);
	buf_free(&drawing);
	buf_free(&got);
	buf_free(&m);
}

/* A label ends neither early nor in the middle of a letter. */
static void test_hostile_names(void)
{
	struct buf g = image(), m = BUF_INIT, drawing = BUF_INIT, text = BUF_INIT;
	struct contents c = {MAP_INIT};
	struct extract x = {.layout = LAYOUT_NHWC, .contents = &c, .drawing = &drawing};
	const struct table_look look = {0, 0};

	node(&g, "A\"];b\\\033[31m x -> y", "");
	output(&g, "y");
	model(&m, &g, 13);
	extract_bytes(&x, m.s, m.n);
	ok(strstr(drawing.s, "label=\"A\\\"];b\\\\\\\\x1b[31m\"") != NULL,
	   "names in a drawing are quoted");
	contents_text(&c, &look, &text);
	ok(strstr(text.s, "b\\?[31m") && !strchr(text.s, '\033'),
	   "and give a terminal no commands");
	contents_free(&c);
	extract_free(&x);
	buf_free(&drawing);
	buf_free(&text);
	buf_free(&m);
}

int main(void)
{
	begin();
	test_records();
	test_contents();
	test_hostile_names();
	return end();
}
