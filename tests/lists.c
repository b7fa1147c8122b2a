/* Lists and logs in the words of other programs: what their lines become, and hostile lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "tests/extracting.h"

#define CONV "mb1_ic8ih14_oc8oh14_kh3ph1"

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
	lines("csv",
	      "\xef\xbb\xbf# a list; of two\n\nOP;Prob;\r\n# 5x7:7x9\nmatmul;5x7:7x9;\r\n"
	      "conv2d;ic8ih14oc8kh3ph1;",
	      "5x7:7x9; " CONV, 0, "semicolons, comments, and separators at the end");
	lines("csv", "op\tprob\tpost\nmatmul\t5x7:7x9\tbias+relu\n", "5x7:7x9 bias,relu", 0,
	      "tabs");
	lines("csv", "#op,prob\n", "", 1, "a comment alone");
}

static void test_logs(void)
{
	lines(NULL, "mb1_ic8ih14oc8oh14kh3ph1n\"first\"\n5x7:7x9\n", CONV "; 5x7:7x9", 0,
	      "problems, one a line");
	lines(NULL, "--matmul --dt=f32 2x3x4x7:1x3x7x9\n--dt=bf16 8x8:8x8\n",
	      "6x4x7:6x7x9; 8x8:8x8 (bf16)", 0, "options of benchdnn, with types");
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

static void test_old_and_rare(void)
{
	lines(NULL,
	      "mkldnn_verbose,info,Intel MKL-DNN v0.20.0 (commit N/A)\n"
	      "mkldnn_verbose,create,convolution,jit:avx2,forward_inference,fsrc:nhwc,alg,mb1,1\n"
	      "mkldnn_verbose,exec,convolution,jit:avx2,forward_inference,fsrc:nhwc fwei:OIhw8i8o "
	      "fbia:x fdst:nhwc,alg:convolution_direct,"
	      "mb1_g1ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.0361328\n"
	      "mkldnn_verbose,exec,convolution,jit_int8:avx2,forward_inference,fsrc:nhwc fwei:any "
	      "fbia:undef fdst:nhwc,alg:convolution_direct,mb1_ic8oc8_ih14oh14kh3sh1dh0ph1,0.01\n"
	      "mkldnn_verbose,exec,reorder,simple:any,undef,in:f32_nchw out:f32_nhwc,num:1,"
	      "1x8x14x14,0.01\n"
	      "mkldnn_verbose,exec,inner_product,gemm:jit,forward_inference,fsrc:nc fwei:oi "
	      "fbia:undef fdst:nc,,mb5ic7oc9,0.01\n",
	      CONV " bias; 5x7:7x9", 0, "verbose lines of 0.x");
	ok(was_said("convolution (of other types) 1, reorder 1"), "with what is left out");
#define CONVOLUTION(kind, problem)                                                                 \
	"onednn_verbose,exec,cpu," kind ",jit,forward_inference,src_f32::blocked:abc:f0 "          \
	"wei_f32::blocked:abc:f0 bia_undef::undef::f0 dst_f32::blocked:abc:f0,,"                   \
	"alg:convolution_direct," problem ",0.5\n"
	lines(NULL, CONVOLUTION("convolution", "mb1_ic3oc8_iw100ow98kw3sw1dw0pw0"),
	      "mb1_ic3ih1iw100_oc8oh1ow98_kh1kw3", 0, "a convolution of one dimension");
	lines(NULL,
	      CONVOLUTION("convolution", "mb1_ic3oc8_id8od8kd3sd1dd0pd1_ih8oh8kh3sh1dh0ph1_"
					 "iw8ow8kw3sw1dw0pw1")
		      CONVOLUTION("deconvolution",
				  "mb1_ic8oc4_ih7oh14kh2sh2dh0ph0_iw7ow14kw2sw2dw0pw0")
			      CONVOLUTION("rnn", "l1t1mb1sic8slc8dhc8dic8"),
	      "mb1_ic3id8_oc8od8_kd3pd1", 0,
	      "convolutions of three dimensions, transposed ones and recurrent layers");
	ok(was_said(
		   "33.3% of the 0.0015 s that it tells of; not extracted: deconvolution 1, rnn 1"),
	   "are left out by name");
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
	      " x2; mb2_ic8ih14_oc8oh14_kh3ph1 bias x2; " CONV
	      " bias x2; mb2_ic8ih14_oc8oh14_kh3ph1 (u8:s8:u8); " CONV
	      " (u8:s8:u8); mb2_ic8ih14_oc8oh14_kh3ph1 (u8:s8:u8) bias; " CONV " (u8:s8:u8) bias",
	      0, "lists of values make all combinations, and hold on");
	ok(was_said("conv (backward) 6\n"), "what is left out is told");
	lines(NULL, "--matmul --wtag=any,ab 5x7:7x9\n", "5x7:7x9; 5x7:7x9 computed", 0,
	      "a right side in a given layout is computed");
	lines(NULL, "--ip --dir=FWD_B mb5ic7oc9\n--ip mb0ic7oc9\n", "5x7:7x9 bias", 1,
	      "inner products");
	lines(NULL, "--matmul --bia_dt=f32 --bia_mask=3 5x7:7x9\n", "", 0,
	      "another bias is left out");
	ok(was_said("matmul (with another bias) 1"), "and told");
	lines(NULL, "--pool mb1ic3_ih4oh2kh2\n--matmul 5x8:7x9\n", "", 1,
	      "other drivers, and a product that is none");
}

/* What a problem leaves out, and what stands behind it, is as benchdnn has it. */
static void test_benchdnn_problems(void)
{
	lines(NULL,
	      "--matmul\n5x7:7x9_n\"a:b*3\"\n5x7:7x9nname*2\n5x7:7x9_n\"a*3&b*4\"\n--ip\n"
	      "mb5ic7oc9_n\"a\"\n--conv mb1ic8ih14oc8oh14kh3ph1noc%simd!=0_n\n",
	      "5x7:7x9 x13; " CONV, 0, "names with and without quotes, behind any problem");
	lines(NULL, "--ip mb1ic2ih3oc4\nmb1ic2id3oc4\nmb1ic2iw3oc4\n",
	      "1x18:18x4; 1x54:54x4; 1x6:6x4", 0,
	      "an inner product over a square, a cube and a line");
	lines(NULL, "--ip mb1ic2id3ih3oc4\nmb1ic2kh3oc4\nmb1g2ic2oc4\n", "", 3,
	      "and what is no inner product");
	lines(NULL,
	      "mb1ic4ih9iw9oc4kh3kw3sh2\nmb1ic4ih9oc4kh3sh2\nmb1ic4iw9oc4kw3pw1\n"
	      "mb1ic4id9oc4kd3\nmb1ic4ih9iw9oc4oh9ow7kh3kw3pw0\nmb1ic4ih5oc4oh7kh3ic8\n",
	      "mb1_ic4ih9iw9_oc4oh4ow7_kh3kw3sh2sw1; mb1_ic4ih9_oc4oh4_kh3sh2; "
	      "mb1_ic4ih1iw9_oc4oh1ow9_kh1kw3ph0pw1; mb1_ic4id9_oc4od7_kd3; "
	      "mb1_ic4ih9iw9_oc4oh9ow7_kh3kw3ph1pw0; mb1_ic8ih5_oc4oh7_kh3ph2",
	      0, "each axis is on its own, but where only the first one is named");
	lines(NULL,
	      "--conv mb1ic4oc4\nmb1ic4ih9oc4\nmb1ic0ih9oc4kh3\nmb1ic4ih9oc4kh0\nmb1ic4ih9oc4kh3sh0\n"
	      "mb1ic4id9ih9oc4kd3kh3\nmb1ic4ih2oc4kh3\nmb1ic4ih9oc4kh3x1\nmb1ic4ih9oc4khph1\n"
	      "mb1ic4ih9999999999oc4kh3\n5x7:7x9\n",
	      "", 11, "convolutions that are none");
	ok(was_said("the problem has depth, and height, but no width") &&
		   was_said("net:3: the size ic is 0, but must be 1 or more"),
	   "for a reason");
	lines(NULL, "--matmul\n0x7:7x9\n5x7:8x9\n2x5x7:3x7x9\n5x7:7x9:5x9x\n", "5x7:7x9", 3,
	      "products that are none");
	ok(was_said("a matrix of the product 0x7:7x9 has a size of 0"), "for a reason");
	lines(NULL, "--conv mb1ic4ih5oc4oh9kh3ph1\nmb1ic4ih5oc4oh15kh3ph1\n",
	      "mb1_ic4ih5_oc4oh9_kh3ph1", 1, "a padding behind follows from the output");
	ok(was_said("needs a padding of 11 behind the input"), "and what is too large is told");
}

