/* ONNX models as onnxruntime's optimizer and quantization write them, and Attention: what they
 * multiply. */
#include "tests/onnx.h"

#define MS "com.microsoft:"

/* Of x (2 texts of 6 words of 16 numbers), w (16x48), v (16x16), y (2 texts of 4 words). */
static void attention(const char *text, const char *attrs, const char *want)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "2,6,16");
	input(&g, "y", "2,4,16");
	input(&g, "z", "2,4,8");
	input(&g, "q", "2,4,6,8");
	input(&g, "k", "2,2,5,8");
	input(&g, "packed", "2,6,32");
	input(&g, "five", "2,6,4,3,4");
	input(&g, "past", "2,2,4,3,4");
	weights(&g, "w", "16,48");
	quantized(&g, "wq", "16,48", VALUE_I8);
	info(&g, 11, "xq", "2,6,16", VALUE_U8);
	weights(&g, "v", "16,16");
	weights(&g, "b", "48");
	node(&g, text, attrs);
	node(&g, "MatMul out v -> last", "");
	output(&g, "last");
	output(&g, "present");
	expect(&g, 23, want, text);
}

static void test_attention(void)
{
	attention("Attention x y y -> out present", "q_num_heads=4 kv_num_heads=4",
		  "8x6x4:8x4x4 computed x2; 12x16:16x16");
	attention("Attention x z z -> out present", "q_num_heads=4 kv_num_heads=2",
		  "8x6x4:8x4x4 computed x2; 12x16:16x16");
	attention(MS "Attention x w b _ past -> out present", "num_heads=4",
		  "12x16:16x48 bias; 8x6x4:8x4x9 computed; 8x6x9:8x9x4 computed; 12x16:16x16");
	attention(MS "MultiHeadAttention x y y -> out present", "num_heads=2",
		  "4x6x8:4x8x4 computed; 4x6x4:4x4x8 computed; 12x16:16x16");
	attention(MS "MultiHeadAttention five -> out present", "num_heads=4",
		  "8x6x4:8x4x6 computed; 8x6x6:8x6x4 computed; 12x16:16x16");
	attention(MS "GroupQueryAttention x z z -> out present", "num_heads=4 kv_num_heads=2",
		  "8x6x4:8x4x4 computed x2; 12x16:16x16");
	attention(MS "GroupQueryAttention packed -> out present", "num_heads=4 kv_num_heads=2",
		  "8x6x4:8x4x6 computed; 8x6x6:8x6x4 computed; 12x16:16x16");
	attention(
		MS "QAttention xq wq b -> out present", "num_heads=4",
		"12x16:16x48 (u8:s8:f32) bias; 8x6x4:8x4x6 computed; 8x6x6:8x6x4 computed; 12x16:16x16");
}

static void one(const char *text, const char *attrs, const char *want, const char *told)
{
	struct buf g = image();

	input(&g, "m", "3,8");
	input(&g, "rows", "5,6,8");
	input(&g, "k", "7,6,8");
	input(&g, "n", "8,14,14");
	input(&g, "last", "1,14,14,8");
	info(&g, 11, "words", "2,6", VALUE_I32);
	weights(&g, "e", "30,8");
	weights(&g, "u", "8,5");
	weights(&g, "ut", "5,8");
	weights(&g, "d", "5");
	weights(&g, "s", "");
	info(&g, 11, "q", "3,8", VALUE_U8);
	info(&g, 11, "lastq", "1,14,14,8", VALUE_U8);
	quantized(&g, "zero", "", VALUE_U8);
	quantized(&g, "uq", "5,8", VALUE_I8);
	quantized(&g, "vq", "8,5", VALUE_I8);
	quantized(&g, "wq", "8,8,3,3", VALUE_I8);
	input(&g, "steps", "7,3,8");
	quantized(&g, "inq", "2,8,20", VALUE_I8);
	quantized(&g, "stateq", "2,5,20", VALUE_I8);
	node(&g, text, attrs);
	node(&g, "Identity y -> z", "");
	output(&g, "z");
	expect(&g, 13, want, text);
	ok(!told || was_said(told), "and what is told");
}

