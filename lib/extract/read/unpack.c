#include "lib/extract/read/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/progress.h"

enum { BLOCK = 256 * 1024, ZEROS = 4096 };

static const double MOMENT_s = 0.5;
/* Weights of a network never shrink to a 200th. Zeros do, and so does what was made to fill a disk:
 * of these so much may come. */
static const uint64_t RATIO = 200, ANYWAY = (uint64_t)4 << 30;

struct unpack {
	struct unpack_from from;
	struct archive *archive;
	struct archive_entry *entry;
	int is_given, failed;
	int error;	  /* errno of a read that failed; libarchive may take it for an end */
	struct err cause; /* why the member around it could not be read on; status 0: it could */
	int64_t size;	  /* of a regular file */
	double opened;	  /* clock_now() */
	int64_t expected; /* offset in the member where the next block belongs */
	const unsigned char *held;
	size_t nheld;
	int64_t gap; /* zeros to give before what is held: a hole in a sparse file */
	unsigned char *block;
};

static ssize_t read_some(int fd, void *to, size_t n)
{
	ssize_t r;

	do
		r = read(fd, to, n);
	while (r < 0 && errno == EINTR);
	return r;
}

/* libarchive's own sentences leave out what the system said. */
static int fail(struct unpack *u, struct err *e)
{
	int error = u->error ? u->error : archive_errno(u->archive);
	const char *why = archive_error_string(u->archive);

	u->failed = 1;
	if (u->cause.status)
		return err_set(e, "%s", u->cause.msg);
	if (u->error)
		return err_set(e, "it cannot be read: %s", strerror(error));
	if (!why || error == ENOMEM) /* for want of memory it has no sentence, in some places */
		why = strerror(ENOMEM);
	return err_set(e, "the archive cannot be read on (%s)", why);
}

static int has_cause(const struct unpack *u)
{
	return u->error || u->cause.status;
}

/* Is it an end, or a failure that libarchive took for one? */
static int is_end(const struct unpack *u, int r)
{
	return r == ARCHIVE_EOF && !has_cause(u) && archive_errno(u->archive) != ENOMEM;
}

static int is_good(const struct unpack *u, int r)
{
	return (r == ARCHIVE_OK || r == ARCHIVE_WARN) && !has_cause(u);
}

/* n bytes more were unpacked. */
static int spend(struct unpack *u, uint64_t n, struct err *e)
{
	struct allowance *a = u->from.allowance;
	uint64_t most = a->most;

	if (!most)
		most = a->packed > ANYWAY / RATIO ? a->packed * RATIO : ANYWAY;
	a->unpacked += n;
	if (a->unpacked <= most)
		return 0;
	u->failed = a->is_spent = 1;
	return a->most ? err_set(e, "more than %llu bytes are unpacked, which --max-bytes forbids",
				 (unsigned long long)most)
		       : err_set(e,
				 "it unpacks to more than %llu bytes, %llu times what is packed, "
				 "as no network does; --max-bytes allows more",
				 (unsigned long long)most,
				 (unsigned long long)(most / (a->packed ? a->packed : 1)));
}

/* Gets a block of the member, and the hole before it. 1, 0 at its end, -1. */
static int next_block(struct unpack *u, struct err *e)
{
	const void *p;
	int64_t offset, hole;
	int r = archive_read_data_block(u->archive, &p, &u->nheld, &offset);

	if (is_end(u, r))
		return 0;
	/* The only warning at a block is that the member's checksum is another. */
	if (!is_good(u, r) || r == ARCHIVE_WARN)
		return fail(u, e);
	hole = offset > u->expected ? offset - u->expected : 0;
	u->held = p;
	u->gap = hole;
	u->expected = offset + (int64_t)u->nheld;
	return spend(u, (uint64_t)hole + u->nheld, e) ? -1 : 1;
}

static int member_next(void *ctx, const unsigned char **block, size_t *n, struct err *e)
{
	static const unsigned char zeros[ZEROS];
	struct unpack *u = ctx;

	while (!u->gap && !u->nheld) {
		int r = next_block(u, e);

		if (r <= 0)
			return r;
	}
	if (u->gap) {
		*block = zeros;
		*n = u->gap > ZEROS ? ZEROS : (size_t)u->gap;
		u->gap -= (int64_t)*n;
		return 1;
	}
	*block = u->held;
	*n = u->nheld;
	u->nheld = 0;
	return 1;
}

