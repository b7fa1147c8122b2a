/* GGUF: versions, keys of layers, parts of a model, and files that are false. */
#include "lib/base/rng.h"
#include "lib/extract/gguf/gguf.h"
#include "tests/extracting.h"

enum { U32 = 4, BOOL = 7, STRING = 8, LIST = 9, U64 = 10 };

struct writer {
	struct buf keys, tensors;
	uint32_t version;
	uint64_t nkey, ntensor;
};

static void put(struct buf *b, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_ch(b, (char)(v >> 8 * i));
}

/* A count, or a length. */
static void put_count(const struct writer *w, struct buf *b, uint64_t v)
{
	put(b, v, w->version == 1 ? 4 : 8);
}

static void put_text(const struct writer *w, struct buf *b, const char *s)
{
	put_count(w, b, strlen(s));
	buf_str(b, s);
}

static void put_key(struct writer *w, const char *key, uint32_t type)
{
	put_text(w, &w->keys, key);
	put(&w->keys, type, 4);
	w->nkey++;
}

static void put_number(struct writer *w, const char *key, uint64_t v)
{
	put_key(w, key, U32);
	put(&w->keys, v, 4);
}

static void put_word(struct writer *w, const char *key, const char *v)
{
	put_key(w, key, STRING);
	put_text(w, &w->keys, v);
}

/* Innermost dimension first; 0 ends. */
static void put_tensor(struct writer *w, const char *name, const uint64_t *dim)
{
	int rank = 0;

	while (rank < 4 && dim[rank])
		rank++;
	put_text(w, &w->tensors, name);
	put(&w->tensors, (uint64_t)rank, 4);
	for (int i = 0; i < rank; i++)
		put_count(w, &w->tensors, dim[i]);
	put(&w->tensors, 0, 4);
	put(&w->tensors, 0, 8);
	w->ntensor++;
}

#define TENSOR(w, name, ...) put_tensor(w, name, (const uint64_t[5]){__VA_ARGS__})

static void finish(struct writer *w, struct buf *b)
{
	buf_str(b, "GGUF");
	put(b, w->version, 4);
	put_count(w, b, w->ntensor);
	put_count(w, b, w->nkey);
	buf_add(b, w->keys.s, w->keys.n);
	buf_add(b, w->tensors.s, w->tensors.n);
	buf_free(&w->keys);
	buf_free(&w->tensors);
}

/* Two blocks, of 4 and 2 heads. */
static void a_model(struct buf *b, uint32_t version)
{
	struct writer w = {.version = version};

	buf_str(&w.keys, "");
	put_word(&w, "general.architecture", "small");
	put_key(&w, "small.attention.head_count", LIST);
	put(&w.keys, U32, 4);
	put_count(&w, &w.keys, 2);
	put(&w.keys, 4, 4);
	put(&w.keys, 2, 4);
	put_key(&w, "tokenizer.ggml.tokens", LIST);
	put(&w.keys, STRING, 4);
	put_count(&w, &w.keys, 3);
	for (int i = 0; i < 3; i++)
		put_text(&w, &w.keys, "word");
	put_key(&w, "small.odd", BOOL);
	put(&w.keys, 1, 1);
	TENSOR(&w, "token_embd.weight", 32, 100);
	TENSOR(&w, "blk.0.attn_qkv.weight", 32, 96);
	TENSOR(&w, "blk.0.attn_qkv.bias", 96);
	TENSOR(&w, "blk.0.attn_output.weight", 32, 32);
	TENSOR(&w, "blk.1.attn_q.weight", 32, 32);
	TENSOR(&w, "blk.1.attn_norm.weight", 32);
	TENSOR(&w, "output.weight", 32, 100);
	finish(&w, b);
}