static void test_fused(void)
{
	one(MS "FusedConv x w c -> y", "pads=1,1,1,1 activation=Relu", CONV " bias,relu", NULL);
	one(MS "FusedConv x w c x -> y", "pads=1,1,1,1 activation=Relu", CONV " bias,add,relu",
	    NULL);
	one(MS "FusedConv x w c x -> y", "pads=1,1,1,1", CONV " bias,add", NULL);
	one(MS "NhwcFusedConv last w c -> y", "pads=1,1,1,1 activation=Sigmoid",
	    CONV " bias,sigmoid", NULL);
	one(MS "FusedGemm m ut d -> y", "transB=1 activation=Tanh", "3x8:8x5 bias,tanh", NULL);
	one(MS "FusedMatMul m ut -> y", "transB=1 alpha=0.5", "3x8:8x5", NULL);
	one(MS "FusedMatMul rows k -> y", "transBatchA=1 transBatchB=1 transB=1",
	    "6x5x8:6x8x7 computed", NULL);
	one("com.microsoft.nchwc:Conv x w c -> y", "pads=1,1,1,1 activation=Relu",
	    CONV " bias,relu", NULL);
	one(MS "MatMulNBits m s s -> y", "K=8 N=5 bits=4", "3x8:8x5 (f32:u4:f32)", NULL);
	one(MS "MatMulNBits m s s -> y", "K=8 N=5 bits=8", "3x8:8x5 (f32:u8:f32)", NULL);
	one(MS "MatMulNBits m s s -> y", "K=8 N=5 bits=4 block_size=4",
	    "3x8:8x5 (f32:u4:f32) groups(4)", NULL);
	one(MS "MatMulNBits m s s zero _ d -> y", "K=8 N=5 bits=8 block_size=16",
	    "3x8:8x5 (f32:u8:f32) bias,groups(8),zeros", NULL);
	one(MS "MatMulNBits m s s s -> y", "K=8 N=5 bits=4 block_size=4", "3x8:8x5 (f32:u4:f32)",
	    NULL); /* zero points of reals */
	one(MS "MatMulNBits m s s -> y", "K=8 N=5 bits=4 block_size=3", "3x8:8x5 (f32:u4:f32)",
	    NULL); /* the last group is shorter */
	one(MS "QGemm q s zero uq s zero d s zero -> y", "transB=1",
	    "3x8:8x5 (u8:s8:u8) bias,scale,shift", NULL);
	one(MS "DynamicQuantizeMatMul m vq s zero d -> y", "", "3x8:8x5 (u8:s8:f32) bias", NULL);
	one(MS "DynamicQuantizeLSTM steps inq stateq _ _ _ _ _ s zero s zero -> y",
	    "hidden_size=5 direction=bidirectional",
	    "21x8:8x20 (u8:s8:f32) x2; 3x5:5x20 (u8:s8:f32) x14", NULL);
	one(MS "DynamicQuantizeLSTM steps inq stateq _ _ _ _ _ s zero s zero -> _ y",
	    "hidden_size=5 direction=bidirectional",
	    "21x8:8x20 (u8:s8:f32) x2; 3x5:5x20 (u8:s8:f32) x14", NULL);
	one(MS "QLinearConv lastq s zero wq s zero s zero -> y", "channels_last=1",
	    "mb1_ic8ih14_oc8oh12_kh3 (u8:s8:u8) bias,scale,shift", NULL);
}

static struct buf norms(void)
{
	struct buf g = BUF_INIT;

	info(&g, 11, "words", "2,6", VALUE_I32);
	weights(&g, "table", "30,8");
	weights(&g, "c", "8");
	weights(&g, "w", "8,9");
	weights(&g, "d", "9");
	node(&g, MS "EmbedLayerNormalization words _ table table _ c c -> a mask", "");
	node(&g, MS "SkipLayerNormalization a a c c c -> b _ _ sum", "");
	node(&g, MS "SkipSimplifiedLayerNormalization b sum c -> f", "");
	node(&g, "MatMul f w -> h", "");
	node(&g, MS "BiasGelu h d -> i", "");
	node(&g, MS "FastGelu i -> y", "");
	output(&g, "y");
	return g;
}

static void test_norms(void)
{
	struct buf g = norms();

	expect(&g, 13, "12x8:8x9 bias,gelu,gelu_tanh", "normalizations with what they add");
	g = norms();
	want_all = 1;
	expect(&g, 13,
	       "layer_norm 12x8 bias; eltwise 12x8 bias,add; layer_norm 12x8 bias,add; "
	       "rms_norm 12x8; 12x8:8x9 bias,gelu,gelu_tanh",
	       "each normalization is of its kind");
	want_all = 0;
}

/* Blocks of 16 channels for 12, and back. */
static void test_blocks(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "1,14,14,12");
	weights(&g, "w", "16,16,3,3");
	weights(&g, "v", "12,5");
	node(&g, "com.microsoft.nchwc:ReorderInput x -> a", "channels_last=1");
	node(&g, "com.microsoft.nchwc:Conv a w -> b", "pads=1,1,1,1");
	node(&g, "com.microsoft.nchwc:GlobalAveragePool b -> c", "");
	node(&g, "com.microsoft.nchwc:ReorderOutput c -> d", "channels=12");
	node(&g, "Flatten d -> e", "");
	node(&g, "Gemm e v -> y", "");
	output(&g, "y");
	expect(&g, 13, "mb1_ic16ih14_oc16oh14_kh3ph1; 1x12:12x5", "blocks of channels");
}

static void test_hostile(void)
{
	struct buf g = image();

	input(&g, "q", "2,6,16");
	input(&g, "k", "2,4,8");
	weights(&g, "p", "16,48");
	node(&g, MS "FusedConv x w c x -> a", "pads=1,1,1,1 activation=Relu");
	node(&g, MS "GroupQueryAttention q k k -> h past more", "num_heads=4 kv_num_heads=2");
	node(&g, MS "Attention h p c _ _ -> i present", "num_heads=4");
	node(&g, "Einsum i h -> e", "equation=bqd,bkd->bqk");
	node(&g, MS "MatMulNBits e c c -> f", "K=6 N=5 bits=4");
	output(&g, "a");
	output(&g, "f");
	attack_model(&g, 13, "operators that stand for several");
}

int main(void)
{
	begin();
	test_attention();
	test_fused();
	test_norms();
	test_blocks();
	test_hostile();
	return end();
}
