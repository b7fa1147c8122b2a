#include "lib/extract/lines.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/extract/archive.h"
#include "lib/io/record.h"

static int is_text(const unsigned char *head, size_t n)
{
	return n && head[0] == '{';
}

int lines_is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof magic];
	int fd = open(path, O_RDONLY | O_CLOEXEC), same;

	same = fd >= 0 && pread(fd, head, sizeof head, 0) == sizeof head &&
	       !memcmp(head, magic, sizeof magic);
	if (fd >= 0)
		close(fd);
	return same;
}

static int each_of_member(struct member *m, const struct lines *l, struct err *e)
{
	struct buf line = BUF_INIT;
	int64_t number = 0;
	int more = 0;

	while (!rec_stopped() && (more = pull_line(&m->bytes, &line, e)) > 0) {
		struct err why = ERR_INIT;

		number++;
		if (line.n && l->take(l->arg, line.s, line.n, &why) < 0)
			l->bad(l->arg, m->label, number, &why);
	}
	buf_free(&line);
	return more < 0 ? err_in(e, "%s", m->label) : 0;
}

int lines_each(const char *path, const struct lines *l, struct err *e)
{
	struct input *in;
	struct member *m;
	int more, rc;

	rec_tell_terminal(path, "records");
	in = input_open(path, is_text, e);
	rc = in ? 0 : -1;
	while (rc == 0 && (more = input_next(in, &m, e)) != 0)
		rc = more < 0 ? -1 : each_of_member(m, l, e);
	input_close(in);
	return rc;
}
