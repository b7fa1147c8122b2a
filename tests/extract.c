/* Extraction from lists, logs and records; and what is shown of models. */
#include "lib/base/rng.h"
#include "lib/extract/contents.h"
#include "tests/onnx.h"

/* The other formats */

static void lines(const char *format, const char *text, const char *want, int failed,
		  const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC, .format = format};
	struct buf got = BUF_INIT;

	for (int i = 0; i < 2; i++) /* twice is once */
		extract_bytes(&x, text, strlen(text));
	describe(&x, &got);
	if (!ok(!strcmp(got.s, want) && x.failed == 2 * failed, "%s", what))
		diag("got  %s, %lld failed\nwant %s\n%s", got.s, (long long)x.failed, want, said.s);
	buf_free(&got);
	extract_free(&x);
}

static void test_lists(void)
{
	lines("csv",
	      "op,prob,layout,post,count\nconv2d,ic8ih14oc8kh3ph1,nchw,bias+relu,3\n"
	      "matmul,5x7:7x9,,,\n",
	      CONV " bias,relu x3; 5x7:7x9", 0, "rows of a list; a count makes sources");
	lines("csv", "prob,note,op\r\n5x7:7x9,\"a, b\",matmul\r\n", "5x7:7x9", 0,
	      "columns in any order, others ignored");
	lines("csv", "op,prob\nmatmul,nonsense\nmatmul,5x7:7x9\nmatmul\n", "5x7:7x9", 2,
	      "bad rows are counted, good ones taken");
	lines("csv",
	      "op,prob,rhs\nmatmul,5x7:7x9,computed\nmatmul,5x7:7x9,const\n"
	      "matmul,5x7:7x9,x\nconv2d,ic8ih14oc8kh3ph1,const\n",
	      "5x7:7x9 computed; 5x7:7x9", 2, "a right side that is computed");
	lines("csv", "a,b\n1,2\n", "", 1, "a list without op and prob is refused");
}

static void test_logs(void)
{
	lines(NULL, "mb1_ic8ih14oc8oh14kh3ph1n\"first\"\n5x7:7x9\n", CONV "; 5x7:7x9", 0,
	      "problems, one a line");
	lines(NULL, "--matmul --dt=f32 2x3x4x7:1x3x7x9\n--dt=bf16 8x8:8x8\n", "6x4x7:6x7x9", 0,
	      "options of benchdnn; other types are left out");
	lines("log", "2x3x4x7:1x1x7x9\n", "24x7:7x9", 0, "one matrix for all batches");
	lines(NULL, "mb1_ic8ih14oc8oh99kh3ph1\n", "", 1, "a problem that is none is a bad line");
	lines(NULL,
	      "onednn_verbose,info,oneDNN v2.6.3\n"
	      "onednn_verbose,exec,cpu,convolution,jit:avx512_core,forward_inference,"
	      "src_f32::blocked:abcd:f0 wei_f32::blocked:Acdb16a:f0 bia_f32::blocked:a:f0 "
	      "dst_f32::blocked:acdb:f0,attr-scratchpad:user attr-post-ops:sum+eltwise_relu ,"
	      "alg:convolution_direct,mb1_ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.05\n"
	      "app says hello\n"
	      "onednn_verbose,v1,primitive,exec,cpu,matmul,brg:avx512_core,undef,"
	      "src:f32:a:blocked:ab::f0 wei:f32:a:blocked:ab::f0 dst:f32:a:blocked:ab::f0,,,"
	      "5x7:7x9,0.01\n"
	      "onednn_verbose,exec,cpu,pooling,jit,forward,src_f32 dst_f32,,alg,mb1ic8,0.1\n"
	      "onednn_verbose,exec,cpu,inner_product,gemm:jit,forward_inference,"
	      "src_f32::blocked:acdb:f0 wei_f32::x bia_f32::x dst_f32::x,,,mb1ic4ih2iw2oc5,0.1\n",
	      CONV " bias,add,relu; 5x7:7x9; 1x16:16x5 bias", 0, "verbose lines of oneDNN 2 and 3");
	ok(was_said("pooling 1"), "what is left out is reported");
#define PRODUCT                                                                                    \
	"onednn_verbose,exec,cpu,matmul,jit,undef,src_f32::blocked:ab:f0 "                         \
	"wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,attr-post-ops:"
#define DONE " ,,5x7:7x9,0.01\n"
	lines(NULL, PRODUCT "eltwise_swish:1+binary_mul:f32:3:ab" DONE, "5x7:7x9 silu,mul", 0,
	      "a gate in a verbose line");
	lines(NULL,
	      PRODUCT "eltwise_relu:0.1+eltwise_gelu_erf" DONE PRODUCT "eltwise_clip:0:6" DONE,
	      "5x7:7x9 leaky_relu(0.1),gelu; 5x7:7x9 relu6", 0, "numbers of post-ops");
	lines(NULL, PRODUCT "eltwise_clip:-1:1+eltwise_swish:2" DONE, "5x7:7x9 clip(-1,1)", 0,
	      "what follows a post-op that is not ours is left out");
	lines(NULL, PRODUCT "binary_mul:f32:2" DONE, "5x7:7x9", 0,
	      "a factor for each column is not one of the output's shape");
	lines(NULL, PRODUCT "binary_mul:f32:0+eltwise_relu" DONE, "5x7:7x9", 0,
	      "nor is one factor for all");
	lines(NULL, PRODUCT "sum:0.5+eltwise_relu" DONE, "5x7:7x9", 0, "a scaled sum is not ours");
}

