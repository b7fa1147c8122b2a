/* tl-export: results -> a folder of their kernels' sources, which builds without this toolkit.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/export/folder.h"
#include "lib/export/piece.h"
#include "lib/export/prefix.h"
#include "lib/export/source.h"
#include "lib/io/file.h"
#include "lib/io/opt.h"
#include "lib/io/proc.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/store/store.h"
#include "lib/target/target.h"

static const char *output, *prefix = "tlx", *isas, *database;
static int one, all;

static const struct opt opts[] = {
	{'d', "db", OPT_FILE, &database, "FILE",
	 "Also answer workload records with the best kernels that this database knows: those of "
	 "this machine's env, and those of other envs for other instruction sets. Without -d, "
	 "workload records are passed over.",
	 NULL},
	{0, "all", OPT_FLAG, &all, NULL,
	 "With -d: export all workloads that the database knows, instead of reading records.",
	 NULL},
	{'o', "output", OPT_DIR, &output, "DIR",
	 "The folder to make. It must not exist yet, or be empty. It appears at the end, "
	 "complete.",
	 NULL},
	{0, "prefix", OPT_STRING, &prefix, "NAME",
	 "The prefix of all names in the library: lower-case letters, digits and underscores, but "
	 "no word of C or C++, and no name of a system header. Two exports in one program need two "
	 "prefixes. Default tlx.",
	 NULL},
	{0, "isa", OPT_STRING, &isas, "LIST",
	 "Export only kernels for these instruction sets, separated by commas: avx512_amx, avx512_bf16, "
	 "avx512_vnni, avx512, avx2, scalar. By default kernels for all instruction sets that come in.",
	 "avx512_amx|avx512_bf16|avx512_vnni|avx512|avx2|scalar"},
	{0, "one", OPT_FLAG, &one, NULL,
	 "Make no folder. Write the source of the first workload's kernel to standard output "
	 "instead, for reading.",
	 NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-export",
	.summary = "write the best kernels as a library in C that builds by itself",
	.synopsis = "[OPTION...] -o DIR [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* What stands in share/export, with "tlx" for the prefix. */
static const char *const templates[] = {"tlx.h",  "tlx_kernels.h", "tlx.c",	      "tlx_team.c",
					"test.c", "example.c",	   "bench_kernels.c", "Makefile",
					"README", "LICENSE"};

/* What is asked for workloads. */
struct known {
	struct store *db;	     /* NULL without -d */
	struct store_env here, *env; /* this machine's, and all */
	int nenvs;
	struct arena run, record;
	struct json_doc doc;
	int64_t asked, unknown;	     /* workloads */
	struct door_refused refused; /* results that make no program */
};

struct export
{
	struct pieces pieces;
	struct piece **list;
	size_t n;
	struct known known;
};

/* ---- options ---- */

static int is_asked(const char *isa)
{
	size_t n = strlen(isa);

	for (const char *s = isas; s; s = strchr(s, ',')) {
		s += *s == ',';
		if (!strncmp(s, isa, n) && (!s[n] || s[n] == ','))
			return 1;
	}
	return !isas;
}

static const char *isas_why(void)
{
	for (const char *s = isas; s; s = strchr(s, ',')) {
		char name[16];

		s += *s == ',';
		snprintf(name, sizeof name, "%.*s", (int)strcspn(s, ","), s);
		if (!isa_find(name))
			return "--isa wants " ISA_NAMES ", separated by commas";
	}
	return NULL;
}

static const char *refuse_prefix(void)
{
	static char sentence[160];
	const char *wants = prefix_why(prefix);

	if (!wants)
		return NULL;
	snprintf(sentence, sizeof sentence, "--prefix wants %s, not \"%.40s\"", wants, prefix);
	return sentence;
}

static void check_usage(int nfiles)
{
	const char *why = refuse_prefix();

	if (!why)
		why = isas_why();
	if (!why && (output == NULL) != one)
		why = "one of -o DIR and --one is wanted";
	if (!why && all && !database)
		why = "--all belongs to -d FILE";
	if (!why && all && nfiles)
		why = "--all reads no files";
	if (!why)
		return;
	terminal_say("%s: %s; see %s --help\n", program.name, why, program.name);
	_exit(EXIT_USAGE);
}

