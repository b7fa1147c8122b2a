#include "lib/extract/read/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/extract/read/unpack.h"
#include "lib/extract/read/walk.h"

enum {
	BLOCK = 256 * 1024,
	SMALL = 4096,
	DEPTH = 4, /* archives around a member */
};

/* What members come from: a plain file, which is one member, or an archive. The outermost layer of
 * a file has its descriptor. */
struct layer {
	struct layer *outer;   /* this is an archive that is outer's member; NULL: none */
	struct unpack *unpack; /* NULL: a plain file */
	int fd, is_regular;
	int64_t size, at; /* of a plain file */
	int in_a_row;	  /* what was read last was not passed over before */
	int is_given;
	int is_nameless; /* its member is all that the archive has, and has no name */
	struct buf name, around, label;
	struct member member;
	unsigned char *block;
};

struct input {
	char *path;
	struct input_how how;
	struct allowance allowance;
	struct walk *walk; /* NULL: no folder */
	struct layer *top;
	int depth; /* archives on the way to the member at hand */
	int is_told_deep;
};

static int plain_next(void *ctx, const unsigned char **block, size_t *n, struct err *e)
{
	struct layer *l = ctx;
	ssize_t r;

	if (!l->block)
		l->block = xmalloc(BLOCK);
	/* Between weights a model has a hundred bytes or so: small blocks after a skip, large ones
	 * in a row. */
	do
		r = read(l->fd, l->block, l->in_a_row ? BLOCK : SMALL);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return err_sys(e, "it cannot be read");
	l->in_a_row = 1;
	l->at += r;
	*block = l->block;
	*n = (size_t)r;
	return r > 0;
}

static int plain_skip(void *ctx, uint64_t n, struct err *e)
{
	struct layer *l = ctx;

	if (n > (uint64_t)(l->size > l->at ? l->size - l->at : 0))
		return err_set(e, "it is cut off at byte %lld", (long long)l->size);
	l->at += (int64_t)n;
	l->in_a_row = 0;
	if (lseek(l->fd, l->at, SEEK_SET) < 0)
		return err_sys(e, "it cannot be read");
	return 0;
}

static struct layer *push(struct input *in)
{
	struct layer *l = xcalloc(1, sizeof *l);

	l->outer = in->top;
	l->fd = -1;
	in->top = l;
	return l;
}

static void pop(struct input *in)
{
	struct layer *l = in->top;

	in->depth -= l->unpack != NULL;
	in->top = l->outer;
	unpack_close(l->unpack);
	if (l->fd >= 0)
		close(l->fd);
	free(l->block);
	buf_free(&l->name);
	buf_free(&l->around);
	buf_free(&l->label);
	free(l);
}

/* Makes the layer's file, or its outer member, an archive. */
static int unpack_layer(struct input *in, struct layer *l, struct err *e)
{
	const struct unpack_from from = {
		.fd = l->fd,
		.is_regular = l->is_regular,
		.outer = l->fd < 0 ? &l->outer->member.bytes : NULL,
		.label = in->how.is_silent ? NULL : in->path,
		.allowance = &in->allowance,
	};

	l->unpack = unpack_open(&from, e);
	in->depth += l->unpack != NULL;
	return l->unpack ? 0 : -1;
}

static int open_file(struct layer *l, const char *path, struct err *e)
{
	struct stat st;
	off_t at = -1;

	l->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	if (l->fd < 0 || fstat(l->fd, &st) < 0)
		return err_sys(e, "%s: it cannot be opened", path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, "%s: it is a folder; name the files in it", path);
	if (S_ISREG(st.st_mode) && (at = lseek(l->fd, 0, SEEK_CUR)) < 0)
		return err_sys(e, "%s: it cannot be read", path);
	l->is_regular = !at; /* of standard input, a part may have been read before */
	l->size = st.st_size;
	buf_str(&l->name, path);
	buf_str(&l->label, path);
	return 0;
}

/* Does the file begin as one that is certainly no archive? -1: it cannot be read. */
static int is_plain_file(const struct input *in, const struct layer *l, struct err *e)
{
	unsigned char head[PULL_HEAD];
	ssize_t n;

	if (!l->is_regular || !in->how.is_plain)
		return 0;
	do
		n = pread(l->fd, head, sizeof head, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(e, "%s: it cannot be read", l->label.s);
	return n > 0 && in->how.is_plain(head, (size_t)n);
}

static int open_alone(struct input *in, struct err *e)
{
	struct layer *l = push(in);
	int r;

	if (open_file(l, in->path, e) || (r = is_plain_file(in, l, e)) < 0)
		return -1;
	return r || !unpack_layer(in, l, e) ? 0 : err_in(e, "%s", in->path);
}

/* 1, 0; -1: it cannot be told. */
static int is_folder(const char *path, struct err *e)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return 0;
	if (stat(path, &st))
		return err_sys(e, "%s: it cannot be opened", path);
	return S_ISDIR(st.st_mode);
}