/* Lines as versions 1.x to 3.x write them, from their sources and their users' reports. */
static void test_versions(void)
{
	lines(NULL,
	      "dnnl_verbose,info,DNNL v1.7.0 (commit N/A)\n"
	      "dnnl_verbose,create:cache_miss,cpu,convolution,jit:avx2,forward_inference,"
	      "src_f32::blocked:acdb:f0 wei_f32::blocked:acdb:f0 bia_f32::blocked:a:f0 "
	      "dst_f32::blocked:acdb:f0,post_ops:'eltwise_relu;';,alg:convolution_direct,"
	      "mb1_ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.9\n"
	      "dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_inference,"
	      "src_f32::blocked:acdb:f0 wei_f32::blocked:acdb:f0 bia_f32::blocked:a:f0 "
	      "dst_f32::blocked:acdb:f0,post_ops:'sum;eltwise_bounded_relu:6;';,"
	      "alg:convolution_direct,mb1_ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.05\n"
	      "dnnl_verbose,exec,cpu,convolution,jit_dw:avx2,forward_training,"
	      "src_f32::blocked:aBcd8b:f0 wei_f32::blocked:Abcde8a:f0 bia_undef::undef::f0 "
	      "dst_f32::blocked:aBcd8b:f0,,alg:convolution_direct,"
	      "mb1_g64ic64oc64_ih112oh56kh3sh2dh0ph0_iw112ow56kw3sw2dw0pw0,0.05\n"
	      "dnnl_verbose,exec,cpu,matmul,gemm:jit,undef,src_f32::blocked:ab:f0 "
	      "wei_f32::blocked:ab:f0 bia_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,m5n9k7,0.01\n"
	      "dnnl_verbose,exec,cpu,matmul,gemm:jit,undef,src_f32::blocked:abc:f0 "
	      "wei_f32::blocked:abc:f0 dst_f32::blocked:abc:f0,,,b6m4n9k7,0.01\n"
	      "mkldnn_verbose,exec,cpu,inner_product,gemm:jit,forward_inference,"
	      "src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,"
	      "mb5ic7oc9,0.01\n",
	      CONV " bias,add,relu6; mb1g64_ic64ih112_oc64oh56_kh3sh2; 5x7:7x9 bias; "
		   "6x4x7:6x7x9; 5x7:7x9",
	      0, "verbose lines of 1.x");
	lines(NULL,
	      "onednn_verbose,primitive,exec,cpu,convolution,brgconv:avx512_core,"
	      "forward_inference,src_f32:a:blocked:acdb::f0 wei_f32:a:blocked:Acdb64a::f0 "
	      "bia_f32:a:blocked:a::f0 dst_f32:a:blocked:acdb::f0,attr-scratchpad:user "
	      "attr-post-ops:binary_add:f32:14:acdb+eltwise_relu ,alg:convolution_direct,"
	      "mb1_ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.05\n"
	      "onednn_verbose,v1,1717.25,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,"
	      "src:f32:a:blocked:abc::f0 wei:f32:a:blocked:abc::f0 "
	      "bia:f32:a:blocked:abc::f0_mask4 dst:f32:a:blocked:abc::f0,"
	      "attr-scratchpad:user attr-post-ops:eltwise_gelu_erf,,1x5x7:1x7x9,0.01\n"
	      "onednn_verbose,v1,primitive,exec,cpu,matmul,ref,undef,"
	      "src:f32::blocked:ab::f0 wei:f32::blocked:ab::f0 bia:f32::blocked:ab::f0_mask3 "
	      "dst:f32::blocked:ab::f0,,,5x7:7x9,0.01\n"
	      "onednn_verbose,v1,graph,exec,cpu,100002,matmul_post_ops,,,in0_f32,,,0.1\n",
	      CONV " bias,add,relu; 5x7:7x9 bias,gelu", 0, "verbose lines of 3.x");
	ok(was_said("matmul (with another bias) 1") && was_said("graph 1"),
	   "a bias for each element, and what oneDNN Graph says, are left out");
}