/* ---- the database ---- */

static int open_database(struct known *k, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = -1;

	if (!database)
		return 0;
	if (!store_default_path(database, STORE_READ, &path, e))
		k->db = store_open(path.s, STORE_READ, e);
	buf_free(&path);
	if (k->db)
		rc = store_env_here(k->db, target_default(), NULL, &k->run, &k->here, e);
	if (!rc)
		k->here = (struct store_env){"", NULL, NULL}; /* an empty database knows no env */
	return rc < 0 ? -1 : store_envs(k->db, &k->run, &k->env, &k->nenvs, e);
}

static void close_database(struct known *k)
{
	store_close(k->db);
	json_free(&k->doc);
	arena_free(&k->run);
	arena_free(&k->record);
}

/* The best of one env: 1; 0: it knows none. */
static int take_best(struct export *x, const struct workload *w, const char *env_id, struct err *e)
{
	struct known *k = &x->known;
	struct err why = ERR_INIT;
	struct store_result *r;
	int64_t n;

	if (store_top(k->db, w->id.s, env_id, 1, &k->record, &r, &n, e) < 0)
		return -1;
	if (!n)
		return 0;
	if (json_parse(&k->doc, r->record, r->record_n, e))
		return err_in(e, "a result in the database");
	if (pieces_take(&x->pieces, &k->doc, 1, &why) > 0)
		return 1;
	door_refuse(&k->refused, &why);
	return 0;
}

/* This machine's first: others only have what it lacks. */
static int take_known(struct export *x, const struct workload *w, struct err *e)
{
	struct known *k = &x->known;
	int rc, found;

	if (!pieces_may_take(&x->pieces, w))
		return 0;
	arena_reset(&k->record);
	k->asked++;
	rc = found = take_best(x, w, k->here.id, e);
	x->pieces.keeps = 1;
	for (int i = 0; rc >= 0 && i < k->nenvs; i++) {
		if (!strcmp(k->env[i].id, k->here.id))
			continue;
		rc = take_best(x, w, k->env[i].id, e);
		found |= rc > 0;
	}
	x->pieces.keeps = 0;
	k->unknown += !found;
	return rc < 0 ? -1 : 0;
}

static int take_database(struct export *x, struct err *e)
{
	struct arena a = ARENA_INIT;
	int rc = 0;

	for (int i = 0; !rc && op_list[i]; i++) {
		struct workload *w;
		int64_t n;

		rc = store_workloads(x->known.db, op_list[i]->name, NULL, &a, &w, &n, e) < 0 ? -1
											     : 0;
		for (int64_t k = 0; !rc && k < n && !rec_stopped(); k++)
			rc = take_known(x, &w[k], e);
	}
	arena_free(&a);
	return rc;
}

static void say_origins(const struct export *x)
{
	const struct known *k = &x->known;
	struct door_refused refused = k->refused;
	char text[DOOR_SENTENCE];
	size_t others = 0;

	for (size_t i = 0; k->db && i < x->n; i++)
		others += strcmp(x->list[i]->env_id, k->here.id) != 0;
	if (others)
		opt_warn(&program,
			 "%zu of %zu kernels were tuned in another env: other hardware, another "
			 "compiler or library; the manifest says which",
			 others, x->n);
	door_refuse_all(&refused, store_refused(k->db));
	if (door_sentence(&refused, text))
		opt_warn(&program, "%s", text);
	if (x->pieces.other_types.n)
		opt_warn(
			&program,
			"%zu workloads are in f16 or tf32, in which no processor has a kernel to export",
			x->pieces.other_types.n);
	if (k->unknown)
		opt_warn(&program, "of %lld of %lld workloads the database knows no kernel",
			 (long long)k->unknown, (long long)k->asked);
}

/* ---- records ---- */

