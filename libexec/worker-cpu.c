/* worker-cpu: runs kernels for tl-measure. Not for people; the protocol is one JSON line in, one
 * out:
 *
 *   {"cmd":"open","workload":{..},"naive":PATH,"threads":N,"seed":N}       -> {"ok":true}
 *   {"cmd":"baseline"}                                       -> {"baseline":{..}} or
 * {"baseline":null,"why":".."}
 *   {"cmd":"race","candidate":{..},"object":PATH,"limit_s":T,"max_error":E} -> outcome
 *   {"cmd":"final","candidate":{..},"object":PATH,"max_error":E}            -> outcome
 *
 * An answer {"error":".."} means that the worker cannot go on. `worker-cpu --libs` prints the
 * library's version, `worker-cpu --probe` and `worker-cpu --sentinel[=EFFORT]` one line of what
 * lib/target/probe.h measures.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/json.h"
#include "lib/measure/session.h"
#include "lib/ref/ref.h"
#include "lib/target/cpu.h"
#include "lib/target/probe.h"

static struct session *session;
static FILE *answers; /* the pipe to the supervisor; stdout itself belongs to whatever prints */

static int bad_request(struct err *e)
{
	return err_set(e, "the worker does not understand the request");
}

static int open_session(const struct json_doc *d, struct buf *out, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct workload w;
	const char *naive;
	int64_t threads, seed;

	if (workload_from_json(&w, d, json_get(d, d->tok, "workload"), e) < 0)
		return -1;
	if (json_str(json_get(d, d->tok, "naive"), &a, &naive) < 0 ||
	    json_int(json_get(d, d->tok, "threads"), &threads) < 0 ||
	    json_int(json_get(d, d->tok, "seed"), &seed) < 0)
		return bad_request(e);
	session_close(session);
	session = session_open(&w, naive, (int)threads, (uint64_t)seed, e);
	arena_free(&a);
	buf_str(out, "{\"ok\":true}");
	return session ? 0 : -1;
}

static void put_median(struct buf *out, const char *time, const char *ci, struct stat_median m)
{
	buf_fmt(out, ",\"%s\":", time);
	buf_num(out, m.median);
	buf_fmt(out, ",\"%s\":[", ci);
	buf_num(out, m.lo);
	buf_ch(out, ',');
	buf_num(out, m.hi);
	buf_ch(out, ']');
}

static void put_best(struct buf *out, const struct baseline_best *b)
{
	buf_str(out, "{\"impl\":");
	buf_json(out, b->impl, strlen(b->impl));
	buf_str(out, ",\"layout\":");
	buf_json(out, b->layout, strlen(b->layout));
	put_median(out, "latency_s", "ci_s", b->time);
	buf_ch(out, '}');
}

static int baseline(struct buf *out, struct err *e)
{
	struct baseline b;

	if (session_baseline(session, &b, e) < 0)
		return -1;
	if (!b.best.impl) {
		buf_str(out, "{\"baseline\":null,\"why\":");
		buf_json(out, b.why, strlen(b.why));
		buf_ch(out, '}');
		return 0;
	}
	buf_str(out, "{\"baseline\":");
	put_best(out, &b.best);
	if (b.direct.impl) {
		buf_str(out, ",\"direct\":");
		put_best(out, &b.direct);
	}
	buf_ch(out, '}');
	return 0;
}

static void put_outcome(struct buf *out, const struct outcome *o)
{
	buf_str(out, "{\"status\":");
	buf_json(out, o->status, strlen(o->status));
	buf_str(out, ",\"why\":");
	buf_json(out, o->why, strlen(o->why));
	put_median(out, "latency_s", "ci_s", o->time);
	buf_fmt(out, ",\"reps\":%d,\"l2\":", o->time.n);
	buf_num(out, o->error_l2);
	buf_str(out, ",\"max\":");
	buf_num(out, o->error_max);
	buf_str(out, ",\"verify_s\":");
	buf_num(out, o->verify_s);
	buf_str(out, ",\"run_s\":");
	buf_num(out, o->run_s);
	if (o->has_baseline) {
		put_median(out, "baseline_s", "baseline_ci_s", o->baseline);
		put_median(out, "ratio", "ratio_ci", o->ratio);
		if (o->has_direct) {
			put_median(out, "direct_s", "direct_ci_s", o->direct);
			put_median(out, "direct_ratio", "direct_ratio_ci", o->direct_ratio);
		}
		buf_fmt(out, ",\"verdict\":\"%s\"", stat_verdict_name(stat_verdict(o->ratio)));
	}
	buf_ch(out, '}');
}