static void test_benchdnn(void)
{
	lines(NULL,
	      "--conv --dir=FWD_B --stag=axb --attr-post-ops=sum+relu "
	      "mb1_ic8ih14oc8oh14kh3ph1n\"net:conv*3\"\n"
	      "--reset --matmul --bia_dt=f32 --bia_mask=2 --attr-post-ops=clip:0:6 5x7:7x9\n",
	      CONV " bias,add,relu x3; 5x7:7x9 bias,relu6", 0,
	      "options of benchdnn, and a count in a name");
	lines(NULL,
	      "--conv --dir=FWD_I,BWD_D,FWD_B --mb=2,0 mb1_ic8ih14oc8oh14kh3ph1\n"
	      "--cfg=u8s8u8,f32 ic8ih14oc8oh14kh3ph1\n",
	      "mb2_ic8ih14_oc8oh14_kh3ph1 x2; " CONV
	      " x2; mb2_ic8ih14_oc8oh14_kh3ph1 bias x2; " CONV " bias x2",
	      0, "lists of values make all combinations, and hold on");
	ok(was_said("backward problems 6") && was_said("problems that are not f32 4"),
	   "what is left out is told");
	lines(NULL, "--matmul --wtag=any,ab 5x7:7x9\n", "5x7:7x9; 5x7:7x9 computed", 0,
	      "a right side in a given layout is computed");
	lines(NULL, "--ip --dir=FWD_B mb5ic7oc9\n--ip mb0ic7oc9\n", "5x7:7x9 bias", 1,
	      "inner products");
	lines(NULL, "--matmul --bia_dt=f32 --bia_mask=3 5x7:7x9\n--batch=other\n", "", 0,
	      "another bias is left out");
	ok(was_said("products with another bias 1, files named by --batch 1"), "and told");
	lines(NULL, "--pool mb1ic3_ih4oh2kh2\n--matmul 5x8:7x9\n", "", 1,
	      "other drivers, and a product that is none");
}

/* Lists and logs with letters changed: what is taken is a workload, and nothing else happens. */
static void test_hostile_lines(void)
{
	static const char text[] =
		"--conv --reset --dir=FWD_B,FWD_I --stag=axb --mb=1,2 "
		"--attr-post-ops=sum+clip:0:6,relu "
		"mb1g2_ic8ih14oc8oh14kh3ph1n\"a:b*3\"\n"
		"--matmul --reset --wtag=any,ab --bia_dt=f32 --bia_mask=4 2x5x7:2x7x9n\"c*2\"\n"
		"--ip mb5ic7ih2iw2oc9\n"
		"dnnl_verbose,exec,cpu,matmul,gemm,undef,src_f32::blocked:ab:f0 "
		"wei_f32::blocked:ab:f0 bia_f32::blocked:ab:f0_mask2 dst_f32::blocked:ab:f0,"
		"post_ops:'sum;eltwise_relu:0.1;binary_mul:f32:3;',,b2m5n9k7,0.01\n";
	struct rng r;
	int64_t workloads = 0;

	rng_seed(&r, 2, "lines");
	for (int i = 0; i < 1000; i++) {
		struct extract x = {.layout = LAYOUT_NHWC, .format = "log"};
		char s[sizeof text];

		memcpy(s, text, sizeof s);
		for (uint64_t k = rng_below(&r, 6); k--;)
			s[rng_below(&r, sizeof s - 1)] = text[rng_below(&r, sizeof s - 1)];
		extract_bytes(&x, s, sizeof s - 1);
		for (size_t k = 0; k < x.found.by_id.n; k++) {
			struct work *w = x.found.by_id.item[k].value;
			struct err e = ERR_INIT;

			workloads += !workload_finish(&w->w, &e);
		}
		extract_free(&x);
	}
	ok(workloads > 1000, "lines with letters changed make workloads or are refused");
}

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

/* A convolution with relu, a transposed one, which is no workload, and sizes that are known. */
static void a_mixed_model(struct buf *m)
{
	struct buf g = image();

	weights(&g, "v", "8,4,2,2");
	conv(&g, "Conv x w -> a");
	node(&g, "Relu a -> r", "");
	node(&g, "ConvTranspose r v -> t", "strides=2,2");
	node(&g, "Shape t -> u", "");
	node(&g, "Reshape t u -> y", "");
	output(&g, "y");
	model(m, &g, 13);
}

static void test_contents(void)
{
	/* 14x14 pixels of 8 channels from 9 taps of 8, and 14x14 of 8 to 2x2 of 4. */
	static const char want[] = "model,operator,count,multiply_adds,share,becomes,why\n"
				   "net,Conv,1,112896,0.818181818,workload,\n"
				   "net,ConvTranspose,1,25088,0.181818182,none,"
				   "not an operator here\n"
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
		   strstr(drawing.s, "n2 [label=\"ConvTranspose\", fillcolor=orange") &&
		   strstr(drawing.s, "n4 [label=\"Reshape\", fillcolor=white"),
	   "its drawing: colours tell what is covered");
	ok(strstr(drawing.s, "n1 -> n2 [label=\"1x8x14x14\"];") &&
		   strstr(drawing.s, "n2 -> n4 [label=\"1x4x28x28\"];") &&
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
	ok(strstr(drawing.s, "label=\"A\\\"];b\\\\?[31m\"") != NULL,
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
	test_lists();
	test_logs();
	test_versions();
	test_benchdnn();
	test_hostile_lines();
	test_records();
	test_contents();
	test_hostile_names();
	return end();
}