static void take_record(struct export *x, struct rec_in *in, const struct rec *r)
{
	struct err why = ERR_INIT;
	struct json_doc *d;
	struct workload w;
	int rc;

	if (rec_parse(in, r, &d))
		return;
	if (r->type == REC_WORKLOAD)
		rc = workload_from_json(&w, d, d->tok, &why) || take_known(x, &w, &why);
	else
		rc = pieces_take(&x->pieces, d, r->type == REC_RESULT, &why) < 0;
	if (rc)
		rec_bad(in, r, &why);
}

/* 1: there was a bad line. */
static int take_all(struct export *x, struct rec_in *in, struct err *e)
{
	struct rec r;
	int rc;

	while ((rc = rec_next(in, &r, e)) > 0)
		if (r.type == REC_RESULT || r.type == REC_CANDIDATE ||
		    (r.type == REC_WORKLOAD && x->known.db))
			take_record(x, in, &r);
	return rc < 0 ? -1 : rec_bad_count(in) > 0;
}

static void choose(struct export *x)
{
	struct piece **list = pieces_list(&x->pieces, &x->n);
	size_t kept = 0;

	for (size_t i = 0; i < x->n; i++)
		if (is_asked(list[i]->isa->name))
			list[kept++] = list[i];
	x->list = list;
	x->n = kept;
}

/* ---- the folder ---- */

/* The template with the prefix put in. */
static int read_template(const char *name, struct buf *out, struct err *e)
{
	struct buf path = BUF_INIT, file = BUF_INIT, text = BUF_INIT;
	int rc;

	buf_fmt(&file, "export/%s", name);
	rc = path_share(&path, file.s, e);
	if (!rc)
		rc = err_set(e, "%s is not where the programs were installed", file.s);
	else if (rc > 0)
		rc = file_read("the template", path.s, &text, e);
	for (size_t i = 0; rc >= 0 && i < text.n; i++) {
		const char c = text.s[i];

		buf_ch(out, c);
		if (out->n < 3 || (memcmp(out->s + out->n - 3, "tlx", 3) != 0 &&
				   memcmp(out->s + out->n - 3, "TLX", 3) != 0))
			continue;
		out->n -= 3;
		for (const char *s = prefix; *s; s++)
			buf_ch(out, (char)(c == 'x' ? *s : toupper((unsigned char)*s)));
	}
	buf_free(&text);
	buf_free(&path);
	buf_free(&file);
	return rc < 0 ? -1 : 0;
}

static int write_templates(struct folder *f, struct err *e)
{
	struct buf text = BUF_INIT, name = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof templates / sizeof *templates; i++) {
		const char *file = templates[i];

		buf_clear(&text);
		buf_clear(&name);
		rc = read_template(file, &text, e);
		if (!strncmp(file, "tlx", 3))
			buf_fmt(&name, "%s%s", prefix, file + 3);
		else
			buf_str(&name, file);
		if (!rc)
			rc = folder_write(f, name.s, &text, e);
	}
	buf_free(&text);
	buf_free(&name);
	return rc;
}

static int write_kernel(struct folder *f, const struct piece *p, const struct workload *w,
			struct err *e)
{
	struct buf text = BUF_INIT, name = BUF_INIT;
	int rc;

	buf_str(&name, "kernels/");
	if (p) {
		source_name(p, &name);
		rc = source_kernel(p, prefix, &text, e);
	} else {
		source_definition_name(w, &name);
		rc = source_definition(w, prefix, &text, e);
	}
	buf_str(&name, ".c");
	if (!rc)
		rc = folder_write(f, name.s, &text, e);
	buf_free(&text);
	buf_free(&name);
	return rc;
}

/* A kernel each, and a definition for each workload. */
static int write_kernels(struct folder *f, const struct export *x, struct err *e)
{
	const char *last = "";
	int rc = folder_make(f, "kernels", e);

	for (size_t i = 0; !rc && i < x->n; i++) {
		const struct workload *w = &x->list[i]->c.w;

		rc = write_kernel(f, x->list[i], w, e);
		if (!rc && strcmp(last, w->id.s) != 0)
			rc = write_kernel(f, NULL, w, e);
		last = w->id.s;
	}
	return rc;
}