/* Lists of keys have a bound for each, and one for all. */
static void test_lists(void)
{
	enum { MANY = 300, LENGTH = 4096, U8 = 0 };
	struct writer w = {.version = 3};
	struct drip d;
	struct pull in = {.next = drip_next, .ctx = &d};
	struct buf b = BUF_INIT;
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct gguf f;
	int64_t kept = 0;
	char key[16];

	for (int i = 0; i < MANY; i++) {
		snprintf(key, sizeof key, "list%d", i);
		put_key(&w, key, LIST);
		put(&w.keys, U8, 4);
		put_count(&w, &w.keys, LENGTH);
		for (int k = 0; k < LENGTH; k++)
			put(&w.keys, 1, 1);
	}
	put_number(&w, "last", 7);
	TENSOR(&w, "output.weight", 32, 100);
	finish(&w, &b);
	d = (struct drip){(unsigned char *)b.s, b.n, 1 << 16, 0};
	ok(!gguf_read(&f, &in, &a, &e), "a model with many lists");
	for (size_t i = 0; i < f.key.n; i++) {
		const struct gguf_value *v = f.key.item[i].value;

		kept += v->n > 1 ? v->n : 0;
	}
	ok(kept == KEEP_CONSTANTS, "of which %lld numbers are kept", (long long)kept);
	ok(gguf_number(&f, "last", -1, 0) == 7, "a number alone is kept in any case");
	gguf_free(&f);
	arena_free(&a);
	buf_free(&b);
}

#define MODEL                                                                                      \
	"7x32:32x96 bias; 7x32:32x32 x2; 1x32:32x100; 4x7x8:4x8x7 computed; "                      \
	"4x7x7:4x7x8 computed; 2x7x16:2x16x7 computed; 2x7x7:2x7x16 computed"

static void check(const struct buf *b, const char *want, const char *what)
{
	static struct dim_size seven[] = {{.name = (char *)"seq", .size = 7}};
	struct extract x = {.layout = LAYOUT_NHWC, .infer = {.dim = seven, .ndim = 1}};
	struct buf got = BUF_INIT;

	extract_bytes(&x, b->s, b->n);
	describe(&x, &got);
	ok(!x.failed && !strcmp(got.s, want), "%s", what);
	if (strcmp(got.s, want) != 0)
		diag("%s, said %s", got.s, said.s ? said.s : "");
	extract_free(&x);
	buf_free(&got);
}

static void refuse(const struct buf *b, const char *sentence, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	extract_bytes(&x, b->s, b->n);
	ok(x.failed == 1 && was_said(sentence), "%s", what);
	extract_free(&x);
}

static void test_versions(void)
{
	struct buf b = BUF_INIT;

	for (uint32_t version = 1; version <= 3; version++) {
		char what[40];

		buf_clear(&b);
		a_model(&b, version);
		snprintf(what, sizeof what, "a model of version %u", version);
		check(&b, MODEL, what);
	}
	ok(was_said("its matrices are F32 5; they count as f32") &&
		   was_said("sequences of 7 words, 0 before them"),
	   "what is assumed is said");
	b.s[4] = 9;
	refuse(&b, "a GGUF model of version 9; 1 to 3 are read", "a version that is not known");
	b.s[4] = 0;
	b.s[7] = 3;
	refuse(&b, "order of bytes of other machines", "and the other order of bytes");
	buf_free(&b);
}

/* Qwen2-VL has a filter for each of two images. */
static void test_images(void)
{
	struct writer w = {.version = 3};
	struct buf b = BUF_INIT;

	put_word(&w, "general.architecture", "clip");
	put_number(&w, "clip.vision.image_size", 28);
	put_number(&w, "clip.vision.patch_size", 14);
	TENSOR(&w, "v.patch_embd.weight", 14, 14, 3, 8);
	TENSOR(&w, "v.patch_embd.weight.1", 14, 14, 3, 8);
	finish(&w, &b);
	check(&b, "mb1_ic3ih28_oc8oh2_kh14sh14 x2", "both filters of parts of images");
	buf_free(&b);
}

