#include "lib/measure/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/io/file.h"
#include "lib/io/json.h"
#include "lib/record/checksum.h"

/* Results of one candidate, as they came. */
struct entry {
	const char *line;
	size_t n;
	struct entry *next;
};

static int lock(struct journal *j, struct err *e)
{
	struct stat st;

	if (fstat(j->fd, &st) < 0)
		return err_sys(e, "cannot look at the journal %s", j->path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, "the journal %s is not a file", j->path);
	if (file_lock(j->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return err_status(e, EXIT_BUSY, "another run is writing the journal %s", j->path);
	return err_sys(e, "cannot lock the journal %s", j->path);
}

static void keep(struct journal *j, const char *line, size_t n, const char *candidate_id)
{
	void **place = map_put(&j->results, candidate_id, strlen(candidate_id), NULL);
	struct entry *x = arena_new(&j->arena, struct entry);

	x->line = arena_strndup(&j->arena, line, n);
	x->n = n;
	x->next = *place;
	*place = x;
}

/* 0: it is no record, or not as it was written. */
static int read_line(struct journal *j, struct json_doc *d, const char *line, size_t n)
{
	struct err why = ERR_INIT;
	const char *id;

	if (json_parse(d, line, n, NULL) || !json_get(d, d->tok, "tl") ||
	    !json_get(d, d->tok, "type") || checksum_check(d, &why))
		return 0;
	if (!json_is(json_get(d, d->tok, "type"), "result"))
		return 1;
	if (json_str(json_get(d, d->tok, "candidate_id"), &j->arena, &id))
		return 0;
	keep(j, line, n, id);
	return 1;
}

/* Does it begin as a run does, or a result, which only measuring makes? A list of workloads, say,
 * is no journal. A line that was cut off may hold a part of the beginning alone. */
static int begins_well(const char *line, size_t n)
{
	static const char *const start[] = {"{\"tl\":1,\"type\":\"begin\"",
					    "{\"tl\":1,\"type\":\"result\""};
	int well = 0;

	for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
		const size_t k = strlen(start[i]);

		well |= !memcmp(line, start[i], n < k ? n : k);
	}
	return well;
}

static int read_lines(struct journal *j, FILE *f, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	char *line = NULL;
	off_t whole = 0;
	size_t cap = 0;
	ssize_t n;
	int rc = 0;

	for (int64_t number = 1; (n = getline(&line, &cap, f)) > 0; number++) {
		if (number == 1 && !begins_well(line, (size_t)n)) {
			rc = err_set(e,
				     "%s:1: this is no journal: it does not begin with a run of "
				     "tl-measure, or a result",
				     j->path);
			break;
		}
		if (line[n - 1] != '\n') {
			j->torn = n;
			break;
		}
		whole += n;
		if (n > 1 && !read_line(j, &d, line, (size_t)n - 1) && !j->bad++)
			j->bad_line = number;
	}
	if (!rc && ferror(f))
		rc = err_sys(e, "cannot read the journal %s", j->path);
	else if (j->torn && (ftruncate(j->fd, whole) < 0 || fdatasync(j->fd) < 0))
		rc = err_sys(e, "cannot mend the journal %s", j->path);
	free(line);
	json_free(&d);
	return rc;
}

int journal_open(struct journal *j, const char *path, struct err *e)
{
	FILE *f;
	int rc;

	*j = (struct journal){.path = path};
	j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (j->fd < 0)
		return err_sys(e, "cannot open the journal %s", path);
	if (lock(j, e) < 0)
		return -1;
	f = fopen(path, "re");
	if (!f)
		return err_sys(e, "cannot read the journal %s", path);
	rc = read_lines(j, f, e);
	fclose(f);
	return rc;
}

int journal_add(struct journal *j, const char *line, size_t n, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc = 0;

	buf_add(&text, line, n);
	buf_ch(&text, '\n');
	for (size_t done = 0; done < text.n && rc == 0;) {
		ssize_t k = write(j->fd, text.s + done, text.n - done);

		if (k > 0)
			done += (size_t)k;
		else if (k == 0 || errno != EINTR)
			rc = err_sys(e, "cannot write the journal %s", j->path);
	}
	if (rc == 0 && fdatasync(j->fd) < 0)
		rc = err_sys(e, "cannot write the journal %s", j->path);
	buf_free(&text);
	return rc;
}

int journal_look(void *from, const char *workload_id, const char *candidate_id, known_take *take,
		 void *to, struct err *e)
{
	const struct journal *j = from;

	(void)workload_id; /* a candidate has one */
	for (const struct entry *x = map_get(&j->results, candidate_id, strlen(candidate_id)); x;
	     x = x->next)
		if (take(to, x->line, x->n, e))
			return -1;
	return 0;
}

void journal_close(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
	map_free(&j->results);
	arena_free(&j->arena);
}