struct input *input_open_as(const char *path, const struct input_how *how, struct err *e)
{
	struct input *in = xcalloc(1, sizeof *in);
	int failed = 0;

	in->path = xstrdup(path);
	in->how = *how;
	in->allowance.most = how->max_bytes;
	if (how->folders)
		failed = is_folder(path, e);
	if (failed > 0)
		failed = !(in->walk = walk_open(path, e));
	else if (!failed)
		failed = open_alone(in, e);
	if (!failed)
		return in;
	input_close(in);
	return NULL;
}

struct input *input_open(const char *path, int (*is_plain)(const unsigned char *head, size_t n),
			 struct err *e)
{
	return input_open_as(path, &(struct input_how){.is_plain = is_plain}, e);
}

static int give(const struct input *in, struct layer *l, struct member **m)
{
	l->is_given = 1;
	l->member.name = l->name.s;
	l->member.label = l->label.s;
	l->member.around = l->around.n ? l->around.s : "";
	l->member.alone = !in->walk && !l->outer && !l->around.n;
	l->member.is_on_disk =
		l->member.is_plain || (l->member.alone && strcmp(l->name.s, "-") != 0);
	*m = &l->member;
	return 1;
}

static int plain_member(const struct input *in, struct layer *l, struct member **m)
{
	l->member.bytes = (struct pull){.next = plain_next, .skip = plain_skip, .ctx = l};
	l->member.is_plain = l->is_regular && strcmp(l->name.s, "-") != 0;
	if (!l->is_regular)
		l->member.bytes.skip = NULL;
	return give(in, l, m);
}

/* The member of an archive. One without a name, which is all that there is, is what is around. */
static int name_member(struct input *in, struct layer *l, const char *name)
{
	const struct member *o = l->outer ? &l->outer->member : NULL;

	buf_clear(&l->around);
	buf_clear(&l->name);
	buf_clear(&l->label);
	if (o)
		buf_fmt(&l->around, "%s%s", o->around, *o->around && name ? "/" : "");
	if (name)
		buf_str(&l->around, o ? o->name : in->path);
	buf_str(&l->label, o ? o->label : in->path);
	if (name)
		buf_fmt(&l->label, ": %s", name);
	buf_str(&l->name, name ? name : o ? o->name : in->path);
	l->is_nameless = !name;
	return 1;
}

/* The next file of the folder, as a layer of its own. */
static int next_file(struct input *in, struct err *e)
{
	struct buf path = BUF_INIT;
	int r = walk_next(in->walk, &path, e);

	if (r > 0 && open_file(push(in), path.s, e))
		r = -1;
	if (r > 0)
		buf_str(&in->top->around, in->path);
	else if (r < 0 && in->top)
		pop(in);
	buf_free(&path);
	return r;
}

int input_next(struct input *in, struct member **m, struct err *e)
{
	for (;;) {
		struct layer *l = in->top;
		const char *name;
		int r;

		if (in->allowance.is_spent || (!l && !in->walk))
			return 0;
		if (!l) {
			r = next_file(in, e);
			if (r <= 0)
				return r;
			continue;
		}
		if (!l->unpack && !l->is_given)
			return plain_member(in, l, m);
		r = l->unpack ? unpack_next(l->unpack, &name, &l->member.bytes, e) : 0;
		if (r > 0 && name_member(in, l, name))
			return give(in, l, m);
		if (r < 0)
			err_in(e, "%s", l->outer ? l->outer->label.s : in->path);
		pop(in);
		if (r < 0)
			return r;
	}
}

int input_enter(struct input *in, const unsigned char *head, size_t n, struct err *e)
{
	struct layer *l = in->top;
	int r = 0;

	/* The name of what is around says nothing of what is inside. */
	if (!unpack_is_archive(l->is_nameless ? "" : l->name.s, head, n))
		return 0;
	if (in->depth >= DEPTH)
		return in->is_told_deep++ ? 0
					  : err_set(e, "%s: archives are nested more than %d deep",
						    l->label.s, DEPTH);
	l = push(in);
	if (!l->outer->unpack) { /* a file of a folder: archives that must be sought can be */
		l->is_regular = l->outer->is_regular;
		l->fd = dup(l->outer->fd);
		if (l->fd < 0 || lseek(l->fd, 0, SEEK_SET) < 0)
			r = err_sys(e, "it cannot be read");
	}
	if (!r && !unpack_layer(in, l, e))
		return 1;
	err_in(e, "%s", l->outer->label.s);
	pop(in);
	return -1;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	while (in->top)
		pop(in);
	walk_close(in->walk);
	free(in->path);
	free(in);
}
