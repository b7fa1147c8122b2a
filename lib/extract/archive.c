#include "lib/extract/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/progress.h"

enum { BLOCK = 256 * 1024, ZEROS = 4096 };

static const double MOMENT_s = 0.5;

struct input {
	char *path;
	int fd;
	struct archive *archive; /* NULL: a plain file */
	int plain_given, failed;
	int error; /* errno of a read that failed; libarchive may take it for an end */
	struct archive_entry *entry;
	int64_t size, at; /* of a plain file */
	double opened;	  /* clock_now() */
	int64_t expected; /* offset in the member where the next block of the archive belongs */
	const unsigned char *held;
	size_t nheld;
	int64_t gap; /* zeros to give before what is held: a hole in a sparse file */
	struct buf label, name;
	struct member member;
	unsigned char block[BLOCK];
};

static ssize_t read_some(int fd, void *to, size_t n)
{
	ssize_t r;

	do
		r = read(fd, to, n);
	while (r < 0 && errno == EINTR);
	return r;
}

static int plain_next(void *ctx, const unsigned char **block, size_t *n, struct err *e)
{
	struct input *in = ctx;
	/* Between weights a model has a hundred bytes or so: small blocks after a skip, large ones
	 * in a row. */
	ssize_t r = read_some(in->fd, in->block, in->nheld ? BLOCK : 4096);

	if (r < 0)
		return err_sys(e, "it cannot be read");
	in->nheld = 1;
	in->at += r;
	*block = in->block;
	*n = (size_t)r;
	return r > 0;
}

static int plain_skip(void *ctx, uint64_t n, struct err *e)
{
	struct input *in = ctx;

	if (n > (uint64_t)(in->size > in->at ? in->size - in->at : 0))
		return err_set(e, "it is cut off at byte %lld", (long long)in->size);
	in->at += (int64_t)n;
	in->nheld = 0;
	if (lseek(in->fd, in->at, SEEK_SET) < 0)
		return err_sys(e, "it cannot be read");
	return 0;
}

/* libarchive's own sentences leave out what the system said. */
static int archive_failed(struct input *in, struct err *e)
{
	int error = in->error ? in->error : archive_errno(in->archive);
	const char *why = archive_error_string(in->archive);

	in->failed = 1;
	if (in->error)
		return err_set(e, "it cannot be read: %s", strerror(error));
	if (!why || error == ENOMEM) /* for want of memory it has no sentence, in some places */
		why = strerror(ENOMEM);
	return err_set(e, "the archive cannot be read on (%s)", why);
}

/* Is it an end, or a failure that libarchive took for one? */
static int is_end(const struct input *in, int r)
{
	return r == ARCHIVE_EOF && !in->error && archive_errno(in->archive) != ENOMEM;
}

static int is_good(const struct input *in, int r)
{
	return (r == ARCHIVE_OK || r == ARCHIVE_WARN) && !in->error;
}

static int member_next(void *ctx, const unsigned char **block, size_t *n, struct err *e)
{
	static const unsigned char zeros[ZEROS];
	struct input *in = ctx;

	while (!in->gap && !in->nheld) {
		const void *p;
		int64_t offset;
		int r = archive_read_data_block(in->archive, &p, &in->nheld, &offset);

		if (is_end(in, r))
			return 0;
		if (!is_good(in, r))
			return archive_failed(in, e);
		in->held = p;
		in->gap = offset > in->expected ? offset - in->expected : 0;
		in->expected = offset + (int64_t)in->nheld;
	}
	if (in->gap) {
		*block = zeros;
		*n = in->gap > ZEROS ? ZEROS : (size_t)in->gap;
		in->gap -= (int64_t)*n;
		return 1;
	}
	*block = in->held;
	*n = in->nheld;
	in->nheld = 0;
	return 1;
}

/* For archives that take longer than a moment. */
static void show_progress(const struct input *in)
{
	const off_t at = lseek(in->fd, 0, SEEK_CUR);
	const struct progress p = {.what = "reading",
				   .started = in->opened,
				   .done = at > 0 ? at >> 20 : 0,
				   .all = in->size >> 20,
				   .unit = " MB"};

	if (clock_now() - in->opened >= MOMENT_s)
		progress_show(&p, in->label.n ? in->label.s : in->path);
}

static la_ssize_t archive_bytes(struct archive *a, void *ctx, const void **block)
{
	struct input *in = ctx;
	ssize_t r = read_some(in->fd, in->block, BLOCK);

	show_progress(in);
	if (r < 0) {
		in->error = errno;
		archive_set_error(a, errno, "%s", strerror(errno));
	}
	*block = in->block;
	return r;
}

static la_int64_t archive_seek(struct archive *a, void *ctx, la_int64_t offset, int whence)
{
	struct input *in = ctx;
	off_t at = lseek(in->fd, offset, whence);

	if (at < 0) {
		if (errno != EINVAL) /* a place that only a damaged archive knows */
			in->error = errno;
		archive_set_error(a, errno, "%s", strerror(errno));
		return ARCHIVE_FATAL;
	}
	return at;
}

