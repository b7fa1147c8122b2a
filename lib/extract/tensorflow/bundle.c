#include "lib/extract/tensorflow/bundle.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/extract/read/proto.h"
#include "lib/extract/tensorflow/tensor.h"
#include "lib/io/file.h"

enum {
	FOOTER = 48,
	TRAILER = 5, /* behind a block: its compression, and a checksum */
	WORD = 4,
	LARGEST = 64 << 20,	/* of the file, and of all keys together */
	MOST_ENTRIES = 1 << 18, /* more are no variables of a model */
};

/* Bytes that were not read yet. */
struct span {
	const unsigned char *at, *end;
};

struct table {
	struct map *shapes;
	struct arena *a;
	struct buf file;
	int64_t entries;
	size_t key_bytes;
	struct err *e;
};

static int damaged(struct table *t, const char *what)
{
	return err_set(t->e, "it is no index of a checkpoint, or damaged (%s)", what);
}

/* ---- bytes ---- */

static int varint(struct table *t, struct span *s, uint64_t *v)
{
	*v = 0;
	for (int shift = 0; s->at < s->end && shift < 64; shift += 7) {
		const unsigned char c = *s->at++;

		*v |= (uint64_t)(c & 127) << shift;
		if (!(c & 128))
			return 0;
	}
	return damaged(t, "a number is cut off");
}

static uint64_t fixed(const unsigned char *s, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | s[bytes];
	return v;
}

/* The entries of the block that a handle points to. */
static int open_block(struct table *t, struct span *handle, struct span *block)
{
	const unsigned char *file = (const unsigned char *)t->file.s;
	uint64_t offset, size, restarts;

	if (varint(t, handle, &offset) || varint(t, handle, &size))
		return -1;
	if (offset > t->file.n || size > t->file.n - offset ||
	    t->file.n - offset - size < TRAILER || size < WORD)
		return damaged(t, "a block is outside of the file");
	if (file[offset + size])
		return err_set(t->e, "its blocks are compressed");
	*block = (struct span){file + offset, file + offset + size - WORD};
	restarts = fixed(block->end, WORD);
	if (restarts > (size - WORD) / WORD)
		return damaged(t, "a block has a false end");
	block->end -= restarts * WORD;
	return 0;
}

/* The next entry of a block, whose key begins with so many bytes of the one before. 1, 0 at the
 * end, -1. */
static int next_entry(struct table *t, struct span *block, struct buf *key, struct span *value)
{
	uint64_t shared, rest, size;

	if (block->at == block->end)
		return 0;
	if (varint(t, block, &shared) || varint(t, block, &rest) || varint(t, block, &size))
		return -1;
	if (shared > key->n || rest > (uint64_t)(block->end - block->at) ||
	    size > (uint64_t)(block->end - block->at) - rest)
		return damaged(t, "an entry is longer than its block");
	key->n = shared;
	buf_add(key, block->at, rest);
	*value = (struct span){block->at + rest, block->at + rest + size};
	block->at = value->end;
	t->key_bytes += key->n;
	if (++t->entries > MOST_ENTRIES || t->key_bytes > LARGEST)
		return err_set(t->e, "it has more than %d entries, or more than %d MB of keys",
			       MOST_ENTRIES, LARGEST >> 20);
	return 1;
}

/* ---- entries ---- */

static int next_bytes(void *ctx, const unsigned char **block, size_t *n, struct err *e)
{
	struct span *s = ctx;

	(void)e;
	*block = s->at;
	*n = (size_t)(s->end - s->at);
	s->at = s->end;
	return *n > 0;
}

static int read_shape(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	return tensor_shape(w, f, to, e);
}

/* BundleEntryProto: its field 2 is the shape, of a variable in slices that of the whole. */
static int read_entry(struct table *t, const struct buf *key, struct span *value)
{
	PROTO_TABLE(entry, NULL, {2, PROTO_BY, .fn = read_shape});
	struct pull in = {.next = next_bytes, .ctx = value};
	struct wire w = {.in = &in, .what = "entry of a checkpoint"};
	struct shape *shape = arena_new(t->a, struct shape);
	const int rc = proto_read(&w, WIRE_TO_THE_END, &entry, shape, t->e);

	wire_free(&w);
	if (!rc)
		*map_put(t->shapes, key->s, key->n, NULL) = shape;
	return rc;
}

/* The entry without a key is about the file. */
static int read_block(struct table *t, struct span *handle)
{
	struct span block, value;
	struct buf key = BUF_INIT;
	int rc = open_block(t, handle, &block) ? -1 : 1;

	while (rc > 0 && (rc = next_entry(t, &block, &key, &value)) > 0)
		if (key.n && read_entry(t, &key, &value))
			rc = -1;
	buf_free(&key);
	return rc;
}

/* The block of the index has a handle for each block of entries. */
static int read_table(struct table *t)
{
	static const uint64_t magic = 0xdb4775248b80fb57;
	const unsigned char *end;
	struct span footer, index, handle;
	struct buf key = BUF_INIT;
	uint64_t skipped;
	int rc;

	if (t->file.n < FOOTER)
		return damaged(t, "its end is cut off");
	end = (const unsigned char *)t->file.s + t->file.n;
	if (fixed(end - 8, 8) != magic)
		return damaged(t, "its end is not that of one");
	footer = (struct span){end - FOOTER, end - 8};
	if (varint(t, &footer, &skipped) || varint(t, &footer, &skipped) ||
	    open_block(t, &footer, &index))
		return -1;
	while ((rc = next_entry(t, &index, &key, &handle)) > 0)
		if (read_block(t, &handle)) {
			rc = -1;
			break;
		}
	buf_free(&key);
	return rc;
}

int bundle_read(struct map *shapes, const char *path, struct arena *a, struct err *e)
{
	struct table t = {.shapes = shapes, .a = a, .file = BUF_INIT, .e = e};
	struct stat st = {.st_size = 0};
	int rc;

	if (stat(path, &st) && errno == ENOENT)
		return 0;
	if (st.st_size > LARGEST)
		return err_set(e, "%s: it has more than %d MB", path, LARGEST >> 20);
	rc = file_read("the index", path, &t.file, e);
	if (!rc)
		rc = read_table(&t) ? err_in(e, "%s", path) : 1;
	buf_free(&t.file);
	return rc;
}