/* For archives that take longer than a moment. */
static void show_progress(const struct unpack *u)
{
	const off_t at = lseek(u->from.fd, 0, SEEK_CUR);
	const struct progress p = {.what = "reading",
				   .started = u->opened,
				   .done = at > 0 ? at >> 20 : 0,
				   .all = u->size >> 20,
				   .unit = " MB"};

	if (u->from.label && clock_now() - u->opened >= MOMENT_s)
		progress_show(&p, u->from.label);
}

static la_ssize_t file_read(struct archive *a, void *ctx, const void **block)
{
	struct unpack *u = ctx;
	ssize_t r = read_some(u->from.fd, u->block, BLOCK);

	show_progress(u);
	if (r < 0) {
		u->error = errno;
		archive_set_error(a, errno, "%s", strerror(errno));
	} else {
		u->from.allowance->packed += (uint64_t)r;
	}
	*block = u->block;
	return r;
}

static la_int64_t file_seek(struct archive *a, void *ctx, la_int64_t offset, int whence)
{
	struct unpack *u = ctx;
	off_t at = lseek(u->from.fd, offset, whence);

	if (at < 0) {
		if (errno != EINVAL) /* a place that only a damaged archive knows */
			u->error = errno;
		archive_set_error(a, errno, "%s", strerror(errno));
		return ARCHIVE_FATAL;
	}
	return at;
}

/* Not beyond the end, which a file that is cut off would then seem to reach. */
static la_int64_t file_skip(struct archive *a, void *ctx, la_int64_t n)
{
	struct unpack *u = ctx;
	la_int64_t at = file_seek(a, ctx, 0, SEEK_CUR);

	if (at < 0)
		return at;
	if (n > u->size - at)
		n = u->size > at ? u->size - at : 0;
	return file_seek(a, ctx, n, SEEK_CUR) < 0 ? ARCHIVE_FATAL : n;
}

static la_ssize_t outer_read(struct archive *a, void *ctx, const void **block)
{
	struct unpack *u = ctx;
	struct pull *p = u->from.outer;
	int r = pull_fill(p, &u->cause);
	size_t n = r > 0 ? (size_t)(p->end - p->at) : 0;

	if (r < 0) {
		archive_set_error(a, EIO, "%s", u->cause.msg);
		return ARCHIVE_FATAL;
	}
	*block = p->at;
	p->at = p->end;
	return (la_ssize_t)n;
}

/* All but mtree, which takes any list of words for a list of files. */
static int (*const formats[])(struct archive *) = {
	archive_read_support_format_tar,     archive_read_support_format_zip,
	archive_read_support_format_7zip,    archive_read_support_format_cpio,
	archive_read_support_format_ar,	     archive_read_support_format_cab,
	archive_read_support_format_lha,     archive_read_support_format_rar,
	archive_read_support_format_rar5,    archive_read_support_format_xar,
	archive_read_support_format_iso9660, archive_read_support_format_empty,
	archive_read_support_format_raw,
};

static int open_it(struct unpack *u, struct err *e)
{
	int r = archive_read_support_filter_all(u->archive); /* the worst of all answers */

	for (size_t i = 0; i < sizeof formats / sizeof *formats && r >= ARCHIVE_WARN; i++)
		r = formats[i](u->archive);
	if (r >= ARCHIVE_WARN)
		r = archive_read_set_callback_data(u->archive, u);
	if (r >= ARCHIVE_WARN) {
		archive_read_set_read_callback(u->archive, u->from.outer ? outer_read : file_read);
		if (u->from.is_regular) {
			archive_read_set_skip_callback(u->archive, file_skip);
			archive_read_set_seek_callback(u->archive, file_seek);
		}
		r = archive_read_open1(u->archive);
	}
	/* A look at the bytes for which there was no memory is forgotten afterwards. */
	return r >= ARCHIVE_WARN && archive_errno(u->archive) != ENOMEM ? 0 : fail(u, e);
}

struct unpack *unpack_open(const struct unpack_from *from, struct err *e)
{
	struct unpack *u = xcalloc(1, sizeof *u);
	struct stat st;