static void test_parts(void)
{
	struct writer w = {.version = 3};
	struct buf b = BUF_INIT;

	buf_str(&w.keys, "");
	put_number(&w, "split.no", 1);
	put_number(&w, "split.count", 3);
	TENSOR(&w, "blk.5.attn_q.weight", 32, 64);
	TENSOR(&w, "blk.5.ffn_up_exps.weight", 32, 64, 8);
	TENSOR(&w, "blk.5.nextn.eh_proj.weight", 64, 32);
	TENSOR(&w, "v.conv_stem.conv.weight", 3, 3, 3, 8);
	finish(&w, &b);
	check(&b, "7x32:32x64", "a part of a model has its own tensors");
	ok(was_said("it is part 2 of 3; the first part tells the heads") &&
		   was_said("MatMul (unknown shape"),
	   "and it is said that heads and experts are not known");
	buf_free(&b);
}

static void test_false(void)
{
	struct writer w = {.version = 3};
	struct buf b = BUF_INIT;

	buf_str(&w.keys, "");
	TENSOR(&w, "a.weight", 1 << 30, 1 << 30);
	finish(&w, &b);
	refuse(&b, "the tensor 'a.weight' is of absurd size", "an absurd size");
	buf_clear(&b);
	w = (struct writer){.version = 3};
	buf_str(&w.keys, "");
	TENSOR(&w, "a.weight", 4, 4);
	TENSOR(&w, "a.weight", 4, 4);
	finish(&w, &b);
	refuse(&b, "two tensors have the name 'a.weight'", "two of one name");
	buf_clear(&b);
	w = (struct writer){.version = 3, .ntensor = 1 << 20};
	buf_str(&w.keys, "");
	buf_str(&w.tensors, "");
	finish(&w, &b);
	refuse(&b, "1048576 tensors", "more tensors than any model has");
	buf_clear(&b);
	w = (struct writer){.version = 3};
	put_key(&w, "deep", LIST);
	for (int i = 0; i < 9; i++) {
		put(&w.keys, LIST, 4);
		put(&w.keys, 1, 8);
	}
	buf_str(&w.tensors, "");
	finish(&w, &b);
	refuse(&b, "a value of type 9", "lists in lists in lists");
	buf_clear(&b);
	w = (struct writer){.version = 3};
	put_key(&w, "long", LIST);
	put(&w.keys, U64, 4);
	put(&w.keys, UINT64_MAX, 8);
	buf_str(&w.tensors, "");
	finish(&w, &b);
	refuse(&b, "a list of 18446744073709551615", "a list without end");
	buf_free(&b);
}

static void test_hostile(void)
{
	struct buf b = BUF_INIT;
	size_t silent = 0, refused;

	a_model(&b, 3);
	refused = attack(&format_gguf, &b, b.n, 20000, &silent);
	ok(refused == b.n && !silent, "cut off anywhere it is refused (%zu of %zu), never silently",
	   refused, b.n);
	buf_free(&b);
}

/* Elements are not looked at. */
static void test_stream(void)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf b = BUF_INIT;
	size_t n;

	a_model(&b, 3);
	n = b.n;
	for (int i = 0; i < 1 << 20; i++)
		buf_ch(&b, 0);
	for (size_t step = 1; step < 100000; step *= 7) {
		struct drip d = {(unsigned char *)b.s, b.n, step, 0};
		struct member m = {.name = "m", .around = "", .label = "m", .alone = 1};
		struct err e = ERR_INIT;

		m.bytes = (struct pull){.next = drip_next, .ctx = &d};
		listen(&x);
		if (format_gguf.read(&x, &m, &e) || d.n < b.n - n - step)
			diag("%zu: %s, %zu left", step, e.msg, d.n);
	}
	/* Each time the same sources. */
	ok(x.found.by_id.n == 7 && ((struct work *)x.found.by_id.item[1].value)->source.n == 2,
	   "a model can come in blocks of any size, and elements stay where they are");
	extract_free(&x);
	buf_free(&b);
}

int main(void)
{
	begin();
	test_versions();
	test_images();
	test_parts();
	test_lists();
	test_false();
	test_hostile();
	test_stream();
	return end();
}
