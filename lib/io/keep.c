#include "lib/io/keep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	LIMITS = 5,
	SPARE_PROCESSES = 512,	       /* for one that is not ours */
	OWN_ARGS = 1 + LIMITS + 2 + 1, /* keep, its options, -- */
};

/* The command line of keep. Lives until line_free(). */
struct line {
	struct buf path;
	char limit[LIMITS][48];
	char **argv;
};

static int line_make(struct line *l, const struct keep *k, char *const *argv, struct err *e)
{
#ifdef __SANITIZE_ADDRESS__
	const int64_t memory = k->ours ? 0 : k->memory;
#else
	const int64_t memory = k->memory;
#endif
	const struct {
		const char *name;
		int64_t value;
	} limit[LIMITS] = {{"memory", memory},
			   {"cpu", k->cpu_s},
			   {"file", k->file},
			   {"files", k->files},
			   {"processes", k->ours ? 0 : SPARE_PROCESSES}};
	int n = 0, given = 0;

	*l = (struct line){.path = BUF_INIT};
	if (path_libexec(&l->path, "keep", e))
		return -1;
	while (argv[given])
		given++;
	l->argv = xcalloc((size_t)(OWN_ARGS + given + 1), sizeof *l->argv);
	l->argv[n++] = l->path.s;
	for (int i = 0; i < LIMITS; i++) {
		if (!limit[i].value)
			continue;
		snprintf(l->limit[i], sizeof l->limit[i], "--%s=%" PRId64, limit[i].name,
			 limit[i].value);
		l->argv[n++] = l->limit[i];
	}
	if (k->no_network)
		l->argv[n++] = (char *)"--no-network";
	if (k->no_fork)
		l->argv[n++] = (char *)"--no-fork";
	l->argv[n++] = (char *)"--";
	for (int i = 0; i < given; i++)
		l->argv[n++] = argv[i];
	return 0;
}

static void line_free(struct line *l)
{
	free(l->argv);
	buf_free(&l->path);
}

int keep_start(struct proc *p, const struct keep *k, char *const *argv, int flags, int stdin_fd,
	       int stdout_fd, struct err *e)
{
	struct line l;
	int rc = line_make(&l, k, argv, e);

	if (rc == 0)
		rc = proc_start(p, l.argv, flags | PROC_KEPT | PROC_GROUP | PROC_DIE_WITH_PARENT,
				stdin_fd, stdout_fd, e);
	line_free(&l);
	return rc;
}

int keep_run(const struct keep *k, char *const *argv, double timeout_s, size_t max, struct buf *out,
	     struct err *e)
{
	struct line l;
	int rc = line_make(&l, k, argv, e);

	if (rc == 0)
		rc = proc_run_as(l.argv, PROC_KEPT, timeout_s, max, out, e);
	line_free(&l);
	return rc;
}

int keep_ask(const struct keep *k, char *const *argv, int flags, double timeout_s, size_t max,
	     struct buf *out, struct buf *log, struct err *e)
{
	struct line l;
	int rc = line_make(&l, k, argv, e);

	if (rc == 0)
		rc = proc_ask(l.argv, flags | PROC_KEPT, timeout_s, max, out, log, e);
	line_free(&l);
	return rc;
}
