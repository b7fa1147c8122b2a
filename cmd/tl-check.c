/* tl-check: any records -> the same, validated and in canonical form, ids recomputed.
 *
 * The executable form of man 5 tl-record: the door (lib/door/door.h) decides, as it does in
 * tl-store. Here ids are filled in before it is asked. */
#include <string.h>

#include "lib/base/arena.h"
#include "lib/door/door.h"
#include "lib/extract/worklist.h"
#include "lib/io/json.h"
#include "lib/io/field.h"
#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/op/op.h"
#include "lib/record/checksum.h"
#include "lib/record/json_schema.h"
#include "lib/record/manual.h"
#include "lib/space/envid.h"

static int fix, quiet, merge, schema, schema_manual;
static const char *output;

static const struct opt opts[] = {
	{0, "fix", OPT_FLAG, &fix, NULL,
	 "Correct fields that follow from other fields (ids, flops, checksums, the order of \"tl\" and "
	 "\"type\") instead of refusing the line.",
	 NULL},
	{'m', "merge", OPT_FLAG, &merge, NULL,
	 "Write each workload once, with the sources of all its records and the count that follows "
	 "from them. Other records come first; of equal ones, only one is written.",
	 NULL},
	{'o', "output", OPT_OUTPUT, &output, "FILE",
	 "Write to FILE instead of standard output. FILE is replaced at the end, and only if no "
	 "line was bad.",
	 NULL},
	{'q', "quiet", OPT_FLAG, &quiet, NULL,
	 "Write no records. Only the exit status says whether all records are good.", NULL},
	{0, "schema", OPT_FLAG, &schema, NULL,
	 "Print a JSON Schema (draft 2020-12) of the records and exit.", NULL},
	{0, "schema-manual", OPT_HIDDEN_FLAG, &schema_manual, NULL, NULL, NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-check",
	.summary = "validate records and bring them into canonical form",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* Identity: a working copy of the line whose ids and derived fields are right */

static struct {
	struct json_doc doc, inner;
	struct buf line, next, object, value;
	struct arena arena;
	struct door door;
} work;

static int reparse(struct json_doc *d, const struct buf *text, struct err *e)
{
	return json_parse(d, text->s, text->n, e);
}

/* Reads the workload of the object text; *canonical gets the object with its derived fields filled
 * in. */
static int check_workload(const char *text, size_t len, struct workload *w, struct buf *canonical,
			  struct err *e)
{
	static const struct json_field derived[] = {{"workload_id", NULL}, {"flops", NULL}};

	buf_clear(canonical);
	if (json_parse(&work.inner, text, len, e))
		return -1;
	if (!fix) {
		if (workload_from_json(w, &work.inner, work.inner.tok, e))
			return -1;
	} else {
		if (work.inner.tok->type != JSON_OBJ)
			return err_set(e, "the workload is not an object");
		json_rewrite(&work.inner, derived, 2, canonical);
		if (reparse(&work.inner, canonical, e) ||
		    workload_from_json(w, &work.inner, work.inner.tok, e) ||
		    json_parse(&work.inner, text, len, e))
			return -1;
		buf_clear(canonical);
	}
	/* The fields as tl writes them are the ones that the object gets. */
	buf_clear(&work.value);
	field_object(&work.value, NULL);
	workload_fields(w, &work.value);
	field_rewrite(&work.inner, &work.value, NULL, canonical);
	return 0;
}

/* With --fix, a result gets the ids that follow from its env. */
static void fill_env_ids(struct buf *out)
{
	const struct json *env = json_get(&work.doc, work.doc.tok, "env");
	struct buf hardware = BUF_INIT;
	struct err none = ERR_INIT;
	struct id hw_id, id;

	if (!fix || !json_is(json_get(&work.doc, work.doc.tok, "type"), "result") ||
	    !envid_of(&work.doc, env, &hw_id, &id) ||
	    json_parse(&work.inner, env->s, env->n, &none) < 0)
		return;
	field_object(&hardware, NULL);
	field_text(&hardware, "hw_id", hw_id.s);
	buf_clear(&work.object);
	field_rewrite(&work.inner, &hardware, NULL, &work.object);
	field_json(out, "env", work.object.s);
	field_text(out, "env_id", id.s);
	buf_free(&hardware);
}

/* Gives a candidate or result the fields that follow from others, and a result the checksum that
 * follows from all. */
static int fill_candidate(struct err *e)
{
	const struct json *v = json_get(&work.doc, work.doc.tok, "workload");
	struct candidate c;

	if (!v || check_workload(v->s, v->n, &c.w, &work.object, e))
		return -1;
	buf_clear(&work.value);
	field_object(&work.value, NULL);
	field_json(&work.value, "workload", work.object.s);
	buf_clear(&work.next);
	field_rewrite(&work.doc, &work.value, NULL, &work.next);
	if (reparse(&work.doc, &work.next, e) || candidate_from_json(&c, &work.doc, 0, e))
		return -1;
	if (fix || !json_get(&work.doc, work.doc.tok, "candidate_id"))
		field_text(&work.value, "candidate_id", c.id.s);
	fill_env_ids(&work.value);
	buf_clear(&work.line);
	field_rewrite(&work.doc, &work.value, NULL, &work.line);
	checksum_renew(&work.doc, &work.line);
	return reparse(&work.doc, &work.line, e);
}

static int fill_ids(const struct rec *r, struct err *e)
{
	struct workload w;

	switch (r->type) {
	case REC_WORKLOAD:
		return check_workload(r->s, r->n, &w, &work.line, e) ||
		       reparse(&work.doc, &work.line, e);
	case REC_CANDIDATE:
	case REC_RESULT:
		return !fix && checksum_check(&work.doc, e) < 0 ? -1 : fill_candidate(e);
	default:
		return 0;
	}
}

/* Fills in ids that are missing. Where that fails, the door tells why it refuses the record as it
 * came, in the words that tl-store has for it. */
static int check_record(const struct rec *r, struct err *e)
{
	struct err why = ERR_INIT;
	int rc;

	if (json_parse(&work.doc, r->s, r->n, e) < 0)
		return -1;
	rc = fill_ids(r, &why);
	if (rc && json_parse(&work.doc, r->s, r->n, e) < 0)
		return -1;
	if (door_record(&work.door, &work.doc, e) < 0)
		return -1;
	return rc ? err_set(e, "%s", why.msg) : 0;
}

/* Merging */

static struct {
	struct worklist works;
	struct map others; /* by hash: records that were written */
	struct json_doc doc;
} merged;

/* Takes a canonical record. 1: it is to be written now. */
static int merge_record(const struct rec *r, const struct buf *line, struct err *e)
{
	struct id hash;
	int is_new;
	int64_t instances;

	if (r->type != REC_WORKLOAD) {
		hash_id(&hash, line->s, line->n);
		map_put(&merged.others, hash.s, ID_HEX, &is_new);
		return is_new;
	}
	if (json_parse(&merged.doc, line->s, line->n, e) < 0)
		return -1;
	return worklist_merge(&merged.works, &merged.doc, &work.arena, "record", &instances, e)
		       ? 0
		       : -1;
}

static int write_merged(struct rec_out *out, struct err *e)
{
	for (size_t i = 0; i < merged.works.by_id.n; i++) {
		buf_clear(&work.line);
		work_print(merged.works.by_id.item[i].value, &merged.doc, &work.line);
		if (rec_put(out, work.line.s, work.line.n, e))
			return -1;
	}
	return 0;
}

static int check_all(struct rec_in *in, struct rec_out *out, struct err *e)
{
	struct rec r;
	int more;

	while ((more = rec_next(in, &r, e)) > 0) {
		struct err why = ERR_INIT;

		arena_reset(&work.arena);
		if (check_record(&r, &why)) {
			rec_bad(in, &r, &why);
			continue;
		}
		if (!out)
			continue;
		buf_clear(&work.value);
		json_canonical(&work.doc, work.doc.tok, &work.value);
		checksum_renew(&work.doc, &work.value);
		if (merge) {
			int now = merge_record(&r, &work.value, &why);

			if (now < 0)
				rec_bad(in, &r, &why);
			if (now <= 0)
				continue;
		}
		if (rec_put(out, work.value.s, work.value.n, e))
			return -1;
	}
	return more < 0 || !out || rec_stopped() ? more : write_merged(out, e);
}

static int print_schema(void)
{
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	struct rec_out *out = rec_create(output, &e);
	int status = EXIT_DONE;

	if (!out)
		return opt_fail(&program, &e);
	if (schema_manual)
		manual_fields(&text);
	else
		record_json_schema(&text);
	/* The text has its newline. */
	if ((rec_put(out, text.s, text.n - 1, &e) || rec_commit(out, &e)) && !rec_broken_pipe(out))
		status = opt_fail(&program, &e);
	rec_discard(out);
	buf_free(&text);
	return status;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status = EXIT_DONE;
	struct err e = ERR_INIT;
	struct rec_out *out = NULL;
	struct rec_in *in;

	if (schema || schema_manual)
		return print_schema();
	if (!quiet && !(out = rec_create(output, &e)))
		return opt_fail(&program, &e);
	if (!(in = rec_open(argv + first, argc - first, out, &e))) {
		rec_discard(out);
		return opt_fail(&program, &e);
	}
	rec_stop_on_signals();
	if (fix)
		rec_accept_any_start(in);
	if (check_all(in, out, &e))
		status = opt_fail(&program, &e);
	else if (rec_bad_count(in))
		status = EXIT_INPUT;
	/* What was good goes to the next program; a file is only replaced by a whole one. */
	if (out && !rec_stopped() && (status == EXIT_DONE || !output) && rec_commit(out, &e))
		status = opt_fail(&program, &e);
	rec_close(in);
	rec_discard(out);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