	u->from = *from;
	u->opened = clock_now();
	if (!from->outer) {
		u->block = xmalloc(BLOCK);
		u->size = fstat(from->fd, &st) < 0 ? 0 : st.st_size;
	}
	/* An entry of our own: libarchive's may be missing, and it would not look. */
	u->archive = archive_read_new();
	u->entry = archive_entry_new();
	if (!u->archive || !u->entry)
		die_no_memory();
	if (!open_it(u, e))
		return u;
	unpack_close(u);
	return NULL;
}

/* Does libarchive leave out the rest of a member without unpacking it? */
static int passes_over(const struct unpack *u)
{
	const int format = archive_format(u->archive) & ARCHIVE_FORMAT_BASE_MASK;

	if (archive_filter_code(u->archive, 0) != ARCHIVE_FILTER_NONE)
		return 0;
	return format == ARCHIVE_FORMAT_TAR || format == ARCHIVE_FORMAT_CPIO ||
	       format == ARCHIVE_FORMAT_AR || format == ARCHIVE_FORMAT_ISO9660 ||
	       (format == ARCHIVE_FORMAT_ZIP && archive_entry_size_is_set(u->entry));
}

/* What is left of the member, where this is work: it counts. */
static int finish_member(struct unpack *u, struct err *e)
{
	int r = 1;

	u->nheld = 0;
	while (u->is_given && !passes_over(u) && (r = next_block(u, e)) > 0)
		;
	u->nheld = 0;
	u->gap = u->expected = 0;
	return r < 0 ? -1 : 0;
}

/* A file with bytes of its own. A hard link is a name of a member that came before it. */
static int is_file(struct archive_entry *entry)
{
	const unsigned type = archive_entry_filetype(entry);

	return (!type || type == AE_IFREG) &&
	       (!archive_entry_hardlink(entry) || archive_entry_size(entry) > 0);
}

int unpack_next(struct unpack *u, const char **name, struct pull *bytes, struct err *e)
{
	int is_raw = u->is_given && archive_format(u->archive) == ARCHIVE_FORMAT_RAW;

	if (u->failed || is_raw) /* and said so, when the last member was read */
		return 0;
	do {
		int r;

		if (finish_member(u, e))
			return -1;
		r = archive_read_next_header2(u->archive, u->entry);
		if (is_end(u, r))
			return 0;
		if (!is_good(u, r))
			return fail(u, e);
		u->is_given = 1;
	} while (!is_file(u->entry));
	*name = NULL;
	if (archive_format(u->archive) != ARCHIVE_FORMAT_RAW) {
		*name = archive_entry_pathname(u->entry);
		*name = *name ? *name : "(a member without a name)";
	}
	*bytes = (struct pull){.next = member_next, .ctx = u};
	return 1;
}

void unpack_close(struct unpack *u)
{
	if (!u)
		return;
	if (u->archive)
		archive_read_free(u->archive);
	archive_entry_free(u->entry);
	free(u->block);
	free(u);
}

struct mark {
	size_t at, n;
	const char *bytes;
};

int unpack_is_archive(const char *name, const unsigned char *head, size_t n)
{
	static const struct mark marks[] = {
		{0, 4, "PK\3\4"},
		{0, 4, "PK\5\6"},
		{0, 2, "\x1f\x8b"},
		{0, 3, "BZh"},
		{0, 6,
		 "\xfd"
		 "7zXZ\0"},
		{0, 4, "\x28\xb5\x2f\xfd"},
		{0, 4, "\x04\x22\x4d\x18"},
		{0, 4, "LZIP"},
		{0, 6, "7z\xbc\xaf\x27\x1c"},
		{257, 5, "ustar"},
		{0, 4, "Rar!"},
		{0, 4, "MSCF"},
		{0, 8, "!<arch>\n"},
		{0, 5, "07070"},
		{0, 4, "xar!"},
	};
	static const char *const endings[] = {".tar", ".lzma"};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (n >= marks[i].at + marks[i].n &&
		    !memcmp(head + marks[i].at, marks[i].bytes, marks[i].n))
			return 1;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t have = strlen(name), want = strlen(endings[i]);

		if (n && have > want && !strcasecmp(name + have - want, endings[i]))
			return 1;
	}
	return 0;
}
