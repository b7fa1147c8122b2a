#include "lib/extract/read/hdf5.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io/proc.h"

enum { FAILED = 3, PATIENCE_s = 10 };

int hdf5_claims(const unsigned char *head, size_t n)
{
	return n >= 8 && !memcmp(head, "\x89HDF\r\n\x1a\n", 8);
}

static int write_all(int fd, const unsigned char *s, size_t n)
{
	while (n) {
		ssize_t w = write(fd, s, n);

		if (w < 0 && errno != EINTR)
			return -1;
		if (w > 0) {
			s += w;
			n -= (size_t)w;
		}
	}
	return 0;
}

/* Gives the program the member's bytes. One that ends before says why. */
static int feed(struct proc *p, struct pull *in, struct err *e)
{
	int r;

	while ((r = pull_fill(in, e)) > 0) {
		if (write_all(p->in, in->at, (size_t)(in->end - in->at)))
			break;
		in->at = in->end;
	}
	close(p->in);
	p->in = -1;
	return r < 0 ? -1 : 0;
}

static int listen(struct proc *p, struct buf *out, struct err *e)
{
	char block[1 << 16];
	ssize_t n;

	do {
		n = read(p->out, block, sizeof block);
		if (n > 0)
			buf_add(out, block, (size_t)n);
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? err_sys(e, "the reader of HDF5 cannot be heard") : 0;
}

/* The program's answer: JSON, or a sentence. */
static int judge(const struct buf *out, int status, struct err *e)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == FAILED && out->n)
		return err_set(e, "%s", out->s);
	return err_set(e, "it is damaged, or too large: the reader of HDF5 did not survive it");
}

static int run(struct document *d, struct member *m, struct err *e)
{
	struct buf program = BUF_INIT;
	char *argv[] = {NULL, m->is_plain ? (char *)m->name : NULL, NULL};
	struct proc p = {.in = -1, .out = -1, .errfd = -1, .answers = -1};
	const int flags = PROC_STDOUT | PROC_DIE_WITH_PARENT | (m->is_plain ? 0 : PROC_STDIN);
	int rc = path_libexec(&program, "keras-hdf5", e), status = 0, ended = 0;

	argv[0] = program.s;
	if (!rc)
		rc = proc_start(&p, argv, flags, -1, -1, e);
	if (!rc && !m->is_plain)
		rc = feed(&p, &m->bytes, e);
	if (!rc)
		rc = listen(&p, &d->text, e);
	buf_str(&d->text, "");
	if (!rc)
		rc = ended = proc_wait(&p, PATIENCE_s, &status, e);
	if (ended > 0)
		rc = judge(&d->text, status, e);
	else if (!rc)
		rc = err_set(e, "the reader of HDF5 does not end");
	if (ended <= 0)
		proc_kill(&p);
	proc_close(&p);
	buf_free(&program);
	return rc;
}

int hdf5_read(struct document *d, struct member *m, struct err *e)
{
	*d = (struct document){.json = JSON_DOC_INIT};
	return run(d, m, e) ? -1 : document_parse(d, e);
}
