#include "lib/replay/closing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/map.h"
#include "lib/host/folder.h"
#include "lib/io/field.h"
#include "lib/io/file.h"
#include "lib/io/pipeline.h"

static const char CACHE[] = "TL_CACHE";

/* ---- what is missing ---- */

/* The group that is being written. */
struct writer {
	const struct recorded_env *env; /* NULL: nothing is known */
	struct rec_out *out;
	struct json_doc doc;
	struct buf text;
	struct map asked; /* candidates, by id: each is measured once */
	struct id open;	  /* the workload of the group; empty: there is none */
	int64_t n, in_group;
};

static int is_missing(struct writer *w, const struct whole_record *x, int64_t looks)
{
	int isnew;

	map_put(&w->asked, x->candidate.s, ID_HEX, &isnew);
	return isnew && (!w->env || recording_needs(w->env, x->candidate.s, looks));
}

static int put_text(struct writer *w, struct err *e)
{
	return rec_put(w->out, w->text.s, w->text.n, e);
}

static int end_group(struct writer *w, struct err *e)
{
	if (!w->open.s[0])
		return 0;
	buf_clear(&w->text);
	rec_end_text(&w->text, w->open.s, w->in_group, "not recorded");
	w->open.s[0] = 0;
	w->in_group = 0;
	return put_text(w, e);
}

/* The workload's record, made of its candidate's. reference: the candidate that all duel with;
 * NULL: none. */
static void put_workload(const struct json_doc *d, const struct recorded *reference,
			 const char *program, struct buf *out)
{
	const struct json *fields = json_get(d, d->tok, "workload");

	field_record(out, "workload");
	buf_fmt(out, ",%.*s", (int)fields->n - 2, fields->s + 1);
	if (reference) {
		field_object(out, "incumbent");
		field_text(out, "candidate_id", reference->id);
		field_number(out, "latency_s", reference->latency_s);
		buf_fmt(out, ",%s}", program);
	}
	buf_ch(out, '}');
}

static int begin_group(struct writer *w, const struct whole_record *x, struct err *e)
{
	const char *program = NULL, *id;

	if (end_group(w, e) || json_parse(&w->doc, x->r.s, x->r.n, e))
		return -1;
	w->open = x->workload;
	id = w->env ? recording_reference(w->env, x->workload.s, &program) : NULL;
	buf_clear(&w->text);
	put_workload(&w->doc, id ? recording_look(w->env, id, 0) : NULL, program, &w->text);
	return put_text(w, e);
}

static int put_candidate(struct writer *w, const struct whole_record *x, struct err *e)
{
	if (strcmp(w->open.s, x->workload.s) != 0 && begin_group(w, x, e))
		return -1;
	w->n++;
	w->in_group++;
	return rec_put(w->out, x->r.s, x->r.n, e);
}

static int64_t finish(struct writer *w, int rc, struct err *e)
{
	if (w->out && rc == 0 && (end_group(w, e) || rec_commit(w->out, e)))
		rc = -1;
	rec_discard(w->out);
	map_free(&w->asked);
	json_free(&w->doc);
	buf_free(&w->text);
	return rc ? -1 : w->n;
}

int64_t closing_races(const struct whole *in, const struct recorded_env *v, int64_t looks,
		      const char *path, struct err *e)
{
	struct writer w = {.env = v, .out = rec_create(path, e)};
	int rc = w.out ? 0 : -1;

	for (size_t i = 0; i < in->n && rc == 0; i++)
		if (in->record[i].r.type == REC_CANDIDATE && is_missing(&w, &in->record[i], looks))
			rc = put_candidate(&w, &in->record[i], e);
	return finish(&w, rc, e);
}

int closing_add_final(const char *line, size_t n, const struct recorded *race, struct buf *out,
		      struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	struct arena a = ARENA_INIT;
	struct buf text = BUF_INIT, program = BUF_INIT;
	const char *workload = "";
	int rc = json_parse(&d, line, n, e);

	if (rc == 0) {
		json_str(json_get(&d, json_get(&d, d.tok, "workload"), "workload_id"), &a,
			 &workload);
		field_copy(&program, "algo", json_get(&d, d.tok, "algo"));
		field_copy(&program, "knobs", json_get(&d, d.tok, "knobs"));
		put_workload(&d, race, program.s, &text);
		buf_ch(&text, '\n');
		buf_add(out, text.s, text.n);
		buf_clear(&text);
		rec_end_text(&text, workload, 0, "not recorded");
		buf_fmt(out, "%s\n", text.s);
	}
	buf_free(&text);
	buf_free(&program);
	json_free(&d);
	arena_free(&a);
	return rc;
}

/* ---- the cache ---- */

/* Objects are there that may have been built without a result that tells the cost. */
static int forget_objects(struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = folder_cache("objects", &path, e), fd;
	DIR *d = rc == 0 ? opendir(path.s) : NULL;

	if (rc == 0 && !d)
		rc = err_sys(e, "cannot read the folder %s", path.s);
	fd = d ? dirfd(d) : -1;
	for (const struct dirent *f; d && (f = readdir(d));)
		if ((strstr(f->d_name, ".so") || strstr(f->d_name, ".truth")) &&
		    unlinkat(fd, f->d_name, 0) < 0 && errno != ENOENT)
			rc = err_sys(e, "cannot remove %s in %s", f->d_name, path.s);
	if (d)
		closedir(d);
	buf_free(&path);
	return rc;
}

int closing_begin(struct closing *c, struct err *e)
{
	const char *before = getenv(CACHE);
	struct buf path = BUF_INIT;
	int rc;

	c->before = before ? xstrdup(before) : NULL;
	buf_fmt(&path, "%s.cache", c->database);
	c->folder = xstrdup(path.s);
	buf_str(&path, "/measuring");
	c->mark = xstrdup(path.s);
	if (setenv(CACHE, c->folder, 1) < 0)
		die_no_memory();
	buf_clear(&path);
	rc = folder_cache("objects", &path, e);
	buf_free(&path);
	if (rc == 0 && access(c->mark, F_OK) == 0)
		rc = forget_objects(e);
	else if (rc == 0 && errno != ENOENT)
		rc = err_sys(e, "cannot look for %s", c->mark);
	return rc == 0 ? file_write(c->mark, "", 0, e) : rc;
}

void closing_end(struct closing *c, int is_done)
{
	if (is_done)
		unlink(c->mark);
	if (c->before && setenv(CACHE, c->before, 1) < 0)
		die_no_memory();
	if (!c->before)
		unsetenv(CACHE);
	free(c->before);
	free(c->folder);
	free(c->mark);
	c->before = c->folder = c->mark = NULL;
}

/* ---- measuring ---- */

int closing_measure(const struct closing *c, const char *path, int64_t finals, struct err *e)
{
	struct pipeline p = {.stdin_path = "/dev/null", .stdout_path = "/dev/null"};
	char number[24];
	int status;

	snprintf(number, sizeof number, "%lld", (long long)finals);
	pipeline_stage(&p, "tl-measure");
	if (c->quiet)
		pipeline_arg(&p, "-q");
	pipeline_arg2(&p, "--target", c->target);
	pipeline_arg2(&p, "--cache", c->cache);
	pipeline_arg2(&p, "--final", number);
	if (!finals) {
		pipeline_arg(&p, "--no-preempt");
		pipeline_arg(&p, "--samples");
	}
	pipeline_arg(&p, path);
	pipeline_stage(&p, "tl-store");
	pipeline_arg(&p, "-q");
	pipeline_arg2(&p, "-d", c->database);
	status = pipeline_run(&p, e);
	pipeline_free(&p);
	return status;
}