static int write_made(struct folder *f, const char *name, const struct buf *text, struct err *e)
{
	struct buf file = BUF_INIT;
	int rc;

	buf_fmt(&file, "%s%s", prefix, name);
	rc = folder_write(f, file.s, text, e);
	buf_free(&file);
	return rc;
}

static int write_rest(struct folder *f, const struct export *x, struct err *e)
{
	struct buf prelude = BUF_INIT, table = BUF_INIT, manifest = BUF_INIT;
	int rc;

	source_prelude(&prelude);
	source_table(x->list, x->n, prefix, &table);
	source_manifest(x->list, x->n, prefix, &manifest);
	rc = write_made(f, "_prelude.h", &prelude, e);
	if (!rc)
		rc = write_made(f, "_table.c", &table, e);
	if (!rc)
		rc = folder_write(f, "manifest.json", &manifest, e);
	buf_free(&prelude);
	buf_free(&table);
	buf_free(&manifest);
	return rc;
}

static int write_folder(const struct export *x, struct err *e)
{
	struct folder *f = folder_begin(output, e);
	int rc = !f ? -1 : write_templates(f, e);

	if (!rc)
		rc = write_kernels(f, x, e);
	if (!rc)
		rc = write_rest(f, x, e);
	if (!rc && rec_stopped())
		rc = err_set(e, "stopped");
	if (!rc)
		rc = folder_commit(f, e);
	folder_end(f);
	return rc;
}

static int print_one(const struct export *x, struct err *e)
{
	struct rec_out *out = rec_create(NULL, e);
	struct buf text = BUF_INIT;
	int rc = out ? source_kernel(x->list[0], prefix, &text, e) : -1;

	if (!rc && x->n > 1)
		opt_warn(&program, "%zu kernels came in; this is the first", x->n);
	if (!rc)
		rc = rec_put(out, text.s, text.n - 1, e);
	if (!rc)
		rc = rec_commit(out, e);
	if (rc && out && rec_broken_pipe(out))
		rc = 0; /* a reader such as head has seen enough */
	rec_discard(out);
	buf_free(&text);
	return rc;
}

static size_t workloads_of(const struct export *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++)
		n += !i || strcmp(x->list[i]->c.w.id.s, x->list[i - 1]->c.w.id.s) != 0;
	return n;
}

/* Returns the exit status. */
static void say_written(const struct export *x)
{
	struct buf b = BUF_INIT;

	buf_count(&b, (int64_t)x->n, "kernel");
	buf_str(&b, " of ");
	buf_count(&b, (int64_t)workloads_of(x), "operator");
	terminal_say("%s: %s in %s; `make -C %s check` tries them\n", program.name, b.s, output,
		     output);
	buf_free(&b);
}

static int run(struct export *x, struct rec_in *in)
{
	struct err e = ERR_INIT;
	int bad = all ? take_database(x, &e) : take_all(x, in, &e), rc = bad < 0 ? -1 : 0;

	if (!rc && !rec_stopped())
		choose(x);
	if (!rc)
		say_origins(x);
	if (!rc && !rec_stopped() && !x->n) {
		if (!bad)
			fprintf(stderr,
				"%s: nothing to export: no result of a program that ran well came "
				"in%s\n",
				program.name, isas ? " for these instruction sets" : "");
		return bad ? EXIT_INPUT : EXIT_NO;
	}
	if (!rc && !rec_stopped())
		rc = one ? print_one(x, &e) : write_folder(x, &e);
	if (rec_stopped())
		return EXIT_DONE;
	if (rc)
		return opt_fail(&program, &e);
	if (one)
		return bad ? EXIT_INPUT : EXIT_DONE;
	say_written(x);
	return bad ? EXIT_INPUT : EXIT_DONE;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status;
	struct export x = {0};
	struct err e = ERR_INIT;
	struct rec_in *in = NULL;

	check_usage(argc - first);
	rec_stop_on_signals();
	if (open_database(&x.known, &e) < 0 ||
	    (!all && !(in = rec_open(argv + first, argc - first, NULL, &e))))
		status = opt_fail(&program, &e);
	else
		status = run(&x, in);
	rec_close(in);
	close_database(&x.known);
	pieces_free(&x.pieces);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