/* Not beyond the end, which a file that is cut off would then seem to reach. */
static la_int64_t archive_skip(struct archive *a, void *ctx, la_int64_t n)
{
	struct input *in = ctx;
	la_int64_t at = archive_seek(a, ctx, 0, SEEK_CUR);

	if (at < 0)
		return at;
	if (n > in->size - at)
		n = in->size > at ? in->size - at : 0;
	return archive_seek(a, ctx, n, SEEK_CUR) < 0 ? ARCHIVE_FATAL : n;
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

static int open_archive(struct input *in, int regular, struct err *e)
{
	int r;

	/* An entry of our own: libarchive's may be missing, and it would not look. */
	in->archive = archive_read_new();
	in->entry = archive_entry_new();
	if (!in->archive || !in->entry)
		die_no_memory();
	r = archive_read_support_filter_all(in->archive); /* the worst of all answers */
	for (size_t i = 0; i < sizeof formats / sizeof *formats && r >= ARCHIVE_WARN; i++)
		r = formats[i](in->archive);
	if (r >= ARCHIVE_WARN)
		r = archive_read_set_callback_data(in->archive, in);
	if (r >= ARCHIVE_WARN) {
		archive_read_set_read_callback(in->archive, archive_bytes);
		if (regular) {
			archive_read_set_skip_callback(in->archive, archive_skip);
			archive_read_set_seek_callback(in->archive, archive_seek);
		}
		r = archive_read_open1(in->archive);
	}
	/* A look at the bytes for which there was no memory is forgotten afterwards. */
	if (r >= ARCHIVE_WARN && archive_errno(in->archive) != ENOMEM)
		return 0;
	archive_failed(in, e);
	return err_in(e, "%s", in->path);
}

static ssize_t head_of(struct input *in)
{
	ssize_t n;

	do
		n = pread(in->fd, in->block, PULL_HEAD, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

struct input *input_open(const char *path, int (*is_plain)(const unsigned char *head, size_t n),
			 struct err *e)
{
	struct input *in = xcalloc(1, sizeof *in);
	struct stat st;
	int regular;

	in->path = xstrdup(path);
	in->opened = clock_now();
	in->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	if (in->fd < 0 || fstat(in->fd, &st) < 0) {
		err_sys(e, "%s: it cannot be opened", path);
		goto fail;
	}
	if (S_ISDIR(st.st_mode)) {
		err_set(e, "%s: it is a folder; name the files in it", path);
		goto fail;
	}
	regular = S_ISREG(st.st_mode) && lseek(in->fd, 0, SEEK_CUR) == 0;
	in->size = st.st_size;
	if (regular && is_plain) {
		ssize_t n = head_of(in);

		if (n < 0) {
			err_sys(e, "%s: it cannot be read", path);
			goto fail;
		}
		if (n > 0 && is_plain(in->block, (size_t)n))
			return in;
	}
	if (!open_archive(in, regular, e))
		return in;
fail:
	input_close(in);
	return NULL;
}

static int plain_member(struct input *in, struct member **m)
{
	if (in->plain_given)
		return 0;
	in->plain_given = 1;
	in->member = (struct member){
		.name = in->path, .input = in->path, .label = in->path, .alone = 1, .is_plain = 1};
	in->member.bytes = (struct pull){.next = plain_next, .skip = plain_skip, .ctx = in};
	*m = &in->member;
	return 1;
}

int input_next(struct input *in, struct member **m, struct err *e)
{
	struct archive_entry *entry = in->entry;
	int r;

	if (!in->archive)
		return plain_member(in, m);
	if (in->failed) /* and said so, when the last member was read */
		return 0;
	do {
		r = archive_read_next_header2(in->archive, entry);
		if (is_end(in, r))
			return 0;
		if (!is_good(in, r)) {
			archive_failed(in, e);
			return err_in(e, "%s", in->path);
		}
	} while (archive_entry_filetype(entry) && archive_entry_filetype(entry) != AE_IFREG);
	in->nheld = 0;
	in->gap = in->expected = 0;
	buf_clear(&in->name);
	buf_clear(&in->label);
	buf_str(&in->label, in->path);
	in->member.alone = archive_format(in->archive) == ARCHIVE_FORMAT_RAW;
	if (in->member.alone) {
		buf_str(&in->name, in->path);
	} else {
		const char *name = archive_entry_pathname(entry);

		buf_str(&in->name, name ? name : "(a member without a name)");
		buf_fmt(&in->label, ": %s", in->name.s);
	}
	in->member.name = in->name.s;
	in->member.label = in->label.s;
	in->member.input = in->path;
	in->member.bytes = (struct pull){.next = member_next, .ctx = in};
	*m = &in->member;
	return 1;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->archive)
		archive_read_free(in->archive);
	archive_entry_free(in->entry);
	if (in->fd >= 0)
		close(in->fd);
	buf_free(&in->label);
	buf_free(&in->name);
	free(in->path);
	free(in);
}
