#include "lib/io/zip.h"

#include <string.h>

static const uint32_t LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50,
		      END64 = 0x06064b50, LOCATOR64 = 0x07064b50, LARGE = 0xffffffff;

enum {
	VERSION = 20,
	VERSION64 = 45,
	UNIX = 3 << 8,
	UTF8 = 1 << 11,
	DATE = 33, /* 1980-01-01: the same arrays make the same file */
	MODE = 0100644,
	EXTRA64 = 1, /* the field that has sizes and places beyond 4 GiB */
	MOST16 = 0xffff,
};

static void put(struct buf *b, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_ch(b, (char)(v >> 8 * i & 255));
}

/* The checksum of zips has the polynomial 0xedb88320. */
void zip_begin(struct zip *z, FILE *f)
{
	*z = (struct zip){.f = f, .directory = BUF_INIT};
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t v = i;

		for (int bit = 0; bit < 8; bit++)
			v = v & 1 ? v >> 1 ^ 0xedb88320 : v >> 1;
		z->sums[i] = v;
	}
}

static uint32_t checksum(const struct zip *z, uint32_t sum, const unsigned char *s, size_t n)
{
	sum = ~sum;
	for (size_t i = 0; i < n; i++)
		sum = z->sums[(sum ^ s[i]) & 255] ^ sum >> 8;
	return ~sum;
}

static int write_bytes(struct zip *z, const void *s, size_t n, struct err *e)
{
	if (n && fwrite(s, 1, n, z->f) != n)
		return err_sys(e, "cannot write a zip");
	z->at += n;
	return 0;
}

static int write_buf(struct zip *z, struct buf *b, struct err *e)
{
	const int rc = write_bytes(z, b->s, b->n, e);

	buf_free(b);
	return rc;
}

/* What both headers of a member have: version, flags, method (stored), time, checksum, sizes, and
 * the lengths of the name and of the extra field. */
static void put_member(struct buf *b, const char *name, uint32_t sum, uint64_t size, int is_large,
		       int extra)
{
	put(b, is_large ? VERSION64 : VERSION, 2);
	put(b, UTF8, 2);
	put(b, 0, 2);
	put(b, 0, 2);
	put(b, DATE, 2);
	put(b, sum, 4);
	put(b, is_large ? LARGE : size, 4);
	put(b, is_large ? LARGE : size, 4);
	put(b, strlen(name), 2);
	put(b, extra ? 4 + (uint64_t)extra : 0, 2);
}

/* Twice the size, and where the member begins. */
static void put_extra(struct buf *b, uint64_t size, uint64_t at, int bytes)
{
	put(b, EXTRA64, 2);
	put(b, (uint64_t)bytes, 2);
	put(b, size, 8);
	put(b, size, 8);
	if (bytes > 16)
		put(b, at, 8);
}

int zip_add(struct zip *z, const char *name, const struct zip_part *part, int parts, struct err *e)
{
	struct buf head = BUF_INIT;
	const uint64_t at = z->at;
	uint64_t size = 0;
	uint32_t sum = 0;
	int is_large, rc;

	if (strlen(name) > MOST16)
		return err_set(e, "a name is too long for a zip");
	for (int i = 0; i < parts; i++) {
		sum = checksum(z, sum, part[i].bytes, part[i].n);
		size += part[i].n;
	}
	is_large = size >= LARGE || at >= LARGE;
	put(&head, LOCAL, 4);
	put_member(&head, name, sum, size, is_large, is_large ? 16 : 0);
	buf_str(&head, name);
	if (is_large)
		put_extra(&head, size, at, 16);
	rc = write_buf(z, &head, e);
	for (int i = 0; i < parts && !rc; i++)
		rc = write_bytes(z, part[i].bytes, part[i].n, e);

	put(&z->directory, CENTRAL, 4);
	put(&z->directory, UNIX | VERSION64, 2);
	put_member(&z->directory, name, sum, size, is_large, is_large ? 24 : 0);
	put(&z->directory, 0, 2 + 2 + 2); /* no comment, disk 0, bytes */
	put(&z->directory, (uint64_t)MODE << 16, 4);
	put(&z->directory, is_large ? LARGE : at, 4);
	buf_str(&z->directory, name);
	if (is_large)
		put_extra(&z->directory, size, at, 24);
	z->members++;
	return rc;
}

int zip_end(struct zip *z, struct err *e)
{
	const uint64_t at = z->at, size = z->directory.n;
	const int is_large = at >= LARGE || size >= LARGE || z->members >= MOST16;
	struct buf end = BUF_INIT;

	if (write_buf(z, &z->directory, e))
		return -1;
	if (is_large) {
		const uint64_t here = z->at;

		put(&end, END64, 4);
		put(&end, 44, 8); /* what follows of this record */
		put(&end, UNIX | VERSION64, 2);
		put(&end, VERSION64, 2);
		put(&end, 0, 4 + 4); /* disks */
		put(&end, z->members, 8);
		put(&end, z->members, 8);
		put(&end, size, 8);
		put(&end, at, 8);
		put(&end, LOCATOR64, 4);
		put(&end, 0, 4);
		put(&end, here, 8);
		put(&end, 1, 4);
	}
	put(&end, END, 4);
	put(&end, 0, 2 + 2); /* disks */
	put(&end, is_large ? MOST16 : z->members, 2);
	put(&end, is_large ? MOST16 : z->members, 2);
	put(&end, is_large ? LARGE : size, 4);
	put(&end, is_large ? LARGE : at, 4);
	put(&end, 0, 2); /* no comment */
	return write_buf(z, &end, e);
}

void zip_free(struct zip *z)
{
	buf_free(&z->directory);
}
