#include "lib/store/pages.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { LEAST_PAGE = 512, HEADER = 100, RESERVED_AT = 20 };
static const char magic[16] = "SQLite format 3";

/* A file of the layer, and behind it in memory SQLite's own. */
struct file {
	sqlite3_file base;
	int has_sums;
};

static sqlite3_file *own(sqlite3_file *f)
{
	return (sqlite3_file *)((struct file *)f + 1);
}

/* ---- checksums ---- */

/* Two sums, each of which counts the other, so that the order of words matters. A change of one bit
 * changes them: its weights in them are two neighbours in Fibonacci's sequence, of which one is
 * odd. */
static uint64_t sum_of(const unsigned char *page, int n)
{
	uint32_t a = 0, b = 0, word[2];

	for (int i = 0; i < n; i += (int)sizeof word) {
		memcpy(word, page + i, sizeof word);
		a += le32toh(word[0]) + b;
		b += le32toh(word[1]) + a;
	}
	return (uint64_t)b << 32 | a;
}

/* Returns what the place of a page adds to its checksum: another number for each page, because the
 * factor is odd. */
static uint64_t sum_of_place(int n, sqlite3_int64 at)
{
	return (uint64_t)(at / n + 1) * 0x9e3779b97f4a7c15;
}

/* Pages of older programs have the sum of their bytes alone. */
static int is_sound(const unsigned char *page, int n, sqlite3_int64 at)
{
	const uint64_t sum = sum_of(page, n - PAGES_RESERVED);
	uint64_t told;

	memcpy(&told, page + n - PAGES_RESERVED, sizeof told);
	told = le64toh(told);
	return told == sum + sum_of_place(n, at) || told == sum;
}

static int is_page(int n)
{
	return n >= LEAST_PAGE && !(n & (n - 1));
}

/* The first page tells whether there are checksums. */
static void look_at_header(struct file *f, const unsigned char *text, int n, sqlite3_int64 at)
{
	if (at == 0 && n >= HEADER)
		f->has_sums =
			!memcmp(text, magic, sizeof magic) && text[RESERVED_AT] == PAGES_RESERVED;
}

/* Is this a first page whose checksum is right, but for the byte that says that it has one? */
static int lost_its_mark(unsigned char *page, int n)
{
	const unsigned char told = page[RESERVED_AT];
	int is;

	page[RESERVED_AT] = PAGES_RESERVED;
	is = is_sound(page, n, 0);
	page[RESERVED_AT] = told;
	return is;
}

/* ---- the file ---- */

static int file_close(sqlite3_file *f)
{
	return own(f)->pMethods->xClose(own(f));
}

static int file_read(sqlite3_file *f, void *text, int n, sqlite3_int64 at)
{
	struct file *file = (struct file *)f;
	int rc = own(f)->pMethods->xRead(own(f), text, n, at);

	if (rc != SQLITE_OK)
		return rc;
	look_at_header(file, text, n, at);
	if (!is_page(n))
		return SQLITE_OK;
	if (file->has_sums ? !is_sound(text, n, at) : at == 0 && lost_its_mark(text, n))
		return SQLITE_IOERR_DATA;
	return SQLITE_OK;
}

/* The page is SQLite's own copy, whose last bytes are ours. */
static int file_write(sqlite3_file *f, const void *text, int n, sqlite3_int64 at)
{
	struct file *file = (struct file *)f;
	unsigned char *page = (unsigned char *)text;

	look_at_header(file, text, n, at);
	if (file->has_sums && is_page(n)) {
		const uint64_t sum =
			htole64(sum_of(page, n - PAGES_RESERVED) + sum_of_place(n, at));

		memcpy(page + n - PAGES_RESERVED, &sum, sizeof sum);
	}
	return own(f)->pMethods->xWrite(own(f), text, n, at);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return own(f)->pMethods->xTruncate(own(f), size);
}

static int file_sync(sqlite3_file *f, int flags)
{
	return own(f)->pMethods->xSync(own(f), flags);
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return own(f)->pMethods->xFileSize(own(f), size);
}

static int file_lock(sqlite3_file *f, int lock)
{
	return own(f)->pMethods->xLock(own(f), lock);
}

static int file_unlock(sqlite3_file *f, int lock)
{
	return own(f)->pMethods->xUnlock(own(f), lock);
}

static int file_is_reserved(sqlite3_file *f, int *is)
{
	return own(f)->pMethods->xCheckReservedLock(own(f), is);
}

static int file_control(sqlite3_file *f, int what, void *arg)
{
	return own(f)->pMethods->xFileControl(own(f), what, arg);
}

static int file_sector_size(sqlite3_file *f)
{
	return own(f)->pMethods->xSectorSize(own(f));
}

static int file_abilities(sqlite3_file *f)
{
	return own(f)->pMethods->xDeviceCharacteristics(own(f));
}

/* Of version 1: without shared memory, which only WAL needs, and mapped pages. */
static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_abilities,
};

/* ---- the file system ---- */

static sqlite3_vfs *below(sqlite3_vfs *v)
{
	return v->pAppData;
}

/* Journals and temporary files are opened by SQLite's own layer alone. */
static int vfs_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	int rc;

	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return below(v)->xOpen(below(v), name, f, flags, out);
	memset(f, 0, sizeof(struct file));
	own(f)->pMethods = NULL;
	rc = below(v)->xOpen(below(v), name, own(f), flags, out);
	if (own(f)->pMethods)
		f->pMethods = &methods;
	return rc;
}

const char *pages_vfs(void)
{
	/* SQLite keeps it in its list of all. */
	static sqlite3_vfs layer;
	sqlite3_vfs *unix_vfs;

	if (layer.zName)
		return layer.zName;
	if (!(unix_vfs = sqlite3_vfs_find(NULL)))
		return NULL;
	layer = *unix_vfs;
	layer.zName = "tl-pages";
	layer.pNext = NULL;
	layer.szOsFile += (int)sizeof(struct file);
	layer.pAppData = unix_vfs;
	layer.xOpen = vfs_open;
	if (sqlite3_vfs_register(&layer, 0) != SQLITE_OK)
		layer.zName = NULL;
	return layer.zName;
}

void pages_reserve(sqlite3 *db)
{
	int n = PAGES_RESERVED, reserved = -1;
	sqlite3_file *f = NULL;
	sqlite3_int64 size;

	/* Of a file that has pages already it changes nothing. */
	sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &n);
	sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
	sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &f);
	/* Where memory is short, SQLite writes other pages before the first. */
	if (reserved == PAGES_RESERVED && f && f->pMethods == &methods &&
	    file_size(f, &size) == SQLITE_OK && size == 0)
		((struct file *)f)->has_sums = 1;
}