static void test_benchdnn_options(void)
{
	lines(NULL,
	      "  --conv --dir=FWD_I, --attr-post-ops=relu, \\\n\t# and\n\tsum+relu,\\\r\n  tanh, \n"
	      "mb1ic8ih14oc8kh3 mb1ic8ih14oc8kh3ph1\n",
	      "mb1_ic8ih14_oc8oh12_kh3 relu; mb1_ic8ih14_oc8oh12_kh3 add,relu; "
	      "mb1_ic8ih14_oc8oh12_kh3 tanh; " CONV " relu; " CONV " add,relu; " CONV " tanh",
	      0, "lines that go on, and commas at the end");
	lines(NULL,
	      "--conv --dir=fwd_b --mb=3 --bia-dt=undef,f32 mb1ic8ih14oc8kh3ph1\n"
	      "--dir=FWD_D mb1ic8ih14oc8kh3ph1\n--dt=f16 --bia-dt=f16 mb1ic8ih14oc8kh3ph1\n"
	      "--dt= --bia-dt=bf16 mb1ic8ih14oc8kh3ph1\n",
	      "mb3_ic8ih14_oc8oh14_kh3ph1 bias x3; mb3_ic8ih14_oc8oh14_kh3ph1; "
	      "mb3_ic8ih14_oc8oh14_kh3ph1 (f16) bias",
	      0, "the bias of a convolution");
	lines(NULL,
	      "--matmul --bia-dt=undef,f32 --bia_mask=2,3 5x7:7x9\n--bia_mask= 5x7:7x9\n"
	      "--bia-dt=f32 2x5x7:2x7x9\n--bia_mask=4 2x5x7:2x7x9\n--bia_mask=0 5x7:7x9\n",
	      "5x7:7x9 x2; 5x7:7x9 bias x2; 2x5x7:2x7x9 bias", 0, "and of a product");
	ok(was_said("matmul (with another bias) 3"), "which has one value for each column");
	lines(NULL,
	      "--matmul --runtime_dims_masks=2:3 5x7:7x9\n--grouped=0:4:8+8+8+8 32x7:4x7x9\n"
	      "--grouped= --encoding=csr+0.99:: 5x7:7x9\n--encoding= 5x7:7x9\n",
	      "5x7:7x9 x2", 0, "sizes that are known when it runs, groups, and sparse products");
	ok(was_said("not extracted: matmul (of groups) 1, matmul (sparse) 1"), "are told");
	lines(NULL,
	      "--conv --match=.*kh[^1-2]ph1.* mb1ic8ih14oc8kh3ph1n\"a\" mb1ic8ih14oc8kh1\n"
	      "--match='.*\"b+c?d\"' mb1ic8ih14oc8kh3ph1n\"bbd\" mb1ic8ih14oc8kh3ph1n\"ccd\"\n"
	      "--match=(a|b) mb1ic8ih14oc8kh1\n--reset mb1ic8ih14oc8kh3ph1\n",
	      CONV " x3", 0, "--match chooses problems");
	ok(was_said("conv (chosen by a pattern that is not understood) 1"),
	   "by patterns that we know");
	lines(NULL, "mb1ic8ih14oc8kh3ph1\n5x7:7x9\nmb5ic7oc9\n", CONV "; 5x7:7x9 x2", 0,
	      "problems whose driver is not named");
	lines(NULL,
	      "#!/bin/sh\nexport OMP_NUM_THREADS=4\n./benchdnn --matmul \\\n  --dt=bf16 \\\n  5x7:7x9,\n"
	      "sh$ OMP_NUM_THREADS=4 ./benchdnn --mode=P -v1 --matmul --wtag=ab 5x7:7x9\n"
	      "0:PASSED (3 ms) __REPRO: --conv --skip-impl=ref mb1ic8ih14oc8kh3ph1nc\n",
	      "5x7:7x9 (bf16); 5x7:7x9 computed; " CONV, 0,
	      "command lines, in scripts too, and what benchdnn says of them");
	lines(NULL, "\xef\xbb\xbf# a list\r\n\r\n\t# of problems\r\n--matmul\r\n5x7:7x9\r\n",
	      "5x7:7x9", 0, "a byte-order mark, carriage returns and blanks");
	lines("log", "--conv --attr-post-ops=relu+mish+sum,relu+dw:k3s2p1+relu mb1ic8ih14oc16kh1\n",
	      "mb1_ic8ih14_oc16oh14_kh1 relu x2", 0, "post-ops that are not ours");
	ok(was_said("mish (a post-op) 1, sum (a post-op) 1, depthwise convolution (fused behind "
		    "another) 1, relu (a post-op) 1"),
	   "are told by name");
}

