/* Indexes of checkpoints: shapes by keys, and tables that are false. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/extract/tensorflow/bundle.h"
#include "tests/extracting.h"

static void varint(struct buf *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		buf_ch(b, (char)((v & 127) | 128));
	buf_ch(b, (char)v);
}

static void word(struct buf *b, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_ch(b, (char)(v >> 8 * i));
}

/* An entry whose key begins with so many bytes of the one before. */
static void put_entry(struct buf *b, size_t shared, const char *rest, const struct buf *value)
{
	varint(b, shared);
	varint(b, strlen(rest));
	varint(b, value->n);
	buf_str(b, rest);
	buf_add(b, value->s, value->n);
}

/* An entry of a variable. A size of 0 ends the shape. */
static void put_variable(struct buf *b, size_t shared, const char *rest, const int64_t *dim)
{
	struct buf value = BUF_INIT, shape = BUF_INIT, size = BUF_INIT;

	for (; *dim; dim++) {
		buf_clear(&size);
		buf_str(&size, "\x08");
		varint(&size, (uint64_t)*dim);
		buf_str(&shape, "\x12");
		varint(&shape, size.n);
		buf_add(&shape, size.s, size.n);
	}
	buf_str(&value, "\x08\x01\x12");
	varint(&value, shape.n);
	buf_add(&value, shape.n ? shape.s : "", shape.n);
	put_entry(b, shared, rest, &value);
	buf_free(&value);
	buf_free(&shape);
	buf_free(&size);
}

#define VARIABLE(b, shared, rest, ...)                                                             \
	put_variable(b, shared, rest, (const int64_t[]){__VA_ARGS__, 0})

/* Appends a block with one restart, empties it, and makes its handle. */
static void end_block(struct buf *file, struct buf *block, struct buf *handle, char compression)
{
	word(block, 0, 4);
	word(block, 1, 4);
	buf_clear(handle);
	varint(handle, file->n);
	varint(handle, block->n);
	buf_add(file, block->s, block->n);
	buf_ch(file, compression);
	word(file, 0, 4); /* of the checksum, which is not looked at */
	buf_clear(block);
}

static void end_file(struct buf *file, const struct buf *index)
{
	size_t end;

	varint(file, 0);
	varint(file, 0);
	end = file->n - 2 + 40;
	buf_add(file, index->s, index->n);
	while (file->n < end)
		buf_ch(file, 0);
	word(file, 0xdb4775248b80fb57, 8);
}

/* Two blocks of two variables each. */
static void write_table(struct buf *file, char compression)
{
	struct buf block = BUF_INIT, index = BUF_INIT, handle = BUF_INIT;

	buf_clear(file);
	put_entry(&block, 0, "", &(struct buf){.s = (char *)"\x08\x01", .n = 2});
	VARIABLE(&block, 0, "layer/bias", 64);
	VARIABLE(&block, 6, "kernel", 3, 3, 8, 64);
	end_block(file, &block, &handle, compression);
	put_entry(&index, 0, "layer/l", &handle);
	VARIABLE(&block, 0, "layer/scalar", 0);
	VARIABLE(&block, 6, "table", 30000, 512);
	end_block(file, &block, &handle, compression);
	put_entry(&index, 0, "m", &handle);
	end_block(file, &index, &handle, 0);
	end_file(file, &handle);
	buf_free(&block);
	buf_free(&index);
	buf_free(&handle);
}

/* What is read from these bytes; the shapes as text. */
static int read_table(const char *s, size_t n, struct buf *shapes, struct err *e)
{
	struct map m = MAP_INIT;
	struct arena a = ARENA_INIT;
	int rc;

	write_file(path, s, n);
	rc = bundle_read(&m, path, &a, e);
	buf_clear(shapes);
	buf_str(shapes, "");
	for (size_t i = 0; rc > 0 && i < m.n; i++) {
		buf_fmt(shapes, "%s%s ", i ? "; " : "", m.item[i].key);
		shape_print(m.item[i].value, shapes);
	}
	map_free(&m);
	arena_free(&a);
	return rc;
}

static void refuse(const struct buf *b, const char *sentence, const char *what)
{
	struct buf shapes = BUF_INIT;
	struct err e = ERR_INIT;

	if (!ok(read_table(b->s, b->n, &shapes, &e) < 0 && strstr(e.msg, sentence), "%s", what))
		diag("said %s", e.msg);
	buf_free(&shapes);
}

static void test_table(void)
{
	struct buf b = BUF_INIT, shapes = BUF_INIT;
	struct map none = MAP_INIT;
	struct err e = ERR_INIT;

	write_table(&b, 0);
	ok(read_table(b.s, b.n, &shapes, &e) == 1 &&
		   !strcmp(shapes.s, "layer/bias 64; layer/kernel 3x3x8x64; layer/scalar a scalar; "
				     "layer/table 30000x512"),
	   "a table of two blocks");
	unlink(path);
	ok(bundle_read(&none, path, NULL, &e) == 0, "a file that is not there");
	write_table(&b, 1);
	refuse(&b, "its blocks are compressed", "a table that is compressed");
	write_table(&b, 0);
	b.s[b.n - 1] ^= 1;
	refuse(&b, "its end is not that of one", "a file that ends otherwise");
	buf_free(&b);
	buf_free(&shapes);
}

/* Entries whose keys are long by what they share: more of them than there is memory for. */
static void test_multiplied(void)
{
	struct buf b = BUF_INIT, block = BUF_INIT, handle = BUF_INIT, index = BUF_INIT,
		   key = BUF_INIT;

	for (int i = 0; i < 1 << 16; i++)
		buf_ch(&key, 'k');
	VARIABLE(&block, 0, key.s, 1);
	for (int i = 0; i < 2000; i++)
		VARIABLE(&block, (size_t)1 << 16, "", 1);
	end_block(&b, &block, &handle, 0);
	put_entry(&index, 0, "z", &handle);
	end_block(&b, &index, &handle, 0);
	end_file(&b, &handle);
	refuse(&b, "more than 64 MB of keys", "keys that are long by what they share");
	buf_free(&b);
	buf_free(&block);
	buf_free(&handle);
	buf_free(&index);
	buf_free(&key);
}

/* It is read or refused with a sentence, whatever happens to its bytes. */
static void test_hostile(void)
{
	struct buf b = BUF_INIT, shapes = BUF_INIT;
	size_t accepted = 0, silent = 0;
	struct rng r;

	write_table(&b, 0);
	for (size_t n = 0; n < b.n; n++) {
		struct err e = ERR_INIT;

		accepted += read_table(b.s, n, &shapes, &e) >= 0;
	}
	ok(!accepted, "cut off anywhere it is refused");
	rng_seed(&r, 1, "flip");
	for (int i = 0; i < 5000; i++) {
		struct err e = ERR_INIT;

		write_table(&b, 0);
		for (uint64_t k = rng_below(&r, 4) + 1; k--;)
			b.s[rng_below(&r, b.n)] ^= (char)(1 << rng_below(&r, 8));
		silent += read_table(b.s, b.n, &shapes, &e) < 0 && !e.msg[0];
	}
	ok(!silent, "with bits flipped it is read, or refused with a sentence");
	buf_free(&b);
	buf_free(&shapes);
}

int main(void)
{
	begin();
	test_table();
	test_multiplied();
	test_hostile();
	return end();
}