static int candidate(const struct json_doc *d, int final, struct buf *out, struct err *e)
{
	struct arena a = ARENA_INIT;
	const struct json *v = json_get(d, d->tok, "candidate");
	struct json_doc inner = JSON_DOC_INIT;
	double limit = 0, max_error;
	struct candidate c;
	struct outcome o;
	const char *object;
	int rc = -1;

	if (!v || json_str(json_get(d, d->tok, "object"), &a, &object) < 0 ||
	    json_num(json_get(d, d->tok, "max_error"), &max_error) < 0 ||
	    (!final && json_num(json_get(d, d->tok, "limit_s"), &limit) < 0))
		bad_request(e);
	else if (json_parse(&inner, v->s, v->n, e) == 0 &&
		 candidate_from_json(&c, &inner, 0, e) == 0)
		rc = final ? session_final(session, &c, object, max_error, &o, e)
			   : session_race(session, &c, object, limit, max_error, &o, e);
	if (rc == 0)
		put_outcome(out, &o);
	json_free(&inner);
	arena_free(&a);
	return rc;
}

static int answer(const struct json_doc *d, struct buf *out, struct err *e)
{
	const struct json *cmd = json_get(d, d->tok, "cmd");

	if (json_is(cmd, "open"))
		return open_session(d, out, e);
	if (!session)
		return bad_request(e);
	if (json_is(cmd, "baseline"))
		return baseline(out, e);
	if (json_is(cmd, "race"))
		return candidate(d, 0, out, e);
	if (json_is(cmd, "final"))
		return candidate(d, 1, out, e);
	return bad_request(e);
}

static int serve(void)
{
	struct json_doc d = JSON_DOC_INIT;
	struct buf out = BUF_INIT;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, stdin)) > 0) {
		struct err e = ERR_INIT;

		buf_clear(&out);
		if (json_parse(&d, line, (size_t)n, &e) < 0 || answer(&d, &out, &e) < 0) {
			buf_clear(&out);
			buf_str(&out, "{\"error\":");
			buf_json(&out, e.msg, strlen(e.msg));
			buf_ch(&out, '}');
		}
		buf_ch(&out, '\n');
		if (fwrite(out.s, 1, out.n, answers) != out.n || fflush(answers))
			return EXIT_INPUT; /* the supervisor is gone */
	}
	session_close(session);
	json_free(&d);
	buf_free(&out);
	free(line);
	fclose(answers);
	return EXIT_DONE;
}

/* Prints what the machine can do; effort 0: the whole probe, else the sentinel. */
static int probe(int effort)
{
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	struct limits m;
	int rc = cpu_limits(&m, &e);

	if (rc == 0)
		rc = effort ? probe_sentinel(&m, effort, &out, &e) : probe_run(&m, &out, &e);
	if (rc == 0)
		puts(out.s);
	else
		fprintf(stderr, "worker-cpu: %s\n", e.msg);
	buf_free(&out);
	return rc == 0 && !fflush(stdout) ? EXIT_DONE : EXIT_INPUT;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc == 2 && !strcmp(argv[1], "--libs")) {
		puts(ref_onednn_version());
		return EXIT_DONE;
	}
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return probe(0);
	if (argc == 2 && !strncmp(argv[1], "--sentinel", 10) && strlen(argv[1]) <= 12)
		return probe(argv[1][10] == '=' ? atoi(argv[1] + 11) : 1);
	if (argc != 1) {
		fputs("worker-cpu: serves tl-measure; it is not meant to be called by hand\n",
		      stderr);
		return EXIT_USAGE;
	}
	/* Libraries may print on stdout (ONEDNN_VERBOSE): give them stderr, and keep the pipe. */
	fd = dup(STDOUT_FILENO);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || !(answers = fdopen(fd, "w")))
		return EXIT_INPUT;
	return serve();
}