/* Where a review found faults. */
static void test_faults(void)
{
	lines("log", "--matmul\n5x7:7x9n\"a\"\n5x7:7x9n\"a\"\n", "5x7:7x9 x2", 0,
	      "two problems of one name are two");
	lines("csv", "op,prob\nmatmul,5x7:7x9\nmatmul,\"8x8:8x8\n", "5x7:7x9", 1,
	      "a quote without an end");
	static const char name[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	char text[300];

	snprintf(text, sizeof text, "5x7:7x9n\"%s*3\"\n", name);
	lines(NULL, text, "5x7:7x9 x3", 0, "the count behind a name of 120 characters");
	lines(NULL, "--ip --mb=5 mb1ic7oc9\n", "5x7:7x9", 0, "--mb of an inner product");
	lines(NULL, "--dir=FWD_B 5x7:7x9\n", "5x7:7x9", 0, "--dir says nothing of a product");
	lines(NULL, "--bia_dt=f32 --bia_mask=2 5x7:7x9\n", "5x7:7x9 bias", 0,
	      "a product needs no driver to have a bias");
	lines(NULL, "--ip m5ic7oc9\n--ip mb5ic7o9\n--ip mb5ix7oc9\n", "", 3,
	      "letters that only begin like a dimension are none");
	lines(NULL, "--matmul 5x7:7x9q\n--matmul m5k7\n--matmul 5x7:7x9:5x9\n", "5x7:7x9", 2,
	      "what stands behind a product is not passed over");
	lines("log", "---\n--5\n-- \n5x7:7x9\n", "5x7:7x9", 0, "lines of hyphens are no options");
	ok(was_said("other lines 3"), "but other lines");
	lines(NULL, PRODUCT "eltwise_hardswish:0.5:0.5" DONE PRODUCT "eltwise_relu:0:0:2" DONE,
	      "5x7:7x9 x2", 0, "post-ops that compute something else than ours");
	lines(NULL,
	      PRODUCT "eltwise_hardswish:0.166667:0.5" DONE PRODUCT
		      "eltwise_relu:0:0:1+sum:1:0:f32" DONE PRODUCT "sum:1:3" DONE,
	      "5x7:7x9 hardswish; 5x7:7x9 relu,add; 5x7:7x9", 0, "and those that do not");
	lines(NULL, "", "", 1, "nothing");
	ok(was_said(": it is empty"), "is told");
	lines(NULL, "5x7:7x9\n", "5x7:7x9", 0, "one line");
	ok(was_said("net: 1 instance extracted\n"), "is told in the singular");
}

#define EVENT(name, from, dur, args)                                                               \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::" name                                  \
	"\",\"pid\":1,\"tid\":1,\"ts\":" from ",\"dur\":" dur ",\"args\":{" args "}}"
#define MATRICES "\"Input Dims\":[[5,7],[7,9]],\"Input type\":[\"float\",\"float\"]"
#define IMAGES "\"Input Dims\":[[1,8,14,14],[8,8,3,3],[8],[],[],[],[]],"
#define FLOATS "\"Input type\":[\"float\",\"float\",\"float\",\"\",\"\",\"\",\"\"],"
#define WINDOW "\"Concrete Inputs\":[\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"1\"]"
#define TRACE(events) "{\"traceEvents\":[" events "]}"

static void test_trace(void)
{
	lines(NULL, TRACE(EVENT("conv2d", "10", "9", IMAGES FLOATS WINDOW)), CONV " bias", 0,
	      "a convolution in a trace");
	lines(NULL,
	      TRACE(EVENT("mm", "12.5", "3", MATRICES) "," EVENT(
		      "matmul", "12", "4",
		      MATRICES) "," EVENT("mm", "20", "1", MATRICES) "," EVENT("relu", "30", "1",
									       "")),
	      "5x7:7x9 x2", 0, "what an operator is made of does not count, in any order");
	ok(was_said("2 instances extracted, 83.3% of the 6e-06 s that it tells of; not extracted: "
		    "aten::relu 1"),
	   "others are told by their time");
	lines(NULL,
	      TRACE(EVENT("conv2d", "10", "9", IMAGES FLOATS "\"x\":1") "," EVENT(
		      "mkldnn_convolution", "11", "7",
		      IMAGES FLOATS "\"Concrete Inputs\":[\"\",\"\",\"\",\"[1, 1]\",\"[1, 1]\","
				    "\"[1, 1]\",\"1\"]")),
	      CONV " bias", 0, "where the outer one lacks something, the inner one counts");
	lines(NULL, TRACE(EVENT("conv2d", "10", "9", "") "," EVENT("convolution", "11", "7", "")),
	      "", 0, "without shapes there is nothing");
	ok(was_said("aten::conv2d (without shapes) 1\n"), "which is said once");
	lines(NULL,
	      TRACE(EVENT(
		      "scaled_dot_product_attention", "1", "9",
		      "\"Input Dims\":[[2,3,5,8],[2,3,6,8],[2,3,6,4]],\"Input type\":[\"float\","
		      "\"float\",\"float\"]")),
	      "6x5x8:6x8x6 computed; 6x5x6:6x6x4 computed", 0, "attention is two products");
	lines(NULL,
	      TRACE(EVENT("scaled_dot_product_attention", "1", "9", "\"Input Dims\":[[2,3,5,8],[2,3,6,8],[2,3,6,4]],\"Input type\":[\"float\",\"float\",\"float\"]") "," EVENT(
		      "scaled_dot_product_attention", "20", "9",
		      "\"Input Dims\":[[2,3,5,8],[2,3,6,8],[2,3,6,4]],\"Input type\":[\"float\",\"float\",\"float\"]")),
	      "6x5x8:6x8x6 computed x2; 6x5x6:6x6x4 computed x2", 0,
	      "twice attention is each of its products twice");
	lines("trace", "[" EVENT("mm", "1", "2", MATRICES) "]", "5x7:7x9", 0, "a list of events");
	lines("trace", "[" EVENT("mm", "1", "2", MATRICES), "5x7:7x9", 1, "one that is cut off");
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

/* Bytes at the end of memory, so that a sanitizer sees what is read behind them. */
static void extract_exactly(struct extract *x, const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);

	memcpy(copy, s, n);
	extract_bytes(x, copy, n);
	free(copy);
}

/* Cut off anywhere, with bits flipped, with NUL bytes and carriage returns: what is taken is a
 * workload, nothing else happens, and nothing is silent. */
static int64_t attack_lines(const char *format, const char *s, size_t n)
{
	const char *more = getenv("TEST_LISTS_ATTACKS");
	int attacks = more ? atoi(more) : 300;
	int64_t workloads = 0, silent = 0;
	char *changed = xmalloc(n);
	struct rng r;

	rng_seed(&r, 3, "lists");
	for (int i = 0; i < attacks; i++) {
		struct extract x = {.layout = LAYOUT_NHWC, .format = format};
		size_t length = i % 2 ? n : rng_below(&r, n);

		memcpy(changed, s, n);
		for (uint64_t k = i % 2 ? 1 + rng_below(&r, 6) : 0; k--;) {
			char *at = &changed[rng_below(&r, n)];

			*at = rng_below(&r, 4) ? (char)(*at ^ 1 << rng_below(&r, 8))
					       : "\0\r\n\"[{,:"[rng_below(&r, 8)];
		}
		extract_exactly(&x, changed, length);
		silent += length && !x.failed && !said.n;
		for (size_t k = 0; k < x.found.by_id.n; k++) {
			struct work *w = x.found.by_id.item[k].value;
			struct err e = ERR_INIT;

			workloads += !workload_finish(&w->w, &e);
		}
		extract_free(&x);
	}
	free(changed);
	return silent ? -1 : workloads;
}

static void read_file(const char *name, struct buf *out)
{
	char block[4096];
	int fd = open(name, O_RDONLY);
	ssize_t n;

	while (fd >= 0 && (n = read(fd, block, sizeof block)) > 0)
		buf_add(out, block, (size_t)n);
	if (fd < 0 || close(fd))
		bail_out("%s cannot be read", name);
}

static void test_hostile_files(void)
{
	static const struct {
		const char *name, *format;
	} files[] = {{"pytorch.log", "log"},	     {"tensorflow.log", "log"},
		     {"cudnn.log", "log"},	     {"cublas.log", "log"},
		     {"cublaslt.log", "log"},	     {"miopen.log", "log"},
		     {"rocblas.log", "log"},	     {"rocblas.yaml", "log"},
		     {"autotvm.json", "log"},	     {"ansor.json", "log"},
		     {"lorien.yaml", "log"},	     {"metaschedule.json", "log"},
		     {"pytorch.trace.json", "trace"}};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct buf b = BUF_INIT;
		char name[64];
		int64_t workloads;

		snprintf(name, sizeof name, "tests/logs/%s", files[i].name);
		read_file(name, &b);
		workloads = attack_lines(files[i].format, b.s, b.n);
		ok(workloads >= (strstr(name, "ansor") || strstr(name, "metaschedule") ? 0 : 50),
		   "%s, cut off and with bits flipped", files[i].name);
		buf_free(&b);
	}
}

int main(void)
{
	begin();
	test_lists();
	test_logs();
	test_versions();
	test_old_and_rare();
	test_benchdnn();
	test_benchdnn_problems();
	test_benchdnn_options();
	test_faults();
	test_trace();
	test_hostile_lines();
	test_hostile_files();
	return end();
}
