#include "lib/extract/read/lines.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/extract/read/archive.h"
#include "lib/io/complaints.h"
#include "lib/io/foreign.h"
#include "lib/io/record.h"

static int is_text(const unsigned char *head, size_t n)
{
	return n && head[0] == '{';
}

int lines_is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof magic];
	struct stat st;
	int fd, same;

	/* To open a pipe and close it again would take its writer's only reader away. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	same = fd >= 0 && pread(fd, head, sizeof head, 0) == sizeof head &&
	       !memcmp(head, magic, sizeof magic);
	if (fd >= 0)
		close(fd);
	return same;
}

static void complain(const struct lines *l, struct complaints *c, const struct member *m,
		     int64_t number, const char *why)
{
	struct buf sentence = BUF_INIT;

	++*l->bad;
	if (complaints_add(c, m->label, (uint64_t)number, why, &sentence))
		l->say(l->arg, sentence.s);
	buf_free(&sentence);
}

static void complain_of_rest(const struct lines *l, struct complaints *c, const struct member *m)
{
	struct buf sentence = BUF_INIT;

	while (complaints_rest(c, m->label, &sentence))
		l->say(l->arg, sentence.s);
	buf_free(&sentence);
}

static int each_of_member(struct member *m, const struct lines *l, struct err *e)
{
	struct complaints complaints = {0};
	struct json_doc scratch = JSON_DOC_INIT;
	struct buf line = BUF_INIT;
	const unsigned char *head;
	const char *foreign, *hint;
	int64_t number = 0;
	int more = 0;
	size_t size;

	if (pull_head(&m->bytes, &head, &size, e))
		return err_in(e, "%s", m->label);
	foreign = foreign_to_records((const char *)head, size);
	if (foreign)
		complain(l, &complaints, m, 1, foreign);
	while (!foreign && !rec_stopped() && (more = pull_line(&m->bytes, &line, e)) > 0) {
		struct err why = ERR_INIT;

		number++;
		if (!line.n)
			continue;
		hint = rec_strange(line.s, line.n, &scratch);
		if (hint ? err_set(&why, "%s", hint) : l->take(l->arg, line.s, line.n, &why))
			complain(l, &complaints, m, number, why.msg);
	}
	complain_of_rest(l, &complaints, m);
	json_free(&scratch);
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
